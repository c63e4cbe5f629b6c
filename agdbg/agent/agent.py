"""The agent: what the program's threads share, and how one of them stops.

A thread that stops sends what it stopped at and answers requests, itself, until it is told to go on. Where and why it
stops is the business of an engine's driver; here is nothing that knows an engine.
"""

import os
import sys
import threading
import traceback
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from agdbg.agent.channel import Channel, HubGone
from agdbg.agent.control import ControlReader, Settings
from agdbg.agent.ctrl_c import CtrlC
from agdbg.agent.evaluate import Refused
from agdbg.agent.requests import Requests
from agdbg.tell import tell

if TYPE_CHECKING:
    from agdbg.agent.kept import KeptValues, Moment
    from agdbg.agent.tensors import Measured


class Command(NamedTuple):
    """How a stopped thread is to go on.

    ``how`` is ``next``, ``in``, ``out``, ``back``, ``continue``, ``reverse``, ``skip``, ``pdb`` or ``until``. ``node``, or else
    ``file`` and ``line``, say until where.
    """

    how: str
    force: bool = False
    node: int = 0
    file: str = ""
    line: int = 0

    @classmethod
    def of(cls, request: dict[str, Any]) -> "Command":
        """The one that a request asks for."""
        how, force = str(request.get("how")), bool(request.get("force"))
        if how != "until":
            return cls(how, force)
        place = int(request.get("node") or 0), str(request.get("file") or ""), int(request.get("line") or 0)
        return cls(how, force, *place)


GO_ON = Command("continue")


class Impossible(Refused):
    """A way to go on that cannot be taken; ``code`` is ``beyond`` the journal or a ``barrier``."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Scene(Protocol):
    """What an engine's driver shows of a stop.

    Attributes:
        trace: of an error, whose frames, which it has left, are shown first.
        has_ended: nobody has caught it: none of the program's frames runs any more.
    """

    trace: TracebackType | None
    has_ended: bool

    def frames(self, internal: frozenset[str]) -> list[tuple[FrameType, int]]:
        """The user's frames that run, as :func:`agdbg.agent.frames.user_frames` gives them."""

    def stop(self) -> dict[str, Any]:
        """The message that tells of the stop, without thread and frames."""

    def check(self, command: Command) -> None:
        """Raise :class:`Impossible` when the thread cannot go on that way."""

    def values(self, node: int) -> dict[str, Any]:
        """What is known of a node's gradients and saved tensors."""

    def array(self, node: int, what: str, which: int | str) -> Any:
        """The array behind one of the values, where it lies; ``None`` when there is none."""

    def pick(self, array: Any, positions: Any) -> Any:
        """The elements of such an array at flat positions, as an array of NumPy."""

    def measure(self, array: Any) -> "Measured":
        """What all elements of such an array, of numbers, are like."""

    def fetch(self, array: Any) -> Any:
        """All of such an array, as an array of NumPy."""

    def moment(self, node: int) -> "Moment | None":
        """What a node is in its pass, so that the same one of another pass is known; ``None`` where no pass has it."""

    def replace(self, node: int, output: int, value: Any) -> Any:
        """Replace a gradient; return the array that is there now. Raises :class:`Refused`."""

    def replace_saved(self, node: int, slot: int | str, value: Any) -> Any:
        """Replace a saved tensor for the next run; return the array that is there now. Raises :class:`Refused`."""

    def retain(self) -> list[dict[str, Any]]:
        """Let the pass keep the graph; ``node`` and ``op`` of what is freed already. Raises :class:`Refused`."""

    def watch(self, value: Any, label: str) -> dict[str, Any] | None:
        """The storage of a tensor as ``storage``, ``name`` and ``text``, which can be watched from now on; ``None`` for none.

        ``label`` is what messages call it when it has no name.
        """

    def is_watchable(self, storage: int) -> bool:
        """Whether somebody still holds a storage that :meth:`watch` has told of."""

    def watch_slot(self, node: int, what: str, which: int | str) -> dict[str, Any] | None:
        """As :meth:`watch`, of what a node saved, or of the ``grad`` of its leaf."""

    def names(self) -> dict[str, Any]:
        """What an expression may name besides what the program's frame knows."""

    def describe(self, value: Any) -> str | None:
        """Text for an object of the engine, ``None`` for others."""

    def watched(self, function: Callable[[], Any]) -> tuple[Any, list[str]]:
        """Call ``function`` without stopping in it; return its result, and notes of what it wrote to."""


