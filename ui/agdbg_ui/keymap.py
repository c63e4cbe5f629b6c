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

_PHASES = "tensor-hooks, pre-hooks, apply, unpack, post-hooks, accumulate, post-accumulate-hooks"

#: Keys, what they do, the words that do the same, and what is said of it.
_ROWS = {
    STEP: (
        ("n", "step('next')", "next", "run the next node"),
        ("p", "step('stepBack')", "back", "back by one node: takes back what it did"),
        ("s", "step('stepIn')", "step", f"into it: {_PHASES}"),
        ("o", "step('stepOut')", "finish", "to the end of this backward pass"),
        ("c", "step('continue')", "continue", "run on to the next breakpoint or error"),
        ("r", "step('reverseContinue')", "reverse", "run back to the previous stop"),
        ("z", "pause", "pause", "stop a running program at its next node"),
        ("b", "breakpoint", "break line", "breakpoint on the line of the selected node; again removes it"),
        ("B", "prompt('break')", "break name", "breakpoint on a name: op, node, parameter (* and ? match any)"),
        ("E", "filters", "errors", "which errors to stop at: switches filters on and off"),
        ("C", "take_control", "control take", "take control, where another client at this program has it"),
        ("t", "other_thread", "thread next", "turn to the next stopped thread"),
        ("P", "other_process", "process next", "turn to the next process (rank) of a parallel program"),
    ),
    LOOK: (
        ("slash", "prompt('find')", "search", "search ops, lines, source and names; / Enter: the next match"),
        ("full_stop,g", "to_counter", "here", "back to where the program stands"),
        ("x", "explain", "why", "the whole explanation of this stop or of what went wrong"),
        ("colon", "prompt('console')", "console", "a command of the console, or Python"),
        ("v", "turn_graph", "view other", "the graph as lanes, as boxes around the selected node, by modules"),
        (
            "left_square_bracket",
            "fold('fold')",
            "fold",
            "fold the open fold around the row, or what its module has built",
        ),
        ("right_square_bracket", "fold('unfold')", "unfold", "unfold the row"),
        ("left_curly_bracket", "fold('all')", "fold all", "fold all rows by modules and repeats"),
        ("right_curly_bracket", "fold('none')", "unfold all", "unfold all rows"),
        ("greater_than_sign", "fold('deeper')", "fold deeper", "fold modules one call deeper: smaller folds"),
        ("less_than_sign", "fold('wider')", "fold wider", "fold modules one call less deep: larger folds"),
        ("u", "jump_to('producer')", "go producer", "to the producer: where the gradient goes next"),
        ("d", "jump_to('consumer')", "go consumer", "to the consumer: where the gradient comes from"),
        ("R", "jump_to('root')", "go root", "to the node at which the pass began"),
        ("exclamation_mark", "jump_to('bad')", "go bad", "to the first node with a NaN or an Inf, or that failed"),
        ("m", "mark", "mark", "mark a node; at a second one: the ways between them; at a third: none"),
        ("f", "walk(1)", "walk", "findings: walk on through the lines that show what went wrong"),
        ("F", "walk(-1)", "walk back", "walk back through them"),
        ("e", "export", "draw", "write the graph to an SVG file, or all to a database"),
    ),
    MOVE: (
        ("up,down", "", "", "select the row above, below; also PgUp, PgDn, Home, End, mouse"),
        ("tab", "app.focus_next", "view next", "to the next pane; Shift+Tab to the one before"),
        ("1", "pane('inspector')", "view inspector", "inspector: gradients, saved tensors, edges, hooks"),
        (
            "2",
            "pane('source')",
            "view source",
            "source: the line that built the node; Space: its hooks, backward()",
        ),
        ("3", "pane('output')", "view output", "output of the program"),
        ("4", "pane('events')", "view events", "events: passes, hooks, writes, errors"),
        ("5", "pane('findings')", "view findings", "findings: what went wrong, and the lines that show it"),
        ("6", "pane('timeline')", "view timeline", "timeline: how long each node of a pass took"),
        ("7", "pane('stops')", "view stops", "stops: breakpoints, watches, errors, threads"),
        ("8", "pane('console')", "view console", "console: what was asked at : and answered"),
        ("plus", "resize('rows', 5)", "view higher", "this pane higher"),
        ("minus", "resize('rows', -5)", "view lower", "this pane lower"),
        ("right_parenthesis", "resize('columns', 5)", "view wider", "this pane wider"),
        ("left_parenthesis", "resize('columns', -5)", "view narrower", "this pane narrower"),
        ("Z", "zoom", "zoom", "let this pane have all the room; again gives it back"),
        ("0", "pane('graph')", "view graph", "back to the graph"),
        ("escape", "leave", "cancel", "cancel what takes long; otherwise back to the graph"),
    ),
    DO: (
        ("i", "type_in", "type", "type into the program (input, pdb); Esc closes"),
        ("y", "copy", "copy", "copy what the cursor is on: by OSC 52, also through ssh, and by tmux"),
        ("T", "next_theme", "colours", "other colours: dark, light, high contrast, for the colour-blind, 16 colours"),
        ("ctrl+e", "edit", "edit", "$EDITOR at the line of the source pane"),
        ("ctrl+p", "command_palette", "palette", "all that the keys do, to search in"),
        ("question_mark", "help", "keys", "this page"),
        ("q", "quit", "quit", "quit; asks what becomes of a running program"),
    ),
}
#: How keys are written whose names are no characters.
_SHOWN = {
    "slash": "/", "full_stop": ".", "colon": ":", "exclamation_mark": "!", "up": "↑", "down": "↓", "tab": "Tab", "plus": "+",
    "minus": "-", "greater_than_sign": ">", "less_than_sign": "<", "right_parenthesis": ")", "left_parenthesis": "(",
    "left_square_bracket": "[", "right_square_bracket": "]", "left_curly_bracket": "{", "right_curly_bracket": "}",
    "escape": "Esc", "ctrl+e": "Ctrl+E", "ctrl+p": "Ctrl+P", "question_mark": "?",
}  # fmt: skip
#: What the footer calls a command, and which go first where there is no room.
_FOOTER = {
    "next": ("next", 0), "back": ("back", 1), "step": ("into", 9), "finish": ("out", 9), "continue": ("continue", 2),
    "pause": ("pause", 8), "break line": ("break", 3), "errors": ("errors", 11), "search": ("find", 4), "why": ("why", 5),
    "console": ("console", 10), "draw": ("export", 6), "keys": ("help", 4), "quit": ("quit", 0),
}  # fmt: skip


def _shown(keys: str) -> str:
    """The keys as the screen names them."""
    return " ".join(_SHOWN.get(key, key) for key in keys.split(","))


KEYS = [
    Key(keys, _shown(keys), action, *_FOOTER.get(command, ("", 0)), group, told, command)
    for group, rows in _ROWS.items()
    for keys, action, command, told in rows
]


def bindings() -> list[Binding]:
    """Bindings of the app. Of the keys with ctrl none is tmux's prefix, or stops the terminal's flow or lets it go on."""
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
