"""What a device has in use, what graphs hold of it and who saved it, and what is said where there is no more."""

import collections
import gc

import agdbg_tests_strict_device as strict
import numpy as np
import pytest
from agdbg_tests_differential import of_the_cpu

import agdbg_engine as ag
from agdbg_engine import held
from agdbg_engine.cuda.memory import Memory, OutOfMemoryError

MEMORY = Memory(strict.BACKEND, strict.BACKEND.peaks)
KIB = 1024


def on_device(*shape, **kwargs):
    return ag.ones(*shape, dtype=ag.float64, device="strict", **kwargs)


def test_allocated_and_peak_follow_what_is_alive():
    before = MEMORY.memory_allocated()
    MEMORY.reset_peak_memory_stats()
    x = on_device(1 << 18)
    assert MEMORY.memory_allocated() - before == x.nbytes
    size = x.nbytes
    del x
    assert MEMORY.memory_allocated() == before
    assert MEMORY.max_memory_allocated() - before == size
    MEMORY.reset_peak_memory_stats()
    assert MEMORY.max_memory_allocated() == before


def test_no_peak_falls_short_of_a_figure_that_was_given():
    MEMORY.reset_peak_memory_stats()
    strict.BACKEND.cached = 4 * KIB
    x = on_device(KIB)  # too small for the peak to be looked at
    shown = MEMORY.memory_allocated(), MEMORY.memory_reserved()
    del x
    strict.BACKEND.cached = 0
    assert MEMORY.memory_allocated() < shown[0]
    assert (MEMORY.max_memory_allocated(), MEMORY.max_memory_reserved()) == shown


def test_reserved_counts_what_is_kept_until_the_cache_is_emptied():
    strict.BACKEND.cached = 4 * KIB
    assert MEMORY.memory_reserved() - MEMORY.memory_allocated() == 4 * KIB
    MEMORY.empty_cache()
    assert MEMORY.memory_reserved() == MEMORY.memory_allocated()


def test_free_and_total():
    free, total = MEMORY.mem_get_info("strict:0")
    assert total - free == MEMORY.memory_allocated()


def test_saved_tensors_are_counted_once_by_memory_and_told_with_who_saved():
    x = on_device(KIB, requires_grad=True)
    y = x * x  # saves x twice
    z = y.exp()  # saves its result
    found = [h for h in held.saved_tensors("strict") if h.node in (y.grad_fn, z.grad_fn)]
    assert sorted((h.node.name(), h.slot, h.nbytes, h.first) for h in found) == [
        ("ExpBackward0", "result", 8 * KIB, True),
        ("MulBackward0", "other", 8 * KIB, False),
        ("MulBackward0", "self", 8 * KIB, True),
    ]
    assert "test_device_memory.py" in str(found[0])
    assert "z = y.exp()" in next(str(h) for h in found if h.node is z.grad_fn)


def test_a_view_that_was_saved_holds_the_whole_memory():
    x = on_device(KIB, 2)
    w = on_device(2, requires_grad=True)
    y = x[:1] * w
    assert [h.nbytes for h in held.saved_tensors() if h.node is y.grad_fn and h.slot == "self"] == [16 * KIB]


def test_nothing_is_held_after_backward():
    gc.collect()
    before = held.saved_bytes("strict")
    x = on_device(KIB, requires_grad=True)
    y = x.exp().sum()
    assert held.saved_bytes("strict") - before == 8 * KIB
    y.backward()
    assert held.saved_bytes("strict") == before


def test_saved_tensors_of_the_cpu_are_told_apart():
    x = ag.ones(KIB, requires_grad=True)
    y = x.exp()
    assert any(h.node is y.grad_fn for h in held.saved_tensors("cpu"))
    assert not any(h.node is y.grad_fn for h in held.saved_tensors("strict"))


class Attributes:
    def __init__(self, t):
        self.where, self.t = "there", t


