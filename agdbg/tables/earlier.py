"""Whether a file is an earlier export, which may be replaced: by its content, not its name."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

from agdbg.tables.write import FORMAT

_SQLITE, _PARQUET = b"SQLite format 3\0", b"PAR1"
_JSON = f'{{\n"format": "{FORMAT}"'.encode()


def is_earlier(path: Path, kind: str) -> bool:
    """True for an export of this kind (``sqlite``, ``json``, ``parquet``, ``csv``), and for an empty file.

    What cannot be read is none.
    """
    try:
        if not path.is_file():
            return False
        with open(path, "rb") as file:
            begin = file.read(1 << 12)
        return not begin or _LOOKS[kind](path, begin)
    except (OSError, sqlite3.Error):
        return False


def _is_database(path: Path, begin: bytes) -> bool:
    """One that has no tables but ours."""
    if not begin.startswith(_SQLITE):
        return False
    from agdbg.tables import TABLES

    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        database.close()
    return names <= {table.name for table in TABLES}


def _is_table(path: Path, begin: bytes) -> bool:
    """A head line that begins as that of one of ours; of another version it may end differently."""
    from agdbg.tables import TABLES

    first = begin.partition(b"\n")[0].partition(b",")[0]
    return any(first == table.columns[0].name.encode() for table in TABLES)


def _is_parquet(path: Path, begin: bytes) -> bool:
    """One with the columns of a table of ours, or their beginning."""
    from agdbg.tables import TABLES
    from agdbg.tables.write import pyarrow_of

    if not begin.startswith(_PARQUET):
        return False
    pyarrow, parquet = pyarrow_of()
    try:
        names = parquet.read_schema(path).names
    except pyarrow.ArrowInvalid:
        return False
    return any(names[:1] == [table.columns[0].name] for table in TABLES)


_LOOKS: dict[str, Callable[[Path, bytes], bool]] = {
    "sqlite": _is_database,
    "json": lambda path, begin: begin.startswith(_JSON),
    "parquet": _is_parquet,
    "csv": _is_table,
}
