"""What a breakpoint on a name means: one rule for the program, which stops, and for the hub, which shows it."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase


def names_of_op(op: str) -> list[str]:
    """The names that a node answers to: ``MulBackward0`` also to ``Mul`` and ``mul``."""
    short = re.sub(r"Backward\d*$", "", op.rpartition("::")[2])
    return list(dict.fromkeys([op, op.rpartition("::")[2], short, short.lower()]))


def matches(pattern: str, names: Iterable[str]) -> bool:
    """True when one of the ``names`` fits the pattern, as in ``fnmatch``; case matters."""
    return any(fnmatchcase(name, pattern) for name in names)
