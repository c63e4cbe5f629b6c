"""The op table. ``python scripts/generate_ops.py`` turns it into code; see :mod:`.row` for the columns."""

from __future__ import annotations

import re
from typing import Any

from .row import Row

TABLE: list[Row] = []


def op(signature: str, node: str, *, jvp: str, alias: str = "", **columns: Any) -> None:
    """Add a row; keywords that are no column are gradient formulas by argument name."""
    known = {k: columns.pop(k) for k in list(columns) if k in Row.__dataclass_fields__}
    TABLE.append(Row(signature, node, columns, jvp=jvp, alias=frozenset(alias.split()), **known))


def unary(signature: str, node: str, self: str, **columns: Any) -> None:
    """An elementwise function of one tensor; its tangent is its gradient formula applied to the tangent."""
    tangent = re.sub(r"\bg\b", "self_t", self)
    op(signature, node, self=self, jvp=tangent, elementwise=True, inplace=True, **columns)


def linear(signature: str, node: str, self: str, **columns: Any) -> None:
    """A linear function of one tensor: its tangent is the function of the tangent."""
    op(signature, node, self=self, jvp="linear", **columns)


def view(signature: str, node: str, self: str, alias: str = "self") -> None:
    """Other sizes or strides over the same memory."""
    linear(signature, node, self, alias=alias, view=True)


# fmt: off

# ----- arithmetic -----

op("add(self, other)", "AddBackward0", self="g", other="g", alias="self other", scalars={"other": "AddBackward0"},
   jvp="self_t + other_t", elementwise=True, inplace=True)
op("sub(self, other)", "SubBackward0", self="g", other="-g", alias="self", scalars={"other": "SubBackward0"},
   jvp="self_t - other_t", elementwise=True, inplace=True)
op("rsub(self, other)", "RsubBackward0", self="-g", other="g", alias="other", scalars={"other": "RsubBackward1"},
   jvp="other_t - self_t", forward="other - self", elementwise=True)
op("mul(self, other)", "MulBackward0", self="g * other", other="g * self", scalars={"other": "MulBackward0"},
   jvp="self_t * other + self * other_t", elementwise=True, inplace=True)
op("div(self, other)", "DivBackward0", self="g / other", other="-g * ((self / other) / other)",
   scalars={"other": "DivBackward0"}, jvp="(self_t - other_t * result) / other", elementwise=True, inplace=True, floats=True)
op("pow(self, exponent)", "PowBackward1",
   self="pow_grad_base(g, self, exponent)", exponent="pow_grad_exponent(g, self, exponent, result)",
   scalars={"exponent": "PowBackward0", "self": "PowBackward2"}, elementwise=True, inplace=True,
   jvp="pow_grad_base(self_t, self, exponent) + pow_grad_exponent(exponent_t, self, exponent, result)")
op("maximum(self, other)", "MaximumBackward0", self="drop(where(self == other, g / 2, g), self < other)",
   other="drop(where(self == other, g / 2, g), self > other)", elementwise=True,
   jvp="extreme_of_two_tangent(self_t, other_t, self > other, self == other)")
op("minimum(self, other)", "MinimumBackward0", self="drop(where(self == other, g / 2, g), self > other)",
   other="drop(where(self == other, g / 2, g), self < other)", elementwise=True,
   jvp="extreme_of_two_tangent(self_t, other_t, self < other, self == other)")

# ----- functions of one tensor -----

unary("neg(self)", "NegBackward0", "-g")
unary("exp(self)", "ExpBackward0", "g * result", floats=True)
unary("expm1(self)", "Expm1Backward0", "g * (result + 1)", floats=True)
unary("log(self)", "LogBackward0", "g / self", floats=True)
unary("log1p(self)", "Log1PBackward0", "g / (self + 1)", floats=True)
unary("sqrt(self)", "SqrtBackward0", "g / (2 * result)", floats=True)
unary("rsqrt(self)", "RsqrtBackward0", "-0.5 * g * pow(result, 3)", floats=True)
unary("reciprocal(self)", "ReciprocalBackward0", "-g * (result * result)", floats=True)
op("abs(self)", "AbsBackward0", self="g * sgn(self)", jvp="inner(self_t, sgn(self))", elementwise=True, inplace=True,
   holomorphic=False, bools=False)
op("sgn(self)", "SgnBackward0", self="sgn_grad(g, self, result)", jvp="sgn_grad(self_t, self, result)", elementwise=True,
   inplace=True, holomorphic=False)
