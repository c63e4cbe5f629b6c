"""Names that training scripts use beside tensors and modules: limits, old constructors, files, averages, paths of imports."""

import collections
import importlib
import io
import warnings
import zipfile

import numpy as np
import pytest
from agdbg_tests_differential import of_the_cpu

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these names")


def outcome(program, t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return program(t)
        except Exception as error:
            return type(error).__name__, str(error).split("\n")[0]


def values(t):
    return t.detach().numpy().tolist(), t.requires_grad, str(t.dtype).removeprefix("torch.")


def derived_losses(t):
    class Focal(t.nn.modules.loss._WeightedLoss):
        def __init__(self, weight):
            super().__init__(weight, reduction="sum")

        def forward(self, x, y):
            return 2 * t.nn.functional.cross_entropy(x, y, self.weight, reduction=self.reduction)

    class Plain(t.nn.modules.loss._Loss):
        def __init__(self):
            super().__init__()

    kinds = ["BCELoss", "MultiMarginLoss", "NLLLoss", "CrossEntropyLoss", "BCEWithLogitsLoss", "MSELoss"]
    weighted = [issubclass(getattr(t.nn, k), t.nn.modules.loss._WeightedLoss) for k in kinds]
    focal = Focal(t.tensor([1.0, 2.0]))
    return weighted, Plain().reduction, list(focal.state_dict()), round(focal(t.zeros(1, 2), t.tensor([1])).item(), 4)


def default_type(t):
    try:
        t.set_default_tensor_type(t.DoubleTensor)
        found = [str(t.ones(1).dtype)[-7:]]
        t.set_default_tensor_type("torch.HalfTensor")
        found.append(str(t.get_default_dtype())[-7:])
    finally:
        t.set_default_tensor_type(t.FloatTensor)
    t.set_default_tensor_type(t.LongTensor)


def cast_functions(t):
    class Twice(t.autograd.Function):
        @staticmethod
        @t.amp.custom_fwd(device_type="cpu", cast_inputs=t.float16)
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        @t.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            return 2 * g

    x = t.ones(2).requires_grad_()
    Twice.apply(x).sum().backward()
    return values(x.grad), t.amp.custom_fwd(lambda ctx: None, device_type=3)


def flags_of_cudnn(t):
    c = t.backends.cudnn
    read = lambda: (c.enabled, c.benchmark, c.deterministic, c.allow_tf32)
    found = [read()]
    with c.flags(enabled=True, deterministic=True):
        found.append(read()[1:])
    try:
        with c.flags(benchmark=True):
            found.append(read())
            raise KeyError
    except KeyError:
        return [*found, read()]


def no_accelerator(t):
    a = t.accelerator
    calls = (a.synchronize, a.current_device_index, lambda: a.set_device_index(0), a.current_stream, a.empty_cache)
    said = [outcome(lambda _, call=call: call(), t) for call in calls]
    return a.is_available(), a.device_count(), a.current_accelerator(), t.version.cuda, t.version.hip, said


def names_for_gpus(t):
    error = t.OutOfMemoryError
    return (
        t.get_device(t.ones(2)),
        t.ones(2).get_device(),
        error is t.cuda.OutOfMemoryError,
        issubclass(error, RuntimeError),
    )


def data_paths(t):
    module = lambda path: importlib.import_module(f"{t.__name__}.utils.data.{path}")
    names = {
        "sampler": "Sampler BatchSampler",
        "dataset": "Dataset Subset random_split",
        "dataloader": "DataLoader default_collate",
    }
    found = [getattr(module(path), n) is getattr(t.utils.data, n) for path, ns in names.items() for n in ns.split()]
    return (
        found,
        module("_utils.collate").default_collate([1, 2]).tolist(),
        hasattr(t.utils.data.sampler, "RandomSampler"),
    )


PROGRAMS = {
    "fans": lambda t: t.nn.init._calculate_fan_in_and_fan_out(t.ones(3, 4, 2)),
    "one of the fans": lambda t: t.nn.init._calculate_correct_fan(t.ones(3, 4), "fan_out"),
    "no fan": lambda t: t.nn.init._calculate_correct_fan(t.ones(3, 4), "fan"),
    "derived losses": derived_losses,
    "default type": default_type,
    "cast functions": cast_functions,
    "flags of cudnn": flags_of_cudnn, "no accelerator": no_accelerator, "names for GPUs": names_for_gpus,
    "paths of data": data_paths,
    "base of recurrent modules": lambda t: [isinstance(t.nn.GRU(1, 1), t.nn.RNNBase), isinstance(t.nn.GRUCell(1, 1), t.nn.RNNCellBase)],
    "finfo": lambda t: [repr(t.finfo(getattr(t, d))) for d in ("float16", "float32", "float64", "complex64")],
    "finfo values": lambda t: [getattr(t.finfo(t.float32), n) for n in ("min", "max", "eps", "tiny", "bits", "dtype", "resolution")],
    "finfo default": lambda t: repr(t.finfo()),
    "finfo of integers": lambda t: t.finfo(t.int32),
    "iinfo": lambda t: [repr(t.iinfo(getattr(t, d))) for d in ("int8", "uint8", "int64")],
    "iinfo of floats": lambda t: t.iinfo(t.float32),
    "iinfo of bools": lambda t: t.iinfo(t.bool),
    "constants": lambda t: (t.inf, t.pi, t.e, t.newaxis, t.nan != t.nan),
    "is_tensor": lambda t: (t.is_tensor(t.ones(1)), t.is_tensor([1])),
    "dtype": lambda t: (isinstance(t.ones(1).dtype, t.dtype), isinstance(1, t.dtype), t.ones(1).cfloat().dtype == t.cfloat),
    "layout": lambda t: (str(t.ones(1).layout), t.ones(1).layout == t.strided),
    "types": lambda t: [t.ones(1, dtype=getattr(t, d)).type() for d in ("float16", "int64", "bool", "uint8", "complex64")],
    "type": lambda t: values(t.ones(2).type("torch.LongTensor")),
    "type of a class": lambda t: values(t.ones(2).type(t.DoubleTensor)),
    "type of a dtype": lambda t: values(t.ones(2).type(t.int32)),
    "type unknown": lambda t: t.ones(1).type("foo"),
    "type wrong": lambda t: t.ones(1).type(3),
    "FloatTensor": lambda t: values(t.FloatTensor([[1, 2], [3, 4]])),
    "tuple": lambda t: values(t.FloatTensor((2, 3))),
    "sizes": lambda t: list(t.HalfTensor(2, 3).shape),
    "Size": lambda t: list(t.IntTensor(t.Size([2, 3])).shape),
    "nothing": lambda t: values(t.ByteTensor()),
    "array": lambda t: values(t.FloatTensor(np.ones((2, 2)))),
    "number": lambda t: t.FloatTensor(2.5),
    "LongTensor": lambda t: values(t.LongTensor([1.5, 2])),
    "BoolTensor": lambda t: values(t.BoolTensor([1, 0])),
    "isinstance": lambda t: [isinstance(t.ones(1), k) for k in (t.FloatTensor, t.LongTensor)],
    "repr": lambda t: repr(t.FloatTensor),
    "new": lambda t: values(t.ones(1, requires_grad=True).new([1, 2])),
    "new of sizes": lambda t: list(t.ones(1).new(2, 3).shape),
    "asarray": lambda t: [values(t.asarray(x)) for x in ([1, 2.0], np.ones(2), 3)],
    "asarray of a leaf": lambda t: values(t.asarray(t.ones(2, requires_grad=True))),
    "asarray without history": lambda t: values(t.asarray(t.ones(2, requires_grad=True) * 2, requires_grad=False)),
    "asarray aliasing": lambda t: t.asarray([1, 2], copy=False),
    "asarray aliasing another dtype": lambda t: t.asarray(np.ones(2), copy=False, dtype=t.float32),
    "size": lambda t: [repr(t.ones(2, 3).size()), repr(t.Size([2, 3])[1:]), repr(t.Size([2]) + (1,)), repr((1,) + t.Size([2]))],
    "size of what": lambda t: t.Size([2.5]),
    "numel": lambda t: (t.ones(2, 3).size().numel(), t.ones(2, 3).size() == (2, 3), hash(t.Size([2])) == hash((2,))),
    "pin_memory": lambda t: t.ones(1).pin_memory(),
    "pinned": lambda t: t.ones(1).is_pinned(),
    "default device": lambda t: str(t.get_default_device()),
    "seed of a GPU": lambda t: (t.cuda.manual_seed(0), t.cuda.manual_seed_all(0)),
    "cudnn": lambda t: (t.backends.cudnn.benchmark, t.backends.cudnn.deterministic, t.backends.cudnn.is_available()),
    "TF32": lambda t: t.backends.cuda.matmul.allow_tf32,
    "GPU autocast": lambda t: t.cuda.amp.autocast(enabled=False).__enter__() and None,
    "GPU scaler": lambda t: t.cuda.amp.GradScaler(enabled=False).state_dict(),
    "deterministic": lambda t: t.use_deterministic_algorithms(1),
    "no threads": lambda t: t.set_num_threads(0),
    "threads of what": lambda t: t.set_num_threads("a"),
    "no scaler": lambda t: t.amp.GradScaler("cpu", enabled=False).state_dict(),
    "pad": lambda t: values(t.nn.utils.rnn.pad_sequence([t.ones(2, 3), t.ones(4, 3) * 2], padding_value=7.0)),
    "pad left": lambda t: values(t.nn.utils.rnn.pad_sequence([t.ones(2), t.ones(3)], True, padding_side="left")),
    "pad nothing": lambda t: t.nn.utils.rnn.pad_sequence([]),
    "pad what": lambda t: t.nn.utils.rnn.pad_sequence(3),
    "linearize": lambda t: values(t.func.linearize(lambda x: x * x, t.ones(2))[1](t.ones(2) * 3)),
    "pair": lambda t: importlib.import_module(f"{t.__name__}.nn.modules.utils")._pair(3),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_name(torch, name):
    if name in ("pin_memory", "no accelerator", "cudnn"):
        of_the_cpu(torch)
    if name == "pin_memory" and ag.cuda.is_available():
        pytest.skip("with a GPU it is another thing")
    assert outcome(PROGRAMS[name], ag) == outcome(PROGRAMS[name], torch)


def test_padding_can_be_undone_and_differentiated(torch):
    for t in (ag, torch):
        parts = [t.ones(2, requires_grad=True), t.ones(3, requires_grad=True)]
        padded = t.nn.utils.rnn.pad_sequence(parts)
        (padded * padded).sum().backward()
        assert parts[0].grad.tolist() == [2, 2]
        back = t.nn.utils.rnn.unpad_sequence(padded.detach(), t.tensor([2, 3]))
        assert [b.tolist() for b in back] == [[1, 1], [1, 1, 1]]


CLOSE = {
    "close": lambda t: (t.ones(3), t.ones(3) + 1e-7),
    "far": lambda t: (t.ones(3), t.ones(3) * 1.5),
    "sizes": lambda t: (t.ones(3), t.ones(4)),
    "dtypes": lambda t: (t.ones(3), t.ones(3).double()),
    "integers": lambda t: (t.tensor([1, 2]), t.tensor([1, 3])),
    "scalars": lambda t: (t.tensor(1.0), t.tensor(2.0)),
    "numbers": lambda t: (1.0, 1.5),
    "kinds": lambda t: (1.0, "a"),
    "lists": lambda t: ([t.ones(2), t.ones(2)], [t.ones(2), t.zeros(2)]),
    "lengths": lambda t: ([1], [1, 2]),
    "keys": lambda t: ({"a": 1}, {"b": 1}),
    "nan": lambda t: (t.tensor([float("nan")]), t.tensor([float("nan")])),
}


@pytest.mark.parametrize("name", CLOSE)
def test_assert_close(torch, name):
    def text(t):
        try:
            t.testing.assert_close(*CLOSE[name](t))
        except Exception as error:
            return type(error).__name__, str(error).replace("agdbg_engine.tensor.Tensor", "torch.Tensor")

    assert text(ag) == text(torch)


@pytest.mark.parametrize(
    "options",
    [{"precision": 2}, {"threshold": 5}, {"threshold": 5, "edgeitems": 1}, {"linewidth": 30}, {"sci_mode": True},
     {"sci_mode": False}, {"profile": "short"}],
)  # fmt: skip
def test_print_options(torch, options):
    shown = []
    for t in (ag, torch):
        before = t._tensor_str.get_printoptions() if t is torch else t.get_printoptions()
        try:
            t.set_printoptions(**options)
            shown.append([repr(t.arange(24.0).reshape(4, 6) / 7), repr(t.tensor([1e-6, 1.0])), repr(t.arange(3.0))])
        finally:
            t.set_printoptions(**before)
    assert shown[0] == shown[1]


def test_switches():
    ag.use_deterministic_algorithms(True)
    assert ag.are_deterministic_algorithms_enabled()
    ag.use_deterministic_algorithms(False)
    assert not ag.are_deterministic_algorithms_enabled()
    with ag.autocast("cpu", enabled=False):
        assert ag.ones(1).dtype == ag.float32
    for switched_on in (lambda: ag.autocast("cpu"), lambda: ag.amp.GradScaler("cpu")):
        with pytest.raises(NotImplementedError, match="not supported"):
            switched_on()
    cudnn = importlib.import_module("agdbg_engine.backends.cudnn")
    cudnn.benchmark = True
    assert ag.backends.cudnn.benchmark
    cudnn.benchmark = False


@pytest.mark.parametrize("name", ["autocast", "GradScaler"])
def test_older_names_of_mixed_precision(name):
    torch = pytest.importorskip("torch")
    for t in (torch, ag):
        with pytest.warns(FutureWarning, match=rf"`torch.cuda.amp.{name}\(args...\)` is deprecated. Please use"):
            made = getattr(t.cuda.amp, name)(enabled=False)
    assert isinstance(made, getattr(ag.amp, name))
    with pytest.warns(FutureWarning), pytest.raises(NotImplementedError, match="is not supported"):
        getattr(ag.cuda.amp, name)()
    assert ag.cuda.is_bf16_supported() is False


def test_a_function_in_older_autocast():
    with pytest.warns(FutureWarning, match="deprecated"):
        decorate = ag.cuda.amp.autocast(enabled=False)
    assert decorate(lambda: 3)() == 3


def test_number_of_threads_is_that_of_the_library():
    before = ag.get_num_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there is no such library
        ag.set_num_threads(1)
        assert ag.get_num_threads() in (1, before)
        ag.set_num_threads(before)
    assert ag.get_num_threads() == before


def test_default_device():
    ag.set_default_device("cpu")
    with ag.device("cpu"):
        assert ag.get_default_device() == ag.device("cpu")
    ag.set_default_device(None)
    assert ag.get_default_device() == ag.ones(1).device


def test_paths():
    function = importlib.import_module("agdbg_engine.autograd.function")
    assert function.Function is ag.autograd.Function
    assert function.once_differentiable
    gradcheck = importlib.import_module("agdbg_engine.autograd.gradcheck").gradcheck
    assert ag.autograd.gradcheck is gradcheck
    for name in ("functional", "graph", "forward_ad", "grad_mode", "anomaly_mode"):
        assert importlib.import_module(f"agdbg_engine.autograd.{name}") is getattr(ag.autograd, name)
    assert importlib.import_module("agdbg_engine.autograd.variable").Variable is ag.autograd.Variable
    handle = importlib.import_module("agdbg_engine.utils.hooks").RemovableHandle
    assert isinstance(ag.ones(1, requires_grad=True).register_hook(print), handle)
    modules = ag.nn.modules
    assert modules.Linear is ag.nn.Linear
    assert importlib.import_module("agdbg_engine.nn.modules.loss")._Loss is modules.loss._Loss
    for base, made in (
        (modules.batchnorm._BatchNorm, ag.nn.BatchNorm2d(2)), (modules.conv._ConvNd, ag.nn.ConvTranspose1d(1, 1, 1)),
        (modules.loss._Loss, ag.nn.MSELoss()), (modules.dropout._DropoutNd, ag.nn.Dropout()), (modules.rnn.RNNBase, ag.nn.GRU(1, 1)),
    ):  # fmt: skip
        assert isinstance(made, base)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_gradients_of_convolutions(torch, n):
    rng = np.random.default_rng(n)
    x, w = rng.standard_normal((2, 4, *[6] * n)), rng.standard_normal((6, 2, *[3] * n))
    options = {"stride": 2, "padding": 1, "groups": 2}
    found = []
    for t in (ag, torch):
        a, b = t.tensor(x), t.tensor(w, requires_grad=True)
        g = getattr(t.nn.functional, f"conv{n}d")(a, b, **options).detach()
        by_input = getattr(t.nn.grad, f"conv{n}d_input")(a.shape, b, g, **options)
        by_weight = getattr(t.nn.grad, f"conv{n}d_weight")(a, b.shape, g, **options)
        (by_input * by_input).sum().backward()
        found.append((by_input.detach().numpy(), by_weight.detach().numpy(), b.grad.numpy()))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


def test_adaptive_softmax(torch):
    x, y = np.random.default_rng(0).standard_normal((7, 8)).astype("float32"), [0, 4, 5, 11, 12, 19, 3]
    found, drawn = [], None
    for t in (ag, torch):
        model = t.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 12], div_value=2.0, head_bias=True)
        drawn = drawn or [p.detach().numpy() for p in model.parameters()]
        with t.no_grad():
            for p, values in zip(model.parameters(), drawn, strict=True):
                p.copy_(t.tensor(values))
        given = t.tensor(x, requires_grad=True)
        output, loss = model(given, t.tensor(y))
        loss.backward()
        grads = [p.grad.numpy() for p in model.parameters()]
        found.append([output.detach().numpy(), model.log_prob(given).detach().numpy(), given.grad.numpy(), *grads])
        assert model.predict(given).tolist() == model.log_prob(given).argmax(1).tolist()
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)


