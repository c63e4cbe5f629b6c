"""What a stop in the engine shows: gradients on their way, saved tensors, hooks."""

import sys
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from agdbg.agent.agent import Command, Impossible
from agdbg.agent.evaluate import Refused
from agdbg.agent.frames import user_frames
from agdbg.agent.kept import Moment
from agdbg.engines.native_pdb import functions_of
from agdbg.engines.native_saved import SavedValues, slot_named, unpack_hooks
from agdbg.engines.native_values import described, measured, on_host, picked, shown
from agdbg.sources import instruction_at
from agdbg_engine.device import beside
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.saved import Freed, Packed, SavedTensor, saved_slots
from agdbg_engine.several import copied
from agdbg_engine.sites import where
from agdbg_engine.tensor import Tensor, wrap

if TYPE_CHECKING:
    from agdbg.engines.native_driver import Driver
    from agdbg.engines.native_walk import Walk


class NativeScene:
    """One stop.

    Args:
        driver: the driver of the program.
        stop: the message that tells of it.
        walk: the pass that is stopped, if it is one.
        node: the node that the stop is about.
        inside: the stop is in the middle of that node.
        trace: of an error, if that is the stop: the functions of the program that it has left.
        has_ended: nobody has caught it, so there are no others.
        facts: of the event at which it is.
    """

    def __init__(
        self,
        driver: "Driver",
        stop: dict[str, Any],
        walk: "Walk | None" = None,
        node: Node | None = None,
        *,
        inside: bool = False,
        trace: TracebackType | None = None,
        has_ended: bool = False,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self._driver = driver
        self._stop = stop
        self._walk = walk
        self._node = node
        self._inside = inside
        self.trace, self.has_ended = trace, has_ended
        self.facts = facts or {}
        self._copies: dict[int, tuple[Tensor, str]] = {}

    def frames(self, internal: frozenset[str]) -> list[tuple[FrameType, int]]:
        runs_pass = type(self._driver).drive.__code__
        if self._walk is None or self._inside:
            return user_frames(internal, runs_pass)
        if self._walk.frames is None:
            self._walk.frames = user_frames(internal, runs_pass)
        return self._walk.frames

    def stop(self) -> dict[str, Any]:
        return self._stop

    def check(self, command: Command) -> None:
        if command.how == "skip" and self._stop["where"] != "before":
            raise Impossible("only a node that is about to run can be skipped, before any part of it has", "bad")
        if command.how == "pdb":
            self._check_pdb()
        if command.how not in ("back", "reverse"):
            return
        if self._walk is None or self._stop["where"] in ("raise", "born", "event"):
            raise Impossible("there is no pass here that could be taken back", "beyond")
        self._walk.check_back(command)

    def _check_pdb(self) -> None:
        node = self._walk.next_node() if self._walk is not None else None
        if node is None or self._stop["where"] not in ("before", "inside"):
            raise Impossible("no node is about to run here, so no function of the program is about to be called", "bad")
        if not functions_of(node):
            raise Impossible(f"{node.op_name} calls no Python function of the program: it has no hooks", "bad")
        if sys.gettrace() is not None:
            raise Impossible("the program is traced by somebody else already: pdb cannot come in", "bad")

    # ----- values -----

    def values(self, node: int) -> dict[str, Any]:
        found, walk = self._find(node)
        if found is None:
            return {"known": False, "in": [], "out": [], "saved": {}, "grad": None, "hooks": [], "editable": False}
        kept = self._kept(found, walk)
        return {
            "known": True,
            "in": [_value(g) for g in self._gradients_in(found, walk)],
            "out": [_value(g) for g in self._gradients_out(found, walk)],
            "saved": {s.slot: _saved(s, kept) for s in saved_slots(found)},
            "grad": _value(found.variable._gradient) if isinstance(found, AccumulateGrad) else None,
            "hooks": list(_hooks(found)),
            "editable": self._is_next(found, walk),
        }

    def array(self, node: int, what: str, which: int | str) -> Any:
        found, walk = self._find(node)
        if found is None:
            return None
        if what == "saved":
            of = {s.slot: s for s in saved_slots(found)}.get(str(which))
            value = None if of is None else _content(of, self._kept(found, walk))
            value = None if isinstance(value, Packed) else value
        elif what == "grad":
            value = found.variable._gradient if isinstance(found, AccumulateGrad) else None
        else:
            values = self._gradients_in(found, walk) if what == "in" else self._gradients_out(found, walk)
            value = values[int(which)] if 0 <= int(which) < len(values) else None
        return None if value is None else _buffer(value)

    pick, measure, fetch = staticmethod(picked), staticmethod(measured), staticmethod(on_host)

    def moment(self, node: int) -> Moment | None:
        found, walk = self._find(node)
        if found is None or walk is None:
            return None
        if isinstance(found, AccumulateGrad) and (storage := found.variable._storage) is not None and storage.tag:
            return Moment(("leaf", storage.tag), walk.bp.tag)
        at = instruction_at(found.code, found.lasti)
        alike = [each for each in walk.bp.order if each.code is found.code and each.op_name == found.op_name]
        which = [each for each in alike if instruction_at(each.code, each.lasti) == at].index(found)
        return Moment((found.op_name, found.code, at, which), walk.bp.tag)

    def _find(self, number: int) -> "tuple[Node | None, Walk | None]":
        for walk in self._driver.walks():
            node = walk.node(number)
            if node is not None:
                return node, walk
        if self._node is not None and getattr(self._node, "tag", 0) == number:
            return self._node, self._walk
        return None, None

    def _gradients_in(self, node: Node, walk: "Walk | None") -> list[Any]:
        if walk is None:
            return []
        if (inside := walk.inside(node)) is not None:
            return list(inside[0])
        ran = None if self._is_next(node, walk) else walk.journal and walk.journal.gradients_in(node)
        if ran:
            return list(ran)
        keys = [node, *((node, nr) for nr in range(1, node.n_outputs))] if node.multi else [node]
        return [walk.bp.buffers.get(key) for key in keys]

    def _gradients_out(self, node: Node, walk: "Walk | None") -> list[Any]:
        if walk is None:
            return []
        if (inside := walk.inside(node)) is not None and inside[1] is not None:
            return list(inside[1])
        if not walk.has_run(node):
            return [None] * len(node.next_nodes())
        if not walk.journal:
            return []
        try:
            found = walk.journal.gradients_out(node)
        except Exception:  # what it saved was modified meanwhile
            return []
        return list(found or ())

    def _kept(self, node: Node, walk: "Walk | None") -> dict[str, Any]:
        """What the slots held before the node ran and freed them."""
        return walk.journal.saved(node) if walk is not None and walk.journal is not None else {}

    def _is_next(self, node: Node, walk: "Walk | None") -> bool:
        return walk is not None and not self._inside and walk.next_node() is node

    # ----- changes -----

    def _not_next(self, number: int, node: Node | None, walk: "Walk | None", what: str) -> str:
        """Why something of a node cannot be replaced."""
        if node is not None and walk is not None and walk.next_node() is node:
            return f"node {number} has begun to run: replace {what} before it begins, where `back` goes"
        return f"node {number} is not the one that runs next: only {what} can be replaced"

    def replace(self, node: int, output: int, value: Any) -> Any:
        found, walk = self._find(node)
        if found is None or walk is None or not self._is_next(found, walk):
            raise Refused(self._not_next(node, found, walk, "gradients that come in there"))
        old = self._gradients_in(found, walk)
        if not 0 <= output < len(old):
            raise Refused(f"output {output}: node {node} has {len(old)} outputs")
        if old[output] is None:
            raise Refused(f"no gradient comes in for output {output} of node {node}")
        array = _like(value, _buffer(old[output]))
        walk.replace(found, output, beside(array, _buffer(old[output])))
        return array

    def replace_saved(self, node: int, slot: int | str, value: Any) -> Any:
        found, walk = self._find(node)
        if found is None or walk is None or not self._is_next(found, walk):
            raise Refused(self._not_next(node, found, walk, "what that has saved"))
        if walk.bp.tensors:
            raise Refused(
                "this pass records itself (create_graph): a replaced tensor would have lost its history in it"
            )
        try:
            name = slot_named(found.slots, slot)
        except LookupError as error:
            raise Refused(str(error.args[0])) from None
        old = getattr(found, "s_" + name)
        if old is None or isinstance(old, Freed):
            what = "was not saved" if old is None else "is freed"
            raise Refused(f"{name} of node {node} {what}: nobody knows what could take its place")
        before = old.array if isinstance(old, Packed) else _buffer(old)
        array = _like(value, before, "tensor")
        walk.replace_saved(found, name, array if isinstance(old, Packed) else beside(array, before))
        return array

    def watch(self, value: Any, label: str) -> dict[str, Any] | None:
        return self._driver.stops.watches.of_value(value, label)

    def is_watchable(self, storage: int) -> bool:
        return self._driver.stops.watches.is_there(storage)

    def watch_slot(self, node: int, what: str, which: int | str) -> dict[str, Any] | None:
        found, _ = self._find(node)
        if what == "grad" and isinstance(found, AccumulateGrad):
            return self.watch(found.variable._gradient, f"the grad of {self._driver.names.of_tensor(found.variable)}")
        return self._driver.stops.watches.of_slot(found, str(which)) if found is not None and what == "saved" else None

    def retain(self) -> list[dict[str, Any]]:
        if self._walk is None or self._stop["where"] not in ("before", "inside"):
            raise Refused("no pass runs here whose graph could be kept")
        return [{"node": self._driver.sink.number(node), "op": node.op_name} for node in self._walk.retain()]

    def names(self) -> dict[str, Any]:
        from agdbg.engines.native_spot import NativeSpot  # which has to know this module

        kind = (self._stop.get("error") or {}).get("kind") or self._stop["where"]
        facts = {"text": self._stop["description"], **self.facts}
        self._copies = {}
        spot = NativeSpot(self._driver, self._node, self._walk, str(facts.pop("kind", kind)), facts)
        if self._node is None:
            return spot.names(("event", "step", "rank"))
        node = self._node
        found = spot.names(("node", "event", "step", "rank", "grads_in", "grads_out"))
        found["saved"] = SavedValues(node, lambda slot: self._copy_of(node, slot))
        if self._walk is None:
            return found
        incoming = self._gradients_in(node, self._walk)
        grads = [None if g is None else self._copy(g, f"grads[{index}]") for index, g in enumerate(incoming)]
        for index, g in enumerate(found.get("grads_in") or ()):
            if g is not None:
                self._is_copy(g, f"grads[{index}]")
        return {**found, "grad": grads[0] if grads else None, "grads": grads}

    def _copy_of(self, node: Node, slot: str) -> Any:
        """A copy of a saved tensor; ``None`` where there is none to see."""
        of = next(s for s in saved_slots(node) if s.slot == slot)
        value = _content(of, self._kept(node, self._walk))
        words = f"saved[{list(node.slots).index(slot)}]"
        return None if value is None or isinstance(value, Packed) else self._copy(value, words)

    def _copy(self, value: Any, of: str) -> Tensor:
        return self._is_copy(wrap(_own(_buffer(value))), of)

    def _is_copy(self, tensor: Tensor, of: str) -> Tensor:
        """Remember what a tensor that an evaluation is given is a copy of, for who writes to it."""
        self._copies[id(tensor._shared_storage())] = tensor, of
        return tensor

    def describe(self, value: Any) -> str | None:
        if not isinstance(value, Tensor):
            return None
        parts = [f"tensor {value.dtype} {list(value.shape)}", shown(value._a)]
        fn = value._fn
        if fn is not None:
            parts.append(f"grad_fn={fn.op_name}")
        elif value._rg is True:
            parts.append("requires_grad")
        return "  ".join(parts)

    def watched(self, function: Callable[[], Any]) -> tuple[Any, list[str]]:
        self._driver.sink.copies = self._copies
        try:
            return self._driver.watched(function)
        finally:
            self._driver.sink.copies = {}


def _value(g: Any) -> Any:
    if isinstance(g, Packed):
        return _unseen(g)
    return None if g is None else described(_buffer(g))


def _unseen(packed: Packed) -> Any:
    """A saved tensor that hooks of the program keep: asking them for it would run the program's code."""
    shape, dtype = packed.array.shape, packed.array.dtype
    summary = f"{dtype} {list(shape)}  kept by hooks of the program"
    size = int(np.prod(shape))
    told = {"summary": summary, "shape": list(shape), "dtype": str(dtype), "size": size}
    return {**told, "finite": True, "norm": None}


def _buffer(g: Any) -> Any:
    return g._a if isinstance(g, Tensor) else g


def _own(array: Any) -> Any:
    """A copy, where it is."""
    return np.array(array) if isinstance(array, np.ndarray | np.generic) else copied(array)


def _saved(saved: SavedTensor, kept: dict[str, Any]) -> dict[str, Any]:
    value = _content(saved, kept)
    now = saved.version
    state = "empty" if saved.value is None else "freed" if saved.freed else "ok"
    storage = saved.storage
    if state == "ok" and storage is not None:
        now = storage.version
        state = "ok" if now == saved.version else "modified"
    return {"value": _value(value), "state": state, "version": saved.version, "now": now}


def _content(saved: SavedTensor, kept: dict[str, Any]) -> Any:
    value = kept.get(saved.slot) if saved.freed else saved.value
    return None if isinstance(value, Freed) else value


def _hooks(node: Node) -> Iterator[dict[str, Any]]:
    yield from unpacking(node)
    if node.hooks is None:
        return
    for kind, nr, hook in node.hooks.firing():
        yield _hook(kind if not nr else f"{kind}, output {nr}", hook)
    for _ in node.hooks.retain:
        yield {"kind": "retain_grad", "name": "", "file": "", "line": 0}


def unpacking(node: Node) -> list[dict[str, Any]]:
    """The hooks that give back what ``node`` saved, each under the name of the part of the node in which it is called."""
    return [_hook(f"unpack {slot}", hook) for slot, hook in unpack_hooks(node)]


def _hook(kind: str, hook: Any) -> dict[str, Any]:
    code = getattr(hook, "__code__", None)
    place = None if code is None else where(code, 0)
    name = str(getattr(hook, "__qualname__", type(hook).__name__))
    return {"kind": kind, "name": name, "file": place.file if place else "", "line": code.co_firstlineno if code else 0}


def _no_numbers(value: Any, array: Any) -> str:
    """What is said of a value whose array, if one can call it so, has no real numbers."""
    if isinstance(value, list | tuple) or array.dtype.kind == "c":
        return f"its elements are {array.dtype if array.dtype.kind == 'c' else 'not all numbers'}"
    return "it is None" if value is None else f"it is of type {type(value).__name__}"


def _like(value: Any, old: Any, what: str = "gradient") -> Any:
    """``value`` as an array of the type and shape of ``old``, which nobody else holds."""
    try:
        several = isinstance(value, list | tuple)
        array = np.asarray([on_host(_buffer(v)) for v in value]) if several else on_host(_buffer(value))
        if array.dtype.kind not in "fiub":
            raise TypeError(_no_numbers(value, array))
        array = array.astype(old.dtype)
    except (TypeError, ValueError) as error:
        raise Refused(f"it is no {what} of type {old.dtype} and shape {list(old.shape)}: {error}") from None
    try:
        return np.broadcast_to(array, old.shape).copy()
    except ValueError:
        raise Refused(
            f"it is no {what} of type {old.dtype} and shape {list(old.shape)}: its shape is {list(array.shape)}"
        ) from None
