"""``info``: lists of what there is."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agdbg.console.commands.looking import body_of
from agdbg.console.commands.stopping import list_all
from agdbg.console.commands.telling import all_events
from agdbg.console.table import CommandError, Reply, command, nearest

if TYPE_CHECKING:
    from agdbg.console.console import Console


@command("info", "i", arguments="breakpoints | threads | hooks [NODE] | passes | modules | program", group="Looking")
def info(console: "Console", rest: str) -> Reply:
    """List breakpoints, threads, the hooks of a node, passes, modules, or how the program is."""
    word, _, more = rest.partition(" ")
    fitting = [name for name in _TOPICS if word and name.startswith(word)]
    if len(fitting) != 1:
        problem = f"it knows nothing of {word!r}{nearest(word, list(_TOPICS))}; " if word else ""
        raise CommandError(f"{problem}write info with one of {', '.join(_TOPICS)}")
    return _TOPICS[fitting[0]](console, more.strip())


def _breakpoints(console: "Console", rest: str) -> Reply:
    return list_all(console)


def _threads(console: "Console", rest: str) -> Reply:
    status = console.ask("agdbg/status")
    lines = [_thread(console, each) for each in status["threads"]]
    return Reply("\n".join(lines) or "no thread has run a backward pass yet", {"threads": status["threads"]})


def _thread(console: "Console", each: dict[str, Any]) -> str:
    stop = console.state.stops.get(each["id"])
    where = stop.get("description", "") if stop is not None else "stands" if each["stopped"] else "running"
    return f"{each['id']}  {each['name']}: {where}"


def _hooks(console: "Console", rest: str) -> Reply:
    found = body_of(console, rest)
    hooks = next(section["entries"] for section in found["sections"] if section["name"] == "Hooks")
    title = f"{found['op']}, node {found['node']}"
    text = "\n".join([f"{title}:", *(f"  {each['name']}: {each['value']}" for each in hooks)])
    return Reply(text if hooks else f"{title}: no hooks", {"node": found["node"], "op": found["op"], "hooks": hooks})


def _passes(console: "Console", rest: str) -> Reply:
    found = [each for each in all_events(console) if each["kind"].startswith("pass ")]
    return Reply("\n".join(f"{each['kind']}: {each['text']}" for each in found) or "no pass was run", {"passes": found})


def _modules(console: "Console", rest: str) -> Reply:
    found: list[dict[str, Any]] = []
    while True:
        page = console.ask("agdbg/tree", start=len(found), count=1000)
        found += page["branches"]
        if not page["branches"] or len(found) >= page["total"]:
            break
    text = "\n".join(_branch(each) for each in found)
    return Reply(text or "no module was called", {"modules": found})


def _branch(each: dict[str, Any]) -> str:
    """A module or a parameter, below the module that it is in."""
    nodes = f"  {each['nodes']:,} {'node' if each['nodes'] == 1 else 'nodes'}" if each["kind"] == "module" else ""
    return f"{'  ' * each['depth']}{each['path'] or '(root)'}  {each['className']}{nodes}".rstrip()


def _program(console: "Console", rest: str) -> Reply:
    status = console.ask("agdbg/status")
    words = " ".join(status["argv"])
    state = f"{status['state']}, waits for input" if status["awaitsInput"] else status["state"]
    state += f", runs {status['runs']}" if status["runs"] else ""
    return Reply(f"{words or 'no program'}: {state}; trace: {status['trace'] or 'none'}", status)


_TOPICS: dict[str, Callable[["Console", str], Reply]] = {
    "breakpoints": _breakpoints,
    "threads": _threads,
    "hooks": _hooks,
    "passes": _passes,
    "modules": _modules,
    "program": _program,
}
