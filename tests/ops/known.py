"""Where the engine differs from PyTorch and why it may: each is tested to be different still."""

import fnmatch
from dataclasses import dataclass

from agdbg_tests_known_fields import FIELDS
from agdbg_tests_op_cases import Failure
from agdbg_tests_op_device import READS, SEEN


@dataclass(frozen=True)
class Known:
    """A difference of an entry in one check; ``samples`` is a pattern of file names for the samples' lines."""

    op: str
    check: str
    reason: str
    samples: str = "*"
    always: bool = True
    """False where chance decides whether the difference is seen."""
    everywhere: bool = False
    """True where other entries may show it too, as those with a node of this name."""

    def covers(self, failure):
        """Whether a failure is this difference."""
        return fnmatch.fnmatchcase(f"{failure.sample} {failure.text}", self.samples)

    def concerns(self, report):
        """Whether the difference is one of this check of this entry."""
        return self.check == report.check and (self.everywhere or self.op == report.op)


KNOWN: list[Known] = []

KNOWN += [
    Known("as_strided_scatter", check, "PyTorch gives the gradient of the overwritten elements, not of the others")
    for check in ("gradient", "complex_gradient", "second", "layout", "forward_over_reverse")
]

KNOWN += [
    Known(
        f"special.bessel_{kind}",
        check,
        "PyTorch's approximation has six digits beyond 5, SciPy's all sixteen",
        "*numbers differ*",
    )
    for kind in ("j0", "j1", "y0", "y1")
    for check in ("value", "layout", "out")
]

KNOWN += [Known(op, "half", "NumPy has no complex numbers of 32 bits") for op in ("complex", "view_as_complex")]
KNOWN += [
    Known(
        "addbmm",
        "inplace",
        "PyTorch makes a smaller tensor larger in place; the engine never does",
        "*doesn't match the broadcast shape*",
    )
]
KNOWN += [
    Known("matrix_exp", "half", "PyTorch's overflows in half precision, the engine computes in single", "*torch nan*")
]

KNOWN += [
    Known(
        "logcumsumexp",
        "complex",
        "Imaginary parts differ by a multiple of 2 pi, which depends on the order of additions",
        "*numbers differ*",
    ),
]
KNOWN += [
    Known(
        "logcumsumexp",
        check,
        "PyTorch adds 1e-10 or so to the divisor of the tangent, and scales by the largest of all elements",
        "*numbers differ*",
    )
    for check in ("forward", "forward_over_reverse")
]

KNOWN += [
    Known(
        "sort",
        check,
        "Of more than 16 elements PyTorch leaves the order of equal ones open without stable=True, and so where the gradient "
        "goes; here it is the one that they had",
        "*indices*numbers differ*",
    )
    for check in ("value", "half", "integers")
]
KNOWN += [
    Known(
        "argsort",
        check,
        "Of equal elements PyTorch leaves the order open without stable=True; here it is the one that they had",
        "*8000*",
    )
    for check in ("value", "half", "integers")
]
KNOWN += [
    Known("cholesky_inverse", check, "PyTorch's tangent is wrong: finite differences of its own values say so")
    for check in ("forward", "forward_over_reverse")
]
KNOWN += [
    Known(op, "out", "PyTorch's out= is left at zeros where only one dimension is transformed", "*torch 0j*")
    for op in ("fft.ihfft2", "fft.ihfftn")
]


KNOWN += [
    Known(
        f"nn.functional.linear_cross_entropy:{variant}",
        "node",
        "PyTorch computes in parts, by a node of its own; the engine has no need to",
        "*options=*",
    )
    for variant in ("chunked", "chunked_none")
]
KNOWN += [
    Known(
        "nn.functional.linear_cross_entropy:chunked",
        "second",
        "PyTorch takes the gradient of the parts for a constant; the engine's second gradient is right",
        "*torch 0.0, engine*",
    )
]

KNOWN += [
    Known(
        "nn.functional.max_unpool2d",
        "forward",
        "Where indices repeat, which of several values is kept is left open by PyTorch, and differs from call to call",
        "*numbers differ*",
        always=False,
    )
]
KNOWN += [
    Known(
        "linalg.eigvals",
        "complex",
        "In which order LAPACK gives eigenvalues depends on its build",
        "*complex64*numbers differ*",
        always=False,
    )
]
KNOWN += [
    Known(
        "triangular_solve",
        "forward_over_reverse",
        "PyTorch's tangent of the gradient is wrong: finite differences of its own gradient say so",
        "*numbers differ*",
    )
]

