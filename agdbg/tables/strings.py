"""The tables of what the others refer to: what was recorded, and the places in the source."""

import json
from collections.abc import Iterator

import numpy as np

from agdbg.events import Kind
from agdbg.record import Facts
from agdbg.record.ending import ending_of
from agdbg.tables.model import Row, table

#: The word of each kind in whose low half the string id of a place stands.
_PLACES = {
    Kind.BORN: 3,
    Kind.PASS_STARTED: 2,
    Kind.BUMP: 4,
    Kind.VIEW: 4,
    Kind.REBASED: 4,
    Kind.CUT: 2,
    Kind.ERROR: 3,
    Kind.HOOK: 3,
    Kind.OPTIMIZER: 2,
}


def _trace(facts: Facts) -> Iterator[Row]:
    trace = facts.trace
    yield "path", str(trace.path)
    for key in ("program", "engine", "sees", "exit"):
        yield key, json.dumps(trace.meta.get(key, {}))
    yield "state", ending_of(trace).state
    yield "problems", json.dumps(trace.problems)


def _sites(facts: Facts) -> Iterator[Row]:
    found = [
        np.unique(facts.trace.records[facts.rows(kind), word] & np.uint64(0xFFFFFFFF)) for kind, word in _PLACES.items()
    ]
    for number in np.unique(np.concatenate(found)).tolist():
        site = facts.trace.site(number)
        if number:
            end, col, end_col = site.end_line or None, site.col, site.end_col
            columns = col if col >= 0 else None, end_col if end_col >= 0 else None
            yield number, site.file, site.line or None, end, *columns, site.func, site.text


TABLES = (
    table(
        "trace", "something about the trace as a whole",
        """
        key text program, engine, sees, exit, state or problems
        value text JSON for what is no plain text
        """,
        _trace,
    ),
    table(
        "sites", "a place in the source",
        """
        id integer what other tables call site
        file text the file
        line integer from 1
        end_line integer where the expression ends
        col integer from 0, in bytes of UTF-8
        end_col integer likewise
        func text the function
        text text the source line
        """,
        _sites, ["id"],
    ),
)  # fmt: skip
