"""Forward mode: duals, levels, views, writes, custom Functions and both orders of nesting with reverse mode."""

from agdbg_tests_differential import error_of
from agdbg_tests_differential_programs import family, grads, m23, numbers, plain, section, x2

add = section("forward")

OPS = {
    "mul": lambda t, x: x * x * 2,
    "exp_log": lambda t, x: (x.exp() + 1).log(),
    "matmul": lambda t, x: x @ x.t(),
    "sum": lambda t, x: x.sum(1) * x.mean(),
    "div_pow": lambda t, x: x / (x * x + 1) ** 1.5,
    "where": lambda t, x: t.where(x > 0, x.sin(), x.cos()),
    "max": lambda t, x: x.max(1)[0],
    "index": lambda t, x: x[t.tensor([1, 0]), t.tensor([2, 2])],
    "cat": lambda t, x: t.cat([x, x * 2], 1),
    "views": lambda t, x: x.t()[1:].reshape(-1)[::2],
    "softmax": lambda t, x: x.softmax(1) * x.log_softmax(0),
    "unbind": lambda t, x: x.unbind(0)[1] * x.unbind(1)[0].sum(),
    "clamp": lambda t, x: x.clamp(-0.75, 1),
    "var": lambda t, x: x.var(1) + x.norm(),
    "written": lambda t, x: (x * 1).mul_(x).sin_(),
    "slice_written": lambda t, x: (lambda y: (y[0].mul_(3), y)[1])(x * x),
    "detached": lambda t, x: x.detach() * 2,
    "integers": lambda t, x: x.long(),
    "converted": lambda t, x: x.float() * 2,
    "tanh_relu": lambda t, x: x.tanh().relu() + x.sigmoid(),
}


def tangent_facts(t, y):
    p, tangent = t.autograd.forward_ad.unpack_dual(y)
    return [numbers(p), None if tangent is None else values_of(tangent)]


def values_of(x):
    """Without whether it is recorded: PyTorch records the product with a tangent that is zero everywhere."""
    return [numbers(x), list(x.stride()) if x.numel() > 1 else []]


def direction(t, x):
    return (t.arange(x.numel(), dtype=x.dtype) * 0.5 - 1).view(x.shape)


def tangents(op):
    """The tangent, its gradient (reverse over forward), and the tangent of the gradient (forward over reverse)."""

    def program(t):
        fw = t.autograd.forward_ad
        x = m23(t)
        with fw.dual_level():
            y = op(t, fw.make_dual(x, direction(t, x)))
            seen = [y, tangent_facts(t, y)]
            tangent = fw.unpack_dual(y).tangent
            seen.append(slope(t, tangent, x))
            d = fw.make_dual(x, direction(t, x))
            out = op(t, d)
            if out.requires_grad:
                (g,) = t.autograd.grad((out * out).sum(), d, create_graph=True, allow_unused=True)
                seen.append(None if g is None else tangent_facts(t, g))
        return [*seen, tangent_facts_outside(t, y)]

    return program


def slope(t, tangent, x):
    """The gradient of a tangent, zero where it has none."""
    if tangent is None or not tangent.requires_grad:
        return numbers(t.zeros(x.shape, dtype=x.dtype))
    return numbers(t.autograd.grad(tangent.sum(), x, retain_graph=True, materialize_grads=True)[0])


def tangent_facts_outside(t, y):
    return error_of(t.autograd.forward_ad.unpack_dual, y)


family(add, OPS, "tangent_of", tangents)


def dual(t, x):
    return t.autograd.forward_ad.make_dual(x, direction(t, x))


@add
def levels(t):
    fw = t.autograd.forward_ad
    seen = [error_of(fw.exit_dual_level), error_of(fw.make_dual, x2(t), x2(t))]
    level = fw.enter_dual_level()
    seen += [level, error_of(fw.enter_dual_level)]
    fw.exit_dual_level()
    return [*seen, error_of(fw.exit_dual_level)]


@add
def tangents_that_do_not_fit(t):
    fw, x = t.autograd.forward_ad, x2(t)
    bad = [t.ones(3), t.ones(2, 2), t.ones(2), t.ones(2, dtype=t.int64), t.ones(2, dtype=t.complex128), 1.0]
    with fw.dual_level():
        seen = [error_of(fw.make_dual, x, b) for b in bad]
        return [*seen, error_of(fw.make_dual, t.arange(2), t.ones(2)), error_of(fw.make_dual, 3, x)]


