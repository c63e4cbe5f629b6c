"""Tensor: a buffer with autograd state. Ops are attached by :mod:`agdbg_engine.ops`."""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors, events, inside, layout, several
from .attributes import Attributes
from .conversions import Conversions
from .copying import Copying, CopyingParameter
from .device import array_module, same_place
from .dtype import is_differentiable
from .factories import Factories
from .foreign import described, refuse
from .grad_mode import mode
from .grad_slot import GradSlot
from .hooks.tensor import TensorHooks
from .locks import after_fork, renewed
from .meta import MAYBE, AutogradMeta
from .node import Node, edge
from .numpy_interop import NumpyInterop
from .overrides import disabled
from .pinned import pin
from .saved.detached import mark as mark_detached
from .saved.seen_storage import storage_for
from .sharing import Kinds
from .sites import caller
from .storage import InferenceStorage, Storage, TwinStorage, counting
from .subclass import Subclassing, parameter_of

if TYPE_CHECKING:
    from .ops._methods import Methods as _Base
else:
    _Base = object

new = object.__new__
ndarray = np.ndarray

_accumulating = threading.RLock()
"""Held while a gradient is added to a ``grad``: backward calls in several threads may reach one leaf.

Re-entrant, since a signal handler may run backward in the thread that holds it."""


def _renew_lock() -> None:
    """In a forked child: the thread that held the lock may not be here."""
    global _accumulating
    _accumulating = renewed(_accumulating)


after_fork(_renew_lock)


