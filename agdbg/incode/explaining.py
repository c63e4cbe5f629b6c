"""``agdbg.explain``: what an exception was about, from the trace, or from what the exception itself carries."""

import sys
from os.path import dirname, join
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agdbg.diagnose.finding import Evidence, Finding
from agdbg.incode import readers
from agdbg.incode.findings import Findings
from agdbg.incode.live import LiveError, Sites
from agdbg.incode.live_findings import surest, twice, written
from agdbg.record.lookup import Site

if TYPE_CHECKING:
    from agdbg.record import Facts
    from agdbg.record.writer import Recorder


def explain(error: BaseException) -> Findings:
    """The finding about an exception, if there is one.

    With a recording on, the trace tells. Without one there is only what the exception carries: the node, and who freed or wrote
    what it had saved.

    Raises:
        TypeError: it is no exception.
    """
    if not isinstance(error, BaseException):
        raise TypeError(f"expected an exception, not {type(error).__name__}; agdbg explain TRACE is for traces")
    for reader in readers.loaded():
        for each in _chain(error):
            carried = reader.error(each)
            if carried is None:
                continue
            recorder = reader.recorder()
            told = _from_trace(recorder, each) if recorder is not None else None
            seen = _from_error(carried, each)
            found = surest(told, seen) if _is_observed(carried) else told or seen
            if found is not None:
                return Findings([found])
    return Findings([], f"agdbg knows nothing about this {type(error).__name__}: it is no error of an autograd engine")


def _chain(error: BaseException) -> list[BaseException]:
    """The exception, and those that it was raised from or while."""
    found: list[BaseException] = []
    todo: list[BaseException | None] = [error]
    while todo:
        each = todo.pop(0)
        if each is not None and not any(each is other for other in found):
            found.append(each)
            todo += [each.__cause__, each.__context__]
            todo += each.exceptions if isinstance(each, BaseExceptionGroup) else []
    return found


def _from_trace(recorder: "Recorder", error: BaseException) -> Finding | None:
    from agdbg.diagnose import finding_of
    from agdbg.record import Facts, Trace

    recorder.flush()
    facts = Facts(Trace.open(recorder.path))
    recorded = _recorded(facts, error)
    return None if recorded is None else finding_of(facts, recorded)


def _recorded(facts: "Facts", error: BaseException) -> Any:
    """The last error of the trace with this text."""
    text = f"{type(error).__name__}: {error}"
    return next((each for each in reversed(facts.errors) if each.text == text), None)


def _is_observed(carried: LiveError) -> bool:
    """Whether the engine still holds who freed or wrote what: else the error has its message, and a trace tells more."""
    return carried.node is not None and carried.trouble is not None and carried.trouble.kind == carried.kind


def _from_error(carried: LiveError, error: BaseException) -> Finding | None:
    """What can be said without a trace. What the engine still holds of it is observed."""
    node, trouble = carried.node, carried.trouble
    if carried.kind == "other":
        return None
    if node is not None and trouble is not None and trouble.kind == carried.kind:
        return twice([node], trouble.call, trouble.site) if carried.kind == "backward-twice" else written(node, trouble)
    first, *more = str(error).splitlines() or [carried.kind]
    fix = next((line.strip().removeprefix("fix: ") for line in more if line.strip().startswith("fix: ")), "")
    raised = _raised(error.__traceback__)
    evidence = [] if node is None else [Evidence("created", node.site, node.op, node.id)]
    evidence += [] if raised is None else [Evidence("raised", raised)]
    return Finding(carried.kind, first, tuple(evidence), () if node is None else (node.id,), "certain", fix)


def _raised(trace: TracebackType | None) -> Site | None:
    """The innermost line of the program that an error came through: not of an engine, and not of agdbg."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in readers.READERS]
    own = tuple(join(dirname(each), "") for each in (*files, dirname(__file__)) if each)
    found: TracebackType | None = None
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(own):
            found = trace
        trace = trace.tb_next
    return None if found is None else Sites()(found.tb_frame.f_code, found.tb_lasti)
