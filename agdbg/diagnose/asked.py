"""State by which gradients are taken: detached it has to require them again, or ``grad(loss, theta)`` is refused.

Needs the source alone.
"""

import ast

from agdbg.diagnose.enclosing import module_of
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of
from agdbg.record.lookup import Site


def asked_again(advice: str, site: Site) -> str:
    """An advice to detach, with ``requires_grad_()`` for what the file differentiates by."""
    for name in _asked(site):
        advice = advice.replace(f"`{name} = {name}.detach()`", f"`{name} = {name}.detach().requires_grad_()`")
    return advice


def _asked(site: Site) -> set[str]:
    """The names that the file of a site gives calls of ``grad`` as what to differentiate by."""
    tree = module_of(site.file)
    found = [each for each in ast.walk(tree) if isinstance(each, ast.Call)] if tree is not None else []
    given = [
        part
        for call in found
        if called(call) == "grad"
        for part in (*call.args[1:2], *(each.value for each in call.keywords if each.arg == "inputs"))
    ]
    parts = [item for each in given for item in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]
    return {name for each in parts if (name := name_of(each))}
