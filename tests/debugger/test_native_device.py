"""Tensors on a device under the debugger: what is recorded and shown of them, and how few copies to the host that takes.

The device is the strict one of the engine's tests, which refuses and counts them.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg.agent.control import FunctionStop, Settings
from agdbg.agent.tensors import elements, page
from agdbg.agent.values import value_of
from agdbg.engines import native
from agdbg.engines.native_values import described, measured, picked
from agdbg.events import Kind
from agdbg.record import Facts, Recorder, Trace

ENGINE_TESTS = Path(__file__).resolve().parents[1] / "engine"
LOADED = """
import importlib.util, sys
for name in ("cupy_api", "strict_streams", "strict_words", "strict_refusals", "strict_manners", "strict_device"):
    spec = importlib.util.spec_from_file_location(f"agdbg_tests_{name}", f"FOLDER/{name}.py")
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
strict = sys.modules["agdbg_tests_strict_device"]
strict.BACKEND.summing = True
""".replace("FOLDER", str(ENGINE_TESTS))
"""How a program gets the device."""


@pytest.fixture
def strict(monkeypatch):
    if "agdbg_tests_strict_device" not in sys.modules:
        exec(LOADED, {})
    found = sys.modules["agdbg_tests_strict_device"]
    monkeypatch.setattr(found.BACKEND, "summing", True)
    found.copies.clear()
    found.refusals.clear()
    return found


def recorded(path, program):
    recorder = Recorder(path, program={}, engine={}, sees=native.sees(("values",)))
    native.attach(recorder, None, ("values",))
    try:
        program()
    finally:
        native.detach()
        recorder.close()
    return Facts(Trace.open(path))


def training(device):
    ag.manual_seed(0)
    model = ag.nn.Sequential(ag.nn.Linear(3, 4), ag.nn.Tanh(), ag.nn.Linear(4, 2)).to(device)
    x = ag.tensor([[1.0, 2.0, 3.0], [float("inf"), 1.0, 0.0]]).to(device)
    for _ in range(20):
        model(x).sum().backward()


def test_summaries_take_one_copy_a_batch_and_are_the_same(strict, tmp_path, monkeypatch):
    there = recorded(tmp_path / "there", lambda: training("strict"))
    assert strict.refusals == []
    assert 0 < len(strict.copies) <= len(there.rows(Kind.CLOCK))  # of which a batch has one
    monkeypatch.setattr(strict.BACKEND, "summing", False)
    with strict.allowed_host_reads():
        here = recorded(tmp_path / "here", lambda: training("strict"))  # looked at one by one
    of = [[f.summary_at(r) for r in f.rows(Kind.SUMMARY).tolist()] for f in (here, there)]
    assert [(s.what, s.index, s.nans, s.infs, s.first_bad, s.elements) for s in of[0]] == [
        (s.what, s.index, s.nans, s.infs, s.first_bad, s.elements) for s in of[1]
    ]
    for a, b in zip(*of, strict=True):
        assert (b.norm, b.largest) == pytest.approx((a.norm, a.largest), rel=1e-5)
    assert any(s.nans for s in of[1])
    assert len(of[1]) > 500
    kinds = [[int(w) & 255 for w in f.trace.records[:, 0]] for f in (here, there)]
    assert [k for k in kinds[0] if k != Kind.CLOCK] == [k for k in kinds[1] if k != Kind.CLOCK]


def test_what_cannot_be_fetched_is_left_out_and_told_once(strict, tmp_path, monkeypatch, capfd):
    def lost(words):
        raise OSError("the device is gone")

    monkeypatch.setattr(strict.BACKEND, "answers", lost)
    facts = recorded(tmp_path / "trace", lambda: training("strict"))
    assert not len(facts.rows(Kind.SUMMARY))
    assert len(facts.rows(Kind.RAN)) > 100
    assert facts.trace.problems == []
    assert capfd.readouterr().err.count("values is not recorded: OSError: the device is gone") == 1


ARRAYS = {
    "vector": np.linspace(-3, 5, 100), "matrix": np.arange(60.0).reshape(6, 10), "few": np.array([1.5, -2.0]), "number": np.array(2.5),
    "nan": np.array([1.0, np.nan, 3.0, 4, 5, 6, 7, 8, 9]), "inf": np.array([1.0, -np.inf]), "long": np.arange(12).reshape(2, 6),
    "deep": np.arange(6000.0).reshape(2, 30, 10, 10), "none": np.zeros((0, 3)), "bools": np.array([True, False]), "nine": np.arange(9.0).reshape(3, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_a_tensor_is_shown_as_on_the_cpu_and_not_fetched(name, strict, monkeypatch):
    sizes = []
    get = strict.ndarray.get
    monkeypatch.setattr(strict.ndarray, "get", lambda self, **how: (sizes.append(self.size), get(self, **how))[1])
    array = ARRAYS[name]
    with strict.allowed_host_reads(), np.errstate(invalid="ignore"):
        assert described(strict.put(array)) == value_of(array)
    assert len(sizes) <= 2
    assert max(sizes) < max(array.size, 10)


BIG = {
    "matrix": np.random.default_rng(0).standard_normal((300, 200)), "float": np.linspace(-1, 1, 5000, dtype=np.float32).reshape(10, 50, 10),
    "half": np.linspace(-3, 5, 900, dtype=np.float16), "inf": np.where(np.arange(900) % 7 == 3, -np.inf, np.arange(900.0)).reshape(30, 30),
    "nan": np.where(np.arange(900) == 7, np.nan, 3.5), "both": np.array([np.nan, np.inf, 1.0, 2.0, 0.0] * 100).reshape(2, 250),
    "bad": np.full((30, 30), np.nan), "same": np.full((40, 40), 2.0), "ints": np.arange(-600, 600).reshape(3, 4, 100),
    "bools": np.arange(900) % 3 == 0, "complex": (np.arange(900.0) - 1j * np.arange(900)).reshape(30, 30), "turned": np.arange(600.0).reshape(20, 30).T,
    "vector": np.arange(1003.0),
}  # fmt: skip
"""Arrays of which no page has all."""
WINDOWS = [(0, 0, 6, 7, 0), (5, 3, 4, 9, 1), (998, 998, 9, 9, 2)]
"""Row, column, rows, columns and step."""


@pytest.mark.parametrize("name", BIG)
def test_a_page_of_a_tensor_is_as_on_the_cpu_and_no_more_is_fetched(name, strict, monkeypatch):
    fetched = []
    get = strict.ndarray.get
    monkeypatch.setattr(strict.ndarray, "get", lambda self, **how: (fetched.append(self.size), get(self, **how))[1])
    array = BIG[name]
    there = strict.put(array)
    with strict.allowed_host_reads(), np.errstate(all="ignore"):
        for window in WINDOWS:
            fetched.clear()
            body = page(there, [1], *window, pick=picked, measure=measured)
            assert body == page(array, [1], *window)
            shown = sum(each != "" for line in body["values"] for each in line)
            assert fetched[0] == shown
            assert len(fetched) <= 4  # elements, summary (once more without infinities), histogram
            assert max(fetched[1:], default=0) <= 26
        fetched.clear()
        assert elements(there, 490, 20, picked) == elements(array, 490, 20)
    assert fetched == [min(20, array.size - 490)]
    assert strict.refusals == []


def test_pages_of_arrays_without_dimensions_or_elements(strict):
    with strict.allowed_host_reads():
        for array in (np.array(2.5), np.zeros((0, 3)), np.zeros((2, 0))):
            body = page(strict.put(array), [], 0, 0, 5, 5, 0, pick=picked, measure=measured)
            assert body == page(array, [], 0, 0, 5, 5, 0)


STOPPED = (
    LOADED
    + """
