"""What is done with a line that was typed at the prompt."""

from typing import TYPE_CHECKING

from agdbg_ui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp

LABELS = {"find": "/", "evaluate": "eval:", "break": "break on:", "set": "set"}
HINTS = {
    "find": "Enter next match   ↑ ↓ match before, after   Esc closes",
    "evaluate": "Python where the program stands; Esc closes",
    "break": "op, node or parameter, such as Mul* or 1.weight; Enter sets it, again removes it",
    "set": "Python that makes the new gradient; Esc closes",
}


class Prompts:
    """Search, evaluate, break on a name, replace a gradient."""

    def __init__(self, app: "AgdbgApp") -> None:
        self._app = app
        self._gradient = ""

    @property
    def _widget(self) -> Prompt:
        return self._app.prompt

    def open(self, kind: str) -> None:
        """Ask for a line of a kind: find, evaluate, break."""
        text = ""
        if kind == "break" and (row := self._app.lanes.selected) is not None:
            text = row["op"]
        self._widget.open(kind, LABELS[kind], text, HINTS[kind])
        if kind == "break" and self._app.session is not None and (there := self._app.session.breakpoints.all):
            self._widget.answer(f"breakpoints: {', '.join(there)}")

    def open_set(self, name: str) -> None:
        """Ask for the new value of an incoming gradient."""
        self._gradient = name
        self._widget.open("set", f"{name} =", "", HINTS["set"])

    async def entered(self, kind: str, text: str) -> None:
        """Do what was asked for; a refusal is shown at the prompt."""
        try:
            if kind == "find":
                await self.find(text)
            elif kind == "evaluate":
                self._widget.answer(await self._evaluate(text))
            elif kind == "break":
                await self._break(text)
            elif kind == "set":
                await self._set(text)
        except Exception as error:
            self._widget.answer(str(error) or type(error).__name__, bad=True)

    async def find(self, text: str, backwards: bool = False) -> None:
        """Go to the next match, or the one before."""
        session, lanes = self._app.session, self._app.lanes
        if session is None or not lanes.row_count:
            self._widget.answer("there is nothing to search yet")
            return
        start = (lanes.cursor + (-1 if backwards else 1)) % lanes.row_count
        row = await session.ask.find(text, start, backwards)
        if row is None:
            self._widget.answer(f"no match for {text}", bad=True)
            return
        lanes.go_to(row)
        self._widget.answer(f"row {row + 1:,} of {lanes.row_count:,}")

    async def _evaluate(self, text: str) -> str:
        session = self._app.session
        if session is None or session.frame is None:
            return "the program must be stopped for that"
        body = await session.ask.evaluate(text, session.frame)
        notes = "".join(f"\n({note})" for note in body.get("notes") or ())
        kind = f"{body['type']}: " if body.get("type") else ""
        return f"{kind}{body['result']}{notes}"

    async def _break(self, name: str) -> None:
        if self._app.session is not None:
            added = await self._app.session.breakpoints.toggle_name(name)
            names = ", ".join(self._app.session.breakpoints.names) or "none"
            self._widget.answer(f"{name} {'added' if added else 'removed'}; breakpoints on names: {names}")

    async def _set(self, text: str) -> None:
        session = self._app.session
        if session is None or session.frame is None:
            self._widget.answer("the program must be stopped before the node", bad=True)
            return
        body = await session.set_gradient(self._gradient, text)
        self._widget.answer(f"{self._gradient} is now {body['value']}")
