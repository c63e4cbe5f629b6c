"""The runs of a pass in time, and the boxes around a node, as the hub tells them."""

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg.engines import native
from agdbg.events import Kind, Outcome
from agdbg.graph.row_facts import facts_of
from agdbg.graph.row_states import Fate
from agdbg.hub.diagnosis import findings_body
from agdbg.hub.history import History
from agdbg.hub.moment import Moment
from agdbg.hub.neighbourhood import MOST, laid_out
from agdbg.progress import heard_by
from agdbg.protocol import looks, vendor
from agdbg.protocol.checkers import checker
from agdbg.record import Recorder, children
from agdbg_engine import nn


@pytest.fixture
def recording(tmp_path):
    recorder = Recorder(tmp_path / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder)
    yield recorder
    native.detach()
    recorder.close()


def history_of(recorder):
    recorder.flush()
    return History(recorder.path)


def around(history, node, hops):
    body = laid_out(lambda within, start: history.graph(start, MOST, node=node, hops=within), lambda _: "", node, hops)
    assert checker(looks.NeighbourhoodBody, closed=True).problem(body) is None
    return body


def test_the_runs_of_each_pass_in_order(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda grad: grad)
    (x * x).exp().sum().backward()
    (x * 3).sum().backward()
    history = history_of(recording)
    last = history.timeline(0, 100)
    assert checker(looks.TimelineBody, closed=True).problem(last) is None
    assert (last["pass"], last["before"], last["after"], last["outcome"]) == (2, 1, None, "ok")
    assert [run["op"] for run in last["runs"]] == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    first = history.timeline(0, 100, 1)
    ops = ["SumBackward0", "ExpBackward0", "MulBackward0", "AccumulateGrad"]
    assert [run["op"] for run in first["runs"]] == ops
    assert [run["order"] for run in first["runs"]] == [0, 1, 2, 3]
    assert first["wholeNs"] == sum(run["durationNs"] for run in first["runs"])
    assert first["longestNs"] == max(run["durationNs"] for run in first["runs"])
    assert [run["hooks"] for run in first["runs"]] == [0, 0, 0, 1]
    assert [run["hooks"] for run in last["runs"]] == [0, 0, 1]
    assert (first["after"], first["before"], first["total"]) == (2, None, 4)
    assert [run["op"] for run in history.timeline(1, 2, 1)["runs"]] == ops[1:3]
    assert history.timeline(9, 2, 1)["runs"] == []
    with pytest.raises(ValueError, match="no pass 7"):
        history.timeline(0, 1, 7)


@pytest.fixture
def deep_recording(tmp_path):
    recorder = Recorder(tmp_path / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder, None, {"shapes", "values"})
    yield recorder
    native.detach()
    recorder.close()


def test_rows_tell_what_was_recorded_beside_the_births(deep_recording):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    x = ag.ones(2, 3)
    out = model(x)
    squared = out * out
    (squared.sum() * 2.0).backward()
    history = history_of(deep_recording)
    body = history.rows(0, 10)
    assert checker(vendor.RowsBody, closed=True).problem({**body, "pc": None, "pcNode": None}) is None
    rows = {row["op"]: row for row in body["rows"]}
    assert rows["AddmmBackward0"]["shape"] == rows["TanhBackward0"]["shape"] == f"{out.dtype.name}[2, 4]"
    assert (rows["AddmmBackward0"]["module"], rows["TanhBackward0"]["module"]) == ("0", "1")
    assert (rows["SumBackward0"]["module"], rows["SumBackward0"]["shape"]) == ("", f"{out.dtype.name}[]")
    assert rows["TanhBackward0"]["saved"] == out.numpy(force=True).nbytes
    assert squared.grad_fn.name() == "MulBackward0"
    assert rows["SumBackward0"]["saved"] == 0
    assert rows["SumBackward0"]["gradient"] == 2.0
    assert rows["TanhBackward0"]["gradient"] == pytest.approx(float((4 * out).detach().norm()))
    assert not any(row["bad"] for row in body["rows"])


