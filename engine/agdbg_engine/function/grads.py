"""What a custom ``backward`` returned: one gradient for each argument of ``forward``, fit for the tensor it belongs to."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors, events
from ..device import device, device_of, zeros_on
from ..errors import class_name
from ..tensor import Tensor, wrap
from ..validate import InputMetadata, validate_outputs
from .ctx import separate

if TYPE_CHECKING:
    from .node import BackwardCFunction

Like = tuple[tuple[int, ...], np.dtype[Any], device]
"""Shape, dtype and device of a tensor."""


def like(t: Any) -> Like | None:
    """What is to be remembered of ``t``; ``None`` if that is no tensor."""
    if not isinstance(t, Tensor):
        return None
    a = t._a
    return a.shape, a.dtype, device_of(a)


def zeros_like(like: Like) -> Tensor:
    """Zeros where such a tensor is."""
    shape, dtype, place = like
    return wrap(zeros_on(place, shape, dtype))


def fitted(node: BackwardCFunction, returned: Any, given: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """The gradients of the tensors among the arguments, in order, made of what was ``returned`` for the ``given`` ones; raises
    PyTorch's errors for what does not fit.
    """
    answers = returned if isinstance(returned, tuple) else (returned,)
    if len(answers) == len(node._wants):
        found: list[Tensor | None] = []
        for answer, want in zip(answers, node._wants, strict=True):
            if want is None:
                if answer is not None:
                    break
            elif answer is None or (isinstance(answer, Tensor) and like(answer) == want):
                found.append(answer)
            else:
                break
        else:
            return tuple(found)
    return _validated(node, _of_tensors(node, _counted(node, answers)), given)


def _counted(node: BackwardCFunction, answers: tuple[Any, ...]) -> tuple[Any, ...]:
    """As many answers as arguments: more are accepted if they are ``None``."""
    expected = len(node._wants)
    if len(answers) == expected or (len(answers) > expected and all(a is None for a in answers[expected:])):
        return answers[:expected]
    raise errors.make(
        RuntimeError,
        errors.Details("invalid-gradient", node),
        f"function {node.name()} returned an incorrect number of gradients (expected {expected}, got {len(answers)})",
        f"the arguments are {', '.join(argument_names(node)) or 'none'}; what is no tensor gets None",
    )


def _of_tensors(node: BackwardCFunction, answers: tuple[Any, ...]) -> list[Tensor | None]:
    found: list[Tensor | None] = []
    for i, (answer, want) in enumerate(zip(answers, node._wants, strict=True)):
        if want is not None:
            if answer is not None and not isinstance(answer, Tensor):
                raise _refused(node, f"expected Variable or None (got {class_name(answer)})", i)
            found.append(answer)
        elif answer is not None:
            raise _refused(
                node,
                f"function {node.name()} returned a gradient different than None at position {i + 1}, but the corresponding "
                "forward input was not a Variable",
                i,
            )
    return found


def _refused(node: BackwardCFunction, text: str, i: int) -> Exception:
    return errors.make(
        RuntimeError,
        errors.Details("invalid-gradient", node),
        text,
        f"that is the gradient for argument '{argument_names(node)[i]}'",
    )


def _validated(
    node: BackwardCFunction, found: list[Tensor | None], given: Sequence[Tensor | None]
) -> tuple[Tensor | None, ...]:
    wants = [w for w in node._wants if w is not None]
    expected = [
        None if n is None or g is None else InputMetadata(*want)
        for g, want, n in zip(found, wants, node.next, strict=True)
    ]
    names = [name for name, want in zip(argument_names(node), node._wants, strict=True) if want is not None]
    fit = validate_outputs(node, found, expected, names)
    if events.sink is not None:
        for got, g, name in zip(found, fit, names, strict=True):
            if got is not None and g is not None and got.dtype != g.dtype:
                events.sink.function_cast(node, got, name, g.dtype, given, node.code, node.lasti)
    return fit


def argument_names(node: BackwardCFunction) -> list[str]:
    """What the user calls the arguments of ``forward``, one for each that it was given: ``x``, ``xs[0]``."""
    cls = node._forward_cls
    count = len(node._wants or node.needs_input_grad)
    names: list[str] = []
    try:
        parameters = list(inspect.signature(cls.forward).parameters.values())
    except (TypeError, ValueError):  # not written in Python
        parameters = []
    for p in parameters if separate(cls) else parameters[1:]:
        if p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}[{i}]" for i in range(count - len(names))]
        elif p.kind is not p.VAR_KEYWORD:
            names.append(p.name)
    return (names + [f"argument {i}" for i in range(len(names), count)])[:count]
