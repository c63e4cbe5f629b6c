"""Ops made from rows without generated code: one function that checks, computes, and records for all of them.

Where :mod:`..generate` writes a function of its own for every row of the hot ones, a call here costs a few microseconds
more, and a row costs nothing but itself.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from collections import namedtuple
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ... import events
from ...device import same_place
from ...dtype import get_default_dtype, result_type
from ...grad_mode import mode
from ...node import edge, next_seq, nowhere
from ...saved.hooks import kept
from ...sites import caller
from ...tensor import Tensor, wrap
from ...view import as_view
from ...zero_tangent import filled
from .. import graph, kernels
from ..after import after, after_outputs
from ..compare import no_gradient
from ..forward import SavedResult
from ..kernel_names import not_implemented, takes
from ..prepare import as_array, cut, failed
from ..refuse import refuse_complex
from ..returned import returned_as
from ..row import Row
from .formula import Formula
from .node import Interpreted, node_class
from .short import LONG, fits, needed, short
from .tangent import TangentFormula

Slots = tuple[tuple[str, str, str, int | None], ...]
"""For every slot its name, those of what it holds and of the version, and its place among arguments and results (``None``: the
only result).
"""
Consts = tuple[tuple[str, int, str | None], ...]
"""For every constant the name of its slot, such a place, and what of that: ``shape``, ``dtype``, or it itself."""

NUMBERS = (bool, int, float, complex, np.generic)


@functools.cache
def _default(text: str) -> Any:
    """The value of a default: one for all rows, of which none can be changed."""
    return ast.literal_eval(text)


class Op:
    """One row, made callable: ``op(*args, **kwargs)`` with the row's signature."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.__name__ = self.__qualname__ = row.name
        self.__doc__ = f"The op ``{row.signature}`` of the table; records a {row.node}."
        names = [o.removeprefix("*") for o in row.outputs.split()]
        self.outputs = tuple(names) or ("result",)
        self.discrete = tuple(o.startswith("*") for o in row.outputs.split()) or (False,)
        self.several = len(self.outputs) > 1
        self.places = tuple((t, row.args.index(t)) for t in row.tensors)
        """Tensor arguments and where they stand."""
        self.inputs = tuple(row.args.index(d) for d in row.differentiable)
        """Where those stand that have a gradient."""
        self.casts = row.elementwise or row.floats
        self._forward = Formula(row.forward) if row.forward else None
        self._classes: dict[tuple[str, ...], type[Interpreted]] = {}
        self._kept: dict[type[Interpreted], tuple[Slots, Consts]] = {}
        self._has_short_way = fits(self)
        self.nothing = (None,) * len(self.inputs)
        last = itertools.takewhile(row.defaults.__contains__, reversed(row.args))
        self.defaults = tuple(_default(row.defaults[a]) for a in last)[::-1]
        """Of the last arguments."""

    @cached_property
    def result(self) -> Any:
        """The class of the tuple that it returns, where it has several results."""
        return (
            returned_as(self.row.name.removesuffix("_raw"))(namedtuple("result", self.outputs))
            if self.several
            else None
        )

    @cached_property
    def __signature__(self) -> inspect.Signature:
        """For ``inspect`` and calls by keyword; made when it is asked for, since most never are and all would delay the start."""
        row = self.row
        return inspect.Signature(
            [
                inspect.Parameter(
                    a,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=_default(row.defaults[a]) if a in row.defaults else inspect.Parameter.empty,
                    annotation="Tensor"
                    if a in row.tensors and a not in row.scalars and a not in row.defaults
                    else "Any",
                )
                for a in row.args
            ]
        )

    def __repr__(self) -> str:
        return f"<op {self.row.signature}>"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """A tensor, or a named tuple of them."""
        missing = len(self.row.args) - len(args)
        if not kwargs and 0 < missing <= len(self.defaults):
            args += self.defaults[-missing:]
        elif kwargs or missing:
            bound = self.__signature__.bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        if self._has_short_way:
            found = short(self, args)
            if found is not LONG:
                return found
        return apply(self, args)

    def node_class(self, numbers: tuple[str, ...]) -> type[Interpreted]:
        """The class of its nodes when the tensors ``numbers`` are given as Python numbers."""
        made = self._classes.get(numbers)
        if made is None:
            name = self.row.scalars[numbers[0]] if numbers and numbers[0] in self.row.scalars else self.row.node
            made = self._classes[numbers] = node_class(self.row, name, self.outputs, frozenset(numbers))
        return made

    def kept(self, cls: type[Interpreted]) -> tuple[Slots, Consts]:
        """What nodes of ``cls`` keep, and where it comes from."""
        made = self._kept.get(cls)
        if made is None:
            names = (*self.row.args, *(self.outputs if self.several else ()))
            slots = tuple(
                (s, "s_" + s, "v_" + s, None if is_output else names.index(s))
                for s, is_output in zip(cls.slots, cls.outputs_saved, strict=True)
            )
            consts = tuple(
                ("c_" + c, names.index(c), None)
                if c in names
                else ("c_" + c, names.index(c.rpartition("_")[0]), c.rpartition("_")[2])
                for c in cls.consts
            )
            made = self._kept[cls] = slots, consts
        return made

    def compute(self, buffers: list[Any]) -> Any:
        """The value on ``buffers``, one for every argument."""
        if self._forward is None:
            return self.kernel(*buffers)
        return self._forward(kernels, dict(zip(self.row.args, buffers, strict=True)))

    # ----- what the short way knows beforehand -----

    @cached_property
    def kernel(self) -> Callable[..., Any]:
        """The value as a function of buffers in the order of the arguments."""
        if self._forward is None:
            found: Callable[..., Any] = getattr(kernels, self.row.name)
            return found
        return lambda *buffers: self.compute(list(buffers))

    @cached_property
    def plain(self) -> type[Interpreted]:
        """The class of its nodes when all tensors are given as such."""
        return self.node_class(())

    @cached_property
    def saves(self) -> Slots:
        """The slots of such a node."""
        return self.kept(self.plain)[0]

    @cached_property
    def keeps(self) -> Consts:
        """The constants of such a node."""
        return self.kept(self.plain)[1]


