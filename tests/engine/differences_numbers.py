"""Rows of docs/differences.md about numbers, and what they need: by anchor a program, what PyTorch gives, what the engine gives."""

import math


class OneOf:
    """Answers of which PyTorch gives one, by the instructions that the processor has."""

    def __init__(self, *answers):
        self.answers = answers

    def __eq__(self, found):
        return found in self.answers

    def __repr__(self):
        return f"one of {self.answers}"


def det_singular(T):
    x = T.ones(2, 2, dtype=T.float64, requires_grad=True)
    T.linalg.det(x).backward()
    return [[round(v) for v in row] for row in x.grad.tolist()]  # the truth: the cofactors


def complex_and_infinity(T):
    infinite, zero = T.tensor(complex(0, math.inf)), T.tensor(0j)
    sums = (T.tensor(1 + 1j) + math.inf, zero + infinite, zero - infinite, T.rsub(infinite, zero))
    return [str(x.item()) for x in sums]


def ldexp_of_infinity(T):
    return str(T.ldexp(T.tensor(1j), T.tensor(complex(math.inf, 0))).item())


def ldexp_gradient(T):
    x = T.tensor([1.0, 1.0], requires_grad=True)
    T.ldexp(x, T.tensor([-3, 2])).sum().backward()
    return x.grad.tolist()


def largest_distance(T):
    x, y = T.tensor([[1.0, math.nan]]), T.zeros(1, 2)
    return str([T.cdist(x, y, math.inf).item(), T.nn.functional.pdist(T.cat([x, y]), math.inf).item()])


def padding_alone(T):
    x, pool = T.ones(1, 1, 1, 2), T.nn.functional.max_pool2d
    return pool(x, 2, 1, 1, 2)[0, 0].tolist()


def points_of_nan(T):
    x = T.arange(8.0).reshape(1, 1, 2, 2, 2).requires_grad_()  # a volume alone: of an image PyTorch may crash
    y = T.nn.functional.grid_sample(x, T.tensor([[[[[math.nan, -1.0, -1.0]]]]]), "bilinear", "border", True)
    y.sum().backward()
    return y.item(), x.grad.flatten().tolist()


def complex_logaddexp(T):
    x, y = (T.tensor(v, dtype=T.complex128, requires_grad=True) for v in (math.inf, -math.inf))
    gradients = T.autograd.grad(T.logaddexp(x, y), [x, y], T.tensor(1 + 0j, dtype=T.complex128))
    return [str(g.item()) for g in gradients]


def early_overflow(T):
    return [round(f(T.full((64,), 710.0, dtype=T.float64))[0].item() / 1e308, 3) for f in (T.cosh, T.sinh)]


def running_mean(T):
    return str(T.var_mean(T.tensor([math.inf, 1.0]))[1].item())


def half_prod(T):
    return T.tensor([300.0, 300.0, 0.001]).to(T.float16).prod().item()


def triangular_tangent(T):
    A, tangent = T.tensor([[2.0, 1.0], [0.0, 3.0]]).double(), T.tensor([[1.0, 2.0], [5.0, 4.0]]).double()
    gradient = T.func.grad(lambda A: T.triangular_solve(T.ones(2, 1).double(), A)[0].sum())
    found, step = T.func.jvp(gradient, (A,), (tangent,))[1], 1e-6 * tangent
    by_differences = (gradient(A + step) - gradient(A - step)) / 2e-6
    return bool((found - by_differences).abs().max() < 1e-6)


def spread_of_no_dims(T):
    found = []
    for name in ("var", "std", "var_mean", "std_mean"):
        x = T.tensor([1.0, 2.0, 6.0], requires_grad=True)
        out = getattr(T, name)(x, [])
        (slope,) = T.autograd.grad(out[0] if isinstance(out, tuple) else out, x)
        found.append(round(slope[2].item(), 2))
    return found


def logsumexp_of_no_dims(T):
    return round(T.logsumexp(T.zeros(4), ()).item(), 4)


def scaled_rows_twice(T):
    weight, start = T.ones(2, 1, requires_grad=True), T.ones(3, 1, requires_grad=True)
    rows = T.nn.functional.embedding(T.tensor([0, 1, 1]), weight, scale_grad_by_freq=True)
    (slope,) = T.autograd.grad(rows, weight, start, create_graph=True)
    return T.autograd.grad(slope.sum(), start)[0].flatten().tolist()


