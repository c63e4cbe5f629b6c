"""How to cut a graph that reaches back into an earlier iteration, without cutting the one inside an iteration."""

import ast

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import in_inner_loop
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.naming import detach, entry_name
from agdbg.diagnose.source import assigned, call_text, differentiated
from agdbg.diagnose.syntax import name_of, read
from agdbg.diagnose.words import Lines, capital, listed
from agdbg.record.facts import NodeFact, PassFact


def cut_loose(case: Case, entries: list[Entry], lines: Lines, first: PassFact | None, second: PassFact | None) -> str:
    """The advice as a sentence, without the full stop."""
    total = running_total(entries, first, second)
    if total:
        return total
    made = entries[0].node.site
    inside = made.func not in ("", "<module>")
    if second is None or not inside or (made.file, made.func) == (second.site.file, second.site.func):
        after = f", after {_call(second, lines)}" if second and in_inner_loop(made, second.site) else ""
        return f"{capital(detach(case, entries, lines))}{after}"
    function = made.func.replace(".<locals>", "")
    names = list(dict.fromkeys(filter(None, (entry_name(case, e) for e in entries if e.node.site.func == made.func))))
    called = f" ({listed(f'`{name}`' for name in names)} in `{function}`)" if names else f" that `{function}` returned"
    around = second.site.func.replace(".<locals>", "")
    loop = f"in {f'`{around}`' if around not in ('', '<module>') else 'the loop'} around {_call(second, lines)}"
    if names and all("." in name for name in names):  # state of an object: nothing hands it over but the object
        attribute = names[0].partition(".")[2]
        return (
            f"Detach the state{called} between two iterations, {loop}: `model.{attribute} = model.{attribute}.detach()`, "
            f"with the object's own name. Not inside `{function}`: where that runs several times in an iteration, it would "
            "cut the graph within it as well"
        )
    return (
        f"Detach the state{called} where one iteration hands it to the next, {loop}: with the variable that holds it "
        f"there, `state = state.detach()`, before `{function}` is called with it again. Not inside `{function}`: that "
        "would cut the graph within an iteration as well"
    )


def _call(second: PassFact, lines: Lines) -> str:
    return f"`{call_text(second.site, second.call)}`{lines.at(second.site)}"


def running_total(entries: list[Entry], first: PassFact | None, second: PassFact | None) -> str:
    """The advice for ``total = total + loss; total.backward()``; empty for anything else."""
    entry = entries[0].node
    roots = {number for number, _ in first.roots} if first is not None else set()
    name = assigned(entry.site)
    if second is None or entry.id not in roots or not name or differentiated(second.site) != name:
        return ""
    added = _added(entry, name)
    if added is None:
        return ""
    loss = added if added.isidentifier() else "loss"
    said = f"`{loss}.backward()`" if added.isidentifier() else "backward() on it"
    return (
        f"Call backward() on the loss of this iteration alone, {said} in place of {_call(second, Lines(second.site))}, "
        f"and keep the running sum `{name}` without a graph: `{name} = {name} + {loss}.detach()`, or "
        f"`{name} += {loss}.item()` for a plain number"
    )


def _added(entry: NodeFact, name: str) -> str | None:
    """Of ``total = total + loss`` the ``loss``; empty if it has no name, None if the line is no such sum."""
    reading = read(entry.site)
    statement = reading.statement if reading is not None else None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return name_of(statement.value)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    sides = [name_of(value.left), name_of(value.right)]
    return sides[1 - sides.index(name)] if name in sides else None
