"""Functions and modules that are made of several ops, on the device that is not the current one: the numbers of the CPU, and no reads.

PyTorch's samples of ops and modules hardly reach what these compute between their ops.
"""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag

F, nn = ag.nn.functional, ag.nn
PLACE = strict.PLACE


@pytest.fixture(autouse=True)
def nothing_is_refused():
    strict.refusals.clear()
    yield
    assert not strict.refusals


def numbers(device, *shape):
    values = np.random.default_rng(len(shape)).standard_normal(shape)
    return ag.tensor(values, device=device).requires_grad_()


def mask(device, *shape):
    values = np.random.default_rng(7).random(shape) < 0.3
    values[..., 0] = False  # somebody may be looked at
    return ag.tensor(values, device=device)


def classes(device, *shape):
    return ag.tensor(np.random.default_rng(5).integers(0, 3, shape), device=device)


def module(make, device):
    ag.manual_seed(0)
    return make().double().to(device)


def attended(x, **options):
    attention = module(lambda: nn.MultiheadAttention(4, 2, batch_first=True, **options), x.device)
    found = [attention(x, x, x, **how) for how in (
        {"key_padding_mask": mask(x.device, 2, 3)}, {"attn_mask": mask(x.device, 3, 3)},
        {"attn_mask": mask(x.device, 3, 3), "key_padding_mask": mask(x.device, 2, 3), "need_weights": False},
        {"attn_mask": mask(x.device, 4, 3, 3), "average_attn_weights": False},
    )]  # fmt: skip
    return [t for pair in found for t in pair if t is not None]


def layers(x):
    encoder = module(lambda: nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), x.device)
    decoder = module(lambda: nn.TransformerDecoderLayer(4, 2, 8, 0.0, batch_first=True), x.device)
    looks, pads = mask(x.device, 3, 3), mask(x.device, 2, 3)
    return [encoder(x, looks, pads), decoder(x, x * 2, looks, looks, pads, pads)]


def transformers(x):
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
    stack = module(lambda: nn.TransformerEncoder(layer, 2), x.device)
    back = module(
        lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, 0.0, batch_first=True), 2), x.device
    )
    whole = module(lambda: nn.Transformer(4, 2, 1, 1, 8, 0.0, batch_first=True), x.device)
    later = nn.Transformer.generate_square_subsequent_mask(3, x.device, ag.float64)
    other = mask(x.device, 3, 3)
    with strict.allowed_host_reads():  # whether a mask is the causal one, as in PyTorch
        return [f for m in (later, other) for f in (stack(x, m), back(x, x * 2, m), whole(x, x * 2, m, m))]


def smoothed(x):
    y, weight = classes(x.device, 4), ag.tensor([1.0, 2.0, 0.5], dtype=ag.float64, device=x.device)
    how = [
        {"reduction": r, "weight": w, "ignore_index": i}
        for r in ("mean", "sum", "none")
        for w in (None, weight)
        for i in (-100, 1)
    ]
    return [F.cross_entropy(x, y, label_smoothing=0.1, **each) for each in how]


def pieces(x):
    lengths = ag.tensor([1, 0, 3], device=x.device)
    offsets = ag.tensor([0, 1, 1, 3], device=x.device)  # the last row is in none
    how = [
        {"lengths": lengths},
        {"lengths": lengths, "initial": 2.0},
        {"offsets": offsets},
        {"lengths": lengths[:2], "unsafe": True},
    ]
    return [ag.segment_reduce(x, r, **each) for r in ("sum", "mean", "max") for each in how]


def chosen(x):
    noisy = F.gumbel_softmax(x * 0 + ag.tensor([0.0, 1000.0, 0.0], device=x.device), hard=True)
    return [noisy, F.gumbel_softmax(x * 1000, hard=True, dim=0)]


def of_low_rank(x):
    with strict.allowed_host_reads():  # whether a decomposition has converged, as in PyTorch
        return [
            ag.svd_lowrank(x, 2, 8)[1],
            ag.pca_lowrank(x, 2, niter=8)[1],
            ag.svd_lowrank(x.detach() * (1 + 1j), 2, 8)[1],
        ]