KEPT = {
    "the tensor": (lambda t: t, lambda p: p, 8 * KIB), "a copy": (lambda t: t * 1, lambda p: p, 8 * KIB),
    "a tuple": (lambda t: (t.device, [t.detach()]), lambda p: p[1][0], 8 * KIB), "a dict": (lambda t: {"t": t.clone()}, lambda p: p["t"], 8 * KIB),
    "an object": (lambda t: Attributes(t.clone()), lambda p: p.t, 8 * KIB), "half of it": (lambda t: t.float(), lambda p: p.double(), 4 * KIB),
    "nothing": (lambda t: "gone", lambda p: on_device(KIB), 0),
}  # fmt: skip


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("result", [False, True], ids=["input", "result"])
def test_what_hooks_packed_is_counted_where_it_can_be_seen(kept, result):
    pack, unpack, nbytes = KEPT[kept]
    gc.collect()
    before = held.saved_bytes("strict")
    x = on_device(KIB, requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() if result else x.sin()
    assert held.saved_bytes("strict") - before == nbytes
    found = [h for h in held.saved_tensors("strict") if h.node is y.grad_fn]
    assert [h.packed for h in found] == [True] * bool(nbytes)
    if found:
        slot = "result" if result else "self"
        assert f"Backward0 saved '{slot}', packed by hooks, File " in str(found[0])
    y.sum().backward()
    assert held.saved_bytes("strict") == before


def test_what_hooks_packed_on_one_tensor_is_counted():
    x = on_device(KIB, requires_grad=True)
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.clone(), lambda p: p)
    assert [(h.nbytes, h.packed) for h in held.saved_tensors("strict") if h.node is y.grad_fn] == [(8 * KIB, True)]


def test_a_copy_on_the_cpu_is_counted_there():
    x = on_device(KIB, requires_grad=True)
    with strict.allowed_host_reads(), ag.autograd.graph.save_on_cpu():
        y = x.sin()
    assert not [h for h in held.saved_tensors("strict") if h.node is y.grad_fn]
    assert [h.nbytes for h in held.saved_tensors("cpu") if h.node is y.grad_fn] == [8 * KIB]


def test_a_checkpoint_keeps_its_arguments():
    gc.collect()
    before = held.saved_bytes("strict")
    x = on_device(KIB, requires_grad=True)
    y = ag.utils.checkpoint.checkpoint(lambda x: x.sin().exp().sin(), x, use_reentrant=False)
    assert held.saved_bytes("strict") - before == 8 * KIB
    y.sum().backward()
    assert held.saved_bytes("strict") == before


def test_what_may_be_written_is_counted_with_the_copies_that_were_made_of_it():
    gc.collect()
    before = held.saved_bytes("strict")
    x = on_device(KIB, requires_grad=True)
    with ag.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y.sin()
        assert held.saved_bytes("strict") - before == 8 * KIB
        y.mul_(2)
        assert held.saved_bytes("strict") - before == 8 * KIB
        z.sum().backward()
    assert held.saved_bytes("strict") == before


