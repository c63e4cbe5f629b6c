"""However a pass is run, it gives exactly the same gradients; and no gradient shares memory with anything."""

import itertools

import numpy as np
import pytest
from agdbg_tests_random_programs import leaf_values, pure, run, total
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.backward import BackwardPass
from agdbg_engine.saved import saved_slots
from agdbg_engine.sites import caller

quick = settings(max_examples=120, deadline=None)


@pytest.fixture(autouse=True)
def _no_sink_stays():
    yield
    events.remove()


def started(loss, seed, general=False):
    """A pass over the graph of ``loss``, about to run its first node."""
    bp = BackwardPass("backward", True, False, *caller())
    bp._general = general
    bp.start([(loss.grad_fn, loss.output_nr, seed)])
    return bp


def fast(bp):
    bp.run()


def by_steps(bp):
    while bp.step() is not None:
        pass
    bp.finish(None)


def steps_then_run(bp):
    for _ in range(len(bp.order) // 2):
        bp.step()
    bp.run()


def observed(bp):
    events.install(events.Sink())
    bp.run()
    events.remove()


def gradients(values, program, drive, general=False, create_graph=False, hooked=False):
    done = run(ag, values, program)
    loss = total(done)
    if hooked:
        for node in {n: None for x in done.pool if (n := x.grad_fn) is not None}:
            node.register_hook(lambda *_: None)
            node.register_prehook(lambda *_: None)
    if create_graph:
        loss.backward(create_graph=True)
    else:
        drive(started(loss, np.ones(()), general))
    return [x.grad.detach().numpy().copy() for x in done.leaves]


@quick
@given(leaf_values(), pure())
def test_all_ways_to_run_a_pass_agree_exactly(values, program):
    expected = gradients(values, program, fast)
    ways = [gradients(values, program, drive) for drive in (by_steps, steps_then_run, observed)]
    ways += [gradients(values, program, drive, general=True) for drive in (fast, by_steps)]
    ways.append(gradients(values, program, fast, hooked=True))
    for way in ways:
        for a, b in zip(way, expected, strict=True):
            assert np.array_equal(a, b) and a.dtype == b.dtype
    recorded = gradients(values, program, fast, create_graph=True)  # its sums may run over another layout
    for a, b in zip(recorded, expected, strict=True):
        assert np.allclose(a, b, rtol=1e-12, atol=1e-14) and a.dtype == b.dtype


@quick
@given(leaf_values(), pure(max_size=8), st.booleans(), st.booleans())
def test_no_gradient_shares_memory(values, program, general, create_graph):
    done = run(ag, values, program)
    for x in done.pool:
        if x.requires_grad:
            x.retain_grad()
    loss, seed = total(done), np.ones(())
    everything = [x._a for x in done.leaves + done.pool]
    if create_graph:
        loss.backward(create_graph=True)
    else:
        bp = started(loss, seed, general)
        saved = [s.value for n in bp.order for s in saved_slots(n) if s.value is not None]
        everything += [seed] + [s if isinstance(s, np.ndarray) else s._a for s in saved]
        bp.run()
    tensors = {id(x): x for x in done.leaves + done.pool if x.requires_grad}.values()
    grads = [x.grad._a for x in tensors if x.grad is not None]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(grads, 2))
    assert not any(np.shares_memory(g, other) for g in grads for other in everything)
    assert all(g.flags.writeable for g in grads)


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: x + y,
        lambda x, y: x - y,
        lambda x, y: (x + y).view(2),
        lambda x, y: ag.cat([x, y]),
        lambda x, y: ag.stack([x, y]),
        lambda x, y: x.unsqueeze(0) + y.view(1, 2),
        lambda x, y: x.clone() + y.clone(),
        lambda x, y: x.expand(3, 2) + y,
    ],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_leaves_of_one_node_get_gradients_of_their_own(make, create_graph):
    x, y = ag.tensor([1.0, 2.0], requires_grad=True), ag.tensor([3.0, 4.0], requires_grad=True)
    out = make(x, y)
    seed = ag.ones(*out.shape)
    out.backward(seed, create_graph=create_graph)
    arrays = [x.grad._a, y.grad._a, seed._a]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(arrays, 2))


def test_a_root_gradient_is_never_kept():
    x, seed = ag.tensor([1.0, 2.0], requires_grad=True), ag.ones(2)
    x.backward(seed)
    x.view(2, 1).backward(seed.view(2, 1))
    assert not np.shares_memory(x.grad._a, seed._a)
    assert seed.tolist() == [1.0, 1.0]


def test_results_of_grad_share_nothing():
    x, y, seed = ag.tensor([1.0, 2.0], requires_grad=True), ag.tensor([3.0, 4.0], requires_grad=True), ag.ones(2)
    got = ag.autograd.grad(x + y, [x, y, x], seed)
    arrays = [g._a for g in got] + [seed._a]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(arrays, 2))


def test_accumulation_does_not_write_into_what_a_hook_kept():
    x, kept = ag.tensor([1.0, 2.0], requires_grad=True), []
    x.register_hook(kept.append)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert [k.tolist() for k in kept] == [[2.0, 2.0], [3.0, 3.0]]


def test_the_mismatched_root_gradient_is_named():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"grad_output\[1\] has a shape of torch.Size\(\[1\]\)"):
        ag.autograd.grad([x * 2, x * 3], x, [ag.ones(2), ag.ones(1)])
