"""What a row of the lane view has room for: columns come with the width at hand, and only where something is known."""

from __future__ import annotations

import os.path
import re
from typing import TYPE_CHECKING, NamedTuple

from agdbg.sizes import size
from agdbg_ui.text import cells, safe, shorten

if TYPE_CHECKING:
    from agdbg.protocol.vendor import Row

#: What most ops end with.
SUFFIX = re.compile(r"Backward\d*$")
#: Stands before what is folded.
UNFOLDS = "▸ "
_MOST_FILE, _MOST_OP, _MOST_STEM, _LEAST_OP = 18, 22, 15, 12
#: The least has room for ``[weight]``.
_MOST_BADGES, _USUAL_BADGES, _LEAST_BADGES = 24, 12, 9
_LEAST_NAME = 6
#: Cells of the source text for which file names are shortened and other columns are left out.
_WANTED_TEXT = 20
_MOST_SHAPE, _MOST_TYPED, _TYPED_FROM = 16, 24, 150
_MOST_MODULE, _LEAST_MODULE = 28, 9
#: The widest of a size with its word, and a norm as the timeline has it.
_SAVED, _NORM = len("saves 1023.9 KiB "), len("|g| 1.23e-05 ")
#: The height of the gradient's norm and the blank behind it.
_SPARK = 2


class Shares(NamedTuple):
    """Cells of the op, and of the columns that not every row has, each of those with the blank behind it; 0: left out."""

    node: int
    ops: int
    module: int
    badges: int
    spark: int
    shape: int
    names: int
    norm: int
    saved: int


class Columns:
    """Widths of columns: they only grow, so that scrolling does not make them jump.

    Attributes:
        script: the program's own file, which its lines do without.
    """

    def __init__(self) -> None:
        self.lanes, self.ops, self.badges = 1, _LEAST_OP, 0
        self._own_badges = self._stems = self._titles = 0
        self._names = self._digits = 0
        self._shapes = self._typed = self._modules = 0
        self._nodes = 0
        self._texts = 0
        self._has_gradients = self._has_saved = False
        self.script = ""

    def widen(self, row: Row, badges: int, own: int) -> None:
        """Make room for a row; its badges take so many cells, beside the name of its module so many."""
        self.lanes = max(self.lanes, len(row["cells"]))
        self._nodes = max(self._nodes, len(node_words(row)))
        title = cells(safe(row["op"])) + (len(UNFOLDS) if row["count"] > 1 else 0)
        self.ops, self._titles = max(self.ops, min(title, _MOST_OP)), max(self._titles, title)
        self._stems = max(self._stems, min(len(SUFFIX.sub("", row["op"])), _MOST_STEM))
        self.badges, self._own_badges = max(self.badges, badges), max(self._own_badges, own)
        self._shapes = max(self._shapes, min(cells(dims(row["shape"])), _MOST_SHAPE))
        self._typed = max(self._typed, min(cells(safe(row["shape"])), _MOST_TYPED))
        self._modules = max(self._modules, min(cells(safe(row["module"])), _MOST_MODULE))
        self._has_gradients |= row["gradient"] is not None or row["bad"]
        self._has_saved |= bool(row["saved"])
        self._texts = max(self._texts, min(cells(safe(row["text"].strip())), _WANTED_TEXT))
        if row["file"]:
            self._names = max(self._names, min(cells(safe(self.name_of(row))), _MOST_FILE))
            self._digits = max(self._digits, len(str(row["line"])))

    def name_of(self, row: Row) -> str:
        """The file of a row as it is shown: none for the program's own."""
        return "" if self._is_script(row["file"]) else row["file"].rsplit("/", 1)[-1]

    def _is_script(self, file: str) -> bool:
        """Whether this is the program's file, which it may have been told by a relative path."""
        path = os.path.normpath(self.script).removeprefix("../") if self.script else ""
        while path.startswith("../"):
            path = path.removeprefix("../")
        return bool(path) and (file == path or file.endswith(f"/{path}"))

    def shares(self, width: int) -> Shares:
        """How a row of `width` cells is divided: numbers of lines are never cut for anything.

        The height of the gradient's norm, the shape, the names of other files, module and parameters come first: where there
        is little room, what is left out of an op is what all of them end with. The number of the node comes where these leave
        room for it. Sizes, and norms in digits, come where the source text keeps the room that it needs.
        """
        room = width - 3 - (self.lanes + 1) - (self.ops + 1) - (self._digits + 2)
        spark = _SPARK if self._has_gradients and room >= _SPARK else 0
        shapes = self._typed if width >= _TYPED_FROM else self._shapes
        shape = shapes + 1 if shapes and room - spark - min(self.badges, _USUAL_BADGES) > shapes else 0
        rest = room - spark - shape
        least, parameters = min(self._modules, _LEAST_MODULE) + 1, min(self._own_badges, _LEAST_BADGES)
        usual = min(self._own_badges, _USUAL_BADGES)
        lack = self._names + least * bool(self._modules) + usual - rest
        ops = max(self.ops - max(lack, 0), min(self.ops, max(self._stems + 1, _LEAST_OP)))
        rest += self.ops - ops
        names = min(self._names, max(rest - parameters, _LEAST_NAME), max(rest, 0))
        rest -= names
        has_module = bool(self._modules) and rest >= least + parameters
        others = least * bool(self._modules) + _NORM * self._has_gradients + _SAVED * self._has_saved
        most = max(_MOST_BADGES, width // 3, rest - _WANTED_TEXT - others)
        if has_module:
            badges = min(self._own_badges, most, rest - least)
            module = min(self._modules + 1, rest - badges)
        else:
            badges, module = max(min(self.badges, most, rest), 0), 0
        rest -= badges + module
        node = self._nodes + 1 if rest > self._nodes else 0
        rest -= node
        norm = _NORM if self._has_gradients and rest >= _NORM + _WANTED_TEXT else 0
        saved = _SAVED if self._has_saved and rest - norm >= _SAVED + _WANTED_TEXT else 0
        spare = max(rest - norm - saved - self._texts, 0)  # no column and no text takes it
        longer = min(spare, (self._own_badges if has_module else self.badges) - badges)
        badges, ops = badges + longer, ops + max(min(spare - longer, self._titles - ops), 0)
        return Shares(node, ops, module, badges, spark, shape, names, norm, saved)

    def shape(self, row: Row, width: int) -> str:
        """The shape as a row of `width` cells has it: with its type where there is room for that."""
        return row["shape"] if width >= _TYPED_FROM else dims(row["shape"])

    def place(self, row: Row, names: int) -> str:
        """``train.py:12``, or ``:12`` of the program's own file, with the name in `names` cells; blank where it is not known."""
        if not row["file"]:
            return " " * (names + 1 + self._digits)
        name = shorten(self.name_of(row), names)
        text = f"{name}:{row['line']}"
        return " " * (names + 1 + self._digits - cells(text)) + text


def dims(shape: str) -> str:
    """``[3, 4]`` of ``float32[3, 4]``."""
    return safe(shape[max(shape.find("["), 0) :])


def node_words(row: Row) -> str:
    """The number of the node, by which the console and a search know it; a fold has many."""
    return f"#{row['node']}" if row["count"] == 1 else ""


def saved_words(row: Row) -> str:
    """What a node holds for its backward; nothing where that is not known."""
    return f"saves {size(row['saved'])}" if row["saved"] else ""
