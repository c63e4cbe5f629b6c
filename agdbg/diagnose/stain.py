"""What an inplace-modified error is about, put together: who saved, who wrote, who needed it."""

from dataclasses import dataclass

from agdbg.diagnose.case import Case
from agdbg.diagnose.handing import crossing
from agdbg.diagnose.history import after, carried, made_again, made_by_one_line
from agdbg.diagnose.meeting import Entry, Meeting, meet
from agdbg.diagnose.naming import saved_name
from agdbg.diagnose.views import part_views
from agdbg.diagnose.words import Lines, same_line
from agdbg.diagnose.writers import Writer, missing, writers, writes_between
from agdbg.record.facts import BumpFact, ErrorFact, NodeFact, PassFact
from agdbg.record.lookup import Site


@dataclass(frozen=True)
class Stain:
    """The facts of one error.

    Attributes:
        node: the node that had saved the tensor; None when its birth was not recorded.
        slot: the slot it was saved in.
        storage: its storage, 0 when not known.
        expected, current: the version that was saved, and the one that was found.
        name: what the tensor is called; empty when that is not known.
        bumps: the recorded writes since.
        writers: the same by line.
        call: the pass that failed; None when it was read outside of one.
        entries: where the graph reaches back into an earlier iteration on its way to the node.
        kept: what was made once before the loop with parameters with which every turn computes something anew; None: nothing was.
        wrote_output: whether a recorded write was to an output of the node, and built a node that follows it.
        before: the last pass that ran the node before, 0 when none did.
        turn: the pass of the iteration that the graph reaches back into; None when it does not.
        needed: the line that needed it.
    """

    error: ErrorFact
    node: NodeFact | None
    slot: str
    storage: int
    expected: int
    current: int
    name: str
    bumps: list[BumpFact]
    writers: list[Writer]
    call: PassFact | None
    entries: list[Entry]
    kept: Entry | None
    wrote_output: bool
    before: int
    turn: PassFact | None
    needed: Site
    lines: Lines

    @staticmethod
    def of(case: Case, error: ErrorFact) -> "Stain":
        """Put the facts together."""
        node = case.facts.node(error.node)
        storage, expected, current = _memory(case, error, node)
        bumps = writes_between(case, storage, expected, current, error.row)
        by_line = writers(case, bumps)
        before = _before(case, error)
        call = case.facts.pass_of(error.pass_id)
        meeting = _meeting(case, error, call, before)
        entries = carried(case, meeting, error.row) if meeting is not None else []
        if meeting is None and call is not None and node is not None and bumps:
            meeting = _left(case, call, node, bumps[0])
            entries = _left_over(case, meeting, node.id, error.row) if meeting is not None else []
        needed = call.site if call is not None and call.site.line else error.site
        return Stain(
            error=error,
            node=node,
            slot=error.slot,
            storage=storage,
            expected=expected,
            current=current,
            name=saved_name(case, node, error.slot, storage) or _written_name(case, error, storage, by_line),
            bumps=bumps,
            writers=by_line,
            call=call,
            entries=entries,
            kept=_kept(case, meeting) if meeting is not None and not entries else None,
            wrote_output=_wrote_output(case, node, bumps),
            before=before,
            turn=meeting.first if meeting is not None and entries else None,
            needed=needed,
            lines=Lines(needed),
        )

    @property
    def unaccounted(self) -> int:
        """How many versions no recorded write accounts for."""
        return missing(self.bumps, self.expected, self.current)


def _memory(case: Case, error: ErrorFact, node: NodeFact | None) -> tuple[int, int, int]:
    """The storage and the versions, from what the node saved where the error does not say."""
    saves = node.saves if node is not None else ()
    saved = next((save for save in saves if save.slot == error.slot), None)
    storage = error.storage or (saved.storage if saved is not None else 0)
    if error.expected != error.current or saved is None:
        return storage, error.expected, error.current
    earlier = [bump.new for bump in case.facts.bumps(storage) if bump.row < error.row] if storage else []
    return storage, saved.version, max([saved.version, *earlier])


def _written_name(case: Case, error: ErrorFact, storage: int, by_line: list[Writer]) -> str:
    """The name by which the first writer wrote to it, where it wrote to the whole tensor."""
    first = by_line[0] if by_line else None
    if first is None or first.manner in ("step", "gradient", "zeroed") or part_views(case, storage, error.row):
        return ""
    whole = first.write.form in ("augmented", "method", "out")
    return f"`{first.write.target}`" if whole and first.write.target else ""


def _wrote_output(case: Case, node: NodeFact | None, bumps: list[BumpFact]) -> bool:
    """What an in-place op was called on is the first input of the node that it built."""
    built = [case.facts.node(bump.node) for bump in bumps if bump.node]
    return node is not None and any(
        each is not None and each.edges[:1] and each.edges[0].node == node.id for each in built
    )


def _before(case: Case, error: ErrorFact) -> int:
    return next((each for each in reversed(case.facts.passes_of(error.node)) if each != error.pass_id), 0)


def _meeting(case: Case, error: ErrorFact, call: PassFact | None, earlier: int) -> Meeting | None:
    """Where the failing pass came upon the graph of an iteration that had its pass already."""
    before = case.facts.pass_of(earlier)
    return meet(case, before, call, error.node) if call is not None and before is not None else None


def _left(case: Case, call: PassFact, node: NodeFact, bump: BumpFact) -> Meeting | None:
    """The pass of the iteration before, where that made the node and came not to it: what is predicted from is computed last."""
    earlier = [each for each in case.facts.passes if node.row < each.row < bump.row and same_line(each.site, call.site)]
    return meet(case, earlier[-1], call, node.id) if earlier else None


def _left_over(case: Case, meeting: Meeting, node: int, until: int) -> list[Entry]:
    """What that iteration handed on: first what leads to the node, and then all that has saved something as well."""
    found = made_again(case, crossing(case, meeting, node), meeting, until)
    walk, known = case.walk, {each.node.id for each in found}
    others = made_again(case, crossing(case, meeting, 0), meeting, until) if found else []
    others = [each for each in others if each.node.id not in known]
    return [*found, *(each for each in others if (walk.below(walk.mask([each.node.id])) & walk.saving).any())]


def _kept(case: Case, meeting: Meeting) -> Entry | None:
    first, second = meeting.first, meeting.second
    is_loop = (
        same_line(first.site, second.site) and after(second, first, case) and made_by_one_line(first, second, case)
    )
    return meeting.entries[0] if is_loop and meeting.anew and meeting.entries else None
