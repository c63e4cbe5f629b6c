"""Breakpoints on events: the program stops where the event happens, whatever its kind."""

from pathlib import Path

import pytest

from agdbg.breakpoints import EVENTS
from agdbg.filters import KNOWN

PLAIN = """\
import agdbg_engine as ag
x = ag.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
y = h.exp()
loss = y.sum()
loss.backward()
print(x.grad.tolist())
"""
WRITES = """\
import agdbg_engine as ag
x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
h = x * 3
v = h[1:]
v.mul_(2)
cut = h.detach()
with ag.no_grad():
    ag.ones(2).add_(1)
h.sum().backward()
print(x.grad.tolist())
"""
HOOKS = """\
import agdbg_engine as ag
x = ag.tensor([1.0, 2.0], requires_grad=True)
def keep(g):
    return None
h = x * 3
handle = h.register_hook(keep)
h.sum().backward()
handle.remove()
def pack(t):
    return t
def unpack(t):
    return t
with ag.autograd.graph.saved_tensors_hooks(pack, unpack):
    (x * x).sum().backward()
"""
FUNCTION = """\
import agdbg_engine as ag
from agdbg_engine.autograd import forward_ad as fwAD
class Twice(ag.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.kept = t * 1
        return t * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
x = ag.tensor([1.0, 2.0], requires_grad=True)
Twice.apply(x).sum().backward()
with fwAD.dual_level():
    pass
class Writes(ag.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        t.add_(1)
        return t * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
Writes.apply(x * 1).sum()
class Casts(ag.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 2
    @staticmethod
    def backward(ctx, g):
        return (g * 2).to(ag.int64)
Casts.apply(x).sum().backward()
"""
MODEL = """\
import agdbg_engine as ag
from agdbg_engine import nn
from agdbg_engine.utils.checkpoint import checkpoint
model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
x = ag.ones(3, 2)
model(x).sum().backward()
checkpoint(model, x, use_reentrant=False).sum().backward()
"""


def notes(program, *kinds):
    """What the stops say beside where they are, to the end."""
    assert all(each["verified"] for each in program.on_events(*kinds))
    return program.all_stops()


@pytest.mark.parametrize(
    ("text", "kind", "count", "told"),
    [
        (PLAIN, "node-born", 3, "forward, line 3 built MulBackward0; node-born: MulBackward0 was built"),
        (PLAIN, "node-ran", 4, "before ExpBackward0, node 2 of 4 of backward(); node-ran: SumBackward0 has run"),
        (PLAIN, "save", 1, "forward, line 4 built ExpBackward0; save: ExpBackward0 saved result"),
        (PLAIN, "unpack", 1, "before ExpBackward0, node 2 of 4 of backward(); unpack: ExpBackward0 reads result"),
        (PLAIN, "release", 1, "before MulBackward0, node 3 of 4 of backward(); release: ExpBackward0 let go of result"),
        (PLAIN, "accumulate", 1, "accumulate: a gradient goes to x"),
        (PLAIN, "backward started", 1, "before SumBackward0, node 1 of 4 of backward(); backward-started: backward() starts with 4 nodes"),
        (PLAIN, "backward_finished", 1, "is about to return; backward-finished: backward() has run its 4 nodes"),
        (PLAIN, "graph-freed", 1, "graph-freed: backward() has freed what its graph saved"),
        (WRITES, "version-bump", 2, "version-bump: line 5: mul_ wrote to a tensor [2]: version 0 to 1"),
        (WRITES, "view-created", 1, "view-created: "),
        (WRITES, "history-rebased", 1, "history-rebased: mul_ gave a tensor [3] the history CopySlices in place of MulBackward0"),
        (WRITES, "cut", 1, "cut: a gradient path ends at a tensor [3]: detach"),
        (WRITES, "grad-mode", 2, "grad-mode: gradients are off"),
        (HOOKS, "hook-registered", 1, "hook-registered: a tensor hook of MulBackward0 was registered"),
        (HOOKS, "hook-fired", 1, "hook-fired: a tensor hook of MulBackward0 was fired"),
        (HOOKS, "hook-removed", 1, "hook-removed: a tensor hook of MulBackward0 was removed"),
        (HOOKS, "packed", 2, "packed: a pack hook took 'self' of MulBackward0"),
        (HOOKS, "unpack", 2, "unpack: an unpack hook gave back 'self' of MulBackward0"),
        (FUNCTION, "custom-forward", 3, "custom-forward: forward of TwiceBackward begins"),
        (FUNCTION, "custom-backward", 2, "custom-backward: backward of TwiceBackward begins"),
        (FUNCTION, "kept", 1, "kept: ctx.kept of TwiceBackward holds an intermediate"),
        (FUNCTION, "unmarked-write", 1, "unmarked-write: WritesBackward wrote to its argument t without mark_dirty"),
        (FUNCTION, "gradient-cast", 1, "gradient-cast: the gradient of CastsBackward for t was cast from int64 to float32"),
        (FUNCTION, "dual-level", 2, "dual-level: level 0 of forward mode was entered"),
        (MODEL, "module-entered", 9, "module-entered: Sequential (the root) is entered"),
        (MODEL, "module-left", 9, "module-left: Linear 0 is left"),
        (MODEL, "tensor-named", 2, "tensor-named: parameter 0.weight"),
        (MODEL, "recomputed", 1, "recomputed: a checkpointed function ran again"),
    ],
)  # fmt: skip
def test_every_kind_of_event(stopping, text, kind, count, told):
    program = stopping(text)
    stops = notes(program, kind)
    assert len(stops) == count, stops
    assert any(told in each for each in stops), stops
    assert program.exit == 0