def test_memory_that_ran_out_under_hooks_names_who_saved(limited):
    x = on_device(2 * KIB, requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(lambda t: [t.clone()], lambda p: p[0]):
        large = x.sin()
    with pytest.raises(OutOfMemoryError) as found:
        on_device(8 * KIB)
    assert large.requires_grad
    lines = str(found.value).splitlines()
    assert lines[2].startswith("  16.00 KiB: SinBackward0 saved 'self', packed by hooks, File ")
    assert "large = x.sin()" in lines[2]


@pytest.fixture
def limited():
    gc.collect()
    strict.BACKEND.limit = MEMORY.memory_allocated() + 64 * KIB
    yield
    strict.BACKEND.limit = 1 << 40


def test_memory_that_ran_out_names_the_largest_saved_tensors(limited):
    gc.collect()
    x = on_device(2 * KIB, requires_grad=True)
    small = on_device(8, requires_grad=True).exp()
    large = x.exp()
    with pytest.raises(OutOfMemoryError) as found:
        on_device(8 * KIB)
    first, total, largest, *rest = str(found.value).splitlines()
    assert first.startswith("strict out of memory. Tried to allocate 64.00 KiB. GPU 0 has a total capacity of ")
    assert total.startswith("  graphs hold ")
    assert largest.startswith("  16.00 KiB: ExpBackward0 saved 'result', File ")
    assert "large = x.exp()" in largest
    assert any("64 bytes" in line and "small = " in line for line in rest)
    assert ag.cuda.OutOfMemoryError is OutOfMemoryError
    assert large.requires_grad and small.requires_grad


def test_memory_that_ran_out_in_backward_leaves_the_engine_usable(limited):
    x = on_device(2 * KIB, requires_grad=True)
    y = x.exp().sin().sum()
    strict.BACKEND.limit = MEMORY.memory_allocated()
    with pytest.raises(OutOfMemoryError):
        y.backward()
    strict.BACKEND.limit = 1 << 40
    x.sin().sum().backward()
    assert x.grad is not None


def test_the_report_is_short():
    leaves = [on_device(4, requires_grad=True) for _ in range(held.SHOWN + 5)]
    results = [x.exp() for x in leaves]
    lines = held.report("strict")
    assert len(lines) == held.SHOWN + 2
    assert lines[-1].startswith("and ")
    assert len(results) == len(leaves)


def test_statistics_by_pytorchs_keys():
    stats = MEMORY.memory_stats()
    assert stats["allocated_bytes.all.current"] == MEMORY.memory_allocated()
    assert stats["saved_bytes.all.current"] == held.saved_bytes("strict:0")
    summary = MEMORY.memory_summary()
    assert summary.startswith("memory of strict:0\nallocated_bytes.all.current: ")
    assert len(MEMORY.memory_summary(abbreviated=True)) < len(summary)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1536, "1.50 KiB"),
        (20 << 20, "20.00 MiB"),
        (5 << 30, "5.00 GiB"),
        (2 << 40, "2048.00 GiB"),
    ],
)
def test_sizes_are_written_as_pytorch_writes_them(nbytes, text):
    assert held.size_text(nbytes) == text


# ----- pinned memory -----


@pytest.fixture
def pinning(monkeypatch):
    monkeypatch.setattr(strict.BACKEND, "pins", True)
    yield
    strict.BACKEND.locked.clear()


def test_pinned_memory(pinning):
    x = ag.arange(6.0)
    pinned = x.pin_memory()
    assert not x.is_pinned()
    assert pinned.is_pinned()
    assert pinned[2:].is_pinned()
    assert pinned.pin_memory() is pinned
    assert pinned.tolist() == x.tolist()
    there = pinned.to("strict", non_blocking=True)
    assert strict.host(there._a).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        there.pin_memory()


def test_a_loader_pins_what_it_gives(pinning):
    data = [{"x": ag.tensor([float(i)]), "name": "n"} for i in range(4)]
    for batch in ag.utils.data.DataLoader(data, batch_size=2, pin_memory=True):
        assert batch["x"].is_pinned()
        assert batch["name"] == ["n", "n"]


@pytest.mark.parametrize(
    "batch",
    ["text", b"bytes", 3, None, (1, "a"), [1, {"a": 2}], {"a": [1]}, collections.OrderedDict(a=1), collections.deque([1, 2]), range(3)],
    ids=repr,
)  # fmt: skip
def test_a_loader_keeps_containers_of_what_it_pins(pinning, batch):
    (found,) = ag.utils.data.DataLoader([batch], batch_size=None, pin_memory=True, collate_fn=lambda x: x)
    assert found == (list(batch) if isinstance(batch, range) else batch)
    assert type(found) is (list if isinstance(batch, range) else type(batch))


