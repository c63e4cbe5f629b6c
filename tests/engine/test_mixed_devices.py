"""What is said about tensors on two devices in one call: PyTorch's words, in which ``strict`` stands for ``cuda``.

No GPU was there to run PyTorch on. What is certain of the words: their patterns ("found at least two devices", "but got ... is on ...,
different from other tensors on ...", "Input type ... and weight type ... should be the same", "Input and hidden tensors are not at
the same device") are in the libraries of PyTorch 2.13 and in what its users report. Which op says which, with which argument and which
name of a kernel, is read from reports of users where there are some (``addmm``, ``_index_select``, ``nll_loss_forward``, ``cat``) and
elsewhere follows from how PyTorch checks arguments: the first that differs, in their order. Names of kernels may differ between versions.
"""

import re
from pathlib import Path

import agdbg_tests_strict_device as strict
import pytest

import agdbg_engine as ag
from agdbg_engine.ops import checked_devices
from agdbg_engine.ops.mixed_devices import _elementwise

nn, F = ag.nn, ag.nn.functional
STRICT = "strict"


def here(*shape):
    return ag.ones(*shape)


def there(*shape):
    return ag.ones(*shape, device=STRICT)


def indices(*values, device=None):
    return ag.tensor(values, device=device)


def number():
    return ag.tensor(3.0, requires_grad=True)


TWO = "Expected all tensors to be on the same device, but found at least two devices, strict:0 and cpu!"


def argument(name, place, others, method):
    return (
        f"Expected all tensors to be on the same device, but got {name} is on {place}, different from other tensors on "
        f"{others} (when checking argument in method wrapper_STRICT_{method})"
    )


def states(kind, input, other):
    return f"Input and {kind} tensors are not at the same device, found input tensor at {input} and {kind} tensor at {other}"


DENSE = " or input should be a MKLDNN tensor and weight is a dense tensor"


def convolved(input, other, tail="", what="weight"):
    return f"Input type (torch.{input}Tensor) and {what} type (torch.{other}Tensor) should be the same{tail}"


