"""``agdbg trace query``: named questions to a trace."""

import csv
import io
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json, print_text
from agdbg.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction
    from collections.abc import Sequence

    from agdbg.queries.model import Answer

#: Rows that are shown, and columns that a cell may take.
SHOWN, WIDTH = 20, 60


def configure(actions: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the action to the parser."""
    parser = actions.add_parser(
        "query",
        help="ask a trace one of the questions that --list names",
        description="Answer a named question about a trace.",
        usage="agdbg trace query (NAME TRACE [--storage S] [--limit N] [--json | --csv] | --list)",
        **common,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="which question")
    parser.add_argument("trace", nargs="?", metavar="TRACE", help="the directory of a trace")
    parser.add_argument("--list", action="store_true", help="print the names of all questions")
    parser.add_argument("--storage", metavar="S", help="writes: a storage by its number, or a tensor on it by its name")
    parser.add_argument("--limit", type=_limit, metavar="N", help=f"rows (default: {SHOWN} as text, else all)")
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="print JSON")
    formats.add_argument("--csv", action="store_true", help="print CSV")
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def _limit(word: str) -> int:
    if not word.isdecimal() or not int(word):
        raise ArgumentTypeError(f"{word!r} is no number of rows")
    return int(word)


def execute(options: Namespace) -> int:
    """Ask and print."""
    from agdbg.commands.opening import opened
    from agdbg.queries import QUERIES
    from agdbg.queries.model import Answer, storage_of
    from agdbg.record import Facts

    if options.list:
        if options.name is not None:
            raise InputError("--list takes neither a NAME nor a TRACE")
        _print(options, "queries", Answer(("name", "asks"), [(each.name, each.says) for each in QUERIES.values()]))
        return status.OK
    if options.name not in QUERIES:
        if options.trace in QUERIES:
            raise InputError(f"the query comes first: agdbg trace query {options.trace} {options.name}")
        known = f"there are {', '.join(QUERIES)}"
        raise InputError(f"there is no query {options.name!r}; {known}" if options.name else f"name a query: {known}")
    if options.trace is None:
        raise InputError(f"query {options.name}: which trace? agdbg trace query {options.name} TRACE")
    query = QUERIES[options.name]
    if options.storage is not None and not query.about_storage:
        raise InputError(f"query {options.name} is not about one storage; drop --storage")
    facts = Facts(opened(options.trace))
    answer = query.ask(facts, storage_of(facts, options.storage) if options.storage is not None else 0)
    _print(options, query.name, answer)
    return status.OK


def _print(options: Namespace, name: str, answer: "Answer") -> None:
    total = len(answer.rows)
    rows = answer.rows if options.limit is None else answer.rows[: options.limit]
    if options.json:
        found = [dict(zip(answer.columns, row, strict=True)) for row in rows]
        print_json({"format": "agdbg-query", "version": 1, "query": name, "total": total, "rows": found})
    elif options.csv:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([answer.columns, *rows])
        print_text(out.getvalue().removesuffix("\n"))
    else:
        shown = rows if options.limit is not None or options.list else rows[:SHOWN]
        more = [f"... and {total - len(shown):,} more"] if total > len(shown) else []
        widest = None if options.list else WIDTH
        print_text("\n".join([*_aligned(answer.columns, shown, widest), *more]))


def _aligned(columns: tuple[str, ...], rows: "Sequence[tuple[Any, ...]]", widest: int | None) -> list[str]:
    """The table as lines; numbers stand at the right of their column."""
    from agdbg.render.clean import columns as width_of
    from agdbg.render.clean import shorten

    cells = [list(columns), *([_cell(cell) for cell in row] for row in rows)]
    cells = [[shorten(cell, widest or len(cell)) for cell in row] for row in cells]
    widths = [max(width_of(row[at]) for row in cells) for at in range(len(columns))]
    right = [bool(rows) and all(isinstance(row[at], int | float | None) for row in rows) for at in range(len(columns))]

    def padded(cell: str, at: int) -> str:
        space = " " * (widths[at] - width_of(cell))
        return space + cell if right[at] else cell + space

    return ["  ".join(padded(cell, at) for at, cell in enumerate(row)).rstrip() for row in cells]


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.6g}" if isinstance(cell, float) else str(cell)
