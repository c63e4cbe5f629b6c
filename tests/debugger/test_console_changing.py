"""Changing values at a stop, keeping the graph, and pdb: each compared with the same done by hand in a program."""

import pytest
from agdbg_tests_console_stage import SMALL

from agdbg.console import CommandError

PLAIN = "[60.25661087036133, 110132.3359375] [20.08553695678711, 44052.93359375]"


def by_hand(**replaced):
    """The gradients of SMALL when gradients and saved tensors at the product are others."""
    import numpy as np

    x, w = np.array([1.0, 2.0], np.float32), np.array([3.0, 5.0], np.float32)
    g = replaced.get("g", np.exp(x * w))
    return g * replaced.get("other", w), g * replaced.get("self", x)


def numbers(text):
    return eval(text.replace("] [", "], ["))


def close(text, expected):
    import numpy as np

    return all(np.allclose(found, wanted) for found, wanted in zip(numbers(text), expected, strict=True))


def test_set_a_gradient_and_run_the_node(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    assert console.do("set grad[0] = [1.0, 10.0]") == "grad[0] = float32 [2]  min 1  max 10  mean 5.5  norm 10.05"
    assert close(console.grads(), by_hand(g=[1.0, 10.0]))


@pytest.mark.parametrize("target", ["grad", "grads[0]", "grad[0]"])
def test_names_of_a_gradient(console_stage, target):
    console = console_stage.console(SMALL)
    console.do("start", "until 3", f"set {target} = grad * 0")
    assert console.grads() == "[0.0, 0.0] [0.0, 0.0]"


@pytest.mark.parametrize("target", ["saved[1]", "saved['other']", "saved.other"])
def test_set_a_saved_tensor_for_one_run(console_stage, target):
    console = console_stage.console(SMALL)
    console.do("start", "until 3", f"set {target} = saved.other * 10")
    assert console.do(f"p {target}") == "tensor float32 [2] [30., 50.]"
    assert close(console.grads(), by_hand(other=[30.0, 50.0]))


def test_a_replaced_saved_tensor_is_put_back_by_undo_and_told_in_the_events(console_stage):
    console = console_stage.console(SMALL, trace="trace")
    console.do("start", "until 3", "set saved[0] = [7, 7]")
    assert "MulBackward0" in console.do("events edited") and "saved self replaced by hand" in console.do(
        "events edited"
    )
    console.do("next", "back")
    assert console.do("p saved[0]") == "tensor float32 [2] [1., 2.]"
    console.do("set saved[0] = [8, 8]", "next 2", "back 2")
    assert console.grads() == PLAIN


def test_edit_and_run_again(console_stage):
    console = console_stage.console(SMALL)
    console.do("start", "next 4")
    console.do("back 2", "set grad = 1", "next", "back", "set saved.self = 2", "set grad = 3")
    assert close(console.grads(), by_hand(g=3.0, self=2.0))


def test_a_replaced_saved_tensor_holds_for_one_run_of_a_pass_that_keeps_its_graph(console_stage):
    twice = SMALL.replace(
        "loss.backward()", "loss.backward(retain_graph=True)\nx.grad = w.grad = None\nloss.backward()"
    )
    console = console_stage.console(twice)
    console.do("start", "until 3", "set saved[1] = [0, 0]", "delete")
    assert console.grads() == PLAIN


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("set", "set what"),
        ("set grad[0]", "set what"),
        ("set grad", r"write set grad = EXPRESSION \(grads\[1\] where several come in\)"),
        ("set grads[4] = 1", "output 4: node 3 has 1 outputs"),
        ("set saved[2] = 1", "there is no saved tensor 2; there are: 0 self, 1 other"),
        ("set saved.nothing = 1", "there is no saved tensor 'nothing'"),
        ("set grad[0] = [1, 2, 3]", "it is no gradient of type float32 and shape"),
        ("set saved[0] = 'x'", "it is no tensor of type float32"),
        ("set grad[0] = nowhere", "NameError"),
    ],
)
def test_what_cannot_be_set(console_stage, line, words):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    with pytest.raises(CommandError, match=words):
        console.do(line)
    assert console.grads() == PLAIN


