"""How to cut a graph that reaches back into an earlier iteration, without cutting the one inside an iteration."""

import ast
from dataclasses import replace

from agdbg.diagnose.applies import (
    behind,
    carried_as,
    has_self,
    is_declared,
    is_of_call,
    is_of_self,
    kept_by,
    known_as,
    reaches,
    stored_behind,
    whole,
)
from agdbg.diagnose.banks import unemptied
from agdbg.diagnose.cached import cached_by
from agdbg.diagnose.carriers import Carriers, carriers, given_as, stored_by, targets_of
from agdbg.diagnose.case import Case
from agdbg.diagnose.collected import detach_where_kept, detach_where_put
from agdbg.diagnose.detaching import NAMED, State, begins_empty, detach, is_made_late, object_of, state_of
from agdbg.diagnose.enclosing import function_of, module_of, place
from agdbg.diagnose.filled import Filled, filled, filled_by
from agdbg.diagnose.forms import form_of
from agdbg.diagnose.handing import Handed, handed, is_of_module, kept_name, ran_once
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.naming import entry_name, entry_names, entry_words, used_as
from agdbg.diagnose.running import running_total
from agdbg.diagnose.runs import Runs, loops_in_function
from agdbg.diagnose.shapes import holds_none, is_own, values
from agdbg.diagnose.source import call_text, called, expression, quoted
from agdbg.diagnose.syntax import name_of, unparse
from agdbg.diagnose.words import Lines, capital, listed
from agdbg.record.facts import PassFact
from agdbg.record.lookup import Site


def cut_loose(
    case: Case, entries: list[Entry], lines: Lines, first: PassFact | None, second: PassFact | None, until: int = 0
) -> str:
    """The advice as a sentence, without the full stop; ``until`` is the row of the error, 0 where it does not matter."""
    total = running_total(entries, first, second)
    if total:
        return total
    made, function = entries[0].node.site, function_of(entries[0].node.site)
    cached = _cached(made, second, lines) if second is not None else ""
    if cached:
        return cached
    banks = unemptied(entries, second.site) if second is not None else []
    if banks and second is not None:
        what = f"{_listed(banks)}, which {'keeps' if len(banks) == 1 else 'keep'} what earlier iterations put there"
        cleared = _listed([f"{each}.clear()" for each in banks])
        return f"Empty {what}, after {_call(second, lines)}: {cleared}, or detach what is to stay"
    runs = Runs(case, first, second, until) if first is not None and second is not None else None
    state = state_of(case, entries, runs, second)
    found = filled(made, _consumer(entries[0]), second.site) if second is not None else None
    if found is not None and second is not None:
        each = runs is not None and runs.each_crosses(entries[0])
        state = replace(state, written=_is_written(entries[0]), some=not each)
        once = runs is not None and _once(runs, entries[0])
        return _of_filled(found, state, made, second, lines, once=once)
    around = filled_by(made, second.site) if second is not None else None
    if around is not None and second is not None:
        there, found = around
        once = runs is not None and runs.each_crosses(entries[0])
        return _of_filled(found, State(state.tensors, there, some=not once), there, second, lines, once=once)
    if (
        second is None
        or function in ("", "<module>")
        or (made.file, function) == (second.site.file, function_of(second.site))
    ):
        return _in_one_function(case, entries, lines, second, state)
    here = (e for e in entries if function_of(e.node.site) == function)
    names = list(dict.fromkeys(filter(None, (_name(case, e) for e in here))))
    names = names or list(dict.fromkeys(name for each in entries[:1] for name in entry_names(case, each)))
    once = first is not None and ran_once(case, entries[0], first.row, until)
    put = (
        detach_where_put(made, entries[0], names[0], state)
        if names and once
        else detach_where_kept(second.site, entries[0], [], state)
    )
    if put:
        return f"{capital(put)}{f', in `{function}`' if names else ''}"
    kept = handed(made, names[0]) if names else None
    if kept is None and names and (held := kept_by(used_as(entries[0]), made, _consumer(entries[0]))):
        names, kept = [held], Handed("state", held)
    if kept is not None and kept.how == "generator":
        return (
            f"Detach {_listed(names)} inside of `{function}`, a generator, which keeps it from one "
            f"iteration to the next: {state.detached(names)} behind the `yield` at line {kept.line}"
        )
    if kept is not None and kept.how == "stored" and once:
        return (
            f"Store `{names[0]}` without its graph: {state.detached(names[:1], kept.name, kept.name)} in place of "
            f"`{kept.name} = {names[0]}` at line {kept.line}, in `{function}`"
        )
    once = once or (runs is not None and _once(runs, entries[0]))
    elsewhere = _elsewhere(state, entries, names, kept, second, lines, once=once)
    if elsewhere:
        return elsewhere
    if kept is not None and kept.how == "stored":
        names = [kept.name]
    if names and all("." in name for name in names) and not any(is_of_call(name, made) for name in names):
        each = runs is not None and runs.each_crosses(entries[0])
        objects = runs.objects(entries[0]) if runs is not None and each else 1
        told = runs is not None and not each and not loops_in_function(made)
        once = once or (runs is not None and _once(runs, entries[0]))
        return _of_object(state, names, function, second, lines, once=once, told=told, objects=objects)
    return _between(state, names, function, second, lines, once=once, entry=entries[0])


