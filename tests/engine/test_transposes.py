"""``T``, ``mT``, ``H``, ``mH`` and ``adjoint()`` by number of dimensions, and what indexes a tensor of none."""

import pytest
from agdbg_tests_differential import error_of, logged_warnings, same

torch = pytest.importorskip("torch")

TURNS = {
    "T": lambda t, x: x.T,
    "mT": lambda t, x: x.mT,
    "H": lambda t, x: x.H,
    "mH": lambda t, x: x.mH,
    "adjoint": lambda t, x: t.adjoint(x),
    "method": lambda t, x: x.adjoint(),
}


@pytest.fixture
def every_warning():
    """PyTorch says these once in a process otherwise."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.usefixtures("every_warning")
@pytest.mark.parametrize("dims", range(5))
@pytest.mark.parametrize("turn", TURNS)
def test_a_transpose(turn, dims):
    def both(t):
        x = t.arange(float(2**dims)).reshape((2,) * dims)
        with logged_warnings() as said:
            refused = error_of(lambda: TURNS[turn](t, x) is None)
        return [
            refused,
            [text.partition(" (Triggered")[0] for text in said],
            None if refused != "nothing" else TURNS[turn](t, x),
        ]

    same(both)


KEYS = [0, 1, -1, 5, 0.0, True, None, ..., slice(None), (0, 0), (None, 0), (..., 0), [0], []]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_an_index_of_a_tensor_without_dimensions(key):
    def both(t):
        x = t.ones(())
        return [error_of(lambda: x[key] is None), error_of(lambda: x.__setitem__(key, 2.0)), x]

    same(both)
