"""Text of the program made fit for the screen: harmless, on one line, and cut to terminal cells.

Cells are counted as Textual counts them (wide characters take two, combining ones none), so that columns line up.
"""

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells

from agdbg.render.clean import ELLIPSIS, printable

#: Characters looked at for one cell: more than any real text has (base and combining characters).
_CHARACTERS_PER_CELL = 8
#: Cells that the beginning of a name keeps when its middle is cut.
_LEAST_HEAD = 3

#: What terminals disagree about: to some of them a choice of how a character looks, or a colour of skin, takes cells of its own,
#: so the character stands alone; letters that show nothing are marked.
_UNSTEADY = {
    **dict.fromkeys([*range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400), *range(0xE0100, 0xE01F0)]),
    **dict.fromkeys((0x115F, 0x1160, 0x3164, 0xFFA0), "\N{REPLACEMENT CHARACTER}"),
}

_BEHIND_NAME, _INDENT = re.compile(r" *[!-~]+ {2,}(?=\S)"), re.compile(r" *")

#: Text and the style it is shown in, in the words of Textual's styles ("bold $text-error"); "" is the pane's own.
Piece = tuple[str, str]
#: One line of the screen.
Pieces = list[Piece]


def cells(text: str) -> int:
    """Terminal cells that text takes."""
    return len(text) if text.isascii() else cell_len(text)


def safe(text: str) -> str:
    """The text on one line, as wide on every terminal: controls as their pictures, surrogates and bidi marks as U+FFFD."""
    if not text.isprintable():
        text = printable(text)
    return text if text.isascii() else text.translate(_UNSTEADY)


def expand(text: str, tab: int = 8) -> str:
    """The text with blanks up to every `tab` cells in place of tabs; lines begin anew."""
    if text.isascii() or "\t" not in text:
        return text.expandtabs(tab)
    return "\n".join(_expanded(line, tab) for line in text.split("\n"))


def _expanded(line: str, tab: int) -> str:
    *parts, last = line.split("\t")
    return "".join(part + " " * (tab - cells(safe(part)) % tab) for part in parts) + last


def reason_of(error: BaseException) -> str:
    """What to say of an error: its text, or its kind where it has none."""
    return str(error) or type(error).__name__


def crop(text: str, width: int) -> str:
    """The longest beginning of safe text that takes at most `width` cells."""
    if width <= 0:
        return ""
    text = text[: width * _CHARACTERS_PER_CELL]
    if cells(text) <= width:
        return text
    if text.isascii():
        return text[:width]
    first = chop_cells(text, width)[0]
    return first if cell_len(first) <= width else ""


def shorten(text: str, width: int) -> str:
    """Any text as one safe line of at most `width` cells; an ellipsis marks a cut at the end."""
    line = safe(text[: max(width, 0) * _CHARACTERS_PER_CELL + 1])
    if cells(line) <= width:
        return line
    return crop(line, width - 1) + ELLIPSIS if width > 0 else ""


def shorten_start(text: str, width: int) -> str:
    """As `shorten`, but the beginning is cut: the end of a path says most."""
    line = safe(text[-max(width, 1) * _CHARACTERS_PER_CELL - 1 :])
    if cells(line) <= width:
        return line
    if width <= 0:
        return ""
    at = len(line) - (width - 1) * _CHARACTERS_PER_CELL if width > 1 else len(line)
    at = max(at, 0)
    while at < len(line) and (cells(line[at:]) >= width or not cells(line[at])):  # no mark without what it stands on
        at += 1
    return ELLIPSIS + line[at:]


