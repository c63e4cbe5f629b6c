"""`agdbg diff`: where two runs part, and that nothing but what they did counts."""

import json
import shutil

import numpy as np
import pytest

from agdbg.cli import main
from agdbg.compare.parting import compare
from agdbg.events import Kind, head, pack_edge, pack_float, pack_site_op
from agdbg.record import Recorder, Trace
from agdbg.record.format import HEADER

SCRIPT = """
import agdbg_engine as torch
x = torch.ones(3, requires_grad=True)
for i in range(3):
    y = (x * 2).exp()
    {more}
    y.sum().backward(){end}
"""


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


@pytest.fixture
def run(programs, tmp_path):
    """A function that records a script and returns the trace."""

    def record(name, more="pass", end="", folder=".", before=""):
        programs.write({f"{folder}/train.py": before + SCRIPT.format(more=more, end=end)})
        options = ["--headless", "--trace", str(tmp_path / name)]
        programs.run(programs.agdbg_command([f"{folder}/train.py"], options=options))
        return tmp_path / name

    return record


def diff(capsys, *words):
    status = main(["diff", "--json", *map(str, words)])
    return status, json.loads(capsys.readouterr().out)


def test_two_runs_of_one_script_are_the_same_wherever_it_lies(run, capsys):
    status, found = diff(capsys, run("a"), run("b", folder="elsewhere"))
    assert (status, found["same"], found["place"]) == (0, True, None)
    assert found["notes"] == [
        "values were not compared, since they were not recorded: agdbg run --also values records them"
    ]
    assert found["events"][0] == found["events"][1] > 20


def test_the_first_event_that_differs_is_shown_with_what_is_around(run, capsys):
    one, other = run("a"), run("b", more="y = y.sin() if i == 2 else y")
    status, found = diff(capsys, one, other, "--context", "2", "--moved")
    assert status == 1
    assert found["differs"]["op"] == ["SumBackward0", "SinBackward0"]
    assert [event["facts"]["op"] for event in found["before"]] == ["MulBackward0", "ExpBackward0"]
    assert [event["kind"] for event in found["after"][0]] == ["born", "pass started", "ran"]
    assert [event["facts"]["op"] for event in found["after"][1][:2]] == ["SinBackward0", "SumBackward0"]
    assert found["after"][1][0]["line"] == 6
    assert main(["diff", "--moved", str(one), str(other)]) == 1
    text = capsys.readouterr().out
    assert "op: SumBackward0 in A; SinBackward0 in B" in text
    assert "the runs part at event 23 of 30 and 32" in text


def test_a_moved_line_is_a_difference_unless_it_is_told_that_lines_may_have_moved(run, capsys):
    one, other = run("a"), run("b", before="# a comment\n")
    status, found = diff(capsys, one, other)
    assert (
        status == 1
        and found["place"] == 0
        and found["differs"]
        == {"line": ["train.py:5", "train.py:6"]}
        | {key: value for key, value in found["differs"].items() if key != "line"}
    )
    assert diff(capsys, one, other, "--moved")[0] == 0


def test_a_run_that_goes_on_is_longer(run, capsys):
    status, found = diff(capsys, run("a"), run("b", end="\nx.exp()"), "--context", "0")
    assert status == 1
    assert found["place"] == found["events"][0] == found["events"][1] - 1
    assert found["after"][0] == [] and found["after"][1][0]["facts"]["op"] == "ExpBackward0"


def test_retain_graph_saves_and_errors_are_compared(run, capsys):
    plain = run("a")
    assert diff(capsys, plain, run("b", end="\n    y.sum().backward(retain_graph=True)"), "--moved")[0] == 1
    first, second = run("c", end="\nraise SystemExit(0)"), run("d", end="\nraise SystemExit(3)")
    status, found = diff(capsys, first, second)
    assert status == 1 and found["place"] is None
    assert found["endings"] == ["exited with status 0", "exited with status 3"]


