"""The line that switched gradients off: of a decorated function the decorator, since the trace has the line of the call."""

import ast
from typing import Any

import numpy as np
import numpy.typing as npt

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import module_of, place, site_of
from agdbg.diagnose.source import called, calls
from agdbg.diagnose.syntax import name_of
from agdbg.diagnose.writers import disabled_at
from agdbg.events import Kind
from agdbg.record.lookup import Site

_SWITCHES = ("no_grad", "inference_mode")
_THREAD = np.uint64(32)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def switched_off_at(case: Case, row: int, site: Site) -> Site | None:
    """Where gradients were switched off for what stands at a site and has this row; None when they were on, or not told."""
    off = disabled_at(case, row)
    if off is None or any(switch in off.text for switch in (*_SWITCHES, "set_grad_enabled")):
        return off
    around = [each for each in place(site).around if isinstance(each, _Function)]
    return _decorator(site, around[::-1]) or _decorator(off, _called_at(off)) or off


def block_words(case: Case, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Of each record the SITE_OP word of what had switched gradients off in its thread; 0 where they were on, or not told."""
    records, switches = case.facts.trace.records, case.facts.rows(Kind.GRAD_MODE)
    found = np.zeros(len(rows), np.uint64)
    threads, mine = records[switches, 0] >> _THREAD, records[rows, 0] >> _THREAD
    for thread in np.unique(threads):
        of = switches[threads == thread]
        last = of.searchsorted(rows) - 1
        at = (mine == thread) & (last >= 0)
        found[at] = records[of[last[at]], 2]
    off = [word for word in np.unique(found).tolist() if case.facts.site_and_op(word)[1].name == "disabled"]
    return np.where(np.isin(found, np.array(off, np.uint64)), found, np.uint64(0))


def _called_at(off: Site) -> list[_Function]:
    """The function that is called there, where the file has but one of its name."""
    names = {called(each) for each in calls(off)}
    tree = module_of(off.file)
    found = [each for each in ast.walk(tree) if isinstance(each, _Function) and each.name in names] if tree else []
    return found if len({each.name for each in found}) == len(found) else []


def _decorator(near: Site, functions: list[_Function]) -> Site | None:
    for function in functions:
        for each in function.decorator_list:
            name = name_of(each.func if isinstance(each, ast.Call) else each)
            if name.rpartition(".")[2] in _SWITCHES:
                return site_of(near, each)
    return None
