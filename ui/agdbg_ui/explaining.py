"""The banner, and the page behind it: why the program stands still, or what went wrong in it."""

from collections.abc import Awaitable, Callable
from typing import Any

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.session import Session
from agdbg_ui.view import Stop, View
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.wording import banner, spaced, stop_kind

NOTHING = "Nothing is known to have gone wrong."
_RULE = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * 40


class Explaining:
    """Says in the banner what the view says, and the diagnosis as soon as it is there."""

    def __init__(self, session: Session, widget: Banner, found: Callable[[str], object] = lambda cause: None) -> None:
        self._session, self._banner, self._found = session, widget, found
        self._diagnosis = ""
        self._about: object = None

    async def refresh(self) -> None:
        """Say what is so now."""
        view = self._session.view
        about = (view.life, _cause(view.stop), view.exit, view.signal, view.why)
        if about == self._about:
            return
        self._about, self._diagnosis = about, ""
        said = banner(view)
        if said is None and view.life != "trace":
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
        if view.life != "lost":
            parts.append(await self._known())
        text = f"\n\n{_RULE}\n\n".join(spaced(part) for part in parts if part)
        return "Explanation", text or view.why or NOTHING

    async def _known(self) -> str:
        """What the recording tells beyond the diagnosis of this stop, or why it tells nothing."""
        try:
            known = await self._session.ask.findings()
        except RequestFailed as error:
            return "" if self._diagnosis else str(error)
        said = not self._diagnosis or len(known.get("findings") or ()) > 1
        return str(known.get("rendered") or "").strip() if said else ""

    async def _diagnose(self, stop: Stop) -> None:
        info = await _found(self._session.ask.exception(stop.thread))
        if not info and (said := banner(self._session.view)) is not None:
            self._banner.show(*said)
            return
        headline = str(info.get("description") or "").strip().partition("\n")[0]
        self._diagnosis = str((info.get("details") or {}).get("message") or info.get("description") or "").strip()
        self._found(headline)
        self._banner.show(stop_kind(stop), headline or stop.description, stop.description if headline else "")

    async def _conclude(self, view: View) -> None:
        """The program is over: the first finding is what matters most."""
        said = banner(view)
        findings = (await _found(self._session.ask.findings())).get("findings") or []
        if findings:
            ending = said[1] if said is not None else ""
            self._banner.show("error", _headline(findings), ending)
        elif said is not None:
            self._banner.show(*said)
        else:
            self._banner.clear()


async def _found(asked: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """What was found, for the banner, which nobody has asked for: when that is refused, there is less to say."""
    try:
        return await asked
    except RequestFailed:
        return {}


def _headline(findings: list[dict[str, Any]]) -> str:
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return str(findings[0]["cause"]).partition("\n")[0] + more


def _cause(stop: Stop | None) -> object:
    return stop and (stop.thread, stop.reason, stop.description, stop.text, stop.serial)


def _told(stop: Stop) -> str:
    return "\n".join(part for part in (stop.description, stop.text) if part)
