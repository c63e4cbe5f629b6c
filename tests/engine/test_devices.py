"""Devices: names, factories, moves, mixes, and what is said where there is no GPU. The second device is the strict one."""

import copy
import importlib.util
import pickle
import subprocess
import sys
import types
from pathlib import Path

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import cuda, several
from agdbg_engine.backends import BACKENDS
from agdbg_engine.cuda import backend
from agdbg_engine.tensor import wrap

NO_CUPY = importlib.util.find_spec("cupy") is None


def content(t):
    """The numbers of a tensor on the strict device."""
    return strict.host(t._a).tolist()


def on_strict(*values, grad=False):
    return wrap(strict.put(np.array(values))).requires_grad_(grad)


# ----- names -----


def test_the_default_device_has_a_number(monkeypatch):
    with ag.device("strict"):
        assert str(ag.get_default_device()) == "strict:0" and ag.get_default_device() == ag.ones(1).device
        monkeypatch.setattr(type(BACKENDS["strict"]), "current", lambda self: 1)
        assert str(ag.get_default_device()) == "strict:1"
    with ag.device("strict:3"):
        assert str(ag.get_default_device()) == "strict:3"  # as it was said, there or not
    with ag.device("cpu:0"):
        assert ag.get_default_device() == ag.device("cpu:0")
    ag.set_default_device("strict")
    try:
        assert ag.get_default_device().index == 1
        with ag.device("cpu"):
            assert ag.get_default_device() == ag.device("cpu")
    finally:
        ag.set_default_device(None)
    assert ag.get_default_device() == ag.device("cpu")


def test_names():
    assert str(ag.device("strict")) == "strict"
    assert repr(ag.device("strict:1")) == "device(type='strict', index=1)"
    assert str(ag.device("strict", 0)) == "strict:0"
    assert ag.device(type="strict", index=1) == ag.device("strict:1") != ag.device("strict")
    assert ag.device("strict:1") != "strict:1"  # as in PyTorch
    assert len({ag.device("cpu"), ag.device("strict"), ag.device("strict:0")}) == 3
    assert pickle.loads(pickle.dumps(ag.device("cuda:1"))) == ag.device("cuda:1")


@pytest.mark.parametrize("name", ["gpu", "tpu:0"])
def test_wrong_kinds(name):
    with pytest.raises(RuntimeError, match=f"^Expected one of cpu, .* device type at start of device string: {name}$"):
        ag.device(name)


WRONG = [
    ("cuda:x",), ("cuda:",), ("cuda:-1",), ("cuda:01",), ("cuda:1:2",), ("",), ("cuda", -1), ("cuda", "x"), ("cuda", True), ("cuda:1", 1), ("cpu:0", 0),
]  # fmt: skip


@pytest.mark.parametrize("given", WRONG)
def test_wrong_names_in_the_words_of_torch(given):
    torch = pytest.importorskip("torch", reason="PyTorch is the yardstick, and may be missing")
    with pytest.raises((RuntimeError, TypeError)) as expected:
        torch.device(*given)
    with pytest.raises(expected.type) as found:
        ag.device(*given)
    assert str(found.value) == str(expected.value).splitlines()[0]


def test_a_number_below_zero_is_no_gpu(monkeypatch):
    for usable in (False, True):
        monkeypatch.setattr(ag.cuda, "is_available", lambda usable=usable: usable)
        for call in (ag.device, lambda index: ag.zeros(1, device=index)):
            with pytest.raises(RuntimeError, match=r"^Device index must not be negative$"):
                call(-1)
    assert ag.device(1) == ag.device("cuda:1")
    assert all(index >= 0 for _, index in several.used)


def test_a_device_that_is_not_there():
    with pytest.raises(RuntimeError, match=r"strict:99 of \d+ device"):
        ag.zeros(2, device="strict:99")


# ----- factories -----

