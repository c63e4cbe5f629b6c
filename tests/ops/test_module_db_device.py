"""Every module of PyTorch's list on the strict device, on the one that is not current: what it gives on the CPU, and nothing is read.

The functions that modules call are made of several ops each, and of arrays between them, which PyTorch's list of ops hardly reaches.
"""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest
import torch
from agdbg_tests_op_convert import Excluded
from agdbg_tests_op_device import PLACE, DeviceCopier
from torch.testing._internal.common_modules import module_db

import agdbg_engine as ag

pytestmark = pytest.mark.filterwarnings("ignore")  # of PyTorch's own samples


def class_of(info):
    """The engine's module of that name."""
    found = ag
    for part in info.name.split("."):
        found = getattr(found, part)
    return found


ALL = {info.name: info for info in module_db}
ELSEWHERE = {"nn.TransformerEncoder": "it is made of a module: `tests/engine/test_compositions_device.py`"}
RUNS = [(name, True) for name in ALL if name not in ELSEWHERE]
RUNS += [(name, False) for name, _ in RUNS if ALL[name].train_and_eval_differ]
DRAWS = ("Dropout", "RReLU", "FractionalMaxPool")
"""Parts of the names of modules that draw numbers, which are others on a device."""
READS = {
    "nn.BatchNorm1d": "momentum=None", "nn.BatchNorm2d": "momentum=None", "nn.BatchNorm3d": "momentum=None",
    "nn.AdaptiveLogSoftmaxWithLoss": "which targets are in which cluster", "nn.CTCLoss": "lengths", "nn.Embedding": "max_norm",
    "nn.Transformer": "a mask that nobody called causal",
}  # fmt: skip
"""Modules that may read for some of their arguments, as in PyTorch: see "Reads" in docs/gpu.md."""


class Arguments(DeviceCopier):
    """As for ops; modules among the arguments are left out."""

    def __call__(self, value):
        if isinstance(value, torch.nn.Module):
            raise Excluded("a module among the arguments")
        return super().__call__(value)


def leaves(value):
    if isinstance(value, ag.Tensor):
        return [value]
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list | tuple) else []


def computed(cls, sample, training, device):
    """Results, gradients of inputs and parameters, buffers."""
    ag.manual_seed(0)
    made = Arguments("cpu")
    module = cls(*made(sample.constructor_input.args), **made(sample.constructor_input.kwargs))
    module.to(device, ag.float64).train(training)
    given = Arguments(device)
    results = leaves(module(*given(sample.forward_input.args), **given(sample.forward_input.kwargs)))
    wanted = [x for x in results if x.requires_grad]
    if wanted:
        sum((x * x).sum() for x in wanted).backward()
    grads = [x.grad for x in [*given.leaves, *module.parameters()] if x.grad is not None]
    return results + grads + list(module.buffers())


def samples(info, training):
    options = {"device": "cpu", "dtype": torch.float64, "requires_grad": True, "training": training}
    return info.module_inputs_func(info, **options)


@pytest.mark.parametrize(("name", "training"), RUNS)
def test_as_on_the_cpu(name, training):
    cls = class_of(ALL[name])
    compared = 0
    for number, sample in enumerate(samples(ALL[name], training)):
        try:
            here = computed(cls, sample, training, "cpu")
        except (Excluded, NotImplementedError):
            continue
        strict.refusals.clear()
        reads = False
        try:
            there = computed(cls, sample, training, PLACE)
        except strict.HostRead:
            reads = True
            strict.refusals.clear()
            with strict.allowed_host_reads():
                there = computed(cls, sample, training, PLACE)
        assert not reads or name in READS, number
        assert not strict.refusals, number
        assert {x.device for x in there} <= {PLACE}, number
        if any(part in name for part in DRAWS) and training:
            continue
        compared += 1
        for x, y in zip(here, there, strict=True):
            np.testing.assert_allclose(strict.host(y._a), x._a, 1e-6, 1e-9, err_msg=f"sample {number}")
    assert compared or any(part in name for part in DRAWS)
