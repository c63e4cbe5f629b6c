"""Views without a history, rewritten ones under custom Functions, repeated memory, conjugates; index texts; detach_. As in PyTorch."""

import operator

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, name_of, same

import agdbg_engine as ag
from agdbg_engine import events

pytest.importorskip("torch")
programs = Programs()


def state(x):
    """What autograd says of a tensor."""
    edges = None if x.grad_fn is None else [n if n is None else n.name() for n, _ in x.grad_fn.next_functions]
    return [x.requires_grad, x.is_leaf, name_of(x.grad_fn), edges]


def late(t):
    """A base that began to require grad after its view was made."""
    base = t.zeros(4)
    view = base[:2]
    return base.requires_grad_(), view


def unrecorded(t):
    """A leaf and a view of it that was made without recording."""
    base = t.zeros(4, requires_grad=True)
    with t.no_grad():
        return base, base[:2]


def of_result(t):
    """As :func:`unrecorded`, of a base that has a history."""
    base = t.zeros(4, requires_grad=True) * 1
    with t.no_grad():
        return base, base[:2]


def doubled(t):
    """A custom Function whose gradient is twice what comes in."""

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, *xs):
            return xs[0] * 1

        @staticmethod
        def backward(ctx, g):
            return (g * 2,) * len(ctx.needs_input_grad)

    return F.apply


# ----- a view that takes its place in a rewritten history while a node is made -----


@programs
def custom_function_of_a_stale_view(t):
    x, y = leaf(t, [1.0, 2.0, 3.0]), leaf(t, [1.0, 2.0])
    b = x * 1
    v = b[1:]
    b.mul_(3)
    out = doubled(t)(v, y)
    order = out.grad_fn._sequence_nr() > v.grad_fn._sequence_nr()
    out.sum().backward()
    return [order, x.grad, y.grad]


@programs
def joined_and_split_stale_views(t):
    x = leaf(t, [1.0, 2.0, 3.0, 4.0])
    b = x * 1
    v, w, u = b[1:], b[:2], b[2:]
    b.mul_(3)
    (t.stack([w, u]).sum() * 5 + t.cat([v, w]).sum() + v.split(2)[0].sum() * 7).backward()
    return x.grad


@programs
def stale_view_written_by_a_custom_function(t):
    class Tripled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf(t, [1.0, 2.0, 3.0])
    b = x * 1
    v, w = b[1:], b[:2]
    b.mul_(2)
    Tripled.apply(v)
    (b.sum() + w.sum() * 10).backward()
    return [b, w, x.grad]


@programs
def checkpoint_of_a_stale_view(t):
    from importlib import import_module

    checkpoint = import_module(t.__name__ + ".utils.checkpoint").checkpoint
    x = leaf(t, [1.0, 2.0, 3.0])
    b = x * 1
    v = b[1:]
    b.mul_(3)
    checkpoint(lambda y: y * y, v, use_reentrant=True).sum().backward()
    return x.grad


# ----- views that require grad without a history -----

