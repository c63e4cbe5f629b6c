"""What the commands say once the terminal is the shell's again."""

import pytest

from agdbg.commands import screen
from agdbg.launch.place import OUTPUT_FILE, TRACE_FILES
from agdbg_ui.result import TuiResult


@pytest.fixture
def said(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    told = []
    monkeypatch.setattr(screen, "tell", told.append)

    def conclude(result, **how):
        status = screen._concluded(result, **how)
        return status, "\n".join(told)

    return conclude


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "nn").mkdir()
    return tmp_path / "nn"


@pytest.mark.parametrize("file", TRACE_FILES)
def test_a_trace_is_named(said, directory, file):
    (directory / file).touch()
    (directory / OUTPUT_FILE).write_text("hello\n")
    assert said(TuiResult(status=0, trace=str(directory))) == (0, "trace: nn")


def test_a_directory_with_only_output_is_no_trace(said, directory):
    (directory / OUTPUT_FILE).write_text("hello\n")
    assert said(TuiResult(status=0, trace=str(directory))) == (0, "output: nn/output.log")


def test_of_a_directory_with_nothing_in_it_nothing_is_said(said, directory):
    (directory / OUTPUT_FILE).touch()
    assert said(TuiResult(status=0, trace=str(directory))) == (0, "")


def test_of_a_directory_that_is_gone_nothing_is_said(said, directory):
    assert said(TuiResult(status=0, trace=str(directory / "gone"))) == (0, "")


BAD = {"program": "a.py", "ending": "ended with status 1"}
TRACEBACK = """Traceback (most recent call last):\r\n  File "a.py"\r\nKeyError: \x1b[1m'a'\x1b[0m\r\n"""


def test_of_a_bad_end_the_last_output_is_told(said, directory):
    (directory / OUTPUT_FILE).write_text(f"{'before' * 20_000}\r\n{TRACEBACK}")
    status, text = said(TuiResult(status=1, trace=str(directory), **BAD))
    assert status == 1
    assert text.split("\n") == [
        "a.py ended with status 1; the end of its output:",
        "  Traceback (most recent call last):",
        '    File "a.py"',
        "  KeyError: 'a'",
        "output: nn/output.log",
    ]


def test_of_a_bad_end_without_output_the_status_is_told(said, directory):
    assert said(TuiResult(status=1, trace=str(directory), **BAD)) == (1, "a.py ended with status 1")
    assert said(TuiResult(status=1, **BAD))[0] == 1


def test_what_goes_with_its_trace_is_told_more_of_and_not_named(said, directory):
    (directory / OUTPUT_FILE).write_text("".join(f"{number}\n" for number in range(300)) + TRACEBACK)
    lines = said(TuiResult(status=1, trace=str(directory), **BAD), keep=False)[1].split("\n")
    assert (len(lines), lines[1], lines[-1]) == (201, "  103", "  KeyError: 'a'")
    (directory / OUTPUT_FILE).write_text("\r\n")
    assert said(TuiResult(status=1, trace=str(directory), **BAD), keep=False)[1].endswith("\na.py ended with status 1")


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (TuiResult(left_running=True, program="a.py", pid=7), "a.py goes on (pid 7); agdbg attach 7 joins it"),
        (TuiResult(left_running=True), "the program goes on; agdbg attach joins it"),
        (
            TuiResult(143, killed=True, program="a.py", ending="ended by SIGTERM"),
            "a.py ended by SIGTERM: it was killed, as you chose",
        ),
        (
            TuiResult(killed=True, program="a.py"),
            "a.py was asked to end and has not yet; it is killed if it does not",
        ),
        (TuiResult(early=True, program="a.py"), "a.py was left before it began: nothing of it goes on"),
        (TuiResult(status=0, ending="ended with status 0"), ""),
    ],
    ids=["left", "left, of which nothing is known", "killed", "does not end", "not begun", "well"],
)
def test_what_became_of_it_is_told(said, result, told):
    assert said(result)[1] == told


def test_a_trace_that_was_opened_is_not_named(said, directory):
    (directory / TRACE_FILES[0]).touch()
    assert said(TuiResult(trace=str(directory)), mention=False) == (0, "")


def test_to_have_looked_at_a_recording_is_no_failure_however_its_program_ended(said, directory):
    (directory / TRACE_FILES[0]).touch()
    assert said(TuiResult(status=3, trace=str(directory), program="a.py"), mention=False) == (0, "")
    assert said(TuiResult(status=3, signal=15, trace=str(directory)), mention=False)[0] == 143


def test_a_program_that_is_still_to_be_killed_has_not_ended_well(said):
    status, told = said(TuiResult(killed=True, program="train.py"))
    assert status == 137
    assert told == "train.py was asked to end and has not yet; it is killed if it does not"


def test_the_status_when_the_hub_is_gone_is_not_that_of_bad_input(said):
    assert said(TuiResult(error="the hub is gone", program="a.py"))[0] == 70
    assert said(TuiResult(error="there is no such file"))[0] == 2
