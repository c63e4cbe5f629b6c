"""Where the dividers between the panes stand, in percent of the workspace, and which of them make a pane wider or higher."""

from itertools import pairwise
from typing import Literal, NamedTuple

Layout = Literal["narrow", "wide", "huge"]
Axis = Literal["columns", "rows"]

#: No pane gets less than so many percent.
LEAST = 8


class Divider(NamedTuple):
    """A divider: where it usually stands, and the widget that begins there."""

    usual: int
    behind: str


#: By layout and axis, from left to right or from above to below.
DIVIDERS: dict[tuple[Layout, Axis], dict[str, Divider]] = {
    ("narrow", "columns"): {},
    ("narrow", "rows"): {"graph": Divider(55, "tabs")},
    ("wide", "columns"): {"graph": Divider(60, "inspector")},
    ("wide", "rows"): {"inspector": Divider(46, "source"), "bottom": Divider(76, "bottom-tabs")},
    ("huge", "columns"): {
        "graph": Divider(42, "inspector"),
        "timeline": Divider(58, "output"),
        "inspector": Divider(75, "findings"),
    },
    ("huge", "rows"): {
        "inspector": Divider(29, "source"),
        "graph": Divider(57, "timeline"),
        "timeline": Divider(79, "console"),
    },
}
#: The panes before each divider, whose size grows with it, and those behind it; ``other`` is any that is not named.
_SIDES: dict[tuple[Layout, Axis], dict[str, tuple[str, int]]] = {
    ("narrow", "columns"): {},
    ("narrow", "rows"): {"graph": ("graph", 1), "other": ("graph", -1)},
    ("wide", "columns"): {"graph": ("graph", 1), "inspector": ("graph", -1), "source": ("graph", -1)},
    ("wide", "rows"): {
        "graph": ("bottom", 1), "inspector": ("inspector", 1), "source": ("inspector", -1), "other": ("bottom", -1),
    },
    ("huge", "columns"): {
        "graph": ("graph", 1), "inspector": ("inspector", 1), "source": ("inspector", 1), "findings": ("inspector", -1),
        "stops": ("inspector", -1), "timeline": ("timeline", 1), "console": ("timeline", 1), "other": ("timeline", -1),
    },
    ("huge", "rows"): {
        "graph": ("graph", 1), "inspector": ("inspector", 1), "findings": ("inspector", 1), "source": ("inspector", -1),
        "stops": ("inspector", -1), "timeline": ("timeline", 1), "output": ("timeline", 1), "other": ("timeline", -1),
    },
}  # fmt: skip
#: Columns of the grid between the dividers of a huge screen, whose panes span several.
_HUGE_SPANS = (5, 2, 2, 3)


class Dividers:
    """All positions; they are kept for each layout."""

    def __init__(self) -> None:
        self._moved: dict[str, int] = {}

    def remembered(self) -> dict[str, int]:
        """Those that were moved."""
        return dict(self._moved)

    def restore(self, known: dict[str, object]) -> None:
        """Put them where they were the last time, as far as that makes sense."""
        for (layout, axis), there in DIVIDERS.items():
            for name in there:
                if type(at := known.get(_key(layout, axis, name))) is int:
                    self.move(layout, axis, name, at)

    def at(self, layout: Layout, axis: Axis) -> list[int]:
        """The positions on an axis."""
        there = DIVIDERS[layout, axis]
        return [self._moved.get(_key(layout, axis, name), divider.usual) for name, divider in there.items()]

    def move(self, layout: Layout, axis: Axis, name: str, to: int) -> bool:
        """Move a divider as far as its neighbours let it; False when it stays where it was."""
        names, at = list(DIVIDERS[layout, axis]), [0, *self.at(layout, axis), 100]
        here = names.index(name) + 1
        new = max(at[here - 1] + LEAST, min(to, at[here + 1] - LEAST))
        self._moved[_key(layout, axis, name)] = new
        return new != at[here]

    def resize(self, layout: Layout, axis: Axis, pane: str, by: int) -> bool | None:
        """Give a pane more room, or less; None where it has all there is on this axis, False when it cannot have more."""
        sides = _SIDES[layout, axis]
        side = sides.get(pane) or (sides.get("other") if pane != "graph" else None)
        if side is None:
            return None
        name, sign = side
        here = self.at(layout, axis)[list(DIVIDERS[layout, axis]).index(name)]
        return self.move(layout, axis, name, here + sign * by)

    def rule(self, layout: Layout, axis: Axis) -> str:
        """The sizes of the grid on an axis; "" where none of its dividers was moved."""
        if not any(_key(layout, axis, name) in self._moved for name in DIVIDERS[layout, axis]):
            return ""
        ends = [0, *self.at(layout, axis), 100]
        parts = [end - start for start, end in pairwise(ends)]
        if (layout, axis) == ("huge", "columns"):
            spans = zip(parts, _HUGE_SPANS, strict=True)
            return " ".join(f"{part / span:.2f}fr" for part, span in spans for _ in range(span))
        sizes = [f"{part}fr" for part in parts]
        if layout != "huge" and axis == "rows":
            sizes.insert(-1, "1")  # the line of the tabs
        return " ".join(sizes)


def _key(layout: Layout, axis: Axis, name: str) -> str:
    return f"{layout}.{axis}.{name}"
