"""What breakpoints mean, without a program: names, numbers, hit conditions, conditions, log messages, settings."""

import signal

import pytest

from agdbg.agent import evaluate
from agdbg.agent.conditions import compiled, filled, log_problem, parts, problem, value
from agdbg.agent.control import (
    ControlReader,
    ControlWriter,
    EventStop,
    FilterStop,
    FunctionStop,
    Rule,
    Settings,
    SourceStop,
    TooBig,
    WatchStop,
)
from agdbg.agent.hits import Hits
from agdbg.breakpoints import event_kind, hit_problem, hit_test, node_number, storage_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("#12", 12),
        (" # 12", 0),
        ("node 7", 7),
        ("Node  7 ", 7),
        ("node7", 0),
        ("#", 0),
        ("#1.5", 0),
        ("Mul*", 0),
        ("#-1", 0),
    ],
)
def test_numbers_of_nodes(text, number):
    assert node_number(text) == number


@pytest.mark.parametrize(
    ("text", "number"), [("storage 7", 7), ("storage:7", 7), ("Storage 12 ", 12), ("storage", 0), ("7", 0)]
)
def test_numbers_of_storages(text, number):
    assert storage_number(text) == number


@pytest.mark.parametrize("text", ["version bump", "Version_Bump", " version-bump "])
def test_kinds_of_events_may_be_written_in_several_ways(text):
    assert event_kind(text) == "version-bump"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("3", [3]), ("== 3", [3]), (">=3", [3, 4, 5, 6]), (">3", [4, 5, 6]), ("<3", [1, 2]), ("<=3", [1, 2, 3]), (" % 2 ", [2, 4, 6]),
    ],
)  # fmt: skip
def test_hit_conditions(condition, expected):
    test = hit_test(condition)
    assert [hits for hits in range(1, 7) if test(hits)] == expected
    assert hit_problem(condition) == ""


@pytest.mark.parametrize("condition", ["x", "0", "%0", "3 4", "-1", "!=3", "=>3", "1.5"])
def test_what_is_no_hit_condition(condition):
    assert hit_test(condition) is None
    assert repr(condition) in hit_problem(condition)


@pytest.mark.parametrize("expression", ["x =", "x = 1", "import os", "(", "\0", "yield 1", "return"])
def test_what_is_no_condition(expression):
    assert "is no Python expression" in problem("condition", expression)


def test_the_names_that_an_expression_reads():
    found = compiled("[grads_in[i] for i in range(n)] or (lambda: saved)()")
    assert found.names >= {"grads_in", "saved", "n"}
    assert found.has_functions and found.calls
    found = compiled("step > 3 and a.b[0] == 'x'")
    assert found.names == {"step", "a"} and not found.has_functions and not found.calls
    assert compiled("f(x)").calls and not compiled("f(x)").has_functions


# ----- log messages -----


def text(message, **names):
    return filled(message, lambda: None, lambda wanted: {k: v for k, v in names.items() if k in wanted}, repr)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("plain", "plain"),
        ("{x}", "3"),
        ("a{x}b{y}c", "a3btextc"),
        ("{{x}} {x}", "{x} 3"),
        ("{x:04d}|{x / 2:.3f}", "0003|1.500"),
        ("{ {'a': x}['a'] }", "3"),
        ("{'}' + y}", "}text"),
        ("{y[0:2]}", "te"),
        ("{(lambda: x)()}", "<(lambda: x)(): "),
        ("{z}", "<z: NameError: name 'z' is not defined>"),
        ("{1/0}", "<1/0: ZeroDivisionError: division by zero>"),
        ("", ""),
    ],
)
def test_log_messages(message, expected):
    found = text(message, x=3, y="text")
    assert found.startswith(expected) or (expected.endswith(": ") and found == "3")
    assert log_problem(message) == ""


@pytest.mark.parametrize("message", ["{", "}", "{x", "{}", "{x y}", "a } b", "{ }", "{x = 1}"])
def test_what_is_no_log_message(message):
    assert repr(message) in log_problem(message)


def test_a_message_is_taken_apart_once():
    assert parts("a {x}") is parts("a {x}")


# ----- the settings -----


def test_settings_survive_the_way_to_the_program(tmp_path):
    rule = {"condition": "x", "hits": "3", "ignore": 2, "log": "{x}", "temporary": True}
    settings = Settings(
        pause=2,
        entry=True,
        functions=[FunctionStop(1, "Mul*"), FunctionStop(2, "é*", **rule)],
        sources=[SourceStop(3, "/a.py", 7), SourceStop(4, "/a.py", 7, "forward", **rule)],
        events=[EventStop(5, "save", **rule)],
        watches=[WatchStop(6, name="w"), WatchStop(7, storage=9, **rule)],
        exceptions=["nan"],
        filters=[FilterStop(8, "nan", condition="x")],
    )
    writer = ControlWriter(tmp_path / "control")
    reader = ControlReader(tmp_path / "control")
    writer.publish(settings)
    assert reader.changed()
    assert reader.read() == settings
    with pytest.raises(TooBig, match="there is room for 65,532"):
        writer.publish(Settings(functions=[FunctionStop(1, "x" * 70_000)]))
    assert reader.read() == settings


