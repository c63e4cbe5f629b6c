"""Module: a tree of parameters, buffers and sub-modules with a ``forward``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Self

from .. import events
from ..dtype import scalar_type
from ..foreign import beside_expected, refuse_to_hold
from ..missing import unknown_attribute
from ..tensor import Parameter, Tensor
from . import module_hooks, naming, registration
from .hookable import Hookable
from .moves import Movable
from .naming import announce, announce_owner
from .parameter import Buffer
from .state import Stateful
from .walking import Walking

__all__ = ["Module", "announce", "announce_owner", "clear_grad", "typename"]

_STORES = ("_parameters", "_buffers", "_modules")


class Module(Hookable, Walking, Stateful, Movable):
    """Base class of all layers and models: assign :class:`Parameter` and modules as attributes, define ``forward``."""

    training: bool
    call_super_init = False
    dump_patches = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and kwargs:
            name = next(iter(kwargs))
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{name}'")
        if not self.call_super_init and args:
            count = f"{len(args) + 1} were given"
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {count}")
        empty: dict[str, Any] = {
            "_parameters": {},
            "_buffers": {},
            "_non_persistent_buffers_set": set(),
            "_modules": {},
        }
        self.__dict__.update(training=True, **empty)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if events.sink is not None:
            sink = events.sink
            announce(self)
            sink.module_entered(self)
            try:
                if self._hooks is not None or module_hooks.everywhere is not None:
                    return module_hooks.Call(self, args, kwargs).run()
                return self.forward(*args, **kwargs)
            finally:
                sink.module_left(self)
        if self._hooks is not None or module_hooks.everywhere is not None:
            return module_hooks.Call(self, args, kwargs).run()
        return self.forward(*args, **kwargs)

    # ----- attributes -----

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in held:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._release(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif name in held.get("_parameters", ()):
            if value is not None:
                raise _unfit(value, "parameter", name, "torch.nn.Parameter or None expected")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in held:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._release(name, "_parameters", "_buffers")
            self._hold(name, value)
        elif name in held.get("_modules", ()):
            if value is not None:
                raise _unfit(value, "child module", name, "torch.nn.Module or None expected")
            self._hold(name, value)
        elif isinstance(value, Buffer) or name in held.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise _unfit(value, "buffer", name, "torch.nn.Buffer, torch.Tensor or None expected")
            stays: Any = value
            persistent = stays.persistent if isinstance(stays, Buffer) else name not in self._non_persistent_buffers_set
            self._assign_buffer(name, value, persistent)
        else:
            if "torch" in sys.modules:
                refuse_to_hold(name, value)
            super().__setattr__(name, value)

    def _release(self, name: str, *stores: str) -> None:
        """Forget what else has been held under ``name``."""
        for store in (self.__dict__, *(self.__dict__[store] for store in stores)):
            store.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _assign_buffer(self, name: str, value: Any, persistent: bool) -> None:
        """Register a buffer, by the method of a subclass that may know nothing of ``persistent``."""
        if persistent:
            self.register_buffer(name, value)
        else:
            self.register_buffer(name, value, persistent=False)

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        for store in _STORES:
            if name in held.get(store, ()):
                return held[store][name]
        raise unknown_attribute(self, name)

    def __delattr__(self, name: str) -> None:
        for store in _STORES:
            if name in self.__dict__[store]:
                del self.__dict__[store][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> Iterable[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what was pickled or copied; the parts are told who holds them."""
        self.__dict__.update(state)
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        for module in state.get("_modules", {}).values():
            if module is not None:
                naming.holds(self, module)
        for parameter in state.get("_parameters", {}).values():
            if parameter is not None:
                naming.owns(self, parameter)

    # ----- what a module holds -----

    def add_module(self, name: str, module: Module | None) -> None:
        """Hold ``module`` under ``name``; :class:`TypeError` and :class:`KeyError` for what cannot be held so."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass{beside_expected(module, '')}")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError('module name can\'t be empty string ""')
        self._hold(name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Another name of :meth:`add_module`."""
        self.add_module(name, module)

    def _hold(self, name: str, module: Any) -> None:
        if module is not None and not isinstance(module, Module):
            refuse_to_hold(name, module)
        self._modules[name] = module = registration.passed(registration.modules, self, name, module)
        if module is not None:
            naming.holds(self, module)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Hold ``param`` under ``name``; :class:`ValueError` for one that is computed from others."""
        self._check_name("parameter", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}'"
                f"{beside_expected(param, 'torch.nn.Parameter or None required')}"
            )
        if param is not None:
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                    f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
                )
            param = registration.passed(registration.parameters, self, name, param)
            naming.owns(self, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Hold a tensor that is not trained; it is part of the state if ``persistent``."""
        self._check_name("buffer", name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}'"
                f"{beside_expected(tensor, 'torch Tensor or None required')}"
            )
        self._buffers[name] = registration.passed(registration.buffers, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def _check_name(self, what: str, name: Any) -> None:
        """Refuse a name under which nothing can be held: dots separate the parts of a full name."""
        store = f"_{what}s"
        if store not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."')
        if not name:
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[store]:
            raise KeyError(f"attribute '{name}' already exists")

    # ----- modes and gradients -----

    def train(self, mode: bool = True) -> Self:
        """Switch training behaviour (dropout) on or off."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Switch to evaluation behaviour."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Freeze or unfreeze all parameters."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters."""
        for p in self.parameters():
            clear_grad(p, set_to_none)

    # ----- printing -----

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses of the repr before the sub-modules; several lines are fine."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        parts = [f"({name}): " + indented(repr(module)) for name, module in self._modules.items()]
        if not parts and len(extra) < 2:
            return f"{self._get_name()}({''.join(extra)})"
        return "\n  ".join([f"{self._get_name()}(", *extra, *parts]) + "\n)"


def indented(text: str) -> str:
    """``text`` with all lines but the first moved to the right."""
    return text.replace("\n", "\n  ")


def typename(value: Any) -> str:
    """PyTorch's name of the type of ``value``: that of a tensor tells its dtype."""
    if isinstance(value, Tensor):
        return f"torch.{scalar_type(value.dtype)}Tensor"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _unfit(value: Any, what: str, name: str, expected: str) -> TypeError:
    return TypeError(f"cannot assign '{typename(value)}' as {what} '{name}'{beside_expected(value, expected)}")


def clear_grad(p: Tensor, set_to_none: bool) -> None:
    """Drop the gradient of ``p``, or fill it with zeros: in place, so that whoever holds it sees them."""
    grad = p._gradient
    if set_to_none or grad is None:
        p._gradient = None
    else:
        if grad.grad_fn is not None:
            grad.detach_()
        else:
            grad.requires_grad_(False)
        grad.zero_()