# ----- averages of weights -----


def averaged(t, swa, **options):
    model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3))
    with t.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_((t.arange(float(p.numel())) * 0.1 + i).reshape(p.shape))
    mean = swa.AveragedModel(model, **{k: v(swa) for k, v in options.items()})
    for step in range(3):
        mean.update_parameters(model)
        with t.no_grad():
            for p in model.parameters():
                p.mul_(1.5).add_(step)
    swa.update_bn([(t.arange(8.0).reshape(4, 2) * k,) for k in (1, 2)], mean)
    return [v.tolist() for v in mean.state_dict().values()]


@pytest.mark.parametrize(
    "options",
    [{}, {"avg_fn": lambda s: s.get_ema_avg_fn(0.9)}, {"multi_avg_fn": lambda s: s.get_ema_multi_avg_fn(0.9)},
     {"use_buffers": lambda s: True}],
)  # fmt: skip
def test_averaged_model(torch, options):
    mine, theirs = averaged(ag, ag.optim.swa_utils, **options), averaged(torch, torch.optim.swa_utils, **options)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize(("strategy", "epochs"), [("cos", 4), ("linear", 3), ("cos", 0)])
def test_swa_schedule(torch, strategy, epochs):
    rates = []
    for t in (ag, torch):
        optimizer = t.optim.SGD([t.ones(1, requires_grad=True)], lr=0.1)
        schedule = t.optim.swa_utils.SWALR(optimizer, 0.5, epochs, strategy)
        found = []
        for _ in range(6):
            optimizer.step()
            schedule.step()
            found.append(schedule.get_last_lr()[0])
        rates.append(found)
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)


