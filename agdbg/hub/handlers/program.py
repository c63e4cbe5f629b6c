"""The program itself: its threads, its terminal, how it is."""

import math
import os
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from agdbg.hub.call import Body, Call, Refused, handles
from agdbg.hub.output import OutputLog
from agdbg.hub.session import Session
from agdbg.launch.place import TRACE_FILES
from agdbg.record.metafile import read_meta


@handles("threads")
def threads(call: Call) -> Body:
    """Those that have run a backward pass. After the end, one stands for the recording."""
    return {"threads": [{"id": number, "name": name} for number, name, _ in _threads(call.session)]}


@handles("agdbg/status")
def status(call: Call) -> Body:
    """How the program is."""
    session = call.session
    running = session.running
    return {
        "state": session.state or "waiting",
        "pid": running.program.pid if running is not None and running.is_alive else None,
        "trace": str(session.trace.path) if session.trace is not None else "",
        "idle": _idle(session),
        "argv": session.argv,
        "exit": running.exit.status if running is not None else session.recorded_exit,
        "signal": running.exit.signal if running is not None else None,
        "threads": [{"id": number, "name": name, "stopped": stopped} for number, name, stopped in _threads(session)],
        "awaitsInput": session.awaits_input,
        "rank": "" if session.rank is None else session.rank.told,
        "runs": session.runs if session.state == "running" else "",
        "troubles": session.troubles,
    }


def _threads(session: Session) -> list[tuple[int, str, bool]]:
    if session.state in ("trace", "ended"):
        return [(1 if session.stops.cursor is None else session.stops.cursor.thread, "the recording", True)]
    return [(thread.number, thread.name, thread.stop is not None) for thread in session.stops.threads]


def _idle(session: Session) -> float:
    """Seconds since the last record; 0 when there is none."""
    if session.trace is None:
        return 0.0
    try:
        written = os.stat(session.trace.path / TRACE_FILES[0]).st_mtime
    except OSError:
        return 0.0
    return max(time.time() - written, 0.0)


@handles("agdbg/processes")
def processes(call: Call) -> Body:
    """The processes of a parallel program."""
    from agdbg.hub.place import running
    from agdbg.hub.processes import Here, processes

    session = call.session
    program = session.running.program if session.running is not None and session.running.is_alive else None
    trace = session.trace.path if session.trace is not None else None
    here = Here(
        session.rank,
        session.argv,
        session.cwd,
        None if program is None else program.pid,
        trace,
        bool(session.stops.threads.stopped),
    )
    return {"processes": processes(here, running() if session.rank is not None else ())}


@handles("agdbg/output")
def output(call: Call) -> Body:
    """A piece of what the program has printed."""
    outlet = call.session.outlet
    if outlet is None:
        raise Refused("agdbg/output: there is no program here, so nothing was printed: launch one")
    log: OutputLog | None = call.session.printed_before if call.arguments.get("before") else outlet.log
    if log is None:
        raise Refused("agdbg/output: the program was not started anew, so there is no run before")
    start, text, end = log.text(call.arguments["start"], call.arguments["length"])
    return {"start": start, "end": end, "total": log.size, "text": text, "kept": call.session.keeps_output}


@handles("agdbg/input")
def type_input(call: Call) -> Body:
    """Type into the program's terminal."""
    call.session.program()
    assert call.session.running is not None
    call.session.running.send(call.arguments["text"].encode(errors="replace"))
    if call.arguments.get("end"):
        call.session.running.end_input()
    return None


@handles("agdbg/resize")
def resize(call: Call) -> Body:
    """Give the program's terminal another size."""
    call.session.program().resize(call.arguments["columns"], call.arguments["rows"])
    return None


@handles("source")
def source(call: Call) -> Body:
    """The text of a source file."""
    arguments: dict[str, Any] = call.arguments
    path = (arguments.get("source") or {}).get("path", "")
    if not path:
        number = arguments["sourceReference"]
        raise Refused(f"source: sourceReference {number} was never given; name the file as source.path")
    session = call.session
    trace = session.trace.path if session.trace is not None else None
    return call.work(session.worker, lambda: _text_of(path, trace))


#: A source file may have so many bytes.
_LONGEST = 8 << 20


#: The beginning of a program is recorded in whole seconds.
_SECONDS_OF_DOUBT = 1.0


def _text_of(path: str, trace: Path | None) -> dict[str, Any]:
    file = Path(path)
    try:
        if not file.is_absolute() or not file.is_file():
            raise Refused(f"source: {path}: there is no such file; name one from the root")
        if file.stat().st_size > _LONGEST:
            raise Refused(f"source: {path}: it has more than {_LONGEST:,} bytes; open it in an editor")
        import tokenize

        with tokenize.open(path) as stream:
            content = stream.read()
        changed = trace is not None and file.stat().st_mtime >= _begun(trace) + _SECONDS_OF_DOUBT
        return {"content": content, "mimeType": "text/x-python", "changed": changed}
    except (OSError, SyntaxError, ValueError) as error:
        raise Refused(f"source: {path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _begun(trace: Path) -> float:
    """When the program of a trace began, in seconds since the epoch; later than all where that is not known."""
    program = read_meta(trace)[0].get("program")
    try:
        return datetime.fromisoformat(str(program["started"])).timestamp() if isinstance(program, dict) else math.inf
    except (KeyError, ValueError):
        return math.inf
