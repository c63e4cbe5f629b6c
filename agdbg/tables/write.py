"""Tables in the formats of other tools. Text is written as it is; what no encoding can carry, a lone surrogate, by its number."""

import csv
import json
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from agdbg.errors import InputError
from agdbg.progress import report
from agdbg.record import Facts
from agdbg.tables.model import CHUNK, Row, Table

FORMAT = "agdbg-tables"
VERSION = 1
_SQL = {"integer": "INTEGER", "real": "REAL", "text": "TEXT", "boolean": "INTEGER"}


def to_sqlite(facts: Facts, tables: Sequence[Table], path: Path) -> None:
    """A database, with an index for each column by which rows are looked up."""
    database = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):  # a file that is not whole is thrown away
            database.execute(f"PRAGMA {pragma}")
        database.execute("BEGIN")
        for done, table in enumerate(tables):
            report(f"table {table.name}", done, len(tables))
            columns = ", ".join(f'"{column.name}" {_SQL[column.type]}' for column in table.columns)
            database.execute(f'CREATE TABLE "{table.name}" ({columns})')
            marks = ", ".join("?" * len(table.columns))
            database.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', _rows(facts, table))
            for key in table.keys:
                database.execute(f'CREATE INDEX "{table.name}_{key}" ON "{table.name}" ("{key}")')
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute("COMMIT")
    finally:
        database.close()


def to_json(facts: Facts, tables: Sequence[Table], path: Path) -> None:
    """One object, a row a line, all in ASCII; a number that is not finite, which JSON lacks, is null."""
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write(f'{{\n"format": {json.dumps(FORMAT)}, "version": {VERSION},\n"tables": {{')
        for at, table in enumerate(tables):
            columns = json.dumps([column.name for column in table.columns])
            file.write(f'{"," if at else ""}\n{json.dumps(table.name)}: {{"columns": {columns}, "rows": [')
            for number, row in enumerate(table.rows(facts)):
                file.write(f"{',' if number else ''}\n{json.dumps([_json(cell) for cell in row])}")
            file.write("\n]}")
        file.write("\n}}\n")


def to_csv(facts: Facts, tables: Sequence[Table], folder: Path) -> None:
    """A file a table, with a head line; empty cells stand for what is not known."""
    for table in tables:
        with open(folder / f"{table.name}.csv", "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([column.name for column in table.columns])
            writer.writerows(table.rows(facts))


def to_parquet(facts: Facts, tables: Sequence[Table], folder: Path) -> None:
    """A file a table."""
    for table in tables:
        to_parquet_file(facts, table, folder / f"{table.name}.parquet")


def to_parquet_file(facts: Facts, table: Table, path: Path) -> None:
    """One table as a file.

    Raises:
        InputError: pyarrow is not installed.
    """
    arrow, parquet = pyarrow_of()
    types = {"integer": arrow.int64(), "real": arrow.float64(), "text": arrow.string(), "boolean": arrow.bool_()}
    schema = arrow.schema([(column.name, types[column.type]) for column in table.columns])
    with parquet.ParquetWriter(path, schema) as writer:
        for chunk in _chunks(_rows(facts, table)):
            columns = [list(cells) for cells in zip(*chunk, strict=True)]
            arrays = [arrow.array(cells, type=field.type) for cells, field in zip(columns, schema, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def pyarrow_of() -> tuple[Any, Any]:
    """pyarrow and its part for Parquet.

    Raises:
        InputError: it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(f"Parquet needs pyarrow ({error}): pip install 'agdbg[parquet]'") from None
    return pyarrow, pyarrow.parquet


def _json(cell: Any) -> Any:
    return None if isinstance(cell, float) and not isfinite(cell) else cell


def _chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _rows(facts: Facts, table: Table) -> Iterator[Row]:
    """The rows with text that UTF-8 can carry."""
    texts = [at for at, column in enumerate(table.columns) if column.type == "text"]
    for row in table.rows(facts):
        yield row if all(_is_plain(row[at]) for at in texts) else tuple(map(_plain, row))


def _is_plain(cell: Any) -> bool:
    return not isinstance(cell, str) or cell.isascii() or _plain(cell) == cell


def _plain(cell: Any) -> Any:
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell
