"""The words of the line ``:``: commands of the console, those of the keys, and Python for what is neither."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from agdbg_ui.keymap import DO, KEYS, LOOK, Key
from agdbg_ui.palettes import NAMES, WORDS

if TYPE_CHECKING:
    from agdbg.console.table import Command

#: What a line is: the action of a key, a command of the console, Python, or words that a command does not take.
Kind = Literal["key", "console", "python", "bad"]
#: The ways to show the graph, of which the key takes the next one, and what is said of each.
_WAYS = {
    "lanes": ("lanes", "the graph as lanes"),
    "boxes": ("boxes", "the graph as boxes around the selected node"),
    "modules": ("tree", "the graph by modules"),
}
#: Words without a key.
WITHOUT_KEY = [
    *(Key("", "", f"pane('{pane}')", "", 0, LOOK, told, f"view {word}") for word, (pane, told) in _WAYS.items()),
    *(
        Key("", "", f"colours('{name}')", "", 0, DO, f"colours: {WORDS[theme]}", f"colours {name}")
        for name, theme in NAMES.items()
    ),
]
_WORD = re.compile(r"[A-Za-z?][\w?-]*")
_ASSIGNS = re.compile(r"\s*=(?!=)")
#: Shorter beginnings of a command's name are names in Python.
_LEAST_PREFIX = 2
#: How alike a word must be to a command that was meant.
_NEAR = 0.8
_ARGUMENTS = {
    "info": ("breakpoints", "threads", "hooks", "passes", "modules", "program"),
    "control": ("take", "release"),
    "back": ("force",),
    "reverse": ("force",),
}
_NAMES_FOLLOW = frozenset({"break", "tbreak", "log", "catch", "watch"})


def key_commands() -> dict[str, Key]:
    """The keys by the words that do the same."""
    return {key.command: key for key in (*KEYS, *WITHOUT_KEY) if key.command}


def told_of(action: str) -> str:
    """What the help says of the key with that action."""
    return next((key.help for key in key_commands().values() if key.action == action), "")


def meaning(line: str) -> tuple[Kind, str]:
    """What a line is, and what is to be done: the action of a key, the command, the expression, or what is wrong with it.

    ``!`` before it makes it Python, which a variable with the name of a command needs.
    """
    words = line.strip()
    if words.startswith("!"):
        return "python", words[1:].strip()
    found = _WORD.match(words)
    rest = words[found.end() :] if found else words
    if found is None or (rest and not rest[0].isspace()) or _ASSIGNS.match(rest):
        return "python", words
    if (key := key_commands().get(" ".join(words.split()))) is not None:
        return "key", key.action
    name = _console_name(found[0])
    if not name:
        choices = choices_of(found[0])
        return ("bad", choices) if choices and rest and not _is_python(words) else ("python", words)
    if not rest.strip() and (key := key_commands().get(name)) is not None:
        return "key", key.action
    return "console", words


def _console_name(word: str) -> str:
    """The command of the console that a word means, or ""."""
    from agdbg.console.table import COMMANDS, CommandError, find

    _load()
    try:
        name = find(word).name
    except CommandError as error:
        is_ambiguous = len(word) >= _LEAST_PREFIX and any(each.startswith(word) for each in COMMANDS)
        return word if is_ambiguous and "write more" in str(error) else ""
    is_exact = name == word or word in COMMANDS[name].aliases
    return name if is_exact or len(word) >= _LEAST_PREFIX else ""


def console_commands() -> list["Command"]:
    """The commands of the console that no key does, in the order of its help."""
    from agdbg.console.table import in_order

    _load()
    return [each for each in in_order() if each.name not in key_commands()]


def choices_of(word: str) -> str:
    """``colours takes dark, light ...``, of a word that only begins commands of keys; else ""."""
    rests = [rest for each in key_commands() for first, _, rest in [each.partition(" ")] if first == word and rest]
    return f"{word} takes {', '.join(rests[:-1])} or {rests[-1]}" if len(rests) > 1 else ""


def _is_python(line: str) -> bool:
    try:
        compile(line, "<line>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def nearest_command(line: str) -> str:
    """``; the command next is near``, when a line that is no Python may have been meant as one."""
    if choices := choices_of(line.strip()):
        return f"; the command {choices}"
    from agdbg.console.table import COMMANDS

    _load()
    near = get_close_matches(line.partition(" ")[0], [*COMMANDS, *key_commands()], n=1, cutoff=_NEAR)
    return f"; the command {near[0]} is near" if near else ""


def completions(line: str, names: Iterable[str]) -> list[str]:
    """The lines that this one may become: commands, and behind them what they take, of which `names` are in the program."""
    from agdbg.console.table import COMMANDS

    _load()
    head, blank, rest = line.lstrip().partition(" ")
    every = {*COMMANDS, *key_commands()}
    whole = sorted(each for each in every if each.startswith(line.lstrip()) and each != line.strip())
    if not blank:
        return whole
    command = _console_name(head)
    before, _, last = rest.rpartition(" ")
    offered: Iterable[str] = _ARGUMENTS.get(command, ())
    if command in _NAMES_FOLLOW:
        offered = names
    elif command == "help":
        offered = COMMANDS
    stem = f"{head} {before} " if before else f"{head} "
    fitting = {stem + each for each in offered if each.lower().startswith(last.lower()) and each != last}
    return [*whole, *sorted(fitting - {*whole})]


def common(lines: list[str]) -> str:
    """How all of them begin."""
    first, last = min(lines), max(lines)
    at = 0
    while at < len(first) and at < len(last) and first[at] == last[at]:
        at += 1
    return first[:at]


def _load() -> None:
    """The commands put themselves into the table when they are imported."""
    import agdbg.console.commands

    assert agdbg.console.commands
