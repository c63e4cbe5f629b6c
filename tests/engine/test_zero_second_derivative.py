"""Gradients with ``create_graph=True`` whose own derivative is zero: as in PyTorch they require grad where its ops say so."""

import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="the yardstick")


def sample(T):
    return T.linspace(-0.9, 0.8, 4).reshape(1, 2, 2, 1).repeat(1, 1, 1, 2)


CASES = {
    "conv1d": ((1, 1, 4), lambda F, T, x: F.conv1d(x, T.ones(1, 1, 2))),
    "conv2d": ((1, 2, 4, 4), lambda F, T, x: F.conv2d(x, T.ones(2, 1, 2, 2), groups=2)),
    "conv3d": ((1, 1, 3, 3, 3), lambda F, T, x: F.conv3d(x, T.ones(1, 1, 2, 2, 2))),
    "conv_transpose1d": ((1, 1, 4), lambda F, T, x: F.conv_transpose1d(x, T.ones(1, 1, 2))),
    "conv_transpose2d": ((1, 1, 4, 4), lambda F, T, x: F.conv_transpose2d(x, T.ones(1, 1, 2, 2), stride=2)),
    "the weight of conv1d": ((1, 1, 2), lambda F, T, w: F.conv1d(T.ones(1, 1, 4), w)),
    "the bias of conv1d": ((1,), lambda F, T, b: F.conv1d(T.ones(1, 1, 4), T.ones(1, 1, 2), b)),
    "grid_sample": ((1, 1, 4, 4), lambda F, T, x: F.grid_sample(x, sample(T), align_corners=False)),
    "batch_norm": ((2, 3), lambda F, T, x: F.batch_norm(x, T.zeros(3), T.ones(3))),
    "the weight of batch_norm": ((3,), lambda F, T, w: F.batch_norm(T.ones(2, 3), T.zeros(3), T.ones(3), w)),
    "batch_norm in training": ((2, 3), lambda F, T, x: F.batch_norm(x, None, None, training=True)),
    "linear": ((3, 4), lambda F, T, x: F.linear(x, T.ones(2, 4))),
    "relu": ((3, 4), lambda F, T, x: F.relu(x)),
}


def penalty(T, case):
    """Whether the gradient requires grad, and what a penalty on its norm gives to the operand."""
    shape, function = CASES[case]
    x = T.ones(*shape, requires_grad=True)
    (g,) = T.autograd.grad(function(T.nn.functional, T, x).sum(), x, create_graph=True)
    try:
        ((g.norm() - 1) ** 2).backward()
    except RuntimeError as error:
        return g.requires_grad, str(error).splitlines()[0]
    return g.requires_grad, None if x.grad is None else [round(v, 4) + 0.0 for v in x.grad.flatten().tolist()]


@pytest.mark.parametrize("case", CASES)
def test_a_penalty_on_the_gradient_gives_what_it_gives_in_pytorch(case):
    assert penalty(ag, case) == penalty(torch, case)
