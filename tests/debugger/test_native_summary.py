"""A summary is what NumPy says of the elements, whatever their type and however they lie in memory; so is a checksum."""

import sys
import warnings
from types import ModuleType

import numpy as np
import pytest

from agdbg.engines import native_summary
from agdbg.engines.native_checksum import Checksums, checksum
from agdbg.engines.native_summary import Summary, summarised

TYPES = ["f2", "f4", "f8", "c8", "c16", ">f4"]
CHANCE = np.random.default_rng(5)


def numbers(shape, dtype):
    array = CHANCE.standard_normal(shape)
    return np.array(array + (1j * CHANCE.standard_normal(shape) if "c" in dtype else 0), dtype)


LAYOUTS = {
    "plain": lambda d: numbers((4, 6), d),
    "one": lambda d: numbers((), d),
    "transposed": lambda d: numbers((4, 6), d).T,
    "strided": lambda d: numbers((8, 9), d)[::2, ::-3],
    "expanded": lambda d: np.broadcast_to(numbers((3, 1, 4), d), (3, 5, 4)),
    "expanded from one": lambda d: np.broadcast_to(numbers((), d), (3, 5)),
    "long": lambda d: numbers((200_001,), d),
    "Fortran": lambda d: np.asfortranarray(numbers((3, 4, 5), d)),
    "of length one": lambda d: numbers((1, 1, 1), d),
}


def by_numpy(array):
    """The slow way, on a flat copy in double precision."""
    flat = np.array(array).reshape(-1).astype(np.complex128)
    nan, good = np.isnan(flat), np.isfinite(flat)
    sizes = np.abs(flat[good])
    largest = float(sizes.max()) if sizes.size else 0.0
    norm = float(np.sqrt((sizes**2).sum()))
    first = int(np.argmin(good)) if not good.all() else -1
    return Summary(norm, largest, int(nan.sum()), int((~good & ~nan).sum()), first, flat.size)


def agree(found, expected):
    assert found[2:] == expected[2:]
    assert found.norm == pytest.approx(expected.norm, rel=1e-5)
    assert found.largest == pytest.approx(expected.largest, rel=1e-6)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_finite_numbers(layout, dtype):
    array = LAYOUTS[layout](dtype)
    before = array.copy()
    agree(summarised(array), by_numpy(array))
    assert np.array_equal(array, before)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", sorted(set(LAYOUTS) - {"expanded", "expanded from one"}))
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_some_that_are_not_finite(layout, dtype, bad):
    array = LAYOUTS[layout](dtype)
    for place in CHANCE.integers(0, array.size, 2):
        array[np.unravel_index(place, array.shape)] = bad
    agree(summarised(array), by_numpy(array))


@pytest.mark.parametrize("dtype", TYPES)
def test_bad_numbers_in_what_is_expanded_count_as_often_as_they_are_seen(dtype):
    small = numbers((3, 1, 4), dtype)
    small[1, 0, 2] = np.nan
    agree(summarised(np.broadcast_to(small, (3, 5, 4))), by_numpy(np.broadcast_to(small, (3, 5, 4))))


def test_what_is_expanded_far_is_never_laid_out():
    found = summarised(np.broadcast_to(np.array([[3.0], [np.inf]]), (2, 10**12)))
    assert found == Summary(pytest.approx(3e6), 3.0, 0, 10**12, 10**12, 2 * 10**12)


@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_but_bad_numbers(dtype):
    assert summarised(np.full((2, 2), np.nan, dtype)) == Summary(0.0, 0.0, 4, 0, 0, 4)
    assert summarised(np.full((2, 2), np.inf, dtype))[2:] == (0, 4, 0, 4)


@pytest.mark.parametrize("dtype", TYPES)
def test_no_elements(dtype):
    assert summarised(np.zeros((0, 3), dtype)) == Summary(0.0, 0.0, 0, 0, -1, 0)


@pytest.mark.parametrize("dtype", TYPES)
def test_zeros_and_numbers_whose_squares_do_not_fit(dtype):
    kind = np.finfo(np.dtype(dtype).newbyteorder("="))
    assert summarised(np.zeros(5, dtype)) == Summary(0.0, 0.0, 0, 0, -1, 5)
    for size in (float(kind.max) / 2, float(kind.tiny)):
        found = summarised(np.full(4, size, dtype))
        assert found.norm == pytest.approx(2 * size, rel=1e-3) and found.largest == pytest.approx(size, rel=1e-3)
        assert found.first_bad == -1


def test_a_complex_number_whose_size_does_not_fit_is_no_bad_one():
    found = summarised(np.array([complex(1.7e308, 1.7e308)]))
    assert (found.largest, found.nans, found.infs, found.first_bad) == (np.inf, 0, 0, -1)


