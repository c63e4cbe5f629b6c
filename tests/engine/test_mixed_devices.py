"""What is said about tensors on two devices in one call: PyTorch's words, in which ``strict`` stands for ``cuda``.

No GPU was there to run PyTorch on. What is certain of the words: their patterns ("found at least two devices", "but got ... is on ...,
different from other tensors on ...", "Input type ... and weight type ... should be the same", "Input and hidden tensors are not at
the same device") are in the libraries of PyTorch 2.13 and in what its users report. Which op says which, with which argument and which
name of a kernel, is read from reports of users where there are some (``addmm``, ``_index_select``, ``nll_loss_forward``, ``cat``) and
elsewhere follows from how PyTorch checks arguments: the first that differs, in their order. Names of kernels may differ between versions.
"""

import agdbg_tests_strict_device as strict
import pytest

import agdbg_engine as ag

nn, F = ag.nn, ag.nn.functional
STRICT = "strict"


def here(*shape):
    return ag.ones(*shape)


def there(*shape):
    return ag.ones(*shape, device=STRICT)


def indices(*values, device=None):
    return ag.tensor(values, device=device)


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
    "l1_loss": (lambda: F.l1_loss(here(2), there(2)), TWO), "kl_div": (lambda: F.kl_div(there(2), here(2), reduction="sum"), TWO), "clamp": (lambda: here(2).clamp(min=there(2)), TWO),
    # products
    "linear": (lambda: nn.Linear(3, 4).to(STRICT)(here(2, 3)), argument("mat1", "cpu", "strict:0", "addmm")),
    "linear there": (lambda: nn.Linear(3, 4)(there(2, 3)), argument("mat1", "strict:0", "cpu", "addmm")),
    "linear without a bias": (lambda: nn.Linear(3, 4, bias=False).to(STRICT)(here(2, 3)), argument("mat2", "strict:0", "cpu", "mm")),
    "mm": (lambda: there(2, 3) @ here(3, 2), argument("mat2", "cpu", "strict:0", "mm")), "bmm": (lambda: ag.bmm(there(1, 2, 3), here(1, 3, 2)), argument("mat2", "cpu", "strict:0", "bmm")),
    "operator of vectors": (lambda: there(2) @ here(2), argument("tensor", "cpu", "strict:0", "_dot")), "operator of a vector": (lambda: here(2, 2) @ there(2), TWO),
    "addmm": (lambda: ag.addmm(there(2, 2), there(2, 3), here(3, 2)), argument("mat2", "cpu", "strict:0", "addmm")),
    "baddbmm": (lambda: ag.baddbmm(here(1, 2, 2), there(1, 2, 3), there(1, 3, 2)), argument("batch1", "strict:0", "cpu", "baddbmm")),
    "dot": (lambda: ag.dot(there(2), here(2)), argument("tensor", "cpu", "strict:0", "_dot")), "solve": (lambda: ag.linalg.solve(ag.eye(2), there(2)), "Expected b and A to be on the same device, but found b on strict:0 and A on cpu instead."),
    "attention": (lambda: nn.MultiheadAttention(4, 2).to(STRICT)(*[here(2, 1, 4)] * 3), argument("mat1", "cpu", "strict:0", "addmm")),
    "cdist": (lambda: ag.cdist(here(2, 3), there(2, 3)), "X1 and X2 must have the same device type. X1: cpu X2: strict"),
    # pieces
    "cat": (lambda: ag.cat([here(2), there(2)]), argument("tensors", "strict:0", "cpu", "cat")), "stack": (lambda: ag.stack([there(2), here(2)]), argument("tensors", "cpu", "strict:0", "cat")),
    "index_select": (lambda: there(2).index_select(0, indices(0)), argument("index", "cpu", "strict:0", "_index_select")), "gather": (lambda: there(2).gather(0, indices(0)), argument("index", "cpu", "strict:0", "gather")),
    "embedding": (lambda: nn.Embedding(3, 4).to(STRICT)(indices(1)), argument("index", "cpu", "strict:0", "_index_select")),
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
    "equal": lambda: ag.equal(there(3), here(2)), "max": lambda: ag.max(here(2), there(1)[0]), "min": lambda: ag.min(there(2), here(2)), "lu_unpack": lambda: ag.lu_unpack(there(2, 2), here(2).int()),
    "searchsorted": lambda: ag.searchsorted(there(2), there(2), sorter=indices(0, 1)), "normal": lambda: ag.normal(ag.tensor(0.0), there(2)), "histogram": lambda: ag.histogram(there(4), here(3)),
    "pinv": lambda: ag.linalg.pinv(here(2, 2), rtol=there(1)[0]), "weight of a histogram": lambda: ag.histogram(there(4), 3, weight=here(4)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_no_other_function_mixes(name):
    with pytest.raises(RuntimeError) as found, strict.allowed_host_reads():
        REFUSED[name]()
    assert str(found.value).splitlines()[0] == TWO
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
