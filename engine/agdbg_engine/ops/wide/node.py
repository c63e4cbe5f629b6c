"""Nodes of interpreted rows: what they saved lies in slots as in generated ones, their gradients are computed from the row."""

from __future__ import annotations

from typing import Any, ClassVar

from ...backward import route_run
from ...errors import detached
from ...node import NodeN
from ...saved import Freed, Packed, late_storage, unpacked
from ...storage import Storage
from ...tensor import Tensor
from .. import formulas, graph, kernels
from ..row import Row
from .formula import Formula

Fit = tuple[tuple[int, ...] | None, Any]


class Interpreted(NodeN):
    """One op of an interpreted row; :func:`node_class` makes its subclasses."""

    __slots__ = ("fit", "o_storage")
    row: ClassVar[Row]
    sources: ClassVar[tuple[str, ...]]
    """The arguments that the edges lead to: those with a gradient, without numbers where PyTorch has another node for them."""
    formulas: ClassVar[tuple[Formula, ...]]
    """Gradient formulas by edge."""
    outputs: ClassVar[tuple[str, ...]]
    """Names of the outputs; ``("result",)`` for one."""
    n_outputs: ClassVar[int]
    saved_in: ClassVar[dict[str, tuple[str, str, bool]]]
    """For every saved tensor where it and its version lie, and whether it is the result."""

    o_storage: Storage | Packed | None
    fit: tuple[Fit, ...] | None
    """Shape and dtype by edge, where the op broadcast or cast its operands."""

    def grads(self, g: Any) -> tuple[Any, ...]:
        return tuple(self._gradients(g, kernels, on_tensors=False))

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        return tuple(self._gradients(g, graph, on_tensors=True))

    def grads_for(self, g: Any, needed: list[bool], tensors: bool) -> tuple[Any, ...]:
        return tuple(self._gradients(g, graph if tensors else kernels, tensors, needed))

    run = route_run

    def _gradients(self, g: Any, space: Any, on_tensors: bool, needed: list[bool] | None = None) -> Any:
        values: dict[str, Any] = {"g": g}
        if self.multi:
            values = {"g_" + name: gi for name, gi in zip(self.outputs, g, strict=True)}
        edges = self.row.differentiable if self.row.elementwise else ()
        for i, (formula, producer) in enumerate(zip(self.formulas, self.next, strict=True)):
            if producer is None:
                yield None
                continue
            for name in formula.names:
                if name not in values:
                    value = self._value(name, on_tensors)
                    if self.fit is not None and name in edges and not self.multi and hasattr(value, "dtype"):
                        value = _as_computed(space, value, g.dtype)
                    values[name] = value
            if needed is not None and not needed[i]:  # what it saved is checked all the same, as in PyTorch
                yield None
                continue
            gi = formula(space, values)
            yield gi if self.fit is None or gi is None else _fitted(space, gi, *self.fit[i])

    def _value(self, name: str, on_tensors: bool) -> Any:
        """What a formula reads under ``name``: a saved tensor, checked, or a number, shape or dtype."""
        place = self.saved_in.get(name)
        if place is None:
            return getattr(self, "c_" + name)
        slot, number, is_output = place
        held = getattr(self, slot)
        if held is None:
            return None
        storage = self.o_storage if is_output else held._storage
        if storage is not None and storage.version != getattr(self, number):
            t = unpacked(self, name, storage)
            value = t if on_tensors else t._a
        elif is_output:
            value = graph.output_of(self) if on_tensors else held
        else:
            if on_tensors:
                self._check_history(name, held)
            value = held if on_tensors else held._a
        if (
            self.row.holomorphic and value.dtype.kind == "c"
        ):  # a derivative at z is conjugated for the gradient (Wirtinger)
            return graph.conj_raw(value) if on_tensors else kernels.conj_raw(value)  # type: ignore[attr-defined]  # a row
        return value

    def _check_history(self, name: str, held: Tensor) -> None:
        """Raise if a saved input lost its history since, so that the gradient of the gradient would be wrong."""
        edges = self.edge_names()
        producer = self.next[edges.index(name)] if name in edges else None
        if held._fn is None and producer is not None and not producer.leaf:
            raise detached(self)

    @classmethod
    def edge_names(cls) -> tuple[str, ...]:
        """The arguments that the edges lead to."""
        return cls.sources

    def release(self, freed: Freed) -> None:
        for name in self.slots:
            setattr(self, "s_" + name, freed)
        self.o_storage = freed  # type: ignore[assignment]  # stands in for what has been freed everywhere

    def output_storage(self, storage: Any) -> Any:
        if not any(self.outputs_saved):
            return storage
        if self.o_storage is None:
            self.o_storage = storage
            return storage
        return late_storage(self.o_storage, storage)


def _as_computed(space: Any, value: Any, dtype: Any) -> Any:
    """An operand in the ``dtype`` of the result: functions of small integers would be computed in half precision."""
    return space.to_copy(value, dtype) if value.dtype.kind in "biu" and dtype.kind in "fc" else value


def _fitted(space: Any, g: Any, shape: tuple[int, ...] | None, dtype: Any) -> Any:
    """``g`` summed down to the shape of an operand and cast to its dtype: of a complex gradient for a real one the real part."""
    if g.dtype.kind == "c" != dtype.kind:
        g = formulas.real_part(space, g)
    if shape is not None and tuple(g.shape) != shape:
        g = space.sum_to(g, shape)
    return g if g.dtype == dtype else space.to_copy(g, dtype)


def node_class(row: Row, name: str, outputs: tuple[str, ...], numbers: frozenset[str]) -> type[Interpreted]:
    """The node called ``name`` of ``row``, some of whose tensors are given as ``numbers``."""
    edges = tuple(d for d in row.differentiable if d not in numbers or name == row.node)
    made = tuple(Formula(row.grads[e] or "", row.shared) for e in edges)
    read = dict.fromkeys(n for e, f in zip(edges, made, strict=True) if e not in numbers for n in f.names)
    tensors = tuple(t for t in row.tensors if t in read and t not in numbers)
    results = tuple(o for o in outputs if o in read)
    gradients = {"g", *("g_" + o for o in outputs)}
    consts = tuple(n for n in read if n not in {*tensors, *results, *gradients})
    slots = (*tensors, *results)
    several = len(outputs) > 1
    floating = [o for o in row.outputs.split() if not o.startswith("*")]
    body = {
        "__slots__": (*("s_" + s for s in slots), *("v_" + s for s in slots), *("c_" + c for c in consts)),
        "__module__": __name__, "op_name": name, "row": row, "sources": edges, "formulas": made,
        "outputs": outputs, "n_outputs": len(outputs),
        "slots": slots, "outputs_saved": tuple(s in results and not several for s in slots), "consts": consts,
        "saved_in": {s: ("s_" + s, "v_" + s, s in results and not several) for s in slots},
        "multi": len(floating) > 1,
    }  # fmt: skip
    return type(name, (Interpreted,), body)
