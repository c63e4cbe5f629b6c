"""Parametrizations: a parameter that is computed anew, by modules, from another one every time it is read."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from ...grad_mode import no_grad
from ...missing import public_names
from ...tensor import Parameter, Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations"]

__getattr__ = public_names(__name__)

_caching = 0
_cache: dict[tuple[int, str], Any] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Inside, every parametrized tensor is computed once only, at its first use."""
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The modules that compute one tensor, and what they compute it from: ``original``, or ``original0`` and so on."""

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        if not self.is_tensor and not isinstance(new, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(new).__name__}"
            )
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if new.dtype != dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: "
                    f"torch.{dtype}\nright_inverse(original).dtype: torch.{new.dtype}"
                )
            original.data = new.data
            self._keep("original", original)
        else:
            for i, part in enumerate(new):
                kept = Parameter(part, original.requires_grad) if isinstance(original, Parameter) else part
                self._keep(f"original{i}", kept)
        if not unsafe:
            _check(self(), shape, dtype)

    def _keep(self, name: str, t: Any) -> None:
        if isinstance(t, Parameter):
            self.register_parameter(name, t)
        else:
            self.register_buffer(name, t)

    def originals(self) -> list[Any]:
        """What the tensor is computed from."""
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Set what the tensor is computed from so that it becomes ``value``; all modules must be able to."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            parts = [value] if self.is_tensor else list(value)
            if len(parts) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length "
                    f"{len(parts)}."
                )
            for kept, part in zip(self.originals(), parts, strict=True):
                kept.data = part.data

    def forward(self) -> Any:
        first, *others = self
        x = first(*self.originals())
        for module in others:
            x = module(x)
        return x


def _check(made: Any, shape: Any, dtype: Any) -> None:
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for what, before, now in (("dtype", f"torch.{dtype}", f"torch.{made.dtype}"), ("shape", shape, made.shape)):
        if before != now:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized {what}: {before}\nparametrized {what}: {now}"
            )


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let ``module.<tensor_name>`` be what ``parametrization`` makes of it from now on; ``unsafe``: of any shape and dtype.

    Setting the attribute works where the parametrization has a method ``right_inverse``.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            now = getattr(module, tensor_name)
            _check(parametrization(now), now.shape, now.dtype)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _give_class_of_its_own(module)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = made
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether this tensor of the module, or any, is parametrized."""
    held = getattr(module, "parametrizations", None)
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Let the tensor be an ordinary one again: with its value of now, or the one that it was computed from."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    if not held.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
            "tensors."
        )
    now = getattr(module, tensor_name)
    if held.is_tensor:
        original = held.original
        if leave_parametrized:
            original.data = now.detach()
    else:
        original = Parameter(now.detach()) if now.requires_grad else now
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def _property(name: str) -> property:
    def get(self: Any) -> Any:
        held = self.parametrizations[name]
        if not _caching:
            return held()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = held()
        return _cache[key]

    def put(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, put)


def _give_class_of_its_own(module: Any) -> None:
    """A class for this one module, which the properties are put into; copies share it."""
    cls = type(module)

    def deepcopied(self: Any, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = self.__new__(type(self))
        made.__setstate__(copy.deepcopy(self.__dict__, memo))
        return made

    def not_pickled(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    module.__class__ = type(
        f"Parametrized{cls.__name__}", (cls,), {"__deepcopy__": deepcopied, "__getstate__": not_pickled}
    )
