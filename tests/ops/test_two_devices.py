"""No op of PyTorch's list takes tensors of two devices: each says so in PyTorch's words."""

import agdbg_tests_op_db as op_db
import agdbg_tests_op_device as on_device
import agdbg_tests_strict_device as strict
import pytest

SAID = (
    "same device", "same device type", "should be the same", "should be either on cpu", "to be on cpu", "Expected tensor to have"
)  # fmt: skip
"""What is in PyTorch's errors about tensors on two devices."""


@pytest.mark.parametrize("name", [n for n in op_db.present() if n not in on_device.REFUSED])
def test_one_tensor_on_the_cpu(name):
    found = [each for case in list(on_device.cases(name))[:1] for each in on_device.mixes(case)]
    wrong = [
        f"tensor {at}: {text}"
        for at, text in found
        if (text is None and name not in on_device.MAY_MIX)
        or (text is not None and not (text.startswith("RuntimeError: ") and any(words in text for words in SAID)))
    ]
    strict.refusals.clear()
    assert not wrong
