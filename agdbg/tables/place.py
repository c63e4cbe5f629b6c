"""Where tables are written: whole or not at all, and never over something that is there, unless that is asked for."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agdbg.errors import InputError
from agdbg.tables.earlier import is_earlier


def check(path: Path, option: str, *, force: bool, is_folder: bool) -> None:
    """Find out whether it can be written, without touching it.

    Raises:
        InputError: it cannot, or there is something already.
    """
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"{option} {path}: there is no directory {parent}; make it, or name another")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{option} {path}: {parent} is not writable; name another directory")
    if path.is_dir() and not is_folder:
        raise InputError(f"{option} {path}: it is a directory; name a file in it")
    if path.exists() and not path.is_dir() and is_folder:
        raise InputError(f"{option} {path}: it is a file; name a directory")
    if (any(path.iterdir()) if path.is_dir() else path.exists()) and not force:
        raise InputError(f"{option} {path}: it is there already; --force replaces it, or name another")
    for file in _replaced(path, option.removeprefix("--"), is_folder):
        if not is_earlier(file, option.removeprefix("--")):
            raise InputError(
                f"{option} {path}: {file} is no earlier export, and only such are replaced; remove it, or name another"
            )


def _replaced(path: Path, kind: str, is_folder: bool) -> Iterator[Path]:
    """What is there and would be another file."""
    if not is_folder:
        yield from [path] if path.exists() else ()
    elif path.is_dir():
        from agdbg.tables import TABLES

        wanted = [path / f"{table.name}.{kind}" for table in TABLES]
        yield from (file for file in wanted if file.exists())


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary file beside ``path`` that takes its place when the block has ended well."""
    path = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask()
        temporary.chmod(mode)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_folder(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a new directory, which takes the place of ``path``, or its files those of the same names there."""
    path = path.resolve()
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    try:
        write(temporary)
        temporary.chmod(0o777 & ~_umask())
        if path.is_dir():
            for file in sorted(temporary.iterdir()):
                os.replace(file, path / file.name)
        else:
            os.replace(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
