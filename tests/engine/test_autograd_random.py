"""Random programs: gradients equal PyTorch's and finite differences; writes give the same gradient or the same error."""

import re
from dataclasses import replace

import numpy as np
import pytest
from agdbg_tests_differential import error_of, facts, running_order, same
from agdbg_tests_random_programs import leaf_values, pure, run, total, writing
from hypothesis import given, settings

import agdbg_engine as ag

torch = pytest.importorskip("torch")
quick = settings(max_examples=150)


@quick
@given(leaf_values(), pure())
def test_gradients_equal_those_of_pytorch(values, program):
    def both(t):
        done = run(t, values, program)
        loss = total(done)
        loss.backward()
        return [loss.item(), [x.grad for x in done.leaves]]

    same(both)


@quick
@given(leaf_values(), pure(max_size=8))
def test_gradients_equal_finite_differences(values, program):
    done = run(ag, values, program)
    total(done).backward()
    for i, x in enumerate(done.leaves):
        for at in np.ndindex(x.shape):
            slope = (_moved(values, program, i, at, 1e-6) - _moved(values, program, i, at, -1e-6)) / 2e-6
            assert np.isclose(x.grad[at].item() if at else x.grad.item(), slope, rtol=1e-4, atol=1e-5)


def _moved(values, program, i, at, step):
    """The loss with one element of leaf ``i`` moved by ``step``."""
    values = [np.array(v) for v in values]
    values[i][at] += step
    return total(run(ag, values, program)).item()


@quick
@given(leaf_values(), pure())
def test_nodes_run_in_the_order_of_pytorch(values, program):
    def both(t):
        loss = total(run(t, values, program))
        log = running_order(loss)
        loss.backward()
        return [name.partition(" ")[2] for name in log]

    same(both)


@settings(max_examples=600)
@given(leaf_values(), writing())
def test_writes_give_the_same_gradient_or_the_same_error(values, program):
    def both(t):
        done = run(t, values, program, _error_of)
        seen = [done.refused, [_error_of(_look, x) for x in done.pool]]
        usable = [x for x in done.pool if _error_of(_look, x) == "nothing"]
        done.pool = usable
        loss = total(done)
        seen += [[(x, x._version) for x in usable], _error_of(loss.backward), [x.grad for x in done.leaves]]
        return [*seen, [x.grad for x in usable if x.is_leaf or x.retains_grad]]

    same(both)


def _error_of(function, *args):
    """The error without the name of the node behind a saved tensor, which differs for results saved through a view."""
    found = error_of(function, *args)
    return (
        found
        if found == "nothing"
        else replace(found, first_line=re.sub(r", which is output .*?,", "", found.first_line))
    )


def _look(x):
    """Fails for a view whose history is lost."""
    facts(x.grad_fn)


@quick
@given(leaf_values(), pure(max_size=8))
def test_second_derivatives_equal_those_of_pytorch(values, program):
    def both(t):
        done = run(t, values, program)
        gs = t.autograd.grad(total(done), done.leaves, create_graph=True)
        penalty = sum((g * g).sum() for g in gs)
        if not penalty.requires_grad:
            return "linear"
        return [g.detach() for g in t.autograd.grad(penalty, done.leaves, materialize_grads=True)]

    same(both)
