"""Reads graphs of agdbg's own engine where they lie, whether they are recorded or not: see ``agdbg.incode.live``."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from agdbg.engines import native
from agdbg.engines.native_driver import Driver
from agdbg.incode.live import LiveError, LiveGraph, LiveNode, LiveParameter, LiveTrouble, LiveWrite, Sites
from agdbg_engine import errors
from agdbg_engine import events as engine_events
from agdbg_engine.nn.naming import model_of
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.saved import Refusal, first_refusal, saved_slots
from agdbg_engine.several import at_home
from agdbg_engine.tensor import Tensor
from agdbg_engine.view import CopySlices

if TYPE_CHECKING:
    from agdbg.record.writer import Recorder

_by_seq = operator.attrgetter("seq")


def owns(value: Any) -> bool:
    """Whether ``value`` is a tensor of this engine."""
    return isinstance(value, Tensor)


def recorder() -> Recorder | None:
    """What records the engine now."""
    sink = _sink()
    return None if sink is None or sink.recorder.stopped else sink.recorder


def read(tensor: Tensor, model: Any = None) -> LiveGraph:
    """The graph of a tensor. Nothing is run, and no value is looked at but those of the tensor, unless they are not finite."""
    root = tensor.grad_fn
    nodes = [] if root is None else _reachable(root)
    finite = _is_finite(tensor._a)
    numbers, sites = _numbers(nodes), Sites()
    named = _Names(nodes, model)
    live = tuple(_node(node, numbers, named, sites, look=finite is False) for node in nodes)
    return LiveGraph(
        live,
        0 if root is None else numbers[root],
        tensor.requires_grad,
        tuple(tensor.shape),
        finite,
        finite is False and _has_nan(tensor._a),
        named.parameters(),
        recorder() is not None,
    )


def error(error: BaseException) -> LiveError | None:
    """What an exception carries, None when the engine did not make it."""
    if not isinstance(getattr(error, "details", None), errors.Details):
        return None
    details, sites = errors.details_of(error), Sites()
    node = details.node
    if node is None:
        return LiveError(details.kind, None, _trouble_of_storage(details, sites))
    live = _node(node, _numbers([node]), _Names([node], None), sites, look=False, with_edges=False)
    trouble = live.trouble
    if trouble is None or trouble.kind != details.kind:
        trouble = _trouble_of_storage(details, sites)
    return LiveError(details.kind, live, trouble)


def stop(text: str) -> bool | None:
    """Stop the running thread here, if a hub watches the program; False: none does, None: no client has joined."""
    sink = _sink()
    driver = getattr(sink.driver, "__self__", None) if sink is not None else None
    if not isinstance(driver, Driver) or driver.agent.gone:
        return False
    return driver.stop_here(text) or None


def _sink() -> native.NativeSink | None:
    found = engine_events.sink
    return found if isinstance(found, native.NativeSink) else None


# ----- the graph -----


def _reachable(root: Node) -> list[Node]:
    """All nodes below, leaves first, then by the order in which they were made."""
    found, todo = {root}, [root]
    while todo:
        for node in todo.pop().next_nodes():
            if node is not None and node not in found:
                found.add(node)
                todo.append(node)
    leaves = [node for node in found if node.leaf]
    return leaves + sorted((node for node in found if not node.leaf), key=_by_seq)


def _numbers(nodes: Iterable[Node]) -> dict[Node, int]:
    """The numbers that the recording gave them, or their places."""
    sink = _sink()
    if recorder() is not None and sink is not None:
        return {node: sink.number(node) for node in nodes}
    return {node: place for place, node in enumerate(nodes, 1)}


def _node(
    node: Node, numbers: dict[Node, int], named: _Names, sites: Sites, *, look: bool, with_edges: bool = True
) -> LiveNode:
    edges = node.edges() if with_edges else []
    saved = saved_slots(_holder(node)) if not node.leaf else ()
    leaf = isinstance(node, AccumulateGrad)
    refusal = first_refusal([node])
    return LiveNode(
        numbers[node],
        type(node).op_name,
        sites(node.code, node.lasti),
        tuple(None if at is None else (numbers[at], output) for at, output in edges),
        leaf,
        named.of(node) if isinstance(node, AccumulateGrad) else "",
        isinstance(node, AccumulateGrad) and named.is_parameter(node),
        tuple(each.slot for each in saved if each.value is not None and not each.freed),
        any(each.freed for each in saved),
        None if refusal is None else _trouble(refusal, sites),
        _saved_finite(saved) if look else None,
    )


def _trouble(refusal: Refusal, sites: Sites) -> LiveTrouble:
    freed = refusal.freed
    if freed is not None:
        text = f"RuntimeError: {errors.BACKWARD_TWICE}"
        return LiveTrouble("backward-twice", refusal.slot, freed.call, sites(freed.code, freed.lasti), text=text)
    found = next(each for each in saved_slots(_holder(refusal.node)) if each.slot == refusal.slot)
    return _modified(refusal.slot, found.storage, found.version, sites)


def _holder(node: Node) -> Node:
    """The node that has the slots: of a write through a view that is the one inside."""
    return node.inner if isinstance(node, CopySlices) else node


def _trouble_of_storage(details: errors.Details, sites: Sites) -> LiveTrouble | None:
    """What was changed, for an error that says which memory."""
    if details.storage is None or details.kind != "inplace-modified":
        return None
    node = details.node
    slot = "" if node is None or details.slot is None else _holder(node).slots[details.slot]
    return _modified(slot, details.storage, details.expected, sites)


def _modified(slot: str, storage: Any, expected: int, sites: Sites) -> LiveTrouble:
    writes = tuple(
        LiveWrite(version, op, sites(code, lasti))
        for version, op, code, lasti in getattr(storage, "writers", ())
        if version > expected
    )
    sink = _sink()
    number = 0 if storage is None or sink is None else sink._storage(storage)
    current = 0 if storage is None else storage.version
    text = (
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation"
    )
    return LiveTrouble(
        "inplace-modified", slot, "", storage=number, expected=expected, current=current, writes=writes, text=text
    )


# ----- values -----


@at_home
def _is_finite(array: Any) -> bool | None:
    """Whether all numbers are finite; None where that means nothing."""
    if getattr(getattr(array, "dtype", None), "kind", "") not in "fc":
        return None
    module = np if isinstance(array, np.ndarray | np.generic) else _module_of(array)
    return None if module is None else bool(module.isfinite(array).all())


@at_home
def _has_nan(array: Any) -> bool:
    return bool((array != array).any())


def _module_of(array: Any) -> Any:
    """The library of an array that is not NumPy's."""
    import sys

    return sys.modules.get(type(array).__module__.partition(".")[0])


