"""The tables of what is recorded on request: shapes, norms, checksums; and of optimizers."""

from collections.abc import Iterator

from agdbg.events import Kind
from agdbg.record import Facts
from agdbg.tables.model import Row, or_none, rows_of, table
from agdbg.tables.words import HIGH, LOW, Told, words


def _shapes(facts: Facts) -> Iterator[Row]:
    for row in facts.rows(Kind.SHAPE).tolist():
        each = facts.shape_at(row)
        yield (
            each.node or None, each.output, each.dtype, " ".join(map(str, each.dims)), each.device, each.nbytes,
            each.storage or None, each.storage_nbytes, row,
        )  # fmt: skip


def _summaries(facts: Facts) -> Iterator[Row]:
    told = Told(facts, Kind.SUMMARY)
    first = [number - 1 if number else None for number in told[6].tolist()]
    return rows_of(
        told[1], words(told.a, ("output", "gradient in", "gradient out")), told.b, or_none(told[2]), told.floats(3),
        told.floats(4), told[5] & LOW, told[5] >> HIGH, first, told[7], told.rows,
    )  # fmt: skip


def _probes(facts: Facts) -> Iterator[Row]:
    for each in facts.probes:
        yield each.storage, each.version, f"{each.checksum:016x}", each.node or None, each.slot, each.when, each.row


def _optimizers(facts: Facts) -> Iterator[Row]:
    for each in facts.optimized:
        site = facts.words(each.row)[2] & 0xFFFFFFFF
        yield each.number, each.op.name, each.storage, each.when, site or None, each.row


TABLES = (
    table(
        "shapes", "what an output of a node is; with --also shapes",
        """
        node integer the node; empty for a memory that no node made
        output integer number of the output
        dtype text float32 and so on
        dims text sizes, with blanks between
        device text cpu and so on
        bytes integer of this output
        storage integer its memory
        storage_bytes integer of the whole memory
        row integer its record
        """,
        _shapes, ["node", "storage"],
    ),
    table(
        "summaries", "what the numbers of an output or gradient were; with --also values",
        """
        node integer the node
        what text output, gradient in or gradient out
        number integer number of the output, or of the input for gradient out
        pass integer the pass; empty in forward
        norm real L2 norm of the finite numbers
        largest real the largest of them, without sign
        nans integer how many are NaN
        infs integer how many are infinite
        first_bad integer flat index of the first NaN or infinity
        elements integer how many numbers there are
        row integer its record
        """,
        _summaries, ["node", "pass"],
    ),
    table(
        "probes", "a checksum of a saved tensor; with --also checksums",
        """
        storage integer the memory
        version integer its version
        checksum text hexadecimal
        node integer the node that saved it
        slot text name of the slot
        moment text saved, or checked before use
        row integer its record
        """,
        _probes, ["storage"],
    ),
    table(
        "optimizers", "a parameter that an optimizer holds",
        """
        optimizer integer number of the optimizer
        class text its class
        storage integer the memory of the parameter
        moment text built, or stepped for the first time
        site integer the line, in sites
        row integer its record
        """,
        _optimizers, ["storage"],
    ),
)  # fmt: skip
