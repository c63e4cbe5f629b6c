"""What is answered where nothing was recorded; a hub that answers so has not loaded NumPy."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agdbg.protocol.looks import ProfileBody, TimelineBody


def no_pass(start: int) -> "TimelineBody":
    """The timeline of no pass."""
    return {
        "pass": 0, "before": None, "after": None, "call": "", "file": "", "line": 0, "outcome": "unfinished",
        "total": 0, "start": start, "runs": [], "longestNs": 0, "wholeNs": 0, "at": None,
    }  # fmt: skip


def no_profile(start: int) -> "ProfileBody":
    """The profile of no pass."""
    return {
        "pass": 0, "total": 0, "start": start, "held": [], "heldMost": 0, "mostAt": None, "heldAfter": 0, "storages": 0,
        "unknown": 0, "wholeNs": 0, "hookCalls": 0, "hooksNs": 0, "points": [], "layers": [],
    }  # fmt: skip
