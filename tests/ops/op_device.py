"""Ops on the strict device: every op of PyTorch's list gives there what it gives on the CPU, and reads nothing from it."""

import contextlib
import itertools

import agdbg_tests_strict_device as strict
import numpy as np
import torch
from agdbg_tests_op_cases import UNWRITTEN, Case, leaves_of, quiet, seeded
from agdbg_tests_op_convert import Copier, tensor
from agdbg_tests_op_db import OPS, of_engine

import agdbg_engine as engine
from agdbg_engine.tensor import wrap

PLACE = engine.device(strict.PLACE)
"""Not the device that is the current one, where there are several: every op must go to that of its operands."""

FIRST = ((torch.float64, 3), (torch.float32, 2))
"""So many samples of an entry by dtype; where it takes no floating numbers, of int64 or bool."""

OTHERS = torch.complex64, torch.float16, torch.int64, torch.bool
"""Dtypes of which the first sample is taken too: CuPy's functions take fewer than NumPy's."""


_ASKED = "a number of Python is asked for"
_SIZE = "the size of the result depends on values"
_ERRORS = "singular matrices are an error, as in torch"
_ZEROS = "the formula depends on whether there are zeros, as in torch"
HOST_READS = {
    **dict.fromkeys(("item", "allclose", "equal", "linspace:tensor_overload", "logspace:tensor_overload", "narrow", "tensor_split"), _ASKED),
    **dict.fromkeys(
        ("nonzero", "argwhere", "masked_select", "index_put", "unique", "unique_consecutive",
         "bincount", "nn.functional.one_hot"), _SIZE),
    **dict.fromkeys(("histogram", "histogramdd"), "without a range the intervals lie between the smallest and the largest"),
    **dict.fromkeys(
        ("cholesky", "linalg.cholesky", "linalg.lu_factor", "linalg.inv", "linalg.solve", "linalg.tensorinv",
         "linalg.tensorsolve"), _ERRORS),
    **dict.fromkeys(("prod", "cumprod", "masked.cumprod", "linalg.vander"), _ZEROS),
    **dict.fromkeys(("svd", "linalg.svd"), "a gradient that depends on the phase of complex vectors is an error, as in torch"),
    "cov": "negative weights are an error, as in torch", "to": "the copy to the CPU is what is asked for",
    "nn.functional.ctc_loss": "lengths decide about loops; torch copies them to the CPU too",
}  # fmt: skip
"""Ops that may read from the device, and why."""

REFUSED = {
    "linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.ldl_solve", "linalg.lstsq", "linalg.lstsq:grad_oriented", "index_reduce:prod",
    "scatter_reduce:prod", "special.airy_ai", "special.hermite_polynomial_h", "special.hermite_polynomial_he",
    "special.laguerre_polynomial_l", "special.legendre_polynomial_p",
    *(f"special.{s}chebyshev_polynomial_{kind}" for s in ("", "shifted_") for kind in "tuvw"),
}  # fmt: skip
"""Ops that are not there on a device: ``agdbg_engine.ops.host_only`` says why."""

ROUGH = {"logcumsumexp": 1e-2}
"""Tolerance in float32, relative to the largest number, where sums are formed in another order and most of them cancels."""


TIES = {"kthvalue", "topk"}
"""Ops that name other ones of equal integers than on the CPU, where PyTorch's algorithms decide: their indices are not compared."""


class DeviceCopier(Copier):
    """Arguments for the engine, tensors on ``device`` (made by ``put`` from NumPy's arrays)."""

    def __init__(self, device):
        super().__init__(engine)
        self.device = device

    def __call__(self, value):
        if isinstance(value, torch.device):
            return engine.device(self.device)
        if isinstance(value, dict):
            return {k: self.device if k == "device" and v == "cpu" else self(v) for k, v in value.items()}
        return super().__call__(value)

    def _tensor(self, value):
        made = on(self.device, tensor(value, engine))
        if value.requires_grad:
            self.leaves.append(made.requires_grad_())
        return made


def on(device, t):
    """``t`` on ``device``, as a new leaf."""
    if device == "cpu":
        return t
    made = wrap(strict.put(t._a, PLACE.index))
    assert made.device == PLACE  # which the engine has heard of now
    return made


