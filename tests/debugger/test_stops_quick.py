"""Breakpoints that are decided once, conditions that are answered early, nodes that are noted many at once, arrays that are tested with one
product: the same stops, bit for bit the same gradients, as when every node is looked at by itself."""

import contextlib
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from agdbg_tests_scripted_agent import advance_one_by_one, stepped
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import agdbg_engine as ag
from agdbg.agent import conditions, evaluate
from agdbg.agent.conditions import compiled
from agdbg.agent.control import EventStop, FilterStop, FunctionStop, Settings, SourceStop, WatchStop
from agdbg.agent.early import early
from agdbg.agent.values import value_of
from agdbg.engines import native, native_early, native_finite, native_quick, native_stops
from agdbg.engines.native_walk import Walk
from agdbg_engine.journal import Journal

OPS = ["mul", "add", "exp", "log", "div", "tanh", "view", "sum", "hooked", "square", "silent", "exchanged"]
CONDITIONS = [
    "",
    "step == 1",
    "step < 0",
    "node.op == 'MulBackward0' and event.kind == 'before'",
    "event.kind in ('born', 'none') or node.parameter",
    "node.nothing",
    "grads_in and float(grads_in[0].sum()) > 0",
    "len(saved) > 1",
    "depth % 2",
    "any(g is None for g in grads_out)",
    "grad is not None and grad.norm() > 1",
    "len(node.op) % 2 and (not grads_in or abs(grads_in[0]).max() > 0.5)",
    "len(grads_out) > 1 and float(grads_out[1].sum()) < 1",
    "saved[0].sum() > 1",
]
NAMES = ["Mul*", "*", "ExpBackward0", "AccumulateGrad", "sum", "#3", "node 7", "Nothing*"]


class Kept(ag.nn.Module):
    """Something to watch, of which no gradient depends."""

    def __init__(self):
        super().__init__()
        self.kept = ag.nn.Parameter(ag.zeros(3))

    def forward(self, x):
        return self.kept * x

    def write(self, value):
        """Nobody counts this."""
        self.kept.detach().numpy()[1] = value