# ----- files -----


def through_a_file(x, **options):
    file = io.BytesIO()
    ag.save(x, file)
    file.seek(0)
    return ag.load(file, **options)


def test_plain_values_come_back():
    plain = {
        "a": [1, 2.5, None, True, "ü", b"\0a", 1j, float("inf"), 10**30], 3: (1, (2,)), (1, 2): {4}, "f": frozenset([5]),
        "o": collections.OrderedDict(b=1, a=2), "t": ag.float16, "d": ag.device("cpu"), "s": ag.Size([2]), "n": np.float32(1.5),
    }  # fmt: skip
    back = through_a_file(plain)
    assert back == plain
    assert [type(v) for v in back.values()] == [type(v) for v in plain.values()]


def test_training_goes_on_from_a_file(tmp_path):
    def fresh():
        model = ag.nn.Sequential(ag.nn.Linear(3, 2), ag.nn.BatchNorm1d(2))
        return model, ag.optim.Adam(model.parameters(), lr=0.1)

    def step(model, optimizer):
        optimizer.zero_grad()
        (model(ag.arange(12.0).reshape(4, 3)) ** 2).sum().backward()
        optimizer.step()

    model, optimizer = fresh()
    step(model, optimizer)
    ag.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1}, tmp_path / "a.pt")
    step(model, optimizer)
    other, its = fresh()
    saved = ag.load(str(tmp_path / "a.pt"), map_location="cpu", weights_only=True)
    other.load_state_dict(saved["model"])
    its.load_state_dict(saved["optimizer"])
    step(other, its)
    for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True):
        assert a.tolist() == b.tolist()


