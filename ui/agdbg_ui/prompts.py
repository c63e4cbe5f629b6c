"""What is done with a line that was typed at the prompt."""

import re
from typing import TYPE_CHECKING

from agdbg.errors import InputError
from agdbg.protocol.errors import RequestFailed
from agdbg_ui.commands import common, completions, meaning, nearest_command, told_of
from agdbg_ui.evaluations import HOW, result_words
from agdbg_ui.losing import GONE
from agdbg_ui.matching import matches_something
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp
    from agdbg_ui.session import Session

LABELS = {"find": "/", "console": ":", "break": "break on:", "set": "set"}
HINTS = {
    "find": "Enter goes to the next match   ↑ ↓ match before, after   Esc closes",
    "console": "a command or Python; help lists the commands   Tab completes   Esc closes",
    "break": "op, node or parameter, such as Mul* or 1.weight   Enter sets it, again removes it",
    "set": "Python that makes the new gradient, such as grad * 0   Enter sets it   Esc closes",
}
EVALUATING = f"evaluating … ({HOW})"
#: Behind all rows: a search for what is before the first one begins at the end.
_END = 1 << 40
_ASKS = re.compile(r"prompt\('(\w+)'\)")
#: What gives the keys to another pane; what opens a page or a list has them above the line, until that is closed.
_LEADS = ("pane(", "turn_graph", "app.focus_next", "type_in")
#: By what the program is, why a line of Python has no value; "": also where one thread runs and others stand.
_NO_VALUE = {
    "": "this thread runs; t turns to one that stands, where it can be evaluated",
    "running": "the program runs; z stops it at its next node, where it can be evaluated",
    "stopped": "it is not known yet where the program stands; enter it again",
    "ended": "no program runs any more in which it could be evaluated",
    "trace": "this is a recording: no program runs in which it could be evaluated",
    "lost": GONE,
}
_NOT_BEGUN = "the program has not started yet; enter it again when it has"