class Agent:
    """One for the program.

    Args:
        directory: the hub's runtime directory.

    Attributes:
        settings: where to stop.
        internal: the files of the engine, whose frames are not the user's.
        gone: the hub is dead: nothing stops any more.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._path = str(Path(directory) / "agent.sock")
        self._control = ControlReader(Path(directory) / "control")
        self.words = self._control.words
        self.settings = self._control.read()
        self.internal: frozenset[str] = frozenset()
        self.gone = False
        self._paused = 0
        self._kept: KeptValues | None = None
        self._entered = False
        self._mine = threading.local()
        self._channels: weakref.WeakSet[Channel] = weakref.WeakSet()
        self._on_change: list[Callable[[Settings], None]] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave)

    def running(self, text: str) -> AbstractContextManager[None]:
        """Let whoever asks how the program is hear that it runs this."""
        return nullcontext() if self.gone else self._control.now.saying(text)

    # ----- settings -----

    @property
    def seen(self) -> int:
        """The generation of :attr:`settings`: compare with ``words[0]``."""
        return self._control.seen

    def on_change(self, callback: Callable[[Settings], None]) -> None:
        """Call ``callback`` with the settings, now and whenever they change."""
        self._on_change.append(callback)
        callback(self.settings)

    def look(self) -> None:
        """Read the settings if they changed."""
        if not self.gone and self._control.changed():
            self._set(self._control.read())

    def _set(self, settings: Settings) -> None:
        self.settings = settings
        for callback in self._on_change:
            callback(settings)

    @property
    def wants_pause(self) -> bool:
        """A pause was asked for, and no thread has stopped for it yet."""
        return self.settings.pause != self._paused

    def takes_pause(self) -> bool:
        """True once for every pause that is asked for: the thread that finds out stops."""
        if not self.wants_pause:
            return False
        self._paused = self.settings.pause
        return True

    def takes_entry(self) -> bool:
        """True once, if the program is to stop at its first backward pass."""
        first, self._entered = not self._entered, True
        return first and self.settings.entry

    # ----- stopping -----

    def tell(self, message: dict[str, Any], thread: int) -> None:
        """Send a message to the hub from the running thread."""
        if not self.gone:
            try:
                self._channel(thread).send(message)
            except HubGone:
                self._leave()

    def meet(self, thread: int) -> bool:
        """Say hello from the running thread, unless the hub knows it; False: that cannot be now, and is to be tried again.

        The program does not wait for it, nor does it lose its debugger by it.
        """
        try:
            self._channel(thread, waits=False)
        except (HubGone, OSError):
            return False
        return True

    def _keeper(self) -> "KeptValues":
        """The copies of values that were asked for; made when the first one is."""
        if self._kept is None:
            from agdbg.agent.kept import KeptValues  # brings in NumPy, which an agent alone does not need

            self._kept = KeptValues()
        return self._kept

    def stop(self, scene: Scene, thread: int) -> Command:
        """Stop the running thread until it is told to go on, or the hub dies.

        Raises:
            KeyboardInterrupt: it was interrupted, and has been told to go on since, or was interrupted again.
        """
        if self.gone:
            return GO_ON
        with CtrlC() as ctrl_c:
            return self._stand(scene, thread, ctrl_c)

    def _stand(self, scene: Scene, thread: int, ctrl_c: CtrlC) -> Command:
        requests = Requests(scene, self.internal, self._keeper)
        message = {"stopped": {"thread": thread, **scene.stop(), "frames": requests.frames_described}}
        command: Command | None = None
        try:
            channel = self._sent(message, thread)
            while command is None:
                command = self._resuming(channel, requests, channel.receive(), ctrl_c)
            return command
        except HubGone:
            self._leave()
            return GO_ON
        finally:
            if command is None:  # an interrupt, say: the program's business
                self.tell({"resumed": {"thread": thread}}, thread)

    def _sent(self, message: dict[str, Any], thread: int) -> Channel:
        """Send ``message``, by a new connection if the program has closed the one there was."""
        try:
            channel = self._channel(thread)
            channel.send(message)
        except HubGone:
            self._mine.channel = None
            channel = self._channel(thread)
            channel.send(message)
        return channel

    def _resuming(self, channel: Channel, requests: Requests, request: dict[str, Any], ctrl_c: CtrlC) -> Command | None:
        """Answer one request; the command when it was to go on, which may want no answer unless it is refused."""
        number = request.get("id")
        if request.get("do") != "resume":
            ctrl_c.answers = True
            answer = requests.answer(request)
            ctrl_c.answers = False
            channel.send({"id": number, **answer})
            return None
        command = Command.of(request)
        try:
            requests.scene.check(command)
        except Impossible as error:
            channel.send({"id": number, "ok": False, "error": str(error), "code": error.code})
            return None
        if not request.get("quiet"):
            channel.send({"id": number, "ok": True, "body": {}})
        return command

    def _channel(self, thread: int, *, waits: bool = True) -> Channel:
        """The running thread's connection, made at its first need."""
        channel: Channel | None = getattr(self._mine, "channel", None)
        if channel is None:
            channel = Channel(self._path, waits=waits)
            channel.send({"hello": {"pid": os.getpid(), "thread": thread, "name": threading.current_thread().name}})
            self._mine.channel = channel  # not before: an interrupt may come at any point
            self._channels.add(channel)
        return channel

    def fail(self, error: Exception) -> None:
        """Give up after a mistake of our own, and say so once; call it while ``error`` is handled."""
        if not self.gone:
            tell(f"the stepper failed and was removed, the program goes on: {type(error).__name__}: {error}")
            traceback.print_exc(file=sys.__stderr__)
            self._leave()

    def _leave(self) -> None:
        """Go on without a hub: its death, or a forked child."""
        self.gone = True
        for channel in list(self._channels):
            channel.close()
        self._mine = threading.local()
        self._set(Settings())
