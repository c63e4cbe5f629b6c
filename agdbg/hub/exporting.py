"""Writing a recording to a file: its graph as a drawing, or all it tells as the tables of a database."""

from pathlib import Path
from typing import Any

from agdbg.errors import InputError
from agdbg.hub.call import Body, Refused
from agdbg.progress import report

#: Suffixes of files that become databases.
DATABASES = (".sqlite", ".db")


def written(history: Any, path: Path, pass_id: int | None, is_full: bool) -> Body:
    """Write what the suffix of a path says; the body of ``agdbg/export``.

    Raises:
        Refused: it cannot be done. What was there is as it was, also when the work is cancelled.
    """
    try:
        if path.suffix.lower() in DATABASES:
            return {"path": str(path), "nodes": _tables(history, path)}
        return {"path": str(path), "nodes": _drawing(history, path, pass_id, is_full)}
    except InputError as error:
        raise Refused(f"agdbg/export: {str(error).removeprefix('-o ')}") from None


def _drawing(history: Any, path: Path, pass_id: int | None, is_full: bool) -> int:
    from agdbg.commands.destination import Destination
    from agdbg.graph.collapse import collapse
    from agdbg.graph.from_trace import graph_of
    from agdbg.render import UnknownSuffix, renderer_for

    destination = Destination(str(path))
    try:
        renderer = renderer_for(path)
        destination.check()
        report("reading the graph")
        drawn = collapse(graph_of(history.facts(), pass_id), full=is_full)
    except UnknownSuffix as error:
        raise Refused(f"agdbg/export: {error}, and {', '.join(DATABASES)} for tables") from None
    except ValueError as error:
        raise Refused(f"agdbg/export: pass {pass_id}: {error}") from None
    if not drawn.nodes:
        raise Refused(f"agdbg/export: {path}: no graph was recorded, so there is nothing to draw")
    report("drawing")
    text = renderer.render(drawn)
    report("writing the file")
    destination.write(text)
    return drawn.size


def _tables(history: Any, path: Path) -> int:
    import sqlite3

    from agdbg.tables import TABLES, place
    from agdbg.tables.write import to_sqlite

    if path.exists():
        raise Refused(f"agdbg/export: {path} exists, and a database is not replaced: remove it, or name another file")
    place.check(path, "-o", force=False, is_folder=False)
    facts = history.facts()
    try:
        with place.new_file(path) as temporary:
            to_sqlite(facts, TABLES, temporary)
    except (OSError, sqlite3.Error) as error:
        raise Refused(f"agdbg/export: {path}: cannot write it ({error})") from None
    return len(facts.node_ids)
