"""Names of PyTorch that the engine has not: one line with the reason, or with the nearest name that is there."""

import copy
import functools
import re
import types
from functools import reduce

import numpy as np
import pytest

import agdbg_engine as ag
import agdbg_engine.func
import agdbg_engine.nn
import agdbg_engine.optim
from agdbg_engine.missing import OF_TENSORS, reason

ABSENT = """
bfloat16 chalf complex32 uint64 qint8 sparse_coo_tensor compile jit vmap distributed distributions lobpcg float8_e5m2
quantize_per_tensor fake_quantize_per_channel_affine nn.DataParallel nn.CrossMapLRN2d
hub profiler multiprocessing nested binomial range frombuffer nn.CrossMapLRN2d
optim.SparseAdam func.vmap func.functionalize func.debug_unwrap
autograd.graph.set_override_stale_capture_stream
"""


@pytest.mark.parametrize("path", ABSENT.split())
def test_a_name_that_is_not_there_tells_why(path):
    *modules, name = path.split(".")
    module = reduce(getattr, modules, ag)
    assert not hasattr(module, name)
    with pytest.raises(AttributeError, match=rf"'{name}': {re.escape(reason(name) or '-')}$") as raised:
        getattr(module, name)
    assert "\n" not in str(raised.value)


def test_the_names_are_those_of_pytorch():
    torch = pytest.importorskip("torch", reason="the names are those of PyTorch")
    for path in ABSENT.split():
        *modules, name = path.split(".")
        assert hasattr(reduce(getattr, modules, torch), name), path


def test_nothing_that_is_there_has_a_reason_not_to_be():
    places = (ag, ag.nn, ag.nn.functional, ag.optim, ag.func, ag.autograd.graph)
    there = [n for place in places for n in dir(place) if reason(n)]
    assert not there


@pytest.mark.parametrize(
    ("module", "name", "nearest"),
    [
        ("nn", "Liner", "Linear"), ("optim", "Adagrd", "Adagrad"), ("func", "jacrv", "jacrev"),
        ("optim.lr_scheduler", "StepLr", "StepLR"), ("optim.swa_utils", "SWALr", "SWALR"), ("nn.init", "xavier_uniforms_", "xavier_uniform_"),
        ("utils", "dat", "data"), ("utils.data", "DataLoadr", "DataLoader"), ("utils.checkpoint", "chekpoint", "checkpoint"),
        ("nn.utils", "clip_grad_norms_", "clip_grad_norm_"), ("nn.utils.rnn", "pad_seq", "pad_sequence"),
        ("nn.utils.parametrize", "is_parametrised", "is_parametrized"), ("nn.utils.parametrizations", "weight_nrm", "weight_norm"),
        ("autograd", "grd", "grad"), ("autograd.forward_ad", "mk_dual", "make_dual"), ("amp", "autocats", "autocast"),
        ("cuda", "is_availabl", "is_available"), ("testing", "assert_clos", "assert_close"),
        ("linalg", "chol", "cholesky"), ("nn.init", "xavier", "xavier_normal_"), ("random", "manual_sed", "manual_seed"),
        ("fft", "ftt", "fft"), ("special", "efr", "erf"), ("", "exo", "exp"), ("", "sim", "sin"), ("nn.functional", "reluu", "relu"), ("linalg", "sovle", "solve"), ("linalg", "drt", "det"), ("nn.grad", "conv1d_inputs", "conv1d_input"), ("cuda.amp", "autocats", "autocast"), ("cuda.nvtx", "range_psh", "range_push"),
    ],
)  # fmt: skip
def test_the_nearest_name(module, name, nearest):
    owner = functools.reduce(getattr, module.split("."), ag) if module else ag
    with pytest.raises(AttributeError, match=f"the nearest that it has is '{nearest}'$"):
        getattr(owner, name)
    with pytest.raises(ImportError, match=f"^cannot import name '{name}' from '{owner.__name__}'; .* is '{nearest}'$"):
        exec(f"from {owner.__name__} import {name}")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("linear", "there is agdbg_engine.nn.functional.linear"), ("cond", "there is agdbg_engine.linalg.cond"),
        ("embedding_bag", "there is agdbg_engine.nn.functional.embedding_bag"), ("Adam", "there is agdbg_engine.optim.Adam"),
        ("embeding_bag", "the nearest is agdbg_engine.nn.functional.embedding_bag"), ("item", "there is agdbg_engine.Tensor.item"),
        ("nn.functional.Linear", "there is agdbg_engine.nn.Linear"), ("fft.matmul", "there is agdbg_engine.matmul"),
        ("DataLoader", "there is agdbg_engine.utils.data.DataLoader"),
    ],
)  # fmt: skip
def test_a_name_of_another_module(path, place):
    owner, _, name = path.rpartition(".")
    module = functools.reduce(getattr, owner.split("."), ag) if owner else ag
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; {place}$"):
        getattr(module, name)
    assert functools.reduce(getattr, place.rpartition("agdbg_engine.")[2].split("."), ag) is not None


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("cuda.graph", "kernels are launched one by one here"), ("cuda.FloatTensor", "use tensor"),
        ("utils.data.IterDataPipe", "use IterableDataset"), ("utils.data.MapDataPipe", "use Dataset"),
    ],
)  # fmt: skip
def test_a_reason_that_holds_in_one_module(path, said):
    owner, _, name = path.rpartition(".")
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': {said}"):
        getattr(functools.reduce(getattr, owner.split("."), ag), name)


