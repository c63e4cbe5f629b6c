"""Breakpoints on nodes and lines of a real program: names, conditions, hits, log messages, temporary ones."""

import pytest

LOOP = """\
import agdbg_engine as ag
x = ag.tensor([1.0, 2.0], requires_grad=True)
for i in range(6):
    y = x * i
    z = y.exp()
    z.sum().backward()
    x.grad = None
print("done", i)
"""
MODEL = """\
import agdbg_engine as ag
from agdbg_engine import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        self.head = nn.Linear(3, 1)
    def forward(self, x):
        return self.head(self.encoder(x)).sum()
model = Net()
loss = model(ag.ones(4, 2))
loss.backward()
print("done")
"""


def words(descriptions):
    """The first words of descriptions, without the lines."""
    return [" ".join(text.split(",")[0].split()[:2]) for text in descriptions]


def iterations(program):
    """The value of ``i`` at every stop, to the end."""
    found, stop = [], program.run()
    while stop is not None:
        found.append(int(program.value("i")))
        stop = program.go()
    assert program.exit == 0, program.printed()
    return found


# ----- names -----


def test_a_node_by_its_number(stopping):
    program = stopping(LOOP)
    program.on_names("Exp*")
    program.run()
    number = int(program.value("node.tag"))
    program.on_names(f"#{number}")
    assert program.go()["description"].startswith("before ExpBackward0")
    assert program.value("node.tag") == str(number)
    assert program.on_names(f"node {number - 1}")[0]["verified"]
    assert program.go()["description"].startswith("before MulBackward0")
    assert program.value("node.tag") == str(number - 1)
    assert program.go() is None


def test_modules_by_path_and_glob(stopping):
    program = stopping(MODEL)
    program.on_names({"name": "encoder.1"})
    first = program.run()
    assert first["description"].endswith("built ReluBackward0")
    program.on_names("encoder.*")
    found = []
    while (stop := program.go()) is not None:
        found.append(stop["description"].split(",")[0])
    leaves = ["before AccumulateGrad"] * 2
    assert found[0] == "before ReluBackward0"
    assert sorted(found[1:]) == sorted(["before AddmmBackward0", "before TBackward0", *leaves])


def test_a_module_of_nodes_that_were_built_before_anybody_asked(stopping):
    program = stopping(MODEL)
    program.on_lines({"line": 12})
    assert program.run()["description"].startswith("before SumBackward0")
    program.on_lines()
    program.on_names("head")
    assert program.go()["description"].startswith("before AddmmBackward0")
    rows = program.request("agdbg/rows", start=0, count=20)["rows"]
    marked = [row["op"] for row in rows if row["breakpoint"]]
    assert marked == ["TBackward0", "AddmmBackward0"]


def test_a_parameter_and_an_op_by_globs(stopping):
    program = stopping(MODEL)
    program.on_names("*.bias", "Re[lm]u*")
    stops = program.all_stops()
    assert words(stops) == ["forward", "before AccumulateGrad", "before ReluBackward0", "before AccumulateGrad"]
    assert stops[0].endswith("built ReluBackward0")


# ----- conditions -----


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("i == 3", [3, 3]),
        ("step == 2", [2, 2]),
        ("rank == 1", []),
        ("event.kind == 'before' and i > 3", [4, 5]),
        ("grads_in and float(grads_in[0].sum()) == 2 and i < 2", [0, 1]),
        ("not grads_in and i == 5", [5]),
        ("saved.result is not None and float(saved['result'].sum()) == 2", [0, 0]),
        ("node.op == 'ExpBackward0' and node.line == 5 and node.id > 0 and i == 1", [1, 1]),
        ("any(name == 'i' for name in ('i',)) and i == 4", [4, 4]),
    ],
)
def test_conditions_see_the_node_and_the_program(stopping, condition, expected):
    program = stopping(LOOP)
    assert program.on_names({"name": "Exp*", "condition": condition})[0]["verified"]
    assert iterations(program) == expected
    assert "done 5" in program.printed()


def test_what_a_node_would_send_on_can_be_asked_before_it_runs(stopping):
    program = stopping(LOOP)
    program.on_names({"name": "Mul*", "condition": "grads_in and float(grads_out[0].max()) > 200"})
    assert iterations(program) == [3, 4, 5]


