"""Breakpoints by what they are on: a line, a name, a kind of event, memory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from agdbg.agent.control import WatchStop
from agdbg.breakpoints import storage_number
from agdbg.hub.rules import Rule

Body = dict[str, Any]


@dataclass(frozen=True)
class Breakpoint:
    """What all have.

    Attributes:
        problem: why it cannot be hit.
        failure: what went wrong with it since.
        waits: why it could not be hit so far.
    """

    id: int
    rule: Rule
    problem: str
    failure: str = ""
    waits: str = ""

    #: The names of the fields by which one that is asked for again keeps its id.
    KEY: ClassVar[tuple[str, ...]] = ()

    def key(self) -> tuple[Any, ...]:
        """Its place."""
        return tuple(getattr(self, name) for name in self.KEY)

    def as_body(self) -> Body:
        """As the protocol has it."""
        told = self.problem or self.waits or self.failure
        message = {"message": told} if told else {}
        message |= {"reason": "pending"} if self.waits else {}
        return {
            "id": self.id,
            "verified": not (self.problem or self.waits),
            **message,
            **self.rule.as_body(),
            **self.about(),
        }

    def about(self) -> Body:
        """Where it is, as the protocol has it."""
        raise NotImplementedError


@dataclass(frozen=True)
class LineBreakpoint(Breakpoint):
    """On a forward line; ``when`` says whether it stops in forward, in backward or in both."""

    file: str = ""
    line: int = 0
    when: str = "both"
    KEY = ("file", "line", "when")

    def about(self) -> Body:
        """File and line."""
        source = {"name": Path(self.file).name, "path": self.file}
        when = {} if self.when == "both" else {"when": self.when}
        return {"source": source, "line": self.line, **when}


@dataclass(frozen=True)
class NameBreakpoint(Breakpoint):
    """On an op, a node, a parameter or a module; ``when`` says whether it stops where a node is built, where it runs, or both."""

    name: str = ""
    when: str = "both"
    KEY = ("name", "when")

    def about(self) -> Body:
        """The name and when, which are agdbg's own."""
        return {"name": self.name} | ({} if self.when == "both" else {"when": self.when})


@dataclass(frozen=True)
class EventBreakpoint(Breakpoint):
    """On a kind of event."""

    kind: str = ""
    KEY = ("kind",)

    def about(self) -> Body:
        """The kind, which is agdbg's own."""
        return {"kind": self.kind}


@dataclass(frozen=True)
class DataBreakpoint(Breakpoint):
    """On memory: ``storage:7``, or ``name:1.weight``; ``label`` is what a person called it who asked for that memory."""

    data: str = ""
    label: str = ""
    KEY = ("data",)

    def about(self) -> Body:
        """What is watched, which is agdbg's own."""
        return {"dataId": self.data} | ({"label": self.label} if self.label else {})

    def stop(self) -> WatchStop:
        """As the program is told of it."""
        number = storage_number(self.data)
        name = "" if number else self.data.removeprefix("name:")
        return WatchStop(self.id, name=name, storage=number, label=self.label, **self.rule.as_fields())
