"""``agdbg export``: write the graph of a trace, or of a script that is run first, to a file."""

import shutil
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agdbg import status
from agdbg.commands import signals
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json
from agdbg.counted import counted
from agdbg.errors import InputError
from agdbg.tell import tell

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from agdbg.graph.model import Graph

DESCRIPTION = """\
Write the graph of a trace to a file. A script is run first, headless and recorded; the
graph is written even if the script fails, and the exit status tells whether it was written."""


def configure(commands: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help="write a graph as SVG, DOT, JSON or text",
        description=DESCRIPTION,
        usage="agdbg export (SCRIPT | TRACE) -o FILE [options] [-- ARG ...]",
        **common,
    )
    parser.add_argument("target", metavar="SCRIPT|TRACE", help="a script to run, or the directory of a trace")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file; - is standard output")
    parser.add_argument("--format", metavar="SUFFIX", help="svg, dot, json, txt (default: the suffix of FILE)")
    parser.add_argument("--pass", dest="pass_id", type=_pass_number, metavar="N|all", help="which backward pass")
    parser.add_argument("--full", action="store_true", help="fold nothing, however big the graph is")
    parser.add_argument(
        "--collapse", type=_collapsing, metavar="module[:N]",
        help="one box for each module; with N for those of at most N parts in their path, with all in them",
    )  # fmt: skip
    parser.add_argument("--shapes", action="store_true", help="record the shapes of the script, to be shown in boxes")
    parser.add_argument("--trace", metavar="DIR", help="keep the script's trace here")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="what is for the script goes behind --")


def execute(options: Namespace) -> int:
    """Write the graph."""
    from agdbg.commands.destination import Destination
    from agdbg.render import UnknownSuffix, renderer_for

    destination = Destination(options.output)
    if destination.is_stdout and options.json:
        raise InputError("-o - and --json both want standard output; drop one of them")
    if destination.is_stdout and not options.format:
        raise InputError("-o -: standard output has no suffix; add --format svg, dot, json or txt")
    try:
        renderer = renderer_for(f"graph.{options.format}" if options.format else options.output)
    except UnknownSuffix as error:
        raise InputError(str(error)) from None
    destination.check()
    with signals.raised(), _trace_of(options) as (trace, script_status):
        graph = _graph(trace, options)
    destination.write(renderer.render(graph))
    if options.json:
        print_json(_summary(options, graph, script_status))
    elif not destination.is_stdout:
        tell(f"wrote {options.output}: {counted(graph.size, 'node')}")
    return status.OK


def _collapsing(word: str) -> int:
    """The depth of ``module:N``, 0 for ``module``."""
    what, colon, depth = word.partition(":")
    if what != "module" or (colon and (not depth.isdecimal() or int(depth) < 1)):
        raise ArgumentTypeError(f"{word!r} is neither 'module' nor 'module:N' with N from 1")
    return int(depth or 0)


def _pass_number(word: str) -> int | Literal["all"]:
    if word == "all":
        return "all"
    if not word.isdecimal() or int(word) < 1:
        raise ArgumentTypeError(f"{word!r} is neither a pass number (1, 2, ...) nor 'all'")
    return int(word)


@contextmanager
def _trace_of(options: Namespace) -> Iterator[tuple[Path, int | None]]:
    """The trace to draw, and the exit status of the script when one was run for it."""
    from agdbg.launch import place

    target = Path(options.target)
    if target.is_dir() and place.holds_trace(target):
        if options.program_args or options.trace or options.shapes:
            what = "--trace" if options.trace else "--shapes" if options.shapes else "arguments after --"
            raise InputError(f"{target} is a trace, which needs no {what}: they are for a script")
        yield target, None
        return
    _check_script(target)
    keep = options.trace is not None
    directory = place.named(options.trace) if keep else Path(tempfile.mkdtemp(prefix="agdbg-export-"))
    try:
        yield directory, _run(options, directory)
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


def _check_script(target: Path) -> None:
    if not target.exists():
        raise InputError(f"{target} does not exist: name a script, or the directory of a trace")
    if target.is_dir() and not (target / "__main__.py").exists():
        from agdbg.record.there import newest_in

        newest = newest_in(target)
        other = "" if newest is None else f"; it holds traces, of which the newest is {newest}"
        raise InputError(f"{target} is a directory with neither a trace nor a __main__.py in it{other}")


def _run(options: Namespace, directory: Path) -> int:
    """Run the script; it may fail, as long as it recorded something."""
    from agdbg.launch import place
    from agdbg.launch.subrun import how_it_ended, run_recorded

    to_stderr = options.output == "-" or options.json
    code = run_recorded(
        [options.target, *options.program_args],
        directory,
        output_to_stderr=to_stderr,
        mention_trace=options.trace is not None,
        options=["--also", "shapes"] if options.shapes else [],
    )
    if not place.holds_trace(directory):
        raise InputError(f"{options.target} {how_it_ended(code)} and recorded no graph: nothing to export")
    if code:
        tell(f"{options.target} {how_it_ended(code)}; what it recorded is exported all the same")
    return code


def _graph(directory: Path, options: Namespace) -> "Graph":
    from agdbg.commands.opening import opened
    from agdbg.graph.by_module import fold_modules
    from agdbg.graph.collapse import collapse
    from agdbg.graph.from_trace import graph_of
    from agdbg.record import Facts

    facts = Facts(opened(str(directory)))
    if not len(facts.node_ids):
        raise InputError(f"{options.target}: no graph was recorded, so there is nothing to export")
    try:
        graph = graph_of(facts, options.pass_id)
    except ValueError as error:
        raise InputError(f"--pass {options.pass_id}: {error}") from None
    if options.collapse is not None:
        graph = fold_modules(graph, options.collapse or None)
    return collapse(graph, full=options.full)


def _summary(options: Namespace, graph: "Graph", script_status: int | None) -> dict[str, object]:
    return {
        "output": options.output,
        "title": graph.title,
        "nodes": graph.size,
        "notes": graph.notes,
        "script_status": script_status,
    }
