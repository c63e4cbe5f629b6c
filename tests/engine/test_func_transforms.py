"""`func`: PyTorch's function transforms and the engine's give the same values, which need the same gradients."""

from collections import OrderedDict, namedtuple

import pytest
from agdbg_tests_differential import Programs, error_of, essence, leaf, same

import agdbg_engine as ag

pytest.importorskip("torch")
programs = Programs()

Pair = namedtuple("Pair", "a b")


def number(x):
    return (x.sin() * x).sum()


def point(t, requires_grad=False):
    return t.tensor([0.5, -0.3, 1.7], dtype=t.float64, requires_grad=requires_grad)


def scalar(t, value, requires_grad=False):
    return t.tensor(value, dtype=t.float64, requires_grad=requires_grad)


# ----- values, and who needs gradients -----


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("recording", [False, True])
def test_reverse_transforms(requires_grad, recording):
    def program(t):
        x = point(t, requires_grad)
        with t.set_grad_enabled(recording):
            value, pull = t.func.vjp(lambda a: a.sin(), x)
            results = [
                t.func.grad(number)(x),
                t.func.grad_and_value(number)(x),
                value,
                pull(t.ones(3, dtype=t.float64)),
                t.func.jacrev(lambda a: a.sin())(x),
                t.func.jacrev(lambda a: a * 2)(x),
                t.func.grad(lambda a: (2 * a).sum())(x),
            ]
        return essence(results)

    same(program)


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("recording", [False, True])
def test_forward_transforms(requires_grad, recording):
    def program(t):
        x = point(t, requires_grad)
        with t.set_grad_enabled(recording):
            results = [
                t.func.jvp(lambda a: a.sin(), (x,), (t.ones(3, dtype=t.float64),)),
                t.func.jacfwd(lambda a: a.sin())(x),
                t.func.jacfwd(lambda a: a * a)(x),
                t.func.hessian(number)(x),
            ]
        return essence(results)

    same(program)


@programs
def a_captured_tensor_that_requires_grad(t):
    x, w = point(t), leaf(t, 2.0, 3.0, -1.0)
    return essence(
        [
            t.func.grad(lambda a: (a.sin() * w).sum())(x),
            t.func.grad(lambda a: (w * 2).sum())(x),
            t.func.grad_and_value(lambda a: (a * w).sum())(x),
            t.func.vjp(lambda a: a * w, x)[0],
            t.func.vjp(lambda a: a * w, x)[1](x),
            t.func.jacrev(lambda a: a * w)(x),
            t.func.vjp(lambda a: a.sin(), x)[1](w),
        ]
    )


@programs
def the_argument_captured_as_well(t):
    x = point(t, requires_grad=True)
    gradient = t.func.grad(lambda a: (a * x * x).sum())(x)
    return [essence(gradient), t.autograd.grad(gradient.sum(), x)]


@programs
def backward_through_the_results(t):
    p, x = scalar(t, 2.0, True), scalar(t, 1.5, True)
    t.func.grad(lambda y: (y**3 * p).sin())(x).backward()
    return [p.grad, x.grad]


@programs
def backward_through_a_pull(t):
    x, w = point(t, requires_grad=True), leaf(t, 2.0, 3.0, -1.0)
    value, pull = t.func.vjp(lambda a: (a * a * a, a.sin()), x)
    (gradient,) = pull((w, w * w))
    (gradient.sum() + value[0].sum()).backward()
    return [x.grad, w.grad]


@programs
def a_pull_can_be_called_again_and_without_recording(t):
    x = point(t, requires_grad=True)
    _, pull = t.func.vjp(lambda a: a.exp(), x)
    first = pull(x.detach())
    with t.no_grad():
        second = pull(x.detach())
    return essence([first, second, pull(x)])


@programs
def a_graph_of_captured_tensors_is_not_freed(t):
    w = leaf(t, 2.0, 3.0, -1.0)
    shared = w * w
    gradient = t.func.grad(lambda a: (a * shared).sum())(point(t))
    shared.sum().backward()
    return [essence(gradient), w.grad]