def _elsewhere(
    state: State,
    entries: list[Entry],
    names: list[str],
    kept: Handed | None,
    second: PassFact,
    lines: Lines,
    *,
    once: bool,
) -> str:
    """The advice for what a function keeps where the place of the fix finds it too: in the module, or around both; else empty."""
    made, there = entries[0].node.site, second.site
    declared = next((how for each in names if (how := is_declared(each, made))), "")
    if kept is None and not declared:
        return ""
    moved = [kept.name, *(name for name in names[1:] if not name.isidentifier())] if kept is not None else names
    if any(is_of_self(each, made) for each in moved):
        return ""
    found = list(dict.fromkeys(reaches(each, made, there) for each in moved))
    if state.cache:
        found = [whole(each) for each in found]
    here = replace(state, there=there, shared=state.shared or found != moved)
    if all(found) and all(_may_give(each, here, there, len(found)) for each in found):
        how = here.detached(found)
        return f"{capital(state.verb)} {_listed(found)} between two iterations, after {_call(second, lines)}: {how}"
    if declared:
        function, behind_it = function_of(made), f"behind `{declared} {names[0]}`"
        if once:
            late = [each for each in names if _is_none_at_first(each, made)]
            behind_it += f" and `if {' and '.join(f'{each} is not None' for each in late)}:`" if late else ""
            return f"Detach {_listed(names)} at the beginning of `{function}`, {behind_it}: {state.detached(names)}"
        return (
            f"{_told(names, entries[0], lines, second)}, in a function that declares `{declared} {names[0]}` as "
            f"`{function}` does. Not inside `{function}`: that would cut the graph within an iteration as well"
        )
    roots = {each.partition(".")[0].partition("[")[0] for each in moved}
    given = given_as(there, made, tuple(roots)) if len(roots) == len(moved) == 1 else None
    if given is None or not all("[" in each for each in moved):
        return ""
    return _by_carriers(
        given, replace(state, shared=True), f" ({_listed(moved)} in `{function_of(made)}`)", second, lines, *roots
    )


def _is_none_at_first(name: str, site: Site) -> bool:
    """Whether the file gives a variable None, in whatever function."""
    tree = module_of(site.file)
    given = [each for each in ast.walk(tree) if isinstance(each, ast.Assign | ast.AnnAssign)] if tree else []
    return any(
        isinstance(each.value, ast.Constant) and each.value.value is None and name in stored_by(each) for each in given
    )


def _may_give(name: str, state: State, there: Site, names: int) -> bool:
    """Whether a statement at a place changes the variable itself, and makes none of the same name."""
    if not name.isidentifier() or place(there).function is None or is_own(there, name) or state.cache:
        return True
    return state.levels(name, names)[:1] in (("list",), ("dict",))


def _told(names: list[str], entry: Entry, lines: Lines, second: PassFact, used: str = "") -> str:
    """Where what is carried is to be detached, without a statement: no name of it is known to mean the same there.

    ``used``: the name by which it goes on, where that is none of these.
    """
    what = f"what is kept of {_listed(names)}" if used else _listed(names)
    user = _consumer(entry)
    again = f" and before it is used again{lines.at(user)}" if user is not None else ""
    again += f", as `{used}`" if again and used not in ("", "another") else ""
    return f"Detach {what}, made{lines.at(entry.node.site)}, once in an iteration, after {_call(second, lines)}{again}"


def _of_filled(found: Filled, state: State, made: Site, second: PassFact, lines: Lines, *, once: bool) -> str:
    """The advice for the list or dict that an inner loop fills: one item of it has a name within that loop alone."""
    names, function = list(found.names), function_of(made)
    with_call = (made.file, function) == (second.site.file, function_of(second.site))
    if not found.in_loop and not with_call:
        if all("." in name for name in names):
            told = found.depth == 1 and all(state.levels(each, len(names)) for each in names)
            return _of_object(state, names, function, second, lines, once=once, told=told)
        given = given_as(second.site, made, found.parameters) if found.parameters else None
        if given is not None:
            return _by_carriers(given, state, f" ({_listed(names)} in `{function}`)", second, lines)
        if not all(is_of_module(made, name) for name in names):
            return _between(state, names, function, second, lines, once=once or found.depth > 1)
    by = found.by or second.site
    after = f"`{quoted(expression(by))}`{lines.at(by)}" if found.by is not None else _call(second, lines)
    there = replace(state, site=by, shared=bool(found.parameters) and not _is_returned(made, names))
    return (
        f"Detach {_listed(names)} before the next iteration uses {_it(names)}: {there.detached(names)}, after {after}"
    )


