"""The pieces of advice about a graph that two calls go through."""

import ast

from agdbg.diagnose.between_calls import later_calls, may_be_skipped, uses_gradients
from agdbg.diagnose.enclosing import function_of, in_inner_loop, place
from agdbg.diagnose.naming import entry_name
from agdbg.diagnose.penalty import added
from agdbg.diagnose.remaking import freed_sites
from agdbg.diagnose.scene import Scene
from agdbg.diagnose.source import differentiated, gives_more, quoted
from agdbg.diagnose.syntax import name_of, unparse
from agdbg.diagnose.words import capital, listed, same_line
from agdbg.record.facts import PassFact


def retain(scene: Scene, first: PassFact) -> str:
    """To keep the graph in the first call, and in the second one where the source has another one of this graph behind it."""
    where, second = scene.lines(first.site), scene.second
    if is_misplaced(scene):
        return f"move retain_graph=True from the second call to the first, {where}, which frees the graph"
    turns = second is not None and same_line(first.site, second.site)
    if not turns and first.call == "grad" and next(added(first), None) is not None:
        return (
            f"pass create_graph=True to the first call, {where}, so that the gradient has a graph of its own, or "
            "retain_graph=True, with which it is a constant"
        )
    later = _later(scene, turns=turns)
    if turns and later:
        since = f"`{quoted(unparse(later[0]))}` at line {later[0].lineno}"
        return f"pass retain_graph=True to every call, {where}, since {since} needs the graph behind them"
    if turns and _is_given(scene):
        return f"pass retain_graph=True to every call, {where}, that another one through the same graph follows"
    if turns:
        return f"pass retain_graph=True to every call but the last, {where}"
    if second is not None and in_inner_loop(second.site, first.site):
        again = scene.lines(second.site)
        those = f"every call, {again}" if _later(scene, turns=True) else f"every call but the last, {again}"
        return f"pass retain_graph=True to the first call, {where}, and to {those}"
    if later and second is not None:
        calls = [where, scene.lines(second.site), *(f"line {each.lineno}" for each in later[:-1])]
        return f"pass retain_graph=True to every call but the last, {listed(dict.fromkeys(calls), len(calls))}"
    return f"pass retain_graph=True to the first call, {where}"


def _is_given(scene: Scene) -> bool:
    """Whether the function around the calls was given what they differentiate: what its callers do with it later is not known."""
    meeting, second = scene.meeting, scene.second
    if meeting is None or second is None or not place(second.site).known or place(second.site).function is None:
        return False
    here = (second.site.file, function_of(second.site))
    return all((each.file, function_of(each)) != here for each in freed_sites(scene.case, meeting))


def _later(scene: Scene, *, turns: bool) -> list[ast.Call]:
    """The calls behind the second one that go through the same part of the graph, as the source says."""
    meeting, second = scene.meeting, scene.second
    if meeting is None or second is None:
        return []
    names = {entry_name(scene.case, entry) for entry in meeting.entries} - {""}
    return later_calls(second.site, freed_sites(scene.case, meeting), names, turns=turns)


def is_misplaced(scene: Scene) -> bool:
    """Whether only the second call keeps the graph."""
    return scene.second is not None and scene.second.retain_graph


def add_up(scene: Scene) -> str:
    """To call backward once, on the sum."""
    names = [differentiated(each.site) for each in (scene.first, scene.second) if each is not None]
    more = _later(scene, turns=False) if len(names) == 2 and names[0] != names[1] else []
    names += [name_of(each.func.value) if isinstance(each.func, ast.Attribute) else "" for each in more]
    if len(names) >= 2 and all(names) and len(set(names)) == len(names):
        return f"call backward() once, on the sum: `({' + '.join(names)}).backward()`"
    return "call backward() once, on the sum of the results"


def add_up_or_retain(scene: Scene, first: PassFact) -> str:
    """Both ways as a sentence; where the user wanted to keep the graph already, that way first.

    What `grad` returns cannot be had from the sum, nor the gradients of each where something between the calls uses them.
    """
    if not may_add_up(scene, first):
        return f"{capital(retain(scene, first))}."
    ways = [add_up(scene), retain(scene, first)]
    one, other = reversed(ways) if is_misplaced(scene) else ways
    return f"{capital(one)}, or {other}."


def may_add_up(scene: Scene, first: PassFact) -> bool:
    """Whether the gradients of a sum are as good as those of two calls."""
    calls = [each for each in (first, scene.second) if each is not None]
    if any(each.call == "grad" or gives_more(each.site) for each in calls):
        return False
    if scene.second is None:
        return True
    return not uses_gradients(first.site, scene.second.site) and not may_be_skipped(first.site, scene.second.site)


def own_graph(scene: Scene, which: str, first: PassFact) -> str:
    """For a call inside another one."""
    return (
        f"Pass retain_graph=True to the {which} call{scene.lines.at(first.site)}, or give the inner call a graph of "
        "its own: detach its inputs, require their gradient, and compute from there."
    )
