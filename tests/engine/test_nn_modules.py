"""Modules against PyTorch's: repr, names and first values of parameters, outputs and gradients with the same weights."""

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


X, SEQUENCE, IMAGE = numbers(4, 6), numbers(5, 2, 6), numbers(2, 4, 3, 3)
CLASSES = np.array([1, 0, 3, 5])
SIGNS = np.sign(numbers(4, seed=2))
PROBABLE = 1 / (1 + np.exp(-X))

INPLACE = ["ReLU", "ReLU6", "LeakyReLU", "ELU", "CELU", "SELU", "SiLU", "Mish", "Hardtanh", "Hardsigmoid", "Hardswish"]
ACTIVATIONS = [
    *INPLACE, "GELU", "GLU", "Hardshrink", "Softshrink", "Softplus", "Sigmoid", "Tanh", "LogSigmoid", "Softsign", "Tanhshrink",
]  # fmt: skip

MODULES = [
    *((name, (), {}, (X,)) for name in ACTIVATIONS),
    *((name, (), {"inplace": True}, (X,)) for name in INPLACE),
    ("GELU", (), {"approximate": "tanh"}, (X,)),
    ("Softmax", (1,), {}, (X,)),
    ("LogSoftmax", (-1,), {}, (X,)),
    ("Softmin", (0,), {}, (X,)),
    ("Softmax2d", (), {}, (IMAGE,)),
    ("Threshold", (0.1, 20), {}, (X,)),
    ("PReLU", (6,), {}, (X,)),
    ("RReLU", (), {}, (X,)),
    ("Identity", (3,), {"unused": 1}, (X,)),
    ("Flatten", (), {}, (IMAGE,)),
    ("Linear", (6, 3), {}, (X,)),
    ("Linear", (6, 3), {"bias": False}, (SEQUENCE,)),
    ("Bilinear", (6, 6, 3), {}, (X, X * 2)),
    ("LayerNorm", (6,), {}, (X,)),
    ("LayerNorm", ([3, 3],), {"bias": False}, (IMAGE,)),
    ("LayerNorm", (6,), {"elementwise_affine": False}, (X,)),
    ("RMSNorm", (6,), {"eps": 1e-3}, (X,)),
    ("GroupNorm", (2, 4), {}, (IMAGE,)),
    ("BatchNorm1d", (6,), {}, (X,)),
    ("BatchNorm1d", (2,), {"momentum": None}, (SEQUENCE,)),
    ("BatchNorm2d", (4,), {"affine": False}, (IMAGE,)),
    ("BatchNorm2d", (4,), {"track_running_stats": False}, (IMAGE,)),
    ("BatchNorm3d", (4,), {}, (IMAGE[..., None],)),
    ("InstanceNorm1d", (2,), {"affine": True}, (SEQUENCE,)),
    ("InstanceNorm2d", (4,), {"track_running_stats": True}, (IMAGE,)),
    ("InstanceNorm2d", (4,), {}, (IMAGE[0],)),
    ("LocalResponseNorm", (2,), {}, (IMAGE,)),
    ("Embedding", (6, 3), {"padding_idx": -1, "scale_grad_by_freq": True}, (CLASSES,)),
    ("Embedding", (6, 3), {"max_norm": 1.0}, (CLASSES,)),
    ("EmbeddingBag", (6, 3), {"mode": "max"}, (CLASSES.reshape(2, 2),)),
    ("EmbeddingBag", (6, 3), {"padding_idx": 1, "max_norm": 1.0}, (CLASSES, np.array([0, 2, 2]))),
    ("CosineSimilarity", (), {}, (X, X[::-1].copy())),
    ("PairwiseDistance", (), {"keepdim": True}, (X, X[::-1].copy())),
    ("Dropout", (0.0,), {}, (X,)),
    ("AlphaDropout", (0.0,), {}, (X,)),
    ("RNN", (6, 3), {"nonlinearity": "relu", "bias": False}, (SEQUENCE,)),
    ("RNN", (6, 3, 2), {"batch_first": True}, (SEQUENCE,)),
    ("GRU", (6, 3, 2), {"bidirectional": True}, (SEQUENCE,)),
    ("GRU", (6, 3), {}, (SEQUENCE[:, 0],)),
    ("LSTM", (6, 3, 2), {"bidirectional": True, "batch_first": True}, (SEQUENCE,)),
    ("LSTM", (6, 3), {"proj_size": 2}, (SEQUENCE,)),
    ("RNNCell", (6, 3), {}, (X,)),
    ("GRUCell", (6, 3), {"bias": False}, (X,)),
    ("LSTMCell", (6, 3), {}, (X,)),
    ("MultiheadAttention", (6, 2), {}, (SEQUENCE, SEQUENCE * 2, SEQUENCE)),
    ("MultiheadAttention", (6, 3), {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True}, (SEQUENCE,) * 3),
    ("MultiheadAttention", (6, 2), {"kdim": 4, "vdim": 5, "bias": False}, (SEQUENCE, SEQUENCE[..., :4], SEQUENCE[..., :5])),
    ("TransformerEncoderLayer", (6, 2, 8, 0.0), {}, (SEQUENCE,)),
    ("TransformerEncoderLayer", (6, 2, 8, 0.0, "gelu"), {"norm_first": True, "batch_first": True, "bias": False}, (SEQUENCE,)),
    ("TransformerDecoderLayer", (6, 2, 8, 0.0), {}, (SEQUENCE, SEQUENCE * 2)),
    ("Transformer", (6, 2, 2, 1, 8, 0.0), {}, (SEQUENCE, SEQUENCE * 2)),
    ("L1Loss", (), {}, (X, X * 2)),
    ("MSELoss", (), {"reduction": "sum"}, (X, X * 2)),
    ("SmoothL1Loss", (), {"beta": 0.5}, (X, X * 2)),
    ("HuberLoss", (), {"delta": 0.5}, (X, X * 2)),
    ("KLDivLoss", (), {"reduction": "batchmean"}, (X, PROBABLE)),
    ("PoissonNLLLoss", (), {"full": True}, (X, PROBABLE * 3)),
    ("GaussianNLLLoss", (), {"full": True}, (X, X * 2, PROBABLE)),
    ("NLLLoss", (), {"ignore_index": 3}, (X, CLASSES)),
    ("CrossEntropyLoss", (), {"label_smoothing": 0.1, "ignore_index": 3}, (X, CLASSES)),
    ("CrossEntropyLoss", (), {"reduction": "none"}, (X, PROBABLE)),
    ("BCELoss", (), {}, (PROBABLE, PROBABLE[::-1].copy())),
    ("BCEWithLogitsLoss", (), {}, (X, PROBABLE)),
    ("HingeEmbeddingLoss", (), {"margin": 0.5}, (X[:, 0], SIGNS)),
    ("MarginRankingLoss", (), {"margin": 0.5}, (X[:, 0], X[:, 1], SIGNS)),
    ("CosineEmbeddingLoss", (), {}, (X, X[::-1].copy(), SIGNS)),
    ("MultiMarginLoss", (), {"p": 2}, (X, CLASSES)),
    ("MultiLabelMarginLoss", (), {}, (X, np.array([[1, 0, -1, 2, 2, 2], [5, -1, 0, 0, 0, 0], [-1] * 6, [0, 1, 2, 3, 4, 5]]))),
    ("MultiLabelSoftMarginLoss", (), {}, (X, PROBABLE.round())),
    ("SoftMarginLoss", (), {}, (X[:, 0], SIGNS)),
    ("TripletMarginLoss", (), {"swap": True, "p": 1.0}, (X, X * 2, X[::-1].copy())),
    ("TripletMarginWithDistanceLoss", (), {"margin": 0.5}, (X, X * 2, X[::-1].copy())),
    ("CTCLoss", (), {"zero_infinity": True}, (numbers(7, 2, 5), np.array([[1, 2, 2], [3, 4, 0]]), np.array([7, 5]), np.array([3, 2]))),
]  # fmt: skip
CONSTANT = {
    "SoftMarginLoss": 1, "HingeEmbeddingLoss": 1, "MarginRankingLoss": 2, "CosineEmbeddingLoss": 2,
    "MultiLabelSoftMarginLoss": 1,
}  # fmt: skip
"""Where the inputs from here on get no gradient."""


