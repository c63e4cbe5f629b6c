"""Schedules of learning rates: the same rates, momenta, states, warnings and errors as PyTorch's, step by step."""

import copy
import warnings

import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these numbers")


def same(torch, program):
    """Run ``program(t, optim)`` on both; the same answer, or the same type and first line of an error, and warnings."""
    answers = []
    for t in (ag, torch):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                answer = program(t, t.optim.lr_scheduler)
            except Exception as error:
                answer = (type(error).__name__, str(error).strip().split("\n")[0])
        answers.append((answer, [str(w.message).split("\n")[0] for w in said]))
    assert answers[0] == answers[1]
    return answers[0][0]


def sgd(t, **options):
    groups = [{"params": [t.ones(1).requires_grad_()], "lr": 0.5}, {"params": [t.ones(1).requires_grad_()]}]
    return t.optim.SGD(groups, lr=0.1, **options)


class Squares:
    def __init__(self):
        self.seen = 0

    def __call__(self, epoch):
        self.seen += 1
        return 1 / (1 + epoch) ** 2


def sequence(s, o):
    return s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9), s.StepLR(o, 2)], [3, 7])


def chain(s, o):
    return s.ChainedScheduler([s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], optimizer=o)


def nested(s, o):
    inner = s.SequentialLR(o, [s.LinearLR(o, 0.1, total_iters=2), s.ExponentialLR(o, 0.5)], [2])
    return s.SequentialLR(o, [inner, s.CosineAnnealingLR(o, 4)], [5])


SCHEDULES = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 0.95**epoch),
    "lambdas": lambda s, o: s.LambdaLR(o, [lambda epoch: 0.95**epoch, Squares()]),
    "lambdas missing": lambda s, o: s.LambdaLR(o, [lambda epoch: 0.95**epoch]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9 + 0.01 * epoch),
    "multiplicative missing": lambda s, o: s.MultiplicativeLR(o, [abs] * 3),
    "multiplicative number": lambda s, o: s.MultiplicativeLR(o, 3),
    "step": lambda s, o: s.StepLR(o, 3),
    "step gamma": lambda s, o: s.StepLR(o, 2, gamma=0.7),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 4, 4, 9], gamma=0.5),
    "constant": lambda s, o: s.ConstantLR(o),
    "constant options": lambda s, o: s.ConstantLR(o, factor=0.2, total_iters=3),
    "constant bad": lambda s, o: s.ConstantLR(o, factor=2),
    "linear": lambda s, o: s.LinearLR(o),
    "linear options": lambda s, o: s.LinearLR(o, start_factor=0.1, end_factor=0.7, total_iters=7),
    "linear bad start": lambda s, o: s.LinearLR(o, start_factor=0),
    "linear bad end": lambda s, o: s.LinearLR(o, end_factor=2),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "polynomial": lambda s, o: s.PolynomialLR(o),
    "polynomial options": lambda s, o: s.PolynomialLR(o, total_iters=8, power=2.5),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 4),
    "cosine least": lambda s, o: s.CosineAnnealingLR(o, 5, eta_min=0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3),
    "restarts longer": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, T_mult=2, eta_min=0.01),
    "restarts bad": lambda s, o: s.CosineAnnealingWarmRestarts(o, 0),
    "restarts bad factor": lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, T_mult=0.5),
    "restarts bad least": lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, eta_min="a"),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.1, 0.9, step_size_up=3),
    "cyclic down": lambda s, o: s.CyclicLR(o, [0.1, 0.2], [0.9, 1.0], 2, 4, mode="triangular2", base_momentum=0.5),
    "cyclic exp": lambda s, o: s.CyclicLR(o, 0.1, 0.9, 4, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "cyclic own": lambda s, o: s.CyclicLR(o, 0.1, 0.9, 4, scale_fn=Squares(), scale_mode="iterations"),
    "cyclic bad": lambda s, o: s.CyclicLR(o, 0.1, 0.9, mode="round"),
    "cyclic bad length": lambda s, o: s.CyclicLR(o, [0.1], 0.9),
    "one cycle": lambda s, o: s.OneCycleLR(o, 0.9, total_steps=15),
    "one cycle linear": lambda s, o: s.OneCycleLR(o, [0.9, 0.5], epochs=4, steps_per_epoch=5, anneal_strategy="linear"),
    "one cycle phases": lambda s, o: s.OneCycleLR(o, 0.9, 14, three_phase=True, pct_start=0.4, div_factor=3),
    "one cycle plain": lambda s, o: s.OneCycleLR(o, 0.9, 14, cycle_momentum=False, final_div_factor=3),
    "one cycle too short": lambda s, o: s.OneCycleLR(o, 0.9, 5),
    "one cycle bad": lambda s, o: s.OneCycleLR(o, 0.9),
    "one cycle bad steps": lambda s, o: s.OneCycleLR(o, 0.9, total_steps=0),
    "one cycle bad epochs": lambda s, o: s.OneCycleLR(o, 0.9, epochs=-1, steps_per_epoch=2),
    "one cycle bad start": lambda s, o: s.OneCycleLR(o, 0.9, 9, pct_start=2),
    "one cycle bad way": lambda s, o: s.OneCycleLR(o, 0.9, 9, anneal_strategy="up"),
    "sequence": sequence,
    "nested": nested,
    "sequence empty": lambda s, o: s.SequentialLR(o, [], []),
    "sequence bad": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2)], [3]),
    "sequence plateau": lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []),
    "sequence of numbers": lambda s, o: s.SequentialLR(o, [3], []),
    "chain": chain,
    "chain empty": lambda s, o: s.ChainedScheduler([]),
    "chain plateau": lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]),
    "no optimizer": lambda s, o: s.StepLR(3, 2),
    "resumed": lambda s, o: s.StepLR(o, 2, last_epoch=3),
}


