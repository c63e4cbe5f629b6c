"""Ops without a tangent refuse duals in PyTorch's words, with its names; others that look like them do not."""

import pytest
import torch

import agdbg_engine as ag

# PyTorch itself compiles some formulas with it at the first dual.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")

CALLS = """
T.cdist(d(3, 3), T.ones(3, 3))
F.pdist(d(3, 3))
T.bincount(T.tensor([0, 1, 2]), d(3))
T.special.zeta(d(2), d(2))
F.multilabel_margin_loss(d(3), T.tensor([0, -1, 1]))
F.ctc_loss(d(3, 1, 3), T.tensor([[1]]), T.tensor([3]), T.tensor([1]))
T.floor_divide(d(2), d(2))
T.heaviside(d(2), d(2))
T.igamma(d(2), d(2))
T.linalg.matrix_rank(d(2, 2))
T.geqrf(d(2, 2))
T.linalg.ldl_factor_ex(d(2, 2))
T.linalg.ldl_solve(d(2, 2), T.tensor([1, 2], dtype=T.int32), d(2, 2))
F.multi_margin_loss(d(2, 2), T.tensor([0, 1]))
T.unique(d(2))
T.unique(d(2, 2), dim=0)
T.unique_consecutive(d(2))
T.histogram(d(2), 3)
T.histogram(T.ones(2), d(2).cumsum(0))
T.histogram(T.ones(2), 3, weight=d(2))
T.histogramdd(d(2, 2), [2, 2])
T.histogramdd(T.ones(2, 2), [2, 2], weight=d(2))
T.histogramdd(T.ones(2, 2), [T.tensor([0.0, 1.0])] * 2, weight=d(2))
T.histogramdd(T.ones(2, 2), [d(2).cumsum(0)] * 2)
T.histc(d(2))
T.logical_and(d(2), d(2))
T.bucketize(d(2), T.tensor([1.0]))
F.embedding(T.tensor([0]), d(3, 3), max_norm=1.0)
""".strip().splitlines()


def outcome(lib, call):
    with lib.autograd.forward_ad.dual_level():

        def d(*shape):
            return lib.autograd.forward_ad.make_dual(lib.ones(*shape) / 2, lib.ones(*shape))

        try:
            eval(call, {"T": lib, "F": lib.nn.functional, "d": d})
        except NotImplementedError as error:
            return str(error).splitlines()[0]
        return "it is there"


@pytest.mark.parametrize("call", CALLS)
def test_a_dual(call):
    assert outcome(ag, call) == outcome(torch, call)


@pytest.mark.parametrize("call", ["linspace(v, 3, 4)", "linspace(0, v, 4)", "logspace(v, 3, 4)", "logspace(0, v, 4)"])
def test_a_transform_of_ends(call):
    found = []
    for lib in (ag, torch):
        with pytest.raises(NotImplementedError) as error:
            lib.func.jvp(lambda v, T=lib: eval(f"T.{call}"), (lib.ones(()),), (lib.ones(()),))
        found.append(str(error.value).splitlines()[0])
    assert found[0] == found[1]


TANGENTS = """
F.embedding(T.tensor([0, 1]), dual([[3.0, 4.0], [0.1, 0.1]]), max_norm=1.0)
F.prelu(dual([0.0, 1.0, -1.0]), T.tensor([0.25]))
F.prelu(T.tensor([0.0, 1.0, -1.0]), dual([0.25]))
F.hardswish(dual([-3.0, 0.0, 3.0]))
T.clamp(dual([1.0, 2.0, 3.0]), min=dual([2.0]) * 3)
T.clamp(dual([1.0, 2.0, 3.0]), max=dual([2.0]) * 3)
T.clamp(dual([1.0, 2.0, 3.0, float("nan")]), min=T.tensor([2.0]))
""".strip().splitlines()


def tangent(lib, call):
    fw = lib.autograd.forward_ad
    with fw.dual_level():

        def dual(values):
            return fw.make_dual(lib.tensor(values), lib.ones_like(lib.tensor(values)))

        return fw.unpack_dual(eval(call, {"T": lib, "F": lib.nn.functional, "dual": dual})).tangent.tolist()


@pytest.mark.parametrize("call", TANGENTS)
def test_a_tangent_at_a_kink(call):
    assert tangent(ag, call) == tangent(torch, call)


def test_hardswish_twice_at_its_kinks():
    found = []
    for lib in (ag, torch):
        x = lib.tensor([-3.0, 0.0, 3.0], requires_grad=True)
        (g,) = lib.autograd.grad(lib.nn.functional.hardswish(x).sum(), x, create_graph=True)
        found.append(lib.autograd.grad(g.sum(), x)[0].tolist())
    assert found[0] == found[1]
