"""What a trace tells about one node, in the sections of the inspector. Values live in the program, not in the trace."""

from collections.abc import Sequence

import numpy as np

from agdbg.counted import counted
from agdbg.events import ACCUMULATE_SEQUENCE, SAVED_EDIT, HookAction, Kind, Provenance, a_of, flags_of
from agdbg.hub import recorded_values
from agdbg.hub.leaf_names import variable
from agdbg.hub.wording import at, cut, is_leaf, node_words, pass_words
from agdbg.protocol.vendor import Entry, Section
from agdbg.record.facts import BumpFact, EdgeFact, NodeFact, SaveFact
from agdbg.record.live import LiveFacts
from agdbg.record.rare import PackFact

NOT_CAPTURED = "not captured"
#: Writers, passes and hooks that are named one by one.
SHOWN = 3


class Inspection:
    """One node at one moment: as it was before the record ``before``.

    Args:
        senders: the nodes that have still to send it a gradient, where that is known.
    """

    def __init__(self, facts: LiveFacts, node: NodeFact, before: int, senders: Sequence[int] = ()) -> None:
        self._senders = senders
        self._facts = facts
        self._node = node
        self._before = before
        self._packs = facts.packs_of(node.id)

    def sections(self) -> list[Section]:
        """All sections, those with nothing in them too, in the order in which they are shown."""
        return [
            _section("Gradients in", self._gradients_in()),
            _section("Gradients out", self._gradients_out()),
            _section("Saved tensors", [self._saved(save) for save in self._node.saves]),
            _section("Storages", [_entry(save.slot, self._storage(save)) for save in self._node.saves if save.storage]),
            _section("Next edges", [_entry(str(i), self._edge(edge), "node") for i, edge in self._next()]),
            _section("Hooks", self._hooks()),
            _section("Node", self._about()),
        ]

    def _next(self) -> list[tuple[int, EdgeFact]]:
        return list(enumerate(self._node.edges))

    def _gradients_in(self) -> list[Entry]:
        edits: dict[int, int] = {0: 0}
        for row in self._facts.rows_about(Kind.EDITED, self._node.id):
            head, _, pass_id, output, *_ = self._facts.words(row)
            if flags_of(head) & SAVED_EDIT:
                continue
            if row < self._before and not self._is_computed_anew(row, pass_id, output):
                edits[output] = pass_id
        told = self._recorded("gradient in")
        coming = self._coming()
        numbers = sorted({*edits, *told, *coming})
        return [
            _entry(str(nr), self._gradient(edits.get(nr, 0)) + coming.get(nr, "") + told.get(nr, "")) for nr in numbers
        ]

    def _coming(self) -> dict[int, str]:
        """By the number of an output who has still to send a gradient to it."""
        by_output: dict[int, list[str]] = {}
        for sender in self._senders:
            user = self._facts.node(sender)
            for nr in {edge.nr for edge in user.edges if edge.node == self._node.id} if user is not None else ():
                by_output.setdefault(nr, []).append(node_words(self._facts, sender))
        return {nr: f"; waits for {_some(names)}" for nr, names in by_output.items()}

    def _gradients_out(self) -> list[Entry]:
        told = self._recorded("gradient out")
        return [_entry(str(nr), NOT_CAPTURED + told.get(nr, "")) for nr, edge in self._next() if edge.node]

    def _recorded(self, what: str) -> dict[int, str]:
        return recorded_values.gradients(self._facts, self._node.id, what, self._before)

    def _storage(self, save: SaveFact) -> str:
        return recorded_values.storage(self._facts, self._node, save)

    def _is_computed_anew(self, edit: int, pass_id: int, output: int) -> bool:
        """Whether a run that adds to the gradient was taken back after the edit, which is then gone as well."""
        undone = self._facts.rows(Kind.UNDONE)
        first, last = np.searchsorted(undone, [edit, self._before])
        records = self._facts.trace.records[undone[first:last]]
        nodes = np.unique(records[records[:, 2] == pass_id, 1]).tolist()
        born = [node for node in map(self._facts.node, nodes) if node is not None]
        return any((edge.node, edge.nr) == (self._node.id, output) for node in born for edge in node.edges)

    @staticmethod
    def _gradient(edited_in: int) -> str:
        return f"{NOT_CAPTURED}; replaced by hand in pass {edited_in}" if edited_in else NOT_CAPTURED

    # ----- saved tensors -----

    def _saved(self, save: SaveFact) -> Entry:
        bumps = [bump for bump in self._facts.bumps(save.storage) if bump.row < self._before] if save.storage else []
        since = [bump for bump in bumps if bump.new > save.version]
        now = since[-1].new if since else save.version
        name = ", ".join(self._facts.names(save.storage)) if save.storage else ""
        row, freed = self._facts.freed_at(self._node.id)
        gone = freed and row < self._before
        words = [f"freed by {pass_words(self._facts, freed)}"] if gone else []
        packed = [pack for pack in self._packs if pack.slot == save.slot and pack.row < self._before]
        if packed:
            words.append(self._packed(save, packed[-1]))
        if since:
            subject = f"{name} " if name else ""
            how = "memory" if packed else "modified"  # what hooks keep may be a copy
            words.append(f"{how}: {subject}written by {_writers(since)}, {versions(save.version, now)}")
        else:
            words += [name] if name else []
            words += [] if gone else [versions(save.version, now)]
        state = "freed" if gone else "modified" if since and not packed else "ok"
        return _entry(save.slot, ", ".join(words) + _provenance(save.provenance), "tensor", state)

    def _packed(self, save: SaveFact, pack: PackFact) -> str:
        unpacks = [unpack for unpack in self._facts.unpacks_of(self._node.id) if unpack.slot == save.slot]
        times = sum(1 for unpack in unpacks if unpack.row < self._before)
        return f"kept by hooks{at(pack.site)}" + (f", unpacked {_often(times)}" if times else "")

    # ----- edges and hooks -----

    def _edge(self, edge: EdgeFact) -> str:
        if not edge.node:
            return "none: no gradient needed"
        node = self._facts.node(edge.node)
        site = at(node.site) if node is not None and not is_leaf(node) else ""
        output = f", output {edge.nr}" if edge.nr else ""
        name = variable(self._facts, self._node.id, edge.node) if node is not None and is_leaf(node) else ""
        if name and not self._facts.name_of_leaf(edge.node):
            return f"{name} #{edge.node}{_provenance(edge.provenance)}"
        return node_words(self._facts, edge.node) + output + site + _provenance(edge.provenance)

    def _hooks(self) -> list[Entry]:
        """The hooks that are registered: one that is removed is taken to be the oldest of its kind."""
        there: list[tuple[str, str]] = []
        fired: dict[str, int] = {}
        for row in self._facts.rows_about(Kind.HOOK, self._node.id):
            if row >= self._before:
                break
            head, _, _, where, *_ = self._facts.words(row)
            site, op = self._facts.site_and_op(where)
            if a_of(head) == HookAction.REGISTERED:
                there.append((op.name, f"registered{at(site)}"))
            elif a_of(head) == HookAction.FIRED:
                fired[op.name] = fired.get(op.name, 0) + 1
            elif (oldest := next((each for each in there if each[0] == op.name), None)) is not None:
                there.remove(oldest)
        unseen = [(kind, "registered before the recording") for kind in fired if kind not in dict(there)]
        return [_entry(kind, value + _times(fired.get(kind, 0)), "hook") for kind, value in there + unseen]

    # ----- the node itself -----

    def _about(self) -> list[Entry]:
        node = self._node
        sequence = "none, it runs first" if node.seq == ACCUMULATE_SEQUENCE else str(node.seq)
        where = f" in {node.site.func}" if node.site.func else ""
        found = [
            _entry("op", node.op.name),
            _entry("id", str(node.id)),
            _entry("sequence number", sequence),
            _entry("thread", str(node.thread)),
            _entry("created", (at(node.site).strip() + where).strip() or "place not known"),
            _entry("ran in", self._ran_in()),
        ]
        made = recorded_values.outputs(self._facts, node.id)
        found += [_entry(f"output {number}" if len(made) > 1 else "output", words) for number, words in made.items()]
        name = self._facts.name_of_leaf(node.id)
        return [_entry("name", name), *found] if name else found

    def _ran_in(self) -> str:
        runs = [run for run in self._facts.runs_of(self._node.id) if run.row < self._before]
        told = [f"{pass_words(self._facts, run.pass_id)}, place {run.order}" for run in runs[-SHOWN:]]
        more = [f"{counted(len(runs) - SHOWN, 'pass', 'es')} before"] if len(runs) > SHOWN else []
        return "; ".join(more + told) or "no pass"


def versions(saved: int, now: int) -> str:
    """``version 0 saved, 1 now``."""
    return f"version {saved} saved, {now} now"


def _some(names: list[str]) -> str:
    """The first of the names, and how many more there are."""
    more = [f"{len(names) - SHOWN:,} more"] if len(names) > SHOWN else []
    return ", ".join(names[:SHOWN] + more)


def _writers(bumps: list[BumpFact]) -> str:
    """The last of the writers, each with its line."""
    return _some(list(dict.fromkeys(f"{bump.op.name or 'a write'}{at(bump.site)}" for bump in reversed(bumps))))


def _times(fired: int) -> str:
    return f", fired {_often(fired)}" if fired else ""


def _often(times: int) -> str:
    return f"{times:,} {'time' if times == 1 else 'times'}"


def _provenance(provenance: Provenance) -> str:
    return "" if provenance == Provenance.OBSERVED else f" ({provenance.name.lower()})"


def _section(name: str, entries: list[Entry]) -> Section:
    return {"name": name, "entries": entries}


def _entry(name: str, value: str, type_: str = "", state: str = "") -> Entry:
    return {"name": cut(name), "value": cut(value), "type": type_, "reference": 0, "state": state}
