"""The session itself: help, ending it, ending the program."""

from typing import TYPE_CHECKING

from agdbg.console.table import CommandError, Reply, command, find, in_order

if TYPE_CHECKING:
    from agdbg.console.console import Console

_GROUP = "Session"


@command("help", "h", "?", arguments="[COMMAND]", group=_GROUP)
def show_help(console: "Console", rest: str) -> Reply:
    """List all commands, or say how one is written and what it does."""
    if rest:
        found = find(rest)
        also = f"\nalso: {', '.join(found.aliases)}" if found.aliases else ""
        value = {"name": found.name, "usage": found.usage, "aliases": list(found.aliases), "summary": found.summary}
        return Reply(f"{found.usage}\n  {found.summary}{also}", value)
    groups: dict[str, list[str]] = {}
    for each in in_order():
        groups.setdefault(each.group, []).append(f"  {each.name:10} {each.summary}")
    text = "\n".join("\n".join([f"{group}:", *lines]) for group, lines in groups.items())
    return Reply(
        f"{text}\na name may be cut as long as it fits one command only",
        {"commands": [each.name for each in in_order()]},
    )


@command("kill", "k", group=_GROUP)
def kill(console: "Console", rest: str) -> Reply:
    """End the program; its recording stays."""
    if console.is_waiting:
        raise CommandError("the program has not been started")
    console.ask("terminate")
    return console.until_the_end()


@command("control", arguments="[take | release]", group=_GROUP)
def control(console: "Console", rest: str) -> Reply:
    """Say which of several clients moves the program, take that over, or give it up."""
    if rest not in ("", "take", "release"):
        raise CommandError(f"control takes take or release, and not {rest!r}")
    found = console.ask("agdbg/control", **({rest: True} if rest else {}))
    holder = "this client has control" if found["has"] else f"{found['holder']} has control" if found["holder"] else ""
    return Reply(holder or "nobody has control: whoever moves next", found)


@command("quit", "q", "exit", group=_GROUP)
def leave(console: "Console", rest: str) -> Reply:
    """Leave the console; commands behind it are not done."""
    console.wants_to_quit = True
    return Reply("", None)