def test_tensors_share_memory_again():
    x = ag.arange(12.0).reshape(3, 4)
    p = ag.nn.Parameter(ag.ones(2), requires_grad=False)
    kept = [x, x[1:, ::2].t(), x[:1].expand(5, 4), x, p, ag.zeros(0, 3), ag.tensor(2.0, requires_grad=True), x.numpy()]
    back = through_a_file(kept)
    for a, b in zip(kept, back, strict=True):
        assert a.tolist() == b.tolist()
        assert a.shape == b.shape
        assert type(a) is type(b)
    assert back[0] is back[3]
    assert not back[4].requires_grad
    assert back[6].requires_grad
    back[0][1, 2] = 99.0
    assert back[1][1, 0] == 99
    assert back[7][1, 2] == 99
    assert x[1, 2] == 6


def test_what_is_not_plain_is_refused():
    model = ag.nn.Linear(1, 1)
    for thing in (model, ag.optim.SGD(model.parameters())):
        with pytest.raises(TypeError, match=r"state_dict\(\)"):
            ag.save(thing, io.BytesIO())
    with pytest.raises(TypeError, match="function"):
        ag.save({"f": lambda: 1}, io.BytesIO())
    ring = []
    ring.append(ring)
    with pytest.raises(ValueError, match="contains itself"):
        ag.save(ring, io.BytesIO())