def test_a_condition_that_fails_is_told_once_and_stops(stopping):
    program = stopping(LOOP)
    (made,) = program.on_names({"name": "Exp*", "condition": "i > nonsense"})
    assert made["verified"]
    stop = program.run()
    assert "the condition 'i > nonsense' failed: NameError: name 'nonsense' is not defined" in stop["description"]
    told = program.wait_for("breakpoint")
    assert (told["reason"], told["breakpoint"]["id"]) == ("changed", made["id"])
    assert "NameError" in told["breakpoint"]["message"]
    assert "NameError" in program.go()["description"]
    program.on_names()
    program.go()
    assert program.none_of_event("breakpoint")


def test_a_condition_that_writes_is_reported_and_changes_no_version_unseen(stopping):
    program = stopping(LOOP)
    program.on_names({"name": "Exp*", "condition": "x.detach().mul_(1) is None"})
    assert iterations(program) == []
    told = [text for text in program.said() if "changes the program" in text]
    assert len(told) == 1
    assert "mul_ wrote to a tensor: version 0 to 1" in told[0]


def test_nothing_stops_and_no_node_is_built_in_a_condition(stopping):
    program = stopping(LOOP)
    program.on_names({"name": "*", "condition": "(x * 2).sum().requires_grad or i == 5"})
    assert iterations(program)[0] == 5


def test_a_condition_that_takes_too_long_is_broken_off(stopping):
    program = stopping("import agdbg.agent.evaluate as e\ne.LIMIT_S = 0.2\n" + LOOP)
    program.on_names({"name": "Exp*", "condition": "[0 for _ in iter(int, 1)]"})
    assert "broken off" in program.run()["description"]


# ----- hits -----


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"hitCondition": "3"}, [2]),
        ({"hitCondition": "== 3"}, [2]),
        ({"hitCondition": ">=5"}, [4, 5]),
        ({"hitCondition": ">5"}, [5]),
        ({"hitCondition": "<2"}, [0]),
        ({"hitCondition": "<= 2"}, [0, 1]),
        ({"hitCondition": "%3"}, [2, 5]),
        ({"ignore": 4}, [4, 5]),
        ({"ignore": 2, "hitCondition": "%2"}, [3, 5]),
        ({"condition": "i % 2", "hitCondition": "2"}, [3]),
        ({"temporary": True}, [0]),
        ({"temporary": True, "condition": "i == 4"}, [4]),
    ],
)
@pytest.mark.parametrize("when", ["forward", "backward"])
def test_hits_on_a_line(stopping, rule, expected, when):
    program = stopping(LOOP)
    assert program.on_lines({"line": program.line("y.exp()"), "when": when, **rule})[0]["verified"]
    assert iterations(program) == expected


def test_a_temporary_breakpoint_is_gone_after_its_stop(stopping):
    program = stopping(LOOP)
    (made,) = program.on_names({"name": "Exp*", "temporary": True})
    program.run()
    told = program.wait_for("breakpoint")
    assert (told["reason"], told["breakpoint"]["id"]) == ("removed", made["id"])
    assert program.go() is None


def test_hits_begin_anew_when_a_breakpoint_is_changed_and_only_then(stopping):
    program = stopping(LOOP)
    wanted = {"name": "Exp*", "hitCondition": "%3", "condition": "not grads_in"}
    first = program.on_names(wanted)
    program.run()
    assert program.value("i") == "2"
    assert program.on_names(wanted, "Nothing*")[0]["id"] == first[0]["id"]
    program.go()
    assert program.value("i") == "5"
    changed = program.on_names({**wanted, "hitCondition": "1"})
    assert changed[0]["id"] == first[0]["id"]
    assert program.go() is None


def test_two_breakpoints_on_one_name_with_their_own_conditions(stopping):
    program = stopping(LOOP)
    made = program.on_names({"name": "Exp*", "condition": "i == 1"}, {"name": "Exp*", "condition": "i == 4"})
    assert made[0]["id"] != made[1]["id"]
    assert iterations(program) == [1, 1, 4, 4]


