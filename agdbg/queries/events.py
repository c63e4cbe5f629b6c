"""What happened: writes, passes, errors, cuts, hooks."""

from agdbg.events import HookAction, Kind, a_of
from agdbg.queries.model import Answer, Query, Rows, line
from agdbg.record import Facts
from agdbg.record.facts import PassFact
from agdbg.tables.model import Row


def _writes(facts: Facts, storage: int) -> Answer:
    every = facts.rows_about(Kind.BUMP, storage) if storage else facts.rows(Kind.BUMP).tolist()
    rows = [row for row in every if row not in facts.void]

    def told(place: int) -> Row:
        _, number, old, new, where, node, *_ = facts.words(rows[place])
        site, op = facts.site_and_op(where)
        names = ", ".join(facts.names(number))
        return rows[place], number, names, old, new, op.name, line(site), site.text.strip(), node or None

    return Answer(("row", "storage", "names", "old", "new", "op", "line", "source", "node"), Rows(len(rows), told))


def _passes(facts: Facts, _: int) -> Answer:
    rows: list[Row] = []
    for each in facts.passes:
        took = _running_ns(facts, each)
        ms = None if took is None else round(took / 1e6, 6)
        ran = len(facts.ran(each.id))
        flags = " ".join(["retain_graph"] * each.retain_graph + ["create_graph"] * each.create_graph)
        rows.append((each.id, each.call, line(each.site), each.outcome, ran, ms, flags, each.parent or None))
    return Answer(("pass", "call", "line", "outcome", "nodes", "ms", "flags", "inside"), rows)


def _running_ns(facts: Facts, call: PassFact) -> int | None:
    """How long a pass ran, without the time for which its thread stood at stops; None when that is not known."""
    if call.outcome == "unfinished":
        return None
    finished, stood = facts.words(call.end_row)[4:6]
    took = finished - stood - facts.words(call.row)[5]
    return took if took >= 0 else None


def _errors(facts: Facts, _: int) -> Answer:
    rows: list[Row] = []
    for each in sorted([*facts.errors, *facts.predicted], key=lambda error: error.row):
        first = (each.text.splitlines() or [""])[0]
        kind = f"{each.kind} (predicted)" if each.predicted else each.kind
        rows.append((each.row, kind, line(each.site), each.node or None, each.pass_id or None, first))
    return Answer(("row", "kind", "line", "node", "pass", "message"), rows)


def _cuts(facts: Facts, _: int) -> Answer:
    rows: list[Row] = [
        (
            cut.op.name,
            line(cut.site),
            cut.site.text.strip(),
            cut.count,
            ", ".join(facts.names(cut.storage)) if cut.storage else "",
        )
        for cut in facts.cuts
    ]
    return Answer(("op", "line", "source", "times", "names"), rows)


def _hooks(facts: Facts, _: int) -> Answer:
    """One row for each line and kind of hook."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for row in facts.rows(Kind.HOOK).tolist():
        words = facts.words(row)
        site, op = facts.site_and_op(words[3])
        found = counts.setdefault((op.name, line(site), site.text.strip()), [0, 0, 0])
        found[min(a_of(words[0]), HookAction.REMOVED)] += 1
    return Answer(
        ("kind", "line", "source", "registered", "fired", "removed"), [(*key, *found) for key, found in counts.items()]
    )


QUERIES = (
    Query("writes", "writes in place, to one storage or to all", _writes, about_storage=True),
    Query("passes", "calls of backward and grad", _passes),
    Query("errors", "errors that were raised or foreseen", _errors),
    Query("cuts", "places where gradient paths ended", _cuts),
    Query("hooks", "hooks by line: how often each was registered, fired, removed", _hooks),
)
