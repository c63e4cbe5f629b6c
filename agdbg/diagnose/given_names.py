"""What a leaf is called where it has no name of its own: on the line that gave it to an optimizer, or that used it first.

Needs: OPTIMIZER, CUT, edges; the source.
"""

import ast

from agdbg.diagnose.case import Case
from agdbg.diagnose.leaf_fates import LeafFate
from agdbg.diagnose.rewrapped import taken_from
from agdbg.diagnose.source import calls
from agdbg.diagnose.spoiled import leaf_words
from agdbg.diagnose.syntax import name_of


def given_name(case: Case, storage: int) -> str:
    """The name in the list that the optimizer was built with, ``b`` of ``SGD([a, b])``; empty when the line does not tell."""
    built = [each for each in case.facts.optimized if each.when == "built"]
    mine = next((each for each in built if each.storage == storage), None)
    if mine is None:
        return ""
    together = [each.storage for each in built if each.number == mine.number and each.site == mine.site]
    for made in calls(mine.site):
        given = made.args[0] if made.args else None
        if isinstance(given, ast.List | ast.Tuple) and len(given.elts) == len(together):
            return name_of(given.elts[together.index(storage)])
    return ""


def leaf_name(case: Case, fate: LeafFate) -> str:
    """What a leaf is called: its name, or the variable by which it was first used; empty when that is not known."""
    if fate.leaf.name:
        return f"`{fate.leaf.name}`"
    if fate.leaf.places:
        return leaf_words(case, fate.leaf.places[0])
    given = given_name(case, fate.leaf.storage) or (taken_from(fate.cut.site) if fate.cut is not None else "")
    return f"`{given}`" if given else ""