def test_stepping_back_and_on_comes_by_a_breakpoint_again(stopping):
    program = stopping(LOOP)
    program.on_names({"name": "Mul*", "condition": "grads_in and i == 2"})
    program.run()
    assert program.go("stepBack")["description"].startswith("before ExpBackward0")
    assert program.go()["description"].startswith("before MulBackward0")
    program.go("next")
    assert program.go("reverseContinue")["description"].startswith("before MulBackward0")
    assert program.go() is None


# ----- lines -----


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("forward", ["forward"]),
        ("backward", ["before ExpBackward0"]),
        ("both", ["forward", "before ExpBackward0"]),
        (None, ["forward", "before ExpBackward0"]),
    ],
)
def test_a_line_in_forward_in_backward_or_both(stopping, when, expected):
    program = stopping(LOOP)
    wanted = {"line": program.line("y.exp()"), "condition": "i == 2", **({"when": when} if when else {})}
    made = program.on_lines(wanted)
    assert made[0].get("when", "both") == (when or "both")
    assert words(program.all_stops()) == expected


# ----- log messages -----


def test_log_points_tell_and_do_not_stop(stopping):
    program = stopping(LOOP)
    (made,) = program.on_names(
        {"name": "Exp*", "condition": "grads_in", "logMessage": "i={i} {{x}} {grads_in[0]} {float(z.sum()):.2f} {node}"}
    )
    assert made["verified"]
    assert program.all_stops() == []
    said = program.said()
    assert said[0].startswith("i=0 {x} tensor float32 [2] [1., 1.] 2.00 ExpBackward0 #")
    assert len(said) == 6
    assert "done 5" in program.printed()


def test_a_log_message_names_its_line(stopping):
    program = stopping(LOOP)
    line = program.line("y.exp()")
    program.on_lines({"line": line, "when": "forward", "logMessage": "here", "hitCondition": "2"})
    assert program.run() is None
    (told,) = [
        each["body"] for each in program.events if each["event"] == "output" and each["body"]["output"] == "here\n"
    ]
    assert (told["source"]["path"], told["line"]) == (str(program.script), line)


def test_an_expression_of_a_log_message_that_fails_is_told_in_its_place(stopping):
    program = stopping(LOOP)
    program.on_lines({"line": 4, "when": "forward", "hitCondition": "1", "logMessage": "a {nope} b {i}"})
    assert program.run() is None
    assert "a <nope: NameError: name 'nope' is not defined> b 0" in program.said()


def test_many_log_messages_hold_up_nobody(stopping):
    program = stopping(LOOP.replace("range(6)", "range(2000)"))
    program.on_names({"name": "Exp*", "logMessage": "{i}"})
    assert program.run() is None
    assert "done 1999" in program.printed()
    assert len(program.said()) == 4000


# ----- what does not change -----


def test_the_program_has_the_same_results_with_breakpoints_everywhere(stopping):
    text = LOOP.replace("    x.grad = None\n", "    print(x.grad.tolist())\n").replace("(6)", "(3)")
    plain = stopping(text)
    assert plain.run() is None
    other = stopping(text)
    other.on_names(
        {"name": "*", "condition": "grads_in and [s.sum() for s in saved] and sum(g.sum() for g in grads_out) == -1"}
    )
    other.on_errors("nan", "inf", "any", "none-grad")
    other.on_events({"kind": "release", "condition": "False"}, {"kind": "version-bump", "condition": "False"})
    other.watch({"dataId": "name:*", "condition": "False"})
    assert other.run() is None
    assert other.printed() == plain.printed()
    assert "done 2" in plain.printed()


def test_a_condition_in_a_checkpoint_is_not_taken_for_a_part_of_it(stopping):
    program = stopping(
        "import agdbg_engine as ag\n"
        "from agdbg_engine.utils.checkpoint import checkpoint\n"
        "x = ag.tensor([1.0, 2.0], requires_grad=True)\n"
        "def f(t):\n"
        "    return (t * 2).exp().sin()\n"
        "checkpoint(f, x, use_reentrant=False).sum().backward()\n"
        "print('done', x.grad.tolist())\n"
    )
    program.on_names({"name": "*", "condition": "float((x + 1).sum()) < 0", "logMessage": ""})
    program.on_events({"kind": "packed", "condition": "float((x + 1).sum()) < 0"})
    assert program.run() is None
    assert program.exit == 0, program.printed()
    assert "done" in program.printed()
