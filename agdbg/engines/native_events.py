"""Breakpoints on events: where the engine tells something, and somebody wants to stop there.

While a kind of event is wanted, the method of the sink that is told of it records it as always and then asks who
stops. While none is wanted the methods are the sink's own, and cost what they cost without a debugger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CodeType, MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from agdbg.agent.control import EventStop
from agdbg.counted import counted
from agdbg.error_text import class_name
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.saved import Packed
from agdbg_engine.sites import where
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink
    from agdbg.engines.native_names import Names
    from agdbg.engines.native_walk import Walk

Site = tuple[CodeType, int]


class Happening(NamedTuple):
    """Something that has happened: its kind, a line for people, the node and the line of the program, and its facts."""

    kind: str
    text: str
    node: Node | None = None
    site: Site | None = None
    facts: Mapping[str, Any] = MappingProxyType({})

    @property
    def is_elsewhere(self) -> bool:
        """Whether it has happened on a line that has not built its node: that of a `detach()` of what another line has made."""
        of_node = getattr(self.node, "code", None), getattr(self.node, "lasti", None)
        return self.node is not None and self.site is not None and self.site != of_node


Happened = Callable[[Happening], object]
_Describe = Callable[..., Happening | None]

_HOOKS = ("hook-registered", "hook-fired", "hook-removed")
_FUNCTIONS = ("custom-forward", "custom-backward", "custom-jvp")
_MODULES = ("module-entered", "module-left")

TOLD: dict[str, tuple[str, ...]] = {
    "saved_packed": ("packed",),
    "saved_unpacked": ("unpack",),
    "saved_cloned": ("cloned",),
    "version_bumped": ("version-bump",),
    "view_created": ("view-created",),
    "history_rebased": ("history-rebased",),
    "graph_cut": ("cut",),
    "grad_mode": ("grad-mode",),
    "tensor_named": ("tensor-named",),
    "dual_level": ("dual-level",),
    "hook": _HOOKS,
    "function_began": _FUNCTIONS,
    "function_wrote": ("unmarked-write",),
    "function_kept": ("kept",),
    "function_cast": ("gradient-cast",),
    "recomputed": ("recomputed",),
    "module_entered": ("module-entered",),
    "module_left": ("module-left",),
}
"""By the method of the sink that is told: the kinds of event that it means."""

AT_BIRTH = frozenset({"node-born", "save"})
IN_PASSES = frozenset(
    {"node-ran", "unpack", "release", "accumulate", "graph-freed", "backward-started", "backward-finished"}
)
"""Those that are seen between the nodes of a pass that is run one by one."""


class EventStops:
    """The breakpoints on events.

    Args:
        sink: records what the engine tells.
        names: what things are called.
        happened: called with what has happened, and is wanted.
        failed: called with a mistake of our own, while it is handled.
    """

    def __init__(
        self, sink: NativeSink, names: Names, happened: Happened, failed: Callable[[Exception], object]
    ) -> None:
        self._sink, self._names = sink, names
        self._happened, self._failed = happened, failed
        self._plain: dict[str, Callable[..., None]] = {}
        self._stops: dict[str, list[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._stops)

    def take(self, stops: list[EventStop], watching: bool) -> None:
        """These are the breakpoints now; ``watching``: writes are wanted as well."""
        self._stops = {}
        for stop in stops:
            self._stops.setdefault(stop.kind, []).append(stop.id)
        for method, kinds in TOLD.items():
            wanted = any(kind in self._stops for kind in kinds) or (watching and method == "version_bumped")
            if wanted and method not in self._plain and hasattr(self._sink, method):
                self._plain[method] = getattr(self._sink, method)
                setattr(self._sink, method, self._telling(method))
            elif not wanted and method in self._plain:
                setattr(self._sink, method, self._plain.pop(method))

    def of(self, kind: str) -> list[int]:
        """The breakpoints on events of a kind."""
        return self._stops.get(kind, [])

    def any_of(self, kinds: frozenset[str]) -> bool:
        """Whether there is a breakpoint on one of the kinds."""
        return not kinds.isdisjoint(self._stops)

    def _telling(self, method: str) -> Callable[..., None]:
        plain, describe = self._plain[method], _DESCRIBED[method]

        def told(*args: Any) -> None:
            plain(*args)
            try:
                found = describe(self._names, *args)
            except RecursionError:  # the program is at its limit
                return
            except Exception as error:  # a mistake of ours is not the program's
                self._failed(error)
                return
            if found is not None:
                self._happened(found)

        return told


# ----- seen at a birth, or between the nodes of a pass -----


def at_birth(node: Node, out: Tensor) -> Iterator[Happening]:
    """What happens when a node is built."""
    site = node.code, node.lasti
    yield Happening("node-born", f"{node.op_name} was built", node, site, {"op": node.op_name})
    slots = [name for name in node.slots if getattr(node, "s_" + name) is not None]
    if slots:
        yield Happening("save", f"{node.op_name} saved {', '.join(slots)}", node, site, {"slots": slots})


def in_pass(walk: Walk) -> Iterator[Happening]:
    """What has happened before the next node of a pass, which has not begun to run, and what is about to."""
    bp, position = walk.bp, walk.bp.position
    site = bp.code, bp.lasti
    if not position:
        yield Happening(
            "backward-started",
            f"{bp.call}() starts with {counted(len(bp.order), 'node')}",
            None,
            site,
            {"call": bp.call},
        )
    else:
        yield from _after(walk, bp.order[position - 1])
    if position < len(bp.order):
        yield from _before(walk, bp.order[position])
        return
    yield Happening(
        "backward-finished", f"{bp.call}() has run its {counted(position, 'node')}", None, site, {"call": bp.call}
    )
    if bp.freed is not None and any(node.slots for node in bp.order):
        yield Happening("graph-freed", f"{bp.call}() has freed what its graph saved", None, site, {"call": bp.call})


def _after(walk: Walk, node: Node) -> Iterator[Happening]:
    site = node.code, node.lasti
    yield Happening("node-ran", f"{node.op_name} has run", node, site, {"op": node.op_name})
    if walk.bp.freed is not None and node.slots:
        text = f"{node.op_name} let go of {', '.join(node.slots)}"
        yield Happening("release", text, node, site, {"slots": list(node.slots)})


def _before(walk: Walk, node: Node) -> Iterator[Happening]:
    site = node.code, node.lasti
    values = {name: getattr(node, "s_" + name) for name in node.slots}
    plain = [name for name, value in values.items() if value is not None and not isinstance(value, Packed)]
    if plain:
        yield Happening("unpack", f"{node.op_name} reads {', '.join(plain)}", node, site, {"slots": plain})
    if isinstance(node, AccumulateGrad) and walk.bp.buffers.get(node) is not None:
        name = " or ".join(walk.driver.names.of_node(node))
        text = f"a gradient goes to {name or 'a leaf without a name'}"
        yield Happening("accumulate", text, node, site, {"name": name})


# ----- what the sink is told, in words -----


def _packed(names: Names, node: Node, slot: int, code: CodeType, lasti: int) -> Happening:
    name = node.slots[slot]
    return Happening("packed", f"a pack hook took '{name}' of {node.op_name}", node, (code, lasti), {"slot": name})


def _unpacked(names: Names, node: Node, slot: int) -> Happening:
    name = node.slots[slot]
    text = f"an unpack hook gave back '{name}' of {node.op_name}"
    return Happening("unpack", text, node, (node.code, node.lasti), {"slots": [name]})


def _cloned(names: Names, tensor: Tensor, count: int, code: CodeType, lasti: int) -> Happening:
    what = "1 saved tensor of {} was" if count == 1 else f"{count:,} saved tensors of {{}} were"
    text = f"{what.format(names.of_tensor(tensor))} copied before a write"
    return Happening("cloned", text, None, (code, lasti), {"name": names.of_tensor(tensor), "count": count})


def _bumped(
    names: Names, tensor: Tensor, storage: Any, op: str, node: Node | None, code: CodeType, lasti: int
) -> Happening:
    new, name = storage.version, names.of_tensor(tensor)
    facts = {"op": op, "name": name, "old": new - 1, "new": new, "storage": names.number_of(tensor)}
    line = where(code, lasti).line
    text = f"line {line}: {op} wrote to {name}: version {new - 1} to {new}"
    return Happening("version-bump", text, node, (code, lasti), facts)


def _viewed(names: Names, view: Tensor, base: Tensor, op: str, code: CodeType, lasti: int) -> Happening:
    text = f"{op} made a view {list(view.shape)} of {names.of_tensor(base)}"
    return Happening("view-created", text, view._fn, (code, lasti), {"op": op, "name": names.of_tensor(base)})


def _rebased(
    names: Names, tensor: Tensor, old: Node | None, new: Node, op: str, code: CodeType, lasti: int
) -> Happening:
    text = f"{op} gave {names.of_tensor(tensor)} the history {new.op_name} in place of {old.op_name if old else 'none'}"
    facts = {"op": op, "name": names.of_tensor(tensor), "old": old.op_name if old else "", "new": new.op_name}
    return Happening("history-rebased", text, new, (code, lasti), facts)


def _cut(names: Names, tensor: Tensor, how: str, code: CodeType, lasti: int) -> Happening:
    text = f"a gradient path ends at {names.of_tensor(tensor)}: {how}"
    return Happening("cut", text, tensor._fn, (code, lasti), {"how": how, "name": names.of_tensor(tensor)})


def _grad_mode(names: Names, enabled: bool, code: CodeType, lasti: int) -> Happening:
    return Happening("grad-mode", f"gradients are {_on(enabled)}", None, (code, lasti), {"enabled": enabled})


def _named(names: Names, tensor: Tensor, name: str, kind: str) -> Happening:
    return Happening("tensor-named", f"{kind} {name}", None, None, {"name": name, "what": kind})


def _dual(names: Names, level: int, entered: bool, code: CodeType, lasti: int) -> Happening:
    text = f"level {level} of forward mode was {'entered' if entered else 'left'}"
    return Happening("dual-level", text, None, (code, lasti), {"level": level, "entered": entered})


def _hook(names: Names, what: str, kind: str, node: Node | None, code: CodeType, lasti: int, *more: Any) -> Happening:
    at = f" of {node.op_name}" if node is not None else ""
    return Happening(f"hook-{what}", f"a {kind} hook{at} was {what}", node, (code, lasti), {"hook": kind})


def _function(names: Names, node: Node, what: str, code: CodeType, lasti: int) -> Happening:
    text = f"{what} of {node.op_name} begins"
    return Happening(f"custom-{what}", text, node, (code, lasti), {"op": node.op_name})


def _wrote(names: Names, node: Node, tensor: Tensor, argument: str, code: CodeType, lasti: int) -> Happening:
    text = f"{node.op_name} wrote to its argument {argument} without mark_dirty"
    return Happening("unmarked-write", text, node, (code, lasti), {"argument": argument})


def _kept(names: Names, node: Node, tensor: Tensor, name: str, role: str, code: CodeType, lasti: int) -> Happening:
    facts = {"name": name, "role": role}
    return Happening("kept", f"ctx.{name} of {node.op_name} holds an {role}", node, (code, lasti), facts)


def _cast(
    names: Names, node: Node, gradient: Tensor, argument: str, dtype: object, given: object, code: CodeType, lasti: int
) -> Happening:
    text = f"the gradient of {node.op_name} for {argument} was cast from {gradient.dtype} to {dtype}"
    return Happening("gradient-cast", text, node, (code, lasti), {"argument": argument})


def _recomputed(names: Names, ops: int, difference: str | None, code: CodeType, lasti: int) -> Happening:
    how = f"not the same: {difference}" if difference else "the same"
    text = f"a checkpointed function ran again, {ops:,} ops, {how}"
    return Happening("recomputed", text, None, (code, lasti), {"ops": ops, "difference": difference or ""})


def _module(kind: str) -> _Describe:
    def describe(names: Names, module: Any, *more: Any) -> Happening:
        path, name = names.path_of(module), class_name(module)
        text = f"{name} {path or '(the root)'} is {'entered' if kind == 'module-entered' else 'left'}"
        return Happening(kind, text, None, None, {"module": path, "cls": name})

    return describe


def _on(enabled: bool) -> str:
    return "on" if enabled else "off"


_DESCRIBED: dict[str, _Describe] = {
    "saved_packed": _packed,
    "saved_unpacked": _unpacked,
    "saved_cloned": _cloned,
    "version_bumped": _bumped,
    "view_created": _viewed,
    "history_rebased": _rebased,
    "graph_cut": _cut,
    "grad_mode": _grad_mode,
    "tensor_named": _named,
    "dual_level": _dual,
    "hook": _hook,
    "function_began": _function,
    "function_wrote": _wrote,
    "function_kept": _kept,
    "function_cast": _cast,
    "recomputed": _recomputed,
    "module_entered": _module("module-entered"),
    "module_left": _module("module-left"),
}
