"""The banner, and the page behind it: why the program stands still, or what went wrong in it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agdbg.last_output import end_of, error_line, own_frame, own_line
from agdbg.protocol.errors import RequestFailed
from agdbg_ui.own_error import error_of_end, finding_of_end
from agdbg_ui.spots import Spot
from agdbg_ui.view import Stop, View
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.wording import banner, detail_of, ended_banner, spaced, stop_kind

if TYPE_CHECKING:
    from agdbg_ui.session import Session

NOTHING = "Nothing is known to have gone wrong."
#: The exit status after an error that nobody caught.
_UNCAUGHT = 1
_CAUGHT = "the program caught this error and went on"
_NUMBER = re.compile(r"^\d+\. ")
_RULE = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * 40


class Explaining:
    """Says in the banner what the view says, and the diagnosis as soon as it is there.

    Args:
        session: whose view it is.
        widget: the banner.
        found: called with the cause for which the program stands.
        printed: gives the lines that the program has printed.

    Attributes:
        on_bad_end: called when the program has ended badly and only its output can tell why.
    """

    def __init__(
        self,
        session: Session,
        widget: Banner,
        found: Callable[[str], object] = lambda cause: None,
        printed: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._session, self._banner, self._found, self._printed = session, widget, found, printed
        self.on_bad_end: Callable[[], object] = lambda: None
        self._diagnosis = ""
        self._about: object = None
        self._opened_at = -1  # the stop at which a recording was opened
        self._told: dict[str, Any] = {}  # what was found in a recording, when that is known
        self._has_told_end = False

    def learn(self, known: dict[str, Any]) -> None:
        """This was found: a recording that was opened says of which error its program has ended, wherever it was opened at."""
        view = self._session.view
        if view.life == "trace":
            self._told = known
            if self._about is not None and self._is_as_opened(view):
                self._tell_other_end(view)

    def printed_anew(self) -> None:
        """The output of a recording is there: it has the line that led to the error."""
        self.learn(self._told)

    @property
    def tells_other_end(self) -> bool:
        """Whether it says for which error the program of a recording has ended, of which no finding tells."""
        return self._has_told_end and self._is_as_opened(self._session.view)

    def _is_as_opened(self, view: View) -> bool:
        """Whether nobody has walked through the recording yet."""
        return view.life == "trace" and (view.stop is None or view.stop.serial == self._opened_at)

    def _tell_other_end(self, view: View) -> bool:
        """Say for which error the program has ended, of which no finding tells; False where that is not so."""
        error = error_of_end(self._told)
        if not error or finding_of_end(self._told) is not None or not self._is_as_opened(view):
            return False
        self._diagnosis = ""
        self._show_end(
            view, error, "", [line for line in self._printed() if line.strip()], brings=not self._has_told_end
        )
        self._has_told_end = True
        return True

    def line_of_end(self) -> Spot | None:
        """The innermost line of the program's own of the traceback with which it has ended, or the recording that was opened."""
        view, lines = self._session.view, self._printed()
        if not self._is_end(view) or view.was_killed or not error_line(lines) or (frame := own_frame(lines)) is None:
            return None
        return Spot(*frame, role="the line that led to the error")

    def _is_end(self, view: View) -> bool:
        """Whether what is looked at is the bad end of the program."""
        return (view.ended_badly and view.stop is None) or bool(self._is_as_opened(view) and error_of_end(self._told))

    async def refresh(self) -> None:
        """Say what is so now."""
        view = self._session.view
        about = (
            view.life,
            _cause(view.stop),
            view.exit,
            view.signal,
            view.why,
            view.awaits_input,
            view.pausing,
            view.runs,
        )
        if about == self._about:
            return
        self._about, self._diagnosis = about, ""
        if view.life == "trace" and view.stop is not None and self._opened_at < 0:
            self._opened_at = view.stop.serial
        if self._tell_other_end(view):
            return
        said = banner(view)
        if said is None and (view.stop is not None or view.life != "trace"):
            self._banner.clear()
            return
        if view.stop is not None and view.stop.reason == "exception":
            await self._diagnose(view.stop)
        elif view.stop is None and view.life in ("ended", "trace"):
            await self._conclude(view)
        elif said is not None:
            self._banner.show(*said)

    async def page(self) -> tuple[str, str]:
        """Heading and text of the whole explanation."""
        view = self._session.view
        parts = [self._diagnosis]
        if view.stop is not None and not self._diagnosis:
            parts.append(_told(view.stop))
        if view.ended_badly and view.stop is None:
            parts.append(f"the program {view.ending()}")
        if view.life != "lost":
            parts.append(await self._known())
        parts.append("\n".join(text for _, text in view.troubles if text not in parts[-1]))
        if self._is_end(view) and (lines := end_of(self._printed())):
            parts.append("\n".join(["the end of its output:", *lines]))
        text = f"\n\n{_RULE}\n\n".join(spaced(part) for part in parts if part)
        return "Explanation", text or view.why or NOTHING

    async def _known(self) -> str:
        """What the recording tells beyond the diagnosis of this stop, or why it tells nothing."""
        try:
            known = await self._session.ask.findings()
        except RequestFailed as error:
            return "" if self._diagnosis else str(error)
        rendered = str(known.get("rendered") or "").strip()
        if not self._diagnosis:
            return rendered
        if known.get("stands_at"):  # the diagnosis is that error, and in full
            more = known.get("findings") or len(known.get("undiagnosed") or ()) > 1
            blocks = [each for each in rendered.split("\n\n") if each != known.get("standing")]
            return "\n\n".join(blocks) if more else ""
        return without(rendered, self._diagnosis.partition("\n")[0]) if len(known.get("findings") or ()) > 1 else ""

    async def _diagnose(self, stop: Stop) -> None:
        info = await _found(self._session.ask.exception(stop.thread))
        if self._session.view.stop == stop and self._tell_other_end(self._session.view):
            return
        if not info and (said := banner(self._session.view)) is not None:
            self._banner.show(*said)
            return
        headline = str(info.get("description") or "").strip().partition("\n")[0]
        self._diagnosis = str((info.get("details") or {}).get("message") or info.get("description") or "").strip()
        self._found(headline)
        self._banner.show(stop_kind(stop), headline or stop.description, detail_of(stop) if headline else "")

    async def _conclude(self, view: View) -> None:
        """The program is over: the first finding is what matters most."""
        said = banner(view)
        try:
            known, nothing = await self._session.ask.findings(), ""
        except RequestFailed as refusal:
            known, nothing = {}, str(refusal)
        findings, finding = known.get("findings") or [], finding_of_end(known)
        if finding is None and (view.ended_badly or error_of_end(known)):
            lines = [line for line in self._printed() if line.strip()]
            error = error_of_end(known) or (error_line(lines) if view.exit == _UNCAUGHT else "")
            self._show_end(view, error, nothing, lines)
        elif finding is not None:
            self._found(str(finding["cause"]).partition("\n")[0])
            kind = "found" if all(each.get("lint") for each in findings) else "error"
            self._banner.show(kind, _headline(finding, len(findings)), _CAUGHT if finding.get("caught") else "")
        elif said is not None:
            self._banner.show(said[0], nothing or said[1], said[2])
        else:
            self._banner.clear()

    def _show_end(self, view: View, error: str, nothing: str, lines: Sequence[str], brings: bool = True) -> None:
        """The banner of a program that has ended badly without a finding of that."""
        kind, headline, detail = ended_banner(view, error, lines[-1] if lines else "", nothing)
        at = own_line(lines) if error else ""
        self._banner.show(kind, headline, "; ".join(part for part in (at and f"at {at}", detail) if part))
        if brings and not view.was_killed:
            self.on_bad_end()


def without(rendered: str, headline: str) -> str:
    """Rendered findings without the one of that headline, which was told already."""
    blocks = rendered.split("\n\n")
    return "\n\n".join(each for each in blocks if _NUMBER.sub("", each.partition("\n")[0]) != headline)


async def _found(asked: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """What was found, for the banner, which nobody has asked for: when that is refused, there is less to say."""
    try:
        return await asked
    except RequestFailed:
        return {}


def _headline(finding: Mapping[str, Any], count: int) -> str:
    more = f" (and {count - 1} more)" if count > 1 else ""
    return str(finding["cause"]).partition("\n")[0] + more


def _cause(stop: Stop | None) -> object:
    return stop and (stop.thread, stop.reason, stop.description, stop.text, stop.serial)


def _told(stop: Stop) -> str:
    return "\n".join(part for part in (stop.hit, stop.place, stop.text) if part)