def case_id(case):
    return f"{case[0]}-{','.join(f'{k}={v}' for k, v in case[2].items())}"


def twins(torch, name, args, kwargs):
    """The module of both libraries in float64 with the same weights."""
    ag.manual_seed(1)
    mine = getattr(ag.nn, name)(*args, **kwargs)
    theirs = getattr(torch.nn, name)(*args, **kwargs)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    for key, value in theirs.state_dict().items():
        found = mine.state_dict()[key]
        assert tuple(found.shape) == tuple(value.shape), key
        assert str(found.dtype) == str(value.dtype).removeprefix("torch."), key
    theirs.load_state_dict({k: torch.tensor(v.numpy()) for k, v in mine.state_dict().items()})
    return mine, theirs


def leaves(library, inputs, stop):
    made = []
    for i, value in enumerate(inputs):
        floating = value.dtype.kind == "f"
        t = library.tensor(value.astype("f4") if floating else value)
        made.append(t.requires_grad_() if floating and i < stop else t)
    return made


def flat(result):
    if isinstance(result, tuple | list):
        return [x for item in result for x in flat(item)]
    return [] if result is None else [result]


@pytest.mark.filterwarnings("ignore:.*nested tensor.*", "ignore:enable_nested_tensor", "ignore:LSTM with projections")
@pytest.mark.parametrize("case", MODULES, ids=case_id)
def test_module(torch, case):
    name, args, kwargs, inputs = case
    mine, theirs = twins(torch, name, args, kwargs)
    assert repr(mine) == repr(theirs)
    for mode in (True, False):
        if name == "RReLU" and mode:
            continue
        compare(torch, name, mine.train(mode), theirs.train(mode), inputs)
    for key, value in theirs.state_dict().items():  # running statistics
        np.testing.assert_allclose(mine.state_dict()[key].numpy(), value.numpy(), rtol=1e-4, atol=1e-5, err_msg=key)


