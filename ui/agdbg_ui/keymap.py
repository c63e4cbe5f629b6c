"""The keys, in one table: bindings, footer and help screen are made from it."""

from collections.abc import Iterable
from typing import NamedTuple

from textual.binding import Binding


class Key(NamedTuple):
    """A key and what it does.

    `shown` is the key as the screen names it, `label` the word in the footer, or "" for none there; when the footer
    has no room for all, those with the highest `rank` go first.
    """

    keys: str
    shown: str
    action: str
    label: str
    rank: int
    group: str
    help: str


STEP, LOOK, MOVE, DO = "Stepping", "Looking", "Moving", "Program and tools"

_PHASES = "tensor-hooks, pre-hooks, apply, post-hooks, accumulate, post-accumulate-hooks"

KEYS = [
    Key("n", "n", "step('next')", "next", 0, STEP, "run the next node"),
    Key("p", "p", "step('stepBack')", "back", 1, STEP, "back by one node: takes back what it did"),
    Key("s", "s", "step('stepIn')", "into", 9, STEP, f"into it: {_PHASES}"),
    Key("o", "o", "step('stepOut')", "out", 9, STEP, "to the end of this backward pass"),
    Key("c", "c", "step('continue')", "continue", 2, STEP, "run on to the next breakpoint or error"),
    Key("r", "r", "step('reverseContinue')", "", 0, STEP, "run back to the previous stop"),
    Key("z", "z", "pause", "pause", 8, STEP, "stop a running program at its next node"),
    Key("b", "b", "breakpoint", "break", 3, STEP, "breakpoint on the line of the selected node; again removes it"),
    Key("B", "B", "prompt('break')", "", 0, STEP, "breakpoint on a name: op, node, parameter (* and ? match any)"),
    Key("f", "f", "filters", "errors", 11, STEP, "which errors to stop at: switches filters on and off"),
    Key("t", "t", "other_thread", "", 0, STEP, "turn to the next stopped thread"),
    Key("slash", "/", "prompt('find')", "find", 4, LOOK, "search ops, lines, source and names; Enter: next match"),
    Key("full_stop,g", ". g", "to_counter", "", 0, LOOK, "back to where the program stands"),
    Key("x", "x", "explain", "why", 5, LOOK, "the whole explanation of this stop or of what went wrong"),
    Key("colon", ":", "prompt('evaluate')", "eval", 10, LOOK, "evaluate Python where the program stands"),
    Key("e", "e", "export", "export", 6, LOOK, "write the graph to an SVG file"),
    Key("up,down", "↑ ↓", "", "", 0, MOVE, "select the row above, below; also PgUp, PgDn, Home, End, mouse"),
    Key("tab", "Tab", "app.focus_next", "", 0, MOVE, "to the next pane; Shift+Tab to the one before"),
    Key("1", "1", "pane('inspector')", "", 0, MOVE, "inspector: gradients, saved tensors, edges, hooks"),
    Key("2", "2", "pane('source')", "", 0, MOVE, "source: the forward line of the selected node"),
    Key("3", "3", "pane('output')", "", 0, MOVE, "output of the program"),
    Key("4", "4", "pane('events')", "", 0, MOVE, "events: passes, hooks, writes, errors"),
    Key("0,escape", "0 Esc", "pane('lanes')", "", 0, MOVE, "back to the graph"),
    Key("i", "i", "type_in", "", 0, DO, "type into the program (input, pdb); Esc leaves"),
    Key("question_mark", "?", "help", "help", 4, DO, "this page"),
    Key("q,ctrl+q", "q", "quit", "quit", 0, DO, "quit; asks what becomes of a running program"),
]


def bindings() -> list[Binding]:
    """Bindings of the app. ctrl+q is Textual's own, and kept; no other key with ctrl: tmux and shells use them."""
    return [Binding(key.keys, key.action, key.help, show=False) for key in KEYS if key.action]


def groups() -> dict[str, list[Key]]:
    """The keys as the help screen shows them."""
    found: dict[str, list[Key]] = {}
    for key in KEYS:
        found.setdefault(key.group, []).append(key)
    return found


def footer(keys: Iterable[Key], room: int) -> list[Key]:
    """Those of `keys` that have a label and fit into `room` cells, in their order."""
    shown = [key for key in keys if key.label]
    while shown and sum(footer_width(key) for key in shown) > room:
        shown.remove(max(shown, key=lambda key: key.rank))
    return shown


def footer_width(key: Key) -> int:
    """Cells that a key takes in the footer: itself, its label and the blanks around them."""
    return len(key.shown) + len(key.label) + 3
