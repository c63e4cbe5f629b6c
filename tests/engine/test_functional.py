"""`autograd.functional`: PyTorch and the engine give the same values, need the same gradients, raise the same errors."""

import pytest
from agdbg_tests_differential import Programs, error_of, essence, leaf, same

pytest.importorskip("torch")
programs = Programs()

CALLS = ("vjp", "jvp", "jacobian")
SCALAR_CALLS = ("vhp", "hvp", "hessian")


def several(x, y):
    return (x * y).exp().sum(), x.sin() * 2


def scalar(x, y):
    return (x * y).exp().sum() + (x * x * y).sum()


def point(t):
    return leaf(t, 0.5, -0.3), t.tensor([0.2, 0.7], dtype=t.float64)


def vectors(t, name):
    weights = t.tensor([0.3, 2.0], dtype=t.float64)
    if name == "vjp":
        return ((t.tensor(1.5, dtype=t.float64), weights),)
    return () if name in ("jacobian", "hessian") else ((weights, weights * 2),)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", CALLS + SCALAR_CALLS)
def test_several_inputs(name, create_graph, strict):
    def program(t):
        function = scalar if name in SCALAR_CALLS else several
        call = getattr(t.autograd.functional, name)
        return essence(call(function, point(t), *vectors(t, name), create_graph=create_graph, strict=strict))

    same(program)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", CALLS + SCALAR_CALLS)
def test_one_number(name, create_graph):
    def program(t):
        x = t.tensor(0.7, dtype=t.float64, requires_grad=True)
        call = getattr(t.autograd.functional, name)
        return essence(call(lambda a: a.exp() * a, x, create_graph=create_graph))

    same(program)


@pytest.mark.parametrize("name", CALLS + SCALAR_CALLS)
def test_independent_of_an_input(name):
    def program(t):
        def function(x, y):
            return (x * x).sum() if name in SCALAR_CALLS else (x * x, x.sum())

        found = []
        for options in ({}, {"strict": True}, {"create_graph": True}, {"strict": True, "create_graph": True}):
            v = (
                ((t.tensor([1.0, 2.0], dtype=t.float64), t.tensor(1.0, dtype=t.float64)),)
                if name == "vjp"
                else vectors(t, name)
            )
            call = getattr(t.autograd.functional, name)
            error = error_of(call, function, point(t), *v, **options)
            found.append(error if error != "nothing" else essence(call(function, point(t), *v, **options)))
        return found

    same(program)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", CALLS + SCALAR_CALLS)
def test_linear_functions_in_strict_mode(name, create_graph):
    def program(t):
        x = leaf(t, 1.0, 2.0)
        call = getattr(t.autograd.functional, name)
        v = (x.detach(),) if name not in ("jacobian", "hessian") else ()

        def function(a):
            return (a * 3).sum() if name in SCALAR_CALLS else a * 3

        return error_of(call, function, x, *v, strict=True, create_graph=create_graph)

    same(program)


@pytest.mark.parametrize("name", CALLS + SCALAR_CALLS)
def test_constant_functions(name):
    def program(t):
        x = leaf(t, 1.0, 2.0)
        call = getattr(t.autograd.functional, name)
        v = (x.detach(),) if name not in ("jacobian", "hessian") else ()

        def function(a):
            return t.ones((), dtype=t.float64) if name in SCALAR_CALLS else t.ones(2, dtype=t.float64)

        return [essence(call(function, x, *v)), error_of(call, function, x, *v, strict=True)]

    same(program)


@pytest.mark.parametrize("name", CALLS + SCALAR_CALLS)
def test_wrong_arguments(name):
    def program(t):
        f = getattr(t.autograd.functional, name)
        x = leaf(t, 1.0, 2.0)
        found = [
            error_of(f, lambda a: a.sum(), 3.0),
            error_of(f, lambda a: a.sum(), (x, 3.0)),
            error_of(f, lambda a: 3.0, x),
            error_of(f, lambda a: (a.sum(), 3.0), x),
        ]
        if name in SCALAR_CALLS:
            found += [error_of(f, lambda a: a, x), error_of(f, lambda a: (a.sum(),), x)]
        if name not in ("jacobian", "hessian"):
            found += [
                error_of(f, lambda a: (a * a).sum(), x, t.ones(3, dtype=t.float64)),
                error_of(f, lambda a: (a * a).sum(), x, 3.0),
                error_of(f, lambda a: (a * a).sum(), x, (x, x)),
                error_of(f, lambda a: (a * a).sum(), (x,), (x, x)),
                error_of(f, lambda a: (a * a).sum(), (x,), (t.ones(3, dtype=t.float64),)),
                error_of(f, lambda a: a * a, x),
            ]
        return found

    same(program)