def test_the_same_memory_is_counted_once_and_a_nan_is_told(deep_recording):
    x = ag.tensor([0.0, 1.0], requires_grad=True)
    y = x / x
    y.sum().backward()
    history = history_of(deep_recording)
    div, total = history.rows(0, 10)["rows"]
    assert div["saved"] == x.numpy(force=True).nbytes
    assert div["bad"] and total["bad"]
    assert div["gradient"] == pytest.approx(2**0.5)


def test_a_norm_of_what_is_no_number_is_none(deep_recording):
    x = ag.tensor([0.0, 1.0, 4.0], requires_grad=True)
    ag.where(x > 0, x.sqrt(), ag.zeros(3)).sum().backward()
    y = ag.tensor([1.0, 2.0], requires_grad=True)
    (y * float("inf")).sum().backward()
    history = history_of(deep_recording)
    rows = {row["op"]: row for row in history.rows(0, 10)["rows"]}
    assert rows["SqrtBackward0"]["bad"], "it is in what goes out"
    assert rows["SqrtBackward0"]["gradient"] == pytest.approx(2**0.5)
    for number, norm in ((1, "nan"), (2, "inf")):
        body = history.timeline(0, 10, number)
        assert checker(looks.TimelineBody, closed=True).problem(body) is None
        leaf = body["runs"][-1]
        assert leaf["gradient"] == norm == history.node(leaf["node"])["gradient"]
        profile = history.profile(0, 10, 1, number)
        assert checker(looks.ProfileBody, closed=True).problem(profile) is None
        assert (profile["points"][0]["gradient"], profile["layers"][0]["norm"]) == (norm, norm)


def test_a_node_tells_what_was_recorded_and_who_saved_the_same_memory(deep_recording):
    h = ag.tensor([3.0, 4.0], requires_grad=True) * 1.0
    a, b = h * h, h.exp()
    (a * h + b).sum().backward()
    history = history_of(deep_recording)
    square, last = (row["node"] for row in history.rows(0, 10)["rows"] if row["op"] == "MulBackward0" and row["row"])
    node = history.node(square)
    told = {each["name"]: {entry["name"]: entry["value"] for entry in each["entries"]} for each in node["sections"]}
    assert ", saved as other too, by " in told["Storages"]["self"]
    assert f"by MulBackward0 #{last}" in told["Storages"]["self"]
    assert told["Gradients in"]["0"] == "not captured; recorded in pass 1: norm 5  max |x| 4"
    assert told["Gradients out"]["0"].startswith("not captured; recorded in pass 1: norm ")
    assert told["Node"]["output"] == f"{a.dtype.name}[2]  norm 18.36  max |x| 16"
    before = history.live.runs_of(square)[0].row - 3
    assert history.node(square, before)["sections"][0]["entries"][0]["value"] == "not captured"


def told_findings(recorder):
    body = findings_body(history_of(recorder), "", {})
    assert checker(vendor.FindingsBody, closed=True).problem(body) is None
    return [each["kind"] for each in body["findings"]], body["unseen"]


def test_a_nan_that_was_recorded_is_found_unasked(deep_recording):
    x = ag.tensor([0.0, 1.0, 4.0], requires_grad=True)
    ag.where(x > 0, x.sqrt(), ag.zeros(3)).sum().backward()
    assert told_findings(deep_recording) == (["nan"], "")


def test_a_nan_that_did_no_harm_is_told_of(deep_recording):
    x = ag.tensor([-1.0, 1.0], requires_grad=True)
    ag.nan_to_num(x * 0.0 / 0.0).detach().sum()
    (x * 2).sum().backward()
    kinds, unseen = told_findings(deep_recording)
    assert not kinds and "harmed no gradient" in unseen


