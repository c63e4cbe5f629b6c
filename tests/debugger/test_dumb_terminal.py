"""A terminal that cannot show the UI is told so in one line; where there is none, nothing is said."""

import os
import pty
import subprocess
import sys

import pytest

SAID = "agdbg: TERM is dumb or not set, so there is no UI: the script runs as with --headless\n"
PROGRAM = "print('hello')\n"


def ran(folder, term, on_terminal, *options):
    """Status, and whether it was said, first of all."""
    (folder / "p.py").write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if name != "TERM"}
    environment.update({} if term is None else {"TERM": term})
    master, slave = pty.openpty()
    streams = {"stdin": slave, "stdout": slave} if on_terminal else {"stdin": slave, "stdout": subprocess.DEVNULL}
    try:
        words = [sys.executable, "-m", "agdbg", "run", *options, "p.py"]
        ended = subprocess.run(words, **streams, stderr=subprocess.PIPE, cwd=folder, env=environment, timeout=60)
    finally:
        os.close(slave)
        os.close(master)
    return ended.returncode, ended.stderr.decode().startswith(SAID)


@pytest.mark.parametrize("term", ["dumb", None])
def test_it_is_said(tmp_path, term):
    assert ran(tmp_path, term, True) == (0, True)


@pytest.mark.parametrize(("on_terminal", "options"), [(False, []), (True, ["--headless"])])
def test_it_is_not_said(tmp_path, on_terminal, options):
    assert ran(tmp_path, "dumb", on_terminal, *options) == (0, False)
