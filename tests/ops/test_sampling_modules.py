"""Modules of convolution, pooling, padding and resampling against PyTorch's: same weights, results, gradients and reprs."""

import numpy as np
import pytest
import torch

import agdbg_engine as engine

pytestmark = pytest.mark.filterwarnings(
    "ignore:Using padding=.same. with even kernel"
)  # both sides pad such kernels, and torch warns of it

IMAGE, LINE, VOLUME = (2, 4, 6, 8), (2, 4, 9), (2, 4, 6, 5, 4)

MODULES = [
    ("Conv1d", (4, 6, 3), {"padding": 1}, LINE),
    ("Conv1d", (4, 6, 2), {"padding": "same", "dilation": 3}, LINE),
    ("Conv2d", (4, 6, 3), {}, IMAGE),
    ("Conv2d", (4, 6, (3, 2)), {"stride": (2, 1), "padding": (1, 0), "groups": 2, "bias": False}, IMAGE),
    ("Conv2d", (4, 6, 3), {"padding": "same", "padding_mode": "reflect"}, IMAGE),
    ("Conv2d", (4, 6, 3), {"padding": 2, "dilation": 2, "padding_mode": "circular"}, IMAGE),
    ("Conv2d", (4, 6, 3), {"padding": "valid", "padding_mode": "replicate"}, IMAGE),
    ("Conv2d", (4, 6, 3), {}, IMAGE[1:]),
    ("Conv3d", (4, 2, 2), {"stride": 2}, VOLUME),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 2, "output_padding": 1}, LINE),
    ("ConvTranspose2d", (4, 6, 3), {"stride": 2, "padding": 1, "groups": 2, "dilation": 2}, IMAGE),
    ("ConvTranspose3d", (4, 2, 2), {"bias": False}, VOLUME),
    ("MaxPool1d", (3,), {"stride": 2}, LINE),
    ("MaxPool2d", (2,), {}, IMAGE),
    ("MaxPool2d", (3, 2, 1), {"ceil_mode": True, "dilation": 1}, IMAGE),
    ("MaxPool3d", (2,), {"padding": 1}, VOLUME),
    ("AvgPool1d", (3,), {"padding": 1}, LINE),
    ("AvgPool2d", (3, 2), {"padding": 1, "count_include_pad": False}, IMAGE),
    ("AvgPool3d", ((2, 1, 2),), {"divisor_override": 3}, VOLUME),
    ("LPPool1d", (2, 3), {}, LINE),
    ("LPPool2d", (2, 3), {"stride": 2, "ceil_mode": True}, IMAGE),
    ("LPPool3d", (2, 2), {}, VOLUME),
    ("AdaptiveAvgPool1d", (4,), {}, LINE),
    ("AdaptiveAvgPool2d", ((4, None),), {}, IMAGE),
    ("AdaptiveAvgPool2d", (1,), {}, IMAGE),
    ("AdaptiveAvgPool3d", (3,), {}, VOLUME),
    ("AdaptiveMaxPool1d", (4,), {}, LINE),
    ("AdaptiveMaxPool2d", ((4, 3),), {}, IMAGE),
    ("AdaptiveMaxPool3d", (3,), {}, VOLUME),
    ("ConstantPad1d", (2, 1.5), {}, LINE),
    ("ConstantPad2d", ((1, 2, 0, -1), 1.5), {}, IMAGE),
    ("ConstantPad3d", (1, 0.5), {}, VOLUME),
    ("ZeroPad1d", ((1, 2),), {}, LINE),
    ("ZeroPad2d", (2,), {}, IMAGE),
    ("ZeroPad3d", (1,), {}, VOLUME),
    ("ReflectionPad1d", (2,), {}, LINE),
    ("ReflectionPad2d", ((1, 2, 0, 3),), {}, IMAGE),
    ("ReflectionPad3d", (1,), {}, VOLUME),
    ("ReplicationPad1d", (12,), {}, LINE),
    ("ReplicationPad2d", ((1, -2, 0, 3),), {}, IMAGE),
    ("ReplicationPad3d", (1,), {}, VOLUME),
    ("CircularPad1d", (2,), {}, LINE),
    ("CircularPad2d", ((1, -2, 0, 3),), {}, IMAGE),
    ("CircularPad3d", (1,), {}, VOLUME),
    ("Upsample", (), {"scale_factor": 2}, IMAGE),
    ("Upsample", ((5, 7),), {"mode": "bicubic", "align_corners": True}, IMAGE),
    ("Upsample", (), {"scale_factor": (1.5, 0.7), "mode": "bilinear"}, IMAGE),
    ("UpsamplingNearest2d", (), {"scale_factor": 3}, IMAGE),
    ("UpsamplingBilinear2d", ((3, 9),), {}, IMAGE),
    ("Unfold", (3,), {"padding": 1, "stride": (2, 1)}, IMAGE),
    ("Fold", ((4, 5), 2), {"padding": 1}, (2, 8, 30)),
    ("PixelShuffle", (2,), {}, IMAGE),
    ("PixelUnshuffle", (2,), {}, IMAGE),
    ("ChannelShuffle", (2,), {}, IMAGE),
    ("Flatten", (), {}, IMAGE),
    ("Unflatten", (1, (2, 2)), {}, IMAGE),
]


