"""Where the program stands, thread by thread, and where a client stands in the recording instead."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from agdbg.agent.control import ALONE
from agdbg.filters import VALUES
from agdbg.hub.agents import AgentLink, AgentRefused, Answer
from agdbg.hub.breakpoints import Breakpoints
from agdbg.hub.call import Refused
from agdbg.hub.connection import Connection
from agdbg.hub.cursor import Cursor
from agdbg.hub.hitnews import HitNews
from agdbg.hub.log import log
from agdbg.hub.moment import Moment, moment_of
from agdbg.hub.references import References
from agdbg.hub.threads import ProgramThread, Stop, Threads

#: By the name of a request: what the agent is asked for.
HOW = {
    "next": "next",
    "stepIn": "in",
    "stepOut": "out",
    "continue": "continue",
    "stepBack": "back",
    "reverseContinue": "reverse",
}


class Tell(Protocol):
    """Sends an event to all clients that have joined, but for one."""

    def __call__(self, name: str, body: Any = None, but: Connection | None = None) -> None:
        """Send it."""


class Stops:
    """All stops.

    Args:
        breakpoints: those that there are.
        tell: tells the clients.

    Attributes:
        threads: the threads of the program.
        references: what clients may ask for, until its thread goes on.
        cursor: where they stand in the recording; None: they stand where the program does.
        pid: the program's process number: nobody else may stop here.
        is_abandoned: says whether a thread that stops is to go on at once.
        news: told what the program says of its breakpoints.
        bad: the nodes that made, or passed on, a NaN or an infinity for which the program has stopped, and what was said of it.
        on_error: called with each stop, before clients hear of it: it may be for an error that no record tells of.
        on_stop, on_resume: called when a thread has stopped or goes on.
        on_recording: called with the directory of the trace, when the program begins to record and when it goes on elsewhere.
        at_rest: calls something when the clients have been told.
        on_news: called when somebody is about to look at a stop, ...
        on_ahead: ... and then with the node of a stop that somebody is about to look at.
    """

    def __init__(self, breakpoints: Breakpoints, tell: Tell) -> None:
        self.threads = Threads()
        self.references = References()
        self.cursor: Cursor | None = None
        self.pid = 0
        self.bad: dict[int, str] = {}
        self.is_abandoned: Callable[[], bool] = lambda: False
        self.on_error: Callable[[Stop], object] = lambda stop: None
        self.on_stop: Callable[[], object] = lambda: None
        self.on_resume: Callable[[], object] = lambda: None
        self.on_news: Callable[[], object] = lambda: None
        self.on_ahead: Callable[[int], object] = lambda node: None
        self.on_recording: Callable[[Path], object] = lambda trace: None
        self.at_rest: Callable[[Callable[[], object]], object] = lambda callback: callback()
        self.news: HitNews | None = None
        self._breakpoints, self._tell = breakpoints, tell

    # ----- what the agents say -----

    def agent_said(self, link: AgentLink, what: str, value: Any) -> None:
        """News from a thread of the program."""
        if what == "hello":
            self._hello(link, value)
        elif what == "stopped":
            self._stopped(link, value)
        elif what == "resumed":
            self._resumed(link)
        elif what == "log" and self.news is not None:
            self.news.log(value)
        elif what == "broken" and self.news is not None:
            self.news.broken(value)
        elif what == "unmet" and self.news is not None:
            self.news.unmet(value)
        elif what == "recording":
            log(f"the program records: {value}")
            if isinstance(value, dict) and isinstance(value.get("trace"), str):
                self.on_recording(Path(value["trace"]))

    def _hello(self, link: AgentLink, value: Any) -> None:
        if not isinstance(value, dict) or value.get("pid") != self.pid or type(value.get("thread")) is not int:
            log(f"a process that is not the program said hello: {value}")
            link.close()
            return
        link.thread = value["thread"]
        thread, is_new = self.threads.add(link.thread, str(value.get("name") or ""), link)
        if is_new:
            self._tell("thread", {"reason": "started", "threadId": thread.number})

    def agent_gone(self, link: AgentLink) -> None:
        """A thread of the program has ended, or the program has."""
        thread = self.threads.lost(link)
        if thread is not None:
            self._moved_on(thread)
            self._tell("thread", {"reason": "exited", "threadId": thread.number})

    def _stopped(self, link: AgentLink, stop: Any) -> None:
        thread = self.threads.of(link.thread)
        if thread is None or thread.link is not link or not isinstance(stop, dict):
            log(f"a thread stopped that has not said hello: {stop}")
            link.close()
            return
        thread.stop = stop
        self._note_bad(stop.get("error") or {})
        self.on_error(stop)
        self.threads.selected = thread.number
        if self.is_abandoned():
            self.resume(thread, ALONE)
            return
        self._tell("stopped", self.body(thread))
        if self.news is not None:
            self.news.hit(list(stop.get("breakpoints") or []))
        self.on_stop()
        if thread.is_looked_at:
            thread.is_looked_at = False
            self.at_rest(lambda: self._look_ahead(thread, stop, link))

    def _note_bad(self, error: dict[str, Any]) -> None:
        """Values may not be recorded: what a stop tells of one is known from then on."""
        if error.get("kind") in VALUES and error.get("node"):
            self.bad.setdefault(int(error["node"]), str(error.get("text", "")))

    def _look_ahead(self, thread: ProgramThread, stop: Stop, link: AgentLink) -> None:
        """Get ready what was asked for at the stop before, while the clients hear of this one, unless they have asked already."""
        node = int(stop.get("node") or 0)

        def look() -> None:
            if thread.stop is stop and not thread.is_looked_at:
                self.on_ahead(node)

        if node and thread.stop is stop and not thread.is_looked_at:
            link.ask_ahead("values", node=node)
            self.on_news()  # the stack, which is asked for before all else, needs no more than this
            self.at_rest(look)

    def _resumed(self, link: AgentLink) -> None:
        thread = self.threads.of(link.thread)
        if thread is not None and thread.stop is not None:
            self._moved_on(thread)
            self._tell("continued", {"threadId": thread.number, "allThreadsContinued": False})

    def _moved_on(self, thread: ProgramThread) -> None:
        """A thread does not stand any more where it stood."""
        thread.stop = None
        self.references.forget(thread.number)
        if self.cursor is not None and self.cursor.thread == thread.number:
            self.cursor = None

    # ----- going on -----

    def resume(self, thread: ProgramThread, how: str, requester: Connection | None = None, **place: int | str) -> None:
        """Let a thread that stands go on; if it cannot, it stands again, and the clients are told why."""
        stop, link = thread.stop, thread.link
        if stop is None or link is None:
            return

        def answered(_: dict[str, Any], error: AgentRefused | None) -> None:
            if error is not None and error.code != "gone" and thread.stop is None:
                thread.stop = stop
                self._tell("stopped", {**self.body(thread), "text": f"it cannot go on: {error}"})

        link.resume(answered, how=how, force=False, **place)
        self._goes(thread, requester)

    def try_to(self, thread: ProgramThread, how: str, force: bool, requester: Connection, then: Answer) -> None:
        """Let a thread that stands go on in a way that may be refused: it stands where it stood then, and ``then`` gets to know."""
        if thread.link is None:
            return

        def answered(body: dict[str, Any], error: AgentRefused | None) -> None:
            then(body, error)
            if error is None:
                self._goes(thread, requester)

        thread.link.ask("resume", answered, how=how, force=force)

    def _goes(self, thread: ProgramThread, requester: Connection | None) -> None:
        self._moved_on(thread)
        self._tell("continued", {"threadId": thread.number, "allThreadsContinued": False}, but=requester)
        self.on_resume()

    # ----- what is told of a stop -----

    def body(self, thread: ProgramThread) -> dict[str, Any]:
        """The ``stopped`` event of a thread that stands."""
        stop = thread.stop or {}
        hit, error = stop.get("breakpoints") or [], stop.get("error")
        body = {
            "reason": self._reason(stop, "pause"),
            "description": stop.get("description", ""),
            "threadId": thread.number,
            "allThreadsStopped": False,
        }
        if hit:
            body["hitBreakpointIds"] = hit
        if error:
            body["text"] = str(error.get("text", ""))
        return body

    def words(self, number: int) -> str:
        """Where a thread of the program stands: the node and, if there is one, the pass; empty when it does not."""
        thread = self.threads.of(number)
        stop: Stop = (thread.stop if thread is not None else None) or {}
        within = f", pass {stop['pass']}" if stop.get("pass") else ""
        return f"{stop.get('description', '')}{within}" if stop else ""

    def all_bodies(self) -> list[dict[str, Any]]:
        """The ``stopped`` events of all threads that stand in the program, that of the selected one last."""
        standing = sorted(self.threads.stopped, key=lambda thread: thread.number == self.threads.selected)
        return [self.body(thread) for thread in standing]

    def cursor_of(self, number: int | None) -> Cursor | None:
        """The cursor, when what a client sees of a thread is a place in the recording.

        Without a program it stands for all threads; no number means the thread that one looks at.
        """
        is_meant = self.cursor is not None and (not self.pid or number in (None, self.cursor.thread))
        return self.cursor if is_meant else None

    def stop_of(self, number: int) -> Stop:
        """Where a thread stands, in the program or in the recording.

        Raises:
            Refused: it does not.
        """
        cursor = self.cursor_of(number)
        if cursor is None:
            return self.threads.standing(number)[2]
        if cursor.position is None:
            raise Refused("nothing was recorded, so there is no place to look at")
        stop: Stop = cursor.position.as_stop()
        return stop

    def counter(self, number: int | None) -> tuple[int, bool]:
        """The node at which a thread stands, or 0, and whether it runs next.

        Without a number it is the thread that stopped last.
        """
        stop = self._seen(number)
        return int(stop.get("node") or 0), stop.get("where") in ("before", "inside")

    def passes(self, number: int | None) -> dict[int, int]:
        """The passes in which a thread stands, the innermost first, and the node of each that runs next or runs just now, or 0.

        Without a number it is the thread that stopped last.
        """
        stop = self._seen(number)
        own = {
            "pass": stop.get("pass"),
            "node": stop.get("running") or stop.get("node"),
        }  # an event may be about another node
        return {int(each["pass"]): int(each["node"] or 0) for each in (own, *(stop.get("outer") or [])) if each["pass"]}

    def _seen(self, number: int | None) -> Stop:
        """Where a client sees a thread stand; empty: it does not."""
        cursor = self.cursor_of(number)
        if cursor is not None:
            return {} if cursor.position is None else cursor.position.as_stop()
        thread = self.threads.current() if number is None else self.threads.of(number)
        return (thread.stop if thread is not None else None) or {}

    def next_node(self, number: int | None) -> int:
        """The node that runs next, or runs just now, where a thread stands; 0: none does."""
        node, is_next = self.counter(number)
        return node if is_next else 0

    def moment(self, number: int | None) -> Moment | None:
        """When a client looks at the graph that sees a thread stand; None: it does not stand."""
        cursor = self.cursor_of(number)
        if cursor is not None:
            position = cursor.position
            return None if position is None else moment_of(position.as_stop(), position.row)
        thread = self.threads.current() if number is None else self.threads.of(number)
        return moment_of(thread.stop) if thread is not None and thread.stop is not None else None

    @staticmethod
    def mark_next(shown: dict[str, Any], node: int, key: str = "node") -> None:
        """Whatever shows nodes has one rule: the node that runs next is ``next``, and so is its badge.

        Args:
            shown: a row, a node or a node of a drawing, as the trace tells of it; it is changed.
            node: the node that runs next; 0: none does.
            key: under which it has its node.
        """
        badges = [badge for badge in shown.get("badges", ()) if badge["node"] == node]
        for each in [*badges, *([shown] if shown[key] == node else [])]:
            each["state"] = "next"

    # ----- the recording -----

    def cursor_moved(self, cursor: Cursor, position: Any, at_end: str = "") -> None:
        """The cursor stands somewhere else; at the end of the recording of a program that stands, it stands there, and clients are
        told why.
        """
        thread = self.threads.of(cursor.thread)
        self.references.forget(cursor.thread)
        if position.at_end and thread is not None and thread.stop is not None:
            self.leave_recording(at_end)
            return
        cursor.position = position
        self.cursor = cursor
        self._tell("stopped", self.cursor_body(cursor))
        if self.news is not None:
            self.news.hit(list(position.breakpoints))

    def cursor_body(self, cursor: Cursor) -> dict[str, Any]:
        """The ``stopped`` event of the cursor."""
        stop = {} if cursor.position is None else cursor.position.as_stop()
        hit = stop.get("breakpoints") or []
        body = {
            "reason": self._reason(stop, "step"),
            "description": stop.get("description", "in the recording"),
            "threadId": cursor.thread,
            "allThreadsStopped": False,
        }
        body |= {"hitBreakpointIds": hit} if hit else {}
        return {**body, "text": stop["error"]["text"]} if stop.get("error") else body

    def _reason(self, stop: Stop, otherwise: str) -> str:
        reason = str(stop.get("reason", otherwise))
        is_name = reason == "breakpoint" and any(map(self._breakpoints.is_on_name, stop.get("breakpoints") or []))
        return "function breakpoint" if is_name else reason

    def leave_recording(self, why: str = "") -> None:
        """Stand where the program stands, and tell clients why, if they are to know."""
        cursor, self.cursor = self.cursor, None
        thread = self.threads.current() if cursor is None else self.threads.of(cursor.thread)
        if thread is not None and thread.stop is not None:
            self.references.forget(thread.number)
            body = self.body(thread)
            self._tell("stopped", {**body, "text": body.get("text") or why} if why else body)

    def end(self) -> None:
        """The program has ended: only the recording is left, and clients stand at its end, unless they look at another place."""
        cursor = self.cursor or Cursor(self.threads.selected or 1, at_end=True)
        for thread in list(self.threads):
            if thread.link is not None:
                thread.link.close()
        self.pid = 0
        self.cursor = cursor

    def leave_trace(self) -> None:
        """There is a program anew: nobody looks at the recording of the one before."""
        self.cursor = None
        self.bad = {}
