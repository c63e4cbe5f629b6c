"""What all clients of a hub share: the program, its trace, the breakpoints, the stops and the cursor."""

import linecache
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg.agent.control import ControlWriter
from agdbg.hub.adopted import Adopted, AnyProgram
from agdbg.hub.agents import AgentLink, AgentRefused
from agdbg.hub.awaiting import awaits_input
from agdbg.hub.breakpoints import Breakpoints
from agdbg.hub.breaktelling import BreakTelling
from agdbg.hub.call import Refused
from agdbg.hub.connection import Connection
from agdbg.hub.cursor import Cursor
from agdbg.hub.growth import Growth
from agdbg.hub.hitnews import HitNews
from agdbg.hub.in_control import InControl
from agdbg.hub.loop import Loop
from agdbg.hub.outlet import Outlet
from agdbg.hub.output import OutputLog
from agdbg.hub.place import Runtime
from agdbg.hub.program import LaunchSpec, Program
from agdbg.hub.reading import Reading
from agdbg.hub.recorded_conditions import sees_of
from agdbg.hub.running import Running
from agdbg.hub.standing import Standing
from agdbg.hub.stops import Stops
from agdbg.hub.tasks import Tasks
from agdbg.hub.tracedir import TraceDirectory
from agdbg.hub.worker import Worker
from agdbg.launch import place
from agdbg.launch.program import Program as Target
from agdbg.protocol.messages import event
from agdbg.ranks import Rank, rank_of
from agdbg.record.metafile import read_meta
from agdbg.record.stopped import note

if TYPE_CHECKING:
    from agdbg.hub.replay import Position
    from agdbg.protocol.vendor import Trouble

MakeProgram = Callable[[LaunchSpec, Runtime, Path], Program]