def test_a_freed_tensor_and_one_of_another_node_cannot_be_replaced(console_stage):
    console = console_stage.console(
        SMALL.replace("loss.backward()", "loss.backward()\ntry:\n    loss.backward()\nexcept RuntimeError: pass")
    )
    console.do("run")
    console.do("until 4")
    with pytest.raises(CommandError, match="result of node 4 is freed"):
        console.do("set saved[0] = 1")


def test_set_a_variable_of_the_program(console_stage):
    console = console_stage.console(SMALL + "print('scale', scale)\n")
    console.do("start")
    assert console.do("set scale = 2 + 3") == "scale is set"
    assert "scale 5" in console.end()


# ----- keeping the graph -----

AGAIN = SMALL.replace("loss.backward()\n", "loss.backward()\nh.backward(torch.ones_like(h))\n")


def test_retain_lets_a_second_call_go_through_what_was_not_freed(console_stage):
    console = console_stage.console(AGAIN)
    console.do("start", "until 3")
    assert console.do("retain") == "the graph is kept from here on; freed already: ExpBackward0 (node 4)"
    assert console.value("retain")["freed"] == [{"node": 4, "op": "ExpBackward0"}]
    console.do("delete")
    found = numbers(console.grads())
    first, second = by_hand(), by_hand(g=1.0)
    assert close(str(found)[1:-1].replace("], [", "] ["), [a + b for a, b in zip(first, second, strict=True)])


def test_the_recording_knows_that_the_graph_was_kept(console_stage):
    from agdbg.record import Facts, Trace

    console = console_stage.console(AGAIN, trace="trace")
    console.do("start", "until 3", "retain")
    assert console.value("events retained")["events"][0]["text"] == "pass 1: the graph is kept by hand from here on"
    console.do("next")
    assert console.value("node 3")["state"] == "ran"
    assert console.value("node 4")["state"] == "freed"
    console.end()
    facts = Facts(Trace.open(console_stage.directory / "trace"))
    assert [facts.freed_by(node) for node in (4, 3)] == [1, 2]
    assert facts.errors == []


def test_retain_at_the_first_node_and_after_the_pass(console_stage):
    console = console_stage.console(SMALL.replace("loss.backward()", "loss.backward()\nloss.backward()"))
    console.do("start")
    assert console.do("retain") == "the graph is kept from here on; nothing of it was freed yet"
    console.do("finish")
    with pytest.raises(CommandError, match="no pass runs here whose graph could be kept"):
        console.do("retain")
    assert close(console.grads(), [2 * g for g in by_hand()])


# ----- pdb -----

HOOKS = """\
import agdbg_engine as torch

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        doubled = g * 2
        return doubled

def hook(g):
    more = g + 1
    return more

x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.register_hook(hook)
Doubled.apply(h).sum().backward()
print("grad", x.grad.tolist())
"""


def typed(console, text):
    console.client.request("agdbg/input", text=text)


def test_pdb_at_the_first_line_of_a_custom_function(console_stage):
    console = console_stage.console(HOOKS)
    console.do("start", "next", "step")
    typed(console, "p g\nn\np doubled\nc\n")
    assert console.do("pdb").startswith("before MulBackward0, node 3 of 4")
    printed = console.end()
    assert "script.py(10)backward()" in printed
    assert "-> doubled = g * 2" in printed
    assert "tensor([2., 2.])" in printed
    assert "grad [9.0, 9.0]" in printed


def test_pdb_from_before_the_node_enters_its_hook_and_quitting_ends_pdb_only(console_stage):
    console = console_stage.console(HOOKS)
    console.do("start", "next 2")
    typed(console, "n\np more\nq\n")
    assert console.do("pdb").startswith("before AccumulateGrad, node 4 of 4")
    printed = console.end()
    assert "script.py(14)hook()" in printed and "-> return more" in printed
    assert "tensor([3., 3.])" in printed
    assert "grad [9.0, 9.0]" in printed


