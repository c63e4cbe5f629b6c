"""Beginning and leaving: initialize, launch, attach, configurationDone, disconnect, terminate."""

import os
from pathlib import Path
from typing import Any

from agdbg.filters import CONDITION, FILTERS
from agdbg.hub.call import LATER, Body, Call, Refused, handles
from agdbg.hub.program import LaunchSpec
from agdbg.hub.session import Session
from agdbg.hub.tracedir import TraceDirectory
from agdbg.launch.program import Program as Target
from agdbg.protocol.messages import event
from agdbg.ranks import rank_in, with_rank

#: The size of the program's terminal when the client does not say.
_COLUMNS, _ROWS = 80, 24

CAPABILITIES: dict[str, Any] = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsDataBreakpoints": True,
    "supportsExceptionFilterOptions": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsSetVariable": True,
    "supportsSetExpression": True,
    "supportsRestartRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
    "supportsCancelRequest": True,
    "supportTerminateDebuggee": True,
    "supportsDelayedStackTraceLoading": True,
    "supportsSingleThreadExecutionRequests": True,
    "exceptionBreakpointFilters": [
        {
            "filter": name,
            "label": label,
            "description": description,
            "default": is_on,
            "supportsCondition": True,
            "conditionDescription": CONDITION,
        }
        for name, label, description, is_on in FILTERS
    ],
}


@handles("initialize")
def initialize(call: Call) -> Body:
    """Say what the hub can do."""
    if call.client.introduced:
        raise Refused("initialize: this client has sent it already")
    _refuse_counting(call.arguments)
    call.session.introduced(call.client)
    call.client.name = call.arguments.get("clientName") or call.arguments.get("clientID") or call.client.name
    call.client.hears_invalidated = bool(call.arguments.get("supportsInvalidatedEvent"))
    call.client.hears_progress = bool(call.arguments.get("supportsProgressReporting"))
    call.ok(CAPABILITIES)
    call.client.send(event(call.client.next_seq(), "initialized"))
    return None


@handles("launch")
def launch(call: Call) -> Body:
    """Get a program ready. All that can be wrong with the arguments is told now, not when it starts."""
    session, arguments = call.session, call.arguments
    _refuse_twice(call, "launch")
    if session.state:
        raise Refused(f"launch: this hub has {_what(session)} already; attach to join, or start another hub")
    cwd = _directory(arguments.get("cwd"))
    spec = LaunchSpec(
        **_target(arguments, cwd),
        args=arguments.get("args", []),
        cwd=str(cwd),
        env=arguments.get("env", {}),
        columns=arguments.get("columns", _COLUMNS),
        rows=arguments.get("rows", _ROWS),
        is_watched=not arguments.get("noDebug", False),
        also=arguments.get("also", []),
        echo=arguments.get("echo", True),
    )
    stem = with_rank(Target(spec.target, is_module=spec.is_module).name, spec.environment)
    trace = TraceDirectory.for_launch(cwd, stem, arguments.get("trace"))
    session.launch(spec, trace, arguments.get("onOrphan") == "wait")
    if arguments.get("stopOnEntry"):
        session.breakpoints.stop_on_entry()
    session.launcher = call.client
    call.client.joined = True
    if trace.why_here:
        call.note(trace.why_here, "important")
    return _begin_if_configured(call)


@handles("attach")
def attach(call: Call) -> Body:
    """Join what is here, or show a trace."""
    session, name = call.session, call.arguments.get("trace")
    _refuse_twice(call, "attach")
    if session.state:
        if name is not None and session.trace is not None and not _is_same(name, session.trace.path):
            raise Refused(f"attach: trace {name}: this hub has {_what(session)}; start another hub for that trace")
        call.client.joined = True
        return _begin_if_configured(call)
    if name is None:
        raise Refused("attach: nothing runs in this hub: name a trace, or launch a program")
    path = Path(os.path.abspath(name))
    meta = _meta_of(path)
    program = _table(meta.get("program"))
    argv, status = program.get("argv"), _table(meta.get("exit")).get("status")
    session.open_trace(
        TraceDirectory(path, is_ours=False),
        [str(word) for word in argv] if isinstance(argv, list) else [],
        str(program.get("cwd") or ""),
        rank_in(program),
    )
    session.recorded_exit = status if isinstance(status, int) else None
    call.client.joined = True
    return _begin_if_configured(call)