def program(values, instructions):
    """Two passes over a random graph; every op is on a line of its own."""
    x, w = (ag.tensor(v, requires_grad=True) for v in values)
    model = Kept()
    model(1)
    for _ in range(2):
        pool, depth = [x * w, x], 0
        for depth, (op, i, j) in enumerate(instructions):
            a, b = pool[i % len(pool)], pool[j % len(pool)]
            if op == "mul":
                pool.append(a * b)
            elif op == "add":
                pool.append(a + b)
            elif op == "exp":
                pool.append(a.exp())
            elif op == "log":
                pool.append(a.log())
            elif op == "div":
                pool.append(a / b)
            elif op == "tanh":
                pool.append(a.tanh())
            elif op == "view":
                pool.append(a.view(-1).view(a.shape).expand(a.shape))
            elif op == "sum":
                pool.append(a.sum() * b)
            elif op == "hooked":
                pool.append(a * 2)
                pool[-1].register_hook(lambda g, depth=depth: model.write(-depth) or g * 1)
            elif op == "silent":
                model.write(depth + 1)
            elif op == "exchanged":
                model.kept.data = ag.ones(3)
            else:
                pool.append(a * a)
        (pool[-1] + pool[len(pool) // 2]).sum().backward()
    return [None if t.grad is None else (t.grad._a.tobytes(), t.grad._a.strides) for t in (x, w)]


def stops_of(wanted, moves, values, instructions):
    """What a program was stopped for, and its gradients."""
    with stepped(wanted, moves) as (agent, _):
        return agent.said, program(values, instructions)


@contextlib.contextmanager
def every_node_by_itself():
    """Nothing is decided ahead, and nothing is done for several nodes at once."""

    def always(stops, node):
        return None if node.leaf else lambda node, out: True

    def exactly(array):
        return getattr(array, "dtype", np.dtype(int)).kind not in "fc" or bool(np.isfinite(array).all())

    def next_stop(walk):
        places = [*walk._stops, *walk._until()]
        return min((place for place in places if place > walk.bp.position), default=len(walk.bp.order))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Walk, "_last_stop", next_stop)
        patch.setattr(Walk, "judge", lambda walk: None)
        patch.setattr(Journal, "advance", advance_one_by_one)
        patch.setattr(native, "sieve", always)
        patch.setattr(native_early.EarlyTests, "left", lambda self, numbers, node, kind: list(numbers))
        patch.setattr(native_early.EarlyTests, "stops", lambda self, found, nodes: found)
        for module in (native_quick, native_finite):
            patch.setattr(module, "all_finite", exactly)
        taken = native_stops.Stops.take

        def take(self, wanted):
            taken(self, wanted)
            self.one_by_one = self.every = True

        patch.setattr(native_stops.Stops, "take", take)
        yield


rules = st.fixed_dictionaries(
    {},
    optional={
        "condition": st.sampled_from(CONDITIONS),
        "ignore": st.integers(0, 3),
        "hits": st.sampled_from(["%2", ">=2"]),
    },
)
first_line = program.__code__.co_firstlineno
lines = st.sampled_from(range(first_line + 5, first_line + 32))
whens = st.sampled_from(["forward", "backward", "both"])


@st.composite
def wanted(draw):
    functions = draw(st.lists(st.tuples(st.sampled_from(NAMES), whens, rules), max_size=3))
    sources = draw(st.lists(st.tuples(lines, whens, rules), max_size=2))
    kinds = draw(st.lists(st.sampled_from(["version-bump", "hook-fired", "save", "node-ran"]), max_size=1))
    # with a filter all nodes are noted, and what an event in the middle of one shows is the same
    filters = draw(st.sampled_from([["nan"], ["nan", "inf"]] if kinds else [[], ["nan"], ["nan", "inf"]]))
    watched = draw(st.sampled_from([[], ["kept"], ["kept", "k*"]]))
    with_rule = draw(st.lists(rules, max_size=len(filters)))
    return Settings(
        functions=[FunctionStop(i, name, when, **rule) for i, (name, when, rule) in enumerate(functions, 1)],
        sources=[SourceStop(i, __file__, line, when, **rule) for i, (line, when, rule) in enumerate(sources, 11)],
        events=[EventStop(31, kind) for kind in kinds],
        watches=[WatchStop(i, name=name) for i, name in enumerate(watched, 41)],
        exceptions=[*filters],
        filters=[
            FilterStop(i, name, **rule) for i, (name, rule) in enumerate(zip(filters, with_rule, strict=False), 21)
        ],
    )


elements = st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 1e-20, 1e19, 2e38])
shapes = arrays.arrays(np.float32, (2, 3), elements=elements)
instructions = st.lists(st.tuples(st.sampled_from(OPS), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8)
moves = st.lists(st.sampled_from(["continue", "back", "next", "reverse", "in", "out"]), max_size=6)


@settings(max_examples=40, deadline=None)
@given(wanted(), moves, st.tuples(shapes, shapes), instructions)
def test_the_same_stops_and_the_same_gradients(wanted, moves, values, instructions):
    plain = program(values, instructions)
    with every_node_by_itself():
        slow, slow_gradients = stops_of(wanted, moves, values, instructions)
    quick, gradients = stops_of(wanted, moves, values, instructions)
    assert quick == slow
    assert gradients == slow_gradients == plain


@pytest.mark.parametrize("also_on_nodes", [False, True])
def test_steps_from_the_middle_of_a_node_end_at_the_next_one(also_on_nodes):
    functions = [FunctionStop(1, "SumBackward0", "backward")] if also_on_nodes else []
    wanted = Settings(events=[EventStop(2, "version-bump")], functions=functions)
    moves = ["next", "next", "continue"] if also_on_nodes else ["next", "next"]
    leaves = [ag.tensor([1.0, 2.0], requires_grad=True) for _ in range(3)]
    for leaf in leaves:
        leaf.grad = ag.zeros(2)
    with stepped(wanted, moves) as (agent, _):
        y = leaves[0]
        for leaf in leaves:
            y = y * leaf
        y.sum().backward()
    told = [(each["where"], each["reason"], each["position"]) for each in agent.stops][also_on_nodes:]
    assert told[:3] == [("event", "breakpoint", 2), ("before", "step", 3), ("before", "step", 4)]


WITHIN = """\
def told():
    {before}
    ag.tensor([1.0], requires_grad=True) * 1
"""


def outcome(condition, before="x = 1", **names):
    """What a condition with calls, or without, gives in a function of the program: a stop, a failure or nothing."""
    scope = {"ag": ag, "__name__": "program", "known": 5, **names}
    exec(compile(WITHIN.format(before=before), "<program>", "exec"), scope)
    with stepped(Settings(functions=[FunctionStop(1, "Mul*", "forward", condition=condition)])) as (agent, _):
        scope["told"]()
        broken = [each for each in agent.said if "broken" in each]
        return "failed" if broken else bool(agent.stops)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x == 1", True),
        ("x == known - 4", True),
        ("abs(x) == 1 and abs(known) == 5", True),
        ("all(x == each - 4 for each in (known,))", True),
        ("(lambda: x + known)() == 6", True),
        ("node.op == 'MulBackward0' and len(saved) == 0", True),
        ("[each for each in grads_in] == []", True),
        ("len(node.op) > 50", False),
        ("unknown", "failed"),
        ("unknown()", "failed"),
        ("any(unknown for _ in (1,))", "failed"),
    ],
)
def test_where_a_condition_finds_its_names(condition, expected):
    assert outcome(condition) == expected


