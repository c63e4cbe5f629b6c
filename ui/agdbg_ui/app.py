"""The app: puts the panes on the screen, and turns keys into requests."""

import os
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, ClassVar

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.notifications import Notify
from textual.timer import Timer

from agdbg.errors import InputError
from agdbg.protocol.errors import RequestFailed
from agdbg_ui import messages
from agdbg_ui.backend import Backend
from agdbg_ui.explaining import Explaining
from agdbg_ui.keymap import bindings
from agdbg_ui.losing import GONE
from agdbg_ui.newest import Newest
from agdbg_ui.panes import Panes, Workspace
from agdbg_ui.prompts import Prompts
from agdbg_ui.refreshing import Refreshing
from agdbg_ui.result import TuiResult
from agdbg_ui.screens.export import ExportScreen
from agdbg_ui.screens.filters import FiltersScreen
from agdbg_ui.screens.help import HelpScreen
from agdbg_ui.screens.page import Page
from agdbg_ui.screens.question import Question, barrier_question, quit_question
from agdbg_ui.session import Session
from agdbg_ui.text import safe
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.widgets.events import EventsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.key_line import KeyLine
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.pane_tabs import PaneTabs
from agdbg_ui.widgets.prompt import Prompt
from agdbg_ui.widgets.source import SourcePane
from agdbg_ui.widgets.title_line import TitleLine
from agdbg_ui.widgets.too_small import TooSmall
from agdbg_ui.wording import emptiness

#: From so many columns on panes stand side by side; with fewer columns or rows than these nothing fits.
WIDE, LEAST_COLUMNS, LEAST_ROWS = 110, 40, 10
_PATIENCE_S = 3.0
_RUNNING = "the program runs; z stops it at its next node"


