"""Derivatives of a sample in both libraries: first and second order, forward mode, the names of the nodes."""

import contextlib

import numpy as np
import torch
from agdbg_tests_op_cases import Raised, Skip, attempt, drawn, leaves_of, settled
from agdbg_tests_op_compare import array_of, differences
from agdbg_tests_op_convert import tensor, to_engine

import agdbg_engine as engine
from agdbg_engine.gradcheck import GradcheckError

LIBRARIES = (torch, engine)


def numbers(rng, like):
    """Random numbers in the shape and dtype of a tensor of PyTorch, as one of PyTorch."""
    shape = tuple(like.shape)
    made = rng.standard_normal(shape)
    if like.dtype.is_complex:
        made = made + 1j * rng.standard_normal(shape)
    return torch.from_numpy(np.asarray(made)).to(like.dtype)


def differentiable(result):
    """The tensors of a result that have a gradient."""
    return [x for x in leaves_of(result) if x.requires_grad]


def outputs(case, twisted=False, function=None):
    """By library: the results that have a gradient and the leaves; a skip where PyTorch has none or draws numbers."""
    theirs, random = drawn(lambda: attempt(_recorded, case, torch, twisted, function))
    ours = attempt(_recorded, case, engine, twisted, function)
    settled(theirs, ours)
    if not theirs[0]:
        raise Skip("no gradient in torch")
    return {torch: theirs, engine: ours}, not random


def _recorded(case, library, twisted, function):
    args, kwargs, leaves = case.arguments(library, twisted=twisted)
    with library.enable_grad():
        return differentiable((function or case.wrapped)(library)(*args, **kwargs)), leaves


def gradient(case, twisted=False, function=None):
    """The gradient of a random combination of all results: same values, same None, as many differentiable results."""
    found, values = outputs(case, twisted, function)
    (theirs, leaves), (ours, _) = found[torch], found[engine]
    if len(theirs) != len(ours):
        yield f"{len(theirs)} results require grad in torch, {len(ours)} in the engine"
        return
    rng = case.rng()
    seeds = [numbers(rng, x) for x in theirs]
    grads = {t: attempt(_gradients, t, *found[t], seeds) for t in LIBRARIES}
    settled(grads[torch], grads[engine])
    for i, (a, b) in enumerate(zip(grads[torch], grads[engine], strict=True)):
        where = f"gradient of tensor {i} ({str(leaves[i].dtype)[6:]}{list(leaves[i].shape)})"
        if (a is None) != (b is None):
            yield f"{where}: torch {_short(a)}, engine {_short(b)}"
        elif a is not None:
            yield from differences(a, b, values, where)


def _short(x):
    return None if x is None else f"numbers {array_of(x).ravel()[:4].tolist()}"


def _gradients(library, results, leaves, seeds, create_graph=False):
    cotangents = [tensor(s, library) for s in seeds]
    if create_graph:
        cotangents = [c.requires_grad_() for c in cotangents]
    made = library.autograd.grad(results, leaves, cotangents, allow_unused=True, create_graph=create_graph)
    return (made, cotangents) if create_graph else made


def second(case):
    """The gradient of a random combination of the gradients, for the inputs and the cotangents."""
    found, values = outputs(case)
    theirs, leaves = found[torch]
    if len(theirs) != len(found[engine][0]):
        raise Skip("the first gradient differs")
    rng = case.rng()
    seeds = [numbers(rng, x) for x in theirs]
    like = [numbers(rng, x) for x in leaves]
    grads = {t: attempt(_second, t, *found[t], seeds, like) for t in LIBRARIES}
    settled(grads[torch], grads[engine])
    for i, (a, b) in enumerate(zip(grads[torch], grads[engine], strict=True)):
        kind = "tensor" if i < len(leaves) else "cotangent"
        where = f"second gradient, {kind} {i if i < len(leaves) else i - len(leaves)}"
        yield from _or_zero(a, b, values, where)


def _second(library, results, leaves, seeds, like):
    first, cotangents = _gradients(library, results, leaves, seeds, create_graph=True)
    pairs = [(g, tensor(r, library)) for g, r in zip(first, like, strict=True) if g is not None and g.requires_grad]
    if not pairs:
        return [None] * (len(leaves) + len(cotangents))
    grads, weights = zip(*pairs, strict=True)
    return library.autograd.grad(list(grads), [*leaves, *cotangents], list(weights), allow_unused=True)


def _or_zero(a, b, values, where):
    """The differences of two derivatives, of which an absent one is zero."""
    if a is None and b is None:
        return
    if a is None:
        a = torch.zeros(tuple(b.shape), dtype=getattr(torch, str(b.dtype)))
    if b is None:
        b = to_engine(torch.zeros_like(a))
    yield from differences(a, b, values, where)


def forward(case):
    """The tangents of all results for random tangents of the inputs."""
    tangents = {}
    found, random = drawn(lambda: attempt(_pushed, case, torch, tangents))
    ours = attempt(_pushed, case, engine, tangents)
    settled(found, ours)
    if not tangents:
        raise Skip("no gradient in torch")
    if len(found) != len(ours):
        yield f"{len(found)} results in torch, {len(ours)} in the engine"
        return
    for i, ((p, a), (q, b)) in enumerate(zip(found, ours, strict=True)):
        if case.name.partition(":")[0] not in ("linalg.eig",):
            yield from differences(p, q, not random, f"primal of result {i}")
        yield from _or_zero(a, b, not random, f"tangent of result {i}")


