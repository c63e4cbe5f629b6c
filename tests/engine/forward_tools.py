"""Helpers of the tests of forward mode: PyTorch ready for it, and what is seen of a dual tensor."""

import warnings

import pytest


def pytorch():
    """PyTorch with what its forward mode loads at first use (not without warnings), or a visible skip."""
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch._decomp import decompositions_for_jvp  # noqa: F401
    return torch


def tangent(t, x):
    """The tangent of ``x`` at the public level of namespace ``t``."""
    return t.autograd.forward_ad.unpack_dual(x).tangent


def dual_facts(t, x):
    """Facts of a tensor, and of its tangent what does not depend on how a formula is written down."""
    found = tangent(t, x)
    return [x, None if found is None else [found.detach(), strides(found)]]


def strides(x):
    """The strides that matter: of dimensions with more than one element, if there are elements at all."""
    return [s for n, s in zip(x.shape, x.stride(), strict=True) if n > 1] if x.numel() else []
