"""The pieces of advice about a graph that two calls go through."""

from agdbg.diagnose.scene import Scene
from agdbg.diagnose.source import differentiated
from agdbg.diagnose.words import capital, same_line
from agdbg.record.facts import PassFact


def retain(scene: Scene, first: PassFact) -> str:
    """To keep the graph in the first call."""
    where = scene.lines(first.site)
    if is_misplaced(scene):
        return f"move retain_graph=True from the second call to the first, {where}, which frees the graph"
    if scene.second is not None and same_line(first.site, scene.second.site):
        return f"pass retain_graph=True to every call but the last, {where}"
    return f"pass retain_graph=True to the first call, {where}"


def is_misplaced(scene: Scene) -> bool:
    """Whether only the second call keeps the graph."""
    return scene.second is not None and scene.second.retain_graph


def add_up(scene: Scene) -> str:
    """To call backward once, on the sum."""
    names = [differentiated(each.site) for each in (scene.first, scene.second) if each is not None]
    if len(names) == 2 and all(names) and names[0] != names[1]:
        return f"call backward() once, on the sum: `({names[0]} + {names[1]}).backward()`"
    return "call backward() once, on the sum of the results"


def add_up_or_retain(scene: Scene, first: PassFact) -> str:
    """Both ways as a sentence; where the user wanted to keep the graph already, that way first.

    What `grad` returns cannot be had from the sum.
    """
    if any(each is not None and each.call == "grad" for each in (first, scene.second)):
        return f"{capital(retain(scene, first))}."
    ways = [add_up(scene), retain(scene, first)]
    one, other = reversed(ways) if is_misplaced(scene) else ways
    return f"{capital(one)}, or {other}."


def own_graph(scene: Scene, which: str, first: PassFact) -> str:
    """For a call inside another one."""
    return (
        f"Pass retain_graph=True to the {which} call{scene.lines.at(first.site)}, or give the inner call a graph of "
        "its own: detach its inputs, require their gradient, and compute from there."
    )
