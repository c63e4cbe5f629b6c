"""Training that diverges: what one op makes grows from pass to pass, with updates between, until it is infinite.

Needs: SUMMARY (the extra ``values``), BUMP, edges.
"""

from itertools import pairwise

import numpy as np

from agdbg.diagnose.bad_values import Story
from agdbg.diagnose.case import Case
from agdbg.diagnose.leaves import Leaves
from agdbg.events import Kind, Summarized

#: Earlier results of the op that are looked at at most and at least, by how much each must exceed the one before, and the last
#: one the first.
RUNS, FEWEST, FACTOR, IN_ALL = 3, 2, 2.0, 100.0
FIX = (
    "The training diverges: each update makes the next values larger. Lower the learning rate, limit the gradient with "
    "clip_grad_norm_(), or bring the data to the size of 1."
)


def sizes(case: Case, story: Story) -> list[float]:
    """The largest elements of the last finite results of the producer's line, which grew until it made the infinity; else none."""
    if not story.forward or story.seen.nans or not story.seen.infs:
        return []
    walk, measured = case.walk, case.measured
    place = walk.place(story.producer.id)
    same = (walk.made_at[measured.place] == walk.made_at[place]) & (measured.what == Summarized.OUTPUT)
    earlier = np.flatnonzero(same & (measured.rows < story.producer.row))[-RUNS:]
    found = measured.largest[earlier].tolist()
    if len(found) < FEWEST or measured.bad[earlier].any() or not found[0] > 0:
        return []
    grows = all(after >= FACTOR * before for before, after in pairwise(found))
    if not grows or found[-1] < IN_ALL * found[0] or not _is_updated(case, story, int(measured.rows[earlier[0]])):
        return []
    return [float(each) for each in found]


def follows(case: Case, story: Story, diverged: int) -> bool:
    """Whether a pass goes through what is made at the place ``diverged``: its bad values are of the same divergence."""
    return bool((case.walk.made_at[story.reach] == np.uint64(diverged)).any())


def words(found: list[float]) -> str:
    """The sizes, to be put behind what made the infinity."""
    return f", after its values had grown from pass to pass ({', '.join(f'{each:.0e}' for each in found)})".replace(
        "e+", "e"
    )


def _is_updated(case: Case, story: Story, since: int) -> bool:
    """Whether a leaf of the pass was written to between the earlier results and the infinity."""
    facts = case.facts
    rows = facts.rows(Kind.BUMP)
    rows = rows[(rows > since) & (rows < story.producer.row)]
    written = set(facts.trace.records[rows, 1].tolist())
    return any(each.storage in written for each in Leaves(case).all if story.reach[list(each.places)].any())
