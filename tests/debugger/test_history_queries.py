"""What the hub tells of a trace: rows, one node, events, drawings, search, while the trace grows."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine as ag
from agdbg.engines import native
from agdbg.events import Kind, Provenance, head, pack_edge
from agdbg.hub import history as history_module
from agdbg.hub.history import History
from agdbg.hub.moment import moment_of
from agdbg.hub.replay import Replay
from agdbg.progress import heard_by
from agdbg.protocol import vendor
from agdbg.protocol.checkers import checker
from agdbg.record import Facts, Recorder, Trace
from agdbg.record.format import HEADER, RECORD
from agdbg_engine import nn


@pytest.fixture
def recording(tmp_path):
    """A recorder on which the engine tells what it does until the test ends."""
    recorder = Recorder(tmp_path / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder)
    yield recorder
    native.detach()
    recorder.close()


def history_of(recorder):
    recorder.flush()
    return History(recorder.path)


def entries(history, node, section, **when):
    (found,) = [each for each in history.node(node, **when)["sections"] if each["name"] == section]
    return {entry["name"]: (entry["value"], entry["state"]) for entry in found["entries"]}


def by_op(history):
    return {row["op"]: row for row in history.rows(0, 100)["rows"]}


def line_of(text):
    lines = Path(__file__).read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.strip() == text]
    return number


def test_rows_of_a_program(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).exp()
    z = (y * x).sum()
    body = history_of(recording).rows(0, 100)
    assert (body["total"], body["start"], body["pc"], body["pcNode"]) == (4, 0, None, None)
    assert [row["op"] for row in body["rows"]] == ["MulBackward0", "ExpBackward0", "MulBackward0", "SumBackward0"]
    assert [row["row"] for row in body["rows"]] == [0, 1, 2, 3]
    first, exp, mul, _ = body["rows"]
    assert first["file"] == __file__ and first["text"] == exp["text"] == "y = (x * x).exp()"
    assert first["line"] == line_of("y = (x * x).exp()")
    (badge,) = first["badges"]
    assert (badge["text"], badge["state"]) == ("x", "pending")
    assert [each["badges"] for each in (exp, mul)] == [[], [badge]]
    assert {(row["state"], row["order"], row["pass"], row["breakpoint"]) for row in body["rows"]} == {
        ("pending", None, 0, False)
    }
    assert z is not None


@pytest.mark.parametrize("also", [frozenset(), frozenset({"shapes"})])
def test_a_leaf_outside_modules_goes_by_the_variable_on_the_line_or_by_its_shape(tmp_path, also):
    recorder = Recorder(tmp_path / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder, also=also)
    held, two = {"w": ag.ones(2, 3, requires_grad=True)}, 2
    kept = (held["w"] * held["w"]).exp(), held["w"] * two, held["w"].sin() + nn.Linear(3, 1).weight
    native.detach()
    recorder.close()
    rows = History(tmp_path / "trace").rows(0, 100)["rows"]
    told = {(row["op"], tuple(badge["text"] for badge in row["badges"])) for row in rows}
    by_itself = "leaf [2, 3]" if also else "leaf"  # of `w * two` the engine may have exchanged the operands
    assert told >= {("MulBackward0", ("held['w']",)), ("MulBackward0", (by_itself,)), ("SinBackward0", ("held['w']",))}
    assert kept is not None


def test_states_follow_the_passes(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    z = x.exp().sum()
    history = history_of(recording)

    def seen():
        recording.flush()
        assert history.poll()
        rows = by_op(history)
        badge = rows["ExpBackward0"]["badges"][0]
        return [(rows[op]["state"], rows[op]["order"]) for op in ("SumBackward0", "ExpBackward0")], badge["state"]

    z.backward(retain_graph=True)
    assert seen() == ([("ran", 0), ("ran", 1)], "ran")
    z.backward()
    assert seen() == ([("freed", 0), ("freed", 1)], "ran")
    with pytest.raises(RuntimeError):
        z.backward()
    assert seen() == ([("freed", 0), ("failed", 1)], "ran")


def test_a_run_that_was_taken_back_leaves_the_row_as_it_was(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    z = x.exp().sum()
    z.backward()
    history = history_of(recording)
    exp, number = by_op(history)["ExpBackward0"], history.live.passes[0].id
    assert exp["state"] == "freed"
    recording.emit(head(Kind.UNDONE, 1), exp["node"], number, exp["order"], 0, 0, 0, 0)
    recording.flush()
    history.poll()
    assert by_op(history)["ExpBackward0"]["state"] == history.state(exp["node"]) == "pending"
    assert by_op(history)["SumBackward0"]["state"] == "freed"
    assert entries(history, exp["node"], "Saved tensors")["result"][1] == "ok"
    assert [each["kind"] for each in history.events(-1, 1)["events"]] == ["undone"]


def test_parameters_are_badges_by_name(recording):
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    net(ag.tensor([[1.0, 2.0]])).sum().backward()
    history = history_of(recording)
    badges = [badge["text"] for row in history.rows(0, 100)["rows"] for badge in row["badges"]]
    assert sorted(badges) == ["0.bias", "0.weight", "2.bias", "2.weight"]
    found = history.find("2.WEIGHT", 0, False)
    texts = [badge["text"] for badge in history.rows(found["row"], 1)["rows"][0]["badges"]]
    assert "2.weight" in texts


def test_a_saved_tensor_that_was_written(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = y.sum()
    before = len(Trace.open(recording.path).records)
    y.mul_(2)
    history = history_of(recording)
    exp = by_op(history)["ExpBackward0"]["node"]
    value, state = entries(history, exp, "Saved tensors")["result"]
    assert state == "modified"
    assert value.startswith("modified: written by mul_ at ")
    assert value.endswith(f"test_history_queries.py:{line_of('y.mul_(2)')}, version 0 saved, 1 now")
    rows = Facts(Trace.open(recording.path)).rows(Kind.BUMP).tolist()
    assert entries(history, exp, "Saved tensors", before_row=rows[0]) == {"result": ("version 0 saved, 0 now", "ok")}
    assert before <= rows[0] and z is not None


def test_a_saved_tensor_that_was_freed(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    z = x.exp().sum()
    z.backward()
    history = history_of(recording)
    exp = by_op(history)["ExpBackward0"]["node"]
    value, state = entries(history, exp, "Saved tensors")["result"]
    number = history.live.passes[0].id
    assert state == "freed"
    assert value.startswith(f"freed by pass {number}, backward at test_history_queries.py:")
    run = history.live.runs_of(exp)[0].row
    assert entries(history, exp, "Saved tensors", before_row=run)["result"][1] == "ok"
    assert entries(history, exp, "Node", before_row=run)["ran in"][0] == "no pass"
    assert f"pass {number}" in entries(history, exp, "Node")["ran in"][0]


def test_the_sections_of_a_node(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * x
    history = history_of(recording)
    first, second = history.rows(0, 2)["rows"]
    body = history.node(second["node"])
    assert [section["name"] for section in body["sections"]] == [
        "Gradients in",
        "Gradients out",
        "Saved tensors",
        "Storages",
        "Next edges",
        "Hooks",
        "Node",
    ]
    assert entries(history, second["node"], "Gradients in") == {"0": ("not captured", "")}
    assert entries(history, second["node"], "Gradients out") == {"0": ("not captured", ""), "1": ("not captured", "")}
    edges = entries(history, second["node"], "Next edges")
    assert edges["0"][0].startswith(f"MulBackward0 #{first['node']} at test_history_queries.py:")
    assert edges["1"][0] == f"x #{first['badges'][0]['node']}"
    about = entries(history, second["node"], "Node")
    assert about["op"][0] == "MulBackward0" and about["id"][0] == str(second["node"])
    assert about["created"][0].endswith("in test_the_sections_of_a_node")
    assert (body["row"], body["text"], body["state"]) == (1, "    z = y * x", "pending")
    assert (body["column"], body["endLine"], body["endColumn"]) == (9, body["line"], 14)
    assert history.node(999_999_999) is None and z is not None


def test_hooks_of_a_node(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    kept = y.grad_fn.register_prehook(lambda grads: None)
    gone = y.grad_fn.register_prehook(lambda grads: None)
    gone.remove()
    y.sum().backward()
    history = history_of(recording)
    hooks = entries(history, by_op(history)["ExpBackward0"]["node"], "Hooks")
    ((value, _),) = hooks.values()
    assert value.startswith("registered at test_history_queries.py:") and value.endswith(", fired 1 time")
    assert kept is not None


def test_the_code_of_hooks_is_told_in_the_order_in_which_they_fire(recording):
    def clip(grad):
        return grad * 0.5

    y = ag.tensor([1.0, 2.0], requires_grad=True).exp()
    y.grad_fn.register_hook(lambda into, out: None)
    y.register_hook(clip)
    y.register_hook(clip).remove()
    y.retain_grad()
    history = history_of(recording)
    node = by_op(history)["ExpBackward0"]["node"]
    told = [(hook["kind"], hook["name"].rpartition(".")[2]) for hook in history.node(node)["hooks"]]
    assert told == [("tensor", "clip"), ("post", "<lambda>")]
    (hook,) = history.hooks_in(node, "tensor-hooks")
    assert (hook["file"], hook["line"]) == (__file__, clip.__code__.co_firstlineno)
    assert history.hooks_in(node, "accumulate") == history.hooks_in(node, "pre-hooks") == []


def test_a_gradient_that_was_replaced_says_so(recording):
    z = ag.tensor([1.0], requires_grad=True).exp().sum()
    z.backward()
    history = history_of(recording)
    exp = by_op(history)["ExpBackward0"]["node"]
    recording.emit(head(Kind.EDITED, 1), exp, 77, 0, 0, 0, 0, 0)
    recording.flush()
    history.poll()
    assert entries(history, exp, "Gradients in") == {"0": ("not captured; replaced by hand in pass 77", "")}


def test_search_goes_round(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    z = x.exp().sin().exp().cos().sum()
    history = history_of(recording)
    forwards = [history.find("exp", start, False)["row"] for start in range(5)]
    assert forwards == [0, 2, 2, 0, 0]  # not all rows of the line, whose source has it
    assert [history.find("ExpBack", start, False)["row"] for start in range(5)] == [0, 2, 2, 0, 0]
    assert [history.find("expback", start, True)["row"] for start in range(5)] == [0, 0, 2, 2, 2]
    assert [history.find(".exp()", start, False)["row"] for start in range(5)] == [
        0,
        1,
        2,
        3,
        4,
    ]  # all stand on one line
    line = line_of("z = x.exp().sin().exp().cos().sum()")
    assert history.find(f"queries.py:{line}", 3, False)["row"] == 3
    sin = by_op(history)["SinBackward0"]["node"]
    assert history.find(f"#{sin}", 4, False) == {"row": 1, "node": sin}
    assert history.find("nowhere to be found", 0, False) == {"row": None, "node": None}
    assert history.find("", 0, False)["row"] is None and z is not None


def test_events_in_pages(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.detach().mul_(1)
    z = y.sum()
    with pytest.raises(RuntimeError):
        z.backward()
    history = history_of(recording)
    body = history.events(0, 1000)
    kinds = [each["kind"] for each in body["events"]]
    number = history.timeline(0, 0)["pass"]
    assert body["events"][-1]["text"] == f"pass {number}: 1 node ran, 1 failed"
    assert history.timeline(0, 0)["total"] == 2  # the node that failed is a run too
    assert kinds[-3:] == ["pass started", "error", "pass failed"] and {"cut", "write"} <= set(kinds)
    assert [each["index"] for each in body["events"]] == list(range(body["total"]))
    assert history.events(1, 2)["events"] == body["events"][1:3]
    assert history.events(-2, 5) == {**body, "start": body["total"] - 2, "events": body["events"][-2:]}
    assert history.events(-1000, 2)["events"] == body["events"][:2]
    error = body["events"][-2]
    assert error["text"].startswith("inplace-modified: ") and len(error["text"]) <= 200
    assert history.live.node(error["node"]).op.name == "ExpBackward0"
    times = [each["time_ns"] for each in body["events"]]
    assert {each["kind"] for each in body["events"] if each["timed"]} == {"pass started", "pass failed"}
    assert all(time > 0 for time in times)


def test_every_kind_of_event_has_words(new_recorder):
    recorder = new_recorder()
    silent = {Kind.BORN, Kind.EDGE, Kind.SAVED, Kind.RAN, Kind.ROOT, Kind.TENSOR, Kind.CLOCK, Kind.FREED}
    silent |= {Kind.PACKED, Kind.UNPACKED}  # told with the node
    silent |= {Kind.MODULE, Kind.SHAPE, Kind.SUMMARY, Kind.PROBE}  # told when something is bad, see test_deep_facts.py
    for kind in Kind:
        recorder.emit(head(kind, 1), 3, 0, 0, 0, 0, 0, 0)
    events = history_of(recorder).events(0, 100)["events"]
    assert len(events) == len(Kind) - len(silent)
    assert all(each["kind"] and each["text"] for each in events)


def test_the_error_and_its_diagnosis(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    z = x.exp().sum()
    z.backward()
    with pytest.raises(RuntimeError):
        z.backward()
    history = history_of(recording)
    error = history.last_error()
    assert history.errors() == [error] and error.kind == "backward-twice"
    assert history.finding_of(error.row) == history.explanation().findings[0].finding
    assert history.facts() is history.facts()


def test_how_the_program_has_ended_is_told_though_no_record_came(new_recorder):
    recorder = new_recorder()
    recorder.flush()
    history = History(recorder.path)
    assert history.explanation().ending.state == "running"
    meta = json.loads((recorder.path / "meta.json").read_text())
    (recorder.path / "meta.new").write_text(json.dumps(meta | {"closed": True, "exit": {"status": 1}}))
    (recorder.path / "meta.new").replace(recorder.path / "meta.json")
    assert not history.poll() and history.explanation().ending.state == "closed"
    assert history.live.trace.meta["exit"] == {"status": 1}


def test_a_drawing_in_pages(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    z = x.exp().sin().cos().sum()
    z.backward()
    history = history_of(recording)
    number = history.live.passes[0].id
    whole = history.graph(0, 1000, pass_id=number)
    assert [node["op"] for node in whole["nodes"]] == ["ExpBackward0", "SinBackward0", "CosBackward0", "SumBackward0"]
    ids = [node["id"] for node in whole["nodes"]]
    assert [(edge["consumer"], edge["producer"]) for edge in whole["edges"]] == list(zip(ids[1:], ids, strict=False))
    page = history.graph(1, 2, pass_id=number)
    assert (page["total"], page["start"], page["nodes"]) == (4, 1, whole["nodes"][1:3])
    assert [edge["consumer"] for edge in page["edges"]] == ids[1:3]
    near = history.graph(0, 10, node=ids[0], hops=1)
    assert [node["id"] for node in near["nodes"]] == ids[:2] and len(near["edges"]) == 1
    leaf = whole["nodes"][0]["badges"][0]
    assert leaf["text"] == "x"
    assert [node["id"] for node in history.graph(0, 10, node=leaf["node"], hops=0)["nodes"]] == ids[:1]
    assert history.graph(0, 10)["total"] == 4
    with pytest.raises(ValueError, match="no backward pass 999"):
        history.graph(0, 10, pass_id=999)
    with pytest.raises(ValueError, match="no node #999999999"):
        history.graph(0, 10, node=999_999_999)


def test_facts_that_come_late(new_recorder):
    """As PyTorch's adapter tells them: edges when a pass starts, a leaf after edges that name it."""
    recorder = new_recorder()

    def emit(kind, number, *words, **fields):
        recorder.emit(head(kind, 1, **fields), number, *words, *(0,) * (6 - len(words)))
        recorder.flush()

    emit(Kind.BORN, 10, 1, a=1)
    emit(Kind.BORN, 30, 2, a=2)
    history = history_of(recorder)
    assert [row["cells"] for row in history.rows(0, 10)["rows"]] == ["●", "  ●"]
    emit(Kind.EDGE, 30, 0, pack_edge(10), flags=Provenance.INFERRED)
    emit(Kind.EDGE, 30, 1, pack_edge(20), flags=Provenance.INFERRED)
    history.poll()
    assert [row["cells"] for row in history.rows(0, 10)["rows"]] == ["●", "●"]
    assert history.rows(1, 1)["rows"][0]["badges"] == []
    assert entries(history, 30, "Next edges")["1"][0] == "#20, born before the recording (inferred)"
    emit(Kind.BORN, 20, 2**64 - 1)
    history.poll()
    assert [badge["node"] for badge in history.rows(1, 1)["rows"][0]["badges"]] == [20]
    assert history.row_of(20) == 1 and history.total == 2 and history.nodes == 3


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), min_size=7, max_size=7))
    )
)
def test_records_of_nonsense_are_answered_for(records):
    with TemporaryDirectory() as directory:
        data = [RECORD.pack(kind | words[0] << 8 & 2**64 - 1, *words) for kind, words in records]
        (Path(directory) / "records.bin").write_bytes(HEADER + b"".join(data))
        history = History(directory)
        rows = history.rows(0, 1000)["rows"]
        assert [row["row"] for row in rows] == list(range(history.total))
        for number in [*(row["node"] for row in rows), *range(10), 2**64 - 1]:
            history.node(number), history.row_of(number), history.node(number, before_row=2)
        events = history.events(0, 1000)
        assert len(events["events"]) == events["total"]
        assert history.find("b", 0, False)["row"] in (None, *range(history.total))
        for error in history.errors():
            history.finding_of(error.row)
        assert len(history.graph(0, 1000)["nodes"]) <= history.graph(0, 1000)["total"]
        cursor = Replay(history)
        for move in (cursor.back, cursor.reverse, cursor.next, cursor.out, cursor.forward_to_end, cursor.to_end):
            assert move().as_stop()["node"] >= 0


