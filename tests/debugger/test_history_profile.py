"""A pass as a whole, as the hub tells it: what saved tensors hold along it, what hooks cost, gradients by layer."""

import math
import threading

import pytest

import agdbg
import agdbg_engine as ag
from agdbg.engines import native
from agdbg.events import HookAction, Kind, head, pack_duration, pack_edge, pack_save
from agdbg.hub.history import History
from agdbg.protocol import looks
from agdbg.protocol.checkers import checker
from agdbg.record import Facts, Recorder
from agdbg.record.hooked import hooks
from agdbg.record.reader import Trace
from agdbg_engine import nn

BYTES = 8 * 100  # of a vector of float32 with 200 elements


def profiled(history, pass_id=None, start=0, count=1000, points=1000):
    body = history.profile(start, count, points, pass_id)
    assert checker(looks.ProfileBody, closed=True).problem(body) is None
    return body


def recorded(path, program, *also):
    with agdbg.record(path, also=frozenset(also)):
        program()
    return History(path)


def chain(x):
    return x.exp().exp().exp().sum()


def test_what_saved_tensors_hold_goes_down_along_a_pass(tmp_path):
    x = ag.randn(200, requires_grad=True)
    history = recorded(tmp_path / "t", lambda: chain(x).backward(), "shapes")
    body = profiled(history)
    ops = [run["op"] for run in history.timeline(0, 10)["runs"]]
    assert ops == ["SumBackward0", "ExpBackward0", "ExpBackward0", "ExpBackward0", "AccumulateGrad"]
    assert body["held"] == [3 * BYTES, 3 * BYTES, 2 * BYTES, BYTES, 0]
    assert (body["heldMost"], body["mostAt"], body["heldAfter"]) == (3 * BYTES, 0, 0)
    assert (body["storages"], body["unknown"]) == (3, 0)
    assert profiled(history, start=1, count=2)["held"] == body["held"][1:3]


def test_a_pass_that_keeps_its_graph_lets_nothing_go(tmp_path):
    x = ag.randn(200, requires_grad=True)

    def program():
        y = chain(x)
        y.backward(retain_graph=True)
        y.backward()

    history = recorded(tmp_path / "t", program, "shapes")
    assert profiled(history, 1)["held"] == [3 * BYTES] * 5
    assert profiled(history, 1)["heldAfter"] == 3 * BYTES
    assert profiled(history, 2)["held"][-1] == 0


def test_sizes_that_were_not_recorded_are_unknown(tmp_path):
    x = ag.randn(200, requires_grad=True)
    body = profiled(recorded(tmp_path / "t", lambda: chain(x).backward()))
    assert (body["storages"], body["unknown"], set(body["held"])) == (3, 3, {0})


def test_memory_of_parameters_is_there_anyway(tmp_path):
    model = nn.Linear(10, 10)
    body = profiled(recorded(tmp_path / "t", lambda: model(ag.randn(3, 10)).sum().backward(), "shapes"))
    assert body["heldMost"] == 3 * 10 * 4


def test_a_pass_that_stands_holds_what_it_has_yet_to_use(tmp_path):
    recorder = Recorder(tmp_path / "t", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder, also=frozenset({"shapes"}))
    x, seen = ag.randn(200, requires_grad=True), []

    def look(grad):
        y.register_hook(lambda grad: None)  # what has run so far is written before this is
        recorder.flush()
        seen.append(profiled(History(tmp_path / "t")))

    try:
        y = x.exp()
        y.register_hook(look)
        y.exp().exp().sum().backward()
    finally:
        native.detach()
        recorder.close()
    (body,) = seen
    assert body["held"] == [3 * BYTES, 3 * BYTES, 2 * BYTES]
    assert body["heldAfter"] == BYTES


def test_the_time_of_hooks_is_part_of_that_of_their_runs(tmp_path):
    x = ag.randn(200, requires_grad=True)

    def program():
        y = x.exp()
        y.register_hook(lambda grad: sum(range(20_000)) and None)
        y.sum().backward()
        x.exp().sum().backward()

    history = recorded(tmp_path / "t", program)
    runs = history.timeline(0, 10, 1)["runs"]
    assert [run["hooks"] for run in runs] == [0, 1, 0]
    assert [run["hooksNs"] == 0 for run in runs] == [True, False, True]
    assert 0 < runs[1]["hooksNs"] <= runs[1]["durationNs"]
    body = profiled(history, 1)
    assert (body["hookCalls"], body["hooksNs"]) == (1, runs[1]["hooksNs"])
    assert [point["hooksNs"] for point in body["points"]] == [0, runs[1]["hooksNs"], 0]
    assert body["wholeNs"] == sum(run["durationNs"] for run in runs)
    other = profiled(history, 2)
    assert (other["hookCalls"], other["hooksNs"]) == (0, 0)


