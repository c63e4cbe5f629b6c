"""Passes inside passes, threads, and programs that start anew."""

import pytest

from agdbg.console import CommandError
from agdbg.protocol.client import RequestFailed

NESTED = """\
import agdbg_engine as torch
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([1.0, 2.0], requires_grad=True)

def hook(g):
    with torch.enable_grad():
        inner = (b * b * b).sum()
    inner.backward()
    return g

h = a * 2
h = h * 3
h.register_hook(hook)
h = h * 4
h = h * 5
h.sum().backward()
print("grad", a.grad.tolist(), b.grad.tolist())
"""
PLAIN = "grad [120.0, 120.0] [3.0, 12.0]"


def stopped_inside(console_stage):
    """A console at the first node of the inner pass, which it came to without a step."""
    console = console_stage.console(NESTED)
    console.do("break script.py:7 backward")
    assert console.do("run").startswith("breakpoint 1: before SumBackward0, node 1 of 4")
    console.do("delete")
    return console


def test_the_stack_has_the_node_whose_hook_started_the_pass(console_stage):
    console = stopped_inside(console_stage)
    names = [frame["name"] for frame in console.frames()]
    assert names == ["SumBackward0, 1 of 4", "created in hook", "hook", "MulBackward0, pass 1", "<module>"]
    assert console.do("frame 2").startswith("#2  hook")
    assert console.do("p list(g)") == "[tensor(20.), tensor(20.)]"
    assert console.end().strip() == PLAIN


def test_next_goes_from_the_end_of_the_inner_pass_to_the_outer_one(console_stage):
    console = stopped_inside(console_stage)
    assert console.do("finish").startswith("backward() has run its 4 nodes")
    assert console.do("next").startswith("before MulBackward0, node 5 of 6")
    assert console.end().strip() == PLAIN


def test_until_a_node_of_the_outer_pass(console_stage):
    console = stopped_inside(console_stage)
    assert console.do("until script.py:11").startswith("before MulBackward0, node 5 of 6")
    assert console.end().strip() == PLAIN


def test_skip_and_retain_are_for_the_inner_pass(console_stage):
    console = stopped_inside(console_stage)
    assert console.do("skip").startswith("before MulBackward0, node 2 of 4")
    assert console.do("retain").startswith("the graph is kept from here on")
    console.do("back")
    console.do("next", "skip", "skip")
    assert console.end().strip() == "grad [120.0, 120.0] [0.0, 0.0]"


THREADS = """\
import threading
import agdbg_engine as torch

def work(name, ready, go):
    x = torch.tensor([2.0], requires_grad=True)
    y = (x * x).exp()
    ready.set()
    go.wait()
    y.backward()
    grads[name] = x.grad.tolist()

grads, go = {}, threading.Event()
for name in ("one", "two"):
    ready = threading.Event()
    worker = threading.Thread(target=work, args=(name, ready, go), name=name)
    worker.start()
    ready.wait()
    if name == "one":
        first = worker
go.set()
first.join()
worker.join()
print("grads", grads["one"] == grads["two"])
"""


def test_each_thread_moves_by_itself(console_stage):
    console = console_stage.console(THREADS)
    console.do("break script.py:9 backward", "run")
    while len(console.state.stops) < 2:
        console.arrived()
    console.do("delete")
    one, two = sorted(console.state.stops)
    names = {each["id"]: each["name"] for each in console.value("info threads")["threads"]}
    said = {number: f"thread {number} ({names[number]}): " for number in (one, two)}
    stands = console.do(f"thread {one}")
    assert stands.startswith((f"{said[one]}before ExpBackward0", f"{said[one]}breakpoint 1"))
    assert console.do("next").startswith(f"{said[one]}before MulBackward0")
    listed = console.value("info threads")["threads"]
    assert sorted(each["id"] for each in listed if each["stopped"]) == [one, two]
    console.do(f"thread {two}")
    assert console.do("skip").startswith(f"{said[two]}before MulBackward0")
    with pytest.raises(CommandError, match=f"no thread 99 that stands; those that do: {one}, {two}"):
        console.do("thread 99")
    console.do(f"thread {one}")
    assert console.do("until 4711").startswith(f"thread {one} has ended; thread {two} stands before MulBackward0")
    assert console.do("continue") == "the program has ended with exit status 0; its recording is here"
    assert "grads False" in console.printed


# ----- starting anew -----

SHORT = """\
import agdbg_engine as torch
x = torch.tensor([1.0], requires_grad=True)
(x * x).backward()
print("done", x.grad.item())
"""


def test_restart_tells_no_end_and_keeps_what_was_set(console_stage):
    console = console_stage.console(SHORT)
    console.do("break mul if True", "run")
    other = console_stage.client(console.client._address)
    other.request("attach")
    other.request("configurationDone")
    other.wait_for("stopped")
    console.do("restart")
    assert other.wait_for("agdbg/restarted")["trace"] == console.value("info program")["trace"]
    assert other.wait_for("stopped")["description"] == "forward, line 3 built MulBackward0"
    assert not {"exited", "terminated", "agdbg/ended"}.intersection(each["event"] for each in other.events)
    assert console.do("c").startswith("breakpoint 1: before MulBackward0")
    assert console.end().count("done 2.0") == 1


def test_restart_after_the_end_and_of_what_has_no_program(console_stage):
    console = console_stage.console(SHORT, trace="trace")
    console.do("run")
    assert console.do("restart") == "the program has ended with exit status 0; its recording is here"
    assert console.printed.count("done 2.0") == 2
    assert console.do("start" if console.is_waiting else "goto 0").startswith("in the recording: MulBackward0")
    opened = console_stage.opened(console_stage.directory / "trace")
    with pytest.raises(CommandError, match="there is no program that this hub has started"):
        opened.do("restart")


def test_a_program_that_was_not_started_cannot_be_restarted(console_stage):
    client = console_stage.client(console_stage.hub())
    client.request("launch", program=str(console_stage.script(SHORT)), cwd=str(console_stage.directory))
    with pytest.raises(RequestFailed, match="it starts at configurationDone"):
        client.request("restart")
