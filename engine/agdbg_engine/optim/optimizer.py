"""Optimizer: parameter groups, state, hooks, and the state as a dict."""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from .. import events
from ..foreign import hint
from ..hooks import Hook, Hooks, RemovableHandle
from ..hooks.quiet import QuietHandle
from ..missing import unknown_attribute
from ..nn.module import clear_grad, typename
from ..sites import caller
from ..tensor import Tensor
from .hooks import hooked, register_optimizer_step_post_hook, register_optimizer_step_pre_hook

_HOOKS = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks",
)  # fmt: skip


__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook", "required"]


class _Required:
    """Stands for an option that every group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base class: ``params`` are tensors, ``(name, tensor)`` pairs or dicts with ``params`` and options of their own.

    A subclass defines ``step``; hooks are called around that of any class.
    """

    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__ and not getattr(cls.step, "hooked", False):
            cls.step = hooked(cls.step)  # type: ignore[method-assign]  # of every subclass

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{typename(params)}"
            )
        self.__dict__.update({name: OrderedDict() for name in _HOOKS})
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        items = list(params)
        if not items:
            raise ValueError("optimizer got an empty parameter list")
        for group in items if isinstance(items[0], dict) else [{"params": items}]:
            self.add_param_group(group)

    if not TYPE_CHECKING:  # else every attribute would be known to the checker

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what was pickled or loaded; hooks there are stay."""
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # ----- hooks -----

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before every step; it may return new ``(args, kwargs)``."""
        return QuietHandle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after every step."""
        return QuietHandle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before its state is put into a dict."""
        return QuietHandle(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` afterwards; what it returns replaces the dict."""
        return QuietHandle(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; what it returns replaces the dict."""
        return QuietHandle(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading."""
        return QuietHandle(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # ----- parameters -----

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own; :class:`ValueError` for those that cannot be optimised.

        The dict itself is completed and kept, as in PyTorch.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _name_and_list(param_group)
        params = param_group["params"]
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}{hint(p)}")
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                how = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    f"all optimizer param groups should be with/without names. cannot add param group {how} to the "
                    "optimizer"
                )
        if not {p for group in self.param_groups for p in group["params"]}.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)
        if events.sink is not None:
            events.sink.optimizer_built(self, params, *caller())

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters."""
        for group in self.param_groups:
            for p in group["params"]:
                clear_grad(p, set_to_none)

    @hooked
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; ``closure`` computes the loss anew and gives it."""
        raise NotImplementedError

    # ----- the state as a dict -----

    def state_dict(self) -> dict[str, Any]:
        """State and options, parameters by their number; the tensors are those of the optimizer."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], start):
                numbers.setdefault(id(p), i)
            start += len(group["params"])
            options = {key: value for key, value in group.items() if key != "params"}
            groups.append({**options, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(p)] if isinstance(p, Tensor) else p: values for p, values in self.state.items()}
        made: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            answer = hook(self, made)
            made = made if answer is None else answer
        return made

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take state and options back, by the order of the parameters; tensors become those of the parameter's dtype and device."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            answer = hook(self, state_dict)
            state_dict = state_dict if answer is None else answer
        saved = deepcopy(state_dict["param_groups"])
        if len(self.param_groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        pairs = list(zip(self.param_groups, saved, strict=True))
        if any(len(mine["params"]) != len(theirs["params"]) for mine, theirs in pairs):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        by_number = {i: p for g, s in pairs for i, p in zip(s["params"], g["params"], strict=True)}
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, values in state_dict["state"].items():
            if key in by_number:
                state[by_number[key]] = _fitted(by_number[key], values)
            else:
                state[key] = values
        for mine, theirs in pairs:
            theirs["params"] = mine["params"]
            if "param_names" in mine:
                theirs.setdefault("param_names", mine["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)


def _name_and_list(group: dict[str, Any]) -> None:
    """Make the parameters of ``group`` a list, and put their names, if they have some, beside it."""
    given = group["params"]
    if isinstance(given, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change "
            "between runs. Please use a list instead."
        )
    listed = [given] if isinstance(given, Tensor) else list(given)
    names = [p[0] for p in listed if isinstance(p, tuple)]
    if names and len(names) != len(listed):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    if names:
        group["param_names"] = names
    group["params"] = [p[1] if isinstance(p, tuple) else p for p in listed]


def _fitted(p: Tensor, value: Any, key: Any = None) -> Any:
    """What was saved for ``p`` in its dtype and on its device, except for the number of steps; containers are made anew."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        return value.to(dtype=p.dtype if p.is_floating_point() else None, device=p.device)
    if isinstance(value, dict):
        return {name: _fitted(p, part, name) for name, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        made: Any = type(value)
        return made(_fitted(p, part) for part in value)
    return value
