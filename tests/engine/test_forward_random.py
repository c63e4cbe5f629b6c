"""Random programs of ops, views and writes on dual tensors: the tangents are those of PyTorch, and of differences."""

from dataclasses import replace

import numpy as np
from agdbg_tests_differential import error_of, same
from agdbg_tests_forward_tools import dual_facts, pytorch, tangent
from agdbg_tests_random_programs import leaf_values, perform, pure, writing
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine as ag

pytorch()
some = st.tuples(*[st.booleans()] * 4)
"""Which leaves have a tangent, or require grad."""


def leaves_of(t, arrays, recorded):
    return [t.tensor(a, dtype=t.float64, requires_grad=r) for a, r in zip(arrays, recorded, strict=True)]


def pool_of(t, values, tangents, duals, recorded):
    """The leaves, primals and tangents, and a pool of them: some dual, some requiring grad."""
    xs, vs = (leaves_of(t, arrays, recorded) for arrays in (values, tangents))
    pool = [
        (t.autograd.forward_ad.make_dual(x, v) if is_dual else x) * 1
        for x, v, is_dual in zip(xs, vs, duals, strict=True)
    ]
    return [*xs, *vs], pool


@settings(max_examples=150, deadline=None)
@given(leaf_values(), leaf_values(), some, some, pure())
def test_tangents_and_their_gradients_equal_those_of_pytorch(values, tangents, duals, recorded, program):
    def both(t):
        with t.autograd.forward_ad.dual_level():
            leaves, pool = pool_of(t, values, tangents, duals, recorded)
            for instruction in program:
                perform(t, pool, *instruction)
            return [[dual_facts(t, x) for x in pool], gradients(t, leaves, [tangent(t, x) for x in pool])]

    same(both)


def gradients(t, leaves, tangents):
    """The gradients of the sum of the tangents in the leaves that want one."""
    total = sum((x.sum() for x in tangents if x is not None), t.tensor(0.0, dtype=t.float64))
    wanted = [x for x in leaves if x.requires_grad]
    if not (total.requires_grad and wanted):
        return [t.zeros_like(x) for x in wanted]
    grads = t.autograd.grad(total, wanted, allow_unused=True, materialize_grads=True)
    return [t.from_numpy(g.numpy(force=True)) for g in grads]  # PyTorch's may be a symbol for zeros


@settings(max_examples=300, deadline=None)
@given(leaf_values(), leaf_values(), some, writing())
def test_writes_give_the_same_tangents_or_the_same_error(values, tangents, duals, program):
    def both(t):
        with t.autograd.forward_ad.dual_level():
            _, pool = pool_of(t, values, tangents, duals, (False,) * 4)
            refused = [error_of(perform, t, pool, *instruction) for instruction in program]
            return [refused, [dual_facts(t, x) for x in pool]]

    same(both)


@settings(max_examples=200, deadline=None)
@given(leaf_values(), leaf_values(), some, some, writing())
def test_writes_to_what_requires_grad_give_the_same_tangents_or_the_same_error(
    values, tangents, duals, recorded, program
):
    def both(t):
        with t.autograd.forward_ad.dual_level():
            _, pool = pool_of(t, values, tangents, duals, recorded)
            refused = [_unnamed(error_of(perform, t, pool, *instruction)) for instruction in program]
            seen = [[x.detach(), _value(tangent(t, x))] for x in pool]
            return [refused, seen]

    same(both)


def _unnamed(error):
    return (
        error if error == "nothing" else replace(error, first_line=error.first_line.partition(", which is output")[0])
    )


def _value(x):
    return x if x is None else x.detach()


@settings(max_examples=60, deadline=None)
@given(leaf_values(), leaf_values(), pure(max_size=8))
def test_tangents_equal_finite_differences(values, tangents, program):
    def run(step):
        pool = [ag.tensor(np.array(v) + step * np.array(d)) for v, d in zip(values, tangents, strict=True)]
        for instruction in program:
            perform(ag, pool, *instruction)
        return [x.numpy() for x in pool]

    with ag.autograd.forward_ad.dual_level():
        _, pool = pool_of(ag, values, tangents, (True,) * 4, (False,) * 4)
        for instruction in program:
            perform(ag, pool, *instruction)
        found = [tangent(ag, x) for x in pool]
    for t, ahead, behind in zip(found, run(1e-6), run(-1e-6), strict=True):
        np.testing.assert_allclose(t.numpy(), (ahead - behind) / 2e-6, rtol=1e-4, atol=1e-5)