def test_a_trace_that_is_not_there_yet(tmp_path, new_recorder):
    history = History(tmp_path / "trace")
    assert not history.poll()
    assert history.rows(0, 10)["rows"] == [] and history.events(-5, 5)["events"] == []
    assert history.find("x", 0, False)["row"] is None and history.last_error() is None
    recorder = new_recorder()
    recorder.emit(head(Kind.BORN, 1), 5, 1, 0, 0, 0, 0, 0)
    recorder.flush()
    assert history.poll() and history.total == 1
    assert not history.poll()


def test_long_texts_are_cut(new_recorder):
    recorder = new_recorder()
    name = recorder.op("X" * 5000)
    recorder.emit(head(Kind.BORN, 1), 5, 1, name << 32, 0, 0, 0, 0)
    history = history_of(recorder)
    sections = history.node(5)["sections"]
    assert max(len(entry["value"]) for section in sections for entry in section["entries"]) == 200


def test_the_shapes_are_those_of_the_protocol(recording):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    z = x.exp().sum()
    z.backward()
    history = history_of(recording)
    for body, shape in (
        (history.rows(0, 10), vendor.RowsBody),
        (history.find("exp", 0, False), vendor.FindBody),
        (history.node(history.node_at(0)), vendor.NodeBody),
        (history.events(0, 10), vendor.EventsBody),
        (history.graph(0, 10), vendor.GraphBody),
    ):
        assert checker(shape, closed=True).problem(body) is None


