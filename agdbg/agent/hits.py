"""Who comes by a breakpoint is judged here: condition, ignored hits, hit condition, log message, temporary ones."""

from collections.abc import Callable, Collection, Iterable
from threading import RLock
from types import FrameType
from typing import Any, NamedTuple, Protocol

from agdbg.agent import conditions
from agdbg.agent.control import Rule, Settings
from agdbg.agent.variables import References
from agdbg.breakpoints import hit_test

Tell = Callable[[dict[str, Any]], object]
"""Sends a message to the hub."""


class Spot(Protocol):
    """The place that somebody has come to, as an engine knows it.

    Attributes:
        trusted: the files of the engine, whose functions end by themselves.
    """

    @property
    def trusted(self) -> frozenset[str]:
        """As above."""

    def names(self, wanted: Collection[str]) -> dict[str, Any]:
        """The values of those of the names that mean something here, as ``node`` or ``grads_in``."""

    def lacks(self, wanted: Collection[str]) -> bool:
        """Whether one of the names (``grads_in``, say) means something in backward only and this is forward code: no hit then."""

    def frame(self) -> FrameType | None:
        """The innermost frame of the program."""

    def describe(self, value: Any) -> str | None:
        """Text for an object of the engine, ``None`` for others."""

    def watched(self, function: Callable[[], Any]) -> tuple[Any, list[str]]:
        """Call ``function`` without stopping in it; return its result, and notes of what it wrote to."""

    def holds(self, condition: conditions.Expression) -> tuple[bool, list[str]]:
        """Whether a condition is true, evaluated as :meth:`watched` calls a function, and notes of what it wrote to."""

    def place(self) -> dict[str, Any]:
        """``file`` and ``line`` that a message is about, and ``node``."""


class Verdict(NamedTuple):
    """The breakpoints that are to stop the thread, and what there is to say of it."""

    stops: list[int]
    note: str = ""


NOTHING = Verdict([])


class Hits:
    """Counts the hits of all breakpoints; one that is changed begins anew."""

    def __init__(self) -> None:
        self._rules: dict[int, Rule] = {}
        self._plain: frozenset[int] = frozenset()
        self._counts: dict[int, int] = {}
        self._spent: set[int] = set()
        self._told: set[tuple[int, str]] = set()
        self._counting = RLock()  # a finalizer may come by a breakpoint while its thread counts

    def take(self, settings: Settings) -> None:
        """These are the breakpoints now."""
        rules = {rule.id: rule for rule in settings.rules}
        kept = {number for number, rule in rules.items() if self._rules.get(number) == rule}
        self._counts = {number: count for number, count in self._counts.items() if number in kept}
        self._spent &= kept
        self._told = {each for each in self._told if each[0] in kept}
        self._plain = frozenset(number for number, rule in rules.items() if rule_is_plain(rule))
        self._rules = rules

    def judge(self, numbers: list[int], spot: Spot, tell: Tell) -> Verdict:
        """Somebody has come by the breakpoints ``numbers``."""
        if self._plain.issuperset(numbers):
            return Verdict(list(numbers))
        stops, notes = [], []
        for number in numbers:
            note = self._judged(self._rules[number], spot, tell) if number in self._rules else None
            if note is not None:
                stops.append(number)
                notes += [note] if note else []
        return Verdict(stops, "; ".join(notes)) if stops else NOTHING

    def would_stop(self, numbers: Iterable[int], spot: Spot) -> bool:
        """Whether one of them may stop the thread here, by its condition alone: nothing is counted or told."""
        rules = [self._rules[number] for number in numbers if number in self._rules]
        return any(not rule.log and self._holds(rule, spot)[0] for rule in rules if rule.id not in self._spent)

    def _judged(self, rule: Rule, spot: Spot, tell: Tell) -> str | None:
        """What to say of a stop, which may be nothing; ``None`` when there is none."""
        if rule.id in self._spent or (rule.log and spot.lacks(conditions.read_by("", rule.log))):
            return None
        is_true, note, writes = self._holds(rule, spot)
        if note or writes:
            self._tell_of_evaluation(rule, note, writes, tell)
        if not is_true or not self._counts_as_hit(rule):
            return None
        if rule.temporary:
            self._spent.add(rule.id)
        if rule.log:
            self._log(rule, spot, tell)
            return None
        return note

    def _holds(self, rule: Rule, spot: Spot) -> tuple[bool, str, list[str]]:
        """Whether the condition is true, or failed and why, and what it wrote to."""
        if not rule.condition:
            return True, "", []
        try:
            is_true, writes = spot.holds(conditions.compiled(rule.condition))
        except BaseException as error:
            if conditions.is_interrupt(error):
                raise
            if spot.lacks(conditions.read_by(rule.condition, "")):  # it asks for gradients where there are none
                return False, "", []
            told = conditions.failure(error)
            return True, f"the condition {rule.condition!r} failed: {told}", []
        return is_true, "", writes

    def _counts_as_hit(self, rule: Rule) -> bool:
        with self._counting:
            hits = self._counts[rule.id] = self._counts.get(rule.id, 0) + 1
        hits -= rule.ignore
        test = hit_test(rule.hits) if rule.hits else None
        return hits > 0 and (test is None or test(hits))

    def _log(self, rule: Rule, spot: Spot, tell: Tell) -> None:
        describe = References(spot.describe).text
        text, writes = spot.watched(lambda: conditions.filled(rule.log, spot.frame, spot.names, describe))
        self._tell_of_evaluation(rule, "", writes, tell)
        tell({"log": {"breakpoint": rule.id, "text": text, "spent": rule.temporary, **spot.place()}})

    def _tell_of_evaluation(self, rule: Rule, failure: str, writes: list[str], tell: Tell) -> None:
        """Once of each kind for a breakpoint."""
        if failure and self._is_first(rule, "failed"):
            tell({"broken": {"breakpoint": rule.id, "text": failure}})
        if writes and self._is_first(rule, "wrote"):
            told = f"breakpoint {rule.id} changes the program when it is evaluated (told once): {'; '.join(writes)}"
            tell({"log": {"breakpoint": rule.id, "text": told, "spent": False, **spot_of_nothing()}})

    def _is_first(self, rule: Rule, what: str) -> bool:
        is_first = (rule.id, what) not in self._told
        self._told.add((rule.id, what))
        return is_first


def rule_is_plain(rule: Rule) -> bool:
    """True for a breakpoint that always stops."""
    return not (rule.condition or rule.hits or rule.ignore or rule.log or rule.temporary)


def spot_of_nothing() -> dict[str, Any]:
    """The place of a message that is about none."""
    return {"file": "", "line": 0, "node": 0}