def test_what_the_program_calls_len_comes_first():
    assert outcome("len(node.op) == 7", "len = lambda op: 7") is True


def test_an_endless_call_is_broken_off(monkeypatch):
    monkeypatch.setattr(evaluate, "LIMIT_S", 0.0)
    assert outcome("endless()", endless=eval("lambda: [0 for _ in iter(int, 1)]")) == "failed"


def test_values_that_are_not_finite_are_shown_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "2 not finite" in value_of(np.array([np.inf, -np.inf, 1.0], "f"))["summary"]


# ----- whether all elements are finite -----

floats = st.floats(width=32, allow_subnormal=True)


@settings(max_examples=200)
@given(
    arrays.arrays(
        st.sampled_from([np.float16, np.float32, np.float64, np.complex64, np.int64, np.bool_]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        fill=st.nothing(),
    ),
    st.sampled_from(["as it is", "turned", "every other", "expanded"]),
)
def test_all_finite_is_what_a_look_at_every_element_gives(array, how):
    if how == "turned":
        array = array.T
    elif how == "every other":
        array = array[..., ::2] if array.ndim else array
    elif how == "expanded":
        array = np.broadcast_to(array, (3, *array.shape))
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert native_quick.all_finite(array) == bool(np.isfinite(array).all())


@pytest.mark.parametrize("shape", [(3,), (5000,)])
@pytest.mark.parametrize(
    ("dtype", "first", "last", "expected"),
    [
        ("f", 3e38, 3e38, True),  # neither the sum nor the squares are finite
        ("d", 1e308, -1e308, True),
        ("e", 6e4, 6e4, True),
        ("F", 3e38 + 3e38j, -3e38, True),
        ("f", np.inf, -np.inf, False),  # the sum is NaN
        ("f", np.nan, 0, False),
        ("d", np.inf, 1, False),
        ("e", 1, np.inf, False),
        ("F", 1, complex(0, np.nan), False),
        ("l", 2**62, 2**62, True),
        ("?", True, False, True),
    ],
)
def test_what_is_finite_although_a_sum_is_not(shape, dtype, first, last, expected):
    array = np.zeros(shape, dtype)
    array[0], array[-1] = first, last
    out = SimpleNamespace(_a=array)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert native_quick.all_finite(array) is expected
        assert native_quick.makes_bad(None, out) is not expected


@pytest.mark.parametrize("shape", [(5000,), (100, 60), (1, 5000)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_big_arrays(shape, value):
    array = np.zeros(shape, "f")
    array.reshape(-1)[-1] = value
    for view in (array, array.T, array[:, ::2] if array.ndim == 2 else array[::3], np.broadcast_to(array, (2, *shape))):
        assert native_quick.all_finite(view) == bool(np.isfinite(view).all())


# ----- conditions that are answered early -----


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("step == 3", {"step"}),
        ("node.op in ('a', 'b') and not step % 2", {"step", "node", "node.op"}),
        ("(rank\n== 0)", {"rank"}),
        ("event.kind == 'born' # early", {"event", "event.kind"}),
        ("1", set()),
    ],
)
def test_conditions_that_are_answered_early(condition, names):
    assert early(condition).names == names


@pytest.mark.parametrize(
    "condition",
    ["node", "node.arity", "node.next_functions", "grad > 1", "x", "len(node.op)", "step()", "[i for i in (1, 2)]", "lambda: 1",
     "saved", "step is 1", "event.op", "2 ** step", "f'{step}'", "(step := 1)", "not Python", "step) or (1", ""],
)  # fmt: skip
def test_conditions_that_are_not(condition):
    assert early(condition) is None


@given(st.integers(0, 3), st.sampled_from(["a", "b"]), st.sampled_from([c for c in CONDITIONS if c and early(c)]))
def test_an_early_answer_is_what_python_gives(step, op, condition):
    node = SimpleNamespace(op=op, id=1, parameter="", module="m", file="f", line=2)
    event = SimpleNamespace(kind="before")
    found = early(condition).test(step, 0, node, event)
    assert found == eval(condition, {"step": step, "rank": 0, "node": node, "event": event})


# ----- conditions that end by themselves -----


@pytest.mark.parametrize(
    "condition",
    ["grad.norm() > 1e9", "node.seq < 3", "abs(grads_in[0]).max().item() > 1", "saved.self.sum(dim=0)[1] > float(grad.mean())",
     "len(grads) and node.op in ('a', 'b')", "grad[0:2].std() ** 2 > -step"],
)  # fmt: skip
def test_conditions_that_end_by_themselves(condition):
    assert compiled(condition).ends


@pytest.mark.parametrize(
    "condition",
    ["f(grad)", "node.f()", "event.f()", "node.hooks[0](grad)", "[g for g in grads]", "any(g for g in grads)", "(lambda: 1)()",
     "grad.apply_(lambda v: v)", "sum(grads)", "x.norm()", "(grad or x).norm()", "f'{grad}'", "open('x')", "float(grad)(1)", "abs(x).max()", "abs(grad)(1)"],
)  # fmt: skip
def test_conditions_that_may_not_end(condition):
    assert not compiled(condition).ends


@pytest.mark.parametrize(
    ("condition", "before", "expected"),
    [
        ("len(saved) == 0", "x = 1", True),
        ("len(saved) == 3", "len = lambda saved: 3", True),
        ("grad.norm() == 7", "grad = Endless()", "failed"),
        ("float(grad) == 7", "grad, float = 1, lambda x: sum(1 for _ in iter(int, 1))", "failed"),
    ],
)
def test_the_clock_is_watched_where_the_program_has_such_names(monkeypatch, condition, before, expected):
    monkeypatch.setattr(evaluate, "LIMIT_S", 0.05)
    assert outcome(condition, before, Endless=Endless) == expected


class Endless:
    def norm(self):
        return sum(1 for _ in iter(int, 1))


def test_gradients_are_judged_without_the_clock(monkeypatch):
    monkeypatch.setattr(conditions, "limited", None)
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    wanted = Settings(
        functions=[FunctionStop(1, "Mul*", "backward", condition="float(grad.norm()) > 2 and node.seq >= 0")]
    )
    with stepped(wanted) as (agent, _):
        (x * 2 * 3).sum().backward()
    assert [each["position"] for each in agent.stops] == [2]