MAKERS = {"late": late, "unrecorded": unrecorded, "of a result": of_result}
USES = {
    "times": lambda t, v: v * 2,
    "itself": operator.mul,
    "exp": lambda t, v: v.exp(),
    "relu": lambda t, v: v.relu(),
    "sum": lambda t, v: v.sum(),
    "softmax": lambda t, v: v.softmax(0),
    "slice": lambda t, v: v[:1],
    "row": lambda t, v: v[0],
    "view": lambda t, v: v.view(2, 1),
    "expand": lambda t, v: v.expand(3, 2),
    "index": lambda t, v: v[t.tensor([0, 1])],
    "clone": lambda t, v: v.clone(),
    "stack": lambda t, v: t.stack([v, v]),
    "cat": lambda t, v: t.cat([v, v]),
    "split": lambda t, v: v.split(1)[1],
    "unbind": lambda t, v: v.unbind(0)[0],
    "where": lambda t, v: t.where(v > 0, v, v),
    "custom": lambda t, v: doubled(t)(v),
    "into another": lambda t, v: t.ones(2).mul_(v),
    "detached": lambda t, v: v.detach(),
    "compared": lambda t, v: v > 0,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("made", MAKERS)
def test_use_of_a_view_without_history(made, use):
    def program(t):
        base, v = MAKERS[made](t)
        out = USES[use](t, v)
        facts = [state(v), state(out), state(v)]
        if out.requires_grad:
            (out * leaf(t, 3.0)).sum().backward(retain_graph=True)
            facts += [t.autograd.grad(out.sum(), base, allow_unused=True, create_graph=True)]
            facts += [t.autograd.grad(out.sum(), v, allow_unused=True), error_of(lambda: t.autograd.grad(out.sum(), v))]
        return [*facts, v.is_leaf and v.grad]

    same(program)


@programs
def gradient_of_the_other_operand(t):
    _, v = unrecorded(t)
    y = t.tensor([3.0, 4.0], requires_grad=True)
    out = (v + 2) * y
    (g,) = t.autograd.grad(out.sum(), y, create_graph=True)
    return [g, state(g), state(out), t.autograd.grad(g.sum() + (y * y).sum(), y)]


@programs
def requires_grad_cannot_be_taken_from_a_view(t):
    base, v = late(t)
    v.requires_grad_(False)
    facts = [state(v), state(v * 2)]
    v.requires_grad_()
    (v * 2).sum().backward()
    return [*facts, v.grad, base.grad, state(v * 2)]


@programs
def view_before_its_base_is_written_with_history(t):
    base, x = t.zeros(4), leaf(t, [1.0, 2.0, 3.0, 4.0])
    v = base[:2]
    v.requires_grad_(False)
    facts = state(v)
    base.mul_(0).add_(x * 3)
    v.sum().backward()
    return [facts, name_of(v.grad_fn), x.grad]


@programs
def backward_only_into_a_view_without_history(t):
    _, v = unrecorded(t)
    return [error_of(lambda: (v * 2).sum().backward(inputs=[v])), v.grad]


@programs
def view_of_an_unrecorded_view(t):
    facts = []
    for make in (unrecorded, of_result, late):
        base, v = make(t)
        u, w = v[0], v.view(2)
        facts += [state(u), state(w), error_of(lambda u=u: u.mul_(2)), error_of(lambda v=v: v.mul_(2))]
        with t.no_grad():
            base.mul_(2)
        facts += [error_of(lambda u=u: u.grad_fn), error_of(lambda w=w: w * 2)]
    return facts


# ----- memory that shows as several elements -----

MASK = [[True, False, False], [False, False, True]]
WRITES = {
    "zero_": lambda t, x: x.zero_(),
    "fill_": lambda t, x: x.fill_(4.0),
    "fill_ tensor": lambda t, x: x.fill_(t.tensor(4.0)),
    "masked_fill_": lambda t, x: x.masked_fill_(t.tensor(MASK), 5.0),
    "masked_fill_ nan": lambda t, x: x.masked_fill_(t.tensor(MASK), float("nan")),
    "masked_fill_ tensor": lambda t, x: x.masked_fill_(mask=t.tensor(MASK), value=t.tensor(5.0)),
    "index_put_": lambda t, x: x.index_put_((t.tensor([0, 1]), t.tensor([1, 1])), t.tensor([7.0, 8.0])),
    "index_put_ adding": lambda t, x: x.index_put_((t.tensor([0, 1]),), t.tensor(7.0), True),
    "by mask": lambda t, x: operator.setitem(x, t.tensor(MASK), 3.0),
    "by index": lambda t, x: operator.setitem(x, (slice(None), t.tensor([0, 1])), t.zeros(2, 2)),
    "row": lambda t, x: operator.setitem(x, 0, 3.0),
    "column": lambda t, x: operator.setitem(x, (slice(None), 0), 3.0),
    "all": lambda t, x: operator.setitem(x, Ellipsis, 3.0),
    "copy": lambda t, x: operator.setitem(x, slice(None), t.zeros(2, 3)),
    "mul_": lambda t, x: x.mul_(2),
    "copy_": lambda t, x: x.copy_(t.zeros(2, 3)),
    "clamp_": lambda t, x: x.clamp_(0, 0.5),
}


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")  # what is tested is what it does
@pytest.mark.parametrize("shape", [(1, 3), (3,)])
@pytest.mark.parametrize("write", WRITES)
def test_write_to_expanded_memory(write, shape):
    def plain(t):
        base = t.ones(shape)
        x = base.expand(2, 3)
        return [error_of(lambda: WRITES[write](t, x)), base, x, base._version]

    def recorded(t):
        base = t.ones(shape, requires_grad=True) * 2
        x = base.expand(2, 3)
        facts = [error_of(lambda: WRITES[write](t, x)), name_of(x.grad_fn), name_of(base.grad_fn), x.detach()]
        return [*facts, error_of((x * 2).sum().backward)]

    same(plain)
    same(recorded)


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")  # what is tested is what it does
@programs
def gradient_of_a_value_written_to_expanded_memory(t):
    v = leaf(t, 2.0)
    x, y = t.ones(1, 3).expand(2, 3), t.ones(1, 3).expand(2, 3)
    x.masked_fill_(t.tensor(MASK), v)
    y[t.tensor(MASK)] = v
    (g,) = t.autograd.grad((x * 3).sum(), v)
    (h,) = t.autograd.grad((y * 3).sum(), v, create_graph=True)
    return [x.detach(), y.detach(), g, h]


@pytest.mark.parametrize("write", ["masked_fill_", "by index"])
def test_write_to_expanded_memory_warns(write):
    with pytest.warns(UserWarning, match="Use of (masked_fill_|index_put_) on expanded tensors is deprecated. Please"):
        WRITES[write](ag, ag.ones(3).expand(2, 3))


# ----- conjugates are copies: here PyTorch differs -----


@pytest.mark.parametrize("conjugate", [lambda x: x.conj(), lambda x: x.H, lambda x: x.mH, lambda x: x.conj()[0]])
def test_a_conjugate_is_not_written(conjugate):
    x = ag.tensor([[1 + 2j, 3j]])
    for write in (
        lambda c: c.mul_(2),
        lambda c: c.zero_(),
        lambda c: operator.setitem(c, 0, 1.0),
        lambda c: c.imag.zero_(),
    ):
        made = conjugate(x)
        with pytest.raises(RuntimeError, match=r"conj\(\) is a copy in this engine"):
            write(made)
        assert made.tolist() == conjugate(x).tolist()
    assert x.tolist() == [[1 + 2j, 3j]]
    with ag.inference_mode(), pytest.raises(RuntimeError, match=r"conj\(\) is a copy"):
        conjugate(x).mul_(2)


@programs
def a_conjugate_may_be_used_and_cloned(t):
    x = t.tensor([1 + 2j, 3j], dtype=t.complex128, requires_grad=True)
    c = x.conj().clone()
    c.mul_(2)
    r = x.conj().resolve_conj()
    r.add_(1)
    real = t.ones(2)
    real.conj().mul_(2)
    (c.imag.sum() + (r * x).real.sum()).backward()
    return [c, r, real, x.grad]


# ----- texts, types, what detach_ keeps -----

KEYS = {
    "first": lambda t: (9,),
    "second": lambda t: (0, 9),
    "third": lambda t: (0, 0, 9),
    "after ...": lambda t: (..., 9),
    "around ...": lambda t: (0, ..., -9),
    "after None": lambda t: (None, slice(None), 9),
    "0-d": lambda t: (0, t.tensor(9)),
    "tensor": lambda t: (t.tensor([0, 9]),),
    "tensor second": lambda t: (slice(None), t.tensor([0, 9])),
    "tensors": lambda t: (t.tensor([0, 1]), t.tensor([0, -9])),
    "tensors apart": lambda t: (t.tensor([0, 1]), slice(None), t.tensor([0, 9])),
    "tensor after integer": lambda t: (0, slice(None), t.tensor([0, 9])),
    "after a mask": lambda t: (t.tensor([[True, False, True], [True, True, False]]), t.tensor([0, 1, 2, 9])),
}


@pytest.mark.parametrize("key", KEYS)
def test_index_out_of_bounds(key):
    def program(t):
        x = t.ones(2, 3, 4)
        k = KEYS[key](t)
        values = (1.0, t.tensor(1.0), t.ones(1))
        return [error_of(lambda: x[k]), *(error_of(lambda v=v: operator.setitem(x, k, v)) for v in values)]

    same(program)
    events.use(events.INFERENCE)  # somewhere else in the process
    try:
        same(program)
    finally:
        events.use(events.INFERENCE, -1)


@programs
def index_put_out_of_bounds(t):
    x, i, j, one = t.ones(2, 3), t.tensor([0, 1]), t.tensor([0, 9]), t.tensor(1.0)
    calls = [
        lambda: x.index_put_((j,), one),
        lambda: x.index_put((i, j), one),
        lambda: x.index_put((i, j), one, True),
        lambda: x.index_put_((i, j), one, True),
    ]
    return [*map(error_of, calls)]  # PyTorch has then added what comes before


@programs
def view_func_of_no_tensor(t):
    v = t.ones(4)[:2]
    return [error_of(lambda: v._view_func(1)), error_of(lambda: v._view_func(None)), v._view_func(t.zeros(4))]


@programs
def detach_keeps_retains_grad(t):
    x = leaf(t, [1.0, 2.0])
    y, z = x * 2, x * 2
    y.retain_grad()
    y.detach_(), z.detach_()
    facts = [y.retains_grad, z.retains_grad, state(y), error_of(z.retain_grad)]
    y.requires_grad_()
    (y * 3).sum().backward()
    return [*facts, y.retains_grad, y.grad, x.grad]


def test_a_write_after_detach_retains_again():
    # PyTorch fails an internal assertion here
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.detach_().mul_(x)
    (y * 5).sum().backward()
    assert y.retains_grad
    assert y.grad.tolist() == [5.0, 5.0]
    assert x.grad.tolist() == [10.0, 20.0]


@programs
def the_history_of_a_written_view_runs_in_a_second_backward(t):
    x = leaf(t, 0.5, 1.0)
    v = (x * 1).view(2)
    v.tanh_()
    ran = []
    v.grad_fn.register_hook(lambda *_: ran.append(v.grad_fn.name()))
    (g,) = t.autograd.grad(v.sum(), x, create_graph=True)
    return t.autograd.grad(g.sum(), x), ran


@programs
def an_output_of_several_of_a_view_of_inference_mode(t):
    y = leaf(t, 1.0, 2.0) * 1
    with t.inference_mode():
        v = y[:]
    part = v.unbind(0)[0]
    with t.inference_mode():
        y.mul_(2)
    return error_of(lambda: part.grad_fn)


@programs
def strides_of_dimensions_of_size_one(t):
    x = t.ones(2, 3)
    made = [x[None], x.unsqueeze(1), x.unsqueeze(-1), x[:1].expand(4, 1, 3), x.t()[None]]
    return [v.stride() for v in made]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


@pytest.mark.parametrize("looked_at", [False, True])
@pytest.mark.parametrize("pieces", [False, True])
def test_retain_grad_takes_a_stale_view_as_it_stands(pieces, looked_at):
    def program(t):
        x = t.ones(2, 3, requires_grad=True)
        base = t.zeros(2, 3)
        view = base.unbind()[0] if pieces else base[0]
        base.add_(x)
        error = error_of(lambda: view.grad_fn) if looked_at else None
        view.retain_grad()
        return [error, error_of(lambda: (view * 2).sum().backward()), view.retains_grad, view.grad, x.grad]

    same(program)


THROUGH_A_VIEW = (
    "copysign_", "cumprod_", "exp2_", "exp_", "expm1_", "hypot_", "reciprocal_", "relu_", "rsqrt_", "sgn_", "sigmoid_",
    "sqrt_", "tan_", "tanh_", "celu_", "elu_", "leaky_relu_", "rrelu_", "selu_",
)  # fmt: skip


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("name", THROUGH_A_VIEW)
def test_whose_saved_result_was_written_after_a_write_through_a_view(name, held):
    def both(t):
        y = t.full((2, 2), 0.25, requires_grad=True) * 1
        v = y.t()
        function = getattr(t.Tensor, name, None) or getattr(t.nn.functional, name)
        function(v, *{"copysign_": [t.ones(2, 2)], "hypot_": [t.ones(2, 2)], "cumprod_": [0]}.get(name, []))
        if not held:
            del v
        y.mul_(2)
        y.sum().backward()

    same(both)


AGAIN = {
    "written": lambda t, v: v.mul_(2),
    "a row": lambda t, v: v.__setitem__(0, 3.0),
    "a mask": lambda t, v: v.masked_fill_(v > 0, 1.0),
    "added to": lambda t, v: v.add_(v.detach() * 2),
}


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("write", AGAIN)
def test_whose_saved_result_was_written_through_the_same_view(write, used):
    """The history that the view had goes with the write, unless something else was made of it."""

    def both(t):
        y = t.full((2, 2), 0.25, requires_grad=True) * 1
        v = y.t()
        v.exp_()
        z = v * 2 if used else 0
        AGAIN[write](t, v)
        (y.sum() + z).sum().backward()

    same(both)


@pytest.mark.parametrize("base", ["plain", "leaf"])
def test_what_does_not_fit_is_refused_last(base):
    def both(t):
        x = t.ones(2, 3, requires_grad=base == "leaf")
        x[t.tensor([0])] = x if base == "plain" else t.ones(2, 3)

    same(both)
