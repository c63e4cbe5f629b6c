"""Hooks: where they are kept, and the handle that takes one away again.

A tensor's own hooks are one ordered dictionary, as in PyTorch, that the node which makes the tensor refers to; after an
in-place op the tensor starts a new one on its new node, and the old one stays with the old node. A node without hooks
has ``None`` in its slot ``hooks``, which is all that it pays.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import events
from ..grad_mode import mode
from ..inside import registered_already
from ..sites import caller

if TYPE_CHECKING:
    from ..inside import Inside
    from ..node import Node
    from ..tensor import Tensor
    from ..validate import InputMetadata

Hook = Callable[..., Any]
Hooks = OrderedDict[int, Hook]
"""Hooks by the number of their handle, in the order in which they fire."""


class Quiet:
    """A hook of the engine's own, in which hooks of the user fire: it tells of those itself."""

    def __call__(self, *args: Any) -> Any:
        """Called as any hook at its place."""
        raise NotImplementedError


class Owned:
    """A hook that was registered while a function is transformed: its level's passes call it, no others.

    PyTorch has a graph for every level, and a hook is part of one of them; here a graph is that of all levels.
    """

    __slots__ = ("hook", "transform")

    def __init__(self, hook: Hook, transform: Inside) -> None:
        self.hook = hook
        self.transform = transform


def owned(hook: Hook, node: Node | None, leaf: Tensor | None = None) -> Any:
    """``hook`` for ``node``, or ``leaf`` if that has none yet, as it is kept."""
    transform = mode.transform if events.special & events.TRANSFORM else None
    while transform is not None and not transform.holds(node, leaf):
        transform = transform.outer
    return hook if transform is None else Owned(hook, transform)


def function_of(hook: Any) -> Hook:
    """What is called, of a hook as it is kept."""
    found: Hook = hook.hook if type(hook) is Owned else hook
    return found


class NodeHooks:
    """What few nodes have: hooks on its outputs, before it and after it, retained gradients; what is noted about it."""

    __slots__ = ("made", "metadata", "post", "pre", "retain", "tensor", "unpacks")

    def __init__(self) -> None:
        self.tensor: list[tuple[int, Hooks]] = []
        """Output number and hooks of every tensor that has some, in the order in which the tensors got their first."""
        self.retain: dict[int, weakref.ref[Tensor]] = {}
        """By output number the tensor whose ``grad`` keeps the gradient."""
        self.pre: Hooks = OrderedDict()
        self.post: Hooks = OrderedDict()
        self.metadata: dict[str, Any] = {}
        self.made: dict[int, InputMetadata] = {}
        """What the node made, by output number, where that was replaced by something of another kind since."""
        self.unpacks = False
        """Whether functions of the user unpack what was saved, so that gradients are to be made to fit."""

    def firing(self) -> Iterator[tuple[str, int, Hook]]:
        """Kind, output number and function of every hook, in the order in which they fire."""
        for nr, hooks in self.tensor:
            yield from (("tensor", nr, function_of(hook)) for hook in list(hooks.values()))
        yield from (("pre", 0, function_of(hook)) for hook in list(self.pre.values()))
        yield from (("post", 0, function_of(hook)) for hook in list(self.post.values()))


class LeafHooks(NodeHooks):
    """The hooks of an AccumulateGrad, with those that fire once the leaf's ``grad`` is there."""

    __slots__ = ("post_accumulate",)

    def __init__(self) -> None:
        super().__init__()
        self.post_accumulate: Hooks | None = None

    def firing(self) -> Iterator[tuple[str, int, Hook]]:
        """As of any node, those after accumulation before those after the node."""
        yield from ((kind, nr, hook) for kind, nr, hook in super().firing() if kind != "post")
        yield from (("post-accumulate", 0, hook) for hook in list((self.post_accumulate or {}).values()))
        yield from (("post", 0, hook) for hook in list(self.post.values()))


def node_hooks(node: Node) -> NodeHooks:
    """The hooks of ``node``, made at first use."""
    if node.hooks is None:
        node.hooks = LeafHooks() if node.leaf else NodeHooks()
    return node.hooks


def follow_leaf(node: Node, leaf: Tensor) -> None:
    """Let ``node``, the AccumulateGrad of ``leaf``, fire the hooks that ``leaf`` has now: they outlive the node."""
    meta = leaf._meta
    assert meta is not None
    if node.hooks is None and meta.backward_hooks is None and meta.post_accumulate is None:
        return
    hooks = node_hooks(node)
    assert isinstance(hooks, LeafHooks)
    hooks.tensor = [] if meta.backward_hooks is None else [(0, meta.backward_hooks)]
    hooks.post_accumulate = meta.post_accumulate


def move_to(new: Node, t: Tensor, nr: int = 0) -> None:
    """Output ``nr`` of ``new`` is about to be the node of ``t``: ``retain_grad`` moves along, hooks stay where they are."""
    meta = t._meta
    if meta is None:
        return
    meta.backward_hooks = None
    if meta.retains_grad:
        if t._fn is None:  # detached in place since, which it outlives
            kept: weakref.ref[Tensor] | None = weakref.ref(t)
        else:  # none: it stayed behind when the shape was changed in place
            kept = None if t._fn.hooks is None else t._fn.hooks.retain.pop(t._nr, None)
        if kept is not None:
            node_hooks(new).retain[nr] = kept


class RemovableHandle:
    """Returned by every ``register_*``: :meth:`remove` takes the hook away again. It keeps nothing alive."""

    _next_id = itertools.count().__next__

    def __init__(
        self,
        hooks: Hooks,
        hook: Hook,
        node: Node | None,
        kind: str,
        extra: tuple[OrderedDict[int, bool], ...] = (),
        tensor: Tensor | None = None,
    ) -> None:
        """Put ``hook`` into ``hooks``; its number is removed from ``extra`` as well. ``tensor`` is what it is registered on."""
        self.id = RemovableHandle._next_id()
        self._dicts: list[weakref.ref[OrderedDict[int, Any]]] = [weakref.ref(hooks), *map(weakref.ref, extra)]
        self._node = None if node is None else weakref.ref(node)
        self._kind = kind
        if events.special & events.TRANSFORM and tensor is not None and registered_already(tensor):
            return
        hooks[self.id] = owned(hook, node, tensor) if events.special else hook
        if events.sink is not None:
            events.sink.hook("registered", kind, node, *caller(), events.HookFacts(self.id, hook, tensor))

    def remove(self) -> None:
        """Forget the hook; harmless when done twice."""
        found = [d.pop(self.id, None) for ref in self._dicts if (d := ref()) is not None]
        if found and found[0] is not None and events.sink is not None:
            node = None if self._node is None else self._node()
            events.sink.hook("removed", self._kind, node, *caller(), events.HookFacts(self.id))

    def __getstate__(self) -> tuple[int, list[Any]]:
        """For ``copy`` and ``pickle``: the number, and what it is a key of, which a module copies together with its handles."""
        return self.id, [ref() for ref in self._dicts]

    def __setstate__(self, state: tuple[int, list[Any]]) -> None:
        self.id, held = state
        self._dicts = [weakref.ref(OrderedDict() if d is None else d) for d in held]
        self._node, self._kind = None, ""
        if RemovableHandle._next_id() <= self.id:  # made by another process: no other hook is to get its number
            RemovableHandle._next_id = itertools.count(self.id + 1).__next__

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def add_quietly(hooks: Hooks, hook: Quiet, node: Node) -> None:
    """Put a hook of the engine's own at the end of ``hooks``, those of ``node``; nobody is told."""
    hooks[RemovableHandle._next_id()] = owned(hook, node)
