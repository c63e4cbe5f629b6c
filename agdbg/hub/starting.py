"""Starting a hub, as a client does. The hub says in one line of JSON on its standard output where it listens."""

import json
import os
import select
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen
from time import monotonic
from typing import IO

from agdbg.errors import InputError
from agdbg.launch import boot
from agdbg.protocol.token import TOKEN_VARIABLE

#: How long a hub may take until it answers, in seconds: the disk may be slow and the machine busy.
PATIENCE_S = 30.0
_SHOWN = 2000  # characters of what a hub that failed has said
#: The hub is no child of its client, so that it is not left behind as a zombie; its session is a new one.
_DETACH = "import os\nif os.fork():\n    os._exit(0)"
#: The ends of pipes by which hubs that serve nothing yet learn that this process is no more.
_lifelines: list[int] = []
_HUB = "import runpy\nrunpy.run_module('agdbg.hub', run_name='__main__', alter_sys=True)"


class HubFailed(InputError):
    """The hub did not start; the message says why, with what the hub said on its standard error."""


@dataclass(frozen=True)
class HubAddress:
    """Where a hub listens, and its process number.

    Attributes:
        client_socket: for clients of this user.
        address, token: ``host:port`` for others, and what they must show; empty without a port.
    """

    client_socket: str
    pid: int
    address: str = ""
    token: str = ""

    @property
    def directory(self) -> str:
        """Its runtime directory, by whose name ``agdbg attach`` knows it."""
        return os.path.dirname(self.client_socket)


def start_hub(
    extra_args: Sequence[str] = (),
    *,
    patience: float = PATIENCE_S,
    command: Sequence[str] | None = None,
    token: str = "",
    pass_fds: Sequence[int] = (),
) -> HubAddress:
    """Start a hub, and wait until it listens. What it serves, it serves on when this process has ended.

    Args:
        extra_args: arguments of the hub.
        patience: how long to wait, in seconds.
        command: what to start instead of the hub.
        token: that it is to demand at its port; empty: it makes one.
        pass_fds: descriptors that it inherits.

    Raises:
        HubFailed: it ended, or did not answer in time, or answered something else.
    """
    words = list(command) if command is not None else boot.command(_HUB, before=_DETACH)
    with _scratch() as said, _lifeline() as theirs:
        try:
            child = Popen(
                [*words, *extra_args, "--lifeline", str(theirs)],
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=said,
                start_new_session=True,
                env={**os.environ, TOKEN_VARIABLE: token} if token else None,
                pass_fds=[*pass_fds, theirs],
            )
        except OSError as error:
            raise HubFailed(f"cannot start the hub of the debugger: {words[0]}: {error.strerror}") from None
        assert child.stdout is not None
        with child.stdout as answers:
            line = _first_line(answers.fileno(), monotonic() + patience)
            if line is None:
                _end_group(child.pid)
            child.wait()
        return _address(line, patience, said)


@contextmanager
def _lifeline() -> Iterator[int]:
    """The side for the hub of a pipe into which nothing is written; ours is closed when this process ends."""
    for fd in [fd for fd in _lifelines if _has_no_reader(fd)]:
        _lifelines.remove(fd)
        os.close(fd)
    theirs, ours = os.pipe()
    try:
        yield theirs
    except BaseException:
        os.close(ours)
        raise
    else:
        _lifelines.append(ours)
    finally:
        os.close(theirs)


def _has_no_reader(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, 0)
    return bool(poll.poll(0))


def _scratch() -> IO[bytes]:
    """A file for what a hub says on its standard error: in memory, since directories for temporary files may be full."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("agdbg-hub"), "w+b")
    return tempfile.TemporaryFile()


def _first_line(fd: int, deadline: float) -> bytes | None:
    """What comes until a line or the stream ends; None when that takes too long."""
    line = b""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    while not line.endswith(b"\n"):
        if not poll.poll(max(0.0, deadline - monotonic()) * 1000):
            return None
        data = os.read(fd, 4096)
        if not data:
            break
        line += data
    return line


def _end_group(group: int) -> None:
    """End a hub that does not answer: it is in the process group that its starter made."""
    from signal import SIGKILL

    try:
        os.killpg(group, SIGKILL)
    except ProcessLookupError:
        return


def _address(line: bytes | None, patience: float, said: IO[bytes]) -> HubAddress:
    """What a hub has announced.

    Raises:
        HubFailed: it has not.
    """
    if line is None:
        raise HubFailed(f"the hub of the debugger did not answer within {patience:g} s{_saying(said)}")
    if not line:
        raise HubFailed(f"the hub of the debugger ended before it could be reached{_saying(said)}")
    try:
        facts = json.loads(line)
        where = str(facts["client_socket"]), int(facts["pid"])
        return HubAddress(*where, str(facts.get("address", "")), str(facts.get("token", "")))
    except (ValueError, KeyError, TypeError):
        text = line.decode(errors="replace").strip()
        raise HubFailed(f"the hub of the debugger gave no address but {text[:200]!r}{_saying(said)}") from None


def _saying(said: IO[bytes]) -> str:
    """The end of what a hub wrote on its standard error, as the end of a message."""
    said.seek(0)
    text = said.read().decode(errors="replace").strip().removeprefix("agdbg: ")
    if not text:
        return f" and said nothing; try {os.path.basename(sys.executable)} -m agdbg.hub"
    return ":\n" + text[-_SHOWN:]
