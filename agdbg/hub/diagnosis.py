"""The diagnosis of an error as the protocol has it; for the thread that takes its time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from agdbg.events import Kind
from agdbg.hub.call import Refused
from agdbg.last_output import is_library
from agdbg.record.lookup import Site

#: Errors that are none: what was seen of values.
_OF_VALUES = ("nan", "inf", "none-grad")


def exception_body(history: Any, stop: dict[str, Any], cwd: str) -> dict[str, Any]:
    """The body of ``exceptionInfo``.

    Args:
        history: the trace.
        stop: as the agent tells it; without an error, the last one of the trace is meant.
        cwd: files below it are named from there.

    Raises:
        Refused: there is no error.
    """
    from agdbg.explain.stop_finding import finding_at, of_values

    error: dict[str, Any] | None = stop.get("error")
    recorded = _recorded(history, error)
    if recorded is None and error is None:
        raise Refused("no error was recorded; agdbg/findings tells what there is besides")
    finding = (
        finding_at(history.live, lambda: of_values(history.facts()), stop)
        if recorded is None
        else history.finding_of(recorded.row)
    )
    kind = str((error or {}).get("kind") or (recorded.kind if recorded is not None else ""))
    text = str((error or {}).get("text") or (recorded.text if recorded is not None else ""))
    return {
        "exceptionId": kind or "error",
        "description": text if finding is None else finding.cause,
        "breakMode": "always",
        "details": {
            "message": _raised(text, stop, cwd) if finding is None else _rendered(history, recorded, finding, cwd),
            "typeName": kind or "error",
            "stackTrace": text,
        },
    }


def _raised(text: str, stop: dict[str, Any], cwd: str) -> str:
    """An error without a diagnosis, and where the program stands at it."""
    from agdbg.explain.places import place_of

    place = place_of(_place_of(stop), _base(cwd))
    return f"{text}\n\nat {place}" if place else text


def _recorded(history: Any, error: dict[str, Any] | None) -> Any:
    """The record of an error: the last that fits."""
    if error is None:
        return history.last_error()
    for each in reversed(history.errors()):
        if each.kind == error.get("kind") and each.node == (error.get("node") or each.node):
            return each
    return None


def _rendered(history: Any, recorded: Any, finding: Any, cwd: str) -> str:
    """A finding as ``agdbg explain`` prints it, without a number."""
    from agdbg.explain.explanation import Explained
    from agdbg.explain.fates import Fate
    from agdbg.explain.text import finding_as_text
    from agdbg.record.ending import ending_of

    fate: Fate = "silent" if recorded is None else "predicted" if recorded.predicted else None
    return finding_as_text(Explained(finding, fate), ending_of(history.facts().trace), base=_base(cwd))


def findings_body(
    history: Any, cwd: str, stop: dict[str, Any], *, lints: bool = False, notes: bool = False
) -> dict[str, Any]:
    """The body of ``agdbg/findings``; what is found about the error of a stop comes first."""
    from agdbg.explain.explanation import Explained, as_json, undiagnosed_as_json
    from agdbg.explain.remarks import standing_at
    from agdbg.explain.stop_finding import finding_at, of_values, sameness
    from agdbg.explain.text import as_text
    from agdbg.record.children import children_of

    explanation = _with_earlier_ones_caught(history, history.explanation(lints=lints, notes=notes), stop)
    here = finding_at(history.live, lambda: of_values(history.facts()), stop)
    if here is not None:
        rest = [each for each in explanation.findings if sameness(each.finding) != sameness(here)]
        explanation = replace(explanation, findings=[Explained(here, "silent"), *rest])
    elif (untold := _untold(history, stop)) is not None:
        explanation = replace(explanation, undiagnosed=[untold, *explanation.undiagnosed], stands_at=untold)
    elif (error := _told(history, stop)) is not None:
        explanation = _first_about(history, explanation, error, _place_of(stop))
    others = str(children_of(explanation.path))
    rendered = "\n\n".join(filter(None, (as_text(explanation, base=_base(cwd)), others)))
    unseen = "; ".join(filter(None, (_unseen(history, explanation.findings), others)))
    stands_at = explanation.stands_at and undiagnosed_as_json(explanation.stands_at)
    standing = "".join(standing_at(explanation, _base(cwd)))
    told = {"rendered": rendered, "unseen": unseen, "stands_at": stands_at, "standing": standing}
    return {**as_json(explanation), **told}


def _untold(history: Any, stop: dict[str, Any]) -> Any:
    """The error of a stop, where it is none that the trace has: one of an op that built no node."""
    from agdbg.explain.fates import Undiagnosed
    from agdbg.record.facts import ErrorFact

    error = stop.get("error") or {}
    text, kind = str(error.get("text") or ""), str(error.get("kind") or "")
    if not text or kind in _OF_VALUES or _recorded(history, error) is not None or _is_recorded(history, text):
        return None
    return Undiagnosed(ErrorFact(kind, 0, 0, _place_of(stop), 0, 0, 0, text, "", -1), 1, None)


def _place_of(stop: dict[str, Any]) -> Site:
    """The innermost line of the program's own on the way to where a thread stands; without one, the innermost."""
    frames = stop.get("frames") or []
    own = (each for each in frames if not is_library(str(each.get("file") or "<")))
    frame: dict[str, Any] = next(own, next(iter(frames), {}))
    return Site(str(frame.get("file") or ""), int(frame.get("line") or 0), str(frame.get("name") or ""))


