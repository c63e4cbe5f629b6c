"""Written by scripts/generate_signatures.py: how PyTorch 2.13.0 takes arguments."""

ROWS = """
abs Tensor input, *, Tensor? out=None
abs_ Tensor input
absolute Tensor input, *, Tensor? out=None
acos Tensor input, *, Tensor? out=None
acos_ Tensor input
acosh Tensor input, *, Tensor? out=None
acosh_ Tensor input
adaptive_avg_pool1d Tensor input, int[1] output_size, *, Tensor? out=None
adaptive_max_pool1d Tensor input, int[1] output_size
add Tensor input, Tensor other, *, Scalar alpha=1, Tensor? out=None
addbmm Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None
addcdiv Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor? out=None
addcmul Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor? out=None
addmm Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None
addmm Tensor input, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None
addmv Tensor input, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None
addmv_ Tensor input, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1
addr Tensor input, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None
adjoint Tensor input
affine_grid_generator Tensor theta, SymInt[] size, bool align_corners, *, Tensor? out=None
alias_copy Tensor input, *, Tensor? out=None
all Tensor input, *, Tensor? out=None
all Tensor input, int[]? dim=None, bool keepdim=False, *, Tensor? out=None
all Tensor input, int dim, bool keepdim=False, *, Tensor? out=None
allclose Tensor input, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False
alpha_dropout Tensor input, float p, bool train
alpha_dropout_ Tensor input, float p, bool train
amax Tensor input, int[1] dim=[], bool keepdim=False, *, Tensor? out=None
amin Tensor input, int[1] dim=[], bool keepdim=False, *, Tensor? out=None
aminmax Tensor input, *, int? dim=None, bool keepdim=False
angle Tensor input, *, Tensor? out=None
any Tensor input, *, Tensor? out=None
any Tensor input, int[]? dim=None, bool keepdim=False, *, Tensor? out=None
any Tensor input, int dim, bool keepdim=False, *, Tensor? out=None
arange Scalar end, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
arange Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
arange Scalar start, Scalar end, Scalar step=1, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
arccos Tensor input, *, Tensor? out=None
arccos_ Tensor input
arccosh Tensor input, *, Tensor? out=None
arccosh_ Tensor input
arcsin Tensor input, *, Tensor? out=None
arcsin_ Tensor input
arcsinh Tensor input, *, Tensor? out=None
arcsinh_ Tensor input
arctan Tensor input, *, Tensor? out=None
arctan2 Tensor input, Tensor other, *, Tensor? out=None
arctan_ Tensor input
arctanh Tensor input, *, Tensor? out=None
arctanh_ Tensor input
argmax Tensor input, int? dim=None, bool keepdim=False, *, Tensor? out=None
argmin Tensor input, int? dim=None, bool keepdim=False, *, Tensor? out=None
argsort Tensor input, *, bool stable, int dim=-1, bool descending=False, Tensor? out=None
argsort Tensor input, int dim=-1, bool descending=False
argwhere Tensor input
as_strided Tensor input, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None
as_strided_ Tensor input, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None
as_strided_copy Tensor input, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None, *, Tensor? out=None
as_strided_scatter Tensor input, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None, *, Tensor? out=None
asin Tensor input, *, Tensor? out=None
asin_ Tensor input
asinh Tensor input, *, Tensor? out=None
asinh_ Tensor input
atan Tensor input, *, Tensor? out=None
atan2 Tensor input, Tensor other, *, Tensor? out=None
atan_ Tensor input
atanh Tensor input, *, Tensor? out=None
atanh_ Tensor input
avg_pool1d Tensor input, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True, *, Tensor? out=None
baddbmm Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None
baddbmm Tensor input, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None
bartlett_window int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
bartlett_window int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
batch_norm Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled
bernoulli Tensor input, *, Generator? generator=None, Tensor? out=None
bernoulli Tensor input, float p, *, Generator? generator=None
bilinear Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None
binary_cross_entropy_with_logits Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1, *, Tensor? out=None
bincount Tensor input, Tensor? weights=None, SymInt minlength=0, *, Tensor? out=None
bitwise_and Tensor input, Tensor other, *, Tensor? out=None
bitwise_and Scalar self, Tensor other
bitwise_and Tensor input, Scalar other, *, Tensor? out=None
bitwise_left_shift Tensor input, Tensor other, *, Tensor? out=None
bitwise_left_shift Scalar self, Tensor other
bitwise_left_shift Tensor input, Scalar other, *, Tensor? out=None
bitwise_not Tensor input, *, Tensor? out=None
bitwise_or Tensor input, Tensor other, *, Tensor? out=None
bitwise_or Scalar self, Tensor other
bitwise_or Tensor input, Scalar other, *, Tensor? out=None
bitwise_right_shift Tensor input, Tensor other, *, Tensor? out=None
bitwise_right_shift Scalar self, Tensor other
bitwise_right_shift Tensor input, Scalar other, *, Tensor? out=None
bitwise_xor Tensor input, Tensor other, *, Tensor? out=None
bitwise_xor Scalar self, Tensor other
bitwise_xor Tensor input, Scalar other, *, Tensor? out=None
blackman_window int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
blackman_window int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
bmm Tensor input, Tensor mat2, *, Tensor? out=None
bmm Tensor input, Tensor mat2, ScalarType out_dtype, *, Tensor? out=None
broadcast_to Tensor input, SymInt[] size
bucketize Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor? out=None
bucketize Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False
cat Tensor[] tensors, int dim=0, *, Tensor? out=None
ceil Tensor input, *, Tensor? out=None
ceil_ Tensor input
celu Tensor input, Scalar alpha=1., *, Tensor? out=None
celu_ Tensor input, Scalar alpha=1.
channel_shuffle Tensor input, SymInt groups, *, Tensor? out=None
cholesky Tensor input, bool upper=False, *, Tensor? out=None
cholesky_inverse Tensor input, bool upper=False, *, Tensor? out=None
cholesky_solve Tensor input, Tensor input2, bool upper=False, *, Tensor? out=None
chunk Tensor input, int chunks, int dim=0
clamp Tensor input, Tensor? min=None, Tensor? max=None, *, Tensor? out=None
clamp Tensor input, Scalar? min=None, Scalar? max=None, *, Tensor? out=None
clamp_ Tensor input, Tensor? min=None, Tensor? max=None
clamp_ Tensor input, Scalar? min=None, Scalar? max=None
clamp_max Tensor input, Tensor max, *, Tensor? out=None
clamp_max Tensor input, Scalar max, *, Tensor? out=None
clamp_max_ Tensor input, Tensor max
clamp_max_ Tensor input, Scalar max
clamp_min Tensor input, Tensor min, *, Tensor? out=None
clamp_min Tensor input, Scalar min, *, Tensor? out=None
clamp_min_ Tensor input, Tensor min
clamp_min_ Tensor input, Scalar min
clip Tensor input, Tensor? min=None, Tensor? max=None, *, Tensor? out=None
clip Tensor input, Scalar? min=None, Scalar? max=None, *, Tensor? out=None
clip_ Tensor input, Tensor? min=None, Tensor? max=None
clip_ Tensor input, Scalar? min=None, Scalar? max=None
clone Tensor input, *, MemoryFormat? memory_format=None, Tensor? out=None
column_stack Tensor[] tensors, *, Tensor? out=None
combinations Tensor input, int r=2, bool with_replacement=False
complex Tensor real, Tensor imag, *, Tensor? out=None
concat Tensor[] tensors, int dim=0, *, Tensor? out=None
concatenate Tensor[] tensors, int dim=0, *, Tensor? out=None
conj Tensor input
conj_physical Tensor input, *, Tensor? out=None
conj_physical_ Tensor input
constant_pad_nd Tensor input, SymInt[] pad, Scalar value=0, *, Tensor? out=None
conv1d Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1
conv1d Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding="valid", SymInt[1] dilation=[1], SymInt groups=1
conv2d Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1
conv2d Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding="valid", SymInt[2] dilation=[1, 1], SymInt groups=1
conv3d Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1
conv3d Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding="valid", SymInt[3] dilation=[1, 1, 1], SymInt groups=1
conv_transpose1d Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]
conv_transpose2d Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]
conv_transpose3d Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]
convolution Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, *, Tensor? out=None
copysign Tensor input, Tensor other, *, Tensor? out=None
copysign Tensor input, Scalar other, *, Tensor? out=None
corrcoef Tensor input
cos Tensor input, *, Tensor? out=None
cos_ Tensor input
cosh Tensor input, *, Tensor? out=None
cosh_ Tensor input
cosine_embedding_loss Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1
cosine_similarity Tensor x1, Tensor x2, int dim=1, float eps=1e-08
count_nonzero Tensor input, int? dim=None
count_nonzero Tensor input, int[] dim
cov Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None
cross Tensor input, Tensor other, int? dim=None, *, Tensor? out=None
ctc_loss Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int reduction=1, bool zero_infinity=False
ctc_loss Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int reduction=1, bool zero_infinity=False
cummax Tensor input, int dim
cummin Tensor input, int dim
cumprod Tensor input, int dim, *, ScalarType? dtype=None, Tensor? out=None
cumsum Tensor input, int dim, *, ScalarType? dtype=None, Tensor? out=None
cumulative_trapezoid Tensor y, Tensor x, *, int dim=-1
cumulative_trapezoid Tensor y, *, Scalar dx=1, int dim=-1
deg2rad Tensor input, *, Tensor? out=None
deg2rad_ Tensor input
det Tensor input
detach Tensor input
detach_ Tensor input
detach_copy Tensor input, *, Tensor? out=None
diag Tensor input, int diagonal=0, *, Tensor? out=None
diag_embed Tensor input, int offset=0, int dim1=-2, int dim2=-1, *, Tensor? out=None
diagflat Tensor input, int offset=0
diagonal Tensor input, int offset=0, int dim1=0, int dim2=1
diagonal_copy Tensor input, int offset=0, int dim1=0, int dim2=1, *, Tensor? out=None
diagonal_scatter Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1, *, Tensor? out=None
diff Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor? out=None
digamma Tensor input, *, Tensor? out=None
dist Tensor input, Tensor other, Scalar p=2, *, Tensor? out=None
div Tensor input, Tensor other, *, Tensor? out=None
div Tensor input, Tensor other, *, str? rounding_mode, Tensor? out=None
div Tensor input, Scalar other, *, str? rounding_mode
divide Tensor input, Tensor other, *, Tensor? out=None
divide Tensor input, Tensor other, *, str? rounding_mode, Tensor? out=None
divide Tensor input, Scalar other
divide Tensor input, Scalar other, *, str? rounding_mode
dot Tensor input, Tensor tensor, *, Tensor? out=None
dropout Tensor input, float p, bool train
dropout_ Tensor input, float p, bool train
dsplit Tensor input, int sections
dsplit Tensor input, int[] indices
dstack Tensor[] tensors, *, Tensor? out=None
embedding Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False, *, Tensor? out=None
embedding_renorm_ Tensor input, Tensor indices, float max_norm, float norm_type
empty SymInt[] size, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool? requires_grad=False
empty_like Tensor input, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool? requires_grad=False
empty_permuted SymInt[] size, int[] physical_layout, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
empty_strided SymInt[] size, SymInt[] stride, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
eq Tensor input, Tensor other, *, Tensor? out=None
eq Tensor input, Scalar other, *, Tensor? out=None
equal Tensor input, Tensor other
erf Tensor input, *, Tensor? out=None
erf_ Tensor input
erfc Tensor input, *, Tensor? out=None
erfc_ Tensor input
erfinv Tensor input, *, Tensor? out=None
exp Tensor input, *, Tensor? out=None
exp2 Tensor input, *, Tensor? out=None
exp2_ Tensor input
exp_ Tensor input
expand_copy Tensor input, SymInt[] size, *, bool implicit=False, Tensor? out=None
expm1 Tensor input, *, Tensor? out=None
expm1_ Tensor input
eye int n, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
eye int n, int m, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
feature_alpha_dropout Tensor input, float p, bool train
feature_alpha_dropout_ Tensor input, float p, bool train
feature_dropout Tensor input, float p, bool train
feature_dropout_ Tensor input, float p, bool train
fill Tensor input, Tensor value
fill Tensor input, Scalar value
fill_ Tensor input, Tensor value
fill_ Tensor input, Scalar value
fix Tensor input, *, Tensor? out=None
fix_ Tensor input
flatten Tensor input, int start_dim=0, int end_dim=-1
flip Tensor input, int[] dims, *, Tensor? out=None
fliplr Tensor input
flipud Tensor input
float_power Tensor input, Tensor exponent, *, Tensor? out=None
float_power Scalar self, Tensor exponent, *, Tensor? out=None
float_power Tensor input, Scalar exponent, *, Tensor? out=None
floor Tensor input, *, Tensor? out=None
floor_ Tensor input
floor_divide Tensor input, Tensor other, *, Tensor? out=None
floor_divide Tensor input, Scalar other
fmax Tensor input, Tensor other, *, Tensor? out=None
fmin Tensor input, Tensor other, *, Tensor? out=None
fmod Tensor input, Tensor other, *, Tensor? out=None
fmod Tensor input, Scalar other, *, Tensor? out=None
frac Tensor input, *, Tensor? out=None
frac_ Tensor input
frexp Tensor input
full SymInt[] size, Scalar fill_value, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
full_like Tensor input, Scalar fill_value, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool? requires_grad=False
gather Tensor input, int dim, Tensor index, *, bool sparse_grad=False, Tensor? out=None
gcd Tensor input, Tensor other, *, Tensor? out=None
gcd_ Tensor input, Tensor other
ge Tensor input, Tensor other, *, Tensor? out=None
ge Tensor input, Scalar other, *, Tensor? out=None
geqrf Tensor input
ger Tensor input, Tensor vec2, *, Tensor? out=None
get_default_dtype -
get_device Tensor input
get_num_threads -
gradient Tensor input, *, int[] dim, int edge_order=1
gradient Tensor input, *, Scalar spacing, int[] dim, int edge_order=1
gradient Tensor input, *, Scalar? spacing=None, int? dim=None, int edge_order=1
gradient Tensor input, *, Scalar[] spacing, int? dim=None, int edge_order=1
gradient Tensor input, *, Scalar[] spacing, int[] dim, int edge_order=1
gradient Tensor input, *, Tensor[] spacing, int? dim=None, int edge_order=1
gradient Tensor input, *, Tensor[] spacing, int[] dim, int edge_order=1
greater Tensor input, Tensor other, *, Tensor? out=None
greater Tensor input, Scalar other, *, Tensor? out=None
greater_equal Tensor input, Tensor other, *, Tensor? out=None
greater_equal Tensor input, Scalar other, *, Tensor? out=None
grid_sampler Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners
grid_sampler_2d Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners, *, Tensor? out=None
grid_sampler_3d Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners, *, Tensor? out=None
group_norm Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True
gru_cell Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None
gt Tensor input, Tensor other, *, Tensor? out=None
gt Tensor input, Scalar other, *, Tensor? out=None
hamming_window int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
hamming_window int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
hamming_window int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
hamming_window int window_length, bool periodic, float alpha, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
hann_window int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
hann_window int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
hardshrink Tensor input, Scalar lambd=0.5, *, Tensor? out=None
heaviside Tensor input, Tensor values, *, Tensor? out=None
hinge_embedding_loss Tensor input, Tensor target, float margin=1., int reduction=1
histc Tensor input, int bins=100, Scalar min=0, Scalar max=0, *, Tensor? out=None
histogram Tensor input, Tensor bins, *, Tensor? weight=None, bool density=False, Tensor[]? out=None
histogram Tensor input, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False, Tensor[]? out=None
histogramdd Tensor input, int bins, float[]? range=None, Tensor? weight=None, bool density=False
histogramdd Tensor input, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False
histogramdd Tensor input, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False
hsplit Tensor input, int sections
hsplit Tensor input, int[] indices
hstack Tensor[] tensors, *, Tensor? out=None
hypot Tensor input, Tensor other, *, Tensor? out=None
i0 Tensor input, *, Tensor? out=None
i0_ Tensor input
igamma Tensor input, Tensor other, *, Tensor? out=None
igammac Tensor input, Tensor other, *, Tensor? out=None
imag Tensor input
index_add Tensor input, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor? out=None
index_copy Tensor input, int dim, Tensor index, Tensor source, *, Tensor? out=None
index_fill Tensor input, int dim, Tensor index, Tensor value
index_fill Tensor input, int dim, Tensor index, Scalar value
index_put Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False, *, Tensor? out=None
index_put_ Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False
index_reduce Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, Tensor? out=None
index_select Tensor input, int dim, Tensor index, *, Tensor? out=None
inner Tensor input, Tensor other, *, Tensor? out=None
instance_norm Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled
inverse Tensor input, *, Tensor? out=None
is_anomaly_check_nan_enabled -
is_anomaly_enabled -
is_complex Tensor input
is_conj Tensor input
is_floating_point Tensor input
is_grad_enabled -
is_inference Tensor input
is_inference_mode_enabled -
is_neg Tensor input
is_nonzero Tensor input
is_same_size Tensor input, Tensor other
is_signed Tensor input
isclose Tensor input, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False
isfinite Tensor input
isin Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor? out=None
isin Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor? out=None
isin Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False, Tensor? out=None
isinf Tensor input, *, Tensor? out=None
isnan Tensor input, *, Tensor? out=None
isneginf Tensor input, *, Tensor? out=None
isposinf Tensor input, *, Tensor? out=None
isreal Tensor input
istft Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False
kaiser_window int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
kaiser_window int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
kaiser_window int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
kl_div Tensor input, Tensor target, int reduction=1, *, bool log_target=False
kron Tensor input, Tensor other, *, Tensor? out=None
kthvalue Tensor input, SymInt k, int dim=-1, bool keepdim=False
layer_norm Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True
lcm Tensor input, Tensor other, *, Tensor? out=None
lcm_ Tensor input, Tensor other
ldexp Tensor input, Tensor other, *, Tensor? out=None
ldexp_ Tensor input, Tensor other
le Tensor input, Tensor other, *, Tensor? out=None
le Tensor input, Scalar other, *, Tensor? out=None
lerp Tensor input, Tensor end, Tensor weight, *, Tensor? out=None
lerp Tensor input, Tensor end, Scalar weight, *, Tensor? out=None
less Tensor input, Tensor other, *, Tensor? out=None
less Tensor input, Scalar other, *, Tensor? out=None
less_equal Tensor input, Tensor other, *, Tensor? out=None
less_equal Tensor input, Scalar other, *, Tensor? out=None
lgamma Tensor input, *, Tensor? out=None
linspace Tensor start, Tensor end, int steps, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
linspace Scalar start, Tensor end, int steps, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
linspace Tensor start, Scalar end, int steps, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
linspace Scalar start, Scalar end, int steps, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
log Tensor input, *, Tensor? out=None
log10 Tensor input, *, Tensor? out=None
log10_ Tensor input
log1p Tensor input, *, Tensor? out=None
log1p_ Tensor input
log2 Tensor input, *, Tensor? out=None
log2_ Tensor input
log_ Tensor input
log_softmax Tensor input, int dim, ScalarType? dtype=None, *, Tensor? out=None
logaddexp Tensor input, Tensor other, *, Tensor? out=None
logaddexp2 Tensor input, Tensor other, *, Tensor? out=None
logcumsumexp Tensor input, int dim, *, Tensor? out=None
logdet Tensor input
logical_and Tensor input, Tensor other, *, Tensor? out=None
logical_not Tensor input, *, Tensor? out=None
logical_or Tensor input, Tensor other, *, Tensor? out=None
logical_xor Tensor input, Tensor other, *, Tensor? out=None
logit Tensor input, float? eps=None, *, Tensor? out=None
logit_ Tensor input, float? eps=None
logspace Tensor start, Tensor end, int steps, float base=10.0, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
logspace Scalar start, Tensor end, int steps, float base=10.0, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
logspace Tensor start, Scalar end, int steps, float base=10.0, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
logspace Scalar start, Scalar end, int steps, float base=10.0, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
logsumexp Tensor input, int[1] dim, bool keepdim=False, *, Tensor? out=None
lstm_cell Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None
lt Tensor input, Tensor other, *, Tensor? out=None
lt Tensor input, Scalar other, *, Tensor? out=None
lu_solve Tensor input, Tensor LU_data, Tensor LU_pivots, *, Tensor? out=None
lu_unpack Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True
margin_ranking_loss Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1
masked_fill Tensor input, Tensor mask, Tensor value
masked_fill Tensor input, Tensor mask, Scalar value
masked_scatter Tensor input, Tensor mask, Tensor source, *, Tensor? out=None
masked_select Tensor input, Tensor mask, *, Tensor? out=None
matmul Tensor input, Tensor other, *, Tensor? out=None
matrix_exp Tensor input
matrix_power Tensor input, int n, *, Tensor? out=None
max Tensor input, *, Tensor? out=None
max Tensor input, Tensor other, *, Tensor? out=None
max Tensor input, int dim, bool keepdim=False, *, Tensor[]? out=None
max_pool1d Tensor input, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False
max_pool1d_with_indices Tensor input, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False
max_pool2d Tensor input, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False
max_pool3d Tensor input, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False
maximum Tensor input, Tensor other, *, Tensor? out=None
mean Tensor input, *, ScalarType? dtype=None, Tensor? out=None
mean Tensor input, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
median Tensor input
median Tensor input, int dim, bool keepdim=False, *, Tensor[]? out=None
min Tensor input, *, Tensor? out=None
min Tensor input, Tensor other, *, Tensor? out=None
min Tensor input, int dim, bool keepdim=False, *, Tensor[]? out=None
minimum Tensor input, Tensor other, *, Tensor? out=None
mm Tensor input, Tensor mat2, *, Tensor? out=None
mm Tensor input, Tensor mat2, ScalarType out_dtype, *, Tensor? out=None
mode Tensor input, int dim=-1, bool keepdim=False
moveaxis Tensor input, int source, int destination
moveaxis Tensor input, int[] source, int[] destination
movedim Tensor input, int source, int destination
movedim Tensor input, int[] source, int[] destination
msort Tensor input, *, Tensor? out=None
mul Tensor input, Tensor other, *, Tensor? out=None
multinomial Tensor input, SymInt num_samples, bool replacement=False, *, Generator? generator=None, Tensor? out=None
multiply Tensor input, Tensor other, *, Tensor? out=None
multiply Tensor input, Scalar other
mv Tensor input, Tensor vec, *, Tensor? out=None
mvlgamma Tensor input, int p, *, Tensor? out=None
nan_to_num Tensor input, float? nan=None, float? posinf=None, float? neginf=None, *, Tensor? out=None
nan_to_num_ Tensor input, float? nan=None, float? posinf=None, float? neginf=None
nanmean Tensor input, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
nanmedian Tensor input
nanmedian Tensor input, int dim, bool keepdim=False, *, Tensor[]? out=None
nanquantile Tensor input, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear", Tensor? out=None
nanquantile Tensor input, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear", Tensor? out=None
nansum Tensor input, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
narrow Tensor input, int dim, Tensor start, SymInt length
narrow Tensor input, int dim, SymInt start, SymInt length
narrow_copy Tensor input, int dim, SymInt start, SymInt length, *, Tensor? out=None
native_batch_norm Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, *, Tensor? out=None
native_dropout Tensor input, float p, bool? train, *, Tensor? out=None
native_group_norm Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps, *, Tensor? out=None
native_layer_norm Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps, *, Tensor? out=None
ne Tensor input, Tensor other, *, Tensor? out=None
ne Tensor input, Scalar other, *, Tensor? out=None
neg Tensor input, *, Tensor? out=None
neg_ Tensor input
negative Tensor input, *, Tensor? out=None
negative_ Tensor input
nextafter Tensor input, Tensor other, *, Tensor? out=None
nonzero_static Tensor input, *, SymInt size, int fill_value=-1, Tensor? out=None
normal Tensor mean, Tensor std, *, Generator? generator=None, Tensor? out=None
normal Tensor mean, float std=1., *, Generator? generator=None, Tensor? out=None
normal float mean, Tensor std, *, Generator? generator=None, Tensor? out=None
normal float mean, float std, int[] size, *, Generator? generator=None, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
not_equal Tensor input, Tensor other, *, Tensor? out=None
not_equal Tensor input, Scalar other, *, Tensor? out=None
nuclear_norm Tensor input, int[2] dim, bool keepdim=False, *, Tensor? out=None
nuclear_norm Tensor input, bool keepdim=False, *, Tensor? out=None
numel Tensor input
ones SymInt[] size, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
ones_like Tensor input, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool? requires_grad=False
orgqr Tensor input, Tensor input2, *, Tensor? out=None
ormqr Tensor input, Tensor input2, Tensor input3, bool left=True, bool transpose=False, *, Tensor? out=None
outer Tensor input, Tensor vec2, *, Tensor? out=None
pairwise_distance Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False
pdist Tensor input, float p=2.
permute Tensor input, int[] dims
permute_copy Tensor input, int[] dims, *, Tensor? out=None
pinverse Tensor input, float rcond=1.0000000000000001e-15
pixel_shuffle Tensor input, int upscale_factor, *, Tensor? out=None
pixel_unshuffle Tensor input, int downscale_factor, *, Tensor? out=None
poisson Tensor input, Generator? generator=None, *, Tensor? out=None
poisson_nll_loss Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction
polar Tensor abs, Tensor angle, *, Tensor? out=None
polygamma int n, Tensor input, *, Tensor? out=None
positive Tensor input
pow Tensor input, Tensor exponent, *, Tensor? out=None
pow Scalar self, Tensor exponent, *, Tensor? out=None
pow Tensor input, Scalar exponent, *, Tensor? out=None
prelu Tensor input, Tensor weight
prod Tensor input, *, ScalarType? dtype=None
prod Tensor input, int dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
put Tensor input, Tensor index, Tensor source, bool accumulate=False, *, Tensor? out=None
qr Tensor input, bool some=True
quantile Tensor input, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear", Tensor? out=None
quantile Tensor input, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear", Tensor? out=None
rad2deg Tensor input, *, Tensor? out=None
rad2deg_ Tensor input
rand int[] size, *, Generator? generator, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
rand int[] size, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
rand_like Tensor input, *, Generator? generator, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
rand_like Tensor input, *, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint int high, int[] size, *, Generator? generator, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint int high, int[] size, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint int low, int high, int[] size, *, Generator? generator, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint int low, int high, int[] size, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint_like Tensor input, int low, int high, *, Generator? generator, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint_like Tensor input, int low, int high, *, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint_like Tensor input, Tensor high, *, Generator? generator, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint_like Tensor input, Tensor high, *, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint_like Tensor input, int high, *, Generator? generator, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randint_like Tensor input, int high, *, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randn int[] size, *, Generator? generator, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randn int[] size, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randn_like Tensor input, *, Generator? generator, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randn_like Tensor input, *, MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randperm int n, *, Generator? generator, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
randperm int n, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False
ravel Tensor input
real Tensor input
reciprocal Tensor input, *, Tensor? out=None
reciprocal_ Tensor input
relu Tensor input, *, Tensor? out=None
relu_ Tensor input
remainder Tensor input, Tensor other, *, Tensor? out=None
remainder Scalar self, Tensor other
remainder Tensor input, Scalar other, *, Tensor? out=None
renorm Tensor input, Scalar p, int dim, Scalar maxnorm, *, Tensor? out=None
repeat_interleave Tensor input, Tensor repeats, int? dim=None, *, SymInt? output_size=None
repeat_interleave Tensor repeats, *, SymInt? output_size=None
repeat_interleave Tensor input, SymInt repeats, int? dim=None, *, SymInt? output_size=None
reshape Tensor input, SymInt[] shape
resize_as_ Tensor input, Tensor the_template, *, MemoryFormat? memory_format=None
resolve_conj Tensor input
resolve_neg Tensor input
result_type Tensor tensor, Tensor other
result_type Scalar scalar, Tensor tensor
result_type Tensor tensor, Scalar other
result_type Scalar scalar1, Scalar scalar2
rms_norm Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None
rnn_relu_cell Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None
rnn_tanh_cell Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None
roll Tensor input, SymInt[1] shifts, int[1] dims=[], *, Tensor? out=None
rot90 Tensor input, int k=1, int[] dims=[0, 1], *, Tensor? out=None
round Tensor input, *, Tensor? out=None
round Tensor input, *, int decimals, Tensor? out=None
round_ Tensor input
round_ Tensor input, *, int decimals
row_stack Tensor[] tensors, *, Tensor? out=None
rrelu Tensor input, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None
rrelu_ Tensor input, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None
rsqrt Tensor input, *, Tensor? out=None
rsqrt_ Tensor input
rsub Tensor input, Tensor other, *, Scalar alpha=1
rsub Tensor input, Scalar other, Scalar alpha=1
scalar_tensor Scalar s, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
scatter Tensor input, int dim, Tensor index, Tensor src, *, Tensor? out=None
scatter Tensor input, int dim, Tensor index, Tensor src, *, str reduce, Tensor? out=None
scatter Tensor input, int dim, Tensor index, Scalar value, *, Tensor? out=None
scatter Tensor input, int dim, Tensor index, Scalar value, *, str reduce, Tensor? out=None
scatter_add Tensor input, int dim, Tensor index, Tensor src, *, Tensor? out=None
scatter_reduce Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, Tensor? out=None
searchsorted Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None, Tensor? out=None
searchsorted Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None, Tensor? out=None
segment_reduce Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None, Tensor? out=None
select Tensor input, int dim, SymInt index
select_copy Tensor input, int dim, SymInt index, *, Tensor? out=None
select_scatter Tensor input, Tensor src, int dim, SymInt index, *, Tensor? out=None
selu Tensor input
selu_ Tensor input
sgn Tensor input, *, Tensor? out=None
sigmoid Tensor input, *, Tensor? out=None
sigmoid_ Tensor input
sign Tensor input, *, Tensor? out=None
signbit Tensor input, *, Tensor? out=None
sin Tensor input, *, Tensor? out=None
sin_ Tensor input
sinc Tensor input, *, Tensor? out=None
sinc_ Tensor input
sinh Tensor input, *, Tensor? out=None
sinh_ Tensor input
slice_copy Tensor input, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor? out=None
slice_scatter Tensor input, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor? out=None
slogdet Tensor input
softmax Tensor input, int dim, ScalarType? dtype=None, *, Tensor? out=None
sort Tensor input, *, bool? stable, int dim=-1, bool descending=False, Tensor[]? out=None
sort Tensor input, int dim=-1, bool descending=False, *, Tensor[]? out=None
split_copy Tensor input, SymInt split_size, int dim=0
split_with_sizes Tensor input, SymInt[] split_sizes, int dim=0
split_with_sizes_copy Tensor input, SymInt[] split_sizes, int dim=0
sqrt Tensor input, *, Tensor? out=None
sqrt_ Tensor input
square Tensor input, *, Tensor? out=None
square_ Tensor input
squeeze Tensor input
squeeze Tensor input, int dim
squeeze Tensor input, int[] dim
squeeze_copy Tensor input, *, Tensor? out=None
squeeze_copy Tensor input, int dim, *, Tensor? out=None
squeeze_copy Tensor input, int[] dim, *, Tensor? out=None
stack Tensor[] tensors, int dim=0, *, Tensor? out=None
std Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor? out=None
std Tensor input, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor? out=None
std Tensor input, bool unbiased=True
std_mean Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False
std_mean Tensor input, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False
std_mean Tensor input, bool unbiased=True
sub Tensor input, Tensor other, *, Scalar alpha=1, Tensor? out=None
subtract Tensor input, Tensor other, *, Scalar alpha=1, Tensor? out=None
subtract Tensor input, Scalar other, Scalar alpha=1
sum Tensor input, *, ScalarType? dtype=None
sum Tensor input, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
svd Tensor input, bool some=True, bool compute_uv=True
swapaxes Tensor input, int axis0, int axis1
swapdims Tensor input, int dim0, int dim1
t Tensor input
t_copy Tensor input, *, Tensor? out=None
take Tensor input, Tensor index, *, Tensor? out=None
take_along_dim Tensor input, Tensor indices, int? dim=None, *, Tensor? out=None
tan Tensor input, *, Tensor? out=None
tan_ Tensor input
tanh Tensor input, *, Tensor? out=None
tanh_ Tensor input
tensor_split Tensor input, SymInt[] indices, int dim=0
tensor_split Tensor input, Tensor tensor_indices_or_sections, int dim=0
tensor_split Tensor input, SymInt sections, int dim=0
threshold Tensor input, Scalar threshold, Scalar value, *, Tensor? out=None
threshold_ Tensor input, Scalar threshold, Scalar value
tile Tensor input, SymInt[] dims
topk Tensor input, SymInt k, int dim=-1, bool largest=True, bool sorted=True
trace Tensor input, *, Tensor? out=None
transpose Tensor input, int dim0, int dim1
transpose_copy Tensor input, int dim0, int dim1, *, Tensor? out=None
trapezoid Tensor y, Tensor x, *, int dim=-1
trapezoid Tensor y, *, Scalar dx=1, int dim=-1
trapz Tensor y, *, float dx=1., int dim=-1
trapz Tensor y, Tensor x, *, int dim=-1
triangular_solve Tensor input, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False
tril Tensor input, SymInt diagonal=0, *, Tensor? out=None
tril_indices int row, int col, int offset=0, *, Tensor? out=None, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
triplet_margin_loss Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1
triu Tensor input, SymInt diagonal=0, *, Tensor? out=None
triu_indices int row, int col, int offset=0, *, Tensor? out=None, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
true_divide Tensor input, Tensor other, *, Tensor? out=None
true_divide Tensor input, Scalar other
trunc Tensor input, *, Tensor? out=None
trunc_ Tensor input
unbind Tensor input, int dim=0
unbind_copy Tensor input, int dim=0
unflatten Tensor input, int dim, SymInt[] sizes
unfold_copy Tensor input, int dimension, int size, int step, *, Tensor? out=None
unsafe_chunk Tensor input, int chunks, int dim=0
unsafe_split Tensor input, SymInt split_size, int dim=0
unsafe_split_with_sizes Tensor input, SymInt[] split_sizes, int dim=0
unsqueeze Tensor input, int dim
unsqueeze_copy Tensor input, int dim, *, Tensor? out=None
vander Tensor x, int? N=None, bool increasing=False
var Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor? out=None
var Tensor input, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor? out=None
var Tensor input, bool unbiased=True
var_mean Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False
var_mean Tensor input, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False
var_mean Tensor input, bool unbiased=True
vdot Tensor input, Tensor other, *, Tensor? out=None
view_as_complex Tensor input
view_as_complex_copy Tensor input, *, Tensor? out=None
view_as_real Tensor input
view_as_real_copy Tensor input, *, Tensor? out=None
view_copy Tensor input, ScalarType dtype, *, Tensor? out=None
view_copy Tensor input, SymInt[] size, *, Tensor? out=None
vsplit Tensor input, int sections
vsplit Tensor input, int[] indices
vstack Tensor[] tensors, *, Tensor? out=None
where Tensor condition
where Tensor condition, Tensor input, Tensor other, *, Tensor? out=None
where Tensor condition, Scalar self, Tensor other
where Tensor condition, Tensor input, Scalar other
where Tensor condition, Scalar self, Scalar other
xlogy Tensor input, Tensor other, *, Tensor? out=None
xlogy Scalar self, Tensor other, *, Tensor? out=None
xlogy Tensor input, Scalar other, *, Tensor? out=None
xlogy_ Tensor input, Tensor other
xlogy_ Tensor input, Scalar other
zero_ Tensor input
zeros SymInt[] size, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
zeros_like Tensor input, *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool? requires_grad=False
linalg.cholesky=linalg_cholesky Tensor input, *, bool upper=False, Tensor? out=None
linalg.cholesky_ex=linalg_cholesky_ex Tensor input, *, bool upper=False, bool check_errors=False
linalg.cond=linalg_cond Tensor input, Scalar? p=None, *, Tensor? out=None
linalg.cond=linalg_cond Tensor input, str p, *, Tensor? out=None
linalg.cross=linalg_cross Tensor input, Tensor other, *, int dim=-1, Tensor? out=None
linalg.det=linalg_det Tensor A, *, Tensor? out=None
linalg.diagonal=linalg_diagonal Tensor A, *, int offset=0, int dim1=-2, int dim2=-1
linalg.eig=linalg_eig Tensor input
linalg.eigh=linalg_eigh Tensor input, str UPLO="L"
linalg.eigvals=linalg_eigvals Tensor input, *, Tensor? out=None
linalg.eigvalsh=linalg_eigvalsh Tensor input, str UPLO="L", *, Tensor? out=None
linalg.householder_product=linalg_householder_product Tensor input, Tensor tau, *, Tensor? out=None
linalg.inv=linalg_inv Tensor A, *, Tensor? out=None
linalg.inv_ex=linalg_inv_ex Tensor A, *, bool check_errors=False
linalg.ldl_factor=linalg_ldl_factor Tensor input, *, bool hermitian=False
linalg.ldl_factor_ex=linalg_ldl_factor_ex Tensor input, *, bool hermitian=False, bool check_errors=False
linalg.ldl_solve=linalg_ldl_solve Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False, Tensor? out=None
linalg.lstsq=linalg_lstsq Tensor input, Tensor b, float? rcond=None, *, str? driver=None
linalg.lu=linalg_lu Tensor A, *, bool pivot=True
linalg.lu_factor=linalg_lu_factor Tensor A, *, bool pivot=True
linalg.lu_factor_ex=linalg_lu_factor_ex Tensor A, *, bool pivot=True, bool check_errors=False
linalg.lu_solve=linalg_lu_solve Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor? out=None
linalg.matmul=linalg_matmul Tensor input, Tensor other, *, Tensor? out=None
linalg.matrix_exp=linalg_matrix_exp Tensor input, *, Tensor? out=None
linalg.matrix_norm=linalg_matrix_norm Tensor input, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
linalg.matrix_norm=linalg_matrix_norm Tensor input, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
linalg.matrix_power=linalg_matrix_power Tensor input, int n, *, Tensor? out=None
linalg.matrix_rank=linalg_matrix_rank Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor? out=None
linalg.matrix_rank=linalg_matrix_rank Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor? out=None
linalg.matrix_rank=linalg_matrix_rank Tensor input, Tensor tol, bool hermitian=False, *, Tensor? out=None
linalg.matrix_rank=linalg_matrix_rank Tensor input, float tol, bool hermitian=False, *, Tensor? out=None
linalg.multi_dot=linalg_multi_dot Tensor[] tensors, *, Tensor? out=None
linalg.norm=linalg_norm Tensor input, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
linalg.norm=linalg_norm Tensor input, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
linalg.pinv=linalg_pinv Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor? out=None
linalg.pinv=linalg_pinv Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor? out=None
linalg.pinv=linalg_pinv Tensor input, Tensor rcond, bool hermitian=False, *, Tensor? out=None
linalg.pinv=linalg_pinv Tensor input, float rcond, bool hermitian=False, *, Tensor? out=None
linalg.qr=linalg_qr Tensor A, str mode="reduced"
linalg.slogdet=linalg_slogdet Tensor A
linalg.solve=linalg_solve Tensor A, Tensor B, *, bool left=True, Tensor? out=None
linalg.solve_ex=linalg_solve_ex Tensor A, Tensor B, *, bool left=True, bool check_errors=False
linalg.solve_triangular=linalg_solve_triangular Tensor input, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, Tensor? out=None
linalg.svd=linalg_svd Tensor A, bool full_matrices=True, *, str? driver=None
linalg.svdvals=linalg_svdvals Tensor A, *, str? driver=None, Tensor? out=None
linalg.tensorinv=linalg_tensorinv Tensor input, int ind=2, *, Tensor? out=None
linalg.tensorsolve=linalg_tensorsolve Tensor input, Tensor other, int[]? dims=None, *, Tensor? out=None
linalg.vander=linalg_vander Tensor x, *, SymInt? N=None
linalg.vecdot=linalg_vecdot Tensor x, Tensor y, *, int dim=-1, Tensor? out=None
linalg.vector_norm=linalg_vector_norm Tensor input, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None
fft.fft=fft_fft Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None
fft.fft2=fft_fft2 Tensor input, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor? out=None
fft.fftfreq=fft_fftfreq int n, float d=1., *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
fft.fftn=fft_fftn Tensor input, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None
fft.fftshift=fft_fftshift Tensor input, int[1]? dim=None
fft.hfft=fft_hfft Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None
fft.hfft2=fft_hfft2 Tensor input, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor? out=None
fft.hfftn=fft_hfftn Tensor input, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None
fft.ifft=fft_ifft Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None
fft.ifft2=fft_ifft2 Tensor input, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor? out=None
fft.ifftn=fft_ifftn Tensor input, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None
fft.ifftshift=fft_ifftshift Tensor input, int[1]? dim=None
fft.ihfft=fft_ihfft Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None
fft.ihfft2=fft_ihfft2 Tensor input, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor? out=None
fft.ihfftn=fft_ihfftn Tensor input, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None
fft.irfft=fft_irfft Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None
fft.irfft2=fft_irfft2 Tensor input, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor? out=None
fft.irfftn=fft_irfftn Tensor input, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None
fft.rfft=fft_rfft Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None
fft.rfft2=fft_rfft2 Tensor input, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor? out=None
fft.rfftfreq=fft_rfftfreq int n, float d=1., *, Tensor? out=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
fft.rfftn=fft_rfftn Tensor input, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None
special.airy_ai=special_airy_ai Tensor x, *, Tensor? out=None
special.bessel_j0=special_bessel_j0 Tensor input, *, Tensor? out=None
special.bessel_j1=special_bessel_j1 Tensor input, *, Tensor? out=None
special.bessel_y0=special_bessel_y0 Tensor input, *, Tensor? out=None
special.bessel_y1=special_bessel_y1 Tensor input, *, Tensor? out=None
special.chebyshev_polynomial_t=special_chebyshev_polynomial_t Tensor x, Tensor n, *, Tensor? out=None
special.chebyshev_polynomial_t=special_chebyshev_polynomial_t Scalar x, Tensor n, *, Tensor? out=None
special.chebyshev_polynomial_t=special_chebyshev_polynomial_t Tensor x, Scalar n, *, Tensor? out=None
special.chebyshev_polynomial_u=special_chebyshev_polynomial_u Tensor x, Tensor n, *, Tensor? out=None
special.chebyshev_polynomial_u=special_chebyshev_polynomial_u Scalar x, Tensor n, *, Tensor? out=None
special.chebyshev_polynomial_u=special_chebyshev_polynomial_u Tensor x, Scalar n, *, Tensor? out=None
special.chebyshev_polynomial_v=special_chebyshev_polynomial_v Tensor x, Tensor n, *, Tensor? out=None
special.chebyshev_polynomial_v=special_chebyshev_polynomial_v Scalar x, Tensor n, *, Tensor? out=None
special.chebyshev_polynomial_v=special_chebyshev_polynomial_v Tensor x, Scalar n, *, Tensor? out=None
special.chebyshev_polynomial_w=special_chebyshev_polynomial_w Tensor x, Tensor n, *, Tensor? out=None
special.chebyshev_polynomial_w=special_chebyshev_polynomial_w Scalar x, Tensor n, *, Tensor? out=None
special.chebyshev_polynomial_w=special_chebyshev_polynomial_w Tensor x, Scalar n, *, Tensor? out=None
special.digamma=special_digamma Tensor input, *, Tensor? out=None
special.entr=special_entr Tensor input, *, Tensor? out=None
special.erf=special_erf Tensor input, *, Tensor? out=None
special.erfc=special_erfc Tensor input, *, Tensor? out=None
special.erfcx=special_erfcx Tensor input, *, Tensor? out=None
special.erfinv=special_erfinv Tensor input, *, Tensor? out=None
special.exp2=special_exp2 Tensor input, *, Tensor? out=None
special.expit=special_expit Tensor input, *, Tensor? out=None
special.expm1=special_expm1 Tensor input, *, Tensor? out=None
special.gammainc=special_gammainc Tensor input, Tensor other, *, Tensor? out=None
special.gammaincc=special_gammaincc Tensor input, Tensor other, *, Tensor? out=None
special.gammaln=special_gammaln Tensor input, *, Tensor? out=None
special.hermite_polynomial_h=special_hermite_polynomial_h Tensor x, Tensor n, *, Tensor? out=None
special.hermite_polynomial_h=special_hermite_polynomial_h Scalar x, Tensor n, *, Tensor? out=None
special.hermite_polynomial_h=special_hermite_polynomial_h Tensor x, Scalar n, *, Tensor? out=None
special.hermite_polynomial_he=special_hermite_polynomial_he Tensor x, Tensor n, *, Tensor? out=None
special.hermite_polynomial_he=special_hermite_polynomial_he Scalar x, Tensor n, *, Tensor? out=None
special.hermite_polynomial_he=special_hermite_polynomial_he Tensor x, Scalar n, *, Tensor? out=None
special.i0=special_i0 Tensor input, *, Tensor? out=None
special.i0e=special_i0e Tensor input, *, Tensor? out=None
special.i1=special_i1 Tensor input, *, Tensor? out=None
special.i1e=special_i1e Tensor input, *, Tensor? out=None
special.laguerre_polynomial_l=special_laguerre_polynomial_l Tensor x, Tensor n, *, Tensor? out=None
special.laguerre_polynomial_l=special_laguerre_polynomial_l Scalar x, Tensor n, *, Tensor? out=None
special.laguerre_polynomial_l=special_laguerre_polynomial_l Tensor x, Scalar n, *, Tensor? out=None
special.legendre_polynomial_p=special_legendre_polynomial_p Tensor x, Tensor n, *, Tensor? out=None
special.legendre_polynomial_p=special_legendre_polynomial_p Scalar x, Tensor n, *, Tensor? out=None
special.legendre_polynomial_p=special_legendre_polynomial_p Tensor x, Scalar n, *, Tensor? out=None
special.log1p=special_log1p Tensor input, *, Tensor? out=None
special.log_ndtr=special_log_ndtr Tensor input, *, Tensor? out=None
special.log_softmax=special_log_softmax Tensor input, int dim, *, ScalarType? dtype=None
special.logit=special_logit Tensor input, float? eps=None, *, Tensor? out=None
special.logsumexp=special_logsumexp Tensor input, int[1] dim, bool keepdim=False, *, Tensor? out=None
special.modified_bessel_i0=special_modified_bessel_i0 Tensor input, *, Tensor? out=None
special.modified_bessel_i1=special_modified_bessel_i1 Tensor input, *, Tensor? out=None
special.modified_bessel_k0=special_modified_bessel_k0 Tensor input, *, Tensor? out=None
special.modified_bessel_k1=special_modified_bessel_k1 Tensor input, *, Tensor? out=None
special.multigammaln=special_multigammaln Tensor input, int p, *, Tensor? out=None
special.ndtr=special_ndtr Tensor input, *, Tensor? out=None
special.ndtri=special_ndtri Tensor input, *, Tensor? out=None
special.polygamma=special_polygamma int n, Tensor input, *, Tensor? out=None
special.psi=special_psi Tensor input, *, Tensor? out=None
special.round=special_round Tensor input, *, int decimals=0, Tensor? out=None
special.scaled_modified_bessel_k0=special_scaled_modified_bessel_k0 Tensor x, *, Tensor? out=None
special.scaled_modified_bessel_k1=special_scaled_modified_bessel_k1 Tensor x, *, Tensor? out=None
special.shifted_chebyshev_polynomial_t=special_shifted_chebyshev_polynomial_t Tensor x, Tensor n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_t=special_shifted_chebyshev_polynomial_t Scalar x, Tensor n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_t=special_shifted_chebyshev_polynomial_t Tensor x, Scalar n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_u=special_shifted_chebyshev_polynomial_u Tensor x, Tensor n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_u=special_shifted_chebyshev_polynomial_u Scalar x, Tensor n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_u=special_shifted_chebyshev_polynomial_u Tensor x, Scalar n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_v=special_shifted_chebyshev_polynomial_v Tensor x, Tensor n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_v=special_shifted_chebyshev_polynomial_v Scalar x, Tensor n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_v=special_shifted_chebyshev_polynomial_v Tensor x, Scalar n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_w=special_shifted_chebyshev_polynomial_w Tensor x, Tensor n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_w=special_shifted_chebyshev_polynomial_w Scalar x, Tensor n, *, Tensor? out=None
special.shifted_chebyshev_polynomial_w=special_shifted_chebyshev_polynomial_w Tensor x, Scalar n, *, Tensor? out=None
special.sinc=special_sinc Tensor input, *, Tensor? out=None
special.softmax=special_softmax Tensor input, int dim, ScalarType? dtype=None
special.spherical_bessel_j0=special_spherical_bessel_j0 Tensor x, *, Tensor? out=None
special.xlog1py=special_xlog1py Tensor input, Tensor other, *, Tensor? out=None
special.xlog1py=special_xlog1py Scalar self, Tensor other, *, Tensor? out=None
special.xlog1py=special_xlog1py Tensor input, Scalar other, *, Tensor? out=None
special.xlogy=special_xlogy Tensor input, Tensor other, *, Tensor? out=None
special.xlogy=special_xlogy Scalar self, Tensor other, *, Tensor? out=None
special.xlogy=special_xlogy Tensor input, Scalar other, *, Tensor? out=None
special.zeta=special_zeta Tensor input, Tensor other, *, Tensor? out=None
special.zeta=special_zeta Scalar self, Tensor other, *, Tensor? out=None
special.zeta=special_zeta Tensor input, Scalar other, *, Tensor? out=None
nn.functional.adaptive_avg_pool1d Tensor input, int[1] output_size, *, Tensor? out=None
nn.functional.avg_pool1d Tensor input, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True, *, Tensor? out=None
nn.functional.avg_pool2d Tensor input, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None, *, Tensor? out=None
nn.functional.avg_pool3d Tensor input, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None, *, Tensor? out=None
nn.functional.bilinear Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None
nn.functional.celu_ Tensor input, Scalar alpha=1.
nn.functional.channel_shuffle Tensor input, SymInt groups, *, Tensor? out=None
nn.functional.conv1d Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1
nn.functional.conv1d Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding="valid", SymInt[1] dilation=[1], SymInt groups=1
nn.functional.conv2d Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1
nn.functional.conv2d Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding="valid", SymInt[2] dilation=[1, 1], SymInt groups=1
nn.functional.conv3d Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1
nn.functional.conv3d Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding="valid", SymInt[3] dilation=[1, 1, 1], SymInt groups=1
nn.functional.conv_transpose1d Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]
nn.functional.conv_transpose2d Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]
nn.functional.conv_transpose3d Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]
nn.functional.cosine_similarity Tensor x1, Tensor x2, int dim=1, float eps=1e-08
nn.functional.elu_ Tensor input, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1
nn.functional.gelu Tensor input, *, str approximate="none", Tensor? out=None
nn.functional.hardshrink Tensor input, Scalar lambd=0.5, *, Tensor? out=None
nn.functional.hardtanh_ Tensor input, Scalar min_val=-1, Scalar max_val=1
nn.functional.leaky_relu_ Tensor input, Scalar negative_slope=0.01
nn.functional.linear Tensor input, Tensor weight, Tensor? bias=None, *, Tensor? out=None
nn.functional.logsigmoid=log_sigmoid Tensor input, *, Tensor? out=None
nn.functional.one_hot Tensor input, int num_classes=-1
nn.functional.pairwise_distance Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False
nn.functional.pdist Tensor input, float p=2.
nn.functional.pixel_shuffle Tensor input, int upscale_factor, *, Tensor? out=None
nn.functional.pixel_unshuffle Tensor input, int downscale_factor, *, Tensor? out=None
nn.functional.prelu Tensor input, Tensor weight
nn.functional.relu_ Tensor input
nn.functional.rrelu_ Tensor input, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None
nn.functional.scaled_dot_product_attention Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False
nn.functional.selu_ Tensor input
nn.functional.softplus Tensor input, Scalar beta=1, Scalar threshold=20, *, Tensor? out=None
nn.functional.softshrink Tensor input, Scalar lambd=0.5, *, Tensor? out=None
nn.functional.threshold_ Tensor input, Scalar threshold, Scalar value
Tensor.abs -
Tensor.abs_ -
Tensor.absolute -
Tensor.absolute_ -
Tensor.acos -
Tensor.acos_ -
Tensor.acosh -
Tensor.acosh_ -
Tensor.add Tensor other, *, Scalar alpha=1
Tensor.add_ Tensor other, *, Scalar alpha=1
Tensor.addbmm Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1
Tensor.addbmm_ Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1
Tensor.addcdiv Tensor tensor1, Tensor tensor2, *, Scalar value=1
Tensor.addcdiv_ Tensor tensor1, Tensor tensor2, *, Scalar value=1
Tensor.addcmul Tensor tensor1, Tensor tensor2, *, Scalar value=1
Tensor.addcmul_ Tensor tensor1, Tensor tensor2, *, Scalar value=1
Tensor.addmm Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1
Tensor.addmm_ Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1
Tensor.addmv Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1
Tensor.addmv_ Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1
Tensor.addr Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1
Tensor.addr_ Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1
Tensor.adjoint -
Tensor.all 
Tensor.all int[]? dim=None, bool keepdim=False
Tensor.all int dim, bool keepdim=False
Tensor.allclose Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False
Tensor.amax int[1] dim=[], bool keepdim=False
Tensor.amin int[1] dim=[], bool keepdim=False
Tensor.aminmax *, int? dim=None, bool keepdim=False
Tensor.angle -
Tensor.any 
Tensor.any int[]? dim=None, bool keepdim=False
Tensor.any int dim, bool keepdim=False
Tensor.arccos -
Tensor.arccos_ -
Tensor.arccosh -
Tensor.arccosh_ -
Tensor.arcsin -
Tensor.arcsin_ -
Tensor.arcsinh -
Tensor.arcsinh_ -
Tensor.arctan -
Tensor.arctan2 Tensor other
Tensor.arctan2_ Tensor other
Tensor.arctan_ -
Tensor.arctanh -
Tensor.arctanh_ -
Tensor.argmax int? dim=None, bool keepdim=False
Tensor.argmin int? dim=None, bool keepdim=False
Tensor.argsort *, bool stable, int dim=-1, bool descending=False
Tensor.argsort int dim=-1, bool descending=False
Tensor.argwhere -
Tensor.as_strided SymInt[] size, SymInt[] stride, SymInt? storage_offset=None
Tensor.as_strided_ SymInt[] size, SymInt[] stride, SymInt? storage_offset=None
Tensor.as_strided_scatter Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None
Tensor.asin -
Tensor.asin_ -
Tensor.asinh -
Tensor.asinh_ -
Tensor.atan -
Tensor.atan2 Tensor other
Tensor.atan2_ Tensor other
Tensor.atan_ -
Tensor.atanh -
Tensor.atanh_ -
Tensor.baddbmm Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1
Tensor.baddbmm_ Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1
Tensor.bernoulli *, Generator? generator=None
Tensor.bernoulli float p, *, Generator? generator=None
Tensor.bernoulli_ Tensor p, *, Generator? generator=None
Tensor.bernoulli_ float p=0.5, *, Generator? generator=None
Tensor.bincount Tensor? weights=None, SymInt minlength=0
Tensor.bitwise_and Tensor other
Tensor.bitwise_and Scalar other
Tensor.bitwise_and_ Tensor other
Tensor.bitwise_and_ Scalar other
Tensor.bitwise_left_shift Tensor other
Tensor.bitwise_left_shift Scalar other
Tensor.bitwise_left_shift_ Tensor other
Tensor.bitwise_left_shift_ Scalar other
Tensor.bitwise_not -
Tensor.bitwise_not_ -
Tensor.bitwise_or Tensor other
Tensor.bitwise_or Scalar other
Tensor.bitwise_or_ Tensor other
Tensor.bitwise_or_ Scalar other
Tensor.bitwise_right_shift Tensor other
Tensor.bitwise_right_shift Scalar other
Tensor.bitwise_right_shift_ Tensor other
Tensor.bitwise_right_shift_ Scalar other
Tensor.bitwise_xor Tensor other
Tensor.bitwise_xor Scalar other
Tensor.bitwise_xor_ Tensor other
Tensor.bitwise_xor_ Scalar other
Tensor.bmm Tensor mat2
Tensor.broadcast_to SymInt[] size
Tensor.cauchy_ float median=0., float sigma=1., *, Generator? generator=None
Tensor.ccol_indices -
Tensor.ceil -
Tensor.ceil_ -
Tensor.chalf *, MemoryFormat? memory_format=None
Tensor.cholesky bool upper=False
Tensor.cholesky_inverse bool upper=False
Tensor.cholesky_solve Tensor input2, bool upper=False
Tensor.chunk int chunks, int dim=0
Tensor.clamp Tensor? min=None, Tensor? max=None
Tensor.clamp Scalar? min=None, Scalar? max=None
Tensor.clamp_ Tensor? min=None, Tensor? max=None
Tensor.clamp_ Scalar? min=None, Scalar? max=None
Tensor.clamp_max Tensor max
Tensor.clamp_max Scalar max
Tensor.clamp_max_ Tensor max
Tensor.clamp_max_ Scalar max
Tensor.clamp_min Tensor min
Tensor.clamp_min Scalar min
Tensor.clamp_min_ Tensor min
Tensor.clamp_min_ Scalar min
Tensor.clip Tensor? min=None, Tensor? max=None
Tensor.clip Scalar? min=None, Scalar? max=None
Tensor.clip_ Tensor? min=None, Tensor? max=None
Tensor.clip_ Scalar? min=None, Scalar? max=None
Tensor.clone *, MemoryFormat? memory_format=None
Tensor.coalesce -
Tensor.col_indices -
Tensor.conj -
Tensor.conj_physical -
Tensor.conj_physical_ -
Tensor.const_data_ptr -
Tensor.copysign Tensor other
Tensor.copysign Scalar other
Tensor.copysign_ Tensor other
Tensor.copysign_ Scalar other
Tensor.corrcoef -
Tensor.cos -
Tensor.cos_ -
Tensor.cosh -
Tensor.cosh_ -
Tensor.count_nonzero int? dim=None
Tensor.count_nonzero int[] dim
Tensor.cov *, int correction=1, Tensor? fweights=None, Tensor? aweights=None
Tensor.cross Tensor other, int? dim=None
Tensor.crow_indices -
Tensor.cuda Device? device=None, bool non_blocking=False, *, MemoryFormat? memory_format=None
Tensor.cummax int dim
Tensor.cummin int dim
Tensor.cumprod int dim, *, ScalarType? dtype=None
Tensor.cumprod_ int dim, *, ScalarType? dtype=None
Tensor.cumsum int dim, *, ScalarType? dtype=None
Tensor.cumsum_ int dim, *, ScalarType? dtype=None
Tensor.deg2rad -
Tensor.deg2rad_ -
Tensor.dense_dim -
Tensor.dequantize -
Tensor.det -
Tensor.detach -
Tensor.detach_ -
Tensor.diag int diagonal=0
Tensor.diag_embed int offset=0, int dim1=-2, int dim2=-1
Tensor.diagflat int offset=0
Tensor.diagonal int offset=0, int dim1=0, int dim2=1
Tensor.diagonal_scatter Tensor src, int offset=0, int dim1=0, int dim2=1
Tensor.diff int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None
Tensor.digamma -
Tensor.digamma_ -
Tensor.dim -
Tensor.dist Tensor other, Scalar p=2
Tensor.div Tensor other
Tensor.div Tensor other, *, str? rounding_mode
Tensor.div Scalar other, *, str? rounding_mode
Tensor.div_ Tensor other
Tensor.div_ Tensor other, *, str? rounding_mode
Tensor.div_ Scalar other, *, str? rounding_mode
Tensor.divide Tensor other
Tensor.divide Tensor other, *, str? rounding_mode
Tensor.divide Scalar other
Tensor.divide Scalar other, *, str? rounding_mode
Tensor.divide_ Tensor other
Tensor.divide_ Tensor other, *, str? rounding_mode
Tensor.divide_ Scalar other
Tensor.divide_ Scalar other, *, str? rounding_mode
Tensor.dot Tensor tensor
Tensor.dsplit int sections
Tensor.dsplit int[] indices
Tensor.element_size -
Tensor.eq Tensor other
Tensor.eq Scalar other
Tensor.eq_ Tensor other
Tensor.eq_ Scalar other
Tensor.equal Tensor other
Tensor.erf -
Tensor.erf_ -
Tensor.erfc -
Tensor.erfc_ -
Tensor.erfinv -
Tensor.erfinv_ -
Tensor.exp -
Tensor.exp2 -
Tensor.exp2_ -
Tensor.exp_ -
Tensor.expand SymInt[] size, *, bool implicit=False
Tensor.expand_as Tensor other
Tensor.expm1 -
Tensor.expm1_ -
Tensor.exponential_ float lambd=1., *, Generator? generator=None
Tensor.fill_ Tensor value
Tensor.fill_ Scalar value
Tensor.fill_diagonal_ Scalar fill_value, bool wrap=False
Tensor.fix -
Tensor.fix_ -
Tensor.flatten int start_dim=0, int end_dim=-1
Tensor.flip int[] dims
Tensor.fliplr -
Tensor.flipud -
Tensor.float_power Tensor exponent
Tensor.float_power Scalar exponent
Tensor.float_power_ Tensor exponent
Tensor.float_power_ Scalar exponent
Tensor.floor -
Tensor.floor_ -
Tensor.floor_divide Tensor other
Tensor.floor_divide Scalar other
Tensor.floor_divide_ Tensor other
Tensor.floor_divide_ Scalar other
Tensor.fmax Tensor other
Tensor.fmin Tensor other
Tensor.fmod Tensor other
Tensor.fmod Scalar other
Tensor.fmod_ Tensor other
Tensor.fmod_ Scalar other
Tensor.frac -
Tensor.frac_ -
Tensor.frexp -
Tensor.gather int dim, Tensor index, *, bool sparse_grad=False
Tensor.gcd Tensor other
Tensor.gcd_ Tensor other
Tensor.ge Tensor other
Tensor.ge Scalar other
Tensor.ge_ Tensor other
Tensor.ge_ Scalar other
Tensor.geometric_ float p, *, Generator? generator=None
Tensor.geqrf -
Tensor.ger Tensor vec2
Tensor.get_device -
Tensor.greater Tensor other
Tensor.greater Scalar other
Tensor.greater_ Tensor other
Tensor.greater_ Scalar other
Tensor.greater_equal Tensor other
Tensor.greater_equal Scalar other
Tensor.greater_equal_ Tensor other
Tensor.greater_equal_ Scalar other
Tensor.gt Tensor other
Tensor.gt Scalar other
Tensor.gt_ Tensor other
Tensor.gt_ Scalar other
Tensor.hardshrink Scalar lambd=0.5
Tensor.hash_tensor int[1] dim=[], *, bool keepdim=False, int mode=0
Tensor.heaviside Tensor values
Tensor.heaviside_ Tensor values
Tensor.histc int bins=100, Scalar min=0, Scalar max=0
Tensor.histogram Tensor bins, *, Tensor? weight=None, bool density=False
Tensor.histogram int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False
Tensor.hsplit int sections
Tensor.hsplit int[] indices
Tensor.hypot Tensor other
Tensor.hypot_ Tensor other
Tensor.i0 -
Tensor.i0_ -
Tensor.igamma Tensor other
Tensor.igamma_ Tensor other
Tensor.igammac Tensor other
Tensor.igammac_ Tensor other
Tensor.index_add int dim, Tensor index, Tensor source, *, Scalar alpha=1
Tensor.index_add_ int dim, Tensor index, Tensor source, *, Scalar alpha=1
Tensor.index_copy int dim, Tensor index, Tensor source
Tensor.index_copy_ int dim, Tensor index, Tensor source
Tensor.index_fill int dim, Tensor index, Tensor value
Tensor.index_fill int dim, Tensor index, Scalar value
Tensor.index_fill_ int dim, Tensor index, Tensor value
Tensor.index_fill_ int dim, Tensor index, Scalar value
Tensor.index_put Tensor?[] indices, Tensor values, bool accumulate=False
Tensor.index_put_ Tensor?[] indices, Tensor values, bool accumulate=False
Tensor.index_reduce int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True
Tensor.index_reduce_ int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True
Tensor.index_select int dim, Tensor index
Tensor.inner Tensor other
Tensor.int_repr -
Tensor.inverse -
Tensor.ipu Device? device=None, bool non_blocking=False, *, MemoryFormat? memory_format=None
Tensor.is_coalesced -
Tensor.is_complex -
Tensor.is_conj -
Tensor.is_floating_point -
Tensor.is_inference -
Tensor.is_neg -
Tensor.is_nonzero -
Tensor.is_pinned Device? device=None
Tensor.is_same_size Tensor other
Tensor.is_set_to Tensor tensor
Tensor.is_signed -
Tensor.isclose Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False
Tensor.isfinite -
Tensor.isinf -
Tensor.isnan -
Tensor.isneginf -
Tensor.isposinf -
Tensor.isreal -
Tensor.kron Tensor other
Tensor.kthvalue SymInt k, int dim=-1, bool keepdim=False
Tensor.lcm Tensor other
Tensor.lcm_ Tensor other
Tensor.ldexp Tensor other
Tensor.ldexp_ Tensor other
Tensor.le Tensor other
Tensor.le Scalar other
Tensor.le_ Tensor other
Tensor.le_ Scalar other
Tensor.lerp Tensor end, Tensor weight
Tensor.lerp Tensor end, Scalar weight
Tensor.lerp_ Tensor end, Tensor weight
Tensor.lerp_ Tensor end, Scalar weight
Tensor.less Tensor other
Tensor.less Scalar other
Tensor.less_ Tensor other
Tensor.less_ Scalar other
Tensor.less_equal Tensor other
Tensor.less_equal Scalar other
Tensor.less_equal_ Tensor other
Tensor.less_equal_ Scalar other
Tensor.lgamma -
Tensor.lgamma_ -
Tensor.log -
Tensor.log10 -
Tensor.log10_ -
Tensor.log1p -
Tensor.log1p_ -
Tensor.log2 -
Tensor.log2_ -
Tensor.log_ -
Tensor.log_normal_ float mean=1., float std=2., *, Generator? generator=None
Tensor.log_softmax int dim, ScalarType? dtype=None
Tensor.logaddexp Tensor other
Tensor.logaddexp2 Tensor other
Tensor.logcumsumexp int dim
Tensor.logdet -
Tensor.logical_and Tensor other
Tensor.logical_and_ Tensor other
Tensor.logical_not -
Tensor.logical_not_ -
Tensor.logical_or Tensor other
Tensor.logical_or_ Tensor other
Tensor.logical_xor Tensor other
Tensor.logical_xor_ Tensor other
Tensor.logit float? eps=None
Tensor.logit_ float? eps=None
Tensor.logsumexp int[1] dim, bool keepdim=False
Tensor.lt Tensor other
Tensor.lt Scalar other
Tensor.lt_ Tensor other
Tensor.lt_ Scalar other
Tensor.lu_solve Tensor LU_data, Tensor LU_pivots
Tensor.masked_fill Tensor mask, Tensor value
Tensor.masked_fill Tensor mask, Scalar value
Tensor.masked_fill_ Tensor mask, Tensor value
Tensor.masked_fill_ Tensor mask, Scalar value
Tensor.masked_scatter Tensor mask, Tensor source
Tensor.masked_scatter_ Tensor mask, Tensor source
Tensor.masked_select Tensor mask
Tensor.matmul Tensor other
Tensor.matrix_exp -
Tensor.matrix_power int n
Tensor.max 
Tensor.max Tensor other
Tensor.max int dim, bool keepdim=False
Tensor.maximum Tensor other
Tensor.mean *, ScalarType? dtype=None
Tensor.mean int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None
Tensor.median 
Tensor.median int dim, bool keepdim=False
Tensor.min 
Tensor.min Tensor other
Tensor.min int dim, bool keepdim=False
Tensor.minimum Tensor other
Tensor.mm Tensor mat2
Tensor.mode int dim=-1, bool keepdim=False
Tensor.moveaxis int source, int destination
Tensor.moveaxis int[] source, int[] destination
Tensor.movedim int source, int destination
Tensor.movedim int[] source, int[] destination
Tensor.msort -
Tensor.mtia Device? device=None, bool non_blocking=False, *, MemoryFormat? memory_format=None
Tensor.mul Tensor other
Tensor.mul_ Tensor other
Tensor.multinomial SymInt num_samples, bool replacement=False, *, Generator? generator=None
Tensor.multiply Tensor other
Tensor.multiply Scalar other
Tensor.multiply_ Tensor other
Tensor.multiply_ Scalar other
Tensor.mv Tensor vec
Tensor.mvlgamma int p
Tensor.mvlgamma_ int p
Tensor.nan_to_num float? nan=None, float? posinf=None, float? neginf=None
Tensor.nan_to_num_ float? nan=None, float? posinf=None, float? neginf=None
Tensor.nanmean int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None
Tensor.nanmedian 
Tensor.nanmedian int dim, bool keepdim=False
Tensor.nanquantile Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear"
Tensor.nanquantile float q, int? dim=None, bool keepdim=False, *, str interpolation="linear"
Tensor.nansum int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None
Tensor.narrow int dim, Tensor start, SymInt length
Tensor.narrow int dim, SymInt start, SymInt length
Tensor.narrow_copy int dim, SymInt start, SymInt length
Tensor.ndimension -
Tensor.ne Tensor other
Tensor.ne Scalar other
Tensor.ne_ Tensor other
Tensor.ne_ Scalar other
Tensor.neg -
Tensor.neg_ -
Tensor.negative -
Tensor.negative_ -
Tensor.nelement -
Tensor.new *, Device? device=None
Tensor.new torch.Storage storage
Tensor.new Tensor other
Tensor.new int[] size, *, Device? device=None
Tensor.new object data, *, Device? device=None
Tensor.new_empty SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
Tensor.new_empty_strided SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
Tensor.new_full SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
Tensor.new_ones SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
Tensor.new_zeros SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False
Tensor.nextafter Tensor other
Tensor.nextafter_ Tensor other
Tensor.nonzero_static *, SymInt size, int fill_value=-1
Tensor.normal_ float mean=0., float std=1., *, Generator? generator=None
Tensor.not_equal Tensor other
Tensor.not_equal Scalar other
Tensor.not_equal_ Tensor other
Tensor.not_equal_ Scalar other
Tensor.numel -
Tensor.orgqr Tensor input2
Tensor.ormqr Tensor input2, Tensor input3, bool left=True, bool transpose=False
Tensor.outer Tensor vec2
Tensor.permute int[] dims
Tensor.pin_memory Device? device=None
Tensor.pinverse float rcond=1.0000000000000001e-15
Tensor.polygamma int n
Tensor.polygamma_ int n
Tensor.positive -
Tensor.pow Tensor exponent
Tensor.pow Scalar exponent
Tensor.pow_ Tensor exponent
Tensor.pow_ Scalar exponent
Tensor.prelu Tensor weight
Tensor.prod *, ScalarType? dtype=None
Tensor.prod int dim, bool keepdim=False, *, ScalarType? dtype=None
Tensor.put Tensor index, Tensor source, bool accumulate=False
Tensor.put_ Tensor index, Tensor source, bool accumulate=False
Tensor.q_per_channel_axis -
Tensor.q_per_channel_scales -
Tensor.q_per_channel_zero_points -
Tensor.q_scale -
Tensor.q_zero_point -
Tensor.qr bool some=True
Tensor.qscheme -
Tensor.quantile Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear"
Tensor.quantile float q, int? dim=None, bool keepdim=False, *, str interpolation="linear"
Tensor.rad2deg -
Tensor.rad2deg_ -
Tensor.random_ *, Generator? generator=None
Tensor.random_ int from, int? to, *, Generator? generator=None
Tensor.random_ int to, *, Generator? generator=None
Tensor.ravel -
Tensor.reciprocal -
Tensor.reciprocal_ -
Tensor.record_stream Stream s
Tensor.relu -
Tensor.relu_ -
Tensor.remainder Tensor other
Tensor.remainder Scalar other
Tensor.remainder_ Tensor other
Tensor.remainder_ Scalar other
Tensor.renorm Scalar p, int dim, Scalar maxnorm
Tensor.renorm_ Scalar p, int dim, Scalar maxnorm
Tensor.repeat SymInt[] repeats
Tensor.repeat_interleave Tensor repeats, int? dim=None, *, SymInt? output_size=None
Tensor.repeat_interleave SymInt repeats, int? dim=None, *, SymInt? output_size=None
Tensor.reshape SymInt[] shape
Tensor.reshape_as Tensor other
Tensor.resize_ SymInt[] size, *, MemoryFormat? memory_format=None
Tensor.resize_as_ Tensor the_template, *, MemoryFormat? memory_format=None
Tensor.resize_as_sparse_ Tensor the_template
Tensor.resolve_conj -
Tensor.resolve_neg -
Tensor.roll SymInt[1] shifts, int[1] dims=[]
Tensor.rot90 int k=1, int[] dims=[0, 1]
Tensor.round 
Tensor.round *, int decimals
Tensor.round_ 
Tensor.round_ *, int decimals
Tensor.row_indices -
Tensor.rsqrt -
Tensor.rsqrt_ -
Tensor.scatter int dim, Tensor index, Tensor src
Tensor.scatter int dim, Tensor index, Tensor src, *, str reduce
Tensor.scatter int dim, Tensor index, Scalar value
Tensor.scatter int dim, Tensor index, Scalar value, *, str reduce
Tensor.scatter_ int dim, Tensor index, Tensor src
Tensor.scatter_ int dim, Tensor index, Tensor src, *, str reduce
Tensor.scatter_ int dim, Tensor index, Scalar value
Tensor.scatter_ int dim, Tensor index, Scalar value, *, str reduce
Tensor.scatter_add int dim, Tensor index, Tensor src
Tensor.scatter_add_ int dim, Tensor index, Tensor src
Tensor.scatter_reduce int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True
Tensor.scatter_reduce_ int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True
Tensor.select int dim, SymInt index
Tensor.select_scatter Tensor src, int dim, SymInt index
Tensor.sgn -
Tensor.sgn_ -
Tensor.sigmoid -
Tensor.sigmoid_ -
Tensor.sign -
Tensor.sign_ -
Tensor.signbit -
Tensor.sin -
Tensor.sin_ -
Tensor.sinc -
Tensor.sinc_ -
Tensor.sinh -
Tensor.sinh_ -
Tensor.slice_scatter Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1
Tensor.slogdet -
Tensor.smm Tensor mat2
Tensor.softmax int dim, ScalarType? dtype=None
Tensor.sort *, bool? stable, int dim=-1, bool descending=False
Tensor.sort int dim=-1, bool descending=False
Tensor.sparse_dim -
Tensor.sparse_mask Tensor mask
Tensor.sparse_resize_ int[] size, int sparse_dim, int dense_dim
Tensor.sparse_resize_and_clear_ int[] size, int sparse_dim, int dense_dim
Tensor.split_with_sizes SymInt[] split_sizes, int dim=0
Tensor.sqrt -
Tensor.sqrt_ -
Tensor.square -
Tensor.square_ -
Tensor.squeeze 
Tensor.squeeze int dim
Tensor.squeeze int[] dim
Tensor.squeeze_ 
Tensor.squeeze_ int dim
Tensor.squeeze_ int[] dim
Tensor.sspaddmm Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1
Tensor.std int[1]? dim, bool unbiased=True, bool keepdim=False
Tensor.std int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False
Tensor.std bool unbiased=True
Tensor.storage_offset -
Tensor.sub Tensor other, *, Scalar alpha=1
Tensor.sub_ Tensor other, *, Scalar alpha=1
Tensor.subtract Tensor other, *, Scalar alpha=1
Tensor.subtract Scalar other, Scalar alpha=1
Tensor.subtract_ Tensor other, *, Scalar alpha=1
Tensor.subtract_ Scalar other, Scalar alpha=1
Tensor.sum *, ScalarType? dtype=None
Tensor.sum int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None
Tensor.sum_to_size SymInt[] size
Tensor.svd bool some=True, bool compute_uv=True
Tensor.swapaxes int axis0, int axis1
Tensor.swapaxes_ int axis0, int axis1
Tensor.swapdims int dim0, int dim1
Tensor.swapdims_ int dim0, int dim1
Tensor.t -
Tensor.t_ -
Tensor.take Tensor index
Tensor.take_along_dim Tensor indices, int? dim=None
Tensor.tan -
Tensor.tan_ -
Tensor.tanh -
Tensor.tanh_ -
Tensor.tensor_split SymInt[] indices, int dim=0
Tensor.tensor_split Tensor tensor_indices_or_sections, int dim=0
Tensor.tensor_split SymInt sections, int dim=0
Tensor.tile SymInt[] dims
Tensor.to_dense ScalarType? dtype=None, *, bool? masked_grad=None
Tensor.to_mkldnn ScalarType? dtype=None
Tensor.to_padded_tensor float padding, SymInt[]? output_size=None
Tensor.to_sparse *, Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None, bool? requires_grad=False
Tensor.to_sparse int sparse_dim
Tensor.to_sparse_bsc int[2] blocksize, int? dense_dim=None
Tensor.to_sparse_bsr int[2] blocksize, int? dense_dim=None
Tensor.to_sparse_csc int? dense_dim=None
Tensor.to_sparse_csr int? dense_dim=None
Tensor.topk SymInt k, int dim=-1, bool largest=True, bool sorted=True
Tensor.trace -
Tensor.transpose int dim0, int dim1
Tensor.transpose_ int dim0, int dim1
Tensor.triangular_solve Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False
Tensor.tril SymInt diagonal=0
Tensor.tril_ SymInt diagonal=0
Tensor.triu SymInt diagonal=0
Tensor.triu_ SymInt diagonal=0
Tensor.true_divide Tensor other
Tensor.true_divide Scalar other
Tensor.true_divide_ Tensor other
Tensor.true_divide_ Scalar other
Tensor.trunc -
Tensor.trunc_ -
Tensor.type_as Tensor other
Tensor.unbind int dim=0
Tensor.unfold int dimension, int size, int step
Tensor.uniform_ float from=0., float to=1., *, Generator? generator=None
Tensor.unsafe_chunk int chunks, int dim=0
Tensor.unsafe_split SymInt split_size, int dim=0
Tensor.unsafe_split_with_sizes SymInt[] split_sizes, int dim=0
Tensor.unsqueeze int dim
Tensor.unsqueeze_ int dim
Tensor.var int[1]? dim, bool unbiased=True, bool keepdim=False
Tensor.var int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False
Tensor.var bool unbiased=True
Tensor.vdot Tensor other
Tensor.view ScalarType dtype
Tensor.view SymInt[] size
Tensor.view_as Tensor other
Tensor.vsplit int sections
Tensor.vsplit int[] indices
Tensor.where Tensor condition, Tensor other
Tensor.where Tensor condition, Scalar other
Tensor.xlogy Tensor other
Tensor.xlogy Scalar other
Tensor.xlogy_ Tensor other
Tensor.xlogy_ Scalar other
Tensor.xpu Device? device=None, bool non_blocking=False, *, MemoryFormat? memory_format=None
Tensor.zero_ -
_adaptive_max_pool1d=adaptive_max_pool1d Tensor input, int[1] output_size
_alpha_dropout=alpha_dropout Tensor input, float p, bool train
_batch_norm=batch_norm Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled
_cdist=cdist Tensor x1, Tensor x2, float p=2., int? compute_mode=None
_celu=celu Tensor input, Scalar alpha=1., *, Tensor? out=None
_col2im=col2im Tensor input, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride, *, Tensor? out=None
_cosine_embedding_loss=cosine_embedding_loss Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1
_cross_entropy_loss=cross_entropy_loss Tensor input, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.
_dropout=dropout Tensor input, float p, bool train
_elu=elu Tensor input, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1, *, Tensor? out=None
_embedding=embedding Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False, *, Tensor? out=None
_feature_alpha_dropout=feature_alpha_dropout Tensor input, float p, bool train
_feature_dropout=feature_dropout Tensor input, float p, bool train
_grid_sampler=grid_sampler Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners
_group_norm=group_norm Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True
_hardtanh=hardtanh Tensor input, Scalar min_val=-1, Scalar max_val=1, *, Tensor? out=None
_hinge_embedding_loss=hinge_embedding_loss Tensor input, Tensor target, float margin=1., int reduction=1
_huber_loss=huber_loss Tensor input, Tensor target, int reduction=1, float delta=1., *, Tensor? out=None
_im2col=im2col Tensor input, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride, *, Tensor? out=None
_instance_norm=instance_norm Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled
_kl_div=kl_div Tensor input, Tensor target, int reduction=1, *, bool log_target=False
_layer_norm=layer_norm Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True
_leaky_relu=leaky_relu Tensor input, Scalar negative_slope=0.01, *, Tensor? out=None
_margin_ranking_loss=margin_ranking_loss Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1
_max_pool1d=max_pool1d Tensor input, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False
_max_pool2d=max_pool2d Tensor input, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False
_max_pool3d=max_pool3d Tensor input, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False
_multi_margin_loss=multi_margin_loss Tensor input, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1, *, Tensor? out=None
_nll_loss_nd=nll_loss_nd Tensor input, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100
_pad=pad Tensor input, SymInt[] pad, str mode="constant", float? value=None
_pairwise_distance=pairwise_distance Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False
_poisson_nll_loss=poisson_nll_loss Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction
_rms_norm=rms_norm Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None
_rrelu=rrelu Tensor input, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None
_smooth_l1_loss=smooth_l1_loss Tensor input, Tensor target, int reduction=1, float beta=1., *, Tensor? out=None
_threshold=threshold Tensor input, Scalar threshold, Scalar value, *, Tensor? out=None
_triplet_margin_loss=triplet_margin_loss Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1
Tensor.half *, MemoryFormat? memory_format=None
Tensor.float *, MemoryFormat? memory_format=None
Tensor.double *, MemoryFormat? memory_format=None
Tensor.long *, MemoryFormat? memory_format=None
Tensor.int *, MemoryFormat? memory_format=None
Tensor.short *, MemoryFormat? memory_format=None
Tensor.char *, MemoryFormat? memory_format=None
Tensor.byte *, MemoryFormat? memory_format=None
Tensor.bool *, MemoryFormat? memory_format=None
Tensor.cfloat *, MemoryFormat? memory_format=None
Tensor.cdouble *, MemoryFormat? memory_format=None
Tensor.cpu *, MemoryFormat? memory_format=None
Tensor.contiguous *, MemoryFormat? memory_format=None
Tensor.copy_ Tensor other, bool non_blocking=False
Tensor.nonzero *, bool as_tuple=False
nonzero Tensor input, *, bool as_tuple=False
_unique2 Tensor input, *, bool sorted=True, bool return_inverse=False, bool return_counts=False
_unique_consecutive=unique_consecutive Tensor input, *, bool return_inverse=False, bool return_counts=False
tensor object data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False, bool pin_memory=False
Tensor.new_tensor object data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False
Tensor.to Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None
Tensor.to ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None
Tensor.to Tensor tensor, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None
add ~Tensor input, Scalar alpha, Tensor other, *, Tensor? out=None
Tensor.add ~Scalar alpha, Tensor other
Tensor.add_ ~Scalar alpha, Tensor other
addbmm ~Scalar beta, Tensor input, Scalar alpha, Tensor batch1, Tensor batch2, *, Tensor? out=None
Tensor.addbmm ~Scalar beta, Scalar alpha, Tensor batch1, Tensor batch2
Tensor.addbmm_ ~Scalar beta, Scalar alpha, Tensor batch1, Tensor batch2
addbmm ~Scalar beta, Tensor input, Tensor batch1, Tensor batch2, *, Tensor? out=None
Tensor.addbmm ~Scalar beta, Tensor batch1, Tensor batch2
Tensor.addbmm_ ~Scalar beta, Tensor batch1, Tensor batch2
addcdiv ~Tensor input, Scalar value, Tensor tensor1, Tensor tensor2, *, Tensor? out=None
Tensor.addcdiv ~Scalar value, Tensor tensor1, Tensor tensor2
Tensor.addcdiv_ ~Scalar value, Tensor tensor1, Tensor tensor2
addcmul ~Tensor input, Scalar value, Tensor tensor1, Tensor tensor2, *, Tensor? out=None
Tensor.addcmul ~Scalar value, Tensor tensor1, Tensor tensor2
Tensor.addcmul_ ~Scalar value, Tensor tensor1, Tensor tensor2
addmm ~Scalar beta, Tensor input, Scalar alpha, Tensor mat1, Tensor mat2, *, Tensor? out=None
Tensor.addmm ~Scalar beta, Scalar alpha, Tensor mat1, Tensor mat2
Tensor.addmm_ ~Scalar beta, Scalar alpha, Tensor mat1, Tensor mat2
addmm ~Scalar beta, Tensor input, Tensor mat1, Tensor mat2, *, Tensor? out=None
Tensor.addmm ~Scalar beta, Tensor mat1, Tensor mat2
Tensor.addmm_ ~Scalar beta, Tensor mat1, Tensor mat2
addmv ~Scalar beta, Tensor input, Scalar alpha, Tensor mat, Tensor vec, *, Tensor? out=None
Tensor.addmv ~Scalar beta, Scalar alpha, Tensor mat, Tensor vec
Tensor.addmv_ ~Scalar beta, Scalar alpha, Tensor mat, Tensor vec
addmv ~Scalar beta, Tensor input, Tensor mat, Tensor vec, *, Tensor? out=None
Tensor.addmv ~Scalar beta, Tensor mat, Tensor vec
Tensor.addmv_ ~Scalar beta, Tensor mat, Tensor vec
addr ~Scalar beta, Tensor input, Scalar alpha, Tensor vec1, Tensor vec2, *, Tensor? out=None
Tensor.addr ~Scalar beta, Scalar alpha, Tensor vec1, Tensor vec2
Tensor.addr_ ~Scalar beta, Scalar alpha, Tensor vec1, Tensor vec2
addr ~Scalar beta, Tensor input, Tensor vec1, Tensor vec2, *, Tensor? out=None
Tensor.addr ~Scalar beta, Tensor vec1, Tensor vec2
Tensor.addr_ ~Scalar beta, Tensor vec1, Tensor vec2
baddbmm ~Scalar beta, Tensor input, Scalar alpha, Tensor batch1, Tensor batch2, *, Tensor? out=None
Tensor.baddbmm ~Scalar beta, Scalar alpha, Tensor batch1, Tensor batch2
Tensor.baddbmm_ ~Scalar beta, Scalar alpha, Tensor batch1, Tensor batch2
baddbmm ~Scalar beta, Tensor input, Tensor batch1, Tensor batch2, *, Tensor? out=None
Tensor.baddbmm ~Scalar beta, Tensor batch1, Tensor batch2
Tensor.baddbmm_ ~Scalar beta, Tensor batch1, Tensor batch2
sub ~Tensor input, Scalar alpha, Tensor other, *, Tensor? out=None
Tensor.sub ~Scalar alpha, Tensor other
Tensor.sub_ ~Scalar alpha, Tensor other
"""
