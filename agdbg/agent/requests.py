"""The requests that a stopped thread answers."""

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from agdbg.agent import frames
from agdbg.agent.evaluate import DONE, Refused, evaluate, names_lost, refuse_lost
from agdbg.agent.variables import References

if TYPE_CHECKING:
    from agdbg.agent.agent import Scene
    from agdbg.agent.kept import KeptValues

OWN = frozenset({"node", "grad", "grads", "saved"})
"""Names that mean something of the stop, whatever the function that called ``backward()`` calls so."""
MOST = 1000
"""Variables or elements in one answer."""
_WINDOW = ("row", "column", "rows", "columns", "step")


class Requests:
    """What one stop can tell; references hold as long as it lasts.

    Attributes:
        frames: those of the user, innermost first.
        frames_described: the same for a client.
    """

    def __init__(self, scene: "Scene", internal: frozenset[str], keeper: "Callable[[], KeptValues]") -> None:
        self.scene, self._keeper = scene, keeper
        known = [(frame, 0) for frame in frames.dead_frames(scene.trace, internal)]
        if not scene.has_ended:
            known += scene.frames(internal)
        self.frames = [frame for frame, _ in known]
        self.frames_described = [frames.described(*each) for each in known]
        self._references = References(scene.describe)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request; whatever goes wrong becomes an error message."""
        answer = _ANSWERS.get(str(request.get("do")))
        if answer is None:
            return {"ok": False, "error": f"there is no request {request.get('do')!r}", "code": "bad"}
        try:
            return {"ok": True, "body": answer(self, request)}
        except Refused as error:
            return {"ok": False, "error": str(error), "code": "bad"}
        except KeyboardInterrupt:
            return {"ok": False, "error": "interrupted", "code": "bad"}
        except BaseException as error:  # SystemExit too: the program is not ended by looking at it
            return {"ok": False, "error": f"{type(error).__name__}: {error}", "code": "bad"}

    def _values(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.scene.values(int(request["node"]))

    def _elements(self, request: dict[str, Any]) -> dict[str, Any]:
        from agdbg.agent.tensors import elements

        array = self._array(request)
        found = elements(array, int(request["start"]), _count(request), self.scene.pick)
        return {"elements": found, "total": int(array.size)}

    def _tensor(self, request: dict[str, Any]) -> dict[str, Any]:
        from agdbg.agent.tensors import page

        array = self._array(request)
        index = [int(at) for at in request["index"]]
        window: dict[str, Any] = {name: int(request[name]) for name in _WINDOW}
        if not request.get("compare"):
            return {**page(array, index, **window, pick=self.scene.pick, measure=self.scene.measure), "compared": None}
        found = self.scene.moment(int(request["node"]))
        if found is not None:
            found = found._replace(place=(found.place, request["what"], request["which"]))
        shown, compared = self._keeper().compare(found, self.scene.fetch(array))
        return {**page(shown, index, **window), "dtype": str(array.dtype), "compared": compared}

    def _array(self, request: dict[str, Any]) -> Any:
        array = self.scene.array(int(request["node"]), str(request["what"]), request["which"])
        if array is None:
            raise Refused("there is no value there")
        return array

    def _locals(self, request: dict[str, Any]) -> dict[str, Any]:
        frame = self._frame(request)
        if frame is None:
            raise Refused("name a frame of the program")
        return self._references.locals(frame, int(request.get("start") or 0), _count(request))

    def _children(self, request: dict[str, Any]) -> dict[str, Any]:
        reference = int(request["reference"])
        try:
            return self._references.children(reference, int(request.get("start") or 0), _count(request))
        except KeyError:
            raise Refused(f"there is no variable {reference} at this stop; ask for the variables once more") from None

    def _evaluate(self, request: dict[str, Any]) -> dict[str, Any]:
        value, notes = self._value(request, only_expression=request.get("context") == "hover")
        if value is DONE:
            return {"result": "", "type": "", "reference": 0, "notes": notes}
        made = self._references.variable("", value)
        return {"result": made["value"], "type": made["type"], "reference": made["reference"], "notes": notes}

    def _set(self, request: dict[str, Any]) -> dict[str, Any]:
        from agdbg.agent.values import value_of

        value, _ = self._value(request, only_expression=True)
        node, slot = int(request["node"]), request.get("slot")
        if slot is None:
            return {"value": value_of(self.scene.replace(node, int(request.get("output") or 0), value))}
        return {"value": value_of(self.scene.replace_saved(node, slot, value))}

    def _retain(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"freed": self.scene.retain()}

    def _watch(self, request: dict[str, Any]) -> dict[str, Any]:
        """The storage of what an answer has shown, of what a node saved, or of an expression."""
        if "reference" in request:
            value = self._references.child(int(request["reference"]), str(request["name"]))
            found = self.scene.watch(value, str(request["name"]))
        elif "node" in request:
            found = self.scene.watch_slot(int(request["node"]), str(request["what"]), request["which"])
        elif "local" in request:
            frame = self._frame({"frame": request["local"]})
            name = str(request["name"])
            found = self.scene.watch(None if frame is None else frame.f_locals.get(name), name)
        else:
            return self._watch_value(request)
        return found or {"storage": 0, "name": "", "text": ""}

    def _watch_value(self, request: dict[str, Any]) -> dict[str, Any]:
        """The storage of the value of an expression; what is none says what it is."""
        expression = str(request["expression"])
        value = self._value(request, only_expression=True)[0]
        kind, found = type(value).__name__, self.scene.watch(value, expression)
        del value  # what was made by the expression is gone now
        if found is None:
            return {"storage": 0, "name": "", "text": f"{expression} is no tensor, but of type {kind}"}
        if not self.scene.is_watchable(int(found["storage"])):
            return {"storage": 0, "name": "", "text": f"{expression} makes a new tensor, which nobody writes to"}
        return found

    def _value(self, request: dict[str, Any], *, only_expression: bool) -> tuple[Any, list[str]]:
        expression, frame = str(request["expression"]), self._frame(request)
        extra = self.scene.names()
        if frame is not None:  # what a function that one looks at calls so comes first
            extra = {name: bound for name, bound in extra.items() if not _knows(frame, name)}
        frame = frame or (self.frames[0] if self.frames else None)
        if frame is not None:  # names of conditions are words that programs use: what the program calls so comes first
            extra = {name: bound for name, bound in extra.items() if name in OWN or not _knows(frame, name)}
        refuse_lost(expression, frame)
        value, notes = self.scene.watched(lambda: evaluate(expression, frame, extra, only_expression=only_expression))
        lost = names_lost(expression, frame)
        if lost:
            notes.append(f"a running function keeps its locals: {', '.join(lost)} is forgotten again")
        return value, notes

    def _frame(self, request: dict[str, Any]) -> Any:
        index = request.get("frame")
        if index is None:
            return None
        if not 0 <= int(index) < len(self.frames):
            raise Refused(f"there is no frame {index}; there are {len(self.frames)}")
        return self.frames[int(index)]


_ANSWERS: dict[str, Callable[[Requests, dict[str, Any]], dict[str, Any]]] = {
    "values": Requests._values,
    "elements": Requests._elements,
    "tensor": Requests._tensor,
    "locals": Requests._locals,
    "children": Requests._children,
    "evaluate": Requests._evaluate,
    "set": Requests._set,
    "watch": Requests._watch,
    "retain": Requests._retain,
}


def _knows(frame: FrameType, name: str) -> bool:
    return name in frame.f_locals or name in frame.f_globals


def _count(request: dict[str, Any]) -> int:
    return min(int(request.get("count") or MOST), MOST)