def apply(op: Op, args: tuple[Any, ...]) -> Any:
    """Call ``op`` with all its arguments: a tensor, or a named tuple of them."""
    row = op.row
    buffers = list(args)
    numbers: tuple[str, ...] = ()
    wanted: Any = False
    try:
        for name, i in op.places:
            x = args[i]
            if isinstance(x, Tensor):
                buffers[i] = x._in
                wanted = wanted or x._rg
            elif isinstance(x, NUMBERS) and name in row.scalars:
                numbers += (name,)
            elif x is not None:
                raise AttributeError(name)  # which failed() puts into words
        if len(numbers) > 1 and not any(isinstance(args[i], Tensor) for _, i in op.places):
            raise AttributeError(numbers[0])
        cast = op.casts and _to_common(op, args, buffers)
        if row.kinds:
            _check_kind(row, next(buffers[i].dtype for _, i in op.places if hasattr(buffers[i], "dtype")))
        found = op.compute(buffers)
        first = found[0] if op.several else found
        if type(first) is not np.ndarray and len(op.places) > 1:
            as_array(first, *(buffers[i] for _, i in op.places))
    except Exception as error:
        given = dict(zip(row.args, args, strict=True))
        # None is all that there is, or one of two
        no_operand = isinstance(error, AssertionError) or (row.elementwise and len(op.places) == 2)
        tensors = {n: given.pop(n) for n, i in op.places if args[i] is not None or no_operand}
        return failed(op, error, tensors, given)
    outs = tuple([wrap(x if row.view else _own(x, buffers)) for x in (found if op.several else (found,))])
    if not events.special & events.COMPLEX and any(o._a.dtype.kind == "c" for o in outs):
        events.keep_on(events.COMPLEX)  # complex numbers may have come of real ones
    node = _record(op, args, numbers, outs, cast) if wanted else None
    if row.view:
        rest = args[1:]
        outs = (as_view(outs[0], args[0], row.name, lambda b: op.compute([b, *rest])),)
    if node is not None and (events.on or node.multi):
        _born(node, outs)
    if events.special:
        if op.several:
            after_outputs(row.name, outs, args)
        else:
            after(row.name, outs[0], args)
    return op.result(*outs) if op.several else outs[0]