def cdist_twice(T):
    x, y = T.tensor([[1.0, 2.0]], requires_grad=True), T.tensor([[3.0, 1.0]])
    found = []
    for distances in (T.cdist(x, y), T.pdist(T.cat([x, y])), T.segment_reduce(x.prod(1), "sum", lengths=T.tensor([1]))):
        try:
            (gradient,) = T.autograd.grad(distances.sum(), x, create_graph=True)
            found.append([round(v, 3) for v in T.autograd.grad(gradient[0, 0], x)[0][0].tolist()])
        except (NotImplementedError, RuntimeError) as error:
            found.append("is not implemented" in str(error))
    return found


def computed_twice(T):
    F = T.nn.functional
    functions = {
        "hardsigmoid": lambda x: F.hardsigmoid(x),
        "multi_margin_loss": lambda x: F.multi_margin_loss(x, T.tensor([0])),
        "multilabel_margin_loss": lambda x: F.multilabel_margin_loss(x, T.tensor([[0, -1]])),
        "scaled_dot_product_attention": lambda x: F.scaled_dot_product_attention(*[x.view(1, 1, 1, 2) * 1] * 3),
        "embedding_bag": lambda x: F.embedding_bag(T.tensor([[0, 1]]), T.eye(2), mode="sum", per_sample_weights=x),
        "vander": lambda x: T.vander(x[0]),
    }
    refused = []
    for name, function in functions.items():
        x = T.tensor([[0.5, 0.7]], requires_grad=True)
        try:
            (gradient,) = T.autograd.grad(function(x).square().sum(), x, create_graph=True)
            T.autograd.grad(gradient.sum(), x)
        except RuntimeError:
            refused.append(name)
    return refused


def tangent_of_products(T):
    x, s, at = T.tensor([2.0, 3.0]), T.tensor([5.0, 7.0]), T.tensor([0, 0])
    return T.func.jvp(lambda x, s: x.scatter_reduce(0, at, s, "prod"), (x, s), (x, s))[1].tolist()


def norm_of_nothing(T):
    x, g = T.zeros(0, requires_grad=True), T.ones((), requires_grad=True)
    (gradient,) = T.autograd.grad(T.linalg.norm(x, 3.5), x, g, create_graph=True)
    return str(T.autograd.grad(gradient.sum(), g)[0].item())


def topk_ties(T):
    return (T.arange(200) % 3).topk(3).indices.tolist()


def mode_nan(T):
    return [math.isnan(v) for v in T.tensor([[0.0, math.nan], [math.nan, 0.0]]).mode().values.tolist()]


def _many(T, function):
    x = T.full((37,), math.nan, requires_grad=True)
    function(T.nn.functional, x).sum().backward()
    return x.grad


def nan_in_vectors(T):
    functions = (
        lambda F, x: F.elu(x), lambda F, x: F.selu(x), lambda F, x: F.celu(x), lambda F, x: F.hardtanh(x),
        lambda F, x: F.relu6(x), lambda F, x: F.hardswish(x), lambda F, x: F.hardshrink(x), lambda F, x: F.softshrink(x),
    )  # fmt: skip
    return [len(set(map(str, _many(T, f).tolist()))) for f in functions]


def gelu_of_infinity(T):
    return str(T.nn.functional.gelu(T.full((2,), math.inf)).tolist())


def convolved_infinity(T):
    """Of float64, of float32 alone and in a batch: the product of the padding's zero and infinity is NaN."""
    found = []
    for dtype, batch in ((T.float64, 2), (T.float32, 1), (T.float32, 2)):
        x, weight = T.ones(batch, 1, 4, dtype=dtype), T.tensor([[[math.inf, 1.0, 1.0]]], dtype=dtype)
        found.append(T.nn.functional.conv1d(x, weight, padding=1)[0, 0].tolist())
    return str(found)


_AS_COMPUTED, _OF_ONEDNN = "[nan, inf, inf, inf]", "[2.0, inf, inf, inf]"


def lu_unpack(T):
    return [x.shape[0] for x in T.lu_unpack(T.ones(5, 2, 2), T.ones(10, dtype=T.int32)[:2])]


