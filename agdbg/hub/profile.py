"""A pass as a whole: the bytes that saved tensors hold along it, what its hooks cost, the norm of the gradients by layer.

It takes arrays over the trace, so it is for the thread that takes its time; what was found is kept until there is more.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from agdbg.events import HookAction, Kind, Summarized
from agdbg.graph.row_nodes import UNKNOWN
from agdbg.graph.rows import GraphRows
from agdbg.hub.empty import no_profile
from agdbg.norm import norm_of_all, told
from agdbg.protocol.looks import Layer, Point, ProfileBody
from agdbg.record.deep_norms import Norms, norms_of, together
from agdbg.record.facts import PassFact
from agdbg.record.growing import Growing, Numbers, Words
from agdbg.record.index import Rows
from agdbg.record.live import LiveFacts
from agdbg.report.saved_bytes import SavedBytes

_A, _B, _HIGH, _BYTE = np.uint64(16), np.uint64(24), np.uint64(32), np.uint64(255)
#: Passes that are kept.
_KEPT = 4
#: In place of a norm.
_UNKNOWN = -1.0


@dataclass(frozen=True)
class _Profile:
    """Of one pass: arrays with an entry for each of its runs, in order.

    Attributes:
        held: the bytes that saved tensors held while it ran; of sizes that are known.
        after: the bytes that they held behind the last run.
        storages, unknown: how many were held at some time of the pass, and how many of them have no known size.
        took, hooks: the nanoseconds of the run, and those of its hooks.
        gradient: the norm of what arrived, -1 where that was not recorded.
        layers: the gradients that arrived at parameters.
        calls, hooks_ns: the calls of hooks in the pass, also those of no node, and how long they took.
        is_timed: whether that was recorded.
    """

    held: Numbers
    after: int
    storages: int
    unknown: int
    took: Numbers
    hooks: Numbers
    gradient: Norms
    layers: list[Layer]
    calls: int
    hooks_ns: int
    is_timed: bool


class Profiles:
    """Profiles the passes that ``growing`` has read."""

    def __init__(self, growing: Growing, rows: GraphRows) -> None:
        self._growing, self._rows = growing, rows
        self._known: dict[tuple[int, int], _Profile] = {}
        self._saved: tuple[int, SavedBytes] | None = None

    def body(
        self, facts: LiveFacts, pass_id: int | None, ran: Rows, start: int, count: int, points: int
    ) -> ProfileBody:
        """The profile of a pass: the whole in at most ``points`` parts, and what is held in ``count`` runs from ``start`` on.

        Args:
            facts: those of what ``growing`` has read.
            pass_id: the pass; None: there is none.
            ran: the rows of its runs, in order.
            start, count, points: what is asked for.
        """
        passed = facts.pass_of(pass_id) if pass_id else None
        found = self._profile(facts, passed, ran) if passed is not None else None
        if passed is None or found is None:
            return no_profile(start)
        most = int(found.held.argmax()) if len(found.held) else None
        return {
            "pass": passed.id,
            "total": len(found.held),
            "start": start,
            "held": found.held[start : start + count].tolist(),
            "heldMost": int(found.held[most]) if most is not None else found.after,
            "mostAt": most,
            "heldAfter": found.after,
            "storages": found.storages,
            "unknown": found.unknown,
            "wholeNs": int(found.took.sum())
            + found.hooks_ns
            - int(found.hooks.sum()),  # and those of no run that has ended
            "hookCalls": found.calls,
            "hooksNs": found.hooks_ns if found.is_timed or not found.calls else None,
            "points": _points(found, points),
            "layers": found.layers,
        }

    def _profile(self, facts: LiveFacts, told: PassFact, ran: Rows) -> _Profile:
        key = told.id, len(self._growing.records)
        if (known := self._known.pop(key, None)) is None:
            known = self._made(facts, told, ran)
        self._known[key] = known
        while len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return known

    def _made(self, facts: LiveFacts, told: PassFact, ran: Rows) -> _Profile:
        records = self._growing.records
        saved = self._bytes(facts)
        end = int(ran.max()) + 1 if len(ran) else told.row
        alive = saved.held_between(told.row, max(end, told.row + 1))
        fired = self._fired(told.id)
        spent = _spent(records[fired])
        return _Profile(
            held=saved.held_at(ran),
            after=int(saved.held_at(np.array([end]))[0]),
            storages=int(alive.sum()),
            unknown=int((alive & (saved.nbytes < 0)).sum()),
            took=records[ran, 5].astype(np.int64),
            hooks=_by_run(records, ran, fired, spent),
            gradient=self._gradients(told.id, records[ran, 1]),
            layers=self._layers(facts, told.id),
            calls=len(fired),
            hooks_ns=int(spent.sum()),
            is_timed=bool(len(spent) and (spent > 0).all()),
        )

    def _bytes(self, facts: LiveFacts) -> SavedBytes:
        """Who saved what from when to when; it is the same for all passes."""
        size = len(self._growing.records)
        if self._saved is None or self._saved[0] != size:
            self._saved = size, SavedBytes(facts)
        return self._saved[1]

    def _fired(self, pass_id: int) -> Rows:
        """The records of the calls of hooks in a pass: what a custom Function's ``backward`` wrote is none."""
        rows = np.array(self._growing.index(Kind.HOOK, 2).rows(pass_id), np.int64)
        words = self._growing.records[rows]
        found: Rows = rows[((words[:, 0] >> _A & _BYTE) == HookAction.FIRED) & (words[:, 5] != 0)]
        return found

    def _summaries(self, pass_id: int) -> Rows:
        rows = np.array(self._growing.index(Kind.SUMMARY, 2).rows(pass_id), np.int64)
        found: Rows = rows[(self._growing.records[rows, 0] >> _A & _BYTE) == Summarized.GRADIENT_IN]
        return found

    def _gradients(self, pass_id: int, ran: Words) -> Norms:
        """For each node the norm of what arrived at all of its outputs."""
        words = self._growing.records[self._summaries(pass_id)]
        nodes, at = np.unique(words[:, 1], return_inverse=True)
        if not len(nodes):
            return np.full(len(ran), _UNKNOWN)
        sums = together(at, norms_of(words), len(nodes))
        place = np.minimum(nodes.searchsorted(ran), len(nodes) - 1)
        return np.where(nodes[place] == ran, sums[place], _UNKNOWN)

    def _layers(self, facts: LiveFacts, pass_id: int) -> list[Layer]:
        """The gradients of parameters by the module that has them, a leaf of no module by itself; as forward came to them."""
        rows = self._summaries(pass_id)
        rows = rows[self._rows.nodes.find(self._growing.records[rows, 1]) < UNKNOWN] if len(rows) else rows
        found: dict[str, Layer] = {}
        for each in map(facts.summary_at, rows.tolist()):
            name = facts.name_of_leaf(each.node) or f"leaf #{each.node}"
            layer = found.setdefault(
                name.rpartition(".")[0] or name,
                {"name": "", "node": each.node, "parameters": 0, "norm": 0.0, "largest": 0.0, "nans": 0, "infs": 0},
            )
            layer["parameters"] += 1
            layer["norm"] = told(norm_of_all([float(layer["norm"]), each.l2]))
            layer["largest"] = max(layer["largest"], each.largest)
            layer["nans"] += each.nans
            layer["infs"] += each.infs
        for name, layer in found.items():
            layer["name"] = name
        return list(found.values())[::-1]


