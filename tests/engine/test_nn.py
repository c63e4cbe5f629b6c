"""Modules, layers, losses and optimizers: the same numbers and errors as PyTorch, and the names that instruments are told."""

import gc
import weakref

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import events, nn, optim

F = nn.functional


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")


def pair(torch):
    """The same small classifier twice."""
    ag.manual_seed(3)
    mine = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    theirs = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    with torch.no_grad():
        for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
            q.copy_(torch.tensor(p.detach().numpy()))
    return mine, theirs


OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "dampening": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.02}),
    "nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    "maximize": ("SGD", {"lr": 0.01, "maximize": True}),
    "adam": ("Adam", {"lr": 0.02}),
    "adam options": ("Adam", {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.1}),
    "amsgrad": ("Adam", {"lr": 0.02, "amsgrad": True}),
    "adam maximize": ("Adam", {"lr": 0.002, "maximize": True}),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps_give_torchs_parameters(torch, name):
    kind, options = OPTIMIZERS[name]
    mine, theirs = pair(torch)
    a = getattr(optim, kind)(mine.parameters(), **options)
    b = getattr(torch.optim, kind)(theirs.parameters(), **options)
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.standard_normal((16, 4)).astype("f"), rng.integers(0, 3, 16)
        for model, optimizer, t, f in ((mine, a, ag, F), (theirs, b, torch, torch.nn.functional)):
            loss = f.cross_entropy(model(t.tensor(x)), t.tensor(y))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=2e-4, atol=2e-5)


def test_big_parameters_are_updated_as_small_ones(torch):
    rng = np.random.default_rng(0)
    for kind, options in OPTIMIZERS.values():
        p0, g0 = rng.standard_normal((2, 300, 200)).astype("f")
        results = []
        for t in (ag, torch):
            p = t.tensor(p0).requires_grad_()
            optimizer = getattr(t.optim, kind)([p], **options)
            for _ in range(3):
                p.grad = t.tensor(g0)
                optimizer.step()
            results.append(p.detach().numpy())
        np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-6)


def test_a_gradient_laid_out_by_columns_updates_the_right_elements():
    p = ag.zeros(200, 300, requires_grad=True)
    g = np.arange(60000, dtype="f").reshape(300, 200).T
    p.grad = ag.from_numpy(g)
    optim.SGD([p], lr=1.0).step()
    np.testing.assert_array_equal(p.detach().numpy(), -g)


LOSSES = {
    "cross_entropy": lambda t, f, x: f.cross_entropy(x, t.tensor([0, 2, 1, 1])),
    "cross_entropy sum": lambda t, f, x: f.cross_entropy(x, t.tensor([0, 2, 1, 1]), reduction="sum"),
    "cross_entropy none": lambda t, f, x: (
        f.cross_entropy(x, t.tensor([0, 2, 1, 1]), reduction="none") * x[:, 0]
    ).sum(),
    "nll": lambda t, f, x: f.nll_loss(x.log_softmax(1), t.tensor([0, 2, 1, 1])),
    "mse": lambda t, f, x: f.mse_loss(x, x.detach() * 2 + 1),
    "mse both": lambda t, f, x: f.mse_loss(x, x * x, reduction="sum"),
    "linear 3d": lambda t, f, x: f.linear(x.reshape(2, 2, 3), t.ones(5, 3) * 0.3, t.ones(5)).pow(2).sum(),
    "linear 1d": lambda t, f, x: f.linear(x[0], t.ones(5, 3) * 0.3).pow(2).sum(),
    "activations": lambda t, f, x: (f.relu(x) + f.silu(x) + f.softplus(x) + f.leaky_relu(x)).pow(2).sum(),
    "embedding": lambda t, f, x: f.embedding(t.tensor([[0, 1], [1, 3]]), x).pow(2).sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_layers_have_torchs_value_and_gradients(torch, name):
    data = np.random.default_rng(0).standard_normal((4, 3)).astype("f")
    results = []
    for t, f in ((ag, F), (torch, torch.nn.functional)):
        x = t.tensor(data).requires_grad_()
        y = LOSSES[name](t, f, x)
        (g,) = t.autograd.grad(y, x, create_graph=True)
        (h,) = t.autograd.grad((g * g).sum(), x, allow_unused=True)
        results.append([y.item(), g.detach().numpy(), None if h is None else h.detach().numpy()])
    for mine, theirs in zip(*results, strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["relu", "leaky_relu"])
def test_the_second_derivative_of_a_kink_is_zero_and_not_an_error(torch, name):
    for t, f in ((ag, F), (torch, torch.nn.functional)):
        x = t.tensor([1.0, -2.0, 0.0], requires_grad=True)
        (g,) = t.autograd.grad(getattr(f, name)(x).sum(), x, create_graph=True)
        (g * g).sum().backward()
        assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_the_graph_of_a_linear_layer_is_torchs(torch):
    def names(node):
        return [node.name(), [n.name().rpartition("::")[2] for n, _ in node.next_functions if n is not None]]

    mine, theirs = nn.Linear(3, 2), torch.nn.Linear(3, 2)
    assert names(mine(ag.ones(4, 3)).grad_fn) == names(theirs(torch.ones(4, 3)).grad_fn)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2, bias=False))
        self.scale = nn.Parameter(ag.ones(2))
        self.register_buffer("seen", ag.zeros(1))
        self.shared = self.body[0]

    def forward(self, x):
        return self.body(x) * self.scale