@programs
def gradients_flow_back_through_the_results(t):
    x, y = point(t)
    value, product = t.autograd.functional.vjp(lambda a: (a.exp() * y).sum(), x, create_graph=True)
    _, along = t.autograd.functional.jvp(lambda a: a.exp() * y, x, y, create_graph=True)
    _, second = t.autograd.functional.hvp(lambda a: (a.exp() * y).sum(), x, y, create_graph=True)
    jac = t.autograd.functional.jacobian(lambda a: a.exp() * y, x, create_graph=True)
    (value + product.sum() + along.sum() + second.sum() + jac.sum()).backward()
    return x.grad


@programs
def a_captured_tensor_is_told_from_the_argument(t):
    x = leaf(t, 2.0, 3.0)
    captured = t.autograd.functional.jacobian(lambda a: a * x, x, create_graph=True)
    return [essence(captured), t.autograd.grad(captured.sum(), x)]


@programs
def the_grad_mode_outside_does_not_matter(t):
    x, y = point(t)
    with t.no_grad():
        return [
            essence(t.autograd.functional.vjp(scalar, (x, y))),
            essence(t.autograd.functional.jacobian(several, (x, y))),
            essence(t.autograd.functional.hessian(scalar, (x, y))),
            essence(t.autograd.functional.hvp(scalar, (x, y), (y, y))),
        ]


@programs
def the_grad_mode_inside_counts(t):
    def half(a):
        with t.no_grad():
            c = a * a
        return (a * c).sum()

    x = leaf(t, 2.0, 3.0)
    return [essence(t.autograd.functional.jacobian(half, x)), essence(t.autograd.functional.hessian(half, x))]


@programs
def vectorized(t):
    x, y = point(t)
    return [
        essence(t.autograd.functional.jacobian(several, (x, y), vectorize=True)),
        essence(t.autograd.functional.jacobian(several, (x, y), vectorize=True, create_graph=True)),
        essence(t.autograd.functional.hessian(scalar, (x, y), vectorize=True)),
        error_of(t.autograd.functional.jacobian, several, (x, y), vectorize=True, strict=True),
    ]


@programs
def forward_mode(t):
    x, y = point(t)
    x = x.detach()
    f = t.autograd.functional
    return [
        essence(f.jacobian(several, (x, y), vectorize=True, strategy="forward-mode")),
        essence(f.jacobian(lambda a: a.exp(), x, vectorize=True, strategy="forward-mode")),
        essence(f.hessian(scalar, (x, y), vectorize=True, outer_jacobian_strategy="forward-mode")),
        error_of(f.jacobian, several, (x, y), strategy="forward-mode"),
        error_of(f.jacobian, several, (x, y), strategy="forward-mode", strict=True),
        error_of(f.jacobian, several, (x, y), strategy="forward-mode", create_graph=True),
        error_of(f.jacobian, several, (x, y), strategy="sideways"),
        error_of(f.hessian, scalar, (x, y), outer_jacobian_strategy="sideways"),
    ]


@programs
def forward_mode_of_writes(t):
    def itself(a):
        a.mul_(2)
        return a * a

    def another(a, b):
        b.mul_(2)
        return a * b

    f, how = t.autograd.functional, {"vectorize": True, "strategy": "forward-mode"}
    x, y, z = (t.tensor([1.0, 3.0], dtype=t.float64) for _ in range(3))
    found = [essence(f.jacobian(itself, x, **how)), essence(f.jacobian(another, (y, z), **how))]
    return [found, x.tolist(), x._version, y.tolist(), z.tolist()]


@programs
def matrices_and_broadcasting(t):
    w = t.tensor([[1.0, 2.0, 0.5], [-1.0, 0.3, 4.0]], dtype=t.float64)
    x = t.tensor([[0.5, -1.0], [2.0, 1.5]], dtype=t.float64)
    b = t.tensor([0.1, 0.2, 0.3], dtype=t.float64)
    return [
        essence(t.autograd.functional.jacobian(lambda w, x, b: (x.mm(w) + b).tanh(), (w, x, b))),
        essence(t.autograd.functional.hessian(lambda w, b: (x.mm(w) + b).tanh().sum(), (w, b))),
    ]


@programs
def the_inputs_are_left_alone(t):
    x = leaf(t, 1.0, 2.0)
    y = t.tensor([1.0, 2.0], dtype=t.float64)
    t.autograd.functional.jacobian(lambda a, b: a * b, (x, y))
    t.autograd.functional.hessian(lambda a, b: (a * a * b).sum(), (x, y))
    return [x.grad, y.grad, x.requires_grad, y.requires_grad]


@pytest.mark.parametrize("program", programs)
def test_programs(program):
    same(program)
