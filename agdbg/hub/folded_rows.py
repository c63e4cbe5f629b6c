"""Folded rows as the protocol tells them: what a call of a module has built in one row, and what repeats itself."""

from typing import TYPE_CHECKING

import numpy as np

from agdbg.counted import counted
from agdbg.events import Kind, Outcome
from agdbg.graph.row_calls import RowCalls
from agdbg.graph.row_facts import facts_of
from agdbg.graph.row_folds import Folding, Item, RowFolds
from agdbg.graph.row_states import LEAST_ADVANCED
from agdbg.hub.moment import Moment
from agdbg.protocol import vendor

if TYPE_CHECKING:
    from agdbg.hub.history import History

#: Rows of a fold that are looked at for its state and for what it saves; of a longer one as many, evenly spread.
LOOKED_AT = 64


class Within:
    """What is known of the rows of a fold: their states, the bytes that they save (None: not known), whether one is bad."""

    def __init__(self) -> None:
        self.states: set[str] = set()
        self.saved: int | None = 0
        self.bad = False


class FoldedRows:
    """The rows of a history as they are folded."""

    def __init__(self, history: "History") -> None:
        self._history = history
        self._calls = RowCalls(history.growing, history.graph_rows.nodes)
        self.folds = RowFolds(history.graph_rows.nodes, self._calls)

    @property
    def deepest(self) -> int:
        """The greatest depth at which something is folded; 1 where there are repeats alone."""
        return max(self._calls.deepest, 1)

    def moved(self, folding: Folding, row: int, how: str) -> Folding:
        """What is folded after a move at a row: ``fold``, ``unfold``, ``show``; ``keep`` is none."""
        moves = {"fold": self.folds.folded, "unfold": self.folds.unfolded, "show": self.folds.shown}
        folding = folding._replace(depth=min(folding.depth, self.deepest))
        return moves[how](folding, row) if how in moves and row < self._history.total else folding

    # ----- rows -----

    def page(self, folding: Folding, start: int, count: int, at: Moment | None = None) -> vendor.RowsBody:
        """A page of items, each in the words of its last row, which as a rule is what the module gives."""
        view = self.folds.view(folding)
        items = [view.item(index) for index in range(start, min(start + count, len(view)))]
        return {"total": len(view), "start": start, "rows": self.told(items, at), "pc": None, "pcNode": None}

    def told(self, items: list[Item], at: Moment | None = None) -> list[vendor.Row]:
        """Some items."""
        last = np.array([each.end - 1 for each in items], np.int64)
        single = self._history.told(self._history.graph_rows.without_lanes(last), at)
        within = self._within([each for each in items if each.is_fold], at)
        return [self._row(item, row, within.get(item)) for item, row in zip(items, single, strict=True)]

    def _row(self, item: Item, row: vendor.Row, within: Within | None) -> vendor.Row:
        guides = "\N{BOX DRAWINGS LIGHT VERTICAL} " * item.nested
        lone: vendor.Row = {**row, "row": item.start, "cells": f"{guides}\N{BLACK CIRCLE}"}
        if within is None:
            return lone
        return {
            **lone,
            "op": self._title(item),
            "count": item.end - item.start,
            "times": item.times,
            "badges": [],
            "saved": within.saved,
            "bad": within.bad,
            "state": next(state for state in LEAST_ADVANCED if state in within.states),
        }

    def _within(self, folds: list[Item], at: Moment | None) -> dict[Item, Within]:
        """Of each fold what is known of the rows in it that are looked at, and of all that failed."""
        found = {item: Within() for item in folds}
        if not folds:
            return found
        rows = [_looked_at(item) for item in folds]
        owners = [item for item, mine in zip(folds, rows, strict=True) for _ in mine]
        nodes = self._history.graph_rows.nodes.nodes.now[np.concatenate(rows)].tolist()
        fates = self._history.fates(nodes, at)
        facts = facts_of(self._history.growing, self._history.live, nodes, fates, at and at.before)
        for item, fate, fact in zip(owners, fates, facts, strict=True):
            within = found[item]
            within.states.add(fate.state)
            within.bad |= fact.bad
            within.saved = within.saved + fact.saved if within.saved is not None and fact.saved is not None else None
        long = [item for item in folds if item.end - item.start > LOOKED_AT]
        failed = self._failed(at) if long else []
        for item in long:
            found[item].saved = None
            if any(item.start <= row < item.end for row in failed):
                found[item].states.add("failed")
        return found

    def _failed(self, at: Moment | None) -> list[int]:
        """The rows of nodes whose last run failed: they are few."""
        growing, nodes = self._history.growing, self._history.graph_rows.nodes
        ran = growing.records[growing.rows(Kind.RAN)]
        ids = np.unique(ran[ran[:, 6] == Outcome.ERROR, 1])
        fates = self._history.fates(ids.tolist(), at)
        pairs = zip(nodes.find(ids).tolist(), fates, strict=True)
        return [row for row, fate in pairs if fate.state == "failed"]

    # ----- names -----

    def _title(self, item: Item) -> str:
        """The module with its class, or how often what repeats itself: by the module, or modules, that have built most of that."""
        first = self._module(item.start, item.depth)
        if not item.times:
            return first
        length = (item.end - item.start) // item.times
        mine = self._calls.at_depth(item.depth)[item.start : item.start + length]
        within = int(np.count_nonzero(mine == mine[0])) if first else 0
        if 2 * within > length:
            more = "" if within == length else ", \N{HORIZONTAL ELLIPSIS}"
            if names := self._range(item, length):
                return names + more
            first += more
        else:
            node = self._history.live.node(self._history.node_at(item.start))
            first = node.op.name if length == 1 and node is not None else counted(length, "node")
        return f"{item.times:,} \N{MULTIPLICATION SIGN} {first}"

    def _range(self, item: Item, length: int) -> str:
        """``blocks.0 to blocks.3 (Block)`` where each repeat is of another module; "" where they are calls of one."""
        told = [self._module(row, item.depth) for row in (item.start, item.end - length)]
        if told[0] == told[1] or not all(told):
            return ""
        rows = range(item.start, item.end, length)
        looked_at = [rows[at] for at in np.linspace(0, item.times - 1, min(item.times, LOOKED_AT)).astype(int).tolist()]
        several = len({self._module(row, item.depth) for row in looked_at})
        (first, last), classes = zip(*(each.partition(" (")[::2] for each in told), strict=True)
        kind = f" ({classes[0]}" if classes[0] == classes[1] else ""
        calls = "" if several == len(looked_at) else f"{item.times:,} calls, "
        return f"{calls}{first} to {last}{kind}"

    def _module(self, row: int, depth: int) -> str:
        call = int(self._calls.at_depth(depth)[row])
        module = self._history.live.module(self._calls.module_of(call)) if call >= 0 else None
        if module is None:
            return "" if call < 0 else "a module"
        return f"{module.path} ({module.class_name})" if module.path else module.class_name


def _looked_at(item: Item) -> "np.typing.NDArray[np.int64]":
    rows = np.linspace(item.start, item.end - 1, min(item.end - item.start, LOOKED_AT))
    return np.unique(rows.astype(np.int64))


def folding_of(told: vendor.Folds | None) -> Folding:
    """What a client has folded."""
    if told is None:
        return Folding()
    closed = tuple((each["row"], each["depth"]) for each in told["closed"])
    return Folding(told["depth"], tuple(sorted(told["opened"])), closed)


def told_of(folding: Folding) -> vendor.Folds:
    """The same for the client."""
    closed: list[vendor.ClosedFold] = [{"row": row, "depth": depth} for row, depth in folding.closed]
    return {"depth": folding.depth, "opened": list(folding.opened), "closed": closed}
