"""What a person did to a pass at a stop, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agdbg.events import SAVED_EDIT, Kind, Outcome, head
from agdbg.record import Recorder
from agdbg_engine import events as engine_events

if TYPE_CHECKING:
    from agdbg_engine.backward import BackwardPass
    from agdbg_engine.node import Node


class HandSink(engine_events.Sink):
    """The part of the adapter that tells of steps back, skipped nodes, replaced values and graphs that are kept."""

    recorder: Recorder

    def node_undone(self, bp: BackwardPass, node: Node, order: int) -> None:
        self._by_hand(Kind.UNDONE, self.number(node), bp.tag, order)

    def node_skipped(self, bp: BackwardPass, node: Node, order: int) -> None:
        self._by_hand(Kind.RAN, self.number(node), bp.tag, order, self.recorder.now(), 0, Outcome.SKIPPED)

    def gradient_replaced(self, bp: BackwardPass, node: Node, nr: int) -> None:
        self._by_hand(Kind.EDITED, self.number(node), bp.tag, nr)

    def saved_replaced(self, bp: BackwardPass, node: Node, slot: int) -> None:
        self._by_hand(Kind.EDITED, self.number(node), bp.tag, slot, flags=SAVED_EDIT)

    def graph_retained(self, bp: BackwardPass) -> None:
        self._by_hand(Kind.RETAINED, bp.tag)

    def _by_hand(self, kind: Kind, number: int, *words: int, flags: int = 0) -> None:
        self.recorder.emit(head(kind, self.recorder.thread(), flags), number, *words, *[0] * (6 - len(words)))

    def number(self, node: Node) -> int:
        """The number of a node."""
        raise NotImplementedError
