"""The engine on a GPU against torch on the same card: `python benchmarks/gpu.py [--rounds N]`.

Times are between two CUDA events around each step, medians of steps that alternate between the two sides in one process; what
counts is the ratio. Needs CuPy, torch and a GPU; without them it says what is missing and exits with status 2.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import agdbg_engine as ag

Step = Callable[[], Any]


class Side:
    """One of the two libraries, by the names that they share."""

    def __init__(self, library: Any) -> None:
        self.library = library
        library.manual_seed(0)

    def there(self, array: Any, **options: Any) -> Any:
        """An array of NumPy as a tensor on the GPU."""
        return self.library.tensor(array, device="cuda", **options)

    def timed(self, step: Step) -> float:
        """Milliseconds of one call on the GPU's own clock."""
        cuda = self.library.cuda
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        start.record()
        step()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end))


def numbers(*shape: int) -> Any:
    """Small random numbers, always the same."""
    return (np.random.default_rng(0).standard_normal(shape) * 0.1).astype(np.float32)


def small_ops(side: Side) -> Step:
    """What an op costs beside its arithmetic: 100 multiplications of two numbers, forward and backward."""
    x, w = side.there(numbers(2), requires_grad=True), side.there(numbers(2))

    def step() -> None:
        y = x
        for _ in range(100):
            y = y * w
        y.sum().backward()

    return step


def mlp(side: Side) -> Step:
    """An MLP of 784-1024-1024-10 on 256 images, with Adam."""
    nn = side.library.nn
    model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    classes = np.random.default_rng(1).integers(0, 10, 256)
    return trained(side, model, side.there(numbers(256, 784)), side.there(classes))


def conv_net(side: Side) -> Step:
    """Two convolutions with batch norm and pooling on 64 images of 3x32x32, with Adam."""
    nn = side.library.nn
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1),
        nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 64, 10),
    )  # fmt: skip
    classes = np.random.default_rng(1).integers(0, 10, 64)
    return trained(side, model, side.there(numbers(64, 3, 32, 32)), side.there(classes))


def gpt(side: Side) -> Step:
    """Two layers of a transformer of width 256 with 4 heads on 16 texts of 128 codes, with Adam."""
    nn = side.library.nn
    layer = nn.TransformerEncoderLayer(256, 4, 1024, 0.0, "gelu", batch_first=True, norm_first=True)
    model = nn.Sequential(
        nn.Embedding(100, 256), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(256, 100)
    )
    codes = np.random.default_rng(1).integers(0, 100, (16, 129))
    return trained(side, model, side.there(codes[:, :-1].copy()), side.there(codes[:, 1:].copy()))


def trained(side: Side, model: Any, inputs: Any, wanted: Any) -> Step:
    """One step of training ``model``."""
    model.to("cuda")
    optimizer = side.library.optim.Adam(model.parameters(), 1e-3)
    loss_of = side.library.nn.functional.cross_entropy

    def step() -> None:
        optimizer.zero_grad()
        logits = model(inputs)
        loss_of(logits.reshape(-1, logits.shape[-1]), wanted.reshape(-1)).backward()
        optimizer.step()

    return step


WORKLOADS = {"small ops": small_ops, "mlp": mlp, "conv net": conv_net, "gpt": gpt}


def compared(make: Callable[[Side], Step], sides: list[Side], rounds: int) -> list[float]:
    """Median milliseconds of a step by side."""
    steps = [make(side) for side in sides]
    for step in steps:
        for _ in range(3):
            step()
    taken: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for i, (side, step) in enumerate(zip(sides, steps, strict=True)):
            taken[i].append(side.timed(step))
    return [statistics.median(times) for times in taken]


def main() -> int:
    """Print a line for each workload."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="timed steps of each side (default: 20)")
    rounds = parser.parse_args().rounds
    try:
        import torch

        ag.cuda.synchronize()
        torch.cuda.synchronize()
    except (ImportError, RuntimeError, AssertionError) as error:
        print(f"nothing to measure: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}: milliseconds of a step, engine and torch, and their ratio"
    )
    sides = [Side(ag), Side(torch)]
    for name, make in WORKLOADS.items():
        ours, theirs = compared(make, sides, rounds)
        print(f"{name:<10} {ours:9.3f} {theirs:9.3f} {ours / theirs:7.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