def _written_before_backward(T, op, which):
    """``which`` of the operands of ``op`` is written, or -1: its result."""
    x, y = (T.ones(1, 2, requires_grad=True) for _ in range(2))
    operands = x * 1, y * 1
    made = op(*operands)
    with T.no_grad():
        (*operands, made)[which].add_(1)
    try:
        made.abs().sum().backward()
    except RuntimeError as error:
        return "refused" if "modified by an inplace operation" in str(error) else "another error"
    return [None if v.grad is None else v.grad.flatten().tolist() for v in (x, y)][max(which, 0)]


def sizes_only(T):
    first = T.tensor([0])
    ops = (
        (lambda x, y: x.gather(1, first[None]), 0), (lambda x, y: x.masked_select(T.tensor([True, False])), 0),
        (lambda x, y: x.take(first), 0), (lambda x, y: T.nn.functional.nll_loss(x, first), 0),
        (lambda x, y: x.index_add(0, first, y), 1), (lambda x, y: x.index_copy(0, first, y), 1),
        (lambda x, y: x.put(first, y[0, :1]), 1), (lambda x, y: T.complex(x, y).real, 0),
        (lambda x, y: T.fft.fft(x).real, 0),
        (lambda x, y: x.pow(T.ones(1, 2) * 2), -1), (lambda x, y: x.ldexp(T.ones(1, 2)), -1),
    )  # fmt: skip
    return [_written_before_backward(T, *op) for op in ops]


def read_first(T):
    x = T.arange(1.0, 5.0)
    x.masked_scatter_(x > 1, x)
    w = T.arange(1.0, 5.0).reshape(2, 2)
    T.sum(w, 0, out=w[0])
    v = T.tensor([[2.0, 3.0], [4.0, 5.0]])
    v.add_(v[:, 0])
    a = T.arange(1.0, 5.0)
    a.index_put_((T.tensor([0, 1, 2]),), a[1:2].expand(3), accumulate=True)
    return [x.tolist(), w.tolist(), v.tolist(), a.tolist()]


def dtype_attributes(T):
    x = T.ones(1)
    return [
        x.is_floating_point(),
        x.dtype.itemsize,
        hasattr(x.dtype, "is_floating_point"),
        hasattr(x.dtype, "to_complex"),
    ]


def mish_twice(T):
    x = T.tensor([700.0, 800.0], dtype=T.float64, requires_grad=True)
    (g,) = T.autograd.grad(T.nn.functional.mish(x).sum(), x, create_graph=True)
    return str(T.autograd.grad(g.sum(), x)[0].tolist())


REVERSED = {
    "solve": lambda T, a, b: T.linalg.solve(a, b),
    "tensorsolve": lambda T, a, b: T.linalg.tensorsolve(a, b[:, 0]),
    "householder_product": lambda T, a, b: T.linalg.householder_product(a, b[0]),
    "layer_norm": lambda T, a, b: T.nn.functional.layer_norm(a.reshape(1, 4), (4,), b.reshape(4)),
    "batch_norm": lambda T, a, b: T.nn.functional.batch_norm(a.reshape(4, 1), None, None, training=True) * b[0, 0],
    "instance_norm": lambda T, a, b: T.nn.functional.instance_norm(a.reshape(1, 1, 4)) * b[0, 0],
}


def gradient_of_tangents(T):
    """Whether the gradient of a tangent, by the first operand, is that of finite differences."""
    a, b, step = (
        T.tensor(v).double() for v in ([[2.0, 0.5], [0.3, 1.5]], [[1.0, -0.4], [0.7, 2.0]], [[1.0, 2.0], [-1.0, 0.5]])
    )
    right = {}
    for name, f in REVERSED.items():

        def of_tangent(x, f=f):
            tangent = T.func.jvp(lambda x, y: f(T, x, y), (x, b), (a + 1, b - 1))[1].flatten()
            return (tangent * T.tensor([0.2, -1.0, 0.6, 0.9]).double()[: len(tangent)]).sum()

        found = (T.func.grad(of_tangent)(a) * step).sum()
        by_differences = (of_tangent(a + 1e-6 * step) - of_tangent(a - 1e-6 * step)) / 2e-6
        right[name] = bool((found - by_differences).abs() < 1e-5)
    return right


def incomplete_gamma_of_nan(T):
    pairs = [(math.nan, 0.0), (math.inf, math.nan), (math.nan, math.inf)]
    return [
        [str(f(T.tensor(a), T.tensor(x)).item()) for a, x in pairs] for f in (T.special.gammainc, T.special.gammaincc)
    ]


