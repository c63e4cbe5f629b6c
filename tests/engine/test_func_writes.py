"""Writes inside of a function that is transformed: to its inputs under ``no_grad``, to its other arguments, to captured statistics."""

import pytest
from agdbg_tests_differential import error_of, same

pytest.importorskip("torch")  # the oracle of these programs


def unrecorded(write):
    def body(t, w):
        with t.no_grad():
            write(w)

    return body


WRITES = {
    "clamp": unrecorded(lambda w: w.clamp_(0, 1.5)),
    "fill": unrecorded(lambda w: w.fill_(1.0)),
    "view": unrecorded(lambda w: w[:1].mul_(5)),
    "item": unrecorded(lambda w: w.__setitem__(0, 7.0)),
    "init": lambda t, w: t.nn.init.ones_(w),
    "detached": lambda t, w: w.detach().fill_(1.0),
    "recorded": lambda t, w: w.mul_(2),
    "recorded view": lambda t, w: w[:1].mul_(2),
    "detach_": lambda t, w: w.detach_(),
}
BUILDS = {"sum": lambda w: w * 3, "square": lambda w: w * w, "row": lambda w: w[:1] * 3}
USES = {
    "grad": lambda t, f, x: t.func.grad(f)(x),
    "vjp": lambda t, f, x: t.func.vjp(f, x)[1](t.tensor(1.0)),
    "jacrev": lambda t, f, x: t.func.jacrev(f)(x),
    "of a result": lambda t, f, x: t.func.grad(f)(x * 1),
    "nested": lambda t, f, x: t.func.grad(lambda z: t.func.grad(f)(z).pow(2).sum())(x),
    "nested, of a result": lambda t, f, x: t.func.grad(lambda z: t.func.grad(f)(z * 1).pow(2).sum())(x),
}


def plain(tree):
    """Without history, the name of which differs for what is a view of an input."""
    return [plain(x) for x in tree] if isinstance(tree, tuple | list) else tree.detach()


def tried(call):
    try:
        return plain(call())
    except RuntimeError as error:
        return str(error).partition("\n")[0]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("write", WRITES)
def test_an_input_is_written(write, build, use, requires_grad):
    def both(t):
        def f(w):
            y = BUILDS[build](w)
            WRITES[write](t, w)
            return (y + BUILDS[build](w)).sum()

        x = t.tensor([1.0, 2.0], requires_grad=requires_grad)
        return [tried(lambda: USES[use](t, f, x)), x.detach(), x._version]

    same(both)


def doubled(x, c):
    c.mul_(2)
    return (x * c).sum()


def of_part(x, c):
    c[0].mul_(2)
    return (x * c).sum()


