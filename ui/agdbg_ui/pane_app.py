"""The part of the app that the panes talk to: what they ask for is fetched, and where they lead is gone to."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from textual import on
from textual.app import App
from textual.notifications import Notify
from textual.screen import Screen
from textual.widgets import Input
from textual.widgets._toast import ToastRack

from agdbg.sources import WRITTEN_TO
from agdbg_ui.control import words_of
from agdbg_ui.copying import is_in_tmux, to_tmux
from agdbg_ui.losing import GONE
from agdbg_ui.panes import Panes
from agdbg_ui.prompts import Prompts
from agdbg_ui.result import TuiResult
from agdbg_ui.spots import Spot
from agdbg_ui.text import reason_of, safe
from agdbg_ui.turning import Turning
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.widgets.boxes import Boxes
from agdbg_ui.widgets.events import EventsPane
from agdbg_ui.widgets.findings import FindingsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.pane_tabs import PaneTabs
from agdbg_ui.widgets.program_input import INTERRUPT
from agdbg_ui.widgets.prompt import Prompt
from agdbg_ui.widgets.rows import Rows
from agdbg_ui.widgets.source import SourcePane
from agdbg_ui.widgets.stops import StopsPane
from agdbg_ui.widgets.timeline import TimelinePane
from agdbg_ui.widgets.tree import TreeView
from agdbg_ui.wording import no_value

if TYPE_CHECKING:
    from agdbg_ui.console import ConsoleRunner
    from agdbg_ui.explaining import Explaining
    from agdbg_ui.finding import Findings
    from agdbg_ui.folding import Folding
    from agdbg_ui.refreshing import Refreshing
    from agdbg_ui.session import Session
    from agdbg_ui.stopping import Stopping

#: Said to whoever wants to stop what stands.
STANDS = "the program stands already; n runs the next node, c lets it go on"
#: Said to whoever wants to type into a program that the hub has not started.
OWN_TERMINAL = "the program has its own terminal: type there"


class PaneApp(App[TuiResult]):
    """Answers the panes.

    Attributes:
        session: the connection, once there is one.
        commander: the console behind ``:``.
        panes, lanes, output, prompt: what is on the screen.
        prompts: what is done with a line that was typed.
        turning: the other processes of the program.
        jumping: held while a jump leads to another node, so that the next one begins there.
    """

    session: Session | None
    commander: ConsoleRunner | None
    panes: Panes
    lanes: Lanes
    output: OutputPane
    prompt: Prompt
    prompts: Prompts
    turning: Turning
    jumping: asyncio.Lock
    _refreshing: Refreshing | None
    _explaining: Explaining | None
    _findings: Findings | None
    _stopping: Stopping | None
    _folding: Folding | None
    _heard: dict[asyncio.Task[Any] | None, list[tuple[str, Any]]]

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Paint, and leave the terminal's cursor on the row that the keys act on.

        It is hidden, but screen readers, braille lines and magnifiers follow it; otherwise it would be in the corner.
        """
        focused = screen.focused
        if isinstance(focused, Rows | Boxes):
            self.cursor_position = focused.place_of_cursor
        elif isinstance(focused, Input):
            self.cursor_position = focused.cursor_screen_offset
        super()._display(screen, renderable)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """Do what a key means before the next one is looked at, so that the next one goes where this one has led.

        Textual hands keys to the widget with the focus, which looks for their meaning when it comes to it: of keys that are
        typed without a pause the later ones would still go to where the focus was.
        """
        if await super()._check_bindings(key, priority):
            return True
        is_text = (isinstance(self.focused, Input) and key != "escape") or len(self.screen_stack) > 1
        return priority and not is_text and await super()._check_bindings(key)

    def action_copy(self) -> None:
        """Put what the cursor is on onto the clipboard of the terminal, by OSC 52 or by tmux."""
        if not (text := self.panes.text_at_cursor()):
            self.say("there is nothing to copy here")
        elif is_in_tmux():
            self._try(self._copy_in_tmux(text))
        else:
            self.copy_to_clipboard(text)
            self.say(f"copied: {text}")

    async def _copy_in_tmux(self, text: str) -> None:
        if await to_tmux(text):
            self._clipboard = text
            self.say(f"copied: {text}")
        else:
            self.copy_to_clipboard(text)
            self.say(f"copied, as far as tmux takes it (set -s set-clipboard on): {text}")

    def say(self, text: str, severity: Any = "information") -> None:
        """A short note that goes away by itself, unless whoever does this here wants to hear it."""
        if (said := self._heard.get(asyncio.current_task())) is not None:
            said.append((text, severity))
            return
        self.notify("\n".join(map(safe, text.split("\n"))), severity=severity, timeout=5, markup=False)

    @contextmanager
    def heard(self) -> Iterator[list[tuple[str, Any]]]:
        """What is said here and now, with its severity, is no note."""
        task = asyncio.current_task()
        self._heard[task] = []
        try:
            yield self._heard[task]
        finally:
            del self._heard[task]

    def on_notify(self, event: Notify) -> None:
        """One more note is about to show: of those that do, the last that says something else stays."""
        kept = [note for note in self._notifications if note.message != event.notification.message][-1:]
        self._notifications.clear()
        for note in kept:
            self._notifications.add(note)

    def _raise_notes(self) -> None:
        """Notes stand above the line of keys, and above the lines that are typed into."""
        below = 1 + (self.prompt.outer_size.height if self.prompt.has_class("-open") else 0)
        line = self.output.typed_into.region
        if self.output.input_mode and line and 2 * line.y > self.size.height:  # else it is far above them
            below = max(below, self.size.height - line.y)
        for rack in self.query(ToastRack):
            rack.styles.margin = (0, 0, below, 0)

    def action_help_quit(self) -> None:
        """ctrl+c: not what ends a debugger; it interrupts an expression of the person."""
        if self.session is not None and self.session.evaluations.is_any:
            self._try(self.session.type_in(INTERRUPT))
            return
        self.say("q quits; i types into the program, and ctrl+c goes to it there")

    def unsay(self, text: str) -> None:
        """Take a note back that is no longer true."""
        for note in [each for each in self._notifications if each.message == text]:
            self._unnotify(note)

    def why(self, error: BaseException) -> str:
        """What to say of a request that failed."""
        is_gone = self.session is not None and self.session.view.life == "lost"
        return GONE if is_gone else words_of(error) or reason_of(error)

    def action_pause(self) -> None:
        """Stop a running program."""
        if self.session is None:
            return
        view = self.session.view
        if view.life == "lost":
            self.say(GONE, "error")
        elif not view.alive:
            self.say("no program runs here")
        elif view.stop is not None:
            self._try(self._pause_others(self.session))
        else:
            if view.pausing:
                self.say("asked to stop once more; it goes on to its next node of autograd")
            self._try(self.session.pause())

    async def _pause_others(self, session: Session) -> None:
        """The thread that is looked at stands: stop those that run."""
        running = [each["id"] for each in (await session.ask.status())["threads"] if not each["stopped"]]
        if not running:
            self.say(STANDS)
            return
        await session.pause(running[0])
        if len(running) == 1:
            self.say("z has asked: the other thread stops at its next node of autograd")
        else:
            self.say(f"z has asked: the next of {len(running):,} other threads at a node stops")

    def action_to_counter(self) -> None:
        """Go where the program stands, while it runs to its newest nodes; without a program, to the place in the recording that is
        looked at.
        """
        view = self.session.view if self.session is not None else None
        if self._refreshing is not None and self._refreshing.is_unread:
            self._refreshing.all()
        elif self.session is not None and view is not None and view.alive and view.stop and view.stop.is_recorded:
            self.lanes.follow_step()
            self._try(self.session.ask.leave_recording())
        elif not self.lanes.to_counter():
            if view is not None and view.life == "running":
                self.lanes.to_newest()
            else:
                self.say("the program stands at no node")
        self.panes.keys_to_nodes()  # now: the next key may be there already

    def action_breakpoint(self) -> None:
        """Set or remove a breakpoint on the selected node's line."""
        row = self.lanes.selected
        if row is None:
            self.say("no node is selected")
        elif not row["file"]:
            self.say(f"{row['op']} was built at an unknown line; B breaks on its name")
        else:
            self._try(self.toggle_line(row["file"], row["line"]))

    def action_filters(self) -> None:
        """Choose the errors to stop at."""
        if self.session is None or not self.session.filters.known:
            self.say("the hub has named no errors to stop at yet")
        else:
            from agdbg_ui.screens.filters import FiltersScreen

            self.push_screen(FiltersScreen(self.session.filters))

    def action_jump_to(self, where: str) -> None:
        """To the producer, the consumer, the root of the pass, the first bad node."""
        from agdbg_ui.jumping import Jumps

        if self.session is not None:
            self._try(Jumps(self, self.session).to(where))

    def action_mark(self) -> None:
        """Mark the selected node; of the second one the ways to it are shown."""
        from agdbg_ui.jumping import Jumps

        if self.session is not None:
            self._try(Jumps(self, self.session).mark())

    def action_command_palette(self) -> None:
        """All commands, to search in."""
        from agdbg_ui.screens.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def action_help(self) -> None:
        """All keys."""
        from agdbg_ui.screens.help import HelpScreen

        self.push_screen(HelpScreen())

    # ----- what the panes say -----

    @on(Lanes.Wanted)
    def _on_rows_wanted(self) -> None:
        if self._refreshing is not None:
            self._refreshing.rows.ask()

    @on(Lanes.Selected)
    def _on_row_selected(self) -> None:
        if self._refreshing is not None:
            self._refreshing.selected()

    @on(Lanes.FoldWanted)
    def _on_fold_wanted(self, message: Lanes.FoldWanted) -> None:
        self.action_fold(message.how)

    def action_fold(self, how: str) -> None:
        """Fold or unfold rows of the graph, or modules where it is shown by those."""
        if (said := self.panes.fold(how)) is not None:
            if said:
                self.say(said)
        elif self._folding is not None:
            self._try(self._folding.move(how))

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
            self._try(self._refreshing.show_source(Spot(event["file"], event["line"])))

    @on(TimelinePane.Wanted)
    def _on_runs_wanted(self) -> None:
        if self._refreshing is not None:
            self._refreshing.runs.ask()

    @on(TimelinePane.Selected)
    def _on_run_selected(self, message: TimelinePane.Selected) -> None:
        if message.go and self.session is not None:
            self._try(self.session.ask.goto(message.run["record"]))
        else:
            self._try(self.go_to_node(message.run["node"]))

    @on(TreeView.Wanted)
    def _on_tree_wanted(self) -> None:
        if self._refreshing is not None:
            self._refreshing.branches.ask()

    @on(TreeView.Selected)
    def _on_branch_selected(self, message: TreeView.Selected) -> None:
        self.panes.focus("lanes")
        self._try(self.go_to_node(message.node))

    @on(Boxes.Wanted)
    def _on_boxes_wanted(self, message: Boxes.Wanted) -> None:
        if self._refreshing is not None:
            self._refreshing.neighbourhood(message.node, message.hops, message.depth)

    @on(Boxes.AnyWanted)
    def _on_any_wanted(self) -> None:
        if self._refreshing is not None and self._refreshing.is_unread:  # somebody has cancelled that they are read
            self._refreshing.all()

    @on(Boxes.RowsWanted)
    def _on_rows_of_box(self, message: Boxes.RowsWanted) -> None:
        self.panes.focus("lanes")
        self._try(self.go_to_node(message.node))

    @on(Boxes.Selected)
    def _on_box_selected(self, message: Boxes.Selected) -> None:
        self._try(self.go_to_node(message.node))

    @on(StopsPane.Wanted)
    def _on_stops_wanted(self) -> None:
        if self._stopping is not None:
            self._stopping.ask()

    @on(StopsPane.Chosen)
    def _on_stop_chosen(self, message: StopsPane.Chosen) -> None:
        if self._stopping is not None:
            self._try(self._stopping.choose(message.item))

    @on(StopsPane.Removed)
    def _on_stop_removed(self, message: StopsPane.Removed) -> None:
        if self._stopping is not None:
            self._try(self._stopping.remove(message.number))

    @on(StopsPane.Switched)
    def _on_stop_switched(self, message: StopsPane.Switched) -> None:
        if self._stopping is not None:
            self._try(self._stopping.switch(message.number))

    def breakpoints_changed(self) -> None:
        """Marks and lists of them may be others."""
        if self._refreshing is not None:
            self._refreshing.all()
        self.panes.stops.outdate()

    @on(FindingsPane.Chosen)
    def _on_finding(self, message: FindingsPane.Chosen) -> None:
        if self._findings is not None:
            self._try(self._findings.open(message.finding, message.evidence))

    @on(FindingsPane.MoreWanted)
    def _on_more_findings(self) -> None:
        if self._findings is not None:
            self._findings.more()

    @on(Inspector.Goto)
    def _on_goto(self, message: Inspector.Goto) -> None:
        self._try(self.go_to_node(message.node))

    @on(Inspector.ValueWanted)
    def _on_value_wanted(self, message: Inspector.ValueWanted) -> None:
        reference, session = message.entry["reference"], self.session
        if session is None or not reference:
            stop = session.view.stop if session is not None else None
            self.say(no_value(stop, str(message.entry.get("value", ""))))
            return
        from agdbg_ui.screens.tensor import TensorScreen

        self.push_screen(TensorScreen(message.heading, lambda wanted: session.ask.tensor(reference, wanted)))

    @on(SourcePane.BreakpointToggled)
    def _on_line_toggled(self, message: SourcePane.BreakpointToggled) -> None:
        self._try(self.toggle_line(message.path, message.line))

    @on(SourcePane.OtherWanted)
    def _on_other_place(self) -> None:
        self._try(self.show_other_place())

    @on(OutputPane.Submitted)
    def _on_typed(self, message: OutputPane.Submitted) -> None:
        if self.session is not None:
            self._try(self.session.type_in(message.text))

    @on(OutputPane.InputModeChanged)
    def _on_input_mode(self, message: OutputPane.InputModeChanged) -> None:
        self.call_after_refresh(self._raise_notes)
        view = self.session.view if self.session is not None else None
        if message.active and (view is None or not view.alive or not view.output_kept):
            self.output.leave_input_mode()
            if view is not None and view.alive:
                self.say(OWN_TERMINAL)

    @on(Banner.Opened)
    def _on_banner_opened(self) -> None:
        self.call_later(self.run_action, "explain")

    @on(PaneTabs.Chosen)
    def _on_tab_chosen(self, message: PaneTabs.Chosen) -> None:
        self.panes.focus(message.pane)

    @on(Prompt.Entered)
    def _on_entered(self, message: Prompt.Entered) -> None:
        self._try(self.prompts.entered(message.kind, message.text, message.number))

    @on(Prompt.Arrow)
    def _on_arrow(self, message: Prompt.Arrow) -> None:
        self._try(self.prompts.find(message.text, backwards=message.by < 0))

    @on(Prompt.Incomplete)
    def _on_incomplete(self, message: Prompt.Incomplete) -> None:
        self.prompt.complete(message.text, self.prompts.complete(message.text))

    def _join_lines(self) -> None:
        """Who opens the line to type in, and who has the keys after it, does so at once: the next key may be there already."""
        self.prompt.on_close = self._left_prompt
        self.panes.inspector.on_set = lambda entry: self.prompts.open_set(str(entry["name"]))
        self.panes.stops.on_condition = lambda number: self.prompts.open("console", f"condition {number} ")

    def _left_prompt(self) -> None:
        """Nothing is typed any more: the keys are for the pane that had them before."""
        if self.commander is not None:
            self.commander.leave()
        self.panes.focus_last()

    async def show_source(self, spot: Spot, node: int = 0) -> None:
        """Show a line in the source pane; one that says something about a node stays while that is selected."""
        if self._refreshing is not None:
            await self._refreshing.show_meant(spot, node)

    async def show_other_place(self) -> None:
        """Show another place of the selected node in the source pane."""
        end = self._explaining.line_of_end() if self._explaining is not None else None
        if self._refreshing is not None and not await self._refreshing.other_place(end):
            self.say("no other place is known: no pass has run this node")

    async def toggle_line(self, file: str, line: int) -> None:
        """Set a breakpoint on a line, or remove it; switch it on again where it is off."""
        if self.session is not None and self._refreshing is not None:
            breakpoints, place = self.session.breakpoints, f"{os.path.basename(file)}:{line}"
            if await breakpoints.switch_on_line(file, line):
                self.say(f"breakpoint at {place} on again")
            else:
                added = await breakpoints.toggle_line(file, line)
                source = self.panes.source
                is_changed = added and source.path == file and source.is_changed
                is_other = is_changed or (added and await self._refreshing.is_changed(file))
                more = f"; {WRITTEN_TO}" if is_other else ""
                self.say(f"breakpoint at {place} {'set' if added else 'removed'}{more}")
            self.breakpoints_changed()

    async def go_to_node(self, node: int) -> None:
        """Select a node in the graph."""
        if self.session is None:
            return
        row = await self.session.ask.locate(node)
        if row is None:
            self.say(f"node {node} has no row: it is a leaf that no recorded node uses")
        else:
            await self.go_to_row(row)

    async def go_to_row(self, row: int) -> None:
        """Select a row of the graph, out of what it is folded in."""
        if self._folding is not None:
            await self._folding.show(row)

    def _try(self, awaitable: Awaitable[object]) -> None:
        """Do it beside the screen's own work; say so when it fails."""

        async def run() -> None:
            try:
                await awaitable
            except Exception as error:  # whatever goes wrong is told, and the screen goes on
                self.say(self.why(error), "error")

        self.run_worker(run(), exit_on_error=False)