def polynomials_at_infinity(T):
    found = [
        f(T.tensor(math.inf), n).item()
        for f in (T.special.chebyshev_polynomial_t, T.special.legendre_polynomial_p)
        for n in (0, 2, 3)
    ]
    return [str(v) for v in found]


def larger_source(T):
    x, source = T.tensor([1.0], requires_grad=True), T.tensor([2.0, 2.0, 3.0], requires_grad=True)
    y = x.scatter_reduce(0, T.tensor([0]), source, "amax")
    found = [T.autograd.grad(y, [source], T.tensor([2.0]))[0].tolist()]
    for name in ("scatter", "scatter_add"):
        try:
            y = getattr(T.zeros(2), name)(0, T.tensor([0, 1]), source)
            found.append(T.autograd.grad(y.sum(), [source])[0].tolist())
        except RuntimeError:
            found.append("refused")
    return found


def infinite_sums(T):
    x, weight = T.tensor([[1.0, 2.0, 4.0]]), T.ones(3, requires_grad=True)
    y = T.nn.functional.group_norm(x, 1, weight)
    return str(T.autograd.grad(y, weight, T.tensor([[0.0, 0.0, math.inf]]))[0].tolist())


def tangent_before_nan(T):
    x = T.tensor([1.0, 2.0, math.nan])
    return str(T.func.jvp(lambda x: T.logcumsumexp(x, 0), (x,), (T.ones(3),))[1][0].item())


def nan_in_factors(T):
    lu, _ = T.linalg.lu_factor(T.tensor([[1.0, math.nan, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 1.0]]))
    _, r = T.linalg.qr(T.tensor([[math.nan, 1.0], [2.0, 3.0]]))
    return [int(T.isnan(lu).sum()), int(T.isnan(r).sum())]


def rank_to_rounding(T):
    A = T.tensor([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], dtype=T.float64)
    try:
        return T.linalg.lstsq(A, T.ones(3, 1, dtype=T.float64), driver="gels").solution[0, 0].item() > 1e12
    except T.linalg.LinAlgError:
        return "refused"


def zero_twice(T):
    F, x = T.nn.functional, T.ones(3, 2, requires_grad=True)
    bias = T.zeros(1, requires_grad=True)
    of_bias = F.conv1d(T.ones(1, 1, 3, requires_grad=True), T.ones(1, 1, 2, requires_grad=True), bias).sum()
    outs = ((F.nll_loss(x, T.tensor([0, 1, 0])), x), (F.pdist(x, 0.0).sum(), x), (of_bias, bias))
    return [T.autograd.grad(out, leaf, create_graph=True)[0].requires_grad for out, leaf in outs]


def cholesky_inverse_tangent(T):
    factor = T.tensor([[2.0, 0.0], [1.0, 3.0]], dtype=T.float64)
    tangent = T.tensor([[1.0, 0.0], [2.0, 1.0]], dtype=T.float64)
    found, step = T.func.jvp(T.cholesky_inverse, (factor,), (tangent,))[1], 1e-6 * tangent
    by_differences = (T.cholesky_inverse(factor + step) - T.cholesky_inverse(factor - step)) / 2e-6
    return bool((found - by_differences).abs().max() < 1e-6)


