"""inference: what was made in inference mode is to be part of a graph, or is written to outside of the mode.

Needs: the error with its line; GRAD_MODE; the source for the names.
"""

import ast

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.enclosing import module_of, site_of
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.refusal import finding, refused
from agdbg.diagnose.source import called, expression, receivers
from agdbg.diagnose.switched_off import switched_off_at
from agdbg.diagnose.syntax import name_of, read
from agdbg.diagnose.words import Lines, listed
from agdbg.events import Kind
from agdbg.record.lookup import Site

KIND = "inference"
#: Lines that switched inference mode on which are listed.
LISTED = 3
_MODE = "inference_mode"


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding | None:
    error = failure.first
    lines = Lines(error.site)
    switches = _switches(case, error.row)
    name, made, by = _made_in(error.site, switches)
    chosen = [by] if by is not None else switches
    certainty: Certainty = "certain" if len(switches) == 1 else "likely"
    what = f"`{name}`, made" if name else "a tensor that was made"
    where = f" ({listed([lines(each) for each in chosen], LISTED)})" if chosen else ""
    text = expression(error.site)
    saves = "saved for backward" in error.text
    does = "is to save" if saves else "uses"
    why = (
        "It has no version, so nobody could tell later whether it changed."
        if saves
        else "Only inference mode may do that."
    )
    mend = f"`{name} = {name}.clone()`" if name else "`t = t.clone()`"
    also = f" at {lines(chosen[0])}" if chosen else ""
    evidence = [Evidence("switched off", each, "inference mode is on since here") for each in chosen[:LISTED]]
    if made is not None:
        evidence.append(Evidence("made", made, f"`{name}` is an inference tensor"))
    return finding(
        failure,
        f"{f'`{text}`' if text else 'An op'}{lines.at(error.site)} {does} {what} in inference mode{where}, while gradients are "
        f"recorded. {why}",
        [*evidence, refused(failure, "nothing was computed")],
        certainty,
        f"Make an ordinary tensor of it, outside of the mode: {mend}; or use no_grad() in place of {_MODE}(){also}.",
    )


def _switches(case: Case, before: int) -> list[Site]:
    """The lines that switched inference mode on before a row, of a decorated function the decorator; each once."""
    facts = case.facts
    rows = facts.rows(Kind.GRAD_MODE)
    found: dict[tuple[str, int], Site] = {}
    for row in rows[rows < before].tolist():
        site, op = facts.site_and_op(facts.words(row)[2])
        off = switched_off_at(case, row + 1, site) if op.name == "disabled" else None
        if off is not None and _MODE in off.text:
            found.setdefault((off.file, off.line), off)
    return list(found.values())


def _made_in(site: Site, switches: list[Site]) -> tuple[str, Site | None, Site | None]:
    """Of what an expression uses: a name that was made in inference mode, the line that made it, and that of the switch."""
    tree, names = module_of(site.file), _used(site)
    here = [each for each in switches if each.file == site.file]
    if tree is None or not here:
        return "", None, None
    lines = {each.line: each for each in here}
    decorated = {name: lines[at] for part in ast.walk(tree) for name, at in _decorated(part) if at in lines}
    for name in names:
        for part in ast.walk(tree):
            if isinstance(part, ast.With) and part.lineno in lines:
                made = next((each for body in part.body for each in ast.walk(body) if _assigns(each, name)), None)
                if isinstance(made, ast.stmt):
                    return name, site_of(site, made), lines[part.lineno]
            if isinstance(part, ast.Assign) and _assigns(part, name) and isinstance(part.value, ast.Call):
                by = decorated.get(called(part.value))
                if by is not None:
                    return name, site_of(site, part), by
    return "", None, None


def _used(site: Site) -> list[str]:
    """The names that the expression at a site computes with; what is written to first."""
    reading = read(site)
    found = reading.found if reading is not None else None
    if found is None:
        return []
    first = [name_of(each) for each in receivers(found)] if isinstance(found, ast.Call) else []
    every = [name_of(each) for each in ast.walk(found) if isinstance(each, ast.Name | ast.Attribute)]
    return [name for name in dict.fromkeys([*first, *every]) if name]


def _decorated(tree: ast.AST) -> list[tuple[str, int]]:
    """The name of a function and the lines of its decorators."""
    if not isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    return [(tree.name, each.lineno) for each in tree.decorator_list]


def _assigns(tree: ast.AST, name: str) -> bool:
    targets = tree.targets if isinstance(tree, ast.Assign) else []
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]
    return any(name_of(each) == name for each in parts)
