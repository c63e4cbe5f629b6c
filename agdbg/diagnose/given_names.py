"""What a parameter is called on the line that gave it to an optimizer: ``b`` of ``SGD([a, b])``.

Needs: OPTIMIZER; the source.
"""

import ast

from agdbg.diagnose.case import Case
from agdbg.diagnose.source import calls
from agdbg.diagnose.syntax import name_of


def given_name(case: Case, storage: int) -> str:
    """The name in the list that the optimizer was built with; empty when the line does not tell."""
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
