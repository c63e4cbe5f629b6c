"""What a tensor is, apart from autograd: sizes, dtype, place, layout."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from . import overrides
from .device import address, device, device_of, owner
from .errors import class_name
from .foreign import described
from .layout import steps
from .memory_format import contiguous_format, memory_format
from .size import Size
from .strided import Strided, strided

if TYPE_CHECKING:
    from .tensor import Tensor

_tuple = tuple.__new__  # a Size of integers that are known to be such


class Attributes:
    """The part of :class:`~agdbg_engine.tensor.Tensor` that only describes its buffer."""

    __slots__ = ()
    _a: Any

    is_sparse = is_sparse_csr = is_quantized = is_nested = is_meta = False
    is_ipu = is_maia = is_mkldnn = is_mps = is_mtia = is_vulkan = is_xla = is_xpu = False
    name = None

    # ----- sizes -----

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes by dimension: a plain tuple, since it is read everywhere and a :class:`Size` takes its time; ``size()`` is one."""
        return self._a.shape

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or that of one dimension."""
        return _tuple(Size, self._a.shape) if dim is None else self._a.shape[dim]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._a.ndim

    def dim(self) -> int:
        """Number of dimensions."""
        return self._a.ndim

    ndimension = dim

    def numel(self) -> int:
        """Number of elements."""
        return self._a.size

    nelement = numel

    def is_same_size(self, other: Tensor) -> bool:
        """Whether ``other`` has the same shape."""
        asked = overrides.asked_by(self, (other,)) if overrides.seen else ()
        if asked:
            return bool(overrides.dispatch(Attributes.is_same_size, asked, (self, other), {}))
        if not isinstance(other, Attributes):
            raise TypeError(f"is_same_size(): argument 'other' (position 1) must be Tensor, not {described(other)}")
        return bool(self._a.shape == other._a.shape)

    def is_set_to(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` shows the same elements of the same memory, at the same offset by the same strides."""
        asked = overrides.asked_by(self, (tensor,)) if overrides.seen else ()
        if asked:
            return bool(overrides.dispatch(Attributes.is_set_to, asked, (self, tensor), {}))
        if not isinstance(tensor, Attributes):
            raise TypeError(f"is_set_to(): argument 'tensor' (position 1) must be Tensor, not {described(tensor)}")
        ours, theirs = self._a, tensor._a
        return bool(
            owner(ours) is owner(theirs)
            and address(ours) == address(theirs)
            and ours.shape == theirs.shape
            and self.stride() == tensor.stride()
        )

    # ----- elements -----

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type (a NumPy dtype)."""
        return self._a.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._a.dtype.itemsize

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._a.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._a.nbytes

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating one."""
        return bool(self._a.dtype.kind == "f")

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one."""
        return bool(self._a.dtype.kind == "c")

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self._a.dtype.kind not in "bu"

    def is_conj(self) -> bool:
        """Whether the elements are still to be conjugated: never, since ``conj`` does it at once."""
        return self._a is None  # the function of this name asks for a tensor by that

    def is_neg(self) -> bool:
        """Whether the elements are still to be negated: never."""
        return self._a is None  # as above

    # ----- place -----

    @property
    def device(self) -> device:
        """Where the buffer lives."""
        return device_of(self._a)

    @property
    def is_cuda(self) -> bool:
        """Whether the buffer lives on a GPU."""
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        """Whether the buffer lives in main memory."""
        return self.device.type == "cpu"

    def get_device(self) -> int:
        """Number of the GPU; -1 for main memory."""
        index = self.device.index
        return -1 if index is None else index

    def data_ptr(self) -> int:
        """Address of the first element."""
        return address(self._a)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """How other libraries find the memory of a tensor on a GPU, without history: ``cupy.asarray(x)`` shares it."""
        if not self.is_cuda:
            from .tensor_types import type_name

            raise AttributeError(
                f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {type_name(self)} "  # type: ignore[arg-type]  # it is one
                "If CUDA data is required use tensor.cuda() to copy tensor to device memory."
            )
        if self.requires_grad:  # type: ignore[attr-defined]  # of tensors
            raise RuntimeError(
                "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use "
                "var.detach() to get Variable that doesn't require grad."
            )
        a = self._a
        return {
            "typestr": a.dtype.str, "shape": tuple(a.shape), "strides": None if a.flags.c_contiguous else tuple(a.strides),
            "data": (self.data_ptr() if a.size else 0, False), "version": 2,
        }  # fmt: skip

    # ----- layout -----

    @property
    def layout(self) -> Strided:
        """How elements lie in memory: always by strides."""
        return strided

    def is_contiguous(self, *args: Any, memory_format: Any = contiguous_format) -> bool:
        """Whether elements lie in row-major order without gaps."""
        if args or memory_format is not contiguous_format:
            _check_format(args, memory_format)
        return bool(self._a.flags.c_contiguous)

    def stride(self, dim: int | None = None) -> Any:
        """Steps by dimension, in elements, or that of one dimension."""
        found = tuple(s // self._a.itemsize for s in steps(self._a))
        return found if dim is None else found[dim]

    def storage_offset(self) -> int:
        """Where the first element lies in the memory that this tensor is a part of, in elements."""
        return (address(self._a) - address(owner(self._a))) // self.itemsize


def _check_format(args: tuple[Any, ...], given: Any) -> None:
    if args:
        were = "was" if len(args) == 1 else "were"
        raise TypeError(f"is_contiguous() takes 0 positional arguments but {len(args)} {were} given")
    if not isinstance(given, memory_format):
        name = class_name(given)
        raise TypeError(f"is_contiguous(): argument 'memory_format' must be torch.memory_format, not {name}")


class _ReadOnly(property):
    """A property that refuses to be set in PyTorch's words."""

    name = ""
    owner = ""

    def __set__(self, instance: Any, value: Any) -> None:
        owner = self.owner or type(instance).__name__
        raise AttributeError(f"attribute '{self.name}' of '{owner}' objects is not writable")

    def __delete__(self, instance: Any) -> None:
        self.__set__(instance, None)


def make_read_only(cls: type, owner: str, names: Collection[str] | None = None) -> None:
    """Give the properties of ``cls`` and its bases that have no setter, or ``names`` of them, PyTorch's error for setting them.

    It speaks of objects of type ``owner``, or where that is empty of the type that they have.
    """
    for base in reversed(cls.__mro__):
        for name, value in list(vars(base).items()):
            if (
                isinstance(value, property)
                and value.fset is None
                and base is not object
                and (names is None or name in names)
            ):
                made = _ReadOnly(value.fget, doc=value.__doc__)
                made.name, made.owner = name, owner
                setattr(cls, name, made)
