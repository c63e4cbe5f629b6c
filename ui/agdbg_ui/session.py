"""The debugging session: the only thing in the UI that talks the protocol.

It keeps what everyone has to know in one frozen `View`, and tells the app by messages when that changes. Refreshes
are coalesced: one is in flight, and what happens meanwhile is fetched by the one after it.
"""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext, suppress
from time import monotonic
from typing import Any

from textual.message import Message

from agdbg_ui.backend import FAILURES, Backend
from agdbg_ui.beginning import begin, printed_before
from agdbg_ui.breakpoints import Breakpoints
from agdbg_ui.control import Control, words_of
from agdbg_ui.evaluations import Evaluations
from agdbg_ui.filters import Filters
from agdbg_ui.looking import Looking
from agdbg_ui.losing import LATE, left_alone
from agdbg_ui.messages import (
    Barrier,
    Begun,
    Body,
    Changed,
    Grew,
    Moved,
    Noted,
    Printed,
    Progressed,
    Refused,
    Stepped,
    ViewChanged,
)
from agdbg_ui.moving import Moving
from agdbg_ui.newest import Newest
from agdbg_ui.pausing import Pausing
from agdbg_ui.printed import OutputGate
from agdbg_ui.queries import Queries
from agdbg_ui.steps import Steps, is_barrier
from agdbg_ui.text import reason_of
from agdbg_ui.view import Life, Stop, View, frame_of, troubles_of
from agdbg_ui.work import Works, was_cancelled

#: Frames asked for at a stop: enough to see the node, its origin and who called backward.
FRAMES = 50
#: How long a program that is to end may take until it is killed, in seconds.
GRACE_S = 5.0
#: Requests after which a thread goes on.
MOVES = frozenset(
    {"next", "stepIn", "stepOut", "stepBack", "continue", "reverseContinue", "agdbg/until", "agdbg/skip", "agdbg/goto"}
)
#: Requests that run Python of the person in the program.
EVALUATE = frozenset({"evaluate", "setExpression"})
#: Those that run the node at which the thread stands, or a part of it, and no more.
_OF_A_NODE = frozenset({"next", "stepIn"})
#: The scope with the incoming gradients.
GRADIENTS = "Gradients in"