op("angle(self)", "AngleBackward0", self="angle_grad(g, self)", jvp="angle_tangent(self_t, self)", elementwise=True,
   holomorphic=False, floats=True)
unary("sign(self)", "SignBackward0", "zeros_of(self_shape, g)")
unary("floor(self)", "FloorBackward0", "zeros_of(self_shape, g)", bools=False)
unary("ceil(self)", "CeilBackward0", "zeros_of(self_shape, g)", bools=False)
unary("round(self)", "RoundBackward0", "zeros_of(self_shape, g)", bools=False)
unary("trunc(self)", "TruncBackward0", "zeros_of(self_shape, g)", bools=False)
unary("sin(self)", "SinBackward0", "g * cos(self)", floats=True)
unary("cos(self)", "CosBackward0", "g * -sin(self)", floats=True)
unary("tanh(self)", "TanhBackward0", "tanh_grad(g, result)", floats=True)
unary("sigmoid(self)", "SigmoidBackward0", "sigmoid_grad(g, result)", floats=True)
unary("relu(self)", "ReluBackward0", "threshold_backward(g, result)", bools=False)
unary("leaky_relu(self, negative_slope=0.01)", "LeakyReluBackward0", "leaky_relu_backward(g, self, negative_slope)",
      kinds="fc")
op("threshold_backward(grad_output, self)", "ThresholdBackwardBackward0", grad_output="threshold_backward(g, self)",
   self="zeros_of(self_shape, g)", jvp="threshold_backward(grad_output_t, self)")
op("leaky_relu_backward(grad_output, self, negative_slope)", "LeakyReluBackwardBackward0",
   grad_output="leaky_relu_backward(g, self, negative_slope)", self="zeros_of(self_shape, g)",
   jvp="leaky_relu_backward(grad_output_t, self, negative_slope)")
unary("softplus(self, beta=1.0, threshold=20.0)", "SoftplusBackward0",
      "softplus_backward(g, self, beta, threshold)", kinds="fc")
unary("silu(self)", "SiluBackward0", "silu_backward(g, self)", kinds="fc")
unary("gelu_tanh(self)", "GeluBackward0", "gelu_tanh_grad(g, self)", kinds="fc")
unary("clamp(self, min=None, max=None)", "ClampBackward1", "keep(g, inside(self, min, max))")
unary("clamp_min(self, min)", "ClampMinBackward0", "keep(g, self >= min)")
unary("clamp_max(self, max)", "ClampMaxBackward0", "keep(g, self <= max)")
op("clamp_min_tensor(self, min)", "ClampMinBackward1", self="keep(g, self >= min)", min="keep(g, self < min)",
   jvp="where(self >= min, self_t, min_t)", forward="maximum(self, min)", elementwise=True)
op("clamp_max_tensor(self, max)", "ClampMaxBackward1", self="keep(g, self <= max)", max="keep(g, self > max)",
   jvp="where(self <= max, self_t, max_t)", forward="minimum(self, max)", elementwise=True)

# ----- choosing, writing -----

op("where(condition, self, other)", "WhereBackward0",
   condition=None, self="keep(g, condition)", other="drop(g, condition)",
   scalars={"self": "WhereBackward0", "other": "WhereBackward0"}, jvp="where(condition, self_t, other_t)", elementwise=True)
op("masked_fill(self, mask, value)", "MaskedFillBackward1",
   self="drop(g, mask)", mask=None, value="keep(g, mask)", scalars={"value": "MaskedFillBackward0"},
   jvp="where(mask, value_t, self_t)", elementwise=True, inplace=True)
op("copy(self, src)", "CopyBackwards", self="zeros_of(self_shape, g)", src="to_copy(sum_to(g, src_shape), src_dtype)",
   jvp="to_copy(expand(src_t, self_shape), self_dtype)", inplace=True)
op("fill(self, value)", "FillBackward3", self="zeros_of(self_shape, g)", value="sum_all(g)",
   scalars={"value": "FillBackward2"}, jvp="fill(self_t, value_t)", inplace=True)
op("zero(self)", "ZeroBackward0", self="zeros_of(self_shape, g)", jvp="zeros_of(self_shape, self_t)", inplace=True)
linear("clone(self, order='K')", "CloneBackward0", "g", alias="self")
linear("to_copy(self, dtype)", "ToCopyBackward0", "to_copy(g, self_dtype)")

# ----- reductions -----