def _meta_of(path: Path) -> dict[str, Any]:
    """What a trace says of its program.

    Raises:
        Refused: it is no trace, or not one that this version reads.
    """
    from agdbg.record import Trace, TraceError

    try:
        return Trace.open(path).meta
    except (TraceError, ValueError) as error:
        raise Refused(f"attach: trace {error}; name the directory of a trace") from None


def _table(value: Any) -> dict[str, Any]:
    """``meta.json`` may hold anything; only an object is looked into."""
    return value if isinstance(value, dict) else {}


@handles("configurationDone")
def configuration_done(call: Call) -> Body:
    """All was said: begin, or do so once the client has launched or attached, which may come after this."""
    if not call.client.introduced:
        raise Refused("configurationDone: send initialize first")
    call.client.configured = True
    return _begin(call) if call.client.joined else None


def _begin_if_configured(call: Call) -> Body:
    return _begin(call) if call.client.configured else None


def _begin(call: Call) -> Body:
    """Start the program, or tell the client that has joined where all stands."""
    session = call.session
    if session.state == "waiting" and (session.launcher is call.client or session.launcher not in session.clients):
        session.start()
        return None
    call.ok()
    session.welcome(call.client)
    return None


@handles("disconnect")
def disconnect(call: Call) -> Body:
    """The client leaves; the program goes on unless it is to end."""
    if call.arguments.get("terminateDebuggee") and call.session.running is not None:
        call.session.running.end()
    call.ok()
    call.client.leave()
    return None


@handles("restart")
def restart(call: Call) -> Body:
    """Run the program anew; the answer comes when it has started."""

    def started(error: Exception | None) -> None:
        if error is None:
            call.ok()
        else:
            call.fail_with(error)

    call.session.restart(started)
    return LATER


@handles("terminate")
def terminate(call: Call) -> Body:
    """Ask the program to end; the second time it is not asked."""
    call.session.program()
    running = call.session.running
    assert running is not None
    if running.was_asked_to_end:
        running.kill()
    else:
        running.ask_to_end()
    return None


def _refuse_counting(arguments: dict[str, Any]) -> None:
    """Lines count from 1 and files go by their paths; a client that counts otherwise would stop at the wrong line.

    Raises:
        Refused: it does.
    """
    if arguments.get("linesStartAt1") is False:
        raise Refused("initialize: linesStartAt1 is false; lines count from 1 here")
    if arguments.get("pathFormat", "path") != "path":
        raise Refused(f"initialize: pathFormat is {arguments['pathFormat']!r}; files go by their paths here: path")


def _refuse_twice(call: Call, what: str) -> None:
    if call.client.joined:
        raise Refused(f"{what}: this client has launched or attached already; connect again for another")
    if not call.client.introduced:
        raise Refused(f"{what}: send initialize first")


def _what(session: Session) -> str:
    return f"the trace {session.trace.path}" if session.state == "trace" and session.trace else " ".join(session.argv)


def _is_same(name: str, path: Path) -> bool:
    try:
        return os.path.samefile(name, path)
    except (OSError, ValueError):
        return False


def _directory(name: str | None) -> Path:
    """The directory to start in.

    Raises:
        Refused: there is no such directory.
    """
    try:
        path = Path(name if name is not None else os.curdir).absolute()
    except OSError:
        raise Refused("launch: the directory in which the hub was started is gone; name a cwd") from None
    if not path.is_dir():
        raise Refused(f"launch: cwd {name}: there is no such directory; name another one")
    return path


def _target(arguments: dict[str, Any], cwd: Path) -> dict[str, Any]:
    """What to run.

    Raises:
        Refused: nothing, too much, or what is not there.
    """
    script, module = arguments.get("program"), arguments.get("module")
    if (script is None) == (module is None):
        both = "both program and module are given" if script is not None else "neither program nor module is given"
        raise Refused(f"launch: {both}; name the one to run")
    if module is not None:
        if not module:
            raise Refused('launch: module "": the name is empty; name a module as python -m takes it')
        return {"target": module, "is_module": True}
    if not script or "\0" in script or not (cwd / script).exists():
        raise Refused(f"launch: program {script!r}: there is no such file in {cwd}; name a script")
    return {"target": script, "is_module": False}
