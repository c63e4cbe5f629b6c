"""Hooks on tensors and leaves after accumulation: what fires, with what, and what is refused, as in PyTorch."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same, unnamed

pytest.importorskip("torch")
programs = Programs()


def note(log, name):
    """A tensor hook that logs its name and gradient."""
    return lambda g: log.append((name, None if g is None else g.tolist()))


def note_grad(log, name="post"):
    """A hook after accumulation that logs the leaf's gradient."""
    return lambda p: log.append((name, None if p.grad is None else p.grad.tolist()))


# ----- registration -----


@programs
def hooks_before_and_after_in_place_ops_on_a_view(t):
    x, log = leaf(t, 1.0, 2.0), []
    base = x * 1
    view = base[0]
    view.register_hook(note(log, "view before"))
    base.register_hook(note(log, "base before"))
    view.mul_(3)
    view.register_hook(note(log, "view after"))
    base.register_hook(note(log, "base after"))
    (base * 2).sum().backward()
    return [log, x.grad]


@programs
def hooks_on_a_view_of_what_was_written(t):
    x, log = leaf(t, 1.0, 2.0), []
    base = x * 1
    view = base[0]
    view.register_hook(note(log, "before"))
    base.mul_(3)
    had = view._backward_hooks is not None
    view.register_hook(note(log, "after"))
    (view * 2 + base.sum()).backward()
    return [log, had, x.grad]


@programs
def retain_grad_of_a_view_whose_base_is_written(t):
    x = leaf(t, 1.0, 2.0)
    base = x * 1
    view = base[0]
    view.retain_grad()
    base.retain_grad()
    base.mul_(3)
    (view * 2 + base.sum()).backward()
    return [view.grad, base.grad, x.grad]


@programs
def hooks_on_two_tensors_of_one_output(t):
    x, log = leaf(t, 0.5), []
    y = x.exp()
    y.register_hook(note(log, "y 1"))
    again = y.grad_fn._saved_result
    again.register_hook(note(log, "again"))
    y.register_hook(note(log, "y 2"))
    y.backward()
    return log


@programs
def hooks_of_two_outputs_fire_in_the_order_of_their_tensors(t):
    x, log = leaf(t, 2.0, 3.0), []
    a, b = (x * 1).unbind(0)
    b.register_hook(note(log, "b 1"))
    a.register_hook(note(log, "a 1"))
    b.register_hook(note(log, "b 2"))
    (a * b).backward()
    return log


@programs
def a_hook_that_cannot_be_called(t):
    x = leaf(t, 2.0)
    x.register_hook(3)
    return error_of((x * 2).backward)


