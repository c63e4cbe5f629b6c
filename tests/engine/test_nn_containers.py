"""Containers of modules and of parameters do what PyTorch's do."""

import collections
import re

import pytest

import agdbg_engine as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the reference for this")


def outcome(t, program):
    try:
        answer = program(t, t.nn)
    except Exception as error:
        text = re.sub(r"'[\w.]*\.(\w+)'", r"'\1'", str(error).split("\n")[0])  # classes have other modules
        return type(error).__name__, text
    if isinstance(answer, t.nn.Module):
        return repr(answer), list(answer.state_dict()), len(answer) if hasattr(answer, "__len__") else None
    return answer


def line(nn):
    return nn.Linear(1, 2)


def seq(nn):
    return nn.Sequential(line(nn), nn.ReLU(), nn.Tanh())


def named(nn):
    return nn.Sequential(collections.OrderedDict(a=line(nn), b=nn.ReLU()))


def mods(nn):
    return nn.ModuleList([line(nn), line(nn), nn.ReLU()])


def table(nn):
    return nn.ModuleDict({"x": line(nn), "y": nn.ReLU()})


def plist(t, nn):
    return nn.ParameterList([t.ones(2), nn.Parameter(t.zeros(1, 2)), 3])


def pdict(t, nn):
    return nn.ParameterDict({"b": t.ones(2), "a": nn.Parameter(t.ones(3)), "c": "x"})


def after(made, change):
    def program(t, nn):
        held = made(t, nn) if made in (plist, pdict) else made(nn)
        answer = change(held, t, nn)
        return outcome(t, lambda *_: held), outcome(t, lambda *_: answer)

    return program


def deleted(place):
    return lambda held, t, nn: held.__delitem__(place)


def put(place):
    return lambda held, t, nn: held.__setitem__(place, nn.GELU())


