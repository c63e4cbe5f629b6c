"""Random programs of views and writes, differentiated twice; and the same by both ways to find a view in its base."""

import pytest
from agdbg_tests_differential import error_of, facts, same
from agdbg_tests_random_programs import leaf_values, run, total, writing
from hypothesis import given, settings

import agdbg_engine as ag
from agdbg_engine.region import Region

pytest.importorskip("torch")


def usable(done):
    """The values whose history can be told, with the refusals of the others."""
    refused = [error_of(lambda x: facts(x.grad_fn), x) for x in done.pool]
    done.pool = [x for x, error in zip(done.pool, refused, strict=True) if error == "nothing"]
    return refused


@settings(max_examples=300)
@given(leaf_values(), writing(max_size=10))
def test_second_derivatives_through_writes(values, program):
    def both(t):
        done = run(t, values, program, error_of)
        usable(done)
        first = []
        error = error_of(
            lambda: first.extend(t.autograd.grad(total(done), done.leaves, create_graph=True, materialize_grads=True))
        )
        if error != "nothing":
            return error.kind
        penalty = sum((g * g).sum() for g in first)
        found = [g.detach() for g in first]
        return [
            found,
            t.autograd.grad(penalty, done.leaves, materialize_grads=True) if penalty.requires_grad else "linear",
        ]

    same(both)


@settings(max_examples=150)
@given(leaf_values(), writing())
def test_both_ways_to_a_region_agree(values, program):
    def gradients():
        done = run(ag, values, program, error_of)
        usable(done)
        error = error_of(total(done).backward)
        return [error, [x.grad for x in done.leaves]]

    cheap = facts(gradients())
    inside = Region.inside
    Region.inside = lambda self, whole: None
    try:
        assert facts(gradients()) == cheap
    finally:
        Region.inside = inside