def test_a_module_lists_its_parts_like_torch(torch):
    model = Tower()
    assert [n for n, _ in model.named_parameters()] == ["scale", "body.0.weight", "body.0.bias", "body.2.weight"]
    assert [n for n, _ in model.named_buffers()] == ["seen"]
    assert [n for n, _ in model.named_modules()] == ["", "body", "body.0", "body.1", "body.2"]
    held = ["scale", "seen", "body.0.weight", "body.0.bias", "body.2.weight", "shared.weight", "shared.bias"]
    assert list(model.state_dict()) == held
    assert "(body): Sequential(" in repr(model)


def test_train_and_eval_reach_every_part():
    model = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    x = ag.ones(100)
    assert (model(x) == 0).any().item()
    model.eval()
    assert model(x) is x
    assert not any(m.training for m in model.modules())


def test_state_goes_round_and_wrong_keys_are_named():
    a, b = Tower(), Tower()
    b.load_state_dict(a.state_dict())
    for p, q in zip(a.parameters(), b.parameters(), strict=True):
        np.testing.assert_array_equal(p.detach().numpy(), q.detach().numpy())
    state = a.state_dict()
    state["extra"] = state.pop("scale")
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "scale"'):
        b.load_state_dict(state)


def test_optimizer_state_goes_round(torch):
    mine, _ = pair(torch)
    a = optim.Adam(mine.parameters(), lr=0.1)
    for p in mine.parameters():
        p.grad = ag.ones_like(p)
    a.step()
    b = optim.Adam(mine.parameters(), lr=0.5)
    b.load_state_dict(a.state_dict())
    assert b.param_groups[0]["lr"] == 0.1
    assert [s["step"] for s in b.state.values()] == [1] * 4


def test_bad_input_names_the_thing():
    with pytest.raises(ValueError, match=r"Invalid learning rate: -1"):
        optim.SGD([ag.ones(1, requires_grad=True)], lr=-1)
    with pytest.raises(ValueError, match="empty parameter list"):
        optim.SGD([])
    with pytest.raises(ValueError, match="can't optimize a non-leaf"):
        optim.SGD([ag.ones(1, requires_grad=True) * 2])
    with pytest.raises(TypeError, match="iterable of Tensors"):
        optim.SGD(ag.ones(1))
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        F.cross_entropy(ag.ones(1, 3), ag.tensor([5]))
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got 2"):
        F.dropout(ag.ones(1), 2)
    with pytest.raises(AttributeError, match="has no attribute 'conv4d'; the nearest that it has is 'conv3d'"):
        F.conv4d
    with pytest.raises(AttributeError, match=r"before Module\.__init__"):

        class Early(nn.Module):
            def __init__(self):
                self.x = nn.Linear(1, 1)

        Early()


def test_a_step_counts_as_one_write_of_every_parameter_with_a_gradient():
    a, b = ag.ones(2, requires_grad=True), ag.ones(2, requires_grad=True)
    optimizer = optim.SGD([a, b], lr=0.1)
    (a * 2).sum().backward()
    optimizer.step()
    assert (a._version, b._version) == (1, 0)


class Names(events.Sink):
    def __init__(self):
        self.told = []

    def tensor_named(self, tensor, name, kind):
        self.told.append((name, kind))


@pytest.fixture
def names():
    sink = Names()
    events.install(sink)
    yield sink
    events.remove()


def test_parameters_are_named_once_and_from_the_root(names):
    model = Tower()
    model.body(ag.ones(1, 2))
    model(ag.ones(1, 2))
    model(ag.ones(1, 2))
    assert sorted(names.told) == sorted([(n, "parameter") for n, _ in model.named_parameters()] + [("seen", "buffer")])


def test_a_parameter_that_is_replaced_is_named_again(names):
    model = nn.Linear(2, 2)
    model(ag.ones(1, 2))
    model.weight = nn.Parameter(ag.ones(2, 2))
    model(ag.ones(1, 2))
    assert [n for n, _ in names.told].count("weight") == 2


def test_being_told_of_keeps_no_module_alive(names):
    model = Tower()
    model(ag.ones(1, 2))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_an_assignment_that_would_drop_a_part_is_refused(torch):
    class Holder:
        pass

    for t in (ag, torch):
        layer = t.nn.Linear(3, 2)
        with pytest.raises(
            TypeError, match=r"cannot assign .* as parameter 'weight' \(torch.nn.Parameter or None expected\)"
        ):
            layer.weight = t.ones(2, 3)
        model = t.nn.Sequential(layer)
        with pytest.raises(TypeError, match=r"as child module '0' \(torch.nn.Module or None expected\)"):
            setattr(model, "0", Holder())
        with pytest.raises(KeyError, match="t contain"):
            layer.register_parameter("a.b", t.nn.Parameter(t.ones(1)))
        layer.weight = None
        assert [n for n, _ in layer.named_parameters()] == ["bias"]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ignored_targets_count_for_nothing(torch, reduction):
    data = np.random.default_rng(0).standard_normal((4, 3)).astype("f")
    results = []
    for t, f in ((ag, F), (torch, torch.nn.functional)):
        x = t.tensor(data).requires_grad_()
        loss = f.cross_entropy(x, t.tensor([0, -100, 1, -100]), reduction=reduction)
        (loss * t.ones_like(loss)).sum().backward()
        results.append((loss.detach().numpy(), x.grad.numpy()))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_a_target_of_another_size_warns_and_one_that_does_not_fit_is_refused(torch):
    for t in (ag, torch):
        with pytest.warns(UserWarning, match="Using a target size"):
            loss = t.nn.functional.mse_loss(t.ones(3, 1), t.zeros(2))
        assert loss.item() == 1
        with (
            pytest.warns(UserWarning, match="Using a target size"),
            pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(2\)"),
        ):
            t.nn.functional.mse_loss(t.ones(3), t.zeros(2))
