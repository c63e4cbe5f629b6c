"""How one row of lanes looks: the node's mark, joints with the lanes of its producers, lanes that pass by."""

NODE = "\N{BLACK CIRCLE}"
"""Stands for the node itself."""

PASSES, ROW = "\N{BOX DRAWINGS LIGHT VERTICAL}", "\N{BOX DRAWINGS LIGHT HORIZONTAL}"
FIRST = ("\N{BOX DRAWINGS LIGHT ARC UP AND RIGHT}", "\N{BOX DRAWINGS LIGHT VERTICAL AND RIGHT}")
INSIDE = ("\N{BOX DRAWINGS LIGHT UP AND HORIZONTAL}", "\N{BOX DRAWINGS LIGHT VERTICAL AND HORIZONTAL}")
LAST = ("\N{BOX DRAWINGS LIGHT ARC UP AND LEFT}", "\N{BOX DRAWINGS LIGHT VERTICAL AND LEFT}")
"""Joints of a lane with a row's line, by where they are: for a lane that ends, for one that goes on. A lane
that only passes keeps its bar, so that a cross always joins."""


def draw(passing: list[bool], lane: int, joined: set[int], ended: set[int]) -> str:
    """The cells of a row, two columns a lane.

    Args:
        passing: of each lane that may be drawn, whether it goes on below; one more column holds the nodes beyond.
        lane: the node's own.
        joined: the lanes of what the node uses.
        ended: those of them that end here.
    """
    most = len(passing)
    here = min(lane, most)
    shown = {each for each in joined if each < most} | {here}
    first, last = min(shown), max(shown)
    cells = []
    for at in range(most + 1):
        inside = first < at < last
        if at == here:
            cell = NODE
        elif at in shown:
            cell = _joint(at == first, inside, at in ended)
        elif at < most and passing[at]:
            cell = PASSES
        else:
            cell = ROW if inside else " "
        cells.append(cell + (ROW if first <= at < last else " "))
    return "".join(cells).rstrip()


def _joint(is_first: bool, inside: bool, ends: bool) -> str:
    """Where the line of a producer from above meets the row's own line."""
    last, on = INSIDE if inside else FIRST if is_first else LAST
    return last if ends else on
