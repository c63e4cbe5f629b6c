"""Forward mode, transforms, inference mode and checks where they refuse or leave out something: as PyTorch."""

import importlib
import itertools

import pytest
from agdbg_tests_differential import Programs, error_of, essence, facts, leaf, same

pytest.importorskip("torch")
programs = Programs()
pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # both sides warn of what they leave out; errors and values are compared


# ----- forward mode -----


@programs
def out_with_a_dual(t):
    ad = t.autograd.forward_ad
    with ad.dual_level():
        x = ad.make_dual(t.ones(2, 2), t.ones(2, 2))
        calls = [
            lambda: t.exp(x, out=t.zeros(2, 2)),
            lambda: t.exp(t.ones(2, 2), out=x),
            lambda: t.add(x, x, out=t.zeros(2, 2)),
            lambda: t.matmul(x, x, out=t.zeros(2, 2)),
            lambda: t.outer(x[0], x[0], out=t.zeros(2, 2)),
            lambda: t.norm(x, dim=1, out=t.zeros(0)),
            lambda: t.cat([x, x], out=t.zeros(0)),
        ]
        with t.no_grad():
            return [error_of(call) for call in calls]


TANGENTS = {
    "times a number": lambda t, d, p: d * 2,
    "number times": lambda t, d, p: 2 * d,
    "by a number": lambda t, d, p: d / 2,
    "number by": lambda t, d, p: 2 / d,
    "powers": lambda t, d, p: d**2 + d**1,
    "number to the power": lambda t, d, p: 2**d,
    "plus a number": lambda t, d, p: 3 - (d + 2 - 1),
    "times a constant": lambda t, d, p: d * t.tensor([2.0, float("inf")], dtype=t.float64),
    "by a constant": lambda t, d, p: d / t.tensor([2.0, 3.0], dtype=t.float64),
    "products": lambda t, d, p: t.ones(2, 2, dtype=t.float64) @ d + t.dot(d, t.ones(2, dtype=t.float64)),
    "in place": lambda t, d, p: (d * p).mul_(2).div_(3),
    "zero_": lambda t, d, p: (d * p).zero_(),
    "sub_": lambda t, d, p: (d * p).sub_(p),
    "sub_ a dual": lambda t, d, p: (p * 1).sub_(d),
    "copy_": lambda t, d, p: (d * p).copy_(p),
    "copy_ a dual": lambda t, d, p: (p * 1).copy_(d),
    "constant times": lambda t, d, p: t.zeros(2, dtype=t.float64).mul_(d),
    "entry": lambda t, d, p: assigned(d * 1, p),
    "entry of a dual": lambda t, d, p: assigned(p * 1, d),
}


def assigned(c, b):
    c[0] = b[0]
    return c


@pytest.mark.parametrize("name", TANGENTS)
@pytest.mark.parametrize(("primal", "tangent"), [(True, False), (True, True), (False, True)])
def test_who_needs_the_gradient_of_a_tangent(name, primal, tangent):
    def program(t):
        p, v = leaf(t, 1.0, 2.0), leaf(t, 1.0, 1.0)
        p.requires_grad_(primal)
        v.requires_grad_(tangent)
        ad = t.autograd.forward_ad
        with ad.dual_level():
            out = ad.unpack_dual(TANGENTS[name](t, ad.make_dual(p, v), p)).tangent
            wanted = [x for x in (p, v) if x.requires_grad]
            back = t.autograd.grad(out.sum(), wanted, allow_unused=True) if out.requires_grad else ()
            zeros = t.zeros(2, dtype=t.float64)  # what a ZeroTensor is added to can be looked at
            return essence([out, [None if g is None else g + zeros for g in back]])

    same(program)


@programs
def a_tangent_that_lies_otherwise_only_where_there_is_one_element(t):
    ad = t.autograd.forward_ad
    v = t.ones(3, 1).t()
    with ad.dual_level():
        return ad.unpack_dual(ad.make_dual(t.ones(1, 3), v)).tangent.data_ptr() == v.data_ptr()