def _spent(words: Words) -> Numbers:
    """The nanoseconds of calls of hooks."""
    return (words[:, 6] >> _HIGH << (words[:, 0] >> _B & _BYTE)).astype(np.int64)


def _by_run(records: Words, ran: Rows, fired: Rows, spent: Numbers) -> Numbers:
    """For each run the time of the hooks of its node that were called since its run before, as they are told before it."""
    total = np.zeros(len(ran), np.int64)
    if not len(ran) or not len(fired):
        return total
    _, number = np.unique(np.concatenate([records[ran, 1], records[fired, 1]]), return_inverse=True)
    keys = number * np.int64(len(records)) + np.concatenate([ran, fired])
    mine, asked = keys[: len(ran)], keys[len(ran) :]
    order = np.argsort(mine)
    at = np.minimum(np.searchsorted(mine[order], asked), len(ran) - 1)
    run = order[at]
    fits = (number[: len(ran)][run] == number[len(ran) :]) & (mine[run] > asked)
    np.add.at(total, run[fits], spent[fits])
    return total


def _points(found: _Profile, most: int) -> list[Point]:
    """All runs in at most so many parts of consecutive ones."""
    total = len(found.held)
    parts = min(total, most)
    bounds = [at * total // parts for at in range(parts + 1)] if parts else []
    made: list[Point] = []
    for first, end in pairwise(bounds):
        gradients = found.gradient[first:end]
        known = gradients[gradients != _UNKNOWN]
        made.append(
            {
                "order": first,
                "held": int(found.held[first:end].max()),
                "ns": int(found.took[first:end].sum()),
                "hooksNs": int(found.hooks[first:end].sum()),
                "gradient": told(float(known.max())) if len(known) else None,
            }
        )
    return made
