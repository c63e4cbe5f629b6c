"""The events that ``catch`` stops at, by what the log of a recording calls them."""

from collections.abc import Mapping
from typing import Any

from agdbg.breakpoints import EVENTS, event_kind

#: Of an event the kinds in the log, and a part of the texts that are meant.
_LOGGED: dict[str, tuple[tuple[str, ...], str]] = {
    "cloned": (("cloned",), ""),
    "version-bump": (("write",), ""),
    "view-created": (("view",), ""),
    "history-rebased": (("rebased",), ""),
    "cut": (("cut",), ""),
    "grad-mode": (("grad mode",), ""),
    "hook-registered": (("hook",), " registered"),
    "hook-fired": (("hook",), " fired"),
    "hook-removed": (("hook",), " removed"),
    "backward-started": (("pass started",), ""),
    "backward-finished": (("pass finished", "pass failed"), ""),
    "dual-level": (("forward mode",), ""),
    "custom-forward": (("function",), "forward of "),
    "custom-backward": (("function",), "backward of "),
    "custom-jvp": (("function",), "jvp of "),
    "unmarked-write": (("unmarked write",), ""),
    "kept": (("kept",), ""),
    "gradient-cast": (("cast",), ""),
    "module-entered": (("module",), ""),
    "recomputed": (("recomputed",), ""),
}


def is_named(text: str) -> bool:
    """Whether ``catch`` takes this name of an event."""
    return event_kind(text) in EVENTS


def unlisted(text: str) -> str:
    """Why an event is in no list, and where to look; empty where it is listed."""
    kind = event_kind(text)
    if kind in _LOGGED:
        return ""
    return (
        f"{kind} ({EVENTS[kind]}) comes with each node and is not listed; `catch {kind}` stops there, "
        "`node NODE` shows what became of a node, and `saved NODE` what it has saved"
    )


def is_meant(text: str, event: Mapping[str, Any]) -> bool:
    """Whether an event of the log is of the kind that is asked for, by its own name or by that which ``catch`` takes."""
    kinds, part = _LOGGED.get(event_kind(text), ((), ""))
    return event["kind"] == text or (event["kind"] in kinds and part in event["text"])
