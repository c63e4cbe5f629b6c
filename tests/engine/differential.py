"""One program, run on PyTorch and on the engine: everything that can be seen of it must be the same.

A program is a function of the namespace, ``torch`` or ``agdbg_engine``. What it returns (tensors, nodes, numbers,
nested lists of them) is turned into plain facts; an exception that ends it is a fact too.
"""

import contextlib
import warnings
from dataclasses import dataclass

import numpy as np
import pytest


class Programs(list):
    """A table of programs: used as a decorator it adds one, under the name of the function."""

    def __call__(self, program):
        self.append(pytest.param(program, id=program.__name__))
        return program


def of_the_cpu(torch):
    """PyTorch, or a skip where it was built for GPUs: of one that is missing it then says other words than the engine."""
    if torch.version.cuda or torch.version.hip:
        pytest.skip("this PyTorch was built for GPUs, and says other words about one that is not there")
    return torch


@dataclass(frozen=True)
class Raised:
    """An exception by its type and the first line of its message."""

    kind: str
    first_line: str


class Numbers:
    """Values that are equal up to rounding; NaN equals NaN."""

    def __init__(self, array):
        self.array = np.array(array)
        self.close = {"rtol": 1e-5, "atol": 1e-6} if self.array.dtype.itemsize < 8 else {"rtol": 1e-10, "atol": 1e-12}

    def __eq__(self, other):
        return self.array.shape == other.array.shape and np.allclose(
            self.array, other.array, equal_nan=True, **self.close
        )

    def __repr__(self):
        return repr(self.array.tolist())


def same(program):
    """Assert that ``program`` does the same on both."""
    import torch

    import agdbg_engine

    found = list(differences(outcome(program, torch), outcome(program, agdbg_engine)))
    assert not found, "\n".join(found)


def differences(theirs, ours, path="result"):
    """Where the facts of the two differ, one line each."""
    if isinstance(theirs, list | dict) and type(theirs) is type(ours) and len(theirs) == len(ours):
        for key in theirs if isinstance(theirs, dict) else range(len(theirs)):
            yield from differences(theirs[key], ours[key], f"{path}[{key!r}]")
    elif type(theirs) is not type(ours) or theirs != ours:
        yield f"{path}:\n   torch  {theirs!r}\n   engine {ours!r}"


def outcome(program, t):
    """What is seen of ``program`` on ``t``."""
    with warnings.catch_warnings(), t.enable_grad():
        warnings.simplefilter("ignore")
        try:
            return facts(program(t))
        except NameError:  # of the program itself: it would fail alike on both
            raise
        except Exception as error:
            return raised(error)


def raised(error):
    return Raised(type(error).__name__, str(error).partition("\n")[0])


def error_of(function, *args, **kwargs):
    """The exception of a call that is expected to fail; the string 'nothing' when it does not."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        return raised(error)
    return "nothing"


def facts(value):
    """``value`` without any trace of where it comes from."""
    if isinstance(value, list | tuple):
        return [facts(v) for v in value]
    if isinstance(value, dict):
        return {k: facts(v) for k, v in value.items()}
    if isinstance(value, float):
        return Numbers(value)
    if hasattr(value, "grad_fn"):
        return tensor_facts(value)
    return value.name() if hasattr(value, "next_functions") else value


def tensor_facts(x):
    return {
        "values": Numbers(x.detach().numpy()),
        "dtype": str(x.dtype).removeprefix("torch."),
        "requires_grad": x.requires_grad,
        "is_leaf": x.is_leaf,
        "grad_fn": name_of(x.grad_fn),
        "output_nr": x.output_nr,
        "is_view": x._is_view(),
    }


def unnamed(x):
    """The facts of a recorded gradient without its grad_fn, which depends on how a formula is written down."""
    seen = tensor_facts(x)
    seen["grad_fn"] = seen["grad_fn"] is not None
    return seen


def essence(tree):
    """Values, dtype and requires_grad of the tensors in nested tuples, lists and dicts: where the way to them may differ."""
    if isinstance(tree, tuple | list):
        return [essence(x) for x in tree]
    if isinstance(tree, dict):
        return {k: essence(x) for k, x in tree.items()}
    if not hasattr(tree, "grad_fn"):
        return tree
    seen = tensor_facts(tree)
    return {k: seen[k] for k in ("values", "dtype", "requires_grad")}


def versions(*tensors):
    return [x._version for x in tensors]


def name_of(node):
    return None if node is None else node.name()


def leaf(t, *values, dtype=None):
    """A one-dimensional float leaf that requires grad."""
    return t.tensor(list(values), dtype=dtype or t.float64, requires_grad=True)


def nodes_below(*roots):
    """The nodes reachable from the roots' grad_fn, depth first along the edges."""
    found, stack = [], [r.grad_fn for r in reversed(roots)]
    while stack:
        node = stack.pop()
        if node is not None and node not in found:
            found.append(node)
            stack.extend(n for n, _ in reversed(node.next_functions))
    return found


def graph_of(*roots):
    """The graph below the roots: for every node its name and (producer, output number) by input that needs a gradient.

    PyTorch makes numbers among the operands into tensors, which are inputs without a producer; they are left out.
    """
    nodes = nodes_below(*roots)
    number = {n: i for i, n in enumerate(nodes)}
    return [[n.name(), [(number[p], nr) for p, nr in n.next_functions if p is not None]] for n in nodes]


def running_order(*roots):
    """A list that fills with the nodes below the roots as they run: name and number in depth-first order."""
    log = []
    for i, node in enumerate(nodes_below(*roots)):
        node.register_hook(lambda *_, said=f"{node.name()} {i}": log.append(said))
    return log


@contextlib.contextmanager
def logged_warnings():
    """A list that holds the warnings of the block afterwards: category and first line."""
    said = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said.extend(f"{w.category.__name__}: {str(w.message).partition(chr(10))[0]}" for w in caught)
