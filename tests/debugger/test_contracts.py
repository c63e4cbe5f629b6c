"""The import contracts of pyproject.toml: the project keeps them, and a module that breaks one is found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"

DOWN = "Imports only go down: ui, debugger, engine"
NATIVE = "Only the adapters in agdbg.engines touch the engine"
TORCH = "Only agdbg.engines.torch touches PyTorch"
TEXTUAL = "The debugger has no Textual in it and never touches the GPU"
TRACE = "The trace is in the middle: what reads it has no way to an engine"
CLIENT = "The terminal UI is a client and never touches the engine"
PARTS = "The terminal UI uses the protocol, the console and the start of a hub"
PROTOCOL = "The protocol knows nothing of who speaks it"
CONSOLE = "The console is a client of the protocol and nothing else"
ENGINE = "The engine knows nothing but NumPy, SciPy and CuPy"

VIOLATIONS = [
    ("agdbg/bad.py", "import agdbg_ui", DOWN),
    ("engine/agdbg_engine/bad.py", "from agdbg import events", DOWN),
    ("agdbg/bad.py", "from agdbg_engine import __name__", NATIVE),
    ("agdbg/engines/__init__.py", "import agdbg_engine", NATIVE),
    ("agdbg/record/bad.py", "import torch.nn", TORCH),
    ("ui/agdbg_ui/bad.py", "import torch", TORCH),
    ("agdbg/bad.py", "def late():\n    from textual.app import App\n", TEXTUAL),
    ("agdbg/graph/bad.py", "import cupy", TEXTUAL),
    ("agdbg/diagnose/bad.py", "from agdbg import engines", TRACE),
    ("agdbg/render/bad.py", "from agdbg.engines import native", TRACE),
    ("ui/agdbg_ui/bad.py", "import agdbg_engine", CLIENT),
    ("ui/agdbg_ui/bad.py", "from agdbg.hub import history", PARTS),
    ("agdbg/protocol/bad.py", "from agdbg.events import Kind", PROTOCOL),
    ("agdbg/console/bad.py", "from agdbg.hub import stops", CONSOLE),
    ("engine/agdbg_engine/bad.py", "def late():\n    import torch\n", ENGINE),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the three packages and their configuration, which a test may spoil."""
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("agdbg", "engine", "ui"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def checked(root: Path) -> tuple[int, str]:
    """The exit status of import-linter in a folder, and what it says."""
    paths = [str(root / folder) for folder in (".", "engine", "ui")]  # before those of whatever is installed, and how
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths}; {LINT_IMPORTS}", "--no-cache"],
        cwd=root,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Contracts: " in done.stdout, done.stdout + done.stderr
    return done.returncode, done.stdout


def test_the_project_keeps_its_contracts(copy: Path) -> None:
    status, said = checked(copy)
    assert (status, re.findall(r"^(.+) BROKEN(?: \(.*\))?$", said, re.MULTILINE)) == (0, [])


def test_modules_that_break_a_contract_are_found(copy: Path) -> None:
    """All at once, since each run takes seconds: each is named under its contract."""
    expected = set()
    for number, (file, code, contract) in enumerate(VIOLATIONS):
        path = copy / file.replace("bad", f"bad{number}")
        path.write_text(code + "\n")
        words = path.relative_to(copy).with_suffix("").parts
        expected.add((contract, ".".join(words[words[0] in ("engine", "ui") :]).removesuffix(".__init__")))
    status, said = checked(copy)
    assert status == 1
    found, contract = set(), ""
    for line, below in pairwise(said.splitlines()):
        if line and below == "-" * len(line):
            contract = line
        elif chain := re.match(r"- +(\S+) -> ", line):
            found.add((contract, chain[1]))
    assert expected - found == set(), said


def test_every_folder_with_modules_is_a_package() -> None:
    """import-linter, mypy and the wheel all overlook a module whose folder has no `__init__.py`."""
    modules = [
        module for top in ("agdbg", "engine/agdbg_engine", "ui/agdbg_ui") for module in (ROOT / top).rglob("*.py")
    ]
    assert modules
    assert {module.parent for module in modules if not (module.parent / "__init__.py").exists()} == set()