CASES = {
    # elements, one beside the other: the CPU comes last
    "add": (lambda: there(2) + here(2), TWO), "add, the other way": (lambda: here(2) + there(2), TWO), "in place": (lambda: here(2).mul_(there(2)), TWO),
    "a number there": (lambda: here(2).add_(there(1)[0]), TWO), "where": (lambda: ag.where(here(2) > 0, there(2), there(2)), TWO), "compare": (lambda: here(2) == there(2), TWO),
    "lerp": (lambda: ag.lerp(here(2), there(2), 0.5), TWO), "out": (lambda: ag.add(here(2), here(2), out=there(2)), TWO), "mse_loss": (lambda: F.mse_loss(here(2), there(2)), TWO),
    "l1_loss": (lambda: F.l1_loss(here(2), there(2)), TWO), "kl_div": (lambda: F.kl_div(there(2), here(2), reduction="sum"), TWO), "clamp": (lambda: here(2).clamp(min=there(2)), argument("min", "strict:0", "cpu", "clamp_Tensor")),
    "a number that is looked at": (lambda: there(2).logaddexp(here(1)[0]), argument("other", "cpu", "strict:0", "logaddexp")),
    "elements in place": (lambda: there(2).long().gcd_(here(2).long()), argument("other", "cpu", "strict:0", "gcd_")),
    "a number as an angle": (lambda: ag.polar(there(2), number()), argument("angle", "cpu", "strict:0", "out_polar_out")),
    "an angle there": (lambda: ag.polar(number(), there(2)), argument("angle", "strict:0", "cpu", "out_polar_out")),
    "a number as a part": (lambda: ag.complex(there(2), number()), argument("imag", "cpu", "strict:0", "out_complex_out")),
    # a number by indices there
    "a number, index_select": (lambda: number().index_select(0, indices(0, device=STRICT)), argument("index", "strict:0", "cpu", "_index_select")),
    "a number, gather": (lambda: number().gather(0, indices(0, device=STRICT)[0]), argument("index", "strict:0", "cpu", "gather")),
    "a number, index_copy": (lambda: number().index_copy(0, indices(0, device=STRICT), number()), argument("index", "strict:0", "cpu", "index_copy")),
    "a number, index_fill": (lambda: number().index_fill(0, indices(0, device=STRICT), 2.0), TWO),
    "a number, index_fill_": (lambda: number().detach().index_fill_(0, indices(0, device=STRICT)[0], 2.0), TWO),
    "devices are looked at before shapes": (lambda: there(3).index_add(0, indices(0), there(2, 2)), argument("index", "cpu", "strict:0", "index_add")),
    # products
    "linear": (lambda: nn.Linear(3, 4).to(STRICT)(here(2, 3)), argument("mat1", "cpu", "strict:0", "addmm")),
    "linear there": (lambda: nn.Linear(3, 4)(there(2, 3)), argument("mat1", "strict:0", "cpu", "addmm")),
    "linear without a bias": (lambda: nn.Linear(3, 4, bias=False).to(STRICT)(here(2, 3)), argument("mat2", "strict:0", "cpu", "mm")),
    "mm": (lambda: there(2, 3) @ here(3, 2), argument("mat2", "cpu", "strict:0", "mm")), "bmm": (lambda: ag.bmm(there(1, 2, 3), here(1, 3, 2)), argument("mat2", "cpu", "strict:0", "bmm")),
    "operator of vectors": (lambda: there(2) @ here(2), argument("tensor", "cpu", "strict:0", "_dot")), "operator of a vector": (lambda: here(2, 2) @ there(2), argument("mat", "cpu", "strict:0", "addmv_")),
    "operator of many": (lambda: there(4, 2, 3) @ here(3, 2), argument("mat2", "cpu", "strict:0", "mm")), "operator of batches": (lambda: there(4, 2, 3) @ here(4, 3, 2), argument("mat2", "cpu", "strict:0", "bmm")),
    "operator of a weight": (lambda: here(2, 3).requires_grad_() @ there(4, 3, 2), argument("mat2", "cpu", "strict:0", "mm")),
    "addmm in place": (lambda: there(2, 2).addmm_(there(2, 3), here(3, 2)), argument("mat2", "cpu", "strict:0", "addmm_")),
    "addmm": (lambda: ag.addmm(there(2, 2), there(2, 3), here(3, 2)), argument("mat2", "cpu", "strict:0", "addmm")),
    "baddbmm": (lambda: ag.baddbmm(here(1, 2, 2), there(1, 2, 3), there(1, 3, 2)), argument("batch1", "strict:0", "cpu", "baddbmm")),
    "dot": (lambda: ag.dot(there(2), here(2)), argument("tensor", "cpu", "strict:0", "_dot")), "solve": (lambda: ag.linalg.solve(ag.eye(2), there(2)), "Expected b and A to be on the same device, but found b on strict:0 and A on cpu instead."),
    "attention": (lambda: nn.MultiheadAttention(4, 2).to(STRICT)(*[here(2, 1, 4)] * 3), argument("mat1", "cpu", "strict:0", "addmm")),
    "cdist": (lambda: ag.cdist(here(2, 3), there(2, 3)), "X1 and X2 must have the same device type. X1: cpu X2: strict"),
    # pieces
    "cat": (lambda: ag.cat([here(2), there(2)]), argument("tensors", "strict:0", "cpu", "cat")), "stack": (lambda: ag.stack([there(2), here(2)]), argument("tensors", "cpu", "strict:0", "cat")),
    "index_select": (lambda: there(2).index_select(0, indices(0)), argument("index", "cpu", "strict:0", "_index_select")), "gather": (lambda: there(2).gather(0, indices(0)), argument("index", "cpu", "strict:0", "gather")),
    "embedding": (lambda: nn.Embedding(3, 4).to(STRICT)(indices(1)), argument("index", "cpu", "strict:0", "_index_select")),
    "scatter": (lambda: there(2).scatter(0, indices(0), 1.0), argument("index", "cpu", "strict:0", "scatter_value")),
    "scatter in place": (lambda: there(2).scatter_(0, indices(0, device=STRICT), here(1)), argument("src", "cpu", "strict:0", "scatter__src")),
    "index_add in place": (lambda: there(2).index_add_(0, indices(0), there(1)), argument("index", "cpu", "strict:0", "index_add_")),
    "take": (lambda: there(2).take(indices(0)), argument("index", "cpu", "strict:0", "_take")), "masked_select": (lambda: there(2).masked_select(here(2) > 0), argument("mask", "cpu", "strict:0", "_masked_select")),
    "masked_scatter": (lambda: there(2).masked_scatter(here(2) > 0, there(2)), argument("mask", "cpu", "strict:0", "_masked_scatter_")),
    "bags": (lambda: F.embedding_bag(indices(0, 1), there(3, 2), indices(0)), argument("indices", "cpu", "strict:0", "__embedding_bag_forward_only")),
    "bags of a weight": (lambda: F.embedding_bag(indices(0, 1), there(3, 2).requires_grad_(), indices(0)), argument("indices", "cpu", "strict:0", "__embedding_bag")),
    "bincount": (lambda: ag.bincount(indices(0, 1, device=STRICT), weights=here(2)), argument("weights", "cpu", "strict:0", "_bincount")),
    "equal": (lambda: ag.equal(there(3), here(2)), argument("other", "cpu", "strict:0", "_equal")), "isin": (lambda: ag.isin(there(3), here(2)), argument("test_elements", "cpu", "strict:0", "isin_Tensor_Tensor")),
    "lu_unpack": (lambda: ag.lu_unpack(there(2, 2), here(2).int()), argument("LU_pivots", "cpu", "strict:0", "lu_unpack")),
    "searchsorted": (lambda: ag.searchsorted(there(2), here(2)), argument("self", "cpu", "strict:0", "Tensor_searchsorted")), "bucketize": (lambda: ag.bucketize(there(2), here(2)), argument("boundaries", "cpu", "strict:0", "Tensor_bucketize")),
    "an order": (lambda: ag.searchsorted(there(2), there(2), sorter=indices(0, 1)), "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor device type cpu and input value tensor device type strict:0"),
    "normal": (lambda: ag.normal(ag.tensor(0.0), there(2)), argument("std", "strict:0", "cpu", "Tensor_Tensor_normal")),
    "embedding there": (lambda: nn.Embedding(3, 4)(indices(1, device=STRICT)), argument("index", "strict:0", "cpu", "_index_select")),
    "masked_fill": (lambda: there(2).masked_fill(here(2) > 0, 1.0), "expected self and mask to be on the same device, but got mask on cpu and self on strict:0"),
    "index": (lambda: here(2)[indices(0, device=STRICT)], "indices should be either on cpu or on the same device as the indexed tensor (cpu)"),
    "mask": (lambda: here(2)[there(2) > 0], "indices should be either on cpu or on the same device as the indexed tensor (cpu)"),
    "index assigned": (lambda: here(2).__setitem__(indices(0, device=STRICT), 1.0), "indices should be either on cpu or on the same device as the indexed tensor (cpu)"),
    "sampled": (lambda: F.grid_sample(there(1, 1, 2, 2), here(1, 2, 2, 2), align_corners=False), "grid_sampler(): expected input and grid to be on same device, but input is on strict:0 and grid is on cpu"),
    "lengths": (lambda: nn.utils.rnn.pack_padded_sequence(there(2, 1, 1), indices(2, device=STRICT)), "'lengths' argument should be a 1D CPU int64 tensor, but got 1D strict:0 Long tensor"),
    # losses of classes, normalisations
    "cross_entropy": (lambda: F.cross_entropy(there(2, 3), indices(0, 1)), argument("target", "cpu", "strict:0", "nll_loss_forward")),
    "weight of classes": (lambda: F.cross_entropy(there(2, 3), indices(0, 1, device=STRICT), weight=here(3)), argument("weight", "cpu", "strict:0", "nll_loss_forward")),
    "layer_norm": (lambda: nn.LayerNorm(3).to(STRICT)(here(2, 3)), argument("weight", "strict:0", "cpu", "_native_layer_norm")),
    "group_norm": (lambda: nn.GroupNorm(1, 3)(there(2, 3)), argument("weight", "cpu", "strict:0", "_native_group_norm")),
    "batch_norm": (lambda: nn.BatchNorm1d(3).to(STRICT)(here(2, 3)), argument("weight", "strict:0", "cpu", "_native_batch_norm")),
    "batch_norm of pictures": (lambda: nn.BatchNorm2d(3)(there(2, 3, 2, 2)), argument("weight", "cpu", "strict:0", "_cudnn_batch_norm")),
    "binary_cross_entropy": (lambda: F.binary_cross_entropy(there(2), here(2)), TWO),
    "huber_loss": (lambda: F.huber_loss(there(2), here(2)), argument("target", "cpu", "strict:0", "_huber_loss")),
    "classes of pictures": (lambda: F.nll_loss(there(1, 2, 1, 1), here(1, 1, 1).long()), argument("target", "cpu", "strict:0", "_nll_loss2d_forward")),
    # recurrent layers
    "parameters of an RNN": (lambda: nn.RNN(3, 4).to(STRICT)(here(5, 2, 3)), states("parameter", "cpu", "strict:0")), "parameters of an LSTM": (lambda: nn.LSTM(3, 4)(there(5, 2, 3)), states("parameter", "strict:0", "cpu")),
    "parameters of a GRU": (lambda: nn.GRU(3, 4).to(STRICT)(here(5, 3)), states("parameter", "cpu", "strict:0")),
    "state of a GRU": (lambda: nn.GRU(3, 4).to(STRICT)(there(5, 2, 3), here(1, 2, 4)), states("hidden", "strict:0", "cpu")),
    "cell of an LSTM": (lambda: nn.LSTM(3, 4).to(STRICT)(there(5, 2, 3), (there(1, 2, 4), here(1, 2, 4))), states("hidden", "strict:0", "cpu")),
    "packed": (lambda: nn.LSTM(1, 4).to(STRICT)(nn.utils.rnn.pack_padded_sequence(here(2, 1, 1), [2])), states("parameter", "cpu", "strict:0")),
    "cell": (lambda: nn.GRUCell(3, 4).to(STRICT)(here(2, 3)), argument("mat1", "cpu", "strict:0", "addmm")),
    # convolutions
    "conv1d": (lambda: nn.Conv1d(3, 4, 1).to(STRICT)(here(2, 3, 5)), convolved("Float", "strict.Float", DENSE)), "conv2d": (lambda: nn.Conv2d(3, 4, 1)(there(2, 3, 5, 5)), convolved("strict.Float", "Float")),
    "conv3d in float64": (lambda: nn.Conv3d(3, 4, 1).double().to(STRICT)(here(2, 3, 5, 5, 5).double()), convolved("Double", "strict.Double")),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(3, 4, 1).to(STRICT)(here(2, 3, 5, 5)), convolved("Float", "strict.Float", DENSE)),
    "bias": (lambda: F.conv2d(there(1, 3, 2, 2), there(4, 3, 1, 1), here(4)), convolved("strict.Float", "Float", what="bias")),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_words_are_those_of_pytorch(name):
    run, text = CASES[name]
    with pytest.raises(RuntimeError) as found, strict.allowed_host_reads():
        run()
    assert str(found.value).splitlines()[0] == text
    strict.refusals.clear()