def _once(runs: Runs, entry: Entry) -> bool:
    """Whether the function of a line in a loop of its own runs once in an iteration, as each item or another line of it says."""
    return runs.each_crosses(entry) or runs.of_function(entry.node.site) == runs.objects(entry)


def _consumer(entry: Entry) -> Site | None:
    return entry.consumer.site if entry.consumer is not None else None


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _in_one_function(case: Case, entries: list[Entry], lines: Lines, second: PassFact | None, state: State) -> str:
    """The advice where the loop runs in the function, or the module, whose line made it; or where no second call is known."""
    made, name, found = entries[0].node.site, entry_name(case, entries[0]), entry_names(case, entries[0])
    results = [name] if name else [] if found else targets_of(made)
    banked = detach_where_kept(second.site, entries[0], results, state) if second and results else ""
    if banked:
        return capital(banked)
    names = list(dict.fromkeys(name for each in entries for name in entry_names(case, each)))
    if second is None or not names:
        return capital(detach(case, entries, lines, state, names))
    call = second.site
    carried = [carried_as(each, used_as(entries[0]), made, _consumer(entries[0]), call) for each in names]
    by = behind(call, made)
    if by is not None or function_of(call) == function_of(made):
        carried = [reaches(each, made, by or call) for each in carried]
    if not all(carried):
        return _told(names, entries[0], lines, second, used_as(entries[0]) or "another")
    names = list(dict.fromkeys(map(whole, carried) if state.cache else carried))
    last = stored_behind(names, by or call)
    if last is not None:
        after = f"`{quoted(unparse(last))}` at line {last.lineno}"
    elif by is not None:
        after = f"`{quoted(expression(by))}`{lines.at(by)}"
    else:
        after = _call(second, lines) if function_of(call) == function_of(made) else ""
    return f"{capital(detach(case, entries, lines, state, names))}{f', after {after}' if after else ''}"


def _listed(names: list[str]) -> str:
    return listed((f"`{name}`" for name in names), NAMED)


def _name(case: Case, entry: Entry) -> str:
    return kept_name(entry, entry_name(case, entry))


def _is_returned(made: Site, names: list[str]) -> bool:
    """Whether the function around a site gives back what it made there, so that its caller holds it."""
    function = place(made).function
    given = [each for each in ast.walk(function) if isinstance(each, ast.Return)] if function is not None else []
    inside = {name_of(part) for each in given for part in ast.walk(each) if isinstance(part, ast.Name)}
    return not names or function is None or bool(inside & set(names))


def _of_object(
    state: State,
    names: list[str],
    function: str,
    second: PassFact,
    lines: Lines,
    *,
    once: bool,
    told: bool,
    objects: int = 1,
) -> str:
    """The advice for what an object keeps: nothing hands it over but the object.

    ``told``: it is known if not ``once``. ``objects``: how many of them keep one, where each of them runs once in an iteration.
    """
    if any(whole(name) != name for name in names):  # one object runs it for each of its items
        names, objects = list(dict.fromkeys(map(whole, names))), 1
        once = False
    alone = bool(object_of(second.site, function))
    inner = all(has_self(name, state.site, second.site, alone=alone) for name in names)
    known = names[0].partition(".")[0] if inner else known_as(object_of(second.site, function), second.site)
    attributes = [name.partition(".")[2] for name in names]
    outside = [f"{known}.{each}" for each in attributes]
    begins = [name for name in names if begins_empty(state.site, name)]
    late = any(is_made_late(state.site, name) or holds_none(state.site, name) for name in names)
    test = (
        f", behind `if {' and '.join(f'{name} is not None' for name in begins)}:`, since {_it_begins(names)} as None"
        if begins
        else ""
    )
    if objects > 1 and once and not late:
        return (
            f"Detach the state ({_listed(names)}) in `{function}`, since each of {objects:,} objects runs it once in an iteration, "
            f"at its beginning{test}: {state.detached(names)}"
        )
    if not once:
        inside = f". Not inside `{function}`: it runs several times in an iteration, and that would cut the graph within it as well"
        inside = inside if told else ""
    elif late or objects > 1:
        inside = ""
    else:
        inside = f"; or, since `{function}` runs once in an iteration, at its beginning{test}: {state.detached(names)}"
    if not known or (objects > 1 and once):
        own = f"each of the {objects:,} objects that have" if objects > 1 and once else "the object that has"
        return (
            f"Detach the state ({_listed(names)} in `{function}`) once in an iteration, {_loop(second, lines, after=True)}, on "
            f"{own} {_it(names)}{inside}"
        )
    return (
        f"{capital(state.verb)} the state ({_listed(names)} in `{function}`) between two iterations, "
        f"{_loop(second, lines, after=True)}: {state.detached(outside)}{inside}"
    )