# ----- transforms -----

TRANSFORMS = {
    "grad": lambda t, f, x: t.func.grad(f)(x),
    "vjp": lambda t, f, x: t.func.vjp(f, x)[1](t.tensor(1.0)),
    "jvp": lambda t, f, x: t.func.jvp(f, (x,), (t.ones(2),)),
    "jacrev": lambda t, f, x: t.func.jacrev(f)(x),
}

INSIDE = {
    "add_ to captured": lambda t, x, y: y.add_(x),
    "fill_ captured": lambda t, x, y: y.fill_(2.0),
    "zero_ captured": lambda t, x, y: y.zero_(),
    "copy_ to captured": lambda t, x, y: y.copy_(x),
    "entry of captured": lambda t, x, y: assigned(y, x),
    "view of captured": lambda t, x, y: y.view(2).add_(1),
    "twin of captured": lambda t, x, y: y.detach().mul_(2),
    "data of captured": lambda t, x, y: y.data.sub_(1),
    "detach_ captured": lambda t, x, y: y.detach_(),
    "under no_grad": lambda t, x, y: t.no_grad()(y.add_)(1),
    "own tensors": lambda t, x, y: (t.zeros(2).add_(x), y.clone().mul_(x), t.empty_like(y).copy_(x), (x * 2).add_(1)),
    "inner transform": lambda t, x, y: t.func.grad(lambda z: (x * 1).mul_(z).sum())(x),
    "outer tensor in an inner one": lambda t, x, y: written_inside(t, x * 2, x),
    "backward": lambda t, x, y: (x * x).sum().backward(),
    "backward of something else": lambda t, x, y: t.ones(1, requires_grad=True).sum().backward(),
    "autograd.backward": lambda t, x, y: t.autograd.backward((x * x).sum()),
    "requires_grad_": lambda t, x, y: x.requires_grad_(),
    "requires_grad_(False)": lambda t, x, y: x.requires_grad_(False),
    "requires_grad_ of a new one": lambda t, x, y: t.ones(2).requires_grad_(),
    "made with requires_grad": lambda t, x, y: t.ones(2, requires_grad=True) * x,
    "retain_grad": lambda t, x, y: (x * 2).retain_grad(),
    "old function": lambda t, x, y: old_style(t).apply(x),
    "old function of captured": lambda t, x, y: old_style(t).apply(y),
    "checkpoint": lambda t, x, y: checkpointed(t, x, False),
    "reentrant checkpoint": lambda t, x, y: checkpointed(t, x, True),
}


def written_inside(t, y, x):
    return t.func.grad(lambda z: (y.add_(z)).sum())(x)


def old_style(t):
    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    return Square


def checkpointed(t, x, reentrant):
    checkpoint = importlib.import_module(f"{t.__name__}.utils.checkpoint").checkpoint
    return checkpoint(lambda a: a.sin(), x, use_reentrant=reentrant)


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_what_a_transformed_function_may_not_do(transform, inside):
    def program(t):
        y = t.zeros(2)

        def f(x):
            INSIDE[inside](t, x, y)
            return (x * x).sum()

        found = [facts_or_error(lambda: TRANSFORMS[transform](t, f, t.ones(2)))]
        y.add_(1)  # nothing of the transform is left
        t.ones(2).requires_grad_().sum().backward()
        return [*found, essence(y)]

    same(program)


def facts_or_error(call):
    seen = []
    error = error_of(lambda: seen.append(essence(call())))
    return seen or error


@programs
def detached_in_place(t):
    def f(x):
        x.detach_()
        return (x * x).sum()

    x = t.ones(2)
    return essence([t.func.grad(f)(x), t.func.vjp(f, x)[1](t.tensor(1.0)), t.func.jacrev(f)(x)])


@programs
def second_derivatives_under_no_grad(t):
    with t.no_grad():
        x = t.tensor([0.5, -0.3])
        return essence([t.func.jacfwd(t.func.jacrev(lambda a: (a**3).sum()))(x)])


