"""The top of an SVG: title, counts, what was folded, and a legend of what the drawing really holds."""

from textwrap import wrap

from agdbg.graph.model import BADGE_KINDS, STATES, Graph
from agdbg.render.clean import printable, shorten
from agdbg.render.svg_style import BADGE_NAMES, KEY_SIZE, PILL_RADIUS, STATE_NAMES, SUB_SIZE, TITLE_SIZE
from agdbg.render.svg_words import escaped, number, sans_width

NOTES_SHOWN = 12
NOTE_COLUMNS = 100
TITLE_COLUMNS = 64
LEGEND_WIDTH = 620.0
TITLE_HEIGHT, LINE, KEY_HEIGHT, BELOW = 26.0, 18.0, 26.0, 22.0
SWATCH, KEY_GAP = 30.0, 20.0

Key = tuple[str, str]
"""(SVG of a swatch of `SWATCH` by 16 units, its meaning)"""


class Header:
    """Lays out its lines when made; `width` and `height` are what it needs."""

    def __init__(self, graph: Graph, has_ports: bool) -> None:
        self._title = shorten(graph.title or "autograd graph", TITLE_COLUMNS)
        self._lines = [_counts(graph), *_notes(graph.notes)]
        self._keys = _rows(_keys(graph, has_ports)) if graph.nodes else []
        self.width = max(
            sans_width(self._title, TITLE_SIZE, True),
            *(sans_width(line, SUB_SIZE) for line in self._lines),
            *(sum(map(_key_width, row)) for row in self._keys),
        )
        self.height = TITLE_HEIGHT + LINE * len(self._lines) + KEY_HEIGHT * len(self._keys) + BELOW

    def draw(self, left: float, top: float) -> list[str]:
        """Return the SVG lines of the header, its left top corner at (left, top)."""
        y = top + 16
        drawn = [f'<text class="title" x="{number(left)}" y="{number(y)}">{escaped(self._title)}</text>']
        y = top + TITLE_HEIGHT
        for line in self._lines:
            drawn.append(f'<text class="sub" x="{number(left)}" y="{number(y + 12)}">{escaped(line)}</text>')
            y += LINE
        for row in self._keys:
            x = left
            for key in row:
                drawn.append(_draw_key(key, x, y + 8))
                x += _key_width(key)
            y += KEY_HEIGHT
        return drawn


def _counts(graph: Graph) -> str:
    if not graph.nodes:
        return "Nothing to draw: no node was recorded."
    boxes, edges = len(graph.nodes), len(graph.edges)
    what = "box" if graph.size > boxes else "node"
    shown = f"{_of(boxes, what)}, {_of(edges, 'edge')}"
    certain = graph.certainty in (None, "observed")
    return shown if certain else f"{shown}; the edges are {graph.certainty}, not observed"


def _of(count: int, what: str) -> str:
    plural = {"box": "boxes"}.get(what, f"{what}s")
    return f"{count:,} {what if count == 1 else plural}"


def _notes(notes: list[str]) -> list[str]:
    lines: list[str] = []
    for note in notes[:NOTES_SHOWN]:
        lines += wrap(printable(note), NOTE_COLUMNS) or [""]
    if len(notes) > NOTES_SHOWN:
        lines.append(f"and {len(notes) - NOTES_SHOWN} more notes")
    return lines


def _keys(graph: Graph, has_ports: bool) -> list[Key]:
    states = {node.state for node in graph.nodes}
    kinds = {badge.kind for node in graph.nodes for badge in node.badges}
    keys = [(_state_swatch(state), STATE_NAMES[state]) for state in STATES if state in states]
    keys += [(_pill_swatch(kind, PILL_RADIUS[kind]), BADGE_NAMES[kind]) for kind in BADGE_KINDS if kind in kinds]
    if has_ports:
        keys.append((_pill_swatch("port", PILL_RADIUS["port"]), "long edge: a link to its other end"))
    if any(node.count > 1 for node in graph.nodes):
        keys.append((_FOLD, "fold: stands for many nodes"))
    if graph.edges:
        keys.append((_ARROW, "gradients flow along arrows"))
    if graph.certainty is None:
        keys.append((_INFERRED, "edge inferred, not observed"))
    return keys


def _state_swatch(state: str) -> str:
    frame = '<rect class="box" width="30" height="16" rx="4"/>'
    return f'<g class="{state}">{frame}<use href="#{state}" x="9" y="2"/></g>'


def _pill_swatch(kind: str, radius: int) -> str:
    return f'<rect class="pill {kind}" y="1" width="30" height="14" rx="{radius}"/>'


_FOLD = (
    '<g class="ran"><rect class="box" x="6" width="22" height="11" rx="3"/>'
    '<rect class="box" x="2" y="4" width="22" height="11" rx="3"/></g>'
)
_ARROW = '<g class="edges"><path d="M15 17V1"/></g>'
_INFERRED = '<g class="edges"><path class="inferred" d="M15 17V1"/></g>'


def _key_width(key: Key) -> float:
    return SWATCH + 7 + sans_width(key[1], KEY_SIZE) + KEY_GAP


def _draw_key(key: Key, x: float, y: float) -> str:
    return (
        f'<g transform="translate({number(x)} {number(y)})">{key[0]}'
        f'<text class="key" x="{SWATCH + 7:.0f}" y="12">{escaped(key[1])}</text></g>'
    )


def _rows(keys: list[Key]) -> list[list[Key]]:
    rows: list[list[Key]] = []
    for key in keys:
        if rows and sum(map(_key_width, [*rows[-1], key])) <= LEGEND_WIDTH:
            rows[-1].append(key)
        else:
            rows.append([key])
    return rows
