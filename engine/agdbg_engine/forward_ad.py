"""Forward mode: levels, and the dual tensors that are made and unpacked at them. Names and errors are PyTorch's.

Inside of a level every op also computes the tangent of its result from those of its arguments, recorded like any other
computation (``ops.forward``). PyTorch's public level cannot be nested and neither can this one;
:func:`nested_level` is for transforms such as ``func.jvp``, which can.
"""

from __future__ import annotations

import itertools
from types import TracebackType
from typing import Any, NamedTuple

from . import events, foreign
from .grad_mode import _Decorator, mode
from .missing import public_names
from .sites import caller
from .tangents import (
    Level,
    below,
    check_tangent,
    enabled,
    forward_grad,
    laid_out,
    levels_of,
    open_levels,
    separate,
    set_tangent,
    switching,
    tangent_of,
    tangents_of,
)
from .tensor import Tensor, check_memory

__all__ = [
    "UnpackedDualTensor", "below", "dual_level", "enter_dual_level", "exit_dual_level", "levels_of", "make_dual",
    "nested_level", "refuse", "set_tangent", "tangent_of", "unpack_dual",
]  # fmt: skip

__getattr__ = public_names(__name__)

_current_level = -1
"""The public level that functions use by default: 0 inside of one, else -1."""

_numbers = itertools.count(1)
"""Numbers of nested levels, never used twice: a level opened inside another has the higher one."""


# ----- levels -----


def enter_dual_level() -> int:
    """Open the public level and return its number; :class:`RuntimeError` when one is open already."""
    global _current_level
    with switching:
        check_outermost()
        if mode.fw_nested:
            raise RuntimeError(_NESTED)
        _open(0)
        _current_level = 0
    return 0


_NESTED = "Nested forward mode AD is not supported at the moment"


def check_outermost() -> None:
    """Raise PyTorch's :class:`RuntimeError` for a public level, or a transform with one of its own, inside of a public level."""
    if 0 in open_levels:
        raise RuntimeError(_NESTED)


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the public level: all its tangents are gone, even if the tensors live on."""
    global _current_level
    with switching:
        if level is not None and level != _current_level:
            raise RuntimeError(
                "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
            )
        if _current_level < 0:
            raise RuntimeError("Dual level must be a positive number.")
        _current_level = -1
        _close(0)


def _open(number: int) -> None:
    open_levels[number] = Level(number)
    events.use(events.FORWARD)
    if events.sink is not None:
        events.sink.dual_level(number, True, *caller())


def _close(number: int) -> None:
    open_levels.pop(number).close()
    events.use(events.FORWARD, -1)
    if events.sink is not None:
        events.sink.dual_level(number, False, *caller())


class dual_level(_Decorator):
    """A context (or decorator) with the public level open; entering gives its number."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        exit_dual_level()

    def clone(self) -> dual_level:
        """Another such context."""
        return type(self)()


class nested_level:
    """A context with a new level open inside all others of this thread; entering gives its number.

    Pass the number to :func:`make_dual` and :func:`unpack_dual`. Tangents of a level may themselves have tangents of the
    levels around it, so that nested levels compute derivatives of derivatives.
    """

    def __enter__(self) -> int:
        self.number = next(_numbers)
        with switching:
            _open(self.number)
        mode.fw_nested += 1
        return self.number

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        mode.fw_nested -= 1
        with switching:
            _close(self.number)


# ----- dual tensors -----


class UnpackedDualTensor(NamedTuple):
    """The parts of a dual tensor; the tangent of one that has none is ``None``."""

    primal: Tensor
    tangent: Tensor | None


