"""Where a loss uses a tensor that another graph shares with it, and how it is used there without its graph.

Needs: births and edges; the source of the lines that use it.
"""

import ast
from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import place
from agdbg.diagnose.meeting import Entry, Meeting
from agdbg.diagnose.naming import used_as
from agdbg.diagnose.source import assigned, operand_of
from agdbg.diagnose.syntax import name_of, unparse
from agdbg.diagnose.words import Lines, listed
from agdbg.record.facts import PassFact


@dataclass(frozen=True)
class Use:
    """A line that uses a tensor by a name."""

    name: str
    line: str

    @property
    def detached(self) -> str:
        """The words for the edit."""
        return f"`{self.name}.detach()` for `{self.name}` at {self.line}"


def cut_in(case: Case, meeting: Meeting, call: PassFact, lines: Lines) -> str:
    """``use `fake.detach()` for `fake` at line 8``, for all uses in the graph of a call; empty where one has no name of its own."""
    found = [_use(each, lines) for each in _entries(case, meeting, call)]
    uses = list(dict.fromkeys(each for each in found if each is not None))
    return f"use {listed((each.detached for each in uses), len(uses))}" if uses and None not in found else ""


def _entries(case: Case, meeting: Meeting, call: PassFact) -> list[Entry]:
    """Each edge of a call's own part of the graph to what both share."""
    walk, edges = case.walk, case.walk.edges
    reached = walk.below(walk.mask(root for root, _ in call.roots))
    entered = walk.mask(each.node.id for each in meeting.entries)
    own = reached & ~walk.below(entered)
    found: list[Entry] = []
    if not (own & walk.leaves).any():
        return found  # without it nothing would be left to train
    for edge in np.flatnonzero(own[edges.source] & entered[edges.target]).tolist():
        node, user = (case.facts.node(int(walk.ids[at[edge]])) for at in (edges.target, edges.source))
        if node is not None:
            found.append(Entry(node, user, int(edges.index[edge])))
    return found


def _use(entry: Entry, lines: Lines) -> Use | None:
    """How a line names what it uses; None unless that is a variable that stands there once, or stands for this tensor alone."""
    user, name = entry.consumer, used_as(entry)
    if user is None or not user.site.line:
        return None
    here = place(user.site)
    statement, mine = here.statement, assigned(entry.node.site)
    if statement is None or not here.known or statement.lineno != statement.end_lineno:
        return None
    if not name and mine and (user.site.file, user.site.func) == (entry.node.site.file, entry.node.site.func):
        given = operand_of(user.site, user, entry.index)
        read = given if given is not None else here.around[-1]
        name = mine if any(isinstance(each, ast.expr) and unparse(each) == mine for each in ast.walk(read)) else ""
    if not name or (isinstance(statement, ast.AugAssign) and name_of(statement.target) == name):
        return None
    return Use(name, lines(user.site))
