"""Steps into a node whose saved tensors hooks of the program keep."""

import pytest

from agdbg.protocol.errors import RequestFailed

PACKED = """\
import agdbg_engine as ag
calls = []
def pack(t):
    return t.detach().numpy().copy()
def unpack(kept):
    calls.append(kept.tolist())
    return ag.tensor(kept)
with ag.autograd.graph.saved_tensors_hooks(pack, unpack):
    x = ag.tensor([2.0], requires_grad=True)
    y = ag.tensor([3.0], requires_grad=True)
    z = x * y
z.register_hook(lambda g: None)
z.backward()
print("done", x.grad.tolist(), y.grad.tolist(), calls)
"""
RECOMPUTED = """\
import agdbg_engine as ag
from agdbg_engine.utils.checkpoint import checkpoint
x = ag.tensor([2.0], requires_grad=True)
checkpoint(lambda t: t.exp() * 2, x, use_reentrant=False).sum().backward()
print("done", x.grad.tolist())
"""


def _entered(program):
    program.request("setFunctionBreakpoints", breakpoints=[{"name": "mul", "when": "backward"}])
    return program.run()


def _top(program):
    return program.request("stackTrace", threadId=1)["stackFrames"][0]


def test_each_unpacking_is_a_step_at_the_code_of_the_hook(stopping):
    program = stopping(PACKED)
    _entered(program)
    told = []
    for _ in range(5):
        stop = program.go("stepIn")
        told.append((stop["description"].partition(",")[0], _top(program)["line"], program.value("len(calls)")))
    line, hook = program.line("z = x * y"), program.line("def unpack")
    assert told[0][0] == "in MulBackward0 (tensor-hooks)"
    assert told[1:4] == [
        ("in MulBackward0 (apply)", line, "0"),
        ("in MulBackward0 (unpack other)", hook, "0"),
        ("in MulBackward0 (unpack self)", hook, "1"),
    ]
    assert told[4][0] == "before AccumulateGrad" and told[4][2] == "2"
    assert program.go() is None
    assert "done [3.0] [2.0] [[3.0], [2.0]]" in program.printed()


def test_the_hooks_are_told_of_the_node(stopping):
    program = stopping(PACKED)
    _entered(program)
    node = program.request("agdbg/rows", start=0, count=0, threadId=1)["pcNode"]
    body = program.request("agdbg/node", node=node, threadId=1)
    told = [(each["kind"], each["name"], each["line"]) for each in body["hooks"]]
    hook = program.line("def unpack")
    assert told[:2] == [("unpack self", "unpack", hook), ("unpack other", "unpack", hook)]


def test_what_is_evaluated_at_such_a_stop_does_not_stop_again(stopping):
    program = stopping(PACKED)
    _entered(program)
    for _ in range(3):
        program.go("stepIn")
    assert program.value("node._saved_self.tolist()") == "[2.0]"
    assert "unpack self" in program.go("stepIn")["description"]


def test_back_from_the_middle_of_unpacking_runs_the_node_anew(stopping):
    program = stopping(PACKED)
    _entered(program)
    for _ in range(4):
        program.go("stepIn")
    with pytest.raises(RequestFailed, match="called hooks of the program"):
        program.request("stepBack", threadId=1)
    program.request("stepBack", threadId=1, force=True)
    assert program.stopped()["description"].startswith("before MulBackward0")
    program.on_names()
    assert program.go() is None
    assert "done [3.0] [2.0] [[3.0], [3.0], [2.0]]" in program.printed()


def test_pdb_enters_the_hook(stopping):
    program = stopping(PACKED)
    _entered(program)
    for _ in range(3):
        program.go("stepIn")
    program.request("agdbg/pdb", threadId=1)
    program.request("agdbg/input", text="p 'in the hook of', kept\nc\n")
    assert "unpack self" in program.stopped()["description"]
    program.on_names()
    assert program.go() is None
    assert "('in the hook of', array([3.]" in program.printed()


@pytest.mark.parametrize("steps", [2, 4])
def test_a_checkpoint_unpacks_without_harm(stopping, steps):
    program = stopping(RECOMPUTED)
    _entered(program)
    for _ in range(steps):
        program.go("stepIn")
    while program.go() is not None:
        pass
    assert "done" in program.printed() and program.exit == 0