def test_a_refused_object_leaves_the_old_file(tmp_path):
    ag.save(1, tmp_path / "a")
    with pytest.raises(TypeError):
        ag.save(ag.nn.Linear(1, 1), tmp_path / "a")
    assert ag.load(tmp_path / "a") == 1


def test_files_of_others_are_refused(torch):
    for legacy in (True, False):
        file = io.BytesIO()
        torch.save({"a": torch.ones(1)}, file, _use_new_zipfile_serialization=legacy)
        file.seek(0)
        with pytest.raises(RuntimeError, match="written by PyTorch"):
            ag.load(file)
    for text in (b"", b"hello"):
        with pytest.raises(RuntimeError, match="no file that save"):
            ag.load(io.BytesIO(text))


def test_damaged_files_give_errors_or_the_same():
    file = io.BytesIO()
    ag.save({"x": ag.arange(6.0), "n": 3}, file)
    text = file.getvalue()
    for end in range(4, len(text), 7):
        with pytest.raises(RuntimeError):
            ag.load(io.BytesIO(text[:end]))
    for at in range(0, len(text), 11):
        bad = bytearray(text)
        bad[at] ^= 0x15
        try:
            found = ag.load(io.BytesIO(bytes(bad)))
        except RuntimeError:
            continue
        assert found["x"].tolist() == [0, 1, 2, 3, 4, 5]  # a byte that means nothing here, such as of the date


