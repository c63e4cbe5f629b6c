"""Why a thread stops, and the message that tells of it; ``docs/protocol.md`` has what clients see of it."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reason:
    """Why a thread stops; the note is what there is to say besides where it stands."""

    name: str
    breakpoints: list[int] = field(default_factory=list)
    error: dict[str, Any] | None = None
    note: str = ""


STEP = Reason("step")


def message(reason: Reason, place: str, description: str, **more: Any) -> dict[str, Any]:
    """The message of a stop; what is not given means: in no pass."""
    return {
        "reason": reason.name,
        "description": f"{description}; {reason.note}" if reason.note else description,
        "breakpoints": reason.breakpoints,
        "where": place,
        "pass": 0,
        "position": 0,
        "planned": 0,
        "node": 0,
        "phase": "",
        "outer": [],
        "error": reason.error,
        "undo": 0,
        **more,
    }
