"""What nodes of PyTorch show beside what the engine's nodes keep, worked out from what these have; and what these alone keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import errors
from ..node import AccumulateGrad, Node
from ..node_attributes import show_worked_out
from ..several import copied
from ..tensor import Tensor, wrap
from . import Freed, Packed, saved_tensor

Fields = dict[str, Callable[[Any], Any]]
"""Functions of a node by PyTorch's name of what they give; they raise :class:`Unknown` where it has nothing that tells."""

_NO_SIZES = (
    "AddbmmBackward0 AddmmBackward0 AddmvBackward0 AddrBackward0 AsStridedBackward0 AsStridedBackward0_copy "
    "AsStridedScatterBackward0 BaddbmmBackward0 BernoulliBackward0 BinaryCrossEntropyBackward0 "
    "BinaryCrossEntropyWithLogitsBackward0 CdistBackward0 CeilBackward0 ChannelShuffleBackward0 "
    "CholeskySolveBackward0 ConvolutionBackward0 CopyBackwards CopysignBackward0 DiagonalScatterBackward0 "
    "DistBackward0 DivBackward2 EmbeddingBackward0 EmbeddingBagBackward0 EuclideanDistBackward0 FftC2RBackward0 "
    "FftR2CBackward0 FillBackward0 FillBackward2 FillBackward3 FloorBackward0 GatherBackward0 "
    "GridSampler2DBackward0 GridSampler3DBackward0 HuberLossBackward0 Im2ColBackward0 IndexAddBackward0 "
    "IndexCopyBackward0 IndexFillBackward1 IndexPutBackward0 LinalgCrossBackward0 LinalgLuSolveBackward0 "
    "LinalgSolveExBackward0 LinalgSolveTriangularBackward0 LogsumexpBackward0 LuUnpackBackward0 "
    "MaskedScatterBackward0 MaskedSelectBackward0 MultilabelMarginLossBackward0 NativeLayerNormBackward0 "
    "NextafterBackward0 NllLoss2DBackward0 NllLossBackward0 PutBackward0 RoundBackward0 RoundBackward1 "
    "ScatterAddBackward0 ScatterBackward0 SelectScatterBackward0 SignBackward0 SliceScatterBackward0 "
    "SmoothL1LossBackward0 SoftMarginLossBackward0 TakeBackward0 TriangularSolveBackward0 TruncBackward0 "
    "ZeroBackward0"
)
NO_SIZES = frozenset(_NO_SIZES.split())
"""Nodes that show no sizes in PyTorch where the engine's keep a shape."""

_OWN = frozenset(("mat2_swapped", "starts", "self_itemsize", "self_offset", "self_strides"))
_OWN_OF = {"NarrowCopyBackward0": ("end",), "NativeLayerNormBackward0": ("eps",)}


def own(node: Node, name: str) -> bool:
    """Whether a number that ``node`` keeps as ``name`` is the engine's own affair."""
    if name.endswith("_shape"):
        return node.op_name in NO_SIZES
    return name in _OWN or name.endswith("_dtype") or name in _OWN_OF.get(node.op_name, ())


class Unknown(Exception):
    """The node has nothing left that tells the value."""


def more(node: Node) -> Fields:
    """What can be worked out of ``node``."""
    return _MORE.get(node.op_name, {})


def known(node: Node) -> Iterator[str]:
    """The names of what can be worked out of ``node`` as things stand. Nothing is unpacked."""
    for name, value in more(node).items():
        if isinstance(value, Operand):
            if not value.known(node):
                continue
        elif name not in TENSORS:
            try:
                value(node)
            except Unknown:
                continue
        yield name


# ----- from operands -----


def _producer(node: Any, slot: str) -> Node | None:
    """The producer of the matrix in ``slot``: the matrices come last."""
    found: Node | None = node.next_nodes()[-2:][node.slots.index(slot)]
    return found


def _kept(node: Any, slot: str) -> Any:
    """What has the shape and the strides of the matrix in ``slot``: it itself, or the leaf that its edge leads to."""
    held = getattr(node, "s_" + slot)
    if isinstance(held, Packed):
        return held.array
    if isinstance(held, Freed):
        raise Unknown
    return _of_leaf(_producer(node, slot)) if held is None else held._a


