"""The schema of one row of the op table: everything the engine knows about an op, as data.

Formulas are Python expressions over names, in the manner of PyTorch's ``derivatives.yaml``:

* ``g`` the incoming gradient; an argument's name; ``result`` the op's output;
* ``<arg>_shape``, ``<arg>_dtype``, ``<arg>_swapped`` (lies column by column) where the values are not needed, so that only
  these are kept;
* ``<arg>_t`` a tangent (in ``jvp`` only);
* any function of the table (``exp(self)``, ``where(c, a, b)``) and operators. Run on buffers a function means
  the kernel of that name in :mod:`.kernels`; run on tensors (``create_graph``) it means the recorded op.

What an op saves is what its formulas name: it is derived, never declared.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property

_ARGUMENT = re.compile(r"(?P<name>\w+)(?:=(?P<default>(?:\([^()]*\)|[^,()])+))?(?:, |\)$)")
"""One argument of a signature with what ends it."""


@dataclass(frozen=True)
class Row:
    """One op. ``signature`` is ``name(arguments)`` with defaults; tensors are the arguments named in ``grads``."""

    signature: str
    node: str
    """PyTorch's name of the node, e.g. ``MulBackward0``."""
    grads: dict[str, str | None]
    """Gradient formula of every tensor argument; ``None``: not differentiable in it."""
    jvp: str = ""
    """Tangent of the result; ``linear`` when the op is linear in its tensors taken together."""
    forward: str = ""
    """Value on buffers; by default the kernel of the op's name called with all arguments."""
    alias: frozenset[str] = frozenset()
    """Arguments whose gradient shares memory with ``g``; of all others it is fresh."""
    elementwise: bool = False
    """Broadcasts its tensors, and wants them of one dtype; gradients are summed back to each shape."""
    scalars: dict[str, str] = field(default_factory=dict)
    """Arguments that may be a Python number instead of a tensor, with the node's name in that form."""
    floats: bool = False
    """Integers and bools are computed in the default dtype."""
    view: bool = False
    """The result shares the memory of ``self``."""
    moves: bool = False
    """The result is no buffer of the library that made the operand, or lies in memory of another kind."""
    unless: tuple[str, str] = ("", "")
    """A condition on the buffers (``a_<arg>``) under which the op is none of this row's, and who in :mod:`.prepare` does it."""
    holomorphic: bool = True
    """Formulas are those of a real function; for complex tensors what they read is conjugated. ``False``: they are
    written for complex tensors as they stand."""
    inplace: bool = False
    """Has a form ``name_`` that writes into ``self``."""
    outputs: str = ""
    """Names of the results where there are several, as attributes of what is returned; ``*`` before one without a gradient."""
    shared: dict[str, str] = field(default_factory=dict)
    """Expressions by a name under which gradient formulas read them: computed once for all of them. Interpreted rows only."""
    kinds: str = ""
    """The kinds of dtype that the op is there for (``fc``: floating and complex; ``w``: floating, but not half precision); any when
    empty."""
    bools: bool = True
    """Whether the op is there for bools, of those that ask for no ``kinds``: looked at where nothing is recorded, as of bools."""

    @cached_property
    def _parsed(self) -> dict[str, str]:
        """The arguments with the text of their defaults; by hand, since Python's parser would be most of the engine's start."""
        text = self.signature.partition("(")[2]
        found = list(_ARGUMENT.finditer(text))
        if "".join(m[0] for m in found) != text:
            raise ValueError(f"not a signature of names and plain defaults: {self.signature!r}")
        return {m["name"]: m["default"] or "" for m in found}

    @cached_property
    def name(self) -> str:
        """Name of the op."""
        return self.signature.partition("(")[0]

    @cached_property
    def args(self) -> tuple[str, ...]:
        """All argument names."""
        return tuple(self._parsed)

    @cached_property
    def defaults(self) -> dict[str, str]:
        """Source text of the defaults by argument."""
        return {a: default for a, default in self._parsed.items() if default}

    @cached_property
    def tensors(self) -> tuple[str, ...]:
        """Tensor arguments in order."""
        return tuple(a for a in self.args if a in self.grads)

    @cached_property
    def differentiable(self) -> tuple[str, ...]:
        """Tensor arguments that have a gradient: the edges of the node, in order."""
        return tuple(a for a in self.tensors if self.grads[a] is not None)

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """Arguments that are not tensors."""
        return tuple(a for a in self.args if a not in self.grads)


def names_in(formula: str) -> set[str]:
    """Names that an expression reads, called functions excepted."""
    tree = ast.parse(formula, mode="eval")
    called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called}
