"""Tensors of PyTorch beside the engine's: one line that says so, in both directions, and conversions where they are asked for."""

import operator

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is the other side here")

import torch

import agdbg_engine as engine
from agdbg_engine.foreign import is_foreign

OURS = r"\(a tensor of PyTorch: agdbg_engine\.from_numpy\(t\.numpy\(force=True\)\) makes it one of the engine\)$"


def of_both():
    return engine.ones(2, 2), torch.ones(2, 2)


# ----- the engine is asked -----


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "matmul",
        "and_",
        "or_",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
    ],
)
@pytest.mark.parametrize("turned", (False, True), ids=("left", "right"))
def test_operators_refuse_them(name, turned):
    a, t = of_both()
    if name in ("and_", "or_"):
        a, t = a > 0, t > 0
    with pytest.raises(TypeError, match=r"^\w+\(\): argument .* must be Tensor, not torch\.Tensor " + OURS):
        getattr(operator, name)(*((t, a) if turned else (a, t)))


@pytest.mark.parametrize("name", ("iadd", "isub", "imul", "itruediv"))
def test_in_place_operators_refuse_them_and_write_nothing(name):
    a, t = of_both()
    with pytest.raises(TypeError, match=r"argument 'other' \(position 1\) must be Tensor, not torch\.Tensor " + OURS):
        getattr(operator, name)(a, t)
    assert a.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(TypeError, match="PyTorch"):
        getattr(operator, name)(t, a)


PLACES = {
    "add(): argument 'other' (position 2)": lambda a, t: engine.add(a, t),
    "add(): argument 'other' (position 1)": lambda a, t: a.add(t),
    "add(): argument 'input' (position 1)": lambda a, t: engine.add(t, 1),
    "relu(): argument 'input' (position 1)": lambda a, t: engine.relu(t),
    "mm(): argument 'input' (position 1)": lambda a, t: engine.mm(t, a),
    "linear(): argument 'input' (position 1)": lambda a, t: engine.nn.Linear(2, 2)(t),
    "mse_loss(): argument 'target' (position 2)": lambda a, t: engine.nn.functional.mse_loss(a, t),
    "cat(): element 1 of argument 'tensors' (position 1)": lambda a, t: engine.cat([a, t]),
    "sum(): argument 'out'": lambda a, t: engine.sum(a, 0, out=t),
    "copy_(): argument 'other' (position 1)": lambda a, t: a.copy_(t),
    "index_copy_(): argument 'index' (position 2)": lambda a, t: a.index_copy_(0, torch.tensor([0]), a),
    "clamp(): argument 'min' (position 2)": lambda a, t: engine.clamp(a, t),
    "to(): argument (position 1)": lambda a, t: a.to(t),
    "where(): argument 'condition' (position 1)": lambda a, t: engine.where(t > 0, a, a),
    "grad(): argument 'grad_outputs' (position 3)": lambda a, t: engine.autograd.grad(a * 2, a, t),
    "erf(): argument 'input' (position 1)": lambda a, t: engine.special.erf(t),
    "LSTM: argument 'input' (position 1)": lambda a, t: engine.nn.LSTM(2, 2)(t),
    "make_dual(): argument 'tangent' (position 2)": lambda a, t: dual(a, t),
    "make_dual(): argument 'tensor' (position 1)": lambda a, t: dual(t, a),
    "Parameter(): argument 'data' (position 1)": lambda a, t: engine.nn.Parameter(t),
    "Buffer(): argument 'data' (position 1)": lambda a, t: engine.nn.Buffer(t),
    "from_pretrained(): argument 'embeddings' (position 1)": lambda a, t: engine.nn.Embedding.from_pretrained(t),
    "backward(): argument 'tensors' (position 1)": lambda a, t: engine.autograd.backward([t]),
    "alpha_dropout(): argument 'input' (position 1)": lambda a, t: engine.nn.AlphaDropout().eval()(t),
    "flatten(): argument 'input' (position 1)": lambda a, t: engine.nn.Flatten()(t),
    "expand_as(): argument 'other' (position 1)": lambda a, t: a.expand_as(t),
}


def dual(tensor, tangent):
    with engine.autograd.forward_ad.dual_level():
        return engine.autograd.forward_ad.make_dual(tensor, tangent)


@pytest.mark.parametrize("said", PLACES)
def test_the_error_names_the_argument(said):
    a, t = of_both()
    with pytest.raises(TypeError) as error:
        PLACES[said](a.requires_grad_(said.startswith("grad")), t)
    assert str(error.value).startswith(f"{said} must be Tensor, not torch.Tensor (a tensor of PyTorch: ")
    assert "\n" not in str(error.value)


SIZES = ("zeros", "ones", "randn", "empty")
SIZED = ("new_zeros", "new_empty", "expand", "repeat")


@pytest.mark.parametrize("size", [(torch.tensor(2),), (2, torch.tensor(2)), ((2, torch.tensor(2)),)], ids=range(3))
@pytest.mark.parametrize("name", SIZES + SIZED)
def test_sizes_refuse_them(name, size):
    function = getattr(engine, name) if name in SIZES else getattr(engine.ones(2), name)
    with pytest.raises(TypeError, match=rf"^{name}\(\): .*ints.*torch\.Tensor \(a tensor of PyTorch: "):
        function(*size)


def loaded(a, t):
    engine.nn.Linear(2, 2).load_state_dict(torch.nn.Linear(2, 2).state_dict())


