"""Questions that are asked of a trace again and again, by name."""

from agdbg.queries import events, names, times
from agdbg.queries.model import Query

#: All queries by name.
QUERIES: dict[str, Query] = {each.name: each for each in (*times.QUERIES, *names.QUERIES, *events.QUERIES)}

__all__ = ["QUERIES", "Query"]