def compare(torch, name, mine, theirs, inputs):
    """Outputs, and the gradients of inputs and parameters."""
    found = []
    for library, module in ((ag, mine), (torch, theirs)):
        given = leaves(library, inputs, CONSTANT.get(name, 9))
        inplace = getattr(module, "inplace", False)
        passed = [x.clone() for x in given] if inplace else list(given)
        if name == "CTCLoss":
            passed[0] = library.nn.functional.log_softmax(passed[0], 2)
        module.zero_grad()
        outs = [o for o in flat(module(*passed)) if o.requires_grad]
        loss = sum((o * library.tensor(numbers(*o.shape, seed=9).astype("f4"))).sum() for o in outs)
        if outs:
            loss.backward()
        grads = [x.grad for x in given] + [p.grad for p in module.parameters()]
        found.append(([o.detach().numpy() for o in outs], [None if x is None else x.numpy() for x in grads]))
    (ours, our_grads), (expected, expected_grads) = found
    assert len(ours) == len(expected)
    for a, b in zip(ours + our_grads, expected + expected_grads, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-5)


def test_masks_of_attention(torch):
    padding = np.array([[False, False, False, True, True], [False] * 5])
    mask = np.triu(np.ones((5, 5), bool), 1)
    mine, theirs = twins(torch, "MultiheadAttention", (6, 2), {})
    found = []
    for library, module in ((ag, mine), (torch, theirs)):
        x = library.tensor(SEQUENCE.astype("f4"))
        given = {"key_padding_mask": library.tensor(padding), "attn_mask": library.tensor(mask)}
        out, weights = module(x, x, x, average_attn_weights=False, **given)
        plain, none = module(x, x, x, need_weights=False, **given)
        assert none is None
        found.append([t.detach().numpy() for t in (out, weights, plain)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


# torch warns that it will not use nested tensors, which are not compared
@pytest.mark.filterwarnings("ignore:.*nested tensor.*", "ignore:enable_nested_tensor")
def test_a_causal_encoder(torch):
    made = [lib.nn.TransformerEncoder(lib.nn.TransformerEncoderLayer(6, 2, 8, 0.0), 2) for lib in (ag, torch)]
    made[1].load_state_dict({k: torch.tensor(v.numpy()) for k, v in made[0].state_dict().items()})
    found = []
    for library, module in zip((ag, torch), made, strict=True):
        mask = library.nn.Transformer.generate_square_subsequent_mask(5)
        found.append(module(library.tensor(SEQUENCE.astype("f4")), mask).detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)


def test_states_of_recurrent_networks(torch):
    found = []
    mine, theirs = twins(torch, "LSTM", (6, 3, 2), {})
    for library, module in ((ag, mine), (torch, theirs)):
        h, c = (library.tensor(numbers(2, 2, 3, seed=s).astype("f4")) for s in (5, 6))
        out, (h, c) = module(library.tensor(SEQUENCE.astype("f4")), (h, c))
        found.append([t.detach().numpy() for t in (out, h, c)])
        with pytest.raises(RuntimeError, match=r"Expected hidden\[0\] size \(2, 2, 3\), got \[1, 2, 3\]"):
            module(library.tensor(SEQUENCE.astype("f4")), (h[:1], c[:1]))
        with pytest.raises(RuntimeError, match=r"input.size\(-1\) must be equal to input_size. Expected 6, got 2"):
            module(library.ones(5, 2, 2))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("dtype", ["float64", "int64", "float16"])
def test_input_of_another_dtype_than_the_weights(torch, name, dtype):
    said = []
    for library in (ag, torch):
        module, x = getattr(library.nn, name)(3, 4), library.zeros(2, 1, 3, dtype=getattr(library, dtype))
        for given in (x, x[:, 0], x[..., :2]):
            said.append(refused(module, given))
    assert said[:3] == said[3:]


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_packed_input_of_another_dtype_than_the_weights(torch, name):
    said = []
    for library in (ag, torch):
        pack = library.nn.utils.rnn.pack_sequence
        said.append(refused(getattr(library.nn, name)(3, 4), pack([library.zeros(2, 3, dtype=library.float64)])))
    assert said[0] == said[1]


def refused(module, given):
    """The class and the words of the error about a dtype."""
    with pytest.raises((ValueError, RuntimeError), match=" dtype") as caught:
        module(given)
    return type(caught.value), str(caught.value)


def test_states_of_batch_norm_without_a_number_of_batches(torch):
    for library in (ag, torch):
        module = library.nn.BatchNorm1d(3)
        state = {k: v.clone() for k, v in module.state_dict().items() if k != "num_batches_tracked"}
        module.load_state_dict(state)
        assert int(module.num_batches_tracked) == 0


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("BatchNorm2d", (4,), "expected 4D input"),
        ("InstanceNorm1d", (4,), "expected 2D or 3D input"),
        ("Softmax2d", (), "expected input to be 3D or 4D, got 1D instead"),
    ],
)
def test_wrong_dimensions(torch, name, args, text):
    for library in (ag, torch):
        with pytest.raises(ValueError, match=text):
            getattr(library.nn, name)(*args)(library.ones(4))