class Session:
    """A connection to a hub and what is known about its program.

    Args:
        backend: the connection; its events come here.
        post: takes the messages for the app.
        clock: seconds, for telling how long nothing happened.

    Attributes:
        view: how things are.
        ask: the queries about the graph and the program.
        breakpoints: those of all clients.
        filters: the errors to stop at.
        works: what the hub works at for so long that it tells of it.
        control: which client moves the program.
        evaluations: Python of the person that the program runs.
        hits: by the number of a breakpoint, how often this run has stopped at it since this client is there.
        listener: called with the name and body of each event, and of breakpoints that were set here.
    """

    def __init__(
        self, backend: Backend, post: Callable[[Message], object], clock: Callable[[], float] = monotonic
    ) -> None:
        self._backend, self._post, self.clock = backend, post, clock
        self.view = View(idle_from=clock())
        self.ask = Queries(backend)
        self.breakpoints, self.filters = Breakpoints(backend), Filters(backend)
        self.works = Works()
        self.control = Control(backend, lambda hands: self._set(hands=hands))
        self.evaluations = Evaluations(lambda runs: self._set(evaluating=runs), lambda: post(Changed()), clock)
        self._ready, self._ended = asyncio.Event(), asyncio.Event()
        self._stops: dict[int, Stop] = {}
        self._stands: dict[int, str] = {}  # where the program itself stopped, whatever is looked at since
        self._looking = Looking()
        self._output = OutputGate(lambda text: post(Printed(text)))
        self._moving = Moving(self._say_running, lambda thread: self.listener("continued", {"threadId": thread}))
        self._pausing = Pausing(self._say_pausing)
        self._tasks: set[asyncio.Task[None]] = set()
        self._parting = False
        self._command, self._serial = "", 0
        self._notes: list[str] | None = None
        self.hits: dict[int, int] = {}
        self.listener: Callable[[str, Body], object] = lambda event, body: None
        self.breakpoints.on_change = lambda reason, body: self.listener(
            "breakpoint", {"reason": reason, "breakpoint": body}
        )
        self.breakpoints.on_switched = lambda: post(Moved())
        self._frames = Newest(self._fetch_frames, self.keep)
        self._steps = Steps(self._send_step, self.keep, self._dropped)
        self.terminal = Newest(self._look_at_terminal, self.keep)
        self._hands = Newest(self._look_at_control, self.keep)
        self._handlers: dict[str, Callable[[Body], None]] = {
            "initialized": lambda _: self._ready.set(),
            "stopped": self._on_stopped,
            "continued": self._on_continued,
            "thread": self._on_thread,
            "output": self._on_output,
            "breakpoint": self._on_breakpoint,
            "agdbg/grew": self._on_grew,
            "agdbg/ended": self._on_ended,
            "agdbg/restarted": self._on_restarted,
            "agdbg/controlChanged": self._on_control_changed,
            "invalidated": self._on_invalidated,
            "agdbg/troubled": lambda body: self._set(troubles=troubles_of(body)),
            "progressStart": lambda body: self._progressed(self.works.start, body),
            "progressUpdate": lambda body: self._progressed(self.works.update, body),
            "progressEnd": lambda body: self._progressed(self.works.end, body),
        }
        backend.on_event = self._on_event
        backend.closed.add_done_callback(self._on_closed)

    # ----- beginning -----

    async def launch(self, arguments: Body) -> None:
        """Start a program; raises what the hub says about arguments that are no good."""
        await begin(self._backend, "launch", arguments, self._ready, self.filters)
        await self.fetch_status()

    async def attach(self, arguments: Body) -> None:
        """Join the program of the hub, or show a trace."""
        await begin(self._backend, "attach", arguments, self._ready, self.filters)
        await self.fetch_status()
        self._hands.ask()
        await self.recall_output()

    async def recall_output(self) -> None:
        """Tell what the program has printed until now, as if it had just done so."""
        try:
            text, kept = await printed_before(self.ask)
            self._output.restart(text)
            self._set(output_kept=kept)
        except FAILURES as error:
            self._refused(error)

    async def fetch_status(self) -> None:
        """Ask how the program is."""
        while True:
            told = self.view.life, self._serial
            status = await self.ask.status()
            if told == (self.view.life, self._serial):
                break  # else events have told of something since
        life: Life = status["state"]
        threads = status.get("threads") or []
        if threads and self.thread not in self._stops:
            self._looking.turn_to(threads[0]["id"])
        self._looking.has_begun = True
        if life == "stopped" and not self._stops:
            life = "running"  # its `stopped` event comes yet
        if self._stops and life == "running":
            life = "stopped"
        self._set(
            life=life,
            argv=tuple(status.get("argv") or ()),
            trace=status.get("trace") or "",
            pid=status.get("pid"),
            exit=status.get("exit"),
            signal=status.get("signal"),
            idle_from=self.clock() - (status.get("idle") or 0.0),
            awaits_input=bool(status.get("awaitsInput")),
            rank=str(status.get("rank") or ""),
            troubles=troubles_of(status),
        )

    async def _look_at_terminal(self) -> None:
        """Learn whether the program waits for input, of which no event tells."""
        with suppress(*FAILURES):  # nobody has asked for it; a hub that is gone is told elsewhere
            status = await self.ask.status()
            runs = str(status.get("runs") or "") if self.view.life == "running" else ""
            self._set(awaits_input=self.view.life == "running" and bool(status.get("awaitsInput")), runs=runs)

    async def _look_at_control(self) -> None:
        with suppress(*FAILURES):  # nobody has asked for it; a hub that is gone is told elsewhere
            await self.control.look()

    # ----- what the person does -----

    @property
    def thread(self) -> int:
        """The thread that is looked at, which steps are for."""
        return self._looking.thread

    @property
    def stopped_thread(self) -> int | None:
        """The same, or None when it is not stopped."""
        return self.thread if self.thread in self._stops and not self._moving.has(self.thread) else None

    @property
    def moment(self) -> int | None:
        """A number that is another one after each stop, and None while the program runs to the next one."""
        return None if self._moving.has(self.thread) else self._serial

    @property
    def connected(self) -> bool:
        """Whether the hub is there."""
        return not self._backend.closed.done()

    @property
    def frame(self) -> int | None:
        """The innermost frame of the stop, or None."""
        stop = self.view.stop
        return stop.frames[0].id if stop is not None and stop.frames else None

    def step(self, command: str) -> None:
        """Step, after the steps that wait; ``next``, ``stepIn``, ``stepOut``, ``stepBack``, ``continue`` ..."""
        if command == "continue" and self.thread not in self._stops and self._stops:
            self._let_go(list(self._stops.values()))  # the one that is looked at runs: nothing of it is waited for
        else:
            self._steps.add(command)

    def force(self, command: str) -> None:
        """Step back across a barrier all the same."""
        self.keep(asyncio.get_running_loop().create_task(self._forced(command)))

    def cancel(self) -> str:
        """Let the hub end what it works at: what that is called; "" when it is nothing, or cannot be cancelled."""
        if (work := self.works.cancel()) is None:
            return ""
        self.keep(asyncio.get_running_loop().create_task(self._cancel(work.id)))
        self._post(Progressed())
        return work.title

    async def _cancel(self, number: str) -> None:
        await self._backend.request("cancel", progressId=number)

    def _progressed(self, take: Callable[[Body], None], body: Body) -> None:
        take(body)
        self.view = self.view._replace(idle_from=self.clock())  # nobody has looked for records meanwhile
        self._set(hub_works=self.works.newest is not None)
        self._post(Progressed())

    async def pause(self, thread: int = 0) -> None:
        """Stop at the next node, also when it is not of this thread; when none comes soon, the view says that it is waited for."""
        await self._pausing.ask(self._backend.request("pause", threadId=thread or self.thread))

    async def type_in(self, text: str) -> None:
        """Type into the program, which by then waits for input no more."""
        await self.ask.type_in(text)
        self._set(awaits_input=False)

    def _say_pausing(self) -> None:
        self.terminal.ask()
        if self.view.alive:
            self._set(pausing=True)

    def _unpause(self) -> None:
        """The pause is over, one way or another."""
        self._pausing.over()
        self._set(pausing=False)

    def other_thread(self) -> bool:
        """Turn to the next of the stopped threads; False when there is no other."""
        threads = sorted(thread for thread in self._stops if thread != self.thread)
        later = [thread for thread in threads if thread > self.thread]
        return bool(threads) and self.turn_to((later or threads)[0])

    def turn_to(self, thread: int) -> bool:
        """Turn to a stopped thread; False when it is not stopped."""
        if thread not in self._stops:
            return False
        self._looking.turn_to(thread)
        self._frames.ask()
        self._show_stop()
        self._post(Moved())
        return True

    def stands(self, thread: int) -> bool:
        """Whether a thread is stopped, as far as was told."""
        return thread in self._stops

    def where(self, thread: int) -> str:
        """Where a thread stands, in words; "" when it runs."""
        if (stop := self._stops.get(thread)) is None:
            return ""
        here = "  (this one)" if thread == self.thread and len(self._stops) > 1 else ""
        stands = self._stands.get(thread, "") if stop.is_recorded and self.view.alive else ""
        return f"{stands}; looked at: {stop.description}{here}" if stands else f"{stop.description}{here}"

    async def evaluate(self, expression: str) -> Body:
        """Python where the thread stands, one at a time; ``notes`` of the body is what the hub notes meanwhile."""
        notes = self._notes = []
        try:
            with self.evaluations.of(expression):
                body = await self.ask.evaluate(expression, self.frame)
        finally:
            self._notes = None
        return {**body, "notes": notes}

    async def set_gradient(self, name: str, expression: str) -> Body:
        """Replace an incoming gradient of the node that runs next; `name` is its entry in the inspector."""
        scopes = (await self._backend.request("scopes", frameId=self.frame))["scopes"]
        reference = next(scope["variablesReference"] for scope in scopes if scope["name"] == GRADIENTS)
        arguments = {"variablesReference": reference, "name": name, "value": expression}
        body = await self._backend.request("setVariable", **arguments)
        self._post(Changed())
        return body

    async def part(self, kill: bool, patience: float, grace: float = GRACE_S) -> None:
        """Say good-bye to the hub; `kill` ends the program first, else it goes on. Errors do not matter any more.

        Args:
            patience: how long to wait for what the hub does, in seconds.
            grace: how long the program may take to end by itself, in seconds.
        """
        self._parting = True
        with suppress(*FAILURES):
            if kill:
                await self._end_program(patience, grace)
        with suppress(*FAILURES):
            async with asyncio.timeout(patience):
                await self._backend.request("disconnect", terminateDebuggee=kill)

    async def _end_program(self, patience: float, grace: float) -> None:
        """Have it asked to end, and killed when it does not: the second time the hub does not ask it."""
        for wait in (grace, patience):
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._backend.request("terminate")
                    await self._ended.wait()
                    return

    def close(self) -> None:
        """Close the connection."""
        self._output.close()
        self._moving.stopped()
        self._unpause()
        self._backend.close()

    async def ask_for_console(self, command: str, /, **arguments: Any) -> Body:
        """A request of the console: what it moves and sets is known here as if a key had done it."""
        if command in MOVES:
            return await self._move(command, arguments.get("threadId") or self.thread, arguments)
        asked = str(arguments["expression"]) if command in EVALUATE else ""
        with self.evaluations.of(asked) if asked else nullcontext():
            body = await self._backend.request(command, **arguments)
        if command == "agdbg/control":
            self._hands.ask()
        elif self.filters.took(command, arguments) or self.breakpoints.took(command, arguments, body):
            self._post(Moved())
        return body

    def stops_told(self) -> list[Body]:
        """The stops as events tell them, the newest last."""
        stops = sorted(self._stops.values(), key=lambda stop: stop.serial)
        return [
            {"threadId": each.thread, "reason": each.reason, "description": each.description, "text": each.text}
            for each in stops
        ]

    async def _move(self, command: str, thread: int, arguments: Body) -> Body:
        """Have a thread go on; raises what the hub says against it."""
        self._command = command
        self._looking.moves(thread, command)
        self._post(Stepped())
        try:
            with self._moving.asks(thread):
                return await self._backend.request(command, **arguments)
        except BaseException:
            self._post(Stepped(goes=False))
            raise

    async def _send_step(self, command: str) -> bool:
        thread = self.thread
        stands = [each for number, each in self._stops.items() if number != thread and command == "continue"]
        is_recorded = thread in self._stops and self._stops[thread].is_recorded
        try:
            await self._move(command, thread, {"threadId": thread})
        except FAILURES as error:
            self._post(Barrier(command, reason_of(error))) if is_barrier(error) else self._refused(error)
            return False
        self._let_go([] if is_recorded else stands)
        return True

    def _let_go(self, stops: list[Stop]) -> None:
        """Have other threads go on, if they stand there still."""

        async def go(thread: int) -> None:
            with self._moving.asks(thread):
                await self._backend.request("continue", threadId=thread)

        for stop in stops:
            if self._stops.get(stop.thread) is stop and not self._moving.has(stop.thread):
                self.keep(asyncio.get_running_loop().create_task(go(stop.thread)))

    async def _forced(self, command: str) -> None:
        thread = self.thread
        await self._move(command, thread, {"threadId": thread, "force": True})

    def _say_running(self, thread: int) -> None:
        if self.view.alive:
            stop = self._stops.pop(thread, None)
            in_node = stop is not None and stop.runs_next and not stop.is_recorded
            is_step = thread == self.thread and in_node and self._command in _OF_A_NODE
            if thread == self.thread and (other := self._looking.runs_on()) in self._stops:
                self._steps.drop("another thread has stopped")
                self._frames.ask()
                self._looking.visit(other)
                is_step = False
            self._show_stop(stop if is_step else None)
            self._post(Moved())

    # ----- what the hub says -----

    def _on_event(self, message: Body) -> None:
        self.listener(message["event"], message.get("body") or {})
        if (handler := self._handlers.get(message["event"])) is not None:
            handler(message.get("body") or {})

    def _dropped(self, count: int, why: str) -> None:
        steps = "1 step that waited was" if count == 1 else f"{count} steps that waited were"
        self._post(Noted(f"{why}: {steps} dropped"))

    def _on_stopped(self, body: Body) -> None:
        thread = body.get("threadId") or self.thread
        self._serial += 1
        hit = self.breakpoints.called(body.get("hitBreakpointIds") or ())
        for number in body.get("hitBreakpointIds") or ():
            self.hits[number] = self.hits.get(number, 0) + 1
        description, text = body.get("description") or "", body.get("text") or ""
        here = self.thread
        takes = self._looking.takes(thread, here in self._stops, self._moving.has(here))
        stop = self._stops[thread] = Stop(thread, body["reason"], description, text, serial=self._serial, hit=hit)
        if not stop.is_recorded:
            self._stands[thread] = description
            if body["reason"] == "exception" and takes:
                self._steps.drop("the program stopped for an error")
        self._unpause()
        self._moving.stopped(thread if self.view.alive else None)
        if takes:
            if thread != here:
                self._steps.drop("another thread has stopped")
            self._steps.settle()
            self._frames.ask()
        else:
            self._post(Noted(f"thread {thread} stopped: {stop.place or stop.reason} (t turns to it)"))
            self._show_stop(self.view.stepping)
        self._hands.ask()
        self._post(Moved())

    def _on_thread(self, body: Body) -> None:
        """A thread is gone: what stands is looked at then."""
        if body["reason"] != "exited":
            return
        self._stops.pop(body["threadId"], None)
        if body["threadId"] == self.thread and self._stops:
            self.turn_to(max(self._stops.values(), key=lambda stop: stop.serial).thread)

    def _on_invalidated(self, body: Body) -> None:
        self._post(Changed())

    def _on_control_changed(self, body: Body) -> None:
        told = self.control.changed(body["holder"], lost=body["lost"])
        if told:
            self._steps.drop("another client has taken control")
            self._post(Noted(told))

    def _on_continued(self, body: Body) -> None:
        if body["threadId"] == self.thread:
            self._moving.goes(self.thread)
        else:
            self._stops.pop(body["threadId"], None)
            self._show_stop()

    def _on_breakpoint(self, body: Body) -> None:
        self.breakpoints.follow(body["reason"], body["breakpoint"])
        self._post(Moved())

    def _on_output(self, body: Body) -> None:
        text = body["output"]
        if body.get("category", "console") in ("stdout", "stderr"):
            self._output.add(text)
        elif self._notes is not None:
            self._notes.append(text.strip())
        else:
            own_line = "\n" if text.startswith("\n") else ""
            self._output.add(f"{own_line}[{text.strip()}]\n")

    def _on_grew(self, body: Body) -> None:
        self.view = self.view._replace(nodes=body["nodes"], idle_from=self.clock())
        self._post(Grew())

    def _on_ended(self, body: Body) -> None:
        self._over("the program has ended")
        self._ended.set()
        self._output.flush()  # whoever hears of the end looks at what was printed last
        trace = body.get("trace") or self.view.trace
        self._set(life="ended", stop=None, stopped=(), exit=body["exit"], signal=body["signal"], trace=trace)
        self._post(Moved())

    def _on_restarted(self, body: Body) -> None:
        """The program was started anew, with another recording: what is known of the run before is not so any more."""
        self._over("the program was started anew")
        self._ended.clear()
        self.hits.clear()
        self._output.restart("")
        self._serial += 1  # what was asked for before fails without a word
        self._post(Begun())
        old = self.view
        begun = View("running", old.argv, body["trace"], idle_from=self.clock(), output_kept=old.output_kept)
        self.view = begun._replace(rank=old.rank, hands=old.hands)
        self._post(ViewChanged())
        self._post(Moved())
        self.keep(asyncio.get_running_loop().create_task(self.fetch_status()))

    def _on_closed(self, closed: "asyncio.Future[Any]") -> None:
        if closed.cancelled() or (error := closed.result()) is None:
            return
        if self._parting:
            self._ended.set()
            return
        self._over("the hub is gone")
        self.works.clear()
        self._post(Progressed())
        self._ended.set()
        self._ready.set()
        self._set(life="lost", stop=None, stopped=(), why=left_alone(self.view, str(error)))

    def _over(self, why: str) -> None:
        """Nothing stands any more, and no step makes sense."""
        self._stops.clear()
        self._stands.clear()
        self._steps.drop(why)
        self._unpause()
        self._moving.stopped()
        self._steps.settle()
        self._set(awaits_input=False, stepping=None)

    # ----- refreshing -----

    async def _fetch_frames(self) -> None:
        if (stop := self._stops.get(self.thread)) is None:
            return
        try:
            body = await self._backend.request("stackTrace", threadId=stop.thread, levels=FRAMES)
        except FAILURES as error:
            if self._stops.get(stop.thread) is stop and not self._moving.has(stop.thread):
                self._refused(error)
            body = {"stackFrames": []}
        if self._stops.get(stop.thread) is stop:
            self._stops[stop.thread] = stop._replace(frames=tuple(map(frame_of, body["stackFrames"])))
            self._show_stop()

    def _show_stop(self, stepping: Stop | None = None) -> None:
        stop = self._stops.get(self.thread)
        life: Life = self.view.life
        if self.view.alive or life == "starting":
            life = "stopped" if stop is not None else "running"
        idle_from = self.view.idle_from if stop is not None else self.clock()
        awaits_input = self.view.awaits_input and stop is None
        stopped = tuple(sorted(self._stops))
        more = {"runs": "", "idle_from": idle_from, "awaits_input": awaits_input, "stepping": stepping}
        self._set(life=life, stop=stop, stopped=stopped, **more)

    def _set(self, **changes: Any) -> None:
        view = self.view._replace(**changes)
        if view != self.view:
            self.view = view
            self._post(ViewChanged())

    # ----- errors -----

    def _refused(self, error: BaseException) -> None:
        if words := words_of(error):
            self._hands.ask()
        if isinstance(error, TimeoutError) and self.view.life == "trace":
            words = LATE  # no program is busy there
        if not was_cancelled(error):
            self._post(Refused(words or reason_of(error)))

    def keep(self, task: "asyncio.Task[Any]") -> None:
        """Hold a task until it is done, and tell when it failed."""
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._refused(error)
