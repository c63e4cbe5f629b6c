"""The steps of padded sequences one behind the other, without the padding."""

from __future__ import annotations

import numpy as np

from ....device import array_module
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ..declare import op

PACK = op("pack_padded_sequence(input, indices)", "PackPaddedSequenceBackward0", jvp="linear",
          input="index_backward(g, input_shape, indices)", value=lambda x, indices: x[indices])  # fmt: skip

_SORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
    "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability."
)


def packed(input: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    """The first ``lengths`` elements of sequences (T, B, *), step by step, and how many sequences each step has."""
    have = lengths.numpy()
    if lengths.ndim != 1:
        raise shape_error(f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.numel()}")
    if input.ndim < 2 or not input.numel():
        raise shape_error("Cannot pack empty tensors.")
    batch, longest = (input.shape[0], input.shape[1]) if batch_first else (input.shape[1], input.shape[0])
    if len(have) != batch:
        raise shape_error(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(have)} (batch_size={batch})"
        )
    if have[-1] <= 0:
        raise shape_error(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if (np.diff(have) > 0).any():
        raise shape_error(_SORTED)
    if have[0] > longest:
        raise shape_error(f"Expected `lengths` of at most {longest}, the steps of the input, but got {int(have[0])}")
    sizes = (have[None, :] > np.arange(have[0])[:, None]).sum(1)
    times = np.repeat(np.arange(len(sizes)), sizes)
    samples = np.concatenate([np.arange(n) for n in sizes])
    move = array_module(input._a).asarray
    indices = (move(samples), move(times)) if batch_first else (move(times), move(samples))
    data: Tensor = PACK(input, indices)
    return data, wrap(sizes)


def padded(data: Tensor, sizes: Tensor, batch_first: bool, padding_value: float, steps: int) -> tuple[Tensor, Tensor]:
    """What :func:`packed` made as sequences (``steps``, B, *), the rest of them ``padding_value``, and their lengths."""
    from ....creation import full

    counts = sizes.tolist()
    rest = tuple(data.shape[1:])
    out = full((steps, counts[0], *rest), padding_value, dtype=data.dtype, device=data.device)
    first = at = 0
    for step, count in enumerate(counts):  # steps of equally many sequences are written at once
        if step + 1 == len(counts) or counts[step + 1] != count:
            n = count * (step + 1 - first)
            out[first : step + 1, :count] = data[at : at + n].view(step + 1 - first, count, *rest)
            first, at = step + 1, at + n
    lengths = (np.asarray(counts)[:, None] > np.arange(counts[0])).sum(0)
    return out.transpose(0, 1) if batch_first else out, wrap(lengths)
