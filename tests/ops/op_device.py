"""Ops on the strict device: every op of PyTorch's list gives there what it gives on the CPU, and reads nothing from it."""

import contextlib

import agdbg_tests_strict_device as strict
import numpy as np
import torch
from agdbg_tests_op_cases import UNWRITTEN, EngineRaised, Lacking, Raised, Skip, attempt, leaves_of
from agdbg_tests_op_convert import Copier, tensor
from agdbg_tests_op_db import of_engine

import agdbg_engine as engine
from agdbg_engine.tensor import wrap

PLACE = engine.device(strict.PLACE)
"""Not the device that is the current one, where there are several: every op must go to that of its operands."""

ROUGH = {"logcumsumexp": 1e-2}
"""Tolerance in float32, relative to the largest number, where sums are formed in another order and most of them cancels."""


TIES = {"kthvalue", "topk"}
"""Ops that name other ones of equal integers than on the CPU, where PyTorch's algorithms decide: their indices are not compared."""


INDICES_ON_CPU = {"tensor_split"}
"""Ops that want their indices on the CPU, as PyTorch does, and refuse others."""


FACTORIES = {"arange", "linspace", "logspace"}
"""Ops whose samples name no device, so that they make tensors on the default one."""


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


def computed(case, device):
    """Buffers of the results and of all gradients."""
    copy = DeviceCopier(device)
    others = Copier(engine) if case.name in INDICES_ON_CPU else copy
    args, kwargs = [copy(case.sample.input), *map(others, case.sample.args)], others(case.sample.kwargs)
    engine.manual_seed(0)
    # the samples of other factories name the device; in a `with` an op that makes a tensor beside no operand would pass
    default = engine.device(device) if case.op.name in FACTORIES else contextlib.nullcontext()
    with default:
        result = of_engine(case.op)(*args, **kwargs)
        results = leaves_of(result)
        differentiable = [x for x in results if x.requires_grad]
        if not differentiable or not copy.leaves:
            return [x._a for x in results], []
        rng = case.rng()
        seeds = [on("cpu" if x.device.type == "cpu" else device, wrap(_numbers(rng, x))) for x in differentiable]
        grads = engine.autograd.grad(differentiable, copy.leaves, seeds, allow_unused=True)
    return [x._a for x in results], [None if g is None else g._a for g in grads]


def _numbers(rng, like):
    made = rng.standard_normal(like.shape)
    return np.asarray(made + 1j * rng.standard_normal(like.shape) if like.is_complex() else made).astype(like.dtype)


READS = "reads from the device"
SEEN = hasattr(strict, "refusing")
"""Whether reads can be seen: CuPy does not note them."""


def on_device(case):
    """What differs between the device and the CPU, and whether something was read from the device."""
    theirs = attempt(computed, case, "cpu")
    if isinstance(theirs, Raised):
        raise Skip("the engine does not compute it on the CPU")
    ours = _on_place(case, contextlib.nullcontext())
    if any("HostRead" in text for text in strict.refusals):
        yield f"{READS} ({'; '.join(strict.refusals)})"
        ours = _on_place(case, strict.allowed_host_reads())
    if isinstance(ours, Raised):
        if ours.kind == "NotImplementedError" and f" is not implemented on device {PLACE}: " in ours.first_line:
            raise Lacking(ours.first_line.partition(f"on device {PLACE}: ")[2])
        raise EngineRaised(ours)
    if strict.refusals:
        yield f"refused on the way: {'; '.join(strict.refusals)}"
    for kind, a, b in zip(("result", "gradient"), theirs, ours, strict=True):
        if len(a) != len(b):
            yield f"{len(a)} {kind}s on the CPU, {len(b)} on the device"
            return
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if not (case.op.name in TIES and case.sample.input.dtype is torch.int64 and (kind, i) == ("result", 1)):
                yield from (f"{kind} {i}: {text}" for text in _compared(case.op.name, x, y))


def _on_place(case, reads):
    strict.refusals.clear()
    with reads:
        return attempt(computed, case, PLACE)


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
