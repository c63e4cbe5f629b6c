"""The requests behind the console's moves, as other clients may send them: what is refused, and in what words."""

import pytest
from agdbg_tests_console_stage import SMALL

from agdbg.protocol.client import RequestFailed


@pytest.fixture
def stopped(console_stage):
    """A client of a program that stands before the product."""
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    return console.client


def refused(client, command, /, **arguments):
    with pytest.raises(RequestFailed) as error:
        client.request(command, **arguments)
    return str(error.value)


def test_places_that_are_none(stopped):
    neither = "agdbg/until: name either a node, or a file and a line"
    assert refused(stopped, "agdbg/until", threadId=1) == neither
    assert refused(stopped, "agdbg/until", threadId=1, node=1, file="/a.py", line=1) == neither
    assert refused(stopped, "agdbg/until", threadId=1, file="/a.py") == neither
    assert "is no absolute path" in refused(stopped, "agdbg/until", threadId=1, file="a.py", line=1)
    assert "expected an integer of at least 1" in refused(stopped, "agdbg/until", threadId=1, file="/a.py", line=0)
    either = "agdbg/goto: name an event or a row, or neither to look at where the program stands"
    assert refused(stopped, "agdbg/goto", event=0, row=0) == either
    assert "there is no record 5,000,000" in refused(stopped, "agdbg/goto", row=5_000_000)


def test_goto_a_record(stopped):
    stopped.request("agdbg/goto", row=0)
    assert stopped.wait_for("stopped")["description"].startswith("in the recording: SumBackward0")
    assert "place in the recording" in refused(stopped, "agdbg/retain", threadId=1)
    stopped.request("continue", threadId=1)
    assert stopped.wait_for("stopped")["description"].startswith("before MulBackward0")


@pytest.mark.parametrize("depth", [0, 1])
def test_a_leaf_that_runs_next_is_marked_in_boxes_where_rows_have_it(stopped, depth):
    body = stopped.request("agdbg/rows", start=0, count=100, threadId=1)
    while body["pcNode"] is None or body["rows"][body["pc"]]["node"] == body["pcNode"]:
        stopped.request("next", threadId=1)
        stopped.wait_for("stopped")
        body = stopped.request("agdbg/rows", start=0, count=100, threadId=1)
    node, deep = body["rows"][body["pc"]]["node"], {"depth": depth} if depth else {}
    boxes = stopped.request("agdbg/neighbourhood", node=node, hops=3, **deep)["boxes"]
    assert [box["node"] for box in boxes if box["state"] == "next"] == [node]
    assert [words for box in boxes for words in box["words"] if "[▶" in words]
    of_leaf = stopped.request("agdbg/neighbourhood", node=body["pcNode"], hops=3, **deep)
    assert of_leaf["node"] == node and of_leaf["boxes"] == boxes


def test_goto_where_the_program_stands(stopped):
    stopped.request("agdbg/goto", row=0)
    assert stopped.wait_for("stopped")["description"].startswith("in the recording: SumBackward0")
    for _ in range(2):  # also where nobody looks at the recording: the program does not go on by it
        stopped.request("agdbg/goto")
        assert stopped.wait_for("stopped")["description"].startswith("before MulBackward0")
    stopped.request("continue", threadId=1)
    stopped.wait_for("agdbg/ended")
    assert "no program runs here" in refused(stopped, "agdbg/goto")


@pytest.mark.parametrize(
    "what", ["", "gradient", "grads", "grad[x]", "saved", "saved[]", "saved.self.x", "x", "grad[0] = 1"]
)
def test_what_setExpression_cannot_replace(stopped, what):
    assert "cannot be replaced; grad, grads[0] and saved[0]" in refused(
        stopped, "setExpression", expression=what, value="1"
    )


def test_setExpression_in_any_frame_of_the_thread(stopped):
    frames = stopped.request("stackTrace", threadId=1)["stackFrames"]
    made = stopped.request("setExpression", expression='saved["self"]', value="[5, 6]", frameId=frames[-1]["id"])
    assert made == {"value": "float32 [2]  min 5  max 6  mean 5.5  norm 7.81", "type": "float32"}
    section = next(
        each for each in stopped.request("agdbg/node", node=3)["sections"] if each["name"] == "Saved tensors"
    )
    assert section["entries"][0]["value"].startswith("float32 [2]  min 5  max 6")


def test_setVariable_replaces_a_saved_tensor_too(stopped):
    frame = stopped.request("stackTrace", threadId=1)["stackFrames"][0]
    scopes = stopped.request("scopes", frameId=frame["id"])["scopes"]
    saved = next(each["variablesReference"] for each in scopes if each["name"] == "Saved tensors")
    assert stopped.request("setVariable", variablesReference=saved, name="other", value="[0, 0]")["type"] == "float32"
    assert stopped.request("variables", variablesReference=saved)["variables"][1]["value"].startswith(
        "float32 [2]  min 0"
    )


def test_threads_that_are_none_and_programs_that_are_none(console_stage, stopped):
    assert "threadId 7: there is no such thread" in refused(stopped, "agdbg/skip", threadId=7)
    assert "threadId 7: there is no such thread" in refused(stopped, "agdbg/retain", threadId=7)
    fresh = console_stage.client(console_stage.hub())
    for command in ("agdbg/skip", "agdbg/retain", "agdbg/pdb"):
        assert "there is no program to talk to" in refused(fresh, command, threadId=1)
    assert "there is no program" in refused(fresh, "setExpression", expression="grad", value="1")
    assert "there is no program that this hub has started" in refused(fresh, "restart")
    assert "there is no program and no trace here" in refused(fresh, "agdbg/goto", event=0)
