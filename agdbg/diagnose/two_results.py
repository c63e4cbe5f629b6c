"""What to do about two results that share a part of the graph, with and without an optimizer step between."""

import ast

import numpy as np

from agdbg.diagnose.advice import add_up, add_up_or_retain, is_misplaced, may_add_up
from agdbg.diagnose.between_calls import apart, owner_of, receiver, step_behind, zeroing
from agdbg.diagnose.enclosing import function_of, place
from agdbg.diagnose.history import after, step_between, stepped_between
from agdbg.diagnose.meeting import Meeting
from agdbg.diagnose.naming import entry_words
from agdbg.diagnose.remaking import first_line, freed_sites, holds
from agdbg.diagnose.scene import Scene
from agdbg.diagnose.source import called, differentiated, expression, quoted
from agdbg.diagnose.syntax import unparse
from agdbg.diagnose.uses import cut_in
from agdbg.diagnose.words import capital, listed
from agdbg.record.lookup import Site


def two_fix(scene: Scene, meeting: Meeting) -> str:
    """The fix of the story ``two_results``."""
    first, second = meeting.first, meeting.second
    entry = meeting.entries[0].node
    words = entry_words(scene.case, meeting.entries[0])
    step = step_between(scene.case, first.row, scene.error.row)
    if step is None:
        return add_up_or_retain(scene, first)
    changed = stepped_between(scene.case, meeting.leaves, first.row, scene.error.row)
    at = scene.lines.at(step)
    if any(changed) and not all(changed) and _is_outer(scene, meeting):
        one, other = _loss(first.site, "the first loss"), _loss(second.site, "the second")
        return (
            f"The optimizer step{at} changed parameters that {words} was computed with, so compute it twice: once on "
            f"the detached input{_detached(entry.site)} for {one}, and once freshly{_fresh(entry.site)} after the step "
            f"for {other}."
        )
    late = " retain_graph=True does not help across a step." if is_misplaced(scene) else ""
    again = _again(scene, meeting)
    if any(changed) and after(second, first, scene.case):
        trained = f"The optimizer step{at} changed parameters that {words} was computed with"
        cut = cut_in(scene.case, meeting, second, scene.lines)
        mine, behind = owner_of(step), step_behind(second.site)
        theirs = receiver(behind) if behind is not None else ""
        alone = apart(second.site, mine, theirs) if not meeting.anew and cut and all(changed) else False
        if alone:
            return (
                f"{trained}, and `{theirs}`, which steps behind {scene.second_words}, has none of them: {cut}. To train them by "
                f"{_loss(second.site, 'the second result')} as well, compute {again} after the step instead.{late}"
            )
        if alone is None and theirs != mine:
            return (
                f"{trained}: compute {again} after the step. If {_loss(second.site, 'the second result')} is not meant to train "
                f"them, {cut} instead.{late}"
            )
        return f"{trained}: compute {again} after the step.{late}"
    if after(second, first, scene.case):
        cut = cut_in(scene.case, meeting, first, scene.lines) if changed else ""
        return (
            f"The optimizer step{at} lies between the two: detach {words} in the loss that is not meant to train what is "
            f"below it{f': as that step trained none of it, {cut}' if cut else ''}, or compute {again} after the step."
        )
    if not may_add_up(scene, first) and not zeroing(first.site, second.site):
        return f"Compute {again}{_from_it(second.site)} after the step{at}.{late}"
    behind, deleting = step_behind(second.site), zeroing(first.site, second.site)
    if behind is not None and deleting and apart(second.site, owner_of(step), receiver(behind)):
        return (  # each optimizer has its own parameters: in a sum the first loss would train those of the second one as well
            f"Call both before any step: pass retain_graph=True to the first call, {scene.lines(first.site)}, and move the "
            f"optimizer step{at} behind {scene.second_words}; or compute {again}{_from_it(second.site)} after the step.{late}"
        )
    return (
        f"{capital(add_up(scene))}, before the optimizer step{at}{_with(scene, step)}, or compute {again}{_from_it(second.site)} "
        f"after the step.{late}"
    )


def _is_outer(scene: Scene, meeting: Meeting) -> bool:
    """Whether the step changed what is nearest to the shared result, as that of a critic: what it was given can be detached."""
    walk = scene.case.walk
    here, seen = [walk.place(meeting.entries[0].node.id)], set[int]()
    while here:
        leaves = tuple(walk.ids[[each for each in here if walk.leaves[each]]].tolist())
        changed = stepped_between(scene.case, leaves, meeting.first.row, scene.error.row)
        if changed:
            return any(changed)
        seen.update(here)
        below = walk.edges.target[np.isin(walk.edges.source, here)].tolist()
        here = [each for each in dict.fromkeys(below) if each not in seen]
    return True


def _again(scene: Scene, meeting: Meeting) -> str:
    """`` `z` again``, or of what is made of more that was freed since which line."""
    words = entry_words(scene.case, meeting.entries[0])
    made = meeting.entries[0].node.site
    here = (made.file, function_of(made)) == (scene.needed.file, function_of(scene.needed))
    since = first_line(scene.case, meeting, made) if here and place(scene.needed).known else made.line
    statement = place(made).statement
    whole = statement is None or all(
        holds(statement, each)
        for each in freed_sites(scene.case, meeting)
        if each.line == made.line and each.file == made.file
    )
    return (
        f"{words} again"
        if since == made.line and whole
        else f"{words}, with all that it is made of since line {since}, again"
    )


def _from_it(site: Site) -> str:
    """What was computed of it before the step has to be computed anew as well."""
    name = differentiated(site)
    return f", and `{name}` from it," if name else ""


def _with(scene: Scene, step: Site) -> str:
    """What is to move, or to go, where gradients would be deleted between, or a second step would repeat the first."""
    meeting = scene.meeting
    assert meeting is not None
    deleting = zeroing(meeting.first.site, meeting.second.site)
    behind = step_behind(meeting.second.site)
    words = [f"`{quoted(unparse(each))}` at line {each.lineno}" for each in deleting]
    if not deleting or behind is None:
        return ""
    if receiver(behind) == owner_of(step):
        gone = f"{listed(words, len(words))} and `{quoted(unparse(behind))}` at line {behind.lineno}"
        return f", without {gone}"
    return f", with {listed(words, len(words))} moved before it, where it deletes none of these gradients"


def _loss(site: Site, else_: str) -> str:
    name = differentiated(site)
    return f"`{name}`" if name else else_


def _fresh(site: Site) -> str:
    return f" (`{expression(site)}`)" if _detached(site) else ""


def _detached(site: Site) -> str:
    """Of ``D(fake)`` the `` (`D(fake.detach())`)``; empty for anything but a call on one name."""
    try:
        made = ast.parse(expression(site), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    if not isinstance(made, ast.Call) or len(made.args) != 1 or made.keywords or not isinstance(made.args[0], ast.Name):
        return ""
    if not called(made):
        return ""
    text = f"{unparse(made.func)}({made.args[0].id}.detach())"
    return f" (`{quoted(text)}`)"
