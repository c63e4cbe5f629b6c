"""Watched tensors: every write to their memory stops, and so does a change that no version tells of."""

import pytest

SCRIPT = """\
import agdbg_engine as ag
from agdbg_engine import nn
model = nn.Linear(2, 1)
w = model.weight
opt = ag.optim.SGD(model.parameters(), lr=0.1)
x = ag.ones(3, 2)
for i in range(2):
    loss = model(x).exp().sum()
    loss.backward()
    opt.step()
    opt.zero_grad()
with ag.no_grad():
    row = w[0]
    row.mul_(2)
w.data.fill_(5)
w.detach().numpy()[0] = 7
(w * 1).sum().backward()
print("done", w.tolist())
"""


@pytest.fixture
def program(stopping):
    return stopping(SCRIPT)


def told(program):
    """What the stops say of the watched memory, to the end."""
    return [text.split("; ")[-1] for text in program.all_stops()]


def test_a_parameter_by_its_name(program):
    (made,) = program.watch("name:weight")
    assert made["verified"] and made["dataId"] == "name:weight"
    stops = told(program)
    writes = [each for each in stops if "version" in each and "without" not in each]
    steps, view = writes[:-1], writes[-1]
    assert len(steps) >= 2
    assert f"line {program.line('opt.step()')}: " in steps[0] and "wrote to weight: version 1 to 2" in steps[0]
    assert view.startswith(f"line {program.line('row.mul_(2)')}: mul_ wrote to weight: version")
    silent = [each for each in stops if "without" in each]
    assert len(silent) == 1
    assert silent[0].startswith("weight changed without a version bump (version ")
    assert silent[0].endswith(f"before MulBackward0 of line {program.line('(w * 1)')}")
    assert "done" in program.printed()


def test_the_reason_the_ids_and_the_line(program):
    (made,) = program.watch({"dataId": "name:weight", "accessType": "write"})
    stop = program.run()
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("data breakpoint", [made["id"]])
    frames = program.request("stackTrace", threadId=1)["stackFrames"]
    assert next(each["line"] for each in frames if each.get("source")) == program.line("opt.step()")


def test_conditions_hits_and_log_messages(program):
    program.watch(
        {"dataId": "name:weight", "condition": "event.silent"},
        {"dataId": "name:bias", "logMessage": "{event.op} {event.old} {event.new}", "hitCondition": "1"},
    )
    stops = told(program)
    assert len(stops) == 1 and "without a version bump" in stops[0]
    assert [each.split()[1:] for each in program.said() if each.endswith("1 2")] == [["1", "2"]]


@pytest.mark.parametrize(
    ("asked", "description"),
    [
        ({"name": "w"}, "of weight"),
        ({"name": "model.weight", "frameId": 10_002}, "of weight"),
        ({"name": "row_of(w)"}, None),
        ({"name": "no.such.name"}, "parameters and buffers called no.such.name"),
        ({"name": "storage 12"}, "storage 12"),
    ],
)
def test_what_can_be_watched_at_a_stop(program, asked, description):
    program.on_lines({"line": program.line("loss.backward()")})
    program.run()
    program.on_lines()
    body = program.request("dataBreakpointInfo", **asked)
    if description is None:
        assert body["dataId"] is None and asked["name"] in body["description"]
        return
    assert description in body["description"]
    assert body["accessTypes"] == ["write"]
    if "of weight" in description:
        assert body["dataId"].startswith("storage:")
        (made,) = program.watch(body["dataId"])
        assert made["verified"] and made["label"] == asked["name"]
        assert "wrote to weight: version 1 to 2" in program.go()["description"]


def scope(program, name):
    scopes = program.request("scopes", frameId=10_000)["scopes"]
    return next(each["variablesReference"] for each in scopes if each["name"] == name)