import agdbg_engine as ag
allowed = strict.allowed_host_reads()  # the agent's own reads
allowed.__enter__()
x = ag.tensor([1.0, 2.0], dtype=ag.float64).to("strict:1").requires_grad_()
y = x * x
loss = y.sum()
loss.backward()
print(x.grad.tolist())
"""
)


SIDE = (
    LOADED
    + """
import agdbg_engine as ag
from agdbg_engine import streams
allowed = strict.allowed_host_reads()  # the agent's own reads
allowed.__enter__()
waited = []
strict.BACKEND.synchronize = waited.append
with streams.Stream(strict.BACKEND):
    k = ag.tensor(3.).to("strict").requires_grad_()
    y = k * k
assert waited == []
y.backward()
ag.ones(2, requires_grad=True).sum().backward()
print(waited, k.grad.tolist())
"""
)


def test_a_stop_waits_for_all_streams_of_the_device_once_and_running_for_none(run_agent):
    hub = run_agent(SIDE, Settings(entry=True))
    stop = hub.stopped()
    assert hub.ask("evaluate", expression="waited", frame=0)["result"] == "[0]"
    stop = hub.go("next")
    hub.ask("values", node=stop["node"])
    assert " 3. " in hub.ask("evaluate", expression="k", frame=0)["result"]
    assert hub.ask("evaluate", expression="waited", frame=0)["result"] == "[0, 0]"
    status, out, err = hub.end()
    assert (status, out.strip(), err) == (0, "[0, 0] 6.0", "")


CONDITIONS = {
    "a gradient": ("looked(grad)", True), "gradients": ("looked(grads_in[0])", True), "what it gives": ("looked(grads_out[0])", True),
    "a saved tensor": ("looked(saved.self)", True), "a variable": ("looked(k)", True), "a field": ("looked(node._saved_self)", True),
    "no value": ("node.op == 'MulBackward0' and node.seq >= 0 and step >= 0", False),
}  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_that_reads_values_waits_before_it_does(run_agent, name):
    condition, reads = CONDITIONS[name]
    looking = "\nlooks = []\ndef looked(value):\n    looks.append(len(waited))\n    return True\nassert waited == []\n"
    program = SIDE.replace("\nassert waited == []\n", looking)
    hub = run_agent(program, Settings(functions=[FunctionStop(1, "Mul*", "backward", condition=condition)]))
    hub.stopped()
    if reads:
        assert hub.ask("evaluate", expression="len(looks) == 1 <= looks[0]", frame=0)["result"] == "True"
    else:
        assert hub.ask("evaluate", expression="waited", frame=0)["result"] == "[0]"  # by the stop alone
    assert hub.end()[0] == 0


LOST = SIDE.replace("= waited.append", "= lambda index: 1 / 0").replace("assert waited == []", "")


def test_a_device_that_cannot_be_waited_for_does_not_end_the_debugging(run_agent):
    hub = run_agent(LOST, Settings(entry=True))
    hub.stopped()
    assert hub.go("next")["description"].startswith("before AccumulateGrad")
    status, out, err = hub.end()
    assert (status, out.strip(), err) == (0, "[] 6.0", "")


def test_a_stop_waits_for_no_device_where_there_is_none(run_agent):
    program = "import agdbg_engine as ag\nag.ones(2, requires_grad=True).sum().backward()\n"
    hub = run_agent(program, Settings(entry=True))
    hub.stopped()
    assert "set()" in str(hub.ask("evaluate", expression="ag.several.used", frame=0))
    assert "False" in str(hub.ask("evaluate", expression="'cupy' in __import__('sys').modules", frame=0))
    assert hub.end()[0] == 0


def test_a_stop_among_tensors_of_a_device(run_agent):
    hub = run_agent(STOPPED, Settings(entry=True))
    hub.stopped()
    stop = hub.go("next")
    assert stop["description"].startswith("before MulBackward0")
    values = hub.ask("values", node=stop["node"])
    assert values["in"][0]["summary"] == "float64 [2]  min 1  max 1  mean 1  norm 1.414"
    assert values["saved"]["self"]["value"]["summary"] == "float64 [2]  min 1  max 2  mean 1.5  norm 2.236"
    assert hub.ask("elements", node=stop["node"], what="saved", which="self", start=0, count=2)["elements"] == [
        "1.0",
        "2.0",
    ]
    window = {"index": [], "row": 0, "column": 0, "rows": 9, "columns": 9, "step": 0}
    told = hub.ask("tensor", node=stop["node"], what="saved", which="self", **window)
    assert (told["values"], told["stats"][2]) == ([["1", "2"]], {"name": "mean", "value": "1.5"})
    assert told == hub.ask("tensor", node=stop["node"], what="saved", which="self", compare=True, **window) | {
        "compared": None
    }
    assert "1.4142" in str(hub.ask("evaluate", expression="float(grad.norm())", frame=0))
    assert "[[1.0, 2.0], [1.0, 2.0]]" in str(hub.ask("evaluate", expression="[g.tolist() for g in grads_out]", frame=0))
    made = hub.ask("set", node=stop["node"], output=0, expression="[10.0, 100.0]")
    assert made["value"]["summary"].startswith("float64 [2]  min 10  max 100")
    status, out, err = hub.end()
    assert (status, out.strip(), err) == (0, "[20.0, 400.0]", "")