MADE = {
    "tensor": lambda **k: ag.tensor([1.0, 2.0], **k), "zeros": lambda **k: ag.zeros(2, **k), "ones": lambda **k: ag.ones(2, 3, **k),
    "empty": lambda **k: ag.empty(2, **k), "full": lambda **k: ag.full((2,), 3.0, **k), "eye": lambda **k: ag.eye(2, **k),
    "arange": lambda **k: ag.arange(3, **k), "linspace": lambda **k: ag.linspace(0, 1, 3, **k), "logspace": lambda **k: ag.logspace(0, 1, 3, **k),
    "rand": lambda **k: ag.rand(2, **k), "randn": lambda **k: ag.randn(2, **k), "randint": lambda **k: ag.randint(3, (2,), **k),
    "randperm": lambda **k: ag.randperm(3, **k), "scalar_tensor": lambda **k: ag.scalar_tensor(2.0, **k),
    "tril_indices": lambda **k: ag.tril_indices(2, 2, **k), "empty_strided": lambda **k: ag.empty_strided((2,), (1,), **k),
    "as_tensor": lambda **k: ag.as_tensor([1.0], **k),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_factories(name):
    made = MADE[name](device="strict")
    assert made.device == ag.device("strict:0")
    assert type(made._a) is strict.ndarray
    with ag.device("strict"):
        assert MADE[name]().device == ag.device("strict:0")
        assert MADE[name](device="cpu").device == ag.device("cpu")
    assert MADE[name]().device == ag.device("cpu")


IN_A_BLOCK = {
    "Tensor": lambda t: t.Tensor([1.0]), "Tensor of sizes": lambda t: t.Tensor(2, 3), "Tensor of nothing": lambda t: t.Tensor(),
    "FloatTensor": lambda t: t.FloatTensor([1.0]), "from_numpy": lambda t: t.from_numpy(np.ones(2)), "normal": lambda t: t.normal(0.0, 1.0, (2,)),
    "Parameter": lambda t: t.nn.Parameter(), "Linear": lambda t: t.nn.Linear(2, 2).weight, "buffers": lambda t: t.nn.BatchNorm1d(2).running_mean,
    "scalar_tensor": lambda t: t.scalar_tensor(1.0), "fftfreq": lambda t: t.fft.fftfreq(4), "window": lambda t: t.hann_window(4), "indices": lambda t: t.tril_indices(3, 3),
    "causal mask": lambda t: t.nn.Transformer.generate_square_subsequent_mask(3),
    "as_tensor": lambda t: t.as_tensor([1.0]), "as_tensor of an array": lambda t: t.as_tensor(np.ones(2)), "asarray": lambda t: t.asarray([1.0]),
    **{f"{name} of a tensor": lambda t, name=name: getattr(t, name)(t.ones(2, device="cpu")) for name in ("tensor", "as_tensor", "asarray", "Tensor")},
    "new_tensor": lambda t: t.ones(2, device="cpu").new_tensor([1.0]), "new": lambda t: t.ones(2, device="cpu").new(2), "like": lambda t: t.rand_like(t.ones(2, device="cpu")),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")  # PyTorch's
@pytest.mark.parametrize("name", IN_A_BLOCK)
def test_what_a_block_says_to_and_what_not(name):
    """Which functions make a tensor on the device of the block, as in PyTorch; the others make it on the CPU."""
    torch = pytest.importorskip("torch")
    with torch.device("meta"):
        expected = IN_A_BLOCK[name](torch).device.type
    with ag.device("strict"):
        found = IN_A_BLOCK[name](ag).device.type
    assert found == {"meta": "strict", "cpu": "cpu"}[expected]


def test_the_old_constructor_makes_tensors_of_the_cpu_only():
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError) as expected:
        torch.Tensor([1.0], device="meta")
    with pytest.raises(RuntimeError) as found:
        ag.Tensor([1.0], device="strict")
    assert str(found.value) == str(expected.value).replace("meta", "strict")
    assert ag.Tensor([1.0], device="cpu").tolist() == [1.0]


LIKE = {
    **{n: getattr(ag, f"{n}_like") for n in ("zeros", "ones", "empty", "rand", "randn")}, "full": lambda x, **k: ag.full_like(x, 2.0, **k),
    "new_zeros": lambda x, **k: x.new_zeros(2, **k), "new_full": lambda x, **k: x.new_full((2,), 1.0, **k),
    "new_tensor": lambda x, **k: x.new_tensor([1.0], **k), "clone": lambda x: x.clone(), "tensor": lambda x: x.detach().contiguous(),
}  # fmt: skip


@pytest.mark.parametrize("name", LIKE)
def test_like_another(name):
    assert LIKE[name](on_strict(1.0, 2.0)).device == ag.device("strict:0")
    with ag.device("strict"):
        assert LIKE[name](ag.ones(2, device="cpu")).device == ag.device("cpu")
    if name not in ("clone", "tensor"):
        assert LIKE[name](ag.ones(2), device="strict").device == ag.device("strict:0")


@pytest.mark.parametrize("name", ["zeros", "ones", "full", "empty"])
def test_like_another_that_is_elsewhere_copies_nothing(name, monkeypatch):
    monkeypatch.setattr(strict.BACKEND, "to_device", lambda *a, **k: pytest.fail("copied to the device"))
    for x, place in (
        (on_strict(1.0, 2.0), "cpu"),
        (ag.ones(2, 3).T, "strict"),
        (on_strict(1.0, 2.0), "strict:1"),
        (ag.ones(4, 3, 2).permute(1, 2, 0), "strict"),
    ):
        made = LIKE[name](x, device=place)
        assert (made.device.type, made.shape, made.stride(), made.dtype) == (
            place.partition(":")[0],
            x.shape,
            x.stride(),
            x.dtype,
        )


def test_contexts_nest():
    with ag.device("strict"), ag.device("cpu"):
        assert ag.ones(1).device == ag.device("cpu")


# ----- moving -----


def test_a_tensor_goes_where_another_is():
    assert ag.ones(2).type_as(on_strict(1.0)).device == ag.device("strict:0")
    with pytest.raises(
        TypeError, match=r"^to\(\) received an invalid combination of arguments - got \(torch.dtype, torch.dtype\)"
    ):
        ag.ones(2).to(ag.float64, ag.float32)
    with pytest.raises(TypeError, match=r"got \(str, torch.device\)"):
        ag.ones(2).to("cpu", ag.device("strict"))


CALLS = {
    "a list": lambda t: t.ones(2).to([1]), "dtype first": lambda t: t.ones(2).to(t.float64, "cpu"),
    "a device twice": lambda t: t.ones(2).to("cpu", device="cpu"), "a dtype twice": lambda t: t.ones(2).to(t.float64, dtype=t.float64), "both": lambda t: t.ones(2).to("cpu", t.float64, dtype=t.float64),
    "a dtype and a device": lambda t: t.ones(2).to(t.float64, device="cpu"), "beside a tensor": lambda t: t.ones(2).to(t.ones(2), dtype=t.float64), "a flag for a dtype": lambda t: t.ones(2).to("cpu", True),
    "three flags": lambda t: t.ones(2).to(t.float64, True, False, True), "a number for a flag": lambda t: t.ones(2).to(t.float64, 1), "non_blocking": lambda t: t.ones(2).to("cpu", non_blocking=1),
    "cpu, by place": lambda t: t.ones(2).cpu(t.preserve_format), "cpu, a number for a layout": lambda t: t.ones(2).cpu(memory_format=3),
    "copy": lambda t: t.ones(2).to("cpu", copy="a"), "module to two devices": lambda t: t.nn.Linear(1, 1).to("cpu", "cpu"), "module, copied": lambda t: t.nn.Linear(1, 1).to("cpu", copy=True),
    "module, copied by a flag": lambda t: t.nn.Linear(1, 1).to("cpu", t.float64, True, True), "module and a word": lambda t: t.nn.Linear(1, 1).to(foo=1), "module, dtype first": lambda t: t.nn.Linear(1, 1).to(t.float64, "cpu"),
    "module and a list": lambda t: t.nn.Linear(1, 1).to([1]), "module, a device twice": lambda t: t.nn.Linear(1, 1).to("cpu", device="cpu"), "cuda of the CPU": lambda t: t.ones(2).cuda("cpu"),
    "no type": lambda t: t.device(index=1), "type changed": lambda t: setattr(t.device("cpu"), "type", "cuda"), "index changed": lambda t: setattr(t.device("cpu"), "index", 1), "another name": lambda t: setattr(t.device("cpu"), "name", 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_wrong_calls_are_told_as_by_pytorch(name):
    torch = pytest.importorskip("torch", reason="errors are compared with PyTorch's")
    found = []
    for t in (torch, ag):
        with pytest.raises((TypeError, RuntimeError, AttributeError)) as error:
            CALLS[name](t)
        found.append((error.type, str(error.value).splitlines()[0]))
    assert found[0] == found[1]


def test_right_calls_of_to():
    x = ag.ones(2)
    for y in (
        x.to(None, ag.float64),
        x.to("cpu", ag.float64, True, True),
        x.to("cpu", dtype=ag.float64),
        x.to(ag.float64, True),
        x.to(float),
    ):
        assert y.dtype == ag.float64
    assert x.to("cpu", None, True) is x
    assert x.to(x, False, True) is not x
    assert ag.nn.Linear(1, 1).to("cpu", ag.float64, True).weight.dtype == ag.float64
    assert ag.nn.Linear(1, 1).to(tensor=ag.ones(1, dtype=ag.float64)).weight.dtype == ag.float64
    assert ag.device(device="cuda:1") == ag.device("cuda", 1) == copy.deepcopy(ag.device("cuda:1"))


def test_modules_go_to_a_gpu(monkeypatch):
    layer = ag.nn.BatchNorm1d(2)
    asked = []
    monkeypatch.setattr(ag.Tensor, "cuda", lambda self, device=None: (asked.append(device), self.to("strict"))[1])
    assert layer.cuda(1) is layer
    assert asked == [1] * 5
    assert {t.device for t in layer.state_dict().values()} == {ag.device("strict:0")}
    assert {t.device for t in layer.to_empty(device="strict:1").state_dict().values()} == {ag.device("strict:1")}


def test_to_is_a_differentiable_copy():
    x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    y = x.to("strict")
    assert y.grad_fn.name() == "ToCopyBackward0"
    assert y.device == ag.device("strict:0")
    with strict.allowed_host_reads():  # the way back
        (y * y).sum().backward()
    assert type(x.grad._a) is np.ndarray
    assert x.grad.tolist() == [2.0, 4.0]


def test_there_and_back():
    x = on_strict(1.0, 2.0, grad=True)
    with strict.allowed_host_reads():  # the copies that are asked for
        y = x.cpu() * ag.tensor([3.0, 4.0], dtype=ag.float64)
        assert y.device == ag.device("cpu")
        y.sum().backward()
    assert content(x.grad) == [3.0, 4.0]


def test_nothing_to_do():
    x = on_strict(1.0)
    assert x.to("strict") is x
    assert x.to(ag.device("strict:0")) is x
    assert x.to("strict", copy=True) is not x
    y = ag.ones(1)
    assert y.cpu() is y


def test_device_and_dtype_at_once():
    x = ag.tensor([1.5], requires_grad=True)
    y = x.to("strict", ag.float64)
    assert (y.dtype, y.device) == (ag.float64, ag.device("strict:0"))
    assert y.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    with strict.allowed_host_reads():
        y.sum().backward()
    assert (x.grad.dtype, x.grad.device) == (ag.float32, ag.device("cpu"))
    assert x.to("strict", ag.int64).dtype == ag.int64
    assert x.to(on_strict(1.0)).device == ag.device("strict:0")


def test_forward_and_second_order_through_a_move():
    with ag.autograd.forward_ad.dual_level():
        dual = ag.autograd.forward_ad.make_dual(ag.tensor([2.0]), ag.tensor([3.0]))
        tangent = ag.autograd.forward_ad.unpack_dual(dual.to("strict") * 2).tangent
    assert content(tangent) == [6.0]
    x = ag.tensor([2.0], requires_grad=True)
    with strict.allowed_host_reads():
        (g,) = ag.autograd.grad((x.to("strict") ** 3).sum(), x, create_graph=True)
        (h,) = ag.autograd.grad(g.sum(), x)
    assert g.tolist() == [12.0]
    assert h.tolist() == [12.0]


def test_copying_between_devices():
    x, y = on_strict(0.0, 0.0), ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    x.copy_(y)
    assert content(x) == [1.0, 2.0]
    with strict.allowed_host_reads():
        x.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    z = on_strict(1.0, 2.0)
    z[0] = ag.tensor(5.0, dtype=ag.float64)
    z[1] = 3
    assert content(z) == [5.0, 3.0]


def test_modules_move():
    layer = ag.nn.Linear(2, 3).to("strict")
    assert {p.device for p in layer.parameters()} == {ag.device("strict:0")}
    layer(ag.ones(4, 2, device="strict")).sum().backward()
    assert layer.weight.grad.device == ag.device("strict:0")
    made = ag.nn.BatchNorm1d(3, device="strict")
    assert made.running_mean.device == ag.device("strict:0")


def test_saved_on_the_cpu():
    x = on_strict(1.0, 2.0, grad=True)
    with strict.allowed_host_reads(), ag.autograd.graph.save_on_cpu():
        y = (x * x).sum()
    y.backward()
    assert content(x.grad) == [2.0, 4.0]


# ----- mixing -----

TWO = "^(Expected all tensors|Expected b and A|expected self and mask) to be on the same device, but (found|got) |^Expected tensor to have "
"""What :mod:`test_mixed_devices` has in full."""


@pytest.mark.parametrize(
    "op",
    [
        lambda x, y: x + y, lambda x, y: y * x, lambda x, y: x @ y, lambda x, y: ag.cat([x, y]), lambda x, y: ag.where(x > 0, x, y),
        lambda x, y: x.add_(y), lambda x, y: y.mul_(x), lambda x, y: ag.atan2(x, y), lambda x, y: ag.nn.functional.mse_loss(x, y),
    ],
)  # fmt: skip
def test_two_devices(op):
    with pytest.raises(RuntimeError, match=TWO):
        op(on_strict(1.0, 2.0), ag.tensor([1.0, 2.0], dtype=ag.float64))


def test_numbers_on_the_cpu_may_mix():
    x, number = on_strict(1.0, 2.0, grad=True), ag.tensor(3.0, dtype=ag.float64, requires_grad=True)
    for y in (x * number, number * x, ag.atan2(x, number), x.clone().mul_(number)):
        assert y.device == ag.device("strict:0")
    with strict.allowed_host_reads():
        (x * number).sum().backward()
    assert content(x.grad) == [3.0, 3.0]
    assert number.grad.item() == 3.0
    with pytest.raises(RuntimeError, match=TWO):
        ag.ones(2, dtype=ag.float64) * on_strict(3.0)[0]
    with pytest.raises(RuntimeError, match=TWO):
        ag.ones((), dtype=ag.float64).mul_(on_strict(3.0)[0])


def test_indices_on_the_cpu():
    x = on_strict(1.0, 2.0, 3.0, grad=True)
    y = x[ag.tensor([0, 0, 2])]
    assert content(y) == [1.0, 1.0, 3.0]
    y.sum().backward()
    assert content(x.grad) == [2.0, 0.0, 1.0]


def test_gradients_of_another_device():
    x = on_strict(1.0, grad=True)
    with pytest.raises(RuntimeError, match="assign a gradient with device type 'cpu'"):
        x.grad = ag.ones(1, dtype=ag.float64)
    with pytest.raises(RuntimeError, match="expected device strict:0 but got cpu"):
        x.backward(ag.ones(1, dtype=ag.float64))


# ----- out of the engine -----


def test_numpy_and_numbers():
    x = on_strict(1.0)
    with pytest.raises(TypeError, match="can't convert strict:0 device type tensor to numpy"):
        x.numpy()
    for read in (x.item, x.tolist, lambda: float(x), lambda: bool(x), lambda: repr(x)):
        with pytest.raises(strict.HostRead):
            read()
        with strict.allowed_host_reads():
            read()
    with strict.allowed_host_reads():
        assert repr(x) == "tensor([1.], dtype=float64, device='strict:0')"


# ----- cuda -----


@pytest.mark.skipif(not NO_CUPY, reason="CuPy is installed")
def test_without_cupy():
    assert not cuda.is_available()
    assert cuda.device_count() == 0
    assert ag.device("cuda:1").index == 1
    for use in (
        lambda: ag.zeros(2, device="cuda"),
        lambda: ag.ones(2).to("cuda"),
        lambda: ag.ones(2).cuda(),
        cuda.synchronize,
    ):
        with pytest.raises(RuntimeError, match=r"needs CuPy, which is not installed: pip install 'agdbg\[cuda12\]'"):
            use()


def test_cupy_without_a_gpu(monkeypatch):
    class Broken:
        __version__ = "14.2.0"

        class cuda:
            class runtime:
                @staticmethod
                def getDeviceCount():
                    raise OSError("no driver")

    backend.cupy.cache_clear()
    monkeypatch.setattr(backend.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(backend.importlib, "import_module", lambda name: Broken)
    try:
        with pytest.raises(RuntimeError, match="CuPy is installed, but OSError: no driver"):
            ag.zeros(2, device="cuda")
        Broken.cuda.runtime.getDeviceCount = staticmethod(lambda: 0)
        with pytest.raises(RuntimeError, match="it finds no GPU"):
            ag.zeros(2, device="cuda")
    finally:
        backend.cupy.cache_clear()


@pytest.mark.parametrize(
    ("version", "old"),
    [("13.6.0", True), ("14.1.1", True), ("9.0", True), ("14.2.0", False), ("14.10.0rc1", False), ("15.0.0b1", False)],
)
def test_the_version_of_cupy(monkeypatch, version, old):
    runtime = types.SimpleNamespace(getDeviceCount=lambda: 0)
    found = types.SimpleNamespace(__version__=version, cuda=types.SimpleNamespace(runtime=runtime))
    backend.cupy.cache_clear()
    monkeypatch.setattr(backend.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(backend.importlib, "import_module", lambda name: found)
    try:
        with pytest.raises(RuntimeError) as told:
            ag.zeros(2, device="cuda")
        needs = f"device cuda needs CuPy 14.2 or newer, and {version} is installed: pip install 'agdbg[cuda12]'"
        assert str(told.value).startswith(needs) == old
        assert ("it finds no GPU" in str(told.value)) == (not old)
        assert not cuda.is_available()
    finally:
        backend.cupy.cache_clear()


def test_the_version_that_is_needed_is_the_one_that_is_installed():
    extras = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    needed = ".".join(map(str, backend.NEEDED))
    assert f'"cupy-cuda12x>={needed}"' in extras
    assert f'"cupy-cuda13x>={needed}"' in extras


def test_cupy_is_not_imported_by_itself():
    code = "import sys, agdbg_engine as ag; ag.zeros(2).to('cpu'); ag.device('cuda'); assert 'cupy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("wanted", [None, ag.preserve_format, ag.contiguous_format])
def test_the_layout_of_a_copy_to_the_host(wanted):
    here, there = ag.ones(2, 3).T, ag.ones(2, 3, device="strict").T
    assert here.cpu(memory_format=wanted) is here  # as in PyTorch
    with strict.allowed_host_reads():
        assert there.cpu(memory_format=wanted).stride() == ((2, 1) if wanted is ag.contiguous_format else (1, 3))


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 0, 1), (1, 0, 2)])
def test_dense_elements_lie_on_another_device_as_they_did(order):
    here = ag.arange(24.0).reshape(2, 3, 4).permute(order)
    there = here.to("strict")
    assert there.stride() == here.stride() == there.to("strict:1").stride()
    with strict.allowed_host_reads():
        back = there.cpu()
    assert back.stride() == here.stride() and back.tolist() == here.tolist()
    assert here[..., ::2].to("strict").stride() == here[..., ::2].clone().stride()
    repeated = ag.ones(2, 1).expand(2, 3).to("strict")
    assert repeated.stride() == (3, 1)
    assert ag.ones(2, 1, device="strict:1").expand(2, 3).to("strict").stride() == (
        3,
        1,
    )  # also from one to another of a kind


def test_a_device_of_pytorch_is_none_of_the_engine():
    torch = pytest.importorskip("torch", reason="it is PyTorch's device that is given")
    for call in (ag.device, lambda device: ag.zeros(2, device=device), ag.ones(2).to, ag.nn.Linear(1, 1).to):
        with pytest.raises(TypeError, match="the device of another library, torch: give its name, 'cpu'"):
            call(torch.device("cpu"))


@pytest.mark.parametrize("index", [[0, 1], [True, False, True], range(2), True])
def test_an_index_of_numbers_is_for_a_tensor_anywhere(index):
    x = ag.tensor([1.0, 2.0, 3.0])
    expected = x[index].tolist()
    with ag.device("strict"):
        found = x[index]
        x[index] = 5.0
    assert found.tolist() == expected and found.device.type == "cpu"
    assert x[index].tolist() == ag.full_like(found, 5.0).tolist()
