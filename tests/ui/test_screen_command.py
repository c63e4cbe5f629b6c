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
    assert said(TuiResult(status=3, trace=str(directory))) == (3, "trace: nn")


def test_a_directory_with_only_output_is_no_trace(said, directory):
    (directory / OUTPUT_FILE).write_text("hello\n")
    assert said(TuiResult(status=0, trace=str(directory))) == (0, "output: nn/output.log")


def test_of_a_directory_with_nothing_in_it_nothing_is_said(said, directory):
    (directory / OUTPUT_FILE).touch()
    assert said(TuiResult(status=0, trace=str(directory))) == (0, "")


def test_of_a_directory_that_is_gone_nothing_is_said(said, directory):
    assert said(TuiResult(status=0, trace=str(directory / "gone"))) == (0, "")


def test_a_trace_that_was_opened_is_not_named(said, directory):
    (directory / TRACE_FILES[0]).touch()
    assert said(TuiResult(trace=str(directory)), mention=False) == (0, "")
