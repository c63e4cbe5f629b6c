"""``agdbg trace report``: the hooks, the views or the memory of a trace."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agdbg import status
from agdbg.commands.guard import guarded
from agdbg.commands.output import print_json, print_text

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from agdbg.record import Facts

_FORMAT = "agdbg-report"
_VERSION = 1


def configure(actions: "_SubParsersAction[ArgumentParser]", common: dict[str, Any]) -> None:
    """Add the command to those of ``agdbg trace``."""
    parser = actions.add_parser(
        "report",
        help="the hooks, the views or the memory of a trace",
        description="Report on the hooks of a trace and the order in which they fire, on views and what they share, or on the "
        "memory that saved tensors hold.",
        **common,
    )
    parser.add_argument(
        "what", choices=("hooks", "views", "memory"), metavar="hooks|views|memory", help="what to report on"
    )
    parser.add_argument("trace", metavar="TRACE", help="the directory of a trace")
    parser.add_argument(
        "--of", metavar="NAME", default="", help="views: only of the tensors with this name, or this storage number"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(execute=guarded(execute), parser=parser, hint="")


def execute(options: Namespace) -> int:
    """Print the report."""
    from agdbg.commands.opening import opened
    from agdbg.record import Facts

    facts = Facts(opened(options.trace))
    made, text = _views(facts, options.of) if options.what == "views" else _report(facts, options.what)
    if options.json:
        print_json({"format": _FORMAT, "version": _VERSION, "report": options.what, options.what: made})
    else:
        print_text(text.rstrip("\n"))
    return status.OK


def _report(facts: "Facts", what: str) -> tuple[Any, str]:
    if what == "hooks":
        from agdbg.report import hooks

        told = hooks.hook_report(facts)
        return asdict(told), hooks.as_text(told)
    from agdbg.report import memory

    held = memory.memory_report(facts)
    return asdict(held), memory.as_text(held)


def _views(facts: "Facts", of: str) -> tuple[Any, str]:
    from agdbg.report import views

    if of:
        wanted = {int(of)} if of.isdecimal() else {each.storage for each in facts.tensors if each.name == of}
        told = [views.view_report(facts, storage) for storage in sorted(wanted)]
    else:
        told = views.view_reports(facts)
    return [asdict(each) for each in told], views.as_text(told)
