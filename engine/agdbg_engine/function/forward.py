"""Forward mode through custom Functions: the tangents of the outputs, which the user's ``jvp`` makes of those of the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import errors, events
from ..dtype import is_differentiable
from ..errors import class_name
from ..sites import caller
from ..storage import version_of
from ..tangents import below, check_tangent, forward_grad, levels_of, set_tangent, set_through_view, tangent_of
from ..tensor import Tensor
from .grads import zeros_like

if TYPE_CHECKING:
    from .node import BackwardCFunction

_NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input "
    "inplace, then the jvp function must modify the corresponding gradient inplace."
)
_NOT_AS_IS = (
    "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is modifying an input inplace, "
    "then the jvp function must modify the gradient inplace and return it as-is."
)
_TWICE = "Cannot set a value of a forward grad if it already exists. Inplace operations should modify it inplace."
_NO_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
_OTHER_BASE = "A custom Function is returning a view but the jvp is not returning a view of the same base as the given grad input."
_OTHER_VIEW = "A custom Function is returning a view but the jvp is not returning a view of the given grad input."


class Forward:
    """One call of a custom Function in forward mode."""

    def __init__(
        self, node: BackwardCFunction, inputs: tuple[Any, ...], fixed: set[int], dirty: dict[int, Tensor]
    ) -> None:
        """``fixed`` and ``dirty``: the (ids of) outputs that have no gradient, and the tensors that were written."""
        self.node = node
        self.inputs = inputs
        self.tensors = [x for x in inputs if isinstance(x, Tensor)]
        self.fixed = fixed
        self.dirty = dirty

    def propagate(self, raw: tuple[Any, ...], made: tuple[Any, ...]) -> None:
        """Give the outputs ``made`` of what ``forward`` returned their tangents, at every level at which an input has one."""
        for level in levels_of(self.tensors):
            through: set[int] = set()
            given = {id(t): tangent_of(t, level) for t in self.tensors}
            versions = {key: version_of(t) for key, t in given.items() if t is not None}
            with below(level):
                found = self._found(given, len(raw))
                for i, (tangent, was, out) in enumerate(zip(found, raw, made, strict=True)):
                    if not isinstance(out, Tensor):
                        continue
                    if id(was) in self.fixed or not is_differentiable(out.dtype):
                        _check_none(i, tangent)
                    elif id(_base(out)) in through:
                        pass
                    elif id(was) in self.dirty:
                        _written(out, level, tangent, given.get(id(was)), versions.get(id(was)))
                    else:
                        self._made(out, level, tangent, through)

    def _found(self, given: dict[int, Tensor | None], count: int) -> tuple[Any, ...]:
        """What ``jvp`` returned, counted and typed."""
        node = self.node
        if events.sink is not None:
            events.sink.function_began(node, "jvp", *caller())
        returned = node.apply_jvp(*[self._argument(x, given) for x in self.inputs])
        found = returned if isinstance(returned, tuple) else (returned,)
        for i, x in enumerate(found):
            if x is not None and not isinstance(x, Tensor):
                raise _error(f"expected Variable or None (got {class_name(x)}) for grad output {i}.")
        if len(found) != count:
            raise _error(
                f"Function's jvp returned an invalid number of forward gradients (expected {count} but got {len(found)})"
            )
        return found

    def _argument(self, x: Any, given: dict[int, Tensor | None]) -> Tensor | None:
        if not isinstance(x, Tensor):
            return None
        tangent = given[id(x)]
        if tangent is None and self.node.materialize_grads and is_differentiable(x.dtype):
            return zeros_like((x.shape, x.dtype, x.device))
        return tangent

    def _made(self, out: Tensor, level: int, tangent: Any, through: set[int]) -> None:
        """Let ``tangent`` be that of ``out``, which is new or a view.

        ``through``: the bases that have got a tangent through a view. Whatever else is returned of them shows that one, as in
        PyTorch, which does not look at what ``jvp`` has for it.
        """
        _check_there(tangent)
        source = next((t for t in self.tensors if _base(t) is _base(out)), None) if out._is_view() else None
        if source is None:
            set_tangent(out, level, tangent)
            return
        before = tangent_of(source, level)  # it may have got one just now, as an output that was written
        if before is None:  # as if the view was written
            set_through_view(out, level, tangent)
            through.add(id(_base(out)))
            return
        if not tangent._is_view():
            raise _error(_NO_VIEW)
        if tangent._base is not _base(before):
            raise _error(_OTHER_BASE if before._is_view() else _OTHER_VIEW)
        set_tangent(out, level, tangent, is_view=True)


def _written(out: Tensor, level: int, tangent: Any, before: Tensor | None, version: int | None) -> None:
    """The tangent of an input that was written must have been written too."""
    if before is None:
        _check_there(tangent)
        now = tangent_of(out, level)
        if now is None:
            set_through_view(out, level, tangent)
        elif now is not tangent:
            raise _error(_TWICE)
        return
    if tangent is None or version_of(tangent) == version:
        raise _error(_NOT_IN_PLACE)
    if tangent is not before:
        raise _error(_NOT_AS_IS)
    check_tangent(out, level, tangent)
    forward_grad(out).set(level, tangent)


def _check_there(tangent: Any) -> None:
    if tangent is None:
        raise _error("Expected both tensor and its forward grad to be floating point or complex")


def _check_none(i: int, tangent: Any) -> None:
    if tangent is not None:
        raise _error(
            f"Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not a differentiable "
            "Tensor.You should return None at that position instead."
        )


def _base(t: Tensor) -> Tensor:
    base = t._base
    return t if base is None else base


def _error(text: str) -> Exception:
    return errors.make(RuntimeError, errors.Details("other"), text)
