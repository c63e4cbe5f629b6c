"""The app: puts the panes on the screen, and turns keys into requests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.timer import Timer

from agdbg.protocol.errors import RequestFailed
from agdbg_ui import editor, kept_folds, later, messages
from agdbg_ui.backend import FAILURES, Backend
from agdbg_ui.dividing import Axis
from agdbg_ui.keymap import bindings
from agdbg_ui.losing import GONE, NOT_KNOWN
from agdbg_ui.memory import Memory
from agdbg_ui.newest import Newest, cancel_all
from agdbg_ui.palette import KeyCommands
from agdbg_ui.palettes import NAMES, ORDER, SIXTEEN, WORDS, adapt, after, filters, has_sixteen, is_colourless, register
from agdbg_ui.pane_app import OWN_TERMINAL, PaneApp
from agdbg_ui.panes import ZOOMED, Panes, Workspace
from agdbg_ui.prompts import Prompts
from agdbg_ui.result import TuiResult
from agdbg_ui.screens.main import MainScreen, classes_for
from agdbg_ui.text import reason_of
from agdbg_ui.turning import Reach, Turning
from agdbg_ui.view import View
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.widgets.key_line import KeyLine
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.prompt import Prompt
from agdbg_ui.widgets.title_line import TitleLine
from agdbg_ui.widgets.too_small import TooSmall
from agdbg_ui.wording import UNREAD, emptiness, has_nodes, no_output, reading

if TYPE_CHECKING:
    from agdbg_ui.console import ConsoleRunner
    from agdbg_ui.explaining import Explaining
    from agdbg_ui.finding import Findings
    from agdbg_ui.folding import Folding
    from agdbg_ui.refreshing import Refreshing
    from agdbg_ui.session import Session
    from agdbg_ui.stopping import Stopping

#: From so many columns on panes stand side by side; with fewer columns or rows than these nothing fits.
WIDE, LEAST_COLUMNS, LEAST_ROWS = 110, 40, 10
_PATIENCE_S = 3.0
_RUNNING = "the program runs; z stops it at its next node"


class AgdbgApp(PaneApp, inherit_bindings=False):
    """The debugger on the terminal.

    Args:
        connect: makes the connection to a hub; the screen is there before it is.
        command: ``launch`` or ``attach``.
        arguments: of that request.
        clock: seconds.
        memory: what the screen looked like the last time; None: nothing is remembered.
        reach: makes the connection to the hub of another process of the program; None: that is not possible.
    """

    CSS_PATH = "agdbg.tcss"
    TITLE = "agdbg"
    COMMANDS: ClassVar[set[Any]] = {KeyCommands}
    #: All that there are: Textual's own would quit by ctrl+q, with which a terminal goes on that was stopped.
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(), Binding("ctrl+c", "help_quit", show=False, system=True)]
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (LEAST_COLUMNS, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 (mypy sees no ClassVar in the base)
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (LEAST_ROWS, "-tall")]  # noqa: RUF012 (as above)

    def __init__(
        self,
        connect: Callable[[], Awaitable[Backend]],
        command: str,
        arguments: dict[str, Any],
        clock: Callable[[], float] = monotonic,
        memory: Memory | None = None,
        reach: Reach | None = None,
    ) -> None:
        super().__init__()
        self._memory, self._heard = memory, {}
        register(self)
        self.no_color = is_colourless()
        self._filters = filters(self, self._filters)
        self._first_view = View()
        self._looked = self._remember()
        self._connect, self._command, self._arguments, self.clock = connect, command, arguments, clock
        self.session: Session | None = None
        self.commander: ConsoleRunner | None = None
        self._refreshing: Refreshing | None = None
        self._explaining: Explaining | None = None
        self._findings: Findings | None = None
        self._stopping: Stopping | None = None
        self._folding: Folding | None = None
        self._explain: Newest | None = None
        self._resizing: Newest | None = None
        self._told_size = (0, 0)
        self._stopped_at = 0
        self._ticking: Timer | None = None
        self._is_leaving = False
        self._ended_by: int | None = None
        self._told_troubles: tuple[tuple[str, str], ...] = ()
        self.prompts = Prompts(self)
        self.turning = Turning(self, reach)
        self.jumping = asyncio.Lock()

    # ----- the screen -----

    def get_default_screen(self) -> MainScreen:
        """The screen with the panes."""
        return MainScreen(id="_default", classes=classes_for(self))

    def compose(self) -> ComposeResult:
        """Title, banner, panes, prompt, keys."""
        self._title_line, self._banner = TitleLine(id="title"), Banner(hint="x: why", id="banner")
        self.lanes, self.output, self.prompt = Lanes(id="lanes"), OutputPane(id="output"), Prompt(id="prompt")
        self.panes = Panes(self, self.lanes, self.output)
        self._join_lines()
        self.panes.restore(self._looked)
        self._key_line = KeyLine(id="keys")
        yield TooSmall(LEAST_COLUMNS, LEAST_ROWS, id="small")
        with Vertical(id="main"):
            yield self._title_line
            yield self._banner
            yield self.panes.workspace
            yield self.prompt
            yield self._key_line

    def on_mount(self) -> None:
        """Show the empty screen, then connect."""
        self.theme_changed_signal.subscribe(self, lambda _: adapt(self, self._filters))
        self._ticking = self.set_interval(1.0, self._tick, pause=True)
        self.panes.focus_last()
        self._show_empty()
        self.call_after_refresh(self._begin)

    def _remember(self) -> dict[str, Any]:
        """How it looked the last time, and looks from the first frame on: another theme would be a pass over all styles more."""
        known = self._memory.load() if self._memory is not None else {}
        self._kept_theme: str = known.get("theme", "")
        self._kept_folds: dict[str, Any] = known.get("folds", {})
        if has_sixteen(self):
            self.theme = SIXTEEN.name
        elif self._kept_theme in ORDER:
            self.theme = self._kept_theme
        adapt(self, self._filters)
        return known

    def on_unmount(self) -> None:
        """Keep how the screen looks."""
        if self._memory is not None:
            self._keep_folds()
            folds = {"folds": self._kept_folds} if self._kept_folds else {}
            self._memory.save({"theme": self._kept_theme or self.theme, **self.panes.remembered(), **folds})

    def _keep_folds(self) -> None:
        if self.session is not None:
            self._kept_folds = kept_folds.with_folds(self._kept_folds, self._first_view, self.lanes.folds)

    @work
    async def _begin(self) -> None:
        """Connect and start; what goes wrong is told when the terminal is restored.

        Before the hub has taken the launch there is nothing to ask it for, so the panes are served only then.
        """
        try:
            later.load()
            backend = await self._connect()
            session = self.session = self.turning.session_on(backend)
            self._resizing = Newest(self._tell_size, session.keep)
            if self._command == "launch":
                columns, rows = self._told_size = self.panes.terminal_size()
                await session.launch({"columns": columns, "rows": rows, **self._arguments})
            else:
                await session.attach(self._arguments)
            self._serve(session)
        except Exception as error:  # whatever goes wrong is told on the terminal, when that is restored
            self.exit(TuiResult(error=reason_of(error)), return_code=1)

    def _serve(self, session: Session) -> None:
        """Fill the panes, and keep them up to date."""
        from agdbg_ui.console import ConsoleRunner
        from agdbg_ui.explaining import Explaining
        from agdbg_ui.finding import Findings
        from agdbg_ui.folding import Folding
        from agdbg_ui.refreshing import Refreshing
        from agdbg_ui.stopping import Stopping

        self._refreshing = Refreshing(self.post_message, session, self.lanes, self.panes)
        self._findings, self._stopping = Findings(self, session), Stopping(self, session)
        self._folding = Folding(self, session)
        self._first_view = session.view
        self.lanes.folds = kept_folds.found(self._kept_folds, session.view) or self.lanes.folds
        explaining = Explaining(session, self._banner, self._findings.select, lambda: self.output.lines)
        self._explaining = explaining
        self._explaining.on_bad_end = lambda: self.panes.bring("output")
        self._findings.on_known = self._explaining.learn
        self._findings.is_outdone = lambda: explaining.tells_other_end
        self.commander = self.commander or ConsoleRunner(session, self.prompts.tell)
        self._explain = Newest(self._explaining.refresh, session.keep)
        self._refreshing.all()
        self.panes.stops.outdate()
        if self._resizing is not None:
            self._resizing.ask()  # the panes have had their sizes before anybody could be told
        self._show_state()

    async def see(self, session: Session) -> None:
        """Show another process in place of the one that is seen: all panes are made anew, and stand where they stood."""
        self._looked = self.panes.remembered()
        self._keep_folds()
        if self.commander is not None:
            self.commander.close()
        self.session, self.commander, self._told_troubles = session, None, ()
        last = self.panes.last
        await self.recompose()
        self.panes.last = last
        self.panes.focus_last()
        self._resizing = Newest(self._tell_size, session.keep)
        self._serve(session)
        await session.recall_output()

    # ----- what the session says -----

    @on(messages.ViewChanged)
    def _show_state(self) -> None:
        session = self.session
        if session is None or not self.is_running:
            return
        view, now = session.view, session.clock()
        self._title_line.show(view, now)
        self._tell_troubles(view)
        if view.life not in ("running", "waiting") or view.stop is not None:
            self.unsay(_RUNNING)
        self._show_empty()
        if self._ticking is not None:
            self._ticking.resume() if view.life == "running" else self._ticking.pause()
        if view.life in ("ended", "lost"):
            self.output.leave_input_mode()  # nobody is there to type for
        if view.life == "lost":
            self.panes.lose(NOT_KNOWN)
        if view.trace:
            self.output.set_log_path(os.path.join(view.trace, "output.log"))
        self.output.set_nothing(no_output(view))
        if view.stop is not None:
            if view.life == "stopped" and view.stop.serial != self._stopped_at:
                self._stopped_at = view.stop.serial
                self.output.yield_keys()
            self.lanes.stands()
        elif view.life == "running" and view.stepping is None:
            self.lanes.runs()
        if self._refreshing is not None:
            self._refreshing.follow_stop()
        if self._explain is not None and self._findings is not None and view.life != "starting":
            self._explain.ask()
            self._findings.follow()
        if self._stopping is not None:
            self._stopping.follow()

    def _tell_troubles(self, view: View) -> None:
        """What is wrong with the recording, once; the title goes on saying that something is."""
        new = [text for kind, text in view.troubles if (kind, text) not in self._told_troubles]
        self._told_troubles = view.troubles
        if new:
            more = f" (and {len(new) - 1} more; x tells all)" if len(new) > 1 else ""
            self.say(f"{new[0]}{more}", "error")

    def _tick(self) -> None:
        """The program runs: say for how long nothing has come, and look whether it waits for input."""
        self._show_state()
        if self.session is not None and self.session.connected:
            self.session.terminal.ask()

    @on(Lanes.Emptied)
    def _show_empty(self) -> None:
        if self.session is None:
            self.lanes.set_note("starting …")
            return
        view, is_answered = self.session.view, self.lanes.pages.is_answered
        if has_nodes(view) or (view.life in ("trace", "running", "stopped", "ended") and not is_answered):
            is_unread = self._refreshing is not None and self._refreshing.is_unread
            why = UNREAD if is_unread else reading(self.session.works.newest)
            self.lanes.set_note(why)
        else:
            why = ""
            self.lanes.set_note(emptiness(view, self.session.clock()))
        self.panes.boxes.set_nothing(why)

    @on(messages.Moved)
    def _on_moved(self) -> None:
        if self._refreshing is not None:
            self._refreshing.all()
        self.panes.stops.outdate()

    @on(messages.Begun)
    def _on_begun(self) -> None:
        """Nothing that is shown is of the run that begins, and no answer about the one before it is wanted any more."""
        from agdbg_ui.screens.modal import Modal

        session, gone = self.session, (self._refreshing, self._findings, self._stopping)
        if session is None or self._explain is None:
            return
        cancel_all(*gone)
        self._explain.cancel()
        if isinstance(self.screen, Modal) and self.screen.is_of_run:
            self.screen.dismiss(None)
        self._keep_folds()
        self._told_troubles = ()
        self.turning.begun(session)
        self.panes.forget()
        self._serve(session)

    @on(messages.Changed)
    def _on_changed(self) -> None:
        if self._refreshing is not None:
            self._refreshing.all(moved=False)
            self._refreshing.arrived.ask()

    @on(messages.Stepped)
    def _on_stepped(self, message: messages.Stepped) -> None:
        self.lanes.follow_step(message.goes)
        self.panes.boxes.follow_step()

    @on(messages.Grew)
    def _on_grew(self) -> None:
        if self._refreshing is not None:
            self._refreshing.all(moved=False)
        self._show_state()

    @on(messages.Printed)
    def _on_printed(self, message: messages.Printed) -> None:
        self.output.feed(message.text)
        if self._explaining is not None and self.session is not None and self.session.view.life == "trace":
            self._explaining.printed_anew()

    @on(messages.Progressed)
    def _on_progressed(self) -> None:
        work = self.session.works.newest if self.session is not None else None
        self._key_line.work = work
        self._show_empty()
        from agdbg_ui.screens.export import ExportScreen

        if isinstance(self.screen, ExportScreen):
            self.screen.show_work(work)

    @on(messages.Refused)
    def _on_refused(self, message: messages.Refused) -> None:
        self.say(message.text, "error")

    @on(messages.Noted)
    def _on_noted(self, message: messages.Noted) -> None:
        self.say(message.text)

    @on(messages.Barrier)
    def _on_barrier(self, message: messages.Barrier) -> None:
        from agdbg_ui.screens.question import Question, barrier_question

        if isinstance(self.screen, Question):
            return  # it was asked already: the key was pressed twice, or this person is about to leave

        def answered(answer: str | None) -> None:
            if answer == "force" and self.session is not None:
                self.session.force(message.command)

        self.push_screen(barrier_question(message.text), answered)

    # ----- size and focus -----

    @on(Workspace.LaidOut)
    def _on_laid_out(self) -> None:
        if not self.screen_stack:  # the message was on its way when the app left
            return
        if self.focused is None and len(self.screen_stack) == 1:
            self.panes.focus_last()
        self.panes.show_tabs()
        self._raise_notes()
        if self._resizing is not None:
            self._resizing.ask()

    async def _tell_size(self) -> None:
        size = self.panes.terminal_size()
        if self.session is not None and self.session.view.alive and size != self._told_size:
            self._told_size = size
            with suppress(RequestFailed):  # nobody has asked for it; a program may have a terminal of its own
                await self.session.ask.resize(*size)

    def on_descendant_focus(self) -> None:
        """The tabs show where the focus is."""
        self.panes.show_tabs()
        self.call_after_refresh(self._raise_notes)

    on_descendant_blur = on_descendant_focus

    def on_app_focus(self) -> None:
        """The person comes back to this terminal, maybe from an editor."""
        if self._refreshing is not None:
            self._refreshing.file.ask()

    # ----- keys -----

    def action_step(self, command: str) -> None:
        """Step."""
        if self.session is None or (view := self.session.view).life == "starting":
            self.say("still starting: press it again when that is done")
        elif view.life in ("running", "waiting") and view.stop is None and not (view.stopped and command == "continue"):
            self.say(_RUNNING)
        elif view.life == "lost":
            self.say(GONE, "error")
        else:
            self.session.step(command)

    def action_other_thread(self) -> None:
        """Turn to another stopped thread."""
        if self.session is not None and not self.session.other_thread():
            self.say("no other thread is stopped")

    def action_other_process(self) -> None:
        """Turn to another process of a parallel program."""
        self._try(self.turning.next())

    def action_take_control(self) -> None:
        """Be the client that moves the program."""
        session = self.session
        if session is None or session.view.life == "starting":
            return

        async def take() -> None:
            self.say(await session.control.take())

        self._try(take())

    def action_pane(self, pane: str) -> None:
        """Focus a pane."""
        self.panes.focus(pane)
        if pane == "findings" and self._findings is not None:
            self._findings.look_again()
        if pane == "source" and self._refreshing is not None:
            self._refreshing.file.ask()

    def action_leave(self) -> None:
        """End what the hub works at; when that is nothing, back to the graph."""
        if self.session is not None and (title := self.session.cancel()):
            self.say(f"cancelled: {title}")
        else:
            self.panes.focus("graph")

    def action_walk(self, by: int) -> None:
        """To the next line that shows what went wrong, or the one before; look for findings where nobody has."""
        if self._findings is not None:
            self._try(self._findings.walk(by))

    def action_turn_graph(self) -> None:
        """Show the graph in another way."""
        self.panes.turn_graph()

    def action_resize(self, axis: Axis, by: int) -> None:
        """More or less room for the pane with the focus."""
        if problem := self.panes.resize(axis, by):
            self.say(problem)

    def action_next_theme(self) -> None:
        """Other colours."""
        self.action_colours(next(name for name, theme in NAMES.items() if theme == after(self.theme)))

    def action_colours(self, name: str) -> None:
        """Colours by their name."""
        self.theme = self._kept_theme = NAMES[name]
        adapt(self, self._filters)
        without = "; NO_COLOR is set, so there are none" if self.no_color else ""
        self.say(f"colours: {WORDS[self.theme]}{without}")

    def action_edit(self) -> None:
        """The person's editor at the line of the source pane, or with all output; the screen waits for it."""
        source, log = self.panes.source, self.output.log_path
        path, line = (log, 1) if log and self.panes.has_focus("output") else (source.path, source.current_line)
        if not path:
            self.say("no source file is shown")
            return
        try:
            editor.command(path, line)
            with self.suspend():  # which does not give the terminal back after an error
                problem = editor.run(path, line)
        except (editor.NoEditor, SuspendNotSupported) as error:
            problem = str(error) or "this terminal cannot be lent to an editor"
        if problem:
            self.say(problem, "error")
        if self._refreshing is not None:
            self._refreshing.forget(path)

    def action_zoom(self) -> None:
        """Let one pane have all the room."""
        self.panes.zoom()
        said = ZOOMED, "all panes"
        self.unsay(said[self.panes.is_zoomed])
        self.say(said[not self.panes.is_zoomed])

    def action_prompt(self, kind: str) -> None:
        """Ask for a line of text."""
        self.prompts.open(kind)

    def action_type_in(self) -> None:
        """Type into the program."""
        if self.session is None or not self.session.view.alive:
            is_lost = self.session is not None and self.session.view.life == "lost"
            self.say(GONE if is_lost else "there is no program to type for")
            return
        if not self.session.view.output_kept:
            self.say(OWN_TERMINAL)
            return
        self.panes.show("output")
        self.output.enter_input_mode()

    @work(exclusive=True, group="explain")
    async def action_explain(self) -> None:
        """The whole explanation."""
        from agdbg_ui.screens.page import Page

        if self._explaining is None:
            return
        try:
            page = Page(*await self._explaining.page())
            page.is_of_run = True
        except FAILURES as error:
            self.say(self.why(error), "error")
        else:
            if len(self.screen_stack) == 1:  # else something else was asked for meanwhile
                self.push_screen(page)

    def action_export(self) -> None:
        """Write the graph to a file."""
        from agdbg_ui.exporting import export

        if self.session is not None:
            export(self, self.session, self.say)

    async def action_quit(self) -> None:
        """Quit; ask what becomes of a program that is alive."""
        from agdbg_ui.screens.question import quit_question

        if self._is_leaving:
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
        home = self.turning.home
        if home is None or not home.view.alive:
            self._finish("leave")
        else:
            self.push_screen(quit_question(f"{home.view.script} {home.view.rank}".rstrip()), self._on_quit_answer)

    def end_by(self, number: int) -> None:
        """A signal ends the debugger: the program is left running. A second one waits for nothing."""
        if self._ended_by is not None:
            self.exit(TuiResult(signal=self._ended_by))
        self._ended_by = number
        self._finish("leave")

    def _on_quit_answer(self, answer: str | None) -> None:
        self._finish(answer)

    @work
    async def _finish(self, answer: str | None) -> None:
        from agdbg_ui.session import GRACE_S

        if answer in ("kill", "leave") and not self._is_leaving:
            self._is_leaving = True  # another answer comes too late
            if answer == "kill":
                self.say(f"it was asked to end; if it does not in {GRACE_S:g} s it is killed")
            self.exit(await self._leave(answer == "kill"))

    async def _leave(self, kill: bool) -> TuiResult:
        """Say good-bye; a hub that does not answer is left all the same."""
        session = self.turning.home
        is_early = self._command == "launch" and (session is None or session.view.life == "starting")
        name = str(self._arguments.get("program") or self._arguments.get("module") or "")
        if session is None:
            return TuiResult(program=name, early=is_early, signal=self._ended_by)
        await self.turning.part(_PATIENCE_S)
        if session.connected:
            await session.part(kill or is_early, _PATIENCE_S)
        view = session.view
        if self.commander is not None:
            self.commander.close()
        session.close()
        return TuiResult.of(view, name, kill, is_early, self._ended_by)