@pytest.mark.parametrize(
    "name", ["xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "uniform_", "normal_", "trunc_normal_"]
)  # fmt: skip
def test_first_values(torch, name):
    spread = []
    for library in (ag, torch):
        t = library.zeros(60, 50)
        assert getattr(library.nn.init, name)(t) is t
        spread.append((float(t.mean()), float(t.std())))
    np.testing.assert_allclose(*spread, atol=0.08)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("Linear", (90, 70)),
        ("Bilinear", (30, 20, 40)),
        ("Embedding", (90, 50)),
        ("LSTM", (60, 50, 2)),
        ("GRUCell", (60, 50)),
        ("MultiheadAttention", (60, 2)),
        ("Transformer", (40, 2, 1, 1, 60)),
    ],
)
# torch warns that it will not use nested tensors, which are not compared
@pytest.mark.filterwarnings("ignore:.*nested tensor.*", "ignore:enable_nested_tensor")
def test_first_values_of_modules(torch, name, args):
    torch.manual_seed(0)
    ag.manual_seed(0)
    mine, theirs = getattr(ag.nn, name)(*args), getattr(torch.nn, name)(*args)
    for key, value in theirs.state_dict().items():
        found = mine.state_dict()[key].numpy()
        spread, few = float(value.std()), 6 / np.sqrt(value.numel())
        assert abs(found.std() - spread) <= few * spread, key
        assert abs(found.mean() - float(value.mean())) <= few * spread, key


def test_orthogonal():
    t = ag.nn.init.orthogonal_(ag.zeros(3, 5))
    np.testing.assert_allclose((t @ t.T).numpy(), np.eye(3), atol=1e-6)
