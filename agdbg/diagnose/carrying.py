"""How to cut a graph that reaches back into an earlier iteration, without cutting the one inside an iteration."""

import ast

from agdbg.diagnose.case import Case
from agdbg.diagnose.collected import detach_where_kept, detach_where_put
from agdbg.diagnose.enclosing import in_inner_loop, place
from agdbg.diagnose.handing import handed, is_of_module, kept_name, ran_once
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.naming import detach, entry_name, entry_words
from agdbg.diagnose.source import assigned, call_text, differentiated
from agdbg.diagnose.syntax import name_of, read
from agdbg.diagnose.words import Lines, capital, listed
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site


def cut_loose(
    case: Case, entries: list[Entry], lines: Lines, first: PassFact | None, second: PassFact | None, until: int = 0
) -> str:
    """The advice as a sentence, without the full stop; ``until`` is the row of the error, 0 where it does not matter."""
    total = running_total(entries, first, second)
    if total:
        return total
    made = entries[0].node.site
    inside = made.func not in ("", "<module>")
    if second is None or not inside or (made.file, made.func) == (second.site.file, second.site.func):
        after = f", after {_call(second, lines)}" if second and in_inner_loop(made, second.site) else ""
        name = entry_name(case, entries[0])
        banked = detach_where_kept(second.site, entries[0], name) if second and name else ""
        return f"{capital(banked or detach(case, entries, lines))}{after}"
    names = list(dict.fromkeys(filter(None, (_name(case, e) for e in entries if e.node.site.func == made.func))))
    once = first is not None and ran_once(case, entries[0], first.row, until)
    function = made.func.replace(".<locals>", "")
    put = (
        detach_where_put(made, entries[0], names[0])
        if names and once
        else detach_where_kept(second.site, entries[0], "")
    )
    if put:
        return f"{capital(put)}{f', in `{function}`' if names else ''}"
    kept = handed(made, names[0]) if names else None
    if kept is not None and kept.how == "generator":
        how = " and ".join(f"`{name} = {name}.detach()`" for name in names[:2])
        return (
            f"Detach {listed(f'`{name}`' for name in names)} inside of `{function}`, a generator, which keeps it from one "
            f"iteration to the next: {how} behind the `yield` at line {kept.line}"
        )
    if kept is not None and kept.how == "stored" and once:
        return (
            f"Store `{names[0]}` without its graph: `{kept.name} = {names[0]}.detach()` in place of `{kept.name} = {names[0]}` "
            f"at line {kept.line}, in `{function}`"
        )
    if kept is not None and kept.how != "generator" and is_of_module(made, kept.name):
        kept_names = [kept.name, *(name for name in names[1:] if not name.isidentifier())]
        how = " and ".join(f"`{name} = {name}.detach()`" for name in kept_names[:2])
        return f"Detach {listed(f'`{name}`' for name in kept_names)} between two iterations, after {_call(second, lines)}: {how}"
    if kept is not None and kept.how == "stored":
        names = [kept.name]
    return _between(names, function, second, lines, once=once, returned=_is_returned(made, names))


def _name(case: Case, entry: Entry) -> str:
    return kept_name(entry, entry_name(case, entry))


def _is_returned(made: Site, names: list[str]) -> bool:
    """Whether the function around a site gives back what it made there, so that its caller holds it."""
    function = place(made).function
    given = [each for each in ast.walk(function) if isinstance(each, ast.Return)] if function is not None else []
    inside = {name_of(part) for each in given for part in ast.walk(each) if isinstance(part, ast.Name)}
    return not names or function is None or bool(inside & set(names))


def _between(names: list[str], function: str, second: PassFact, lines: Lines, *, once: bool, returned: bool) -> str:
    """The advice where only the caller can tell what holds it."""
    called = f" ({listed(f'`{name}`' for name in names)} in `{function}`)" if names else f" that `{function}` returned"
    around = second.site.func.replace(".<locals>", "")
    loop = f"in {f'`{around}`' if around not in ('', '<module>') else 'the loop'} around {_call(second, lines)}"
    if names and all("." in name for name in names):  # state of an object: nothing hands it over but the object
        attribute = names[0].partition(".")[2]
        inside = (
            f"; or, since `{function}` runs once in an iteration, at its beginning: `{names[0]} = {names[0]}.detach()`"
            if once
            else f". Not inside `{function}`: it runs several times in an iteration, and that would cut the graph within it as well"
        )
        return (
            f"Detach the state{called} between two iterations, {loop}: `model.{attribute} = model.{attribute}.detach()`, "
            f"with the object's own name{inside}"
        )
    inside = (
        f". Not inside `{function}`: that would cut the graph within an iteration as well"
        if returned or not once
        else "; what holds it there is not known here"
    )
    return (
        f"Detach the state{called} where one iteration hands it to the next, {loop}: with the variable that holds it "
        f"there, `state = state.detach()`, before `{function}` is called with it again{inside}"
    )


def _call(second: PassFact, lines: Lines) -> str:
    return f"`{call_text(second.site, second.call)}`{lines.at(second.site)}"


def kept_to_compare(case: Case, entry: Entry, lines: Lines) -> str:
    """The advice about what was computed once with parameters with which every turn computes something anew, without the full stop:
    as a rule it is kept to compare with.
    """
    name = entry_name(case, entry)
    how = f"`{name} = {name}.detach()`" if name else "detach() it"
    return (
        f"Every turn computes something anew with the same parameters. If {entry_words(case, entry)} is to stay as it was, as the "
        f"log-probabilities of an old policy are, store it without its graph: {how}, behind what made it{lines.at(entry.node.site)}"
    )


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
    head = (
        "Call backward() on the loss of this iteration alone"
        if loss == added
        else "Name the loss of this iteration, `loss = ...`, and differentiate it alone"
    )
    return (
        f"{head}, `{loss}.backward()` in place of {_call(second, Lines(second.site))}, "
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
