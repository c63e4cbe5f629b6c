"""Sizes that do not fit, and tensors without dimensions: refused by the error of PyTorch, or not at all."""

import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

CALLS = [
    "t.amax(t.ones(0), -1)", "t.amin(t.ones(2, 0), 1)", "t.amax(t.ones(2, 0, 3), (0, -2))", "t.max(t.ones(2, 0), -1)",
    "t.index_add(t.ones(3, 4, 5), 1, t.tensor([7]), t.ones(3, 1, 5))", "t.index_add(t.ones(3, 4, 5), 0, t.tensor([7]), t.ones(1, 4, 5))",
    "t.index_add(t.ones(3, 4, 5), 2, t.tensor([-1]), t.ones(3, 4, 1))",
    "t.index_add(t.ones(3, 4), 0, t.tensor([7], dtype=t.int32), t.ones(1, 4))",
    "t.index_select(t.ones(3, 4, 5), 1, t.tensor([0, 7]))", "t.index_select(t.ones(3, 4, 5), 2, t.tensor([0, 7]))",
    "t.index_select(t.ones(0, 4, 5), 2, t.tensor([-7]))",
    "t.nn.functional.ctc_loss(t.ones(0, 2, 3), t.zeros(2, 0, dtype=t.int64), (0, 0), (0, 0))",
    "t.nn.functional.ctc_loss(t.ones(5, 0, 3), t.zeros(0, 2, dtype=t.int64), (), ())",
    "t.nn.functional.ctc_loss(t.ones(5, 2, 0), t.zeros(2, 1, dtype=t.int64), (5, 5), (1, 1))",
    "(t.ones(2) > 0).clamp_(min=t.zeros(2))", "(t.ones(2) > 0).clamp_(max=0.5)", "(t.ones(2) > 0).clamp_(t.zeros(2), t.ones(2))",
    "t.ones(2, dtype=t.int32).clamp_(min=t.zeros(2))", "t.ones(2, dtype=t.int32).clamp_min_(0.5)",
    "t.nn.LSTM(3, 4)(t.ones(0, 2, 3))", "t.nn.GRU(3, 4, batch_first=True)(t.ones(2, 0, 3))", "t.nn.RNN(3, 4)(t.ones(0, 3))",
    "t.linalg.qr(t.ones(3, 2, requires_grad=True), mode='r')[1].sum().backward()",
    "t.nn.functional.adaptive_max_pool1d(t.ones(2, 4), True)", "t.nn.functional.adaptive_max_pool1d(t.ones(2, 4), [True])",
    "t.nn.functional.adaptive_max_pool1d(t.ones(2, 4), 1.5)", "t.nn.functional.adaptive_max_pool1d(t.ones(2, 4), None)",
    "t.nn.functional.adaptive_max_pool1d_with_indices(t.ones(2, 4), True)",
    "t.ones(3).narrow_copy(0, 0, -1)", "t.ones(3).narrow(0, 0, -1)", "t.ones(3).narrow_copy(0, 1, 5)",
    "t.ones(3).masked_fill_(t.ones(2) > 0, 0)", "t.ones(2, 3).masked_fill_(t.ones(4) > 0, 0)",
    "t.ones(3).masked_fill_(t.ones(2, 3) > 0, 0)", "t.ones(3).masked_fill(t.ones(2) > 0, 0)",
    "t.ones(3).masked_scatter_(t.ones(2) > 0, t.ones(3))", "t.ones(3).masked_scatter_(t.ones(2, 3) > 0, t.ones(6))",
    "t.ones(()).masked_scatter_(t.ones(2) > 0, t.ones(6))", "t.ones(3).masked_scatter(t.ones(2) > 0, t.ones(3))",
    "t.ones(()).unflatten(-1, (-1, 1))", "t.ones(()).unflatten(0, ())", "t.ones(()).unflatten(1, (1,))",
    "t.ones(4).unflatten(0, (-1, -1))", "t.ones(4).unflatten(0, (-2, 2))", "t.ones(4).unflatten(0, (2, 3))",
    "t.ones(4).unflatten(0, (-1, 3))", "t.ones(0).unflatten(0, (-1, 0))", "t.ones(0).unflatten(0, (-1, 2))",
    "t.ones(4).unflatten(0, (0, -1))", "t.ones(4).unflatten(0, 4)",
    "t.ones(()).index_add_(0, t.tensor([0, 0]), t.ones(()))", "t.ones(1).index_add_(0, t.tensor(0), t.ones(()))",
    "t.ones(()).index_add_(0, t.tensor(0), t.ones(()))", "t.ones(()).index_add_(0, t.tensor([0, 0]), t.ones(2))",
    "t.ones(2, 2).index_add_(1, t.tensor([0]), t.ones(()))", "t.ones(2, 2).index_add_(1, t.tensor([0]), t.ones(2))",
    "t.ones(2).index_reduce_(0, t.tensor([0]), t.ones(()), 'prod')",
    "t.ones(()).index_copy_(0, t.tensor([0, 0]), t.tensor([2.0, 3.0]))",
    "t.ones(()).index_copy_(0, t.tensor([], dtype=t.int64), t.ones(0))",
    "t.ones(()).repeat_interleave(2, 0)", "t.ones(()).repeat_interleave(2, 5)", "t.ones(()).repeat_interleave(2)",
    "t.ones(2, 3).rot90(1, (0, 0))", "t.ones(2, 3).rot90(1, (0, -2))", "t.ones(2, 3).rot90(0, (2, 0))", "t.ones(2, 3).rot90(1, (5, 5))",
    "t.ones(2).rot90(1, (0, 5))", "t.ones(0, 2).index_select(0, t.tensor([0]))",
    "t.ones(0, 2).index_select(0, t.tensor([], dtype=t.int64))", "t.rad2deg(t.ones(1, dtype=t.complex64))",
    "t.remainder(t.ones(3, 0, dtype=t.int64), t.zeros(1, dtype=t.int64))", "t.fmod(t.ones(0, dtype=t.int32), 0)",
    "t.floor_divide(t.ones(0, dtype=t.int64), 0)", "t.floor_divide(t.ones(2, dtype=t.int64), 0)", "t.fmod(t.ones(2, dtype=t.int64), 0)",
    "t.erf(t.ones(1, dtype=t.complex64))", "t.erfc(t.ones(1, dtype=t.complex64))", "t.erfinv(t.ones(1, dtype=t.complex64))",
    "t.lgamma(t.ones(1, dtype=t.complex64))", "t.digamma(t.ones(1, dtype=t.complex64))", "t.celu(t.ones(1, dtype=t.int32))",
    "t.nn.functional.softshrink(t.ones(1, dtype=t.int32))",
    "(t.ones(6) > 0)[::2].floor()", "(t.ones(2, 3) > 0).t().round()", "t.trunc(t.ones(6)[::2] > 0)", "(t.ones(6) > 0)[::2].abs()",
    "t.nn.functional.group_norm(t.ones(1, 4, 1), 4)", "t.nn.functional.group_norm(t.ones(1, 4), 4)",
    "t.nn.functional.group_norm(t.ones(2, 4), 4)", "t.nn.functional.group_norm(t.ones(1, 4, 0), 4)",
    "t.nn.functional.group_norm(t.ones(1, 4), 1)", "t.nn.functional.group_norm(t.ones(0, 4, 1), 4)",
    "t.nn.functional.group_norm(t.ones(1, 4), 2)", "t.nn.functional.group_norm(t.ones(1, 1), 1)",
    "t.cross(t.ones(3, 2), t.ones(2, 3))", "t.cross(t.ones(1, 3), t.ones(3, 1))", "t.cross(t.ones(2, 2), t.ones(3, 3))",
    "t.cross(t.ones(1, 3), t.ones(2, 3))", "t.prelu(t.ones(2, dtype=t.float64), t.ones(1))",
]  # fmt: skip


def told(t, call):
    """The value, or of the error what counts: its type and its first line."""
    try:
        result = eval(call, {"t": t})
    except Exception as error:
        return type(error), str(error).split("\n")[0]
    return tuple(result.shape), result.tolist()


@pytest.mark.filterwarnings("ignore:Using torch.cross without specifying")
@pytest.mark.parametrize("call", CALLS)
def test_same_as_torch(call):
    assert told(ag, call) == told(torch, call)
