"""What a function transform refuses, as PyTorch: inference tensors outside, structures, dtypes, a second pass, captured memory."""

from collections import OrderedDict, defaultdict

import pytest
from agdbg_tests_differential import error_of, essence, same

pytest.importorskip("torch")  # the oracle of these programs


def point(t, requires_grad=False):
    return t.tensor([1.0, 4.0], requires_grad=requires_grad)


def inference(t):
    with t.inference_mode():
        return t.tensor([2.0, 3.0])


def scaled(t):
    class Scaled(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(a, b):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[1], None

        @staticmethod
        def jvp(ctx, of_a, of_b):
            return of_a * ctx.saved_tensors[1]

    return Scaled.apply


def called(call, *args):
    """What ``call(*args)`` gives, or its error."""
    made = []
    return [error_of(lambda: made.append(call(*args))), essence(made)]


# ----- inference tensors are saved where PyTorch has wrapped them, not where it has not -----

SAVES = {
    "product": lambda t, x, i: (x * i).sum(),
    "sum": lambda t, x, i: (x + i).sum(),
    "power": lambda t, x, i: (x**i).sum(),
    "matrix product": lambda t, x, i: x @ i,
    "of a view": lambda t, x, i: (x * i[:]).sum(),
    "of a detached twin": lambda t, x, i: (x * i.detach()).sum(),
    "of a clone": lambda t, x, i: (x * i.clone()).sum(),
    "made of it": lambda t, x, i: (x * (i * 2)).sum(),
    "made inside": lambda t, x, i: (x * inference(t)).sum(),
    "written": lambda t, x, i: (x * 1).mul_(i).sum(),
    "where": lambda t, x, i: t.where(i > 2, x, 0 * x).sum(),
    "custom": lambda t, x, i: scaled(t)(x, i).sum(),
}
TRANSFORMS = {
    "grad": lambda t, f, x, i: t.func.grad(lambda a: f(t, a, i))(x),
    "an argument": lambda t, f, x, i: t.func.grad(lambda a, b: f(t, a, b))(x, i),
    "both arguments": lambda t, f, x, i: t.func.grad(lambda a, b: f(t, a, b), argnums=(0, 1))(x, i),
    "the point": lambda t, f, x, i: t.func.grad(lambda b: f(t, x * b, b))(i),
    "vjp": lambda t, f, x, i: t.func.vjp(lambda a: f(t, a, i), x)[1](t.tensor(1.0)),
    "jvp": lambda t, f, x, i: t.func.jvp(lambda a: f(t, a, i), (x,), (t.ones(2),)),
    "tangent": lambda t, f, x, i: t.func.jvp(lambda a: f(t, a, a), (x,), (i,)),
    "jacfwd": lambda t, f, x, i: t.func.jacfwd(lambda a: f(t, a, i))(x),
    "hessian": lambda t, f, x, i: t.func.hessian(lambda a: f(t, a, i))(x),
    "grad of grad": lambda t, f, x, i: t.func.grad(lambda a: t.func.grad(lambda b: f(t, b, i))(a).sum())(x),
    "at a captured point": lambda t, f, x, i: t.func.grad(lambda a: (t.func.grad(lambda b: f(t, b, i))(x) * a).sum())(t.ones(2)),
    "without recording": lambda t, f, x, i: t.no_grad()(t.func.grad(lambda a: f(t, a, i)))(x),
    "in inference mode": lambda t, f, x, i: t.inference_mode()(t.func.grad(lambda a: f(t, a, i)))(x),
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("save", SAVES)
def test_saved_inference_tensors(save, transform):
    def program(t):
        f, call = SAVES[save], TRANSFORMS[transform]
        return [
            called(lambda x: call(t, f, x, inference(t)), point(t, requires_grad)) for requires_grad in (False, True)
        ]

    same(program)


# ----- structures -----

DICTS = {
    "dict": dict,
    "OrderedDict": OrderedDict,
    "defaultdict": lambda pairs: defaultdict(list, pairs),
    "a factory of its own": lambda pairs: defaultdict(lambda: 0, pairs),
    "nested": lambda pairs: [dict(pairs)],
}


@pytest.mark.parametrize("kind", DICTS)
@pytest.mark.parametrize("order", ["ab", "ba", "ac"])
def test_keys_come_in_the_order_of_the_result(kind, order):
    def program(t):
        make = DICTS[kind]
        given = make([(k, t.ones(2) * i) for i, k in enumerate(order)])
        x, tangents = t.ones(2), {k: t.ones(2) for k in order}
        return [
            called(lambda: t.func.vjp(lambda a: make([("a", a * 2), ("b", a * 3)]), x)[1](given)) if kind != "a factory of its own"
            else None,  # which is another one each time
            called(lambda: t.func.jvp(lambda d: d["a"] * d["b"], ({"a": x, "b": x},), (tangents,))),
            called(lambda: t.func.linearize(lambda d: d["a"] * d["b"], {"a": x, "b": x})[1](tangents)),
        ]  # fmt: skip

    same(program)


def test_a_defaultdict_keeps_what_it_makes_missing_values_with():
    def program(t):
        value = t.func.vjp(lambda a: defaultdict(list, a=a), t.ones(2))[0]
        return [value.default_factory is list, value["other"]]

    same(program)


TANGENTS = {
    "dtype": lambda t: [t.ones(2, dtype=t.float64)],
    "integers": lambda t: [t.ones(2, dtype=t.int64)],
    "shape": lambda t: [t.ones(3)],
    "structure": lambda t: [[t.ones(2)]],
    "too many": lambda t: [t.ones(2)] * 2,
    "a number": lambda t: [2.0],
    "expanded": lambda t: [t.ones(1).expand(2)],
}


@pytest.mark.parametrize("tangents", TANGENTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_what_a_linearized_function_takes(tangents, dtype):
    same(
        lambda t: called(
            lambda: t.func.linearize(lambda a: a * a, t.ones(2, dtype=getattr(t, dtype)))[1](*TANGENTS[tangents](t))
        )
    )


@pytest.mark.parametrize(
    "function", [lambda a: None, lambda a: 2.0, lambda a: (a * a, 2), lambda a: {"x": [a * 2], "y": "text"}]
)
def test_what_else_a_linearized_function_returns(function):
    same(lambda t: t.func.linearize(function, t.ones(2))[1](t.ones(2)))


# ----- a pass that frees its graph -----


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("function", [
    lambda t, a: a * a, lambda t, a: a + a, lambda t, a: a, lambda t, a: a.sum(), lambda t, a: a * 2, lambda t, a: a.exp(),
    lambda t, a: t.ones(2), lambda t, a: scaled(t)(a, a), lambda t, a: (a * 1).mul_(a),
])  # fmt: skip
@pytest.mark.parametrize("second", [{}, {"retain_graph": False}, {"create_graph": True}])
@pytest.mark.parametrize(
    "first", [{}, {"retain_graph": False}, {"retain_graph": None}, {"retain_graph": None, "create_graph": True}]
)
def test_a_product_after_its_graph_was_freed(function, first, second, requires_grad):
    def program(t):
        x = point(t, requires_grad)
        value, pull = t.func.vjp(lambda a: function(t, a), x)
        ones = t.ones_like(value)
        found = [called(lambda: pull(ones, **first)), called(lambda: pull(ones, **second))]
        return [found, called(lambda: t.autograd.grad(value.sum(), x)[0])]  # that outside is another graph

    same(program)


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("keep", [False, True])
def test_two_passes_inside(keep, requires_grad):
    def program(t):
        def f(a):
            b = a.tanh()
            for _ in range(2):
                t.autograd.grad(b.sum(), a, retain_graph=keep)
            return (b * b).sum()

        return called(lambda: t.func.grad(f)(point(t, requires_grad)))

    same(program)


# ----- memory that an outer transform has captured -----

WRITES = {
    "data": lambda t, x: x.data.mul_(2),
    "data of a twin": lambda t, x: x.detach().data.mul_(2),
    "data of a view": lambda t, x: x[:].data.mul_(2),
    "a view of data": lambda t, x: x.data[0].fill_(2),
    "copied into data": lambda t, x: x.data.copy_(t.ones(2)),
    "twin": lambda t, x: x.detach().mul_(2),
    "a clone of data": lambda t, x: x.data.clone().mul_(2),
    "itself": lambda t, x: x.mul_(2),
    "a view": lambda t, x: x[:].mul_(2),
}
INNER = {
    "grad": lambda t, f, p, y: t.func.grad(f)(p) * y,
    "vjp": lambda t, f, p, y: t.func.vjp(f, p)[1](t.tensor(1.0))[0] * y,
    "an argument": lambda t, f, p, y: t.func.grad(lambda a, b: f(b) * a.sum())(y, p) * y,
}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("captured", [lambda c: c, lambda c: c[:]])
def test_writes_to_a_point_that_the_outer_transform_has_captured(captured, write, inner, requires_grad):
    def program(t):
        c = t.tensor([3.0, 4.0], requires_grad=requires_grad)

        def f(x):
            WRITES[write](t, x)
            return (x * x).sum()

        return [called(lambda: t.func.grad(lambda y: INNER[inner](t, f, captured(c), y).sum())(point(t))), c.detach()]

    same(program)


DATA = {
    "the input": lambda t, x, c: x,
    "a result": lambda t, x, c: x * 1,
    "made inside": lambda t, x, c: t.ones(2),
    "captured": lambda t, x, c: c,
    "of a module made inside": lambda t, x, c: t.nn.Linear(2, 1).weight,
}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("what", DATA)
def test_data_is_not_assigned_inside(what, levels, requires_grad):
    def program(t):
        x, c, plain = point(t, requires_grad), t.ones(2, requires_grad=requires_grad), t.tensor([5.0, 6.0])

        def f(x):
            to = DATA[what](t, x, c)
            to.data = plain if what != "of a module made inside" else plain.reshape(1, 2)
            return (to * x).sum()

        if levels == 1:
            return [called(lambda: t.func.grad(f)(x)), c.detach()]
        return [called(lambda: t.func.grad(lambda x: t.func.grad(f)(x * 1).sum())(x)), c.detach()]

    same(program)
