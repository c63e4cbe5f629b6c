"""The first things to see of a GPU, in less than a minute and without pytest: `python scripts/gpu_smoke.py`.

Every check computes on the GPU and on the CPU and compares, or looks at what only a GPU has. One line each; the exit status is 1 if
one of them failed, and 2 where there is no GPU. ``scripts/gpu_check.sh`` runs it before the tests.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import agdbg_engine as ag

F = ag.nn.functional
Function = Callable[[Any], Any]
ACTIVATIONS = (
    "silu", "gelu", "elu", "selu", "celu", "softplus", "mish", "hardswish", "hardsigmoid", "logsigmoid", "sigmoid", "tanh", "relu",
    "leaky_relu",
)  # fmt: skip
ROWS: dict[str, Function] = {
    "softmax": lambda x: F.softmax(x, -1), "softmax along the first": lambda x: F.softmax(x, 0),
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]), "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "logsumexp": lambda x: ag.logsumexp(x, 0), "cumsum": lambda x: ag.cumsum(x, 1), "sort": lambda x: ag.sort(x, 1)[0],
    "indices": lambda x: x[:, ag.tensor([0, 0, 2])], "std": lambda x: x.std(1), "matrix product": lambda x: x @ x.T,
}  # fmt: skip
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9, "nesterov": True}, "Adam": {"amsgrad": True}, "AdamW": {}, "RMSprop": {}, "Adagrad": {}, "NAdam": {},
    "RAdam": {}, "Adamax": {}, "Adadelta": {},
}  # fmt: skip
NUMBERS = np.random.default_rng(0).standard_normal((6, 5))


def gradient(function: Function, device: str, dtype: Any) -> Any:
    """Value and gradient of a function, on the host."""
    x = ag.tensor(NUMBERS, dtype=dtype, device=device, requires_grad=True)
    out = function(x)
    (out * out).sum().backward()
    return [t.detach().cpu().numpy() for t in (out, x.grad)]


def same(function: Function, device: str) -> None:
    """``function`` and its gradient are on the device what they are on the CPU."""
    for dtype, tolerance in ((ag.float64, 1e-10), (ag.float32, 1e-4)):
        for a, b in zip(gradient(function, device, dtype), gradient(function, "cpu", dtype), strict=True):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def steps(name: str, device: str) -> Any:
    """A parameter after three steps."""
    p = ag.tensor(NUMBERS, device=device, requires_grad=True)
    optimizer = getattr(ag.optim, name)([p], lr=0.05, weight_decay=0.1, **OPTIMIZERS[name])
    for _ in range(3):
        optimizer.zero_grad()
        (p * p * p).sum().backward()
        optimizer.step()
    return p.detach().cpu().numpy()


def same_steps(name: str, device: str) -> None:
    """An optimizer does there what it does on the CPU."""
    np.testing.assert_allclose(steps(name, device), steps(name, "cpu"), rtol=1e-9)


def trained(device: str) -> list[float]:
    """Losses of a small convolutional net."""
    ag.manual_seed(0)
    nn = ag.nn
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    ).double()
    model.to(device)
    optimizer = ag.optim.Adam(model.parameters(), 0.01)
    images, classes = np.random.default_rng(1).standard_normal((8, 1, 8, 8)), np.arange(8) % 3
    x, wanted = ag.tensor(images, device=device), ag.tensor(classes, device=device)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def copies(device: str) -> None:
    """Gradients come back over a copy; two devices in one op are an error."""
    x = ag.tensor(NUMBERS, requires_grad=True)
    (x.to(device) ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * NUMBERS)
    try:
        _ = x.to(device) + x
    except RuntimeError as error:
        assert "Expected all tensors to be on the same device" in str(error), error
    else:
        raise AssertionError("two devices in one op")


def numbers_drawn(device: str) -> None:
    """Random numbers have their distributions, and a seed repeats them."""
    ag.manual_seed(3)
    first = ag.randn(10_000, device=device)
    assert abs(first.mean().item()) < 0.05 and abs(first.std().item() - 1) < 0.05
    counts = ag.poisson(ag.full((10_000,), 20.0, device=device))
    assert abs(counts.mean().item() - 20) < 0.3 and abs(counts.var().item() - 20) < 2
    ag.manual_seed(3)
    assert (ag.randn(10_000, device=device) == first).all().item()


def summary(backend: Any, device: str) -> None:
    """What the kernels of the debugger find."""
    array = np.linspace(-3, 5, 100_003)
    array[[7, 9]] = np.nan, np.inf
    found = backend.summary(ag.tensor(array, device=device)._a)
    finite = array[np.isfinite(array)]
    np.testing.assert_allclose(found[:5], (np.sqrt((finite**2).sum()), 5.0, 1, 1, 7), rtol=1e-9)
    assert (found.low, found.high) == (-3.0, np.inf), found
    low, high, mean = finite.min(), finite.max(), finite.mean()
    spread = backend.spread(ag.tensor(array, device=device)._a, mean, np.linspace(low, high, 25))
    np.testing.assert_allclose(spread.squares, ((finite - mean) ** 2).sum(), rtol=1e-9)
    assert spread.zeros == (finite == 0).sum() and spread.counts == np.histogram(finite, 24)[0].tolist(), spread


def streams(cuda: Any, device: str) -> None:
    """Work on a second stream, and its gradient."""
    side = cuda.Stream()
    x = ag.tensor(NUMBERS, device=device, requires_grad=True)
    with cuda.stream(side):
        y = x.sin() * 2
    cuda.current_stream().wait_stream(side)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.cpu().numpy(), 2 * np.cos(NUMBERS))


def memory(cuda: Any, device: str) -> None:
    """What graphs hold is counted and named."""
    x = ag.ones(1 << 18, device=device, requires_grad=True)
    y = x.exp()
    assert cuda.memory_allocated() >= y.nbytes
    assert "ExpBackward0 saved 'result'" in cuda.memory_summary()


def second(cuda: Any, kind: str) -> str | None:
    """Where there are two: a gradient that goes over both. A text says why nothing was checked."""
    if cuda.device_count() < 2:
        return "there is one device"
    x = ag.tensor(NUMBERS, device=f"{kind}:0", requires_grad=True)
    y = (x.to(f"{kind}:1").exp() * 2).to(f"{kind}:0") * x
    ag.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)  # the gradient comes from the other device
    try:
        y.sum().backward()
    finally:
        ag.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    np.testing.assert_allclose(x.grad.cpu().numpy(), 2 * np.exp(NUMBERS) * (1 + NUMBERS))
    assert cuda.current_device() == 0
    return None


def checks(kind: str, cuda: Any, backend: Any) -> dict[str, Callable[[], Any]]:
    """All of them, by name, for devices of a ``kind``."""
    named: dict[str, Callable[[], Any]] = {
        "copies": lambda: copies(kind),
        "random numbers": lambda: numbers_drawn(kind),
    }
    for name in ACTIVATIONS:
        named[name] = partial(same, getattr(F, name), kind)
    for name, function in ROWS.items():
        named[name] = partial(same, function, kind)
    for name in OPTIMIZERS:
        named[f"steps of {name}"] = partial(same_steps, name, kind)
    named["training"] = lambda: np.testing.assert_allclose(trained(kind), trained("cpu"), rtol=1e-7)
    named["summary of a tensor"] = lambda: summary(backend, kind)
    named["streams"], named["memory"] = lambda: streams(cuda, kind), lambda: memory(cuda, kind)
    named["two devices"] = lambda: second(cuda, kind)
    return named


def run(named: dict[str, Callable[[], Any]]) -> int:
    """Run them, print a line for each, and return how many failed."""
    failed = 0
    for name, check in named.items():
        began = time.perf_counter()
        try:
            said = check() or "ok"
        except Exception as error:  # whatever it is, the others are of interest too
            failed += 1
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            said = f"FAILED at {place}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        print(f"{name:<26} {time.perf_counter() - began:6.2f} s  {said}", flush=True)
    return failed


def main() -> int:
    """Check the GPU that there is."""
    cuda: Any = ag.cuda
    try:
        cuda.synchronize()
    except RuntimeError as error:
        print(f"nothing to check: {error}", file=sys.stderr)
        return 2
    failed = run(checks("cuda", cuda, cuda.BACKEND))
    print(f"{failed} failed" if failed else "all is well")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
