"""How findings name things: lines, slots, counts."""

from collections.abc import Iterable
from os.path import basename

from agdbg.record.facts import NodeFact
from agdbg.record.lookup import Site


class Lines:
    """Names source lines: ``line 12`` in the file that a finding is about, ``model.py:12`` in any other."""

    def __init__(self, home: Site) -> None:
        self._home = home.file

    def __call__(self, site: Site) -> str:
        """The name of a line."""
        if not site.line:
            return "a line that was not recorded"
        return f"line {site.line}" if site.file == self._home else f"{basename(site.file)}:{site.line}"

    def at(self, site: Site) -> str:
        """`` at line 12``, to put behind what happened there; empty when the line is not known."""
        return f" at {self(site)}" if site.line else ""


def same_line(one: Site, other: Site) -> bool:
    """Whether two sites are on one known line."""
    return bool(one.line) and (one.file, one.line) == (other.file, other.line)


def op_words(node: NodeFact) -> str:
    """What kind of node it is."""
    return node.op.name or f"node {node.id}"


_RESULTS = frozenset(
    ("result0", "result1", "result2", "U", "S", "Vh", "Q", "R", "L", "LU", "inverse", "solution", "eigenvalues", "eigenvectors",
     "sign", "logabsdet", "mantissa")
)  # fmt: skip
"""What PyTorch calls the results of ops that have several."""


def slot_words(slot: str) -> str:
    """What a node saved in a slot: ``its result``, or ``its argument `other` ``."""
    name = slot.removeprefix("_saved_")
    if name in ("result", "output"):
        return "its result"
    if name in _RESULTS:
        return f"its result `{name}`"
    if name.startswith("saved_tensors["):  # of a custom Function: an argument, an output or neither
        return f"a tensor (`{name}`)"
    if not name or name.startswith("saved["):
        return "a tensor"
    return f"its argument `{name}`"


def is_result(slot: str) -> bool:
    """Whether a slot holds what the op made and not what it was given."""
    return slot.removeprefix("_saved_") in {"result", "output", *_RESULTS}


def listed(words: Iterable[str], limit: int = 3) -> str:
    """``a``, ``a and b``, ``a, b and c``, ``a, b and 3 more``."""
    each = list(words)
    shown = each if len(each) <= limit else [*each[: limit - 1], f"{len(each) - limit + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def count(number: int, noun: str) -> str:
    """``1 node``, ``2 nodes``, ``1,000 nodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def capital(text: str) -> str:
    """The text with a capital at its beginning, unless that is code: a call, as of ``clamp()``."""
    return text if "(" in text.partition(" ")[0] else text[:1].upper() + text[1:]
