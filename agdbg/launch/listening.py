"""``agdbg.listen``: a hub for a program that runs already, in a process that nobody but the user has started.

The program keeps its terminal, its output and its exit status. It is recorded from here on, and stops where a client
of the hub wants it to; without a client it only records.
"""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agdbg.errors import InputError
from agdbg.extras import extras_of
from agdbg.hub.starting import HubAddress, start_hub
from agdbg.launch.isolation import Isolation
from agdbg.launch.recording import Recording, current
from agdbg.protocol.token import TOKEN_VARIABLE
from agdbg.tell import tell

_LOCAL = "127.0.0.1"


@dataclass(frozen=True)
class Listening:
    """Where a program can be reached.

    Attributes:
        address: ``host:port``; empty without a port.
        token: what clients must show there; clients of this user, at a socket, need none.
        path: of the socket that was asked for; empty: none was.
        id: by which ``agdbg attach`` on this machine knows it.
        trace: the directory of the trace.
    """

    address: str
    token: str
    path: str
    id: str
    trace: str
    _directory: str

    def wait(self) -> None:
        """Wait until a client has come and said all it has to say; a hub that is gone is not waited for."""
        from agdbg.agent.channel import Channel, HubGone

        try:
            channel = Channel(os.path.join(self._directory, "agent.sock"))
        except HubGone:
            return
        try:
            channel.send({"waits": {"pid": os.getpid()}})
            channel.receive()
        except HubGone:
            return
        finally:
            channel.close()


_there: dict[int, Listening] = {}


def listen(
    host: str = _LOCAL,
    port: int = 0,
    *,
    path: str | None = None,
    wait: bool = False,
    token: str | None = None,
    also: str | Iterable[str] = (),
) -> Listening:
    """Let a debugger join this program, from now on, and say on standard error how; the program goes on.

    A second call gives what the first one gave.

    Args:
        host, port: where to listen; port 0 takes a free one.
        path: a socket at this path, for this user alone, in place of a port; no token is needed there.
        wait: go on only when a client has come.
        token: what clients at the port must show; None: that in the environment variable AGDBG_TOKEN, or a new one,
            which is printed.
        also: what is recorded beside the graph, if the program is not recorded yet: ``"shapes"``, ``"values"``,
            ``"checksums"``, several of them, or ``"all"``.

    Raises:
        InputError: there is no such extra, the port or the path cannot be had, or no hub can be started here.
    """
    _refuse_port(port)
    found = _there.get(os.getpid())
    if found is not None:
        _say_where_instead(found, host, port, path)
    if found is None:
        recording = current() or _new_recording(extras_of(also if isinstance(also, str) else ",".join(also)))
        found = _there[os.getpid()] = start(recording, host, port, path=path, token=token, argv=[*sys.argv])
    if wait:
        tell("waiting for a client")
        found.wait()
    return found


def start(
    recording: Recording,
    host: str,
    port: int,
    *,
    path: str | None = None,
    token: str | None = None,
    argv: list[str],
    on_orphan: str = "continue",
) -> Listening:
    """Start a hub for this process, which ``recording`` records; see :func:`listen`.

    Args:
        argv: what the program is called in lists.
        on_orphan: what it does at a stop when the last client has gone: ``continue`` or ``wait``.

    Raises:
        InputError: the port or the path cannot be had, or no hub can be started here.
    """
    _refuse_port(port)
    if recording.watcher is not None:
        return _told(_watched_already(recording.watcher, str(recording.trace_directory())), given="")
    given = token if token is not None else os.environ.get(TOKEN_VARIABLE, "")
    trace = recording.trace_directory().absolute()
    adopted = {"pid": os.getpid(), "trace": str(trace), "argv": argv, "cwd": _cwd(), "onOrphan": on_orphan}
    where = ["--listen", _joined(host, port)] if path is None else ["--socket", os.path.abspath(path)]
    hub = start_hub([*where, "--adopt", json.dumps(adopted)], token=given)
    recording.obey(hub.directory)
    return _told(_listening(hub, path, trace), given)


def _refuse_port(port: object) -> None:
    """Refuse what is no port.

    Raises:
        InputError: it is none.
    """
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port < 1 << 16:
        raise InputError(f"port {port!r}: a port is a whole number from 0 to 65535; 0 takes any that is free")


def _say_where_instead(found: Listening, host: str, port: int, path: str | None) -> None:
    """A program listens at one place: say so when another one is asked for."""
    if path is not None:
        wanted, is_there = os.path.abspath(path), os.path.abspath(path) == found.path
    else:
        wanted, (_, _, its_port) = _joined(host, port), found.address.rpartition(":")
        its_host = found.address.removesuffix(f":{its_port}").strip("[]")
        is_there = port in (0, int(its_port or 0)) and host in (_LOCAL, its_host)
    if not is_there:
        there = found.address or found.path or f"the hub {found.id}"
        tell(f"agdbg.listen: {wanted} is not used: this program can be reached at {there} already")


def _listening(hub: HubAddress, path: str | None, trace: Path) -> Listening:
    name = os.path.basename(hub.directory)
    return Listening(
        hub.address, hub.token, "" if path is None else os.path.abspath(path), name, str(trace), hub.directory
    )


def _watched_already(directory: str, trace: str) -> Listening:
    return Listening("", "", "", os.path.basename(directory), trace, directory)


def _told(found: Listening, given: str) -> Listening:
    """Say how to reach the program; a token that was given is known already, and not shown."""
    if found.address:
        host, _, port = found.address.rpartition(":")
        at = f"--host {host.strip('[]')} --port {port}"
        tell(f"listening at {found.address}; the token is {'the one given' if given else found.token}")
        tell(
            f"join by agdbg attach {at} with the token in {TOKEN_VARIABLE}, or in a file that --token-file FILE names;"
            f" on this machine agdbg attach {found.id} needs none"
        )
    elif found.path:
        tell(f"listening at {found.path}; join by agdbg attach {found.path}")
    else:
        tell(f"this program is watched already; join by agdbg attach {found.id}")
    return found


def _new_recording(also: frozenset[str]) -> Recording:
    """A recording of a program that was not started by agdbg: it is named after its script, and is explained at its end.

    Raises:
        InputError: the process was forked from one that is recorded, and cannot be told from it.
    """
    from agdbg.launch import recording

    if recording._current:
        raise InputError(
            "agdbg.listen: this process was forked from one that is recorded; listen before it forks, or spawn"
        )
    made = Recording(Path(sys.argv[0] if sys.argv else "").stem or "python", also=also)
    made.start(Isolation(None, [*sys.path]))
    _note_uncaught(made)
    return made


def _note_uncaught(recording: Recording) -> None:
    """Keep the error that ends the program, as far as the interpreter tells of it; its status is known then."""
    before = sys.excepthook

    def noted(kind: type[BaseException], error: BaseException, trace: object) -> None:
        recording.outcome.failed(error)
        before(kind, error, trace)  # type: ignore[arg-type]  # as the interpreter gave it

    sys.excepthook = noted


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""
