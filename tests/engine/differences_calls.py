"""Rows of docs/differences.md about how calls are passed on and named: by anchor a program, what PyTorch gives, what the engine gives."""

import pickle
import warnings

import numpy as np


def torch_function_call(T):
    class Asked:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return len(args), sorted(kwargs or {})

    return [T.nn.functional.relu(Asked()), T.nn.functional.softmax(Asked(), 0), T.split(Asked(), 2)]


def array_operands(T):
    return [f(T.ones(2), np.full(2, 3.0)).tolist() for f in (T.add, T.mul, T.Tensor.sub)]


def torch_function_types(T):
    class Asked:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return [t.__name__ for t in types]

    return T.einsum("i,i", T.ones(2), Asked())


def gradcheck_writing(T):
    x = T.ones(2, dtype=T.float64, requires_grad=True)
    return T.autograd.gradcheck(lambda x: x.add_(1), x * 1, raise_exception=False)


def gradcheck_fast_dtype(T):
    x = T.ones(2, dtype=T.float64, requires_grad=True)
    try:
        T.autograd.gradcheck(lambda x: x.float(), x, fast_mode=True)
    except Exception as error:  # of two types, which is the difference
        return type(error).__name__


def weight_norm_node(T):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        layer = T.nn.utils.weight_norm(T.nn.Linear(2, 2))
    return layer(T.ones(2)) is not None and layer.weight.grad_fn.name()


