"""One op, one sample: called in both libraries, and a report of what came out of all the samples of a check."""

import collections
import contextlib
import functools
import itertools
import random
import traceback
import warnings
import zlib
from dataclasses import dataclass, field

import numpy as np
import torch
from agdbg_tests_op_convert import Copier, Excluded, described
from agdbg_tests_op_db import OPS, bound, of_engine, of_torch

import agdbg_engine as engine

ALL = 10_000
"""More samples than any entry has."""

UNWRITTEN = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
"""Ops whose result is whatever was in memory."""

TURNED = {"svd", "linalg.svd", "linalg.eigh", "linalg.eig", "svd_lowrank", "pca_lowrank"}
"""Ops whose result is unique up to signs or phases: there the sample's own function says what of it can be compared."""


@dataclass(frozen=True)
class Failure:
    """One difference that a sample showed; ``detail`` is the traceback of an engine's exception."""

    sample: str
    text: str
    detail: str = ""

    def __str__(self):
        return f"{self.sample}\n   {self.text}"


@dataclass
class Report:
    """What a check of an op gave."""

    op: str
    check: str
    ran: int = 0
    failures: list = field(default_factory=list)
    lacking: list = field(default_factory=list)
    skipped: collections.Counter = field(default_factory=collections.Counter)
    remarks: list = field(default_factory=list)


class Raised:
    """An exception in place of a result."""

    def __init__(self, error):
        self.error = error
        self.kind = type(error).__name__
        self.first_line = str(error).partition("\n")[0]
        last = traceback.extract_tb(error.__traceback__)[-5:]
        self.trace = "".join(traceback.format_list(last))

    def __repr__(self):
        return f"{self.kind}: {self.first_line}"


class NotCopied(Exception):
    """The arguments of a sample could not be made: the helpers must learn to."""


class Skip(Exception):
    """The sample tells nothing in this check; the text says why."""


class Lacking(Exception):
    """The engine has no such form of the op."""


@dataclass
class Case:
    """A sample of an op, with the functions of both libraries."""

    name: str
    op: object
    sample: object

    @functools.cached_property
    def text(self):
        return described(self.sample)

    @functools.cached_property
    def functions(self):
        return {torch: of_torch(self.op.op), engine: of_engine(self.op)}

    def arguments(self, library, leaf=None, twisted=False):
        """Arguments made anew: the list of the positional ones, the others, and the leaves."""
        copy = Copier(library, leaf, twisted)
        try:
            return [copy(self.sample.input), *map(copy, self.sample.args)], copy(self.sample.kwargs), copy.leaves
        except Excluded:
            raise
        except Exception as error:  # must not look like a refusal by the op
            raise NotCopied(f"{library.__name__}: {error!r}") from error

    def wrapped(self, library):
        """The op as its gradients are to be taken: symmetric input, say, and of the results what is unique."""
        function, process = self.functions[library], bound(self.sample.output_process_fn_grad, library)
        wrapper = self.op.gradcheck_wrapper
        name = getattr(wrapper, "__name__", "")
        plain = (
            "masked" in name or "set_seed" in name
        )  # one works on PyTorch's tensors only, one hides that numbers are drawn
        around = None if plain else bound(wrapper, library)

        def run(*args, **kwargs):
            return process(function(*args, **kwargs) if plain else around(function, *args, **kwargs))

        return run

    def rng(self):
        """Numbers for cotangents and tangents, the same ones in both libraries."""
        return np.random.default_rng(zlib.crc32(f"{self.name}{self.text}".encode()))


def attempt(function, *args, **kwargs):
    """The result, or :class:`Raised`."""
    try:
        return function(*args, **kwargs)
    except (Excluded, NotCopied, Skip):
        raise
    except Exception as error:
        return Raised(error)


def drawn(function):
    """The result of a function of PyTorch and whether it drew random numbers."""
    before = torch.get_rng_state()
    result = function()
    return result, not torch.equal(before, torch.get_rng_state())


def settled(theirs, ours):
    """Both as they are if neither failed; else a line if only the engine did, a skip if PyTorch refuses the sample."""
    if isinstance(theirs, Raised):
        raise Skip(f"torch refuses: {theirs.kind}")
    if isinstance(ours, Raised):
        raise EngineRaised(ours)


class EngineRaised(Exception):
    """The engine refuses what PyTorch computes."""


def leaves_of(tree):
    """The tensors in nested tuples, lists and dicts."""
    if isinstance(tree, torch.Tensor | engine.Tensor):
        return [tree]
    if isinstance(tree, tuple | list):
        return [x for item in tree for x in leaves_of(item)]
    return [x for item in tree.values() for x in leaves_of(item)] if isinstance(tree, dict) else []


@functools.lru_cache(maxsize=32)
def samples(name, dtype, requires_grad):
    """The samples of an entry, the same in every run."""
    op = OPS[name]
    with seeded(name):  # the function itself: op.sample_inputs looks at the stack and seeds anew for every sample
        return list(itertools.islice(op.sample_inputs_func(op, "cpu", dtype, requires_grad), ALL))


@contextlib.contextmanager
def seeded(name):
    """Seeds that depend on the name alone; the generators are afterwards as they were before."""
    seed = zlib.crc32(name.encode())
    before = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]), quiet():
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        yield
    random.setstate(before[0])
    np.random.set_state(before[1])


@contextlib.contextmanager
def same_draws():
    """PyTorch's generator is afterwards where it was before (``fork_rng`` asks for other devices too, which takes longer)."""
    before = torch.default_generator.get_state()
    try:
        yield
    finally:
        torch.default_generator.set_state(before)


def spread(items, most):
    """At most so many of the items, evenly over all of them."""
    if len(items) <= most:
        return items
    return [items[i * (len(items) - 1) // max(most - 1, 1)] for i in range(most)]


@contextlib.contextmanager
def quiet():
    """Without warnings: what both warn of is checked elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def run(report, cases, check):
    """Run a check on the cases: what it yields are differences."""
    for case in cases:
        lines, detail = [], ""
        try:
            with quiet(), same_draws():
                lines = list(check(case))
        except (Excluded, Skip) as reason:
            report.skipped[str(reason)] += 1
            continue
        except EngineRaised as error:
            (raised,) = error.args
            lines, detail = [f"engine raises {raised!r}"], raised.trace
        except (NotCopied, Lacking):
            raise
        except Exception as error:  # a result that cannot even be looked at
            raised = Raised(error)
            lines, detail = [f"the comparison fails with {raised!r}"], raised.trace
        report.ran += 1
        report.failures += [Failure(case.text, line, detail) for line in lines]
    return report
