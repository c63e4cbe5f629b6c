"""``jacrev``, ``jacfwd`` and ``hessian``: whole Jacobians, by rows in reverse and by columns in forward mode."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ..creation import zeros
from ..functional.matrix import directions, together, unit_vectors
from ..grad_mode import mode, ordinary, within
from ..ops.lists import stack
from ..pytree import flatten, unflatten
from ..random import drawing_from, rng_states
from ..tensor import Tensor
from .args import Argnums, check_real, sliced
from .reverse import vjp_of

Function = Callable[..., Any]


def jacrev(
    func: Function,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """The function that computes the Jacobian of ``func`` for the arguments ``argnums``, one backward pass a row.

    The result has the structure of the output, of the structure of the argument in the place of every tensor.
    ``chunk_size`` is checked as in PyTorch and changes nothing: rows are computed one at a time.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    @within(ordinary)
    def wrapper(*args: Any) -> Any:
        check_real("jacrev", args, "inputs")
        output, pull, *aux = vjp_of(func, args, argnums, has_aux)
        outs, structure = flatten(output)
        check_real("jacrev", outs, "outputs")
        primals, in_structure = flatten(sliced(args, argnums))
        rows = [flatten(pull(unflatten(unit, structure)))[0] for unit in unit_vectors(tuple(outs))]
        by_output = [unflatten(blocks, in_structure) for blocks in _joined(rows, outs, primals)]
        found = unflatten(by_output, structure)
        return (found, *aux) if has_aux else found

    return wrapper


def _joined(rows: list[list[Tensor]], outs: list[Tensor], primals: list[Tensor]) -> Any:
    if rows:
        return together(rows, outs, primals)
    return [[zeros(out.shape + p.shape, dtype=p.dtype, device=p.device) for p in primals] for out in outs]


def jacfwd(func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """As :func:`jacrev` by forward mode, one run of ``func`` a column.

    ``randomness`` is what random ops do in ``func``: ``"error"``, the ``"same"`` in every run, or ``"different"``.
    """

    @functools.wraps(func)
    @within(ordinary)
    def wrapper(*args: Any) -> Any:
        from .forward import jvp_of

        if randomness not in _RANDOMNESS:
            raise RuntimeError(
                f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
            )
        check_real("jacfwd", args, "inputs")
        primals, in_structure = flatten(sliced(args, argnums))
        columns: list[list[Tensor]] = []
        aux: list[Any] = []
        structure = None
        start = rng_states()
        repeated = sum(p.numel() for p in primals) > 1
        for nr, unit in enumerate(directions(tuple(primals))):
            with _drawing(randomness, start if columns else None):
                value, product, *extra = jvp_of(
                    func, args, unflatten(unit, in_structure), argnums, False, has_aux, nr if repeated else None
                )
            check_real("jacfwd", value, "outputs")
            column, structure = flatten(product)
            columns.append(column)
            aux = aux or extra
        blocks = [_split(parts, primals, in_structure) for parts in zip(*columns, strict=True)]
        found = unflatten(blocks, structure) if structure is not None else ()
        return (found, *aux) if has_aux else found

    return wrapper


_RANDOMNESS = ("error", "different", "same")


@contextlib.contextmanager
def _drawing(randomness: str, start: Any) -> Iterator[None]:
    """A context in which random ops do what ``randomness`` says; ``start`` is the first run's state for all but that."""
    before, mode.random_refused = mode.random_refused, mode.random_refused or randomness == "error"
    try:
        with drawing_from(start if randomness == "same" else None):
            yield
    finally:
        mode.random_refused = before


def _split(columns: tuple[Tensor, ...], primals: list[Tensor], structure: Any) -> Any:
    """The Jacobian of one output, of its columns, in the structure of the arguments."""
    joined, sizes = stack(columns, -1), [p.numel() for p in primals]
    pieces = (joined if any(sizes) else joined[..., :0]).split(sizes, -1)
    blocks = [x.reshape(x.shape[:-1] + p.shape) for x, p in zip(pieces, primals, strict=True)]
    return unflatten(blocks, structure)


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """The function that computes the second derivatives of ``func``: ``jacfwd(jacrev(func))``."""
    return jacfwd(jacrev(func, argnums), argnums)