linear("sum_all(self)", "SumBackward0", "expand(g, self_shape)", alias="self")
linear("sum_dim(self, dim, keepdim=False)", "SumBackward1", "expand_dims(g, self_shape, dim, keepdim)", alias="self")
linear("mean_all(self)", "MeanBackward0", "expand(mean_share(g, self_shape), self_shape)", alias="self")
linear("mean_dim(self, dim, keepdim=False)", "MeanBackward1",
       "expand_dims(mean_share(g, self_shape, dim), self_shape, dim, keepdim)", alias="self")
op("amax(self, dim=(), keepdim=False)", "AmaxBackward0", self="extreme_grad(g, self, result, dim, keepdim)",
   jvp="extreme_tangent(self_t, self, result, dim, keepdim)")
op("amin(self, dim=(), keepdim=False)", "AminBackward0", self="extreme_grad(g, self, result, dim, keepdim)",
   jvp="extreme_tangent(self_t, self, result, dim, keepdim)")
op("max_all(self)", "MaxBackward1", self="extreme_of_all_grad(g, self, result)",
   jvp="extreme_of_all_tangent(self_t, self, result)", forward="amax(self, (), False)")
op("min_all(self)", "MinBackward1", self="extreme_of_all_grad(g, self, result)",
   jvp="extreme_of_all_tangent(self_t, self, result)", forward="amin(self, (), False)")
op("max_dim(self, indices, dim, keepdim)", "MaxBackward0", indices=None,
   self="pick_backward(g, self_shape, indices, dim, keepdim)", jvp="pick(self_t, indices, dim, keepdim)",
   forward="pick(self, indices, dim, keepdim)")
op("min_dim(self, indices, dim, keepdim)", "MinBackward0", indices=None,
   self="pick_backward(g, self_shape, indices, dim, keepdim)", jvp="pick(self_t, indices, dim, keepdim)",
   forward="pick(self, indices, dim, keepdim)")
op("var_dim(self, dim, correction, keepdim)", "VarBackward0", self="var_grad(g, self, dim, correction, keepdim)",
   jvp="var_tangent(self_t, self, dim, correction, keepdim)", holomorphic=False)
op("std_dim(self, dim, correction, keepdim)", "StdBackward0",
   self="var_grad(drop(g / (2 * result), result == 0), self, dim, correction, keepdim)",
   jvp="drop(var_tangent(self_t, self, dim, correction, keepdim) / (2 * result), result == 0)", holomorphic=False)
op("norm_dim(self, dim, keepdim)", "LinalgVectorNormBackward0",
   self="norm_grad(g, self, result, dim, keepdim)",
   jvp="drop(sum_dim(inner(self_t, self), dim, keepdim) / result, result == 0)", holomorphic=False)
op("logsumexp(self, dim, keepdim=False)", "LogsumexpBackward0",
   self="expand_dims(g, self_shape, dim, keepdim) * exp(self - expand_dims(result, self_shape, dim, keepdim))",
   jvp="sum_dim(self_t * exp(self - expand_dims(result, self_shape, dim, keepdim)), dim, keepdim)")

# ----- softmax and losses -----

op("softmax_dim(self, dim)", "SoftmaxBackward0", self="softmax_grad(g, result, dim)",
   jvp="result * (self_t - sum_dim(self_t * result, dim, True))")
op("log_softmax_dim(self, dim)", "LogSoftmaxBackward0", self="log_softmax_grad(g, result, dim)",
   jvp="self_t - sum_dim(exp(result) * self_t, dim, True)")
linear("nll_loss_raw(self, target, reduction)", "NllLossBackward0",
       "nll_loss_raw_backward(g, target, self_shape, reduction)", target=None, kinds="fc")
op("nll_loss_raw_backward(grad_output, target, shape, reduction)", "NllLossBackwardBackward0",
   grad_output="nll_loss_raw(g, target, reduction)", target=None, jvp="linear")
op("mse_loss_raw(self, target, reduction)", "MseLossBackward0", self="mse_grad(g, self, target, reduction)",
   target="-mse_grad(g, self, target, reduction)", jvp="mse_tangent(self, target, self_t - target_t, reduction)")

# ----- matrices -----

NOT_TWO_MATRICES = "a_self.ndim != 2 or a_mat2.ndim != 2 or (a_self.dtype is not a_mat2.dtype and a_self.dtype != a_mat2.dtype)"
op("mm(self, mat2)", "MmBackward0", self="mm(g, t(mat2))", mat2="mm_left(self, g, mat2_swapped)",
   jvp="mm(self_t, mat2) + mm(self, mat2_t)", unless=(NOT_TWO_MATRICES, "matmul"), bools=False)
