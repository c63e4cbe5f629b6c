"""Whether a function keeps what it returned, so that every call with the same arguments gives the same graph."""

import ast

from agdbg.diagnose.enclosing import place
from agdbg.diagnose.syntax import name_of
from agdbg.record.lookup import Site

_CACHES = ("cache", "lru_cache", "cached_property", "memoize", "cached")


def cached_by(site: Site) -> str:
    """The decorator by which the function around a site keeps its results, such as ``lru_cache``; empty without one."""
    function = place(site).function
    if not isinstance(function, ast.FunctionDef):
        return ""
    made = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    return next((name for each in made if (name := name_of(each)).rpartition(".")[2] in _CACHES), "")