def windows(x):
    bins = ag.stft(x.flatten(), 8, 2, 6, return_complex=True)
    return [ag.view_as_real(bins), ag.istft(bins, 8, 2, 6), ag.istft(ag.stft(x.flatten(), 8, return_complex=True), 8)]


PROGRAMS = {
    "attention": (attended, (2, 3, 4)), "attention, longer": (lambda x: attended(x, add_bias_kv=True, add_zero_attn=True), (2, 3, 4)),
    "layers": (layers, (2, 3, 4)), "transformers": (transformers, (2, 3, 4)), "smoothed": (smoothed, (4, 3)),
    "segment_reduce": (pieces, (4, 2)), "gumbel_softmax": (chosen, (4, 3)), "low rank": (of_low_rank, (5, 3)), "windows": (windows, (4, 4)),
    "one variance": (lambda x: [F.gaussian_nll_loss(x, x * 2, 1.0)], (4, 3)),
    "trapezoid of nothing": (lambda x: [ag.trapezoid(x[:, :0]) + x.sum(), ag.cumulative_trapezoid(x)], (4, 3)),
    "repeat_interleave": (lambda x: [x.repeat_interleave(ag.tensor([2], device=x.device), 0, output_size=8)], (4, 3)),
    "copies": (lambda x: [ag.detach_copy(x) * x, ag.view_copy(x.detach(), ag.int64) * x, ag.view_copy(x, (3, 4))], (4, 3)),
    "where of numbers": (lambda x: [ag.where(x > 0, 1.0, 2.0) * x], (4, 3)),
    "masked": (lambda x: [ag.masked.median(x, 1, mask=x > -9), ag.masked.softmax(x, 1, mask=~mask(x.device, 4, 3))], (4, 3)),
}  # fmt: skip

MADE_OF_MODULES = {"attention", "attention, longer", "layers", "transformers"}


def computed(name, device):
    program, shape = PROGRAMS[name]
    x = numbers(device, *shape)
    ag.manual_seed(0)
    results = program(x)
    sum((r * r).sum() for r in results if r.requires_grad).backward()
    return [*results, *([] if x.grad is None else [x.grad])]


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_on_the_cpu(name):
    here, there = computed(name, "cpu"), computed(name, PLACE)
    assert {str(t.device) for t in there} == {PLACE}
    for a, b in zip(here, there, strict=True):
        np.testing.assert_allclose(strict.host(b._a), a._a, 1e-7, 1e-9)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in MADE_OF_MODULES])
def test_whatever_device_is_the_default_one(name):
    """In a ``with device(...)`` of another device what is made in between lies beside the operands all the same."""
    program, shape = PROGRAMS[name]
    with ag.device(PLACE):
        found = program(ag.tensor(np.ones(shape), device="cpu", requires_grad=True))
    assert {str(t.device) for t in found} == {"cpu"}


def test_poisson_numbers():
    """Drawn beside their rates; where a device does not draw itself the rates come to the host."""
    with strict.allowed_host_reads():
        assert str(ag.poisson(numbers(PLACE, 3).detach().abs()).device) == PLACE


def test_weights_of_a_sampler_lie_on_a_device():
    sampler = ag.utils.data.WeightedRandomSampler(ag.tensor([0.0, 1.0, 0.0], device=PLACE), 4)
    with strict.allowed_host_reads():
        assert list(sampler) == [1] * 4


def test_medians_of_integers_behind_a_mask():
    """Whether a row has none at all is read: that is an error."""
    x = classes(PLACE, 4, 3)
    with strict.allowed_host_reads():
        assert strict.host(ag.masked.median(x, 1, mask=x > -1)._a).tolist() == x.median(1).values.tolist()


def test_a_mask_is_looked_at_unless_it_is_said_to_be_causal():
    x = numbers(PLACE, 2, 3, 4)
    stack = module(lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 1), PLACE)
    later = nn.Transformer.generate_square_subsequent_mask(3, PLACE, ag.float64)
    told = stack(x, later, is_causal=True)
    not_told = stack(x, later, is_causal=False)
    np.testing.assert_allclose(strict.host(told._a), strict.host(not_told._a), 1e-9)
    with strict.allowed_host_reads():
        before = len(strict.copies)
        stack(x, later)
        assert len(strict.copies) == before + 1
