"""State: the part of a module that gives its parameters and buffers as a dict, and takes them back."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..foreign import hint
from ..grad_mode import no_grad
from ..hooks import Hook, Hooks, RemovableHandle
from ..hooks.quiet import QuietHandle
from ..tensor import Parameter, Tensor
from .uninitialized import is_lazy

if TYPE_CHECKING:
    from .module import Module

_EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What loading did not find, and what it could not place."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class StateDict(OrderedDict[str, Any]):
    """An ordered dict with the version of every module in ``_metadata``."""

    _metadata: OrderedDict[str, dict[str, Any]]


class StateHooks:
    """The hooks on the state of one module."""

    def __init__(self) -> None:
        self.before: Hooks = OrderedDict()
        self.after: Hooks = OrderedDict()
        self.before_load: Hooks = OrderedDict()
        self.after_load: Hooks = OrderedDict()


_NONE = StateHooks()


class WithModule:
    """A hook that is given the module first, which it finds anew in a copy of the module."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook


class Stateful:
    """What :class:`~agdbg_engine.nn.Module` offers to save and load it."""

    _version: int = 1
    _state_hooks: StateHooks | None = None
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]

    # ----- hooks -----

    def _with_state_hooks(self) -> StateHooks:
        if self._state_hooks is None:
            self.__dict__["_state_hooks"] = StateHooks()
        assert self._state_hooks is not None
        return self._state_hooks

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the state of this module is put into a dict."""
        return QuietHandle(self._with_state_hooks().before, hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)``, which may change the dict, afterwards."""
        hook._from_public_api = True
        return QuietHandle(self._with_state_hooks().after, hook)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """As :meth:`register_state_dict_post_hook`; what it returns is what the root's ``state_dict`` returns."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return QuietHandle(self._with_state_hooks().after, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)`` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Hook, with_module: bool = False) -> RemovableHandle:
        kept: Any = WithModule(hook) if with_module else hook
        return QuietHandle(self._with_state_hooks().before_load, kept)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the two lists of keys."""
        return QuietHandle(self._with_state_hooks().after_load, hook)

    # ----- saving -----

    def get_extra_state(self) -> Any:
        """What else belongs to the state: define it together with :meth:`set_extra_state`."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: Any) -> None:
        """Take back what :meth:`get_extra_state` gave."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers by full name, on the same memory; detached unless ``keep_vars``.

        A parameter that several modules share is there under each of its names. ``destination`` is filled if given.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and not prefix else prefix
            keep_vars = args[2] if len(args) > 2 and not keep_vars else keep_vars
        if destination is None:
            destination = StateDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        hooks = self._state_hooks or _NONE
        for hook in hooks.before.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in hooks.after.values():
            answer = hook(self, destination, prefix, local_metadata)
            if answer is not None and getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = destination if answer is None else answer
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put what this very module holds into ``destination``."""
        for name, t in self._persistent().items():
            destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def _persistent(self) -> dict[str, Tensor]:
        """Parameters, then buffers that are part of the state, of this very module."""
        held: list[tuple[str, Tensor | None]] = [*self._parameters.items()]
        held += [item for item in self._buffers.items() if item[0] not in self._non_persistent_buffers_set]
        return {name: t for name, t in held if t is not None}

    # ----- loading -----

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy values in, or with ``assign`` take the tensors themselves; gives the missing and the unexpected keys.

        Raises :class:`RuntimeError` that lists every size that does not fit and, if ``strict``, every key too many or too few.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        state = StateDict(state_dict)  # hooks may change it
        if metadata is not None:
            state._metadata = metadata
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        self._load_all(state, "", metadata or {}, assign, keys, errors)
        if strict:
            for what, names in (("Unexpected", keys.unexpected_keys), ("Missing", keys.missing_keys)):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if errors:
            raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(_name(self), "\n\t".join(errors)))
        return keys

    def _load_all(
        self, state: StateDict, prefix: str, metadata: Any, assign: bool, keys: Any, errors: list[str]
    ) -> None:
        """Load this module, then those below it."""
        local_metadata = metadata.get(prefix[:-1], {})
        if assign:
            local_metadata["assign_to_params_buffers"] = assign
        lists = keys.missing_keys, keys.unexpected_keys, errors
        self._load_from_state_dict(state, prefix, local_metadata, True, *lists)  # strict: all keys are asked for
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}{name}."
                part = StateDict((key, value) for key, value in state.items() if key.startswith(below))
                module._load_all(part, below, metadata, assign, keys, errors)
        for hook in (self._state_hooks or _NONE).after_load.values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                    "incompatible_keys need to be modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load what this very module holds; faults are added to the three lists."""
        hooks: Iterable[Any] = (self._state_hooks or _NONE).before_load.values()
        for hook in hooks:
            args = (state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
            if isinstance(hook, WithModule):
                hook.hook(self, *args)
            else:
                hook(*args)
        held = self._persistent()
        for name, own in held.items():
            if prefix + name in state_dict:
                assign = local_metadata.get("assign_to_params_buffers", False)
                fault = self._load_one(prefix + name, name, own, state_dict[prefix + name], assign)
                error_msgs += [] if fault is None else [fault]
            elif strict:
                missing_keys.append(prefix + name)
        extra = prefix + _EXTRA
        if type(self).set_extra_state is not Stateful.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        for key in state_dict if strict else ():
            if key.startswith(prefix) and key != extra:
                first, *below = key[len(prefix) :].split(".", 1)
                if first not in (self._modules if below else held):
                    unexpected_keys.append(key)

    def _load_one(self, key: str, name: str, own: Tensor, given: Any, assign: bool) -> str | None:
        """Load one tensor; what is wrong with it, if something is."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(given)}{hint(given)}"
            )
        sized = not is_lazy(own)  # what has no size yet takes only what has none either
        if sized and own.shape == () and given.shape == (1,):
            given = given[0]
        if sized and own.shape != given.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {_size(given)} from checkpoint, the shape in current "
                f"model is {_size(own)}."
            )
        try:
            with no_grad():
                if assign:
                    setattr(self, name, _as_held(given, own))
                else:
                    own.copy_(given)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {_size(own)} and whose dimensions '
                f"in the checkpoint are {_size(given)}, an exception occurred : {error.args}."
            )
        return None


def _name(module: Any) -> str:
    return type(module).__name__


def _size(t: Tensor) -> str:
    return f"torch.Size({list(t.shape)})"


def _as_held(given: Tensor, own: Tensor) -> Tensor:
    """``given`` as it takes the place of ``own``: a parameter for a parameter, which needs a gradient if that did."""
    if not isinstance(own, Parameter):
        return given
    if not isinstance(given, Parameter):
        return Parameter(given, requires_grad=own.requires_grad)
    return given.requires_grad_(own.requires_grad)
