"""Shape changes of bases in place, views that lead nowhere, data of another kind, tangents that share memory: as in PyTorch."""

import numpy as np
import pytest
from agdbg_tests_differential import Programs, error_of, same
from agdbg_tests_forward_tools import dual_facts, tangent

program = Programs()


def grid(t, *shape):
    n = 1
    for s in shape:
        n *= s
    return t.arange(float(n)).reshape(shape).requires_grad_()


# ----- views made under no_grad: their gradients lead nowhere -----


@program
def two_views_of_different_shapes_that_lead_nowhere(t):
    x = grid(t, 2, 3)
    with t.no_grad():
        a, b = x[0], x[:, 0]
    (x.sum() + a.sum() + b.exp().sum()).backward()
    return [x.grad, a.grad, b.grad]


@program
def the_same_with_create_graph(t):
    x = grid(t, 2, 3)
    with t.no_grad():
        a, b = x[0], x[:, 0]
    (x.sum() + a.sum() + b.sum()).backward(create_graph=True)
    return [x.grad]


@program
def a_view_made_in_inference_mode(t):
    x = grid(t, 3)
    with t.inference_mode():
        v = x.view(3)
    v.sum().backward()
    unused = error_of(t.autograd.grad, (v * 2).sum(), v)
    return [v.requires_grad, v.is_leaf, v.grad, x.grad, unused]


@program
def a_view_of_a_view_made_in_inference_mode(t):
    x = grid(t, 2) * 1
    with t.inference_mode():
        v = x.view(2)
    return [error_of(lambda: v[:1].mul_(2)), error_of(lambda: v.mul_(2))]


# ----- the shape of a base changed in place -----

TURNS = {
    "t_": lambda y: y.t_(),
    "transpose_": lambda y: y.transpose_(0, 1),
    "unsqueeze_": lambda y: y.unsqueeze_(0),
    "unsqueeze_ in the middle": lambda y: y.unsqueeze_(1),
    "unsqueeze_ and t": lambda y: y.unsqueeze_(0).transpose_(1, 2),
    "t_ twice": lambda y: y.t_().t_(),
}
VIEWS = {
    "row": lambda y: y[0],
    "column": lambda y: y[:, 1],
    "part": lambda y: y[..., :1],
    "view": lambda y: y.view(-1),
    "view of a view": lambda y: y.view(3, 2)[1:],
    "t": lambda y: y.t(),
    "diagonal": lambda y: y.diagonal(),
}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("made", ["under no_grad", "as one of two"])
def test_a_view_that_has_lost_its_history_may_not_be_turned(turn, made):
    def both(t):
        x = grid(t, 4, 2) * 1
        with t.set_grad_enabled(made != "under no_grad"):
            v = x.chunk(2)[0]
        x.mul_(2)
        return error_of(TURNS[turn], v)

    same(both)


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("use", ["read", "write the view", "write the base", "create_graph", "new view"])
def test_views_from_before_a_change_of_shape(turn, view, use):
    def both(t):
        x = grid(t, 2, 3)
        y = x * 1
        v = VIEWS[view](y)
        TURNS[turn](y)
        if use == "write the view":
            v.mul_(3)
        elif use == "write the base":
            y.mul_(y.detach() + 2)
        elif use == "new view":
            y[0].mul_(5)
        total = (v * t.arange(1.0, 1 + v.numel()).reshape(v.shape)).sum() + (y * y).sum()
        if use != "create_graph":
            total.backward()
            return [x.grad, v, y, v.grad_fn.name()]
        (g,) = t.autograd.grad(total, x, create_graph=True)
        return [g, t.autograd.grad((g * g).sum(), x)[0]]

    same(both)


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("view", VIEWS)
def test_tangents_of_views_from_before_a_change_of_shape(turn, view):
    def both(t):
        with t.autograd.forward_ad.dual_level():
            b = t.zeros(2, 3)
            v = VIEWS[view](b)
            TURNS[turn](b)
            dual = t.autograd.forward_ad.make_dual(t.ones(v.shape), t.arange(1.0, 1 + v.numel()).reshape(v.shape))
            v.copy_(dual)
            return [dual_facts(t, v), dual_facts(t, b)]

    same(both)


@program
def squeezed_in_place(t):
    x = grid(t, 1, 3)
    y = x * 1
    v = y[0]
    y.squeeze_()
    v.mul_(2)
    (y * y).sum().backward()
    return [x.grad, v]


@program
def a_view_that_is_turned_without_recording(t):
    x = grid(t, 2, 3)
    y = x * 1
    v = y.view(2, 3)
    with t.no_grad():
        v.t_()
    (v * t.arange(6.0).view(3, 2)).sum().backward()
    return [x.grad, v.grad_fn.name(), v._is_view()]


