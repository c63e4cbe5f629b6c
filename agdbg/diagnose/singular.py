"""Where ops make NaN or infinities out of finite numbers, and where their derivatives do."""

import re
from dataclasses import dataclass
from typing import Final

_ENDING = re.compile(r"Backward\d*$")


@dataclass(frozen=True)
class Singular:
    """What is known of an op.

    Attributes:
        forward: where its value is NaN or infinite.
        backward: where its derivative is, though the value may be finite.
        safe: a number at which both are finite, to put in where the result is not wanted.
        keep: how to keep its input away from there.
        argument: which of its inputs is to be kept away.
        keep_value: the same as ``keep``, where its value is to be finite; empty: it is the same.
    """

    forward: str
    backward: str
    safe: str
    keep: str
    argument: int = 0
    keep_value: str = ""


_EDGE = "of a negative number is NaN"
_ARC = Singular(
    "outside of -1 to 1 it is NaN",
    "at -1 and 1 its derivative is infinite",
    "0.0",
    "clamp() its input to a little less than -1 to 1",
)
_LOG = Singular(
    f"log() {_EDGE}, and of 0 it is -inf",
    "at 0 the derivative of log() is infinite",
    "1.0",
    "clamp(min=eps) its input, or add a small eps to it",
    keep_value="clamp(min=eps) its input, which helps at 0 and below; an eps that is added helps at 0 alone",
)
_EXP = Singular(
    "exp() of a large number overflows to inf",
    "where exp() overflows, so does its derivative",
    "0.0",
    "clamp(max=...) its input, or use sigmoid(), softmax() or logsumexp(), which do not overflow",
)

_SINGULAR: Final[tuple[tuple[tuple[str, ...], Singular], ...]] = (
    (
        ("Sqrt",),
        Singular(
            f"sqrt() {_EDGE}",
            "at 0 the derivative of sqrt() is infinite",
            "1.0",
            "add a small eps below the root, or clamp(min=eps) its input",
            keep_value="clamp(min=eps) its input: a small eps that is added does not make a negative number positive",
        ),
    ),
    (
        ("Rsqrt",),
        Singular(
            f"rsqrt() {_EDGE}, and of 0 it is inf",
            "at 0 the derivative of rsqrt() is infinite",
            "1.0",
            "add a small eps below the root",
            keep_value="clamp(min=eps) its input: a small eps that is added does not make a negative number positive",
        ),
    ),
    (
        ("Logsumexp", "LogSoftmax", "Logaddexp", "Logaddexp2"),
        Singular("of -inf alone, or of inf, it is NaN or infinite", "", "0.0", ""),
    ),
    (
        ("Log1P",),
        Singular(
            "log1p() below -1 is NaN, and at -1 it is -inf",
            "at -1 the derivative of log1p() is infinite",
            "0.0",
            "clamp(min=eps - 1) its input",
        ),
    ),
    (("Log", "Log2", "Log10", "Xlogy"), _LOG),
    (
        ("Div", "Reciprocal"),
        Singular(
            "0 / 0 is NaN, and anything else / 0 is inf",
            "the derivative of a division by 0 is infinite",
            "1.0",
            "keep the divisor away from 0: add a small eps to it, or clamp(min=eps) it where it is never negative",
            1,
        ),
    ),
    (
        ("Pow",),
        Singular(
            "a negative base with a fractional exponent gives NaN, and 0 with a negative one inf; a large one overflows",
            "a power below 1 has an infinite derivative at 0",
            "1.0",
            "clamp(min=eps) the base",
            keep_value="clamp(min=eps) a base that may be 0 or negative, and keep one that may be large from overflowing",
        ),
    ),
    (("Acos", "Asin", "Atanh"), _ARC),
    (
        ("Acosh",),
        Singular("below 1 it is NaN", "at 1 its derivative is infinite", "2.0", "clamp(min=1 + eps) its input"),
    ),
    (("Exp", "Exp2", "Expm1", "Sinh", "Cosh"), _EXP),
    (
        ("Norm", "LinalgVectorNorm", "Cdist", "PairwiseDistance"),
        Singular(
            "",
            "the derivative of a norm at 0 is not defined",
            "1.0",
            "add a small eps inside: (x * x).sum().add(eps).sqrt()",
        ),
    ),
    (
        ("Std", "StdMean"),
        Singular(
            "of a single element it is NaN, since it divides by the number of elements less one",
            "where all elements are equal its derivative is infinite",
            "1.0",
            "use var() and add eps before the root",
            keep_value="take it of more than one element, or with unbiased=False",
        ),
    ),
    (
        ("Var", "VarMean"),
        Singular(
            "of a single element it is NaN, since it divides by the number of elements less one",
            "",
            "1.0",
            "take it of more than one element, or with unbiased=False",
        ),
    ),
    (
        ("Atan2", "Hypot"),
        Singular("", "at (0, 0) its derivative is not defined", "1.0", "keep one of its arguments away from 0, by eps"),
    ),
    (("Tan",), Singular("at odd multiples of pi / 2 it is infinite", "there its derivative is, too", "0.0", "")),
    (
        ("Erfinv", "Logit"),
        Singular("at the ends of its range it is infinite", "there its derivative is, too", "0.5", "clamp() its input"),
    ),
    (("Lgamma", "Digamma", "Polygamma"), Singular("at 0 it is infinite", "there its derivative is, too", "1.0", "")),
    (
        (
            "LinalgSvd",
            "LinalgEigh",
            "LinalgEig",
            "LinalgInvEx",
            "LinalgSolveEx",
            "LinalgCholeskyEx",
            "LinalgQr",
            "LinalgPinv",
        ),
        Singular(
            "of a singular matrix it is not finite",
            "for equal eigenvalues or singular values the derivative is infinite",
            "",
            "add a small multiple of the identity first",
        ),
    ),
    (
        ("Softmax", "SafeSoftmax"),
        Singular(
            "of a row that is -inf throughout, as where all is masked, it is NaN",
            "",
            "0.0",
            "leave one element of each row unmasked",
        ),
    ),
    (("NllLoss", "MseLoss"), Singular("the mean over no elements is NaN", "", "", "")),
    (("Mean",), Singular("the mean of no elements is NaN", "", "", "leave out an empty batch")),
)