class Tensor(
    Subclassing, Attributes, GradSlot, TensorHooks, Conversions, Copying, Factories, Kinds, NumpyInterop, _Base
):
    """An n-dimensional array that can require gradients.

    Slots: ``_a`` buffer (NumPy or CuPy array), ``_fn`` grad_fn, ``_nr`` output number, ``_rg`` requires grad
    (``MAYBE`` for some views), ``_storage`` (``None`` until something could share it), ``_gradient``, ``_meta`` (``None``
    unless the tensor is special: leaf in use, view, retains grad).
    """

    __slots__ = ("__dict__", "__weakref__", "_a", "_fn", "_gradient", "_meta", "_nr", "_rg", "_storage")

    _a: Any
    _fn: Node | None
    _nr: int
    _rg: bool | int
    _storage: Storage | None
    _gradient: Tensor | None
    _meta: AutogradMeta | None

    # ----- autograd state -----

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient with respect to this tensor, or through it, is wanted."""
        if self._rg == MAYBE:  # a view without a history of its own
            assert self._base is not None
            return self._fn is not None or self._base.requires_grad
        return bool(self._rg)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and not self.is_leaf:
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        if value and not is_differentiable(self._a.dtype):
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._set_requires_grad(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` of a leaf in place; floating and complex dtypes only."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{errors.class_name(requires_grad)}"
            )
        if events.special & events.TRANSFORM:
            inside.refuse("requires_grad_()")
        return self._set_requires_grad(requires_grad)

    def _set_requires_grad(self, requires_grad: bool) -> Tensor:
        if self._fn is not None:  # not is_leaf, which views whose base was written may not be able to say
            if requires_grad:
                return self
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad and not is_differentiable(self._a.dtype):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and self.is_inference() and not mode.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        self._rg = requires_grad or (MAYBE if self._is_view() else False)  # a view follows its base
        if requires_grad and self.is_inference():
            events.keep_on(events.INFERENCE)  # outside of the mode an op on nothing but such is not recorded
        if self._a.dtype.kind == "c":
            events.keep_on(events.COMPLEX)  # complex gradients take the general way, which conjugates
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
    def _version(self) -> int:
        """How many times the memory was written to in place."""
        storage = self._storage
        if isinstance(storage, TwinStorage):
            return storage.counter.version
        if isinstance(storage, InferenceStorage):
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if storage is None else int(storage.version)

    @property
    def _base(self) -> Tensor | None:
        """The tensor this one is a view of."""
        return None if self._meta is None or self._meta.view is None else self._meta.view.base

    def _is_view(self) -> bool:
        """Whether this is a differentiable view of another tensor."""
        return self._base is not None

    def _view_func(self, new_base: Tensor) -> Tensor | None:
        """This view made again of another base; ``None`` where it is no view or that base is not like its own."""
        from .view_func import replayed

        _check_base(new_base)
        return replayed(self, new_base)

    def _view_func_unsafe(self, new_base: Tensor) -> Tensor | None:
        """As :meth:`_view_func`, of any other base whose memory is large enough."""
        from .view_func import seen_alike

        _check_base(new_base)
        return seen_alike(self, new_base)

    def is_inference(self) -> bool:
        """Whether this tensor was made in inference mode (or is a view of such a one)."""
        return isinstance(self._storage, InferenceStorage)

    @property
    def volatile(self) -> bool:
        """Always false: what it did long ago is done by ``no_grad``."""
        warn_volatile("volatile was removed (Variable.volatile is always False)")
        return False

    @volatile.setter
    def volatile(self, value: Any) -> None:
        warn_volatile("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")

    @volatile.deleter
    def volatile(self) -> None:
        warn_volatile("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")

    # ----- running backward -----

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute gradients of this tensor with respect to the leaves of its graph, adding into their ``grad``."""
        from . import autograd  # not a name from it: that would ask its __getattr__ for a path every time

        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def _accumulate(self, g: Any, owned: bool) -> None:
        """Add buffer ``g`` to ``grad``; the buffer itself is kept if nobody else holds it."""
        if self._fn is not None:
            self._check_still_leaf()
        if not self._rg:
            return
        with _accumulating:
            grad = self._gradient
            if grad is None:
                a = self._a
                kept = owned and (g.strides == a.strides or layout.may_stay(g, a))
                self._gradient = wrap(g if kept else layout.copied(g, a))
                return
            check_counted(grad)
            check_memory(grad._a)
            if (type(g) is not type(grad._a) or several.active) and _is_number_beside(g, grad._a):
                grad.add_(wrap(g))
                self._meta.additions += 1  # type: ignore[union-attr]  # as below
                return
            if events.special:
                _before_write(grad, "AccumulateGrad")
            grad._a[...] += g
            if grad._a.strides != self._a.strides:
                layout.tell(grad._a, self._a, recorded=False)
            storage, (code, lasti) = grad._storage or grad._new_storage(), caller()
            storage.wrote("AccumulateGrad", code, lasti)  # in here: no count is lost
            self._meta.additions += 1  # type: ignore[union-attr]  # a leaf in use has one
        grad._tell_write(storage, "AccumulateGrad", None, code, lasti)  # out here: an instrument may stop the thread

    def _check_still_leaf(self) -> None:
        """Refuse to accumulate into what an op has made its result while a graph that ends in it as a leaf was alive."""
        if self._fn is not None:
            raise errors.make(
                RuntimeError,
                errors.Details("other", self._fn, storage=self._storage),
                "leaf variable has been moved into the graph interior",
                f"it is the result of {self._fn.op_name} now, since it was written to while it did not require grad",
                "fix: run backward() before the write, or write to a clone()",
            )

    def _accumulate_recorded(self, g: Tensor) -> None:
        """Add ``g`` to ``grad`` as a recorded op; never ``g`` itself, which others may hold."""
        while self._rg or (self._meta is not None and self._meta.retains_grad):
            additions, old = self._additions(), self._gradient
            new = (
                self._as_grad(g) if old is None else old._plus(g)
            )  # ops: user code may run in them, which may wait for threads
            with _accumulating:
                if self._gradient is old and self._additions() == additions:  # else another thread was faster
                    self._gradient = new
                    if old is not None:
                        layout.tell(new._a, self._a, recorded=True)
                    return

    def _additions(self) -> int:
        """How many times a pass has added to ``grad`` in place."""
        return 0 if self._meta is None else self._meta.additions

    def _accumulate_dual(self, g: Tensor) -> None:
        """Add ``g`` to ``grad`` with its tangents; a first gradient is kept without them, as in PyTorch."""
        with _accumulating:
            if self._gradient is None:
                self._accumulate(g._a, owned=False)
            elif self._rg:
                self._gradient.add_(g)
                self._meta.additions += 1  # type: ignore[union-attr]  # as above

    def _as_grad(self, g: Tensor) -> Tensor:
        """``g`` as a recorded op of its own, laid out like this tensor (which may have changed its shape in place since).

        As in PyTorch a write into fresh memory, which counts, for a leaf that lies without gaps, else a clone.
        """
        if self._fn is not None or not layout.dense(self._a):
            return g.clone()._laid_out_like(self)
        from .ops._generated import copy

        a, dtype = self._a, g._a.dtype
        made = copy(wrap(a if a.dtype == dtype else array_module(a).empty(a.shape, dtype)), g)._laid_out_like(self)
        made._shared_storage().version = 1
        return made

    def _plus(self, g: Tensor) -> Tensor:
        """The sum, laid out like this tensor: as PyTorch's, whose first operand says how."""
        return (self + g)._laid_out_like(self)

    def _laid_out_like(self, other: Tensor) -> Tensor:
        """This tensor, which an op has just made, in the layout of ``other``."""
        if self._a.shape == other._a.shape and not layout.follows(self._a, other._a):
            self._a = layout.copied(self._a, other._a)
        return self

    # ----- memory shared with others -----

    def _shared_storage(self) -> Storage:
        """The storage object, made at first need; the producing node is told if it saved its result."""
        return self._storage or self._new_storage()

    def _new_storage(self) -> Storage:
        new = Storage()
        with counting():  # one object whichever threads want it
            if self._storage is None:
                self._storage = new if self._fn is None else storage_for(self, self._fn, new)
            storage = self._storage
        if storage is new and self._fn is not None and events.sink is not None and not self._nr:
            events.sink.storage_made(storage, self._fn)
        return storage

    def _bump(self, op: str, node: Node | None, code: Any, lasti: int) -> None:
        """Count a write to the memory by ``op``."""
        storage = self._shared_storage()
        storage.wrote(op, code, lasti)
        self._tell_write(storage, op, node, code, lasti)

    def _tell_write(self, storage: Storage, op: str, node: Node | None, code: Any, lasti: int) -> None:
        if events.sink is not None and not isinstance(storage, InferenceStorage):
            events.sink.version_bumped(self, storage, op, node, code, lasti)

    def detach(self) -> Tensor:
        """The same memory without history: gradients do not flow through it."""
        out = wrap(self._a)
        out._storage = self._without_history()
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "detach", *caller())
        if events.special & events.TRANSFORM:
            inside.shares(out, self)
        return out

    def _without_history(self) -> Storage:
        """The storage object of a detached twin: outside of inference mode that of an inference tensor counts writes."""
        storage = self._shared_storage()
        if mode.inference or not isinstance(storage, InferenceStorage):
            return storage
        return TwinStorage().of_level(storage)

    def detach_(self) -> Tensor:
        """Forget the history of this tensor in place; in inference mode, and of an inference tensor, nothing happens."""
        if events.special & events.TRANSFORM:
            inside.check_write(self, "detach_", ())
        if mode.inference or self.is_inference():
            return self
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
        if self._fn is not None:
            mark_detached(self)
        self._fn, self._nr, self._rg = None, 0, False
        if self._meta is not None:
            self._meta.tangents = None
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history *and* with a version counter of its own: writes go unnoticed."""
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "data", *caller())
        out = wrap(self._a)
        out._storage = self._without_history() if self.is_inference() else None
        if events.special & events.TRANSFORM:
            inside.shares_silently(out, self)
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {errors.class_name(value)}")
        if events.special & events.TRANSFORM:
            inside.check_data(self, value)
        if self.requires_grad and not is_differentiable(value._a.dtype):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        if events.sink is not None and value._rg and value.requires_grad:
            events.sink.graph_cut(value, "data", *caller())
        pin(self, value._a)
        if self._meta is not None and self._meta.view is not None:
            self._shared_storage()
            self._meta.view.give(self, value._a)
        value._shared_storage()  # two tensors write to its memory from now on, each with a counter of its own
        if value.is_inference() or self.is_inference():
            self._storage = self._counter_for(value)
            if self._rg:
                events.keep_on(events.INFERENCE)  # an op on nothing but such is not recorded
        self._shared_storage()
        if (value._a.dtype != self._a.dtype or not same_place(value._a, self._a)) and self._meta is not None:
            self._meta.accumulator = None  # what is recorded from now on has gradients of the other dtype, or elsewhere
        self._a = value._a

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def _counter_for(self, value: Tensor) -> Storage:
        """The storage object of this tensor with ``value``, one of the two an inference tensor, as its data: it counts on."""
        if not value.is_inference():
            return Storage()
        before = self._shared_storage()
        if isinstance(before, TwinStorage):
            return TwinStorage(before.counter)
        return InferenceStorage() if isinstance(before, InferenceStorage) else TwinStorage(before)

    def __hash__(self) -> int:
        return id(self)


Tensor._in = Tensor._a  # type: ignore[attr-defined]  # the same slot, by the name under which ops read their inputs


def _check_base(new_base: Any) -> None:
    if not isinstance(new_base, Tensor):
        raise TypeError(f"_view_func(): argument 'new_base' (position 1) must be Tensor, not {described(new_base)}")


class _ParameterKind(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        marked = cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)
        return bool(marked) or super().__instancecheck__(instance)


class Parameter(CopyingParameter, Tensor, metaclass=_ParameterKind):
    """A leaf tensor that a module owns: assigned to a module's attribute it is listed by ``parameters()``.

    Made of a tensor of another class it is of that class, and marked by its attribute ``_is_param``.
    """

    __slots__ = ()
    _is_parameter = True
    __torch_function__ = staticmethod(disabled)  # what is computed from it is a plain tensor

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Share the memory of ``data`` (empty if ``None``).

        :class:`RuntimeError` where the ``detach()`` of another class gives something else than an object of it.
        """
        if data is not None and not isinstance(data, Tensor):
            refuse(data, cls.__name__, "data")
            raise AttributeError(f"'{errors.class_name(data)}' object has no attribute 'detach'")
        if data is not None and type(data) is not Tensor and type(data) is not Parameter:
            return parameter_of(data, requires_grad)
        if requires_grad and data is not None and not is_differentiable(data._a.dtype):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made = object.__new__(cls)
        set_up(made, _nothing() if data is None else data._a)
        if data is not None:
            if events.sink is not None and data._fn is not None:
                events.sink.graph_cut(data, "rewrap", *caller())
            made._storage = data._shared_storage()
        made._set_requires_grad(requires_grad)
        return made


