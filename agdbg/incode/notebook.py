"""The IPython extension: ``%load_ext agdbg``, then ``%%agdbg`` records a cell and shows what agdbg has found in it.

IPython is not needed by agdbg: this module is imported by IPython's own ``%load_ext``.
"""

import shlex
import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

_USAGE = "%%agdbg [--also EXTRAS] [--trace DIR] [--lint] [--no-graph]"


def load_ipython_extension(shell: Any) -> None:
    """Give a shell the cell magic."""
    shell.register_magic_function(lambda line, cell: run_cell(shell, line, cell), "cell", "agdbg")


class _Parser(ArgumentParser):
    """A parser that raises :class:`ValueError` where others end the process."""

    def error(self, message: str) -> Any:
        raise ValueError(f"{message}\nusage: {_USAGE}")


def _parsed(line: str) -> Namespace:
    parser = _Parser(prog="%%agdbg", add_help=False, allow_abbrev=False)
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--trace")
    parser.add_argument("--lint", action="store_true")
    parser.add_argument("--no-graph", action="store_true")
    return parser.parse_args(shlex.split(line))


def run_cell(shell: Any, line: str, cell: str) -> None:
    """Record a cell, say what was found, and show the graph of the pass that failed, or else of the last.

    Raises:
        ValueError: an option that there is not.
        TraceError: the trace cannot be written where it should.
    """
    from agdbg.incode.recording import record

    options = _parsed(line)
    folder = None if options.trace else tempfile.mkdtemp(prefix="agdbg-cell-")
    try:
        with record(options.trace or Path(str(folder)) / "trace", also=options.also) as recorded:
            result = shell.run_cell(cell, store_history=False)
        _show(recorded, result, options)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _show(recorded: Any, result: Any, options: Namespace) -> None:
    from agdbg.incode.explaining import explain

    error = result.error_before_exec or result.error_in_exec
    found = recorded.findings(lints=options.lint)
    told = explain(error) if error is not None and not found else found
    print(told, file=sys.stdout)
    if options.trace and recorded.path.exists():
        print(f"trace: {recorded.path}")
    if not options.no_graph and recorded.path.exists() and len(recorded.facts().node_ids):
        import_module("IPython.display").display(recorded.graph())
