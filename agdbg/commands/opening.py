"""Opening a trace for a command whose result is no place to say that the trace is damaged."""

from typing import TYPE_CHECKING

from agdbg.tell import tell

if TYPE_CHECKING:
    from agdbg.record import Trace

#: Problems that are told one by one.
_TOLD = 3


def opened(path: str) -> "Trace":
    """Open a trace, and say on standard error what of it is lost or damaged.

    Raises:
        TraceError: it cannot be opened.
    """
    from agdbg.record import Trace

    trace = Trace.open(path)
    tell_damage(trace)
    return trace


def tell_damage(trace: "Trace") -> None:
    """Say on standard error what of a trace is lost or damaged; nothing when all is well."""
    problems = trace.problems
    for problem in problems[:_TOLD]:
        tell(f"{trace.path} is damaged: {problem}")
    if len(problems) > _TOLD:
        tell(f"{len(problems) - _TOLD:,} more; agdbg trace info {trace.path} names them")