def test_how_often_a_path_was_cut_is_compared_at_the_end(programs, tmp_path, capsys):
    script = "import os, agdbg_engine as t\nx = t.ones(2, requires_grad=True)\n"
    script += "for _ in range(int(os.environ['TIMES'])):\n    y = x.exp().detach()\n"
    programs.write({"train.py": script})
    for name, times in (("a", 1), ("b", 1), ("c", 5)):
        options = ["--headless", "--trace", str(tmp_path / name)]
        programs.run(programs.agdbg_command(["train.py"], options=options), env={"TIMES": str(times)})
    assert diff(capsys, tmp_path / "a", tmp_path / "b")[0] == 0
    status, found = diff(capsys, tmp_path / "a", tmp_path / "c", "--without", "born")
    assert status == 1 and found["place"] is None
    assert found["endings"] == [f"cut a path by detach at train.py:4 {times} times" for times in (1, 5)]


def told(path, norm=1.0, size=1, also=True, thread=1, checks=(1, 2)):
    """A small trace by hand: nodes in a chain, with numbers that begin at `size`."""
    recorder = Recorder(path, program={}, engine={"name": "test"}, sees={})
    line = recorder.site_at("/somewhere/train.py", 3, "main", "y = f(x)")
    for number in range(size, size + 5):
        where = pack_site_op(line, recorder.op("MulBackward0"))
        recorder.emit(head(Kind.BORN, thread, a=1), number, number, where, pack_edge(number - 1), 0, 0, 0)
        if also:
            recorder.emit(head(Kind.SUMMARY, thread), number, 0, pack_float(norm), pack_float(2.0), 0, 0, 9)
            recorder.emit(head(Kind.PROBE, thread), checks[0], 0, checks[1], 0, number, 0, 0)
    recorder.close({"status": 0})
    return Trace.open(path)


def test_norms_have_a_tolerance_and_checksums_have_none(tmp_path):
    one = told(tmp_path / "a")
    assert compare(one, told(tmp_path / "b", norm=1 + 1e-9)).same
    apart = told(tmp_path / "c", norm=1.001)
    assert compare(one, apart).place == 1
    assert compare(one, apart, tolerance=0.01).same
    assert compare(one, apart, without=[Kind.SUMMARY]).same
    assert compare(told(tmp_path / "d", norm=np.nan), told(tmp_path / "e", norm=np.nan)).same
    assert compare(one, told(tmp_path / "f", checks=(1, 3))).place == 2


def test_what_only_one_has_recorded_is_not_compared_and_that_is_said(tmp_path):
    found = compare(told(tmp_path / "a"), told(tmp_path / "b", also=False))
    assert found.same
    assert found.left_out == (Kind.SUMMARY, Kind.PROBE)


def test_numbers_are_compared_by_their_first_mention(tmp_path):
    assert compare(told(tmp_path / "a", size=2), told(tmp_path / "b", size=700, checks=(44, 2))).same


def test_threads_are_compared_one_after_the_other(tmp_path):
    """How two threads take turns is chance."""
    paths = []
    for name, order in (("a", (1, 2, 1, 2)), ("b", (1, 1, 2, 2))):
        recorder = Recorder(tmp_path / name, program={}, engine={}, sees={})
        ops = {thread: recorder.op(f"Op{thread}") for thread in (1, 2)}
        for number, thread in enumerate(order, 1):
            recorder.emit(head(Kind.BORN, thread), number, 0, pack_site_op(0, ops[thread]), 0, 0, 0, 0)
        recorder.close()
        paths.append(Trace.open(tmp_path / name))
    assert compare(*paths).same