@program
def one_of_several_views_that_is_turned_without_recording(t):
    x = grid(t, 2, 3)
    a, _ = (x * 1).split(1)
    with t.no_grad():
        a.t_()
    return [error_of(lambda: a.sum().backward())]


@program
def a_stale_view_that_is_turned_without_recording(t):
    x = grid(t, 2, 3) * 1
    with t.no_grad():
        v = x[:1]
    x.add_(1)
    with t.no_grad():
        v.squeeze_()
    return [v.detach(), error_of(lambda: v.grad_fn)]


@program
def a_turned_view_is_still_a_view(t):
    x = grid(t, 2, 3)
    y = x * 1
    v = y[:, :2]
    v.t_()
    v[0].mul_(7)
    y.sum().backward()
    return [x.grad, v, y]


# ----- data of another kind -----

REPLACED = {
    "another shape": lambda t, y: setattr(y, "data", t.ones(3)),
    "a shape that broadcasts": lambda t, y: setattr(y, "data", t.ones(4, 2, 3)),
    "float64": lambda t, y: setattr(y, "data", t.ones(2, 3, dtype=t.float64)),
    "complex": lambda t, y: setattr(y, "data", t.ones(2, 3, dtype=t.complex64)),
    "the same kind": lambda t, y: setattr(y, "data", t.ones(2, 3)),
}


@pytest.mark.parametrize("name", REPLACED)
@pytest.mark.parametrize("way", ["backward", "create_graph", "hook"])
def test_data_of_another_kind(name, way):
    def both(t):
        x = grid(t, 2, 3)
        y = x * 2
        seen = []
        if way == "hook":
            y.register_hook(lambda g: seen.append([g.shape, g.dtype]))
        REPLACED[name](t, y)
        total = (y * y).abs().sum()
        refused = error_of(lambda: total.backward(create_graph=way == "create_graph") or "done")
        return [
            refused,
            None if x.grad is None else x.grad.detach(),
            [[list(s), str(d).rpartition(".")[2]] for s, d in seen],
        ]

    same(both)


@program
def a_shape_changed_without_recording(t):
    x = grid(t, 2, 3)
    y = x * 1
    with t.no_grad():
        y.t_()
    return [error_of(lambda: (y * y).sum().backward()), x.grad]


@program
def the_shape_of_a_leaf_changed_without_recording(t):
    x = grid(t, 2, 3)
    before = x * 2
    with t.no_grad():
        x.t_()
    first = error_of(lambda: (x * x).sum().backward())
    del before
    return [first, x.grad]


@program
def the_same_without_a_graph_that_is_alive(t):
    x = grid(t, 2, 3)
    with t.no_grad():
        x.t_()
    return [error_of(lambda: (x * x).sum().backward()), x.grad]


# ----- stale views -----


@program
def a_stale_view_prints(t):
    x = grid(t, 4)
    y = x * 1
    a, b = y.split(2)
    y.mul_(2)
    return [repr(a), repr(b)]


@program
def a_view_whose_base_was_written_and_that_nobody_has_asked_since(t):
    x = grid(t, 3) * 1
    z = t.zeros(3)
    e, f = z[:], z[:]
    z.copy_(x)
    before = error_of(lambda: e.mul_(2))
    _ = f.grad_fn
    return [before, error_of(lambda: f.mul_(2)), z]


@program
def requiring_grad_of_stale_views(t):
    x = grid(t, 4)
    y = x * 1
    a, _ = y.split(2)
    y.mul_(2)
    z = t.zeros(2)
    f = z[:]
    z.copy_(x[:2])
    return [error_of(lambda: a.requires_grad_() is a), error_of(lambda: f.requires_grad_(False) is f)]


@program
def backward_twice_through_a_write_that_saved_nothing(t):
    x = t.tensor(2.0, requires_grad=True)
    y = t.zeros(2)
    y[0] = x
    y.sum().backward()
    return [x.grad, error_of(lambda: y.sum().backward())]


@program
def the_same_with_a_graph_that_is_kept(t):
    x = t.tensor(2.0, requires_grad=True)
    y = t.zeros(2)
    y[0] = x
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return [x.grad]


# ----- marked dirty, detached -----


def doubling(t):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Double


@program
def a_dirty_input_loses_its_gradient(t):
    x = grid(t, 3)
    y = x * 1
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    before = y.grad
    doubling(t).apply(y)
    after = y.grad
    y.sum().backward()
    return [before, after, y.grad, x.grad]