def shorten_name(text: str, width: int) -> str:
    """As `shorten`, for names with dots, as of parameters: the last two parts say most, then the first ones: the middle is cut."""
    line = safe(text)
    if cells(line) <= width:
        return line
    tails = [line[at:] for at, character in enumerate(line) if character == "." and at][-2:]
    tail = next((each for each in tails if cells(each) <= width - 1 - _LEAST_HEAD), "")
    if not tail:
        tail = shorten_start(line, max(width * 2 // 3, 1))[1:]
    head = crop(line, width - 1 - cells(tail))
    cut = head + ELLIPSIS + tail if width > 0 else ""
    return _with_numbers(line, width, cut)


def _with_numbers(line: str, width: int, cut: str) -> str:
    """A dotted name of which `cut` has lost a number, with each long part cut instead: numbers tell layers apart."""
    parts = line.split(".")
    if all(part in cut.split(".") for part in parts if part.isdecimal()):
        return cut
    share = fair_share(map(cells, parts), width - len(parts) + 1)
    return ".".join(shorten(part, share) for part in parts) if share > _LEAST_HEAD else cut


def apart(texts: Sequence[str], width: int) -> list[str]:
    """As `shorten`, for texts below one another: of those that would look alike, what tells them apart is kept."""
    lines = [safe(text) for text in texts]
    shown = [shorten(line, width) for line in lines]
    return _apart(lines, shown, width)


def _apart(lines: list[str], shown: list[str], width: int) -> list[str]:
    found = list(shown)
    for alike in {each for each in shown if shown.count(each) > 1}:
        places = [at for at, each in enumerate(shown) if each == alike]
        group = list(dict.fromkeys(lines[at] for at in places))
        if len(group) < 2:
            continue
        begin = _alike(group)
        end = _alike([each[begin:][::-1] for each in group])
        cut = [_around(lines[at], begin, len(lines[at]) - end, width) for at in places]
        if 1 < len(set(cut)) < len(group):  # some of them differ elsewhere
            cut = _apart([lines[at] for at in places], cut, width)
        for at, each in zip(places, cut, strict=True):
            found[at] = each
    return found


def _alike(lines: list[str]) -> int:
    """How many characters all begin with."""
    pairs = zip(min(lines), max(lines), strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(map(len, lines)))


def _around(line: str, begin: int, end: int, width: int) -> str:
    """A line that is too long, cut so that its characters from `begin` to `end` are seen, and as much as there is room for of its
    end, then of its beginning.
    """
    rest = line[begin:]
    if cells(rest) + 1 <= width:
        return crop(line, width - 1 - cells(rest)) + ELLIPSIS + rest
    room = max(width - 2, 0)
    middle = shorten(line[begin:end], max(room * 2 // 3, 1))
    last = shorten_start(line[end:], (room - cells(middle)) * 2 // 3)
    first = crop(line, room + 1 - cells(middle) - cells(last))
    return shorten(first + ELLIPSIS + middle + last, width)


def pad_name(text: str, width: int) -> str:
    """A name shortened in the middle or filled with blanks to exactly `width` cells."""
    text = shorten_name(text, width)
    return text + " " * (width - cells(text))


def fair_share(lengths: Iterable[int], room: int) -> int:
    """The most that each of some texts may take so that all fit: what is shorter leaves its rest to the others."""
    left = sorted(lengths)
    for at, length in enumerate(left):
        share = max(room, 0) // (len(left) - at)
        if length > share:
            return share
        room -= length
    return left[-1] if left else 0


def pad(text: str, width: int) -> str:
    """Safe text shortened or filled with blanks to exactly `width` cells."""
    text = shorten(text, width)
    return text + " " * (width - cells(text))


def wrap(text: str, width: int) -> list[str]:
    """Safe text as lines of at most `width` cells, broken anywhere, as a terminal does; at least one line."""
    width = max(width, 1)
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)] or [""]
    return chop_cells(text, max(width, 2)) or [""]


def wrap_phrases(text: str, first: int, other: int) -> list[str]:
    """Safe text in lines, broken between phrases (two blanks apart) or else between words; at least one line.

    Args:
        text: what is broken.
        first: cells of the first line.
        other: cells of the others; what has no blank and is longer is broken anywhere.
    """
    lines, room = [""], max(first, 1)
    for phrase in text.split("  "):
        fits = cells(phrase) <= (max(other, room - cells(lines[-1]) - 2) if lines[-1] else room)
        for number, word in enumerate([phrase] if fits else phrase.split(" ")):
            gap = "" if not lines[-1] else "  " if number == 0 else " "
            if cells(lines[-1] + gap + word) <= room:
                lines[-1] += gap + word
                continue
            room = max(other, 1)
            lines += wrap(word, room)
    return lines


def wrap_hanging(text: str, width: int) -> list[str]:
    """Safe text as lines of at most `width` cells, broken as by `wrap_phrases`; what follows stands below what the first says
    behind its indent, or behind a name with two blanks after it.
    """
    if cells(text) <= width:
        return [text]
    behind = next((each.end() for each in (_BEHIND_NAME.match(text), _INDENT.match(text)) if each), 0)
    behind = behind if 2 * behind <= width else 0
    lines = wrap_phrases(text[behind:], width - behind, width - behind)
    first, *others = lines[not lines[0] :]  # what is longer than a line leaves that before it empty
    return [text[:behind] + first, *(" " * behind + line for line in others)]


def width_of(pieces: Iterable[Piece]) -> int:
    """Cells that a line takes."""
    return sum(cells(text) for text, _ in pieces)


def fit(pieces: Iterable[Piece], width: int) -> Pieces:
    """A line cut to `width` cells; an ellipsis in the style of what it cuts marks the cut."""
    shown: Pieces = []
    room = width
    pieces = list(pieces)
    for at, (text, style) in enumerate(pieces):
        taken = cells(text)
        if taken > room or (taken == room and any(rest for rest, _ in pieces[at + 1 :])):
            if room > 0:
                shown.append((crop(text, room - 1) + ELLIPSIS, style))
            break
        shown.append((text, style))
        room -= taken
    return shown