@pytest.mark.parametrize(
    "use",
    [
        lambda a, t: a[t > 0], lambda a, t: a[torch.tensor([0])], lambda a, t: a[0, torch.tensor(0)],
        lambda a, t: operator.setitem(a, 0, t[0]), lambda a, t: setattr(a, "grad", t), lambda a, t: setattr(a, "data", t),
        lambda a, t: (a * 2).backward(t), lambda a, t: engine.autograd.backward(t), lambda a, t: engine.nn.Parameter(t),
        lambda a, t: engine.from_numpy(t), lambda a, t: engine.optim.SGD([t], 0.1), lambda a, t: engine.func.grad(engine.sum)(t),
        lambda a, t: engine.utils.data.default_collate([t]), loaded,
    ],
    ids=range(14),
)  # fmt: skip
def test_what_looks_by_itself_tells_how_to_convert(use):
    a, t = of_both()
    with pytest.raises(Exception, match="a tensor of PyTorch: agdbg_engine"):
        use(a.requires_grad_(), t)


def test_dtypes_of_pytorch_are_told_apart():
    with pytest.raises(TypeError, match=r"the dtype of another library, torch: give agdbg_engine\.float64"):
        engine.zeros(2, dtype=torch.float64)


# ----- PyTorch is asked -----


@pytest.mark.parametrize(
    "use",
    [
        lambda a, t: torch.add(a, t), lambda a, t: t.mul_(a), lambda a, t: t[a > 0], lambda a, t: operator.setitem(t, 0, a[0]),
        lambda a, t: torch.nn.Linear(2, 2)(a), lambda a, t: torch.nn.functional.mse_loss(a, t), lambda a, t: torch.cat([t, a]),
        lambda a, t: torch.autograd.grad(a, t), lambda a, t: t.to(a), lambda a, t: torch.add(engine.nn.Parameter(a), t),
    ],
    ids=range(10),
)  # fmt: skip
def test_its_functions_say_that_the_two_cannot_be_mixed(use):
    with pytest.raises(
        TypeError, match=r"\w+\(\): tensors of PyTorch and of agdbg_engine cannot be mixed; .*torch\.from_numpy"
    ):
        use(*of_both())


@pytest.mark.parametrize("use", [torch.relu, torch.nn.functional.relu, torch.linalg.inv, torch.zeros_like])
def test_its_functions_of_one_tensor_name_the_engines(use):
    with pytest.raises(
        TypeError, match=r"\w+\(\): a function of PyTorch was given a tensor of agdbg_engine; call the engine's"
    ):
        use(of_both()[0])


# ----- conversions -----


@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor, torch.asarray, torch.from_dlpack, np.from_dlpack])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_the_memory_is_handed_to_other_libraries(make, shape):
    a = engine.arange(6.0)[: int(np.prod(shape))].reshape(shape).double()
    made = make(a)
    assert tuple(made.shape) == shape and made.tolist() == a.tolist() and "float64" in str(made.dtype)


def test_what_requires_grad_is_not_handed_on():
    with pytest.raises(BufferError, match=r"Can't export tensors that require gradient, use tensor\.detach\(\)"):
        torch.from_dlpack(engine.ones(2, requires_grad=True))


@pytest.mark.parametrize("make", [engine.tensor, engine.as_tensor, engine.asarray, engine.Tensor])
def test_factories_take_them_as_any_array(make):
    made = make(torch.tensor([1.0, 2.0], requires_grad=True))
    assert type(made) is engine.Tensor and type(made._a) is np.ndarray and made.tolist() == [1, 2]


def test_lists_of_them_are_data_as_well():
    made = engine.tensor([[torch.tensor(1.5), torch.tensor(2.5)], [torch.tensor(3.5), torch.tensor(4.5)]])
    assert made.dtype == engine.float32 and made.tolist() == [[1.5, 2.5], [3.5, 4.5]]


def test_as_tensor_shares_their_memory():
    t = torch.zeros(2)
    engine.as_tensor(t)[0] = 3
    assert t.tolist() == [3, 0]


# ----- whoever overrides -----


class Bridge(torch.Tensor):
    """A subclass that knows the engine's functions, and leaves others to PyTorch."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is engine.add:
            return "bridged"
        return super().__torch_function__(func, types, args, kwargs or {})


def test_a_subclass_of_pytorchs_tensor_may_know_the_engine():
    bridge = torch.ones(2, 2).as_subclass(Bridge)
    assert engine.add(engine.ones(2, 2), bridge) == "bridged"
    with pytest.raises(TypeError, match=r"must be Tensor, not .*Bridge"):
        engine.mul(engine.ones(2, 2), bridge)  # asks PyTorch's default, which calls again


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "asked"


def test_objects_that_override_are_asked_beside_them():
    a, t = of_both()
    assert engine.add(a, Duck()) == engine.add(t, Duck()) == engine.cat([t, Duck()]) == torch.add(a, Duck()) == "asked"


class Named(engine.Tensor):
    pass


def test_subclasses_of_the_engines_tensor_refuse_them_too():
    a = engine.ones(2, 2).as_subclass(Named)
    assert type(a + engine.ones(2, 2)) is Named
    for use in (operator.add, engine.mul, torch.mul):
        with pytest.raises(TypeError, match="PyTorch"):
            use(a, torch.ones(2, 2))


def test_a_class_of_another_name_is_not_foreign(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", engine)
    assert not is_foreign(engine.Tensor) and not is_foreign(Named) and not is_foreign(Duck)
    monkeypatch.delitem(__import__("sys").modules, "torch")
    assert not is_foreign(torch.Tensor)