# ----- nesting -----


@programs
def derivatives_of_derivatives(t):
    def power(x):
        return x**5

    found, f = [], power
    for _ in range(5):
        f = t.func.grad(f)
        found.append(f(scalar(t, 2.0)))
    return essence(found)


@programs
def nested_with_both_levels_in_use(t):
    def outer(x):
        return x * t.func.grad(lambda y: x * y * y)(x)

    return essence([t.func.grad(outer)(scalar(t, 3.0)), t.func.grad(outer)(scalar(t, 3.0, True))])


@programs
def no_confusion_of_perturbations(t):
    return essence(t.func.grad(lambda x: x * t.func.grad(lambda y: x + y)(scalar(t, 1.0)))(scalar(t, 1.0)))


@programs
def no_grad_inside(t):
    def half(x):
        with t.no_grad():
            c = x * x
        return (x * c).sum()

    def inner(x):
        with t.no_grad():
            g = t.func.grad(number)(x)
        return (g * x).sum()

    x = point(t)
    return essence([t.func.grad(half)(x), t.func.grad(inner)(x), t.func.grad_and_value(half)(x)])


@programs
def grad_of_a_pull(t):
    def through(x):
        value, pull = t.func.vjp(lambda a: a.sin(), x)
        return (pull(x)[0] * value).sum()

    return essence([t.func.grad(through)(point(t)), t.func.grad(through)(point(t, True))])


@programs
def jacobians_of_jacobians(t):
    x = point(t)
    f = t.func
    return essence(
        [
            f.jacrev(f.jacrev(lambda a: a**3))(x),
            f.jacfwd(f.jacfwd(lambda a: a**3))(x),
            f.jacfwd(f.jacrev(lambda a: a**3))(x),
            f.jacrev(f.jacfwd(lambda a: a**3))(x),
            f.hessian(number)(x),
        ]
    )


@programs
def jvp_and_grad_in_each_other(t):
    x, v = point(t), t.tensor([1.0, 2.0, -1.0], dtype=t.float64)
    f = t.func
    return essence(
        [
            f.jvp(f.grad(number), (x,), (v,)),
            f.grad(lambda a: f.jvp(number, (a,), (v,))[1])(x),
            f.grad(lambda a: f.jvp(lambda b: (a * b).sin().sum(), (a,), (v,))[1])(x),
            f.jvp(lambda a: f.jvp(lambda b: (a * b).sin(), (a,), (v,))[1], (x,), (v,)),
        ]
    )


# ----- arguments -----


@programs
def argnums(t):
    x, y = point(t), point(t) * 2

    def f(a, b, scale=1.0):
        return (a * b * b).sum() * scale

    return essence(
        [
            t.func.grad(f, argnums=1)(x, y),
            t.func.grad(f, argnums=(0, 1))(x, y),
            t.func.grad(f, argnums=(-1, 0))(x, y),
            t.func.grad(f)(x, y, scale=2.0),
            t.func.jacrev(lambda a, b: a * b, argnums=(1, 0))(x, y),
            t.func.jacfwd(lambda a, b: a * b, argnums=(1, 0))(x, y),
            t.func.jacfwd(lambda a, b: a * b, argnums=1)(x, y),
            t.func.hessian(f, argnums=(0, 1))(x, y),
        ]
    )


@programs
def aux(t):
    x = point(t)
    f = t.func
    value, pull, extra = f.vjp(lambda a: (a.sin(), {"cos": a.cos()}), x, has_aux=True)
    return essence(
        [
            f.grad(lambda a: (number(a), a.cos()), has_aux=True)(x),
            f.grad_and_value(lambda a: (number(a), [a.cos(), a]), has_aux=True)(x),
            [value, pull(x), extra],
            f.jacrev(lambda a: (a.sin(), a.cos()), has_aux=True)(x),
            f.jacfwd(lambda a: (a.sin(), a.cos()), has_aux=True)(x),
            f.jvp(lambda a: (a.sin(), a.cos()), (x,), (x,), has_aux=True),
        ]
    )


