"""What the screen looked like the last time: a small file in the person's state directory."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

#: What is kept, and of which type it is.
FIELDS: dict[str, type] = {"theme": str, "dividers": dict, "pane": str, "bottom": str, "folds": dict}


class Memory:
    """Keeps a few words about the screen in a file; one that cannot be read or written is no trouble.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of_person(cls) -> "Memory":
        """In ``$XDG_STATE_HOME/agdbg``, or ``~/.local/state/agdbg``."""
        base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        return cls(Path(base) / "agdbg" / "ui.json")

    def load(self) -> dict[str, Any]:
        """What is known, as far as it makes sense."""
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {name: value for name, value in found.items() if type(value) is FIELDS.get(name)}

    def save(self, known: dict[str, Any]) -> None:
        """Keep what is to be kept of this; the file is whole or is not there."""
        draft = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.write_text(json.dumps({name: known[name] for name in FIELDS if name in known}), "utf-8")
            draft.replace(self._path)
        except OSError:
            with suppress(OSError):
                draft.unlink()