@add
def a_tensor_that_is_dual_already(t):
    fw, x = t.autograd.forward_ad, x2(t)
    with fw.dual_level():
        d = dual(t, x)
        e = error_of(fw.make_dual, d, x)
        return [e, tangent_facts(t, d), d is x, d]


@add
def tangents_die_with_their_level(t):
    fw, x = t.autograd.forward_ad, x2(t)
    with fw.dual_level():
        y = dual(t, x) * 2
    with fw.dual_level():
        return [y, fw.unpack_dual(y).tangent, tangent_facts(t, dual(t, x))]


@add
def a_view_of_a_dual_shares_its_tangent(t):
    fw, x = t.autograd.forward_ad, m23(t).detach()
    with fw.dual_level():
        d = dual(t, x * 1)
        v = d[0]
        tv = fw.unpack_dual(v).tangent
        d.mul_(3)
        seen = [tangent_facts(t, v), tangent_facts(t, d), plain(tv), tv._is_view()]
        v.add_(d[1])
        return [*seen, tangent_facts(t, d), tangent_facts(t, v)]


@add
def a_dual_is_written_into_a_constant(t):
    fw, x = t.autograd.forward_ad, x2(t).detach()
    with fw.dual_level():
        buffer = t.zeros(3, dtype=t.float64)
        v = buffer[1:]
        buffer[1:] = dual(t, x)
        seen = [tangent_facts(t, buffer), tangent_facts(t, v)]
        buffer.zero_()
        return [*seen, tangent_facts(t, buffer)]


@add
def a_constant_is_written_into_a_dual(t):
    fw, x = t.autograd.forward_ad, x2(t).detach()
    with fw.dual_level():
        d = dual(t, x) * 1
        d[0] = 5.0
        return tangent_facts(t, d)


@add
def detach_copy_and_no_grad(t):
    fw, x = t.autograd.forward_ad, x2(t)
    with fw.dual_level():
        d = dual(t, x)
        with t.no_grad():
            y = d * 2
        return [
            tangent_facts(t, d.detach()),
            tangent_facts(t, d.clone()),
            y,
            tangent_facts(t, y),
            tangent_facts(t, d.data),
        ]


@add
def one_of_two_operands(t):
    fw, x, w = t.autograd.forward_ad, x2(t), x2(t, 3.0, 4.0)
    with fw.dual_level():
        d = dual(t, x)
        return [
            tangent_facts(t, y) for y in (d * w, w - d, w / d, d**w, w**d, t.where(x > 1, w, d), w * 2, t.stack([w, d]))
        ]


def doubling(t, **more):
    given = {"forward": lambda ctx, x: x * 2, "backward": lambda ctx, g: g * 2, **more}
    return type("Mine", (t.autograd.Function,), {k: staticmethod(f) for k, f in given.items()}).apply


