"""The rules of modules: what they hold, list, save, load and refuse is what PyTorch's do, in the same words."""

import copy
import pickle
import warnings
from collections import OrderedDict

import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for these rules")


def same(torch, program):
    """Run ``program(t, nn)`` on both; the same answer, or the same type and first line of an error."""
    answers = []
    for t in (ag, torch):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                answer = program(t, t.nn)
            except Exception as error:
                answer = (type(error).__name__, str(error).strip().split("\n"))
        answers.append((answer, [str(w.message).split("\n")[0][:60] for w in said]))
    assert answers[0] == answers[1]
    return answers[0][0]


def tower(t, nn):
    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(2, 2)
            self.w = nn.Parameter(t.ones(2))
            self.register_buffer("seen", t.zeros(1))
            self.register_buffer("hidden", t.zeros(3), persistent=False)
            self.register_buffer("none", None)
            self.register_parameter("nothing", None)

    class Tower(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = Part()
            self.b = Part()
            self.b.lin.weight = self.a.lin.weight
            self.c = self.a
            self.scale = nn.Parameter(t.ones(()))
            self.empty = None

    return Tower()


def names(pairs):
    return [(name, tuple(getattr(x, "shape", ())) or type(x).__name__) for name, x in pairs]


LISTINGS = {
    "state_dict": lambda m: names(m.state_dict().items()),
    "state_dict prefix": lambda m: names(m.state_dict(prefix="x.", keep_vars=True).items()),
    "metadata": lambda m: [list(m.state_dict()._metadata.items()), type(m.state_dict()).__mro__[1].__name__][:1],
    "positional": lambda m: list(m.state_dict(OrderedDict(), "p.", True)),
    "keeps": lambda m: [x.requires_grad for x in m.state_dict(keep_vars=True).values()],
    "detached": lambda m: [x.requires_grad for x in m.state_dict().values()],
    "parameters": lambda m: names(m.named_parameters()),
    "parameters prefix": lambda m: names(m.named_parameters(prefix="p")),
    "parameters own": lambda m: names(m.named_parameters("p", recurse=False)),
    "parameters all": lambda m: names(m.named_parameters(remove_duplicate=False)),
    "buffers": lambda m: names(m.named_buffers()),
    "buffers all": lambda m: names(m.named_buffers("q", remove_duplicate=False)),
    "buffers own": lambda m: names(m.a.named_buffers(recurse=False)),
    "count": lambda m: [len(list(m.parameters())), len(list(m.buffers())), len(list(m.parameters(False)))],
    "modules": lambda m: names(m.named_modules()),
    "modules all": lambda m: names(m.named_modules(prefix="r", remove_duplicate=False)),
    "modules count": lambda m: [len(list(m.modules())), len(list(m.modules(remove_duplicate=False)))],
    "children": lambda m: names(m.named_children()),
    "repr": repr,
    "dir": lambda m: [n for n in dir(m) if n in ("a", "b", "scale", "training", "weight")],
    "submodule": lambda m: [m.get_submodule("a.lin") is m.a.lin, m.get_submodule("") is m],
    "get": lambda m: [m.get_parameter("a.lin.weight") is m.b.lin.weight, m.get_buffer("a.seen") is m.a.seen],
}


@pytest.mark.parametrize("name", LISTINGS)
def test_what_a_module_lists(torch, name):
    same(torch, lambda t, nn: LISTINGS[name](tower(t, nn)))


def raises_assign(name, value):
    def program(t, nn):
        m = tower(t, nn).a
        setattr(m, name, value(t, nn))
        return sorted(m._parameters), sorted(m._buffers), sorted(m._modules), sorted(m._non_persistent_buffers_set)

    return program


class Holder:
    pass


REFUSED = {
    "parameter by tensor": raises_assign("w", lambda t, nn: t.ones(2)),
    "parameter by number": raises_assign("w", lambda t, nn: 3),
    "parameter by none": raises_assign("w", lambda t, nn: None),
    "module by number": raises_assign("lin", lambda t, nn: 3.5),
    "module by tensor": raises_assign("lin", lambda t, nn: t.ones(2).double()),
    "module by parameter": raises_assign("lin", lambda t, nn: nn.Parameter(t.ones(1))),
    "buffer by number": raises_assign("seen", lambda t, nn: 1),
    "buffer by tensor": raises_assign("seen", lambda t, nn: t.ones(4)),
    "hidden buffer by tensor": raises_assign("hidden", lambda t, nn: t.ones(4)),
    "hidden buffer by parameter": raises_assign("hidden", lambda t, nn: nn.Parameter(t.ones(4))),
    "buffer by module": raises_assign("hidden", lambda t, nn: nn.ReLU()),
    "Buffer": raises_assign("fresh", lambda t, nn: nn.Buffer(t.ones(2))),
    "Buffer not kept": raises_assign("fresh", lambda t, nn: nn.Buffer(t.ones(2), persistent=False)),
    "plain": raises_assign("fresh", lambda t, nn: t.ones(2)),
    "register number": lambda t, nn: nn.Linear(1, 1).register_parameter("p", 3),
    "register tensor": lambda t, nn: nn.Linear(1, 1).register_parameter("p", t.ones(2).int()),
    "register dotted": lambda t, nn: nn.Linear(1, 1).register_parameter("a.b", None),
    "register unnamed": lambda t, nn: nn.Linear(1, 1).register_parameter("", None),
    "register odd name": lambda t, nn: nn.Linear(1, 1).register_parameter(3, None),
    "register existing": lambda t, nn: nn.Linear(1, 1).register_parameter("in_features", None),
    "register method": lambda t, nn: nn.Linear(1, 1).register_parameter("forward", None),
    "buffer number": lambda t, nn: nn.Linear(1, 1).register_buffer("p", 3),
    "buffer dotted": lambda t, nn: nn.Linear(1, 1).register_buffer("a.b", None),
    "buffer unnamed": lambda t, nn: nn.Linear(1, 1).register_buffer("", None),
    "buffer odd name": lambda t, nn: nn.Linear(1, 1).register_buffer(None, None),
    "buffer existing": lambda t, nn: nn.Linear(1, 1).register_buffer("weight", None),
    "module number": lambda t, nn: nn.Linear(1, 1).add_module("p", 3),
    "module dotted": lambda t, nn: nn.Linear(1, 1).add_module("a.b", None),
    "module unnamed": lambda t, nn: nn.Linear(1, 1).register_module("", None),
    "module odd name": lambda t, nn: nn.Linear(1, 1).add_module(1, None),
    "module existing": lambda t, nn: nn.Linear(1, 1).add_module("bias", None),
    "train": lambda t, nn: nn.Linear(1, 1).train(3),
    "no such attribute": lambda t, nn: nn.Linear(1, 1).nothing,
    "delete nothing": lambda t, nn: delattr(nn.Linear(1, 1), "nothing"),
    "init argument": lambda t, nn: nn.Module(3),
    "init keyword": lambda t, nn: nn.Module(a=3),
    "no submodule": lambda t, nn: tower(t, nn).get_submodule("a.x"),
    "submodule is none": lambda t, nn: tower(t, nn).get_submodule("a.w"),
    "no parameter": lambda t, nn: tower(t, nn).get_parameter("a.q"),
    "parameter is none": lambda t, nn: tower(t, nn).get_parameter("a.seen"),
    "buffer is none": lambda t, nn: tower(t, nn).get_buffer("a.w"),
    "set nothing": lambda t, nn: tower(t, nn).set_submodule("", nn.ReLU()),
    "set no module": lambda t, nn: tower(t, nn).set_submodule("a.w", nn.ReLU()),
    "set strict": lambda t, nn: tower(t, nn).set_submodule("a.new", nn.ReLU(), strict=True),
    "set": lambda t, nn: tower(t, nn).set_submodule("a.new", nn.ReLU()),
    "to int": lambda t, nn: nn.Linear(1, 1).to(t.int32),
    "call list": lambda t, nn: nn.ParameterList()(),
    "no forward": lambda t, nn: nn.ModuleList()(t.ones(1)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_what_is_not(torch, name):
    same(torch, REFUSED[name])


def test_a_parameter_that_is_computed_is_refused(torch):
    def program(t, nn):
        p = nn.Parameter(t.ones(2))
        with t.no_grad():
            other = nn.Parameter(t.ones(2))
        p.data = t.zeros(2)
        nn.Module().register_parameter("p", p)
        q = nn.Parameter(t.ones(2))
        q.requires_grad_(False)
        q.mul_(other)
        nn.Module().register_parameter("q", q)

    assert same(torch, program)[0] == "ValueError"


def test_before_init(torch):
    def program(what):
        def run(t, nn):
            class Early(nn.Module):
                def __init__(self):
                    what(self, t, nn)

            Early()

        return run

    same(torch, program(lambda m, t, nn: setattr(m, "x", nn.ReLU())))
    same(torch, program(lambda m, t, nn: setattr(m, "x", nn.Parameter(t.ones(1)))))
    same(torch, program(lambda m, t, nn: m.register_buffer("x", t.ones(1))))
    same(torch, program(lambda m, t, nn: m.register_parameter("x", None)))
    same(torch, program(lambda m, t, nn: setattr(m, "x", 3)))


def changed(change, **options):
    def program(t, nn):
        source, target = tower(t, nn), tower(t, nn)
        with t.no_grad():
            for p in source.parameters():
                p.fill_(7)
        state = source.state_dict()
        change(t, state)
        keys = target.load_state_dict(state, **options)
        values = [p.detach().sum().item() for p in target.parameters()]
        kept = [p.requires_grad for p in target.parameters()]
        return repr(keys), keys.missing_keys, keys.unexpected_keys, values, kept

    return program


LOADS = {
    "all": changed(lambda t, s: None),
    "assign": changed(lambda t, s: None, assign=True),
    "missing": changed(lambda t, s: s.pop("a.w")),
    "missing not strict": changed(lambda t, s: s.pop("a.w"), strict=False),
    "unexpected": changed(lambda t, s: s.update({"a.z": t.ones(1), "z.z.z": t.ones(1), "a.w.q": 1})),
    "unexpected not strict": changed(lambda t, s: s.update({"a.z": t.ones(1)}), strict=False),
    "both": changed(lambda t, s: (s.pop("a.w"), s.pop("scale"), s.update(q=t.ones(1)))),
    "size": changed(lambda t, s: s.update({"a.w": t.ones(3), "scale": t.ones(2), "b.lin.bias": t.ones(2, 2)})),
    "size not strict": changed(lambda t, s: s.update({"a.w": t.ones(3)}), strict=False),
    "no tensor": changed(lambda t, s: s.update({"a.w": 3})),
    "one element": changed(lambda t, s: s.update(scale=t.ones(1))),
    "other dtype": changed(lambda t, s: s.update({"a.w": t.ones(2).double()})),
    "hidden": changed(lambda t, s: s.update({"a.hidden": t.ones(3)})),
    "no mapping": lambda t, nn: nn.Linear(1, 1).load_state_dict([1]),
    "plain dict": lambda t, nn: repr(nn.Linear(1, 1).load_state_dict({"weight": t.ones(1, 1), "bias": t.ones(1)})),
}


@pytest.mark.parametrize("name", LOADS)
def test_loading(torch, name):
    same(torch, LOADS[name])


def test_hooks_of_the_state(torch):
    def program(t, nn):
        told = []
        m = tower(t, nn)
        m.a.register_state_dict_pre_hook(lambda module, prefix, keep: told.append(("pre", prefix, keep)))
        m.a.register_state_dict_post_hook(lambda module, state, prefix, meta: state.pop(prefix + "w", None) and None)
        m._register_state_dict_hook(lambda module, state, prefix, meta: OrderedDict(list(state.items())[:3]))
        state = m.state_dict()
        told.append(list(state))

        def before(module, state, prefix, meta, strict, missing, unexpected, errors):
            told.append((type(module).__name__, prefix, strict, meta, len(state)))
            errors.append("made up")

        def after(module, keys):
            told.append(sorted(keys.missing_keys))
            keys.missing_keys.clear()

        handle = m.a.register_load_state_dict_pre_hook(before)
        m.register_load_state_dict_post_hook(after)
        for _ in range(2):
            try:
                m.load_state_dict(state)
            except RuntimeError as error:
                told.append(str(error))
            handle.remove()
        m.a._register_load_state_dict_pre_hook(lambda *args: told.append(len(args)))
        m.load_state_dict(state)
        other = copy.deepcopy(m)
        other.b.register_load_state_dict_post_hook(lambda module, keys: 3)
        try:
            other.load_state_dict(state)
        except AssertionError as error:
            told.append(str(error))
        return told

    same(torch, program)


def test_extra_state_and_a_state_of_ones_own(torch):
    def program(t, nn):
        class Counts(nn.Linear):
            seen = 0
            _version = 3

            def get_extra_state(self):
                return {"seen": self.seen}

            def set_extra_state(self, state):
                self.seen = state["seen"]

            def _load_from_state_dict(self, state, prefix, meta, strict, missing, unexpected, errors):
                state[prefix + "weight"] = state.pop(prefix + "old", state.get(prefix + "weight"))
                super()._load_from_state_dict(state, prefix, meta, strict, missing, unexpected, errors)
                self.version = meta.get("version")

        m, n = nn.Sequential(Counts(1, 1)), nn.Sequential(Counts(1, 1))
        m[0].seen = 5
        state = m.state_dict()
        state["0.old"] = t.ones(1, 1) * 3
        n.load_state_dict(state)
        found = [list(state), n[0].seen, n[0].version, n[0].weight.item()]
        del state["0._extra_state"]
        try:
            n.load_state_dict(state)
        except RuntimeError as error:
            found.append(str(error))
        try:
            nn.Sequential(nn.Linear(1, 1)).load_state_dict(m.state_dict())
        except RuntimeError as error:
            found.append(str(error))
        return found

    same(torch, program)


def test_copies_and_pickles_hold_parts_of_their_own():
    for made in (copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
        m = ag.nn.Sequential(ag.nn.Linear(2, 2), ag.nn.BatchNorm1d(2))
        m[0].tied = m[0].weight
        n = made(m)
        assert n[0].tied is n[0].weight is not m[0].weight
        assert list(n.state_dict()) == list(m.state_dict())
        assert n[1].training


def test_changing_all_tensors(torch):
    def program(t, nn):
        m = tower(t, nn)
        m.a.register_buffer("count", t.zeros(2).long())
        sum(p.sum() for p in m.parameters()).backward()
        kept = [id(p) for p in m.parameters()]
        found = []
        for change in (
            lambda: m.double(),
            lambda: m.half(),
            lambda: m.float(),
            lambda: m.to(t.float64),
            lambda: m.to("cpu", t.float32),
            lambda: m.to(t.ones(1).double()),
            lambda: m.to(dtype=t.float16, device="cpu", non_blocking=True),
            lambda: m.cpu(),
        ):
            assert change() is m
            tensors = [*m.parameters(), *m.buffers(), *(p.grad for p in m.parameters())]
            found.append([str(x.dtype).removeprefix("torch.") for x in tensors])
        seen = []
        m.apply(lambda part: seen.append(type(part).__name__))
        m.requires_grad_(False)
        found.append([p.requires_grad for p in m.parameters()])
        m.zero_grad(set_to_none=False)
        found.append([p.grad.sum().item() for p in m.parameters()])
        m.zero_grad()
        found.append([p.grad is None for p in m.parameters()])
        return found, seen, kept == [id(p) for p in m.parameters()]

    same(torch, program)
