"""Pruning: weights multiplied by masks before each forward pass, chosen by size, at random or by the caller.

A pruned parameter ``weight`` is the plain attribute of that name, made anew by a forward pre-hook of the parameter
``weight_orig`` and the buffer ``weight_mask``. Pruning it again prunes what the first mask has left.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ... import ops
from ...creation import ones_like, zeros_like
from ...missing import public_names
from ...random import rand
from ...tensor import Tensor
from ..module import Module
from .convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip

__getattr__ = public_names(__name__)


class BasePruningMethod(ABC):
    """A way to choose a mask, and the forward pre-hook that multiplies by it.

    A subclass has ``compute_mask`` and a ``PRUNING_TYPE``: ``"unstructured"`` (of elements), ``"structured"`` (of slices along
    its ``dim``) or ``"global"`` (the whole mask at once).
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of scores ``t``, 0 where ``default_mask`` is."""

    def apply_mask(self, module: Module) -> Any:
        """The parameter times its mask, with a history."""
        mask = getattr(module, self._tensor_name + "_mask")
        whole = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=whole.dtype) * whole

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune the parameter ``name`` of ``module``; scores are its elements unless ``importance_scores`` are given."""
        method = _joined(module, name, cls(*args, **kwargs))
        whole: Any = getattr(module, name)
        _check_scores(importance_scores, whole, f"parameter {name} of {module}")
        again = isinstance(method, PruningContainer)
        before = getattr(module, name + "_mask").detach().clone() if again else ones_like(whole)
        mask = method.compute_mask(whole if importance_scores is None else importance_scores, default_mask=before)
        if not again:
            module.register_parameter(name + "_orig", whole)
            del module._parameters[name]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        for key in _keys(module, name):
            del module._forward_pre_hooks[key]
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """``t`` times the mask that would be chosen for it; nothing is registered."""
        _check_scores(importance_scores, t, "tensor t")
        before = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(t if importance_scores is None else importance_scores, default_mask=before)

    def remove(self, module: Module) -> None:
        """Make the masked parameter a parameter again, for good; the hook stays."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        whole: Any = module._parameters.pop(name + "_orig")
        whole.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, whole)


def _joined(module: Module, name: str, method: BasePruningMethod) -> Any:
    """``method``, or a container of it and of what prunes the parameter already."""
    method._tensor_name = name
    found = [module._forward_pre_hooks[key] for key in _keys(module, name)]
    if not found:
        return method
    if len(found) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
        )
    container = PruningContainer(*found[0]) if isinstance(found[0], PruningContainer) else PruningContainer(found[0])
    container._tensor_name = name
    container.add_pruning_method(method)
    return container


def _keys(module: Module, name: str) -> list[int]:
    hooks = module._forward_pre_hooks.items()
    return [key for key, hook in hooks if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]


def _check_scores(scores: Any, t: Any, what: str) -> None:
    if scores is not None and scores.shape != t.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as {what}, got {scores.size()} vs {t.size()}"
        )


class PruningContainer(BasePruningMethod):
    """Several methods one after the other on the same parameter: the last one chooses among what the mask has left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            if not hasattr(self, "_tensor_name"):
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The ``default_mask`` with the choice of the last method among what it has left."""
        method: Any = self._pruning_methods[-1]
        left = _left(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype).clone()
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=mask.dtype)
        return mask


def _left(method: Any, t: Any, mask: Any) -> Any:
    """The index of what a method of its kind may choose from."""
    everything: tuple[Any, ...] = (slice(None),) * t.ndim
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return everything
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = method.dim + t.ndim if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.ndim}")
    others = [d for d in range(t.ndim) if d != dim]
    return (*everything[:dim], mask.sum(dim=others) != 0, *everything[dim + 1 :])


# ----- ways to choose -----


class Identity(BasePruningMethod):
    """Prunes nothing: the parameter gets a mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask as it is."""
        return default_mask


class _Amount(BasePruningMethod):
    """A method that is told how much to prune: a share in [0, 1], or a number of elements or slices."""

    amount: Any

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if float(amount) < 0 or (not isinstance(amount, numbers.Integral) and float(amount) > 1.0):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount = amount

    def count(self, size: int) -> int:
        """How many of ``size`` go."""
        count: Any = self.amount if isinstance(self.amount, numbers.Integral) else round(self.amount * size)
        if count > size:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
        return int(count)


class _Unstructured(_Amount):
    PRUNING_TYPE = "unstructured"

    def _smallest_go(self, scores: Any, default_mask: Any) -> Any:
        count = self.count(scores.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[ops.FUNCTIONS["topk"](scores.reshape(-1), count, largest=False)[1]] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """A mask with ``amount`` elements less."""
        return self._smallest_go(rand(*t.shape, device=t.device), default_mask)


class L1Unstructured(_Unstructured):
    """Prunes the elements of least absolute value."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """A mask without the ``amount`` smallest."""
        return self._smallest_go(t.detach().abs(), default_mask)


class _Structured(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _smallest_go(self, t: Any, default_mask: Any) -> Any:
        if t.ndim <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.size()} with {t.ndim} dims"
            )
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.size()}")
        size = t.shape[self.dim]
        count = self.count(size)
        if not count:
            return default_mask
        kept = ops.FUNCTIONS["topk"](self.scores(t.detach(), size), size - count)[1]
        mask = zeros_like(t)
        mask[(slice(None),) * (self.dim % t.ndim) + (kept,)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask

    def scores(self, t: Any, size: int) -> Any:
        """One number for each slice, the smallest of which go."""
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """A mask with ``amount`` slices along ``dim`` less."""
        return self._smallest_go(t, default_mask)


class RandomStructured(_Structured):
    """Prunes slices along ``dim`` at random."""

    def scores(self, t: Any, size: int) -> Any:
        """Random numbers."""
        return rand(size, device=t.device)


class LnStructured(_Structured):
    """Prunes the slices along ``dim`` whose ``n``-norm is least."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def scores(self, t: Any, size: int) -> Any:
        """The norms of the slices."""
        return t.norm(p=self.n, dim=[d for d in range(t.ndim) if d != self.dim % t.ndim])


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Both masks, multiplied."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.size()} must match self.mask shape {self.mask.size()}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# ----- as users write them -----


