"""Every public class of ``nn``, ``optim`` and ``optim.lr_scheduler`` made with wrong arguments: the error is that of PyTorch.

So is the name in it, which Python takes from the function, and which is another where classes share one.
"""

import warnings

import pytest

import agdbg_engine
import agdbg_engine.optim.lr_scheduler

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

CALLS = {
    "()": ((), {}), "(_no=1)": ((), {"_no": 1}), "(*20)": ((1,) * 20, {}), "(1)": ((1,), {}), "('a')": (("a",), {}),
    "(None)": ((None,), {}), "('a', 2)": (("a", 2), {}), "(2, 'a')": ((2, "a"), {}), "(1, _no=1)": ((1,), {"_no": 1}),
    "(2, 3, _no=1)": ((2, 3), {"_no": 1}), "(2, 3, 1, 1)": ((2, 3, 1, 1), {}), "(2, 3.5)": ((2, 3.5), {}), "(-1)": ((-1,), {}),
    "(-1, 2)": ((-1, 2), {}), "(2, -2)": ((2, -2), {}), "(2, 2, 'a')": ((2, 2, "a"), {}),
}  # fmt: skip

_DEVICES = "PyTorch lists all kinds of devices that it knows"
_MADE = "PyTorch tells the name of an inner function that makes it"
KNOWN = {
    **{f"nn.{name}(2, 2, 'a')": _DEVICES for name in ("LazyLinear", "PReLU")},
    **{
        f"nn.Uninitialized{kind}{call}": why
        for kind in ("Buffer", "Parameter")
        for call, why in {"(2, 'a')": _DEVICES, "(1)": _MADE, "(-1)": _MADE, "('a')": _MADE, "(None)": _MADE}.items()
    },
    "nn.PReLU(2, 'a')": "PyTorch fills the weight with the number when it is made",
    "nn.PReLU(2, 3, 1, 1)": "PyTorch makes the weight before it is filled",
}
"""Calls whose errors differ, and why."""


def spaces(t):
    return {"nn": t.nn, "optim": t.optim, "optim.lr_scheduler": t.optim.lr_scheduler}


def said(cls, args, kwargs):
    try:
        made = cls(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0].replace("agdbg_engine", "torch")
    return "made", type(made).__name__


def different():
    """What both say, by call, where it is not the same."""
    mine, theirs = spaces(agdbg_engine), spaces(torch)
    found = {}
    for space, names in mine.items():
        for name in sorted(dir(names)):
            ours, reference = getattr(names, name), getattr(theirs[space], name, None)
            if not isinstance(ours, type) or not isinstance(reference, type):
                continue
            for call, (args, kwargs) in CALLS.items():
                pair = said(reference, args, kwargs), said(ours, args, kwargs)
                if pair[0] != pair[1]:
                    found[f"{space}.{name}{call}"] = pair
    return found


def test_wrong_arguments_of_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = different()
    unknown = [f"{call}\n  torch: {a}\n  here:  {b}" for call, (a, b) in found.items() if call not in KNOWN]
    assert not unknown, "\n".join(unknown)
    assert not KNOWN.keys() - found.keys(), "these are the same now"
