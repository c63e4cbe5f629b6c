"""Connectionist temporal classification: all alignments of a target with the time steps, summed by dynamic programming."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module, beside, same_place
from ....dtype import scalar_type
from ....repeated_index import add_at
from ....several import at_home
from ....tensor import Tensor, wrap
from ...elementwise import where
from ...explain import shape_error
from ..declare import OPS, kernel, op, public
from ..indexing.reading import fetched
from .reduction import finish, reduction_of


def _states(x: Any, targets: Any, blank: int) -> tuple[Any, Any]:
    """The classes of the states (blank, first label, blank, ...) by sample, and where a state may skip the blank before it."""
    n, s = targets.shape
    classes = np.full_like(targets, blank, shape=(n, 2 * s + 1))
    classes[:, 1::2] = targets
    skips = np.zeros_like(classes, dtype=bool)
    skips[:, 3::2] = targets[:, 1:] != targets[:, :-1]
    return classes, skips


def _sum_of(a: Any, b: Any, c: Any) -> Any:
    """``log(exp(a) + exp(b) + exp(c))``; may overwrite ``c``."""
    largest = np.maximum(np.maximum(a, b), c)
    largest = np.where(largest == -np.inf, a.dtype.type(0), largest)
    with np.errstate(divide="ignore"):
        total = np.exp(a - largest)
        total += np.exp(b - largest)
        c -= largest
        total += np.exp(c, out=c)
        return np.log(total, out=total) + largest


def _forward(probabilities: Any, skips: Any, lengths: Any) -> Any:
    """Log-probabilities (T, N, states) of all beginnings of alignments; after its end a sample keeps its last ones."""
    steps, n, states = probabilities.shape
    alpha = np.full_like(probabilities, -np.inf, shape=(steps, n, states + 2))  # nothing comes into the first states
    alpha[0, :, 2:4] = probabilities[0, :, :2]
    nothing = alpha.dtype.type(-np.inf)
    for t in range(1, steps):
        a = alpha[t - 1]
        came = _sum_of(a[:, 2:], a[:, 1:-1], np.where(skips, a[:, :-2], nothing))
        alpha[t, :, 2:] = np.where((t < lengths)[:, None], came + probabilities[t], a[:, 2:])
    return alpha[:, :, 2:].copy()


def _at_end(alpha: Any, target_lengths: Any) -> Any:
    """The log-probability of the last blank or the last label of each sample."""
    last = 2 * target_lengths[:, None]
    ends = np.take_along_axis(alpha[-1], last, 1)[:, 0]
    labels = np.take_along_axis(alpha[-1], np.maximum(last - 1, 0), 1)[:, 0]
    either = _sum_of(ends, labels, np.full_like(ends, -np.inf))  # NaN of an infinity, which logaddexp() keeps
    return np.where(target_lengths > 0, either, ends)


def _gathered(log_probs: Any, classes: Any) -> Any:
    return np.take_along_axis(log_probs, np.broadcast_to(classes, (len(log_probs), *classes.shape)), 2)


@kernel
def ctc_loss_raw(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int, zero_infinity: bool
) -> tuple[Any, Any]:
    """Minus the log-likelihood by sample, and the forward variables."""
    classes, skips = _states(log_probs, targets, blank)
    alpha = _forward(_gathered(log_probs, classes), skips, input_lengths)
    return np.where(input_lengths > 0, -_at_end(alpha, target_lengths), np.where(target_lengths > 0, np.inf, 0)).astype(
        log_probs.dtype
    ), alpha


@kernel
def ctc_loss_backward(
    g: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, loss: Any, alpha: Any, blank: int,
    zero_infinity: bool,
) -> Any:  # fmt: skip
    """The gradient in ``log_probs``, of which is taken that they are those of a log_softmax.

    ``exp(log_probs) - exp(logarithm of the share + loss - log_probs)`` as PyTorch has it, NaN where that subtracts infinities: the
    logarithm of no share is one.
    """
    xp = array_module(log_probs)
    steps, n = log_probs.shape[:2]
    classes, skips = _states(log_probs, targets, blank)
    probabilities = _gathered(log_probs, classes)
    beta, counted = _backward(probabilities, skips, input_lengths, target_lengths)
    joint = np.exp(alpha + beta + loss[:, None] - probabilities)
    running = (xp.arange(steps)[:, None] < input_lengths)[:, :, None]
    joint = np.where(counted, joint, 0)
    share = np.exp(loss[:, None] - np.inf - log_probs)
    rows = np.broadcast_to(xp.arange(n)[:, None], classes.shape)
    times = xp.arange(steps)[:, None, None]
    add_at(share, (times, rows[None], classes[None]), joint)
    out = np.where(running, (np.exp(log_probs) - share) * g[:, None], 0).astype(log_probs.dtype)
    return np.where((loss == np.inf)[:, None], log_probs.dtype.type(0), out) if zero_infinity else out


def _backward(probabilities: Any, skips: Any, lengths: Any, target_lengths: Any) -> tuple[Any, Any]:
    """Log-probabilities (T, N, states) of all ends of alignments, and which states a sample has at a time."""
    steps, _, states = probabilities.shape
    places = array_module(probabilities).arange(states)
    last = 2 * target_lengths[:, None]
    ends = (places == last) | ((places == last - 1) & (last > 0))
    start = np.where(ends, 0.0, -np.inf).astype(probabilities.dtype)
    beta = np.full_like(probabilities, -np.inf)
    going = np.full_like(
        probabilities[0], -np.inf, shape=(len(start), states + 2)
    )  # nothing comes from behind the last
    times = array_module(probabilities).arange(steps)[:, None, None]
    to_come = lengths[:, None] - 1 - times
    counted = np.where(to_come, (places <= last) & (to_come > 0), ends)
    skipped = np.concatenate((skips[:, 2:], np.zeros_like(skips[:, :2])), 1)
    nothing = beta.dtype.type(-np.inf)
    for t in range(steps - 1, -1, -1):
        come = _sum_of(going[:, :-2], going[:, 1:-1], np.where(skipped, going[:, 2:], nothing))
        come = np.where((t == lengths - 1)[:, None], start, come)
        beta[t] = going[:, :-2] = np.where(counted[t], come + probabilities[t], -np.inf)
    return beta, counted


_LENGTHS = "targets, input_lengths, target_lengths"
op(
    f"ctc_loss_raw(log_probs, {_LENGTHS}, blank, zero_infinity)", "CtcLossBackward0", outputs="result0 *result1", kinds="f",
    targets=None, input_lengths=None, target_lengths=None,
    log_probs=f"ctc_loss_backward(g, log_probs, {_LENGTHS}, result0, result1, blank, zero_infinity)",
)  # fmt: skip
op(
    f"ctc_loss_backward(grad, log_probs, {_LENGTHS}, loss, alpha, blank, zero_infinity)", "NotImplemented",
    grad="no_second('_ctc_loss_backward')", log_probs="no_second('_ctc_loss_backward')", targets=None, input_lengths=None,
    target_lengths=None, loss=None, alpha=None,
)  # fmt: skip


@public("nn.functional")
def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Minus the log-likelihood of label sequences, summed over all alignments with the time steps.

    log_probs (T, N, C) or (T, C); targets (N, S), or all labels one after the other (sum of the lengths,). The mean is over
    the samples, each divided by the length of its target. With ``zero_infinity`` impossible targets count as nothing. Targets
    may be on another device, as in PyTorch.
    """
    reduction = reduction_of(None, None, reduction)
    if isinstance(log_probs, Tensor) and not log_probs.numel():
        raise shape_error("log_probs tensor must not be empty")
    if isinstance(log_probs, Tensor) and isinstance(targets, Tensor) and not same_place(targets._a, log_probs._a):
        targets = targets.detach().to(log_probs.device)
    return _loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


