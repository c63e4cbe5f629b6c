"""Hooks and going back: every node with hooks is a barrier, without a trace once they are removed; parts of a leaf's run."""

import pytest

import agdbg_engine as ag
from agdbg_engine.backward import BackwardPass
from agdbg_engine.journal import Barrier, Journal, runs_user_code
from agdbg_engine.node import edge
from agdbg_engine.sites import caller


def leaf(*values):
    return ag.tensor(list(values), requires_grad=True)


def started(loss):
    bp = BackwardPass("backward", False, False, *caller())
    bp.start([(edge(loss), loss._nr, ag.ones_like(loss)._a)])
    return bp


REGISTER = {
    "tensor": lambda x, y: y.register_hook(lambda g: None),
    "pre": lambda x, y: y.grad_fn.register_prehook(lambda go: None),
    "post": lambda x, y: y.grad_fn.register_hook(lambda gi, go: None),
    "multi": lambda x, y: ag.autograd.graph.register_multi_grad_hook((y,), lambda gs: None),
    "any": lambda x, y: ag.autograd.graph.register_multi_grad_hook((y,), lambda g: None, mode="any"),
    "leaf tensor": lambda x, y: x.register_hook(lambda g: None),
    "leaf pre": lambda x, y: edge(x).register_prehook(lambda go: None),
    "leaf post": lambda x, y: edge(x).register_hook(lambda gi, go: None),
    "post-accumulate": lambda x, y: x.register_post_accumulate_grad_hook(lambda p: None),
}


@pytest.mark.parametrize("kind", REGISTER)
@pytest.mark.parametrize("early", [True, False])
def test_a_hooked_node_is_a_barrier_until_the_hook_is_removed(kind, early):
    x = leaf(1.0)
    if early and kind in ("leaf tensor", "post-accumulate"):  # before the leaf is used anywhere
        handle = REGISTER[kind](x, None)
        y = x * 2
    else:
        y = x * 2
        handle = REGISTER[kind](x, y)
    hooked, other = (edge(x), y.grad_fn) if kind.startswith(("leaf", "post-acc")) else (y.grad_fn, edge(x))
    assert runs_user_code(hooked)
    assert not runs_user_code(other)
    handle.remove()
    assert not runs_user_code(hooked)


def test_a_hooked_module_is_a_barrier():
    m, x = ag.nn.Linear(2, 2), leaf(1.0, 2.0)
    m.register_full_backward_hook(lambda m, gi, go: None)
    assert runs_user_code(m(x).grad_fn)


def test_retaining_a_gradient_is_undone():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    bp = started(y.exp())
    journal = Journal(bp)
    journal.step()
    journal.step()
    assert y.grad is not None
    assert journal.barrier() is None
    journal.undo()
    assert y.grad is None
    journal.step()
    journal.step()
    bp.finish(None)
    assert x.grad.item() == 2 * y.grad.item()


def test_accumulation_is_undone_but_not_what_the_hook_after_it_did():
    x, seen = leaf(1.0), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.item()))
    bp = started(x * 2)
    journal = Journal(bp)
    journal.step()
    journal.step()
    assert journal.barrier() is edge(x)
    assert (x.grad.item(), seen) == (2.0, [2.0])
    with pytest.raises(Barrier, match="AccumulateGrad has called functions of the program"):
        journal.undo()
    assert (len(journal), bp.position, x.grad.item()) == (2, 2, 2.0)
    journal.undo(force=True)
    assert x.grad is None
    journal.step()
    bp.finish(None)
    assert (x.grad.item(), seen) == (2.0, [2.0, 2.0])


def test_the_parts_of_a_hooked_leaf():
    x, parts = leaf(1.0), []
    y = x * 2
    x.register_hook(lambda g: parts.append("(tensor)"))
    edge(x).register_prehook(lambda go: parts.append("(pre)"))
    edge(x).register_hook(lambda gi, go: parts.append("(post)"))
    x.register_post_accumulate_grad_hook(lambda p: parts.append("(post-accumulate)"))
    bp = started(y)
    while bp.position < len(bp.order):
        bp.advance(1, lambda node: bp.run_in_parts(node, parts.append))
    bp.finish(None)
    assert parts == [
        "apply", "tensor-hooks", "(tensor)", "pre-hooks", "(pre)", "accumulate", "post-accumulate-hooks", "(post-accumulate)",
        "post-hooks", "(post)",
    ]  # fmt: skip


def test_plain_nodes_pay_nothing():
    x = leaf(1.0)
    y = (x * 2).exp()
    bp = started(y)
    general = []
    bp._general_node = lambda node, *_: general.append(node)
    bp.run()
    assert (general, [n.hooks for n in bp.order]) == ([], [None] * 3)


@pytest.mark.parametrize("once", [True, False])
def test_a_checkpoint_is_computed_again_when_its_nodes_run_again(once):
    """Going back over them is a step over functions of the program; what follows must not fail for it."""
    from agdbg_engine.utils.checkpoint import checkpoint

    def grad(back):
        x = leaf(0.5, 1.0)
        y = checkpoint(lambda a: checkpoint(ag.sin, a.exp(), use_reentrant=False) * a, x, use_reentrant=False)
        bp = started((y * y).sum())
        journal = Journal(bp)
        while back and bp.position < len(bp.order):
            journal.step()
            steps = 1 if once else bp.position
            for _ in range(steps):
                journal.undo(force=True)
            for _ in range(steps):
                journal.step()
        bp.run()
        return x.grad.tolist()

    assert grad(True) == grad(False)
