"""What a recording can hold beside the graph, at a price: its names, and reading them from a command line."""

from collections.abc import Iterable

from agdbg.errors import InputError

EXTRAS = ("shapes", "values", "checksums")
"""Shapes and sizes of outputs; norms, NaN and infinities of outputs and gradients; checksums of saved tensors."""


def extras_of(text: str) -> frozenset[str]:
    """The extras that ``shapes,values``, ``all`` or ``none`` stand for.

    Raises:
        InputError: there is no extra of a name.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    return checked(
        () if words == ["none"] else [name for word in words for name in (EXTRAS if word == "all" else [word])]
    )


def checked(names: Iterable[str]) -> frozenset[str]:
    """The names, each that of an extra.

    Raises:
        InputError: one is not.
    """
    also = frozenset(names)
    for name in sorted(also - set(EXTRAS)):
        raise InputError(f"nothing called '{name}' can be recorded: there are {', '.join(EXTRAS)}, or all, or none")
    return also