def check_floating(t: Any, name: str) -> None:
    """Raise :class:`ValueError` unless ``t``, the primal or tangent called ``name``, is floating point or complex."""
    if not isinstance(t, Tensor):
        foreign.refuse(t, "make_dual", "tensor" if name == "primal" else name, 1 + (name == "tangent"))
    if not (t.is_floating_point() or t.is_complex()):
        raise ValueError(f"Expected {name} to be floating point or complex, but got: torch.{t.dtype}")


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of ``tensor`` with ``tangent`` (of its shape) as its tangent: the very one if it is laid out alike, else a copy.

    In inference mode it gets none.

    Raises :class:`ValueError` for integers, :class:`RuntimeError` for another shape, outside of a level, and when the tensor
    or its tangent has a tangent of that level already.
    """
    if level is None:
        level = _current_level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    check_floating(tensor, "primal")
    check_floating(tangent, "tangent")
    _check_number("_make_dual", level)
    if level not in open_levels:
        raise RuntimeError(_NO_LEVEL if level == 0 else "Invalid level given to _make_dual")
    if level in tangents_of(tensor):
        raise RuntimeError(
            f"Making a dual Tensor based on a Tensor that already has a forward gradient at the same level {level} is not "
            "supported."
        )
    check_tangent(tensor, level, tangent)
    with below(level):
        tangent = _fitting(tangent, tensor)
        dual = _separate_view("view", tensor, tensor.shape, level)
    if not mode.inference:
        forward_grad(dual).set(level, tangent)
    return dual


_NO_LEVEL = "Trying to access a forward AD level with an invalid index. This index was either not created or is already deleted."


def _check_number(function: str, level: Any) -> None:
    if not isinstance(level, int) or isinstance(level, bool):
        raise TypeError(f"{function}(): argument 'level' must be int, not {type(level).__name__}")


def _fitting(tangent: Tensor, tensor: Tensor) -> Tensor:
    found = laid_out(tangent, tensor)
    if found is not tangent:
        check_memory(tensor._a)  # expanded memory cannot hold a tangent that is not expanded
    return found


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """``(primal, tangent)``: a view of ``tensor`` without a tangent of ``level``, and its tangent of that level itself.

    Outside of a level the tensor itself and ``None``; at a level that is not open what has tangents is refused.
    """
    if level is None:
        level = _current_level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {foreign.described(tensor)}")
    _check_number("_unpack_dual", level)
    if level and level not in open_levels and tangents_of(tensor):
        raise RuntimeError("Invalid level given to _fw_primal")
    tangent = tangent_of(tensor, level)
    with below(level):
        return UnpackedDualTensor(_separate_view("fw_primal", tensor, level, level), tangent)


def _separate_view(op: str, tensor: Tensor, argument: Any, level: int) -> Tensor:
    from .ops import _generated

    made: Tensor = getattr(_generated, op)(tensor, argument)
    separate(made, level)
    return made


_INSIDE = {
    "cdist_raw": "_cdist_forward",
    "pdist_raw": "_pdist_forward",
    "ctc_loss_raw": "_ctc_loss",
    "zeta": "special_zeta",
    "multilabel_margin_loss": "multilabel_margin_loss_forward",
    "unique2_raw": "_unique2",
    "histogram_of_count_raw": "histogram",
    "histogram_of_edges_raw": "histogram",
    "histogramdd_bin_edges_raw": "_histogramdd_bin_edges",
    "histogramdd_from_bin_cts_raw": "_histogramdd_from_bin_cts",
    "histogramdd_from_bin_tensors_raw": "_histogramdd_from_bin_tensors",
}
"""PyTorch's names of ops without a tangent, where they are not those of the table."""
_UNKNOWN = {
    "bincount", "floor_divide", "heaviside", "histogram", "_histogramdd_bin_edges", "_histogramdd_from_bin_cts",
    "_histogramdd_from_bin_tensors", "linalg_ldl_factor_ex", "linalg_ldl_solve", "linspace", "logspace",
}  # fmt: skip
"""Ops of which PyTorch's formulas know nothing; it says less of these."""


def refuse(op: str, *tensors: Any) -> None:
    """Raise PyTorch's error for an ``op`` that cannot compute tangents, if some of ``tensors`` has one."""
    if not (events.special & events.FORWARD and levels_of(tensors)):
        return
    name = _INSIDE.get(op) or op.removesuffix("_raw")
    if name.startswith("ldl_"):
        name = f"linalg_{name}"
    if name in _UNKNOWN:
        raise NotImplementedError(f"Trying to use forward AD with aten::{name} that does not support it.")
    raise NotImplementedError(
        f"Trying to use forward AD with {name} that does not support it because it has not been implemented yet."
    )


# ----- switching it off -----


def _is_fwd_grad_enabled() -> bool:
    """Whether tangents are seen and computed in this thread."""
    return enabled()


class _set_fwd_grad_enabled(_Decorator):
    """Switch tangents off (or on again) in this thread, at once; as a context they are put back at its end."""

    def __init__(self, enabled: bool) -> None:
        self.before = mode.forward
        self.enabled = mode.forward = enabled

    def __enter__(self) -> None:
        """Nothing: it is switched already."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        mode.forward = self.before

    def __call__(self, function: Any) -> Any:
        """Decorate ``function``: the switch is that of its calls, not of here."""
        mode.forward = self.before
        return super().__call__(function)

    def clone(self) -> _set_fwd_grad_enabled:
        """A context that switches likewise."""
        return type(self)(self.enabled)
