"""Elementwise ops of operands of all dtypes, with and without dimensions and as numbers, in place and on views, beside PyTorch."""

import fnmatch
import re
import zlib

import pytest

torch = pytest.importorskip("torch")  # the reference

from agdbg_tests_dtype_grid import BINARY, KEYWORDS, TERNARY, cases_of, cases_of_three, compared  # noqa: E402 - as above

import agdbg_engine as engine  # noqa: E402 - after the skip

ONE_OF = 5
"""Each op runs one case of so many, every op other ones: all of them take minutes."""

_NO_HALF = "NumPy has no complex numbers of 32 bits: the engine takes complex64, where PyTorch mostly refuses"
_NUMBERS = "PyTorch's words about a number where a tensor must be, of another overload or alias"
_BOOLS = (
    "PyTorch's gradient formula subtracts or negates the bools of the other operand and fails; the gradient is known"
)
_ROUNDED = "PyTorch's gradient formula runs on the 0-d or narrower operand as it is and is rounded more often"
_NAMED = "the same refusal, named after the op and not after PyTorch's kernel or its in-place form"
KNOWN = [
    ("*", r"ComplexHalf", _NO_HALF),
    ("*", r"'TypeError'.*!= \('TypeError'", _NUMBERS),
    ("clamp*", r"'TypeError'.*!= \('(NotImplementedError|RuntimeError)'", _NUMBERS),
    ("*", r"!= \('RuntimeError', '(Subtraction|Negation), the `-` operator", _BOOLS),
    ("*", r"!= \('RuntimeError', 'Expected isFloatingType", "PyTorch adds up a complex gradient for a real operand and fails"),
    ("*", r"^gradient \d: (float|complex)\d+ ", _ROUNDED),
    ("*", r"derivative for aten::\w+ is not implemented'\) != \('RuntimeError', 'derivative for aten::\w+_ is", _NAMED),
    ("floor_divide div", r"(NotImplementedError|TypeError|RuntimeError|Char|int8).*!= \('(NotImplementedError|RuntimeError)'", _NAMED),
    ("fmax fmin", r"!= \('RuntimeError', 'fm\w+ not implemented for complex", _NAMED),
    ("remainder", r"!= \('RuntimeError', 'derivative for aten::remainder", "PyTorch has no gradient in the divisor of a number"),
    ("pow", r"INTERNAL ASSERT|\"pow\" not implemented", "a fault of PyTorch's for the number True; bools to the power of True"),
    ("logical_*", r"derivative for aten::logical_\w+ is not", "PyTorch gives the gradient of what was there before, which is wrong"),
    ("clamp_m*", r"\"clamp_m\w+_scalar_cpu\" not implemented for .{1,2}Bool", "open: bools limited by True are taken"),
    ("clamp_m*", r"desired output type (bool|int|(un)?signed char|short int|long int)\"", "PyTorch's other name of a dtype"),
    ("div", r"^float16 ", "float16 is divided in float32 and rounded to 0 after, not before"),
    ("addcmul", r"addcmul_cpu_out|^.'TypeError', .int..|complex\d+'|\(1.5-2j", "open: bools and complex values of real tensors are taken"),
    ("addcdiv", r"result type Float can't|complex\d+'|without overflow", "open: an integer divisor and complex values are taken"),
    ("lerp", r"lerp_kernel_scalar|without overflow|!= .'RuntimeError'", "open: a weight of another dtype than a number is refused later"),
    ("masked_fill", r"Autograd not support dtype", "PyTorch has no gradient of a value that is written into integers, and fails"),
    ("masked_fill", r"to type double without", "open: a complex value for float16 is refused in the words for another op"),
    ("ldexp", r"", "PyTorch computes 2 ** exponent in the dtype of the exponent"),
]  # fmt: skip
"""Ops, what the difference looks like, and why it may stay."""


def known(op, found):
    """Why a difference may be."""
    return next(
        (
            why
            for ops, text, why in KNOWN
            if any(fnmatch.fnmatch(op, o) for o in ops.split()) and re.search(text, found)
        ),
        "",
    )


ALL = (
    [(op, ()) for op in BINARY]
    + [(op, tuple(words.items())) for op, words in KEYWORDS]
    + [(op, None) for op in TERNARY]
)


@pytest.mark.parametrize(("op", "keywords"), ALL, ids=lambda x: str(x) if x else "")
def test_grid(op, keywords):
    cases = cases_of_three(op) if keywords is None else cases_of(op, keywords)
    start = zlib.crc32(f"{op}{keywords}".encode()) % ONE_OF
    chosen = [case for i, case in enumerate(cases) if i % ONE_OF == start]
    assert len(chosen) > 200
    unknown = [f"{case}: {found}" for case, found in compared(engine, torch, chosen) if not known(op, found)]
    assert not unknown, f"{len(unknown)}: " + "\n".join(unknown[:20])
