"""Numbers of Python in place of tensors, and the dtype that they make, beside PyTorch."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

import agdbg_engine as engine  # noqa: E402 - after the skip


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "true_divide", "floor_divide"])
def test_arithmetic_of_two_numbers_gives_a_tensor(name):
    for a, b in itertools.product((2.5, 7, -3, 1 + 2j), repeat=2):
        found = []
        for library in (torch, engine):
            try:
                result = getattr(library, name)(a, b)
                found.append((result.tolist(), str(result.dtype).removeprefix("torch."), tuple(result.shape)))
            except (RuntimeError, NotImplementedError) as error:
                found.append(str(error).partition("\n")[0])
        assert found[0] == found[1], (a, b)


@pytest.mark.parametrize("margin", [{}, {"margin": 0}, {"margin": 1}])
def test_margin_ranking_loss_of_integers_is_a_float(margin):
    x, y = [[3, 4], [1, 2]], [[1, 2], [3, 4]]
    theirs, ours = (library.nn.functional.margin_ranking_loss(*map(library.tensor, (x, y, x)), reduction="sum", **margin) for library in (torch, engine))  # fmt: skip
    assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
    assert ours.item() == theirs.item()
