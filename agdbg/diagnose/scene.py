"""What a backward-twice error is about: the node, the call that freed it, the call that needed it."""

from dataclasses import dataclass
from typing import Literal

from agdbg.diagnose.case import Case
from agdbg.diagnose.meeting import Meeting, meet
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines
from agdbg.record.facts import ErrorFact, NodeFact, PassFact
from agdbg.record.lookup import Site

Known = Literal["ran", "reached", "unknown"]


@dataclass(frozen=True)
class Scene:
    """The facts of one error.

    Attributes:
        node: the node whose saved tensors were gone; None when its birth was not recorded.
        first: the call that freed them; None when none was recorded.
        second: the call that needed them; None when they were read outside of a call.
        meeting: where the two meet; None when one of them is missing.
        known: how ``first`` is known: it ran the node, or the edges say that it reached it.
        needed: the line that needed the saved tensors.
    """

    case: Case
    error: ErrorFact
    node: NodeFact | None
    first: PassFact | None
    second: PassFact | None
    meeting: Meeting | None
    known: Known
    needed: Site
    lines: Lines

    @staticmethod
    def of(case: Case, error: ErrorFact) -> "Scene":
        """Put the facts together."""
        facts = case.facts
        second = facts.pass_of(error.pass_id)
        first, known = _freer(case, error, second)
        needed = second.site if second is not None and second.site.line else error.site
        meeting = meet(case, first, second, error.node) if first and second and first.id != second.id else None
        return Scene(
            case=case,
            error=error,
            node=facts.node(error.node),
            first=first,
            second=second,
            meeting=meeting,
            known=known,
            needed=needed,
            lines=Lines(needed),
        )

    @property
    def calls(self) -> tuple[PassFact | None, PassFact | None, Meeting | None]:
        """The two calls and where they meet."""
        return self.first, self.second, self.meeting

    def tense(self, past: str, ahead: str) -> str:
        """How it is told of an error that was raised, and of one that is only foreseen."""
        return ahead if self.error.predicted else past

    @property
    def node_words(self) -> str:
        """The expression that built the node and its line, or the op."""
        if self.node is None:
            return "a node that was built before the recording"
        return f"{made_by(self.node)}{self.lines.at(self.node.site)}"

    @property
    def second_words(self) -> str:
        """The second call and its line."""
        if self.second is None:
            return f"the code{self.lines.at(self.needed)}"
        return f"`{call_text(self.needed, self.second.call)}`{self.lines.at(self.needed)}"

    def call_words(self, call: PassFact) -> str:
        """A call and its line."""
        return f"`{call_text(call.site, call.call)}`{self.lines.at(call.site)}"


def _freer(case: Case, error: ErrorFact, second: PassFact | None) -> tuple[PassFact | None, Known]:
    """The call that freed the node, and how that is known."""
    first = case.facts.pass_of(case.facts.freed_by(error.node))
    if first is not None:
        return first, "ran"
    first = _reaching(case, error, second)
    return first, "unknown" if first is None else "reached"


def _reaching(case: Case, error: ErrorFact, second: PassFact | None) -> PassFact | None:
    """The first call before the error that freed what it ran and, as the edges say, went through the node."""
    walk = case.walk
    above = walk.above(walk.mask([error.node]), walk.ids > 0)
    for each in case.facts.passes:
        freed = each.row < error.row and not each.retain_graph and each is not second
        if freed and (walk.mask(root for root, _ in each.roots) & above).any():
            return each
    return None