@at_home
def _loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
    reduction: str,
    zero_infinity: bool,
) -> Tensor:
    """The loss of targets that lie beside ``log_probs``."""
    _check_types(log_probs, input_lengths, target_lengths)
    batched = log_probs.ndim == 3
    x = log_probs if batched else log_probs.unsqueeze(1)
    lengths, target_lengths = (_lengths(v) for v in (input_lengths, target_lengths))
    labels = targets._a.astype(np.int64)
    if not 0 <= blank < x.shape[2]:
        raise RuntimeError("blank must be in label range")
    if lengths.size != x.shape[1]:
        raise shape_error("input_lengths must be of size batch_size")
    if target_lengths.size != x.shape[1]:
        raise shape_error("target_lengths must be of size batch_size")
    _check_lengths("input_lengths", lengths, x.shape[0])
    _check_lengths("target_lengths", target_lengths, None)
    _check_targets(labels if batched or labels.ndim != 1 else labels[None], target_lengths, x.shape[1])
    padded = _padded(labels, target_lengths, batched)
    row: Any = OPS["ctc_loss_raw"]
    lengths, target_lengths = beside(lengths, x._a), beside(target_lengths, x._a)
    out: Tensor = row(x, *(wrap(a) for a in (padded, lengths, target_lengths)), blank, zero_infinity)[0]
    if zero_infinity:
        out = where(wrap(out._a == np.inf), 0.0, out)
    if reduction == "mean":
        return (out / wrap(np.maximum(target_lengths, 1)).to(out.dtype)).mean()
    return finish(out if batched or reduction != "none" else out.squeeze(0), reduction)


