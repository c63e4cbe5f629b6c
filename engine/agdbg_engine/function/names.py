"""The names on a context belong to the user: where one of them is the engine's as well, both have their own.

The context of a custom Function is the engine's node, whose attributes have plain names; PyTorch keeps its own where no user sees
them. So after each function of the user it is looked whether it took such a name. If it did, the user's value moves to the
instance's dictionary, and the node gets a class that tells readers apart: the engine (and instruments, see
:data:`~.sites.INTERNAL`) by its files, everybody else gets what the user put there.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING, Any

from ..hooks import NodeHooks
from ..node import Node
from ..sites import INTERNAL

if TYPE_CHECKING:
    from .node import BackwardCFunction

UNKNOWN: Any = object()
"""The number of outputs while that is not known."""

_SHARED = frozenset(
    ("_is_pure_view", "_materialize_non_diff_grads", "apply", "apply_boxed", "apply_jvp", "dirty_tensors", "mark_dirty",
     "mark_non_differentiable", "mark_shared_storage", "materialize_grads", "maybe_clear_saved_tensors", "metadata", "name",
     "needs_input_grad", "next_functions", "non_differentiable", "register_hook", "register_prehook",
     "requires_grad", "save_for_backward", "save_for_forward", "saved_for_forward", "saved_tensors",
     "saved_variables", "set_materialize_grads", "tag", "to_save")
)  # fmt: skip
"""Names of the context that PyTorch has as well: they mean the same for everybody."""

OF_CONTEXTS = (_SHARED - {"tag"}) | {"_input_metadata", "_raw_saved_tensors", "_register_hook_dict", "_sequence_nr"}
"""Names of contexts that a Function, their class in PyTorch, shows as well."""

_slots = ("next", "nrs", "seq", "code", "lasti", "n_outputs", "hooks")
_tag = Node.__dict__["tag"]
"""The slot: an instrument may number a node at any time, so that nobody can tell afterwards whose value it is."""

Claim = tuple[Any, ...]


def claim(ctx: BackwardCFunction) -> Claim:
    """The engine's values of the slots of ``ctx``, before a function of the user gets it."""
    return ctx.next, ctx.nrs, ctx.seq, ctx.code, ctx.lasti, ctx.n_outputs, ctx.hooks


def reclaim(ctx: BackwardCFunction, ours: Claim) -> None:
    """Take the engine's names back from the user, who keeps his values of them."""
    global _names
    next_, nrs, seq, code, lasti, n_outputs, hooks = ours
    if (
        ctx.next is not next_ or ctx.nrs is not nrs or ctx.seq is not seq or ctx.code is not code or ctx.lasti is not lasti
        or ctx.n_outputs is not n_outputs or ctx.hooks is not hooks
    ):  # fmt: skip
        _give(ctx, ours)
    if _names is None:
        _names = _engine_names(ctx)
    if not _names.isdisjoint(ctx.__dict__):
        ctx.__class__ = _telling_apart(type(ctx))


_names: frozenset[str] | None = None
"""The names that are the engine's alone."""


def _engine_names(ctx: BackwardCFunction) -> frozenset[str]:
    cls = type(ctx).__mro__[1]
    return frozenset(n for n in dir(cls) if not n.startswith("__")) - _SHARED


def _give(ctx: BackwardCFunction, ours: Claim) -> None:
    """Move the user's values out of the slots."""
    for name, now, our in zip(_slots, claim(ctx), ours, strict=True):
        if now is our or (name == "hooks" and isinstance(now, NodeHooks)):  # a hook was registered
            continue
        ctx.__dict__[name] = now
        setattr(ctx, name, our)


def tag_of(ctx: BackwardCFunction) -> Any:
    """The ``tag`` of whoever asks."""
    if _getframe(2).f_code.co_filename in INTERNAL:
        return _tag.__get__(ctx)
    if "tag" in ctx.__dict__:
        return ctx.__dict__["tag"]
    raise AttributeError(f"'{ctx.op_name}' object has no attribute 'tag'")


def set_tag(ctx: BackwardCFunction, value: Any) -> None:
    """Set the ``tag`` of whoever asks."""
    if _getframe(2).f_code.co_filename in INTERNAL:
        _tag.__set__(ctx, value)
    else:
        ctx.__dict__["tag"] = value


_apart: dict[type, type] = {}


def _telling_apart(cls: type) -> type:
    """The subclass of ``cls`` whose instances have names twice."""
    found = _apart.get(cls)
    if found is None:
        own = {"__slots__": (), "__module__": cls.__module__, "__getattribute__": _read, "__setattr__": _write}
        found = type(cls.__name__, (cls,), own)
        _apart[cls] = _apart[found] = found
    return found


def _read(self: Any, name: str) -> Any:
    own = object.__getattribute__(self, "__dict__")
    if name not in own:
        return object.__getattribute__(self, name)
    if name not in (_names or ()) or _getframe(1).f_code.co_filename not in INTERNAL:
        return own[name]
    found = next(vars(cls)[name] for cls in type(self).__mro__ if name in vars(cls))
    return found.__get__(self, type(self)) if hasattr(found, "__get__") else found


def _write(self: Any, name: str, value: Any) -> None:
    if name in (_names or ()) and _getframe(1).f_code.co_filename not in INTERNAL:
        self.__dict__[name] = value
    else:
        object.__setattr__(self, name, value)
