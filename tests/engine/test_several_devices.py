"""Several devices in one program: work is done where operands are, gradients come back, nothing depends on the current device.

The strict device has two, and refuses to compute on arrays of the one that is not current.
"""

import copy
import threading

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import several, streams
from agdbg_engine.cuda.devices import Devices
from agdbg_engine.cuda.memory import Memory

BACKEND = strict.BACKEND
CUDA = Devices(BACKEND)
"""What ``agdbg_engine.cuda`` has, for the strict device."""

pytestmark = [
    pytest.mark.skipif(BACKEND.count() < 2, reason="there is one GPU"),
    # the stream of another device is another one, too: told once in a process, so by whichever test is the first
    pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream"),
]


@pytest.fixture(autouse=True)
def nothing_is_refused():
    strict.refusals.clear()
    yield
    assert not [
        text for text in strict.refusals if not text.startswith("Mixed")
    ]  # a number of the CPU, which is moved then
    assert CUDA.current_device() == 0


def on(index, *values, grad=False):
    return ag.tensor(values, dtype=ag.float64, device=f"strict:{index}", requires_grad=grad)


def content(t):
    return strict.host(t._a).tolist()


# ----- the current device -----


def test_the_current_device():
    assert CUDA.current_device() == 0
    with CUDA.device(1):
        assert CUDA.current_device() == 1
        assert ag.ones(2, device="strict").device == ag.device("strict:1")
        assert ag.ones(2).to("strict").device == ag.device("strict:1")
        with CUDA.device("strict:0"), CUDA.device(None), CUDA.device(-1):
            assert CUDA.current_device() == 0
        assert CUDA.current_device() == 1
    CUDA.set_device(ag.device("strict:1"))
    CUDA.set_device(-1)
    try:
        assert ag.rand(2, device="strict").device == ag.device("strict:1")
    finally:
        CUDA.set_device(0)
    with CUDA.device_of(on(1, 1.0)):
        assert CUDA.current_device() == 1
    with CUDA.device_of(ag.ones(1)):
        assert CUDA.current_device() == 0
    assert CUDA.get_device_name(1) == "strict"
    CUDA.synchronize("strict:1")


def test_wrong_devices():
    for wrong in (7, "strict:7"):
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            CUDA.set_device(wrong)
    with pytest.raises(ValueError, match="Expected a strict device, but got: cpu"):
        CUDA.set_device("cpu")


def test_threads_begin_on_the_first():
    found = []
    with CUDA.device(1):
        thread = threading.Thread(target=lambda: found.append(CUDA.current_device()))
        thread.start()
        thread.join()
    assert found == [0]


# ----- ops -----


@pytest.mark.parametrize("current", [0, 1])
@pytest.mark.parametrize("index", [0, 1])
def test_results_lie_beside_their_operands(index, current):
    with CUDA.device(current):
        x, y = on(index, 1.0, 2.0, grad=True), on(index, 3.0, 4.0)
        made = [
            x + y,
            2 - x,
            x @ y,
            x.exp().sum(),
            ag.cat([x, y]),
            x[ag.tensor([0, 1])],
            x.max(),
            x == y,
            ag.zeros_like(x),
        ]
        made += [
            ag.nn.functional.softmax(x, 0),
            x.reshape(2, 1).expand(2, 3),
            ag.rand_like(x),
            x * ag.tensor(2.0, dtype=ag.float64),
        ]
        assert {t.device for t in made} == {ag.device("strict", index)}
        (x.exp() * y).sum().backward()
        assert x.grad.device == ag.device("strict", index)
        assert CUDA.current_device() == current


def test_in_place_and_views():
    x = on(1, 1.0, 2.0, 3.0, grad=True)
    y = x * 2
    y[1:].mul_(x[1:])
    y[0] = 5.0
    y.sum().backward()
    assert content(y) == [5.0, 8.0, 18.0]
    assert content(x.grad) == [0.0, 8.0, 12.0]