def _nothing() -> Any:
    """No elements, where factories make tensors."""
    from .creation import empty

    return empty(0)._a


def set_up(t: Tensor, array: Any) -> None:
    """Fill the slots of a new tensor on ``array``: no history, nothing shared."""
    t._a = array
    t._fn = t._gradient = t._meta = None
    t._storage = None
    t._nr, t._rg = 0, False
    if events.special & events.MARKED:
        _mark(t)


def warn_volatile(text: str) -> None:
    """Say that ``volatile`` is no more."""
    warnings.warn(text, UserWarning, stacklevel=3)


def wrap(array: Any) -> Tensor:
    """A plain tensor on ``array`` itself: no history, nothing shared."""
    t: Tensor = new(Tensor)
    t._a = array if type(array) is ndarray or not isinstance(array, np.generic) else np.asarray(array)
    t._fn = t._storage = t._gradient = t._meta = None
    t._nr = 0
    t._rg = False
    if events.special and events.special & events.MARKED:
        _mark(t)
    return t


def _mark(t: Tensor) -> None:
    """Note of ``t``, which is being made, in what mode that is."""
    if mode.inference:
        t._storage = InferenceStorage()
    if mode.transform is not None:
        mode.transform.add(t)


def check_inplace(t: Tensor, args: tuple[Any, ...], repeating: bool = False) -> None:
    """Refuse an in-place op on ``t`` with ``args`` where PyTorch does, before any byte changes.

    ``repeating`` is for ops that may write memory which shows as several elements.
    """
    if t.is_inference() and t._rg and mode.grad and not _all_inference(args):  # of those alone nothing is recorded
        _check_recorded(t)
    check_counted(t)
    if t._storage is not None and t._storage.conjugate:
        raise errors.make(RuntimeError, errors.Details("view-inplace", storage=t._storage), _CONJUGATE)
    if mode.grad and any(isinstance(x, Tensor) and x.requires_grad for x in (t, *args)):
        _check_recorded(t)
    if not repeating:
        check_memory(t._a)


