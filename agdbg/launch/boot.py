"""A fresh interpreter that imports this very agdbg, wherever it lies, and nothing from the current directory."""

import subprocess
import sys
from pathlib import Path

import agdbg

#: The ``then`` of :func:`command` for one that goes on as the command line tool does.
CLI = "from agdbg.cli import main\nsys.exit(main())"

_TEXT = """\
import sys
{before}
sys.path[: not sys.flags.safe_path] = [{parent!r}]
import agdbg
if sys.flags.safe_path:
    del sys.path[0]
{then}"""


def command(then: str = CLI, *, before: str = "") -> list[str]:
    """The command of a Python that runs ``then``; the arguments that follow it are its ``sys.argv[1:]``.

    It has the flags of this interpreter.

    Args:
        then: statements; agdbg can be imported.
        before: statements that come first of all; nothing outside of ``sys.modules`` should be imported there.
    """
    text = _TEXT.format(parent=str(Path(agdbg.__file__).resolve().parents[1]), before=before, then=then)
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing uses it
    return [sys.executable, *flags, "-c", text]
