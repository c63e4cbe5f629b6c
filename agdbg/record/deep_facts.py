"""The facts about modules, shapes, values and optimizers, as plain values; a ``row`` is a place in ``Trace.records``."""

from dataclasses import dataclass
from typing import Literal

from agdbg.norm import norm_of
from agdbg.record.lookup import Op, Site


@dataclass(frozen=True, slots=True)
class ModuleFact:
    """A module by its number: where it stands in its model (empty for a root), its class, and the module that holds it or 0."""

    row: int
    id: int
    path: str
    class_name: str
    parent: int


@dataclass(frozen=True, slots=True)
class ShapeFact:
    """What one output of a node is: ``text`` is ``float32[3, 4]``; sizes in bytes; ``storage`` is 0 when it is not known."""

    row: int
    node: int
    output: int
    text: str
    dtype: str
    dims: tuple[int, ...]
    device: str
    nbytes: int
    storage: int
    storage_nbytes: int


@dataclass(frozen=True, slots=True)
class SummaryFact:
    """What the elements of an output or a gradient were: ``norm`` and ``largest`` of those that are finite.

    ``index`` is the number of the output, or for what goes out of a node of its input; ``pass_id`` is 0 in forward;
    ``first_bad`` is the flat index of the first NaN or infinity.
    """

    row: int
    node: int
    what: Literal["output", "gradient in", "gradient out"]
    index: int
    pass_id: int
    norm: float
    largest: float
    nans: int
    infs: int
    first_bad: int | None
    elements: int

    @property
    def l2(self) -> float:
        """The norm of all elements: NaN or infinite where one of them is."""
        return norm_of(self.norm, self.nans, self.infs)

    @property
    def bad(self) -> bool:
        """Whether there is a NaN or an infinity."""
        return self.first_bad is not None


@dataclass(frozen=True, slots=True)
class ProbeFact:
    """A checksum of the memory that ``node`` saved in a slot: when it did, and before a pass that uses it."""

    row: int
    storage: int
    version: int
    checksum: int
    node: int
    slot: str
    when: Literal["saved", "checked"]


@dataclass(frozen=True, slots=True)
class OptimizerFact:
    """An optimizer has a parameter, whose memory is ``storage``: it was built with it, or made its first step.

    ``requires_grad`` is as it was then; None when the trace does not tell.
    """

    row: int
    storage: int
    number: int
    op: Op
    site: Site
    when: Literal["built", "stepped"]
    requires_grad: bool | None = None
