"""Modules and first values given tensors of PyTorch, which have methods of the same names: refused, and nothing is computed there."""

import warnings

import pytest

pytest.importorskip("torch", reason="PyTorch is the other side here")

import torch
from torch.testing._internal.common_modules import module_db

import agdbg_engine as engine

MODULES = {i.module_cls.__name__: i for i in module_db if hasattr(engine.nn, i.module_cls.__name__)}
MOST = 2


def samples(info, training):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=training)
        return [s for s in found if s.forward_input is not None][:MOST]


def said(function):
    """What is wrong with the refusal of a call."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function()
    except Exception as error:  # whatever it is, it is what is looked at
        text = str(error)
        return "" if "of PyTorch: " in text or "another library, torch" in text else text
    return "taken"


@pytest.mark.parametrize("training", (True, False))
@pytest.mark.parametrize("name", MODULES)
def test_modules_refuse_them(name, training):
    info = MODULES[name]
    for sample in samples(info, training):
        made, given = sample.constructor_input, sample.forward_input

        def call(made=made, given=given):
            module = getattr(engine.nn, name)(*made.args, **made.kwargs).train(training)
            module(*given.args, **given.kwargs)

        assert not said(call)


@pytest.mark.parametrize(
    "module", (engine.nn.Softsign, engine.nn.Tanhshrink, engine.nn.Flatten, engine.nn.LocalResponseNorm)
)
def test_those_that_compute_by_methods_refuse_empty_ones_too(module):
    made = module(2) if module is engine.nn.LocalResponseNorm else module()
    assert not said(lambda: made(torch.ones(0, 2, 2)))


@pytest.mark.parametrize("name", [n for n in engine.nn.init.__all__ if n.endswith("_")])
def test_first_values_are_not_written_to_them(name):
    more = {"constant_": (1.0,), "sparse_": (0.5,)}.get(name, ())
    t = torch.full((2, 2, 2) if name == "dirac_" else (2, 2), 7.0)
    with pytest.raises(
        TypeError, match=rf"^{name}\(\): argument 'tensor' \(position 1\) must be Tensor, not torch\.Tensor "
    ):
        getattr(engine.nn.init, name)(t, *more)
    with pytest.raises(TypeError, match="a tensor of PyTorch: "):
        getattr(engine.nn.init, name)(*more, tensor=t) if not more else getattr(engine.nn.init, name)(t, *more)
    assert (t == 7).all()


@pytest.mark.parametrize(
    ("name", "hx"),
    [
        ("LSTM", torch.zeros(2, 1, 1, 4)),
        ("LSTM", (torch.zeros(1, 1, 4), torch.zeros(1, 1, 4))),
        ("GRU", torch.zeros(1, 1, 4)),
        ("RNN", torch.zeros(1, 1, 4)),
    ],
)
def test_states_are_refused(name, hx):
    assert not said(lambda: getattr(engine.nn, name)(3, 4)(engine.ones(2, 1, 3), hx))


@pytest.mark.parametrize("made", [torch.tensor(1.0), torch.ones(2)])
def test_roots_and_gradients_are_refused(made):
    x = engine.ones(3, requires_grad=True)
    for call in (
        lambda: engine.autograd.backward(made),
        lambda: engine.autograd.backward(x.sum(), made),
        lambda: x.sum().backward(made),
        lambda: x.sum().backward(inputs=made),
        lambda: engine.autograd.grad(x.sum(), x, made),
        lambda: engine.nn.utils.vector_to_parameters(made, [x]),
        lambda: engine.nn.utils.rnn.pad_sequence([made]),
        lambda: engine.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 1, 1), [2]),
    ):
        assert not said(call)


def test_dropout_in_place_leaves_them_as_they_are():
    t = torch.ones(2, 2)
    assert not said(lambda: engine.nn.functional.dropout1d(t, 0.5, True, True))
    assert t.shape == (2, 2)


# ----- parts of modules -----


def parameter():
    return torch.nn.Parameter(torch.ones(2))


def linear():
    return engine.nn.Linear(2, 2)


PARAMETER = r"\(a parameter of PyTorch: agdbg_engine\.nn\.Parameter\(agdbg_engine\.from_numpy\(t\.numpy\(force=True\)\)\) makes one of the engine\)$"
TENSOR = r"\(a tensor of PyTorch: agdbg_engine\.from_numpy\(t\.numpy\(force=True\)\) makes it one of the engine\)$"
MODULE = r"\(a module of PyTorch: make it by agdbg_engine\.nn\.ReLU\)$"
HELD = {
    "parameter again": (lambda: setattr(linear(), "weight", parameter()), r"\(agdbg_engine\.nn\.Parameter or None expected\) " + PARAMETER),
    "tensor again": (lambda: setattr(linear(), "weight", torch.ones(2)), r"\(agdbg_engine\.nn\.Parameter or None expected\) " + TENSOR),
    "parameter": (lambda: setattr(linear(), "scale", parameter()), r"\(agdbg_engine\.nn\.Parameter expected\) " + PARAMETER),
    "registered": (lambda: linear().register_parameter("scale", parameter()), r"\(agdbg_engine\.nn\.Parameter or None required\) " + PARAMETER),
    "buffer": (lambda: linear().register_buffer("mean", torch.ones(2)), r"\(agdbg_engine Tensor or None required\) " + TENSOR),
    "module": (lambda: setattr(linear(), "sub", torch.nn.ReLU()), r"\(agdbg_engine\.nn\.Module expected\) " + MODULE),
    "added": (lambda: linear().add_module("sub", torch.nn.ReLU()), MODULE),
    "sequence": (lambda: engine.nn.Sequential(torch.nn.ReLU()), MODULE),
    "list": (lambda: engine.nn.ModuleList([torch.nn.ReLU()]), MODULE),
    "inserted": (lambda: engine.nn.ModuleList().insert(0, torch.nn.ReLU()), MODULE),
    "dict": (lambda: engine.nn.ModuleDict({"a": torch.nn.ReLU()}), MODULE),
    "parameters": (lambda: engine.nn.ParameterList([parameter()]), TENSOR),
    "tensors": (lambda: engine.nn.ParameterList([torch.ones(2)]), TENSOR),
    "names": (lambda: engine.nn.ParameterDict({"a": parameter()}), TENSOR),
    "norm": (lambda: engine.nn.utils.clip_grad_norm_([parameter()], 1.0), TENSOR),
    "value": (lambda: engine.nn.utils.clip_grad_value_(parameter(), 1.0), TENSOR),
    "own class": (lambda: setattr(linear(), "sub", type("Own", (torch.nn.Module,), {})()), r"make it by agdbg_engine\.nn\)$"),
}  # fmt: skip


@pytest.mark.parametrize("what", HELD)
def test_parts_of_modules_are_of_the_engine(what):
    use, text = HELD[what]
    with pytest.raises(TypeError, match=text) as error:
        use()
    assert "\n" not in str(error.value)


def test_what_is_no_part_may_be_of_pytorch():
    module = linear()
    module.data, module.kind, module.function = torch.ones(2), torch.float32, torch.relu
    assert module.data.shape == (2,)


CALLED = {
    "GRUCell: argument 'input' (position 1) must be Tensor": lambda t: engine.nn.GRUCell(2, 2)(t),
    "RNNCell: argument 'input' (position 1) must be Tensor": lambda t: engine.nn.RNNCell(2, 2)(t),
    "LSTMCell: argument 'input' (position 1) must be Tensor": lambda t: engine.nn.LSTMCell(2, 2)(t),
    "gradcheck(): argument 'inputs' (position 2) must be Tensor": lambda t: engine.autograd.gradcheck(engine.sin, t.double().requires_grad_()),
    "gradcheck(): argument 'inputs[1]' (position 2) must be Tensor": lambda t: engine.autograd.gradcheck(engine.add, (1.0, t)),
    "jvp(f, primals, tangents): Expected primals to only contain Tensors": lambda t: engine.func.jvp(engine.sin, (t,), (t,)),
    "jvp(f, primals, tangents): Expected tangents to only contain Tensors": lambda t: engine.func.jvp(engine.sin, (engine.ones(2, 2),), (t,)),
    "jvp(f, primals, tangents): expected f(*primals) to return only tensors": lambda t: engine.func.jvp(lambda x: t, *[(engine.ones(2, 2),)] * 2),
}  # fmt: skip


@pytest.mark.parametrize("said", CALLED)
def test_calls_name_them(said):
    with pytest.raises(Exception, match=TENSOR) as error:
        CALLED[said](torch.ones(2, 2))
    assert str(error.value).startswith(said)
