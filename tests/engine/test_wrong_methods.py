"""Every method of tensors called with wrong arguments: the error is that of PyTorch, and names what PyTorch names."""

import collections
import re
import warnings

import pytest

import agdbg_engine
from agdbg_engine.ops import METHODS, _generated

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

CALLS = ("", "_no=1", ",".join("1" * 20), "1", "1, _no=1", "'a'", "1, 1", "dims=0", "1, 1, 1", "None")

FRAME = "a method that may not cost a frame more: Python tells of its arguments"
COUNT = "Python tells of it, and counts the tensor itself"
DEVICES = "PyTorch lists all kinds of devices that it knows"
INNER = "PyTorch tells of an inner function"
KNOWN = {
    **dict.fromkeys((
        "add", "detach", "detach_", "dim", "div", "matmul", "mean", "mm", "mul", "numel", "pow", "reshape", "sub", "sum", "t", "transpose", "view",
        *(n for n, f in METHODS.items() if f is getattr(_generated, n, None)),
    ), FRAME),
    **dict.fromkeys(("as_subclass", "is_contiguous", "new", "numpy", "record_stream", "requires_grad_", "size", "stride", "type"), COUNT),
    **dict.fromkeys(("cuda", "is_pinned", "pin_memory", "to"), DEVICES),
    **dict.fromkeys(("istft", "lu", "norm", "stft", "unique", "unique_consecutive"), INNER),
    **dict.fromkeys(("add_", "sub_"), "PyTorch marks the types that do not fit with signs of exclamation"),
    "copy_": "PyTorch shows the form of it where it is given too few or too many",
    "new_tensor": "the data are looked at by NumPy",
    "nonzero": "PyTorch has two forms of it, one of which is hidden",
}  # fmt: skip
"""Methods of which some call says something else, and why."""


def said(code, t):
    try:
        eval(code, {"x": t.ones(2, 2)})
    except Exception as error:
        return type(error).__name__.removeprefix("_"), str(error).split("\n")[0].replace("agdbg_engine", "torch")
    return "done"


def different():
    found = collections.defaultdict(list)
    for name in sorted(dir(agdbg_engine.Tensor)):
        if name.startswith("_") or not callable(getattr(torch.Tensor, name, None)):
            continue
        for call in CALLS:
            code = f"x.{name}({call})"
            mine, theirs = said(code, agdbg_engine), said(code, torch)
            if mine != theirs and "is not supported" not in mine[1]:  # by the engine at all
                found[name].append(f"{code}\n  torch: {theirs}\n  here:  {mine}")
    return found


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return different()


def test_wrong_arguments_of_methods(found):
    unknown = [text for name, texts in found.items() if name not in KNOWN for text in texts]
    assert not unknown, "\n".join(unknown)
    assert not KNOWN.keys() - found.keys(), "these are the same now"


def test_no_error_names_a_class_of_the_engine(found):
    """Also those that say something else name the method, or ``Tensor`` and ``TensorBase``."""
    texts = [text.rpartition("here:")[2] for texts in found.values() for text in texts]
    assert {m[1] for text in texts if (m := re.search(r"(\w+)\.\w+\(\)", text))} <= {"Tensor", "TensorBase"}