@pytest.mark.parametrize("array", [np.arange(3), np.array([True]), np.array(["a"]), np.array([None])])
def test_what_cannot_be_nan_has_no_summary(array):
    assert summarised(array) is None


def test_single_numbers():
    assert summarised(np.float32(-3)) == Summary(3.0, 3.0, 0, 0, -1, 1)
    assert summarised(2.5).largest == 2.5


def test_no_warning_and_no_error_whatever_the_program_has_asked_numpy_for():
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert summarised(np.full(4, 1e30, "f4")).norm == pytest.approx(2e30)
        assert summarised(np.array([np.nan, np.inf, 3e200]))[1:] == (3e200, 1, 1, 0, 3)
        assert summarised(np.array([5e-324, 1e308, np.inf])).norm == 1e308


def test_blocks_are_put_together(monkeypatch):
    monkeypatch.setattr(native_summary, "_BLOCK", 7)
    for dtype in TYPES:
        array = numbers((50,), dtype)
        agree(summarised(array), by_numpy(array))
        array[43] = np.nan
        agree(summarised(array), by_numpy(array))


# ----- checksums -----


@pytest.mark.parametrize("dtype", [*TYPES, "i8", "?"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_checksum_is_of_the_elements_and_not_of_how_they_lie(layout, dtype):
    array = LAYOUTS[layout]("f8").astype(dtype) if dtype in ("i8", "?") else LAYOUTS[layout](dtype)
    assert checksum(array) == checksum(array.view() if layout.startswith("expanded") else np.array(array))
    other = np.array(array)
    other.flat[-1] = not other.flat[-1] if dtype == "?" else other.flat[-1] + 2
    if not layout.startswith("expanded"):
        assert checksum(other) != checksum(array)


def test_nothing_has_a_checksum_too():
    assert checksum(np.zeros((0, 3))) == 0


def test_memory_is_read_once_for_all_that_saved_it(monkeypatch):
    from agdbg.engines import native_checksum

    read = []
    monkeypatch.setattr(native_checksum, "crc32", lambda data: read.append(len(data)) or 7)
    sums, array = Checksums(), np.arange(6.0).reshape(2, 3)
    assert [sums.of(array), sums.of(array), sums.of(array.T), sums.of(array[:1])] == [7] * 4
    assert read == [48, 48, 24]


# ----- on a device -----


class Pretended:
    """An array of another library: a thing of its own, of which only single numbers are ever brought to the host."""

    __module__ = "pretended"

    def __init__(self, host):
        self.host = np.asarray(host)
        self.dtype, self.shape, self.size = self.host.dtype, self.host.shape, self.host.size

    def __getattr__(self, name):
        if name not in ("sum", "max", "argmin", "astype"):
            raise AttributeError(name)
        return lambda *args: Pretended(getattr(self.host, name)(*args))

    def __truediv__(self, other):
        return Pretended(self.host / other)

    def __pow__(self, other):
        return Pretended(self.host**other)

    def __float__(self):
        assert self.size == 1
        return float(self.host)

    def __int__(self):
        assert self.size == 1
        return int(self.host)

    def get(self):
        return self.host


@pytest.fixture
def library(monkeypatch):
    """The library that such arrays are of."""
    made = ModuleType("pretended")
    for name in ("isfinite", "isnan", "abs"):
        setattr(made, name, lambda array, name=name: Pretended(getattr(np, name)(array.host)))
    made.where = lambda good, sizes, other: Pretended(np.where(good.host, sizes.host, other))
    monkeypatch.setitem(sys.modules, "pretended", made)


@pytest.mark.parametrize("values", [[3.0, 4.0], [1.0, np.nan, -np.inf, 4.0], [np.nan], [0.0, 0.0], [], [1e30, 1e30]])
def test_an_array_of_another_library(library, values):
    array = np.array(values, "f4")
    agree(summarised(Pretended(array)), by_numpy(array))
    assert summarised(Pretended(np.arange(3))) is None
    assert checksum(Pretended(array)) == checksum(array) == Checksums().of(Pretended(array))


def test_a_device_with_a_kernel_is_asked_for_all_of_it_at_once(library, monkeypatch):
    from agdbg_engine.backends import BACKENDS, Backend

    class Kernels(Backend):
        def ask(self, array):
            return Pretended(np.zeros(8, np.uint64))

        def answers(self, words):
            return [(5.0, 4.0, 1, 2, 3, -4.0, 4.0, 0.0)] * len(words)

    monkeypatch.setitem(BACKENDS, "pretended", Kernels("pretended", "pretended", None))
    monkeypatch.setattr(sys.modules["pretended"], "isfinite", lambda array: pytest.fail("the kernel says that"))
    assert tuple(summarised(Pretended(np.ones(6, "f4")))) == (5.0, 4.0, 1, 2, 3, 6)
