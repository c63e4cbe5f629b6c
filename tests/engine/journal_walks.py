"""Backward passes that tests of the journal start by hand and walk through to and fro."""

import agdbg_engine as ag
from agdbg_engine.backward import BackwardPass, Capture
from agdbg_engine.journal import Journal
from agdbg_engine.node import edge
from agdbg_engine.sites import caller

MANY = 4
"""A move of several nodes at once."""


def started(loss, *, retain_graph=False, create_graph=False, inputs=None):
    bp = BackwardPass("backward", retain_graph, create_graph, *caller())
    seed = ag.ones_like(loss)
    captures = None if inputs is None else [Capture(edge(t), t._nr) for t in inputs]
    bp.start([(edge(loss), loss._nr, seed if create_graph else seed._a)], captures)
    return bp


def walk(bp, moves):
    """Step and undo as ``moves`` say, then run to the end; several at once now and then, and part by part of each node."""
    journal, parts = Journal(bp), []
    for move in moves:
        if move == MANY:
            journal.advance(MANY, parts.append)
            continue
        for _ in range(abs(move)):
            if move > 0 and bp.position < len(bp.order):
                journal.step(None if move == 1 else lambda node: bp.run_in_parts(node, parts.append))
            elif move < 0 and len(journal):
                journal.undo(force=True)
    while bp.position < len(bp.order):
        journal.step()
    bp.finish(None)
