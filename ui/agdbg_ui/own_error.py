"""Which of the errors in a recording is meant: that which ended the program, or that at which it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agdbg_ui.view import Stop

Body = Mapping[str, Any]
#: What is said of an error of which there is no finding, in place of its kind and its certainty.
_UNDIAGNOSED = {"kind": "no diagnosis", "certainty": "the program stands at it"}


def finding_of_end(known: Body) -> Body | None:
    """Of the body of ``agdbg/findings`` the finding that tells how the program ended, or else what matters most.

    None: there is none, or it ended for another error, which was none of autograd or has no diagnosis.
    """
    findings = known.get("findings") or []
    told = (each for each in findings if each.get("ended") == "program")
    return next(told, None if error_of_end(known) else next(iter(findings), None))


def error_of_end(known: Body) -> str:
    """The line of the error that ended the program where no finding tells of it, or ""."""
    ended = (each for each in known.get("undiagnosed") or () if each.get("ended") == "program")
    return str(known.get("uncaught") or next((_first_line(each["text"]) for each in ended), ""))


def at_stop(known: Body, stop: Stop | None) -> list[Body]:
    """The findings, and in front of them the error at which the program stands if it is none of them: its lines are doors too."""
    findings, error = list(known.get("findings") or ()), known.get("stands_at")
    if not error:
        return findings
    own = stop.own_line if stop is not None else None
    lines = [(str(error["file"]), int(error["line"]))] if error["file"] else []
    if own is not None and (own.file, own.line) not in lines:
        lines.append((own.file, own.line))
    evidence = [
        {"role": "raised" if not at else "led to it", "file": file, "line": line, "text": "", "note": ""}
        for at, (file, line) in enumerate(lines)
    ]
    headline = _first_line(error["text"]) or str(error["kind"])
    own_finding = {
        "cause": headline,
        **_UNDIAGNOSED,
        "fix": "",
        "nodes": [],
        "evidence": evidence,
    }
    return [own_finding, *findings]


def _first_line(text: object) -> str:
    return str(text).strip().partition("\n")[0]
