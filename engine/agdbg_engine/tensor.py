"""Tensor: a buffer with autograd state. Ops are attached by :mod:`agdbg_engine.ops`."""

from __future__ import annotations

import threading
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors, events
from .device import device, device_of
from .dtype import is_differentiable, scalar_type
from .grad_mode import mode
from .meta import AutogradMeta
from .node import Node, RemovableHandle, TensorHooks, edge, tensor_hooks
from .sites import caller
from .storage import Storage

if TYPE_CHECKING:
    from collections.abc import Callable

    from .ops._methods import Methods as _Base
else:
    _Base = object

_accumulating = threading.RLock()
"""Held while a gradient is added to a ``grad``: backward calls in several threads may reach one leaf.

Re-entrant, since a signal handler may run backward in the thread that holds it."""

MAYBE = 2
"""``_rg`` of a view whose base needs no gradient yet: an in-place op on a sibling may change that."""


class Tensor(_Base):
    """An n-dimensional array that can require gradients.

    Slots: ``_a`` buffer (NumPy or CuPy array), ``_fn`` grad_fn, ``_nr`` output number, ``_rg`` requires grad
    (``MAYBE`` for some views), ``_storage`` (``None`` until something could share it), ``_grad``, ``_meta`` (``None``
    unless the tensor is special: leaf in use, view, retains grad).
    """

    __slots__ = ("__weakref__", "_a", "_fn", "_grad", "_meta", "_nr", "_rg", "_storage")
    __array_priority__ = 1000
    __array_ufunc__ = None  # NumPy arrays on the left leave operators to us

    _a: Any
    _fn: Node | None
    _nr: int
    _rg: bool | int
    _storage: Storage | None
    _grad: Tensor | None
    _meta: AutogradMeta | None

    # ----- what it is -----

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes by dimension."""
        return self._a.shape

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or that of one dimension."""
        return self._a.shape if dim is None else self._a.shape[dim]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._a.ndim

    def dim(self) -> int:
        """Number of dimensions."""
        return self._a.ndim

    def numel(self) -> int:
        """Number of elements."""
        return self._a.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type (a NumPy dtype)."""
        return self._a.dtype

    @property
    def device(self) -> device:
        """Where the buffer lives."""
        return device_of(self._a)

    def is_contiguous(self) -> bool:
        """Whether elements lie in row-major order without gaps."""
        return bool(self._a.flags.c_contiguous)

    def stride(self) -> tuple[int, ...]:
        """Steps by dimension, in elements."""
        return tuple(s // self._a.itemsize for s in self._a.strides)

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating one."""
        return bool(self._a.dtype.kind == "f")

    # ----- autograd state -----

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient with respect to this tensor, or through it, is wanted."""
        if self._rg == MAYBE:  # a view without a history of its own
            assert self._base is not None
            return self._fn is not None or bool(self._base._rg)
        return bool(self._rg)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` of a leaf in place; floating and complex dtypes only."""
        if not self.is_leaf:
            if requires_grad:
                return self
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad and not is_differentiable(self._a.dtype):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self._rg = bool(requires_grad)
        if self._a.dtype.kind == "c" and not events.special & events.COMPLEX:
            events.use(events.COMPLEX)
        if self._meta is None:
            self._meta = AutogradMeta()
        return self

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; ``None`` for a leaf."""
        if self._meta is not None and self._meta.view is not None:
            node = edge(self)
            return None if node is None or node.leaf else node
        return self._fn

    @property
    def is_leaf(self) -> bool:
        """Made by the user (no ``grad_fn``): its gradient is kept in ``grad``."""
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which output of ``grad_fn`` this is."""
        return self._nr

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf (or of a tensor that retains it)."""
        if self._grad is None and self._fn is not None and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't "
                "be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
                "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                "mistake, make sure you access the leaf Tensor instead.",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if value.dtype != self.dtype:
                raise RuntimeError(
                    f"attempting to assign a gradient with dtype '{scalar_type(value.dtype).lower()}' to a tensor with grad_dtype "
                    f"'{scalar_type(self.dtype)}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's "
                    "dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. "
                    "Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream "
                    "systems that assume they match."
                )
            if value.shape != self.shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(self.shape)}'. "
                    "Please ensure that the gradient and the tensor are the same size"
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def _version(self) -> int:
        """How many times the memory was written to in place."""
        return 0 if self._storage is None else self._storage.version

    @property
    def _base(self) -> Tensor | None:
        """The tensor this one is a view of."""
        return None if self._meta is None or self._meta.view is None else self._meta.view.base

    def _is_view(self) -> bool:
        """Whether this is a differentiable view of another tensor."""
        return self._base is not None

    @property
    def retains_grad(self) -> bool:
        """Whether :meth:`retain_grad` was called on this non-leaf."""
        return self._meta is not None and self._meta.retains_grad

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in ``grad`` too; nothing to do for a leaf."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.retains_grad:  # first, since a view that may not be remade is refused by grad_fn
            return
        node = self.grad_fn
        if node is None:
            return
        if self._meta is None:
            self._meta = AutogradMeta()
        self._meta.retains_grad = True
        self._hooks_on(node).retain = weakref.ref(self)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` when the gradient of this tensor is complete; a tensor it returns replaces it."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node = edge(self)
        hooks = {} if node is None else self._hooks_on(node).hooks  # a view made under no_grad has no node to fire it
        return RemovableHandle(hooks, hook, node, "tensor")

    def _hooks_on(self, node: Node) -> TensorHooks:
        mine = tensor_hooks(node, self._nr)
        if node.leaf:
            assert self._meta is not None
            self._meta.leaf_hooks = mine
        return mine

    # ----- running backward -----

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute gradients of this tensor with respect to the leaves of its graph, adding into their ``grad``."""
        from .autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def _accumulate(self, g: Any, owned: bool) -> None:
        """Add buffer ``g`` to ``grad``; the buffer itself is kept if nobody else holds it."""
        if not self._rg:
            return
        with _accumulating:
            grad = self._grad
            if grad is None:
                self._grad = wrap(g if owned else g.copy())
                return
            _check_memory(grad._a)
            grad._a[...] += g
        grad._bump("AccumulateGrad", None, *caller())

    def _accumulate_recorded(self, g: Tensor) -> None:
        """Add ``g`` to ``grad`` as a recorded op; never ``g`` itself, which others may hold."""
        while self._rg:
            old = self._grad
            new = g.clone() if old is None else old + g
            with _accumulating:
                if self._grad is old:  # else another thread was faster
                    self._grad = new
                    return

    # ----- memory shared with others -----

    def _shared_storage(self) -> Storage:
        """The storage object, made at first need; the producing node is told if it saved its result."""
        storage = self._storage
        if storage is None:
            storage = self._storage = Storage()
            if self._fn is not None:
                self._fn.output_storage(storage)
                if events.sink is not None:
                    events.sink.storage_made(storage, self._fn)
        return storage

    def _bump(self, op: str, node: Node | None, code: Any, lasti: int) -> None:
        """Count a write to the memory by ``op``."""
        storage = self._shared_storage()
        storage.wrote(op, code, lasti)
        if events.sink is not None:
            events.sink.version_bumped(self, storage, op, node, code, lasti)

    def detach(self) -> Tensor:
        """The same memory without history: gradients do not flow through it."""
        out = wrap(self._a)
        out._storage = self._shared_storage()
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "detach", *caller())
        return out

    def detach_(self) -> Tensor:
        """Forget the history of this tensor in place."""
        if self._is_view():
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                "detach_() cannot be called on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        if events.sink is not None and self._rg:
            events.sink.graph_cut(self, "detach", *caller())
        self._shared_storage()
        self._fn, self._nr, self._rg = None, 0, False
        if self._meta is not None:
            self._meta.retains_grad = False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history *and* with a version counter of its own: writes go unnoticed."""
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "data", *caller())
        return wrap(self._a)

    @data.setter
    def data(self, value: Tensor) -> None:
        self._a = value._a

    def numpy(self) -> Any:
        """The buffer as a NumPy array sharing the memory; CPU tensors that do not require grad only."""
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if not isinstance(self._a, np.ndarray):
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
                "memory first."
            )
        return self._a

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        return array.copy() if copy else array if dtype is None else array.astype(dtype)

    # ----- leaving the engine -----

    def item(self) -> Any:
        """The only element as a Python number."""
        if self._a.size != 1:
            raise RuntimeError(f"a Tensor with {self._a.size} elements cannot be converted to Scalar")
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "item", *caller())
        return self._a.item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return self._a.tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self._a.dtype.kind not in "iub" or self._a.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._a.item())

    def __bool__(self) -> bool:
        if self._a.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if self._a.size == 0
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self._a.item())

    def __len__(self) -> int:
        if self._a.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._a)

    def __contains__(self, element: Any) -> bool:
        return bool((self._a == (element._a if isinstance(element, Tensor) else element)).any())

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        from .printing import tensor_repr

        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        return format(self._a.item(), spec) if spec and self._a.ndim == 0 else format(repr(self), spec)


Tensor._in = Tensor._a  # type: ignore[attr-defined,misc]  # the same slot, by the name under which ops read their inputs


class Parameter(Tensor):
    """A leaf tensor that a module owns: assigned to a module's attribute it is listed by ``parameters()``."""

    __slots__ = ("__dict__",)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        """Share the memory of ``data`` (empty if ``None``)."""
        made = object.__new__(cls)
        _init(made, np.empty(0, np.float32) if data is None else data._a)
        if data is not None:
            made._storage = data._shared_storage()
        made.requires_grad_(requires_grad)
        return made


