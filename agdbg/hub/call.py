"""A request that waits for its answer, and the table of those who answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agdbg.errors import InputError
from agdbg.hub.agents import AgentRefused
from agdbg.hub.connection import Connection
from agdbg.hub.log import log, log_error
from agdbg.hub.worker import Worker
from agdbg.progress import Cancelled
from agdbg.protocol.messages import Request, event, failure, response

if TYPE_CHECKING:
    from agdbg.hub.session import Session

Body = Any
T = TypeVar("T")


class Refused(Exception):
    """A request cannot be done; the message names the thing, the value and the way out, ``code`` is for programs."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class _Later:
    """The answer comes later, by :meth:`Call.ok` or :meth:`Call.fail`."""


LATER: Final = _Later()
_KNOWN = (Refused, InputError, AgentRefused)


class Call:
    """A request of a client.

    Attributes:
        session: what the hub knows.
        client: who asks.
        arguments: as they came, checked against their type.
    """

    __slots__ = ("_request", "arguments", "client", "is_answered", "session")

    def __init__(self, session: "Session", client: Connection, request: Request, arguments: dict[str, Any]) -> None:
        self.session, self.client, self.arguments = session, client, arguments
        self._request = request
        self.is_answered = False

    @property
    def command(self) -> str:
        """What is asked for."""
        return self._request["command"]

    @property
    def number(self) -> int:
        """The number that the client gave it."""
        return self._request["seq"]

    def ok(self, body: Body = None) -> None:
        """It went well. An answer of None, as the bodies of many requests are, has no fields."""
        if not self.is_answered:
            self.is_answered = True
            self.client.send(response(self.client.next_seq(), self._request, body))

    def fail(self, text: str, code: str = "") -> None:
        """It did not; a program may go by the code."""
        if not self.is_answered:
            self.is_answered = True
            self.client.send(failure(self.client.next_seq(), self._request, text, code=code))

    def note(self, text: str, category: str = "console") -> None:
        """Tell the client something beside the answer; ``important`` is what no answer or log message is."""
        body = {"category": category, "output": text + "\n"}
        self.client.send(event(self.client.next_seq(), "output", body))

    def fail_with(self, error: BaseException) -> None:
        """It failed with an error, which is either a refusal or a mistake in agdbg; or it was cancelled."""
        if isinstance(error, Cancelled):
            self.fail("cancelled", "cancelled")
            return
        if isinstance(error, AgentRefused) and error.code == "gone" and self.session.running is not None:
            self.session.running.ask_why_gone(lambda why: self.fail(why, "gone"))
            return
        from agdbg.record.errors import TraceError  # not before it is needed: it brings NumPy in

        if isinstance(error, (*_KNOWN, TraceError)):
            self.fail(str(error), getattr(error, "code", ""))
            return
        log(f"{self.command} failed: {type(error).__name__}: {error}")
        self.fail(
            f"{self.command}: internal error: {type(error).__name__}: {error}; the log is {self.session.log_path}"
        )

    def then(self, finish: "Callable[[T], Body | _Later]") -> "Callable[[T, BaseException | None], None]":
        """Answer with what ``finish`` makes of a result, or with the error that came instead."""

        def done(result: T, error: BaseException | None) -> None:
            if error is not None:
                self.fail_with(error)
                return
            self.run(lambda: finish(result))

        return done

    def work(
        self,
        worker: Worker,
        job: Callable[[], T],
        finish: "Callable[[T], Body | _Later]" = lambda result: result,
        interrupted: Callable[[], object] = lambda: None,
    ) -> _Later:
        """Let a worker do something, and answer with what ``finish`` makes of it, back in the loop.

        The client is told how far it is, and may cancel it; ``interrupted`` is called in the worker's thread then.
        """
        task, answer = self.session.tasks.begin(self), self.then(finish)

        def done(result: T, error: BaseException | None) -> None:
            task.end()
            answer(result, error)

        task.job = worker.do(job, done, task.hear, interrupted)
        return LATER

    def run(self, answer: "Callable[[], Body | _Later]") -> None:
        """Answer with what ``answer`` returns; an error is an answer as well."""
        try:
            body = answer()
        except _KNOWN as error:
            self.fail(str(error), getattr(error, "code", ""))
        except Exception as error:
            log_error(f"{self.command} failed")
            self.fail_with(error)
        else:
            if body is not LATER:
                self.ok(body)


Handler = Callable[[Call], "Body | _Later"]

#: By command: who answers.
HANDLERS: dict[str, Handler] = {}


def handles(*commands: str) -> Callable[[Handler], Handler]:
    """Let a function answer requests: it returns the body, or LATER, or raises :class:`Refused`."""

    def register(handler: Handler) -> Handler:
        for command in commands:
            HANDLERS[command] = handler
        return handler

    return register
