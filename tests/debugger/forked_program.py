"""The program of a hub that was forked, too: of a process that had imported the engine and agdbg before, which is most of a start.

To the program it is as if it had been started anew: its ``__main__``, its streams, its terminal, its environment, and the import
of the engine, of which agdbg hears as ever. Whatever cannot be had that way is started in earnest, and how agdbg starts programs
is tested elsewhere.
"""

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
from importlib import import_module

_LIMIT = 1 << 20  # bytes of a command and its environment
_ENGINE = "agdbg_engine"
#: What a program that stops imports of agdbg; each brings others.
_OF_A_PROGRAM = (
    f"{_ENGINE}.signatures._generated",
    "agdbg.cli",
    "agdbg.commands.run",
    "agdbg.launch.terminal",
    "agdbg.launch.program",
    "agdbg.launch.recording",
    "agdbg.record",
    "agdbg.agent.agent",
    "agdbg.engines.native",
    "encodings.ascii",
)


class Imported:
    """A finder of an engine that was imported already, and put aside: who imports it gets it as it was."""

    def __init__(self):
        for name in (_ENGINE, *_OF_A_PROGRAM):
            import_module(name)
        names = [name for name in sys.modules if name.partition(".")[0] == _ENGINE]
        self._modules = {name: sys.modules.pop(name) for name in names}

    def find_spec(self, name, path=None, target=None):
        if name != _ENGINE or self not in sys.meta_path:
            return None
        spec = self._modules[name].__spec__
        return importlib.util.spec_from_file_location(
            name, spec.origin, loader=self, submodule_search_locations=spec.submodule_search_locations
        )

    def create_module(self, spec):
        module = self._modules[spec.name]
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        sys.meta_path.remove(self)
        module.__spec__, module.__loader__ = self._spec, self._spec.loader
        sys.modules.update(self._modules)


class Waiting:
    """A process that waits to become a program: a child of this one, which is that of a hub."""

    def __init__(self, imported):
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pid = os.fork()
        if self._pid == 0:
            self._ours.close()
            raise Becoming(theirs, imported)
        theirs.close()

    def instead_of(self, spawned):
        """The function with which a hub starts a program: of the first one this process is made, if it can be."""

        def start(command, spec, terminal):
            waiting, self._ours = self._ours, None
            if waiting is None:
                return spawned(command, spec, terminal)
            with waiting:
                if not _is_ordinary(command, spec.environment):
                    return spawned(command, spec, terminal)
                wanted = {"command": command, "directory": spec.cwd, "environment": spec.environment}
                try:
                    socket.send_fds(waiting, [json.dumps(wanted).encode()], [terminal])
                    answer = waiting.recv(1)
                except OSError:  # it is too much, say
                    answer = b""
            return Forked(self._pid) if answer else spawned(command, spec, terminal)

        return start


class Forked:
    """As much of a ``Popen`` as a hub asks."""

    def __init__(self, pid):
        self.pid = pid
        self.returncode = None

    def poll(self):
        return self._waited(os.WNOHANG)

    def wait(self):
        return self._waited(0)

    def _waited(self, how):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, how)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _is_ordinary(command, environment):
    """Whether a fresh Python would begin as this one did."""
    own = {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "LC_", "LANG"))}
    same = {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LC_", "LANG"))} == own
    flags = subprocess._args_from_interpreter_flags()
    return same and command[: 2 + len(flags)] == [sys.executable, *flags, "-c"]


class Becoming(Exception):
    """Raised in the process that waits, as far down as can be: nothing of what forked it is to be on its stack."""

    def __init__(self, wants, imported):
        self._wants, self._imported = wants, imported

    def become(self):
        """Wait, and be the program that is wanted; its code is returned, which whoever is lowest on the stack is to run."""
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with self._wants as wants:
            request, descriptors, _, _ = socket.recv_fds(wants, _LIMIT, 1)
            if not request:
                os._exit(0)
            wanted = json.loads(request)
            (terminal,) = descriptors
            if wanted["directory"] is not None:
                os.chdir(wanted["directory"])
            for number in range(3):
                os.dup2(terminal, number)
            os.close(terminal)
            wants.send(b"+")
        os.environ.clear()
        os.environ.update(wanted["environment"])
        code, arguments = _divided(wanted["command"])
        sys.argv[:] = arguments
        sys.orig_argv[:] = wanted["command"]
        sys.meta_path.insert(0, self._imported)
        open_streams()
        return code


def _divided(command):
    at = command.index("-c")
    return command[at + 1], ["-c", *command[at + 2 :]]


def open_streams():
    """The streams of a Python that begins."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        former = getattr(sys, name)
        stream = open(  # noqa: SIM115 - it is open as long as the program runs
            number,
            "w" if number else "r",
            buffering=1 if number == 2 else -1,
            encoding=former.encoding,
            errors=former.errors,
            closefd=False,
        )
        stream.mode = "w" if number else "r"
        stream.buffer.raw.name = f"<{name}>"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