def both(name, args, options, shape):
    """The module of either library with the same weights, its result on the same numbers, and all gradients."""
    theirs = getattr(torch.nn, name)(*args, **options)
    ours = getattr(engine.nn, name)(*args, **options)
    assert repr(ours) == repr(theirs)
    assert {n: tuple(p.shape) for n, p in ours.state_dict().items()} == {
        n: tuple(p.shape) for n, p in theirs.state_dict().items()
    }
    ours.load_state_dict({n: engine.tensor(p.numpy()) for n, p in theirs.state_dict().items()})
    numbers = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for library, module in ((torch, theirs), (engine, ours)):
        x = library.tensor(numbers, requires_grad=True)
        y = module(x)
        (y * y).sum().backward()
        yield [y.detach(), x.grad, *(p.grad for p in module.parameters())]


@pytest.mark.parametrize(
    ("name", "args", "options", "shape"), MODULES, ids=[f"{i}-{m[0]}" for i, m in enumerate(MODULES)]
)
def test_module(name, args, options, shape):
    theirs, ours = both(name, args, options, shape)
    for a, b in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["Conv2d", "ConvTranspose2d"])
def test_first_weights_are_uniform_within_the_bound(name):
    layer = getattr(engine.nn, name)(16, 32, 3, groups=2)
    bound = 1 / np.sqrt(layer.weight[0].numel())
    for p in (layer.weight, layer.bias):
        numbers = p.detach().numpy()
        assert np.abs(numbers).max() <= bound
        assert np.abs(numbers).max() > 0.8 * bound
        assert p.requires_grad and p.is_leaf


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("Conv2d", (4, 6, 3), {"groups": 3}),
        ("Conv2d", (3, 4, 3), {"groups": 3}),
        ("Conv2d", (4, 6, 3), {"groups": 0}),
        ("Conv2d", (4, 6, 3), {"padding": "same", "stride": 2}),
        ("ConvTranspose2d", (4, 6, 3), {"padding_mode": "reflect"}),
        ("FractionalMaxPool2d", (3,), {}),
        ("FractionalMaxPool2d", (3,), {"output_ratio": 2.0}),
        ("FractionalMaxPool2d", (3, 2), {"output_ratio": 0.5}),
    ],
)
def test_refused_arguments(name, args, options):
    with pytest.raises(ValueError) as theirs:
        getattr(torch.nn, name)(*args, **options)
    with pytest.raises(ValueError) as ours:
        getattr(engine.nn, name)(*args, **options)
    assert str(ours.value) == str(theirs.value)


def test_pooling_undone():
    results = []
    for library in (torch, engine):
        x = library.tensor(np.random.default_rng(1).standard_normal((2, 3, 5, 6)), requires_grad=True)
        pooled, indices = library.nn.MaxPool2d(2, return_indices=True)(x)
        back = library.nn.MaxUnpool2d(2)(pooled, indices, output_size=[5, 6])
        (back * back).sum().backward()
        results.append((pooled.detach().numpy(), indices.numpy(), back.detach().numpy(), x.grad.numpy()))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a)


def test_transposed_convolution_to_a_size():
    theirs, ours = torch.nn.ConvTranspose2d(2, 3, 3, stride=3), engine.nn.ConvTranspose2d(2, 3, 3, stride=3)
    x = np.ones((1, 2, 4, 4), np.float32)
    a, b = (m(lib.tensor(x), output_size=(13, 14)) for m, lib in ((theirs, torch), (ours, engine)))
    assert tuple(a.shape) == tuple(b.shape)
    messages = []
    for m, lib in ((theirs, torch), (ours, engine)):
        with pytest.raises(ValueError, match="requested an output size") as error:
            m(lib.tensor(x), output_size=(20, 20))
        messages.append(str(error.value).replace("torch.Size(", "").replace("])", "]"))
    assert messages[0].split(" (for")[0] == messages[1].split(" (for")[0]


def test_fractional_pooling_with_given_samples():
    results = []
    for library in (torch, engine):
        rng = np.random.default_rng(2)
        x = library.tensor(rng.standard_normal((2, 3, 9, 11)), requires_grad=True)
        samples = library.tensor(rng.random((2, 3, 2)))
        y, i = library.nn.functional.fractional_max_pool2d(
            x, (2, 3), (4, 5), return_indices=True, _random_samples=samples
        )
        (y * y).sum().backward()
        volume = library.tensor(rng.standard_normal((2, 3, 9, 11, 7)))
        samples = library.tensor(rng.random((2, 3, 3)))
        z, j = library.nn.functional.fractional_max_pool3d(
            volume, (2, 3, 2), output_ratio=(0.5, 0.4, 0.6), return_indices=True, _random_samples=samples
        )
        results.append((y.detach().numpy(), i.numpy(), x.grad.numpy(), z.numpy(), j.numpy()))
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize("lead", [(), (1,), (2,)], ids=str)
@pytest.mark.parametrize("shape", [(0, 4, 3), (1, 4, 3), (3, 4, 3), (3, 3, 3), (3, 4, 2), (4, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_numbers_that_are_given_for_a_larger_batch(lead, shape, dtype):
    rng = np.random.default_rng(0)
    x, numbers = rng.standard_normal((*lead, 4, 5, 5, 5)), rng.random(shape)

    def pooled(library):
        given = library.from_numpy(numbers).to(getattr(library, dtype))
        return library.nn.functional.fractional_max_pool3d(library.from_numpy(x), 2, 2, _random_samples=given).tolist()

    found = []
    for library in (torch, engine):
        try:
            found.append(pooled(library))
        except RuntimeError as error:
            found.append(str(error).splitlines()[0])
    assert found[0] == found[1]
