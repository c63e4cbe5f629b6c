"""The tables of backward passes: the calls, their roots, and what ran in them."""

from collections.abc import Iterator

from agdbg.events import Kind
from agdbg.record import Facts
from agdbg.tables.model import Row, rows_of, table
from agdbg.tables.words import Told, words


def _passes(facts: Facts) -> Iterator[Row]:
    for each in facts.passes:
        started = facts.words(each.row)
        finished = None if each.outcome == "unfinished" else facts.words(each.end_row)[4]
        site = started[2] & 0xFFFFFFFF
        yield (
            each.id, each.call, site or None, each.retain_graph, each.create_graph, each.parent or None, each.outcome,
            each.planned or None, started[5], finished, each.thread, each.row,
        )  # fmt: skip


def _roots(facts: Facts) -> Iterator[Row]:
    for each in facts.passes:
        for number, (node, output) in enumerate(each.roots):
            yield each.id, number, node or None, output


def _runs(facts: Facts) -> Iterator[Row]:
    told = Told(facts, Kind.RAN, facts.run_rows)
    return rows_of(told[1], told[2], told[3], told[4], told[5], words(told[6], ("ok", "error", "skipped")), told.rows)


TABLES = (
    table(
        "passes", "a call of backward or grad",
        """
        id integer number in the trace
        call text backward or grad
        site integer the line of the call, in sites
        retain_graph boolean what was saved was kept
        create_graph boolean the gradients have a graph of their own
        parent integer the pass that it was called from
        outcome text ok, error or unfinished
        planned integer nodes that were to run
        started_ns integer since the trace began
        finished_ns integer since the trace began; time at stops is in it
        thread integer the thread
        row integer its record
        """,
        _passes, ["id"],
    ),
    table(
        "roots", "a tensor that a pass began with",
        """
        pass integer the pass
        number integer which root
        node integer the node that made it
        output integer number of its output
        """,
        _roots, ["pass"],
    ),
    table(
        "runs", "one run of one node in a pass; runs that were taken back are not there",
        """
        node integer the node
        pass integer the pass
        place integer place in the pass, from 0
        start_ns integer since the trace began
        duration_ns integer how long it took, time at stops left out
        outcome text ok, error or skipped
        row integer its record
        """,
        _runs, ["node", "pass"],
    ),
)  # fmt: skip
