"""Changing what the program does: values, and whether the graph is kept."""

import re
from typing import TYPE_CHECKING

from agdbg.console.commands.looking import evaluate
from agdbg.console.table import CommandError, Reply, command

if TYPE_CHECKING:
    from agdbg.console.console import Console

_GROUP = "Changing"
_OURS = re.compile(r"(grads?|saved)\b\s*([\[.].*)?")
_EQUALS = re.compile(r"(?<![=!<>:])=(?!=)")


@command("set", arguments="grad | grads[N] | saved[N] | NAME = EXPRESSION", group=_GROUP)
def set_value(console: "Console", rest: str) -> Reply:
    """Replace an incoming gradient, a saved tensor for the next run, or a variable of the program, by the value of Python."""
    found = _EQUALS.search(rest)
    target, value = (rest[: found.start()].strip(), rest[found.end() :].strip()) if found else (rest, "")
    if not target or not value:
        raise CommandError(
            "set what? write set grad = EXPRESSION (grads[1] where several come in), set saved[0] = EXPRESSION or "
            "set NAME = EXPRESSION"
        )
    if _OURS.fullmatch(target):
        frames = console.frames()
        if not frames:
            raise CommandError(f"{target} cannot be replaced: the program has ended, and no node that ran was recorded")
        made = console.ask("setExpression", expression=target, value=value, frameId=frames[0]["id"])
        return Reply(f"{target} = {made['value']}", {"target": target, **made})
    evaluate(console, f"{target} = {value}")
    return Reply(f"{target} is set", {"target": target})


@command("retain", group=_GROUP)
def retain(console: "Console", rest: str) -> Reply:
    """Keep the graph after all: what this pass runs from here on is not freed."""
    freed = console.ask("agdbg/retain", threadId=console.thread)["freed"]
    text = "the graph is kept from here on"
    if freed:
        names = ", ".join(f"{each['op']} (node {each['node']})" for each in freed[:8])
        more = f" and {len(freed) - 8:,} more" if len(freed) > 8 else ""
        text += f"; freed already: {names}{more}"
    else:
        text += "; nothing of it was freed yet"
    return Reply(text, {"freed": freed})