def function_numbers(T):
    class Fn(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    x = T.ones(1, requires_grad=True)
    first, second = Fn.apply(x).grad_fn, Fn.apply(x).grad_fn
    return second._sequence_nr() - first._sequence_nr()


def names_on_a_context(T):
    class Fn(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            before = hasattr(ctx, "next")
            ctx.next = 3
            del ctx.next
            seen.append((before, hasattr(ctx, "next"), hasattr(ctx, "hooks")))
            return x * 1

    seen = []
    Fn.apply(T.ones(2))
    return seen


def pickled_together(T):
    x = T.ones(2)
    a, b = pickle.loads(pickle.dumps([x, x.detach()]))
    return a.data_ptr() == b.data_ptr()


def data_in_transforms(T):
    def f(x):
        return (x.data * x).sum()

    return T.func.grad(lambda x: T.func.grad(f)(x).sum())(T.ones(2)).tolist()


def jacfwd_writing(T):
    def other(x, c):
        return x * c.mul_(2)

    def itself(x):
        return x.mul_(2) * x

    def detached(x):
        x.detach().mul_(2)
        return (x * x).sum()

    found = []
    for call in (
        lambda: T.func.jacfwd(other)(T.ones(2), T.ones(2)),
        lambda: T.func.jacfwd(itself)(T.ones(2)),
        lambda: T.func.hessian(detached)(T.ones(2)),
    ):
        try:
            found.append(call().tolist())
        except RuntimeError:
            found.append("refused")
    return found


def expanded_gradients(T):
    x = T.ones(2, requires_grad=True)
    (gradient,) = T.autograd.grad(x.sum(), x)
    return gradient.stride()


def weight_tangents(T):
    x, y, w, fw = T.zeros(2), T.ones(2), T.ones(2), T.autograd.forward_ad
    with fw.dual_level():
        loss = T.nn.functional.binary_cross_entropy_with_logits(x, y, fw.make_dual(w, w))
        tangent = fw.unpack_dual(loss).tangent
        try:
            T.nn.functional.nll_loss(x.view(1, 2), y[:1].long(), fw.make_dual(w, w))
        except NotImplementedError:
            return round(tangent.item(), 4)
    return tangent


def ends_with_tangents(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        return fw.unpack_dual(T.linspace(0, fw.make_dual(T.tensor(1.0), T.tensor(1.0)), 3)).tangent


def tied_pieces(T):
    x = T.ones(2, requires_grad=True)
    y = T.segment_reduce(x, "max", lengths=T.tensor([2]))
    return [T.autograd.grad(y, x, T.tensor([g]), retain_graph=True)[0].tolist() for g in (1.0, -1.0)]


def ldl_of_nan(T):
    x = T.tensor([[T.nan, 1.0], [1.0, 1.0]], dtype=T.float64)
    return T.linalg.ldl_factor_ex(x).pivots.tolist()


def parted_view(T):
    x = T.tensor([1.0, 1.0, 1.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    v.data = v.detach().clone()
    v.mul_(10)
    return T.autograd.grad(y.sum(), x)[0].tolist()


def tangent_of_a_remainder(T):
    p, fw = T.tensor([1.5, 2.5]), T.autograd.forward_ad
    found = []
    with fw.dual_level():
        for op in (lambda d: d.frac(), lambda d: d.fmod(2.0), lambda d: d.remainder(2.0)):
            d = fw.make_dual(p, T.ones(2))
            op(d)[0] = p[0]
            found.append(fw.unpack_dual(d).tangent.tolist())
    return found


def seeded(T):
    T.manual_seed(0)
    return [round(v, 4) for v in T.rand(3).tolist()]


def only_target_in_a_list(T):
    x, F = T.ones(3, requires_grad=True), T.nn.functional
    losses = [lambda: F.nll_loss(x, T.tensor([1])), lambda: F.cross_entropy(x, T.tensor([1]), label_smoothing=0.1)]
    found = []
    for loss in losses:
        try:
            found += [round(v, 2) for v in T.autograd.grad(loss(), x)[0].tolist()]
        except RuntimeError:
            found.append("refused")
    return found


def sign_of_zero(T):
    return (1 / T.relu(T.tensor([-0.0]))).tolist()


def which_zero(T):
    plus = T.tensor([0.0] * 8)
    return [T.signbit(x).any().item() for x in (T.clamp(plus, min=-0.0), T.clamp(plus, max=-0.0))]


def setup_context_inside(T):
    called = []

    class Fn(T.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            called.append(1)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def twice(x):
        return T.func.grad(lambda x: Fn.apply(x).sum())(x).sum()

    found = []
    for call in (lambda x: Fn.apply(x).sum(), twice):
        called.clear()
        T.func.grad(call)(T.ones(2))
        found.append(len(called))
    return found


def negative_size(T):
    return tuple(T.ones(1).expand(-3, 0).shape)


def inference_data(T):
    x = T.arange(2.0).view(2).requires_grad_()
    with T.inference_mode():
        x_data = T.ones(2)
    x.data = x_data
    try:
        return (x * 2).grad_fn.name()
    except RuntimeError as error:
        return str(error).partition(" cannot")[0]


def leaked_values(T):
    leaked = []
    T.func.grad(lambda x: (leaked.append(x * 2), x.sum())[1])(T.ones(2))
    return leaked[0].sum().requires_grad


def scattered_gradient(T):
    x = T.arange(6.0, requires_grad=True)
    x.as_strided_scatter(T.zeros(2), (2,), (3,)).sum().backward()
    return x.grad.tolist()


def ldexp_of_bools(T):
    return T.ldexp(T.tensor([1.5, 2.0]), T.tensor([True, False])).tolist()


def addbmm_expanded(T):
    return T.ones(2).addbmm_(T.ones(1, 2, 2), T.ones(1, 2, 2)).tolist()


def half_written(T):
    x = T.zeros(1, 3)
    try:
        x[0, T.tensor([0, 7])] = 1.0
    except IndexError:
        return x.tolist()


def packed(T, call):
    seen = []
    with T.autograd.graph.saved_tensors_hooks(lambda t: (seen.append(t), t)[1], lambda t: t):
        call()
    return len(seen)


def packed_indices(T):
    x = T.ones(2, requires_grad=True)
    return packed(T, lambda: x[[0]])


def packed_zeros(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(T.ones(2, requires_grad=True), T.ones(2))
        return packed(T, lambda: x * T.ones(2)) > 1


def kron_written(T):
    x, b = T.ones(2, requires_grad=True) * 1, T.ones(2, requires_grad=True)
    result = T.kron(x, b)
    x.mul_(10)
    try:
        return T.autograd.grad(result.sum(), b)[0].tolist()
    except RuntimeError as error:
        return "inplace operation" in str(error)


def jvp_of_captured(T):
    captured = T.ones(2)

    def f(x):
        return (T.func.jvp(lambda c: c.mul_(2), (captured,), (T.ones(2),))[1] * x).sum()

    try:
        return [T.func.grad(f)(T.ones(2)).tolist(), captured.tolist()]
    except RuntimeError:
        return ["refused", captured.tolist()]


def linearized_again(T):
    w, x = (T.ones(2, requires_grad=True) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what PyTorch traces
        found = T.func.linearize(lambda x: x * x * w, x)[1](T.ones(2))
    return [g is None for g in T.autograd.grad(found.sum(), [w, x], allow_unused=True)]


def numpy_bools(T):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's, of how PyTorch takes its result
        return str(np.isnan(T.ones(2)).dtype).removeprefix("torch.")


def jacfwd_runs(T):
    calls = []
    T.func.jacfwd(lambda x: (calls.append("jacfwd"), x * x)[1])(T.ones(3))
    T.func.hessian(lambda x: (calls.append("hessian"), (x * x).sum())[1])(T.ones(3))
    forward = {"vectorize": True, "strategy": "forward-mode"}
    T.autograd.functional.jacobian(lambda x: (calls.append("jacobian"), x * x)[1], T.ones(3), **forward)
    return calls


def argument_with_history(T):
    class Fn(T.autograd.Function):
        @staticmethod
        def forward(c, x):
            return c.mul_(2), x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx, g, h):
            return g * 2, h * 3

    def f(x, c):
        written, other = Fn.apply(c, x)
        return (written * other).sum()

    c = T.tensor([3.0, 4.0], requires_grad=True) * 1
    return T.func.grad(f)(T.ones(2), c).tolist()


def captured_edge(T):
    w = T.ones(2, requires_grad=True)

    found = []

    def f(x):
        try:
            found.append(T.autograd.graph.get_gradient_edge(w).node.name().split("::")[-1])
        except AttributeError as error:  # 'NoneType' object has no attribute 'next_functions'
            found.append(type(error).__name__)
        return x.sum()

    T.func.grad(f)(T.ones(2))
    return found[0]


def captured_point(T):
    c = T.tensor([3.0, 4.0])

    def slope(y):
        return (T.func.jvp(lambda x: x.mul_(2), (c,), (T.ones(2),))[1] * y).sum()

    T.func.grad(slope)(T.ones(2))
    return c.tolist()


def data_written_inside(T):
    x = T.ones(2)
    T.func.grad(lambda a: (a.data.mul_(2), a.data.unsqueeze_(0), (a * a).sum())[2])(x)
    return [x._version, x.ndim]


def linearized_inside(T):
    def f(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what PyTorch traces
            return T.func.linearize(lambda z: z**3, x)[1](x).sum()

    return T.func.vjp(f, T.tensor([1.0, 2.0]))[0].item() == 27.0  # the sum of 3 x**2 x


def linearized_hooks(T):
    functions = {
        "hook": lambda x: ((x * x).register_hook(lambda g: g), x * x)[1],
        "requires_grad_": lambda x: T.ones(2).requires_grad_() * x,
        "nested": lambda x: T.func.jvp(lambda z: z * z, (x,), (x,))[1],
    }
    found = []
    for function in functions.values():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what PyTorch traces
                found.append(T.func.linearize(function, T.ones(2, requires_grad=True))[1](T.ones(2)).tolist())
        except RuntimeError:
            found.append("refused")
    return found


def doubled(T, derivative):
    """A custom Function that has the one derivative of this name."""

    class Doubled(T.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    setattr(Doubled, derivative, staticmethod(lambda ctx, given: given * 2))
    return Doubled.apply


def jacfwd_function(T):
    return T.func.jacfwd(doubled(T, "jvp"))(T.ones(2)).tolist()


def input_with_history(T):
    found = []
    T.func.grad(lambda x: (found.append((x.is_leaf, x.grad_fn is None)), x.sum())[1])(T.ones(2, requires_grad=True))
    return found[0]


def ordinary_data(T):
    with T.inference_mode():
        x = T.ones(2)
    x.data = T.ones(2)
    try:
        return x._version
    except RuntimeError:
        return "no counter"


def saved_for_what_is_captured(T):
    w = T.tensor([2.0, 3.0], requires_grad=True)

    def f(a):
        b = a * 1
        c = b * w
        b.mul_(2)
        return c.sum() + b.sum()

    return T.func.grad(f)(T.ones(2)).tolist()


def jacrev_hooks(T):
    calls = []

    def f(x):
        y = x * x
        y.register_hook(lambda g: calls.append("hook"))
        return y

    T.func.jacrev(f)(T.ones(3))
    return len(calls)


def post_accumulate_inside(T):
    def f(a):
        a.register_post_accumulate_grad_hook(print)
        return a.sum()

    return T.func.grad(f)(T.ones(2, requires_grad=True)).tolist()


def prelu_of_a_constant(T):
    x, w = -T.ones(2), T.ones(1, requires_grad=True)
    (g,) = T.autograd.grad(T.nn.functional.prelu(x, w).sum(), w, create_graph=True)
    return g.requires_grad


def vjp_inside(T):
    apply = doubled(T, "vjp")
    return T.func.grad(lambda x: apply(x).sum())(T.ones(2)).tolist()


def written_before_its_product(T):
    x, found = T.zeros(2), []
    of_sine = T.func.vjp(lambda a: a.sin(), x)[1]
    exponential, of_exponential = T.func.vjp(lambda a: a.exp(), T.zeros(2))
    x.add_(3)
    exponential.mul_(4)
    for product in (of_sine, of_exponential):
        try:
            found.append([round(v) for v in product(T.ones(2))[0].tolist()])
        except RuntimeError:
            found.append("refused")
    return found


def linearized_norm(T):
    bn = T.nn.BatchNorm1d(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what PyTorch traces
        product = T.func.linearize(lambda a: bn(a), T.tensor([[1.0, 2.0], [3.0, 5.0]]))[1]
        return list(product(T.ones(2, 2)).shape)


def unrecorded_view_inside(T):
    def f(a):
        with T.no_grad():
            return a.sum(), a.view(2)

    return T.func.vjp(f, T.ones(2, requires_grad=True) * 1, has_aux=True)[2].requires_grad


CALLS = {
    "array-operands": (array_operands, TypeError, [[4.0, 4.0], [3.0, 3.0], [-2.0, -2.0]]),
    "tangent-of-a-remainder": (tangent_of_a_remainder, [[0.0, 1.0]] * 3, [[1.0, 1.0]] * 3),
    "seeds": (seeded, [0.4963, 0.7682, 0.0885], [0.637, 0.2698, 0.041]),
    "only-target": (only_target_in_a_list, ["refused", "refused"], [0.0, -1.0, 0.0, 0.3, -0.6, 0.3]),
    "post-accumulate-inside": (post_accumulate_inside, [1.0, 1.0], RuntimeError),
    "prelu-of-a-constant": (prelu_of_a_constant, True, False),
    "vjp-inside": (vjp_inside, NotImplementedError, [2.0, 2.0]),
    "written-before-its-product": (written_before_its_product, [[-1, -1], [4, 4]], ["refused", "refused"]),
    "linearized-norm": (linearized_norm, [2, 2], RuntimeError),
    "unrecorded-view-inside": (unrecorded_view_inside, True, False),
    "jacrev-hooks": (jacrev_hooks, 1, 3),
    "captured-edge": (captured_edge, "AttributeError", "AccumulateGrad"),
    "data-written-inside": (data_written_inside, [2, 2], [0, 1]),
    "linearized-inside": (linearized_inside, False, True),
    "linearized-hooks": (
        linearized_hooks,
        [[2.0, 2.0], [1.0, 1.0], "refused"],
        ["refused", "refused", [4.0, 4.0]],
    ),
    "jacfwd-function": (jacfwd_function, RuntimeError, [[2.0, 0.0], [0.0, 2.0]]),
    "input-with-history": (input_with_history, (True, True), (False, False)),
    "ordinary-data": (ordinary_data, "no counter", 0),
    "captured-point": (captured_point, [6.0, 8.0], RuntimeError),
    "saved-for-what-is-captured": (saved_for_what_is_captured, [4.0, 5.0], RuntimeError),
    "jacfwd-runs": (
        jacfwd_runs,
        ["jacfwd", "hessian", "jacobian"],
        ["jacfwd"] * 3 + ["hessian"] * 3 + ["jacobian"] * 3,
    ),
    "numpy-bools": (numpy_bools, "uint8", "bool"),
    "argument-with-history": (argument_with_history, [18.0, 24.0], RuntimeError),
    "data-in-transforms": (data_in_transforms, [1.0, 1.0], [0.0, 0.0]),
    "expanded-gradients": (expanded_gradients, (0,), (1,)),
    "which-zero": (which_zero, [False, False], [True, True]),
    "setup-context-inside": (setup_context_inside, [2, 3], [1, 1]),
    "weight-tangents": (weight_tangents, None, 0.6931),
    "ends-with-tangents": (ends_with_tangents, None, NotImplementedError),
    "tied-pieces": (tied_pieces, [[0.5, 0.5], [-1.0, -1.0]], [[0.5, 0.5], [-0.5, -0.5]]),
    "ldl-of-nan": (ldl_of_nan, [2, 2], [1, 2]),
    "parted-view": (parted_view, [10.0, 10.0, 1.0], [1.0, 1.0, 1.0]),
    "sign-of-zero": (sign_of_zero, [-np.inf], [np.inf]),
    "negative-size": (negative_size, (-3, 0), RuntimeError),
    "inference-data": (inference_data, "MulBackward0", "Inference tensors"),
    "leaked-values": (leaked_values, False, True),
    "scattered-gradient": (scattered_gradient, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]),
    "ldexp-of-bools": (ldexp_of_bools, NotImplementedError, [3.0, 2.0]),
    "addbmm-expanded": (addbmm_expanded, [[3.0, 3.0], [3.0, 3.0]], RuntimeError),
    "half-written": (half_written, [[1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]]),
    "packed-indices": (packed_indices, 1, 0),
    "packed-zeros": (packed_zeros, True, False),
    "kron-written": (kron_written, [20.0, 20.0], True),
    "jvp-of-captured": (jvp_of_captured, [[2.0, 2.0], [2.0, 2.0]], ["refused", [1.0, 1.0]]),
    "jacfwd-writing": (
        jacfwd_writing,
        [[[2.0, 0.0], [0.0, 2.0]], [[8.0, 0.0], [0.0, 8.0]], [[2.0, 0.0], [0.0, 2.0]]],
        ["refused"] * 3,
    ),
    "linearized-again": (linearized_again, [True, True], [False, False]),
    "torch-function-call": (
        torch_function_call,
        [(1, ["inplace"]), (1, ["_stacklevel", "dim", "dtype"]), (2, ["dim"])],
        [(1, []), (2, []), (2, [])],
    ),
    "torch-function-types": (torch_function_types, ["Tensor", "Asked"], ["Asked"]),
    "gradcheck-writing": (gradcheck_writing, False, True),
    "gradcheck-fast-dtype": (gradcheck_fast_dtype, "RuntimeError", "GradcheckError"),
    "weight-norm-node": (weight_norm_node, "WeightNormInterfaceBackward0", "MulBackward0"),
    "function-numbers": (function_numbers, 1, 2),
    "names-on-a-context": (names_on_a_context, [(False, False, False)], [(True, False, False)]),
    "pickled-together": (pickled_together, False, True),
}
