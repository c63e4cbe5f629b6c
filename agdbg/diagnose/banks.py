"""A list of an object that every iteration fills and none empties: ``torch.stack(self.values)`` of a rollout that was not cleared.

What is in it was made by functions of other objects, which have no name for it; the line that collects it has one.
"""

import ast

from agdbg.diagnose.applies import is_of_self, reaches
from agdbg.diagnose.collected import PUTTING
from agdbg.diagnose.enclosing import function_of, module_of
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of, read
from agdbg.record.lookup import Site

_COLLECTING = {"stack", "cat", "concat", "concatenate", "hstack", "vstack"}


def unemptied(entries: list[Entry], call: Site) -> list[str]:
    """The lists out of which the second pass took all of ``entries``, as the function around its call names them; else none."""
    found = [_bank(each, call) for each in entries]
    return list(dict.fromkeys(found)) if all(found) else []


def _bank(entry: Entry, call: Site) -> str:
    user, made = entry.consumer, entry.node.site
    if user is None or (user.site.file, function_of(user.site)) == (made.file, function_of(made)):
        return ""
    reading = read(user.site)
    collecting = reading.found if reading is not None else None
    if not isinstance(collecting, ast.Call) or called(collecting) not in _COLLECTING or not collecting.args:
        return ""
    name = name_of(collecting.args[0])
    is_reached = is_of_self(name, user.site) and reaches(name, user.site, call) == name
    return name if is_reached and _is_filled(name, user.site.file) else ""


def _is_filled(name: str, file: str) -> bool:
    """Whether a line of the file puts something into the list."""
    tree = module_of(file)
    inside = [each for each in ast.walk(tree) if isinstance(each, ast.Call)] if tree is not None else []
    return any(
        isinstance(each.func, ast.Attribute) and each.func.attr in PUTTING and name_of(each.func.value) == name
        for each in inside
    )
