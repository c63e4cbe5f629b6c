"""How states look, in one place: a mark for those who see no colour, and a style in the names of Textual's themes.

Styles name theme colours (``$text-error``), so every theme, dark or light, and ``NO_COLOR`` are served.
"""

import re
from typing import NamedTuple

#: Styles of running text.
PLAIN = ""
ASIDE = "$foreground 65%"
FAINT = "$foreground 50%"
TITLE = "bold"
LABEL = "$text-primary"
ALERT = "bold $text-error"
NOTICE = "bold $text-warning"
#: The line the program stands at, a marked node, and the line of the cursor in a pane that has the focus, or has not.
HERE = "on $warning 25%"
#: The part of that line that is meant; the line under it is seen without colours too.
HERE_PART = "underline on $warning 45%"
MARKED = "on $accent 20%"
CURSOR = "on $primary 45%"
CURSOR_BLURRED = "on $foreground 10%"
#: What stands for these backgrounds where there are no colours.
UNCOLOURED = {HERE: "bold", MARKED: "underline", CURSOR: "reverse", CURSOR_BLURRED: "underline"}
_GREY = re.compile(r"\$foreground (\d+)%")
#: Percent that grey text gains on a coloured line.
_GAIN = 30


class Look(NamedTuple):
    """How a state is shown: a mark of one cell, a style, and the word for it."""

    mark: str
    style: str
    word: str


#: Of a node in a pass.
NODE: dict[str, Look] = {
    "pending": Look("○", PLAIN, "pending"),
    "waiting": Look("◔", LABEL, "waiting"),
    "ready": Look("◕", "$text-warning", "ready"),
    "running": Look("◉", NOTICE, "running"),
    "ran": Look("●", "$text-success", "ran"),
    "freed": Look("◌", ASIDE, "freed"),
    "failed": Look("✗", ALERT, "failed"),
    "skipped": Look("⊘", "$text-accent", "skipped"),
    "next": Look("▶", NOTICE, "runs next"),
}

#: Of a saved tensor, and of any other entry of the inspector.
SAVED: dict[str, Look] = {
    "": Look(" ", PLAIN, ""),
    "ok": Look("✓", "$text-success", "unchanged"),
    "modified": Look("≠", NOTICE, "modified"),
    "freed": Look("✗", ALERT, "freed"),
    "empty": Look("∅", ASIDE, "empty"),
}

#: Of the reason why the program stands still.
BANNER: dict[str, Look] = {
    "stop": Look("■", NOTICE, "stopped"),
    "error": Look("✗", ALERT, "error"),
    "predicted": Look("!", NOTICE, "will fail"),
    "found": Look("◇", NOTICE, "found"),
    "ended": Look("□", "bold $text-primary", "ended"),
    "recorded": Look("◂", "bold $text-accent", "in the recording"),
    "info": Look("i", "bold $text-success", "note"),
}

BREAKPOINT_MARK = "●"
BREAKPOINT_STYLE = "bold $text-error"
OFF_MARK = "○"
OFF_STYLE = "$foreground 55%"
NOTE_MARK = "◆"
NOTE_STYLE = "$text-accent"
ARROW = "▶"


def lifted(style: str) -> str:
    """A style for text on a coloured line: what is grey becomes lighter there, or darker in a light theme."""
    return _GREY.sub(lambda found: f"$foreground {min(int(found[1]) + _GAIN, 100)}%", style)


def node_look(state: str) -> Look:
    """The look of a node's state; one that is not known shows its name."""
    return NODE.get(state) or Look("?", ASIDE, state)


def saved_look(state: str) -> Look:
    """The look of an entry's state; one that is not known shows its name."""
    return SAVED.get(state) or Look("?", ASIDE, state)


def banner_look(kind: str) -> Look:
    """The look of a banner's kind."""
    return BANNER.get(kind) or BANNER["info"]
