"""The whole Jacobian of a function, row by row or column by column, and the Hessian as the Jacobian of a Jacobian."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..creation import zeros_like
from ..device import beside
from ..grad_mode import enable_grad
from ..ops.lists import stack
from ..tensor import Tensor, wrap
from .args import (
    CONSTANT_JACOBIAN,
    CONSTANT_OUTPUT,
    OUTPUTS,
    Function,
    Tensors,
    check_dependent,
    finished,
    gradients,
    prepared,
    scalar_output,
    tensors,
    unpacked,
)

_STRATEGIES = ("forward-mode", "reverse-mode")


def jacobian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of every output with respect to every input, each of shape ``output.shape + input.shape``.

    A tuple over outputs if there are several, of tuples over inputs if there are several. ``vectorize`` is accepted as in
    PyTorch, with its restrictions; the work is done in a loop either way.
    """
    if strategy not in _STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
                'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return _by_columns(func, inputs, strict, vectorize)
    return _by_rows(func, inputs, create_graph, strict, vectorize)


def hessian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function that returns one number; a tuple of tuples if ``inputs`` is a tuple."""
    is_tuple, xs = tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in _STRATEGIES:
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def first(*inp: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":  # else the inner Jacobian would take them out of the graph
            for t in inp:
                t.requires_grad_(True)
        jac = jacobian(lambda *a: scalar_output(func(*a), strict, "hessian")[0].squeeze(), inp, create_graph=True)
        check_dependent(jac, strict, CONSTANT_JACOBIAN)
        return jac

    rows = jacobian(first, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return rows if is_tuple else rows[0][0]


# ----- reverse mode -----


def _by_rows(func: Function, inputs: Tensors, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    with enable_grad():
        is_tuple, given = tensors(inputs, "inputs", "jacobian")
        xs = prepared(given, create_graph, need_graph=True)
        several, outputs = tensors(func(*xs), OUTPUTS, "jacobian")
        check_dependent(outputs, strict, CONSTANT_OUTPUT)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please "
                "either set `strict=False` or `vectorize=False`."
            )
        rows = [_rows(i, out, xs, create_graph, strict) for i, out in enumerate(outputs)]
        if vectorize:
            blocks = together([r for mine in rows for r in mine], outputs, xs)
        else:
            blocks = tuple(_stacked(mine, out, xs) for mine, out in zip(rows, outputs, strict=True))
        found = finished(blocks, create_graph)
        return unpacked(tuple(unpacked(block, is_tuple) for block in found), several)


def _rows(i: int, out: Tensor, xs: tuple[Tensor, ...], create_graph: bool, strict: bool) -> list[list[Tensor]]:
    """The rows of the Jacobian of ``out``, output number ``i``, each by input."""
    rows: list[list[Tensor]] = []
    flat = out.reshape(-1)
    for j in range(out.numel()):
        found = gradients((flat[j],), xs, create_graph=create_graph, retain_graph=True)
        for k, g in enumerate(found):
            if strict:
                _check_row(g, i, k, create_graph)
        rows.append([zeros_like(x) if g is None else g for g, x in zip(found, xs, strict=True)])
    return rows


def _stacked(rows: list[list[Tensor]], out: Tensor, xs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The Jacobian of ``out`` by input, of its ``rows``: views of a tensor each, so that they can be written in place."""
    return tuple(stack([row[k] for row in rows]).view(out.shape + x.shape) for k, x in enumerate(xs))


def together(rows: list[list[Tensor]], outs: Sequence[Tensor], xs: Sequence[Tensor]) -> tuple[tuple[Tensor, ...], ...]:
    """The Jacobian by output and input, of ``rows`` (each by input) for all elements of all ``outs`` in order.

    As in PyTorch what one row has, a history, all blocks of its input have.
    """
    sizes = [out.numel() for out in outs]
    by_input = [stack([row[k] for row in rows]).split(sizes) for k in range(len(xs))]
    return tuple(
        tuple(pieces[i].view(out.shape + x.shape) for pieces, x in zip(by_input, xs, strict=True))
        for i, out in enumerate(outs)
    )


def _check_row(g: Tensor | None, i: int, k: int, create_graph: bool) -> None:
    if g is None:
        raise RuntimeError(
            f"Output {i} of the user-provided function is independent of input {k}. This is not allowed in strict mode."
        )
    if create_graph and not g.requires_grad:
        raise RuntimeError(
            f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode when "
            "create_graph=True."
        )


# ----- forward mode -----


def _by_columns(func: Function, inputs: Tensors, strict: bool, vectorize: bool) -> Any:
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together '
            '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    is_tuple, xs = tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
        )
    several, columns = False, []
    repeated = sum(x.numel() for x in xs) > 1
    before, versions = [x.detach().clone() for x in xs if repeated], [x._version for x in xs]
    for tangents in directions(xs):
        written = [x._version for x in xs] != versions  # by the first run: the others read what that has read
        several, column = _column(func, tuple(x.clone() for x in before) if written else xs, tangents)
        columns.append(column)
    by_output = [list(_blocks(parts, xs)) for parts in zip(*columns, strict=True)]
    found = by_output if is_tuple else tuple(block[0] for block in by_output)  # in PyTorch too it is lists
    return unpacked(found, several)


def _column(func: Function, xs: tuple[Tensor, ...], tangents: tuple[Tensor, ...]) -> tuple[bool, list[Tensor]]:
    """Whether ``func`` returns a tuple, and the tangents of what it returns."""
    from .. import forward_ad

    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(xs, tangents, strict=True)]
        several, outputs = tensors(func(*duals), "outputs", "None")
        unpacked_duals = [forward_ad.unpack_dual(o) for o in outputs]
        return several, [zeros_like(d.primal) if d.tangent is None else d.tangent for d in unpacked_duals]


def unit_vectors(xs: tuple[Tensor, ...]) -> Iterator[tuple[Tensor, ...]]:
    """For every element of ``xs``, in order, zeros in their shapes with a one at its place."""
    for i, x in enumerate(xs):
        for k in range(x.numel()):
            buffers = [np.zeros(y.shape, y.dtype) for y in xs]
            buffers[i].reshape(-1)[k] = 1
            yield tuple(wrap(beside(b, y._a)) for b, y in zip(buffers, xs, strict=True))


def directions(xs: tuple[Tensor, ...]) -> Iterator[tuple[Tensor, ...]]:
    """The tangents that columns are computed of: unit vectors, or zeros where there is no element, to know the result."""
    if any(x.numel() for x in xs):
        yield from unit_vectors(xs)
    else:
        yield tuple(zeros_like(x) for x in xs)


def _blocks(columns: tuple[Tensor, ...], xs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The Jacobian of one output by input, of its columns: one for every element of all inputs."""
    shape, sizes = columns[0].shape, [x.numel() for x in xs]
    pieces = (stack(columns) if any(sizes) else stack(columns)[:0]).split(sizes)
    order = (*range(1, len(shape) + 1), 0)
    return tuple(p.permute(order).reshape(shape + x.shape) for p, x in zip(pieces, xs, strict=True))
