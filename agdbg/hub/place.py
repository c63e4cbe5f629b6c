"""Where a hub has its sockets: a directory that only its user can enter.

Whoever can write to ``client.sock`` can evaluate code in the program, so the directory is not taken on trust: in a
temporary directory that all users share, somebody else may have made one of its name before.
"""

import fcntl
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from agdbg.errors import InputError
from agdbg.ranks import Rank, rank_in

#: The longest path of a Unix socket in bytes: Linux has 108, and the last is a NUL.
SOCKET_PATH_LIMIT = 107
#: The longest name below the base: seven digits of a process number, a suffix, and the socket's own name.
_BELOW = len("/4194304-99/client.sock")
#: Bytes that must be free: the control block, the log and the beginning of what the program prints.
_ROOM = 1 << 20
_FACTS = "hub.json"


@dataclass(frozen=True)
class HubInfo:
    """A living hub, as its ``hub.json`` tells of it.

    Attributes:
        directory: its runtime directory.
        pid: its process number.
        argv, cwd, trace: the program's; empty until it was launched.
        started: when, in seconds since the epoch.
        program: the process number of the program; 0 until it was started, and of a trace.
        rank: which process of a parallel program it is; None: its launcher names none.
        stopped: whether a thread of that program stands, as it was a moment ago; told of ranks only.
    """

    directory: Path
    pid: int
    argv: list[str]
    cwd: str
    trace: str
    started: float
    program: int = 0
    rank: Rank | None = None
    stopped: bool = False

    @property
    def client_socket(self) -> Path:
        """Where the hub listens for clients."""
        return self.directory / "client.sock"


class Runtime:
    """The runtime directory of this process, a hub. It is locked as long as the process lives."""

    def __init__(self, directory: Path, lock: int) -> None:
        self.directory = directory
        self.client_socket = directory / "client.sock"
        self.agent_socket = directory / "agent.sock"
        self.control = directory / "control"
        self._facts: dict[str, object] = {"pid": os.getpid()}
        self._pid = os.getpid()
        self._lock = lock

    @classmethod
    def create(cls) -> "Runtime":
        """Make the directory, and sweep away those of dead hubs.

        Raises:
            InputError: there is no place for it that is ours alone and has a short enough path.
        """
        base = _usable_base()
        with _locked(base):
            _sweep(base)
            for number in count():
                directory = base / (str(os.getpid()) + (f"-{number}" if number else ""))
                try:
                    directory.mkdir(0o700)
                except FileExistsError:  # of a living hub with our number in another container
                    continue
                return cls(directory, _lock_of(directory, wait=True))
        raise AssertionError("unreachable: count() does not end")

    def describe(self, **facts: object) -> None:
        """Tell in ``hub.json`` what :func:`running` shows; facts told before stay. Readers see all or nothing."""
        self._facts.update(facts)
        new = self.directory / f"{_FACTS}.new"
        new.write_text(json.dumps(self._facts), encoding="utf-8")
        new.replace(self.directory / _FACTS)

    def remove(self) -> None:
        """Remove the directory; a forked child of the hub leaves it alone. May be called again."""
        if self._lock < 0:
            return
        if os.getpid() == self._pid:
            shutil.rmtree(self.directory, ignore_errors=True)
        os.close(self._lock)
        self._lock = -1


def running() -> list[HubInfo]:
    """The living hubs of this user, the youngest first. What dead ones have left is swept away."""
    found: list[HubInfo] = []
    for base in _bases():
        if base.is_dir() and not _objection(base):
            with _locked(base):
                _sweep(base)
                found += [info for info in map(_info, base.iterdir()) if info is not None]
    return sorted(found, key=lambda info: info.started, reverse=True)