COMPOSED = {
    "stft": lambda t, here, there: t.stft(there(32), 8, window=here(8), return_complex=True), "stft there": lambda t, here, there: t.stft(here(32), 8, window=there(8), return_complex=True),
    "istft": lambda t, here, there: t.istft(t.complex(here(5, 17), here(5, 17)), 8, window=there(8)), "multi_dot": lambda t, here, there: t.linalg.multi_dot([there(2, 3), there(3, 4), here(4, 2)]),
    "multi_dot of two": lambda t, here, there: t.linalg.multi_dot([here(2, 3), there(3, 4)]), "chain_matmul": lambda t, here, there: t.chain_matmul(there(2, 3), here(3, 4)),
    "take_along_dim": lambda t, here, there: t.take_along_dim(there(2, 2), t.tensor([[0, 1]]), 1), "take_along_dim there": lambda t, here, there: t.take_along_dim(here(2, 2), there(1, 2).long()),
    "cholesky_solve": lambda t, here, there: t.cholesky_solve(here(2, 1), there(2, 2)), "cholesky_solve, the other way": lambda t, here, there: t.cholesky_solve(there(2, 1), here(2, 2)),
    "quantile of a number": lambda t, here, there: t.quantile(there(4), t.tensor(0.5)), "quantile": lambda t, here, there: t.quantile(here(4), there(1)), "nanquantile": lambda t, here, there: t.nanquantile(there(4), here(1)),
    "tensor_split": lambda t, here, there: t.tensor_split(here(4), there(1).long()), "meshgrid": lambda t, here, there: t.meshgrid(there(2), here(2), indexing="ij"),
    "gradient": lambda t, here, there: t.gradient(there(3), spacing=(here(3),)), "attention": lambda t, here, there: t.nn.functional.scaled_dot_product_attention(there(1, 2, 3), here(1, 2, 3), there(1, 2, 3)),
    "a gradient assigned": lambda t, here, there: setattr(there(2).requires_grad_(), "grad", here(2)), "a gradient given": lambda t, here, there: (there(2).requires_grad_() * 2).backward(here(2)),
}  # fmt: skip
"""What PyTorch checks before a device is asked: its device ``meta`` stands for the GPU there."""


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated", "ignore:.*will be deprecated")
def test_the_words_of_functions_made_of_others(name):
    torch = pytest.importorskip("torch", reason="errors are compared with PyTorch's")
    texts = []
    for t, place in ((torch, "meta"), (ag, STRICT)):
        there = lambda *shape, t=t, place=place: t.ones(*shape, device=place)
        with pytest.raises(RuntimeError) as found, strict.allowed_host_reads():
            COMPOSED[name](t, t.ones, there)
        texts.append(str(found.value).splitlines()[0])
    assert texts[0].replace("meta", STRICT) == texts[1].replace("strict:0", STRICT)
    strict.refusals.clear()


