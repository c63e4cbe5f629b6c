"""Views: where they were made decides what writing them does; replaying; detach_; chains. As in PyTorch."""

import contextlib

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, name_of, same, versions

import agdbg_engine as ag
from agdbg_engine.view_func import chain_of

pytest.importorskip("torch")
programs = Programs()


def custom(t):
    """A custom Function that returns a view of its input."""

    class Half(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def backward(ctx, g):
            return t.cat([g * 10, g * 0])

    return Half.apply


@contextlib.contextmanager
def made_in(t, where):
    with {"no_grad": t.no_grad, "inference": t.inference_mode, "nothing": contextlib.nullcontext}[where]():
        yield


MAKERS = {
    "view": lambda t, x: x.view(2, 1),
    "row": lambda t, x: x[0:1],
    "unbind": lambda t, x: x.unbind(0)[0],
    "split": lambda t, x: x.split(1)[1],
    "chunk": lambda t, x: x.chunk(2)[0],
    "view of unbind": lambda t, x: x.unbind(0)[0].view(1),
    "unbind of view": lambda t, x: x.view(2, 1).unbind(0)[1],
    "custom": lambda t, x: custom(t)(x),
    "view of custom": lambda t, x: custom(t)(x).view(1, 1),
}
BASES = {
    "leaf": lambda t: leaf(t, 1.0, 2.0),
    "result": lambda t: leaf(t, 1.0, 2.0) * 1,
    "plain": lambda t: t.ones(2, dtype=t.float64),
}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("where", ["nothing", "no_grad", "inference"])
def test_a_view_is_written(base, maker, where):
    """Made in one mode, written in another: the error, or the values and histories that come of it."""

    def program(t):
        x = BASES[base](t)
        with made_in(t, where):
            v = MAKERS[maker](t, x)
        seen = []
        for write in (lambda: v.mul_(2), lambda: v.mul_(leaf(t, 3.0))):
            seen += [error_of(write), x.detach(), v.detach(), error_of(lambda: name_of(x.grad_fn))]
        with t.no_grad():
            seen += [error_of(lambda: v.add_(1)), x.detach()]
        return [*seen, x._version, error_of(lambda: name_of(v.grad_fn)), v._is_view()]

    same(program)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("where", ["nothing", "no_grad", "inference"])
def test_the_base_of_a_view_is_written(maker, where):
    def program(t):
        x = leaf(t, 1.0, 2.0) * 1
        with made_in(t, where):
            v = MAKERS[maker](t, x)
        x.mul_(leaf(t, 3.0, 4.0))
        return [
            error_of(lambda: name_of(v.grad_fn)),
            error_of(lambda: v.requires_grad),
            error_of(lambda: (v * 2).sum()),
            v.detach(),
            x,
        ]

    same(program)


@pytest.mark.parametrize("maker", [m for m in MAKERS if "custom" not in m])
@pytest.mark.parametrize("where", ["nothing", "no_grad"])
def test_a_relative_of_a_view_is_written(maker, where):
    def program(t):
        x = leaf(t, 1.0, 2.0) * 1
        with made_in(t, where):
            v = MAKERS[maker](t, x)
        w = x[:]
        w.mul_(leaf(t, 3.0, 4.0))
        got = [error_of(lambda: name_of(v.grad_fn)), error_of(lambda: (v * 2).sum()), v.detach()]
        return [*got, name_of(w.grad_fn), name_of(x.grad_fn), versions(x, v, w)]

    same(program)


# ----- detach_ -----


@programs
def views_of_what_is_detached_in_place(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    v = y[:1]
    y.detach_()
    seen = [y.requires_grad, v.requires_grad, name_of(v.grad_fn), v._is_view(), v._base is y]
    (v * 3).sum().backward()
    return [*seen, x.grad]


@programs
def views_are_written_after_the_base_was_detached_in_place(t):
    y = leaf(t, 1.0, 2.0) * 1
    v, w = y[:1], y[1:]
    y.detach_()
    v.mul_(2)
    return [y, v.requires_grad, name_of(v.grad_fn), error_of(lambda: name_of(w.grad_fn)), w.detach(), versions(y, v, w)]


@programs
def the_base_is_written_after_it_was_detached_in_place(t):
    k = leaf(t, 5.0, 6.0)
    y = leaf(t, 1.0, 2.0) * 1
    v = y[:1]
    y.detach_()
    y.mul_(k)
    (v * 2).sum().backward()
    return [y, v, k.grad]


@programs
def detach_in_place_of_views(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    with t.no_grad():
        made = y[:1]
    tries = [y[:1], y.view(2, 1), y.unbind(0)[0], x[:1], x.detach()[:1], t.ones(2)[:1], made]
    return [[error_of(v.detach_), v.requires_grad, v._is_view()] for v in tries]


@programs
def a_derivative_of_what_was_saved_and_then_detached_in_place(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 1
    z = y * y
    y.detach_()
    w = x * 1
    e = w.exp()
    e2 = e * 1
    e.detach_()
    return [error_of(t.autograd.grad, z.sum(), x, create_graph=True), t.autograd.grad(e2.sum(), x)]


@programs
def a_view_is_made_to_require_grad(t):
    base = t.zeros(3, dtype=t.float64)
    v, w = base[:2], base[1:]
    v.requires_grad_()
    seen = [v.is_leaf, w.requires_grad, base.requires_grad, error_of(v.mul_, 2), error_of(w.mul_, 2)]
    (v * 3).sum().backward()
    return [*seen, v.grad, error_of(base.mul_, 2), error_of(lambda: name_of(v.grad_fn)), v._version]


# ----- chains -----


@programs
def a_long_chain(t):
    x = t.arange(24, dtype=t.float64).requires_grad_()
    y = x * 1
    v = y.view(2, 3, 4).transpose(0, 2)[1:, ::2].unsqueeze(0).squeeze().permute(2, 0, 1)[1]
    w = v.t()[0]
    w.mul_(x[:1])
    v.add_(1)
    (y * y).sum().backward()
    return [y, v, w, name_of(v.grad_fn), name_of(w.grad_fn), x.grad, versions(x, y, v, w)]


@programs
def a_base_that_is_not_row_major(t):
    x = t.arange(6, dtype=t.float64).view(2, 3).requires_grad_()
    y = x.t().clone()
    v = y.t().view(-1)
    v[1:4].mul_(x.sum())
    w = y.t()[0]
    (y * y).sum().backward()
    return [v, y, x.grad, w, name_of(v.grad_fn)]


@programs
def second_derivatives_through_writes(t):
    x = t.arange(1, 7, dtype=t.float64).view(2, 3).requires_grad_()
    y = (x * x).t().clone().t()
    y[0].mul_(x[1])
    y.view(-1)[2:5].exp_() if y.is_contiguous() else y.t().reshape(-1)[2:5].exp()
    (g,) = t.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = t.autograd.grad((g * g).sum(), x)
    return [g.detach(), h]


@programs
def versions_are_shared_by_all_relatives(t):
    x = t.zeros(4)
    v, d = x.view(2, 2), x.detach()
    w, e = v[0], d[1:]
    seen = [versions(x, v, d, w, e)]
    for one in (x, v, d, w, e):
        one.add_(1)
        seen.append(versions(x, v, d, w, e))
    return [seen, x]


# ----- replay -----


@programs
def unsafe_pieces_are_no_views(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x * 1
    pieces = [*y.unsafe_split(2), *y.unsafe_chunk(3), *y.unsafe_split_with_sizes([1, 2])]
    seen = [(p, p.output_nr, p._version) for p in pieces]
    pieces[0].mul_(2)
    pieces[4].exp_()
    sum(p.sum() for p in pieces).backward()
    return [seen, x.grad, y._version, name_of(y.grad_fn), y.detach(), t.unsafe_split(x, 1)[0]._base]


@programs
def replayed_on_another_base(t):
    x = t.arange(6, dtype=t.float64).view(2, 3) * 1
    other = leaf(t, *range(6)).view(2, 3) * 10
    makers = (
        lambda x: x[0][1:], lambda x: x.t(), lambda x: x.unbind(1)[2], lambda x: x.T.unsqueeze(0), lambda x: x.view(3, 2)[::2],
        lambda x: x.expand(2, 2, 3)[1], lambda x: x.permute(1, 0)[1], lambda x: x.squeeze().unsqueeze(-1), lambda x: x.split(1)[1],
    )  # fmt: skip
    got = [make(x)._view_func(other.detach()) for make in makers]
    expected = [make(other.detach()) for make in makers]
    return [[(g - e).abs().sum() for g, e in zip(got, expected, strict=True)], [g._is_view() for g in got], got]


@programs
def not_replayable(t):
    x = t.zeros(2, 3)
    v = x[0]
    return [
        x._view_func(x),
        v._view_func(t.zeros(3, 2)),
        v._view_func(t.zeros(2, 3, dtype=t.float64)),
        v._view_func(t.zeros(3, 2).t()),
    ]


@programs
def seen_in_another_memory(t):
    x, other = t.zeros(2, 3), t.arange(12.0, requires_grad=True)
    views = (x[1], x.t(), x.view(6)[2:], x[:, 1:].t()[0], t.view_as_real(t.zeros(2, dtype=t.complex64)))
    bases = (other.view(3, 4), other[6:], other.view(2, 6).t(), t.ones(2, dtype=t.complex64))
    got = [[v._view_func_unsafe(b) for v in views[:-1]] for b in bases[:-1]]
    return [
        got, views[-1]._view_func_unsafe(bases[-1]), t.zeros(2)._view_func_unsafe(other), error_of(views[0]._view_func_unsafe, 1),
        t.autograd.grad(got[0][1].sum(), other)[0].tolist(),
    ]  # fmt: skip


def test_a_replayed_view_records():
    x = ag.arange(6, dtype=ag.float64).view(2, 3)
    other = ag.ones(6, dtype=ag.float64, requires_grad=True)
    again = x.t()[1]._view_func(other)
    again.sum().backward()
    assert other.grad.tolist() == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0] and again.grad_fn.name() == "SelectBackward0"


def test_the_chain_can_be_read():
    x = ag.zeros(2, 3)
    assert list(map(repr, chain_of(x.t()[1:, 0]))) == [
        "t()",
        "slice(dim=0, end=3, start=1, step=1)",
        "select(dim=1, index=0)",
    ]
    assert chain_of(x) == [] and [f.name for f in chain_of(x.unbind(0)[1])] == ["select"]
    assert chain_of(x.unbind(0)[1])[0].arguments == {"dim": 0, "index": 1}


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
