"""A test that fails half way fails no other: what it could not close is collected with it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = """
import gc
import socket


def test_fails():
    unclosed = socket.socket()
    keeps = [unclosed]
    keeps.append(keeps)
    assert len(keeps) == 3


def test_collects():
    gc.collect()


def test_leaves_a_socket():
    socket.socket()
"""


def test_what_failed_fails_no_other(tmp_path):
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS)
    words = ["-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "--rootdir", ".", "-c", "/dev/null"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=120
    )
    failed = re.findall(r"^(?:FAILED|ERROR) \S*::(\w+)", done.stdout, re.M)
    assert failed == ["test_fails", "test_leaves_a_socket"], done.stdout