ARGUMENTS = {
    "grad": lambda t, x, c: t.func.grad(doubled)(x, c),
    "by name": lambda t, x, c: t.func.grad(doubled)(x, c=c),
    "in a dict": lambda t, x, c: t.func.grad(lambda x, d: doubled(x, d["c"]))(x, {"c": c}),
    "a part": lambda t, x, c: t.func.grad(of_part)(x, c),
    "a view": lambda t, x, c: t.func.grad(lambda x, d: doubled(x[:1], d))(x, c[:1]),
    "by an input": lambda t, x, c: t.func.grad(lambda x, c: (x * c.mul_(x)).sum())(x, c),
    "captured too": lambda t, x, c: t.func.grad(lambda x, d: doubled(x, c) + d.sum())(x, c),
    "value": lambda t, x, c: t.func.grad_and_value(doubled)(x, c),
    "jacrev": lambda t, x, c: t.func.jacrev(doubled)(x, c),
    "nested": lambda t, x, c: t.func.grad(lambda x, c: t.func.grad(doubled)(x, c).sum() * x.sum())(x, c),
    "captured outside": lambda t, x, c: t.func.grad(lambda x: t.func.grad(doubled)(x, c).sum())(x),
    "kept": lambda t, x, c: t.func.grad(lambda x, c: ((x * c).sum(), c.mul_(2)), has_aux=True)(x, c),
    "returned": lambda t, x, c: t.func.grad(lambda x, c: (x.sum(), c.mul_(2)), has_aux=True)(x, c),
    "vjp": lambda t, x, c: t.func.vjp(doubled, x, c)[1](t.tensor(1.0)),
}
MADE = {
    "plain": lambda c: c,
    "result": lambda c: c.requires_grad_() * 1,
    "leaf": lambda c: c.requires_grad_(),
    "integer": lambda c: c.long(),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("call", [name for name in ARGUMENTS if name != "kept"])
def test_another_argument_is_written(call, made):
    def both(t):
        x, c = t.tensor([1.0, 2.0]), MADE[made](t.tensor([3.0, 4.0]))
        return [tried(lambda: ARGUMENTS[call](t, x, c)), c.detach()]

    same(both)


@pytest.mark.parametrize("made", ["plain", "leaf"])
def test_an_argument_is_written_that_was_needed(made):
    """Of others the engine's node names the history, or stands on a copy in another dtype."""

    def both(t):
        c = MADE[made](t.tensor([3.0, 4.0]))
        return [tried(lambda: ARGUMENTS["kept"](t, t.ones(2), c)), c.detach()]

    same(both)


INTO = {
    "mul": lambda a, n: n.mul_(a),
    "copy": lambda a, n: n.copy_(a * 2),
    "part": lambda a, n: n.__setitem__(slice(0, 1), a[:1]),
    "number": lambda a, n: n.mul_(2),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("view", [False, True])
@pytest.mark.parametrize("write", INTO)
def test_an_argument_gets_the_history_of_what_is_written_to_it(write, view, recorded):
    def both(t):
        x, base = t.tensor([1.0, 2.0], requires_grad=True), t.tensor([3.0, 4.0, 5.0])
        b = base[1:] if view else base[1:].clone()

        def f(a, n):
            INTO[write](a, n)
            return (a * n).sum()

        with t.set_grad_enabled(recorded):
            found = [t.func.grad(f)(x, b).detach(), base.detach(), b.requires_grad, base.requires_grad]
        for end in (b, base):
            found.append(t.autograd.grad(end.sum(), x, retain_graph=True) if end.requires_grad else None)
        return found

    same(both)


@pytest.mark.parametrize("is_argument", [False, True])
@pytest.mark.parametrize("write", INTO)
def test_an_argument_that_the_outer_function_has_captured(write, is_argument):
    def both(t):
        b = t.tensor([3.0, 4.0])

        def inner(a, n):
            INTO[write](a, n)
            return (a * n).sum()

        def outer(x, *given):
            return (t.func.grad(inner)(x, given[0] if given else b) * x).sum()

        return [tried(lambda: t.func.grad(outer)(t.tensor([1.0, 2.0]), *([b] if is_argument else []))), b]

    same(both)


def doubling(t):
    class Doubling(t.autograd.Function):
        @staticmethod
        def forward(c):
            return c.mul_(2)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Doubling


@pytest.mark.parametrize("made", ["plain", "result", "leaf"])
@pytest.mark.parametrize("captured", [False, True])
def test_a_custom_function_writes(captured, made):
    def both(t):
        c, apply = MADE[made](t.tensor([3.0, 4.0])), doubling(t).apply

        def f(x, *given):
            return (x * apply(given[0] if given else c)).sum()

        return [tried(lambda: t.func.grad(f)(t.ones(2), *([] if captured else [c]))), c.detach()]

    same(both)


@pytest.mark.parametrize("of_input", [False, True])
def test_a_custom_function_writes_to_an_input(of_input):
    def both(t):
        apply = doubling(t).apply
        return tried(
            lambda: t.func.grad(lambda x: apply(x if of_input else x * 1).sum())(t.ones(2, requires_grad=True))
        )

    same(both)


@pytest.mark.parametrize("leaf", [False, True])
def test_a_result_that_only_says_that_it_requires_grad(leaf):
    def both(t):
        def f(x):
            with t.no_grad():
                return x.view(2)

        x = t.ones(2, requires_grad=True)
        return [tried(lambda: t.func.jacrev(f)(x if leaf else x * 1)), tried(lambda: t.func.vjp(f, x)[0])]

    same(both)


def test_what_is_written_to_an_argument_has_a_gradient_outside():
    def both(t):
        x, leaf = t.tensor([1.0, 2.0]), t.tensor([3.0, 4.0], requires_grad=True)
        c = leaf * 1
        g = t.func.grad(doubled)(x, c)
        return t.autograd.grad((g * c).sum(), leaf)

    same(both)


def test_batch_statistics_that_are_arguments():
    def both(t):
        model = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
        with t.no_grad():
            for p in model.parameters():
                p.copy_(t.arange(p.numel()).reshape(p.shape) * 0.1 + 1)
        values = {n: p.detach().double() for n, p in model.named_parameters()}
        kept = {n: b.double() if b.is_floating_point() else b for n, b in model.named_buffers()}
        x = t.tensor([[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]], dtype=t.float64)

        def loss(p, b, x):
            return t.func.functional_call(model, (p, b), (x,)).pow(3).sum()

        found = t.func.grad(loss)(values, kept, x)
        return [x.numpy().round(9).tolist() for x in (*(found[n] for n in values), *kept.values())]

    same(both)


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.spectral_norm` is now available:FutureWarning")
@pytest.mark.parametrize("hooked", [False, True])
def test_a_spectral_norm_brings_its_vectors_up_to_date(hooked):
    def both(t):
        layer = t.nn.Linear(2, 2).double()
        with t.no_grad():
            layer.weight.copy_(t.tensor([[1.0, 2.0], [3.0, 4.0]]))
            layer.bias.zero_()
        home = t.nn.utils if hooked else t.nn.utils.parametrizations
        home.spectral_norm(layer)
        norm = layer if hooked else layer.parametrizations.weight[0]
        u, v = (norm.weight_u, norm.weight_v) if hooked else (norm._u, norm._v)
        u.copy_(t.tensor([1.0, 0.0]))
        v.copy_(t.tensor([0.0, 1.0]))
        return [t.func.grad(lambda x: layer(x).sum())(t.ones(2, dtype=t.float64)).detach(), u, v, u._version]

    same(both)


def test_running_statistics_of_instances():
    def both(t):
        mean, var, x = t.zeros(2), t.ones(2), t.arange(12.0).reshape(1, 2, 6)
        t.func.grad(lambda x: t.nn.functional.instance_norm(x, mean, var).sum())(x)
        return [mean, var, mean._version]

    same(both)


@pytest.mark.parametrize("of_input", [False, True])
def test_out_inside_under_no_grad(of_input):
    def both(t):
        z, out = t.tensor([1.0, 2.0], requires_grad=True), t.empty(2)

        def f(x):
            return (x * t.mul(x if of_input else z, 2, out=out)).sum()

        with t.no_grad():
            return tried(lambda: t.func.grad(f)(t.tensor([1.0, 2.0])))

    same(both)


CAPTURED = {
    "mul_": lambda t, c, x: c.mul_(2),
    "pow_ number": lambda t, c, x: c.pow_(2),
    "pow_ tensor": lambda t, c, x: c.pow_(x),
    "scatter_ number": lambda t, c, x: c.scatter_(0, t.tensor([0, 1]), 1.0),
    "scatter_ tensor": lambda t, c, x: c.scatter_(0, t.tensor([0, 1]), x),
    "index_fill_": lambda t, c, x: c.index_fill_(0, t.tensor([0, 1]), 1.0),
    "lerp_": lambda t, c, x: c.lerp_(t.ones(2), 0.5),
    "clamp_ numbers": lambda t, c, x: c.clamp_(0, 1),
    "clamp_ tensor": lambda t, c, x: c.clamp_(t.ones(2)),
    "remainder_": lambda t, c, x: c.remainder_(x),
    "floor_divide_": lambda t, c, x: c.floor_divide_(2),
    "eq_": lambda t, c, x: c.eq_(1),
    "scatter_reduce_": lambda t, c, x: c.scatter_reduce_(0, t.tensor([0, 1]), x, "sum"),
    "xlogy_": lambda t, c, x: c.xlogy_(2),
    "resize_": lambda t, c, x: c.resize_(4),
}


@pytest.mark.parametrize("write", CAPTURED)
def test_a_captured_tensor_is_refused(write):
    def both(t):
        c = t.tensor([3.0, 4.0])
        return [error_of(lambda: t.func.grad(lambda x: (CAPTURED[write](t, c, x), x.sum())[1])(t.ones(2))), c]

    same(both)


def two(t):
    return t.tensor([1.0, 2.0])


INNER = {
    "jvp": lambda t, f, z, c: t.func.jvp(f, (z,), (t.ones(2),))[0],
    "jvp of a constant": lambda t, f, z, c: t.func.jvp(f, (two(t),), (z,))[1],
    "grad": lambda t, f, z, c: t.func.grad(lambda w: f(w).sum())(z),
    "grad of a constant": lambda t, f, z, c: t.func.grad(lambda w: f(w).sum())(c) * z,
    "vjp": lambda t, f, z, c: t.func.vjp(f, z)[0],
}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("write", ["mul_", "view"])
def test_an_input_of_an_outer_transform_is_written(write, inner, requires_grad):
    """Recorded, it is refused as a leaf: each transform's input is one, and the inner transforms refuse first."""

    def both(t):
        x, captured = two(t).requires_grad_(requires_grad), two(t)

        def f(w):
            return w.mul_(2) if write == "mul_" else w[:1].mul_(2)

        return [error_of(lambda: t.func.grad(lambda z: INNER[inner](t, f, z, captured).sum())(x)), x.detach(), captured]

    same(both)
