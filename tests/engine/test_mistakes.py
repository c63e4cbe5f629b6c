"""Mistakes that people make: sizes that do not fit, wrong dtypes, indices that are too large, options that there are not.

Every line of ``data/mistakes.txt`` is evaluated on PyTorch and on the engine: what it returns has the same size and dtype,
or the exceptions have the same type and the same first line.
"""

import os
import pathlib

import pytest
from agdbg_tests_differential import differences, outcome

import agdbg_engine
import agdbg_engine.nn.functional
import agdbg_engine.optim.lr_scheduler
import agdbg_engine.utils.data

LINES = pathlib.Path(__file__).with_name("data").joinpath("mistakes.txt").read_text().splitlines()
OF_A_DEVICE = "t.zeros(2).cuda(99)"


def seen(line, t):
    """Size and dtype of what ``line`` makes of the names of ``t``, or the type of it if it is no tensor."""

    def program(t):
        value = eval(line, {"t": t, "nn": t.nn, "F": t.nn.functional, "optim": t.optim})
        made = hasattr(value, "dtype") and hasattr(value, "shape")
        return [list(value.shape), str(value.dtype).removeprefix("torch.")] if made else type(value).__name__

    return outcome(program, t)


AT_ONCE = 1 if os.environ.get("AGDBG_TEST_DEFAULT") else 25
"""Lines of a test; one where some are left out (`on_device.py`)."""


@pytest.mark.parametrize(
    "lines", [LINES[i : i + AT_ONCE] for i in range(0, len(LINES), AT_ONCE)], ids=lambda lines: lines[0]
)
def test_mistake_is_told_as_pytorch_tells_it(lines):
    torch = pytest.importorskip("torch")
    if OF_A_DEVICE in lines and (torch.version.cuda or torch.version.hip):  # which says other words where there is none
        lines = [line for line in lines if line != OF_A_DEVICE]
    found = [f"{line}\n{d}" for line in lines for d in differences(seen(line, torch), seen(line, agdbg_engine))]
    assert not found, "\n".join(found)
