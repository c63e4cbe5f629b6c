"""What an import of the debugger must not bring in, each tried in a fresh interpreter."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys

import pytest

import agdbg

SHOW_MODULES = "import json, sys, {modules}; print(json.dumps(sorted({{n.partition('.')[0] for n in sys.modules}})))"
OTHER_FLOORS = {"agdbg_engine", "agdbg_ui", "textual", "rich", "torch", "cupy"}
ADAPTERS = ("agdbg.engines.native", "agdbg.engines.torch")  # and their parts: native_birth


def imported_by(*modules: str) -> set[str]:
    """The top-level packages that are loaded after the modules were imported."""
    code = SHOW_MODULES.format(modules=", ".join(modules))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def modules_of_the_debugger() -> list[str]:
    found = [module.name for module in pkgutil.walk_packages(agdbg.__path__, "agdbg.")]
    return sorted(name for name in found if not name.endswith("__main__"))


def test_the_probe_sees_what_an_import_brings_in() -> None:
    assert {"agdbg", "textual", "rich"} <= imported_by("agdbg", "textual.app")


@pytest.mark.parametrize("module", ["agdbg", "agdbg.events", "agdbg.cli", "agdbg.commands.open", "agdbg.record.there"])
def test_what_every_command_needs_starts_without_numpy(module: str) -> None:
    assert not imported_by(module) & (OTHER_FLOORS | {"numpy", "graphviz"})


def test_a_hub_answers_before_it_loads_numpy() -> None:
    assert not imported_by("agdbg.hub.__main__", "agdbg.hub.handlers") & (OTHER_FLOORS | {"numpy", "graphviz"})


def test_a_command_line_loads_the_command_that_it_names() -> None:
    loaded = "[n for n in sys.modules if n.startswith('agdbg.commands.') and '_parser' not in n]"
    code = f"import sys; from agdbg.cli import _parser; _parser(sys.argv[1:]); print(*sorted({loaded}))"
    found = {}
    for words in (["open", "here"], ["--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, timeout=60
        )
        found[words[0]] = set(done.stdout.split())
    assert "agdbg.commands.open" in found["open"] and "agdbg.commands.diff" not in found["open"]
    assert {"agdbg.commands.diff", "agdbg.commands.run"} <= found["--help"]


def test_only_the_adapters_bring_in_an_engine() -> None:
    modules = modules_of_the_debugger()
    assert "agdbg.cli" in modules
    assert not imported_by(*(name for name in modules if not name.startswith(ADAPTERS))) & OTHER_FLOORS


def test_the_terminal_ui_has_its_first_frame_without_numpy_and_lexers() -> None:
    assert not imported_by("agdbg_ui.app", "agdbg_ui.main") & {"agdbg_engine", "numpy", "scipy", "graphviz"}
