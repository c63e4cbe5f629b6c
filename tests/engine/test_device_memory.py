"""What a device has in use, what graphs hold of it and who saved it, and what is said where there is no more."""

import gc

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

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


def test_freed_and_packed_slots_are_passed_over():
    with ag.autograd.graph.saved_tensors_hooks(lambda t: "gone", lambda p: ag.ones(3)):
        y = ag.ones(3, requires_grad=True).exp()
    assert not [h for h in held.saved_tensors() if h.node is y.grad_fn]


@pytest.fixture
def limited():
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
