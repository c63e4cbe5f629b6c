"""What was measured of values and gradients (``SUMMARY`` records), in arrays by the places of the walk.

A trace may hold millions of summaries, and after the first NaN every one of them is bad: nothing here makes an object
for each.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agdbg.diagnose.walk import Mask, Places, Walk
from agdbg.events import Kind, Summarized
from agdbg.record import Facts

Rows = npt.NDArray[np.int64]
_BYTE, _LOW = np.uint64(255), np.uint64((1 << 32) - 1)
_A, _B, _HIGH = np.uint64(16), np.uint64(24), np.uint64(32)


@dataclass(frozen=True)
class PassValues:
    """The gradients of one pass, by place: which came in or went out with a NaN or an infinity in them."""

    came_bad: Mask
    went_bad: Mask
    came: Mask
    rows: Rows

    @property
    def bad(self) -> Mask:
        """Places with something bad on either side."""
        return self.came_bad | self.went_bad


class Measured:
    """The summaries of one trace.

    Attributes:
        rows: the rows of all summaries of nodes that the trace mentions, ascending; the arrays below go with them.
        place, what, index, pass_id: of which node, what of it, which output or input, in which pass.
        nans, infs: how many elements are.
    """

    def __init__(self, facts: Facts, walk: Walk) -> None:
        rows = facts.rows(Kind.SUMMARY)
        rows = rows[np.isin(facts.trace.records[rows, 1], walk.ids)] if len(rows) else rows
        words: npt.NDArray[Any] = facts.trace.records[rows]
        self._count = len(walk.ids)
        self._walk = walk
        self.rows: Rows = rows
        self.place: Places = walk.ids.searchsorted(words[:, 1])
        self.what = (words[:, 0] >> _A & _BYTE).astype(np.int64)
        self.index = (words[:, 0] >> _B & _BYTE).astype(np.int64)
        self.pass_id = words[:, 2]
        self.norm: npt.NDArray[np.float64] = np.ascontiguousarray(words[:, 3]).view(np.float64)
        self.largest: npt.NDArray[np.float64] = np.ascontiguousarray(words[:, 4]).view(np.float64)
        self.nans, self.infs = words[:, 5] & _LOW, words[:, 5] >> _HIGH
        self.elements = words[:, 7]
        self.bad: Mask = words[:, 5] != 0

    def _mask(self, chosen: Mask) -> Mask:
        mask = np.zeros(self._count, bool)
        mask[self.place[chosen]] = True
        return mask

    # ----- forward -----

    @cached_property
    def bad_output(self) -> Mask:
        """The places with a NaN or an infinity in an output."""
        return self._mask(self.bad & (self.what == Summarized.OUTPUT))

    @cached_property
    def nan_output(self) -> Mask:
        """The places with a NaN in an output."""
        return self._mask((self.nans != 0) & (self.what == Summarized.OUTPUT))

    @cached_property
    def output_known(self) -> Mask:
        """The places whose outputs were measured."""
        return self._mask(self.what == Summarized.OUTPUT)

    @cached_property
    def made_bad(self) -> Mask:
        """The places with a bad output and, as far as the graph goes, only good inputs."""
        edges = self._walk.edges
        fed = np.zeros(self._count, bool)
        fed[edges.source[self.bad_output[edges.target]]] = True
        return self.bad_output & ~fed

    # ----- backward -----

    @cached_property
    def bad_passes(self) -> list[int]:
        """The ids of the passes with a bad gradient."""
        chosen = self.bad & (self.what != Summarized.OUTPUT)
        return [int(each) for each in np.unique(self.pass_id[chosen]).tolist()]

    @cached_property
    def _by_pass(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
        order = np.argsort(self.pass_id, kind="stable")
        return order, self.pass_id[order]

    def of_pass(self, pass_id: int) -> npt.NDArray[np.intp]:
        """The positions in these arrays of the summaries of a pass, in trace order."""
        order, keys = self._by_pass
        return order[keys.searchsorted(np.uint64(pass_id)) : keys.searchsorted(np.uint64(pass_id), side="right")]

    def in_pass(self, pass_id: int) -> PassValues:
        """The gradients of a pass."""
        at = self.of_pass(pass_id)
        at = at[self.what[at] != Summarized.OUTPUT]
        masks = [np.zeros(self._count, bool) for _ in range(3)]
        came = self.what[at] == Summarized.GRADIENT_IN
        for mask, chosen in zip(masks, (came & self.bad[at], ~came & self.bad[at], came), strict=True):
            mask[self.place[at[chosen]]] = True
        return PassValues(masks[0], masks[1], masks[2], self.rows[at])
