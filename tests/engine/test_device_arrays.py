"""Arrays of the library of a device as tensors, and the other way."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag

PLACES = [(0, "strict:0"), (ag.device(strict.PLACE).index, strict.PLACE)]


@pytest.fixture(autouse=True)
def nothing_refused():
    strict.refusals.clear()
    yield
    assert not strict.refusals


@pytest.mark.parametrize(("index", "place"), PLACES)
def test_memory_is_shared_on_its_device(index, place):
    array = strict.put(np.arange(6.0).reshape(2, 3), index)
    for made in (ag.as_tensor(array), ag.asarray(array)):
        assert made._a is array and made.device == ag.device(place) and made.dtype == ag.float64 and made.is_leaf
    ag.as_tensor(array).mul_(2)
    assert strict.host(array).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    for copy in (ag.tensor(array), ag.asarray(array, copy=True), ag.as_tensor(array, dtype=ag.float32)):
        assert copy.device == ag.device(place)
        copy.zero_()
    assert strict.host(array).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    w = ag.tensor(array, requires_grad=True)
    (w * ag.as_tensor(array)).sum().backward()
    assert strict.host(w.grad._a).tolist() == strict.host(array).tolist()


def test_a_device_that_is_named_or_the_default_one_counts():
    array = strict.put(np.ones(2))
    with strict.allowed_host_reads():
        for make in (ag.as_tensor, ag.asarray, ag.tensor):
            assert make(array, device="cpu").tolist() == [1.0, 1.0]
            assert make(array, device=strict.PLACE).device == ag.device(strict.PLACE)
            with ag.device("cpu"):
                assert make(array).device == ag.device("cpu")


def test_other_libraries_find_the_memory_of_tensors_on_a_gpu(monkeypatch):
    with pytest.raises(
        AttributeError, match=r"^Can't get __cuda_array_interface__ on non-CUDA tensor type: torch.FloatTensor If CUDA"
    ):
        _ = ag.ones(2).__cuda_array_interface__
    assert not hasattr(ag.ones(2), "__cuda_array_interface__")
    monkeypatch.setattr(ag.Tensor, "is_cuda", True)
    x = ag.ones(2, 3, device="strict")
    told = {"typestr": "<f4", "shape": (2, 3), "strides": None, "data": (x.data_ptr(), False), "version": 2}
    assert x.__cuda_array_interface__ == told
    assert x.t().__cuda_array_interface__ == told | {"shape": (3, 2), "strides": (4, 12)}
    assert x[:0].__cuda_array_interface__["data"] == (0, False)
    with pytest.raises(RuntimeError, match="on Variable that requires grad"):
        _ = x.requires_grad_().__cuda_array_interface__
