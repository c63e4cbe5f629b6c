"""backward-twice: a call needed saved tensors that an earlier call had freed.

Needs: the error and its node; RAN and PASS_STARTED (who freed it); edges (where the graph of the second call
enters that of the first); the order of births and passes (what was made before the first call, and what after);
for the choice of the fix TENSOR and the BUMP of optimizer steps.
"""

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found, weakest
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.scene import Known, Scene
from agdbg.diagnose.stories import Story, tell
from agdbg.diagnose.words import count, op_words, same_line

KIND = "backward-twice"
_BY_KNOWLEDGE: dict[Known, Certainty] = {"ran": "certain", "reached": "likely", "unknown": "possible"}


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding:
    scene = Scene.of(case, failure.first)
    story = tell(scene)
    entered = [entry.node.id for entry in story.entries]
    nodes = dict.fromkeys([failure.first.node, failure.last.node, *entered])
    return Finding(
        kind=KIND,
        cause=story.cause,
        evidence=_evidence(scene, story, failure.count),
        nodes=tuple(node for node in nodes if node),
        certainty=_certainty(scene, story),
        fix=story.fix,
    )


def _certainty(scene: Scene, story: Story) -> Certainty:
    """Certain: the call that freed was seen to run the node, and the edges that lead there were observed."""
    who = _BY_KNOWLEDGE[scene.known]
    meeting = scene.meeting
    where: Certainty = "certain"
    if meeting is not None and not meeting.same_root:
        where = "certain" if meeting.observed and meeting.connected else "likely"
    return weakest(who, where, "likely" if scene.node is None else "certain")


def _evidence(scene: Scene, story: Story, times: int) -> tuple[Evidence, ...]:
    found: list[tuple[int, Evidence]] = []
    entry = story.entries[0] if story.entries else None
    if entry is not None:
        found.append((entry.node.row, Evidence("entry", entry.node.site, _entry_note(scene, entry), entry.node.id)))
        if entry.consumer is not None and not same_line(entry.consumer.site, entry.node.site):
            note = f"{op_words(entry.consumer)} used it: the way into the part that was freed"
            found.append((entry.consumer.row, Evidence("used", entry.consumer.site, note, entry.consumer.id)))
    if scene.node is not None and (entry is None or not same_line(entry.node.site, scene.node.site)):
        found.append(
            (
                scene.node.row,
                Evidence("created", scene.node.site, f"{op_words(scene.node)}: what it saved is gone", scene.node.id),
            )
        )
    if scene.first is not None:
        found.append((scene.first.row, Evidence("first call", scene.first.site, _first_note(scene))))
    row = scene.error.row if scene.second is None else scene.second.row
    found.append((row, Evidence("second call", scene.needed, _second_note(scene, entry, times))))
    return tuple(evidence for _, evidence in sorted(found, key=lambda each: each[0]))


def _entry_note(scene: Scene, entry: Entry) -> str:
    failing = scene.node
    note = f"{op_words(entry.node)}: here the second call enters what the first had run"
    if failing is not None and failing.id != entry.node.id and same_line(failing.site, entry.node.site):
        note += f"; {op_words(failing)} on the same line is where it {scene.tense('failed', 'will fail')}"
    return f"{note}\n{_shared(scene)}"


def _shared(scene: Scene) -> str:
    meeting = scene.meeting
    if meeting is None:
        return ""
    return f"{count(meeting.shared, 'node')} shared, {meeting.saving:,} with saved tensors"


def _first_note(scene: Scene) -> str:
    first = scene.first
    assert first is not None
    how = "ran the node" if scene.known == "ran" else "went through the node, as the edges say,"
    note = f"pass {first.id}: {how} without retain_graph, so it freed what was saved"
    if first.outcome == "error":
        note += "; it failed later itself"
    if scene.second is not None and scene.second.thread != first.thread:
        note += "; in another thread"
    return note


def _second_note(scene: Scene, entry: Entry | None, times: int) -> str:
    needs = scene.tense("needed it again", "will need it again")
    notes = [f"pass {scene.second.id}: {needs}" if scene.second is not None else needs]
    if scene.second is not None and scene.second.retain_graph:
        notes[0] += "; its own retain_graph=True is too late"
    if entry is None and scene.meeting is not None:
        notes.append(_shared(scene))
    if times > 1:
        notes.append(f"the same error came {times:,} times")
    return "\n".join(notes)
