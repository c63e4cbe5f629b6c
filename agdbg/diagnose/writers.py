"""Who wrote to a storage since a version, and what to do about each kind of writer."""

import ast
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from agdbg.diagnose.case import Case
from agdbg.diagnose.history import is_step
from agdbg.diagnose.source import call_text, called, is_call_of
from agdbg.diagnose.syntax import read
from agdbg.diagnose.words import count, listed
from agdbg.diagnose.writes import Write, write
from agdbg.events import Kind, Provenance, provenance_of, thread_of
from agdbg.record.facts import BumpFact
from agdbg.record.lookup import Site

Manner = Literal[
    "step", "gradient", "zeroed", "loaded", "no_grad", "augmented", "index", "method", "inplace", "out", "unknown"
]

#: What clears a gradient.
_ZEROING = ("", "zero_", "_foreach_zero_")


@dataclass(frozen=True)
class Writer:
    """Successive writes on one line.

    Attributes:
        bumps: the writes.
        manner: what kind of writer it is: by what it is for if that is known, else by the form of the line.
        write: how the line reads.
    """

    bumps: tuple[BumpFact, ...]
    manner: Manner
    write: Write

    @property
    def first(self) -> BumpFact:
        """The first of the writes."""
        return self.bumps[0]

    @property
    def site(self) -> Site:
        """The line."""
        return self.first.site

    @property
    def op(self) -> str:
        """The name of the first write's op."""
        return self.first.op.name.removeprefix("aten::")

    @property
    def words(self) -> str:
        """What wrote: the source, be it a function whose inner writes these are, or the op."""
        if self.manner == "step":
            return f"the optimizer step ({self.op})" if self.op.endswith(".step") else "the optimizer step"
        inner = self.manner in ("loaded", "no_grad")  # else the op is one of the model's, and what must be another one
        function = _function(self.site) if inner else ""
        return f"`{self.write.text or function or self.op or 'a write'}`"

    @property
    def note(self) -> str:
        """The versions, for the evidence."""
        ops = dict.fromkeys(bump.op.name or "an op without a name" for bump in self.bumps)
        versions = f"version {self.first.old} to {self.bumps[-1].new}, by {listed(ops)}"
        return versions if len(self.bumps) == 1 else f"{versions}, in {count(len(self.bumps), 'write')}"


def writes_between(case: Case, storage: int, expected: int, current: int, before: int) -> list[BumpFact]:
    """The recorded writes that took a storage from the expected to the current version, before a row."""
    bumps = case.facts.bumps(storage) if storage else []
    return [bump for bump in bumps if bump.new > expected and bump.old < current and bump.row < before]


def writers(case: Case, bumps: list[BumpFact]) -> list[Writer]:
    """The writes by line, in trace order."""
    groups = groupby(bumps, key=lambda bump: (bump.site.file, bump.site.line) if bump.site.line else bump.row)
    return [_writer(case, tuple(group)) for _, group in groups]


def _writer(case: Case, bumps: tuple[BumpFact, ...]) -> Writer:
    form = write(bumps[0].site)
    return Writer(bumps, _manner(case, bumps[0], form), form)


def _manner(case: Case, bump: BumpFact, written: Write) -> Manner:
    if is_step(bump.op, bump.site):
        return "step"
    if bump.op.name.endswith("AccumulateGrad"):
        return "gradient"
    if bump.op.name.removeprefix("aten::") in _ZEROING and is_call_of(bump.site, "zero_grad"):
        return "zeroed"
    if is_call_of(bump.site, "load_state_dict"):
        return "loaded"
    return "no_grad" if without_gradient(case, bump.row) else written.form


def _function(site: Site) -> str:
    """The call that stands at a site, as ``model.load_state_dict(state)``; without long arguments, empty where none is known."""
    reading = read(site)
    made = reading.found if reading is not None else None
    return call_text(site, called(made)) if isinstance(made, ast.Call) and called(made) else ""


def without_gradient(case: Case, row: int) -> bool:
    """Whether gradients were switched off, in the thread of a record, when it was written."""
    return disabled_at(case, row) is not None


def disabled_at(case: Case, row: int) -> Site | None:
    """The line that had switched gradients off for a record's thread; None when they were on, or not told."""
    facts = case.facts
    rows = facts.rows(Kind.GRAD_MODE)
    rows = rows[rows < row]
    thread = thread_of(facts.words(row)[0])
    mine = rows[facts.trace.records[rows, 0] >> 32 == thread]
    if not len(mine):
        return None
    site, op = facts.site_and_op(facts.words(int(mine[-1]))[2])
    return site if op.name == "disabled" else None


def missing(bumps: list[BumpFact], expected: int, current: int) -> int:
    """How many of the versions after ``expected`` no recorded write accounts for."""
    told, reached = 0, expected
    for old, new in sorted((max(bump.old, expected), min(bump.new, current)) for bump in bumps):
        told += max(new - max(old, reached), 0)
        reached = max(reached, new)
    return max(current - expected, 0) - told


def observed(case: Case, bumps: list[BumpFact]) -> bool:
    """Whether every one of these writes was seen, and none inferred."""
    return all(provenance_of(case.facts.words(bump.row)[0]) == Provenance.OBSERVED for bump in bumps)
