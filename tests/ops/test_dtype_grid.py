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
_DIVISOR = "PyTorch's gradient formula fails for an integer divisor; the gradient is known"
_IN_PLACE = "the same refusal, named after the op and not after its in-place form"
_LATER = "the same refusal, of the dtype of the result first"
KNOWN = [
    ("*", r"ComplexHalf", _NO_HALF),
    ("arctan2 clamp* copysign fmod rsub", r"'TypeError'.*!= \('TypeError'", _NUMBERS),
    ("*", r"!= \('RuntimeError', '(Subtraction|Negation), the `-` operator", _BOOLS),
    ("*", r"!= \('RuntimeError', 'Expected isFloatingType", "PyTorch adds up a complex gradient for a real operand and fails"),
    ("*", r"derivative for aten::\w+ is not implemented'\) != \('RuntimeError', 'derivative for aten::\w+_ is", _IN_PLACE),
    ("atan2 arctan2", r"\(uint8( 0-d)?, float.*gradient 0: ", "PyTorch squares the other operand as uint8, where it wraps around"),
    ("pow float_power", r"\(bool, complex.*gradient 0: .* != .*nan", "PyTorch has NaN for False to a complex power, 0 for 0"),
    ("igamma*", r"\(u?int\d+( 0-d)?, float64.*gradient 0: float64", "PyTorch's gradient takes lgamma of the integers in single precision"),
    ("remainder", r"!= \('RuntimeError', 'derivative for aten::remainder", "PyTorch has no gradient in the divisor of a number"),
    ("pow", r"INTERNAL ASSERT|\"pow\" not implemented", "a fault of PyTorch's for the number True; bools to the power of True"),
    ("logical_*", r"derivative for aten::logical_\w+ is not", "PyTorch gives the gradient of what was there before, which is wrong"),
    ("div", r"float16, 0.1, rounding_mode=(floor|trunc)\): float16 ", "float16 is divided in float32 and rounded to 0 after, not before"),
    ("addcdiv", r"!= \('RuntimeError', \"result type Float can't be cast to the desired output type (Bool|Byte|Char|Short|Int|Long)", _DIVISOR),
    ("lerp addcmul", r"result type .*!= \('NotImplementedError', '\"(lerp_kernel_scalar|addcmul_cpu_out)\"", _LATER),
    ("masked_fill", r"Autograd not support dtype", "PyTorch has no gradient of a value that is written into integers, and fails"),
    ("masked_fill", r"to type double without.*to type c10::Half without", "PyTorch names the dtype of the tensor here, double elsewhere"),
    ("ldexp", r"!= \('RuntimeError', \"ldexp can't be cast", "PyTorch's words of ldexp alone"),
    ("ldexp", r"!= \('NotImplementedError', '\"ldexp_cpu_exp\" not implemented for .{1,2}Bool", "PyTorch's kernel has no such exponents; a product has"),
]  # fmt: skip
"""Ops, what a case and its difference look like, and why it may stay."""


def known(op, found):
    """Why a difference may be; ``found`` begins with the case."""
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
    told = (f"{case}: {found}" for case, found in compared(engine, torch, chosen))
    unknown = [text for text in told if not known(op, text)]
    assert not unknown, f"{len(unknown)}: " + "\n".join(unknown[:20])