def _init(t: Tensor, array: Any) -> None:
    t._a = array
    t._fn = t._storage = t._grad = t._meta = None
    t._nr, t._rg = 0, False


def wrap(array: Any) -> Tensor:
    """A plain tensor on ``array`` itself: no history, nothing shared."""
    t: Tensor = object.__new__(Tensor)
    t._a = array if not isinstance(array, np.generic) else np.asarray(array)
    t._fn = t._storage = t._grad = t._meta = None
    t._nr, t._rg = 0, False
    return t


def check_inplace(t: Tensor, args: tuple[Any, ...]) -> None:
    """Refuse an in-place op on ``t`` with ``args`` where PyTorch does, before any byte changes."""
    if mode.grad and any(isinstance(x, Tensor) and x.requires_grad for x in (t, *args)):
        _check_recorded(t)
    _check_memory(t._a)
    if any(isinstance(x, Tensor) and x._storage is not None and _overlaps_partly(t, x) for x in args):
        raise _overlap("some elements of the input tensor and the written-to tensor refer")


def _check_memory(a: Any) -> None:
    """Refuse a write into a buffer that shows one place of memory as several elements."""
    if 0 in a.strides and a.size and 0 in [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1]:
        raise _overlap("more than one element of the written-to tensor refers")


def _overlap(what: str) -> Exception:
    return errors.make(
        RuntimeError,
        errors.Details("view-inplace"),
        f"unsupported operation: {what} to a single memory location. Please clone() the tensor before performing the "
        "operation.",
    )


def _overlaps_partly(t: Tensor, x: Tensor) -> bool:
    """Whether two dense tensors of one storage share some of their memory but not all of it, element by element."""
    a, b = t._a, x._a
    if x._storage is not t._storage or not (_dense(a) and _dense(b)) or not np.may_share_memory(a, b):
        return False
    return not (a.ctypes.data == b.ctypes.data and a.nbytes == b.nbytes and a.strides == b.strides)


def _dense(a: Any) -> bool:
    return isinstance(a, np.ndarray) and (a.flags.c_contiguous or a.flags.f_contiguous)


def _check_recorded(t: Tensor) -> None:
    meta = t._meta
    if meta is not None and meta.view is not None:
        meta.view.check_inplace(t)
    elif t._fn is None and t._rg:
        raise errors.make(
            RuntimeError,
            errors.Details("leaf-inplace", storage=t._storage),
            errors.LEAF_INPLACE,
            *([f"the leaf is '{meta.name}'"] if meta is not None and meta.name else []),
            "fix: wrap the write in torch.no_grad() if it is an update or an initialisation, else work on a clone()",
        )
