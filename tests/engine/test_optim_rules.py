"""The rules of optimizers: groups, options, errors, hooks and state are PyTorch's, and instruments see a step as before."""

import copy
import importlib
import pickle
import warnings

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import events


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these rules")


def same(torch, program):
    """Run ``program(t, optim)`` on both; the same answer, or the same type and first line of an error, and warnings."""
    answers = []
    for t in (ag, torch):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                answer = program(t, t.optim)
            except Exception as error:
                answer = (type(error).__name__, str(error).strip().split("\n")[0])
        answers.append((answer, [str(w.message).split("\n")[0] for w in said]))
    assert answers[0] == answers[1]
    return answers[0][0]


NAMES = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD", "LBFGS"]


def p(t, *shape):
    return t.ones(*(shape or (2,))).requires_grad_()


@pytest.mark.parametrize("name", NAMES)
def test_options_and_their_order(torch, name):
    same(torch, lambda t, optim: repr(getattr(optim, name)([p(t)])))
    same(torch, lambda t, optim: list(getattr(optim, name)([p(t)]).param_groups[0]))
    same(torch, lambda t, optim: list(getattr(optim, name)([p(t)]).defaults.items()))


BAD = [
    {"lr": -1}, {"momentum": -1}, {"weight_decay": -1}, {"nesterov": True}, {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
    {"eps": -1}, {"betas": (1.0, 0.5)}, {"betas": (0.5, -1.0)}, {"alpha": -1}, {"lr_decay": -1}, {"rho": 2},
    {"initial_accumulator_value": -1}, {"momentum_decay": -1}, {"etas": (1, 2)}, {"fused": True, "foreach": True},
    {"fused": True, "differentiable": True}, {"nonsense": 1}, {"betas": (0, 0.5)},
]  # fmt: skip


@pytest.mark.parametrize("options", BAD, ids=str)
def test_bad_options(torch, options):
    for name in NAMES:
        same(torch, lambda t, optim, name=name: repr(getattr(optim, name)([p(t)], **options)))


def test_a_rate_of_several_numbers(torch):
    for name in NAMES:
        same(torch, lambda t, optim, name=name: getattr(optim, name)([p(t)], lr=t.ones(2)))
        same(torch, lambda t, optim, name=name: getattr(optim, name)([p(t)], lr=t.ones(()), foreach=True) and None)


GROUPS = {
    "tensor": lambda t, optim: optim.SGD(p(t)),
    "empty": lambda t, optim: optim.SGD([]),
    "set": lambda t, optim: optim.SGD([{"params": {p(t)}}]),
    "number": lambda t, optim: optim.SGD([3]),
    "no leaf": lambda t, optim: optim.SGD([p(t) * 2]),
    "no leaf, differentiable": lambda t, optim: len(optim.SGD([p(t) * 2], differentiable=True).param_groups),
    "one tensor": lambda t, optim: len(optim.SGD([{"params": p(t)}]).param_groups[0]["params"]),
    "twice": lambda t, optim: (lambda q: len(optim.SGD([q, q]).param_groups[0]["params"]))(p(t)),
    "two groups": lambda t, optim: (lambda q: optim.SGD([{"params": [q]}, {"params": [q]}]))(p(t)),
    "names": lambda t, optim: optim.SGD([("a", p(t)), ("b", p(t))]).param_groups[0]["param_names"],
    "some names": lambda t, optim: optim.SGD([("a", p(t)), p(t)]),
    "names in one group": lambda t, optim: optim.SGD([{"params": [("a", p(t))]}, {"params": [p(t)]}]),
    "names in the other": lambda t, optim: optim.SGD([{"params": [p(t)]}, {"params": [("a", p(t))]}]),
    "no dict": lambda t, optim: optim.SGD([p(t)]).add_param_group([p(t)]),
    "no params": lambda t, optim: optim.SGD([p(t)]).add_param_group({}),
    "generator": lambda t, optim: len(optim.SGD(q for q in (p(t), p(t))).param_groups[0]["params"]),
    "own options": lambda t, optim: repr(optim.SGD([{"params": [p(t)], "lr": 5, "x": 1}, {"params": [p(t)]}], lr=2)),
    "base": lambda t, optim: repr(optim.Optimizer([p(t)], {"lr": 1})),
    "base step": lambda t, optim: optim.Optimizer([p(t)], {"lr": 1}).step(),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups(torch, name):
    same(torch, GROUPS[name])


def stepped(t, optimizer, n=2):
    for _ in range(n):
        for group in optimizer.param_groups:
            for q in group["params"]:
                q.grad = t.ones_like(q)
        optimizer.step()
    return optimizer


def plain(value):
    if hasattr(value, "tolist"):
        numbers = np.round(np.asarray(value.tolist()), 6).tolist()
        return (numbers, str(value.dtype).removeprefix("torch."), value.requires_grad)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", NAMES[:-1])
def test_the_state_as_a_dict(torch, name):
    def program(t, optim):
        kind = getattr(optim, name)
        a = stepped(t, kind([{"params": [("w", p(t)), ("b", p(t, 1))], "lr": 0.5}, {"params": [("c", p(t))]}]))
        found = [plain(a.state_dict())]
        b = kind([{"params": [("x", p(t)), ("y", p(t, 1))]}, {"params": [("z", p(t))]}])
        b.load_state_dict(a.state_dict())
        found += [plain(b.state_dict()), repr(b)]
        stepped(t, b)
        found.append(plain(b.state_dict()))
        c = kind([t.ones(2).double().requires_grad_(), t.ones(1).double().requires_grad_()])
        d = kind([p(t), p(t, 1)])
        c.load_state_dict(stepped(t, d).state_dict())
        return [*found, plain(c.state_dict())]

    same(torch, program)


def test_states_that_do_not_fit(torch):
    same(torch, lambda t, optim: optim.SGD([p(t)]).load_state_dict(optim.SGD([p(t), p(t)]).state_dict()))
    two = [{"params": []}, {"params": []}]
    same(torch, lambda t, optim: optim.SGD([p(t)]).load_state_dict({"state": {}, "param_groups": two}))
    same(torch, lambda t, optim: stepped(t, optim.SGD([p(t)])).state_dict()["state"])


def test_hooks(torch):
    def program(t, optim):
        told = []
        everywhere = importlib.import_module(optim.__name__ + ".optimizer")
        a = optim.SGD([p(t)], lr=0.5)
        tell = lambda name: lambda opt, *rest: told.append((name, type(opt).__name__, len(rest)))
        handles = [
            everywhere.register_optimizer_step_pre_hook(tell("all before")),
            everywhere.register_optimizer_step_post_hook(tell("all after")),
            a.register_step_pre_hook(tell("before")),
            a.register_step_post_hook(tell("after")),
            a.register_state_dict_pre_hook(tell("state before")),
            a.register_state_dict_post_hook(lambda opt, state: {**state, "more": 1}),
            a.register_state_dict_post_hook(tell("state after"), prepend=True),
            a.register_load_state_dict_pre_hook(lambda opt, state: told.append(sorted(state))),
            a.register_load_state_dict_post_hook(tell("loaded")),
        ]
        stepped(t, a, 1)
        state = a.state_dict()
        a.load_state_dict(state)
        told.append(sorted(state))
        for handle in handles:
            handle.remove()
        stepped(t, a, 1)
        handle = a.register_step_pre_hook(lambda opt, args, kwargs: ((args[0], lambda: 7), kwargs))
        told.append(a.step())
        handle.remove()
        a.register_step_pre_hook(lambda opt, args, kwargs: 3)
        try:
            a.step()
        except RuntimeError as error:
            told.append(str(error).split(">")[-1])
        return told

    same(torch, program)


def test_a_subclass_of_ones_own_has_hooks_and_a_closure(torch):
    def program(t, optim):
        class Signs(optim.Optimizer):
            def __init__(self, params, lr):
                super().__init__(params, {"lr": lr})

            @t.no_grad()
            def step(self, closure=None):
                with t.enable_grad():
                    loss = closure()
                for group in self.param_groups:
                    for q in group["params"]:
                        q.add_(q.grad.sign(), alpha=-group["lr"])
                return loss

        q, told = p(t), []
        a = Signs([q], 0.5)
        a.register_step_post_hook(lambda *args: told.append(len(args)))

        def closure():
            a.zero_grad()
            loss = (q * q).sum()
            loss.backward()
            return loss

        return a.step(closure).item(), a.step(closure).item(), q.tolist(), told

    same(torch, program)


def test_zero_grad(torch):
    def program(t, optim):
        q = p(t)
        a = optim.SGD([q])
        q.grad = p(t) * 2
        kept = q.grad
        a.zero_grad(set_to_none=False)
        found = [q.grad is kept, kept.tolist(), kept.requires_grad]
        a.zero_grad()
        return [*found, q.grad]

    same(torch, program)


def test_copies(torch):
    for made in (copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))):
        a = stepped(ag, ag.optim.Adam([p(ag)]))
        b = made(a)
        assert plain(a.state_dict()) == plain(b.state_dict())
        assert b.param_groups[0]["params"][0] is next(iter(b.state)) is not a.param_groups[0]["params"][0]
        stepped(ag, b)
        assert b.state_dict()["state"][0]["step"].item() == 4


