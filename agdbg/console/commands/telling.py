"""What the recording tells: events, findings, explanations, drawings."""

from typing import TYPE_CHECKING, Any

from agdbg.breakpoints import EVENTS
from agdbg.console.event_names import is_meant, is_named, unlisted
from agdbg.console.places import short
from agdbg.console.table import CommandError, Reply, command, nearest
from agdbg.counted import counted

if TYPE_CHECKING:
    from agdbg.console.console import Console

_GROUP = "Telling"
_PAGE = 1000
_SHOWN = 20


@command("explain", "why", group=_GROUP)
def explain(console: "Console", rest: str) -> Reply:
    """Say what went wrong, and what to do: of the error at which the program stands, or else of the whole recording."""
    found = console.ask("agdbg/findings")
    return Reply(found["rendered"].rstrip() or "nothing was found", found)


@command("findings", group=_GROUP)
def findings(console: "Console", rest: str) -> Reply:
    """List what was found, a line each."""
    found = console.ask("agdbg/findings")["findings"]
    lines = [f"{each['kind']} ({each['certainty']}): {each['cause']}" for each in found]
    return Reply("\n".join(lines) or "nothing was found", {"findings": found})


@command("events", arguments="[KIND] [COUNT | all]", group=_GROUP)
def events(console: "Console", rest: str) -> Reply:
    """List the last events, of one kind, named as here or for catch, or of all, with the numbers that goto takes."""
    words = rest.split()
    count: int | None = _SHOWN
    if words and (words[-1] == "all" or words[-1].isdecimal()):
        count = None if words[-1] == "all" else int(words[-1])
        words.pop()
    kind = " ".join(words)
    everything = all_events(console)
    chosen = [each for each in everything if not kind or is_meant(kind, each)]
    if kind and not chosen and is_named(kind):
        return Reply(unlisted(kind) or f"no {kind} has been recorded", {"events": [], "total": 0})
    if kind and not chosen:
        kinds = sorted({each["kind"] for each in everything})
        raise CommandError(
            f"there is no event {kind!r}{nearest(kind, [*kinds, *EVENTS])}; there are: {', '.join(kinds) or 'none'}"
        )
    shown = chosen if count is None else chosen[len(chosen) - min(count, len(chosen)) :]
    lines = [_event(each) for each in shown]
    before = len(chosen) - len(shown)
    more = [f"({before:,} before these; events {kind + ' ' if kind else ''}all lists them)"] if before else []
    return Reply("\n".join([*more, *lines]) or "nothing has happened yet", {"events": shown, "total": len(chosen)})


@command("graph", arguments="[NODE [HOPS]]", group=_GROUP)
def graph(console: "Console", rest: str) -> Reply:
    """List the nodes around a node with the edges between them; without one, around the one that runs next."""
    words = rest.split()
    if len(words) > 2 or not all(word.isdecimal() for word in words):
        raise CommandError(f"graph takes the number of a node and a number of hops, and not {rest!r}")
    node = int(words[0]) if words else console.node()
    found = console.ask("agdbg/graph", node=node, hops=int(words[1]) if len(words) > 1 else 1, start=0, count=_PAGE)
    inputs: dict[int, list[int]] = {}
    for edge in found["edges"]:
        inputs.setdefault(edge["consumer"], []).append(edge["producer"])
    lines = [_graph_node(each, inputs.get(each["id"], [])) for each in found["nodes"]]
    return Reply("\n".join([found["title"], *lines]), found)


@command("export", arguments="FILE [full]", group=_GROUP)
def export(console: "Console", rest: str) -> Reply:
    """Draw the graph into a file, whose suffix says the format (.svg, .dot, .json, ...); full folds no repeats."""
    words = rest.split()
    is_full = len(words) > 1 and words[-1] == "full"
    name = " ".join(words[:-1] if is_full else words)
    if not name:
        raise CommandError("export where? write export FILE, whose suffix says the format")
    made = console.ask("agdbg/export", path=str(console.cwd / name), full=is_full)
    return Reply(f"{counted(made['nodes'], 'node')} drawn into {short(made['path'])}", made)


def all_events(console: "Console") -> list[dict[str, Any]]:
    """All events so far, read page by page."""
    found: list[dict[str, Any]] = []
    while True:
        page = console.ask("agdbg/events", start=len(found), count=_PAGE)
        found += page["events"]
        if not page["events"] or len(found) >= page["total"]:
            return found


def _event(each: dict[str, Any]) -> str:
    place = f"  {short(each['file'])}:{each['line']}" if each["file"] else ""
    return f"{each['index']:6}  {each['kind']}: {each['text']}{place}"


def _graph_node(each: dict[str, Any], inputs: list[int]) -> str:
    badges = "".join(f" [{badge['text']}]" for badge in each["badges"])
    to = f"  <- {', '.join(map(str, inputs))}" if inputs else ""
    place = f"  {short(each['file'])}:{each['line']}" if each["file"] else ""
    return f"{each['id']:6}  {each['op']}{badges}, {each['state']}{to}{place}"
