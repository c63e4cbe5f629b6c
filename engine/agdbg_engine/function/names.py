"""The names on a context belong to the user: where one of them is the engine's as well, both have their own.

The context of a custom Function is the engine's node, whose attributes have plain names; PyTorch keeps its own where no user sees
them. What the user sets under such a name goes to the instance's dictionary, and the node gets a class that tells readers apart:
the engine (and instruments, see :data:`~.sites.INTERNAL`) by its files, everybody else gets what the user put there, and nothing
of the engine's any more. Only a node of which the user took no name shows the engine's: asking at each read takes too long.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..node import Node
from ..sites import INTERNAL
from .ctx import FunctionCtx, put

if TYPE_CHECKING:
    from .node import BackwardCFunction

UNKNOWN: Any = object()
"""The number of outputs while that is not known."""

_SHARED = frozenset(
    ("_input_metadata", "_is_pure_view", "_materialize_non_diff_grads", "_raw_saved_tensors", "apply", "apply_boxed",
     "apply_jvp", "dirty_tensors", "mark_dirty", "mark_non_differentiable", "mark_shared_storage", "materialize_grads",
     "maybe_clear_saved_tensors", "metadata", "needs_input_grad", "next_functions", "non_differentiable", "register_hook",
     "register_prehook", "requires_grad", "save_for_backward", "save_for_forward", "saved_for_forward", "saved_tensors",
     "saved_variables", "set_materialize_grads", "to_save")
)  # fmt: skip
"""Names of the context that PyTorch has as well: they mean the same for everybody."""

OF_CONTEXTS = _SHARED | {"_register_hook_dict", "_sequence_nr", "name"}
"""Names of contexts that a Function, their class in PyTorch, shows as well."""

_EMPTIED = frozenset(("dirty_tensors", "needs_input_grad", "non_differentiable", "saved_for_forward", "to_save"))
"""Names of slots that are ``None`` when they were deleted."""

_names: frozenset[str] = frozenset()
"""The names that the engine has for itself."""
_hidden: frozenset[str] = frozenset()
"""Those of them that PyTorch has not."""

_tag = Node.__dict__["tag"]
_dict = FunctionCtx.__dict__["__dict__"]


def know(cls: type) -> None:
    """``cls`` is the class of contexts: its names are those of the engine."""
    global _names, _hidden
    _names = frozenset(n for n in dir(cls) if not n.startswith("__")) - _SHARED
    _hidden = _names - OF_CONTEXTS - {"_get_user_fn"}


def tag_of(ctx: BackwardCFunction) -> Any:
    """The number given by an instrument, for whoever may see it."""
    if _getframe(1).f_code.co_filename in INTERNAL:
        return _tag.__get__(ctx)
    raise AttributeError("tag")  # __getattr__ has the words


class _Attributes(dict[str, Any]):
    """The attributes of a context that the user has seen as a dictionary: he may write any name to it."""

    __slots__ = ("_of",)

    def __init__(self, ctx: BackwardCFunction, values: Any) -> None:
        super().__init__(values)
        self._of = ref(ctx)

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._look()

    def setdefault(self, name: str, default: Any = None) -> Any:
        found = super().setdefault(name, default)
        self._look()
        return found

    def update(self, *args: Any, **named: Any) -> None:
        super().update(*args, **named)
        self._look()

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]  # as of dict
        self.update(other)
        return self

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def _look(self) -> None:
        ctx = self._of()
        if ctx is not None and _dict.__get__(ctx) is self and not _names.isdisjoint(self):
            _tell_apart(ctx)


def dict_of(ctx: BackwardCFunction) -> Any:
    """The attributes that the user gave ``ctx``."""
    found = _dict.__get__(ctx)
    if type(found) is dict and _getframe(1).f_code.co_filename not in INTERNAL:
        set_dict(ctx, found)
        return _dict.__get__(ctx)
    return found


def set_dict(ctx: BackwardCFunction, value: Any) -> None:
    """Let them be those of ``value``."""
    made = _Attributes(ctx, value)
    _dict.__set__(ctx, made)
    made._look()


def write(ctx: BackwardCFunction, name: str, value: Any) -> None:
    """Set an attribute of whoever asks."""
    if name in _names and _getframe(1).f_code.co_filename not in INTERNAL:
        _dict.__get__(ctx)[name] = value
        _tell_apart(ctx)
    else:
        put(ctx, name, value)


def delete(ctx: BackwardCFunction, name: str) -> None:
    """Delete an attribute of whoever asks."""
    if name in _names and _getframe(1).f_code.co_filename not in INTERNAL:
        own = _dict.__get__(ctx)
        if name not in own:
            raise AttributeError(f"'{type(ctx).__name__}' object has no attribute '{name}'")
        del own[name]
    elif name in _EMPTIED:
        put(ctx, name, None)
    else:
        object.__delattr__(ctx, name)


def _tell_apart(ctx: BackwardCFunction) -> None:
    """Give ``ctx`` the class whose instances have names twice."""
    cls: Any = type(ctx)
    if cls.__getattribute__ is _read:
        return
    apart = cls.__dict__.get("_apart")
    if apart is None:
        own = {"__slots__": (), "__module__": cls.__module__, "__getattribute__": _read}
        apart = cls._apart = type(cls.__name__, (cls,), own)
    ctx.__class__ = apart


def _read(self: Any, name: str) -> Any:
    own = _dict.__get__(self)
    if name not in own:
        if name in _hidden and _getframe(1).f_code.co_filename not in INTERNAL:
            raise AttributeError(name)  # as above
        return object.__getattribute__(self, name)
    if name not in _names or _getframe(1).f_code.co_filename not in INTERNAL:
        return own[name]
    found = next(vars(cls)[name] for cls in type(self).__mro__ if name in vars(cls))
    return found.__get__(self, type(self)) if hasattr(found, "__get__") else found
