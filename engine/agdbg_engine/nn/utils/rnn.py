"""Sequences of different lengths as one tensor: padded, or packed one step behind the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ... import creation
from ...dtype import float16, float32, float64, int64, scalar_type
from ...foreign import refuse
from ...missing import public_names
from ...ops.wide.layers import packing
from ...ranges import arange
from ...tensor import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip

__getattr__ = public_names(__name__)


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Sequences without padding: ``data`` has all first steps, then all second ones; ``batch_sizes`` how many of each.

    Sequences are in order of their lengths; ``sorted_indices`` tells where they came from. Recurrent networks take one for an
    input. Made by :func:`pack_padded_sequence` and :func:`pack_sequence`.
    """

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Tensor | None = None, sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:  # fmt: skip
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should be "
                "instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """``data`` in another dtype or on another device, where its indices go too."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        how = {name: value for name, value in kwargs.items() if name not in ("device", "dtype")}
        moved = (None if i is None else i.to(data.device, **how) for i in self[2:])
        return type(self)(data, self.batch_sizes, *moved)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On a GPU."""
        return self.to(*args, **{"device": "cuda", **kwargs})

    def cpu(self) -> PackedSequence:
        """In the memory of the host."""
        return self.to("cpu")

    def double(self) -> PackedSequence:
        """As float64."""
        return self.to(float64)

    def float(self) -> PackedSequence:
        """As float32."""
        return self.to(float32)

    def half(self) -> PackedSequence:
        """As float16."""
        return self.to(float16)

    def long(self) -> PackedSequence:
        """As int64."""
        return self.to(int64)

    def pin_memory(self) -> PackedSequence:
        """With ``data`` and the indices in pinned memory."""
        kept = (None if i is None else i.pin_memory() for i in self[2:])
        return type(self)(self.data.pin_memory(), self.batch_sizes, *kept)

    def is_pinned(self) -> bool:
        """Whether ``data`` is in pinned memory."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """Whether ``data`` is on a GPU."""
        return self.data.is_cuda


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes ``permutation``."""
    if permutation is None:
        return None
    out: Tensor = creation.empty_like(permutation)
    return out.scatter_(0, permutation, arange(0, permutation.numel(), device=permutation.device))


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Sequences (T, B, *), or with ``batch_first`` (B, T, *), of the given ``lengths`` without what is behind them.

    The longest must come first unless ``enforce_sorted=False``, with which they are sorted.
    """
    refuse(input, "pack_padded_sequence", "input")
    if isinstance(lengths, Tensor) and not lengths.is_cpu:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D {lengths.device} "
            f"{scalar_type(lengths.dtype)} tensor"
        )
    lengths = (
        lengths.to(int64) if isinstance(lengths, Tensor) else creation.as_tensor(lengths, dtype=int64, device="cpu")
    )
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    return PackedSequence(*packing.packed(input, lengths, batch_first), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Packed sequences padded, (T, B, *) or with ``batch_first`` (B, T, *), in the order that they had; and their lengths."""
    steps = sequence.batch_sizes.shape[0]
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    out, lengths = packing.padded(sequence.data, sequence.batch_sizes, batch_first, padding_value, steps)
    order = sequence.unsorted_indices
    if order is None:
        return out, lengths
    return out.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (L, *) packed; the longest must come first unless ``enforce_sorted=False``."""
    lengths = creation.as_tensor([s.shape[0] for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """What :func:`pack_sequence` put together, sequence by sequence."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


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
    for s in given:
        refuse(s, "pad_sequence", "sequences")
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
