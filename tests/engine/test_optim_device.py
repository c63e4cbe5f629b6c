"""Optimizers on arrays of another library: the same numbers, nothing copied to the host."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.tensor import wrap

CASES = [
    ("SGD", {}), ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "maximize": True}), ("Adam", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("AdamW", {}), ("RMSprop", {"momentum": 0.5, "centered": True}),
    ("Adagrad", {}), ("Adadelta", {}), ("Adamax", {}), ("NAdam", {}), ("RAdam", {"betas": (0.5, 0.6)}), ("Rprop", {}),
    ("ASGD", {"t0": 1}),
]  # fmt: skip


def after_three_steps(name, options, put):
    params = [
        wrap(put(np.linspace(-1, 1, n).reshape(shape))) for n, shape in ((12, (3, 4)), (1, ()), (20000, (100, 200)))
    ]
    for p in params:
        p.requires_grad_()
    optimizer = getattr(ag.optim, name)(params, **options)
    for step in range(3):
        for p in params:
            p.grad = wrap(put(np.cos(np.arange(p.numel()) + step).reshape(p.shape)))
        optimizer.step()
    return [p._a for p in params]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_steps(name, options):
    strict.refusals.clear()
    here = after_three_steps(name, options, np.asarray)
    there = after_three_steps(name, options, strict.put)
    assert not strict.refusals
    with strict.allowed_host_reads():
        for a, b in zip(there, here, strict=True):
            np.testing.assert_allclose(strict.host(a), b, rtol=1e-12)


NOT_ALIKE = "Tensors of the same index must be on the same device and the same dtype except `step` tensors that can be CPU and float32/64"
TWO = "Expected all tensors to be on the same device, but found at least two devices, strict:0 and {}!"


@pytest.mark.parametrize(
    ("before", "after", "foreach", "text"),
    [
        ("cpu", "strict:0", None, NOT_ALIKE), ("cpu", "strict:0", False, TWO.format("cpu")), ("strict:0", "cpu", None, TWO.format("cpu")),
        ("strict:0", "strict:1", None, NOT_ALIKE), ("strict:0", "strict:1", False, TWO.format("strict:1")),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("name", "options"), [(n, o) for n, o in CASES if (n, o) != ("SGD", {})], ids=str)
def test_a_model_that_was_moved_after_a_step(name, options, before, after, foreach, text):
    """PyTorch updates lists of tensors on a GPU and one after the other on the CPU, and has words of its own for each."""
    layer = ag.nn.Linear(2, 1).to(before)
    optimizer = getattr(ag.optim, name)(layer.parameters(), foreach=foreach, **options)

    def step():
        for p in layer.parameters():
            p.grad = ag.ones_like(p)
        optimizer.step()

    with strict.allowed_host_reads():
        step()
        layer.to(after)
        weight = layer.weight.detach().cpu().tolist()
        with pytest.raises(RuntimeError) as found:
            step()
        first, rest = str(found.value).split("\n", 1)
        assert first.startswith(text)
        assert f"{name}.step: a parameter is on {after}, but what was kept for it lies on {before}, " in rest
        assert layer.weight.detach().cpu().tolist() == weight
        optimizer.load_state_dict(optimizer.state_dict())
        step()


@pytest.mark.parametrize(
    ("before", "after", "foreach", "text"),
    [
        ("cpu", "strict:0", None, NOT_ALIKE), ("cpu", "strict:0", False, TWO.format("cpu")), ("strict:0", "cpu", None, TWO.format("cpu")),
        ("strict:0", "strict:1", None, NOT_ALIKE), ("strict:0", "strict:1", False, TWO.format("strict:1")),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_a_gradient_from_before_the_model_was_moved(name, options, before, after, foreach, text):
    strict.refusals.clear()
    p = ag.nn.Parameter(ag.ones(2, 3, device=before))
    optimizer = getattr(ag.optim, name)([p], foreach=foreach, **options)
    p.grad = ag.ones_like(p)
    with strict.allowed_host_reads():
        p.data = p.data.to(after)
    with pytest.raises(RuntimeError) as found:
        optimizer.step()
    first, rest = str(found.value).split("\n", 1)
    assert first.startswith(text)
    assert f"{name}.step: a parameter is on {after}, but its gradient lies on {before}, " in rest
    with strict.allowed_host_reads():
        assert p.detach().cpu().tolist() == [[1.0] * 3] * 2
    assert not strict.refusals


@pytest.mark.parametrize("what", ["gradient", "state"])
@pytest.mark.parametrize("name", ["Muon", "Adafactor", "LBFGS"])
def test_what_lies_where_a_parameter_was_before(name, what):
    """Optimizers that update parameters one after the other unless told otherwise."""
    with strict.allowed_host_reads():
        p = ag.nn.Parameter(ag.ones(2, 3))
        optimizer = getattr(ag.optim, name)([p])

        def step():
            optimizer.step(*([lambda: p.detach().sum()] if name == "LBFGS" else []))

        p.grad = ag.ones_like(p)
        if what == "state":
            step()
        p.data = p.data.to("strict:0")
        if what == "state":
            p.grad = ag.ones_like(p)
        strict.refusals.clear()
        with pytest.raises(
            RuntimeError, match="Expected all tensors to be on the same device, but found at least two devices"
        ):
            step()
        assert not strict.refusals or name == "LBFGS"  # whose arithmetic is ops, which try
