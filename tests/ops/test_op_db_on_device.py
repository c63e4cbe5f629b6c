"""Every op of PyTorch's list on the strict device: value and gradient as on the CPU, nothing read that was not asked for."""

import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

import agdbg_tests_op_device as on_device
import agdbg_tests_strict_device as strict
from agdbg_tests_op_db import present

from agdbg_engine.ops.host_only import HOST_ONLY

PRESENT = present()


@pytest.mark.parametrize("name", [n for n in PRESENT if n not in on_device.REFUSED])
def test_as_on_the_cpu(name):
    found = [(case.text, lines) for case in on_device.cases(name) if (lines := on_device.differences(case)) is not None]
    if not found:
        pytest.skip("the engine computes no sample of it on the CPU")
    wrong = [f"{sample}: {line}" for sample, lines in found for line in lines]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", sorted(on_device.REFUSED))
def test_refused_with_a_reason(name):
    """Some sample of each is refused, and in words that name the op, the device and the reason."""
    found = []
    for case in on_device.cases(name):
        try:
            on_device.computed(case, on_device.PLACE)
        except NotImplementedError as error:
            found.append(str(error))
    assert found
    assert all(f" is not implemented on device {on_device.PLACE}: " in text for text in found)
    assert any(reason in found[0] for reason in HOST_ONLY.values())


@pytest.mark.parametrize("name", sorted(on_device.HOST_READS))
def test_reads_only_where_it_must(name):
    """An op that is allowed to read does so for some sample: else it has no place in the table."""
    strict.refusals.clear()
    for case in on_device.cases(name):
        try:
            with on_device.quiet():
                on_device.computed(case, on_device.PLACE)
        except Exception:
            continue
    assert any("HostRead" in text for text in strict.refusals)
