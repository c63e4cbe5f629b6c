"""Runs of the command line tool for tests that are not about how it starts: forked from one process that has imported it and the
engine, which is most of a run.
"""

import contextlib
import gc
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

_LIMIT = 1 << 20  # bytes of a command and its environment
_PATIENCE_S = 120.0
_PID = 20  # digits and blanks
#: What runs of it import.
_OF_THE_TOOL = (
    *(f"agdbg.commands.{name}" for name in ("batch", "diff", "explain", "export", "lint", "open", "report", "trace")),
    "agdbg.commands.destination",
    "agdbg.commands.opening",
    "agdbg.commands.traceexport",
    "agdbg.commands.tracequery",
    "agdbg.compare.parting",
    "agdbg.diagnose",
    *(f"agdbg.explain.{name}" for name in ("choice", "explanation", "text")),
    *(f"agdbg.graph.{name}" for name in ("by_module", "collapse", "from_trace", "lanes", "layout")),
    "agdbg.hub.starting",
    "agdbg.launch.subrun",
    "agdbg.protocol.client",
    "agdbg.record.info",
    "agdbg.render",
    "numpy.ma",
)
#: Leaves no name in ``__main__``, which will be that of programs.
_SERVE = "exec(__import__('runpy').run_path({path!r})['serve']({number}), globals())"


class RunNursery:
    """Runs scripts that are the command line tool, with the interpreter and the environment of Python that it began with."""

    def __init__(self, environment):
        self._python = _of_python(environment)
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = [sys.executable, "-c", _SERVE.format(path=str(Path(__file__).resolve()), number=theirs.fileno())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=environment, start_new_session=True)

    def can(self, environment):
        """Whether a Python in this environment begins as this one did."""
        return _of_python(environment) == self._python

    def run(self, words, stdin, cwd, environment):
        """Run a script with arguments to its end: status, standard output and error, as bytes."""
        files = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr")]
        os.pwrite(files[0], stdin, 0)
        try:
            with Begun(*self._begin(words, files, cwd, environment)) as run:
                status = run.wait(_PATIENCE_S)
            return status, *(os.pread(file, os.fstat(file).st_size, 0) for file in files[1:])
        finally:
            for file in files:
                os.close(file)

    def start(self, words, cwd, environment):
        """Begin a run of a script with arguments, with pipes for its streams."""
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        try:
            return Begun(*self._begin(words, theirs, cwd, environment), pipes[0][1], pipes[1][0], pipes[2][0])
        finally:
            for file in theirs:
                os.close(file)

    def _begin(self, words, files, cwd, environment):
        """The pid of a run, and what its status will be read from."""
        over, ends = os.pipe()
        request = {"words": words, "directory": str(cwd), "environment": environment}
        try:
            socket.send_fds(self._ours, [json.dumps(request).encode()], [*files, ends])
        except OSError:
            os.close(over)
            raise
        finally:
            os.close(ends)
        return json.loads(os.read(over, _PID)), over

    def close(self):
        self._ours.close()
        self._process.wait()


class Begun:
    """As much of a ``Popen`` of a run as tests ask; ``over`` can be read when it has ended."""

    def __init__(self, pid, over, *streams):
        self.pid, self.over, self.returncode = pid, over, None
        if streams:
            self.stdin, self.stdout, self.stderr = (
                open(number, mode, encoding="utf-8")  # noqa: SIM115 - until it is communicated with
                for number, mode in zip(streams, "wrr", strict=True)
            )

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        os.close(self.over)

    def wait(self, timeout=None):
        if self.returncode is None:
            if not select.select([self.over], [], [], timeout)[0]:
                raise TimeoutError(f"process {self.pid} does not end")
            self.returncode = json.loads(os.read(self.over, _PID))
        return self.returncode

    def send_signal(self, number):
        if self.returncode is None and not select.select([self.over], [], [], 0)[0]:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout=None):
        """All output that was not read yet, once; ends with the run."""
        if self.stdin.closed:
            return "", ""
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        with self, self.stdout, self.stderr, ThreadPoolExecutor(1) as pool:
            errors = pool.submit(self.stderr.read)
            told = self.stdout.read(), errors.result()
            self.wait(timeout)
        return told


def _of_python(environment):
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LC_", "LANG"))}


def serve(number):
    """Fork a run for each request; when there are no more, this process ends.

    Returns:
        The code that is left to be run: in this process, and in each run.
    """
    requests = socket.socket(fileno=number)
    programs = _beside("forked_program")
    imported = programs.Imported()
    for name in _OF_THE_TOOL:
        import_module(name)
    gc.collect()
    gc.freeze()  # what is frozen is not written to by collections, not even by the last one of a process, and stays shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits here for those who wait for a run
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, _LIMIT, 4)
        if not request:
            return ""
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            *files, ends = descriptors
            run = os.fork()
            if run == 0:
                os.close(ends)
                return _begun(programs, imported, json.loads(request), files)
            _wait(run, ends, files)
        for descriptor in descriptors:
            os.close(descriptor)


def _wait(run, ends, files):
    """Tell which process a run is, wait for it, tell how it ended, and end."""
    for file in files:
        os.close(file)
    os.write(ends, b"%*d" % (_PID, run))
    _, status = os.waitpid(run, 0)
    os.write(ends, json.dumps(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _beside(name):
    """A module that lies beside this file."""
    spec = importlib.util.spec_from_file_location(f"agdbg_tests_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _begun(programs, imported, request, files):
    """What a new process does until it is the script."""
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = request["words"]
    sys.orig_argv[:] = [sys.executable, *sys.argv]
    sys.path[0] = os.path.dirname(sys.argv[0])
    sys.meta_path.insert(0, imported)
    programs.open_streams()
    return Path(sys.argv[0]).read_text(encoding="utf-8")
