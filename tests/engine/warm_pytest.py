"""Runs of pytest, each in a process of its own that is forked from one which has imported what every run imports.

That process is this file run as a script, with nothing but imports behind it: PyTorch has computed nothing yet and has no threads.
For each line of its standard input, arguments in JSON, it forks a run and answers with a line: the exit status.
"""

import contextlib
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from importlib import import_module

#: Imported where they are there; nothing of pytest's plugins, whose assertions it rewrites when it imports them.
_COMMON = ("pytest", "torch", "torch.func", "agdbg_engine", "scipy.special", "textual.app", "jinja2")


class WarmPytest:
    """Runs of pytest in an environment and a directory."""

    def __init__(self, environment, directory):
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__], env=environment, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip

    def run(self, options, timeout):
        """The exit status of a run with these options, and all that it said."""
        with tempfile.TemporaryFile("w+") as said:
            path = f"/proc/{os.getpid()}/fd/{said.fileno()}"
            self._process.stdin.write(json.dumps([path, *options]) + "\n")
            self._process.stdin.flush()
            if not select.select([self._process.stdout], [], [], timeout)[0]:
                os.killpg(self._process.pid, signal.SIGKILL)
            status = self._process.stdout.readline()
            said.seek(0)
            return int(status) if status else f"does not end in {timeout} s, or kills its parent", said.read()

    def close(self):
        """End it, and what is left of its runs."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def serve():
    """Fork runs until there are no more to begin; in each of them, return its arguments."""
    for name in _COMMON:
        with contextlib.suppress(ModuleNotFoundError):
            import_module(name)
    gc.collect()
    gc.freeze()  # not written to by collections, and so it stays shared
    while request := sys.stdin.buffer.raw.readline():
        said, *options = json.loads(request)
        run = os.fork()
        if run == 0:
            nothing, output = os.open(os.devnull, os.O_RDONLY), os.open(said, os.O_WRONLY | os.O_APPEND)
            for stream, file in enumerate((nothing, output, output)):
                os.dup2(file, stream)
            os.close(nothing)
            os.close(output)
            return options
        _, status = os.waitpid(run, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


if __name__ == "__main__":
    sys.argv[1:] = serve()
    import pytest

    sys.exit(pytest.main(sys.argv[1:]))
