"""What to do about two results that share a part of the graph, with and without an optimizer step between."""

import ast

from agdbg.diagnose.advice import add_up, add_up_or_retain, is_misplaced
from agdbg.diagnose.history import after, step_between, stepped_between
from agdbg.diagnose.meeting import Meeting
from agdbg.diagnose.naming import entry_words
from agdbg.diagnose.scene import Scene
from agdbg.diagnose.source import called, differentiated, expression, quoted
from agdbg.diagnose.syntax import unparse
from agdbg.diagnose.words import capital
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
    if any(changed) and not all(changed):
        one, other = _loss(first.site, "the first loss"), _loss(second.site, "the second")
        return (
            f"The optimizer step{at} changed parameters that {words} was computed with, so compute it twice: once on "
            f"the detached input{_detached(entry.site)} for {one}, and once freshly{_fresh(entry.site)} after the step "
            f"for {other}."
        )
    late = " retain_graph=True does not help across a step." if is_misplaced(scene) else ""
    if any(changed) and after(second, first, scene.case):
        return (
            f"The optimizer step{at} changed parameters that {words} was computed with: compute {words} again after the "
            f"step.{late}"
        )
    if after(second, first, scene.case):
        return (
            f"The optimizer step{at} lies between the two: detach {words} in the loss that is not meant to train what is "
            "below it, or compute it again after the step."
        )
    return f"{capital(add_up(scene))}, before the optimizer step{at}, or compute {words} again after the step.{late}"


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
