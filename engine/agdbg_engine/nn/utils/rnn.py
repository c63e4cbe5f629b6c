"""Sequences of different lengths as one tensor: ``pad_sequence`` and ``unpad_sequence``."""

from __future__ import annotations

from collections.abc import Iterable

from ... import creation
from ...tensor import Tensor

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (L, *) side by side, (L_max, B, *) or with ``batch_first`` (B, L_max, *), the rest is ``padding_value``."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    given = tuple(sequences)
    if not given:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest, rest = max(s.shape[0] for s in given), given[0].shape[1:]
    sizes = (len(given), longest) if batch_first else (longest, len(given))
    first = given[0]
    out = creation.full((*sizes, *rest), padding_value, dtype=first.dtype, device=first.device)
    for i, s in enumerate(given):
        n = s.shape[0]
        where = slice(0, n) if padding_side == "right" else slice(longest - n, longest)
        out[(i, where) if batch_first else (where, i)] = s
    return out


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """What :func:`pad_sequence` put together, sequence by sequence; padding must be on the right."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    if len(padded_sequences) != len(lengths):
        raise ValueError(f"{len(lengths)} lengths for {len(padded_sequences)} sequences")
    return [padded_sequences[i, : int(n)] for i, n in enumerate(lengths.tolist())]
