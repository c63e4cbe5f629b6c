"""A trace as plain tables, for other tools: SQLite, JSON, Parquet, CSV. ``docs/trace-export.md`` is their schema."""

from agdbg.tables import events, graph, passes, strings, values
from agdbg.tables.model import Table

#: All tables, in the order in which they are written.
TABLES: tuple[Table, ...] = (
    *strings.TABLES,
    *graph.TABLES,
    *passes.TABLES,
    *events.TABLES,
    *values.TABLES,
)

__all__ = ["TABLES", "Table"]
