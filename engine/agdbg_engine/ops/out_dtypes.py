"""Which dtypes an ``out`` may have, by function, in PyTorch's words for the others.

Most functions cast their result to the ``out``, as long as that is no narrower kind of number; what is not in the table does so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dtype import category, cpp_type, scalar_type

AS_OUT = frozenset(("cumprod", "cumsum", "fftfreq", "nansum", "prod", "rfftfreq", "sum"))
"""Those that compute in the dtype of their ``out``: they take it for their ``dtype``."""


class Rule(NamedTuple):
    """What one ``out`` of a function is refused with.

    In ``text``, ``want`` and ``got`` are the dtypes of the result and of the ``out``, ``cwant`` and ``cgot`` their names in C++,
    ``kind`` and ``other`` those of tensors of them.
    """

    text: str
    narrower: bool = False
    """Whether only kinds of numbers are refused that cannot hold the result, not all other dtypes."""
    wider: bool = False
    """With that, whether kinds that hold more than the result are refused too."""
    kind: type[Exception] = RuntimeError

    def refused(self, want: np.dtype[Any], got: np.dtype[Any]) -> Exception | None:
        """The error for a result of dtype ``want`` in an ``out`` of dtype ``got``, if it is one."""
        kinds = category(want), category(got)
        if want == got or (self.narrower and (kinds[0] == kinds[1] if self.wider else kinds[0] <= kinds[1])):
            return None
        words = {"want": scalar_type(want), "got": scalar_type(got), "cwant": cpp_type(want), "cgot": cpp_type(got)}
        words |= {"kind": _tensor_type(want), "other": _tensor_type(got)}
        return self.kind(self.text.format(**words))


def _tensor_type(dtype: np.dtype[Any]) -> str:
    """The name of a kind of tensors; those of booleans and complex numbers had none when PyTorch gave the others."""
    name = scalar_type(dtype)
    return f"CPU{name}Type" if dtype.kind in "bc" else f"torch.{name}Tensor"


_CAST = Rule("result type {want} can't be cast to the desired output type {got}", narrower=True)
_EXACT = Rule("Expected out tensor to have dtype {cwant}, but got {cgot} instead")
_FOUND = Rule("Found dtype {got} but expected {want}")
_JOIN = Rule("torch.cat(): input types can't be cast to the desired output type {got}", narrower=True, kind=TypeError)
_SCAN = Rule("expected scalar_type {want} but found {got}")
_SEARCH = Rule(
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether "
    "out_int32 flag is True, but we got output tensor's dtype {got} and out_int32 flag is False"
)
_MEDIAN = tuple(
    Rule(f"{text} (while checking arguments for median)")
    for text in (
        "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type {other} "
        "does not equal {kind}",
        "Expected tensor for argument #1 'indices' to have scalar type {want}; but got {other} instead",
    )
)
_PRODUCT = Rule("tensordot: Expected the output tensor to have dtype {want}, but got an output tensor with dtype {got}")


def _safe(op: str, what: str = "result") -> Rule:
    return Rule(
        f"{op}: Expected {what} to be safely castable from {{want}} dtype, but got {what} with dtype {{got}}",
        narrower=True,
    )


def _same_for(rule: Rule, names: str) -> dict[str, tuple[Rule, ...]]:
    return dict.fromkeys(names.split(), (rule,))


_RULES: dict[str, tuple[Rule, ...]] = {
    **_same_for(
        _EXACT,
        "addmm addmv alias_copy aminmax argmax argmin avg_pool2d baddbmm bmm cholesky_ex diag diagonal_copy eigh eigvalsh gather "
        "index_add index_copy index_reduce inv inverse inv_ex isin ldl_factor ldl_factor_ex ldl_solve linalg_cholesky linalg_cross "
        "linalg_det linalg_lu linalg_lu_solve linalg_matmul linalg_qr linalg_slogdet linalg_svd cross log_softmax lu_factor "
        "lu_factor_ex matmul mm msort norm permute_copy qr renorm scatter scatter_add scatter_reduce slice_copy slice_scatter "
        "slogdet softmax solve solve_ex sort squeeze_copy svd svdvals t_copy take_along_dim topk transpose_copy triangular_solve "
        "detach_copy tril triu unbind_copy unsqueeze_copy vector_norm view_as_complex_copy view_as_real_copy",
    ),
    **_same_for(
        _FOUND,
        "abs bitwise_not ceil clamp clamp_max clamp_min conj_physical floor frac gelu hardshrink neg round sgn sign softshrink "
        "trunc",
    ),
    **_same_for(_JOIN, "cat column_stack concat concatenate dstack hstack row_stack stack vstack"),
    **_same_for(_SCAN, "cummax cummin logcumsumexp"),
    **_same_for(_SEARCH, "bucketize searchsorted"),
    **_same_for(_PRODUCT, "inner tensordot"),
    **_same_for(Rule("result dtype {got} does not match input dtype {want}"), "dot vdot"),
    **_same_for(
        Rule("Expected object of scalar type {want} but got scalar type {got} for argument 'out'"), "complex polar"
    ),
    **_same_for(
        Rule("Expected the dtype for input and out to match, but got {want} for input's dtype and {got} for out's dtype."),
        "amax amin",
    ),
    **_same_for(Rule("quantile() out tensor must be same dtype as the input tensor"), "nanquantile quantile"),
    **{n: (Rule(f"{n}(): self and result must have the same scalar type"),) for n in ("index_select", "masked_select")},
    **{n: (Rule(f"{n} does not support non-boolean outputs."),) for n in ("isneginf", "isposinf", "signbit")},
    **{n: (Rule(f"{n} only supports bool tensor for result, got: {{got}}"),) for n in ("all", "any")},
    **{n: (_safe(n),) for n in ("cholesky", "cholesky_inverse", "cholesky_solve", "tensorinv", "tensorsolve", "matrix_power")},
    **{n: (_safe(f"linalg.{n}"),) for n in ("cond", "pinv")},
    **{n: (_safe(f"torch.linalg.{n}"),) for n in ("householder_product", "matrix_rank")},
    **{
        f"{i}{n}{d}": (Rule(f"{shown}{n}{'n' if d else ''} expects a {kind} output tensor, but got {{got}}", True, True),)
        for n, kind, both in (("fft", "complex", ("", "i")), ("hfft", "floating point", ("",)), ("ihfft", "complex", ("",)),
                              ("rfft", "complex", ("",)), ("irfft", "floating point", ("",)))
        for i in both for d in ("", "2", "n") for shown in (i if not d else "",)
    },
    "orgqr": (_safe("torch.linalg.householder_product"),),
    "linalg_matrix_power": (_safe("matrix_power"),),
    "eig": (_safe("torch.linalg.eig", "eigenvalues"), _safe("torch.linalg.eig", "eigenvectors")),
    "eigvals": (_safe("torch.linalg.eigvals", "eigenvalues"),),
    "lstsq": tuple(
        _safe("torch.linalg.lstsq", what) for what in ("solution", "solution", "rank", "singular_values")
    ),
    "geqrf": (_safe("torch.geqrf", "a"), _safe("torch.geqrf", "tau")),
    "matrix_norm": (Rule("linalg.matrix_norm expected out tensor dtype {want} but got: {got}"),),
    "linalg_norm": (Rule("linalg.norm expected out tensor dtype {want} but got: {got}"),),
    "multi_dot": (Rule("multi_dot(): expected out tensor to have dtype {cwant} but got {cgot}"),),
    "chain_matmul": (Rule("multi_dot(): expected out tensor to have dtype {cwant} but got {cgot}"),),
    "vecdot": (Rule("linalg.vecdot: Expected out of dtype{want} but found {got}"),),
    "frexp": (
        Rule("torch.frexp() expects mantissa to have dtype {cwant} but got {cgot}"),
        Rule("torch.frexp() expects exponent to have {cwant} dtype but got {cgot}"),
    ),
    "histc": (
        Rule("torch.histogram: input tensor and hist tensor should have the same dtype, but got input {cwant} and hist {cgot}"),
    ),
    "histogram": (
        Rule("torch.histogram: input tensor and hist tensor should have the same dtype, but got input {cwant} and hist {cgot}"),
        Rule(
            "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got input {cwant} and bin_edges "
            "{cgot} for dimension 0"
        ),
    ),
    "float_power": (Rule("the output given to float_power has dtype {got} but the operation's result requires dtype {want}"),),
    "heaviside": (Rule("heaviside is not yet implemented for tensors with different dtypes."),),
    "kthvalue": (
        Rule("output values must be of same type as input"), Rule("output indices must be of scalar type {want}"),
    ),
    "logsigmoid": (Rule("expected scalar type {want} but found {got}"),),
    "ldexp": (Rule("ldexp can't be cast to the desired output type {got}", narrower=True),),
    "logsumexp": (Rule("logsumexp(): Expected floating point type for result tensor, but got: {got}", narrower=True),),
    "median": _MEDIAN,
    "nanmedian": _MEDIAN,
    "mode": (
        Rule("expected scalar type '{want}' but got '{got}' for values output"),
        Rule("expected scalar type '{want}' but got '{got}' for indices output"),
    ),
    "multinomial": (Rule("multinomial expects {want} tensor out, got: {got}"),),
    "mv": (Rule("addmv input tensors must have the same dtype, but got {got}, {want}, and {want}"),),
    "nan_to_num": (Rule("nan_to_num: dtype of out: {got} should be same as input: {want}"),),
    "nonzero": (Rule("nonzero: Expected out tensor to have scalar type {want} but got scalar type{got}"),),
    "take": (
        Rule("take(): self and out expected to have the same dtype, but got self.dtype = {want} and out.dtype = {got}"),
    ),
    "where": (Rule("Expected out type to be {want} but got {got}"),),
}  # fmt: skip
"""By function the rule of each ``out``; the last one is that of all that follow."""

_VALUES = Rule(
    "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got false.  (Could "
    "this error message be improved?  If so, please report an enhancement request to PyTorch.)",
    narrower=True,
)
_MEAN = Rule("mean.dtype_out(): input types can't be cast to the desired output type {got}", narrower=True)


_NO_KERNEL = {
    "arange": ("c", "arange_cpu"), "cumprod": ("b", "cumprod_out_cpu"), "cumsum": ("b", "cumsum_out_cpu"),
    "linspace": ("b", "linspace_cpu"), "logspace": ("b", "logspace_cpu"), "std": ("c", "std_cpu"), "var": ("c", "std_cpu"),
}  # fmt: skip
"""Functions that cannot compute in the dtype of any ``out``: which kinds of dtypes these are, and what PyTorch has no form of."""


def refused_dtype(name: str, at: int, want: np.dtype[Any], got: np.dtype[Any], call: Call) -> Exception | None:
    """The error for the ``out`` at place ``at`` of function ``name`` if that cannot take a result of dtype ``want``."""
    kinds, kernel = _NO_KERNEL.get(name, ("", ""))
    if got.kind in kinds and call.arguments > (name in ("std", "var")):
        return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(got)}'")
    rules = _of_call(name, call)
    return rules[min(at, len(rules) - 1)].refused(want, got)


class Call(NamedTuple):
    """What the rules of functions of several forms depend on."""

    tensors: Sequence[Any]
    """The operands that are tensors."""
    outs: int
    """How many results there are."""
    arguments: int
    """How many arguments were given."""


def _of_call(name: str, call: Call) -> tuple[Rule, ...]:
    if name in ("max", "min"):
        return (_EXACT,) if call.outs > 1 else (_VALUES,) if len(call.tensors) == 1 else (_CAST,)
    if name in AS_OUT:
        return (_EXACT,)
    if name == "mean":
        return (_MEAN,) if call.arguments == 1 else (_CAST,)
    if name in ("matmul", "linalg_matmul") and call.tensors[1].ndim == 1:
        return _RULES["dot" if call.tensors[0].ndim == 1 else "mv"] if call.tensors[0].ndim < 3 else (_EXACT,)
    if name == "lerp":
        return (_FOUND,) if len(call.tensors) == 3 else (_CAST,)
    if name.startswith("clamp") and len(call.tensors) > 1:
        return (_CAST,)
    if name == "abs" and call.tensors[0].dtype.kind == "c":
        return (_CAST,)
    return _RULES.get(name, (_CAST,))