@add
def a_function_with_jvp(t):
    fw, x = t.autograd.forward_ad, x2(t)

    def forward(ctx, x, y):
        ctx.save_for_forward(x, y)
        ctx.save_for_backward(x, y)
        return x * y

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    def jvp(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return (0 if tx is None else tx * y) + (0 if ty is None else ty * x)

    mine = doubling(t, forward=forward, backward=backward, jvp=jvp)
    with fw.dual_level():
        d = dual(t, x)
        out = [mine(d, x), mine(x, d), mine(d, d)]
        return [*out, [tangent_facts(t, o) for o in out], plain(grads(t, fw.unpack_dual(out[2]).tangent, x))]


@add
def a_function_without_jvp(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        return [error_of(doubling(t), dual(t, x2(t))), doubling(t)(x2(t))]


@add
def a_jvp_that_returns_nonsense(t):
    fw, seen = t.autograd.forward_ad, []
    for bad in (3, "no", (1, 2)):
        with fw.dual_level():
            seen.append(error_of(doubling(t, jvp=lambda ctx, tx, bad=bad: bad), dual(t, x2(t))))
    for bad in (lambda tx: tx.sum(), lambda tx: tx.float(), lambda tx: (tx, tx)):
        with fw.dual_level():
            seen.append(error_of(doubling(t, jvp=lambda ctx, tx, bad=bad: bad(tx)), dual(t, x2(t))))
    return seen


@add
def a_jvp_that_returns_nothing(t):
    with t.autograd.forward_ad.dual_level():
        return error_of(doubling(t, jvp=lambda ctx, tx: None), dual(t, x2(t)))


@add
def a_jvp_of_a_function_that_writes(t):
    fw = t.autograd.forward_ad

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    mine = doubling(t, forward=forward, jvp=lambda ctx, tx: tx.mul_(2))
    with fw.dual_level():
        d = dual(t, x2(t) * 1)
        y = mine(d)
        return [y is d, tangent_facts(t, y), y]


@add
def switched_off(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = dual(t, x2(t))
        with fw._set_fwd_grad_enabled(False):
            y = d * 2
        return [tangent_facts(t, y), tangent_facts(t, d * 2)]


@add
def in_inference_mode(t):
    fw = t.autograd.forward_ad
    with t.inference_mode(), fw.dual_level():
        said = error_of(lambda: dual(t, t.ones(2)))
        y = t.ones(2)
        return [said, error_of(lambda: tangent_facts(t, y * 2))]


@add
def hooks_and_tangents(t):
    fw, log, x = t.autograd.forward_ad, [], x2(t)
    with fw.dual_level():
        d = dual(t, x)
        y = d**3
        y.register_hook(lambda g: log.append(tangent_facts(t, g)))
        (g,) = t.autograd.grad((y * y).sum(), d)
        return [log, tangent_facts(t, g)]


@add
def a_gradient_field_keeps_its_tangent(t):
    fw, x = t.autograd.forward_ad, x2(t)
    with fw.dual_level():
        d = dual(t, x)
        (d * d).sum().backward()
        return [plain(x.grad), error_of(lambda: tangent_facts(t, x.grad))]


@add
def complex_tangents(t):
    fw, x = t.autograd.forward_ad, t.tensor([1 + 2j, 3j], dtype=t.complex128)
    with fw.dual_level():
        d = fw.make_dual(x, t.tensor([1j, 2.0], dtype=t.complex128))
        return [tangent_facts(t, y) for y in (d * d, d.real, d.imag, d.conj(), d.abs(), d.exp())]


RESULTS_IN_VIEWS = {
    "exp_": lambda v: v.exp_(),
    "tanh_": lambda v: v.tanh_(),
    "sqrt_": lambda v: v.sqrt_(),
    "div_": lambda v: v.div_(v.detach() + 1),
    "sigmoid_twice": lambda v: v.sigmoid_().sigmoid_(),
    "sin_": lambda v: v.sin_(),
}
VIEWS = {
    "slice": lambda y: y[:1],
    "two of three": lambda y: y[1:],
    "unsqueezed": lambda y: y.unsqueeze(0),
    "of a view": lambda y: y[1:][:1],
}


def second_of_written_view(write, take):
    """What an in-place op has made of a part, derived twice in every order: its formulas name the result."""

    def program(t):
        fw = t.autograd.forward_ad

        def f(a):
            y = a * 1
            v = take(y)
            write(v)
            return (y * y).sum() + (v * v).sum()

        p = t.tensor([1.0, 2.0, 0.5], dtype=t.float64, requires_grad=True)
        seen = [plain(t.func.jacrev(t.func.jacfwd(f))(p.detach())), plain(t.func.hessian(f)(p.detach()))]
        with fw.dual_level():
            (g,) = t.autograd.grad(f(fw.make_dual(p, t.ones_like(p))), p, create_graph=True)
            seen += [tangent_facts(t, g.detach()), plain(t.autograd.grad((g * g).sum(), p, retain_graph=True)[0])]
            y = fw.make_dual(p, t.ones_like(p)) * 1
            v = take(y)
            write(v)
            tangent = fw.unpack_dual(v).tangent
            seen.append(plain(t.autograd.grad(tangent.sum(), p)[0]))
        return seen

    return program


family(
    add,
    {f"{w}, {v}": (RESULTS_IN_VIEWS[w], VIEWS[v]) for w in RESULTS_IN_VIEWS for v in VIEWS},
    "second_of_written_view",
    lambda row: second_of_written_view(*row),
)


@add
def as_strided_of_a_view_beyond_its_elements(t):
    fw, seen = t.autograd.forward_ad, []
    with fw.dual_level():
        d = fw.make_dual(t.tensor([1.0, 2.0, 3.0, 4.0]), t.tensor([0.5, 0.25, 2.0, 1.0]))
        seen += [tangent_facts(t, x.as_strided((2,), (1,), 1)) for x in (d, d[2:], d.view(2, 2)[1:], (d * 1)[2:])]
        y = d * 1
        wide = y[::2].as_strided((4,), (1,), 0)
        seen.append(tangent_facts(t, wide))
        wide.mul_(2)
        seen += [tangent_facts(t, y), tangent_facts(t, y[:0].as_strided((0,), (1,), 2))]
    return seen
