"""What the nodes of PyTorch's list of ops show of what they saved: the names, and the values, are PyTorch's but for a table."""
# ruff: noqa: E402 - the helpers can be imported only where PyTorch is

import functools
import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

from agdbg_tests_known_fields import KNOWN
from agdbg_tests_op_cases import TURNED, Case, leaves_of, quiet, same_draws, samples, spread
from agdbg_tests_op_convert import Excluded
from agdbg_tests_op_db import OPS, present

import agdbg_engine as engine

MOST = 4
"""So many samples of an entry."""
WHOLE = ("nn.functional.max_pool3d",)
"""Entries of which every sample is looked at: a field that differs does so in few of them."""

PARTS = 8

NOT_COMPARED = TURNED | {
    "nn.functional.rrelu", "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.multi_head_attention_forward", "nn.functional.scaled_dot_product_attention", "native_dropout_backward",
    "svd_lowrank", "pca_lowrank", "linalg.eigvalsh", "linalg.eigvals", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d",
}  # fmt: skip
"""Ops whose result is unique up to signs, random, or made of other ops than PyTorch's."""

SLOW = ("nn.functional.max_unpool", "grid_sampler_3d")
"""Entries whose samples take seconds to make; their nodes are simple, or come elsewhere too."""

COUNTED = {"dim", "dims", "dim0", "dim1", "dim2", "start", "end", "index"}
"""What PyTorch shows as it was given, negative ones as unsigned numbers; the engine counts from the front."""


def fact(value):
    """A value that both libraries have in one form."""
    if isinstance(value, torch.Tensor | engine.Tensor):
        value = value.detach()
        array = np.asarray(value.resolve_conj().resolve_neg() if isinstance(value, torch.Tensor) else value)
        return "tensor", array.shape, str(array.dtype), array
    if isinstance(value, tuple | list):
        return tuple(map(fact, value))
    return value.item() if isinstance(value, np.generic) else value


def same(name, theirs, ours):
    """Whether two facts are the same."""
    if isinstance(theirs, tuple) and isinstance(ours, tuple):
        if theirs[:1] == ("tensor",) == ours[:1]:
            alike = theirs[1:3] == ours[1:3]
            return alike and np.allclose(theirs[3], ours[3], rtol=1e-3, atol=1e-4, equal_nan=True)
        return len(theirs) == len(ours) and all(map(functools.partial(same, name), theirs, ours))
    if name in COUNTED and type(theirs) is type(ours) is int and theirs >= 2**63:
        return True  # a negative one
    if isinstance(theirs, tuple) or isinstance(ours, tuple):
        return False
    return theirs == ours or (theirs != theirs and ours != ours)


def names(node):
    """The names of what a node shows."""
    return {n for n in dir(node) if n.startswith(("_saved_", "_raw_saved_"))}


def field(name):
    """``self`` of ``_saved_self`` and ``_raw_saved_self``."""
    return name.removeprefix("_raw").removeprefix("_saved_")


def differences(theirs, ours):
    """The fields of two nodes that differ; ``+field`` for one that the engine alone has."""
    mine, there = names(ours), names(theirs)
    yield from (f"+{field(n)}" for n in mine - there)
    for name in there:
        if name not in mine:
            yield field(name)
        elif not name.startswith("_raw"):
            a, b = fact(getattr(theirs, name)), fact(getattr(ours, name))
            if not same(field(name), a, b):
                yield field(name)


def pairs(theirs, ours):
    """The nodes of two graphs that stand in the same place under the same name."""
    waiting, seen = [(theirs, ours)], set()
    while waiting:
        t, o = waiting.pop()
        if t is None or o is None or t in seen or t.name() != o.name():
            continue
        seen.add(t)
        yield t, o
        if len(t.next_functions) == len(o.next_functions):
            waiting += [(a[0], b[0]) for a, b in zip(t.next_functions, o.next_functions, strict=True)]


def results(case):
    """The results of a sample in both libraries that have a history in both; none where one refuses."""
    try:
        made = []
        for library in (torch, engine):
            args, kwargs, _ = case.arguments(library)
            made.append(leaves_of(case.functions[library](*args, **kwargs)))
    except (Excluded, Exception):  # what is refused, or not, is compared elsewhere
        return []
    return [(t, o) for t, o in zip(*made, strict=False) if t.grad_fn is not None and o.grad_fn is not None]


@functools.cache
def found(part):
    """The differences in every ``PARTS``-th op of the list, with an op that shows each."""
    shown, ever = {}, set()
    for name in itertools.islice(present(), part, None, PARTS):
        if name in NOT_COMPARED or name.startswith(SLOW) or not OPS[name].supports_autograd:
            continue
        with quiet(), same_draws():
            every = samples(name, torch.float64, True)
            for sample in every if name in WHOLE else spread(every, MOST):
                for t, o in results(Case(name, OPS[name], sample)):
                    for a, b in pairs(t.grad_fn, o.grad_fn):
                        ever.add(b.op_name)
                        shown |= {f"{b.op_name}.{f}": name for f in differences(a, b)}
    return shown, ever


TABLE = {f for fields in KNOWN.values() for f in fields.split()}


@pytest.mark.parametrize("part", range(PARTS))
def test_nodes_show_what_pytorchs_show(part):
    shown, ever = found(part)
    assert {f: op for f, op in shown.items() if f not in TABLE} == {}
    assert len(ever) > 50


def test_every_exception_is_needed():
    shown = set().union(*(found(part)[0] for part in range(PARTS)))
    assert shown >= TABLE