def _of_leaf(producer: Any) -> Any:
    """The array of a leaf, or of the transpose of one."""
    if isinstance(producer, AccumulateGrad):
        return producer.variable._a
    if producer is None or producer.op_name != "TBackward0":
        raise Unknown
    return _of_leaf(producer.n0).T


def _sizes(slot: str) -> Callable[[Any], Any]:
    return lambda node: tuple(_kept(node, slot).shape)


def _strides(slot: str) -> Callable[[Any], Any]:
    def strides(node: Any) -> Any:
        return () if _producer(node, slot) is None else wrap(_kept(node, slot)).stride()

    return strides


def _of_matrices(*slots: str) -> Fields:
    made = {f"{s}_sym_sizes": _sizes(s) for s in slots}
    return made | {f"{s}_sym_strides": _strides(s) for s in slots}


def _argsize(shape: str, *at: int) -> Fields:
    """Single sizes out of the shape kept as ``<shape>_shape``."""
    names = {i: f"{shape}_sym_argsize_{i if i >= 0 else f'minus_{-i}'}" for i in at}
    return {name: _item(f"c_{shape}_shape", i) for i, name in names.items()}


def _item(attribute: str, i: int) -> Callable[[Any], Any]:
    return lambda node: getattr(node, attribute)[i]


def _ndim(shape: str) -> Callable[[Any], Any]:
    return lambda node: len(getattr(node, f"c_{shape}_shape"))


def _given(value: Any) -> Callable[[Any], Any]:
    """What the engine has one value of only."""
    return lambda node: value


# ----- pieces -----


def _sizes_of_pieces(node: Any) -> tuple[int, ...]:
    return tuple(s[node.c_dim] for s in node.c_shapes)


def _size_before(node: Any) -> tuple[int, ...]:
    first, dim = node.c_shapes[0], node.c_dim
    return (*first[:dim], sum(_sizes_of_pieces(node)), *first[dim + 1 :])


_PIECES: Fields = {"self_sym_sizes": _size_before, "split_size": lambda node: _sizes_of_pieces(node)[0]}
_SOME_PIECES: Fields = {"self_sym_sizes": _size_before, "split_sizes": _sizes_of_pieces}

# ----- losses, norms, matrices -----


class Operand:
    """An input of which the node keeps at most the shape: its producer saved it as a result, or it is a leaf as it was made."""

    def __init__(self, place: int, slot: str) -> None:
        self.place = place
        """Of its edge."""
        self.slot = slot
        """Something that the node does save: it tells whether it has been freed."""

    def known(self, node: Any) -> bool:
        """Whether there is such a producer; nothing is unpacked to find that out."""
        producer = node.next_nodes()[self.place]
        if isinstance(producer, AccumulateGrad):
            storage = producer.variable._storage
            return storage is None or storage.version == 0
        if producer is None or node.nrs is not None or "result" not in producer.slots:
            return False
        return producer.outputs_saved[producer.slots.index("result")] and producer.s_result is not None

    def __call__(self, node: Any) -> Any:
        """The tensor; raises the errors of unpacking."""
        if not self.known(node):
            raise Unknown
        held = getattr(node, "s_" + self.slot)
        if isinstance(held, Freed):
            raise errors.backward_twice(node, held)
        producer = node.next_nodes()[self.place]
        return producer.variable if producer.leaf else saved_tensor(producer, "result").unpack()


class TotalWeight(Operand):
    """How many targets count, in the dtype of the input."""

    def __call__(self, node: Any) -> Any:
        """That number; raises the errors of unpacking."""
        dtype = super().__call__(node).dtype
        count = saved_tensor(node, "target").unpack().numel() if node.c_reduction != "none" else 0
        return wrap(np.asarray(count, dtype))


def _factors(node: Any) -> Any:
    """LU and pivots of the matrix of a determinant, which PyTorch factors column by column."""
    from ..ops import kernels

    a = saved_tensor(node, "A").unpack()._a
    return kernels.lu_factor_ex_raw(np.swapaxes(a, -1, -2) if a.flags.c_contiguous else a, True)  # type: ignore[attr-defined]  # a row


def _decay(node: Any) -> Tensor:
    """exp(-|x|), which PyTorch keeps of a logsigmoid."""
    return wrap(np.exp(-np.abs(saved_tensor(node, "self").unpack()._a)))


def _length(node: Any) -> int:
    length: int = node.c_end - node.c_start
    return length