def _told(history: Any, stop: dict[str, Any]) -> Any:
    """The record of the error of a stop; None where it stands at none."""
    error = stop.get("error")
    if error is None:
        return None
    line = _first_line(str(error.get("text") or ""))
    of_text = (each for each in reversed(history.errors()) if (told := _first_line(each.text)) and line.endswith(told))
    return _recorded(history, error) or next(of_text, None)


def _with_earlier_ones_caught(history: Any, explanation: Any, stop: dict[str, Any]) -> Any:
    """Of a program that stands at an error those before it, of the same thread, were caught: it came this far."""
    from agdbg.diagnose.kinds import error_kind

    error, raised = stop.get("error"), history.errors()
    threads = {history.live.words(each.row)[0] >> 32 for each in raised}
    if error is None or threads - {stop.get("thread")}:
        return explanation
    line = _first_line(str(error.get("text") or ""))
    # an error that passes through one pass after another is recorded in each
    same = {each.kind for each in raised if (told := _first_line(each.text)) and line.endswith(told)}
    findings = [
        replace(each, fate="caught") if each.fate is None and error_kind(each.finding.kind) not in same else each
        for each in explanation.findings
    ]
    undiagnosed = [
        replace(each, fate="caught") if each.fate is None and not line.endswith(_first_line(each.error.text)) else each
        for each in explanation.undiagnosed
    ]
    return replace(explanation, findings=findings, undiagnosed=undiagnosed)


def _first_about(history: Any, explanation: Any, error: Any, place: Site) -> Any:
    """The explanation with what it says of an error in front: the program stands at that, and caught those before it.

    ``place`` is where it stands: the line that raised it, where the record may have that of the pass.
    """
    from agdbg.explain.explanation import Explained
    from agdbg.explain.fates import Fate, Undiagnosed

    fate: Fate = "predicted" if error.predicted else None
    finding = history.finding_of(error.row)
    if finding is not None:
        lines = _lines_of(finding)
        mine = [each for each in explanation.findings if _lines_of(each.finding) == lines]
        rest = [each for each in explanation.findings if _lines_of(each.finding) != lines]
        return replace(explanation, findings=[*(mine or [Explained(finding, fate)]), *rest])
    same = [each for each in explanation.undiagnosed if (each.error.kind, each.error.text) == (error.kind, error.text)]
    rest = [each for each in explanation.undiagnosed if each not in same]
    placed = replace(error, site=place) if place.file else error
    own = Undiagnosed(placed, same[0].count if same else 1, fate)
    return replace(explanation, undiagnosed=[own, *same[1:], *rest], stands_at=own)


def _lines_of(finding: Any) -> object:
    """What is equal of findings about one mistake, of which a loop makes an error each time."""
    return finding.kind, [(each.role, each.site) for each in finding.evidence]


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()


def _is_recorded(history: Any, text: str) -> bool:
    """Whether an error of this text is in the trace, be it of another kind: a filter's name may say more than the record."""
    told = {_first_line(each.text) for each in history.errors()}
    return any(each and _first_line(text).endswith(each) for each in told)


def _unseen(history: Any, findings: list[Any]) -> str:
    """What no finding speaks of: NaN and infinities that nobody could see, or that did no harm."""
    if unseen := unrecorded(history):
        return unseen
    if history.live.bad_summaries and not any(each.finding.kind in ("nan", "inf") for each in findings):
        return "a NaN or an Inf was recorded and harmed no gradient of a leaf (! goes to the first)"
    return ""


def unrecorded(history: Any) -> str:
    """That nobody has looked for NaN and infinities, and how to; empty where values were recorded, or a stop has told of one."""
    if len(history.growing.rows(Kind.SUMMARY)) or history.stopped().bad:
        return ""
    return "NaN and Inf were not looked for, as values were not recorded: run with --also values, or stop at them (catch nan)"


def _base(cwd: str) -> Path | None:
    return Path(cwd) if cwd else None