class Prompts:
    """Search, evaluate, break on a name, replace a gradient."""

    def __init__(self, app: "AgdbgApp") -> None:
        self._app = app
        self._gradient = ""

    @property
    def _widget(self) -> Prompt:
        return self._app.prompt

    def open(self, kind: str, text: str = "") -> None:
        """Ask for a line of a kind: find, console, break; `text` is there to begin with, and was typed so far."""
        typed, row = text, self._app.lanes.selected
        if kind == "find":
            text = text or self._widget.last("find")
        if kind == "break" and row is not None:
            text = text or row["op"]
        self._widget.open(kind, LABELS[kind], text, HINTS[kind], selected=not typed)
        if kind == "break" and self._app.session is not None and (there := self._app.session.breakpoints.all):
            self._widget.answer(f"breakpoints: {', '.join(there)}")
        if kind == "console" and self._app.session is not None and self._app.session.evaluations.is_any:
            self._widget.answer(self._app.session.evaluations.words())

    def open_set(self, name: str) -> None:
        """Ask for the new value of an incoming gradient."""
        self._gradient = name
        self._widget.open("set", f"gradient {name} =", "", HINTS["set"])

    async def entered(self, kind: str, text: str, number: int) -> None:
        """Do what was asked for by the `number`-th line; a refusal is shown at the prompt, with the line to mend."""
        try:
            if kind == "find":
                await self.find(text, closes=True)
            elif kind == "console":
                await self._command(text, number)
            elif kind == "break":
                await self._break(text)
            elif kind == "set":
                await self._set(text)
        except Exception as error:  # whatever goes wrong is told, and the line can be mended
            self._refuse(kind, text, self._app.why(error))

    def _refuse(self, kind: str, text: str, why: str) -> None:
        """Say what is wrong, where the line can be mended unless the person does something else by now."""
        widget = self._widget
        if kind in ("break", "set") and not widget.has_class("-open") and len(self._app.screen_stack) == 1:
            label = f"gradient {self._gradient} =" if kind == "set" else LABELS[kind]
            widget.open(kind, label, text, HINTS[kind])
        if kind == "console":
            self._app.panes.transcript.add(text, why, bad=True)
        if widget.asks_for(kind):
            widget.answer(f"{text}  →  {why}" if kind == "console" else why, bad=True)
        else:
            self._app.say(f"{text}: {why}", "error")

    async def find(self, text: str, backwards: bool = False, closes: bool = False) -> None:
        """Go to the next match, or the one before; the line closes when there is one and it `closes`."""
        session, lanes, opened = self._app.session, self._app.lanes, self._widget.opened
        if session is not None and not lanes.pages.is_answered:
            self._widget.answer(lanes.note)
            await lanes.first_answer()
        if session is None or not lanes.row_count:
            self._widget.answer("there is nothing to search yet")
            return
        async with self._app.jumping:
            start = _beside(lanes, backwards)
            row = await session.ask.find(text, start, backwards)
            if row is None:
                self._widget.answer(f"no match for {text}", bad=True)
                return
            self._app.panes.show_nodes()
            await self._app.go_to_row(row)
        said = f"row {row + 1:,}" + ("" if lanes.is_folded else f" of {lanes.row_count:,}")
        if backwards and (row > start or start == _END):
            said += ", round the beginning"
        elif not backwards and row < start:
            said += ", round the end"
        if closes and self._widget.asks_for("find") and self._widget.opened == opened:
            self._widget.close()
            self._app.action_pane("graph")
            self._app.say(f"{text}: {said}; / Enter goes to the next match")
        else:
            self._widget.answer(said)

    async def _command(self, text: str, number: int) -> None:
        """What a line at the console is: the action of a key, a command, or Python."""
        kind, what = meaning(text)
        if kind == "python":
            try:
                await self._evaluate(what)
            except RequestFailed as error:
                raise InputError(f"{error}{nearest_command(what)}") from None
        elif kind == "bad":
            raise InputError(what)
        elif kind == "key":
            await self._key(text, what, number)
        elif self._app.commander is None:
            raise InputError(_NOT_BEGUN)
        else:
            self._widget.answer(f"{text} … (Esc waits no longer)")
            said, ends = await self._app.commander.execute(what)
            self.tell(said or "done", text)
            if ends:
                await self._app.action_quit()

    async def _key(self, text: str, action: str, number: int) -> None:
        """Do what a key does. The line stays, unless the keys are to be for another place and nothing more was typed by then:
        the rest of what was meant for the line would be keys. What it says at once is the answer to the line.
        """
        widget, transcript = self._widget, self._app.panes.transcript
        if (asked := _ASKS.match(action)) is not None:
            transcript.add(text, "")
            self.open(asked[1], widget.line.value if await widget.goes_on(number) else "")
            return
        if action.startswith(_LEADS) and not await widget.goes_on(number):
            widget.close()
        elif widget.asks_for("console"):
            widget.answer(f"{text}: {told_of(action)}")
        with self._app.heard() as said:
            await self._app.run_action(action)
        answer, is_bad = "\n".join(words for words, _ in said), any(how == "error" for _, how in said)
        if said:
            self.tell(answer, text, is_bad)
        else:
            transcript.add(text, "")
        widget.take_keys()

    def tell(self, said: str, line: str, bad: bool = False) -> None:
        """What came of a line: in the transcript, and where the person looks."""
        self._app.panes.transcript.add(line, said.removeprefix(f"{line}  →  "), bad)
        if self._widget.asks_for("console"):
            self._widget.answer(said, bad)
        else:
            self._app.say(said, "error" if bad else "information")

    def complete(self, line: str) -> str:
        """The line as far as it can only go on in one way; where in several, they are shown."""
        found = completions(line, self._app.lanes.names)
        if len(found) > 1:
            last = [each.rpartition(" ")[2] if " " in line else each for each in found]
            self._widget.answer("  ".join(last))
        return common(found) + (" " if len(found) == 1 else "") if found else line

    async def _evaluate(self, text: str) -> None:
        session = self._app.session
        if session is None or session.frame is None:
            raise InputError(_no_value(session))
        if session.evaluations.is_any:
            raise InputError(f"not asked for, as one expression runs at a time: {session.evaluations.words()}")
        self._widget.answer(EVALUATING)
        self.tell(f"{text}  →  {result_words(await session.evaluate(text))}", text)

    async def _break(self, name: str) -> None:
        session = self._app.session
        if session is None:
            return
        if await session.breakpoints.switch_on_name(name):
            self._app.breakpoints_changed()
            self._app.say(f"breakpoint on {name} on again")
            return
        added = await session.breakpoints.toggle_name(name)
        self._app.panes.stops.outdate()
        what = "added" if added else "removed"
        if added and await matches_something(session.ask, name) is False:
            what = "added; it matches nothing so far" if session.view.alive else "added; it matches nothing here"
        names = session.breakpoints.names
        others = f"\nbreakpoints on names: {', '.join(names)}" if names != [name] else ""
        self._app.say(f"breakpoint on {name} {what}{others if names else ''}")

    async def _set(self, text: str) -> None:
        session = self._app.session
        if session is None or session.frame is None:
            self._refuse("set", text, "the program must be stopped before the node")
            return
        body = await session.set_gradient(self._gradient, text)
        self._app.say(f"{self._gradient} is now {body['value']}")


def _no_value(session: "Session | None") -> str:
    """Why nothing can be evaluated, as no thread that stands is looked at."""
    if session is None:
        return _NOT_BEGUN
    life = session.view.life if session.connected else "lost"
    return _NO_VALUE.get("" if life == "running" and session.view.stopped else life, _NOT_BEGUN)


def _beside(lanes: Lanes, backwards: bool) -> int:
    """The row to search from: that behind the cursor, or before it, and round the end."""
    row = lanes.selected
    if row is None:
        return lanes.cursor
    if backwards:
        return row["row"] - 1 if row["row"] else _END
    return row["row"] + row["count"]