def _channels(node: Any) -> tuple[int, ...]:
    """The shape of a bias, if that is known to be there."""
    if node.next_nodes()[2] is None:
        raise Unknown
    return (node.c_weight_shape[1] * node.c_groups if node.c_transposed else node.c_weight_shape[0],)


def _singular_values(node: Any) -> int:
    held = node.s_S
    if held is None or isinstance(held, Freed):
        raise Unknown
    n: int = (held.array if isinstance(held, Packed) else held).shape[-1]
    return n


_DETERMINANT: Fields = {"LU": lambda n: wrap(_factors(n)[0]), "pivots": lambda n: wrap(copied(_factors(n)[1]))}

_MORE: dict[str, Fields] = {
    "AddbmmBackward0": _argsize("batch1", 0, 1) | _argsize("batch2", 2),
    "AddmmBackward0": _of_matrices("mat1", "mat2"),
    "ConvolutionBackward0": {"bias_sym_sizes_opt": _channels},
    "EmbeddingBackward0": _argsize("weight", 0) | {"sparse": _given(False)},
    "GatherBackward0": {"self": Operand(0, "index"), "sparse_grad": _given(False)},
    "GeluBackward0": {"approximate": lambda n: "none" if hasattr(n, "row") else "tanh"},
    "Im2ColBackward0": _argsize("self", -1, -2),
    "IndexAddBackward0": {"source_dim": _ndim("source"), "source": Operand(1, "index")},
    "IndexCopyBackward0": {"source_dim": _ndim("source"), "source": Operand(1, "index")},
    "LinalgDetBackward0": _DETERMINANT,
    "LinalgLuBackward0": {"pivot": _given(True)},
    "LinalgLuFactorExBackward0": {"pivot": _given(True)},
    "LinalgSlogdetBackward0": _DETERMINANT,
    "LinalgSvdBackward0": {"S_sym_argsize_minus_1": _singular_values},
    "LinalgVectorNormBackward0": {"ord": _given(2)},
    "LogSigmoidBackward0": {"buffer": _decay},
    "LuUnpackBackward0": _argsize("LU_data", -1, -2),
    "MaskedSelectBackward0": {"self": Operand(0, "mask")},
    "MmBackward0": _of_matrices("self", "mat2"),
    "NarrowCopyBackward0": {"length": _length},
    "NativeLayerNormBackward0": {"normalized_shape": lambda n: tuple(n.c_normalized_shape)},
    "NllLoss2DBackward0": {"self": Operand(0, "target")},
    "NllLossBackward0": {
        "self": Operand(0, "target"), "total_weight": TotalWeight(0, "target"), "weight": _given(None),
        "ignore_index": _given(2**64 - 100),
    },
    "PutBackward0": {"source": Operand(1, "index")},
    "ScaledDotProductFlashAttentionForCpuBackward0": {"dropout_p": _given(0.0)},
    "SplitBackward0": _PIECES,
    "SplitBackward0_copy": _PIECES,
    "SplitWithSizesBackward0": _SOME_PIECES,
    "SplitWithSizesBackward0_copy": _SOME_PIECES,
    "TakeBackward0": {"self": Operand(0, "index")},
    "UnsafeSplitBackward0": _PIECES,
    "UnsafeSplitWithSizesBackward0": _SOME_PIECES,
}  # fmt: skip
"""Nodes that keep such a value under its name show that instead."""

TENSORS = frozenset(("self", "source", "total_weight", "weight", "LU", "pivots", "buffer"))
"""What of that PyTorch keeps as a tensor, so that it has a ``_raw_saved_`` too."""

NAMES = {op_name: tuple(found) for op_name, found in _MORE.items()}
"""What can be worked out, by the name of the node."""

show_worked_out(Node, NAMES, TENSORS | {"indices"})

# ----- forms -----

_UNSIGNED = frozenset(
    ("divisor_override", "diagonal", "ignore_index", "index", "offset", "pad", "padding", "padding_idx")
)


def unsigned(name: str, value: Any) -> Any:
    """A negative integer as PyTorch shows it: less than 2**64 by so much."""
    if name not in _UNSIGNED:
        return value
    if isinstance(value, tuple):
        return tuple(unsigned(name, v) for v in value)
    return value + 2**64 if isinstance(value, int) and value < 0 else value