class Writes(events.Sink):
    def __init__(self):
        self.told = []

    def version_bumped(self, tensor, storage, op, node, code, lasti):
        self.told.append((tensor, op))


@pytest.mark.parametrize("name", NAMES)
def test_instruments_are_told_of_one_write_of_every_parameter_and_nothing_else(name):
    q, r = p(ag), p(ag)
    optimizer = getattr(ag.optim, name)([q, r], **({"max_iter": 1} if name == "LBFGS" else {}))
    sink = Writes()
    events.install(sink)
    try:
        q.grad, r.grad = ag.ones(2), None if name != "LBFGS" else ag.ones(2)
        optimizer.step(lambda: ag.ones(()))
    finally:
        events.remove()
    assert [(t is q, op) for t, op in sink.told if t is q] == [(True, f"{name}.step")]
    assert {id(t) for t, _ in sink.told} == ({id(q)} if name != "LBFGS" else {id(q), id(r)})


def test_state_that_was_saved_is_not_to_be_written():
    q = p(ag)
    optimizer = stepped(ag, ag.optim.Adam([q]))
    w = p(ag)
    y = (w * optimizer.state[q]["exp_avg"]).sum()
    stepped(ag, optimizer)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("SGD", "Adagrad", "LBFGS")])
def test_capturable_is_for_gpus(torch, name):
    def program(t, optim):
        x = p(t)
        x.grad = t.ones(2)
        getattr(optim, name)([x], capturable=True).step()

    assert same(torch, program)[0] == "AssertionError"
