"""How a graph comes to be walked twice, and what to do in each case.

Each story looks at the scene and tells it, or returns None when it is another story's. They are asked in the
order of ``STORIES``; the last one always answers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from agdbg.diagnose.advice import add_up_or_retain, may_add_up, own_graph, retain
from agdbg.diagnose.asked import asked_again
from agdbg.diagnose.cached import cached_by
from agdbg.diagnose.carrying import cut_loose, kept_to_compare
from agdbg.diagnose.enclosing import function_of, is_outside, place
from agdbg.diagnose.handing import crossing, kept_name
from agdbg.diagnose.history import after, carried, made_by_one_line, step_between, trained
from agdbg.diagnose.meeting import Entry, Meeting
from agdbg.diagnose.naming import entry_name, entry_words, used_as
from agdbg.diagnose.remaking import first_line, moved_into_loop
from agdbg.diagnose.running import running_total
from agdbg.diagnose.scene import Scene
from agdbg.diagnose.source import differentiated, dropped
from agdbg.diagnose.two_results import two_fix
from agdbg.diagnose.words import capital, listed, same_line
from agdbg.record.facts import PassFact
from agdbg.record.lookup import Site


@dataclass(frozen=True)
class Story:
    """The cause in one sentence, the fix, and the entries that the cause speaks of."""

    cause: str
    fix: str
    entries: list[Entry] = field(default_factory=list)


def tell(scene: Scene) -> Story:
    """The first story that fits."""
    return next(story for told in STORIES if (story := told(scene)) is not None)


# ----- one call is missing -----


def unknown(scene: Scene) -> Story | None:
    """Nothing that was recorded freed the node."""
    if scene.first is not None:
        return None
    return Story(
        f"What {scene.node_words} had saved {scene.tense('was', 'is')} gone when {scene.second_words} "
        f"{scene.tense('needed', 'needs')} it; no recorded call freed it.",
        "Look for an earlier backward() or grad() through the same graph: pass retain_graph=True there, or detach() "
        "what is used again.",
    )


def outside(scene: Scene) -> Story | None:
    """The saved tensors were not needed by a call, but read by the program."""
    if scene.first is None or scene.error.pass_id:
        return None
    read = f"{scene.tense('read', 'reads')} it{scene.lines.at(scene.needed)}"
    return Story(
        f"{scene.call_words(scene.first)} freed what {scene.node_words} had saved, before the program {read}.",
        f"Read it before that call, or {retain(scene, scene.first)}.",
    )


# ----- one call inside the other -----


def nested(scene: Scene) -> Story | None:
    """One of the calls was made from inside the other, by a hook or a custom Function."""
    first, second = scene.first, scene.second
    if first is None or second is None:
        return None
    if second in scene.case.outer_passes(first.id):
        return Story(
            f"{scene.call_words(first)} ran inside of {scene.second_words}{_during(scene, first, second)} and freed a "
            "part of the graph that the outer call had still to go through.",
            own_graph(scene, "inner", first),
        )
    if first in scene.case.outer_passes(second.id):
        return Story(
            f"{scene.second_words} {scene.tense('ran', 'runs')} inside of {scene.call_words(first)}"
            f"{_during(scene, second, first)} and {scene.tense('needed', 'needs')} a "
            "part of the graph that the outer call had freed already.",
            own_graph(scene, "outer", first),
        )
    return None


def _during(scene: Scene, inner: PassFact, outer: PassFact) -> str:
    """The node in whose backward the inner call was made: the first that the outer pass finished after it."""
    facts = scene.case.facts
    rows = facts.run_rows
    runs = facts.trace.records[rows[rows > inner.end_row]]
    nodes = runs[runs[:, 2] == outer.id, 1]
    node = facts.node(int(nodes[0])) if len(nodes) else None
    return f", in the backward of {node.op.name}," if node is not None and node.op.name else ""


# ----- one root, or one root inside the other's graph -----


def same_root(scene: Scene) -> Story | None:
    """Both calls start from the same result."""
    first, second, meeting = scene.calls
    if first is None or second is None or meeting is None or not meeting.same_root:
        return None
    made = _root_line(scene, second)
    step = step_between(scene.case, first.row, scene.error.row)
    if same_line(first.site, second.site):
        kept = f", or {retain(scene, first)}" if step is None else ""
        return Story(
            f"{scene.second_words} {scene.tense('ran', 'runs')} again on the same result{made}: the first time had freed its "
            "graph.",
            f"Compute the result again before each call{kept}.",
        )
    if first.call == "grad":
        return Story(
            f"{scene.call_words(first)} freed the graph of the result{made} that {scene.second_words} starts from as "
            "well.",
            f"{capital(retain(scene, first))}.",
        )
    kept = (
        capital(retain(scene, first))
        if step is None
        else f"Compute the result again after the step{scene.lines.at(step)}"
    )
    drop = "" if second.call == "grad" else ", or drop the second call: it would add the same gradients once more"
    return Story(
        f"{scene.second_words} goes through the graph that {scene.call_words(first)} freed: both start from the same "
        f"result{made}.",
        f"{kept}{drop}.",
    )


def _root_line(scene: Scene, second: PassFact) -> str:
    root = scene.case.facts.node(second.roots[0][0]) if second.roots else None
    return f" made{scene.lines.at(root.site)}" if root is not None and root.site.line else ""


def inner_root(scene: Scene) -> Story | None:
    """The second call starts in the middle of what the first freed."""
    first, _, meeting = scene.calls
    if first is None or meeting is None or not meeting.inner_root:
        return None
    return Story(
        f"{scene.second_words} starts inside of the graph that {scene.call_words(first)} freed.",
        add_up_or_retain(scene, first),
    )


# ----- two roots with a part in common -----


def previous_iteration(scene: Scene) -> Story | None:
    """A tensor is carried from one iteration to the next, with its graph."""
    first, second, meeting = scene.calls
    if first is None or second is None or meeting is None:
        return None
    entries = carried(scene.case, meeting, scene.error.row)
    if not entries:
        return None
    if not same_line(first.site, second.site) and is_outside(second.site):
        return _afterwards(scene, first, meeting, entries[0])
    if entries[0].consumer is not None and 0 <= entries[0].consumer.row < first.row:
        entries = crossing(scene.case, meeting, scene.error.node) or entries
    freed = (
        f"{scene.call_words(first)} freed that part before {scene.second_words} {scene.tense('came', 'comes')} to it"
    )
    if same_line(first.site, second.site):
        freed = f"{scene.second_words} freed that part when it ran before"
    cut = cut_loose(scene.case, entries, scene.lines, first, second, scene.error.row)
    return Story(
        f"The graph reaches back into the previous iteration through {_carried(scene, entries[0])}: {freed}.",
        f"{asked_again(cut, second.site)}.{_dropped(scene, entries)}"
        f"{'' if running_total(entries, first, second) else _THROUGH}",
        entries,
    )


def _afterwards(scene: Scene, first: PassFact, meeting: Meeting, entry: Entry) -> Story:
    """The second call stands behind the loop, at top level, and runs once: no iteration hands anything to it."""
    words = entry_words(scene.case, entry)
    if step_between(scene.case, first.row, scene.error.row) is not None:
        fix = two_fix(scene, meeting)
    else:
        fix = f"{capital(retain(scene, first))}, or compute {words} again before {scene.second_words}."
    return Story(
        f"{scene.call_words(first)} freed the graph of {_made(scene, entry)}, which {scene.second_words} needs as well.",
        fix,
        [entry],
    )


_THROUGH = " To train through several iterations, add up their losses and call backward() once."


def _dropped(scene: Scene, entries: list[Entry]) -> str:
    """What to say when the program calls detach() already, and does not use what it returns."""
    names = {entry_name(scene.case, entry) for entry in entries} - {""}
    for cut in scene.case.facts.cuts:
        name = dropped(cut.site, "detach") if cut.op.name == "detach" else ""
        if name in names:
            return f" `{name}.detach()`{scene.lines.at(cut.site)} returns a new tensor and leaves `{name}` as it is."
    return ""


def _carried(scene: Scene, entry: Entry) -> str:
    made, used = _made(scene, entry), used_as(entry)
    name, kept = entry_name(scene.case, entry), kept_name(entry, "")
    if kept and kept != name:
        made = made.replace(f"`{name}`", f"`{kept}`", 1)
    named = entry_name(scene.case, entry) or not used
    return made if named else f"{made} and used again as `{used}`"


def once(scene: Scene) -> Story | None:
    """Features that were computed once before a loop."""
    first, second, meeting = scene.calls
    if first is None or second is None or meeting is None or not meeting.entries:
        return None
    if not after(second, first, scene.case) or not made_by_one_line(first, second, scene.case):
        return None
    entry = meeting.entries[0]
    made = f"made once{scene.lines.at(entry.node.site)}"
    return Story(
        f"{capital(entry_words(scene.case, entry))}, {made}, is part of every turn's graph: {scene.call_words(first)} "
        "freed it in an earlier turn.",
        _once_fix(scene, first, meeting),
        [entry],
    )


def _once_fix(scene: Scene, first: PassFact, meeting: Meeting) -> str:
    entry = meeting.entries[0]
    words, made = entry_words(scene.case, entry), entry.node.site
    stepped = step_between(scene.case, first.row, scene.error.row) is not None
    cache, moved = cached_by(made), moved_into_loop(scene.case, meeting)
    again = f"compute it again in every turn{_from(scene, meeting, moved)}"
    if cache:
        again += f": without `@{cache}`, which keeps what `{made.func}` returned together with its graph"
    if not trained(scene.case, meeting.leaves):
        return (
            f"No optimizer step so far updated anything below {words}. If it is not to be trained, compute it under "
            f"no_grad() or detach() it; otherwise {again}."
        )
    if stepped:
        return (
            f"{kept_to_compare(scene.case, entry, scene.lines)}; otherwise {again}."
            if meeting.anew
            else f"{capital(again)}."
        )
    ways = [again, retain(scene, first)]
    if not moved and not cache and _is_here(scene, made):
        if not may_add_up(scene, first):
            return f"{capital(ways[1])}."
        ways[0] = _together(first)
    if first.call == "grad" or not may_add_up(scene, first):
        # rows of a Jacobian, or gradients of each sample: to compute the function again for each would be a waste
        ways.reverse()
    return f"{capital(ways[0])}, or {ways[1]}."


def _from(scene: Scene, meeting: Meeting, moved: list[int]) -> str:
    """What is to run again: the lines that can move into the loop, or else the line of the same function from which on."""
    made = meeting.entries[0].node.site
    if moved:
        more = f"lines {listed(map(str, moved), len(moved))}" if len(moved) > 1 else f"line {moved[0]}"
        return f": move {more} into the loop"
    if not _is_here(scene, made):
        return ""
    return f", with all that is computed since line {first_line(scene.case, meeting, made)}"


def _is_here(scene: Scene, made: Site) -> bool:
    """Whether the function that needed it made it, as the source says."""
    call = scene.needed
    return place(call).known and (made.file, function_of(made)) == (call.file, function_of(call))


def _together(first: PassFact) -> str:
    """To differentiate the sum of what the turns of a loop computed."""
    name = differentiated(first.site)
    return f"add up {f'`{name}`' if name else 'the results'} of all turns and call backward() once, behind the loop"


def two_results(scene: Scene) -> Story | None:
    """Two results share a part, and each is gone through by a call of its own."""
    first, second, meeting = scene.calls
    if first is None or second is None or meeting is None or not meeting.entries:
        return None
    entry = meeting.entries[0]
    needs = f"{scene.second_words} needs"
    if same_line(first.site, second.site):
        needs = "its next run needs"
    return Story(
        f"{scene.call_words(first)} freed the graph of {_made(scene, entry)}, which {needs} as well.",
        two_fix(scene, meeting),
        [entry],
    )


def _made(scene: Scene, entry: Entry) -> str:
    words, site = entry_words(scene.case, entry), entry.node.site
    return f"{words}, made{scene.lines.at(site)}" if site.line else words


# ----- the last one -----


def somehow(scene: Scene) -> Story:
    """The two calls are known, and not how the second came to the part of the first."""
    assert scene.first is not None, "a scene without a first call is told by `unknown`"
    return Story(
        f"{scene.call_words(scene.first)} freed what {scene.node_words} had saved and {scene.second_words} needs.",
        f"{add_up_or_retain(scene, scene.first)} If it was carried over from an earlier iteration, detach() it.",
    )


STORIES: tuple[Callable[[Scene], Story | None], ...] = (
    unknown,
    outside,
    nested,
    same_root,
    inner_root,
    previous_iteration,
    once,
    two_results,
    somehow,
)
