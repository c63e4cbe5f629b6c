"""The programs that the benchmarks time, written once for the engine and for torch: ``make(namespace)`` gives one training step.

Tiny tensors on purpose (except the MLP): they measure what an op costs beside its arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = Callable[[], None]


def _parameters(T: Any, seed: int, *shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [T.tensor((rng.standard_normal(s) * 0.1).astype("f"), requires_grad=True) for s in shapes]


def _inputs(T: Any, n: int, *shape: int) -> list[Any]:
    rng = np.random.default_rng(1)
    return [T.tensor(rng.standard_normal(shape).astype("f")) for _ in range(n)]


def chain(T: Any) -> Step:
    """200 small ops in a row on two elements."""
    (x,) = _parameters(T, 0, (2,))
    w = T.tensor(np.array([0.5, 0.5], "f"))

    def step() -> None:
        y = x
        for _ in range(40):
            y = (y * w + x).tanh().exp() * w
        y.sum().backward()
        x.grad = None

    return step


def wide(T: Any) -> Step:
    """100 products of one tensor, summed: high fan-out and fan-in."""
    x, *ws = _parameters(T, 0, *[(8, 8)] * 101)

    def step() -> None:
        total = x * ws[0]
        for w in ws[1:]:
            total = total + x * w
        total.sum().backward()
        for t in (x, *ws):
            t.grad = None

    return step


def rnn(T: Any) -> Step:
    """A recurrent cell over 50 steps, batch 8, 32 units."""
    W, U, b = _parameters(T, 0, (32, 32), (32, 32), (32,))
    xs, h0 = _inputs(T, 50, 8, 32), T.tensor(np.zeros((8, 32), "f"))

    def step() -> None:
        h = h0
        for x in xs:
            h = (x @ U + h @ W + b).tanh()
        h.sum().backward()
        W.grad = U.grad = b.grad = None

    return step


def gru(T: Any, steps: int = 50) -> Step:
    """A gated recurrent unit over 50 steps, batch 8, 32 units."""
    matrices = _parameters(T, 0, *[(32, 32)] * 6)
    biases = _parameters(T, 1, *[(32,)] * 3)
    Wz, Wr, Wn, Uz, Ur, Un = matrices
    bz, br, bn = biases
    xs, h0 = _inputs(T, steps, 8, 32), T.tensor(np.zeros((8, 32), "f"))

    def step() -> None:
        h = h0
        for x in xs:
            z = (x @ Wz + h @ Uz + bz).sigmoid()
            r = (x @ Wr + h @ Ur + br).sigmoid()
            n = (x @ Wn + (h * r) @ Un + bn).tanh()
            h = (1 - z) * n + z * h
        h.sum().backward()
        for p in (*matrices, *biases):
            p.grad = None

    return step


def mlp(T: Any) -> Step:
    """One SGD step of a 784-256-256-10 classifier, batch 64."""
    nn, optim = T.nn, T.optim
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    (x,) = _inputs(T, 1, 64, 784)
    y = T.tensor(np.random.default_rng(2).integers(0, 10, 64))

    def step() -> None:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def small(T: Any) -> Step:
    """One SGD step of a tiny two-layer regression: where what is recorded beside the nodes weighs most."""
    nn, optim = T.nn, T.optim
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    x, y = _inputs(T, 1, 16, 8)[0], _inputs(T, 1, 16, 1)[0]

    def step() -> None:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


WORKLOADS: dict[str, Callable[[Any], Step]] = {"chain": chain, "wide": wide, "rnn": rnn, "gru": gru, "mlp": mlp}