@programs
def hooks_survive_detach_in_place(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(note(log, "y"))
    y.detach_().requires_grad_()
    (y * 5).backward()
    return [log, y.grad]


@programs
def the_dictionary_of_hooks(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    seen = [x._backward_hooks, y._backward_hooks, x._post_accumulate_grad_hooks]
    handles = [v.register_hook(note(log, "hook")) for v in (x, x, y)]
    seen += [list(x._backward_hooks) == [h.id for h in handles[:2]], list(y._backward_hooks) == [handles[2].id]]
    handles[0].remove()
    seen += [len(x._backward_hooks), type(x._backward_hooks).__name__]
    y.mul_(1)
    seen.append(y._backward_hooks)
    y.backward()
    return [seen, log]


@programs
def assigning_the_dictionary_of_a_leaf(t):
    x, log = leaf(t, 2.0), []
    x.register_hook(note(log, "old"))
    kept = x * 1
    x._backward_hooks = type(x._backward_hooks)({1: note(log, "new")})
    (x * 3).backward()
    x._backward_hooks = None
    (x * 3).backward()
    return [log, kept.requires_grad, x.grad]


@programs
def assigning_nothing_to_an_intermediate_removes_nothing(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(note(log, "old"))
    y._backward_hooks = None
    y.register_hook(note(log, "new"))
    y.backward()
    return log


# ----- removal -----


@programs
def a_hook_removes_one_that_is_still_to_fire(t):
    x, log, handles = leaf(t, 2.0), [], []
    y = x * 3
    y.register_hook(lambda g: handles[0].remove())
    handles.append(y.register_hook(note(log, "fires all the same")))
    y.backward(retain_graph=True)
    y.backward()
    return log


@programs
def a_hook_removes_one_of_a_later_node(t):
    x, log, handles = leaf(t, 2.0), [], []
    y = x * 3
    y.register_hook(lambda g: handles[0].remove())
    handles.append(x.register_hook(note(log, "silent")))
    y.backward()
    return log


@programs
def a_hook_registers_one_on_a_later_node(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(lambda g: x.register_hook(note(log, "late")) and None)
    y.register_hook(lambda g: x.register_post_accumulate_grad_hook(note_grad(log)) and None)
    y.backward()
    return log


@programs
def a_handle_outlives_its_tensor(t):
    x = leaf(t, 2.0)
    handle = (x * 3).register_hook(print)
    return handle.remove()


@programs
def handles_have_rising_numbers(t):
    x = leaf(t, 2.0)
    a, b = x.register_hook(print), x.register_post_accumulate_grad_hook(print)
    return b.id - a.id


# ----- what hooks return -----


@programs
def hooks_that_return_what_they_got(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(lambda g: g)
    y.register_hook(note(log, "y"))
    y.backward()
    return [log, x.grad]


@programs
def a_gradient_where_there_is_none(t):
    x, w = leaf(t, 2.0), leaf(t, 5.0)
    a = x * 2
    y = a * w
    a.register_hook(lambda g: t.ones(1, dtype=t.float64))
    y.grad_fn.register_hook(lambda gi, go: (None, gi[1]))
    return [error_of(y.backward), x.grad, w.grad]


@programs
def node_hooks_must_return_tuples(t):
    seen = []
    for wrong in (lambda *g: g[0][0], lambda *g: [g[0][0]], lambda *g: "x", lambda *g: (None,), lambda *g: (g[0][0],)):
        for kind in ("register_hook", "register_prehook"):
            x = leaf(t, 2.0)
            y = x.neg()
            getattr(y.grad_fn, kind)(wrong)
            seen.append([error_of(y.backward), x.grad])
    return seen


class Named:
    """A hook without a name."""

    def __call__(self, g):
        return g[:1]


@programs
def a_hook_without_a_name(t):
    x = leaf(t, 2.0, 3.0)
    x.register_hook(Named())
    return error_of((x * 2).sum().backward)


# ----- after accumulation -----


@programs
def after_accumulation_the_gradient_is_there(t):
    x, log = leaf(t, 2.0), []
    x.register_post_accumulate_grad_hook(note_grad(log, 1))
    x.register_post_accumulate_grad_hook(note_grad(log, 2))
    for _ in range(2):
        (x * x).backward()
    return [log, len(x._post_accumulate_grad_hooks)]


@programs
def the_hook_gets_the_leaf_itself_and_no_gradient_mode(t):
    x, log = leaf(t, 2.0), []
    x.register_post_accumulate_grad_hook(lambda p: log.append([p is x, t.is_grad_enabled()]))
    (x * x).backward()
    (x * x).backward(create_graph=True)
    return [log, unnamed(x.grad)]


@programs
def an_optimizer_step_in_the_hook(t):
    x = leaf(t, 2.0)

    def step(p):
        p.add_(p.grad, alpha=-0.5)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x).backward()
    return [x.detach(), x.grad, x._version]


@programs
def the_order_around_accumulation(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda gi, go: log.append(["after", len(gi), go[0].tolist(), x.grad.tolist()]))
    x.register_post_accumulate_grad_hook(note_grad(log))
    node.register_prehook(lambda go: log.append(["before", go[0].tolist(), x.grad is None]))
    x.register_hook(note(log, "tensor"))
    y.grad_fn.register_hook(lambda gi, go: log.append("producer"))
    y.backward()
    return log


@programs
def fires_without_a_gradient_too(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    y = x * w
    x.register_post_accumulate_grad_hook(note_grad(log, "x"))
    w.register_post_accumulate_grad_hook(note_grad(log, "w"))
    y.grad_fn.register_hook(lambda gi, go: (None, gi[1]))
    y.backward()
    return log


@programs
def after_accumulation_under_inputs_and_grad(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    for v, name in ((x, "x"), (w, "w")):
        v.register_post_accumulate_grad_hook(note_grad(log, name))
        v.register_hook(note(log, "tensor " + name))
    y = x * w
    y.backward(inputs=[x], retain_graph=True)
    log.append("grad")
    t.autograd.grad(y, [x, w])
    return [log, x.grad, w.grad]


@programs
def a_leaf_frozen_meanwhile_accumulates_nothing(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    x.register_post_accumulate_grad_hook(note_grad(log))
    x.requires_grad_(False)
    y.backward()
    return [log, x.grad]


@programs
def after_accumulation_is_for_leaves(t):
    x = leaf(t, 2.0)
    return [
        error_of((x * 2).register_post_accumulate_grad_hook, print),
        error_of(t.ones(1).register_post_accumulate_grad_hook, print),
        error_of((x * 2).detach().register_post_accumulate_grad_hook, print),
    ]


@programs
def hooks_after_accumulation_return_nothing(t):
    seen = []
    for answer in (
        lambda p: p,
        lambda p: 3,
        lambda p: p.grad,
        lambda p: p * 2,
        lambda p: p.float(),
        lambda p: (p,),
        lambda p: p[:1],
    ):
        x, log = leaf(t, 2.0, 3.0), []
        x.register_post_accumulate_grad_hook(answer)
        x.register_post_accumulate_grad_hook(lambda p, log=log: log.append("next"))
        seen.append([error_of((x * 3).sum().backward), log, x.grad])
    return seen


@programs
def a_hook_after_accumulation_that_raises(t):
    x, w = leaf(t, 2.0), leaf(t, 3.0)

    def fail(p):
        raise KeyError("mine")

    handle = x.register_post_accumulate_grad_hook(fail)
    first = error_of((x * 3 + w).backward)
    seen = [first, x.grad, t.is_grad_enabled()]
    handle.remove()
    (x * 3).backward()
    return [seen, x.grad]


@programs
def a_removed_hook_after_accumulation(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    x.register_post_accumulate_grad_hook(note_grad(log)).remove()
    y.backward()
    x._post_accumulate_grad_hooks = None
    (x * 3).backward()
    return [log, x.grad]


@programs
def another_backward_in_the_hook(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    x.register_post_accumulate_grad_hook(lambda p: (w * p.grad).backward())
    w.register_post_accumulate_grad_hook(note_grad(log, "w"))
    (x * x).backward()
    return [log, x.grad, w.grad]


@programs
def backward_into_the_same_leaf_in_its_hook(t):
    x, log = leaf(t, 2.0), []

    def again(p):
        log.append(p.grad.item())
        if len(log) < 200:
            with t.enable_grad():
                (p * 3).backward()

    x.register_post_accumulate_grad_hook(again)
    (x * x).backward()
    return [log, x.grad]


@programs
def after_accumulation_of_a_view_that_is_a_leaf(t):
    log = []
    x = t.ones(4, dtype=t.float64)[:2].requires_grad_()
    x.register_post_accumulate_grad_hook(note_grad(log))
    (x * 3).sum().backward()
    return log


# ----- under inputs -----


@programs
def which_hooks_fire_for_inputs(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    a = x * 2
    b = a * w
    c = b.exp()
    for name, v in (("x", x), ("w", w), ("a", a), ("b", b), ("c", c)):
        v.register_hook(note(log, name))
    for name, v in (("a", a), ("b", b), ("c", c)):
        v.grad_fn.register_prehook(lambda go, name=name: log.append("pre " + name))
        v.grad_fn.register_hook(lambda gi, go, name=name: log.append("post " + name))
    for wanted in ([a], [w], [a, b], [x], [c], [x, w]):
        log.append("backward")
        c.backward(inputs=wanted, retain_graph=True)
        log.append("grad")
        log.append([g.item() for g in t.autograd.grad(c, wanted, retain_graph=True)])
    return [log, a.grad, b.grad, c.grad, x.grad, w.grad]


@programs
def a_replaced_gradient_is_picked_up(t):
    x = leaf(t, 2.0)
    a = x * 2
    b = a * 3
    a.register_hook(lambda g: g * 10)
    return [
        t.autograd.grad(b, a, retain_graph=True),
        t.autograd.grad(b, x, retain_graph=True),
        t.autograd.grad(b, [a, x], retain_graph=True),
        b.backward(inputs=[a]),
        a.grad,
    ]


# ----- hooks that write to their gradient -----


def _times_10(g):
    g.mul_(10)


_WRITING = {
    "tensor": lambda x, c, d: c.register_hook(_times_10),
    "pre": lambda x, c, d: c.grad_fn.register_prehook(lambda gs: _times_10(gs[0])),
    "post": lambda x, c, d: d.grad_fn.register_hook(lambda gs, outs: [_times_10(g) for g in gs] and None),
    "leaf": lambda x, c, d: x.register_hook(_times_10),
}


@programs
def a_gradient_without_dimensions_is_written_in_place(t):
    """NumPy makes numbers of such gradients, of which a hook would change a copy."""
    found = []
    for register in _WRITING.values():
        for of in (lambda b, c: b + c, lambda b, c: b - c, lambda b, c: b * c):
            x, z = leaf(t, 1.0), leaf(t, 2.0)
            x, z = x.detach().sum().requires_grad_(), z.detach().sum().requires_grad_()
            b, c = 2 * x, 3 * z
            d = of(b, c)
            register(x, c, d)
            (d * 4).backward()
            found += [x.grad, z.grad]
    return found


@programs
def the_backward_of_a_function_writes_to_such_a_gradient(t):
    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.clone(), y.clone()

        @staticmethod
        def backward(ctx, g, h):
            g.mul_(10)
            return g, h

    x, z, w = (leaf(t, 1.0).detach().sum().requires_grad_() for _ in range(3))
    p, q = Twice.apply(x, z)
    ((p + q + 2 * w) * 4).backward()
    return [x.grad, z.grad, w.grad]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
