"""Arguments of a sample, made anew for PyTorch and for the engine: same values, dtypes, strides, same tensors twice."""

import types

import numpy as np
import torch
from agdbg_tests_op_db import bound

import agdbg_engine as engine


class Excluded(Exception):
    """The sample needs what the engine does not have by design; the text says what."""


class Copier:
    """Makes the arguments of one call for ``library``.

    ``leaf(tensor)`` is applied to what the sample marks as requiring grad; without it the marked tensors become leaves,
    which ``leaves`` lists in order. ``twisted`` lays all tensors out in another order of memory.
    """

    def __init__(self, library, leaf=None, twisted=False):
        self.library, self.leaf, self.twisted = library, leaf, twisted
        self.leaves, self._seen = [], {}

    def __call__(self, value):
        if isinstance(value, torch.Tensor):
            if id(value) not in self._seen:
                self._seen[id(value)] = self._tensor(value)
            return self._seen[id(value)]
        if isinstance(value, torch.Size):
            return value if self.library is torch else tuple(value)
        if isinstance(value, tuple | list):
            items = [self(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        return value if self.library is torch else _of_engine(value)

    def _tensor(self, value):
        made = tensor(value, self.library, self.twisted)
        if not value.requires_grad:
            return made
        if self.leaf is not None:
            return self.leaf(made)
        self.leaves.append(made.requires_grad_())
        return made


def tensor(value, library, twisted=False):
    """A copy of a tensor of PyTorch for ``library``."""
    if value.layout is not torch.strided:
        raise Excluded(f"layout {value.layout}")
    if value.device.type != "cpu":
        raise Excluded(f"device {value.device.type}")
    if value.is_quantized:
        raise Excluded("quantized tensor")
    if value.dim() > 64:
        raise Excluded("more than 64 dimensions, which NumPy cannot have")
    name = str(value.dtype).removeprefix("torch.")
    if not isinstance(getattr(engine, name, None), np.dtype):
        raise Excluded(f"dtype {name}")
    copied = _copied(value.detach().resolve_conj().resolve_neg(), twisted)
    return copied if library is torch else to_engine(copied)


def to_engine(x):
    """An engine's tensor on the memory of one of PyTorch."""
    if x.dtype is torch.bfloat16:  # NumPy gets the bits
        return engine.from_numpy(x.view(torch.int16).numpy().view(engine.bfloat16))
    if x.untyped_storage().nbytes() == x.numel() * x.element_size():
        return engine.from_numpy(x.numpy())
    whole = x.as_strided((x.untyped_storage().nbytes() // x.element_size(),), (1,), 0).numpy()  # what is around it too
    first, steps = x.storage_offset() * x.element_size(), [s * x.element_size() for s in x.stride()]
    return engine.from_numpy(np.ndarray(tuple(x.shape), whole.dtype, whole, first if x.numel() else 0, steps))


def _copied(x, twisted):
    if twisted and x.dim() == 1:
        wide = x.new_zeros(2 * len(x))
        wide[::2] = x
        return wide[::2]
    if twisted:
        turned = tuple(reversed(range(x.dim())))
        return x.permute(turned).clone(memory_format=torch.contiguous_format).permute(turned)
    memory = x.untyped_storage().clone()
    return torch.empty(0, dtype=x.dtype).set_(memory, x.storage_offset(), x.shape, x.stride())


_NAMED = (torch.dtype, torch.layout, torch.memory_format)


def _of_engine(value):
    """What stands for a dtype, a layout, a device, a function of PyTorch; other values as they are."""
    if isinstance(value, _NAMED):
        name = str(value).removeprefix("torch.")
        found = getattr(engine, name, None)
        if found is None or isinstance(found, types.ModuleType):
            raise Excluded(f"{type(value).__name__} {name}")
        return found
    if isinstance(value, torch.device):
        if value.type != "cpu":
            raise Excluded(f"device {value.type}")
        return engine.device("cpu")
    if isinstance(value, torch.Generator):
        raise Excluded("generator")
    if isinstance(value, torch.nn.Module):
        return _module(value)
    if callable(value) and not isinstance(value, type):
        return bound(value, engine)
    return value


def _module(value):
    kind = getattr(engine.nn, type(value).__name__, None)
    if kind is None or list(value.parameters()):
        raise Excluded(f"module {type(value).__name__}")
    made = kind()
    for name in value.__constants__:
        setattr(made, name, getattr(value, name))
    return made


def described(sample):
    """One line that tells a sample: input, args and kwargs, with dtype, shape and strides of tensors, small ones with values."""
    parts = [told(sample.input), *map(told, sample.args), *(f"{k}={told(v)}" for k, v in sample.kwargs.items())]
    return f"({', '.join(parts)})"


def told(value):
    """A value in one line."""
    if isinstance(value, torch.Tensor):
        marks = "" if value.layout is not torch.strided or value.is_contiguous() else f" strides {list(value.stride())}"
        marks += " requires_grad" if value.requires_grad else ""
        if (
            value.layout is torch.strided
            and value.numel() <= 4
            and value.device.type == "cpu"
            and not value.is_quantized
        ):
            marks += f" = {[x if isinstance(x, bool | int) else complex(x) if isinstance(x, complex) else round(x, 5) for x in value.detach().flatten().tolist()]}"
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}{marks}"
    if isinstance(value, torch.Size):
        return repr(tuple(value))
    if isinstance(value, tuple | list):
        inside = ", ".join(map(told, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    if callable(value) and not isinstance(value, type):
        return getattr(value, "__name__", type(value).__name__)
    return repr(value)
