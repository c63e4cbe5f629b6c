"""Breakpoints on a recording: at which of the runs of nodes the cursor is to stop, and what cannot be asked of a recording."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agdbg.agent.conditions import failure
from agdbg.breakpoints import matches, node_number
from agdbg.hub.recorded_conditions import NotRecorded, condition_problem, holds, sees_of
from agdbg.hub.rules import Rule

if TYPE_CHECKING:  # a hub answers before it has loaded NumPy
    import numpy as np

    from agdbg.hub.history import History

    Words = np.ndarray[Any, Any]
#: Filters that look at values while the program runs.
_BY_VALUE = frozenset({"nan", "inf", "none-grad"})


@dataclass(frozen=True)
class OnName:
    """A breakpoint on a name, with a condition or without.

    Attributes:
        is_counted: it has a number of hits beside it, which nobody knows of a recording.
    """

    id: int
    name: str
    condition: str = ""
    is_counted: bool = False


@dataclass(frozen=True)
class OnLine:
    """The same on a line."""

    id: int
    file: str
    line: int
    condition: str = ""
    is_counted: bool = False


@dataclass(frozen=True)
class RecordedStops:
    """The breakpoints at which the cursor stops, as they are at one time."""

    names: tuple[OnName, ...] = ()
    lines: tuple[OnLine, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.names or self.lines)

    def judge(self, numbers: Iterable[int], history: "History", row: int, ended: list[int]) -> tuple[list[int], str]:
        """Of the breakpoints at a run those that stop there, and what there is to say of it.

        Args:
            numbers: the breakpoints.
            history: the trace.
            row: the record of the run.
            ended: as :func:`agdbg.hub.recorded_conditions.holds` wants it.
        """
        facts, found, notes = history.live, [], []
        sees = sees_of(facts.trace.meta)
        stops: list[OnName | OnLine] = [*self.names, *self.lines]
        known = {each.id: each for each in stops}
        for number in numbers:
            each = known[number]
            unknown = each.is_counted or (each.condition and condition_problem(each.condition, sees))
            if unknown or not each.condition:
                found.append(number)
                what = "counts its hits" if each.is_counted else "has a condition"
                notes.append(f"it {what}, which a recording cannot evaluate" if unknown else "")
                continue
            try:
                is_true = holds(each.condition, facts, facts.run(row), ended)
            except Exception as error:
                what = f"{error} was not recorded" if isinstance(error, NotRecorded) else failure(error)
                found.append(number)
                notes.append(f"the condition {each.condition!r} failed: {what}")
            else:
                found += [number] if is_true else []
                notes += [""] if is_true else []
        return found, "" if "" in notes else "; ".join(dict.fromkeys(notes))

    def hits(self, history: "History", nodes: "Words", passes: "Words") -> dict[int, list[int]]:
        """The breakpoints at runs, by the place of a run.

        Args:
            history: the trace.
            nodes: the node of every run.
            passes: the pass of every run.
        """
        import numpy as np

        found: dict[int, list[int]] = {}
        for each in self.names:
            meant = np.isin(nodes, history.built_as(each.name)) | np.isin(nodes, self._named(history, each.name, nodes))
            for at in np.flatnonzero(meant).tolist():
                found.setdefault(at, []).append(each.id)
        for line in self.lines:
            for at in runs_of_line(history, line.file, line.line, nodes, passes):
                found.setdefault(at, []).append(line.id)
        return found

    @staticmethod
    def _named(history: "History", name: str, nodes: "Words") -> list[int]:
        """The nodes that ran which have that number, or a leaf or a module of that name."""
        if node_number(name):
            return [node_number(name)]
        import numpy as np

        live, leaves = history.live, set(history.leaves().tolist())
        ran = np.unique(nodes).tolist()
        called = {node: live.name_of_leaf(node) if node in leaves else live.module_path(node) for node in ran}
        return [node for node, known in called.items() if known and matches(name, [known])]


def runs_of_line(history: "History", file: str, line: int, nodes: "Words", passes: "Words") -> list[int]:
    """The runs of what a line built, where several in a row count once, and the first of each pass that it started."""
    import numpy as np

    built = np.isin(nodes, history.built_on(file, line))
    leaves = np.isin(nodes, history.leaves())
    found, before, within, seen = [], False, 0, set()
    for at, (is_built, is_leaf, number) in enumerate(
        zip(built.tolist(), leaves.tolist(), passes.tolist(), strict=True)
    ):
        begins = number != within
        if begins:
            before, within = False, number
        began = history.live.pass_of(number) if number not in seen else None
        seen.add(number)
        starts = began is not None and (began.site.file, began.site.line) == (file, line)
        if (is_built and not is_leaf and not before) or starts:
            found.append(at)
        before = before if is_leaf else is_built
    return found


def rule_problem(rule: Rule, sees: Mapping[str, object], when: str = "both") -> str:
    """Why a breakpoint cannot be honoured in a recording whose header says what it ``sees``; empty when it can."""
    if when == "forward":
        return "this is a recording, in which one goes from run to run of nodes and none is built: say backward"
    asked = {"a log message": rule.log, "a hit condition": rule.hits, "a number to ignore": rule.ignore}
    found = next((what for what, is_there in asked.items() if is_there), "")
    if found:
        return f"this is a recording, without the program's values and hits: {found} needs the program"
    return condition_problem(rule.condition, sees) if rule.condition else ""


def kind_problem(kind: str) -> str:
    """The same of an event."""
    return (
        f"this is a recording, in which nothing happens anew: agdbg/events lists where {kind} has happened, "
        "and agdbg/goto goes there"
    )


def data_problem() -> str:
    """The same of memory."""
    return "this is a recording, in which nothing is written to: memory is watched in a program"


def filter_problem(name: str, rule: Rule) -> str:
    """The same of a filter of errors: a run that failed always is a stop."""
    if name not in _BY_VALUE:
        where = "this is a recording, in which a run that failed always is a stop"
        return f"{where}: a condition of a filter needs the program" if rule.condition else ""
    return (
        f"this is a recording: {name} is found by the values of a program that runs; "
        "what was recorded is told by agdbg lint, the key ! of the terminal UI and the request agdbg/firstBad"
    )