# ----- functional -----


@pytest.mark.parametrize(("several", "inputs"), itertools.product([False, True], ["one", "tuple", "two"]))
def test_the_form_of_a_jacobian_by_columns(several, inputs):
    def program(t):
        xs = {"one": leaf(t, 1.0, 2.0), "tuple": (leaf(t, 1.0, 2.0),), "two": (leaf(t, 1.0, 2.0), leaf(t, 3.0))}[inputs]

        def f(*a):
            return (a[0] * a[-1], a[0].sum()) if several else a[0] * a[-1]

        def number(*a):
            return (a[0] ** 3 * a[-1]).sum()

        functional = t.autograd.functional
        found = [functional.jacobian(f, xs, vectorize=True, strategy="forward-mode")]
        found += [
            functional.hessian(number, xs, vectorize=True, outer_jacobian_strategy=s)
            for s in ("forward-mode", "reverse-mode")
        ]
        return [found and shape_of(x) for x in found] + facts([found])

    same(program)


def shape_of(x):
    return [type(x).__name__, [shape_of(y) for y in x]] if isinstance(x, tuple | list) else "tensor"


@programs
def inputs_are_leaves_without_create_graph(t):
    seen = []

    def f(a):
        seen.append((a.is_leaf, a.requires_grad))
        return (a * a).sum()

    for create_graph in (False, True):
        t.autograd.functional.vjp(f, leaf(t, 1.0, 2.0) * 2, create_graph=create_graph)
    return seen


# ----- gradcheck -----

INTEGERS = {
    "bool": lambda a: a.sum() > 0,
    "beside": lambda a: (a * 2, a > 0),
    "argmax": lambda a: a.argmax(),
    "rounded": lambda a: a.detach().long(),
    "beside argmax": lambda a: (a * 2, a.argmax()),
    "cut": lambda a: a.detach(),
}


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck_of_integers(name, fast_mode):
    def program(t):
        checks = (t.autograd.gradcheck, t.autograd.gradgradcheck)
        return [facts_or_error(lambda c=c: c(INTEGERS[name], leaf(t, 1.0, 2.0), fast_mode=fast_mode)) for c in checks]

    same(program)


@pytest.mark.parametrize("name", ["atol", "rtol", "eps", "nondet_tol"])
@pytest.mark.parametrize("value", [-1, None, "a", float("nan"), [1]])
def test_tolerances_that_are_none(name, value):
    def program(t):
        return facts_or_error(lambda: t.autograd.gradcheck(lambda a: a * 2, leaf(t, 1.0, 2.0), **{name: value}))

    same(program)


