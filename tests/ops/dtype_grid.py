"""A grid of dtypes: one call made with the engine and with PyTorch, and everything about it that can be seen compared.

Each case is a row of plain data, so that the same function makes the call with either library.
"""

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
NUMBERS = {"bool": True, "int": 3, "float": 0.1, "complex": 1.5 - 2j}
"""A Python number of every kind."""
RANKS = ("dims", "0-d")
FORMS = ("call", "inplace", "view")

BINARY = (
    "add", "sub", "subtract", "rsub", "mul", "multiply", "div", "divide", "true_divide", "floor_divide", "remainder", "fmod",
    "pow", "float_power", "atan2", "arctan2", "maximum", "minimum", "fmax", "fmin", "hypot", "copysign", "nextafter", "xlogy",
    "logaddexp", "logaddexp2", "gcd", "lcm", "heaviside", "ldexp", "igamma", "igammac", "clamp_min", "clamp_max",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
    "eq", "ne", "lt", "le", "gt", "ge", "greater", "less_equal", "not_equal", "logical_and", "logical_or", "logical_xor",
)  # fmt: skip
KEYWORDS = (
    ("add", {"alpha": 2}), ("sub", {"alpha": 2}), ("div", {"rounding_mode": "floor"}), ("div", {"rounding_mode": "trunc"}),
)  # fmt: skip
TERNARY = ("addcmul", "addcdiv", "lerp", "clamp", "where", "masked_fill")

_FIRST = {
    "b": [True, False, True],
    "u": [7, 2, 5],
    "i": [7, -2, 5],
    "f": [0.7, 2.5, 1.3],
    "c": [0.7 + 1j, 2.5 - 1j, 1.3],
}
_SECOND = {
    "b": [True, True, True],
    "u": [2, 3, 1],
    "i": [2, 3, 1],
    "f": [0.3, 2.5, 1.7],
    "c": [0.3 - 1j, 2.5 + 2j, 1.7],
}
_THIRD = {
    "b": [True, False, True],
    "u": [3, 1, 2],
    "i": [3, 1, 2],
    "f": [0.4, 0.6, 3.5],
    "c": [0.4 + 2j, 0.6, 3.5 - 1j],
}
VALUES = (_FIRST, _SECOND, _THIRD)
"""By position and kind of dtype: in every dtype the nearest numbers, so that 0.3 is another one in each."""


@dataclass(frozen=True)
class Operand:
    """A tensor of ``dtype`` with or without dimensions, or the Python number ``value`` where ``rank`` is ``number``."""

    dtype: str
    rank: str = "dims"
    value: Any = None

    def __str__(self):
        return str(self.value) if self.rank == "number" else self.dtype + (" 0-d" if self.rank == "0-d" else "")


@dataclass(frozen=True)
class Case:
    """A call of ``op``: as a function, in place, or in place on a view."""

    op: str
    operands: tuple[Operand, ...]
    form: str = "call"
    keywords: tuple[tuple[str, Any], ...] = ()

    def __str__(self):
        keywords = "".join(f", {n}={v}" for n, v in self.keywords)
        return f"{self.op} {self.form}({', '.join(map(str, self.operands))}{keywords})"


@cache
def numbers_of(dtype, rank, position):
    """The numbers of an operand of the grid."""
    values = np.array(VALUES[position][np.dtype(dtype).kind]).astype(dtype)
    return values if rank == "dims" else values[0]


def outcome(library, case):
    """What a call gives: dtype, values, and dtype and values of all gradients; or type and first line of its error."""
    leaves = []
    try:
        result = _called(library, case, leaves)
        grads = [None] * len(leaves)
        if str(result.dtype).rpartition(".")[2] in DTYPES[6:] and result.requires_grad:
            total = result.sum()
            (total.real if "complex" in str(total.dtype) else total).backward()
            grads = [None if x.grad is None else _seen(x.grad) for x in leaves]
        return (*_seen(result), tuple(grads))
    except Exception as error:  # whatever it is, it is what is compared
        return type(error).__name__, (str(error).splitlines() or [""])[0]


def _called(library, case, leaves):
    operands = [_operand(library, x, i, leaves) for i, x in enumerate(case.operands)]
    keywords = dict(case.keywords)
    first, *rest = operands
    if case.op == "where":
        first, rest = library.tensor([True, False, True]), operands
    elif case.op == "masked_fill":
        rest = [library.tensor([True, False, True]) if first.ndim else library.tensor(True), *rest]
    if case.form == "call":
        return getattr(library, case.op)(first, *rest, **keywords)
    if case.form == "inplace":
        written = whole = first * 1 if first.requires_grad else first
    else:
        whole = library.zeros((2, *first.shape), dtype=first.dtype) + first
        written = whole[0]
    getattr(written, case.op + "_")(*rest, **keywords)
    return whole


