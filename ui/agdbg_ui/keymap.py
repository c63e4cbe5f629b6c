"""The keys, in one table: bindings, footer and help screen are made from it."""

from collections.abc import Iterable
from typing import NamedTuple

from textual.binding import Binding


class Key(NamedTuple):
    """A key and what it does.

    `command` are the words that do the same at the console, "" where a key only moves within a pane. `shown` is the key
    as the screen names it, `label` the word in the footer, or "" for none there; when the footer has no room for all,
    those with the highest `rank` go first.
    """

    keys: str
    shown: str
    action: str
    label: str
    rank: int
    group: str
    help: str
    command: str = ""


STEP, LOOK, MOVE, DO = "Stepping", "Looking", "Moving", "Program and tools"

_PHASES = "tensor-hooks, pre-hooks, apply, post-hooks, accumulate, post-accumulate-hooks"

KEYS = [
    Key("n", "n", "step('next')", "next", 0, STEP, "run the next node", "next"),
    Key("p", "p", "step('stepBack')", "back", 1, STEP, "back by one node: takes back what it did", "back"),
    Key("s", "s", "step('stepIn')", "into", 9, STEP, f"into it: {_PHASES}", "step"),
    Key("o", "o", "step('stepOut')", "out", 9, STEP, "to the end of this backward pass", "finish"),
    Key("c", "c", "step('continue')", "continue", 2, STEP, "run on to the next breakpoint or error", "continue"),
    Key("r", "r", "step('reverseContinue')", "", 0, STEP, "run back to the previous stop", "reverse"),
    Key("z", "z", "pause", "pause", 8, STEP, "stop a running program at its next node", "pause"),
    Key(
        "b",
        "b",
        "breakpoint",
        "break",
        3,
        STEP,
        "breakpoint on the line of the selected node; again removes it",
        "break line",
    ),
    Key(
        "B",
        "B",
        "prompt('break')",
        "",
        0,
        STEP,
        "breakpoint on a name: op, node, parameter (* and ? match any)",
        "break name",
    ),
    Key("f", "f", "filters", "errors", 11, STEP, "which errors to stop at: switches filters on and off", "errors"),
    Key("t", "t", "other_thread", "", 0, STEP, "turn to the next stopped thread", "thread next"),
    Key(
        "slash",
        "/",
        "prompt('find')",
        "find",
        4,
        LOOK,
        "search ops, lines, source and names; Enter: next match",
        "search",
    ),
    Key("full_stop,g", ". g", "to_counter", "", 0, LOOK, "back to where the program stands", "here"),
    Key("x", "x", "explain", "why", 5, LOOK, "the whole explanation of this stop or of what went wrong", "why"),
    Key("colon", ":", "prompt('console')", "console", 10, LOOK, "a command of the console, or Python", "console"),
    Key(
        "v",
        "v",
        "turn_graph",
        "",
        0,
        LOOK,
        "the graph as lanes, as boxes around the selected node, by modules",
        "view other",
    ),
    Key(
        "left_square_bracket",
        "[",
        "fold('fold')",
        "",
        0,
        LOOK,
        "fold the open fold around the row, or what its module has built",
        "fold",
    ),
    Key("right_square_bracket", "]", "fold('unfold')", "", 0, LOOK, "unfold the row", "unfold"),
    Key(
        "left_curly_bracket",
        "{",
        "fold('all')",
        "",
        0,
        LOOK,
        "fold all rows by modules and repeats",
        "fold all",
    ),
    Key("right_curly_bracket", "}", "fold('none')", "", 0, LOOK, "unfold all rows", "unfold all"),
    Key(
        "greater_than_sign",
        ">",
        "fold('deeper')",
        "",
        0,
        LOOK,
        "fold modules one call deeper: smaller folds",
        "fold deeper",
    ),
    Key(
        "less_than_sign",
        "<",
        "fold('wider')",
        "",
        0,
        LOOK,
        "fold modules one call less deep: larger folds",
        "fold wider",
    ),
    Key("u", "u", "jump_to('producer')", "", 0, LOOK, "to the producer: where the gradient goes next", "go producer"),
    Key("d", "d", "jump_to('consumer')", "", 0, LOOK, "to the consumer: where the gradient comes from", "go consumer"),
    Key("R", "R", "jump_to('root')", "", 0, LOOK, "to the node at which the pass began", "go root"),
    Key(
        "exclamation_mark",
        "!",
        "jump_to('bad')",
        "",
        0,
        LOOK,
        "to the first node with a NaN or an Inf, or that failed",
        "go bad",
    ),
    Key("m", "m", "mark", "", 0, LOOK, "mark a node; at a second one: the ways between them; at a third: none", "mark"),
    Key("w", "w", "walk(1)", "", 0, LOOK, "walk on through the lines that show what went wrong", "walk"),
    Key("W", "W", "walk(-1)", "", 0, LOOK, "walk back through them", "walk back"),
    Key("e", "e", "export", "export", 6, LOOK, "write the graph to an SVG file, or all to a database", "draw"),
    Key("up,down", "↑ ↓", "", "", 0, MOVE, "select the row above, below; also PgUp, PgDn, Home, End, mouse"),
    Key("tab", "Tab", "app.focus_next", "", 0, MOVE, "to the next pane; Shift+Tab to the one before", "view next"),
    Key(
        "1",
        "1",
        "pane('inspector')",
        "",
        0,
        MOVE,
        "inspector: gradients, saved tensors, edges, hooks",
        "view inspector",
    ),
    Key("2", "2", "pane('source')", "", 0, MOVE, "source: the forward line of the selected node", "view source"),
    Key("3", "3", "pane('output')", "", 0, MOVE, "output of the program", "view output"),
    Key("4", "4", "pane('events')", "", 0, MOVE, "events: passes, hooks, writes, errors", "view events"),
    Key(
        "5",
        "5",
        "pane('findings')",
        "",
        0,
        MOVE,
        "findings: what went wrong, and the lines that show it",
        "view findings",
    ),
    Key("6", "6", "pane('timeline')", "", 0, MOVE, "timeline: how long each node of a pass took", "view timeline"),
    Key("7", "7", "pane('stops')", "", 0, MOVE, "stops: breakpoints, watches, errors, threads", "view stops"),
    Key("8", "8", "pane('console')", "", 0, MOVE, "console: what was asked at : and answered", "view console"),
    Key("plus", "+", "grow(5)", "", 0, MOVE, "more room for the graph", "grow"),
    Key("minus", "-", "grow(-5)", "", 0, MOVE, "less room for the graph", "shrink"),
    Key("Z", "Z", "zoom", "", 0, MOVE, "let this pane have all the room; again gives it back", "zoom"),
    Key("0", "0", "pane('graph')", "", 0, MOVE, "back to the graph", "view graph"),
    Key("escape", "Esc", "leave", "", 0, MOVE, "cancel what takes long; otherwise back to the graph", "cancel"),
    Key("i", "i", "type_in", "", 0, DO, "type into the program (input, pdb); Esc leaves", "type"),
    Key("y", "y", "copy", "", 0, DO, "copy what the cursor is on (OSC 52, through ssh and tmux as well)", "copy"),
    Key(
        "T",
        "T",
        "next_theme",
        "",
        0,
        DO,
        "other colours: dark, light, high contrast, for the colour-blind",
        "colours",
    ),
    Key("ctrl+e", "Ctrl+E", "edit", "", 0, DO, "$EDITOR at the line of the source pane", "edit"),
    Key("ctrl+p", "Ctrl+P", "command_palette", "", 0, DO, "all that the keys do, to search in", "palette"),
    Key("question_mark", "?", "help", "help", 4, DO, "this page", "keys"),
    Key("q,ctrl+q", "q", "quit", "quit", 0, DO, "quit; asks what becomes of a running program", "quit"),
]


#: Keys that open a line, by what is asked there. They come before all others, so that what is typed behind them without
#: a pause goes into that line: by the usual way the next keys would still go to the pane, which would do what they mean there.
OPENS = {"colon": "console", "slash": "find"}


def bindings() -> list[Binding]:
    """Bindings of the app. Of the keys with ctrl none is tmux's prefix or stops the terminal's flow."""
    usual = [Binding(key.keys, key.action, key.help, show=False) for key in KEYS if key.action]
    return [
        *usual,
        *(Binding(key, f"open_at_once('{kind}')", show=False, priority=True) for key, kind in OPENS.items()),
    ]


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