REFUSED = {
    "max": lambda: ag.max(here(2), there(1)[0]), "min": lambda: ag.min(there(2), here(2)),
    "histogram": lambda: ag.histogram(there(4), here(3)),
    "pinv": lambda: ag.linalg.pinv(here(2, 2), rtol=there(1)[0]), "weight of a histogram": lambda: ag.histogram(there(4), 3, weight=here(4)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_no_other_function_mixes(name):
    with pytest.raises(RuntimeError) as found, strict.allowed_host_reads():
        REFUSED[name]()
    assert str(found.value).splitlines()[0] == TWO
    strict.refusals.clear()


def second(*shape):
    return ag.ones(*shape, device=strict.PLACE)


OF_ONE_KIND = {
    "add": lambda a, b: a(2) + b(2), "in place": lambda a, b: a(2).mul_(b(2)), "a number": lambda a, b: a(2) * b(1)[0], "out": lambda a, b: ag.add(b(2), b(2), out=a(2)),
    "linear": lambda a, b: nn.Linear(3, 4).to(b(1).device)(a(2, 3)), "mm": lambda a, b: a(2, 2) @ b(2, 2), "mv": lambda a, b: b(2, 2) @ a(2), "dot": lambda a, b: a(2) @ b(2), "einsum": lambda a, b: ag.einsum("i,i->", a(2), b(2)),
    "cat": lambda a, b: ag.cat([a(2), a(2), b(2)]), "stack": lambda a, b: ag.stack((a(2), b(2))), "gather": lambda a, b: a(2).gather(0, b(2).long()), "index_add_": lambda a, b: a(2).index_add_(0, b(1).long(), a(1)),
    "embedding": lambda a, b: nn.Embedding(3, 4).to(a(1).device)(b(1).long()), "bags": lambda a, b: F.embedding_bag(b(2).long(), a(3, 2), b(1).long() * 0), "masked_scatter": lambda a, b: a(2).masked_scatter(b(2) > 0, a(2)),
    "cross_entropy": lambda a, b: F.cross_entropy(a(2, 3), b(2).long()), "bce": lambda a, b: F.binary_cross_entropy(a(2), b(2)), "clamp": lambda a, b: a(2).clamp(b(2)), "clamp_max_": lambda a, b: a(2).clamp_max_(b(2)),
    "layer_norm": lambda a, b: nn.LayerNorm(3).to(b(1).device)(a(2, 3)), "batch_norm": lambda a, b: F.batch_norm(a(2, 3), None, None, b(3), b(3), True), "conv2d": lambda a, b: nn.Conv2d(3, 4, 1).to(b(1).device)(a(2, 3, 5, 5)),
    "masked_fill": lambda a, b: a(2).masked_fill(b(2) > 0, 1.0), "solve": lambda a, b: ag.linalg.solve(a(2, 2), b(2)), "cdist": lambda a, b: ag.cdist(a(2, 3), b(2, 3)), "index": lambda a, b: a(3)[b(1).long()],
    "lstm": lambda a, b: nn.LSTM(3, 4).to(b(1).device)(a(5, 2, 3)), "searchsorted": lambda a, b: ag.searchsorted(a(3), b(2)), "equal": lambda a, b: ag.equal(a(3), b(2)), "prelu": lambda a, b: F.prelu(a(2), b(1)),
    "grid_sample": lambda a, b: F.grid_sample(a(1, 1, 2, 2), b(1, 2, 2, 2), align_corners=False), "rms_norm": lambda a, b: F.rms_norm(a(2, 3), (3,), b(3)),
}  # fmt: skip
OWN = {
    "grid_sample": "grid_sampler(): expected input and grid to be on same device, but input is on {a} and grid is on {b}", "bce": "found at least two devices, {a} and {b}!",
    "add": "found at least two devices, {a} and {b}!", "in place": "found at least two devices, {a} and {b}!", "a number": "found at least two devices, {a} and {b}!",
    "out": "found at least two devices, {a} and {b}!", "linear": "got mat1 is on {a}, different from other tensors on {b} (when checking argument in method wrapper_STRICT_addmm)",
    "mm": "got mat2 is on {b}, different from other tensors on {a} (when checking argument in method wrapper_STRICT_mm)", "mv": "got mat is on {b}, different from other tensors on {a} (when checking argument in method wrapper_STRICT_addmv_)",
    "cat": "got tensors is on {b}, different from other tensors on {a} (when checking argument in method wrapper_STRICT_cat)", "index_add_": "got index is on {b}, different from other tensors on {a} (when checking argument in method wrapper_STRICT_index_add_)",
    "cross_entropy": "got target is on {b}, different from other tensors on {a} (when checking argument in method wrapper_STRICT_nll_loss_forward)", "clamp_max_": "got max is on {b}, different from other tensors on {a} (when checking argument in method wrapper_STRICT_clamp_max__Tensor)",
    "batch_norm": "got weight is on {b}, different from other tensors on {a} (when checking argument in method wrapper_STRICT__native_batch_norm)", "conv2d": "got weight is on {b}, different from other tensors on {a} (when checking argument in method wrapper_STRICT__cudnn_convolution)",
    "masked_fill": "expected self and mask to be on the same device, but got mask on {b} and self on {a}", "solve": "Expected b and A to be on the same device, but found b on {b} and A on {a} instead.", "cdist": "device of X1 ({i}) must match device of X2 ({j})",
    "index": "indices should be either on cpu or on the same device as the indexed tensor ({a})", "lstm": "Input and parameter tensors are not at the same device, found input tensor at {a} and parameter tensor at {b}",
}  # fmt: skip
"""What the error ends with; elsewhere it is that of a kernel which looks at its arguments one by one."""


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", OF_ONE_KIND)
def test_two_devices_of_one_kind(name, turned):
    a, b = (second, there) if turned else (there, second)
    with pytest.raises(RuntimeError) as found, strict.allowed_host_reads():
        OF_ONE_KIND[name](a, b)
    places = a(1).device, b(1).device
    kernel = "(when checking argument in method wrapper_STRICT_"
    end = OWN.get(name, kernel).format(a=places[0], b=places[1], i=places[0].index, j=places[1].index)
    text = str(found.value).splitlines()[0]
    assert text.endswith(end) if name in OWN else end in text


def test_targets_of_ctc_loss_may_be_elsewhere():
    """PyTorch takes them to the device of the probabilities by itself."""
    x, targets = ag.randn(5, 2, 4).log_softmax(2), ag.tensor([[1, 2], [3, 1]])
    lengths = ag.tensor([5, 5]), ag.tensor([2, 2])
    wanted = F.ctc_loss(x, targets, *lengths)
    with strict.allowed_host_reads():
        for place, beside in ((STRICT, "cpu"), (strict.PLACE, STRICT)):
            found = F.ctc_loss(x.to(place), targets.to(beside), *lengths)
            assert found.device == ag.device(f"{place}:0" if place == STRICT else place)
            assert found.item() == pytest.approx(wanted.item(), rel=1e-5)
    strict.refusals.clear()


def checked_of_pytorch():
    """By the name of a kernel of PyTorch's for CUDA its tensors in order, if it compares their devices: from its list of ops."""
    torchgen = pytest.importorskip("torchgen", reason="PyTorch's list of ops is read")
    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    found = {}
    for entry in path.read_text().split("\n- func: ")[1:]:
        name, arguments = re.match(r"([\w.]+)\((.*?)\) ->", entry).groups()
        if re.search(r"^  device_check: NoCheck", entry, re.M):
            continue
        op, _, overload = name.partition(".")
        structured = "structured" in entry
        kernel = "_".join(filter(None, (op, overload))) if structured else f"{overload}_{op}"
        kernel += "_out" if re.search(r"\*, .*\(a!\)", arguments) and not structured else ""
        positional = arguments.split("*, ")[0]
        found[kernel] = re.findall(r"Tensor(?:\([a-z!]+\))?(?:\[\]|\?)? (\w+)", positional)
    return found


def test_the_kernels_are_those_of_pytorchs_list():
    theirs = checked_of_pytorch()
    assert len(theirs) > 300
    for op, row in checked_devices.KERNELS.items():
        kernel, *names = row.split()
        wanted = theirs[kernel]
        if kernel == "_cudnn_convolution":  # its first argument is called `self` there, and so it is in errors
            wanted = ["input", *wanted[1:]]
        assert [name.partition("=")[0] for name in names] == wanted[: len(names)], op
        assert len(names) >= min(2, len(wanted)), op


def test_numbers_on_the_cpu_may_stand_beside_what_no_kernel_looks_at():
    """PyTorch's list says of which ops the loop over elements finds that devices differ: those take numbers of the CPU."""
    theirs = checked_of_pytorch()
    for op in (name for name in _elementwise() if not name.endswith("_backward")):
        assert op not in theirs or len(theirs[op]) < 2, op
        assert f"_{op}" not in theirs or len(theirs[f"_{op}"]) < 2, op


@pytest.mark.parametrize("place", [STRICT, strict.PLACE])
def test_numbers_beside_tensors_of_any_device(place):
    x = ag.tensor([1.0, 2.0, 4.0], device=place, requires_grad=True)
    mask, one = ag.tensor([True, False, False], device=place), number()
    with strict.allowed_host_reads():
        assert (
            x.masked_fill(mask, one).tolist()
            == x.detach().clone().masked_fill_(mask, one.detach()).tolist()
            == [3.0, 2.0, 4.0]
        )
        x.masked_fill(mask, one).sum().backward()
        assert (x.grad.tolist(), one.grad.item(), str(one.grad.device)) == ([0.0, 1.0, 1.0], 1.0, "cpu")
        ag.dist(x, one).backward()
        assert str(one.grad.device) == "cpu"
        assert ag.dist(x, one).item() == pytest.approx(6**0.5)
        assert ag.isclose(x, ag.tensor(2.0)).tolist() == [False, True, False] and not ag.allclose(x, ag.tensor(2.0))
    strict.refusals.clear()


def test_blocks_of_a_diagonal():
    """PyTorch's words for ``meta`` are others than in its library, which are these."""
    text = "^torch.block_diag: input tensors must all be on the same device. Input 0 is on device strict:0 and input 1 is on device cpu$"
    with pytest.raises(RuntimeError, match=text):
        ag.block_diag(there(2, 2), here(2, 2))


def test_parameters_of_two_devices_make_no_vector():
    text = "^Found two parameters on different devices, this is currently not supported.$"
    with pytest.raises(TypeError, match=text):
        nn.utils.parameters_to_vector([here(2), there(2)])
    with pytest.raises(TypeError, match=text):
        nn.utils.vector_to_parameters(here(4), [here(2), there(2)])


def test_a_layer_with_all_on_one_device_is_as_on_the_cpu():
    ag.manual_seed(0)
    layer = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    x = ag.randn(5, 2, 3)
    wanted, _ = layer(x)
    found, _ = layer.to(STRICT)(x.to(STRICT))
    assert abs(strict.host(found.detach()._a) - wanted.detach().numpy()).max() < 1e-6