def identity(module: Module, name: str) -> Module:
    """Give the parameter ``name`` of ``module`` a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune ``amount`` elements of the parameter at random."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Any = None) -> Module:
    """Prune the ``amount`` elements of the parameter with the least absolute values (or scores)."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune ``amount`` slices of the parameter along ``dim`` at random."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None) -> Module:
    """Prune the ``amount`` slices of the parameter along ``dim`` with the least ``n``-norms (of scores)."""
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune the parameter by ``mask``."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune ``(module, name)`` pairs together by an unstructured method: the smallest of all, wherever they are."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = [(module, name, getattr(module, name)) for module, name in parameters]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    everything = parameters_to_vector([scores.get((module, name), p) for module, name, p in pairs])
    before = parameters_to_vector([getattr(module, name + "_mask", ones_like(p)) for module, name, p in pairs])
    mask = PruningContainer(method).compute_mask(everything, before)
    for (module, name, p), part in zip(pairs, mask.split([p.numel() for _, _, p in pairs]), strict=True):
        custom_from_mask(module, name, part.view_as(p))


def remove(module: Module, name: str) -> Module:
    """Make what is left of the parameter a parameter again, without a mask; :class:`ValueError` if it is not pruned."""
    for key in _keys(module, name):
        hook: Any = module._forward_pre_hooks[key]
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether any parameter of ``module`` or of one in it is pruned."""
    return any(isinstance(h, BasePruningMethod) for m in module.modules() for h in m._forward_pre_hooks.values())