def _bases() -> list[Path]:
    """Where runtime directories may lie, the preferred place first."""
    name = f"agdbg-{os.geteuid()}"
    places = [Path("/tmp") / name]
    with suppress(OSError):  # there may be no directory for temporary files that can be written to
        places.insert(0, Path(tempfile.gettempdir()).absolute() / name)
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(session) and _is_own(session):  # after `su` it may still be the former user's
        places.insert(0, Path(session) / "agdbg")
    return list(dict.fromkeys(places))


def _is_own(directory: str) -> bool:
    try:
        return os.stat(directory).st_uid == os.geteuid()
    except OSError:
        return False


def _usable_base() -> Path:
    """The first place that can be used, made when it was not there.

    Raises:
        InputError: there is none; the message says why.
    """
    reasons = []
    for base in _bases():
        reason = _unfitness(base)
        if not reason:
            return base
        reasons.append(f"{base}: {reason}")
    raise InputError(
        f"no directory for the sockets of the debugger ({'; '.join(reasons)}): "
        "set XDG_RUNTIME_DIR to a directory of your own with room and a short path, or run with --headless, which needs none"
    )


def _unfitness(base: Path) -> str:
    """Why the hub cannot use ``base``, which is made if need be; empty when it can."""
    if len(os.fsencode(base)) + _BELOW > SOCKET_PATH_LIMIT:
        return f"its path is too long for a Unix socket, which may have {SOCKET_PATH_LIMIT} bytes with its name"
    try:
        base.mkdir(0o700)
    except FileExistsError:
        objection = _objection(base)
        if objection:
            return objection
    except OSError as error:
        return f"cannot be made ({error.strerror})"
    return _lack_of_room(base)


def _lack_of_room(base: Path) -> str:
    """Why files cannot be written below ``base``; empty when they can."""
    try:
        found = os.statvfs(base)
    except OSError as error:
        return f"cannot be looked at ({error.strerror})"
    if found.f_flag & os.ST_RDONLY:
        return "it is on a file system that can only be read"
    return (
        ""
        if found.f_bavail * found.f_frsize >= _ROOM
        else f"no room there: {found.f_bavail * found.f_frsize:,} bytes are free"
    )


def _objection(base: Path) -> str:
    """Why ``base``, which is there, must not be trusted; empty when it may."""
    status = os.lstat(base)
    if stat.S_ISLNK(status.st_mode):
        return "it is a symbolic link; remove it"
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a directory; remove it"
    if status.st_uid != os.geteuid():
        return f"it belongs to another user (uid {status.st_uid})"
    if status.st_mode & 0o077:
        return f"others have access to it (mode {stat.S_IMODE(status.st_mode):04o}); chmod 0700, if it is yours"
    return ""


def _sweep(base: Path) -> None:
    """Remove the directories that no living process holds. The caller holds the lock of ``base``."""
    for directory in base.iterdir():
        lock = _lock_of(directory, wait=False)
        if lock >= 0:
            shutil.rmtree(directory, ignore_errors=True)
            os.close(lock)


def _info(directory: Path) -> HubInfo | None:
    """What a hub tells of itself; None when it has not told yet."""
    try:
        facts = json.loads((directory / _FACTS).read_text(encoding="utf-8"))
        argv = [str(word) for word in facts.get("argv") or []]
        cwd, trace = str(facts.get("cwd") or ""), str(facts.get("trace") or "")
        started, program = float(facts.get("started") or 0), int(facts.get("program") or 0)
        stopped = facts.get("stopped") is True
        return HubInfo(directory, int(facts["pid"]), argv, cwd, trace, started, program, rank_in(facts), stopped)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


@contextmanager
def _locked(base: Path) -> Iterator[None]:
    """Keep other processes from making or sweeping directories below ``base``."""
    lock = _lock_of(base, wait=True)
    try:
        yield
    finally:
        if lock >= 0:
            os.close(lock)


def _lock_of(directory: Path, *, wait: bool) -> int:
    """Lock a directory; the lock ends with the descriptor returned. -1: it is another's, or no directory."""
    try:
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(fd)
        return -1
    return fd