def test_copies_between_devices():
    x = on(0, 1.0, 2.0)
    y = x.to("strict:1")
    assert (str(y.device), content(y)) == ("strict:1", [1.0, 2.0])
    assert y.to("strict:1") is y
    x.copy_(on(1, 7.0, 8.0))
    assert content(x) == [7.0, 8.0]
    assert x.type_as(x).to(y).device == ag.device("strict:1")


def test_two_devices_in_one_op():
    x, y = on(0, 1.0, 2.0), on(1, 1.0, 2.0)
    begin = "Expected all tensors to be on the same device, but "
    two = begin + "found at least two devices, strict:{} and strict:{}!"
    checked = (
        begin
        + "got {} is on strict:{}, different from other tensors on strict:{} (when checking argument in method wrapper_STRICT_{})"
    )
    ops = [
        (lambda a, b: a + b, None),
        (lambda a, b: ag.cat([a, b]), ("tensors", "cat")),
        (lambda a, b: ag.stack([a, b]), ("tensors", "cat")),
        (lambda a, b: a @ b, ("tensor", "_dot")),
        (lambda a, b: ag.mm(a[None], b[:, None]), ("mat2", "mm")),
        (lambda a, b: a == b, None),
        (lambda a, b: a.mul_(b), None),
        (ag.atan2, None),
        (lambda a, b: ag.where(a > 0, a, b), None),
        (lambda a, b: a * b[0], None),
        (ag.nn.functional.mse_loss, None),
    ]
    for op, names in ops:
        for a, b in ((x, y), (y, x)):
            with pytest.raises(RuntimeError) as found:
                op(a, b)
            i, j = a.device.index, b.device.index
            wanted = two.format(i, j) if names is None else checked.format(names[0], j, i, names[1])
            assert str(found.value).splitlines()[0] == wanted
    with pytest.raises(
        RuntimeError, match=r"indices should be either on cpu or on the same device as the indexed tensor \(strict:0\)"
    ):
        x[ag.tensor([0], device="strict:1")]
    assert (content(x), content(y)) == ([1.0, 2.0], [1.0, 2.0])


# ----- gradients -----


def test_gradients_come_back_to_the_device_of_the_leaf():
    w0, w1 = on(0, 2.0, 3.0, grad=True), on(1, 5.0, 7.0, grad=True)
    y = ((w0 * w0).to("strict:1") * w1).to("strict:0") * w0
    y.sum().backward()
    assert (str(w0.grad.device), str(w1.grad.device)) == ("strict:0", "strict:1")
    assert content(w0.grad) == [3 * 4 * 5.0, 3 * 9 * 7.0]
    assert content(w1.grad) == [8.0, 27.0]


def test_gradients_of_a_leaf_are_summed_across_devices():
    w = on(0, 2.0, 3.0, grad=True)
    for _ in range(2):  # accumulated into grad, too
        parts = [(w.to(f"strict:{i}") * (i + 1)).sum() for i in (0, 1)]
        ag.autograd.backward(parts)
    assert content(w.grad) == [6.0, 6.0]
    assert w.grad.device == ag.device("strict:0")


@pytest.mark.parametrize("create_graph", [False, True])
def test_second_order_and_hooks_across_devices(create_graph):
    seen = []
    x = on(1, 2.0, grad=True)
    y = x.to("strict:0") ** 3
    y.register_hook(lambda g: seen.append(g.device))
    (g,) = ag.autograd.grad(y.sum().to("strict:1"), x, create_graph=create_graph)
    assert content(g) == [12.0]
    if create_graph:
        (h,) = ag.autograd.grad(g.sum(), x)
        assert content(h) == [12.0]
    assert set(seen) == {ag.device("strict:0")}


