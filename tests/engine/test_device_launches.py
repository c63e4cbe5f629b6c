"""How many kernels a device with kernels is asked for: the strict device counts what CuPy would launch.

What a formula in C computes is compared with NumPy elsewhere; here its Python is run in its place, and counts as one.
"""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import streams

F = ag.nn.functional
METHODS = ("astype", "copy", "sum", "mean", "max", "min", "prod", "all", "any", "argmax", "take", "fill", "__setitem__")
NUMBERS, OTHERS = np.random.default_rng(0).standard_normal((2, 6, 8)).astype(np.float32)


@pytest.fixture
def launched(monkeypatch):
    """The names of what is launched, in order."""
    names = []

    def noted(name, function):
        def call(*args, **options):
            names.append(name)
            return function(*args, **options)

        return call

    run = strict._run
    monkeypatch.setattr(
        strict,
        "_run",
        lambda space, name, *rest: (
            run(space, name, *rest) if name in strict._VIEWS else noted(name, run)(space, name, *rest)
        ),
    )
    for name in METHODS:
        monkeypatch.setattr(strict.ndarray, name, noted(name, getattr(strict.ndarray, name)))

    def elementwise(formula):
        def kernel(*arrays):
            before = len(names)
            found = formula.reference(*arrays)
            names[before:] = [formula.name]
            return found

        return kernel

    def along_rows(formula, place, arrays, by_row):
        names.append(formula.name)
        return strict.ndarray(np.zeros(arrays[0].shape, arrays[0].dtype))

    monkeypatch.setattr(strict.BACKEND, "elementwise", elementwise)
    monkeypatch.setattr(strict.BACKEND, "rowwise", along_rows)
    return names


def there(values):
    return ag.tensor(values, device="strict")


def classes():
    return there(np.arange(6) % 8)


BACKWARD = {
    "relu": (F.relu, ["threshold_elsewhere"]), "tanh": (ag.tanh, ["tanh_grad_elsewhere"]), "sigmoid": (ag.sigmoid, ["sigmoid_grad_elsewhere"]),
    "leaky_relu": (F.leaky_relu, ["leaky_relu_backward"]), "gelu": (F.gelu, ["gelu_backward"]), "silu": (F.silu, ["silu_backward"]),
    "gelu by tanh": (lambda x: F.gelu(x, approximate="tanh"), ["gelu_tanh_grad"]), "mish": (F.mish, ["mish_grad_of_buffers"]),
    "softplus": (F.softplus, ["softplus_backward"]), "hardtanh": (F.hardtanh, ["hardtanh_backward"]), "relu6": (F.relu6, ["hardtanh_backward"]),
    "hardsigmoid": (F.hardsigmoid, ["hardsigmoid_backward"]), "hardswish": (F.hardswish, ["hardswish_backward"]), "elu": (F.elu, ["elu_backward"]),
    "softshrink": (F.softshrink, ["hardshrink_backward"]), "logsigmoid": (F.logsigmoid, ["log_sigmoid_backward"]),
    "abs": (ag.abs, ["sgn_elsewhere", "multiply"]), "softmax": (lambda x: F.softmax(x, -1), ["softmax_grad"]),
    "layer_norm": (lambda x: F.layer_norm(x, (8,)), ["standard_grad"]), "rms_norm": (lambda x: F.rms_norm(x, (8,)), ["rms_grad"]),
    "rms_norm with weight": (lambda x: F.rms_norm(x, (8,), ag.ones(8, device="strict")), ["multiply", "rms_grad"]),
    "smooth_l1": (lambda x: F.smooth_l1_loss(x, there(OTHERS)), ["limited_share", "divide", "multiply"]),
    "huber": (lambda x: F.huber_loss(x, there(OTHERS)), ["limited", "divide", "multiply"]),
    "bce": (lambda x: F.binary_cross_entropy(x, there(np.abs(np.tanh(OTHERS)))), ["divide", "bce_slope", "multiply"]),
    "bce of logits": (lambda x: F.binary_cross_entropy_with_logits(x, there(OTHERS)), ["bce_of_logits_slope", "divide", "multiply"]),
    "nll": (lambda x: F.nll_loss(x, classes()), ["divide", "at_class"]),
    "cross_entropy": (lambda x: F.cross_entropy(x, classes()), ["divide", "at_class", "log_softmax_grad"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BACKWARD)
def test_backward(name, launched):
    """But for the copy that makes a gradient the leaf's own."""
    function, expected = BACKWARD[name]
    x = there(NUMBERS).requires_grad_()
    out = function(x)
    seed = ag.ones_like(out.detach())
    launched.clear()
    out.backward(seed)
    assert [each for each in launched if each not in ("copy", "arange", "astype")] == expected


FORWARD = {
    "smooth_l1": (lambda x: F.smooth_l1_loss(x, there(OTHERS)), ["smooth_l1_of_elements", "sum", "divide"]),
    "huber": (lambda x: F.huber_loss(x, there(OTHERS)), ["huber_of_elements", "sum", "divide"]),
    "bce of logits": (lambda x: F.binary_cross_entropy_with_logits(x, there(OTHERS)), ["bce_of_logits", "sum", "divide"]),
    "hardsigmoid": (F.hardsigmoid, ["hardsigmoid"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARD)
def test_forward(name, launched):
    function, expected = FORWARD[name]
    function(there(NUMBERS))
    assert launched == expected


OPTIMIZERS = {
    "SGD": {}, "Adam": {}, "AdamW": {}, "Adagrad": {"weight_decay": 0.1}, "RMSprop": {}, "NAdam": {"maximize": True}, "RAdam": {}, "Adamax": {},
    "Adadelta": {}, "SGD with momentum": {"momentum": 0.9}, "Adam with amsgrad": {"amsgrad": True}, "RMSprop with momentum": {"momentum": 0.9},
    "RMSprop centered": {"centered": True}, "RMSprop centered with momentum": {"centered": True, "momentum": 0.9},
    "NAdam decoupled": {"decoupled_weight_decay": True, "weight_decay": 0.1}, "RAdam decoupled": {"decoupled_weight_decay": True, "weight_decay": 0.1},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_of_an_optimizer_is_one_kernel_a_parameter(name, launched):
    def steps(device):
        p = ag.tensor(NUMBERS, dtype=ag.float64, device=device, requires_grad=True)
        optimizer = getattr(ag.optim, name.split()[0])([p], lr=0.05, **OPTIMIZERS[name])
        for _ in range(8):  # the rule of RAdam is another one from the sixth on
            p.grad = p.detach() * 2
            launched.clear()
            optimizer.step()
        return p

    found = strict.host(steps("strict")._a)
    assert len(launched) == 1
    np.testing.assert_allclose(found, steps("cpu").detach().numpy(), rtol=1e-12)
    assert launched == []


def test_what_was_found_on_any_stream_is_waited_for_before_it_is_copied(monkeypatch):
    backend, done, to_host = strict.BACKEND, [], strict.BACKEND.to_host
    monkeypatch.setattr(backend, "summing", True)
    monkeypatch.setattr(backend, "synchronize", lambda index=None: done.append(("waits for", index)))
    monkeypatch.setattr(
        backend, "to_host", lambda array, blocking=True: done.append(("copies from", array.device.id)) or to_host(array)
    )
    words = []
    for index in (1, 0):
        with streams.Stream(backend, index=index):
            words.append(backend.ask(ag.ones(3, device=f"strict:{index}")._a))
    assert [found.total for found in backend.answers(words)] == [3.0, 3.0]
    assert done == [("waits for", 0), ("copies from", 0), ("waits for", 1), ("copies from", 1)]
