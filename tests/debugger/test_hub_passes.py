"""Which pass a client is shown: the one in which its thread stands, in the program or in the recording, and that of a node."""

import pytest

TWO_THREADS = """
import threading
import agdbg_engine as ag

shared = ag.tensor([1.0, 2.0], requires_grad=True)
unused = shared.log()
middle = shared * 2
one, two = middle.sum(), middle.exp().sum()
has_begun = threading.Event()
one.register_hook(lambda grad: has_begun.set())
thread = threading.Thread(target=one.backward, kwargs={"retain_graph": True})
thread.start()
assert has_begun.wait(60)
two.backward(retain_graph=True)
thread.join()
"""
NESTED = """
import agdbg_engine as ag

inner = ag.tensor([3.0], requires_grad=True)
x = ag.tensor([1.0, 2.0], requires_grad=True)
inner.exp().sum().backward()
class Nested(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, grad):
        with ag.enable_grad():
            (inner * 5).sum().backward()
        return grad
Nested.apply(x).sum().backward()
x.log().sum().backward()
"""
THREE = """
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
h = x * x
h.exp().sum().backward(retain_graph=True)
y = h.sum()
y.backward(retain_graph=True)
h.log().mean().backward()
"""


class Program:
    """A client on a program that stops at the nodes of an op, or on its recording."""

    def __init__(self, client):
        self.client = client

    def shown(self, thread=1, **more):
        """The pass that a thread sees, and where it stands in it."""
        body = self.client.request("agdbg/timeline", start=0, count=0, threadId=thread, **more)
        return body["pass"], body["at"]

    def of_node(self, op, thread=1):
        """The pass to which the node of an op belongs for a thread, and the line of its call."""
        rows = self.client.request("agdbg/rows", start=0, count=100)["rows"]
        node = {row["op"]: row["node"] for row in rows}[op]
        body = self.client.request("agdbg/timeline", start=0, count=0, threadId=thread, node=node)
        return body["pass"], body["line"]

    def profiled(self, thread=1):
        """The pass whose profile a thread gets, and how many runs it has."""
        body = self.client.request("agdbg/profile", start=0, count=0, points=1, threadId=thread)
        return body["pass"], body["total"]

    def stop(self):
        """Wait for the next stop in a pass."""
        while (body := self.client.wait_for("stopped"))["description"].startswith("forward"):
            self.client.request("continue", threadId=body["threadId"])
        return body

    def go(self, request, thread=1):
        self.client.request(request, threadId=thread)
        return self.stop()["description"]


@pytest.fixture
def stopped_at(console_stage):
    """A function that starts a program and waits until it stands at a node of an op."""

    def start(text, op):
        client = console_stage.client(console_stage.hub())
        client.request("launch", program=str(console_stage.script(text)), cwd=str(console_stage.directory))
        client.request("setFunctionBreakpoints", breakpoints=[{"name": op}])
        client.request("configurationDone")
        return Program(client)

    return start


def test_each_of_two_threads_sees_its_own_pass(stopped_at):
    program = stopped_at(TWO_THREADS, "MulBackward0")
    found = [program.stop(), program.stop()]
    first, second = sorted(found, key=lambda body: "node 3 of" in body["description"])
    worker, main = first["threadId"], second["threadId"]
    assert worker != main
    assert (program.shown(worker), program.shown(main)) == ((1, 1), (2, 2))
    assert (program.profiled(worker), program.profiled(main)) == ((1, 1), (2, 2))
    assert [program.of_node("MulBackward0", each)[0] for each in (worker, main)] == [
        1,
        2,
    ]  # which both have still to run
    assert [program.of_node("ExpBackward0", each) for each in (worker, main)] == [(2, 14), (2, 14)]
    assert [program.of_node("LogBackward0", each) for each in (worker, main)] == [(0, 0), (0, 0)]
    assert program.shown(worker, **{"pass": 2}) == (2, None)
    program.go("next", worker)
    program.go("next", main)
    assert [program.of_node("MulBackward0", each)[0] for each in (worker, main)] == [
        1,
        2,
    ]  # though the other ran it last
    assert (program.shown(worker), program.shown(main)) == ((1, 2), (2, 3))


def test_in_and_around_a_pass_inside_of_another(stopped_at):
    program = stopped_at(NESTED, "MulBackward0")
    assert "node 2 of" in program.stop()["description"]
    assert program.shown() == (3, 1)
    assert program.shown(**{"pass": 2}) == (2, 1)
    assert program.shown(**{"pass": 1}) == (1, None)
    assert (program.of_node("MulBackward0"), program.of_node("NestedBackward")) == ((3, 14), (2, 16))
    assert program.of_node("ExpBackward0") == (1, 6)


def test_a_recording_of_three_calls_shows_the_pass_of_the_place(console_stage, stopped_at):
    program = stopped_at(THREE, "no such op")
    client = program.client
    client.wait_for("exited")
    trace = client.request("agdbg/status")["trace"]
    client = console_stage.client(console_stage.hub())
    client.request("attach", trace=trace)
    client.request("configurationDone")
    program = Program(client)
    program.stop()
    assert program.shown() == (3, 0)
    program.go("reverseContinue")
    assert program.shown() == (2, 0)
    assert (program.profiled(), program.shown(**{"pass": 3})) == ((2, 3), (3, None))
    assert program.of_node("MulBackward0") == (2, 8)  # has still to run
    assert program.of_node("ExpBackward0") == (1, 6)
    assert program.of_node("LogBackward0") == (0, 0)  # runs later
    program.go("reverseContinue")
    assert (program.shown(), program.of_node("MulBackward0")) == ((1, 0), (1, 6))