def test_a_nan_that_nobody_could_see_is_not_called_none(recording):
    x = ag.tensor([0.0], requires_grad=True)
    (x.sqrt() * 0.0).sum().backward()
    kinds, unseen = told_findings(recording)
    assert not kinds and "not looked for" in unseen and "--also values" in unseen


def test_rows_tell_the_gradients_of_the_moment(deep_recording):
    """Not those of later passes, nor of runs to come; and of one that was taken back and run once more only the last."""
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp() * 2.0
    loss = y.sum()
    loss.backward(retain_graph=True)
    loss.backward(ag.tensor(3.0), retain_graph=True)
    history = history_of(deep_recording)

    def norms(at=None):
        return [row["gradient"] for row in history.rows(0, 3, at=at)["rows"]][::-1]

    root_two = pytest.approx(2**0.5)
    of_pass = {1: [1.0, root_two, pytest.approx(8**0.5)], 2: [3.0, pytest.approx(18**0.5), pytest.approx(72**0.5)]}
    assert norms() == of_pass[2]
    nodes = [row["node"] for row in history.rows(0, 3)["rows"]][::-1]
    for number, wanted in of_pass.items():
        for at, node in enumerate(nodes):
            row = next(run.row for run in history.live.runs_of(node) if run.pass_id == number)
            moment = Moment((number,), row, frozenset())
            assert norms(moment) == wanted[: at + 1] + [None] * (2 - at)
            assert history.node(node, row, moment)["pass"] == number
    assert norms(Moment((), next(iter(history.live.passes)).row, frozenset())) == [None] * 3


def test_a_run_that_was_taken_back_tells_no_gradient_until_it_comes_again(deep_recording):
    x = ag.tensor([0.0, 4.0], requires_grad=True)
    x.sqrt().sum().backward()
    history = history_of(deep_recording)
    node = history.node_at(0)

    def told(state):
        (facts,) = facts_of(history.growing, history.live, [node], [Fate(state, 1, None)])
        return facts.gradient, facts.bad

    for again in range(2):
        assert told("ran") == told("freed") == (pytest.approx(2**0.5), True)
        assert told("ready") == (pytest.approx(2**0.5), False), "what goes out is taken back, what has come in is there"
        assert told("waiting") == told("pending") == (None, False)
        for row in history.growing.rows(Kind.SUMMARY).tolist() if not again else ():
            deep_recording.emit(*map(int, history.growing.records[row]))
        history = history_of(deep_recording)