def _own(array: Any, buffers: list[Any]) -> Any:
    """``array``, copied if it is (part of) an operand: a result that is no view has memory of its own."""
    if type(array) is not np.ndarray:
        array = as_array(array)
    for b in buffers:
        if array is b:
            return array.copy()
    if array.base is None:
        return array
    alike = (b for b in buffers if hasattr(b, "dtype") and same_place(b, array))  # what was copied is elsewhere
    return array.copy() if any(np.may_share_memory(array, b) for b in alike) else array


def _check_kind(row: Row, dtype: Any) -> None:
    if not takes(row.kinds, dtype):
        if dtype.kind == "c":
            refuse_complex(row.name, dtype)
        raise not_implemented(row.name, dtype)


# ----- dtypes -----


def _to_common(op: Op, args: tuple[Any, ...], buffers: list[Any]) -> bool:
    """Cast the operands among ``buffers`` to their common dtype in place; whether that changed a tensor's."""
    first = buffers[op.inputs[0]] if op.inputs else None
    if len(op.inputs) == 1 and type(first) is np.ndarray and not (op.row.floats and first.dtype.kind in "biu"):
        return False
    places = [i for i in op.inputs if buffers[i] is not None]
    dtype = result_type([_ranked(buffers[i]) for i in places])
    if op.row.floats and dtype.kind in "biu":
        dtype = get_default_dtype()
    changed = False
    for i in places:
        if not isinstance(args[i], Tensor):
            wide = dtype.char == "e" and getattr(op.kernel, "in_single", False)
            number = np.asarray(buffers[i]).astype(
                np.float32 if wide else dtype
            )  # as PyTorch, which makes a tensor of it
            buffers[i] = number if type(_of_tensor(args)) is np.ndarray else number[()]
        elif buffers[i].dtype != dtype:
            buffers[i] = buffers[i].astype(dtype)
            changed = True
    return changed


def _of_tensor(args: tuple[Any, ...]) -> Any:
    """The buffer of the first tensor: arrays of another library mix with NumPy's numbers but not with its 0-d arrays."""
    return next(x._a for x in args if isinstance(x, Tensor))


_OF_NUMBER: dict[type, Any] = {bool: np.dtype(bool), int: np.dtype(np.int64), complex: np.dtype(np.complex64)}


def common_dtype(operands: Iterable[Any]) -> np.dtype[Any]:
    """The dtype of what comes of tensors and numbers together."""
    return result_type([_ranked(x._a if isinstance(x, Tensor) else x) for x in operands])


def _ranked(x: Any) -> tuple[Any, int]:
    if hasattr(x, "dtype") and not isinstance(x, np.generic):
        return x.dtype, 2 if x.ndim else 1
    value = x.item() if isinstance(x, np.generic) else x
    return _OF_NUMBER.get(type(value)) or get_default_dtype(), 0


# ----- recording -----


def _record(
    op: Op, args: tuple[Any, ...], numbers: tuple[str, ...], outs: tuple[Tensor, ...], cast: bool
) -> Interpreted | None:
    """Make a node the history of ``outs``, if a gradient is needed."""
    kind = op.node_class(numbers)
    inputs = (
        [args[i] for i in (op.row.args.index(e) for e in kind.sources)] if numbers else [args[i] for i in op.inputs]
    )
    wanted = [x for x in inputs if isinstance(x, Tensor) and x._rg]
    floating = [i for i, o in enumerate(outs) if not op.discrete[i] and o._a.dtype.kind in "fc"]
    if not wanted or not mode.grad or not floating:
        if events.sink is not None:
            (no_gradient if mode.grad else cut)(tuple(wanted))
        return None
    producers = tuple([edge(x) if isinstance(x, Tensor) and x._rg else None for x in inputs])
    if not any(producers) and nowhere(*wanted) is None:
        return None
    node = kind()
    node.next = producers
    numbering = tuple([x._nr if isinstance(x, Tensor) else 0 for x in inputs])
    node.nrs = numbering if any(numbering) else None
    node.seq = next_seq()
    node.code, node.lasti = caller()
    node.hooks = node.o_storage = None
    node.fit = _fit(op.row, inputs, outs[0]) if op.row.elementwise or cast else None
    for i in floating:
        outs[i]._fn, outs[i]._nr, outs[i]._rg = node, i, True
    if node.slots or node.consts:
        _save(op, node, (*args, *outs), outs)
    return node


