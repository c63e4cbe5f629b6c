"""Memory that the host does not have: PyTorch's error, followed by what graphs hold. No machine has 256 TiB to give to one program."""

import re

import numpy as np
import pytest

import agdbg_engine as ag

MANY = 1 << 46
CALLS = {
    "ones": lambda t: t.ones(MANY), "empty": lambda t: t.empty(2, MANY, dtype=t.float64), "full": lambda t: t.full((MANY,), 1.0), "arange": lambda t: t.arange(MANY),
    "like": lambda t: t.ones_like(t.ones(1).expand(MANY)), "new": lambda t: t.ones(1).new_zeros(MANY), "mul": lambda t: t.ones(1).expand(MANY) * 2,
    "recorded": lambda t: t.ones(1, requires_grad=True).expand(MANY).exp(), "mm": lambda t: t.ones(1 << 23, 1) @ t.ones(1, 1 << 23), "clone": lambda t: t.ones(1).expand(MANY).clone(),
    "cast": lambda t: t.ones(1).expand(MANY).double(), "cat": lambda t: t.cat([t.ones(1).expand(MANY)] * 2), "repeat": lambda t: t.ones(4).repeat(MANY),
    "too big": lambda t: t.zeros(1 << 62), "too big together": lambda t: t.ones(1 << 62, 4),
}  # fmt: skip


def told(error):
    """The first line without the place in PyTorch's sources."""
    return re.sub(r"^\[enforce fail at .*?\] err == 0\. ", "", str(error).splitlines()[0])


@pytest.mark.parametrize("name", CALLS)
def test_told_as_by_pytorch(name):
    torch = pytest.importorskip("torch", reason="PyTorch is the yardstick, and may be missing")
    with pytest.raises(RuntimeError) as expected:
        CALLS[name](torch)
    with pytest.raises(RuntimeError) as found:
        CALLS[name](ag)
    assert told(found.value) == told(expected.value)


def test_what_graphs_hold_is_told():
    x = ag.ones(50, requires_grad=True)
    y = x.exp()
    with pytest.raises(RuntimeError, match="you tried to allocate 281474976710656 bytes") as found:
        ag.ones(MANY)
    assert found.value.details.kind == "out-of-memory"
    assert re.search(
        r"\n  graphs hold .* of saved tensors; the largest:\n(.*\n)*.*ExpBackward0 saved 'result'", str(found.value)
    )
    assert y.requires_grad


def test_in_a_pass():
    x = ag.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: (grad.expand(MANY) * 2).sum())
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator: can't allocate memory"):
        y.backward()


def test_what_a_program_asks_numpy_for_is_its_own():
    x = ag.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: np.ones(MANY))
    with pytest.raises(MemoryError, match="Unable to allocate"):
        y.backward()
