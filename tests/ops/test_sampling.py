"""Convolution, pooling, padding and resampling where PyTorch's samples do not reach: ties, NaN, other modes, words of errors."""

import itertools
import warnings

import numpy as np
import pytest
import torch

import agdbg_engine as engine

LIBRARIES = (torch, engine)
NAN, INF = float("nan"), float("inf")


def compared(function, *arrays, rtol=1e-6):
    """``function(F, *tensors)`` in both libraries: all results equal, and all gradients of a sum of squares."""
    found = []
    for library in LIBRARIES:
        inputs = [library.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
        made = function(library.nn.functional, *inputs)
        made = made if isinstance(made, tuple) else (made,)
        weights = np.random.default_rng(7).standard_normal(tuple(made[0].shape)).astype(arrays[0].dtype)
        (made[0] * library.tensor(weights)).sum().backward()
        found.append([*(m.detach().numpy() for m in made), *(x.grad.numpy() for x in inputs if x.requires_grad)])
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol)


def numbers(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# ----- pooling -----


@pytest.mark.parametrize("options", [{"kernel_size": 2}, {"kernel_size": 2, "padding": 1}, {"kernel_size": (1, 4, 4)}])
@pytest.mark.parametrize("name", ["avg_pool3d", "max_pool3d", "lp_pool3d"])
def test_windows_that_are_larger_than_the_input(name, options):
    said = []
    for library in LIBRARIES:
        call = getattr(library.nn.functional, name)
        norm = [2.0] if name == "lp_pool3d" else []
        try:
            said.append(tuple(call(library.ones(1, 1, 3, 3), *norm, **options).shape))
        except (RuntimeError, TypeError) as error:
            said.append((type(error).__name__, str(error).splitlines()[0]))
    assert said[0] == said[1]


def special(*shape):
    """Integers with many ties, NaN and infinities among them."""
    x = np.random.default_rng(3).integers(0, 3, shape).astype(np.float64)
    flat = x.reshape(-1)
    flat[::11], flat[5::13], flat[7::17] = NAN, -INF, INF
    return x


@pytest.mark.parametrize(
    "options", [{}, {"stride": 1, "padding": 1}, {"dilation": 2, "stride": 2}, {"ceil_mode": True}]
)
def test_maxima_at_ties_and_nan(options):
    for x in (special(2, 3, 7, 8), np.zeros((2, 3, 7, 8)), np.full((1, 1, 6, 6), -INF)):
        compared(lambda F, x: F.max_pool2d(x, 3, return_indices=True, **options), x)
    compared(lambda F, x: F.max_pool1d(x, 3, return_indices=True, **options), special(2, 3, 9))
    compared(lambda F, x: F.max_pool3d(x, 3, return_indices=True, **options), special(2, 3, 7, 8, 6))


def test_adaptive_maxima_at_ties_and_nan():
    compared(lambda F, x: F.adaptive_max_pool2d(x, (3, 5), return_indices=True), special(2, 3, 7, 8))
    compared(lambda F, x: F.adaptive_max_pool3d(x, (3, 5, 2), return_indices=True), special(2, 3, 7, 8, 5))


def test_infinities_stay_in_their_windows():
    x = numbers(1, 2, 9, 9)
    x[0, 0, 4, 4], x[0, 1, 0, 0] = INF, NAN
    compared(lambda F, x: F.avg_pool2d(x, 3, 2, 1), x)
    compared(lambda F, x: F.adaptive_avg_pool2d(x, (4, 2)), x)
    compared(lambda F, x: F.interpolate(x, size=(4, 13)), x)


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("ceil_mode", [True, False])
def test_means_at_the_border(include, ceil_mode):
    how = {"padding": 1, "ceil_mode": ceil_mode, "count_include_pad": include}
    compared(lambda F, x: F.avg_pool1d(x, 3, 2, **how), numbers(2, 3, 8))
    compared(lambda F, x: F.avg_pool2d(x, (3, 2), (2, 3), **how), numbers(2, 3, 8, 9))
    compared(lambda F, x: F.avg_pool3d(x, (3, 2, 2), (2, 3, 1), **how), numbers(2, 3, 8, 9, 4))


@pytest.mark.parametrize(("n", "m"), [(7, 3), (3, 7), (6, 6), (5, 1), (1, 4), (12, 4)])
def test_adaptive_windows(n, m):
    compared(lambda F, x: F.adaptive_avg_pool1d(x, m), numbers(2, 3, n))
    compared(lambda F, x: F.adaptive_avg_pool2d(x, (m, 2)), numbers(2, 3, n, 5))
    compared(lambda F, x: F.adaptive_max_pool1d(x, m, return_indices=True), numbers(2, 3, n))


# ----- resampling -----

MODES = [
    (mode, size, align, smooth)
    for mode, size, align, smooth in itertools.product(
        ("bilinear", "bicubic"), ((3, 4), (13, 5), (7, 9), (1, 1), (14, 18)), (False, True), (False, True)
    )
]


@pytest.mark.parametrize(("mode", "size", "align", "smooth"), MODES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_interpolation(mode, size, align, smooth, dtype):
    how = {"mode": mode, "align_corners": align, "antialias": smooth}
    compared(lambda F, x: F.interpolate(x, size=size, **how), numbers(2, 3, 7, 9, dtype=dtype), rtol=1e-5)


@pytest.mark.parametrize("factor", [0.4, 1.0, 1.7, 2, 3, (0.6, 2.3)])
@pytest.mark.parametrize("recompute", [None, True])
def test_interpolation_by_factors(factor, recompute):
    x = numbers(2, 3, 7, 9)
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        compared(
            lambda F, x, m=mode: F.interpolate(x, scale_factor=factor, mode=m, recompute_scale_factor=recompute), x
        )
    compared(lambda F, x: F.interpolate(x, scale_factor=factor, mode="bicubic", antialias=True), x)
    compared(lambda F, x: F.interpolate(x, scale_factor=factor, mode="lanczos", antialias=True), x)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("align", [False, True])
def test_images_of_bytes_are_resampled_in_whole_numbers(mode, smooth, align):
    """To the last bit, through PyTorch's vectorised kernel (up to four channels) and its other one."""
    if mode == "lanczos" and (align or not smooth):
        pytest.skip("lanczos is a filter without align_corners")
    how = {"mode": mode, "antialias": smooth, "align_corners": align}
    for channels, before, after in itertools.product(
        (3, 6), ((4, 4), (7, 5), (31, 17)), ((3, 3), (7, 9), (13, 40), (1, 2))
    ):
        x = np.random.default_rng(8).integers(0, 256, (2, channels, *before)).astype(np.uint8)
        theirs = torch.nn.functional.interpolate(torch.from_numpy(x), after, **how)
        ours = engine.nn.functional.interpolate(engine.from_numpy(x), after, **how)
        assert ours.dtype == engine.uint8
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_an_axis_of_bytes_that_keeps_its_size_is_left_alone():
    x = np.random.default_rng(8).integers(0, 256, (1, 3, 9, 9)).astype(np.uint8)
    for mode, factor in itertools.product(("bilinear", "bicubic"), (1.1, (0.3, 1.05), 2)):
        theirs = torch.nn.functional.interpolate(torch.from_numpy(x), scale_factor=factor, mode=mode)
        ours = engine.nn.functional.interpolate(engine.from_numpy(x), scale_factor=factor, mode=mode)
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_resampling_by_index_of_any_shape():
    for n, m in itertools.product((1, 2, 3, 5, 16, 31), (1, 2, 3, 5, 7, 33)):
        for mode in ("nearest", "nearest-exact", "linear"):
            compared(lambda F, x, m=m, mode=mode: F.interpolate(x, size=m, mode=mode), numbers(1, 2, n))


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [True, False])
def test_grid_far_outside_and_on_the_points(mode, padding, align):
    grid = numbers(2, 5, 6, 2) * 2
    if padding == "zeros":  # elsewhere PyTorch reads outside its memory, or crashes
        grid[0, 0, 0], grid[0, 0, 1], grid[1, 0] = (NAN, 0.3), (INF, -INF), 1e12
    grid[0, 1], grid[0, 2], grid[1, 1, :, 0], grid[1, 2] = 1.0, -1.0, 0.0, 0.5
    compared(lambda F, x, g: F.grid_sample(x, g, mode, padding, align), numbers(2, 3, 4, 5), grid)
    compared(lambda F, x, g: F.grid_sample(x, g, mode, padding, align), numbers(2, 3, 1, 1), grid[:, 2:])


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_grid_of_volumes(mode):
    grid = numbers(2, 3, 4, 2, 3)
    for padding in ("border", "reflection", "zeros"):
        compared(lambda F, x, g, p=padding: F.grid_sample(x, g, mode, p, False), numbers(2, 3, 4, 5, 3), grid)
    grid[0, 0, 0], grid[0, 0, 1], grid[1, 0] = NAN, INF, 1e12
    compared(lambda F, x, g: F.grid_sample(x, g, mode, "zeros", True), numbers(2, 3, 4, 5, 3), grid)


@pytest.mark.parametrize("align", [True, False])
def test_affine_grid(align):
    compared(lambda F, t: F.affine_grid(t, (2, 1, 3, 4), align), numbers(2, 2, 3))
    compared(lambda F, t: F.affine_grid(t, (2, 1, 3, 4, 2), align), numbers(2, 3, 4))


# ----- padding, folding -----


def test_fold_is_the_transpose_of_unfold():
    how = {"kernel_size": (2, 3), "dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)}
    compared(lambda F, x: F.unfold(x, **how), numbers(2, 3, 6, 7))
    compared(lambda F, x: F.fold(x, (6, 7), **how), numbers(2, 12, 12))
    compared(lambda F, x: F.fold(F.unfold(x, **how) ** 2, (6, 7), **how), numbers(3, 6, 7))


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padding_of_one_and_three_dimensions(mode):
    compared(lambda F, x: F.pad(x, (2, 1), mode), numbers(3, 4))
    compared(lambda F, x: F.pad(x, (2, 1, 0, 1, 1, 2), mode), numbers(2, 3, 4, 5))
    compared(lambda F, x: F.pad(x, (-1, 2, 1, -1), mode), numbers(2, 3, 4, 5))
    compared(lambda F, x: F.pad(x, (3, 3), mode) ** 2, numbers(2, 3, 4))


# ----- convolution -----


@pytest.mark.filterwarnings(
    "ignore:Using padding=.same. with even kernel"
)  # both sides pad such kernels, and torch warns of it
def test_convolution_without_windows_to_spare():
    compared(lambda F, x, w: F.conv2d(x, w, stride=3), numbers(2, 4, 8, 9), numbers(6, 4, 2, 2))
    compared(lambda F, x, w: F.conv2d(x, w, stride=4, groups=2), numbers(2, 4, 7, 9), numbers(6, 2, 1, 3))
    compared(lambda F, x, w: F.conv2d(x, w, padding="same", dilation=(3, 1)), numbers(4, 8, 9), numbers(6, 4, 2, 4))
    compared(lambda F, x, w, b: F.conv1d(x, w, b), numbers(0, 4, 8), numbers(6, 4, 2), numbers(6))
    compared(lambda F, x, w: F.conv_transpose1d(x, w, stride=3, output_padding=2), numbers(2, 4, 5), numbers(4, 6, 2))


def test_the_third_derivative_of_a_convolution():
    found = []
    for library in LIBRARIES:
        x, w = (library.tensor(a, requires_grad=True) for a in (numbers(1, 2, 5, 5), numbers(3, 2, 3, 3, seed=1)))
        y = (library.nn.functional.conv2d(x, w, stride=2, padding=1) ** 3).sum()
        for _ in range(3):
            gx, gw = library.autograd.grad(y, (x, w), create_graph=True)
            y = (gx**2).sum() + (gw * w).sum()
        found.append(gx.detach().numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_sampling_is_derived_twice_only():
    x = engine.tensor(numbers(1, 1, 3, 3), requires_grad=True)
    grid = engine.tensor(numbers(1, 2, 2, 2) / 3, requires_grad=True)
    y = engine.nn.functional.grid_sample(x, grid, align_corners=False)
    (g,) = engine.autograd.grad((y**2).sum(), grid, create_graph=True)
    (gg,) = engine.autograd.grad(g.sum(), grid, create_graph=True)
    with pytest.raises(NotImplementedError, match="grid_sampler_2d_double_backward"):
        gg.sum().backward()


# ----- words -----

WRONG = """
conv1d((1,1,4),(1,2,2),None,(-1,)) | conv1d((1,1,4),(1,2,2),None,1,(-1,)) | conv1d((1,1,4),(1,2)) | conv2d((1,4),(1,2,2,2))
conv2d((1,3,4,4),(1,2,2,2)) | conv1d((2,2,4),(2,2,2),groups=3) | conv1d((2,3,4),(3,1,2),groups=2) | conv2d((1,2,4,4),(1,2,5,5))
conv2d((1,2,4,4),(1,2,2,2),(3,)) | conv2d((1,2,4,4),(1,2,2,2),None,(1,2,3)) | conv2d((1,2,4,4),(1,2,2,2),padding='sam')
conv2d((1,2,4,4),(1,2,2,2),padding='same',stride=2) | conv2d((1,2,0,4),(1,2,2,2),padding=2) | conv1d((1,1,4),(1,1,2),dilation=-1)
conv_transpose2d((1,2,4,4),(3,2,2,2)) | conv_transpose2d((1,2,1,1),(2,2,1,1),padding=2)
conv_transpose2d((1,2,4,4),(2,2,2,2),output_padding=-1) | conv_transpose2d((4,),(2,2,1,1))
max_pool1d((1,1,4),(1,2)) | max_pool1d((2,),1) | max_pool1d((1,1,4),2,padding=3) | max_pool1d((1,1,4),5) | max_pool1d((1,1,4),0)
max_pool2d((1,1,4,4),(1,2,3)) | max_pool2d((1,1,4,4),2,stride=0) | max_pool2d((1,1,4,4),2,padding=2) | max_pool2d((1,1,4,4),5)
max_pool2d((4,4),2) | max_pool2d((1,0,4,4),2) | max_pool3d((1,1,4),2) | max_pool3d((1,0,4,4,4),2) | max_pool2d((1,1,4,4),2,2,-1)
avg_pool1d((4,),2) | avg_pool2d((1,1,4,4),2,divisor_override=0) | avg_pool2d((1,1,0,4),2)
adaptive_avg_pool1d((4,),2) | adaptive_avg_pool2d((2,4),(2,3)) | adaptive_avg_pool2d((2,4,5),(2,)) | adaptive_avg_pool2d((2,4,5),(-2,2))
adaptive_max_pool2d((2,4,5),(2,)) | adaptive_max_pool2d((2,4,5),(-2,2)) | adaptive_max_pool2d((2,0,4,5),(2,2))
pad((2,3),(1,)) | pad((2,3),(1,1,1,1,1,1)) | pad((2,3),(-2,-2)) | pad((2,3),(3,1),'reflect') | pad((3,),(1,1),'circular')
pad((2,3,4,5),(1,1,1,1),'foo') | pad((2,3,4),(-2,-2),'reflect') | pad((2,2,3),(4,1),'circular') | pad((2,2,0),(2,1),'replicate')
unfold((2,3),2) | unfold((2,3,4,4),5) | unfold((2,3,4,4),2,stride=0) | unfold((2,0,4,4),2) | unfold((2,3,4,4),(1,2,3))
fold((2,11,9),(4,4),2) | fold((2,12,8),(4,4),2) | fold((2,12,8,1),(4,4),2) | fold((2,12,9),(4,),2)
pixel_shuffle((3,2,3),2) | pixel_unshuffle((3,2,3),2) | channel_shuffle((2,3,3),2) | channel_shuffle((2,),2) | pixel_shuffle((2,3),2)
interpolate((1,2,4,5)) | interpolate((1,2,4,5),3,2) | interpolate((1,2,4,5),(3,)) | interpolate((1,2,4,5),0)
interpolate((1,2,4,5),(2,2),mode='linear') | interpolate((1,2,4,5),(2,2),mode='foo') | interpolate((1,0,3,4),2)
grid_sample((1,2,4,5),(2,2,2,2),align_corners=False) | grid_sample((1,2,4,5),(1,2,2),align_corners=False)
grid_sample((1,2,4,5),(1,2,2,2),'foo') | grid_sample((1,2,0,5),(1,2,2,2),align_corners=False)
affine_grid((1,2,3),(1,1,3,3,3),False) | affine_grid((1,2,3),(1,1,0,3),False) | affine_grid((1,2,3),(1,1,3),False)
fractional_max_pool2d((1,1,5,5),2) | fractional_max_pool2d((1,1,5,5),2,9)
"""
CALLS = [c.strip() for c in WRONG.replace("\n", "|").split("|") if c.strip()]


def said(library, call):
    name, _, _ = call.partition("(")

    def function(first, *rest, **named):
        tensors = 2 if name.startswith(("conv", "grid")) else 1
        args = [first, *rest]
        made = [
            library.zeros(a) if i < tensors or (i == 2 and name.startswith("conv") and a) else a
            for i, a in enumerate(args)
        ]
        return getattr(library.nn.functional, name)(*made, **named)

    with pytest.raises(Exception) as error, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eval(call, {name: function})
    return type(error.value).__name__, str(error.value).splitlines()[0]


@pytest.mark.parametrize("call", CALLS)
def test_words_of_errors(call):
    assert said(engine, call) == said(torch, call)


# ----- second order and forward mode of what PyTorch's samples do not have -----

LINEAR = {
    "fold": (lambda F, x: F.fold(x, (3, 4), 2, padding=1, stride=2), (4, 6)),
    "affine_grid": (lambda F, t: F.affine_grid(t, (2, 1, 2, 3), False), (2, 2, 3)),
    "smooth": (lambda F, x: F.interpolate(x, size=(3, 2), mode="bicubic", antialias=True), (1, 2, 5, 4)),
    "max_pool3d": (lambda F, x: F.max_pool3d(x, 2, 1, 1), (1, 2, 3, 2)),
    "unpooled": (lambda F, x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), (1, 2, 4, 4)),
    "fractional": (
        lambda F, x: F.fractional_max_pool2d(
            x, 2, 2, _random_samples=engine.tensor([[[0.3, 0.6]]], dtype=engine.float64)
        ),
        (1, 1, 5, 5),
    ),
    "lp_pool": (lambda F, x: F.lp_pool2d(x**2 + 1, 3, 2), (1, 2, 4, 4)),
    "circular": (lambda F, x: F.pad(x, (1, 1, 2, -1), "circular"), (1, 2, 3, 4)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_derivatives_by_differences(name):
    function, shape = LINEAR[name]
    x = engine.tensor(numbers(*shape), requires_grad=True)
    F = engine.nn.functional
    assert engine.autograd.gradcheck(lambda x: function(F, x), (x,), check_forward_ad=True)
    assert engine.autograd.gradgradcheck(lambda x: function(F, x), (x,))


def test_tangents_of_sampling():
    x, grid = (
        engine.tensor(numbers(1, 2, 4, 5), requires_grad=True),
        engine.tensor(numbers(1, 2, 3, 2) / 2, requires_grad=True),
    )
    F = engine.nn.functional
    for mode in ("bilinear", "bicubic"):
        assert engine.autograd.gradcheck(
            lambda x, g, m=mode: F.grid_sample(x, g, m, align_corners=False), (x, grid), check_forward_ad=True
        )