_CONJUGATE = (
    "conj() is a copy in this engine, so a write to it would not reach the tensor it was made of, as it does in PyTorch: write to "
    "that tensor itself, or to a clone() of the conjugate."
)


def check_counted(t: Tensor) -> None:
    """Refuse a write outside of inference mode into a tensor that was made in it."""
    if isinstance(t._storage, InferenceStorage) and not mode.inference and not isinstance(t._storage, TwinStorage):
        raise errors.make(
            RuntimeError,
            errors.Details("inference"),
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor "
            "before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.",
        )


def _all_inference(args: tuple[Any, ...]) -> bool:
    return all(isinstance(x, Tensor) and x.is_inference() for x in args)


def _is_number_beside(g: Any, grad: Any) -> bool:
    from .ops.mixed_devices import is_number_beside

    return is_number_beside(g, grad)


def _before_write(t: Tensor, op: str) -> None:
    from .saved.mutation import before_write

    before_write(t, op)


def check_memory(a: Any) -> None:
    """Refuse a write into a buffer that shows one place of memory as several elements."""
    if repeats(a):
        raise overlap("more than one element of the written-to tensor refers")


def repeats(a: Any) -> bool:
    """Whether a buffer shows one place of memory as several elements, as an expanded one does."""
    return bool(0 in a.strides and a.size and 0 in [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1])


def overlap(what: str) -> Exception:
    """Two tensors, or elements of one, share memory that is to be written."""
    return errors.make(
        RuntimeError,
        errors.Details("view-inplace"),
        f"unsupported operation: {what} to a single memory location. Please clone() the tensor before performing the "
        "operation.",
    )


def _check_recorded(t: Tensor) -> None:
    meta = t._meta
    if meta is not None and meta.view is not None:
        meta.view.check_inplace(t)
    elif (t._fn is None and t._rg) or inside.is_input(t):
        raise errors.make(
            RuntimeError,
            errors.Details("leaf-inplace", storage=t._storage),
            errors.LEAF_INPLACE,
            *([f"the leaf is '{meta.name}'"] if meta is not None and meta.name else []),
            "fix: wrap the write in torch.no_grad() if it is an update or an initialisation, else work on a clone()",
        )
