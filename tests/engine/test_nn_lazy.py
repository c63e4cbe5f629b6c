"""Lazy modules are PyTorch's: before and after their first input, copied, saved and loaded in either state."""

import copy
import pickle
import re

import numpy as np
import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference here")


CASES = [
    ("LazyLinear", (3,), {}, (2, 5)),
    ("LazyLinear", (3,), {"bias": False}, (5,)),
    ("LazyConv1d", (4, 3), {"groups": 2}, (2, 6, 9)),
    ("LazyConv2d", (4, 3), {"padding": 1, "padding_mode": "reflect", "bias": False}, (6, 9, 9)),
    ("LazyConv3d", (4, (1, 2, 3)), {}, (2, 6, 5, 5, 5)),
    ("LazyConvTranspose1d", (4, 3), {"groups": 2}, (2, 6, 9)),
    ("LazyConvTranspose2d", (4, 3), {"stride": 2, "output_padding": 1}, (2, 6, 9, 9)),
    ("LazyConvTranspose3d", (4, 2), {}, (2, 6, 3, 3, 3)),
    ("LazyBatchNorm1d", (), {"track_running_stats": False}, (4, 5)),
    ("LazyBatchNorm2d", (), {"momentum": None}, (4, 5, 2, 2)),
    ("LazyBatchNorm3d", (), {"affine": False}, (4, 5, 2, 2, 2)),
    ("LazyInstanceNorm1d", (), {"bias": False}, (4, 5, 3)),
    ("LazyInstanceNorm2d", (), {}, (4, 5, 3, 3)),
    ("LazyInstanceNorm3d", (), {"affine": False}, (4, 5, 3, 3, 2)),
]


def told(call):
    """What a call gives, or its error."""
    try:
        return call()
    except Exception as error:
        first = re.sub("in <.*>\\. ", "in F. ", str(error).split("\n")[0])
        return f"{type(error).__name__}: {first}".replace("agdbg_engine", "torch")


def facts(module):
    state = module.state_dict()
    shapes = [told(lambda t=t: tuple(t.shape)) for t in state.values()]
    kinds = [type(t).__name__ for t in (*module.parameters(), *module.buffers())]
    dtypes = [str(t.dtype).removeprefix("torch.") for t in state.values()]
    return repr(module), list(state), shapes, kinds, dtypes, len(module._forward_pre_hooks)


def life(t, name, args, kwargs, shape):
    """What is seen of such a module from its making on."""

    def make():
        return getattr(t.nn, name)(*args, **kwargs)

    x = t.tensor(np.random.default_rng(0).standard_normal(shape), dtype=t.float64)
    module = make()
    found = [facts(module), module.has_uninitialized_params()]
    twin = told(lambda: copy.deepcopy(module))  # buffers without a size cannot be copied
    kept = list(module.parameters())
    module.double()
    for _ in range(2):
        found += [tuple(module(x).shape), facts(module)]
    found.append([a is b for a, b in zip(kept, module.parameters(), strict=True)])
    if isinstance(twin, str):
        found.append(twin)
    else:
        found += [tuple(twin(x.float()).shape), facts(twin), tuple(twin(x.float()).shape)]
    back = pickle.loads(pickle.dumps(make()))
    found += [facts(back), tuple(back(x.float()).shape), facts(back)]
    for assign in (False, True):
        loaded = make()
        found += [str(loaded.load_state_dict(module.state_dict(), assign=assign)), facts(loaded)]
        found += [
            told(lambda loaded=loaded: tuple(loaded(x.to(next(iter(loaded.state_dict().values()), x).dtype)).shape))
        ]
        found += [facts(loaded)]
    first, second = make(), make()
    found += [str(first.load_state_dict(second.state_dict())), facts(first)]
    found.append(told(lambda: module.load_state_dict(first.state_dict())))
    return found


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), CASES, ids=lambda value: str(value))
def test_from_its_making_on(torch, name, args, kwargs, shape):
    assert life(ag, name, args, kwargs, shape) == life(torch, name, args, kwargs, shape)