def cases(name):
    """The first samples of an entry."""
    op = OPS[name]
    floating = [(d, n) for d, n in FIRST if d in op.dtypes]
    first = floating or [(d, 3) for d in (torch.int64, torch.bool, torch.complex128) if d in op.dtypes][:1]
    others = [(d, 1) for d in OTHERS if d in op.dtypes and d not in dict(first)]
    for dtype, most in first + others:
        with seeded(name):
            grad = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
            found = list(itertools.islice(op.sample_inputs_func(op, "cpu", dtype, grad), most))
        yield from (Case(name, op, sample) for sample in found)


def computed(case, device):
    """Buffers of the results and of all gradients."""
    copy = DeviceCopier(device)
    args, kwargs = [copy(case.sample.input), *map(copy, case.sample.args)], copy(case.sample.kwargs)
    engine.manual_seed(0)
    with contextlib.nullcontext() if device == "cpu" else engine.device(device):
        result = of_engine(case.op)(*args, **kwargs)
        results = leaves_of(result)
        differentiable = [x for x in results if x.requires_grad]
        if not differentiable or not copy.leaves:
            return [x._a for x in results], []
        rng = case.rng()
        seeds = [on("cpu" if x.device.type == "cpu" else device, wrap(_numbers(rng, x))) for x in differentiable]
        grads = engine.autograd.grad(differentiable, copy.leaves, seeds, allow_unused=True)
    return [x._a for x in results], [None if g is None else g._a for g in grads]


def refusal(case):
    """Why a sample is refused on the device, in the words of the error; ``None`` where it is computed."""
    try:
        with quiet():
            computed(case, PLACE)
    except NotImplementedError as error:
        return str(error).partition(f"on device {PLACE}: ")[2]
    except Exception:  # another fault: the test says so
        return None
    return None


def _numbers(rng, like):
    made = rng.standard_normal(like.shape)
    return np.asarray(made + 1j * rng.standard_normal(like.shape) if like.is_complex() else made).astype(like.dtype)


def differences(case):
    """What differs between the device and the CPU, in lines; ``None`` where the engine does not compute the sample on the CPU."""
    try:
        with quiet():
            theirs = computed(case, "cpu")
    except Exception:  # refused everywhere, or not there yet: other tests say so
        return None
    strict.refusals.clear()
    allowed = strict.allowed_host_reads() if case.name in HOST_READS else contextlib.nullcontext()
    try:
        with quiet(), allowed:
            ours = computed(case, PLACE)
    except Exception as error:
        reasons = f" [{'; '.join(strict.refusals)}]" if strict.refusals else ""
        return [f"{type(error).__name__}: {str(error).partition(chr(10))[0]}{reasons}"]
    found = [f"refused on the way: {'; '.join(strict.refusals)}"] if strict.refusals else []
    for kind, a, b in zip(("result", "gradient"), theirs, ours, strict=True):
        if len(a) != len(b):
            return [*found, f"{len(a)} {kind}s on the CPU, {len(b)} on the device"]
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if not (case.op.name in TIES and case.sample.input.dtype is torch.int64 and (kind, i) == ("result", 1)):
                found += [f"{kind} {i}: {text}" for text in _compared(case.op.name, x, y)]
    return found


def _compared(name, x, y):
    if x is None or y is None:
        if x is not y:
            yield f"{x} on the CPU, {y} on the device"
        return
    if type(y) is not strict.ndarray and name != "to":
        yield "is not on the device"
        return
    y = strict.host(y) if type(y) is strict.ndarray else y
    if x.shape != y.shape or x.dtype != y.dtype:
        yield f"{x.dtype}{x.shape} on the CPU, {y.dtype}{y.shape} on the device"
    elif name in UNWRITTEN:
        return
    elif x.dtype.kind not in "fc":
        if not np.array_equal(x, y):
            yield "other values"
    else:
        single = x.real.dtype.itemsize <= 4
        rtol, atol = (1e-4, 1e-5) if single else (1e-7, 1e-9)
        if single and name in ROUGH:
            atol = ROUGH[name] * np.abs(x).max()
        if not np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
            yield "other numbers"
