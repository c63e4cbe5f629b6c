"""Looking at where the program stands: the stack, the source, the node and what it has."""

from typing import TYPE_CHECKING, Any

from agdbg.console.places import file_and_line, frames_in_words, line_of, path_of, short
from agdbg.console.table import CommandError, Reply, command, number
from agdbg.counted import counted

if TYPE_CHECKING:
    from agdbg.console.console import Console

_GROUP = "Looking"
_AROUND = 5


@command("where", "bt", "backtrace", group=_GROUP)
def where(console: "Console", rest: str) -> Reply:
    """Show the stack: the node, its forward line, the call of backward() and the frames of the program."""
    frames = console.frames()
    text = frames_in_words(console, frames)
    if console.state.is_over:
        where = f"in the recording, since the program has ended:\n{text}"
        text = where if frames else "the program has ended, and no node that ran was recorded"
    return Reply(text, {"frames": frames, "frame": console.frame})


@command("frame", "f", arguments="NUMBER", group=_GROUP)
def frame(console: "Console", rest: str) -> Reply:
    """Look at a frame of the stack, by its number."""
    return _look_at(console, number(rest, "number of a frame") if rest else console.frame)


@command("thread", "t", arguments="NUMBER", group=_GROUP)
def thread(console: "Console", rest: str) -> Reply:
    """Look at another thread that stands, by its number in info threads; moves are its own from then on."""
    wanted = number(rest, "number of a thread")
    console.settle()
    if wanted not in console.state.stops:
        there = ", ".join(map(str, sorted(console.state.stops))) or "none"
        raise CommandError(f"there is no thread {wanted} that stands; those that do: {there}")
    console.select(wanted)
    body = console.state.stops[wanted]
    return Reply(console.told_stop(body).text, {"thread": wanted, "stands": body})


@command("up", arguments="[COUNT]", group=_GROUP)
def up(console: "Console", rest: str) -> Reply:
    """Look at the frame that called this one."""
    return _look_at(console, console.frame + (number(rest, "count") if rest else 1))


@command("down", arguments="[COUNT]", group=_GROUP)
def down(console: "Console", rest: str) -> Reply:
    """Look at the frame that this one called."""
    return _look_at(console, console.frame - (number(rest, "count") if rest else 1))


@command("list", "l", arguments="[FILE:LINE | LINE]", group=_GROUP)
def list_source(console: "Console", rest: str) -> Reply:
    """Show the source around the frame that is looked at, then what follows; or around a line."""
    file, line, first = _to_list(console, rest)
    lines, note = console.source_now(file)
    if not lines:
        raise CommandError(f"{file} cannot be read")
    first = max(first if first else line - _AROUND, 1)
    last = min(first + 2 * _AROUND, len(lines))
    if first > len(lines):
        raise CommandError(f"{short(file)} has {counted(len(lines), 'line')}")
    console.listed = (file, last + 1)
    shown = [f"{'->' if at == line else '  '} {at:5}  {lines[at - 1]}".rstrip() for at in range(first, last + 1)]
    value = {"file": file, "first": first, "line": line, "lines": lines[first - 1 : last]}
    return Reply("\n".join([short(file), *([note] if note else []), *shown]), value | {"note": note})


@command("node", arguments="[NODE]", group=_GROUP)
def show_node(console: "Console", rest: str) -> Reply:
    """Show all about a node: gradients, saved tensors, edges, hooks; without a number, about the one that runs next."""
    found = body_of(console, rest)
    sections = [text for section in found["sections"] if (text := _section(section))]
    return Reply("\n".join([_title(found), *sections]), found)


@command("grads", arguments="[NODE]", group=_GROUP)
def show_gradients(console: "Console", rest: str) -> Reply:
    """Show the gradients that come in at a node, and those that it sends on."""
    return _sections(console, rest, ("Gradients in", "Gradients out"))


@command("saved", arguments="[NODE]", group=_GROUP)
def show_saved(console: "Console", rest: str) -> Reply:
    """Show the saved tensors of a node with their versions."""
    return _sections(console, rest, ("Saved tensors",))