KNOWN += [
    Known(op, "half_gradient", "NumPy has no complex numbers of 32 bits", "*NotImplementedError*")
    for op in ("complex", "view_as_complex")
]
KNOWN += [
    Known("as_strided_scatter", "half_gradient", "PyTorch gives the gradient of the overwritten elements, not of the others"),
    Known("matrix_exp", "half_gradient", "PyTorch's overflows in half precision, the engine computes in single", "*torch nan*"),
]  # fmt: skip
KNOWN += [
    Known(op, "half_gradient", reason, "*numbers differ*", always=False)
    for op, reason in (
        ("addbmm", "PyTorch adds the products up in half precision"),
        ("addcdiv", "PyTorch rounds every step to half precision, in another order"),
        ("pow", "Sums of numbers near the largest of half precision are infinite or not by the order of additions"),
        ("nn.functional.normalize", "Differences of numbers that cancel each other, each rounded to half precision"),
        ("nn.functional.layer_norm", "Differences of numbers that cancel each other, each rounded to half precision"),
        ("native_layer_norm", "Differences of numbers that cancel each other, each rounded to half precision"),
        ("nn.functional.linear_cross_entropy", "PyTorch computes in parts, each rounded to half precision"),
        (
            "nn.functional.linear_cross_entropy:chunked_none",
            "PyTorch computes in parts, each rounded to half precision",
        ),
        ("nn.functional.gelu", "Where its gradient is near zero, by the rounding of every step"),
        ("grid_sampler_2d", "PyTorch adds up in half precision, the engine in single"),
        ("grid_sampler_3d", "PyTorch adds up in half precision, the engine in single"),
        ("sort", "Of more than 16 elements PyTorch leaves the order of equal ones open without stable=True"),
        ("msort", "Of more than 16 elements PyTorch leaves the order of equal ones open"),
    )
]

KNOWN += [
    Known("ldexp", "promotion", "PyTorch's kernel has no exponents of bools; a product has", "*ldexp_cpu_exp*"),
    Known("narrow", "promotion", "A 0-d tensor of floats is refused as the number that it stands for", "*received an invalid combination*"),
    Known("__rmatmul__", "promotion", "That the dtypes differ is said before that bools cannot be multiplied", "*not implemented for 'Bool'*"),
    Known("linalg.solve_triangular", "promotion", "PyTorch reads the memory of one dtype as another one", "*torch nothing"),
    Known("linalg.pinv:singular", "promotion", "PyTorch multiplies matrices of two dtypes if they have no elements", "*0, 50, 2*torch nothing"),
    Known("masked.logaddexp", "promotion", "PyTorch has no neutral element of bools", "*identity of logaddexp*"),
    *(
        Known(f"nn.functional.linear_cross_entropy:{variant}", "promotion", "PyTorch refuses the targets by its own node", "*index_select*")
        for variant in ("chunked", "chunked_none")
    ),
]  # fmt: skip

_ASKED = "a number of Python is asked for"
_SIZE = "the size of the result depends on values"
_ERRORS = "singular matrices are an error, as in torch"
_ZEROS = "the formula depends on whether there are zeros, as in torch"
HOST_READS = {
    **dict.fromkeys(("item", "allclose", "equal", "linspace:tensor_overload", "logspace:tensor_overload", "narrow"), _ASKED),
    **dict.fromkeys(
        ("nonzero", "argwhere", "masked_select", "index_put", "unique", "unique_consecutive",
         "bincount", "nn.functional.one_hot"), _SIZE),
    **dict.fromkeys(("histogram", "histogramdd"), "without a range the intervals lie between the smallest and the largest"),
    "index_fill": "places that are named twice count once in the gradient", "searchsorted": "a sorter that is out of range is an error",
    **dict.fromkeys(
        ("cholesky", "cholesky_inverse", "linalg.cholesky", "linalg.lu_factor", "linalg.inv", "linalg.solve", "linalg.tensorinv",
         "linalg.tensorsolve", "linalg.matrix_power"), _ERRORS),
    **dict.fromkeys(("linalg.inv_ex", "linalg.solve_ex", "linalg.cholesky_ex", "linalg.cond"), "CuPy says in no other way what is singular"),
    **dict.fromkeys(
        ("svd_lowrank", "pca_lowrank", "pinverse", "norm:nuc", "linalg.eigh", "linalg.eigvalsh", "linalg.norm", "linalg.matrix_norm",
         "linalg.matrix_rank", "linalg.matrix_rank:hermitian", "linalg.pinv", "linalg.pinv:singular", "linalg.pinv:hermitian",
         "linalg.svdvals"), "a decomposition that does not converge is an error, as in torch"),
    **dict.fromkeys(("prod", "cumprod", "masked.prod", "masked.cumprod", "linalg.vander"), _ZEROS),
    **dict.fromkeys(("svd", "linalg.svd"), "a gradient that depends on the phase of complex vectors is an error, as in torch"),
    "cov": "negative weights are an error, as in torch", "to": "the copy to the CPU is what is asked for",
    "nn.functional.ctc_loss": "lengths decide about loops; torch copies them to the CPU too",
}  # fmt: skip
"""Ops that may read from the device, and why."""
KNOWN += [Known(op, "device", f"GPU: read back, {why}", f"* {READS} *", SEEN) for op, why in HOST_READS.items()]

KNOWN += [
    Known(op, "saved", f"saved: {why}", f"* {name}", everywhere=True)
    for why, entries in FIELDS.items()
    for op, names in entries.items()
    for name in names.split()
]


def unknown(report):
    """The failures that no known difference covers, and the known differences that are gone."""
    rows = [k for k in KNOWN if k.concerns(report)]
    found = [f for f in report.failures if not any(k.covers(f) for k in rows)]
    mine = [k for k in rows if k.always and k.op == report.op]
    return found + [Failure("", f"no longer so: {k.reason}") for k in mine if not any(map(k.covers, report.failures))]


def reasons(report):
    """The reasons of the known differences among the failures."""
    return [k.reason for k in KNOWN if k.concerns(report) and any(map(k.covers, report.failures))]
