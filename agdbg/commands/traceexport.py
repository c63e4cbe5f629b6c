"""``agdbg trace export``: a trace as tables, for other tools."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands.guard import guarded
from agdbg.errors import InputError
from agdbg.tell import tell

if TYPE_CHECKING:
    from argparse import _SubParsersAction
    from collections.abc import Sequence

    from agdbg.record import Facts
    from agdbg.tables import Table

_FORMATS = ("sqlite", "json", "parquet", "csv")
DESCRIPTION = """\
Write what a trace tells as tables: nodes, edges, saves, passes, runs, writes and so on.
An earlier export is only replaced with --force, and nothing else is. docs/trace-export.md has the schema."""


def configure(actions: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the action to the parser."""
    parser = actions.add_parser(
        "export",
        help="write a trace as tables: SQLite, JSON, Parquet, CSV",
        description=DESCRIPTION,
        usage="agdbg trace export TRACE (--sqlite FILE | --json FILE | --parquet DIR | --csv DIR) [--table NAME] [--force]",
        **common,
    )
    parser.add_argument("trace", metavar="TRACE", help="the directory of a trace")
    formats = parser.add_mutually_exclusive_group(required=True)
    formats.add_argument("--sqlite", metavar="FILE", help="a database")
    formats.add_argument("--json", metavar="FILE", help="one JSON object")
    formats.add_argument("--parquet", metavar="DIR", help="a file a table; one table also FILE.parquet; needs pyarrow")
    formats.add_argument("--csv", metavar="DIR", help="a file a table")
    parser.add_argument(
        "--table", action="append", default=[], metavar="NAME", help="only this table (may be repeated)"
    )
    parser.add_argument("--force", action="store_true", help="replace an earlier export")
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def execute(options: Namespace) -> int:
    """Write the tables."""
    from agdbg.commands.opening import opened
    from agdbg.record import Facts
    from agdbg.tables import place

    tables = _chosen(options.table)
    kind = next(name for name in _FORMATS if getattr(options, name) is not None)
    path = Path(getattr(options, kind))
    is_file = kind in ("sqlite", "json") or (kind == "parquet" and path.suffix == ".parquet")
    if kind == "parquet":
        _check_parquet(path, tables, is_file)
    place.check(path, f"--{kind}", force=options.force, is_folder=not is_file)
    facts = Facts(opened(options.trace))
    try:
        _write(facts, tables, kind, path, is_file)
    except OSError as error:
        raise InputError(f"--{kind} {path}: cannot write it ({error.strerror or error})") from None
    tell(f"wrote {path}: {len(tables)} {'table' if len(tables) == 1 else 'tables'}")
    return status.OK


def _chosen(names: list[str]) -> "Sequence[Table]":
    """The tables that are wanted.

    Raises:
        InputError: there is none of a name.
    """
    from agdbg.tables import TABLES

    known = {table.name: table for table in TABLES}
    for name in names:
        if name not in known:
            raise InputError(f"--table {name}: there is no such table; there are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)] or TABLES


def _check_parquet(path: Path, tables: "Sequence[Table]", is_file: bool) -> None:
    """Refuse what cannot be before anything is done.

    Raises:
        InputError: pyarrow is missing, or several tables are to be in one file.
    """
    from agdbg.tables.write import pyarrow_of

    pyarrow_of()
    if is_file and len(tables) != 1:
        raise InputError(f"--parquet {path}: a Parquet file holds one table; name a directory, or one with --table")


def _write(facts: "Facts", tables: "Sequence[Table]", kind: str, path: Path, is_file: bool) -> None:
    import sqlite3

    from agdbg.tables import place, write

    if not is_file:
        into = write.to_csv if kind == "csv" else write.to_parquet
        place.write_folder(path, lambda folder: into(facts, tables, folder))
        return
    with place.new_file(path) as temporary:
        try:
            if kind == "sqlite":
                write.to_sqlite(facts, tables, temporary)
            elif kind == "json":
                write.to_json(facts, tables, temporary)
            else:
                write.to_parquet_file(facts, tables[0], temporary)
        except sqlite3.Error as error:
            raise InputError(f"--{kind} {path}: cannot write it ({error})") from None
