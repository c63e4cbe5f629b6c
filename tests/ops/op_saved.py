"""What the nodes of a sample show of what they saved, ``grad_fn._saved_self`` and the like: names and values as PyTorch's."""

import functools

import numpy as np
import torch
from agdbg_tests_op_cases import TURNED, Skip, attempt, leaves_of, settled

import agdbg_engine as engine

NOT_COMPARED = TURNED | {
    "nn.functional.rrelu", "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.multi_head_attention_forward", "nn.functional.scaled_dot_product_attention", "native_dropout_backward",
    "svd_lowrank", "pca_lowrank", "linalg.eigvalsh", "linalg.eigvals", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d",
}  # fmt: skip
"""Ops whose result is unique up to signs, random, or made of other ops than PyTorch's."""

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


def fields(theirs, ours):
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


def saved(case):
    """The fields of all nodes behind the results that differ, each as ``Node.field``."""
    if case.name in NOT_COMPARED:
        raise Skip("the result is unique up to signs, random, or made of other ops than PyTorch's")
    theirs, ours = (attempt(_results, case, library) for library in (torch, engine))
    settled(theirs, ours)
    graphs = [(t.grad_fn, o.grad_fn) for t, o in zip(theirs, ours, strict=True)]
    yield from sorted({f"{b.op_name}.{name}" for graph in graphs for a, b in pairs(*graph) for name in fields(a, b)})


def _results(case, library):
    args, kwargs, _ = case.arguments(library)
    return leaves_of(case.functions[library](*args, **kwargs))