_WHERE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _check_types(x: Tensor, *lengths: Any) -> None:
    if x.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{scalar_type(x.dtype)}'")
    if x.ndim not in (2, 3):
        raise shape_error(
            f"Expected 3-dimensional tensor, but got {x.ndim + 1}-dimensional tensor for argument #1 'log_probs' {_WHERE}"
        )
    given = [isinstance(v, Tensor) for v in lengths]
    if not all(given) and (any(given) or not all(isinstance(v, list | tuple | np.ndarray) for v in lengths)):
        names = ", ".join(type(v).__name__ for v in lengths)
        raise TypeError(
            f"ctc_loss() received an invalid combination of arguments - got (Tensor, Tensor, {names}, int, int, bool), but "
            "expected one of:\ninput_lengths and target_lengths as two tensors of integers, or as two tuples of ints"
        )
    for name, value in zip(("input_lengths", "target_lengths"), lengths, strict=True):
        if isinstance(value, Tensor):
            if value.dtype.kind not in "iu":
                raise RuntimeError(f"{name} must be integral")
            continue
        for i, v in enumerate(value):
            if isinstance(v, bool) or not hasattr(v, "__index__"):
                raise TypeError(
                    f"ctc_loss(): argument '{name}' failed to unpack the object at pos {i + 1} with error \"type must be tuple "
                    f'of ints,but got {type(v).__name__}"'
                )


def _check_lengths(name: str, lengths: Any, most: int | None) -> None:
    if not lengths.size:
        return
    if lengths.min() < 0:
        raise RuntimeError(
            f"Expected {name} to have value at least 0, but got value {lengths[np.argmax(lengths < 0)]} {_WHERE}"
        )
    if most is not None and lengths.max() > most:
        raise RuntimeError(
            f"Expected {name} to have value at most {most}, but got value {lengths[np.argmax(lengths > most)]} {_WHERE}"
        )


def _check_targets(labels: Any, lengths: Any, batch: int) -> None:
    """As many labels as the lengths say: in rows, or one after the other."""
    if labels.ndim not in (1, 2):
        raise shape_error(
            f"Expected 1 to 2 dimensions, but got {labels.ndim}-dimensional tensor for argument #2 'targets' {_WHERE}"
        )
    if labels.ndim == 2:
        longest = int(lengths.max()) if lengths.size else 0
        wrong = [f"{batch} at dimension 0, but got size {len(labels)}"] * (len(labels) != batch)
        wrong += [f"at least {longest} at dimension 1, but got size {labels.shape[1]}"] * (labels.shape[1] < longest)
    else:
        total = int(lengths.sum())
        wrong = [f"{total} at dimension 0, but got size {len(labels)}"] * (len(labels) != total)
    if wrong:
        raise shape_error(f"Expected tensor to have size {wrong[0]} for argument #2 'targets' {_WHERE}")


def _lengths(value: Any) -> Any:
    """Lengths given as a tensor or a sequence."""
    return np.asarray(fetched(value._a) if isinstance(value, Tensor) else value, dtype=np.int64).reshape(-1)


def _padded(labels: Any, lengths: Any, batched: bool) -> Any:
    """Labels (N, longest), made of those that lie one after the other where they do."""
    longest, xp = int(lengths.max()) if lengths.size else 0, array_module(labels)
    lengths = beside(lengths, labels)
    if labels.ndim == 2:
        return np.where(xp.arange(longest) < lengths[:, None], labels[:, :longest], 0)
    if not labels.size:
        return xp.zeros((len(lengths), longest), np.int64)
    places = (np.cumsum(lengths) - lengths)[:, None] + xp.arange(longest)
    inside = xp.arange(longest) < lengths[:, None]
    return np.where(inside, labels[np.where(inside, places, 0)], 0)
