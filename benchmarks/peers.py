"""The workloads of :mod:`workloads` for HIPS/autograd and MyGrad, whose programs look different.

``PEERS[name]`` gives, for each library that is installed, the same :class:`~workloads.Workload` as for torch,
``CHAINS[name]`` a chain of any length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import Workload, mlp_data, numbers

Loss = Callable[[Any, list[Any]], Any]
"""The loss of a workload from a library's functions and its parameters."""


class Functions:
    """The functions that a loss needs, of one library."""

    def __init__(self, tanh: Any, exp: Any, log: Any, sum_: Any, sigmoid: Any, relu: Any) -> None:
        self.tanh, self.exp, self.log, self.sum, self.sigmoid, self.relu = tanh, exp, log, sum_, sigmoid, relu


def chain(F: Functions, p: list[Any]) -> Any:
    w = np.array([0.5, 0.5], "f")
    y = p[0]
    for _ in range(40):
        y = F.exp(F.tanh(y * w + p[0])) * w
    return F.sum(y)


def wide(F: Functions, p: list[Any]) -> Any:
    x, *ws = p
    total = x * ws[0]
    for w in ws[1:]:
        total = total + x * w
    return F.sum(total)


def rnn(F: Functions, p: list[Any]) -> Any:
    W, U, b = p
    h = np.zeros((8, 32), "f")
    for x in XS:
        h = F.tanh(x @ U + h @ W + b)
    return F.sum(h)


def gru(F: Functions, p: list[Any]) -> Any:
    Wz, Wr, Wn, Uz, Ur, Un, bz, br, bn = p
    h = np.zeros((8, 32), "f")
    for x in XS:
        z = F.sigmoid(x @ Wz + h @ Uz + bz)
        r = F.sigmoid(x @ Wr + h @ Ur + br)
        n = F.tanh(x @ Wn + (h * r) @ Un + bn)
        h = (1 - z) * n + z * h
    return F.sum(h)


def mlp(F: Functions, p: list[Any]) -> Any:
    x, y = mlp_data()
    W1, b1, W2, b2, W3, b3 = p
    scores = F.relu(F.relu(x @ W1 + b1) @ W2 + b2) @ W3 + b3
    one_hot = np.eye(10, dtype="f")[y]
    return (F.sum(F.log(F.sum(F.exp(scores), axis=1))) - F.sum(scores * one_hot)) * (1 / len(y))


XS = list(np.random.default_rng(1).standard_normal((50, 8, 32)).astype("f"))
SHAPES: dict[str, list[tuple[int, ...]]] = {
    "chain": [(2,)],
    "wide": [(8, 8)] * 101,
    "rnn": [(32, 32), (32, 32), (32,)],
    "gru": [(32, 32)] * 6 + [(32,)] * 3,
    "mlp": [(784, 256), (256,), (256, 256), (256,), (256, 10), (10,)],
}
LOSSES: dict[str, Loss] = {"chain": chain, "wide": wide, "rnn": rnn, "gru": gru, "mlp": mlp}


def hips(name: str) -> Workload:
    """The workload on HIPS/autograd."""
    import autograd.numpy as anp
    from autograd.core import make_vjp
    from autograd.extend import vspace

    F = Functions(anp.tanh, anp.exp, anp.log, anp.sum, lambda x: 1 / (1 + anp.exp(-x)), lambda x: anp.maximum(x, 0))
    parameters = numbers(SHAPES[name])
    loss = LOSSES[name]

    def forward() -> Any:
        return make_vjp(lambda p: loss(F, p), parameters)

    def backward(traced: Any) -> None:
        vjp, value = traced
        gradients = vjp(vspace(value).ones())
        _descend(name, parameters, gradients)

    return Workload(forward, backward)


def mygrad(name: str) -> Workload:
    """The workload on MyGrad."""
    import mygrad as mg
    from mygrad.nnet.activations import relu, sigmoid

    F = Functions(mg.tanh, mg.exp, mg.log, mg.sum, sigmoid, relu)
    parameters = [mg.tensor(a) for a in numbers(SHAPES[name])]
    loss = LOSSES[name]

    def forward() -> Any:
        return loss(F, parameters)

    def backward(root: Any) -> None:
        root.backward()
        _descend(name, [p.data for p in parameters], [p.grad for p in parameters])
        for p in parameters:
            p.null_grad()

    return Workload(forward, backward)


def _descend(name: str, parameters: list[Any], gradients: list[Any]) -> None:
    """The SGD step that is part of the MLP workload."""
    if name == "mlp":
        for p, g in zip(parameters, gradients, strict=True):
            p -= np.float32(0.1) * g


def hips_chain(n: int) -> Workload:
    """A chain of ``n`` products on HIPS/autograd."""
    from autograd.core import make_vjp
    from autograd.extend import vspace

    def forward() -> Any:
        return make_vjp(lambda x: product(x, n), np.ones(2, "f"))

    def backward(traced: Any) -> None:
        vjp, value = traced
        vjp(vspace(value).ones())

    return Workload(forward, backward)


def mygrad_chain(n: int) -> Workload:
    """A chain of ``n`` products on MyGrad."""
    import mygrad as mg

    x = mg.tensor(np.ones(2, "f"))
    return Workload(lambda: product(x, n).sum(), lambda root: root.backward())


def product(x: Any, n: int) -> Any:
    """``x`` times itself, ``n`` times in a row."""
    y = x
    for _ in range(n):
        y = y * x
    return y


PEERS: dict[str, Callable[[str], Workload]] = {"autograd": hips, "mygrad": mygrad}
CHAINS: dict[str, Callable[[int], Workload]] = {"autograd": hips_chain, "mygrad": mygrad_chain}


def installed(table: dict[str, Callable[[Any], Workload]]) -> dict[str, Callable[[Any], Workload]]:
    """Those of the libraries of a table that can be imported."""
    import importlib.util

    return {name: make for name, make in table.items() if importlib.util.find_spec(name) is not None}