def test_the_time_of_hooks_inside_of_a_node_is_part_of_the_whole(tmp_path):
    recorder = Recorder(tmp_path / "t", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder)
    x, seen = ag.randn(200, requires_grad=True), []

    def look(grad):
        recorder.flush()
        seen.append(profiled(History(tmp_path / "t")))

    try:
        y = x.exp()
        y.register_hook(lambda grad: sum(range(200_000)) and None)
        y.register_hook(look)
        y.sum().backward()
    finally:
        native.detach()
        recorder.close()
    (body,) = seen
    assert body["hookCalls"] >= 1
    assert 0 < body["hooksNs"] < body["wholeNs"]


def test_hooks_of_another_recorder_take_unknown_time(made_up_trace):
    runs, body = made_up_trace
    assert [(run["hooks"], run["hooksNs"]) for run in runs] == [(1, None)]
    assert (body["hookCalls"], body["hooksNs"]) == (1, None)


@pytest.fixture
def made_up_trace(tmp_path):
    recorder = Recorder(tmp_path / "t", program={}, engine={}, sees={})
    node, thread = recorder.new_node(), recorder.thread()
    recorder.emit(head(Kind.BORN, thread), node, 0, 0, 0, 0, 0, 0)
    recorder.emit(head(Kind.PASS_STARTED, thread, a=1), 1, 0, pack_edge(node), 0, 0, 1, 0)
    recorder.emit(head(Kind.HOOK, thread, a=HookAction.FIRED), node, 1, 0, 0, 5, 0, 0)
    recorder.emit(head(Kind.RAN, thread), node, 1, 0, 0, 10, 0, 0)
    recorder.close()
    history = History(tmp_path / "t")
    return history.timeline(0, 5)["runs"], profiled(history)


def test_gradients_by_layer_in_the_order_of_forward(tmp_path):
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    scale = ag.tensor([2.0], requires_grad=True)

    def program():
        (model(ag.randn(3, 4)) * scale).sum().backward()

    body = profiled(recorded(tmp_path / "t", program, "values"))
    assert [layer["name"] for layer in body["layers"][:2]] == ["0", "1"]
    assert [layer["parameters"] for layer in body["layers"]] == [2, 2, 1]
    for layer, part in zip(body["layers"], model, strict=False):
        norm = math.sqrt(sum(float((each.grad**2).sum()) for each in part.parameters()))
        assert layer["norm"] == pytest.approx(norm, rel=1e-5)
        assert (layer["nans"], layer["infs"]) == (0, 0)
    assert body["points"][0]["gradient"] == pytest.approx(1.0)
    assert profiled(recorded(tmp_path / "plain", program))["layers"] == []


