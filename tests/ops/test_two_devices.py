"""No op of PyTorch's list takes tensors of two devices: each says so in PyTorch's words."""

import pytest

pytest.importorskip("torch", reason="the samples are PyTorch's")

import agdbg_tests_strict_device as strict
import torch
from agdbg_tests_op_cases import quiet, samples
from agdbg_tests_op_checks import WITHOUT
from agdbg_tests_op_convert import tensor
from agdbg_tests_op_db import OPS, of_engine, present
from agdbg_tests_op_device import PLACE, DeviceCopier, on

import agdbg_engine as ag

SAID = (
    "same device", "same device type", "should be the same", "should be either on cpu", "to be on cpu", "Expected tensor to have"
)  # fmt: skip
"""What is in PyTorch's errors about tensors on two devices."""
DTYPES = torch.float64, torch.int64, torch.bool, torch.complex128


class MixedCopier(DeviceCopier):
    """Arguments of which one tensor, by its number, stays on the CPU; ``ndims`` has the dimensions of all."""

    def __init__(self, stays):
        super().__init__(PLACE)
        self.stays, self.ndims = stays, []

    def _tensor(self, value):
        self.ndims.append(value.ndim)
        made = tensor(value, ag)
        return made if len(self.ndims) - 1 == self.stays else on(self.device, made)


MAY_MIX = {
    **dict.fromkeys(("broadcast_tensors", "expand_as", "reshape_as", "view_as", "resize_as_"), "of the other its sizes are taken"),
    **dict.fromkeys(("narrow", "tensor_split", "index_put", "nn.functional.ctc_loss"), "positions and lengths may lie on the CPU, as in torch"),
    **dict.fromkeys(("diagonal_scatter", "select_scatter", "slice_scatter"), "what is copied to a part is moved first, as in torch"),
}  # fmt: skip
"""Ops of which an argument may lie on another device, and why."""


def mixes(name, sample):
    """What an op says of tensors of which one is on the CPU, for every one that is no number; ``None`` where it is computed."""
    many = MixedCopier(-1)
    for value in (sample.input, sample.args, sample.kwargs):
        many(value)
    for stays, ndim in enumerate(many.ndims if len(many.ndims) > 1 and max(many.ndims) else ()):
        if not ndim:
            continue
        copy = MixedCopier(stays)
        args, kwargs = [copy(sample.input), *map(copy, sample.args)], copy(sample.kwargs)
        if not any(n for i, n in enumerate(copy.ndims) if i != stays):
            continue
        try:
            with quiet(), strict.allowed_host_reads():
                of_engine(OPS[name])(*args, **kwargs)
            yield stays, None
        except Exception as error:  # whatever it is: the test says so
            yield stays, f"{type(error).__name__}: {error}".splitlines()[0]


def first_sample(name):
    """The first sample of an op, in the first of the dtypes that it takes."""
    taken = [d for d in DTYPES if d in OPS[name].dtypes]
    if not taken:
        pytest.skip("it is of no dtype on the CPU")
    with quiet():
        return samples(name, taken[0], False)[:1]


@pytest.mark.parametrize("name", [n for n in present() if (n, "device") not in WITHOUT])
def test_one_tensor_on_the_cpu(name):
    found = [each for sample in first_sample(name) for each in mixes(name, sample)]
    wrong = [
        f"tensor {at}: {text}"
        for at, text in found
        if (text is None and name not in MAY_MIX)
        or (text is not None and not (text.startswith("RuntimeError: ") and any(words in text for words in SAID)))
    ]
    strict.refusals.clear()
    assert not wrong