NUMBERS = {
    "cholesky-inverse-tangent": (cholesky_inverse_tangent, False, True),
    "zero-twice": (zero_twice, [True] * 3, [False] * 3),
    "nan-in-factors": (nan_in_factors, [3, 2], [1, 3]),
    "rank-to-rounding": (rank_to_rounding, True, "refused"),
    "tangent-before-nan": (tangent_before_nan, "nan", "1.0"),
    "mish-twice": (mish_twice, "[0.0, nan]", "[0.0, 0.0]"),
    "larger-source": (
        larger_source,
        [[2.0, 2.0, 0.0], "refused", "refused"],
        [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]],
    ),
    "gradient-of-tangents": (gradient_of_tangents, dict.fromkeys(REVERSED, False), dict.fromkeys(REVERSED, True)),
    "incomplete-gamma-of-nan": (
        incomplete_gamma_of_nan,
        [["0.0", "0.0", "1.0"], ["1.0", "1.0", "0.0"]],
        [["nan"] * 3] * 2,
    ),
    "polynomials-at-infinity": (
        polynomials_at_infinity,
        ["1.0", "inf", "nan", "1.0", "inf", "nan"],
        ["1.0", "nan", "nan", "1.0", "inf", "inf"],
    ),
    "infinite-sums": (infinite_sums, "[0.0, 0.0, nan]", "[0.0, 0.0, inf]"),
    "dtype-attributes": (dtype_attributes, [True, 4, True, True], [True, 4, False, False]),
    "det-singular": (det_singular, [[0, 0], [0, 0]], [[1, -1], [-1, 1]]),
    "complex-and-infinity": (
        complex_and_infinity,
        ["(inf+nanj)", "(nan+infj)", "(nan-infj)", "(nan-infj)"],
        ["(inf+1j)", "infj", "-infj", "-infj"],
    ),
    "ldexp-of-infinity": (ldexp_of_infinity, "(nan+nanj)", "(nan+infj)"),
    "ldexp-gradient": (ldexp_gradient, [0.0, 4.0], [0.125, 4.0]),
    "largest-distance": (largest_distance, "[1.0, nan]", "[nan, nan]"),
    "points-of-nan": (points_of_nan, (1.0, [0.0] * 8), (1.0, [0.0, 1.0] + [0.0] * 6)),
    "padding-alone": (padding_alone, [[-math.inf, -math.inf]], RuntimeError),
    "complex-logaddexp": (complex_logaddexp, ["(1+0j)", "(nan+nanj)"], ["(1+0j)", "0j"]),
    "early-overflow": (early_overflow, [math.inf] * 2, [1.117] * 2),
    "running-mean": (running_mean, "nan", "inf"),
    "half-prod": (half_prod, math.inf, 90.0625),
    "triangular-tangent": (triangular_tangent, False, True),
    "spread-of-no-dims": (spread_of_no_dims, [math.inf] * 4, [3.0, 0.57, 3.0, 0.57]),
    "logsumexp-of-no-dims": (logsumexp_of_no_dims, RuntimeError, 1.3863),
    "scaled-rows-twice": (scaled_rows_twice, [1.0, 1.0, 1.0], [1.0, 0.5, 0.5]),
    "tangent-of-products": (tangent_of_products, [0.0, 0.0], [210.0, 3.0]),
    "computed-twice": (
        computed_twice,
        [
            "hardsigmoid",
            "multi_margin_loss",
            "multilabel_margin_loss",
            "scaled_dot_product_attention",
            "embedding_bag",
            "vander",
        ],
        [],
    ),
    "cdist-twice": (cdist_twice, [True] * 3, [[0.089, 0.179], [0.089, 0.179], [0.0, 1.0]]),
    "norm-of-nothing": (norm_of_nothing, "nan", "0.0"),
    "topk-ties": (topk_ties, [8, 5, 2], [2, 5, 8]),
    "mode-nan": (mode_nan, [False, True], [True, True]),
    "nan-in-vectors": (nan_in_vectors, [2] * 8, [1] * 8),
    "gelu-of-infinity": (gelu_of_infinity, OneOf("[nan, nan]", "[inf, inf]"), "[inf, inf]"),
    "convolved-infinity": (
        convolved_infinity,
        OneOf(*(f"[{_AS_COMPUTED}, {_AS_COMPUTED}, {last}]" for last in (_OF_ONEDNN, _AS_COMPUTED))),
        f"[{_AS_COMPUTED}, {_AS_COMPUTED}, {_AS_COMPUTED}]",
    ),
    "lu-unpack": (lu_unpack, [5, 5, 5], RuntimeError),
    "sizes-only": (
        sizes_only,
        ["refused"] * 11,
        [[1.0, 0.0]] * 4 + [[1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [2.0, 2.0]],
    ),
    "read-first": (
        read_first,
        [
            [1.0, 1.0, 1.0, 1.0],
            [[3.0, 4.0], [3.0, 4.0]],
            [[4.0, 7.0], [8.0, 13.0]],
            [3.0, 4.0, 7.0, 4.0],
        ],
        [
            [1.0, 1.0, 2.0, 3.0],
            [[4.0, 6.0], [3.0, 4.0]],
            [[4.0, 7.0], [6.0, 9.0]],
            [3.0, 4.0, 5.0, 4.0],
        ],
    ),
}