def _saved_finite(saved: Iterable[Any]) -> bool | None:
    found = [
        _is_finite(getattr(each.value, "_a", each.value)) for each in saved if each.value is not None and not each.freed
    ]
    known = [each for each in found if each is not None]
    return all(known) if known else None


# ----- names -----


class _Names:
    """The names of leaves, and the parameters of the models that they belong to."""

    def __init__(self, nodes: Iterable[Node], model: Any) -> None:
        self._leaves = [node.variable for node in nodes if isinstance(node, AccumulateGrad)]
        models = [model] if model is not None else [model_of(each) for each in self._leaves]
        self._models = list(dict.fromkeys(each for each in models if each is not None))
        self._named: dict[int, tuple[str, Tensor]] = {}
        for each in self._models:
            for name, tensor in each.named_parameters():
                self._named.setdefault(id(tensor), (name, tensor))

    def of(self, node: AccumulateGrad) -> str:
        """The name of a leaf, or nothing."""
        return self._named.get(id(node.variable), ("", None))[0]

    def is_parameter(self, node: AccumulateGrad) -> bool:
        """Whether it is a parameter of a model."""
        return id(node.variable) in self._named

    def parameters(self) -> tuple[LiveParameter, ...]:
        """All parameters of the models."""
        reached = {id(each) for each in self._leaves}
        return tuple(
            LiveParameter(name, tensor.requires_grad, key in reached) for key, (name, tensor) in self._named.items()
        )