#: Ops that choose between values: what they leave out does not reach the result, and its gradient is zero.
CHOOSING: Final = frozenset((
    "Where",
    "MaskedFill",
    "MaskedScatter",
    "MaskedSelect",
    "NanToNum",
    "IndexPut",
    "IndexFill",
    "Index",
    "Select",
    "Slice",
    "Gather",
    "Clamp",
    "ClampMin",
    "ClampMax",
    "Maximum",
    "Minimum",
    "Fmax",
    "Fmin",
    "Max",
    "Min",
    "Amax",
    "Amin",
    "IndexSelect",
    "Nansum",
    "Topk",
    "CopySlices",
    "Take",
))  # fmt: skip

#: Ops that give NaN only where NaN or infinities go in.
_HARMLESS: Final = frozenset(
    [
        "Add",
        "Sub",
        "Rsub",
        "Mul",
        "Neg",
        "Mm",
        "Addmm",
        "Addmv",
        "Addbmm",
        "Baddbmm",
        "Bmm",
        "Mv",
        "Dot",
        "Sum",
        "View",
        "T",
        "Relu",
        "Tanh",
        "Sigmoid",
        "Transpose",
        "Permute",
        "ReshapeAlias",
        "UnsafeView",
        "Cat",
        "Stack",
        "Abs",
        "Convolution",
        "Linear",
        "Expand",
        "ToCopy",
        "Clone",
        "Squeeze",
        "Unsqueeze",
        "Select",
        "Slice",
        "Embedding",
        "Prod",
        "Cumsum",
    ]
)


def stem(op: str) -> str:
    """The name of an op without what makes it the name of a node: ``Sqrt`` of ``SqrtBackward0``."""
    return _ENDING.sub("", op)


def singular(op: str) -> Singular | None:
    """What is known of an op by the name of its node."""
    name = stem(op)
    return next((each for names, each in _SINGULAR if name in names), None)


def is_choosing(op: str) -> bool:
    """Whether an op chooses between values."""
    return stem(op) in CHOOSING


def only_passes_on(op: str) -> bool:
    """Whether a NaN in what an op gives can only come from a NaN or an infinity that it was given."""
    return stem(op) in _HARMLESS