def _operand(library, operand, position, leaves):
    if operand.rank == "number":
        return operand.value
    values = numbers_of(operand.dtype, operand.rank, position) if operand.value is None else np.array(operand.value)
    tensor = library.tensor(values.tolist(), dtype=getattr(library, operand.dtype))
    if operand.dtype in DTYPES[6:]:
        tensor.requires_grad_()
        leaves.append(tensor)
    return tensor


def _seen(tensor):
    return str(tensor.dtype).rpartition(".")[2], tuple(tensor.shape), tensor.detach().numpy().copy()


def difference(engine, torch, case):
    """What differs between two outcomes of ``case``, in words; ``None`` if nothing does."""
    if len(engine) != len(torch) or len(torch) == 2:
        return None if len(engine) == len(torch) and engine == torch else f"{_said(engine)} != {_said(torch)}"
    rounding = _rounding(case)
    if (found := _tensors_differ(engine, torch, rounding if case.op in IN_OPERAND_DTYPE else 0)) is not None:
        return found
    for i, (ours, theirs) in enumerate(zip(engine[3], torch[3], strict=True)):
        if (ours is None) != (theirs is None):
            return f"gradient {i}: {_said(ours)} != {_said(theirs)}"
        if ours is not None and (found := _tensors_differ(ours, theirs, rounding)) is not None:
            return f"gradient {i}: {found}"
    return None


def _said(found):
    return str(found).replace("\n", " ")


_DIGITS = {"float16": 3e-3, "float32": 2e-6, "complex64": 4e-6}
IN_OPERAND_DTYPE = frozenset(("ldexp",))
"""Ops whose value, too, is rounded to the dtype of an operand: here ``2 ** exponent`` to that of the exponent."""


def _rounding(case):
    """How far the numbers of PyTorch may be from exact ones, relative to the largest: a few roundings in the narrowest dtype.

    Its gradient formulas run on a 0-d or narrower operand as it is, where the engine's have the common dtype.
    """
    floats = [x.dtype for x in case.operands if x.rank != "number" and x.dtype in DTYPES[6:]]
    return 4 * max((float(np.finfo(d).eps) for d in floats), default=0.0)


def _tensors_differ(ours, theirs, rounding):
    """``rounding`` is relative to the largest number, beside that which any number of the dtype may have."""
    if ours[:2] != theirs[:2]:
        return f"{ours[:2]} != {theirs[:2]}"
    tolerance = _DIGITS.get(ours[0], 1e-12)
    a, b = ours[2].astype("c16"), theirs[2].astype("c16")
    largest = np.max(np.abs(b), initial=0, where=np.isfinite(b))
    with np.errstate(all="ignore"):
        same = np.allclose(a, b, rtol=tolerance, atol=max(tolerance, rounding * largest), equal_nan=True)
    return None if same else f"{ours[0]} {ours[2].tolist()} != {theirs[2].tolist()}"


def compared(engine, torch, cases):
    """Every case that differs, with how."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases:
            theirs = outcome(torch, case)
            if theirs[0] == "AttributeError" and "has no attribute" in theirs[1]:
                continue  # not one of PyTorch's methods
            found = difference(outcome(engine, case), theirs, case)
            if found is not None:
                yield case, found


def pairs():
    """Two operands of all dtypes, ranks and kinds of number, at least one of them a tensor with dimensions or both without."""
    for a in DTYPES:
        for b in DTYPES:
            yield Operand(a), Operand(b)
            yield Operand(a), Operand(b, "0-d")
            yield Operand(a, "0-d"), Operand(b)
        for kind, number in NUMBERS.items():
            yield Operand(a), Operand(kind, "number", number)
            yield Operand(kind, "number", number), Operand(a)
            yield Operand(a, "0-d"), Operand(kind, "number", number)


def cases_of(op, keywords=()):
    """All cases of an op of two operands."""
    for operands in pairs():
        for form in FORMS:
            if form != "call" and operands[0].rank == "number":
                continue
            yield Case(op, operands, form, tuple(keywords))


def cases_of_three(op):
    """Cases of an op of three operands: one or two of them of another dtype."""
    if op in ("where", "masked_fill"):
        yield from cases_of(op)
        return
    for a in DTYPES:
        for b in DTYPES:
            for last in (Operand(a), Operand(b), Operand(b, "0-d")):
                for form in FORMS:
                    yield Case(op, (Operand(a), Operand(b), last), form)
                    if a != b and last.rank == "dims" and last.dtype == b:
                        yield Case(op, (Operand(a), Operand(a), last), form)
        for number in NUMBERS.values():
            for form in FORMS:
                last = Operand("number", "number", number)
                if op in ("addcmul", "addcdiv"):
                    yield Case(op, (Operand(a),) * 3, form, (("value", number),))
                else:
                    yield Case(op, (Operand(a), Operand(a), last), form)
