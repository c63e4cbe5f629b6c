"""Objects of the program that fail whoever asks them for something: the recorder asks nothing that fails, or leaves it out."""

import gc
import warnings
from functools import partial

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg.diagnose import diagnose, lint, remarks
from agdbg.engines import native
from agdbg.record import Facts, Recorder, Trace
from agdbg_engine import nn, optim
from agdbg_engine.autograd import Function, graph
from agdbg_engine.utils.checkpoint import checkpoint


class Mute:
    """Cannot be shown, compared, hashed or asked."""

    def fail(self, *args):
        raise ArithmeticError("asked")

    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __format__ = fail

    def __getattr__(self, name):
        raise ArithmeticError(f"asked for {name}")


class MuteHook(Mute):
    def __call__(self, *args):
        return None


class MuteError(Exception):
    def __str__(self):
        raise ArithmeticError("asked")

    __repr__ = __str__


class LongError(Exception):
    def __str__(self):
        return "\ud800 \0 " + "x" * 100_000


class OddName(type):
    @property
    def __name__(cls):
        raise ArithmeticError("asked")


def leaf():
    return ag.tensor([1.0, 2.0], requires_grad=True)


def raised(error):
    """A hook that raises, and what comes out of the call."""
    x = leaf()
    y = x * x

    def hook(g):
        raise error

    y.register_hook(hook)
    try:
        y.sum().backward()
    except BaseException as found:
        return [found is error, x.grad]
    return [None]


class MuteValueError(MuteError, ValueError):
    pass


def unpacked():
    """A hook of saved tensors raises what looks like an error of NumPy's, and cannot be shown."""
    x = leaf()

    def unpack(kept):
        raise MuteValueError

    with graph.saved_tensors_hooks(lambda t: t, unpack):
        y = (x * x).sum()
    try:
        y.backward()
    except ValueError as error:
        return [type(error) is MuteValueError, x.grad]
    return [None]


def hooks():
    x = leaf()
    y = x * x
    for hook in (MuteHook(), partial(MuteHook()), partial(lambda a, g: None, Mute())):
        y.register_hook(hook)
        y.grad_fn.register_prehook(partial(lambda a, g: None, hook))
        x.register_post_accumulate_grad_hook(hook)
    y.sum().backward()
    return [x.grad]


class Forgetful(Function):
    """Keeps and takes what cannot be asked."""

    @staticmethod
    def forward(ctx, a, mute, *more):
        ctx.mute, ctx.self, ctx.all = mute, ctx, [mute, a]
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, None, None


def functions():
    x = leaf()
    Forgetful.apply(x, Mute(), Mute()).sum().backward()
    return [x.grad]


class Model(nn.Module, metaclass=OddName):
    """Its class has no name to ask for, and it has attributes that fail."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.mute = Mute()

    @property
    def broken(self):
        raise ArithmeticError("asked")

    def __repr__(self):
        raise ArithmeticError("asked")

    def forward(self, x, mute):
        return self.inner(x).tanh()


def modules():
    ag.manual_seed(1)
    model = Model()
    steps = optim.SGD(model.parameters(), lr=0.1)
    model.register_forward_hook(MuteHook())
    for _ in range(2):
        model(ag.ones(2), Mute()).sum().backward()
        steps.step()
    return [p.detach() for p in model.parameters()]


def checkpoints():
    x = leaf()
    checkpoint(lambda t, mute: t.exp(), x, Mute(), use_reentrant=False).sum().backward()
    return [x.grad]


LAST = ("\ud800.py", "/dev/zero")


def odd_files():
    """Code of no file, of a device, and of names that no file can have: with the last, Python's own traceback fails too."""
    found = []
    again = "\ntry: y.backward()\nexcept RuntimeError: pass"
    for file in ("", "<none>", "/" + "x" * 5000, "/dev/null", "\udcff.py", *LAST):
        x = leaf()
        code = "y = (x * x).sum()\ny.backward()" + ("" if file in LAST else again)
        exec(compile(code, file, "exec"), {"x": x})
        found.append(x.grad)
    return found


def gone():
    """What a finalizer raises in the middle of it all is the finalizer's."""

    class Last:
        def __del__(self):
            with ag.enable_grad():  # garbage may be collected where the engine has switched it off
                leaf().sum().backward()

    x = leaf()
    for _ in range(5):
        kept = Last()
        kept.cycle = kept
        del kept
        (x * x).sum().backward()
        gc.collect()
    return [x.grad]


PROGRAMS = {
    "mute error": lambda: raised(MuteError()),
    "long error": lambda: raised(LongError()),
    "group": lambda: raised(ExceptionGroup("g", [MuteError(), LongError()])),
    "interrupt": lambda: raised(KeyboardInterrupt()),
    "exit": lambda: raised(SystemExit(3)),
    "generator exit": lambda: raised(GeneratorExit()),
    "memory": lambda: raised(MemoryError()),
    "recursion": lambda: raised(RecursionError()),
    "hooks": hooks,
    "unpacked": unpacked,
    "functions": functions,
    "modules": modules,
    "checkpoints": checkpoints,
    "odd files": odd_files,
    "finalizers": gone,
}


def plain(value):
    """A result as what can be compared."""
    if isinstance(value, ag.Tensor):
        return np.asarray(value.detach()._a).tobytes()
    return [plain(v) for v in value] if isinstance(value, list) else value


def result_of(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return plain(program())


@pytest.mark.parametrize("also", [(), ("shapes", "values", "checksums")], ids=["plain", "deep"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_objects_that_fail_whoever_asks_them(name, also, capfd, tmp_path):
    program = PROGRAMS[name]
    expected = result_of(program)
    recorder = Recorder(tmp_path / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.sees(also))
    native.attach(recorder, also=also)
    try:
        result = result_of(program)
    finally:
        native.detach()
        recorder.close()
    assert result == expected
    assert capfd.readouterr().err == ""
    trace = Trace.open(tmp_path / "trace")
    assert trace.closed and trace.problems == []
    facts = Facts(trace)
    assert len(facts.passes) >= 1
    for each in (*diagnose(facts), *lint(facts), *remarks(facts)):
        assert each.cause
