"""The programs that the benchmarks time, written once for the engine and for torch: ``make(namespace)`` gives a workload.

Tiny tensors on purpose (except the MLP): they measure what an op costs beside its arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Workload:
    """One training step, in two parts that can be timed apart: called, it does both."""

    def __init__(self, forward: Callable[[], Any], backward: Callable[[Any], None]) -> None:
        self.forward = forward
        self.backward = backward

    def __call__(self) -> None:
        """One whole step."""
        self.backward(self.forward())


def numbers(shapes: Sequence[tuple[int, ...]], seed: int = 0) -> list[Any]:
    """Small random arrays of the given shapes."""
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal(s) * 0.1).astype("f") for s in shapes]


def _parameters(T: Any, seed: int, *shapes: tuple[int, ...]) -> list[Any]:
    return [T.tensor(a, requires_grad=True) for a in numbers(shapes, seed)]


def _leaves(leaves: Sequence[Any]) -> Callable[[Any], None]:
    """Backward of a root, after which the gradients of ``leaves`` are forgotten."""

    def backward(root: Any) -> None:
        root.backward()
        for t in leaves:
            t.grad = None

    return backward


def mlp_data() -> tuple[Any, Any]:
    """Inputs and classes of the MLP."""
    return np.random.default_rng(1).standard_normal((64, 784)).astype("f"), np.random.default_rng(2).integers(0, 10, 64)


def _inputs(T: Any, n: int, *shape: int) -> list[Any]:
    rng = np.random.default_rng(1)
    return [T.tensor(rng.standard_normal(shape).astype("f")) for _ in range(n)]


def chain(T: Any) -> Workload:
    """200 small ops in a row on two elements."""
    (x,) = _parameters(T, 0, (2,))
    w = T.tensor(np.array([0.5, 0.5], "f"))

    def forward() -> Any:
        y = x
        for _ in range(40):
            y = (y * w + x).tanh().exp() * w
        return y.sum()

    return Workload(forward, _leaves([x]))


def wide(T: Any) -> Workload:
    """100 products of one tensor, summed: high fan-out and fan-in."""
    x, *ws = _parameters(T, 0, *[(8, 8)] * 101)

    def forward() -> Any:
        total = x * ws[0]
        for w in ws[1:]:
            total = total + x * w
        return total.sum()

    return Workload(forward, _leaves([x, *ws]))


def rnn(T: Any) -> Workload:
    """A recurrent cell over 50 steps, batch 8, 32 units."""
    W, U, b = _parameters(T, 0, (32, 32), (32, 32), (32,))
    xs, h0 = _inputs(T, 50, 8, 32), T.tensor(np.zeros((8, 32), "f"))

    def forward() -> Any:
        h = h0
        for x in xs:
            h = (x @ U + h @ W + b).tanh()
        return h.sum()

    return Workload(forward, _leaves([W, U, b]))


def gru(T: Any, steps: int = 50) -> Workload:
    """A gated recurrent unit over 50 steps, batch 8, 32 units."""
    matrices = _parameters(T, 0, *[(32, 32)] * 6)
    biases = _parameters(T, 1, *[(32,)] * 3)
    Wz, Wr, Wn, Uz, Ur, Un = matrices
    bz, br, bn = biases
    xs, h0 = _inputs(T, steps, 8, 32), T.tensor(np.zeros((8, 32), "f"))

    def forward() -> Any:
        h = h0
        for x in xs:
            z = (x @ Wz + h @ Uz + bz).sigmoid()
            r = (x @ Wr + h @ Ur + br).sigmoid()
            n = (x @ Wn + (h * r) @ Un + bn).tanh()
            h = (1 - z) * n + z * h
        return h.sum()

    return Workload(forward, _leaves([*matrices, *biases]))


def mlp(T: Any) -> Workload:
    """One SGD step of a 784-256-256-10 classifier, batch 64."""
    nn, optim = T.nn, T.optim
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    x, y = (T.tensor(a) for a in mlp_data())
    return Workload(lambda: nn.functional.cross_entropy(model(x), y), _descent(optimizer))


def small(T: Any) -> Workload:
    """One SGD step of a tiny two-layer regression: where what is recorded beside the nodes weighs most."""
    nn, optim = T.nn, T.optim
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    x, y = _inputs(T, 1, 16, 8)[0], _inputs(T, 1, 16, 1)[0]

    return Workload(lambda: nn.functional.mse_loss(model(x), y), _descent(optimizer))


def gpt(T: Any, width: int = 48, heads: int = 4, layers: int = 2, length: int = 32, batch: int = 16) -> Workload:
    """One AdamW step of the GPT of examples/train_gpt.py, on random characters."""
    nn, F = T.nn, T.nn.functional
    alphabet = 64

    class Attention(nn.Module):  # type: ignore[misc, name-defined]  # nn is that of the engine or of torch
        def __init__(self) -> None:
            super().__init__()
            self.project_in, self.project_out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            parts = self.project_in(x).view(batch, length, 3, heads, width // heads)
            y = F.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4).unbind(0), is_causal=True)
            return self.project_out(y.transpose(1, 2).reshape(batch, length, width))

    class Added(nn.Module):  # type: ignore[misc, name-defined]  # as above
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.norm, self.inner = nn.LayerNorm(width), inner

        def forward(self, x: Any) -> Any:
            return x + self.inner(self.norm(x))

    def net() -> Any:
        return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    blocks = [Added(inner) for _ in range(layers) for inner in (Attention(), net())]
    characters, positions = nn.Embedding(alphabet, width), nn.Embedding(length, width)
    rest = nn.Sequential(*blocks, nn.LayerNorm(width), nn.Linear(width, alphabet, bias=False))
    model = nn.ModuleList([characters, positions, rest])
    codes, following = (T.tensor(a) for a in np.random.default_rng(0).integers(0, alphabet, (2, batch, length)))
    places = T.arange(length)

    def forward() -> Any:
        logits = rest(characters(codes) + positions(places))
        return F.cross_entropy(logits.flatten(0, 1), following.flatten())

    return Workload(forward, _descent(T.optim.AdamW(model.parameters(), lr=1e-3)))


def _descent(optimizer: Any) -> Callable[[Any], None]:
    """Backward of a loss and a step of ``optimizer``."""

    def backward(loss: Any) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return backward


WORKLOADS: dict[str, Callable[[Any], Workload]] = {"chain": chain, "wide": wide, "rnn": rnn, "gru": gru, "mlp": mlp}