def test_rows_leave_out_what_was_not_recorded(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    rows = history_of(recording).rows(0, 10)["rows"]
    told = {(row["shape"], row["module"], row["gradient"], row["bad"]) for row in rows}
    assert told == {("", "", None, False)}
    assert [row["saved"] for row in rows] == [None, 0]


def test_where_somebody_stands_in_the_pass(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    (x * x).exp().sum().backward()
    history = history_of(recording)
    nodes = [run["node"] for run in history.timeline(0, 9)["runs"]]
    assert [history.timeline(0, 0, near=node)["at"] for node in nodes] == [0, 1, 2, 3]
    assert history.timeline(0, 0)["at"] is None
    assert history.timeline(0, 0, near=10**6)["at"] == 4


def test_without_a_pass_there_is_nothing(recording):
    ag.tensor([1.0], requires_grad=True).exp()
    body = history_of(recording).timeline(0, 10)
    assert checker(looks.TimelineBody, closed=True).problem(body) is None
    assert (body["pass"], body["total"], body["runs"]) == (0, 0, [])


def test_a_pass_that_grows_costs_what_is_new(recording):
    x = ag.tensor([1.0], requires_grad=True)
    x.exp().sum().backward()
    history = history_of(recording)
    assert history.timeline(0, 10)["total"] == 3
    x.exp().sum().backward()
    recording.flush()
    history.poll()
    assert history.timeline(0, 10, 1)["total"] == 3
    assert history.timeline(0, 10)["total"] == 3


def test_boxes_do_not_overlap_and_lines_lead_from_box_to_box(recording):
    x = ag.randn(3, requires_grad=True)
    y = x
    for _ in range(6):
        y = (y * y).exp() + y.sin() * x
    y.sum().backward()
    history = history_of(recording)
    middle = history.rows(8, 1)["rows"][0]["node"]
    for hops in range(5):
        body = around(history, middle, hops)
        assert body["total"] == len(body["boxes"]) == history.graph(0, 0, node=middle, hops=hops)["total"]
        boxes = {box["node"]: box for box in body["boxes"]}
        assert middle in boxes
        taken = [(box["layer"], at) for box in body["boxes"] for at in range(box["x"], box["x"] + box["width"] + 1)]
        assert len(taken) == len(set(taken))
        for line in body["lines"]:
            consumer, producer = boxes[line["consumer"]], boxes[line["producer"]]
            assert len(line["xs"]) == consumer["layer"] - producer["layer"] + 1
            assert consumer["x"] <= line["xs"][0] < consumer["x"] + consumer["width"]
            assert producer["x"] <= line["xs"][-1] < producer["x"] + producer["width"]


def test_a_node_that_was_skipped_last_is_skipped(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    total = (x * x).sum()
    total.backward(retain_graph=True)
    recording.flush()
    times, summed = (row["node"] for row in History(recording.path).rows(0, 2)["rows"])
    recording.emit(Kind.RAN, times, 2, 1, 0, 0, Outcome.SKIPPED, 0)
    history = history_of(recording)
    assert [(row["state"], row["pass"]) for row in history.rows(0, 2)["rows"]] == [("skipped", 2), ("ran", 1)]
    assert history.state(summed) == "ran"


def test_a_neighbourhood_that_is_too_big_is_cut(recording):
    x = ag.randn(2, requires_grad=True)
    parts = [x.exp() for _ in range(MOST + 20)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    history = history_of(recording)
    body = around(history, int(history.rows(0, 1)["rows"][0]["node"]), 500)
    assert body["cut"]
    assert len(body["boxes"]) <= MOST


def test_of_a_node_with_more_neighbours_than_fit_some_are_laid_out(recording):
    x = ag.randn(2, requires_grad=True)
    parts = [x.exp() for _ in range(MOST + 20)]
    ag.stack(parts)
    history = history_of(recording)
    node = int(history.rows(MOST + 20, 1)["rows"][0]["node"])
    for hops in (1, 2):
        body = around(history, node, hops)
        assert (body["hops"], body["cut"], body["total"], len(body["boxes"])) == (1, True, MOST + 21, MOST)
        assert len(body["lines"]) + len(body["ports"]) >= MOST - 1
        assert node in [box["node"] for box in body["boxes"]]


def test_gradient_norms_where_values_were_recorded(tmp_path):
    import agdbg

    with agdbg.record(tmp_path / "trace", also=frozenset({"values"})):
        x = ag.tensor([3.0, 4.0], requires_grad=True)
        (x * 2).sum().backward()
    runs = History(tmp_path / "trace").timeline(0, 10)["runs"]
    assert np.allclose([run["gradient"] for run in runs], [1.0, 2**0.5, 8**0.5])


def test_findings_tell_of_processes_that_are_not_recorded(recording):
    (ag.ones(2, requires_grad=True) * 2).sum().backward()
    history = history_of(recording)
    before = findings_body(history, "", {})
    children.note(recording.path, children.FORKED, 12)
    body = findings_body(history, "", {})
    told = "1 forked process used the engine: what it did is not recorded"
    assert body["rendered"] == f"{before['rendered']}\n\n{told}" and body["unseen"] == f"{before['unseen']}; {told}"


def test_what_is_looked_for_is_told_as_a_question(recording):
    history, heard = history_of(recording), []
    with heard_by(lambda text, done, total: heard.append((text, done < total))):
        findings_body(history, "", {})
    assert ('"not implemented"?', True) in heard
