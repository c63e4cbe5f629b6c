"""What a person has to know at a glance: how the program is, and where backward stands."""

import re
from signal import Signals
from typing import Any, Literal, NamedTuple

from agdbg_ui.control import Hands

Life = Literal["starting", "waiting", "running", "stopped", "ended", "trace", "lost"]

IN_THE_RECORDING = "in the recording"
#: What the hub calls the place of a node that forward code has just built.
JUST_BUILT = "just built"
#: Signals by which a person, or the system for one, ends a program.
KILLED_BY = frozenset({"SIGHUP", "SIGINT", "SIGTERM", "SIGKILL"})
_TROUBLES = {"stopped": "recording stopped", "damaged": "damaged recording"}
#: What lies in files of an installed package or of Python itself is nobody's own code.
_LIBRARY = re.compile(r"^<|/(site|dist)-packages/|/lib(64)?/(python|pypy)3[^/]*/")
_PASS = re.compile(r"\bpass \d+")


class Frame(NamedTuple):
    """A frame of a stopped thread; `is_label` is the place where the node was created, `is_function` a function of the program."""

    id: int
    name: str
    file: str
    line: int
    is_label: bool
    is_function: bool = False


class Stop(NamedTuple):
    """Where a thread stands and why; the frames come a little later than the rest. `serial` counts stops.

    `hit` names the breakpoints and watches that it stopped for, with their numbers.
    """

    thread: int
    reason: str
    description: str
    text: str = ""
    frames: tuple[Frame, ...] = ()
    serial: int = 0
    hit: str = ""

    @property
    def is_recorded(self) -> bool:
        """Whether this is a place in the recording, with the program elsewhere or gone."""
        return self.description.startswith(IN_THE_RECORDING)

    @property
    def is_predicted(self) -> bool:
        """Whether it stands before an error that would happen if it went on."""
        return self.reason == "exception" and not self.is_silent and self.description.startswith("before ")

    @property
    def is_silent(self) -> bool:
        """Whether it is for something that has happened and raises nothing, such as a NaN: the place then tells it too."""
        return self.reason == "exception" and self.place != self.description

    @property
    def place(self) -> str:
        """The description without the text, which stands beside it."""
        return self.description.removesuffix(f"; {self.text}") if self.text else self.description

    @property
    def pass_number(self) -> str:
        """The pass of a place in the recording, such as "pass 2", or ""."""
        found = _PASS.search(self.description) if self.is_recorded else None
        return found[0] if found else ""

    @property
    def node(self) -> str:
        """The node at which it stands, or ""."""
        return self._head[0]

    @property
    def runs_next(self) -> bool:
        """Whether that node runs next, or has begun to: the thread stands in a pass."""
        return self.position[:1].isdigit()

    @property
    def phase(self) -> str:
        """The part of the node that runs next, where it has begun to run, or ""."""
        return self.position.partition(", ")[2] if self.runs_next else ""

    @property
    def line(self) -> Frame | None:
        """The line of the program at which it stands, where that is at no node: at a write that is watched, an event, an error."""
        if self.is_recorded or not self.frames or any(frame.is_label for frame in self.frames[:2]):
            return None
        return self.frames[0] if self.frames[0].file else None

    @property
    def function(self) -> Frame | None:
        """The function of the program in which it stands, where that is at no node; a module's own code is one too."""
        return self.frames[0] if self.frames and self.frames[0].is_function else None

    @property
    def own_line(self) -> Frame | None:
        """At an error: the innermost line of the program's own code on the way to it, which no library has."""
        if self.is_recorded or self.reason != "exception":
            return None
        own = (frame for frame in self.frames if frame.is_function and frame.file and not _LIBRARY.search(frame.file))
        return next(own, None)

    @property
    def is_built(self) -> bool:
        """Whether forward code has just built that node."""
        return self.position == JUST_BUILT

    @property
    def position(self) -> str:
        """Where in its pass it stands, such as "3 of 12", or ""."""
        return self._head[1]

    @property
    def _head(self) -> tuple[str, str]:
        if not self.frames or self.frames[0].is_function:
            return "", ""
        if self.frames[0].is_label:  # it stands at the end of a pass, and the label says so
            return "", self.frames[0].name
        node, _, position = self.frames[0].name.partition(", ")
        return node, position


class View(NamedTuple):
    """How things are.

    `idle_from` is when, on the session's clock, the last record was made. `awaits_input`: the program reads its terminal.
    `stepping` is the stop that a step has left, while the step goes on for longer than most.
    `pausing`: it was asked to stop at its next node, and has come to none. `output_kept`: what it prints is recorded.
    `troubles`: what is wrong with the recording itself, as its kind and a sentence.
    `rank`: which process of a parallel program it is, such as "rank 1 of 4".
    `runs`: the node that runs while it calls functions of the program, as the hub knows when it is asked.
    `hands`: whether another client moves the program. `evaluating`: an expression is evaluated for longer than most.
    `hub_works`: the hub works at something for longer than most, and looks for no new records meanwhile.
    """

    life: Life = "starting"
    argv: tuple[str, ...] = ()
    trace: str = ""
    pid: int | None = None
    exit: int | None = None
    signal: str | None = None
    stop: Stop | None = None
    stopped: tuple[int, ...] = ()
    idle_from: float = 0.0
    nodes: int = 0
    why: str = ""
    rank: str = ""
    awaits_input: bool = False
    pausing: bool = False
    stepping: Stop | None = None
    output_kept: bool = True
    runs: str = ""
    hands: Hands = ""
    evaluating: bool = False
    hub_works: bool = False
    troubles: tuple[tuple[str, str], ...] = ()

    @property
    def trouble(self) -> str:
        """The same in two words for the title, or ""."""
        kinds = {kind for kind, _ in self.troubles}
        return next((word for kind, word in _TROUBLES.items() if kind in kinds), "")

    @property
    def ended_badly(self) -> bool:
        """Whether the program has ended otherwise than with status 0."""
        return self.life == "ended" and bool(self.signal or self.exit)

    @property
    def was_killed(self) -> bool:
        """Whether somebody has ended the program, of which its output tells nothing."""
        return self.signal in KILLED_BY

    @property
    def doing(self) -> str:
        """What runs, as far as that is known: of a step the part of a node, or the node; else a node that calls functions."""
        stop = self.stepping
        if stop is None or not stop.node:
            return self.runs if self.life == "running" else ""
        return f"the {stop.phase} of {stop.node}" if stop.phase else stop.node

    @property
    def alive(self) -> bool:
        """Whether there is a program that could be ended or left behind."""
        return self.life in ("waiting", "running", "stopped")

    @property
    def script(self) -> str:
        """The program's name, without its directory."""
        return self.argv[0].rsplit("/", 1)[-1] if self.argv and self.argv[0] else ""

    def ending(self) -> str:
        """How the program ended, in words."""
        if self.signal:
            return f"ended by {self.signal}"
        return "ended" if self.exit is None else f"ended with status {self.exit}"

    def status(self) -> int | None:
        """The exit status a shell would show, or None while there is none."""
        if self.signal:
            return 128 + getattr(Signals, self.signal, 0)
        return self.exit


def troubles_of(body: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """What is wrong with the recording, out of a protocol message."""
    return tuple((str(each["kind"]), str(each["text"])) for each in body.get("troubles") or ())


def frame_of(frame: dict[str, Any]) -> Frame:
    """A frame out of a protocol message."""
    path = (frame.get("source") or {}).get("path") or ""
    hint = frame.get("presentationHint")
    return Frame(frame["id"], frame["name"], path, frame.get("line") or 0, hint == "label", hint == "normal")
