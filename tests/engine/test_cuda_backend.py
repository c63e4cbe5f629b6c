"""How the engine calls CuPy for memory, pinned memory and kernels: against a stand-in that has no more than CuPy's names."""

import contextlib
import sys
import types

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import cuda, stream_memory
from agdbg_engine.cuda import backend
from agdbg_engine.fused import FUSED


class OutOfMemoryError(MemoryError):
    """CuPy's is one too."""


class Pool:
    """CuPy's pool of memory."""

    def __init__(self, total):
        self.total, self.used, self.kept = total, 0, 0
        self.freed = []

    def malloc(self, nbytes):
        if self.used + nbytes > self.total:
            raise OutOfMemoryError(nbytes)
        self.used += nbytes
        return types.SimpleNamespace(ptr=1, size=nbytes)

    def used_bytes(self):
        return self.used

    def total_bytes(self):
        return self.used + self.kept

    def free_all_blocks(self):
        self.kept = 0
        self.freed.append(Device.current)


class PinnedMemoryPointer(bytearray):
    """Memory that NumPy can look at, as CuPy's."""


class Device(contextlib.nullcontext):
    current = 0

    def __init__(self, index=None):
        super().__init__(self)
        self.index = index

    def __enter__(self):
        self.before, Device.current = Device.current, self.index
        return self

    def __exit__(self, *error):
        Device.current = self.before

    @property
    def mem_info(self):
        return POOL.total - POOL.used, POOL.total

    def synchronize(self):
        """Nothing is ever under way."""


POOL = Pool(1000)


@pytest.fixture
def cupy(monkeypatch):
    POOL.used = POOL.kept = 0
    made = []

    def kernel(inputs, outputs, body, name):
        made.append(name)
        return FUSED[name].reference

    fake = types.SimpleNamespace(
        cuda=types.SimpleNamespace(
            Device=Device, PinnedMemoryPointer=PinnedMemoryPointer, alloc_pinned_memory=PinnedMemoryPointer,
            memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            runtime=types.SimpleNamespace(
                getDevice=lambda: 0, getDeviceCount=lambda: 2, runtimeGetVersion=lambda: 12040,
                getDeviceProperties=lambda i: {
                    "name": b"Card %d" % i, "major": 9, "minor": 0, "totalGlobalMem": 1000, "multiProcessorCount": 7, "warpSize": 32
                },
            ),
        ),
        get_default_memory_pool=lambda: POOL, get_default_pinned_memory_pool=lambda: Pool(0), ElementwiseKernel=kernel, made=made,
    )  # fmt: skip
    monkeypatch.setattr(backend, "cupy", lambda: fake)
    monkeypatch.setattr(backend.BACKEND, "is_loaded", lambda: True)
    monkeypatch.setattr(backend.BACKEND, "_kernels", {})
    monkeypatch.setattr(backend.BACKEND, "_allocated", set())
    backend.BACKEND.peaks.reset(0)
    return fake


def test_the_allocator_follows_the_pool(cupy):
    backend.BACKEND.malloc(400)
    POOL.kept = 100
    assert cuda.memory_allocated() == 400
    assert cuda.memory_reserved() == 500
    assert cuda.mem_get_info() == (600, 1000)
    assert cuda.max_memory_allocated() == 400
    POOL.used = 0
    assert cuda.max_memory_allocated() == 400
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == 0
    cuda.empty_cache()
    assert cuda.memory_reserved() == 0
    assert cuda.device_count() == 2


def test_linear_algebra_raises_only_where_it_is_asked_to(cupy, monkeypatch):
    told = []

    @contextlib.contextmanager
    def errstate(**kinds):
        told.append(kinds)
        yield

    monkeypatch.setitem(sys.modules, "cupyx", types.SimpleNamespace(errstate=errstate))
    with backend.BACKEND.linalg_errors():
        assert told == [{"linalg": "raise"}]


def test_the_cache_of_every_gpu_in_use_is_emptied_and_no_other_is_touched(cupy, monkeypatch):
    POOL.freed.clear()
    cuda.empty_cache()
    assert POOL.freed == []
    backend.BACKEND.malloc(1)
    cuda.empty_cache()
    assert POOL.freed == [0]
    cupy.cuda.runtime.getDevice = lambda: 1
    backend.BACKEND.malloc(1)
    cuda.empty_cache()
    assert POOL.freed == [0, 0, 1]


def test_memory_that_streams_still_use_is_waited_for_before_there_is_none_left(cupy):
    class Event:
        done = False

        def synchronize(self):
            POOL.used -= 500

    backend.BACKEND.malloc(900)
    stream_memory._waiting.append((Event(), "memory"))
    assert backend.BACKEND.malloc(200).size == 200
    assert not stream_memory._waiting
    assert POOL.used == 600


def test_old_names_of_the_figures_warn_as_in_pytorch(cupy):
    backend.BACKEND.malloc(400)
    torch = pytest.importorskip("torch", reason="warnings are compared with PyTorch's")
    for name in ("memory_cached", "max_memory_cached", "reset_max_memory_allocated", "reset_max_memory_cached"):
        texts = []
        for module in (torch.cuda, cuda):
            with pytest.warns(FutureWarning) as told, contextlib.suppress(Exception):  # there is no GPU
                assert getattr(module, name)() in (None, 0, 400)
            texts.append(str(told[0].message))
        assert texts[0] == texts[1]
    nested = cuda.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == 400
    assert not cuda.is_tf32_supported()
    assert not cuda.is_current_stream_capturing()