def test_many_runs_are_told_in_few_points(tmp_path):
    x = ag.randn(200, requires_grad=True)

    def program():
        y = x
        for _ in range(50):
            y = y.exp().log()
        y.sum().backward()

    history = recorded(tmp_path / "t", program, "shapes")
    whole, few = profiled(history), profiled(history, points=7)
    assert [point["order"] for point in few["points"]] == [at * 102 // 7 for at in range(7)]
    assert sum(point["ns"] for point in few["points"]) == few["wholeNs"]
    assert few["points"][0]["held"] == few["heldMost"] == max(whole["held"])
    assert profiled(history, points=0)["points"] == []


def test_without_a_pass_there_is_nothing_to_profile(tmp_path):
    history = recorded(tmp_path / "t", lambda: ag.tensor([1.0], requires_grad=True).exp())
    assert profiled(history)["pass"] == 0
    with pytest.raises(ValueError, match="no pass 3"):
        history.profile(0, 1, 1, 3)


@pytest.mark.parametrize("ns", [0, 1, 2**32 - 1, 2**32, 10 * 3600 * 10**9])
def test_a_duration_fits_whatever_it_is(tmp_path, ns):
    number, shift = pack_duration(ns)
    assert number < 2**32
    assert ns - (number << shift) < 2**shift
    recorder = Recorder(tmp_path / "t", program={}, engine={}, sees={})
    recorder.emit(head(Kind.HOOK, recorder.thread(), 0, HookAction.FIRED, shift), 1, 1, 0, 0, 5, number << 32, 0)
    recorder.close()
    trace = Trace.open(tmp_path / "t")
    assert trace.problems == []
    assert next(hooks(Facts(trace))).ns == number << shift


@pytest.mark.parametrize("retained", [False, True])
def test_what_runs_after_somebody_has_kept_the_graph_lets_nothing_go(tmp_path, retained):
    recorder = Recorder(tmp_path / "t", program={}, engine={}, sees={})
    first, second, thread = recorder.new_node(), recorder.new_node(), recorder.thread()
    for node, storage in ((first, 1), (second, 2)):
        recorder.emit(head(Kind.BORN, thread, b=1), node, node, 0, 0, 0, pack_save(storage, 0, 0), 0)
        recorder.emit(head(Kind.SHAPE, thread), node, 0, 100, storage, 100, 0, 0)
    recorder.emit(head(Kind.PASS_STARTED, thread, a=1), 1, 0, pack_edge(second), 0, 0, 2, 0)
    recorder.emit(head(Kind.RAN, thread), second, 1, 0, 0, 10, 0, 0)
    if retained:
        recorder.emit(head(Kind.RETAINED, thread), 1, 0, 0, 0, 0, 0, 0)
    recorder.emit(head(Kind.RAN, thread), first, 1, 1, 10, 10, 0, 0)
    recorder.emit(head(Kind.PASS_FINISHED, thread), 1, 0, 2, 20, 0, 0, 0)
    recorder.close()
    body = profiled(History(tmp_path / "t"))
    assert (body["held"], body["heldAfter"]) == ([200, 100], 100 if retained else 0)


class Live:
    """Profiles of passes while they go on, and of the same ones after the end."""

    def __init__(self, path):
        self.path, self.recorder = path, Recorder(path, program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
        self.seen = {}

    def look(self, *passes):
        """Profile some passes as of now."""
        ag.tensor([1.0], requires_grad=True).exp()  # what has run so far is written before this is
        self.recorder.flush()
        history = History(self.path)
        self.seen |= {each: profiled(history, each) for each in passes}

    def told_later(self):
        """For each pass that was seen what is told of it now, as far as its runs went then."""
        history = History(self.path)
        found = {}
        for number, seen in self.seen.items():
            body = profiled(history, number)
            runs = len(seen["held"])
            found[number] = [*body["held"][:runs], (body["held"] + [body["heldAfter"]])[runs]]
        return found

    def told_then(self):
        return {number: [*seen["held"], seen["heldAfter"]] for number, seen in self.seen.items()}


@pytest.fixture
def live(tmp_path):
    found = Live(tmp_path / "t")
    native.attach(found.recorder, also=frozenset({"shapes"}))
    try:
        yield found
    finally:
        native.detach()
        found.recorder.close()


@pytest.mark.parametrize("inner", ["whole", "kept", "failed", "part"])
@pytest.mark.parametrize("keeps", [False, True])
def test_what_passes_hold_is_the_same_in_the_midst_of_them_and_later(live, inner, keeps):
    x, a, b = (ag.randn(200, requires_grad=True) for _ in range(3))

    def fails(grad):
        raise ValueError("on purpose")

    def nested(grad):
        with ag.enable_grad():
            y = a.exp()
            z = (y * b).exp()
            loss = z.sum()
        y.register_hook(lambda grad: live.look(1, 2))
        if inner == "failed":
            y.register_hook(fails)
            with pytest.raises(ValueError, match="on purpose"):
                loss.backward()
        elif inner == "part":
            z.register_hook(lambda grad: live.look(1, 2))
            ag.autograd.grad(loss, b)
        else:
            loss.backward(retain_graph=inner == "kept")
        live.look(1)

    y = x.exp().exp()
    y.register_hook(nested)
    y.exp().sum().backward(retain_graph=keeps)
    later, then = live.told_later(), live.told_then()
    if inner != "whole":  # what it leaves is there when the outer pass goes on, which it was not behind the last run
        assert [each.pop() for each in later.values()] >= [each.pop() for each in then.values()]
    assert later == then
    assert then[1][0] == 3 * BYTES
    assert then[2][0] == (5 if keeps else 4) * BYTES


def test_what_a_pass_of_another_thread_has_yet_to_run_is_held_too(live):
    x, arrived, over = ag.randn(200, requires_grad=True), threading.Event(), threading.Event()

    def waits(grad):
        arrived.set()
        assert over.wait(30)

    def other():
        y = x.exp()
        y.register_hook(waits)
        y.exp().sum().backward()

    thread = threading.Thread(target=other)
    thread.start()
    assert arrived.wait(30)
    z = x.exp()
    z.register_hook(lambda grad: live.look(1, 2))
    z.exp().sum().backward()
    over.set()
    thread.join()
    then = live.told_then()
    assert then == {1: [2 * BYTES, 2 * BYTES, BYTES], 2: [3 * BYTES, 3 * BYTES, 2 * BYTES]}
    assert live.told_later() == then