@programs
def one_of_two_gradients_missing(t):
    class Both(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            if g is None or h is None:
                return None if g is h else t.ones(2, dtype=t.float64)
            return 2 * g + 3 * h

    return error_of(t.autograd.gradcheck, Both.apply, leaf(t, 1.0, 2.0))


@programs
def tolerance_of_the_fast_mode_grows_with_the_output(t):
    def off_by(much):
        class Wrong(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.expand(100) * 2

            @staticmethod
            def backward(ctx, g):
                return g.sum().reshape(1) * (2 + much)

        return Wrong.apply

    def passes(much):
        options = {"fast_mode": True, "atol": 1e-2, "rtol": 0.0, "check_undefined_grad": False}
        return t.autograd.gradcheck(off_by(much), leaf(t, 1.0), raise_exception=False, **options)

    return [passes(much) for much in (5e-3, 2e-2)]


# ----- inference mode -----

OUTSIDE = {
    "sum": lambda t, q: q.sum(),
    "view": lambda t, q: q.view(2),
    "reshape": lambda t, q: q.reshape(1, 2),
    "exp": lambda t, q: q.exp(),
    "mm": lambda t, q: q @ q,
    "stack": lambda t, q: t.stack([q, q]),
    "unbind": lambda t, q: q.unbind(),
    "where": lambda t, q: t.where(q > 0, q, q),
    "index": lambda t, q: q[t.tensor([0])],
    "with a number": lambda t, q: q + 1,
    "saved with a number": lambda t, q: q * 2,
    "with another": lambda t, q: q + t.ones(2, requires_grad=True),
    "backward": lambda t, q: q.sum().backward(),
    "grad": lambda t, q: t.autograd.grad(q.sum(), q),
    "add_": lambda t, q: q.add_(1),
    "zero_": lambda t, q: q.zero_(),
    "copy_": lambda t, q: q.copy_(t.ones(2, requires_grad=True)),
    "twin": lambda t, q: q.detach().add_(1),
    "data": lambda t, q: q.data.add_(1),
    "versions of twins": lambda t, q: [q.detach()._version, q.data.add_(1)._version],
    "view of the twin": lambda t, q: q.detach().view(2).add_(1),
    "twin saved": lambda t, q: q.detach() * t.ones(2, requires_grad=True),
    "detach_": lambda t, q: q.detach_(),
}


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_inference_tensors_outside(name, requires_grad):
    def program(t):
        with t.inference_mode():
            q = t.ones(2, requires_grad=requires_grad)
        seen = []
        error = error_of(lambda: seen.append(OUTSIDE[name](t, q)))
        return [essence(seen), error, q.requires_grad]

    same(program)


@programs
def twin_made_in_inference_mode(t):
    with t.inference_mode():
        q = t.ones(2)
        twins = q.detach(), q.data
    return [error_of(x.add_, 1) for x in twins]


# ----- flags -----


@pytest.mark.parametrize("value", ["x", None, 1, [1], True])
def test_flags(value):
    def program(t):
        def calls():
            a = leaf(t, 1.0, 2.0)
            yield lambda: t.autograd.set_detect_anomaly(value).__exit__()
            yield lambda: t.autograd.set_detect_anomaly(False, value).__exit__()
            yield lambda: t.autograd.set_multithreading_enabled(value).__exit__(None, None, None)
            yield lambda: t.autograd.detect_anomaly(value).__enter__() or t.autograd.set_detect_anomaly(False)
            for name in ("create_graph", "retain_graph"):
                yield lambda name=name: (a * 2).sum().backward(**{name: value})
                yield lambda name=name: t.autograd.backward((a * 2).sum(), **{name: value})
                yield lambda name=name: t.autograd.grad((a * 2).sum(), a, **{name: value})
            yield lambda: t.autograd.grad((a * 2).sum(), a, allow_unused=value)

        found = [error_of(call) for call in calls()]
        t.autograd.set_detect_anomaly(False)
        t.autograd.set_multithreading_enabled(True)
        return found

    same(program)


# ----- what nothing else sees -----


@programs
def empty_roots(t):
    return [error_of((t.zeros(*s, requires_grad=True) * 2).backward) for s in ((0,), (1, 0), (1, 1))]


@programs
def nan_in_a_complex_gradient(t):
    z = t.tensor([1 + 1j], dtype=t.complex128, requires_grad=True)
    with t.autograd.detect_anomaly():
        return error_of((z * complex("nan")).real.sum().backward)


@programs
def check_nan_is_put_back(t):
    state = importlib.import_module("torch" if t.__name__ == "torch" else "agdbg_engine.anomaly")
    t.autograd.set_detect_anomaly(False, check_nan=False)
    with t.autograd.detect_anomaly():
        inside = state.is_anomaly_check_nan_enabled()
    after = state.is_anomaly_check_nan_enabled()
    t.autograd.set_detect_anomaly(False)
    return [inside, after, state.is_anomaly_check_nan_enabled()]


@programs
def reentrant_checkpoint_and_grad(t):
    x = leaf(t, 1.0, 2.0)
    y = checkpointed(t, x, True).sum()
    return [error_of(t.autograd.grad, y, x), x.grad]


@pytest.mark.parametrize("program", programs)
def test_programs(program):
    same(program)