def test_a_loader_pins_whatever_can_be_pinned(pinning):
    class Batch:
        def pin_memory(self):
            return "pinned"

    rows = ag.nn.utils.rnn.pack_padded_sequence(ag.ones(2, 2, 1), [2, 1], enforce_sorted=False)
    assert not rows.is_pinned()
    (found,) = ag.utils.data.DataLoader([[Batch(), rows]], batch_size=None, pin_memory=True, collate_fn=lambda x: x)
    assert found[0] == "pinned"
    assert found[1].is_pinned()
    assert found[1].sorted_indices.is_pinned()
    assert not found[1].batch_sizes.is_pinned()


FACTORIES = {
    "zeros": lambda t, x, **k: t.zeros(2, 3, **k), "ones": lambda t, x, **k: t.ones(2, 3, **k), "empty": lambda t, x, **k: t.empty(2, **k), "full": lambda t, x, **k: t.full((2,), 1.0, **k),
    "rand": lambda t, x, **k: t.rand(2, **k), "randn": lambda t, x, **k: t.randn(2, **k), "randint": lambda t, x, **k: t.randint(3, (2,), **k), "randperm": lambda t, x, **k: t.randperm(3, **k),
    "arange": lambda t, x, **k: t.arange(3, **k), "linspace": lambda t, x, **k: t.linspace(0, 1, 3, **k), "logspace": lambda t, x, **k: t.logspace(0, 1, 3, **k), "eye": lambda t, x, **k: t.eye(3, **k),
    "tensor": lambda t, x, **k: t.tensor([1.0], **k), "scalar_tensor": lambda t, x, **k: t.scalar_tensor(1.0, **k), "normal": lambda t, x, **k: t.normal(0.0, 1.0, (2,), **k),
    "zeros_like": lambda t, x, **k: t.zeros_like(x, **k), "ones_like": lambda t, x, **k: t.ones_like(x, **k), "empty_like": lambda t, x, **k: t.empty_like(x, **k),
    "full_like": lambda t, x, **k: t.full_like(x, 1.0, **k), "rand_like": lambda t, x, **k: t.rand_like(x, **k), "randn_like": lambda t, x, **k: t.randn_like(x, **k), "randint_like": lambda t, x, **k: t.randint_like(x, 3, **k),
    "new_zeros": lambda t, x, **k: x.new_zeros(2, **k), "new_ones": lambda t, x, **k: x.new_ones(2, **k), "new_empty": lambda t, x, **k: x.new_empty(2, **k), "new_full": lambda t, x, **k: x.new_full((2,), 1.0, **k),
    "empty_strided": lambda t, x, **k: t.empty_strided((2, 3), (1, 2), **k), "new_empty_strided": lambda t, x, **k: x.new_empty_strided((2,), (1,), **k), "empty_permuted": lambda t, x, **k: t.empty_permuted((2, 3), (1, 0), **k),
    "tril_indices": lambda t, x, **k: t.tril_indices(3, 3, **k), "triu_indices": lambda t, x, **k: t.triu_indices(3, 3, **k), "fftfreq": lambda t, x, **k: t.fft.fftfreq(3, **k), "rfftfreq": lambda t, x, **k: t.fft.rfftfreq(3, **k),
} | {f"{n}_window": lambda t, x, n=n, **k: getattr(t, f"{n}_window")(3, **k) for n in ("hann", "hamming", "bartlett", "blackman", "kaiser")}  # fmt: skip


SEVERAL_FORMS = {
    "arange", "eye", "linspace", "logspace", "normal", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", *(name for name in FACTORIES if name.endswith("_window"))
}  # fmt: skip
"""Factories of which PyTorch names all forms where one does not fit."""


BACK = {
    "one number": lambda: ag.tensor(2.0), "recorded": lambda: ag.ones(3, requires_grad=True), "a view": lambda: ag.ones(2, 3).T,
    "nothing": lambda: ag.ones(0), "plain": lambda: ag.arange(4),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [None, ag.float64])