def test_assigned_gradients_must_be_beside_the_leaf():
    x = on(0, 1.0, grad=True)
    with pytest.raises(RuntimeError, match="assigned grad has data located on a different device"):
        x.grad = on(1, 1.0)
    with pytest.raises(RuntimeError, match="expected device strict:0 but got strict:1"):
        x.backward(on(1, 1.0))

    class Elsewhere(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.to("strict:1")

    with pytest.raises(RuntimeError, match="expected device strict:0 but got strict:1"):
        Elsewhere.apply(x).sum().backward()


def test_a_custom_function_with_a_missing_gradient_gets_zeros_there():
    class Two(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            assert a.device == b.device == ag.device("strict:1")
            return a + b

    x = on(1, 1.0, grad=True)
    Two.apply(x)[0].sum().backward()
    assert content(x.grad) == [1.0]


@pytest.mark.parametrize("make", [ag.optim.SGD, ag.optim.Adam, ag.optim.RMSprop, ag.optim.Rprop, ag.optim.NAdam])
def test_a_model_on_two_devices_learns_as_on_one(make):
    def losses(first, second):
        ag.manual_seed(0)
        a, b = (ag.nn.Linear(3, 3, dtype=ag.float64) for _ in range(2))
        a.to(first), b.to(second)
        options = {"momentum": 0.9} if make is ag.optim.SGD else {}
        optimizer = make([*a.parameters(), *b.parameters()], lr=0.05, **options)
        x = ag.tensor([[1.0, 2.0, 3.0]], dtype=ag.float64, device=first)
        found = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = (b(a(x).tanh().to(second)) ** 2).mean()
            loss.backward()
            optimizer.step()
            found.append(content(loss))
        assert {p.device for p in b.parameters()} == {ag.device(second)}
        return found

    assert losses("strict:0", "strict:1") == losses("strict:0", "strict:0")


# ----- streams, memory, random numbers -----


def test_streams_belong_to_a_device():
    side = CUDA.Stream("strict:1")
    assert side.device == ag.device("strict:1")
    assert CUDA.current_stream(1) == CUDA.default_stream(1) != CUDA.default_stream(0)
    with CUDA.stream(side):
        assert (CUDA.current_device(), CUDA.current_stream()) == (1, side)
        assert CUDA.current_stream(0) == CUDA.default_stream(0)
    assert CUDA.current_stream(1) == CUDA.default_stream(1)
    event = side.record_event()
    event.wait(CUDA.default_stream(0))
    assert event.query()
    side.synchronize()


def test_a_copy_waits_for_its_original_and_is_waited_for():
    strict.Stream.between.clear()
    on(0, 1.0).to("strict:1")
    assert strict.Stream.between == [(1, 0), (0, 1)]


def test_backward_runs_on_the_streams_of_both():
    side = CUDA.Stream(1)
    x = on(0, 1.0, 2.0, grad=True)
    with CUDA.stream(side):
        y = x.to("strict:1").sin()
    z = y.to("strict:0").cos().sum()
    z.backward()
    assert strict.Stream.work["cos"] is side.raw  # of the sine's backward
    assert strict.Stream.work["sin"] is strict.Stream.null
    np.testing.assert_allclose(content(x.grad), -np.sin(np.sin([1.0, 2.0])) * np.cos([1.0, 2.0]))


def test_nodes_older_than_the_second_device_run_on_theirs():
    x = on(0, 1.0, grad=True)
    y = x.exp()
    streams._of.pop(y.grad_fn, None)  # as if made before
    with CUDA.device(1):
        y.sum().backward()
    assert x.grad.device == ag.device("strict:0")


def test_memory_is_counted_by_device():
    memory = Memory(BACKEND, BACKEND.peaks)
    before = [memory.memory_allocated(i) for i in (0, 1)]
    memory.reset_peak_memory_stats(1)
    x = ag.ones(1000, dtype=ag.float64, device="strict:1", requires_grad=True)
    y = x.exp()
    assert [memory.memory_allocated(f"strict:{i}") - b for i, b in enumerate(before)] == [0, 16000]
    assert memory.memory_stats(1)["saved_bytes.all.current"] >= 8000
    assert "ExpBackward0 saved 'result'" in memory.memory_summary("strict:1")
    assert "test_memory_is_counted" not in memory.memory_summary(0)
    del x, y
    assert memory.max_memory_allocated(1) - before[1] >= 8000
    assert memory.memory_allocated(1) == before[1]


def test_each_device_has_its_random_numbers(monkeypatch):
    monkeypatch.setattr(BACKEND, "draws", True)
    monkeypatch.setattr(ag.random, "_defaults", {})
    ag.manual_seed(3)
    one = [content(ag.randn(3, device="strict:1")) for _ in range(2)]
    ag.manual_seed(3)
    ag.randn(5, device="strict:0")
    assert [content(ag.randn(3, device="strict:1")) for _ in range(2)] == one
    mine = ag.Generator("strict:1").manual_seed(4)
    assert ag.rand(2, device="strict:1", generator=mine).device == ag.device("strict:1")
    assert ag.nn.functional.dropout(on(1, 1.0, 2.0)).device == ag.device("strict:1")
    assert ag.randperm(5, device="strict:1").device == ag.device("strict:1")


def test_nothing_is_asked_before_a_second_device():
    """The hot path of programs with one device: operands are read from the slot itself."""
    import subprocess
    import sys

    code = "import agdbg_engine as ag; ag.ones(2).sum(); assert ag.Tensor._in is ag.Tensor._a"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert several.active


@pytest.mark.parametrize(
    ("primal", "tangent"),
    [("cpu", "strict:0"), ("strict:0", "cpu"), ("strict:0", "strict:1"), ("strict:1", "strict:0")],
)
def test_a_tangent_on_another_device(primal, tangent):
    """PyTorch takes it, and lays a copy out like the primal where that tangent is; ops then find two devices."""
    forward_ad = ag.autograd.forward_ad
    x, t = ag.ones(2, 3, device=primal), ag.ones(3, 2, device=tangent).t()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        found = forward_ad.unpack_dual(dual).tangent
        assert (str(dual.device), str(found.device), found.stride()) == (primal, tangent, (3, 1))
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            dual * dual


def test_copies_share_memory_as_their_originals_do():
    x = ag.arange(6.0, device="strict:1").reshape(2, 3)
    strict.copies.clear()
    a, b, c = copy.deepcopy([x, x[:, 1], x.T])
    assert not strict.copies
    a[0, 1] = 9.0
    assert [t.device for t in (a, b, c)] == [x.device] * 3
    assert c.stride() == (1, 3)
    with strict.allowed_host_reads():
        assert (b.tolist(), c[1].tolist(), x[0, 1].item()) == ([9.0, 4.0], [9.0, 4.0], 1.0)


HOOKED = {
    "a tensor": lambda x, y, hook: y.register_hook(hook), "a leaf": lambda x, y, hook: x.register_hook(hook),
    "a node": lambda x, y, hook: y.grad_fn.register_hook(lambda inputs, outputs: (hook(None), *inputs[1:])),
    "before a node": lambda x, y, hook: y.grad_fn.register_prehook(lambda outputs: (hook(None),)),
}  # fmt: skip


@pytest.mark.parametrize("where", HOOKED)
def test_a_gradient_that_a_hook_gives_lies_where_the_one_was_that_it_got(where):
    def elsewhere(g):
        return on(1, 1.0, 2.0)

    x = on(0, 1.0, 2.0, grad=True)
    y = x.sin()
    HOOKED[where](x, y, elsewhere)
    with pytest.raises(RuntimeError) as told:
        y.sum().backward()
    first, second = str(told.value).splitlines()[:2]
    assert (
        first == "Expected all tensors to be on the same device, but found at least two devices, strict:1 and strict:0!"
    )
    assert "was given a gradient on strict:0 and returned one on strict:1" in second
    assert x.grad is None


def test_copies_go_over_once(monkeypatch):
    found = []
    to_device = BACKEND.to_device
    monkeypatch.setattr(BACKEND, "to_device", lambda *args: found.append(args) or to_device(*args))
    ag.ones(2).to("strict")
    ag.ones(2, requires_grad=True).to("strict:1")
    assert len(found) == 2


OUTS = {
    "zeros": lambda t, out, **k: t.zeros(2, out=out, **k), "ones": lambda t, out, **k: t.ones(2, out=out, **k), "full": lambda t, out, **k: t.full((2,), 3.0, out=out, **k), "arange": lambda t, out, **k: t.arange(2.0, out=out, **k),
    "linspace": lambda t, out, **k: t.linspace(0, 1, 2, out=out, **k), "logspace": lambda t, out, **k: t.logspace(0, 1, 2, out=out, **k), "rand": lambda t, out, **k: t.rand(2, out=out, **k), "randn": lambda t, out, **k: t.randn(2, out=out, **k),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTS)
def test_what_is_made_into_an_out_lies_there(name):
    torch = pytest.importorskip("torch", reason="errors are compared with PyTorch's")
    make = OUTS[name]
    out = ag.empty(2, device="strict:1")
    assert make(ag, out) is out
    assert make(ag, out, device="strict") is out
    if not name.startswith("rand"):
        assert content(out) == pytest.approx(make(ag, ag.empty(2)).tolist())
    assert make(ag, ag.empty(0, device="strict:1")).device == ag.device("strict:1")
    texts = []
    for t, place in ((torch, "meta"), (ag, "strict:1")):
        for there, asked in ((place, "cpu"), ("cpu", place)):
            with pytest.raises(RuntimeError) as told:
                make(t, t.empty(2, device=there), device=asked)
            texts.append(str(told.value).replace("meta", "strict"))
    assert texts[:2] == texts[2:]


def test_ops_write_into_an_out_where_it_lies():
    a, out = on(1, 1.0, 2.0), on(1, 0.0, 0.0)
    assert content(ag.add(a, a, out=out)) == [2.0, 4.0]
    assert content(ag.sin(on(1, 0.0), out=on(1))) == [0.0]  # which had no memory
    assert content(ag.cumsum(a, 0, out=out[::1])) == [1.0, 3.0]
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        assert content(ag.mul(a, a, out=on(1, 0.0))) == [1.0, 4.0]


def test_gradients_on_several_devices_are_clipped_together():
    there = [ag.ones(2, device=place, requires_grad=True) for place in ("strict:0", "strict:1", "cpu")]
    for p in there:
        p.grad = ag.full_like(p, 3.0)
    with strict.allowed_host_reads():  # what is on the CPU is scaled by a number that was computed elsewhere
        total = ag.nn.utils.clip_grad_norm_(there, 1.0)
        assert total.device == there[0].device and total.item() == pytest.approx(54**0.5)
        for p in there:
            assert p.grad.device == p.device and p.grad.tolist() == pytest.approx([6**-0.5] * 2)


@pytest.mark.parametrize("create_graph", [False, True], ids=["buffers", "recorded"])
@pytest.mark.parametrize(("before", "after"), [("cpu", "strict:1"), ("strict:0", "strict:1"), ("strict:1", "cpu")])
def test_a_gradient_from_before_a_parameter_was_moved(before, after, create_graph):
    """What a pass adds to it is on another device: as where PyTorch adds in place."""
    layer = ag.nn.Linear(3, 1).to(before)
    layer(ag.ones(1, 3, device=before)).sum().backward()
    with strict.allowed_host_reads():
        for p in layer.parameters():
            p.data = p.data.to(after)
    strict.refusals.clear()
    first, second = sorted((before, after), key=lambda name: name == "cpu")
    text = "Expected all tensors to be on the same device, but found at least two devices, "
    with pytest.raises(RuntimeError, match=text) as found:
        layer(ag.ones(1, 3, device=after)).sum().backward(create_graph=create_graph)
    assert {first, second} <= set(str(found.value).split("!")[0].replace(",", " ").split())
    if not create_graph:
        assert not strict.refusals
        assert f"the gradient that is added to is on {before}" in str(found.value)
    assert str(layer.weight.grad.device) == before
    layer.zero_grad()
    layer(ag.ones(1, 3, device=after)).sum().backward(create_graph=create_graph)
    assert str(layer.weight.grad.device) == after


def test_a_number_of_the_cpu_is_added_to_a_gradient():
    """As PyTorch adds it: a number of the CPU goes beside what is on a device, not the other way round."""
    for before, after in (("strict:1", "cpu"), ("cpu", "strict:1")):
        p = ag.nn.Parameter(ag.ones((), device=before))
        p.grad = ag.ones((), device=before)
        with strict.allowed_host_reads():
            p.data = p.data.to(after)
            if after == "cpu":
                (p * 2).backward()
                assert (str(p.grad.device), p.grad.item()) == (before, 3.0)
            else:
                with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
                    (p * 2).backward()
