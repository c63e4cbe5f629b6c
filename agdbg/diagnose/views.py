"""Views of a part of a memory: all of them share one version counter."""

from agdbg.diagnose.case import Case
from agdbg.events import Kind
from agdbg.record.lookup import Op, Site

#: Views that are looked at.
LIMIT = 1000
#: Ops that show a part of their base, by the beginning of the name.
_PARTS = ("select", "slice", "narrow", "unbind", "split", "chunk", "diagonal", "unfold")


def is_part(op: str) -> bool:
    """Whether an op, or a node of it, shows a part of its base."""
    return op.lower().removeprefix("aten::").startswith(_PARTS)


def part_views(case: Case, storage: int, before: int) -> list[Site]:
    """The lines that made a view of a part of a storage, before a row."""
    return [site for site, op in _views(case, storage, before) if is_part(op.name)]


def view_sites(case: Case, storage: int, before: int) -> list[Site]:
    """The lines that made any view of a storage, before a row."""
    return [site for site, _ in _views(case, storage, before)]


def _views(case: Case, storage: int, before: int) -> list[tuple[Site, Op]]:
    facts = case.facts
    rows = [row for row in facts.rows_about(Kind.VIEW, storage) if row < before] if storage else []
    return [facts.site_and_op(facts.words(row)[4]) for row in rows[:LIMIT]]