class Session:
    """The state of a hub. It is idle until a client launches a program or opens a trace.

    Attributes:
        clients: all connections; those that have joined are told what happens.
        in_control: which of them may move the program.
        breakpoints, break_telling: where to stop, and how other clients get to know of it.
        stops: the threads of the program, and where they stand.
        running: the program; None before it was launched, and for a trace.
        trace: the directory of the trace; None before there is one.
        reading, outlet: of that trace.
        printed_before: what the program had printed when it was last started anew.
        troubles: what is known to be wrong with the recording.
        worker: reads other files.
        has_starter: whoever started the hub did so to be its first client, and needs it for nothing else.
        launcher: the client that has launched the program.
        argv, cwd: the program's.
        rank: which process of a parallel program it is; None: its launcher names none.
        recorded_exit: the exit status that a trace tells of.
        was_orphaned: the last client went while the program ran, and its breakpoints were dropped.
        has_no_client_yet: the program was not started by this hub, and no client has joined: nothing stops.
    """

    def __init__(self, loop: Loop, runtime: Runtime, on_end: Callable[[], object], make: MakeProgram) -> None:
        self.loop, self.runtime = loop, runtime
        self.log_path = runtime.directory / "log"
        self.clients: list[Connection] = []
        self.in_control = InControl(self.tell_one, lambda: self.joined)
        self._control = ControlWriter(runtime.control)
        self.breakpoints = Breakpoints(self._control)
        self.break_telling = BreakTelling(self.breakpoints)
        self.stops = Stops(self.breakpoints, self.tell)
        self.stops.news = HitNews(self.breakpoints, self.break_telling, lambda: self.joined)
        self.stops.is_abandoned = lambda: self._is_abandoned
        self.running: Running | None = None
        self.trace: TraceDirectory | None = None
        self.reading: Reading | None = None
        self._foreseen: Reading | None = None
        self.outlet: Outlet | None = None
        self.printed_before: OutputLog | None = None
        self.worker = Worker(loop, "files")
        self.tasks = Tasks(loop)
        self.has_starter = True
        self._starter: Connection | None = None
        self.launcher: Connection | None = None
        self.argv: list[str] = []
        self.cwd = ""
        self.rank: Rank | None = None
        self.recorded_exit: int | None = None
        self.was_orphaned = self.has_no_client_yet = False
        self._held: list[AgentLink] = []
        self._spec: LaunchSpec | None = None
        self._on_restart: Callable[[Exception | None], object] | None = None
        self._waits_for_client = self._is_over = False
        self._make, self._on_end = make, on_end
        self.troubles: list[Trouble] = []
        self._growth = Growth(self)
        self._standing = Standing(loop, runtime, lambda: bool(self.stops.threads.stopped))
        self.stops.on_stop = self.stops.on_resume = self._moved
        self.stops.at_rest, self.stops.on_recording = loop.at_rest, self._records
        self.stops.on_error = self._note
        self.stops.on_news, self.stops.on_ahead = self._take_in, self._look_ahead

    def _moved(self) -> None:
        """A thread has stopped or goes on."""
        self._growth.soon()
        if self.rank is not None:
            self._standing.changed()

    def _records(self, trace: Path) -> None:
        """The program records to ``trace``, which is another one than it was when it has removed or moved that."""
        if self.trace is not None and self.reading is not None and trace != self.trace.path.absolute():
            self.trace.moved(trace)
            self.reading.move(trace)
            self.runtime.describe(trace=str(trace))

    def _note(self, stop: dict[str, Any]) -> None:
        if self.trace is not None:
            note(self.trace.path, stop)

    def _take_in(self) -> None:
        if self.reading is not None:
            self.reading.take_in()

    def _look_ahead(self, node: int) -> None:
        if self.reading is not None:
            self.reading.look_ahead(node)

    # ----- what there is -----

    @property
    def joined(self) -> Iterator[Connection]:
        """The clients that are told what happens."""
        return (client for client in self.clients if client.joined)

    @property
    def trusted(self) -> Iterator[Connection]:
        """The clients that may launch something."""
        return (client for client in self.clients if client.trusted)

    @property
    def state(self) -> str:
        """As ``agdbg/status`` has it; empty while the hub is idle."""
        if self.running is None:
            return "trace" if self.trace else ""
        if self.running.is_alive:
            return "stopped" if self.stops.threads.stopped else "running"
        return "ended" if self.running.has_ended else "waiting"

    @property
    def is_live(self) -> bool:
        """True while the program runs or stands."""
        return self.running is not None and self.running.is_alive

    @property
    def can_restart(self) -> bool:
        """True when this hub has started the program: it can then do so again."""
        return self._spec is not None

    def recorded(self) -> Reading:
        """The trace.

        Raises:
            Refused: there is none.
        """
        if self.reading is None:
            raise Refused("there is no program and no trace here: launch a program, or attach to a trace")
        return self.reading

    @property
    def keeps_output(self) -> bool:
        """Whether what the program prints is in a file; it went to a terminal of its own otherwise, and nobody kept it."""
        if self.running is not None:
            return self.can_restart
        return self.trace is not None and self.trace.output.is_file()

    @property
    def awaits_input(self) -> bool:
        """Whether the program runs and reads its terminal, at which there is nothing to read."""
        program = self.running.program if self.is_live and self.running is not None else None
        return program is not None and bool(program.terminal_path) and awaits_input(program.pid, program.terminal_path)

    @property
    def runs(self) -> str:
        """The node that runs while it calls functions of the program; empty when none is told."""
        return self._control.now.read()

    def program(self) -> AnyProgram:
        """The program, which runs.

        Raises:
            Refused: it does not.
        """
        if self.running is None or not self.running.is_alive:
            raise Refused(f"there is no program to talk to: {self._why_no_program()}")
        return self.running.program

    def _why_no_program(self) -> str:
        reasons = {
            "": "launch one",
            "waiting": "it starts at configurationDone",
            "ended": "it has ended",
            "trace": "this is a trace; launch the program to run it again",
        }
        return reasons.get(self.state, "it is about to end")

    # ----- telling the clients -----

    def tell(self, name: str, body: Any = None, but: Connection | None = None) -> None:
        """Send an event to all clients that have joined."""
        for client in self.clients:
            if client.joined and client is not but:
                client.send(event(client.next_seq(), name, body))

    @staticmethod
    def tell_one(client: Connection, name: str, body: Any = None) -> None:
        """Send an event to one client."""
        client.send(event(client.next_seq(), name, body))

    def gradient_replaced(self, thread: int) -> None:
        """Variables of a thread that stands are not what they were: let those who can hear it ask for them again."""
        self.stops.references.spoil(thread)
        body = {"areas": ["variables"], "threadId": thread}
        for client in self.joined:
            if client.hears_invalidated:
                client.send(event(client.next_seq(), "invalidated", body))

    # ----- beginning -----

    def launch(self, spec: LaunchSpec, trace: TraceDirectory, waits_for_client: bool) -> None:
        """Get a program ready; it starts when the client has said all that it has to say."""
        self._spec, self._waits_for_client = spec, waits_for_client
        self.breakpoints.recording = None
        self.argv = [spec.target, *spec.args]
        self.rank = rank_of(spec.environment)
        self._get_ready(spec, trace)

    def _get_ready(self, spec: LaunchSpec, trace: TraceDirectory) -> None:
        (self.runtime.directory / place.UNRECORDED_FILE).unlink(missing_ok=True)
        self._open(trace)
        program = self._make(spec, self.runtime, trace.path)
        self.running = Running(self.loop, program, spec.target, self._output_grew, self._ended)
        self._describe(str(spec.cwd))

    def restart(self, then: Callable[[Exception | None], object]) -> None:
        """Run the program once more, with the same breakpoints and to a new trace; one that runs is ended before.

        Args:
            then: called when it has started, or with the reason why it could not be.

        Raises:
            Refused: there is none that this hub could start.
        """
        if self._spec is None or self.running is None or self.state == "waiting":
            raise Refused(f"restart: {self._why_no_restart()}")
        if self._on_restart is not None:
            raise Refused("restart: it is being restarted already")
        self._on_restart = then
        if self.running.is_alive:
            self.running.end()
        elif self.running.was_told:
            self._again()

    def _why_no_restart(self) -> str:
        if self._spec is None and self.running is not None:
            return "the program was not started by this hub, so it cannot start it anew: start it as you did before"
        return f"there is no program that this hub has started: {self._why_no_program()}"

    def _again(self) -> None:
        """The program has ended, in order to be started anew."""
        then, self._on_restart = self._on_restart or _no_matter, None
        assert (
            self._spec is not None and self.running is not None and self.trace is not None and self.reading is not None
        )
        assert self.outlet is not None
        error: Exception | None = None
        try:
            trace = self.trace.another(
                Path(str(self._spec.cwd)), Target(self._spec.target, is_module=self._spec.is_module).name
            )
            has_no_input = self.running.input_end is not None
            self.running.close()
            self.reading.close()
            self.trace.tidy()
            self.outlet.part()
            if self.printed_before is not None:
                self.printed_before.close()
            self.printed_before = self.outlet.log
            self._get_ready(self._spec, trace)
            linecache.checkcache()  # its files may have been edited
            self.tell("agdbg/restarted", {"trace": str(trace.path)})
            self.start()
            if has_no_input:
                self.running.end_input()
        except Exception as found:
            error = found
        self.stops.leave_trace()
        then(error)

    def adopt(self, program: Adopted, trace: TraceDirectory, argv: list[str], cwd: str, waits_for_client: bool) -> None:
        """Look after a program that runs already."""
        self._open(trace)
        self._waits_for_client, self.has_no_client_yet = waits_for_client, True
        self.argv, self.rank = argv, rank_of(os.environ)
        self.running = Running(self.loop, program, argv[0] if argv else "", self._output_grew, self._ended)
        self._describe(cwd)
        self.running.start()
        self.stops.pid = program.pid
        self.runtime.describe(program=program.pid)
        self._growth.begin()

    def open_trace(self, trace: TraceDirectory, argv: list[str], cwd: str, rank: Rank | None) -> None:
        """Serve a trace that is there already."""
        self._open(trace)
        self.argv, self.rank = argv, rank
        self.breakpoints.recording = sees_of(read_meta(trace.path)[0])
        self.stops.cursor = Cursor(1)
        self._describe(cwd)

    def foresee(self, path: Path) -> None:
        """A client is about to ask for a trace: begin to read it. What is wrong with it that client is told then."""
        self._foreseen = Reading(path, self.loop)
        self._foreseen.peek(lambda history: None, lambda found, error: None)

    def _open(self, trace: TraceDirectory) -> None:
        self.trace, self.troubles = trace, []
        foreseen, self._foreseen = self._foreseen, None
        if foreseen is not None and foreseen.directory != trace.path:
            foreseen.close()
            foreseen = None
        self.reading = foreseen or Reading(trace.path, self.loop)
        self.outlet = Outlet(OutputLog(trace.output), self.loop, lambda: self.joined)

    def _describe(self, cwd: str) -> None:
        assert self.trace is not None
        self.cwd = cwd
        rank = {} if self.rank is None else self.rank.table()
        self.runtime.describe(argv=self.argv, cwd=cwd, trace=str(self.trace.path), started=time.time(), **rank)

    def start(self) -> None:
        """Start the program.

        Raises:
            InputError: it cannot be started; the hub is idle again.
        """
        assert self.running is not None
        try:
            self.running.start()
        except Exception:
            self._forget_launch()
            raise
        self.stops.pid = self.running.program.pid
        self.runtime.describe(program=self.stops.pid)
        if self.outlet is not None:
            self.outlet.log.have_spare(self.running.program.spare)
        body = {
            "name": self.running.name,
            "systemProcessId": self.running.program.pid,
            "isLocalProcess": True,
            "startMethod": "launch",
        }
        self.tell("process", body)
        self._growth.begin()

    def welcome(self, client: Connection) -> None:
        """Tell a client that has joined where all stands, for whom the program may have waited."""
        self.has_no_client_yet = False
        self.let_go()
        if not self.can_restart:
            self.tell_one(client, "capabilities", {"capabilities": {"supportsRestartRequest": False}})
        if self.was_orphaned:
            self.was_orphaned = False
            client.send(event(client.next_seq(), "agdbg/orphaned"))
        self.break_telling.welcome(client)
        for body in self.stops.all_bodies():
            client.send(event(client.next_seq(), "stopped", body))
        if self.stops.cursor is not None and self.reading is not None:
            self._show_cursor(client, self.stops.cursor, self.reading)
        self._growth.begin()

    def hold(self, link: AgentLink) -> None:
        """A program that runs already waits for its first client, and goes on when that has said all it has to say."""
        if any(client.configured for client in self.joined):
            link.ask("go", _nothing)
        else:
            self._held.append(link)

    def let_go(self) -> None:
        """The first client is there."""
        held, self._held = self._held, []
        for link in held:
            link.ask("go", _nothing)

    def _show_cursor(self, client: Connection, cursor: Cursor, reading: Reading) -> None:
        def found(position: "Position | None", error: BaseException | None) -> None:
            if position is not None and self.stops.cursor is cursor:
                cursor.position = cursor.position or position
                client.send(event(client.next_seq(), "stopped", self.stops.cursor_body(cursor)))

        reading.peek(lambda history: None if history is None else cursor.where(history), found)

    def _forget_launch(self) -> None:
        """The program did not start: all is as before it was launched."""
        if self.trace is not None:
            self.trace.tidy()
        if self.reading is not None:
            self.reading.close()
        self.running = self.trace = self.reading = self.outlet = None
        self.argv = []

    # ----- clients that go -----

    def introduced(self, client: Connection) -> None:
        """A client has said who it is. The first one is that of whoever started the hub."""
        client.introduced = True
        if self.has_starter and self._starter is None and client.trusted:
            self._starter = client

    def client_gone(self, client: Connection) -> None:
        """A connection is closed. When it was the last client, the program is on its own, or the hub is done.

        A hub in which nothing was launched yet is done only when its starter goes: others may have looked in by mistake,
        and over the network anybody can.
        """
        if client in self.clients:
            self.clients.remove(client)
        self.in_control.release(client)
        self.tasks.gone(client)
        if self._is_over:
            return
        if client.joined and not any(self.joined):
            self._abandoned()
        elif client is self._starter and self.trace is None and not any(self.trusted):
            self._on_end()

    @property
    def _is_abandoned(self) -> bool:
        return (self.was_orphaned or self.has_no_client_yet) and not any(self.joined)

    def _abandoned(self) -> None:
        if not self.is_live:
            self._on_end()
        elif not self._waits_for_client:
            self.was_orphaned = True
            self.release()

    def release(self) -> None:
        """Drop all breakpoints, and let all threads run."""
        self.breakpoints.clear()
        for thread in self.stops.threads.stopped:
            self.stops.resume(thread, "continue")

    # ----- the end of the program -----

    def _output_grew(self) -> None:
        if self.outlet is not None:
            self.outlet.grew()

    def _ended(self) -> None:
        """The program has ended, and all that it printed is there."""
        assert self.running is not None and self.trace is not None and self.outlet is not None
        self.outlet.finish()
        self.trace.keep_output(self.outlet.log)
        if self.reading is not None:
            self.reading.why_nothing = f"no autograd activity recorded: {_why_nothing(self.runtime.directory)}"
        self.stops.end()
        if self._on_restart is not None and any(self.joined):
            self._again()
            return
        found = self.running.exit
        if found.status is not None or found.signal is not None:  # else nobody knows
            self.tell("exited", {"exitCode": found.code})
        trace = str(self.trace.path) if self.trace.holds_something else ""
        self.tell("agdbg/ended", {"exit": found.status, "signal": found.signal, "trace": trace})
        self.tell("terminated")
        self._growth.last()
        if not any(self.joined):
            self._on_end()

    def close(self) -> None:
        """The hub ends; a program that runs goes on."""
        self._is_over = True
        if self.is_live:
            self.release()
        if self.running is not None:
            self.running.close()
        if self.reading is not None:
            self.reading.close()
        if self.trace is not None and not self.is_live:
            self.trace.tidy()
        self.worker.close()
        self._control.close()


def _why_nothing(directory: Path) -> str:
    """What a program that has ended has left there in case nothing of it was recorded."""
    try:
        said = (directory / place.UNRECORDED_FILE).read_text(encoding="utf-8")
    except (OSError, ValueError):
        said = ""  # it ended before it ran, or without Python's help
    return said or "the program used no autograd engine"


def _no_matter(error: Exception | None) -> None:
    """Nobody waits for it."""


def _nothing(body: dict[str, Any], error: AgentRefused | None) -> None:
    """It goes on; if it is gone, that is told elsewhere."""
