"""Hooks on tensors and nodes, retain_grad: PyTorch and the engine do the same, in the same order."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same, unnamed

pytest.importorskip("torch")
programs = Programs()


def note(log, name):
    """A tensor hook that logs its name and gradient."""
    return lambda g: log.append((name, None if g is None else g.tolist()))


def note_node(log, name):
    """A node hook or pre-hook that logs its name and arguments, numbers among the inputs left out."""
    return lambda *gs: log.append((name, [[x.tolist() for x in g if x is not None] for g in gs]))


# ----- tensor hooks -----


@programs
def a_hook_sees_the_gradient(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(note(log, "y"))
    x.register_hook(note(log, "x"))
    (y * y).backward()
    return [log, x.grad]


@programs
def hooks_run_in_order_of_registration(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    for i in range(4):
        y.register_hook(note(log, i))
    y.backward()
    return log


@programs
def a_hook_replaces_the_gradient_and_the_next_sees_it(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(lambda g: g * 10)
    y.register_hook(note(log, "second"))
    y.register_hook(lambda g: g + 1)
    y.backward()
    return [log, x.grad]


@programs
def a_hook_on_a_leaf_replaces_the_gradient(t):
    x = leaf(t, 2.0)
    x.register_hook(lambda g: g * 10)
    (x * x).backward()
    (x * x).backward()
    return x.grad


@programs
def a_hook_fires_once_after_all_branches(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(note(log, "y"))
    (y * y + y.exp() + y).backward()
    return [log, x.grad]


@programs
def hooks_along_a_diamond(t):
    x, log = leaf(t, 2.0), []
    a = x * 2
    b, c = a * 3, a * 4
    d = b * c
    for name, v in (("x", x), ("a", a), ("b", b), ("c", c), ("d", d)):
        v.register_hook(note(log, name))
    d.backward()
    return log


@programs
def a_removed_hook_is_silent(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    first, second = y.register_hook(note(log, 1)), y.register_hook(note(log, 2))
    first.remove()
    y.backward(retain_graph=True)
    second.remove()
    second.remove()
    y.backward()
    return log


@programs
def a_handle_is_a_context(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    with y.register_hook(note(log, "inside")):
        y.backward(retain_graph=True)
    y.backward()
    return log


@programs
def a_hook_removes_itself_while_running(t):
    x, log, handles = leaf(t, 2.0), [], []
    y = x * 3

    def once(g):
        log.append("once")
        handles[0].remove()

    handles.append(y.register_hook(once))
    y.register_hook(note(log, "other"))
    y.backward(retain_graph=True)
    y.backward()
    return log


@programs
def a_hook_registers_another_one(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(lambda g: y.register_hook(note(log, "late")) and None)
    y.backward(retain_graph=True)
    log.append("--")
    y.backward()
    return log


@programs
def a_hook_on_what_needs_no_grad(t):
    return error_of(t.ones(2).register_hook, print)


@programs
def a_hook_that_raises(t):
    x, z = leaf(t, 2.0), leaf(t, 5.0)
    y = x * 3

    def fail(g):
        raise KeyError("mine")

    handle = y.register_hook(fail)
    loss = y * z
    first = error_of(loss.backward, retain_graph=True)
    handle.remove()
    seen = [first, x.grad, z.grad]
    loss.backward()
    return [seen, x.grad, z.grad]


@programs
def a_hook_that_returns_something_wrong(t):
    seen = []
    for wrong in (
        lambda g: 3.0,
        lambda g: g.sum(),
        lambda g: g[:1],
        lambda g: g.float(),
        lambda g: g.expand(3, 2),
        lambda g: "x",
        lambda g: (g,),
    ):
        x = leaf(t, 2.0, 3.0)
        y = x * 3
        y.register_hook(wrong)
        seen.append([error_of(y.sum().backward), x.grad])
    return seen


def by_name(g):
    return g[:1]


@programs
def the_error_names_the_hook(t):
    x = leaf(t, 2.0, 3.0)
    x.register_hook(by_name)
    return error_of((x * 2).sum().backward)


@programs
def a_hook_of_the_root_runs_first(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(note(log, "y"))
    y.register_hook(lambda g: g * 2)
    y.backward(t.tensor([5.0], dtype=t.float64))
    return [log, x.grad]


@programs
def a_hook_under_create_graph_is_part_of_the_graph(t):
    x = leaf(t, 2.0)
    y = x * x
    y.register_hook(lambda g: g * y)
    (g,) = t.autograd.grad(y * y, x, create_graph=True)
    (h,) = t.autograd.grad(g, x)
    return [unnamed(g), h]


@programs
def hooks_on_two_outputs_of_one_node(t):
    x, log = leaf(t, 2.0, 3.0, 4.0), []
    rows = (x * 2).unbind(0)
    for i, row in enumerate(rows):
        row.register_hook(note(log, i))
    (rows[0] * rows[2]).backward()
    return [log, x.grad]


@programs
def a_hook_after_an_in_place_op(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(note(log, "before"))
    y.mul_(10)
    y.register_hook(note(log, "after"))
    y.backward()
    return [log, x.grad]


@programs
def case_35_hooks_stay_and_retain_grad_moves(t):
    x, log = leaf(t, 1.0), []
    a = x.clone()
    a.register_hook(note(log, "hook"))
    a.retain_grad()
    a.mul_(2)
    a.backward()
    return [log, a.grad, x.grad]


@programs
def case_36_hook_on_an_accumulator_that_nobody_holds(t):
    x, log = leaf(t, 2.0), []
    (x * 2).grad_fn.next_functions[0][0].register_hook(note_node(log, "gone"))
    (x * 3).backward()
    return [log, x.grad]


@programs
def hook_on_an_accumulator_that_is_held(t):
    x, log = leaf(t, 2.0), []
    held = (x * 2).grad_fn.next_functions[0][0]
    held.register_hook(note_node(log, "held"))
    (x * 3).backward()
    (x * x).backward()
    return [log, held.variable is x]


@programs
def case_37_grad_in_hooks_is_not_there_yet(t):
    x, log = leaf(t, 2.0), []
    x.register_hook(lambda g: log.append(x.grad is None))
    y = x * 3
    y.grad_fn.register_hook(lambda *_: log.append(x.grad is None))
    y.grad_fn.next_functions[0][0].register_hook(lambda *_: log.append(x.grad is None))
    y.backward()
    return log


@programs
def case_38_a_hook_changes_a_shared_gradient_in_place(t):
    x = leaf(t, 1.0)
    b, c = x * 2, x * 3
    c.register_hook(lambda g: g.mul_(10) and None)
    (b + c).backward()
    return x.grad


@programs
def a_kept_gradient_is_not_changed_later(t):
    x, kept = leaf(t, 1.0, 2.0), []
    y = x * 2
    y.register_hook(kept.append)
    (y + y * y).sum().backward()
    x.grad.zero_()
    return kept


@programs
def leaf_hooks_outlive_the_graph(t):
    x, log = leaf(t, 2.0), []
    x.register_hook(note(log, "x"))
    for _ in range(2):
        (x * 3).backward()
    return log


# ----- retain_grad -----


@programs
def retain_grad_of_an_intermediate(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.retain_grad()
    (y * y).backward()
    return [y.grad, x.grad, y.retains_grad, x.retains_grad]


@programs
def retain_grad_adds_up(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.retain_grad()
    z = y * y
    z.backward(retain_graph=True)
    first = y.grad
    z.backward()
    return [y.grad, first, first is y.grad]


@programs
def retain_grad_twice_is_once(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    (y * y).backward()
    return y.grad


@programs
def retain_grad_of_a_leaf_or_of_nothing(t):
    x = leaf(t, 2.0)
    return [x.retain_grad(), x.retains_grad, error_of(t.ones(1).retain_grad)]


@programs
def retain_grad_sees_what_the_hooks_made(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    (y * y).backward()
    return [y.grad, x.grad]


@programs
def retain_grad_of_the_root(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.retain_grad()
    y.backward()
    return y.grad


@programs
def retain_grad_with_create_graph(t):
    x = leaf(t, 2.0)
    y = x * x
    y.retain_grad()
    (y * y).backward(create_graph=True)
    return [unnamed(y.grad), t.autograd.grad(y.grad, x)]


@programs
def retain_grad_of_a_tensor_that_dies(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.retain_grad()
    z = y * y
    del y
    z.backward()
    return x.grad


@programs
def retain_grad_after_several_in_place_ops(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.retain_grad()
    y.mul_(2)
    y.add_(1)
    y.backward()
    return [y.grad, y.retains_grad, x.grad]


@programs
def retain_grad_under_autograd_grad(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.retain_grad()
    return [t.autograd.grad(y * y, x), y.grad]


@programs
def retain_grad_of_one_output_of_many(t):
    x = leaf(t, 2.0, 3.0)
    a, b = (x * 2).unbind(0)
    b.retain_grad()
    (a * b).backward()
    return [b.grad, x.grad]


# ----- node hooks -----


@programs
def node_hooks_see_both_sides(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    y = x * w
    y.grad_fn.register_prehook(note_node(log, "pre"))
    y.grad_fn.register_hook(note_node(log, "post"))
    y.backward()
    return log


@programs
def the_order_of_all_hooks_of_one_node(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    y = x * w
    y.grad_fn.register_hook(note_node(log, "post 1"))
    y.grad_fn.register_prehook(note_node(log, "pre 1"))
    y.register_hook(note(log, "tensor 1"))
    y.retain_grad()
    y.grad_fn.register_prehook(note_node(log, "pre 2"))
    y.register_hook(note(log, "tensor 2"))
    y.grad_fn.register_hook(note_node(log, "post 2"))
    y.backward()
    return log


@programs
def the_order_of_all_hooks_of_a_leaf(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_hook(note_node(log, "post"))
    accumulator.register_prehook(note_node(log, "pre"))
    x.register_hook(note(log, "tensor"))
    y.backward()
    return [log, x.grad]


@programs
def a_prehook_replaces_the_gradient(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.grad_fn.register_prehook(note_node(log, "next"))
    y.grad_fn.register_hook(note_node(log, "post"))
    y.backward()
    return [log, x.grad]


@programs
def a_prehook_of_a_leaf_replaces_the_gradient(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.grad_fn.next_functions[0][0].register_prehook(lambda go: (go[0] * 10,))
    y.backward()
    return x.grad


@programs
def a_posthook_replaces_the_gradient(t):
    x, w, log = leaf(t, 2.0), leaf(t, 5.0), []
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, gi[1]))
    y.grad_fn.register_hook(note_node(log, "next"))
    y.backward()
    return [log, x.grad, w.grad]


@programs
def a_posthook_takes_a_gradient_away(t):
    x, w, log = leaf(t, 2.0), leaf(t, 5.0), []
    a = x * 2
    y = a * w
    a.register_hook(note(log, "a"))
    a.grad_fn.register_prehook(lambda go: log.append(("pre", [g is None for g in go])))
    a.grad_fn.register_hook(lambda gi, go: log.append(("post", any(g is not None for g in gi + go))))
    x.register_hook(note(log, "x"))
    y.grad_fn.register_hook(lambda gi, go: (None, gi[1]))
    y.backward()
    return [log, x.grad, w.grad]


@programs
def a_node_without_a_gradient_is_freed_all_the_same(t):
    x, w = leaf(t, 2.0), leaf(t, 5.0)
    a = x.exp()
    y = a * w
    y.grad_fn.register_hook(lambda gi, go: (None, gi[1]))
    y.backward()
    return [error_of(lambda: a.grad_fn._saved_result), x.grad]


@programs
def node_hooks_that_return_something_wrong(t):
    seen = []
    for wrong in (
        lambda gi, go: (gi[0],),
        lambda gi, go: (gi[0], gi[1], gi[0]),
        lambda gi, go: (gi[0][:1], gi[1]),
        lambda gi, go: (gi[0].float(), gi[1]),
        lambda gi, go: (3.0, gi[1]),
    ):
        x, w = leaf(t, 2.0, 3.0), leaf(t, 5.0, 6.0)
        y = x * w
        y.grad_fn.register_hook(wrong)
        seen.append([error_of(y.sum().backward), x.grad, w.grad])
    return seen


@programs
def prehooks_that_return_something_wrong(t):
    seen = []
    for wrong in (
        lambda go: (),
        lambda go: (go[0], go[0]),
        lambda go: (go[0][:1],),
        lambda go: (go[0].float(),),
        lambda go: (3.0,),
    ):
        x = leaf(t, 2.0, 3.0)
        y = x * 3
        y.grad_fn.register_prehook(wrong)
        seen.append([error_of(y.sum().backward), x.grad])
    return seen


@programs
def removed_node_hooks_are_silent(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.grad_fn.register_prehook(note_node(log, "pre")).remove()
    y.grad_fn.register_hook(note_node(log, "post")).remove()
    y.backward()
    return log


@programs
def a_node_hook_that_raises(t):
    x = leaf(t, 2.0)
    y = x * 3

    def fail(*_):
        raise KeyError("mine")

    y.grad_fn.register_hook(fail)
    return [error_of(y.backward), x.grad, t.is_grad_enabled()]


@programs
def node_hooks_of_a_node_with_many_outputs(t):
    x, log = leaf(t, 2.0, 3.0, 4.0), []
    y = x * 2
    rows = y.unbind(0)
    node = rows[0].grad_fn
    node.register_prehook(lambda go: log.append([None if g is None else g.item() for g in go]))
    node.register_hook(note_node(log, "post"))
    (rows[0] * rows[2]).backward()
    return [log[1:], x.grad]


@programs
def node_hooks_under_create_graph(t):
    x = leaf(t, 2.0)
    y = x * x
    y.grad_fn.register_prehook(lambda go: (go[0] * y,))
    (g,) = t.autograd.grad(y * y, x, create_graph=True)
    return [unnamed(g), t.autograd.grad(g, x)]


@programs
def backward_inside_a_hook(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    y = x * 3

    def inner(g):
        (w * w).backward()
        log.append(w.grad.item())

    y.register_hook(inner)
    y.backward()
    return [log, x.grad, w.grad, t.is_grad_enabled()]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
