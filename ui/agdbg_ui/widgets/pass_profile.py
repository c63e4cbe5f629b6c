"""What is said of a pass as a whole: the memory of its saved tensors, its hooks, the gradients of its layers."""

from collections.abc import Mapping
from math import isfinite, log10
from typing import Any

from agdbg.sizes import size
from agdbg_ui.amounts import bar, curve, share
from agdbg_ui.text import Pieces, cells, pad
from agdbg_ui.themes import ALERT, ASIDE, LABEL, NOTICE, TITLE

#: Runs that are asked for at once, and points of the curve.
WINDOW, POINTS = 1000, 60
_NORM_CELLS, _NAME_CELLS, _LEAST_BAR = 9, 28, 8
#: Decades that the bars of layers span at least.
_DECADES = 3.0

Body = Mapping[str, Any]


class PassProfile:
    """The answer to ``agdbg/profile`` that the timeline has, and what it lacks."""

    def __init__(self) -> None:
        self.body: Body = {}
        self._age = -1

    def wanted(self, pass_id: int, first: int, last: int, age: int) -> tuple[int, int, int] | None:
        """Start and count to ask for, and the age of the answer; None: it is known what runs `first` to `last` hold."""
        body = self.body
        is_known = self._age == age and body.get("pass") == pass_id
        if is_known and body["start"] <= first and last < body["start"] + max(len(body["held"]), 1):
            return None
        if is_known and last >= body["total"] and body["start"] <= first:
            return None
        return max(first - WINDOW // 2, 0), WINDOW, age

    def put(self, body: Body, age: int) -> None:
        """Take in an answer."""
        self.body, self._age = body, age

    @property
    def layers(self) -> list[Body]:
        """The gradients by layer."""
        return list(self.body.get("layers", ()))

    @property
    def tells_memory(self) -> bool:
        """Whether any size is known."""
        return bool(self.body) and self.body["storages"] > self.body["unknown"]

    def held(self, order: int) -> str:
        """What saved tensors hold while a run goes on, in words; "" where that is not known."""
        at = order - self.body.get("start", 0)
        if not self.tells_memory or not 0 <= at < len(self.body["held"]):
            return ""
        return ("≥ " if self.body["unknown"] else "") + size(self.body["held"][at])

    def line(self, pass_id: int, width: int) -> Pieces:
        """Memory and hooks in one line."""
        if not self.body or self.body["pass"] != pass_id:
            return [("…" if pass_id else "", ASIDE)]
        pieces = [*self._memory(max(min(width // 4, POINTS), 4)), *self._hooks()]
        return pieces if sum(cells(text) for text, _ in pieces) <= width else [*self._memory(0), *self._hooks()]

    def _memory(self, room: int) -> Pieces:
        body = self.body
        if not body["storages"]:
            return [("saved tensors hold nothing", ASIDE)]
        if not self.tells_memory:
            return [("memory unknown: no shapes recorded (--also shapes)", ASIDE)]
        bars = curve([point["held"] for point in body["points"]], room)
        said = f"{size(body['heldMost'])} at most, then {size(body['heldAfter'])}"
        unknown = f", {body['unknown']:,} of unknown size" if body["unknown"] else ""
        return [("memory ", LABEL), (f"{bars} " if bars else "", ""), (said + unknown, "")]

    def _hooks(self) -> Pieces:
        body = self.body
        if not body["hookCalls"]:
            return []
        calls = f" ({body['hookCalls']:,} {'call' if body['hookCalls'] == 1 else 'calls'})"
        if body["hooksNs"] is None:
            return [("   hooks ", LABEL), ("unknown" + calls, ASIDE)]
        return [("   hooks ", LABEL), (share(body["hooksNs"], body["wholeNs"]) + calls, "")]

    # ----- layers -----

    def layer_line(self) -> Pieces:
        """What the bars of layers mean."""
        if not self.layers:
            return []
        return [("gradient norm by layer", LABEL), ("  bars are logarithmic", ASIDE)]

    def layer(self, index: int, width: int) -> Pieces:
        """A layer: name, bar, norm, what is not finite."""
        layer = self.layers[index]
        name = max(min(_NAME_CELLS, width - _NORM_CELLS - _LEAST_BAR - 2), 6)
        bad = f"  {layer['nans']:,} NaN {layer['infs']:,} Inf" if layer["nans"] or layer["infs"] else ""
        more = f"  largest {layer['largest']:.3g}  {layer['parameters']:,} {_parameters(layer['parameters'])}"
        length = float(layer["norm"])
        norm = f" {length:>{_NORM_CELLS}.3g}"
        room = width - name - 1 - cells(norm) - cells(bad)
        more = pad(more, 36) if room - 36 >= _LEAST_BAR else ""
        room = max(min(room - cells(more), width // 2), 0)
        return [
            (pad(layer["name"], name), TITLE),
            (" ", ""),
            (pad(self._bar(length, room), room), LABEL if length else NOTICE),
            (norm, "" if isfinite(length) else ALERT),
            (bad, ALERT),
            (more, ASIDE),
        ]

    def _bar(self, norm: float, room: int) -> str:
        if not isfinite(norm):
            return "!"
        return bar(self._height(norm), room) if norm else "none"

    def _height(self, norm: float) -> float:
        """A norm between the smallest and the greatest of all layers, in decades."""
        norms = [float(each["norm"]) for each in self.layers]
        logs = [log10(each) for each in norms if isfinite(each) and each > 0]
        low = min(min(logs), max(logs) - _DECADES)
        return 0.05 + 0.95 * (log10(norm) - low) / (max(logs) - low)


def _parameters(count: int) -> str:
    return "parameter" if count == 1 else "parameters"