op("mv(self, vec)", "MvBackward0", self="ger(g, vec)", vec="mv(t(self), g)", jvp="mv(self_t, vec) + mv(self, vec_t)",
   bools=False)
op("dot(self, tensor)", "DotBackward0", self="g * tensor", tensor="g * self",
   jvp="dot(self_t, tensor) + dot(self, tensor_t)", bools=False)
op("bmm(self, mat2)", "BmmBackward0", self="bmm(g, transpose(mat2, 1, 2))", mat2="bmm(transpose(self, 1, 2), g)",
   jvp="bmm(self_t, mat2) + bmm(self, mat2_t)", bools=False)
op("addmm(self, mat1, mat2)", "AddmmBackward0", alias="self",
   self="sum_to(g, self_shape)", mat1="mm(g, t(mat2))", mat2="mm_left(mat1, g, mat2_swapped)",
   jvp="sum_to(self_t, self_shape) + mm(mat1_t, mat2) + mm(mat1, mat2_t)", bools=False)

# ----- views -----

view("alias(self)", "AliasBackward0", "g")
view("fw_primal(self, level)", "Identity", "g")
view("view(self, shape)", "ViewBackward0", "reshape(g, self_shape)")
view("reshape_alias(self, shape)", "ReshapeAliasBackward0", "reshape(g, self_shape)")
linear("unsafe_view(self, shape)", "UnsafeViewBackward0", "reshape(g, self_shape)", alias="self")
view("expand(self, shape)", "ExpandBackward0", "sum_to(g, self_shape)")
view("t(self)", "TBackward0", "t(g)")
view("transpose(self, dim0, dim1)", "TransposeBackward0", "transpose(g, dim0, dim1)")
view("permute_to(self, dims)", "PermuteBackward0", "permute_to(g, inverse_permutation(dims))")
view("unsqueeze(self, dim)", "UnsqueezeBackward0", "squeeze_dim(g, dim)")
view("squeeze_all(self)", "SqueezeBackward0", "reshape(g, self_shape)")
view("squeeze_dim(self, dim)", "SqueezeBackward1", "reshape(g, self_shape)")
view("select(self, dim, index)", "SelectBackward0", "select_backward(g, self_shape, dim, index)", alias="")
view("slice(self, dim=0, start=None, end=None, step=1)", "SliceBackward0",
     "slice_backward(g, self_shape, dim, start, end, step)", alias="")

# ----- complex numbers -----

op("conj_raw(self)", "ConjPhysicalBackward0", self="conj_raw(g)", jvp="conj_raw(self_t)")
op("conj_copy(self)", "ConjBackward0", self="conj_copy(g)", jvp="conj_copy(self_t)")
op("complex_raw(real, imag)", "ComplexBackward0", real="real_part(g)", imag="imag_part(g)", alias="real imag",
   jvp="complex_raw(real_t, imag_t)", elementwise=True)
op("polar_raw(abs, angle)", "PolarBackward0", abs="inner(g, sgn(result))", angle="inner(g, result * 1j)", elementwise=True,
   jvp="polar_tangent(abs_t, angle_t, abs, angle)", holomorphic=False)
view("view_as_real(self)", "ViewAsRealBackward0", "view_as_complex(contiguous(g))")
view("view_as_complex(self)", "ViewAsComplexBackward0", "view_as_real(g)")

# ----- their transposes, indexing -----

linear("select_backward(self, shape, dim, index)", "SelectBackwardBackward0", "select(g, dim, index)", alias="self")
linear("slice_backward(self, shape, dim, start, end, step)", "SliceBackwardBackward0",
       "slice(g, dim, start, end, step)", alias="self")
linear("index(self, indices)", "IndexBackward0", "index_backward(g, self_shape, indices)")
linear("index_backward(self, shape, indices)", "IndexBackwardBackward0", "index(g, indices)")
op("index_put(self, indices, values, accumulate=False)", "IndexPutBackward0", alias="self",
   self="index_put_grad(g, indices, accumulate)",
   values="sum_to(index(g, indices), values_shape)", scalars={"values": "IndexPutBackward0"},
   jvp="index_put(self_t, indices, values_t, accumulate)", inplace=True)
linear("gather(self, dim, index)", "GatherBackward0", "gather_backward(g, self_shape, dim, index)", index=None)
linear("gather_backward(self, shape, dim, index)", "GatherBackwardBackward0", "gather(g, dim, index)", index=None)
