"""Test the project from scratch: `python3 scripts/test.py [--venv DIR]`.

Needs Python 3.11 or newer with pip, and nothing else: it makes a virtual environment (or uses the one that is
there), installs the project and its development tools into it, and runs every check and every test there. The
exit status is 0 when all of them passed, and 130 after Ctrl-C, which ends everything at once.

Some tests compare the engine with PyTorch. They are skipped, and this script says so, when PyTorch cannot be
installed or the environment variable AGDBG_NO_TORCH is set. A CPU build is all that they need.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import command

ROOT = Path(__file__).resolve().parent.parent
TORCH = "torch==2.13.0"


def main() -> int:
    """Prepare the environment, run `scripts/check.py` in it, and return the exit status."""
    parser = argparse.ArgumentParser(description="Install the project into a virtual environment and test it.")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="where it is or will be (default: .venv)")
    folder = parser.parse_args().venv.absolute()
    if sys.version_info < (3, 11):  # noqa: UP036 - run by whichever python3 the machine has
        parser.error(f"agdbg needs Python 3.11 or newer, this is {sys.version.split()[0]}")
    try:
        with command.told_to_end():
            return test_in(folder)
    except KeyboardInterrupt:
        print("scripts/test.py: interrupted", file=sys.stderr)
        return command.INTERRUPTED


def test_in(folder: Path) -> int:
    """Do it in the virtual environment ``folder``."""
    try:
        python = make_environment(folder)
        install_project(python)
    except subprocess.CalledProcessError as error:
        print(f"scripts/test.py: could not prepare {folder}: {error}", file=sys.stderr)
        return 1
    has_torch = install_torch(python)
    status = command.run([python, "scripts/check.py"], ROOT)
    if not has_torch:
        say(f"without {TORCH}: the tests that compare with PyTorch were SKIPPED")
    return status


def make_environment(folder: Path) -> Path:
    """Make the virtual environment unless it is there; return the path of its interpreter."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if python.exists():
        say(f"using the virtual environment {folder}")
        return python
    say(f"making the virtual environment {folder}")
    if importlib.util.find_spec("ensurepip"):
        call(sys.executable, "-m", "venv", folder)
    else:  # Debian keeps ensurepip in a package of its own (python3-venv); pip itself can stand in for it.
        call(sys.executable, "-m", "venv", "--without-pip", folder)
        call(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "pip")
    return python


def install_project(python: Path) -> None:
    """Install the project, editable, with its development tools."""
    say("installing agdbg and the development tools")
    pip_install(python, "--upgrade", "pip>=25.1")  # the first pip that knows --group
    pip_install(python, "--editable", ".", "--group", "dev")
    call(
        python, "-m", "compileall", "-q", "agdbg", "engine", "ui"
    )  # some programs of the tests may not write what they compile


def install_torch(python: Path) -> bool:
    """Install PyTorch for the tests that compare with it; return whether it is there."""
    if os.environ.get("AGDBG_NO_TORCH"):
        say(f"AGDBG_NO_TORCH is set: going on without {TORCH}")
        return subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0
    say(f"installing {TORCH} (gigabytes where pip finds the build for GPUs; AGDBG_NO_TORCH=1 does without)")
    try:
        pip_install(python, TORCH)
    except subprocess.CalledProcessError as error:
        say(f"could not install {TORCH}, going on without it: {error}")
        return False
    return True


def pip_install(python: Path, *arguments: str) -> None:
    """Run `pip install` in the environment; raises CalledProcessError when it fails."""
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def call(*words: str | Path) -> None:
    """Run a command in the repository's root; raises CalledProcessError when it fails."""
    status = command.run(words, ROOT)
    if status:
        raise subprocess.CalledProcessError(status, words)


def say(text: str) -> None:
    """Print a line that stands out between the output of the commands."""
    print(f"== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
