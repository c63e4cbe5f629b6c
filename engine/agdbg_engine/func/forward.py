"""``jvp``: the transform that runs forward mode, at a level of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import forward_ad
from ..creation import zeros_like
from ..foreign import hint
from ..grad_mode import ordinary
from ..inside import Inside
from ..pytree import flatten, unflatten
from ..tangents import open_levels
from ..tensor import Tensor
from .args import Argnums, check_outputs, replaced, sliced, with_aux
from .level import counted, pruned

_JVP = "jvp(f, primals, tangents)"


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """``(func(*primals), Jacobian @ tangents)``; ``(…, …, aux)`` with ``has_aux``.

    ``tangents`` has the structure and the shapes of ``primals``, a tuple. With ``strict`` an output that does not depend on
    the primals is a :class:`RuntimeError`, else its tangent is zeros.
    """
    return jvp_of(func, primals, tangents, None, strict, has_aux)


def jvp_of(
    func: Callable[..., Any], args: Any, tangents: Any, argnums: Argnums | None, strict: bool, has_aux: bool,
    column: int | None = None,
) -> Any:  # fmt: skip
    """:func:`jvp` with tangents for the arguments ``argnums`` only, for all with ``None``; ``column``: which of several runs."""
    if not isinstance(args, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    primals, directions, structure = _checked(args if argnums is None else sliced(args, argnums), tangents)
    forward_ad.check_outermost()
    with ordinary(), forward_ad.nested_level() as level, Inside(forward=True) as inside:
        duals = [forward_ad.make_dual(counted(p), t, level=level) for p, t in zip(primals, directions, strict=True)]
        inside.guard(open_levels[level], directions)
        inside.column = column
        for dual, primal in zip(duals, primals, strict=True):
            inside.add_argument(dual, primal)
            if primal.is_inference():
                inside.count(dual)
        for x in () if column is None else flatten(args)[0]:
            if isinstance(x, Tensor):
                inside.give(x, x)
        nest = unflatten(duals, structure)
        output, aux = with_aux(func(*(nest if argnums is None else replaced(args, argnums, nest))), has_aux, _JVP)
        outs, out_structure = flatten(output)
        check_outputs(outs, _JVP)
        pairs = [_unpacked(o, level, strict, inside) for o in outs]
        extra = _without_tangents(aux, level, inside) if has_aux else None
    value = unflatten([p for p, _ in pairs], out_structure)
    product = unflatten([t for _, t in pairs], out_structure)
    return (value, product, extra) if has_aux else (value, product)


def _checked(primals: Any, tangents: Any) -> tuple[list[Tensor], list[Tensor], Any]:
    """The flat primals and tangents and their common structure."""
    flat, structure = flatten(primals)
    directions, found = flatten(tangents)
    if structure != found:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
            f"tensors, tangents also must be. Got primals with structure {structure} and tangents with structure {found}"
        )
    for what, ts in (("primals", flat), ("tangents", directions)):
        if not ts:
            raise RuntimeError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
        for t in ts:
            if not isinstance(t, Tensor):
                raise RuntimeError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(t)}{hint(t)}")
    return flat, directions, structure


def _unpacked(dual: Tensor, level: Any, strict: bool, inside: Inside) -> tuple[Tensor, Tensor]:
    primal, tangent = forward_ad.unpack_dual(dual, level=level)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with "
                "strict=True."
            )
        tangent = zeros_like(primal)
    return pruned(primal, True, inside), pruned(tangent, True, inside)


def _without_tangents(aux: Any, level: Any, inside: Inside) -> Any:
    leaves, structure = flatten(aux)
    for x in leaves:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}{hint(x)}")
    return unflatten([pruned(forward_ad.unpack_dual(x, level=level)[0], True, inside) for x in leaves], structure)