def test_pdb_is_left_when_the_function_returns(console_stage):
    console = console_stage.console(HOOKS)
    console.do("start", "next")
    typed(console, "n\nn\nn\nn\n")
    assert console.do("pdb").startswith("before MulBackward0")
    printed = console.end()
    assert "--Return--" in printed
    assert printed.count("(Pdb)") == 3


def test_where_pdb_cannot_come_in(console_stage):
    console = console_stage.console(HOOKS)
    console.do("start")
    with pytest.raises(CommandError, match="SumBackward0 calls no Python function of the program"):
        console.do("pdb")
    console.do("finish")
    with pytest.raises(CommandError, match="no node is about to run here"):
        console.do("pdb")


# ----- evaluating -----


def test_print_binds_the_node_and_what_it_has_in_the_frame_that_called_backward(console_stage):
    text = SMALL.replace("loss.backward()", "def train():\n    local = 4\n    loss.backward()\n\n\ntrain()")
    console = console_stage.console(text)
    console.do("start", "until 3")
    assert console.do("p node.op_name") == "'MulBackward0'"
    assert console.do("p local, len(grads), list(grads[0].shape)") == "(4, 1, [2])"
    assert console.do("p [list(s.shape) for s in saved]") == "[[2], [2]]"
    assert console.do("p saved") == "saved tensors: self, other"
    assert console.do("p grad.sum().item() > 1e3") == "True"
    console.do("frame 2")
    assert console.do("p local") == "4"
    assert console.do("p list(grad.shape)") == "[2]"  # what the function does not know itself
    console.do("up")
    with pytest.raises(CommandError, match="name 'local' is not defined"):
        console.do("p local")


def test_print_never_shows_a_big_tensor_whole(console_stage):
    text = SMALL.replace("loss.backward()", "big = torch.ones(1000, 1000)\nlots = [big] * 50\nloss.backward()")
    console = console_stage.console(text)
    console.do("start")
    for line in ("p big", "p lots", "p [big, big]", "p {'a': big}", "p (big,)", "p 'x' * 100000"):
        assert len(console.do(line)) <= 250


def test_a_print_that_takes_too_long_is_broken_off(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    with pytest.raises(CommandError, match="TooLong: broken off after 5 s"):
        console.do("p [i for i in iter(int, 1)]")
    assert console.grads() == PLAIN


def test_a_print_that_writes_is_told(console_stage):
    console = console_stage.console(SMALL)
    console.do("start")
    assert "add_ wrote to a tensor: version 0 to 1" in console.do("p y.detach().add_(1).shape")


@pytest.mark.parametrize(
    ("written", "of"),
    [("grads[0]", "grads[0]"), ("grad", "grads[0]"), ("grads_in[0]", "grads[0]"), ("grad[0]", "grads[0]")]
    + [("saved[1]", "saved[1]"), ("saved.other", "saved[1]"), ("saved.self[0]", "saved[0]")],
)
def test_a_write_to_a_copy_is_told_for_what_it_is(console_stage, written, of):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    told = f"add_ wrote to a copy of {of}, and changed nothing of the program: set {of} = EXPRESSION does"
    assert told in console.do(f"p {written}.add_(1).shape")
    assert "version" not in console.do(f"p {written}.mul_(3).shape")
    assert console.grads() == PLAIN


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("None", "it is None"),
        ("'a'", "it is of type str"),
        ("{}", "it is of type dict"),
        ("['a', None]", "its elements are not all numbers"),
        ("[1j, 2]", "its elements are complex128"),
    ],
)
def test_what_is_no_gradient_is_told_in_plain_words(console_stage, value, words):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    with pytest.raises(CommandError, match=rf"no gradient of type float32 and shape \[2\]: {words}$"):
        console.do(f"set grad[0] = {value}")
    assert console.grads() == PLAIN


@pytest.mark.parametrize("target", ["saved[other]", "saved['other']", "saved.other", "saved[1]"])
def test_a_saved_tensor_by_its_name(console_stage, target):
    console = console_stage.console(SMALL)
    console.do("start", "until 3")
    assert console.do(f"set {target} = [0, 0]") == f"{target} = float32 [2]  min 0  max 0  mean 0  norm 0"
    assert console.grads().startswith("[0.0, 0.0] ")