def test_saved_tensors_that_are_copied_before_a_write(stopping):
    program = stopping(
        "import agdbg_engine as ag\n"
        "x = ag.tensor([1.0], requires_grad=True)\n"
        "with ag.autograd.graph.allow_mutation_on_saved_tensors():\n"
        "    y = x * 1\n"
        "    z = y.exp()\n"
        "    z.mul_(2)\n"
    )
    assert "cloned: 1 saved tensor of" in notes(program, "cloned")[0]


def test_jvp_of_a_custom_function(stopping):
    program = stopping(
        "import agdbg_engine as ag\n"
        "from agdbg_engine.autograd import forward_ad as fwAD\n"
        "class F(ag.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, t):\n        return t * 2\n"
        "    @staticmethod\n    def jvp(ctx, t):\n        return t * 2\n"
        "with fwAD.dual_level():\n"
        "    F.apply(fwAD.make_dual(ag.ones(2), ag.ones(2)))\n"
    )
    assert "custom-jvp: jvp of F" in notes(program, "custom-jvp")[0]


def test_every_kind_is_tried_here():
    tried = {mark.args[1][i][1] for mark in test_every_kind_of_event.pytestmark for i in range(len(mark.args[1]))}
    tried = {kind.replace(" ", "-").replace("_", "-") for kind in tried} | {"cloned", "custom-jvp"}
    assert tried == EVENTS.keys()


def test_every_kind_and_every_filter_is_in_the_docs():
    page = (Path(__file__).resolve().parents[2] / "docs" / "stepping.md").read_text("utf-8")
    for kind, meaning in EVENTS.items():
        assert f"| `{kind}` | {meaning} |" in page
    assert [name for name in KNOWN if f"`{name}`" not in page] == []


def test_the_thread_stands_at_the_line_of_the_event(stopping):
    program = stopping(WRITES)
    program.on_events({"kind": "version-bump", "condition": "event.op == 'mul_' and event.new == 1"})
    stop = program.run()
    assert stop["reason"] == "breakpoint"
    frames = program.request("stackTrace", threadId=1)["stackFrames"]
    assert [each["line"] for each in frames if each.get("source")][-1] == program.line("v.mul_(2)")
    assert program.value("v.tolist()") == "[12.0, 18.0]"
    assert program.go("next")["description"].startswith("forward, line")


def test_conditions_hits_and_log_messages_of_events(stopping):
    program = stopping(HOOKS)
    program.on_events(
        {"kind": "hook-fired", "logMessage": "{event.kind} {event.hook} {node.op}"},
        {"kind": "packed", "hitCondition": "2", "condition": "event.slot == 'other'"},
        {"kind": "packed", "condition": "event.slot == 'self'", "temporary": True},
    )
    assert len(program.all_stops()) == 1
    assert "hook-fired tensor MulBackward0" in program.said()


