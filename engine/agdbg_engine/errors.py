"""The engine's errors: PyTorch's type and first line, then what PyTorch does not say: who, on which line, the way out.

Every error made here carries an :class:`Details` as ``error.details`` for instruments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import events
from .dtype import scalar_type
from .foreign import described, is_pytorchs
from .sites import caller, where

if TYPE_CHECKING:
    from .node import Node
    from .saved import Freed
    from .storage import Storage
    from .tensor import Tensor


@dataclass(frozen=True)
class Details:
    """The facts behind an error."""

    kind: str
    """backward-twice, inplace-modified, leaf-inplace, view-inplace, saved-written, no-grad-fn, shape, nan, invalid-gradient,
    inference, hook-error, not-implemented, out-of-memory or other."""
    node: Node | None = None
    slot: int | None = None
    storage: Storage | None = None
    expected: int = 0
    current: int = 0


def raise_if(error: Exception | None) -> None:
    """Raise ``error``, if there is one.

    A caller that had it in a variable would be in a circle with it: its traceback leads to that frame, and all that the program has
    there would be kept until the garbage collector comes.
    """
    if error is not None:
        try:
            raise error
        finally:
            del error


def make(error: type[Exception], details: Details, first_line: str, *more: str) -> Exception:
    """An error with ``details`` whose message is ``first_line`` and indented further lines; instruments are told."""
    made = error("\n".join((first_line, *("  " + line for line in more))))
    made.details = details  # type: ignore[attr-defined]  # read back by details_of
    if events.sink is not None:
        try:  # noqa: SIM105 - suppress() needs a frame more, which there may not be
            events.sink.error(made, *caller())
        except RecursionError:  # too deep to tell of it: the error itself matters more
            pass
    return made


_WRITTEN_IN_PYTHON = 1 << 9
"""The flag of classes that are made while the program runs."""


def class_name(value: object) -> str:
    """The name of a value's class as C code has it: with the module if the class is one of C and not of Python itself."""
    if is_pytorchs(type(value)):
        return described(value)
    kind = type(value)
    bare = kind.__flags__ & _WRITTEN_IN_PYTHON or kind.__module__ == "builtins"
    return kind.__name__ if bare else f"{kind.__module__}.{kind.__name__}"


def details_of(error: BaseException) -> Details:
    """The facts behind any error; kind ``other`` for one that the engine did not make."""
    found = getattr(error, "details", None)
    return found if isinstance(found, Details) else Details("other")


BACKWARD_TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors after calling backward."
)

LEAF_INPLACE = "a leaf Variable that requires grad is being used in an in-place operation."


def backward_twice(node: Node, freed: Freed) -> Exception:
    """A saved tensor of ``node`` was needed after a backward call had freed it."""
    return make(
        RuntimeError,
        Details("backward-twice", node, next(iter(range(len(node.slots))), None)),
        BACKWARD_TWICE,
        f"{node.op_name} was created at {where(node.code, node.lasti)}",
        f"its saved tensors were freed by {freed.call}() at {where(freed.code, freed.lasti)}",
        "fix: retain_graph=True in that first call, one backward() of the summed losses, or .detach() what is "
        "carried over from an earlier iteration",
    )


def inplace_modified(node: Node, slot: str, storage: Storage, as_it_is: bool = False) -> Exception:
    """The tensor saved in ``slot`` of ``node`` was written to after it was saved; ``as_it_is`` as in :func:`.saved.unpacked`."""
    from .saved import Packed

    index = node.slots.index(slot)
    value = getattr(node, "s_" + slot)
    expected = getattr(node, "v_" + slot)
    array = value.array if isinstance(value, Packed) else value if node.outputs_saved[index] else value._a
    return make(
        RuntimeError,
        Details("inplace-modified", node, index, storage, expected, storage.version),
        _modified(array, _origin(node, index, value, as_it_is), storage, expected),
        f"{node.op_name} saved it as '{slot}' at {where(node.code, node.lasti)}",
        *_writes(storage, expected),
        "fix: write the in-place op out of place (x = x * 2, not x *= 2), or do it after backward(), "
        "or let the op work on a clone()",
    )


def detached(node: Node) -> Exception:
    """A saved tensor of ``node`` has lost the history that it had, so that a derivative would be wrong."""
    return make(
        RuntimeError,
        Details("other", node),
        _DETACHED,
        f"{node.op_name} saved it at {where(node.code, node.lasti)}",
    )


