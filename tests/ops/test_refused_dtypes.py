"""Every op of PyTorch's list with the dtypes that it is not there for: an error of the same type and words, and never a result."""

import fnmatch
import itertools
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")  # the reference

from agdbg_tests_op_cases import Case, Raised, attempt, leaves_of, quiet, same_draws, seeded  # noqa: E402 - as above
from agdbg_tests_op_convert import Excluded  # noqa: E402 - as above
from agdbg_tests_op_db import OPS, present  # noqa: E402 - as above

import agdbg_engine as engine  # noqa: E402 - after the skip

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
DTYPES = [getattr(torch, n) for n in NAMES if isinstance(getattr(engine, n, None), np.dtype)]
MADE_OF = (torch.float32, torch.complex64, torch.int64, torch.float64, torch.uint8)
"""Where PyTorch's list makes no samples of a dtype they are cast from those of the first of these that the op takes."""
FIRST = 2
"""Samples of each op and dtype: building them takes most of the time."""
GROUPS = 8
"""The list is cut into so many tests."""

_IINFO = "PyTorch fails as it looks for the smallest of the numbers; here the op is refused by its name, or there"
_CHOSEN = "which of its kernels PyTorch asks, and so names, depends on the size and the order of memory"
_PARTS = "PyTorch looks for the dtype to add up its parts in; here nothing is computed in parts"
_LATER = "the same refusal, of another step"
_FRACTION = "PyTorch's complex loss is no real number, and has no gradient"
KNOWN = [
    ("masked.*", r"torch\.iinfo\(\) requires an integer", _IINFO),
    ("masked.logaddexp", "identity of logaddexp on torch.bool", _LATER),
    ("nn.functional.interpolate* nn.functional.upsample*", "_channels_last", _CHOSEN),
    ("nn.functional.max_pool2d nn.functional.max_unpool2d*", "_channels_last", _CHOSEN),
    ("nn.functional.conv3d", "slow_conv3d_cpu", _CHOSEN),
    ("nn.functional.bilinear", '"bmm" not implemented', _LATER),
    ("nn.functional.linear_cross_entropy*", "acc_dtype must be one of", _PARTS),
    ("nn.functional.hinge_embedding_loss", "without overflow", "PyTorch refuses a negative margin of unsigned integers, which wrap around"),
    ("nn.functional.soft_margin_loss", "the engine .*Complex", _FRACTION),
    ("gradient", "Negation", _LATER),
    ("polar", "complex32", "NumPy has no complex numbers of 32 bits: the error says so"),
    ("stft", "MKL FFT", _LATER),
    ("tensordot", "bool: torch computes", "PyTorch's product of a row and a column has a kernel of its own for bools"),
]  # fmt: skip
"""Ops, what is in the text of a difference, and why it may stay."""


def first_samples(op, name, dtype):
    """The first samples in ``dtype``, some of which PyTorch's list cannot make itself."""
    with seeded(name):
        try:
            found = list(itertools.islice(op.sample_inputs_func(op, "cpu", dtype, False), FIRST))
        except Exception:  # an op that draws or prepares them is itself not there for the dtype
            found = []
        if found:
            return found
        like = next(d for d in MADE_OF if op.supports_dtype(d, "cpu"))
        made = itertools.islice(op.sample_inputs_func(op, "cpu", like, False), FIRST)
        return [s.transform(lambda x: _cast(x, like, dtype)) for s in made]


def _cast(x, like, dtype):
    if isinstance(x, torch.Tensor):
        return x.to(dtype) if x.dtype is like else x
    return dtype if x is like else x


def called(case, library):
    """The result, or what was raised."""
    args, kwargs, _ = case.arguments(library)
    with library.no_grad():
        return attempt(case.functions[library], *args, **kwargs)


def some_elements(case, result):
    """Whether there is more than one element in a sample and any in the ``result``: of fewer PyTorch seldom asks its kernels."""
    x = case.sample.input
    return not (isinstance(x, torch.Tensor) and (not x.dim() or x.numel() < 2)) and any(
        t.numel() for t in leaves_of(result)
    )


def differences(name):
    """Lines about an op, one for each sample that the libraries do not treat in the same way."""
    op = OPS[name]
    for dtype in DTYPES:
        if op.supports_dtype(dtype, "cpu"):
            continue
        for sample in first_samples(op, name, dtype):
            case = Case(name, op, sample)
            try:
                with quiet(), same_draws():
                    theirs, ours = called(case, torch), called(case, engine)
            except Excluded:
                continue
            if isinstance(theirs, Raised):
                same = isinstance(ours, Raised) and (theirs.kind, theirs.first_line) == (ours.kind, ours.first_line)
            else:
                same = not isinstance(ours, Raised) or not some_elements(case, theirs)
            if not same:
                told = (repr(x) if isinstance(x, Raised) else "computes" for x in (theirs, ours))
                yield "{}: torch {}, the engine {}".format(str(dtype)[6:], *told) + f"\n    {case.text}"


def known(name, found):
    """Why a difference may be."""
    return any(
        any(fnmatch.fnmatchcase(name, pattern) for pattern in ops.split()) and re.search(text, found)
        for ops, text, _ in KNOWN
    )


@pytest.mark.parametrize("group", range(GROUPS))
def test_refused_as_in_torch(group):
    told = [
        f"{name} {found}" for name in present()[group::GROUPS] for found in differences(name) if not known(name, found)
    ]
    assert not told, f"{len(told)}:\n" + "\n".join(told[:20])