def test_a_trace_that_was_cut_is_compared_and_told(tmp_path, capsys):
    told(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    records = (tmp_path / "b" / "records.bin").read_bytes()
    (tmp_path / "b" / "records.bin").write_bytes(records[:-70])
    status, found = diff(capsys, tmp_path / "a", tmp_path / "b")
    assert status == 1 and found["after"][1] == []
    assert any("cut" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a", "missing"], "does not exist"),
        (["a", "a", "--without", "nonsense"], "no such kind"),
        (["a", "a", "--tolerance", "2"], "part of a number"),
        (["a", "a", "--context", "-1"], "context"),
    ],
)
def test_bad_input_is_refused(tmp_path, capfd, monkeypatch, words, says):
    told(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    try:
        status = main(["diff", *words])
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert says in capfd.readouterr().err


def test_a_big_trace_is_compared_in_arrays(tmp_path, monkeypatch):
    """Only what is shown is put into words, however many records there are."""
    from agdbg.compare import shown, wording

    count, calls = 200_000, []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        records = np.zeros((count, 8), "<u8")
        records[:, 0], records[:, 3] = head(Kind.BORN, 1, a=1), pack_site_op(2, 1)
        records[:, 1] = np.arange(count) + (1 if name == "a" else 1000)
        records[1:, 4] = records[:-1, 1]
        records[count - 10, 4] = records[5 if name == "b" else count - 11, 1]
        (tmp_path / name / "records.bin").write_bytes(HEADER + records.tobytes())
        (tmp_path / name / "strings.jsonl").write_text(
            '{"id": 1, "k": "op", "s": "Mul"}\n{"id": 2, "k": "site", "file": "t.py"}\n'
        )
        (tmp_path / name / "meta.json").write_text("{}")
    one, other = Trace.open(tmp_path / "a"), Trace.open(tmp_path / "b")
    found = compare(one, other)
    assert found.place == count - 10
    monkeypatch.setattr(shown, "event_at", lambda trace, row: calls.append(row) or wording.event_at(trace, row))
    told = shown.as_json(shown.Shown(one, other, found, 3))
    assert told["differs"] == {"input 0": [f"#{count - 10}", "#1005"]}
    assert 0 < len(calls) < 30


def test_every_kind_and_every_word_with_a_string_is_known():
    from agdbg.record.layout import LAYOUT, Holds
    from agdbg.record.reader import STRING_WORDS

    assert set(Kind) - set(LAYOUT) == {Kind.CLOCK, Kind.HELD}
    strings = {Holds.SITE_OP, Holds.SITE, Holds.TEXT, Holds.TEXTS}
    told = {kind: {field.word for field in fields if field.holds in strings} for kind, fields in LAYOUT.items()}
    assert {kind: words for kind, words in told.items() if words} == {
        kind: set(words) for kind, words in STRING_WORDS.items()
    }


def test_hostile_names_are_made_harmless(tmp_path, capsys):
    for name, op in (("a", "Mul\x1b[2J"), ("b", "Add\u202e")):
        recorder = Recorder(tmp_path / name, program={}, engine={}, sees={})
        where = pack_site_op(recorder.site_at("t.py", 1, "f", "x\x07 = 1"), recorder.op(op))
        recorder.emit(head(Kind.BORN, 1), 1, 0, where, 0, 0, 0, 0)
        recorder.close()
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b")]) == 1
    out = capsys.readouterr().out
    assert "Mul" in out and not any(hostile in out for hostile in "\x1b\x07\u202e")


def test_another_part_of_one_line_is_said_and_the_op_that_differs_is_shown(programs, tmp_path, capsys):
    source = SCRIPT.format(more="z = y.sin().exp() if i < int(sys.argv[1]) else y.sin().log()", end="")
    programs.write({"train.py": "import sys" + source})
    for name, turns in (("a", "3"), ("b", "2")):
        options = ["--headless", "--trace", str(tmp_path / name)]
        programs.run(programs.agdbg_command(["train.py", turns], options=options))
    status, found = diff(capsys, tmp_path / "a", tmp_path / "b")
    assert status == 1 and found["differs"] == {"columns": ["9-15 `y.sin()`", "52-58 `y.sin()`"]}
    main(["diff", str(tmp_path / "a"), str(tmp_path / "b")])
    said = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(said) if "the same ops stand on another part of the line" in line)
    assert "ExpBackward0" in said[at + 1] and "LogBackward0" in said[at + 2] and "source:" not in "\n".join(said)
