"""The training scripts of `examples/` as modules, with the engine or with torch behind their imports."""

import contextlib
import importlib.util
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("train_*.py"))
PARTS = ("nn", "nn.functional", "optim", "autograd")  # what a script may import from


@contextlib.contextmanager
def default_dtype(library, name):
    before = library.get_default_dtype()
    library.set_default_dtype(getattr(library, name))
    try:
        yield
    finally:
        library.set_default_dtype(before)


def load(name, library):
    """An example as a module; its imports from `agdbg_engine` find `library` instead."""
    spec = importlib.util.spec_from_file_location(f"{name}_of_{library.__name__}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        patch.setitem(sys.modules, "agdbg_engine", library)
        for part in PARTS:
            patch.setitem(sys.modules, f"agdbg_engine.{part}", importlib.import_module(f"{library.__name__}.{part}"))
        spec.loader.exec_module(module)
    assert module.torch is library
    assert module.nn is library.nn
    return module