# ----- judging -----


class Place:
    """A spot without a program."""

    trusted = frozenset()

    def __init__(self, **names):
        self.all = names
        self.asked = []

    def names(self, wanted):
        self.asked.append(wanted)
        return {name: value for name, value in self.all.items() if name in wanted}

    def lacks(self, wanted):
        return "grads_in" in wanted and "grads_in" not in self.all

    def frame(self):
        return None

    def describe(self, value):
        return None

    def watched(self, function):
        return function(), []

    def holds(self, condition):
        return bool(value(condition, self.frame, self.names)), []

    def place(self):
        return {"file": "", "line": 0, "node": 0}


def judged(rules, *places):
    hits, told = Hits(), []
    hits.take(Settings(functions=rules))
    return [hits.judge([rule.id for rule in rules], place, told.append).stops for place in places], told


def test_a_plain_breakpoint_asks_nothing():
    place = Place()
    assert judged([FunctionStop(1, "a")], place) == ([[1]], [])
    assert place.asked == []


def test_each_breakpoint_counts_for_itself():
    rules = [FunctionStop(1, "a", hits="2"), FunctionStop(2, "a", condition="n > 1"), FunctionStop(3, "a", ignore=1)]
    assert judged(rules, Place(n=1), Place(n=2), Place(n=3))[0] == [[], [1, 2, 3], [2, 3]]


def test_a_failing_condition_is_told_once_and_stops_every_time():
    found, told = judged([FunctionStop(1, "a", condition="nope")], Place(), Place())
    assert found == [[1], [1]]
    assert told == [
        {"broken": {"breakpoint": 1, "text": "the condition 'nope' failed: NameError: name 'nope' is not defined"}}
    ]


def test_what_reads_gradients_counts_only_where_there_are_some():
    rules = [
        FunctionStop(1, "a", condition="grads_in[0] > 1", hits="2"),
        FunctionStop(2, "a", log="{grads_in[0]}"),
        FunctionStop(3, "a", condition="n > 0", log="{grads_in}"),
    ]
    found, told = judged(rules, Place(n=1), Place(n=1, grads_in=[2]), Place(n=1, grads_in=[3]))
    assert found == [[], [], [1]]
    assert [each["log"]["text"] for each in told][::2] == ["2", "3"]


def test_a_temporary_log_message_is_told_once():
    found, told = judged([FunctionStop(1, "a", log="hit", temporary=True)], Place(), Place())
    assert found == [[], []]
    assert told == [{"log": {"breakpoint": 1, "text": "hit", "spent": True, "file": "", "line": 0, "node": 0}}]


def test_what_stays_as_it_is_keeps_its_count():
    hits = Hits()
    rule, other = FunctionStop(1, "a", hits="2"), FunctionStop(2, "b")
    hits.take(Settings(functions=[rule]))
    assert hits.judge([1], Place(), print).stops == []
    hits.take(Settings(functions=[rule, other]))
    assert hits.judge([1], Place(), print).stops == [1]
    hits.take(Settings(functions=[FunctionStop(1, "a", hits="1")]))
    assert hits.judge([1], Place(), print).stops == [1]
    assert hits.judge([99], Place(), print).stops == []


def test_the_way_back_counts_nothing():
    hits = Hits()
    hits.take(Settings(functions=[FunctionStop(1, "a", hits="1", condition="n")]))
    assert hits.would_stop([1], Place(n=1)) and not hits.would_stop([1], Place(n=0))
    assert hits.judge([1], Place(n=1), print).stops == [1]


def test_rules_are_plain_when_they_have_nothing_but_a_place():
    assert Rule(1) == Rule(1, condition="", hits="", ignore=0, log="", temporary=False)


def test_what_a_condition_raises_is_told_but_a_ctrl_c_is_the_programs():
    def interrupt():
        raise KeyboardInterrupt

    def fail():
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn\n  more")

    assert text("{f()}", f=interrupt) == "<f(): KeyboardInterrupt>"
    told = text("{f()}", f=fail)
    assert told.startswith("<f(): RuntimeError: element 0 of tensors does not require grad")
    assert told.endswith("; conditions and log messages run without recording gradients>")

    def pressed():
        signal.raise_signal(signal.SIGINT)
        return [i * i for i in range(10)]

    with pytest.raises(KeyboardInterrupt):
        text("{f()}", f=pressed)

    def handler(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            text("{f()}", f=pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_call_that_cannot_be_broken_off_is_told_as_such(monkeypatch):
    clock = iter([0.0, 0.0, 0.0, 8.04])
    monkeypatch.setattr(evaluate, "perf_counter", lambda: next(clock, 8.04))
    with pytest.raises(evaluate.TooLong, match=r"after 8\.0 s, not at the limit of 5 s: a single call"):
        evaluate.limited(lambda: [i * i for i in range(100)])
    clock = iter([0.0, 1.0])
    monkeypatch.setattr(evaluate, "perf_counter", lambda: next(clock, 5.01))
    with pytest.raises(evaluate.TooLong, match=r"broken off after 5 s$"):
        evaluate.limited(lambda: [i * i for i in range(100)])
