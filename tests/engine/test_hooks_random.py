"""Random programs with random hooks of every kind: they fire in the same order, with the same gradients, as in PyTorch."""

import warnings
from dataclasses import dataclass, field

import pytest
from agdbg_tests_differential import differences, error_of, facts
from agdbg_tests_random_programs import leaf_values, run, total, writing
from hypothesis import given, settings
from hypothesis import strategies as st

import agdbg_engine

torch = pytest.importorskip("torch")

KINDS = ("tensor", "retain", "pre", "post", "leaf pre", "leaf post", "post-accumulate", "all", "any")

_operand = st.integers(0, 30)

registrations = st.lists(
    st.tuples(
        st.integers(0, 14),  # before which instruction
        st.sampled_from(KINDS),
        st.lists(_operand, min_size=1, max_size=3),  # on which tensors
        st.sampled_from([None, None, 0.5, -2.0]),  # what it multiplies the gradient with
        st.sampled_from([None, None, None, "now", "firing"]),  # when it is removed
    ),
    min_size=1,
    max_size=12,
)
passes = st.lists(
    st.tuples(
        st.sampled_from(["backward", "grad"]),
        st.one_of(st.none(), st.lists(_operand, min_size=1, max_size=3)),
        st.booleans(),  # create_graph
        st.booleans(),  # the root is one node, or several roots are given
    ),
    min_size=1,
    max_size=3,
)


@dataclass
class Hooked:
    """A program with hooks, and what they saw."""

    log: list = field(default_factory=list)
    handles: dict = field(default_factory=dict)
    held: list = field(default_factory=list)
    """AccumulateGrad nodes with hooks, which nobody else may hold."""

    def fired(self, label, gradients, factor, removal):
        """Log the firing of a hook, and return what it answers for every gradient."""
        self.log.append([label, [values(g) for g in gradients if g is not None]])
        if removal == "firing" and label in self.handles:
            self.handles[label].remove()
        return [None if g is None or factor is None else g * factor for g in gradients]


def values(g):
    return g.detach().tolist()


def register(t, hooked, done, label, kind, operands, factor, removal):
    """Put one hook somewhere."""
    tensors = [done.pool[i % len(done.pool)] for i in operands] if kind in ("all", "any") else []
    x = done.pool[operands[0] % len(done.pool)]
    for v in (x, *tensors):
        _ = v.grad_fn  # PyTorch crashes when a view of something rewritten gets its first hook before that
    leaf = done.leaves[operands[0] % len(done.leaves)]
    fired = lambda *gradients: hooked.fired(label, gradients, factor, removal)
    answer = lambda gs: tuple(gs) if factor is not None else None
    handle = None
    if kind == "tensor":
        handle = x.register_hook(lambda g: fired(g)[0])
    elif kind == "retain":
        x.retain_grad()
    elif kind == "post-accumulate":
        handle = leaf.register_post_accumulate_grad_hook(lambda p: fired(p.grad) and None)
    elif kind in ("all", "any"):
        note = (lambda gs: fired(*gs) and None) if kind == "all" else (lambda g: fired(g) and None)
        handle = t.autograd.graph.register_multi_grad_hook(tensors, note, mode=kind)
    else:
        node = (leaf * 1).grad_fn.next_functions[0][0] if kind.startswith("leaf") else x.grad_fn
        hooked.held.append(node)
        if kind.endswith("pre"):
            handle = node.register_prehook(lambda go: answer(fired(*go)))
        else:
            handle = node.register_hook(lambda gi, go: answer(fired(*gi)))
    if handle is not None:
        hooked.handles[label] = handle
        if removal == "now":
            handle.remove()


def one_pass(t, done, call, operands, create_graph, single):
    """One backward or grad call."""
    roots = (
        [total(done)]
        if single
        else [x.sum() for x in (*done.leaves, *done.pool[len(done.leaves) :]) if x.requires_grad]
    )
    inputs = (
        None if operands is None else [(done.leaves + done.pool)[i % len(done.leaves + done.pool)] for i in operands]
    )
    if call == "backward":
        t.autograd.backward(roots, retain_graph=True, create_graph=create_graph, inputs=inputs)
        return None
    wanted = inputs or done.leaves
    found = t.autograd.grad(roots, wanted, retain_graph=True, create_graph=create_graph, allow_unused=True)
    return [None if g is None else values(g) for g in found]


def outcome(t, leaves, program, hooks, calls):
    """Everything seen of a program with hooks."""
    hooked, refused = Hooked(), []

    def before(number, done):
        for i, (at, *hook) in enumerate(hooks):
            if at == number or (number == len(program) and at > number):
                refused.append([i, error_of(register, t, hooked, done, i, *hook)])

    done = run(t, leaves, program, error_of, before)
    before(len(program), done)
    seen = []
    for call in calls:
        seen.append(error_of(lambda call=call: hooked.log.append(one_pass(t, done, *call))))
    grads = [None if x.grad is None else values(x.grad) for x in (*done.leaves, *done.pool)]
    return facts([refused, seen, hooked.log, grads])


@settings(max_examples=150, deadline=None)
@given(leaves=leaf_values(), program=writing(), hooks=registrations, calls=passes)
def test_the_same_hooks_fire_in_the_same_order(leaves, program, hooks, calls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = outcome(torch, leaves, program, hooks, calls)
        ours = outcome(agdbg_engine, leaves, program, hooks, calls)
    found = list(differences(theirs, ours))
    assert not found, "\n".join(found)