def _it_begins(names: list[str]) -> str:
    return "it begins" if len(names) == 1 else "they begin"


def _is_written(entry: Entry) -> bool:
    """Whether a line wrote into a tensor by one index: what has it is no list."""
    statement = place(entry.node.site).statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    by_index = isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice | ast.Tuple)
    return by_index and entry.node.op.name.startswith("CopySlices")


def _between(
    state: State,
    names: list[str],
    function: str,
    second: PassFact,
    lines: Lines,
    *,
    once: bool,
    entry: Entry | None = None,
) -> str:
    """The advice for what a function returns: its caller holds it."""
    returned = _is_returned(state.site, [each.partition(".")[0].partition("[")[0] for each in names])
    found = carriers(second.site, state.site) if returned else None
    called = f" ({_listed(names)} in `{function}`)" if names else f" that `{function}` returned"
    cuts = f". Not inside `{function}`: that would cut the graph within an iteration as well"
    if found is not None:
        at = found.site or second.site
        forms = {each: form_of(each, at, state.site, names) for each in found.names}
        return f"{_by_carriers(found, replace(state, forms=forms), called, second, lines)}{'' if once else cuts}"
    if names and (kept := _of_bank(state, names, function, second, lines)):
        return kept
    inside = cuts if not once else ""
    made = f", made{lines.at(entry.node.site)}," if entry is not None else ""
    return (
        f"Detach the state{called}{made} once in an iteration, where one hands it to the next, {_loop(second, lines)}: what holds "
        f"it there, before `{function}` is called with it again{inside}"
    )


def _cached(made: Site, second: PassFact, lines: Lines) -> str:
    """The advice where the function around a line keeps what it returned by a decorator: ``lru_cache``; else empty."""
    how, function = cached_by(made), function_of(made)
    if not how:
        return ""
    words = f"Compute what `{function}` returns again in every iteration: `@{how}` keeps it together with its graph"
    here = made.file == second.site.file and function.isidentifier()
    if not here or how.rpartition(".")[2] not in ("cache", "lru_cache") or not reaches(function, made, second.site):
        return f"{words}. Leave out `@{how}`"
    return f"{words}. Leave out `@{how}`, or empty it after {_call(second, lines)}: `{function}.cache_clear()`"


def _of_bank(state: State, names: list[str], function: str, second: PassFact, lines: Lines) -> str:
    """The advice for what a function keeps for good in a list or dict that it does not return; else empty."""
    made = state.site
    if state.cache:
        return (
            f"Empty {_listed(list(dict.fromkeys(map(whole, names))))}, where `{function}` keeps what trained parameters made, "
            f"with its graph, once in an iteration, after {_call(second, lines)}: it is to be computed again, and detached it "
            "would be trained no more"
        )
    statement = place(made).statement
    call = statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    bank = name_of(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else ""
    if call is None or bank != names[0] or len(names) > 1 or called(call) not in ("append", "appendleft"):
        return ""
    if isinstance(call.args[0], ast.Tuple | ast.List | ast.Dict) or not is_of_module(made, bank):
        return ""
    if not reaches(bank, made, second.site) or any(
        called(each) == "deque" for each in values(second.site, bank) if isinstance(each, ast.Call)
    ):
        return ""
    how = f"`{bank}[:] = [each.detach() for each in {bank}]`"
    return f"Detach what `{function}` keeps in `{bank}` once it is trained, after {_call(second, lines)}: {how}"


def _by_carriers(found: Carriers, state: State, called: str, second: PassFact, lines: Lines, held: str = "") -> str:
    """The advice for the variables of the loop; ``held``: what the function calls what it is given."""
    at = found.site or second.site
    there = replace(state, there=at) if held else State(state.tensors, at, forms=state.forms)
    last = stored_behind(list(found.names), at)
    after = f"`{found.behind}`{lines.at(found.site)}" if found.site is not None else _call(second, lines)
    after = f"`{quoted(unparse(last))}` at line {last.lineno}" if last is not None else after
    verb = "hands" if len(found.names) == 1 else "hand"
    around = f"in `{found.function}`" if found.function else "in the loop"
    return (
        f"{capital(state.verb)} {_listed(list(found.names))}, which {verb} on the state{called}, {around} after {after}: "
        f"{there.detached(list(found.names), held=held)}"
    )


def _loop(second: PassFact, lines: Lines, *, after: bool = False) -> str:
    around = function_of(second.site)
    where = "after" if after else "around"
    return f"in {f'`{around}`' if around not in ('', '<module>') else 'the loop'} {where} {_call(second, lines)}"


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