def _fit(row: Row, inputs: list[Any], out: Tensor) -> Any:
    """Shape and dtype of every operand, unless all are those of the result."""
    shape, dtype = out._a.shape, out._a.dtype
    if all(not isinstance(x, Tensor) or (x._a.shape == shape and x._a.dtype == dtype) for x in inputs):
        return None
    return tuple(
        (x._a.shape if row.elementwise else None, x._a.dtype) if isinstance(x, Tensor) else None for x in inputs
    )


def _save(op: Op, node: Interpreted, given: tuple[Any, ...], outs: tuple[Tensor, ...]) -> None:
    partly = None in node.next
    slots, consts = op.kept(type(node))
    for name, held, number, at in slots:
        version = 0
        if partly and not needed(node, name):
            value = None
        elif at is None:
            value = outs[0]._a
        else:
            value = given[at]
            if value is not None and value._fn is node:
                version = value._shared_storage().version
                value = SavedResult(value)
            elif value is not None and value._storage is not None:
                version = value._storage.version
        setattr(node, held, value)
        setattr(node, number, version)
    for held, at, what in consts:
        setattr(node, held, _constant_of(given[at], what))


def _constant(name: str, given: dict[str, Any]) -> Any:
    """A shape or dtype of an operand, or an argument that is no tensor."""
    if name in given:
        return _constant_of(given[name], None)
    operand, _, what = name.rpartition("_")
    return _constant_of(given[operand], what)


def _constant_of(x: Any, what: str | None) -> Any:
    if what is None:
        return x.copy() if isinstance(x, np.ndarray) else x
    return None if x is None else getattr(x._a if isinstance(x, Tensor) else np.asarray(x), what)


def _born(node: Interpreted, outs: tuple[Tensor, ...]) -> None:
    """Tell the instruments, and let hooks on saved tensors have the results that a node with several saved."""
    if events.sink is not None:
        events.sink.node_born(node, next(o for o in outs if o._fn is node))
        if node.multi:
            events.sink.outputs_made(node, [o for o in outs if o._fn is node])
    if node.multi and (mode.saved_hooks or mode.strict):
        for name in node.slots:
            if isinstance(getattr(node, "s_" + name), SavedResult):
                out = outs[node.outputs.index(name)]
                made = kept(node, name, out, is_output=True)
                if made is not out:
                    setattr(node, "s_" + name, made)


# ----- tangents -----


def tangent_function(op: Op) -> Callable[..., Any]:
    """``jvp(*args, *results, *tangents)`` of the row, on tensors."""
    row = op.row
    tangents = [t + "_t" for t in row.differentiable]
    formula = TangentFormula(row.jvp, tangents) if row.jvp != "linear" else None
    names = [*row.args, *op.outputs, *tangents]

    def jvp(*values: Any) -> Any:
        given = dict(zip(names, values, strict=True))
        if formula is None:
            return op(*(filled(given[a + "_t"]) if a in row.differentiable else given[a] for a in row.args))
        for name in formula.names:
            if name not in given:
                given[name] = _constant(name, given)
        found = formula(graph, given)
        return found if op.several else _in_dtype(found, given["result"].dtype)

    return jvp


def _in_dtype(tangent: Any, dtype: Any) -> Any:
    """``tangent`` in the dtype of the result: terms that would have promoted it may have been left out."""
    return tangent.to(dtype) if isinstance(tangent, Tensor) and tangent.dtype != dtype else tangent


__all__ = ["Op", "apply", "tangent_function"]
