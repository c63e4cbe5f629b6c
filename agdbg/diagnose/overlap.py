"""Whether what was saved and what was written later overlap: parts of one memory share a version counter.

The places of the views tell, where it is known which was which; else checksums of what was saved do.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.source import assigned, expression
from agdbg.diagnose.stain import Stain
from agdbg.diagnose.twin_names import given_names, given_parts, twin_name
from agdbg.diagnose.views import LIMIT
from agdbg.diagnose.words import same_line
from agdbg.diagnose.writers import Writer
from agdbg.events import Kind, unpack_edge, unpack_pair
from agdbg.record.facts import NodeFact
from agdbg.record.lookup import Site

#: ``apart``: they do not overlap; ``touched``: they do; ``unknown``: which parts they were is not known.
Verdict = Literal["apart", "touched", "unknown"]
#: Elements of a part that are compared one by one; of larger ones the outlines.
ELEMENTS = 100_000
_NUMBER = re.compile(r"-?\d+")
_INPUT = {"self": 0, "input": 0, "mat1": 0, "base": 0, "other": 1, "mat2": 1, "exponent": 1, "weight": 1}


@dataclass(frozen=True)
class Part:
    """A view of a part of a memory: where it begins, in elements, its shape and its strides."""

    site: Site
    row: int
    producer: int
    start: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def outline(self) -> tuple[int, int]:
        """The first and the last element that it may have."""
        ends = [(size - 1) * stride for size, stride in zip(self.dims, self.strides, strict=True)]
        return self.start + sum(min(end, 0) for end in ends), self.start + sum(max(end, 0) for end in ends)

    @property
    def words(self) -> str:
        """Which elements, in words."""
        first, last = self.outline
        return f"element {first:,} of the memory" if first == last else f"elements {first:,} to {last:,} of the memory"

    def elements(self) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """The places of all its elements."""
        places = np.zeros(1, np.int64) + self.start
        for size, stride in zip(self.dims, self.strides, strict=True):
            places = (places[:, None] + np.arange(size) * stride).reshape(-1)
        return places


def verdict(case: Case, stain: Stain, *, in_parts: bool) -> Verdict:
    """Whether the recorded writes touched what was saved; ``in_parts``: by the source, parts were saved and written."""
    saved, written = saved_part(case, stain), [written_part(case, stain, each) for each in stain.writers]
    told = _by_checksum(case, stain)
    if told != "touched" and saved is not None and written and all(each is not None for each in written):
        return "touched" if any(each is not None and _meet(saved, each) for each in written) else "apart"
    return told if in_parts or told == "touched" else "unknown"


def _by_checksum(case: Case, stain: Stain) -> Verdict:
    if stain.node is None:
        return "unknown"
    told = map(case.facts.probe_at, case.facts.rows_about(Kind.PROBE, stain.storage) if stain.storage else [])
    mine = [
        each for each in told if (each.node, each.slot) == (stain.node.id, stain.slot) and each.row < stain.error.row
    ]
    saved = next((each for each in reversed(mine) if each.when == "saved"), None)
    checked = next((each for each in reversed(mine) if each.when == "checked"), None)
    if saved is None or checked is None or checked.version != stain.current or saved.version != stain.expected:
        return "unknown"
    return "apart" if saved.checksum == checked.checksum else "touched"


def _meet(one: Part, other: Part) -> bool:
    (low, high), (first, last) = one.outline, other.outline
    if high < first or last < low:
        return False
    if max(int(np.prod(each.dims)) for each in (one, other)) > ELEMENTS:
        return True
    return bool(np.isin(one.elements(), other.elements()).any())


# ----- which part -----


def saved_part(case: Case, stain: Stain) -> Part | None:
    """The part that was saved; None when it is not known, or was all of the memory."""
    node = stain.node
    if node is None:
        return None
    known = [each for each in _parts(case, stain) if each.row < node.row]
    index = _input(node, stain.slot.removeprefix("_saved_"))
    producer = node.edges[index].node if 0 <= index < len(node.edges) else 0
    if producer:
        return next((each for each in reversed(known) if each.producer == producer), None)
    return _by_name(known, node.site, stain.name.strip("`")) or _by_argument(known, node.site)


def _input(node: NodeFact, slot: str) -> int:
    """Which input of a node is in a slot, -1 when that is not known; the factors of ``addmm`` are its last two."""
    if slot in ("mat1", "mat2") and node.op.name.startswith("Addmm"):
        return len(node.edges) - (2 if slot == "mat1" else 1)
    return _INPUT.get(slot, -1)


def written_part(case: Case, stain: Stain, writer: Writer) -> Part | None:
    """The part that a writer wrote to."""
    known = [each for each in _parts(case, stain) if each.row < writer.first.row]
    here = [each for each in known if same_line(each.site, writer.site)]
    return here[-1] if here else _by_name(known, writer.site, writer.write.target)


def _by_name(known: list[Part], site: Site, name: str) -> Part | None:
    if not name:
        return None
    here = (each for each in reversed(known) if same_line(each.site, site) and expression(each.site) == name)
    named = (each for each in reversed(known) if name in (assigned(each.site), twin_name(each.site)))
    return next(here, None) or next(named, None)


def _by_argument(known: list[Part], site: Site) -> Part | None:
    """The only part that is given to the call at a site, such as a layer; None when there are several, or none."""
    names, parts = given_names(site), given_parts(site)
    found = {}
    for each in known:
        name = twin_name(each.site)
        if name in names:
            found[name] = each
        elif same_line(each.site, site) and expression(each.site) in parts:
            found[expression(each.site)] = each
    return next(iter(found.values())) if len(found) == 1 else None


def _parts(case: Case, stain: Stain) -> list[Part]:
    rows = case.facts.rows_about(Kind.VIEW, stain.storage) if stain.storage else []
    return [part for row in rows[-LIMIT:] if (part := _part(case, row)) is not None]


def _part(case: Case, row: int) -> Part | None:
    _, _, _, view, where, start, layout, _ = case.facts.words(row)
    shape, strides = (_numbers(case.facts.trace.text(text)) for text in unpack_pair(layout))
    if not layout or len(shape) != len(strides) or 0 in shape:
        return None
    return Part(case.facts.site_and_op(where)[0], row, unpack_edge(view)[0], start, shape, strides)


def _numbers(text: str) -> tuple[int, ...]:
    found: Iterable[str] = _NUMBER.findall(text)
    return tuple(int(each) for each in found)