@programs
def nested_containers(t):
    x, w = point(t), leaf(t, 2.0, 3.0, -1.0)

    def f(d):
        return (d["a"] * d["b"][0] * d["b"][1].sin()).sum()

    gradient = t.func.grad(f)({"a": x, "b": [w, x]})
    jac = t.func.jacrev(lambda d: {"out": d["a"] * d["b"][0], "more": (d["a"].sum(),)})({"a": x, "b": (w, x)})
    return essence([gradient, jac, t.func.jacfwd(lambda d: {"out": d["a"] * 2})({"a": x})])


@programs
def containers_keep_their_types(t):
    x = point(t)
    pair = t.func.grad(lambda p: (p.a * p.b).sum())(Pair(x, x))
    ordered = t.func.grad(lambda d: (d["b"] * d["a"]).sum())(OrderedDict(b=x, a=x))
    return [type(pair).__name__, type(ordered).__name__, list(ordered), essence(list(pair))]


@programs
def the_caller_gets_his_own_tensor_back(t):
    x, y = scalar(t, 1.0), scalar(t, 2.0)
    _, value = t.func.grad_and_value(lambda a: a)(x)
    _, (_, extra) = t.func.grad_and_value(lambda a: (a * 2, y), has_aux=True)(x)
    return [value is x, extra is y]


@programs
def chunks(t):
    x = point(t)
    return essence([t.func.jacrev(lambda a: a.sin(), chunk_size=c)(x) for c in (None, 1, 2, 100)])


@programs
def empty_tensors(t):
    x = t.ones(0, dtype=t.float64)
    return essence([t.func.grad(lambda a: a.sum())(x), t.func.jacrev(lambda a: a[:0] * 2)(point(t))])


@programs
def float32_and_matrices(t):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]])
    return essence([t.func.grad(lambda a: a.mm(a).sum())(x), t.func.jacrev(lambda a: a.mm(a).sum(0))(x)])


# ----- errors -----


@programs
def errors_of_grad(t):
    x, f = point(t), t.func
    return [
        error_of(f.grad(number), 2.0),
        error_of(f.grad(lambda a: a), x),
        error_of(f.grad(lambda a: 5.0), x),
        error_of(f.grad(number, has_aux=True), x),
        error_of(f.grad(lambda a: (number(a), 5), has_aux=True), x),
        error_of(f.grad(number, argnums=2), x),
        error_of(f.grad(number, argnums=-2), x),
        error_of(f.grad(number, argnums="a"), x),
        error_of(f.grad(number, argnums=()), x),
        error_of(f.grad(number, argnums=("a",)), x),
        error_of(f.grad(lambda a, b: number(a), argnums=(0, 0)), x, x),
        error_of(f.grad(lambda a: a.sum()), t.tensor([1])),
        error_of(f.grad(lambda a: a.mul_(2).sum()), x.clone()),
        error_of(f.grad(lambda a: a.mul_(2).sum()), point(t, True) * 1),
    ]


@programs
def errors_of_vjp(t):
    x, f = point(t), t.func
    return [
        error_of(f.vjp, lambda a: a, 2.0),
        error_of(f.vjp, lambda a: None, x),
        error_of(f.vjp, lambda a: 3, x),
        error_of(f.vjp, lambda a: (a, 3), x),
        error_of(f.vjp, lambda a: a.long(), x),
        error_of(f.vjp, lambda a: a, x, has_aux=True),
        error_of(f.vjp(lambda a: a, x)[1], t.ones(2, dtype=t.float64)),
        error_of(f.vjp(lambda a: (a, a), x)[1], x),
        error_of(f.vjp(lambda a: {"k": a}, x)[1], [x]),
        error_of(f.vjp(lambda a: {"k": a, "l": (a, [a])}, x)[1], {"k": x, "l": (x, x)}),
    ]


