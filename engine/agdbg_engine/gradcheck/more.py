"""Checks besides the comparison: gradients are multiplied by, undefined, or batched."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np

from .. import errors
from ..autograd import grad
from ..dtype import is_differentiable
from ..node import Node1, edge, next_seq, nowhere
from ..ops.lists import stack
from ..random import generator
from ..sites import caller
from ..tensor import Tensor, wrap
from .case import Case, Function, GradcheckError, as_tuple, close, differentiable_outputs
from .places import fetched, kept, put, zeros_for

# ----- multiplied by the incoming gradient -----


def check_multiplied(outputs: tuple[Tensor, ...], inputs: list[Tensor], masked: bool | None) -> None:
    """Incoming gradients of zero must give zero, in the dtype and shape of the inputs."""
    if not outputs:
        return
    found = grad(outputs, inputs, [zeros_for(o) for o in outputs], allow_unused=True)
    for g, x in zip(found, inputs, strict=True):
        if g is None:
            continue
        if not close(fetched(g), 0, 1e-5, 1e-8 if masked else 0.0):
            raise _failed(
                "backward not multiplied by grad_output",
                "an incoming gradient of zeros gives a gradient that is not zero: every term of a backward has the incoming "
                "gradient as a factor",
            )
        if g.dtype != x.dtype:
            raise _failed("grad is incorrect type")
        if g.shape != x.shape:
            raise _failed("grad is incorrect size")


def _failed(first_line: str, *more: str) -> Exception:
    return errors.make(GradcheckError, errors.Details("gradcheck"), first_line, *more)


# ----- undefined gradients -----


class UndefinedGrad(Node1):
    """Passes its input on, and no gradient back: as if nobody had used the output."""

    __slots__ = ()
    op_name = "UndefinedGradBackward"

    def grads(self, g: Any) -> tuple[Any, ...]:
        """Nothing."""
        return (None,)

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        """Nothing."""
        return (None,)

    def run(self, g: Any, buffers: Any, shared: Any, summed: Any, freed: Any) -> None:
        """Nothing goes on from here."""


def _undefined(t: Tensor) -> Tensor:
    node = UndefinedGrad()
    node.n0, node.nrs = edge(t) or nowhere(t), (t._nr,) if t._nr else None
    node.seq, node.hooks = next_seq(), None
    node.code, node.lasti = caller()
    out = wrap(t._a)
    out._storage = t._shared_storage()
    out._fn, out._rg = node, True
    return out


def check_undefined(func: Function, inputs: tuple[Any, ...], wanted: list[Tensor]) -> None:
    """Gradients may be missing for all outputs, and for each in turn; what comes of that must be missing or zero."""
    every = range(len(differentiable_outputs(func(*inputs))))
    for missing in dict.fromkeys([tuple(every), *((i,) for i in every)]):  # of one output all are each: once is enough
        outs = differentiable_outputs(func(*inputs))
        given = [_undefined(o) if i in missing else o for i, o in enumerate(outs)]
        _check_undefined(given, wanted)


def _check_undefined(outs: list[Tensor], wanted: list[Tensor]) -> None:
    if not outs:
        return
    zeros = [zeros_for(o) for o in outs]
    try:
        found = grad(outs, wanted, zeros, allow_unused=True)
    except RuntimeError as error:
        _refuse(
            'Expected backward function to handle undefined output grads. Please look at "Notes about undefined output '
            'gradients" in "tools/autograd/derivatives.yaml"',
            error,
        )
    if any(g is not None and fetched(g).any() for g in found):
        _refuse(
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please look at "
            '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"',
            None,
        )


def _refuse(first_line: str, cause: Exception | None) -> NoReturn:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
        "existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        UserWarning,
        stacklevel=2,
    )
    raise _failed(
        first_line,
        "an output that nobody used has no gradient: the backward must take None for it, or zeros where it materializes them",
    ) from cause


def check_undefined_tangents(case: Case) -> None:
    """An input without a tangent must count as one whose tangent is zero."""
    from .. import forward_ad

    for i in case.wanted:
        with forward_ad.dual_level():
            with_zeros, without = (_pushed(case, i, zeros) for zeros in (True, False))
            for o, (a, b) in enumerate(zip(with_zeros, without, strict=True)):
                if a is not None and b is not None and not close(fetched(a), fetched(b), 1e-5, 1e-8):
                    raise _failed(
                        f"Mismatch in tangent values for output with index: {o} when input: {i} has an undefined tangent value.  "
                        f"Got: {a!r} but expected: {b!r}"
                    )


def _pushed(case: Case, without: int, zeros: bool) -> list[Tensor | None]:
    """The tangents of the outputs where input ``without`` has zeros for one or none, the others ones."""
    from .. import forward_ad

    arguments = list(case.inputs)
    for i in case.wanted:
        x = case.inputs[i].detach()
        tangent = put(np.full(x.shape, i != without, x.dtype), x)
        arguments[i] = x if i == without and not zeros else forward_ad.make_dual(x, tangent)
    outs = as_tuple(case.func(*arguments))
    return [forward_ad.unpack_dual(outs[n]).tangent for n in case.real_outputs]


# ----- batched -----


def check_batched(output: Tensor, o: int, inputs: list[Tensor]) -> None:
    """Gradients asked for as one batch must be those asked for one by one."""
    vectors = [_random_like(output) for _ in range(2)]
    one_by_one = [grad(output, inputs, v, retain_graph=True, allow_unused=True) for v in vectors]
    try:
        batched = grad(output, inputs, stack(vectors), retain_graph=True, allow_unused=True, is_grads_batched=True)
    except RuntimeError as error:
        raise _failed(f"While computing batched gradients, got: {error}") from error
    for i, (found, parts) in enumerate(zip(batched, zip(*one_by_one, strict=True), strict=True)):
        if found is not None and not close(fetched(found), np.stack([fetched(p) for p in parts]), 1e-5, 1e-8):
            raise _failed(
                f"For output {o} and input {i}:", "the gradients of a batch are not those computed one by one"
            )


def check_batched_forward(func: Function, inputs: tuple[Any, ...]) -> None:
    """Tangents pushed through side by side must be those pushed through alone.

    The engine has no batched forward mode: what is seen is that one run leaves nothing behind for the next.
    """
    for i, x in enumerate(inputs):
        if not (isinstance(x, Tensor) and x.requires_grad and is_differentiable(x.dtype)):
            continue
        tangents = [_random_like(x) for _ in range(2)]
        first = [_alone(func, inputs, i, t) for t in tangents]
        again = [_alone(func, inputs, i, t) for t in reversed(tangents)][::-1]
        for o, (a, b) in enumerate(zip(zip(*first, strict=True), zip(*again, strict=True), strict=True)):
            if not close(np.stack(a), np.stack(b), 1e-5, 1e-8):
                raise _failed(
                    f"For output {o} and input {i}:", "the tangents of a batch depend on the order of its members"
                )


def _alone(func: Function, inputs: tuple[Any, ...], i: int, tangent: Tensor) -> list[Any]:
    from .. import forward_ad

    with forward_ad.dual_level():
        arguments = [
            forward_ad.make_dual(x.detach(), tangent) if k == i else x.detach() if isinstance(x, Tensor) else x
            for k, x in enumerate(inputs)
        ]
        duals = [forward_ad.unpack_dual(o) for o in as_tuple(func(*arguments))]
        return [np.zeros(d.primal.shape) if d.tangent is None else kept(d.tangent) for d in duals]


def _random_like(t: Tensor) -> Tensor:
    return put(np.asarray(generator().standard_normal(t.shape), t.dtype), t)
