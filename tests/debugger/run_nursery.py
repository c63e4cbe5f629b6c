"""Runs of the command line tool for tests that are not about how it starts: forked from one process that has imported it and the
engine, which is most of a run.
"""

import gc
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path

_LIMIT = 1 << 20  # bytes of a command and its environment
_PATIENCE_S = 120.0
#: What runs of it import.
_OF_THE_TOOL = (
    *(f"agdbg.commands.{name}" for name in ("batch", "diff", "explain", "export", "lint", "open", "report", "trace")),
    "agdbg.commands.traceexport",
    "agdbg.commands.tracequery",
    "agdbg.compare.parting",
    "agdbg.diagnose",
    "agdbg.explain.explanation",
    "agdbg.graph",
    "agdbg.launch.subrun",
    "agdbg.record.info",
    "agdbg.render",
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
        over, ends = os.pipe()
        try:
            os.pwrite(files[0], stdin, 0)
            request = {"words": words, "directory": str(cwd), "environment": environment}
            try:
                socket.send_fds(self._ours, [json.dumps(request).encode()], [*files, ends])
            finally:
                os.close(ends)
            assert select.select([over], [], [], _PATIENCE_S)[0], f"{words} does not end"
            status = json.loads(os.read(over, 100))
            return status, *(os.pread(file, os.fstat(file).st_size, 0) for file in files[1:])
        finally:
            for file in (*files, over):
                os.close(file)

    def close(self):
        self._ours.close()
        self._process.wait()


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
    """Wait for a run, tell how it ended, and end."""
    for file in files:
        os.close(file)
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
