"""Fetches findings, and opens the doors behind their lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.newest import Newest
from agdbg_ui.own_error import at_stop
from agdbg_ui.spots import evidence_line
from agdbg_ui.work import was_cancelled

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp
    from agdbg_ui.session import Session
    from agdbg_ui.view import Stop, View

NOT_YET = "nobody has looked yet; 5 looks at what was recorded so far"
SINCE = "nothing was found, but more has happened since: 5 looks again"
#: Nodes of a finding that are looked at for the one that a line has built.
_NODES = 8
_WORD = re.compile(r"\w+")
#: So often at most is looked anew at one error, while more of what was recorded until it comes in.
_LOOKS = 4
#: Behind all rows.
_END = 1 << 40


def partial(view: View) -> str:
    """That findings are of a part of what the program did, where its recording is damaged or has stopped; else ""."""
    if not view.troubles:
        return ""
    is_damaged = any(kind == "damaged" for kind, _ in view.troubles)
    part = (
        "the recording is damaged, and findings are of what could be read" if is_damaged else "findings are of a part"
    )
    more = f" (and {len(view.troubles) - 1} more; x tells all)" if len(view.troubles) > 1 else ""
    return f"{part}: {view.troubles[0][1].removeprefix('the trace is damaged: ')}{more}"


class Findings:
    """Keeps the pane of findings up to date.

    To find them takes a look at the whole recording, so it is done when the program stops for an error, when it has
    ended, and when somebody asks for them.
    """

    def __init__(self, app: AgdbgApp, session: Session) -> None:
        self._app, self._session = app, session
        self._pane = app.panes.findings
        self._fetching = Newest(self._fetch, session.keep)
        self._about: object = None
        self._looked_at: tuple[str, int, int] | None = None
        self._cause = ""
        self._asks_for_more = False
        self._known: dict[str, Any] = {}
        self._looks = 0  # how often was looked at the error at which it stands
        self.on_known: Callable[[dict[str, Any]], object] = lambda known: None
        self.is_outdone: Callable[[], bool] = lambda: False  # something else matters more than they do

    def follow(self) -> None:
        """The program is elsewhere: look again if that may have brought findings, and say what is known until then."""
        view = self._session.view
        self._pane.warn(partial(view))
        if not self._fetching.busy:
            self._age()
        stop = view.stop if view.stop is not None and view.stop.reason == "exception" else None
        about = (stop.serial if stop is not None else 0, self._is_over)
        if about == (0, False):
            return
        if about == self._about:
            self._follow_error(stop)
            return
        self._about, self._looks = about, 0
        self.ask()
        if stop is not None and not self.is_outdone():
            self._app.panes.bring("findings")

    def _follow_error(self, stop: Stop | None) -> None:
        """The lines that led to the error are told a little later than it; and what was recorded until then may be."""
        if stop is None or self._fetching.busy:
            return
        if self._looked_at != self._state() and self._looks < _LOOKS:
            self.ask()
        elif self._known.get("stands_at"):
            self._show(self._known)

    def ask(self) -> None:
        """Look for them."""
        self._fetching.ask()

    def more(self) -> None:
        """Look for suspicious things too, or no longer."""
        self._asks_for_more = True
        self.ask()

    def look_again(self) -> None:
        """Somebody wants to see them: look if there may be others than those that are shown."""
        if self._looked_at != self._state() or not self._pane.findings:
            self.ask()

    async def walk(self, by: int) -> None:
        """To the next line that shows a finding, or the one before; where none is known, look for some first."""
        stop = self._session.view.stop
        is_due = not self._pane.row_count or (stop is not None and stop.reason == "exception")
        if is_due and self._looked_at != self._state():
            await self._fetch()
        if not self._pane.walk(by):
            self._app.say("there are no findings to walk through; 5 tells what was looked for")
        elif self._app.screen.has_class("-wide"):  # on a small screen the source is seen there
            self._app.panes.bring("findings")

    def _age(self) -> None:
        """What was found at the last look, or that nothing was, need not be all that there is now."""
        if self._is_over and self._looked_at is not None and not self._looked_at[1]:
            self._looked_at = self._state()  # of what is over all was looked at, also before it was told how much it is
        if self._looked_at != self._state():
            self._pane.say(NOT_YET if self._looked_at is None else SINCE)

    @property
    def _is_over(self) -> bool:
        return self._session.view.life in ("ended", "trace")

    def _state(self) -> tuple[str, int, int]:
        """Something else whenever there may be other findings."""
        view = self._session.view
        stop = view.stop.serial if view.stop is not None and not view.stop.is_recorded else 0
        return view.life if view.life in ("ended", "trace", "lost") else "", view.nodes, stop

    def select(self, cause: str) -> None:
        """The finding with this cause is why the program stands."""
        self._cause = cause
        self._pane.select(cause)

    async def _fetch(self) -> None:
        if not self._pane.findings:
            self._pane.say("looking …")
        looked_at = self._state()
        self._looks += 1
        try:
            body = await self._session.ask.findings(self._pane.with_lints)
        except RequestFailed as error:
            self._pane.show((), "that was cancelled; 5 looks again" if was_cancelled(error) else str(error))
            self._looked_at = looked_at
            self._age()
            return
        self._known = body
        self._show(body, is_new=True)
        self._looked_at = looked_at
        if self._cause:
            self._pane.select(self._cause)
        self._age()
        self.on_known(body)
        stop = self._session.view.stop
        if (
            stop is not None
            and stop.reason == "exception"
            and self._looked_at != self._state()
            and self._looks < _LOOKS
        ):
            self._fetching.ask()

    def _show(self, body: Mapping[str, Any], is_new: bool = False) -> None:
        """What was found, and the error at which the program stands in front of it."""
        stop = self._session.view.stop
        is_error = stop is not None and stop.reason == "exception"
        note = "nothing more was found than what the banner says; x: the whole explanation" if is_error else ""
        note = note or self._nothing(str(body["unseen"]))
        findings = at_stop(body, stop)
        if is_new:
            self._tell_no_more(findings)
        is_over = self._is_over and body.get("state") not in ("running", "unknown")
        self._pane.show(findings, note, is_over)

    def _tell_no_more(self, findings: Sequence[Mapping[str, Any]]) -> None:
        """Whoever has asked for more with `a` is told that there is no more; an empty pane says so itself."""
        is_asked, self._asks_for_more = self._asks_for_more, False
        if is_asked and self._pane.with_lints and findings and len(findings) == len(self._pane.findings):
            self._app.say("nothing more was found: suspicious things were looked for too")
        elif is_asked and not self._pane.with_lints and len(findings) == len(self._pane.findings):
            self._app.say("without suspicious things")

    def _nothing(self, unseen: str) -> str:
        """That there is nothing, as far as was looked."""
        more = "" if self._pane.with_lints else "a: look for suspicious things too"
        where = " in that part" if partial(self._session.view) else ""
        return "; ".join(part for part in (f"no problem was found{where}", unseen, more) if part)

    async def open(self, finding: Mapping[str, Any], evidence: Mapping[str, Any] | None) -> None:
        """Show the line, and select the node that it is about; of a finding its first node."""
        if evidence is None:
            if finding["nodes"]:
                await self._app.go_to_node(finding["nodes"][0])
            return
        node = await self._node_of(finding, evidence)
        if node:
            await self._app.go_to_node(node)
        elif not evidence["file"]:
            self._app.say("the place is not known")
        if node:
            self._app.panes.show_beside("source")
        else:
            self._app.panes.show("source")
        if evidence["file"]:
            spot = evidence_line(evidence, self._position(finding, evidence))
            await self._app.show_source(spot, node or self._app.lanes.selected_node or 0)

    def _position(self, finding: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        """``3 of 4``, and of which finding where there are several: on a small screen their list is not seen with the source."""
        lines, findings = finding["evidence"], self._pane.findings
        at = next(number for number, each in enumerate(lines, 1) if each is evidence or each == evidence)
        place = f"{at} of {len(lines)}"
        return place if len(findings) < 2 else f"{place} of finding {[*findings].index(finding) + 1}"

    async def _node_of(self, finding: Mapping[str, Any], evidence: Mapping[str, Any]) -> int:
        """The node that the line is about, or the only one that it has built; 0: none.

        Of an error that has no diagnosis nothing tells that: one that the line has built, the last one before it.

        Of several that the words of the finding name is meant: a call of a layer builds the transpose of its weight as well.
        """
        if evidence.get("node"):
            return int(evidence["node"])
        place, words = (evidence["file"], evidence["line"]), f"{evidence.get('note') or ''} {finding['cause']}"
        if not place[0]:
            return 0
        if "node" in evidence:  # it is about none, a call say: nothing tells which one of several is meant
            alone = await self._built_near((), *place)
            return int(alone[0]["node"]) if len(alone) == 1 else 0
        bodies = [await self._session.ask.node(node) for node in finding["nodes"][:_NODES]]
        built: list[Mapping[str, Any]] = [each for each in bodies if (each["file"], each["line"]) == place]
        if not built:
            built = await self._built_near(finding["nodes"][:1], *place)
        named = [each for each in built if each["op"] in _WORD.findall(words)]
        return int([*named, *built, {"node": 0}][0]["node"])

    async def _built_near(self, nodes: Sequence[int], file: str, line: int) -> list[Mapping[str, Any]]:
        """The rows that a line has built before a node, the last first, or else the first one behind it."""
        text = f"{file.rsplit('/', 1)[-1]}:{line}"
        start = await self._session.ask.locate(nodes[0]) if nodes else None
        found: list[Mapping[str, Any]] = []
        at = _END if start is None else start
        while at >= 0 and len(found) < _NODES:
            row = await self._session.ask.find(text, at, True)
            if row is None or row > at:  # the search goes round
                break
            found += (await self._session.ask.rows(row, 1))["rows"]
            at = row - 1
        if not found and start is not None and (row := await self._session.ask.find(text, start, False)) is not None:
            found += (await self._session.ask.rows(row, 1))["rows"]
        return [each for each in found if (each["file"], each["line"]) == (file, line)]
