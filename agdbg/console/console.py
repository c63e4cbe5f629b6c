"""A console: takes a line, finds its command, does it through the protocol and tells what came of it."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from agdbg.console.breakpoints import Table
from agdbg.console.events import Body, State
from agdbg.console.table import CommandError, Reply, find
from agdbg.protocol.client import Client, RequestFailed
from agdbg.sources import WRITTEN_TO

#: How long a thread may run while another one stands, until that one is looked at, in seconds.
_PATIENCE_S = 10.0
#: How long one look for an event lasts, in seconds; then it is looked again.
_LOOK_S = 1.0


class Console:
    """One person's, or one script's, view of a program or a trace.

    Args:
        client: a connection to the hub that has sent ``initialize``, and ``launch`` or ``attach`` unless ``launch`` is given.
        launch: the arguments with which the first command that needs the program starts it; None: it is there already.
        on_output: called with what the program prints.
        on_warning: called with what the hub has to say that is no answer; left out, it comes with the next reply.
        on_restart: called when the program is started anew, before it prints anything.
        next_event: waits for the next event and returns it, or None after a while; that of the client when left out.

    Attributes:
        client: as above.
        state: what is known from the hub's events.
        table: the breakpoints of this console.
        frame: the number of the frame that is looked at, from 0.
        is_waiting: the program is still to be started.
        wants_to_quit: ``quit`` was said.
        listed: the file that ``list`` has shown, and the line behind that; None: nothing yet.
    """

    def __init__(
        self,
        client: Client,
        *,
        launch: Body | None = None,
        on_output: Callable[[str], object] = lambda text: None,
        on_warning: Callable[[str], object] | None = None,
        on_restart: Callable[[], object] = lambda: None,
        next_event: Callable[[], Body | None] | None = None,
    ) -> None:
        import agdbg.console.commands

        assert agdbg.console.commands
        self.client = client
        self.state = State(on_output, on_warning)
        self._on_restart = on_restart
        self.table = Table(self)
        self.frame = 0
        self.wants_to_quit = False
        self.listed: tuple[str, int] | None = None
        self.is_waiting = launch is not None
        self._launch = launch or {}
        self._next_event = next_event or (lambda: client.next_event(_LOOK_S))
        self._thread = 0
        self._sources: dict[str, tuple[list[str], bool]] = {}
        if launch is not None:
            self.table.begin()
        else:
            self.settle()

    # ----- lines -----

    def execute(self, line: str) -> Reply:
        """Do one command; an empty line and a comment (``#``) are none.

        Raises:
            CommandError: it cannot be done; nothing has changed.
        """
        reply = self._one(line)
        attached, done = self.table.commands_at(reply.value), []
        while attached:
            following = attached.pop(0)
            try:
                more = self._one(following)
            except CommandError as error:
                done.append((following, Reply(f"error: {following}: {error}")))
                break
            done.append((following, more))
            if isinstance(more.value, dict) and ("stop" in more.value or "ended" in more.value):
                attached = self.table.commands_at(more.value)  # the rest was for the place before
        return _together(reply, done)

    def _one(self, line: str) -> Reply:
        words = line.strip()
        if not words or words.startswith("#"):
            return Reply("")
        self.drain()
        name, _, rest = words.partition(" ")
        found = find(name)
        try:
            reply = found.run(self, rest.strip())
        except RequestFailed as error:
            raise CommandError(refusal(error)) from None
        except TimeoutError as error:
            raise CommandError(str(error)) from None
        self.drain()
        notes = self.state.taken_notes()
        return Reply("\n".join([*notes, reply.text]), reply.value) if notes else reply

    # ----- asking -----

    def ask(self, request: str, /, **arguments: Any) -> Body:
        """The body of the answer to a request."""
        return self.client.request(request, **arguments)

    def settle(self) -> None:
        """Take in all that the hub has told so far: an answer comes behind it."""
        if not self.is_waiting:
            self.ask("agdbg/status")
        self.drain()

    def drain(self) -> None:
        """Take in the events that came already."""
        while self.client.events:
            self._take(self.client.events.popleft())
        self.table.sync()

    def _take(self, message: Body) -> str:
        """Take in an event; return its name. A program that is started anew reads its files anew."""
        name = self.state.take(message)
        if name == "agdbg/restarted":
            self._sources.clear()
            self.listed = None
            self._on_restart()
        return name

    @property
    def cwd(self) -> Path:
        """The directory that relative paths are meant from: the program's."""
        wanted = self._launch.get("cwd")
        return Path(wanted) if wanted else Path.cwd()

    @property
    def script(self) -> str:
        """The program's file, when it is known."""
        name = self._launch.get("program") or ""
        if not self._launch:
            name = next(iter(self.ask("agdbg/status")["argv"]), "")
        path = self.cwd / name
        return str(path) if name and path.is_file() else ""

    @property
    def thread(self) -> int:
        """The thread that is looked at: one that stands, or after the end and in a trace the one of the recording.

        Raises:
            CommandError: the program was not started, or runs.
        """
        if self.is_waiting:
            raise CommandError("the program has not been started; run, start or continue does")
        if self._thread in self.state.stops:
            return self._thread
        if self.state.stops:
            return next(reversed(self.state.stops))
        if self.ask("agdbg/status")["state"] in ("trace", "ended"):
            return int(self.ask("threads")["threads"][0]["id"])
        raise CommandError("the program is running; pause stops it at the next node, wait waits until it stops")

    @property
    def is_running(self) -> bool:
        """The program runs, and no thread of it stands."""
        if self.is_waiting or self.state.stops or self.state.is_over:
            return False
        runs = self.ask("agdbg/status")["state"] == "running"
        self.drain()
        return bool(runs) and not self.state.stops

    def select(self, thread: int) -> None:
        """Look at a thread, from its innermost frame."""
        self._thread, self.frame, self.listed = thread, 0, None

    def follow(self, thread: int) -> None:
        """Somebody has turned to a thread: look at it, unless that is so."""
        if thread != self._thread:
            self.select(thread)

    # ----- moving -----

    def begin(self, *, stop_on_entry: bool) -> Reply:
        """Start the program, and wait for its first stop or its end."""
        self._launched(stop_on_entry=stop_on_entry)
        return self.arrived()

    def _launched(self, *, stop_on_entry: bool) -> None:
        self.ask("launch", **{**self._launch, "stopOnEntry": stop_on_entry})
        self.is_waiting = False
        self.ask("configurationDone")

    def move(self, request: str, /, **arguments: Any) -> Reply:
        """Let the thread go on in some way, and wait until one stops or the program has ended."""
        thread = self.thread
        before = self.state.stops.pop(thread, None)
        try:
            self.ask(request, threadId=thread, **arguments)
        except BaseException:
            if before is not None:
                self.state.stops[thread] = before
            raise
        return self.arrived(thread)

    def let_others_go(self) -> None:
        """Let all threads go on that stand, but for the one that is looked at."""
        for thread in [each for each in self.state.stops if each != self.thread]:
            self.state.stops.pop(thread)
            self.client.send("continue", threadId=thread)

    def arrived(self, moved: int = 0) -> Reply:
        """Wait until a thread stops or the program has ended, and tell where.

        When the thread that was ``moved`` has ended, or has not stopped for a while, perhaps since it waits for another one that
        stands, that one is looked at.
        """
        patience = monotonic() + _PATIENCE_S
        while True:
            message = self._next_event()
            name = "" if message is None else self._take(message)
            if message is not None and name == "stopped":
                self.select(message["body"]["threadId"])
                return self.told_stop(message["body"])
            if name == "terminated":
                return told_end(self.state.ended)
            has_ended = (
                message is not None and name == "thread" and message["body"] == {"reason": "exited", "threadId": moved}
            )
            if moved and self.state.stops and (has_ended or monotonic() > patience):
                return self._told_other(f"thread {moved} {'has ended' if has_ended else 'runs on'}")

    def _told_other(self, why: str) -> Reply:
        """Where the thread stands that has stopped last, of those that stand still."""
        other, body = next(reversed(self.state.stops.items()))
        self.select(other)
        reply = self._stop_in_words(body)
        return Reply(f"{why}; thread {other} stands {reply.text}", reply.value)

    def let_go(self) -> Reply:
        """Stop nowhere any more, but where messages are logged, and wait until the program has ended."""
        self.table.let_go()
        if self.is_waiting:
            self._launched(stop_on_entry=False)
        for thread in self.state.stops:
            self.client.send("continue", threadId=thread)
        return self.until_the_end()

    def until_the_end(self) -> Reply:
        """Wait until the program has ended; threads that stop on the way are let go on."""
        while not self.state.is_over:
            message = self._next_event()
            if message is not None and self._take(message) == "stopped":
                self.client.send("continue", threadId=message["body"]["threadId"])
        return told_end(self.state.ended)

    def told_stop(self, body: Body) -> Reply:
        """A stop in words: the thread where there are several, why and where, and the line that built the node."""
        from agdbg.console.places import thread_of

        reply = self._stop_in_words(body)
        return Reply(f"{thread_of(self, body)}{reply.text}", reply.value)

    def _stop_in_words(self, body: Body) -> Reply:
        from agdbg.console.places import origin_of, words_of_stop

        frames = self.frames()
        text = "\n".join([*words_of_stop(body), *origin_of(self, body, frames)])
        return Reply(text, {"stop": {**body, "frames": frames[:2]}})

    # ----- frames and sources -----

    def frames(self) -> list[Body]:
        """The frames of the thread that is looked at."""
        found: list[Body] = self.ask("stackTrace", threadId=self.thread)["stackFrames"]
        return found

    def node(self) -> int:
        """The node at which the thread stands.

        Raises:
            CommandError: it stands at none.
        """
        thread = self.thread
        found = self.ask("agdbg/rows", start=0, count=0, threadId=thread)["pcNode"]
        if not found:
            raise CommandError("no node runs next here; node N shows any node by its number")
        return int(found)

    def lines_of(self, file: str) -> list[str]:
        """The lines of a source file; none when it cannot be read."""
        if file not in self._sources:
            self._read(file)
        return self._sources[file][0]

    def source_now(self, file: str) -> tuple[list[str], str]:
        """The lines of a source file as it is now, and what is to be said where the program may run others."""
        self._read(file)
        lines, is_changed = self._sources[file]
        return lines, WRITTEN_TO if is_changed else ""

    def _read(self, file: str) -> None:
        try:
            body = self.ask("source", source={"path": file}, sourceReference=0)
        except RequestFailed:
            body = {"content": ""}
        self._sources[file] = body["content"].splitlines(), bool(body.get("changed"))


def _together(reply: Reply, done: list[tuple[str, Reply]]) -> Reply:
    """A reply with those of the commands that a breakpoint has."""
    if not done:
        return reply
    told = [{"command": line, "text": more.text, "value": more.value} for line, more in done]
    text = "\n".join(each for each in (reply.text, *(more.text for _, more in done)) if each)
    return Reply(text, {**reply.value, "commands": told})


def told_end(ended: Body | None) -> Reply:
    """How the program ended, in words."""
    found = ended or {"exit": None, "signal": None, "trace": ""}
    if found.get("signal"):
        how = f"was ended by {found['signal']}"
    elif found.get("exit") is None:
        how = "has ended"
    else:
        how = f"has ended with exit status {found['exit']}"
    recorded = "its recording is here" if found.get("trace") else "nothing was recorded"
    return Reply(f"the program {how}; {recorded}", {"ended": found})


def refusal(error: RequestFailed) -> str:
    """What the hub says, with what a person at a console can do about it."""
    text = str(error).removeprefix(f"{error.command}: ")  # the line that was written stands there already
    return f"{text} (with the word force behind it, it is done)" if error.code == "barrier" else text
