"""Runs that were taken back, and errors that a stop foresaw: what counts of them, and what is explained."""

import pytest

from agdbg.diagnose import diagnose, finding_of
from agdbg.events import PREDICTED, Kind, Outcome
from agdbg.explain.explanation import as_json, explain
from agdbg.explain.text import as_text

SCRIPT = """
w = parameter()
y = w * 2
z = y.exp()
z.backward()
z.backward()
"""


@pytest.fixture
def script(made_up):
    trace = made_up(SCRIPT)
    trace.leaf("w", "w")
    trace.node("y", "MulBackward0", 2, "w * 2", ["w"], self=("w", 0))
    trace.node("z", "ExpBackward0", 3, "y.exp()", ["y"], result=("z", 0))
    return trace


def undo(trace, number, *orders_and_labels):
    for order, label in orders_and_labels:
        trace.emit(Kind.UNDONE, trace.nodes[label], number, order)


def foresee(trace, number, label, kind="backward-twice", line=5, versions=(0, 0)):
    text = trace.recorder.text("RuntimeError: foreseen")
    where = trace.where(line, kind)
    words = (number, where, trace.storage("z"), versions[0] | versions[1] << 32, text, 1)
    trace.emit(Kind.ERROR, trace.nodes[label], *words, flags=PREDICTED)


# ----- runs that were taken back -----


def test_a_run_that_was_taken_back_did_not_run(script):
    number = script.start(4, "z")
    script.ran(number, "z", "y")
    undo(script, number, (1, "y"))
    facts = script.facts()
    nodes = script.nodes
    assert [run.node for run in facts.runs(number)] == [nodes["z"]]
    assert facts.ran(number).tolist() == [nodes["z"]]
    assert [facts.passes_of(nodes[label]) for label in "zy"] == [[number], []]
    assert [facts.freed_by(nodes[label]) for label in "zy"] == [number, 0]


def test_a_node_that_ran_again_has_run_once(script):
    number = script.start(4, "z")
    script.ran(number, "z", "y")
    undo(script, number, (1, "y"), (0, "z"))
    script.ran(number, "z")
    script.finish(number)
    facts = script.facts()
    (run,) = facts.runs(number)
    assert (run.node, run.order) == (script.nodes["z"], 0)
    assert run.row > facts.rows(Kind.UNDONE)[-1]
    assert facts.freed_at(script.nodes["z"]) == (run.row, number)
    assert facts.freed_by(script.nodes["y"]) == 0


def test_only_the_run_of_that_pass_and_place_is_void(script):
    first = script.start(4, "z", retain=True)
    script.ran(first, "z", "y")
    script.finish(first)
    second = script.start(5, "z")
    script.ran(second, "z", "y")
    undo(script, second, (1, "y"))
    undo(script, second, (7, "z"))
    facts = script.facts()
    assert facts.passes_of(script.nodes["y"]) == [first]
    assert facts.passes_of(script.nodes["z"]) == [first, second]
    assert facts.freed_by(script.nodes["y"]) == 0 and facts.freed_by(script.nodes["z"]) == second


def test_a_free_that_was_told_is_taken_back_too(script):
    number = script.start(4, "z", retain=True)
    script.ran(number, "z")
    script.emit(Kind.FREED, script.nodes["z"], number)
    assert script.facts().freed_by(script.nodes["z"]) == number
    undo(script, number, (0, "z"))
    assert script.facts().freed_by(script.nodes["z"]) == 0


def test_a_failed_run_that_was_taken_back_did_not_fail(script):
    number = script.start(4, "z")
    script.ran(number, "z", outcome=Outcome.ERROR)
    undo(script, number, (0, "z"))
    assert script.facts().runs(number) == []


# ----- errors that were foreseen -----


def test_a_predicted_error_is_none(script):
    script.backward(4, "z", "y", "w")
    foresee(script, script.start(5, "z"), "z")
    facts = script.facts()
    assert facts.errors == [] and diagnose(facts) == []
    (error,) = facts.predicted
    assert (error.kind, error.node, error.slot, error.predicted) == (
        "backward-twice",
        script.nodes["z"],
        "result",
        True,
    )


