"""The scripts that check the project: they find what they are there to find."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import a script as Python would when it runs it, and forget it after the test."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("sizes", monkeypatch)


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("check", monkeypatch)


@pytest.fixture
def check_wheel(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("check_wheel", monkeypatch)


def write(root: Path, name: str, lines: int = 1) -> Path:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("x\n" * lines)
    return Path(name)


def test_without_git_the_files_are_all_but_hidden_and_built_ones(sizes: ModuleType, tmp_path: Path) -> None:
    ours = [write(tmp_path, name) for name in (".ci/run", "README.md", "agdbg/cli.py")]
    for name in (".venv/x.py", "build/lib/x.py", "a.egg-info/PKG-INFO", "agdbg/__pycache__/cli.pyc"):
        write(tmp_path, name)
    assert sizes.project_files(tmp_path) == ours


def test_a_long_file_is_found_unless_a_program_wrote_it(sizes: ModuleType, tmp_path: Path) -> None:
    long = write(tmp_path, "agdbg/long.py", sizes.LIMIT + 1)
    write(tmp_path, "agdbg/fits.py", sizes.LIMIT)
    write(tmp_path, "tests/debugger/golden/page.html", sizes.LIMIT + 1)
    assert sizes.too_long(tmp_path) == {long: sizes.LIMIT + 1}


def test_the_size_table_names_parts_and_longest_files(sizes: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    sizes.print_table({Path("agdbg/a.py"): 30, Path("agdbg/b.py"): 10, Path("README.md"): 5}, top=1)
    out = capsys.readouterr().out
    assert re.search(r"^agdbg +2 +40 +20 +30$", out, re.MULTILINE)
    assert "agdbg/a.py" in out
    assert "agdbg/b.py" not in out


@pytest.mark.parametrize(("code", "expected"), [("raise SystemExit(0)", 0), ("raise SystemExit(3)", 1)])
def test_a_failed_step_fails_the_check_and_the_next_still_runs(
    check: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    code: str,
    expected: int,
) -> None:
    later = [sys.executable, "-c", "print('the later step ran')"]
    monkeypatch.setattr(check, "STEPS", {"first": [sys.executable, "-c", code], "later": later})
    assert check.main([]) == expected
    out = capfd.readouterr().out
    assert "the later step ran" in out
    assert ("FAILED (exit status 3)" in out) == bool(expected)


def test_an_unknown_step_is_refused(check: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        check.main(["tpyes"])
    assert "no step is called tpyes; the steps are format-check, lint" in capsys.readouterr().err


def test_make_has_a_target_for_every_step(check: ModuleType) -> None:
    targets = re.findall(r"^([\w -]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = {name for line in targets for name in line.split()}
    assert set(check.STEPS) | {"install", "format", "generate", "check", "bench", "clean"} <= named


def test_the_wheel_must_hold_the_packages_and_nothing_else(check_wheel: ModuleType, tmp_path: Path) -> None:
    names = check_wheel.expected_files()
    assert {"agdbg/__init__.py", "agdbg_engine/py.typed", "agdbg_ui/__init__.py"} <= names
    wheel = tmp_path / "agdbg-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        for name in names - {"agdbg/events.py"} | {"tests/test_x.py", "agdbg-0.dist-info/METADATA"}:
            file.writestr(name, "")
    assert check_wheel.check_content(wheel) == [
        "agdbg/events.py is missing",
        "tests/test_x.py does not belong into it",
    ]


STUBBORN = """#!/bin/sh
case "$1" in scripts/check.py) ;; *) exit 0 ;; esac
trap '' INT
sleep 300 &
echo "running $!"
wait
"""
"""An interpreter that has everything installed, and whose tests go on after Ctrl-C, as pytest's workers do."""


def test_ctrl_c_ends_all_that_a_test_run_has_started(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(STUBBORN)
    python.chmod(0o755)
    words = [sys.executable, str(ROOT / "scripts" / "test.py"), "--venv", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout
        child = next(int(line.split()[1]) for line in run.stdout if line.startswith("running"))
        run.send_signal(signal.SIGINT)
        said = run.communicate(timeout=60)[1]
    assert (run.returncode, said) == (130, "scripts/test.py: interrupted\n")
    assert not Path(f"/proc/{child}").exists() or ") Z " in Path(f"/proc/{child}/stat").read_text()


def test_a_check_that_is_told_to_end_ends_its_step(check: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    end = f"import os, signal, time; os.kill({os.getpid()}, signal.SIGTERM); time.sleep(300)"
    monkeypatch.setitem(check.STEPS, "types", [sys.executable, "-c", end])
    with pytest.raises(SystemExit) as left:
        check.main(["types"])
    assert left.value.code == 128 + signal.SIGTERM