@command("print", "p", "inspect", arguments="EXPRESSION", group=_GROUP)
def print_value(console: "Console", rest: str) -> Reply:
    """Evaluate Python in the frame that called backward(), with node, grads, grad and saved; never a big tensor whole."""
    if not rest:
        raise CommandError("print what? write an expression, as print grad.norm()")
    found = evaluate(console, rest)
    return Reply(found["result"], {"result": found["result"], "type": found.get("type", "")})


@command("locals", arguments="", group=_GROUP)
def show_locals(console: "Console", rest: str) -> Reply:
    """Show the variables of the function that is looked at."""
    frames = console.frames()
    chosen = frames[console.frame : console.frame + 1]
    functions = [each for each in (*chosen, *frames) if _is_function(console, each)]
    if not functions:
        raise CommandError("no function of the program is on the stack here")
    scopes = console.ask("scopes", frameId=functions[0]["id"])["scopes"]
    found = [each for scope in scopes for each in _variables(console, scope["variablesReference"])]
    text = "\n".join(f"{each['name']} = {each['value']}" for each in found)
    return Reply(text or "no variables", {"frame": functions[0]["name"], "variables": found})


# ----- helpers -----


def body_of(console: "Console", rest: str) -> dict[str, Any]:
    """All about a node: the one with the number in ``rest``, or else that at which the thread stands."""
    node = number(rest, "number of a node") if rest else console.node()
    if console.is_waiting:
        raise CommandError("the program has not been started; run, start or continue does")
    thread = {"threadId": console.thread} if console.state.stops else {}
    return console.ask("agdbg/node", node=node, **thread)


def evaluate(console: "Console", expression: str) -> dict[str, Any]:
    """The value of Python in the frame that is looked at."""
    thread = console.thread
    frames = console.frames()
    chosen = {"frameId": frames[min(console.frame, len(frames) - 1)]["id"]} if frames and thread else {}
    return console.ask("evaluate", expression=expression, context="repl", **chosen)


def _look_at(console: "Console", wanted: int) -> Reply:
    frames = console.frames()
    if not 0 <= wanted < len(frames):
        raise CommandError(f"there is no frame {wanted}; there are {len(frames)}, from 0")
    console.frame, console.listed = wanted, None
    shown = frames[wanted]
    return Reply(f"#{wanted}  {shown['name']}{line_of(console, shown)}", {"frame": wanted, **shown})


def _to_list(console: "Console", rest: str) -> tuple[str, int, int]:
    """The file, the line to mark (0: none) and the first line to show (0: some before the marked one)."""
    if rest:
        place = file_and_line(console, rest)
        if place is not None:
            return (*place, 0)
        return _file_at(console), number(rest, "line"), 0
    if console.listed is not None:
        return console.listed[0], 0, console.listed[1]
    if console.is_waiting:
        return path_of(console, ""), 1, 0
    frames = console.frames()
    shown = [each for each in frames[console.frame :] if each.get("source") and each["line"]]
    if not shown:
        raise CommandError("no source is known here; list FILE:LINE shows one")
    return shown[0]["source"]["path"], shown[0]["line"], 0


def _file_at(console: "Console") -> str:
    if console.listed is not None:
        return console.listed[0]
    return path_of(console, "") if console.is_waiting else _to_list(console, "")[0]


def _title(found: dict[str, Any]) -> str:
    place = f"{short(found['file'])}:{found['line']}  {found['text']}" if found["file"] else "place not known"
    return f"{found['op']}, node {found['node']}, {found['state']}\n  {place}"


def _section(section: dict[str, Any]) -> str:
    if not section["entries"]:
        return ""
    return "\n".join([f"{section['name']}:", *(f"  {each['name']}: {each['value']}" for each in section["entries"])])


def _sections(console: "Console", rest: str, names: tuple[str, ...]) -> Reply:
    found = body_of(console, rest)
    sections = [section for section in found["sections"] if section["name"] in names]
    shown = [text if (text := _section(section)) else f"{section['name']}: none" for section in sections]
    title = _title(found).splitlines()[0]
    return Reply("\n".join([title, *shown]), {"node": found["node"], "op": found["op"], "sections": sections})


def _is_function(console: "Console", frame: dict[str, Any]) -> bool:
    scopes = console.ask("scopes", frameId=frame["id"])["scopes"]
    return [scope["name"] for scope in scopes] == ["Locals"]


def _variables(console: "Console", reference: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = console.ask("variables", variablesReference=reference)["variables"]
    return found