@pytest.mark.parametrize(
    ("old", "new"),
    [('"offset": 0', '"offset": 8'), ('"offset": 0', '"offset": -4'), ('"shape": [6]', '"shape": [7]'), ('"strides": [4]', '"strides": [-4]'),
     ('"dtype": "float32"', '"dtype": "object"'), ('"data": 0', '"data": 1'), ('"class": "Tensor"', '"class": "os"'),
     ('["tensor", 0]', '["tensor", 1]'), ('["tensor", 0]', '["eval", "1"]'), ('"version": 1', '"version": 2')],
)  # fmt: skip
def test_lies_in_a_file_are_found(old, new):
    file, other = io.BytesIO(), io.BytesIO()
    ag.save(ag.arange(6.0), file)
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            part = source.read(name)
            if name == "tree.json":
                assert old in part.decode()
                part = part.decode().replace(old, new).encode()
            target.writestr(name, part)
    other.seek(0)
    with pytest.raises(RuntimeError):
        ag.load(other)


def test_ranges_for_profilers_are_accepted():
    nvtx = ag.cuda.nvtx
    nvtx.mark("here")
    nvtx.range_push("step")
    nvtx.range_pop()
    nvtx.range_end(nvtx.range_start("step"))
    with nvtx.range("step {}", 3):
        ag.cuda.ipc_collect()
    assert nvtx.range("step")(lambda: 5)() == 5


@pytest.mark.parametrize("name", ["CUDAGraph", "set_per_process_memory_fraction", "utilization", "nccl"])
def test_names_of_cuda_that_are_not_there_tell_why(name):
    with pytest.raises(AttributeError, match=f"module 'agdbg_engine.cuda' has no attribute '{name}': "):
        getattr(ag.cuda, name)


def test_what_a_tensor_of_the_cpu_says_of_streams():
    with pytest.raises(
        TypeError, match=r"^record_stream\(\): argument 's' \(position 1\) must be Stream, not NoneType"
    ):
        ag.ones(2).record_stream(None)