def test_a_saved_tensor_a_local_and_an_item(stopping):
    program = stopping(
        "import agdbg_engine as ag\n"
        "x = ag.tensor([1.0, 2.0], requires_grad=True)\n"
        "held = {'t': ag.zeros(2)}\n"
        "y = (x * 2).exp()\n"
        "y.sum().backward(retain_graph=True)\n"
        "held['t'].add_(1)\n"
        "y.detach().add_(1)\n"
        "print('done')\n"
    )
    program.on_names("Exp*")
    program.run()
    program.go()
    program.on_names()
    saved = program.request("dataBreakpointInfo", variablesReference=scope(program, "Saved tensors"), name="result")
    assert saved["dataId"].startswith("storage:")
    gradient = program.request("dataBreakpointInfo", variablesReference=scope(program, "Gradients in"), name="0")
    assert gradient["dataId"] is None
    assert "on its way" in gradient["description"]
    frames = program.request("stackTrace", threadId=1)["stackFrames"]
    module = next(each["id"] for each in frames if each["name"] == "<module>")
    local = program.request("scopes", frameId=module)["scopes"][0]["variablesReference"]
    leaf = program.request("dataBreakpointInfo", variablesReference=local, name="x")
    assert leaf["dataId"].startswith("storage:")
    assert program.request("dataBreakpointInfo", variablesReference=local, name="held")["dataId"] is None
    variables = program.request("variables", variablesReference=local)["variables"]
    inside = next(each["variablesReference"] for each in variables if each["name"] == "held")
    item = program.request("dataBreakpointInfo", variablesReference=inside, name="'t'")
    assert item["dataId"].startswith("storage:")
    program.watch(saved["dataId"], item["dataId"], leaf["dataId"])
    lines = []
    while (stop := program.go()) is not None:
        lines.append(stop["description"].split(":")[0])
    assert lines == ["line 6", "line 7"]


def test_a_silent_change_in_backward_is_found_between_its_nodes(stopping):
    program = stopping(
        "import agdbg_engine as ag\n"
        "x = ag.tensor([1.0, 2.0], requires_grad=True)\n"
        "buffer = ag.zeros(2)\n"
        "y = x * 2\n"
        "def hook(g):\n"
        "    buffer.numpy()[0] = 9\n"
        "y.register_hook(hook)\n"
        "y.exp().sum().backward()\n"
        "print('done')\n"
    )
    program.on_names("Mul*")
    program.run()
    program.on_names()
    program.watch(program.request("dataBreakpointInfo", name="buffer")["dataId"])
    stop = program.go()
    assert stop["reason"] == "data breakpoint"
    assert "changed without a version bump (version 0 stays)" in stop["description"]
    assert "after the run of MulBackward0 of line 4 and before the run of AccumulateGrad" in stop["description"]
    assert program.go() is None


def test_memory_that_is_exchanged(stopping):
    program = stopping(SCRIPT.replace("w.data.fill_(5)", "w.data = ag.ones(1, 2) * 3"))
    program.watch({"dataId": "name:weight", "condition": "event.silent"})
    assert "weight was given other memory, without a version bump" in program.run()["description"]


def test_what_an_evaluation_writes_stops_nothing(program):
    program.watch("name:weight")
    program.run()
    program.value("w.detach().add_(0)")
    assert program.none_of_event("stopped")


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"dataId": "weight"}, "is none that dataBreakpointInfo gives"),
        ({"dataId": "name: "}, "is none that dataBreakpointInfo gives"),
        ({"dataId": "storage:x"}, "is none that dataBreakpointInfo gives"),
        ({"dataId": "name:weight", "accessType": "read"}, "accessType is 'read'"),
        ({"dataId": "name:weight", "condition": "("}, "no Python expression"),
        ({"dataId": "name:weight", "hitCondition": "-1"}, "no number of hits"),
    ],
)
def test_what_cannot_be_watched_is_not_verified(program, wanted, told):
    (made,) = program.watch(wanted)
    assert not made["verified"]
    assert told in made["message"]


def test_what_can_be_watched_before_the_program_runs(program):
    body = program.request("dataBreakpointInfo", name="weight")
    assert (body["dataId"], body["canPersist"]) == ("name:weight", True)
    assert program.request("dataBreakpointInfo", name="0x7f", asAddress=True)["dataId"] is None


