"""Adafactor and Muon: options, state and twenty steps of training are PyTorch's, to rounding (of bfloat16 in Muon)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agdbg_engine as ag

torch: Any = pytest.importorskip("torch", reason="PyTorch is the reference here")

CASES: list[tuple[str, dict[str, Any]]] = [
    ("Adafactor", {}),
    ("Adafactor", {"lr": 0.5, "d": 2.0, "weight_decay": 0.1}),
    ("Adafactor", {"maximize": True, "eps": (1e-3, 1e-2), "beta2_decay": -0.5}),
    ("Adafactor", {"foreach": True}),
    ("Muon", {}),
    ("Muon", {"lr": 0.02, "nesterov": False}),
    ("Muon", {"lr": 0.05, "weight_decay": 0, "adjust_lr_fn": "match_rms_adamw"}),
    ("Muon", {"ns_steps": 3, "momentum": 0.5}),
]


def trained(lib: Any, name: str, options: dict[str, Any], dtype: str) -> tuple[list[float], Any]:
    """Losses of twenty steps and the optimizer."""
    rng = np.random.default_rng(0)
    w, x, y = (lib.from_numpy(rng.standard_normal(s).astype(dtype)) for s in ((6, 4), (12, 4), (12, 6)))
    weight, bias, scale = (lib.nn.Parameter(p) for p in (w, lib.ones(6, dtype=w.dtype), lib.ones((), dtype=w.dtype)))
    optimizer = getattr(lib.optim, name)([weight] if name == "Muon" else [weight, bias, scale], **options)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = ((x @ weight.T * scale + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, optimizer


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_twenty_steps(name: str, options: dict[str, Any], dtype: str) -> None:
    (mine, ours), (theirs, reference) = (trained(lib, name, options, dtype) for lib in (ag, torch))
    np.testing.assert_allclose(mine, theirs, rtol=1e-3 if name == "Muon" else 1e-6 if dtype == "float32" else 1e-13)
    assert repr(ours) == repr(reference)
    state, expected = ours.state_dict(), reference.state_dict()
    assert state["param_groups"] == expected["param_groups"]
    for key, kept in expected["state"].items():
        assert list(state["state"][key]) == list(kept)
        for name_of, t in kept.items():
            a, b = state["state"][key][name_of].numpy(), t.numpy()
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
    ours.load_state_dict(state)
    ours.step()


BAD = [
    ("Adafactor", {"lr": -1}), ("Adafactor", {"beta2_decay": 0.1}), ("Adafactor", {"eps": (-1, 1e-3)}),
    ("Adafactor", {"eps": (None, -1)}), ("Adafactor", {"d": 0.5}), ("Adafactor", {"weight_decay": -1}), ("Muon", {"lr": -1}),
    ("Muon", {"momentum": -1}), ("Muon", {"weight_decay": -1}), ("Muon", {"adjust_lr_fn": "half"}), ("Muon", {"ns_steps": 100}),
    ("Muon", {"ns_coefficients": (1, 2)}), ("Muon", {"params": 1}), ("Adafactor", {"params": 1, "lr": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), BAD)
def test_bad_options(name: str, options: dict[str, Any]) -> None:
    answers = []
    for lib in (ag, torch):
        given = dict(options)
        p = lib.ones(*(2,) * (given.pop("params", 2))).requires_grad_()
        p.grad = lib.ones_like(p)
        try:
            getattr(lib.optim, name)([p], **given).step()
            answers.append(p.tolist())
        except Exception as error:
            answers.append((type(error).__name__, str(error).split("\n")[0]))
    assert answers[0] == answers[1]


def test_complex_parameters_are_refused() -> None:
    for name in ("Adafactor", "Muon"):
        said = []
        for lib in (ag, torch):
            p = lib.ones(2, 2, dtype=lib.complex64).requires_grad_()
            p.grad = lib.ones_like(p)
            with pytest.raises(RuntimeError, match="does not support complex parameters") as error:
                getattr(lib.optim, name)([p]).step()
            said.append(str(error.value))
        assert said[0] == said[1]


def test_losses_with_new_and_old_names() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((5, 4)).astype(np.float32), rng.standard_normal((6, 4)).astype(np.float32)
    found = []
    for lib in (ag, torch):
        run = []
        for options in ({}, {"bias": True, "label_smoothing": 0.1}, {"out_features": (2,), "reduction": "sum"}):
            loss = lib.nn.LinearCrossEntropyLoss(4, 6 // (2 if "out_features" in options else 1), **options)
            loss.linear.weight.data = lib.from_numpy(w.copy())
            if loss.linear.bias is not None:
                loss.linear.bias.data = lib.zeros(6)
            target = lib.arange(5) % 3
            target = lib.stack([target, target], 1) if "out_features" in options else target
            optimizer = lib.optim.SGD(loss.parameters(), lr=0.1)
            for _ in range(20):
                optimizer.zero_grad()
                out = loss(lib.from_numpy(x), target)
                out.backward()
                optimizer.step()
                run.append(out.item())
            run.append(str(loss))
            run.append(list(loss.state_dict()))
        with pytest.warns(FutureWarning, match="`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead"):
            old = lib.nn.NLLLoss2d(ignore_index=2)
        run += [old(lib.from_numpy(x[None].transpose(0, 2, 1)), lib.arange(5)[None] % 4).item(), repr(old)]
        found.append(run)
    for a, b in zip(*found, strict=True):
        assert a == pytest.approx(b, rel=1e-5) if isinstance(a, float) else a == b