@pytest.mark.parametrize("module", ["cuda", "utils.data"])
def test_every_public_name_of_a_module_is_there_or_tells_why_not(module):
    torch = pytest.importorskip("torch", reason="the names are those of PyTorch")
    theirs, ours = (functools.reduce(getattr, module.split("."), lib) for lib in (torch, ag))
    silent = []
    for name in theirs.__all__:
        try:
            getattr(ours, name)
        except AttributeError as error:
            silent += [] if re.search(r"': .|; the nearest|; there is", str(error)) or name.startswith("_") else [name]
    assert not silent


def test_every_function_that_writes_is_there():
    torch = pytest.importorskip("torch", reason="the names are those of PyTorch")
    for name in dir(torch):
        if name.endswith("_") and not name.startswith("_") and callable(getattr(torch, name)) and not reason(name):
            assert hasattr(ag, name), name


def test_an_import_tells_the_reason_too():
    with pytest.raises(ImportError, match=r"from 'agdbg_engine': NumPy has no such dtype"):
        exec("from agdbg_engine import bfloat16")


@pytest.mark.parametrize(("module", "name"), [(ag.nn, "common_types"), (ag, "quux"), (ag.optim.lr_scheduler, "foo")])
def test_no_name_is_near_that_has_little_in_common(module, name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
        getattr(module, name)


def test_attributes_of_modules_and_optimizers():
    module = ag.nn.Linear(1, 1)
    optimizer = ag.optim.SGD(module.parameters(), lr=1.0)
    for owner, name, nearest in ((module, "wieght", "weight"), (optimizer, "zero_grd", "zero_grad")):
        with pytest.raises(AttributeError) as raised:
            getattr(owner, name)
        kind = type(owner).__name__
        assert str(raised.value) == f"'{kind}' object has no attribute '{name}'; the nearest that it has is '{nearest}'"
        assert not hasattr(copy.deepcopy(owner), name)
    with pytest.raises(AttributeError, match=r"^'Linear' object has no attribute 'foo'$"):
        ag.nn.Linear.__new__(ag.nn.Linear).foo


def test_dense_tensors_of_one_process():
    torch = pytest.importorskip("torch", reason="the words are compared with it")
    x, y = ag.ones(2), torch.ones(2)
    assert x.to_dense() is x and y.to_dense() is y
    assert x.to_dense(ag.float64).dtype == ag.float64
    assert x.is_shared() is y.is_shared() is False
    assert ag.typename(x) == torch.typename(y) == "torch.FloatTensor"
    assert ag.typename(3) == torch.typename(3) == "int"


@pytest.mark.parametrize("name", ["mising", "conversion", "rangs"])
def test_the_engines_inner_modules_are_no_near_names(name):
    with pytest.raises(AttributeError) as raised:
        getattr(ag, name)
    assert not any(inner in str(raised.value) for inner in ("'missing'", "'conversions'", "'ranges'"))


@pytest.mark.parametrize("name", OF_TENSORS)
def test_methods_that_are_not_there(name):
    with pytest.raises(NotImplementedError, match=rf"^{name}\(\) is not supported: {re.escape(reason(name))}$"):
        getattr(ag.ones(1), name)()


@pytest.mark.parametrize(("call", "said"), [
    (lambda x: x.to("bfloat16"), "Invalid device string: 'bfloat16'\nbfloat16: NumPy has no such dtype"),
    (lambda x: x.type("torch.BFloat16Tensor"), "invalid type: 'torch.BFloat16Tensor'\nBFloat16Tensor: NumPy has no such dtype"),
])  # fmt: skip
def test_a_dtype_that_is_not_there_by_its_name(call, said):
    with pytest.raises((RuntimeError, ValueError)) as caught:
        call(ag.ones(1))
    assert str(caught.value).startswith(said) and "use float32" in str(caught.value)


def test_a_module_in_bfloat16():
    with pytest.raises(NotImplementedError, match="use float32, which has its range, or float16"):
        ag.nn.Linear(1, 1).bfloat16()


def test_why_ml_dtypes_does_not_serve():
    """What docs/ops.md says of it."""
    bfloat16 = np.dtype(pytest.importorskip("ml_dtypes", reason="who needs bfloat16 in NumPy has it").bfloat16)
    assert np.ones(1000, bfloat16).sum() == 256
    for other in (np.int64, np.float16):
        with pytest.raises(TypeError):
            np.promote_types(bfloat16, other)
    with pytest.raises(TypeError):
        np.einsum("ij,jk->ik", np.ones((2, 2), bfloat16), np.ones((2, 2), bfloat16))


def test_matmul_precision():
    torch = pytest.importorskip("torch", reason="the names are those of PyTorch")
    for t in (torch, ag):
        before = t.get_float32_matmul_precision()
        t.set_float32_matmul_precision("high")
        assert (before, t.get_float32_matmul_precision()) == ("highest", "high")
        with pytest.warns(UserWarning, match="low is not one of 'highest', 'high', or 'medium'; the current"):
            t.set_float32_matmul_precision("low")
        with pytest.raises(RuntimeError, match="set_float32_matmul_precision expects a str, but got int"):
            t.set_float32_matmul_precision(3)
        t.set_float32_matmul_precision("highest")


SPACES = ("nn.functional", "nn", "optim", "linalg", "special", "fft", "func")
NO_NAMES_OF_PYTORCH = "torch Tensor TYPE_CHECKING windows .*_notes .*common.* factory_kwargs GRID_SAMPLE_.* .*torch_function.* grad cpu ModuleDict"
"""What modules of PyTorch import, parts of their texts, and what is elsewhere here: ``nn.grad``, ``nn.ModuleDict``, ``device("cpu")``."""


@pytest.mark.parametrize("space", ["", *SPACES])
def test_every_name_of_pytorch_is_there_or_tells_why_not(space):
    """One line, with the reason and the way out, or with the nearest name."""
    torch = pytest.importorskip("torch", reason="the names are those of PyTorch")
    theirs, ours = (functools.reduce(getattr, space.split("."), lib) if space else lib for lib in (torch, ag))
    silent = []
    for name in dir(theirs):
        if name.startswith("_") or any(re.fullmatch(p, name) for p in NO_NAMES_OF_PYTORCH.split()):
            continue
        found = getattr(theirs, name)
        home = found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", None)
        if not (home or "torch").startswith("torch"):
            continue  # of Python
        try:
            getattr(ours, name)
        except AttributeError as error:
            told = re.fullmatch(
                r"module '.*' has no attribute '\w+'(: .+|; the nearest that it has is '\w+'|; (there is|the nearest is) [\w.]+)",
                str(error),
            )
            silent += [] if told else [name]
    assert not silent


def test_every_method_of_pytorchs_tensors_is_there_or_tells_why_not():
    torch = pytest.importorskip("torch", reason="the names are those of PyTorch")
    lacking = {n for n in dir(torch.Tensor) if not n.startswith("_") and not hasattr(ag.Tensor, n)}
    assert lacking <= {
        "dim_order", "index", "indices", "is_distributed", "module_load", "resize", "resize_as", "slice_inverse", "values",
    }  # fmt: skip