@programs
def errors_of_jvp(t):
    x, f = point(t), t.func
    return [
        error_of(f.jvp, lambda a: a, x, x),
        error_of(f.jvp, lambda a: 3, (x,), (x,)),
        error_of(f.jvp, lambda a: a, (3,), (x,)),
        error_of(f.jvp, lambda a: a, (x,), (3,)),
        error_of(f.jvp, lambda a: a, (), ()),
        error_of(f.jvp, lambda a: a, (x,), (x, x)),
        error_of(f.jvp, lambda a: a, ({"k": x},), (x,)),
        error_of(f.jvp, lambda a: a, (x,), (x,), has_aux=True),
        error_of(f.jvp, lambda a: a.detach(), (x,), (x,), strict=True),
        error_of(f.jvp, lambda a: a * 2, (x,), (t.ones(2, dtype=t.float64),)),
    ]


@programs
def errors_of_jacobians(t):
    x, f = point(t), t.func
    z = t.tensor([1 + 2j], dtype=t.complex128)
    return [
        error_of(f.jacrev, number, chunk_size=0),
        error_of(f.jacrev(lambda a: a), z),
        error_of(f.jacfwd(lambda a: a), z),
        error_of(f.jacrev(number, argnums=1), x),
        error_of(f.jacfwd(number, argnums=1), x),
        error_of(f.jacrev(number, argnums=None), x),
    ]


@programs
def saved_tensor_hooks_are_refused(t):
    def hooked(x):
        with t.autograd.graph.saved_tensors_hooks(lambda a: a, lambda a: a):
            return number(x)

    x = point(t)
    found = [error_of(t.func.grad(hooked), x)]
    with t.autograd.graph.saved_tensors_hooks(lambda a: a, lambda a: a):
        found.append(error_of(t.func.grad(number), x))
    return found


@pytest.mark.parametrize("program", programs)
def test_programs(program):
    same(program)


# ----- what only the engine can be asked -----


def test_a_level_leaves_no_graph_and_no_modes_behind():
    x = ag.tensor([1.0, 2.0])
    with pytest.raises(ZeroDivisionError):
        ag.func.grad(lambda a: 1 / 0)(x)
    assert ag.is_grad_enabled()
    assert not x.requires_grad
    assert not (x * 2).requires_grad


def test_an_input_that_escapes_counts_as_a_constant():
    escaped = []
    ag.func.grad(lambda a: (escaped.append(a), a.sin().sum())[1])(ag.tensor([1.0, 2.0]))
    assert not (escaped[0] * 2).requires_grad


def test_backward_through_a_result_gives_nothing_to_the_inputs_of_its_level():
    inner = []
    x, w = ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0], requires_grad=True)
    gradient = ag.func.grad(lambda a: (inner.append(a), (a.exp() * w).sum())[1])(x)
    gradient.sum().backward()
    assert inner[0].grad is None
    assert w.grad.tolist() == pytest.approx([2.718281828, 7.389056099])


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("function", [
    lambda a: a * 2, lambda a: a.sum(), lambda a: a.sum(0), lambda a: (a.sum(), a * a), lambda a: {"x": a.sum(1)},
])  # fmt: skip
def test_jacobians_at_no_element(function, requires_grad):
    def program(t):
        x = t.ones(0, 2, dtype=t.float64, requires_grad=requires_grad)
        found = [t.func.jacfwd(function)(x), t.func.jacrev(function)(x), t.func.hessian(lambda a: (a * a).sum())(x)]
        return [[list(v.shape), v.dtype == t.float64, v.requires_grad] for v in leaves_of(found)]

    same(program)


def test_a_functional_jacobian_at_no_element():
    forward = {"vectorize": True, "strategy": "forward-mode"}
    same(lambda t: list(t.autograd.functional.jacobian(lambda a: a * 2, t.ones(0, 2), **forward).shape))


def leaves_of(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [leaf for part in tree for leaf in leaves_of(part)] if isinstance(tree, list | tuple) else [tree]
