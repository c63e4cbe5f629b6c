"""Pruning: masks, names, history, errors and what is left afterwards are PyTorch's."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import agdbg_engine as ag

torch: Any = pytest.importorskip("torch", reason="PyTorch is the reference here")
importlib.import_module("torch.nn.utils.prune")  # torch.nn.utils does not import it by itself


def layer(lib: Any) -> Any:
    """The same linear layer in both libraries, of quarters: their sums are exact in whatever order they are computed."""
    made = lib.nn.Linear(5, 4)
    rng = np.random.default_rng(0)
    for p in made.parameters():
        count = int(np.prod(p.shape))
        values = rng.permutation(np.arange(1, count + 1)) * rng.choice([-0.25, 0.25], count)
        p.data = lib.from_numpy(values.astype(np.float32).reshape(tuple(p.shape)))
    return made


def answer(lib: Any, program: Any) -> Any:
    """What the program gives: names, values and gradients, or an error's type and first line."""
    m, prune = layer(lib), lib.nn.utils.prune
    try:
        program(lib, m, prune)
        m(lib.ones(2, 5)).pow(2).sum().backward()
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0].split("; the nearest")[0].replace(
            "agdbg_engine.", "torch."
        )
    found = {name: t.detach().tolist() for name, t in m.state_dict().items()}
    grads = {name: None if p.grad is None else p.grad.tolist() for name, p in m.named_parameters()}
    kinds = type(m.weight).__name__, m.weight.is_leaf, prune.is_pruned(m), len(m._forward_pre_hooks)
    return found, grads, kinds


PROGRAMS = {
    "identity": lambda t, m, p: p.identity(m, "weight"),
    "l1 count": lambda t, m, p: p.l1_unstructured(m, "weight", 3),
    "l1 share": lambda t, m, p: p.l1_unstructured(m, "weight", 0.3),
    "l1 none": lambda t, m, p: p.l1_unstructured(m, "bias", 0),
    "l1 scores": lambda t, m, p: p.l1_unstructured(m, "weight", 4, t.arange(20.0).reshape(4, 5)),
    "l1 twice": lambda t, m, p: (p.l1_unstructured(m, "weight", 0.3), p.l1_unstructured(m, "weight", 0.5)),
    "ln": lambda t, m, p: p.ln_structured(m, "weight", 2, 2, 0),
    "ln of columns": lambda t, m, p: p.ln_structured(m, "weight", 0.4, float("inf"), -1),
    "ln after l1": lambda t, m, p: (p.l1_unstructured(m, "weight", 7), p.ln_structured(m, "weight", 1, 1, 1)),
    "l1 after ln": lambda t, m, p: (p.ln_structured(m, "weight", 1, 1, 0), p.l1_unstructured(m, "weight", 4)),
    "ln twice": lambda t, m, p: (p.ln_structured(m, "weight", 1, 1, 0), p.ln_structured(m, "weight", 1, 1, 0)),
    "three": lambda t, m, p: [p.l1_unstructured(m, "weight", 2) for _ in range(3)],
    "mask": lambda t, m, p: p.custom_from_mask(m, "bias", t.tensor([1, 0, 1, 0])),
    "global": lambda t, m, p: p.global_unstructured([(m, "weight"), (m, "bias")], p.L1Unstructured, amount=9),
    "global twice": lambda t, m, p: [
        p.global_unstructured([(m, "weight"), (m, "bias")], p.L1Unstructured, amount=5) for _ in range(2)
    ],
    "removed": lambda t, m, p: (p.l1_unstructured(m, "weight", 3), p.remove(m, "weight")),
    "removed and pruned": lambda t, m, p: (
        p.l1_unstructured(m, "weight", 3), p.remove(m, "weight"), p.l1_unstructured(m, "weight", 8),
    ),
    "not pruned": lambda t, m, p: p.remove(m, "weight"),
    "too many": lambda t, m, p: p.l1_unstructured(m, "weight", 21),
    "negative": lambda t, m, p: p.l1_unstructured(m, "weight", -1),
    "above one": lambda t, m, p: p.random_unstructured(m, "weight", 1.5),
    "no number": lambda t, m, p: p.random_unstructured(m, "weight", "all"),
    "a vector's slices": lambda t, m, p: p.ln_structured(m, "bias", 1, 2, 0),
    "no such dim": lambda t, m, p: p.random_structured(m, "weight", 1, 2),
    "mask of another shape": lambda t, m, p: p.custom_from_mask(m, "bias", t.ones(3)),
    "no such name": lambda t, m, p: p.identity(m, "weights"),
    "global of slices": lambda t, m, p: p.global_unstructured([(m, "weight")], p.LnStructured, amount=1, n=2),
    "global of nothing": lambda t, m, p: p.global_unstructured(3, p.L1Unstructured, amount=1),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_pytorch(name: str) -> None:
    assert answer(ag, PROGRAMS[name]) == answer(torch, PROGRAMS[name])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_random_masks_have_as_many_zeros(dim: int) -> None:
    prune = ag.nn.utils.prune
    m = prune.random_structured(layer(ag), "weight", 2, dim)
    assert sorted(set(m.weight_mask.sum(1 - dim % 2).tolist())) == [0.0, m.weight.shape[1 - dim % 2]]
    assert int((m.weight_mask == 0).sum()) == 2 * m.weight.shape[1 - dim % 2]
    m = prune.random_unstructured(layer(ag), "weight", 0.25)
    assert int((m.weight == 0).sum()) == 5
    prune.random_unstructured(m, "weight", 5)
    assert int((m.weight == 0).sum()) == 10


def test_a_pruned_layer_trains() -> None:
    losses: list[Any] = []
    for lib in (ag, torch):
        m = lib.nn.utils.prune.l1_unstructured(layer(lib), "weight", 0.5)
        optimizer = lib.optim.SGD(m.parameters(), lr=0.05, momentum=0.9)
        x = lib.from_numpy(np.random.default_rng(1).standard_normal((8, 5)).astype(np.float32))
        run = []
        for _ in range(20):
            optimizer.zero_grad()
            loss = (m(x) - 1).pow(2).mean()
            loss.backward()
            optimizer.step()
            run.append(loss.item())
        losses.append(run)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_a_failure_changes_nothing() -> None:
    m = layer(ag)
    before = list(m.state_dict())
    with pytest.raises(ValueError, match="amount=21"):
        ag.nn.utils.prune.l1_unstructured(m, "weight", 21)
    assert list(m.state_dict()) == before
    assert not ag.nn.utils.prune.is_pruned(m)


def test_masks_of_a_tensor() -> None:
    values = np.array([[3.0, -1, 2], [0.5, 4, -5]])
    found = [lib.nn.utils.prune.L1Unstructured(2).prune(lib.from_numpy(values)).tolist() for lib in (ag, torch)]
    assert found[0] == found[1]