PROGRAMS = {
    "sequence named": lambda t, nn: named(nn),
    "sequence slice": lambda t, nn: named(nn)[1:],
    "sequence item": lambda t, nn: seq(nn)[-1],
    "sequence no item": lambda t, nn: seq(nn)[3],
    "sequence odd item": lambda t, nn: seq(nn)["a"],
    "sequence sum": lambda t, nn: named(nn) + seq(nn),
    "sequence no sum": lambda t, nn: seq(nn) + [1],
    "sequence product": lambda t, nn: seq(nn) * 2,
    "sequence product left": lambda t, nn: 2 * seq(nn),
    "sequence no product": lambda t, nn: seq(nn) * 0,
    "sequence odd product": lambda t, nn: seq(nn) * 1.5,
    "sequence of numbers": lambda t, nn: nn.Sequential(3),
    "sequence append": after(seq, lambda s, t, nn: s.append(nn.GELU())),
    "sequence insert": after(seq, lambda s, t, nn: s.insert(1, nn.GELU())),
    "sequence insert from behind": after(seq, lambda s, t, nn: s.insert(-1, nn.GELU())),
    "sequence insert too far": after(seq, lambda s, t, nn: s.insert(9, nn.GELU())),
    "sequence extend": after(seq, lambda s, t, nn: s.extend([nn.GELU(), line(nn)])),
    "sequence pop": after(seq, lambda s, t, nn: s.pop(0)),
    "sequence pop slice": after(seq, lambda s, t, nn: s.pop(slice(0, 2))),
    "sequence delete": after(seq, deleted(-1)),
    "sequence delete slice": after(seq, deleted(slice(None, None, 2))),
    "sequence set": after(named, put(0)),
    "sequence in place": after(seq, lambda s, t, nn: s.__imul__(2).__iadd__(named(nn))),
    "list": lambda t, nn: mods(nn),
    "list empty": lambda t, nn: nn.ModuleList(),
    "list slice": lambda t, nn: mods(nn)[1:],
    "list no item": lambda t, nn: mods(nn)[7],
    "list sum": lambda t, nn: mods(nn) + [line(nn)],
    "list extend": after(mods, lambda s, t, nn: s.extend(x for x in [nn.ReLU(), nn.ReLU()])),
    "list extend itself": after(mods, lambda s, t, nn: s.extend(list(s))),
    "list extend number": after(mods, lambda s, t, nn: s.extend(3)),
    "list add": after(mods, lambda s, t, nn: s.__iadd__([nn.ReLU()])),
    "list insert": after(mods, lambda s, t, nn: s.insert(0, nn.Tanh())),
    "list pop": after(mods, lambda s, t, nn: s.pop(0)),
    "list delete": after(mods, deleted(slice(None, None, 2))),
    "list set": after(mods, put(-1)),
    "list set too far": after(mods, put(9)),
    "list of numbers": lambda t, nn: nn.ModuleList([3]),
    "table": lambda t, nn: table(nn),
    "table keys": lambda t, nn: [list(table(nn)), list(table(nn).keys()), "x" in table(nn), "z" in table(nn)],
    "table values": lambda t, nn: [repr(list(table(nn).items())), repr(list(table(nn).values()))],
    "table no item": lambda t, nn: table(nn)["q"],
    "table pop": after(table, lambda s, t, nn: s.pop("x")),
    "table pop none": after(table, lambda s, t, nn: s.pop("q")),
    "table clear": after(table, lambda s, t, nn: s.clear()),
    "table update": after(table, lambda s, t, nn: s.update([("z", nn.GELU())])),
    "table update table": after(table, lambda s, t, nn: s.update(nn.ModuleDict({"z": nn.GELU()}))),
    "table update number": after(table, lambda s, t, nn: s.update(3)),
    "table update numbers": after(table, lambda s, t, nn: s.update([3])),
    "table update triples": after(table, lambda s, t, nn: s.update([(1, 2, 3)])),
    "table delete": after(table, deleted("x")),
    "table method name": after(table, lambda s, t, nn: s.update({"pop": nn.ReLU()})),
    "parameters": plist,
    "parameters slice": lambda t, nn: plist(t, nn)[:2],
    "parameters no item": lambda t, nn: plist(t, nn)[9],
    "parameters append": after(plist, lambda s, t, nn: s.append(t.ones(3))),
    "parameters extend": after(plist, lambda s, t, nn: s.extend([t.ones(3)])),
    "parameters extend tensor": after(plist, lambda s, t, nn: s.extend(t.ones(3))),
    "parameters set": after(plist, lambda s, t, nn: s.__setitem__(0, t.ones(4))),
    "parameter kinds": lambda t, nn: [type(x).__name__ for x in plist(t, nn)],
    "parameters called": lambda t, nn: plist(t, nn)(),
    "parameter table": pdict,
    "parameter keys": lambda t, nn: [list(pdict(t, nn)), list(reversed(pdict(t, nn)))],
    "parameter odd key": lambda t, nn: pdict(t, nn)[3],
    "parameter get": lambda t, nn: [pdict(t, nn).get("z", 5), pdict(t, nn).get("c")],
    "parameter default": lambda t, nn: pdict(t, nn).setdefault("n", t.ones(1)).requires_grad,
    "parameter popitem": lambda t, nn: pdict(t, nn).popitem(),
    "parameter no popitem": lambda t, nn: nn.ParameterDict().popitem(),
    "parameter union": lambda t, nn: pdict(t, nn) | nn.ParameterDict({"k": t.ones(1)}),
    "parameter union in place": after(pdict, lambda s, t, nn: s.__ior__(nn.ParameterDict({"k": t.ones(1)}))),
    "parameter copy": lambda t, nn: pdict(t, nn).copy(),
    "parameter update": after(pdict, lambda s, t, nn: s.update(3)),
    "parameter update pairs": after(pdict, lambda s, t, nn: s.update([("z", t.ones(1)), ("y", t.ones(1))])),
    "parameter pop": after(pdict, lambda s, t, nn: s.pop("a") and None),
    "parameter clear": after(pdict, lambda s, t, nn: s.clear()),
    "parameter from keys": lambda t, nn: list(nn.ParameterDict().fromkeys(["q", "r"], 1).items()),
    "parameter called": lambda t, nn: pdict(t, nn)(1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_containers(torch, name):
    mine, theirs = (outcome(t, PROGRAMS[name]) for t in (ag, torch))
    assert mine == theirs


def test_a_sequence_runs_what_it_holds():
    model = ag.nn.Sequential(ag.nn.Flatten(), ag.nn.ReLU())
    assert model(ag.ones(2, 1, 3) * -1).tolist() == [[0.0] * 3] * 2
    assert [type(m).__name__ for m in model] == ["Flatten", "ReLU"]


def test_all_modules_print_themselves_and_save_themselves_like_torchs(torch):
    import inspect

    for name in sorted(set(dir(ag.nn)) & set(dir(torch.nn))):
        kind = getattr(torch.nn, name)
        if not inspect.isclass(kind) or not issubclass(kind, torch.nn.Module):
            continue
        for args in [(), (2,), (2, 2), (4, 4, 2), (4, 2), (4, 2, 2)]:
            try:
                theirs = kind(*args)
            except Exception:  # it wants others
                continue
            mine = getattr(ag.nn, name)(*args)
            assert list(mine.state_dict()) == list(theirs.state_dict())
            assert repr(mine) == repr(theirs)
            break
