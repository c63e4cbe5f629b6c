"""The state of every scheduler and optimizer in a file: what comes back is what went in, and has PyTorch's keys, types and values."""

import io
from collections import Counter, OrderedDict

import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

import torch

import agdbg_engine as engine
from agdbg_engine.optim import lr_scheduler

OPTIMIZERS = {
    "ASGD": {}, "Adadelta": {}, "Adafactor": {}, "Adagrad": {}, "Adam": {"amsgrad": True}, "AdamW": {"maximize": True}, "Adamax": {},
    "LBFGS": {"max_iter": 2}, "Muon": {}, "NAdam": {}, "RAdam": {}, "RMSprop": {"momentum": 0.5, "centered": True}, "Rprop": {},
    "SGD": {"momentum": 0.9, "nesterov": True},
}  # fmt: skip
SCHEDULERS = {
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.MultiStepLR(o, [1, 1, 3]), s.ExponentialLR(o, 0.5)], optimizer=o),
    "ConstantLR": lambda s, o: s.ConstantLR(o), "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 4),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 0.9, 3), "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.5),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.5**epoch), "LinearLR": lambda s, o: s.LinearLR(o),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [1, 1, 3]), "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda _: 0.5),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.9, total_steps=9), "PolynomialLR": lambda s, o: s.PolynomialLR(o),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=0),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.MultiStepLR(o, [1]), s.StepLR(o, 2)], [2]), "StepLR": lambda s, o: s.StepLR(o, 1),
}  # fmt: skip


def through_a_file(library, value):
    file = io.BytesIO()
    library.save(value, file)
    file.seek(0)
    return library.load(file)


def same(a, b, at="", rel=1e-4):
    """Assert that keys, types and values are the same, of the library's own objects those that stand for each other."""
    assert type(a).__name__ == type(b).__name__, at
    if isinstance(a, dict):
        assert list(a) == list(b), at
        for key in a:
            same(a[key], b[key], f"{at}[{key!r}]", rel)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), at
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{at}[{i}]", rel)
    elif isinstance(a, torch.Tensor | engine.Tensor):
        assert (str(a.dtype).removeprefix("torch."), tuple(a.shape)) == (
            str(b.dtype).removeprefix("torch."),
            tuple(b.shape),
        ), at
        assert a.flatten().tolist() == pytest.approx(b.flatten().tolist(), rel=rel, abs=1e-6), at
    else:
        assert a == (pytest.approx(b) if isinstance(b, float) else b), at


def trained(library, name, options):
    p = library.nn.Parameter(library.tensor([[1.0, -2.0], [0.5, 3.0]]))
    made = getattr(library.optim, name)([p], lr=0.1, **options)

    def loss():
        made.zero_grad()
        total = ((p - 0.3) ** 4).sum()  # which no optimizer has solved after a few steps
        total.backward()
        return total

    for _ in range(3):
        made.step(loss)
    return made


def test_every_class_is_among_them():
    public = {n for n in engine.optim.__all__ if n[0].isupper() and n != "Optimizer"}
    assert public == OPTIMIZERS.keys()
    assert {n for n in lr_scheduler.__all__ if n[0].isupper() and n != "LRScheduler"} == SCHEDULERS.keys()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name):
    ours, theirs = (trained(library, name, OPTIMIZERS[name]) for library in (engine, torch))
    loaded = through_a_file(engine, ours.state_dict())
    same(loaded, ours.state_dict())
    same(
        loaded, through_a_file(torch, theirs.state_dict()), rel=1e-2 if name == "Muon" else 1e-4
    )  # PyTorch's has bfloat16
    again = trained(engine, name, OPTIMIZERS[name])
    again.load_state_dict(dict(loaded))  # some take things out of what they are given, as in PyTorch
    same(again.state_dict(), loaded)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_schedulers(name):
    made = []
    for library in (engine, torch):
        optimizer = trained(library, "SGD", {"momentum": 0.9})
        scheduler = SCHEDULERS[name](library.optim.lr_scheduler, optimizer)
        for _ in range(3):
            optimizer.step()
            scheduler.step(*([1.0] if name == "ReduceLROnPlateau" else ()))
        made.append(scheduler)
    ours, theirs = made
    loaded = through_a_file(engine, ours.state_dict())
    same(loaded, ours.state_dict())
    same(loaded, through_a_file(torch, theirs.state_dict()))
    again = SCHEDULERS[name](lr_scheduler, trained(engine, "SGD", {"momentum": 0.9}))
    again.load_state_dict(dict(loaded))  # some take things out of what they are given, as in PyTorch
    same(again.state_dict(), loaded)


VALUES = {
    "counter": lambda m: Counter("abca"), "counter of nothing": lambda m: Counter(), "ordered": lambda m: OrderedDict(b=1, a=2),
    "counter in a list": lambda m: [Counter({(1, 2): 3, 0.5: -1})], "set": lambda m: {1, 2}, "complex": lambda m: complex(1, -0.0),
    "bytearray": lambda m: bytearray(b"ab\x00"), "bytes": lambda m: b"ab", "dtype": lambda m: m.float16,
    "size": lambda m: m.Size([1, 2]), "device": lambda m: m.device("cpu"), "layout": lambda m: m.strided,
    "parameter": lambda m: m.nn.Parameter(m.ones(2)), "keys": lambda m: {(1, "a"): None, 2: True}, "large": lambda m: 2**80,
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_that_pytorch_loads_without_running_code(name):
    loaded, theirs = (through_a_file(library, VALUES[name](library)) for library in (engine, torch))
    assert loaded == VALUES[name](engine) if name != "parameter" else type(loaded) is engine.nn.Parameter
    if name != "dtype":
        assert type(loaded).__name__.lower().removesuffix("d") in (
            type(theirs).__name__,
            type(theirs).__name__.lower(),
            "stride",
        )
    assert repr(loaded).removeprefix("torch.").lower() == repr(theirs).removeprefix("torch.").lower() or name == "dtype"


def test_a_counter_that_is_loaded_counts():
    loaded = through_a_file(engine, Counter({3: 2}))
    loaded[3] += 1
    assert loaded[3] == 3 and loaded[7] == 0


def test_others_are_refused_by_name():
    with pytest.raises(
        TypeError, match=r"cannot save an object of class range: files hold .*dicts and counters of these"
    ):
        engine.save(range(3), io.BytesIO())
