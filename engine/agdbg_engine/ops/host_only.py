"""Ops that have no kernel on a device: the one table of what is refused there."""

from __future__ import annotations

from ..backends import on_host
from ..errors import raise_if

HOST_ONLY = {
    "ldl_factor_ex_raw": "CuPy has no LDL factorisation",
    "ldl_solve_raw": "CuPy has no LDL factorisation",
    "lstsq_raw": "CuPy's lstsq knows one driver and single matrices only; use pinv or qr",
    "airy_ai": "CuPy has no Airy functions",
    "scatter_reduce_prod": "CuPy cannot multiply at repeated indices",
    **dict.fromkeys(
        (
            *(f"{s}chebyshev_polynomial_{kind}" for s in ("", "shifted_") for kind in "tuvw"),
            "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
        ),
        "CuPy has no orthogonal polynomials",
    ),
}  # fmt: skip
"""Op (a row, or a part of several) to the reason."""


def refused(op: str, array: object) -> Exception | None:
    """Why ``op`` cannot be done where ``array`` lies; ``None`` where it can."""
    if on_host(array) or op not in HOST_ONLY:
        return None
    from ..device import device_of

    return NotImplementedError(f"{op} is not implemented on device {device_of(array)}: {HOST_ONLY[op]}")


def check_place(op: str, array: object) -> None:
    """Refuse ``op`` where ``array`` lies, if it is in the table."""
    raise_if(refused(op, array))
