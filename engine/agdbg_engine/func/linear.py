"""``linearize``: a function at one point, and its derivative there as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..forward_ad import check_floating, check_outermost
from ..pytree import Structure, flatten, unflatten
from ..tensor import Tensor
from .forward import jvp


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``(func(*primals), product)``, where ``product(*tangents)`` is the Jacobian at ``primals`` times ``tangents``.

    The tangents have the structure, shapes and dtypes of the primals, else it is a :class:`RuntimeError`; what ``func`` returns
    besides tensors ``product`` returns too. Every call of it runs ``func`` again in forward mode, where PyTorch keeps a trace of
    it: the values are the same as long as nothing changes what the function reads.
    """

    check_outermost()
    points, structure = flatten(primals)

    def product(*tangents: Any) -> Any:
        _check_tangents(tangents, points, structure)
        leaves: list[Any] = []
        shape: list[Structure] = []

        def tensors(*args: Any) -> list[Tensor]:
            found, of_output = flatten(func(*args))
            leaves[:], shape[:] = found, [of_output]
            return [x for x in found if isinstance(x, Tensor)] or points  # jvp wants something to be returned

        products = jvp(tensors, primals, tangents)[1]
        return unflatten([products.pop(0) if isinstance(x, Tensor) else x for x in leaves], shape[0])

    value = func(*primals)
    for point in points:
        if isinstance(point, Tensor):
            check_floating(point, "primal")
    return value, product


def _check_tangents(tangents: tuple[Any, ...], points: list[Any], structure: Structure) -> None:
    given, found = flatten(tangents)
    if found != structure:
        raise RuntimeError(f"Expected the tangents {found} to have the same argspec as the primals {structure}")
    for i, (t, point) in enumerate(zip(given, points, strict=True)):
        for fact, text in _FACTS.items():
            mine, wanted = text(t), text(point)
            if mine != wanted:
                raise RuntimeError(
                    f"tangent:{i} with {fact} {mine} in flattened pytree doesn't match the {fact} {wanted} of the corresponding "
                    "primal."
                )


_FACTS: dict[str, Callable[[Tensor], str]] = {
    "shape": lambda x: f"torch.Size({list(x.shape)})",
    "device": lambda x: str(x.device),
    "dtype": lambda x: f"torch.{x.dtype}",
}