SILENT = """\
import agdbg_engine as ag
from agdbg_engine import nn
m = nn.Linear(2, 1)
m(ag.ones(1, 2)).sum().backward()
m.weight.data.fill_(2)
m(ag.ones(1, 2))
with ag.no_grad():
    m.weight.mul_(3)
m.weight.data.fill_(4)
m(ag.ones(1, 2))
"""


def test_a_silent_change_is_since_the_last_look_or_counted_write(stopping):
    program = stopping(SILENT)
    program.watch("name:weight", "name:bias")  # nobody writes to the latter
    ends = [each.partition(", after ")[2] for each in program.all_stops() if ", after " in each]
    assert ends == [
        "the end of the pass and before TBackward0 of line 6",
        "mul_ of line 8 and before TBackward0 of line 10",
    ]


UNKNOWN = """\
import agdbg_engine as ag
from agdbg_engine import nn
w = ag.ones(2, requires_grad=True)
def step():
    (w * 2).sum().backward()
    with ag.no_grad():
        w.sub_(w.grad)
step()
step()
late = nn.Linear(2, 1)
late(w).sum().backward()
with ag.no_grad():
    late.weight.mul_(2)
(w * 2).sum().backward()
"""


def _changes(program):
    return [
        (body["breakpoint"]["id"], body["breakpoint"]["verified"], body["breakpoint"].get("reason"))
        for body in (each["body"] for each in program.events if each["event"] == "breakpoint")
        if body["reason"] == "changed"
    ]


def test_a_name_that_no_memory_has_is_told_after_the_first_pass_and_again_when_some_has(stopping):
    program = stopping(UNKNOWN)
    program.watch("name:w", "name:weight")
    stop = program.run()
    assert stop["hitBreakpointIds"] == [2] and "mul_ wrote to weight" in stop["description"]
    assert program.go() is None
    assert _changes(program) == [(1, False, "pending"), (2, False, "pending"), (2, True, None)]
    told = next(each["body"]["breakpoint"]["message"] for each in program.events if each["event"] == "breakpoint")
    assert "no parameter or buffer" in told and "where the program stands" in told


def test_the_console_says_that_a_name_waits_while_nothing_stands(console_stage):
    console = console_stage.console(UNKNOWN)
    said = console.execute("watch w").text
    assert "parameters and buffers called w" in said and "not for a variable" in said
    assert "has not stopped: no parameter or buffer" in console.execute("continue").text


BOTH = """\
import agdbg_engine as ag
from agdbg_engine import nn
model = nn.Linear(2, 1)
w = model.weight
model(ag.ones(1, 2)).sum().backward()
with ag.no_grad():
    w.detach().numpy()[0] = 7
    w.add_(1)
    w.mul_(2)
opt = ag.optim.SGD(model.parameters(), lr=0.1)
w.data.zero_()
opt.step()
with ag.no_grad():
    w.detach().numpy()[0] = 3
    ag.add(w, 1, out=w)
print("done")
"""


def test_a_silent_change_before_a_counted_write_is_told_and_so_is_the_write(stopping):
    program = stopping(BOTH)
    program.watch("name:weight")
    stops = told(program)
    added, doubled, stepped, out = (
        program.line(each) for each in ("w.add_(1)", "w.mul_(2)", "opt.step()", "ag.add(w, 1")
    )
    assert [(each.partition(" ")[0], each.partition(": ")[0]) for each in stops if "without" not in each] == [
        ("line", f"line {at}") for at in (added, doubled, stepped, out)
    ]
    silent = [at for at, each in enumerate(stops) if "without" in each]
    assert silent == [0, 3, 5]
    assert all(stops[at].startswith("weight changed without a version bump (version ") for at in silent)
    assert stops[0].endswith(f" and before add_ of line {added}")
    assert stops[3].endswith(f" of line {stepped}") and stops[5].endswith(f" of line {out}")
    assert "done" in program.printed()