def _pushed(case, library, tangents):
    """Primal and tangent of the floating results; ``tangents`` keeps the tangents of the inputs for the second library."""
    mode, rng, at = library.autograd.forward_ad, case.rng(), iter(range(10**6))

    def dual(x):
        key = next(at)
        if key not in tangents:
            tangents[key] = numbers(rng, x)
        return mode.make_dual(x, tensor(tangents[key], library))

    with mode.dual_level():
        args, kwargs, _ = case.arguments(library, leaf=dual)
        results = [x for x in leaves_of(case.wrapped(library)(*args, **kwargs)) if floating(x)]
        return [tuple(mode.unpack_dual(x)) for x in results]


def over_reverse(case):
    """The tangents of the gradient for random tangents of the inputs: forward mode over a pass."""
    tangents, seeds = {}, []
    theirs, random = drawn(lambda: attempt(_pushed_over_a_pass, case, torch, tangents, seeds))
    ours = attempt(_pushed_over_a_pass, case, engine, tangents, seeds)
    settled(theirs, ours)
    for i, ((g, a), (h, b)) in enumerate(zip(theirs, ours, strict=True)):
        yield from _or_zero(g, h, not random, f"gradient of tensor {i}")
        yield from _or_zero(a, b, not random, f"tangent of the gradient of tensor {i}")


def _pushed_over_a_pass(case, library, tangents, seeds):
    """Primal and tangent of the gradients; ``tangents`` and ``seeds`` are drawn for the first library and used by both."""
    mode, rng, duals = library.autograd.forward_ad, case.rng(), []

    def dual(x):
        if len(duals) not in tangents:
            tangents[len(duals)] = numbers(rng, x)
        duals.append(mode.make_dual(x.requires_grad_(), tensor(tangents[len(duals)], library)))
        return duals[-1]

    with mode.dual_level():
        args, kwargs, _ = case.arguments(library, leaf=dual)
        results = differentiable(case.wrapped(library)(*args, **kwargs))
        if not results:
            raise Skip("no gradient in torch")
        if not seeds:
            seeds.extend(numbers(rng, x) for x in results)
        cotangents = [tensor(s, library) for s in seeds]
        # without a graph PyTorch's formulas of solve and det read factors that have no tangent
        grads = library.autograd.grad(results, duals, cotangents, allow_unused=True, create_graph=True)
        return [(None, None) if g is None else tuple(mode.unpack_dual(g)) for g in grads]


def by_differences(case):
    """The engine's own gradcheck and gradgradcheck, in a random direction, with forward mode where PyTorch has it."""
    _, values = outputs(case)  # skips what PyTorch refuses
    if not values:
        raise Skip("random")
    args, kwargs, leaves = case.arguments(engine)
    at = [next((i for i, x in enumerate(args) if x is leaf), None) for leaf in leaves]
    if None in at or sum(leaf.numel() for leaf in leaves) > MOST_ELEMENTS:
        raise Skip("leaves in lists or keywords, or many elements")

    if case.name in NO_DIFFERENCES:
        raise Skip(NO_DIFFERENCES[case.name])
    first = leaves_of(case.wrapped(engine)(*args, **kwargs))
    if not all(np.isfinite(array_of(x)).all() for x in first):
        raise Skip("no differences of what is not finite")
    derived = [x.requires_grad for x in first]

    def function(*given):
        made = list(args)
        for i, x in zip(at, given, strict=True):
            made[i] = x
        results = leaves_of(case.wrapped(engine)(*made, **kwargs))
        return tuple(x for x, wanted in zip(results, derived, strict=True) if wanted)

    how = {
        "fast_mode": True,
        "raise_exception": True,
        "atol": 1e-4,
        "rtol": 1e-3,
        "nondet_tol": case.op.gradcheck_nondet_tol,
    }
    try:
        engine.autograd.gradcheck(function, leaves, check_forward_ad=case.op.supports_forward_ad, **how)
        if case.op.supports_gradgrad:
            engine.autograd.gradgradcheck(function, leaves, **how)
        if not case.op.supports_forward_ad:
            with contextlib.suppress(NotImplementedError):  # PyTorch has no tangent; the engine may have one
                engine.autograd.gradcheck(function, leaves, check_forward_ad=True, check_backward_ad=False, **how)
    except GradcheckError as error:
        yield str(error).partition("\n\n")[0][:400]


_NARROW = "the result has too few digits for differences"
_REPEATED = "where indices repeat, the gradient is that of one of the values"
NO_DIFFERENCES = {
    **dict.fromkeys(("float", "half", "cfloat"), _NARROW),
    **dict.fromkeys((f"nn.functional.max_unpool{k}d" for k in (1, 2, 3)), _REPEATED),
    "native_group_norm": "mean and scale are results without a gradient of their own, as in torch",
    "linalg.norm:subgradients_at_zero": "the samples are at zero, where there are only subgradients",
    "__rpow__": "the gradient is NaN where a negative number has a power, as in torch",
}
"""Ops whose gradient is not that of differences, and why."""
MOST_ELEMENTS = 150
"""Larger samples are left out of the checks by differences."""


def floating(x):
    """Whether the dtype of a tensor has derivatives."""
    return x.is_floating_point() or x.is_complex()


def node(case):
    """The names of the results' nodes."""
    found = {}
    for library in LIBRARIES:
        args, kwargs, _ = case.arguments(library)
        result = attempt(case.functions[library], *args, **kwargs)
        found[library] = result if isinstance(result, Raised) else [_name(x) for x in leaves_of(result)]
    settled(found[torch], found[engine])
    if found[torch] != found[engine]:
        yield f"grad_fn: torch {', '.join(map(str, found[torch]))}; engine {', '.join(map(str, found[engine]))}"


def _name(x):
    return None if x.grad_fn is None else x.grad_fn.name()