USES = {
    "shape": lambda t, p: p.shape, "sum": lambda t, p: p.sum(), "add": lambda t, p: p + 1, "relu": lambda t, p: t.relu(p),
    "numel": lambda t, p: p.numel(), "detach": lambda t, p: p.detach(), "item": lambda t, p: p[0], "zero_": lambda t, p: p.zero_(),
    "share": lambda t, p: p.share_memory_(), "repr": lambda t, p: repr(p), "grad": lambda t, p: p.grad,
    "needs": lambda t, p: p.requires_grad, "double": lambda t, p: type(p.double()).__name__,
    "Parameter": lambda t, p: isinstance(p, t.nn.Parameter), "Buffer": lambda t, p: isinstance(p, t.nn.Buffer),
    "floating": lambda t, p: p.is_floating_point(), "lazy": lambda t, p: t.nn.parameter.is_lazy(p),
    "sgd": lambda t, p: t.optim.SGD([p], lr=1).step(), "like": lambda t, p: t.zeros_like(p),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_what_has_no_size_yet(torch, use):
    found = [
        [told(lambda t=t, p=p: USES[use](t, p)) for p in (t.nn.UninitializedParameter(), t.nn.UninitializedBuffer())]
        for t in (ag, torch)
    ]
    assert found[0] == found[1]


def test_an_optimizer_made_before_the_first_input_trains_what_becomes_of_it(torch):
    ends = []
    for t in (ag, torch):
        model = t.nn.Sequential(t.nn.LazyLinear(3), t.nn.ReLU(), t.nn.LazyBatchNorm1d())
        optimizer = t.optim.SGD(model.parameters(), lr=0.1)
        x = t.tensor(np.arange(8.0).reshape(4, 2), dtype=t.float32)
        model(x)
        with t.no_grad():
            for p in model.parameters():
                p.copy_(t.tensor(np.linspace(0.1, 1, p.numel()).reshape(p.shape)))
        (model(x) ** 2).sum().backward()
        optimizer.step()
        ends.append([p.detach().numpy() for p in model.parameters()])
    for a, b in zip(*ends, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_what_does_not_fit(torch):
    def loaded(t):
        module = t.nn.LazyLinear(3)
        module.load_state_dict({"weight": t.ones(3, 2), "bias": t.ones(3)})
        return module(t.ones(1, 5))

    class Empty(ag.nn.modules.lazy.LazyModuleMixin):
        pass

    for call in (
        lambda t: t.nn.LazyConv2d(4, 3)(t.ones(3, 3)),
        lambda t: t.nn.LazyConv2d(4, 3, groups=2)(t.ones(1, 3, 4, 4)),
        loaded,
    ):
        assert told(lambda call=call: call(ag)) == told(lambda call=call: call(torch))
    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for Empty"):
        Empty()(1)


def test_a_norm_of_all_processes_is_that_of_this_one(torch):
    ends = []
    x = np.random.default_rng(0).standard_normal((4, 3, 2))
    for t in (ag, torch):
        model = t.nn.Sequential(t.nn.BatchNorm1d(3), t.nn.Sequential(t.nn.BatchNorm1d(3, affine=False)), t.nn.ReLU())
        before = list(model.parameters())
        model[1].eval()
        model = t.nn.SyncBatchNorm.convert_sync_batchnorm(model).double()
        y = model(t.tensor(x))
        (y**2).sum().backward()
        same = [a is b for a, b in zip(before, model.parameters(), strict=True)]
        errors = [told(lambda t=t, s=s: t.nn.SyncBatchNorm(3)(t.ones(*s))) for s in ((3,), (2, 0), (2, 4))]
        numbers = [y.detach(), *(p.grad for p in model.parameters()), *model.buffers()]
        ends.append((repr(model), same, model[1][0].training, errors, [n.numpy() for n in numbers]))
    assert ends[0][:4] == ends[1][:4]
    for a, b in zip(ends[0][4], ends[1][4], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
