"""Breakpoints: what clients ask for, as the program is told of it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from agdbg.agent.control import ControlWriter, FunctionStop, Settings, SourceStop, TooBig
from agdbg.breakpoints import matches, names_of_op
from agdbg.hub.call import Refused

#: The filters of errors: the id, the label, what it does, and whether it is on from the start.
FILTERS: tuple[tuple[str, str, str, bool], ...] = (
    ("backward-twice", "Backward through a freed graph", "Stop before the pass that would fail.", True),
    ("inplace-modified", "Saved tensor modified in place", "Stop before the pass that would fail.", True),
    ("leaf-inplace", "In-place write to a leaf that requires grad", "Stop where it is refused.", False),
    ("any", "Any error of autograd", "Stop where any autograd error is raised.", False),
)
_KNOWN = frozenset(each[0] for each in FILTERS)


@dataclass(frozen=True)
class LineBreakpoint:
    """On a forward line; ``problem`` says why it cannot be hit."""

    id: int
    file: str
    line: int
    problem: str = ""

    def as_body(self) -> dict[str, Any]:
        """As the protocol has it."""
        source = {"name": Path(self.file).name, "path": self.file}
        return {**_body(self.id, self.problem), "source": source, "line": self.line}


@dataclass(frozen=True)
class NameBreakpoint:
    """On an op, a node or a parameter."""

    id: int
    name: str
    problem: str = ""

    def as_body(self) -> dict[str, Any]:
        """As the protocol has it; the name is agdbg's own."""
        return {**_body(self.id, self.problem), "name": self.name}


class Breakpoints:
    """All breakpoints, and the block of memory in which the program sees them."""

    def __init__(self, control: ControlWriter) -> None:
        self._control = control
        self._ids = count(1)
        self._lines: dict[str, list[LineBreakpoint]] = {}
        self._names: list[NameBreakpoint] = []
        self._settings = Settings()

    # ----- setting them -----

    def set_lines(self, file: str, lines: list[int], conditional: Iterable[int] = ()) -> list[LineBreakpoint]:
        """Take ``lines`` as all breakpoints of ``file``; one that was there keeps its id.

        Args:
            file: an absolute path.
            lines: from 1.
            conditional: those of them that have a condition, which no breakpoint here can have.
        """
        before = {each.line: each.id for each in self._lines.get(file, [])}
        length = _length_of(file)
        conditional = set(conditional)
        made = [
            LineBreakpoint(
                before.get(line) or self._new_id(), file, line, _problem(file, line, length, line in conditional)
            )
            for line in dict.fromkeys(lines)
        ]
        self._publish_with({**self._lines, file: made}, self._names)
        by_line = {each.line: each for each in made}
        return [by_line[line] for line in lines]

    def set_names(self, names: list[str], conditional: Iterable[str] = ()) -> list[NameBreakpoint]:
        """Take ``names`` as all breakpoints on names; one that was there keeps its id."""
        before = {each.name: each.id for each in self._names}
        conditional = set(conditional)
        made = [
            NameBreakpoint(before.get(name) or self._new_id(), name, _name_problem(name, name in conditional))
            for name in dict.fromkeys(names)
        ]
        self._publish_with(self._lines, made)
        by_name = {each.name: each for each in made}
        return [by_name[name] for name in names]

    def set_filters(self, filters: list[str]) -> list[dict[str, Any]]:
        """Take ``filters`` as all that are on; one that is not known is not verified."""
        known = [each for each in dict.fromkeys(filters) if each in _KNOWN]
        self._publish(replace(self._settings, exceptions=known))
        return [
            {"verified": True}
            if each in _KNOWN
            else {"verified": False, "message": f"there is no filter {each!r}; there are {', '.join(sorted(_KNOWN))}"}
            for each in filters
        ]

    def clear(self) -> bool:
        """Drop all breakpoints and filters; False when there were none."""
        there = self._lines or self._names or self._settings.exceptions or self._settings.entry
        self._lines, self._names = {}, []
        self._publish(Settings(pause=self._settings.pause))
        return bool(there)

    def stop_on_entry(self) -> None:
        """Stop before the first node of the first pass."""
        self._publish(replace(self._settings, entry=True))

    def pause(self) -> None:
        """Stop at the next node."""
        self._publish(replace(self._settings, pause=self._settings.pause + 1))

    # ----- asking about them -----

    def bodies(self) -> dict[int, dict[str, Any]]:
        """All of them by their ids, as the protocol has them."""
        lines = {each.id: each.as_body() for made in self._lines.values() for each in made}
        return {**lines, **{each.id: each.as_body() for each in self._names}}

    def is_on_name(self, number: int) -> bool:
        """True for the id of a breakpoint on a name."""
        return any(each.id == number for each in self._names)

    def matches(self, file: str, line: int, names: list[str]) -> bool:
        """True when a node that was built there, with such names, is one to stop at."""
        at_line = any(each.line == line and not each.problem for each in self._lines.get(file, ()))
        known = [each for name in names for each in names_of_op(name)]
        return at_line or any(matches(each.name, known) for each in self._names)

    # ----- telling the program -----

    def _new_id(self) -> int:
        return next(self._ids)

    def _publish_with(self, lines: dict[str, list[LineBreakpoint]], names: list[NameBreakpoint]) -> None:
        everywhere = [each for file in lines.values() for each in file if not each.problem]
        sources = [SourceStop(each.id, each.file, each.line) for each in everywhere]
        functions = [FunctionStop(each.id, each.name) for each in names if not each.problem]
        self._publish(replace(self._settings, sources=sources, functions=functions))
        self._lines = {file: made for file, made in lines.items() if made}
        self._names = names

    def _publish(self, settings: Settings) -> None:
        try:
            self._control.publish(settings)
        except TooBig as error:
            raise Refused(str(error)) from None
        self._settings = settings


def _body(number: int, problem: str) -> dict[str, Any]:
    return {"id": number, "verified": not problem, **({"message": problem} if problem else {})}


def _length_of(file: str) -> int | str:
    """How many lines a file has, or why it cannot be read."""
    if not file.startswith("/"):
        return f"{file} is no absolute path; name the file from the root"
    try:
        with open(file, "rb") as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 16), b"")) + 1
    except FileNotFoundError:
        return f"{file} does not exist"
    except (OSError, ValueError) as error:
        return f"{file} cannot be read: {getattr(error, 'strerror', None) or error}"


def _problem(file: str, line: int, length: int | str, is_conditional: bool) -> str:
    if isinstance(length, str):
        return length
    if not 1 <= line <= length:
        return f"line {line} is not in {file}, which has {length:,} lines"
    return _UNCONDITIONAL if is_conditional else ""


def _name_problem(name: str, is_conditional: bool) -> str:
    if not name.strip():
        return "the name is empty; name an op, a node or a parameter, as MulBackward0 or *.weight"
    return _UNCONDITIONAL if is_conditional else ""


_UNCONDITIONAL = "breakpoints cannot have conditions, hit counts or log messages; set it without"