def options(optimizer):
    return [
        {k: v for k, v in group.items() if k not in ("params", "foreach", "fused")} for group in optimizer.param_groups
    ]


def plain(state):
    if isinstance(state, dict):
        return {k: plain(v) for k, v in state.items() if not callable(v)}
    return [plain(v) for v in state] if isinstance(state, list) else state


@pytest.mark.parametrize("name", SCHEDULES)
def test_twelve_steps_and_a_state_that_is_taken_back(torch, name):
    def program(t, s):
        optimizer = sgd(t, momentum=0.3)
        scheduler = SCHEDULES[name](s, optimizer)
        found = [scheduler.get_last_lr(), copy.deepcopy(options(optimizer))]
        state = saved = None
        for step in range(12):
            optimizer.step()
            scheduler.step()
            found += [scheduler.get_last_lr(), copy.deepcopy(options(optimizer))]
            if step == 6:
                state, saved = copy.deepcopy(scheduler.state_dict()), copy.deepcopy(optimizer.state_dict())
                found.append(plain(state))
        other = sgd(t, momentum=0.3)
        resumed = SCHEDULES[name](s, other)
        other.load_state_dict(saved)
        resumed.load_state_dict(state)
        for _ in range(3):
            other.step()
            resumed.step()
            found += [resumed.get_last_lr(), options(other)]
        return found

    same(torch, program)


@pytest.mark.parametrize(
    "name", ["step", "milestones", "constant", "linear", "exponential", "polynomial", "cosine", "restarts"]
)
def test_steps_to_an_epoch(torch, name):
    def program(t, s):
        optimizer = sgd(t)
        scheduler = SCHEDULES[name](s, optimizer)
        optimizer.step()
        found = []
        for epoch in (3, 1, 7, 0):
            scheduler.step(epoch)
            found.append(scheduler.get_last_lr())
        return found

    same(torch, program)


def test_restarts_between_epochs(torch):
    def program(t, s):
        scheduler = s.CosineAnnealingWarmRestarts(sgd(t), 2, T_mult=2)
        found = []
        for epoch in (0.5, 1.7, 2.0, 5.5, 6, 20.25):
            scheduler.step(epoch)
            found.append([scheduler.get_last_lr(), scheduler.last_epoch, scheduler.T_i])
        scheduler.step(-1)
        return found

    same(torch, program)


METRICS = [1.0, 0.9, 0.95, 0.95, 0.9, 0.89999, 0.9, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.7, 0.7, 0.7]


@pytest.mark.parametrize(
    "given",
    [
        {"patience": 1}, {"patience": 0, "factor": 0.5, "cooldown": 2}, {"mode": "max", "patience": 2},
        {"threshold_mode": "abs", "threshold": 0.05, "patience": 1}, {"mode": "max", "threshold_mode": "abs", "patience": 1},
        {"min_lr": 0.05, "patience": 0}, {"min_lr": [0.1, 0.01], "patience": 0}, {"min_lr": [0.1]}, {"factor": 1.0},
        {"mode": "both"}, {"threshold_mode": "some"}, {"patience": 0, "eps": 0.2},
    ],
    ids=str,
)  # fmt: skip
def test_plateau(torch, given):
    def program(t, s):
        optimizer = sgd(t)
        scheduler = s.ReduceLROnPlateau(optimizer, **given)
        found = []
        for metric in METRICS:
            scheduler.step(t.tensor(metric))
            found.append([scheduler.get_last_lr(), plain(scheduler.state_dict())])
        other = s.ReduceLROnPlateau(optimizer)
        other.load_state_dict(scheduler.state_dict())
        found.append(plain(other.state_dict()))
        optimizer.add_param_group({"params": [t.ones(1).requires_grad_()]})
        for _ in range(4):
            scheduler.step(5.0)
        return [*found, scheduler.get_last_lr()]

    same(torch, program)


def test_warnings(torch):
    def early(t, s):
        scheduler = s.StepLR(sgd(t), 1)
        scheduler.step()
        scheduler.step()
        return scheduler.get_lr()

    def replaced(t, s):
        optimizer = sgd(t)
        scheduler = s.StepLR(optimizer, 1)
        optimizer.step = lambda: None
        scheduler.step()

    same(torch, early)
    same(torch, replaced)


def test_betas_and_a_rate_that_is_a_tensor(torch):
    def betas(t, s):
        optimizer = t.optim.Adam([t.ones(1).requires_grad_()], betas=(0.8, 0.9))
        scheduler = s.OneCycleLR(optimizer, 0.5, 8)
        found = []
        for _ in range(6):
            optimizer.step()
            scheduler.step()
            found.append(optimizer.param_groups[0]["betas"])
        return found

    def tensors(t, s):
        lr = t.tensor(0.5)
        optimizer = t.optim.SGD([t.ones(1).requires_grad_()], lr=lr)
        scheduler = s.ExponentialLR(optimizer, 0.5)
        found = []
        for _ in range(3):
            optimizer.step()
            scheduler.step()
            found.append([lr.item(), scheduler.get_last_lr()[0].item(), scheduler.get_last_lr()[0] is lr])
        return found

    same(torch, betas)
    same(torch, tensors)
    same(torch, lambda t, s: s.OneCycleLR(t.optim.Rprop([t.ones(1).requires_grad_()]), 0.5, 8))
