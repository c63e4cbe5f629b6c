"""The tables of what happened to tensors, and of what is rare: names, writes, views, cuts, errors, hooks."""

from collections.abc import Iterator

from agdbg.events import Kind
from agdbg.record import Facts
from agdbg.tables.model import Row, or_none, rows_of, table
from agdbg.tables.words import HIGH, Told, words


def _tensors(facts: Facts) -> Iterator[Row]:
    told = Told(facts, Kind.TENSOR)
    needs = [{1: True, 2: False}.get(number) for number in told.a.tolist()]
    return rows_of(
        told[1],
        or_none(told[2]),
        or_none(told.node(3)),
        told.output(3),
        told.text(4, 0),
        told.text(4, 1),
        needs,
        told.rows,
    )


def _writes(facts: Facts) -> Iterator[Row]:
    told = Told(facts, Kind.BUMP)
    return rows_of(
        told[1],
        told[2],
        told[3],
        told.op(4),
        or_none(told.site(4)),
        or_none(told[5]),
        or_none(told[6]),
        told.thread,
        told.rows,
    )


def _views(facts: Facts) -> Iterator[Row]:
    told = Told(facts, Kind.VIEW)
    return rows_of(
        told[1], or_none(told.node(2)), told.output(2), or_none(told.node(3)), told.output(3), told.op(4),
        or_none(told.site(4)), told.rows,
    )  # fmt: skip


def _rebases(facts: Facts) -> Iterator[Row]:
    told = Told(facts, Kind.REBASED)
    return rows_of(told[1], or_none(told.node(2)), or_none(told.node(3)), told.op(4), or_none(told.site(4)), told.rows)


def _cuts(facts: Facts) -> Iterator[Row]:
    for cut in facts.cuts:
        words = facts.words(cut.row)
        site = words[2] & 0xFFFFFFFF
        yield cut.op.name, site or None, cut.storage or None, cut.producer or None, cut.output_nr, cut.count, cut.row


def _errors(facts: Facts) -> Iterator[Row]:
    for row in facts.rows(Kind.ERROR).tolist():
        each = facts.error_at(row)
        site = facts.words(row)[3] & 0xFFFFFFFF
        yield (
            each.kind, each.node or None, each.pass_id or None, site or None, each.storage or None, each.expected, each.current,
            each.slot, each.text, each.predicted, row,
        )  # fmt: skip


def _hooks(facts: Facts) -> Iterator[Row]:
    told = Told(facts, Kind.HOOK)
    what = words(told.a, ("registered", "fired", "removed"))
    return rows_of(
        what, told.op(3), or_none(told[1]), or_none(told[2]), or_none(told[4]), or_none(told.site(3)),
        or_none(told[6] >> HIGH << told.b), told.rows,
    )  # fmt: skip


TABLES = (
    table(
        "tensors", "a name of a tensor; one with two names is there twice",
        """
        id integer number in the trace
        storage integer its memory
        producer integer the node that its gradient enters
        output integer number of the node's output
        name text its name
        kind text parameter, buffer or variable
        requires_grad boolean empty when it is not known
        row integer its record
        """,
        _tensors, ["storage", "name"],
    ),
    table(
        "writes", "a write that raised the version of a memory",
        """
        storage integer the memory
        old_version integer before
        new_version integer after
        op text what wrote
        site integer the line, in sites
        node integer the node that the write built
        tensor integer the tensor that was written through
        thread integer the thread
        row integer its record
        """,
        _writes, ["storage"],
    ),
    table(
        "views", "a view that was made",
        """
        storage integer the memory
        base integer the node that made the base
        base_output integer number of its output
        view integer the node that made the view
        view_output integer number of its output
        op text what made it
        site integer the line, in sites
        row integer its record
        """,
        _views, ["storage"],
    ),
    table(
        "rebases", "a write that changed the history of a tensor",
        """
        storage integer the memory
        before integer the node that had made it
        now integer the node that has made it since
        op text what wrote
        site integer the line, in sites
        row integer its record
        """,
        _rebases, ["storage"],
    ),
    table(
        "cuts", "a place where gradient paths ended",
        """
        op text detach, no_grad, data, integer, numpy, item or rewrap
        site integer the line, in sites
        storage integer the memory of the tensor that had a path the last time
        producer integer the node that had made it
        output integer number of the node's output
        count integer how often
        row integer the last record of it
        """,
        _cuts, ["site"],
    ),
    table(
        "errors", "an error that was raised, or foreseen",
        """
        kind text backward-twice, inplace-modified and so on
        node integer the node
        pass integer the pass
        site integer the line that raised, in sites
        storage integer the memory that it is about
        expected integer the version that was saved
        current integer the version that was found
        slot text name of the slot
        text text the message
        predicted boolean it was foreseen at a stop, not raised
        row integer its record
        """,
        _errors, ["kind"],
    ),
    table(
        "hooks", "a hook that was registered, fired or removed",
        """
        action text registered, fired or removed
        kind text what kind of hook
        node integer the node
        pass integer the pass
        storage integer the memory of the tensor
        site integer the line, in sites
        ns integer how long it ran when it fired; empty when it is not known
        row integer its record
        """,
        _hooks, ["node"],
    ),
)  # fmt: skip