@pytest.mark.parametrize("name", BACK)
def test_a_copy_to_the_host_that_nobody_waits_for(pinning, name, dtype):
    x = BACK[name]()
    with strict.allowed_host_reads():
        back = x.to("strict:1").to("cpu", dtype, non_blocking=True)
        assert back.tolist() == x.tolist()
    assert (back.dtype, back.requires_grad, back.is_pinned()) == (dtype or x.dtype, x.requires_grad, bool(x.numel()))


def test_a_module_comes_to_the_host_without_waiting(pinning):
    layer = ag.nn.Linear(2, 2)
    weight = layer.weight.tolist()
    with strict.allowed_host_reads():
        layer.to("strict").to("cpu", non_blocking=True)
    assert layer.weight.tolist() == weight


@pytest.mark.parametrize("name", FACTORIES)
def test_tensors_are_made_in_pinned_memory(pinning, name):
    make, x = FACTORIES[name], ag.ones(3, 2).T
    plain, pinned = make(ag, x), make(ag, x, pin_memory=True)
    assert (plain.is_pinned(), pinned.is_pinned()) == (False, True)
    assert (pinned.shape, pinned.dtype, pinned.stride()) == (plain.shape, plain.dtype, plain.stride())
    assert not make(ag, x, pin_memory=False).is_pinned()
    if plain.is_floating_point():
        leaf = make(ag, x, pin_memory=True, requires_grad=True)
        assert leaf.requires_grad
        assert leaf.is_leaf
    forms = name in SEVERAL_FORMS
    refusal = (
        " received an invalid combination of arguments" if forms else ": argument 'pin_memory' must be bool, not int$"
    )
    shown = f"fft_{name}" if name.endswith("fftfreq") else name
    with pytest.raises(TypeError, match=rf"^{shown}\(\){refusal}"):
        make(ag, x, pin_memory=1)
    if name != "tensor":
        with pytest.raises(RuntimeError, match=r"^Only dense CPU tensors can be pinned$"):
            make(ag, x, pin_memory=True, device="strict")


@pytest.mark.parametrize("name", FACTORIES)
def test_without_a_gpu_nothing_is_pinned(name):
    torch = of_the_cpu(pytest.importorskip("torch", reason="errors are compared with PyTorch's"))
    if ag.cuda.is_available():
        pytest.skip("there is a GPU")
    texts = []
    for t in (torch, ag):
        with pytest.raises(RuntimeError) as found:
            FACTORIES[name](t, t.ones(2, 3), pin_memory=True)
        texts.append(str(found.value))
    assert texts[0] == texts[1]


def test_a_copy_in_pinned_memory_is_recorded(pinning):
    x = ag.ones(2, requires_grad=True)
    y = x.pin_memory()
    assert y.is_pinned()
    assert y.grad_fn.name() == "PinMemoryBackward0"
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with ag.autograd.forward_ad.dual_level():
        dual = ag.autograd.forward_ad.make_dual(ag.ones(1), ag.tensor([2.0]))
        assert ag.autograd.forward_ad.unpack_dual(dual.pin_memory()).tangent.tolist() == [2.0]


@pytest.mark.parametrize("method", ["pin_memory", "is_pinned"])
def test_the_device_for_pinned_memory_is_deprecated(pinning, method):
    with pytest.warns(
        DeprecationWarning, match=rf"^The argument 'device' of Tensor.{method}\(\) is deprecated. Please do not"
    ):
        getattr(ag.ones(1), method)("strict")


def test_a_loader_without_a_device_warns_as_pytorch():
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        (batch,) = ag.utils.data.DataLoader([1.0], pin_memory=True)
    assert batch.tolist() == [1.0]


def test_saved_on_the_cpu_in_pinned_memory(pinning):
    x = on_device(3, requires_grad=True)
    with strict.allowed_host_reads():
        with ag.autograd.graph.save_on_cpu(pin_memory=True):
            y = x.exp().sum()
        assert len(strict.BACKEND.locked) == 1
        y.backward()
    np.testing.assert_allclose(strict.host(x.grad._a), np.e)
