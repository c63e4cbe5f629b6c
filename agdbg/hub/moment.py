"""When somebody looks at the graph: while a thread stands in a pass, or at a place in the recording."""

from typing import Any, NamedTuple


class Moment(NamedTuple):
    """A place between two runs of nodes.

    Attributes:
        passes: those that have begun and not ended, the innermost first.
        before: the record with which the future begins; None: there is none.
        begun: nodes that have begun to run and not ended.
    """

    passes: tuple[int, ...]
    before: int | None
    begun: frozenset[int]


def moment_of(stop: dict[str, Any], row: int | None = None) -> Moment:
    """The moment at which a thread stands.

    Args:
        stop: where it stands, in the terms of an agent.
        row: of a place in the recording, the record of the run that comes next.
    """
    outer = stop.get("outer") or []
    begun = {int(each["node"]) for each in outer} | ({int(stop["node"])} if stop.get("where") == "inside" else set())
    own = 0 if stop.get("where") == "end" else stop.get("pass")  # a pass at whose end it stands runs nothing more
    passes = [each for each in (own, *(around["pass"] for around in outer)) if each]
    failed = stop.get("where") == "raise"  # that run is over, as is known at once
    return Moment(tuple(map(int, passes)), None if row is None else row + failed, frozenset(begun - {0}))
