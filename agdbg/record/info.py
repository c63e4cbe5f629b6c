"""What ``agdbg trace info`` says about a trace: a plain dict for ``--json``, and the same as text."""

from pathlib import Path
from typing import Any

from agdbg.events import Kind
from agdbg.record.children import Children, children_of
from agdbg.record.ending import ending_of
from agdbg.record.lookup import Site
from agdbg.record.query import ErrorFact, Facts
from agdbg.record.reader import Trace
from agdbg.record.stopped import stopped_in
from agdbg.sizes import size

#: Errors and problems that the text names one by one.
SHOWN = 10


def summary(trace: Trace) -> dict[str, Any]:
    """Summarise a trace in values that JSON knows; sizes in bytes, times in nanoseconds.

    ``records`` counts the records of known kinds, ``duration_ns`` is when the last batch was written.
    """
    facts = Facts(trace)
    passes = [found.outcome for found in facts.passes]
    clocks = facts.rows(Kind.CLOCK)
    ending = ending_of(trace)
    return {
        "path": str(trace.path),
        "program": trace.meta.get("program", {}),
        "engine": trace.meta.get("engine", {}),
        "sees": trace.meta.get("sees", {}),
        "closed": trace.closed,
        "state": ending.state,
        "ending": str(ending),
        "exit": trace.meta.get("exit", {}),
        "duration_ns": facts.words(int(clocks[-1]))[2] if len(clocks) else 0,
        "records": {kind.name.lower(): len(facts.rows(kind)) for kind in Kind if len(facts.rows(kind))},
        "nodes": len(facts.node_ids),
        "passes": {outcome: passes.count(outcome) for outcome in ("ok", "error", "unfinished")},
        "errors": [_error(error) for error in facts.errors],
        "problems": [*trace.problems, *stopped_in(trace.path).problems],
        "bytes": size_on_disk(trace.path),
        "output": _output(trace),
        "children": children_of(trace.path)._asdict(),
    }


def _output(trace: Trace) -> dict[str, Any] | None:
    """The file with what the program has printed, and its size; None when there is none."""
    name = _table(trace.meta.get("program")).get("output")
    file = trace.path / Path(name).name if isinstance(name, str) and "\0" not in name else trace.path
    return {"file": file.name, "bytes": file.stat().st_size} if file.is_file() else None


def _error(error: ErrorFact) -> dict[str, Any]:
    return {"kind": error.kind, "node": error.node, "site": _place(error.site), "text": error.text}


def _place(site: Site) -> str:
    return f"{site.file}:{site.line}" if site.line else site.file


def size_on_disk(directory: Path) -> int:
    """The bytes of all files of a trace, captured values included."""
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


def render(info: dict[str, Any]) -> str:
    """Render a :func:`summary` as text, one fact a line."""
    program, engine = _table(info["program"]), _table(info["engine"])
    counts = info["records"]
    lines = [
        f"trace    {info['path']}  ({size(info['bytes'])}, {_state(info)})",
        f"program  {' '.join(map(str, program.get('argv') or ['unknown']))}",
        *([f"output   {info['output']['file']}  ({size(info['output']['bytes'])})"] if info["output"] else []),
        f"started  {program.get('started', 'unknown')}, recorded for {info['duration_ns'] / 1e9:.3f} s",
        f"engine   {engine.get('name', 'unknown')} {engine.get('version', '')}".rstrip(),
        f"records  {sum(counts.values()):,}: " + ", ".join(f"{n:,} {kind}" for kind, n in counts.items()),
        f"nodes    {info['nodes']:,}",
        "passes   " + ", ".join(f"{n:,} {outcome}" for outcome, n in info["passes"].items()),
        *_listed("errors", [_error_line(error) for error in info["errors"]]),
        *_listed("problems", info["problems"]),
        *([f"ending   {info['ending']}"] if info["ending"] else []),
        *([f"children {Children(**info['children'])}"] if any(info["children"].values()) else []),
    ]
    return "\n".join(lines) + "\n"


def _table(value: Any) -> dict[str, Any]:
    """``meta.json`` may hold anything; only an object is looked into."""
    return value if isinstance(value, dict) else {}


def _state(info: dict[str, Any]) -> str:
    return {"unknown": "not closed"}.get(info["state"], str(info["state"]))


def _error_line(error: dict[str, Any]) -> str:
    first = (error["text"].splitlines() or [""])[0]
    where = f" at {error['site']}" if error["site"] else ""
    return f"{error['kind']}{where}: {first}"


def _listed(title: str, lines: list[str]) -> list[str]:
    more = [f"... and {len(lines) - SHOWN:,} more"] if len(lines) > SHOWN else []
    return [f"{title:<8} {len(lines):,}", *(f"         {line}" for line in lines[:SHOWN] + more)]