def test_how_much_of_a_long_recording_is_read_is_told(recording, monkeypatch):
    monkeypatch.setattr(history_module, "READ_AT_ONCE", 10)
    y = ag.ones(3, requires_grad=True)
    for _ in range(12):
        y = y.exp()
    recording.flush()
    heard = []
    with heard_by(lambda *said: heard.append(said)):
        history = History(recording.path)
        assert heard == [("reading the recording", done, history.records) for done in range(0, history.records, 10)]
        heard.clear()
        y = y.sin()
        recording.flush()
        assert history.poll() and heard == []
    assert [row["op"] for row in history.rows(0, 100)["rows"]] == ["ExpBackward0"] * 12 + ["SinBackward0"]
    whole = History(recording.path)
    assert whole.rows(0, 100) == history.rows(0, 100) and whole.events(0, 9) == history.events(0, 9)


def test_a_leaf_stands_in_the_past_where_it_was_used_by_then(recording):
    x = ag.tensor([1.0], requires_grad=True)
    first = x * 2
    first.backward()
    (x * 3).exp().backward()  # by the same node of the leaf, which `first` keeps
    history = history_of(recording)
    position = Replay(history).seek(1, 1)
    assert history.rows(0, 9)["total"] == 3
    moment = moment_of(position.as_stop(), position.row)
    assert (history.place_of(position.node), history.place_of(position.node, at=moment)) == (1, 0)


@pytest.mark.parametrize("block", [1, 3, 100])
def test_a_search_looks_at_blocks_in_order_and_round_the_end(recording, monkeypatch, block):
    """From any start, both ways, whatever the size of a block: the row that a look at all of them gives."""
    monkeypatch.setattr("agdbg.graph.rows._LOOKED_AT", block)
    names = ["exp", "sin", "cos", "cos", "exp", "exp", "sin", "cos", "exp", "cos", "sin"]
    z = ag.tensor([0.1], requires_grad=True)
    for name in names:
        z = getattr(z, name)()
    history = history_of(recording)
    for name in set(names):
        rows = [row for row, each in enumerate(names) if each == name]
        for start in range(len(names) + 2):
            later, earlier = [row for row in rows if row >= start], [row for row in rows if row <= start]
            assert history.find(f"{name}Backward", start, False)["row"] == (later or rows)[0]
            assert history.find(f"{name}Backward", start, True)["row"] == (earlier or rows)[-1]
