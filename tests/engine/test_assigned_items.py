"""``x[key] = value``: which values fit, and what is said of those that do not, before anything is said of the key."""

import pytest
from agdbg_tests_differential import error_of, same

pytest.importorskip("torch")

KEYS = {
    "row": lambda t, x: 0,
    "rows": lambda t, x: slice(1, 3),
    "numbers": lambda t, x: t.tensor([0, 2]),
    "numbers out of bounds": lambda t, x: [0, 9],
    "pairs": lambda t, x: t.tensor([[0, 1], [1, 2]]),
    "places": lambda t, x: (t.tensor([0, 1]), t.tensor([0, 1])),
    "places that do not go together": lambda t, x: (t.tensor([0, 1, 2]), t.tensor([0, 1])),
    "columns out of bounds": lambda t, x: (slice(None), t.tensor([0, 5])),
    "mask": lambda t, x: x > 1,
    "mask of rows": lambda t, x: t.tensor([True, False, True, True]),
    "apart": lambda t, x: (t.tensor([0, 1]), None, t.tensor([0, 1])),
}
VALUES = {
    "one": lambda t: t.ones(1, 1, dtype=t.float64),
    "one integer": lambda t: t.ones(1, 1, dtype=t.int64),
    "too long": lambda t: t.ones(1, 5, dtype=t.float64),
    "too long, of integers": lambda t: t.ones(5, dtype=t.int64),
    "leading ones": lambda t: t.ones(1, 1, 3, dtype=t.float64),
    "leading ones and rows": lambda t: t.ones(1, 2, 3, dtype=t.float64),
    "too many": lambda t: t.ones(2, 2, 3, dtype=t.float64),
    "nothing": lambda t: t.ones(1, 0, dtype=t.float64),
    "complex": lambda t: 2j,
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", VALUES)
def test_what_fits_and_what_is_said_otherwise(key, value):
    def program(t):
        x = t.zeros(4, 3, dtype=t.float64)
        refused = error_of(x.__setitem__, KEYS[key](t, x), VALUES[value](t))
        return refused, x if refused == "nothing" else "PyTorch may have written a part of it"

    same(program)


def test_a_complex_number_is_refused_before_its_key():
    same(lambda t: error_of(t.zeros(2).__setitem__, 9, 2j))


def test_the_gradient_of_what_was_assigned():
    def program(t):
        x, v = t.zeros(4, 3, dtype=t.float64), t.ones(1, 1, 3, dtype=t.float64, requires_grad=True)
        x[t.tensor([0, 2])] = v
        x[1:] = v * 2
        return x, t.autograd.grad(x.sum(), v)

    same(program)
