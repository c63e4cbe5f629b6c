"""The reading side of ``strings.jsonl``: ids become ops, texts and sites, as far as the file is whole."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from agdbg.record.format import STRINGS_FILE


@dataclass(frozen=True, slots=True)
class Op:
    """What a node or a write is called, and the names of what such a node saves, in slot order."""

    name: str
    slots: tuple[str, ...] = ()

    def slot(self, index: int) -> str:
        """The name of a saved slot; a slot without a name reads as ``saved[i]``."""
        return self.slots[index] if index < len(self.slots) else f"saved[{index}]"


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the source. Line 0: not known. Columns are UTF-8 byte offsets from 0; -1: not known."""

    file: str
    line: int
    func: str = ""
    col: int = -1
    end_col: int = -1
    text: str = ""
    end_line: int = 0


NO_OP = Op("")
NO_SITE = Site("", 0)


class Strings:
    """The string table of a trace. An id that is not in it reads as ``?12``, id 0 as nothing."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._read = 0
        self._lines: dict[int, dict[str, object]] = {}
        self._ops: dict[int, Op] = {0: NO_OP}
        self._sites: dict[int, Site] = {0: NO_SITE}

    @classmethod
    def of(cls, path: Path) -> "Strings":
        """The table in a file, as far as it can be read."""
        strings = cls()
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            strings.problems.append(f"{STRINGS_FILE} is missing: names and lines read as ?id")
        except OSError as error:
            strings.problems.append(f"{STRINGS_FILE} is unreadable ({error.strerror}): names read as ?id")
        else:
            strings.add(content)
        return strings

    def add(self, content: bytes) -> None:
        """Read more lines. One that was asked for before it came is no longer unknown."""
        for raw in content.splitlines():
            self._read += 1
            line = _parse(raw)
            if line is None:
                self.problems.append(f"{STRINGS_FILE}: line {self._read} is cut or unreadable")
                continue
            number = _number(line, "id")
            self._lines[number] = line
            self._ops.pop(number, None)
            self._sites.pop(number, None)

    def matching(self, text: str) -> list[int]:
        """The ids of all strings that contain ``text``, whatever its case: names, and of sites ``file.py:12`` and the source."""
        wanted = text.casefold()
        return [number for number, line in self._lines.items() if wanted in _searched(line)]

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def highest(self) -> int:
        """The highest id there is, 0 for an empty table."""
        return max(self._lines, default=0)

    def text(self, number: int) -> str:
        """The string with this id, whatever its kind; of a site its source text."""
        line = self._lines.get(number)
        if line is None:
            return f"?{number}" if number else ""
        return _text(line, "text" if line.get("k") == "site" else "s")

    def op(self, number: int) -> Op:
        """The op with this id."""
        op = self._ops.get(number)
        if op is None:
            op = self._ops[number] = Op(self.text(number), _slots(self._lines.get(number, {})))
        return op

    def site(self, number: int) -> Site:
        """The source site with this id."""
        site = self._sites.get(number)
        if site is None:
            line = self._lines.get(number)
            site = self._sites[number] = Site(f"?{number}", 0) if line is None else _site(line)
        return site


def _searched(line: dict[str, object]) -> str:
    if line.get("k") != "site":
        return _text(line, "s").casefold()
    file = re.split(r"[\\/]", _text(line, "file"))[-1]
    return f"{file}:{_number(line, 'line')}\n{_text(line, 'text')}".casefold()


def _parse(raw: bytes) -> dict[str, object] | None:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return None
    return line if isinstance(line, dict) and _number(line, "id") > 0 else None


def _number(line: dict[str, object], key: str, default: int = 0) -> int:
    value = line.get(key)
    return value if isinstance(value, int) else default


def _text(line: dict[str, object], key: str) -> str:
    value = line.get(key)
    return value if isinstance(value, str) else ""


def _slots(line: dict[str, object]) -> tuple[str, ...]:
    slots = line.get("slots")
    return tuple(str(slot) for slot in slots) if isinstance(slots, list) else ()


def _site(line: dict[str, object]) -> Site:
    return Site(
        file=_text(line, "file") or _text(line, "s"),
        line=_number(line, "line"),
        func=_text(line, "func"),
        col=_number(line, "col", -1),
        end_col=_number(line, "end_col", -1),
        text=_text(line, "text"),
        end_line=_number(line, "end_line"),
    )