class AgdbgApp(App[TuiResult]):
    """The debugger on the terminal.

    Args:
        connect: makes the connection to a hub; the screen is there before it is.
        command: ``launch`` or ``attach``.
        arguments: of that request.
        clock: seconds.
    """

    CSS_PATH = "agdbg.tcss"
    TITLE = "agdbg"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (LEAST_COLUMNS, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 (mypy sees no ClassVar in the base)
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (LEAST_ROWS, "-tall")]  # noqa: RUF012

    def __init__(
        self,
        connect: Callable[[], Awaitable[Backend]],
        command: str,
        arguments: dict[str, Any],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__()
        self._connect, self._command, self._arguments, self._clock = connect, command, arguments, clock
        self.session: Session | None = None
        self._refreshing: Refreshing | None = None
        self._explaining: Explaining | None = None
        self._explain: Newest | None = None
        self._resizing: Newest | None = None
        self._told_size = (0, 0)
        self._ticking: Timer | None = None
        self._is_leaving = False
        self.prompts = Prompts(self)

    # ----- the screen -----

    def compose(self) -> ComposeResult:
        """Title, banner, panes, prompt, keys."""
        self._title_line, self._banner = TitleLine(id="title"), Banner(hint="x: why", id="banner")
        self.lanes, self.output, self.prompt = Lanes(id="lanes"), OutputPane(id="output"), Prompt(id="prompt")
        self.panes = Panes(self, self.lanes, self.output)
        yield TooSmall(LEAST_COLUMNS, LEAST_ROWS, id="small")
        with Vertical(id="main"):
            yield self._title_line
            yield self._banner
            yield self.panes.workspace
            yield self.prompt
            yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Show the empty screen, then connect."""
        self._ticking = self.set_interval(1.0, self._show_state, pause=True)
        self.lanes.focus()
        self._show_empty()
        self._begin()

    @work
    async def _begin(self) -> None:
        """Connect and start; what goes wrong is told when the terminal is restored.

        Before the hub has taken the launch there is nothing to ask it for, so the panes are served only then.
        """
        try:
            backend = await self._connect()
            session = self.session = Session(backend, self.post_message, self._clock)
            self._resizing = Newest(self._tell_size, session.keep)
            if self._command == "launch":
                columns, rows = self._told_size = self.panes.terminal_size()
                await session.launch({"columns": columns, "rows": rows, **self._arguments})
            else:
                await session.attach(self._arguments)
            self._serve(session)
        except Exception as error:
            self.exit(TuiResult(error=str(error) or type(error).__name__), return_code=1)

    def _serve(self, session: Session) -> None:
        """Fill the panes, and keep them up to date."""
        self._refreshing = Refreshing(self.post_message, session, self.lanes, self.panes)
        self._explaining = Explaining(session, self._banner)
        self._explain = Newest(self._explaining.refresh, session.keep)
        self._refreshing.all()
        self._show_state()

    # ----- what the session says -----

    @on(messages.ViewChanged)
    def _show_state(self) -> None:
        session = self.session
        if session is None or not self.is_running:
            return
        view, now = session.view, session.clock()
        self._title_line.show(view, now)
        self._show_empty()
        if self._ticking is not None:
            self._ticking.resume() if view.life == "running" else self._ticking.pause()
        if view.life in ("ended", "lost"):
            self.output.leave_input_mode()  # nobody is there to type for
        if view.trace:
            self.output.set_log_path(os.path.join(view.trace, "output.log"))
        if self._explain is not None and view.life != "starting":
            self._explain.ask()

    def _show_empty(self) -> None:
        if self.session is None:
            self.lanes.set_note("starting …")
        else:
            self.lanes.set_note(emptiness(self.session.view, self.session.clock()))

    @on(messages.Moved)
    def _on_moved(self) -> None:
        if self._refreshing is not None:
            self._refreshing.all()

    @on(messages.Grew)
    def _on_grew(self) -> None:
        if self._refreshing is not None:
            self._refreshing.all()
        self._show_state()

    @on(messages.Printed)
    def _on_printed(self, message: messages.Printed) -> None:
        self.output.feed(message.text)

    @on(messages.Refused)
    def _on_refused(self, message: messages.Refused) -> None:
        self.say(message.text, "error")

    @on(messages.Barrier)
    def _on_barrier(self, message: messages.Barrier) -> None:
        if isinstance(self.screen, Question):
            return  # it was asked already: the key was pressed twice, or this person is about to leave

        def answered(answer: str | None) -> None:
            if answer == "force" and self.session is not None:
                self.session.force(message.command)

        self.push_screen(barrier_question(message.text), answered)

    def say(self, text: str, severity: Any = "information") -> None:
        """A short note that goes away by itself."""
        self.notify("\n".join(map(safe, text.split("\n"))), severity=severity, timeout=5, markup=False)

    def on_notify(self, event: Notify) -> None:
        """One more note is about to show: of those that do, the last that says something else stays."""
        kept = [note for note in self._notifications if note.message != event.notification.message][-1:]
        self._notifications.clear()
        for note in kept:
            self._notifications.add(note)

    def why(self, error: BaseException) -> str:
        """What to say of a request that failed."""
        is_gone = self.session is not None and self.session.view.life == "lost"
        return GONE if is_gone else str(error) or type(error).__name__

    # ----- what the panes say -----

    @on(Lanes.Wanted)
    def _on_rows_wanted(self) -> None:
        if self._refreshing is not None:
            self._refreshing.rows.ask()

    @on(Lanes.Selected)
    def _on_row_selected(self) -> None:
        if self._refreshing is not None:
            self._refreshing.node.ask()

    @on(EventsPane.Wanted)
    def _on_events_wanted(self, message: EventsPane.Wanted) -> None:
        if self._refreshing is not None:
            self._try(self._refreshing.events(message.start, message.count))

    @on(EventsPane.Selected)
    def _on_event_selected(self, message: EventsPane.Selected) -> None:
        event = message.event
        if event["node"]:
            self._try(self.go_to_node(event["node"]))
        elif event["file"] and self._refreshing is not None:
            self.panes.show("source")
            self._try(self._refreshing.show_source(event["file"], event["line"]))

    @on(Inspector.Goto)
    def _on_goto(self, message: Inspector.Goto) -> None:
        self._try(self.go_to_node(message.node))

    @on(Inspector.SetWanted)
    def _on_set_wanted(self, message: Inspector.SetWanted) -> None:
        self.prompts.open_set(str(message.entry["name"]))

    @on(SourcePane.BreakpointToggled)
    def _on_line_toggled(self, message: SourcePane.BreakpointToggled) -> None:
        self._try(self._toggle(message.path, message.line))

    @on(OutputPane.Submitted)
    def _on_typed(self, message: OutputPane.Submitted) -> None:
        if self.session is not None:
            self._try(self.session.ask.type_in(message.text))

    @on(OutputPane.InputModeChanged)
    def _on_input_mode(self, message: OutputPane.InputModeChanged) -> None:
        if message.active and (self.session is None or not self.session.view.alive):
            self.output.leave_input_mode()

    @on(Banner.Opened)
    def _on_banner_opened(self) -> None:
        self.action_explain()

    @on(PaneTabs.Chosen)
    def _on_tab_chosen(self, message: PaneTabs.Chosen) -> None:
        self.panes.focus(message.pane)

    @on(Prompt.Entered)
    def _on_entered(self, message: Prompt.Entered) -> None:
        self._try(self.prompts.entered(message.kind, message.text))

    @on(Prompt.Arrow)
    def _on_arrow(self, message: Prompt.Arrow) -> None:
        self._try(self.prompts.find(message.text, backwards=message.by < 0))

    @on(Prompt.Closed)
    def _on_prompt_closed(self) -> None:
        self.panes.focus_last()

    async def go_to_node(self, node: int) -> None:
        """Select a node in the graph."""
        if self.session is None:
            return
        row = await self.session.ask.locate(node)
        if row is None:
            self.say(f"node {node} has no row: it is a leaf that no recorded node uses")
        else:
            self.lanes.go_to(row)

    def _try(self, awaitable: Awaitable[object]) -> None:
        """Do it beside the screen's own work; say so when it fails."""

        async def run() -> None:
            try:
                await awaitable
            except Exception as error:
                self.say(self.why(error), "error")

        self.run_worker(run(), exit_on_error=False)

    # ----- size and focus -----

    @on(Workspace.LaidOut)
    def _on_laid_out(self) -> None:
        if self.focused is None and len(self.screen_stack) == 1:
            self.panes.focus_last()
        self.panes.show_tabs()
        if self._resizing is not None:
            self._resizing.ask()

    async def _tell_size(self) -> None:
        size = self.panes.terminal_size()
        if self.session is not None and self.session.view.alive and size != self._told_size:
            self._told_size = size
            await self.session.ask.resize(*size)

    def on_descendant_focus(self) -> None:
        """The tabs show where the focus is."""
        self.panes.show_tabs()

    def on_descendant_blur(self) -> None:
        """The tabs show where the focus is."""
        self.panes.show_tabs()

    # ----- keys -----

    def action_step(self, command: str) -> None:
        """Step."""
        if self.session is None or self.session.view.life == "starting":
            return
        view = self.session.view
        if view.life in ("running", "waiting") and view.stop is None:
            self.say(_RUNNING)
        elif view.life == "lost":
            self.say(GONE, "error")
        else:
            self.session.step(command)

    def action_pause(self) -> None:
        """Stop a running program."""
        if self.session is not None and self.session.view.alive:
            self._try(self.session.pause())
        elif self.session is not None and self.session.view.life == "lost":
            self.say(GONE, "error")

    def action_other_thread(self) -> None:
        """Turn to another stopped thread."""
        if self.session is not None and not self.session.other_thread():
            self.say("no other thread is stopped")

    def action_breakpoint(self) -> None:
        """Set or remove a breakpoint on the selected node's line."""
        row = self.lanes.selected
        if row is None:
            self.say("no node is selected")
        elif not row["file"]:
            self.say(f"{row['op']} was built at an unknown line; B breaks on its name")
        else:
            self._try(self._toggle(row["file"], row["line"]))

    async def _toggle(self, file: str, line: int) -> None:
        if self.session is not None and self._refreshing is not None:
            added = await self.session.breakpoints.toggle_line(file, line)
            self.say(f"breakpoint at {os.path.basename(file)}:{line} {'set' if added else 'removed'}")
            self._refreshing.all()

    def action_filters(self) -> None:
        """Choose the errors to stop at."""
        if self.session is None or not self.session.filters.known:
            self.say("the hub has named no errors to stop at yet")
        else:
            self.push_screen(FiltersScreen(self.session.filters))

    def action_to_counter(self) -> None:
        """Go where the program stands."""
        if not self.lanes.to_counter():
            self.say("the program stands at no node")
        self.lanes.focus()

    def action_pane(self, pane: str) -> None:
        """Focus a pane."""
        self.panes.focus(pane)

    def action_prompt(self, kind: str) -> None:
        """Ask for a line of text."""
        self.prompts.open(kind)

    def action_type_in(self) -> None:
        """Type into the program."""
        if self.session is None or not self.session.view.alive:
            is_lost = self.session is not None and self.session.view.life == "lost"
            self.say(GONE if is_lost else "there is no program to type for")
            return
        self.panes.show("output")
        self.output.enter_input_mode()

    def action_help(self) -> None:
        """All keys."""
        self.push_screen(HelpScreen())

    @work(exclusive=True, group="explain")
    async def action_explain(self) -> None:
        """The whole explanation."""
        if self._explaining is None:
            return
        try:
            page = Page(*await self._explaining.page())
        except Exception as error:
            self.say(str(error), "error")
        else:
            if len(self.screen_stack) == 1:  # else something else was asked for meanwhile
                self.push_screen(page)

    def action_export(self) -> None:
        """Write the graph to a file."""
        session = self.session
        if session is None:
            return

        async def write(path: str, overwrite: bool) -> str:
            try:
                body = await session.ask.export(path, overwrite)
            except RequestFailed as error:
                raise InputError(str(error).removeprefix("agdbg/export: ")) from None
            return f"{body['nodes']:,} nodes written to {body['path']}"

        def written(said: str | None) -> None:
            if said is not None:
                self.say(said)

        script = os.path.splitext(session.view.script)[0] or "agdbg"
        self.push_screen(ExportScreen(f"{script}-graph.svg", write), written)

    async def action_quit(self) -> None:
        """Quit; ask what becomes of a program that is alive."""
        if self._is_leaving:
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
        if self.session is None or not self.session.view.alive:
            self._finish("leave")
        else:
            self.push_screen(quit_question(self.session.view.script), self._on_quit_answer)

    def action_help_quit(self) -> None:
        """ctrl+c: not what ends a debugger."""
        self.say("q quits; i types into the program, and ctrl+c goes to it there")

    def _on_quit_answer(self, answer: str | None) -> None:
        self._finish(answer)

    @work
    async def _finish(self, answer: str | None) -> None:
        if answer in ("kill", "leave") and not self._is_leaving:
            self._is_leaving = True  # another answer comes too late
            self.exit(await self._leave(answer == "kill"))

    async def _leave(self, kill: bool) -> TuiResult:
        """Say good-bye; a hub that does not answer is left all the same."""
        session = self.session
        if session is None:
            return TuiResult()
        if session.connected:
            await session.part(kill, _PATIENCE_S)
        view = session.view
        session.close()
        return TuiResult(view.status(), view.trace, view.alive and not kill, view.why)