def kept_detached(what: str) -> Exception:
    """As :func:`detached` about a tensor, ``what`` it is, that something else than a node keeps for backward."""
    return make(RuntimeError, Details("other"), _DETACHED, f"it is {what}")


_DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
    "out-of-place `.detach()` instead"
)


def kept_modified(t: Tensor, storage: Storage, expected: int, what: str) -> Exception:
    """``t``, kept for backward by something else than a node, was written to after version ``expected``; ``what`` it is."""
    fn = t.grad_fn  # asked for anew: that of a view whose base was written to is another now, or refused
    origin = "" if fn is None else _output_of(fn)
    return make(
        RuntimeError,
        Details("inplace-modified", storage=storage, expected=expected, current=storage.version),
        _modified(t._a, origin, storage, expected),
        f"it is {what}",
        *_writes(storage, expected),
    )


def _modified(array: Any, origin: str, storage: Storage, expected: int) -> str:
    """PyTorch's text about a kept tensor that was written to."""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{_describe(array)}]{origin} is at version {storage.version}; expected version {expected} instead. Hint: "
        f"{_LATE_HINT if events.special & events.ANOMALY else _HINT}"
    )


_HINT = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
_LATE_HINT = (
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
    "changed in there or anywhere later. Good luck!"
)


def _describe(array: Any) -> str:
    """``array`` is a buffer, or what tells as much of one that is not there (:class:`.saved.hooks.Like`)."""
    from .device import device_of
    from .saved.hooks import Like

    place = array.place if isinstance(array, Like) else device_of(array)
    return f"{type_text(array.dtype, place.type)} [{', '.join(map(str, array.shape))}]"


def type_text(dtype: Any, kind: str) -> str:
    """How PyTorch's errors call tensors of ``dtype`` on a device of that kind: ``torch.cuda.FloatTensor``, ``CUDABoolType``."""
    name = scalar_type(dtype)
    if dtype.kind in "bc":  # for these it has no name of the other sort
        return f"{kind.upper()}{name}Type"
    return f"torch.{'' if kind == 'cpu' else kind + '.'}{name}Tensor"


def _origin(node: Node, index: int, value: Any, as_it_is: bool) -> str:
    """``, which is output 0 of Exp,`` as PyTorch says it; nothing for a leaf. What lost its history is called a result of the node
    that saved it, where that does not mind (``as_it_is``).
    """
    from .inside import INPUTS
    from .saved.detached import lost
    from .view import written_view

    through = written_view(node) if node.outputs_saved[index] else None
    if through is not None:
        return _output_of(through)
    if node.outputs_saved[index] or getattr(value, "is_output", False):
        return _output_of(node, getattr(value, "_nr", 0))
    fn = value.grad_fn or (node if as_it_is and lost(value) else None)
    return "" if fn is None or fn in INPUTS else _output_of(fn)


def _output_of(node: Node, nr: int = 0) -> str:
    """Whose result was written to; PyTorch notes the number only of what its own node saved, and calls all else output 0."""
    return f", which is output {nr} of {forward_name(node)},"


def forward_name(node: Node) -> str:
    """The op behind ``node`` as PyTorch's messages call it: ``Exp`` for ExpBackward0, ``Pow1`` for PowBackward1."""
    return re.sub(r"Backward0?(\d*)$", r"\1", node.name())


def _writes(storage: Storage, since: int) -> list[str]:
    """One line for every remembered write after version ``since``."""
    lines = [
        f"version {version - 1} -> {version} was written by {op} at {where(code, lasti)}"
        for version, op, code, lasti in storage.writers
        if version > since
    ]
    missing = storage.version - since - len(lines)
    return ([f"({missing} earlier writes are not remembered)"] if missing > 0 else []) + lines[-8:]


def unfit_shapes(error: ValueError, node: Node) -> Exception | None:
    """NumPy's ``error`` about shapes that cannot be broadcast, met while ``node`` ran, in PyTorch's words.

    ``None`` for any other error.
    """
    text = str(error) if type(error) is ValueError else ""  # one of the program may have no text to ask for
    if not text.startswith("operands could not be broadcast together with shapes"):
        return None
    shapes = [[int(n) for n in s.split(",") if n] for s in re.findall(r"\(([\d,]*)\)", text)][:2]
    if len(shapes) < 2:
        return None
    a, b = shapes
    for back in range(1, 1 + min(len(a), len(b))):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return make(
                RuntimeError,
                Details("shape", node),
                f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at non-singleton dimension "
                f"{max(len(a), len(b)) - back}",
                f"{node.op_name} was created at {where(node.code, node.lasti)}; a tensor was given data of another shape since",
            )
    return None
