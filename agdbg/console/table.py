"""The table of commands: their names, shorter names and words of help, and how a word finds its command."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agdbg.console.console import Console


class CommandError(Exception):
    """A command cannot be done; the message names the word, and the way out."""


@dataclass(frozen=True)
class Reply:
    """What a command has found: text for people, and a value that can be written as JSON."""

    text: str
    value: Any = None


Run = Callable[["Console", str], Reply]


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes:
        name: as it is written.
        aliases: shorter or other names; a prefix that only fits one command will do as well.
        arguments: what follows the name, for the help.
        summary: what it does, in a line.
        group: what commands it belongs to.
        run: does it, with what follows the name.
    """

    name: str
    aliases: tuple[str, ...]
    arguments: str
    summary: str
    group: str
    run: Run

    @property
    def usage(self) -> str:
        """The name and its arguments."""
        return f"{self.name} {self.arguments}".rstrip()


#: The groups of commands, in the order in which help lists them.
GROUPS = ("Moves", "Breakpoints", "Looking", "Changing", "Telling", "Session")
#: Commands of the breakpoints that need no thread that stands.
_WITHOUT_A_THREAD = (
    *("break", "tbreak", "log", "catch"),
    *("condition", "ignore", "commands", "delete", "enable", "disable"),
)
#: All commands by name.
COMMANDS: dict[str, Command] = {}
_ALIASES: dict[str, str] = {}


def command(name: str, *aliases: str, arguments: str = "", group: str) -> Callable[[Run], Run]:
    """Put a function into the table; the first line of its docstring is the summary."""

    def register(run: Run) -> Run:
        summary = (run.__doc__ or "").strip().splitlines()[0].rstrip(".")
        COMMANDS[name] = Command(name, aliases, arguments, summary, group, run)
        for alias in aliases:
            assert alias not in _ALIASES and alias not in COMMANDS, f"{alias} is taken"
            _ALIASES[alias] = name
        return run

    return register


def in_order() -> list[Command]:
    """All commands, group by group, as help lists them."""
    return sorted(COMMANDS.values(), key=lambda each: GROUPS.index(each.group))


def find(word: str) -> Command:
    """The command that a word means: its name, an alias, or the beginning of one name only.

    Raises:
        CommandError: none, or several.
    """
    exact = COMMANDS.get(word) or COMMANDS.get(_ALIASES.get(word, ""))
    if exact is not None:
        return exact
    fitting = [name for name in COMMANDS if name.startswith(word)]
    if len(fitting) == 1:
        return COMMANDS[fitting[0]]
    if fitting:
        raise CommandError(f"{word!r} may be {' or '.join(sorted(fitting))}; write more of it")
    raise CommandError(f"there is no command {word!r}{nearest(word, [*COMMANDS, *_ALIASES])}; help lists them")


def says_where_to_stop(line: str) -> bool:
    """Whether a line is a command about breakpoints that needs no thread that stands."""
    import agdbg.console.commands

    assert agdbg.console.commands
    try:
        return find(line.partition(" ")[0]).name in _WITHOUT_A_THREAD
    except CommandError:
        return False


def nearest(word: str, names: list[str]) -> str:
    """``, did you mean next?``, when a name is near, or the word is a part of few."""
    parts = [name for name in names if word and word in name.split("-")][:_MEANT]
    near = parts or get_close_matches(word, names, n=1)
    return f", did you mean {' or '.join(near)}?" if near else ""


#: Names that are told of those that have a word in them.
_MEANT = 3
#: Digits of the largest number that is taken, and of one that is told.
_DIGITS, _SHOWN = 15, 40


def number(text: str, what: str) -> int:
    """A count or an id, from 0 on.

    Raises:
        CommandError: it is none.
    """
    word = text.strip().removeprefix("#")
    if not word.isascii() or not word.isdecimal():
        raise CommandError(f"{text.strip()!r} is no {what}; write a whole number")
    if len(word) > _DIGITS:
        shown = word if len(word) <= _SHOWN else f"{word[:_SHOWN]}..."
        raise CommandError(
            f"{shown} is too large a {what.partition(',')[0]}: {10**_DIGITS - 1:,} is the largest that there is"
        )
    return int(word)