def test_a_predicted_error_is_diagnosed_by_itself(script):
    script.backward(4, "z", "y", "w")
    foresee(script, script.start(5, "z"), "z")
    facts = script.facts()
    finding = finding_of(facts, facts.predicted[0])
    assert finding.kind == "backward-twice" and finding.certainty == "certain"
    assert any("will need it again" in each.note for each in finding.evidence)
    assert {(each.role, each.site.line) for each in finding.evidence} >= {("first call", 4), ("second call", 5)}


def test_what_was_predicted_is_what_is_found_when_it_comes(script):
    script.backward(4, "z", "y", "w")
    number = script.start(5, "z")
    foresee(script, number, "z")
    script.fail(number, "z", "backward-twice", 5, "z")
    facts = script.facts()
    foreseen, real = finding_of(facts, facts.predicted[0]), finding_of(facts, facts.errors[0])
    assert (foreseen.kind, foreseen.nodes, foreseen.fix) == (real.kind, real.nodes, real.fix) and diagnose(facts) == [
        real
    ]
    told = [[(each.role, each.site) for each in finding.evidence] for finding in (foreseen, real)]
    assert told[0] == told[1]


def test_only_the_error_that_is_asked_about(script):
    script.backward(4, "z", "y", "w")
    script.error("leaf-inplace", 2, "a leaf", storage="w", expression="w * 2")
    foresee(script, script.start(5, "z"), "z")
    facts = script.facts()
    assert [each.kind for each in diagnose(facts)] == ["leaf-inplace"]
    assert finding_of(facts, facts.predicted[0]).kind == "backward-twice"
    assert finding_of(facts, facts.errors[0]).kind == "leaf-inplace"


def test_an_error_without_a_diagnosis(script):
    script.error("other", 2, "who knows")
    facts = script.facts()
    assert finding_of(facts, facts.errors[0]) is None


def explained(script):
    script.recorder.close()
    return explain(script.recorder.path)


def test_a_program_that_was_ended_at_the_stop(script):
    script.backward(4, "z", "y", "w")
    foresee(script, script.start(5, "z"), "z")
    explanation = explained(script)
    (found,) = as_json(explanation)["findings"]
    assert (found["kind"], found["caught"], found["ended"], found["predicted"]) == ("backward-twice", None, None, True)
    assert as_text(explanation, base=None).splitlines()[1] == (
        "   backward-twice, certain, predicted at a stop: it was not raised before the recording ended"
    )


def test_a_program_that_stands_at_the_stop(script):
    script.backward(4, "z", "y", "w")
    foresee(script, script.start(5, "z"), "z")
    script.recorder.flush()
    assert as_text(explain(script.recorder.path), base=None).splitlines()[1] == (
        "   backward-twice, certain, predicted: not raised yet; it is raised when the program goes on from there"
    )


def test_a_program_that_went_on_into_the_error(script):
    script.backward(4, "z", "y", "w")
    number = script.start(5, "z")
    foresee(script, number, "z")
    script.fail(number, "z", "backward-twice", 5, "z")
    (found,) = as_json(explained(script))["findings"]
    assert (found["caught"], found["predicted"]) == (True, False)


def test_an_error_before_the_prediction_is_another(script):
    script.backward(4, "z", "y", "w")
    script.twice(5, "z", "z")
    foresee(script, script.start(4, "z"), "z", line=4)
    found = as_json(explained(script))["findings"]
    assert [each["predicted"] for each in found] == [False, True]


def test_one_error_foreseen_again_and_again_is_told_once(script):
    script.backward(4, "z", "y", "w")
    for _ in range(3):
        foresee(script, script.start(5, "z"), "z")
    assert len(as_json(explained(script))["findings"]) == 1


def test_inplace_modified_foreseen(script):
    script.bump("z", "mul_", 4, old=0, new=1)
    foresee(script, script.start(4, "z"), "z", "inplace-modified", 4, versions=(0, 1))
    (found,) = as_json(explained(script))["findings"]
    assert (found["kind"], found["predicted"]) == ("inplace-modified", True)
    assert found["cause"].endswith(" uses it.") and " used it" not in found["cause"]
    assert found["evidence"][-1]["note"] == "will find version 1 where it needs version 0"
    assert "wrote" in [each["role"] for each in found["evidence"]]