def test_large_allocations_are_seen_at_once_and_small_ones_sampled(cupy):
    POOL.total = 1 << 30
    try:
        backend.BACKEND.malloc(1 << 20)
        POOL.used = 0
        assert backend.BACKEND.peaks._most[0][0] == 1 << 20
        backend.BACKEND.malloc(1 << 19)
        POOL.used = 2 << 20
        assert backend.BACKEND.peaks._most[0][0] == 1 << 20
        for _ in range(63):
            backend.BACKEND.malloc(8)
        assert backend.BACKEND.peaks._most[0][0] >= 2 << 20
    finally:
        POOL.total = 1000


def test_out_of_memory(cupy):
    backend.BACKEND.malloc(900)
    with pytest.raises(cuda.OutOfMemoryError) as found:
        backend.BACKEND.malloc(200)
    assert isinstance(found.value.__cause__, OutOfMemoryError)
    assert str(found.value).startswith(
        "CUDA out of memory. Tried to allocate 200 bytes. GPU 0 has a total capacity of 1000 bytes of which 100 bytes is free."
    )


def test_pinned_memory(cupy):
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    pinned = backend.BACKEND.pinned(array)
    assert pinned.tolist() == array.tolist()
    assert pinned.dtype == array.dtype
    assert backend.BACKEND.is_pinned(pinned)
    assert backend.BACKEND.is_pinned(pinned[1:].T)
    assert not backend.BACKEND.is_pinned(array)
    assert backend.BACKEND.pinned(np.array(2.5)).item() == 2.5
    for laid_out in (array.T, array[:, ::2], np.broadcast_to(array[:, :1], (2, 5))):
        kept = backend.BACKEND.pinned(laid_out)
        assert (kept.tolist(), kept.strides) == (laid_out.tolist(), laid_out.strides)
        assert backend.BACKEND.is_pinned(kept)
    assert backend.BACKEND.pinned(np.zeros((0, 2))).shape == (0, 2)


def test_a_copy_to_the_host_that_does_not_wait_goes_to_pinned_memory(cupy):
    class Array:
        shape, dtype, device = (2,), np.dtype(np.float32), types.SimpleNamespace(id=0)

        def get(self, order="C", out=None, blocking=True):
            if out is None:
                return "waited"
            assert not blocking
            out[...] = 7
            return out

    assert backend.BACKEND.to_host(Array()) == "waited"
    found = backend.BACKEND.to_host(Array(), blocking=False)
    assert found.tolist() == [7, 7]
    assert backend.BACKEND.is_pinned(found)
    target = np.zeros(2, np.float32)
    backend.BACKEND.fetch(target, Array())
    assert target.tolist() == [7, 7]


def test_a_kernel_is_made_once(cupy):
    for _ in range(2):
        assert backend.BACKEND.elementwise(FUSED["silu"])(np.ones(1)) is not None
    assert cupy.made == ["silu"]


def test_without_a_gpu_no_memory_of_it_is_used_and_who_asks_for_more_is_told_what_is_missing():
    if cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="device cuda"):
        cuda.mem_get_info()
    names = ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved")
    assert [getattr(cuda, name)() for name in names] == [
        0
    ] * 4  # as in PyTorch, so that a program may print them anywhere
    cuda.empty_cache()
    cuda.manual_seed_all(1)
    assert not cuda.is_initialized()


def test_random_numbers_of_all_gpus(monkeypatch):
    numbers = [ag.Generator(), ag.Generator()]
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "device_count", lambda: 2)
    monkeypatch.setattr(cuda, "_generator", lambda device: numbers[device or 0])
    cuda.manual_seed_all(3)
    assert [each.initial_seed() for each in numbers] == [3, 3]
    states = cuda.get_rng_state_all()
    drawn = [ag.rand(3, generator=each).tolist() for each in numbers]
    cuda.set_rng_state_all(states)
    assert [ag.rand(3, generator=each).tolist() for each in numbers] == drawn
    cuda.seed()
    assert cuda.initial_seed() == numbers[0].initial_seed() != 3
    assert numbers[1].initial_seed() == 3
    cuda.seed_all()
    assert numbers[0].initial_seed() == numbers[1].initial_seed() != 3


def test_without_a_gpu_there_is_nothing_to_seed_and_no_figure():
    torch = pytest.importorskip("torch", reason="results are compared with PyTorch's")
    if torch.cuda.is_available() or ag.cuda.is_available():
        pytest.skip("there is a GPU")
    for t in (torch, ag):
        assert t.cuda.get_rng_state_all() == []
        assert t.cuda.set_rng_state_all([]) is None
        assert t.cuda.seed() is None
        assert t.cuda.seed_all() is None
        assert dict(t.cuda.memory_stats()) == {}


def test_what_a_device_is(cupy):
    assert cuda.get_device_properties(1) == ("Card 1", 9, 0, 1000, 7)
    assert cuda.get_device_properties("cuda").total_memory == 1000
    assert (cuda.get_device_capability("cuda:1"), cuda.get_device_name(1)) == ((9, 0), "Card 1")
    assert ag.version.cuda == "12.4"
    assert (ag.accelerator.current_accelerator(), ag.accelerator.device_count()) == (ag.device("cuda"), 2)
    assert ag.accelerator.current_device_index() == 0
    ag.accelerator.synchronize()
