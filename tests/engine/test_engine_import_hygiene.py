"""What `import agdbg_engine` must not bring in: the debugger, a terminal UI, another engine, a GPU."""

from __future__ import annotations

import json
import subprocess
import sys

SHOW_MODULES = "import json, sys, agdbg_engine; print(json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"
UNWANTED = {"agdbg", "agdbg_ui", "cupy", "torch", "textual", "rich", "graphviz", "scipy"}


def test_the_engine_comes_alone() -> None:
    done = subprocess.run([sys.executable, "-c", SHOW_MODULES], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout))
    assert "agdbg_engine" in loaded
    assert not loaded & UNWANTED


def test_the_import_leaves_the_garbage_collector_alone() -> None:
    code = "import gc; before = gc.get_threshold(); import agdbg_engine; assert gc.get_threshold() == before and gc.isenabled()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_functions_look_for_overriding_arguments_from_the_first_one_on() -> None:
    code = (
        "import agdbg_engine as ag; from agdbg_engine import overrides; ag.nn.Linear(1, 1); assert not overrides.seen; "
        "ag.nn.LazyLinear(1); assert overrides.seen"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
