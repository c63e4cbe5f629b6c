"""Writes engine/agdbg_engine/ops/_generated.py from the op table; ``--check`` only tells whether it is stale.

Loads the table without importing the engine, which could not be imported while the generated file is missing or broken.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path

ENGINE = Path(__file__).resolve().parent.parent / "engine" / "agdbg_engine"


def _bare_package(name: str, path: Path) -> None:
    package = types.ModuleType(name)
    package.__path__ = [str(path)]
    sys.modules[name] = package


_bare_package("agdbg_engine", ENGINE)
_bare_package("agdbg_engine.ops", ENGINE / "ops")

from agdbg_engine.ops.generate import main  # noqa: E402 - after the bare packages are there

sys.exit(main(sys.argv[1:]))
