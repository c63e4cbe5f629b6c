"""A tensor of PyTorch among the arguments of an op: one line that says so, whichever argument it is and whichever side is asked."""

import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

import torch
from agdbg_tests_op_cases import leaves_of, quiet, samples, spread
from agdbg_tests_op_convert import Copier, Excluded
from agdbg_tests_op_db import OPS, dotted, method_of_engine, of_engine, present

import agdbg_engine as engine

MOST = 2
TAKEN = {
    "bucketize": "values, read as numbers", "isin": "values, read as numbers", "linalg.pinv": "a tolerance, read as a number",
    "narrow": "a number", "tensor_split": "numbers", "resolve_neg": "given back",
}  # fmt: skip
"""What is done with a tensor of PyTorch where it is taken, and harms nothing."""


def left(tree, at, seen):
    """``tree`` with all tensors converted but the one numbered ``at``, or -1 for all; ``seen`` counts them."""
    if isinstance(tree, torch.Tensor):
        seen.append(tree)
        return tree if at in (len(seen) - 1, -1) else Copier(engine)(tree)
    if isinstance(tree, list | tuple):
        made = [left(v, at, seen) for v in tree]
        return made if isinstance(tree, list) else tuple(made)
    if isinstance(tree, dict):
        return {k: left(v, at, seen) for k, v in tree.items()}
    return Copier(engine)(tree)


def forms(op, of_input):
    """The function, and the methods where it is not their own tensor that is of PyTorch."""
    made = [of_engine(op)] if dotted(torch, op.name) is not None or not of_input else []
    for variant in (op.method_variant, op.inplace_variant):
        made += [method_of_engine(op, variant)] if variant is not None and not of_input else []
    return [f for f in made if f is not None and getattr(f, "__module__", "").startswith("agdbg_engine")]


def wrong(name):
    op, told = OPS[name], []
    dtype = next((d for d in (torch.float32, torch.int64, torch.complex64, torch.bool) if d in op.dtypes), None)
    if dtype is None:
        return []
    for sample in spread(samples(name, dtype, False), MOST):
        call = (sample.input, *sample.args)
        count: list = []
        try:
            left((call, sample.kwargs), None, count)
        except Excluded:
            continue
        own = len(leaves_of(sample.input))
        for at in range(-1 if len(count) > 1 else 0, len(count)):
            for function in forms(op, at < own):
                args, kwargs = left((call, sample.kwargs), at, [])
                try:
                    with quiet():
                        function(*args, **kwargs)
                except Exception as error:
                    if "PyTorch" not in str(error) or "\n" in str(error):
                        told.append(f"{function} tensor {at}: {type(error).__name__}: {error}")
                else:
                    if name in TAKEN:
                        continue
                    told.append(f"{function} tensor {at}: taken")
    return told


@pytest.mark.parametrize("name", present())
def test_is_refused_in_one_line(name):
    assert not wrong(name)