@program
def a_dirty_tensor_without_history_loses_its_gradient(t):
    x = t.ones(2)
    x.grad = t.ones(2)
    doubling(t).apply(x)
    return [x.grad, x]


@program
def detached_in_place_after_retain_grad(t):
    x = grid(t, 2)
    y = x * 2
    y.retain_grad()
    z = y * 3
    y.detach_()
    z.sum().backward()
    return [y.grad, x.grad, y.requires_grad]


# ----- tangents -----


@program
def a_first_tangent_through_the_real_part(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        y = t.zeros(2, dtype=t.complex64)
        y.real.copy_(fw.make_dual(t.ones(2), t.ones(2)))
        return [dual_facts(t, y)]


@program
def a_first_tangent_through_pairs(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        y = t.zeros(2, 2)
        t.view_as_complex(y).copy_(fw.make_dual(t.ones(2, dtype=t.complex64), t.ones(2, dtype=t.complex64) * 2))
        z = t.zeros(2, dtype=t.complex64)
        t.view_as_real(z).copy_(fw.make_dual(t.ones(2, 2), t.ones(2, 2) * 3))
        return [dual_facts(t, y), dual_facts(t, z)]


@program
def a_first_tangent_on_expanded_memory(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(t.tensor(2.0), t.tensor(1.0))
        y = t.zeros(3).expand(2, 3).detach()
        y[-1] = d
        return [tangent(t, y), y]


@program
def a_dual_that_changes_its_shape(t):
    fw = t.autograd.forward_ad
    found = []
    with fw.dual_level():
        for change in (lambda x: x.unsqueeze_(0), lambda x: x.t_(), lambda x: x.transpose_(0, 1)):
            d = fw.make_dual(t.arange(6.0).view(2, 3), t.arange(6.0).view(2, 3) + 1)
            v, y = d[:1], d * 1
            w = y[:, :2]
            for x in (d, v, y, w):
                change(x)
            found.append([dual_facts(t, x) for x in (d, v, y, w)])
    return found


@program
def writing_one_number_to_an_expanded_dual(t):
    fw = t.autograd.forward_ad
    found = []
    with fw.dual_level():
        for write in (lambda x: x.zero_(), lambda x: x.fill_(3.0), lambda x: x.mul_(2)):
            y = fw.make_dual(t.ones(1), t.ones(1)).expand(3)
            found.append([error_of(lambda write=write, y=y: write(y) is y), dual_facts(t, y)])
    return found


@program
def infinite_tangents_and_gradients(t):
    fw = t.autograd.forward_ad
    inf = float("inf")
    with fw.dual_level():
        d = fw.make_dual(t.tensor([0.5, -1.0]), t.tensor([inf, -inf]))
        found = [tangent(t, d.tanh()), tangent(t, d.sigmoid())]
    x = t.tensor([0.5, -1.0], requires_grad=True)
    for f in (t.tanh, t.sigmoid):
        found.append(t.autograd.grad(f(x), x, t.tensor([inf, -inf]))[0])
    return found


@pytest.mark.parametrize("made_program", program)
def test_program(made_program):
    same(made_program)


INDEXED = {
    "slice": lambda x: x[:], "ellipsis and number": lambda x: x[..., 0], "numbers": lambda x: x[0, 0], "list": lambda x: x[[0]],
    "new and number": lambda x: x[None, 0], "ellipsis and slice": lambda x: x[..., :1], "number": lambda x: x[0], "slice and new": lambda x: x[0:1, None],
    "set slice": lambda x: x.__setitem__(slice(None), 2), "set number": lambda x: x.__setitem__(0, 2), "set numbers": lambda x: x.__setitem__((0, 0), 2),
    "permute": lambda x: x.permute(), "permute nothing": lambda x: x.permute([]),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXED)
def test_indices_of_a_number(name):
    same(lambda t: [error_of(INDEXED[name], t.tensor(1.0))])


class Plain:
    pass


@pytest.mark.parametrize("value", [Plain(), 3, [1], np.ones(2), np.float64(3)], ids=lambda v: type(v).__name__)
def test_names_of_classes_in_errors(value):
    def both(t):
        refused = error_of(lambda: setattr(t.ones(2, requires_grad=True), "grad", value))
        return [refused, None if isinstance(value, np.ndarray) else error_of(t.from_numpy, value)]

    same(both)


@pytest.mark.parametrize("data", [lambda t: [t.ones(2), 3], lambda t: [[1, 2], [t.ones(1), t.zeros(3)]]])
def test_lists_of_tensors_with_several_elements(data):
    same(lambda t: [error_of(lambda: t.tensor(data(t)))])