def test_a_gradient_can_be_replaced_where_it_is_about_to_be_accumulated(stopping):
    program = stopping(PLAIN)
    program.on_events("accumulate")
    program.run()
    scopes = program.request("scopes", frameId=10_000)["scopes"]
    reference = next(each["variablesReference"] for each in scopes if each["name"] == "Gradients in")
    program.request("setVariable", variablesReference=reference, name="0", value="[7.0, 8.0]")
    assert program.go() is None
    assert "[7.0, 8.0]" in program.printed()


def test_events_that_are_asked_for_at_a_stop_hold_from_there(stopping):
    program = stopping(WRITES)
    program.on_lines({"line": 3, "when": "forward"})
    program.run()
    program.on_lines()
    program.on_events("view-created")
    assert "view-created" in program.go()["description"]
    program.on_events()
    assert program.go() is None


def test_events_in_an_evaluation_stop_nothing(stopping):
    program = stopping(WRITES)
    program.on_events("version-bump", "cut", "view-created")
    program.run()
    assert program.value("ag.ones(3)[1:].add_(1).tolist()") == "[2.0, 2.0]"
    assert program.none_of_event("stopped")


def test_unknown_kinds_are_not_verified(stopping):
    program = stopping(PLAIN)
    found = program.on_events("version-bumb", "full moon", {"kind": "save", "hitCondition": "x"}, "save")
    assert [each["verified"] for each in found] == [False, False, False, True]
    assert "did you mean version-bump?" in found[0]["message"]
    assert "there is no kind of event 'full-moon'; there are node-born" in found[1]["message"]
    assert found[3]["kind"] == "save"
    assert len(program.all_stops()) == 1


def test_events_on_other_threads(stopping):
    program = stopping(
        "import threading\n"
        "import agdbg_engine as ag\n"
        "def work():\n"
        "    ag.ones(2).add_(1)\n"
        "t = threading.Thread(target=work)\n"
        "t.start()\n"
        "t.join()\n"
    )
    program.on_events("version-bump")
    program.request("configurationDone")
    stop = program.wait_for("stopped")
    assert "add_ wrote to" in stop["description"]
    assert stop["threadId"] != 0
    program.request("continue", threadId=stop["threadId"])
    assert program.wait_for("exited") == {"exitCode": 0}


def test_a_mistake_of_ours_removes_the_stepper_and_not_the_program(stopping):
    program = stopping(
        "import agdbg_engine\n"
        "import agdbg.engines.native_names as n\n"
        "def broken(self, t): raise ValueError('a mistake')\n"
        "n.Names.of_tensor = broken\n" + WRITES
    )
    program.on_events("version-bump")
    assert program.run() is None
    assert program.exit == 0
    assert "the stepper failed and was removed, the program goes on: ValueError: a mistake" in program.printed()
    assert "[3.0, 6.0, 6.0]" in program.printed()


def test_writes_in_inference_mode_have_no_version(stopping):
    program = stopping(
        "import agdbg_engine as ag\n"
        "with ag.inference_mode():\n"
        "    t = ag.ones(2)\n"
        "    t.add_(1)\n"
        "    t[0:1].mul_(2)\n"
        "print('done', t.tolist())\n"
    )
    program.on_events("version-bump", "view-created")
    program.all_stops()
    assert program.exit == 0
    assert "done [4.0, 2.0]" in program.printed()
    assert "stepper failed" not in program.printed()


INSIDE = """\
import agdbg_engine as ag
class Cube(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x ** 2
w = ag.ones(2, requires_grad=True)
Cube.apply(w * 2).sum().backward()
"""


def test_an_event_of_another_node_than_the_one_that_runs(stopping):
    program = stopping(INSIDE)
    program.on_events({"kind": "cut", "condition": "event.how == 'no_grad'"})
    assert program.run()["description"].endswith("no_grad, at line 10")
    frames = program.request("stackTrace", threadId=1)["stackFrames"]
    assert [each["name"] for each in frames] == [
        "MulBackward0", "created in <module>", "CubeBackward, 2 of 4", "Cube.backward", "<module>",
    ]  # fmt: skip
