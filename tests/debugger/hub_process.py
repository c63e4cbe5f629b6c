"""Programs on a terminal of their own, as a hub runs them, for the tests of test_hub_process_*.py."""

import os
import select
import time

from agdbg.hub.place import Runtime
from agdbg.hub.program import LaunchSpec, Program
from agdbg.launch import boot

PATIENCE_S = 30.0
AS_SCRIPT = """\
from agdbg.launch.terminal import take_terminal
take_terminal()
import runpy
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def plain(spec, runtime, trace):
    """The command of a script that is not recorded: only its process and its terminal matter here."""
    return [*boot.command(AS_SCRIPT), spec.target, *spec.args]


class Stage:
    """Starts scripts, and ends what is left of them."""

    def __init__(self, directory):
        self.directory = directory
        self._running = []

    def script(self, text):
        path = self.directory / "script.py"
        path.write_text(text)
        return str(path)

    def program(self, text, *args, command=plain, **spec):
        trace = self.directory / f"trace{len(self._running)}"
        trace.mkdir()
        launch = LaunchSpec(self.script(text), args=list(map(str, args)), **spec)
        program = Program(launch, Runtime(self.directory, -1), trace, command)
        program.start()
        self._running.append(program)
        return program

    def gate(self):
        """A pipe with a name: what the script reads from it, the test writes, and the other way round."""
        return Gate(self.directory / f"gate{os.urandom(4).hex()}")

    def close(self):
        for program in self._running:
            if program.ended >= 0:  # not closed
                program.kill()
                until_over(program)
            program.close()


class Gate:
    def __init__(self, path):
        os.mkfifo(path)
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def __str__(self):
        return str(self.path)

    def open(self):
        os.write(self._fd, b"\n")

    def await_line(self):
        """What the script has written."""
        line = b""
        while not line.endswith(b"\n"):
            assert select.select([self._fd], [], [], PATIENCE_S)[0], f"nothing but {line} came"
            line += os.read(self._fd, 4096)
        return line.decode().strip()

    def __del__(self):
        os.close(self._fd)


def log(program):
    """All that was kept of its output."""
    return program.output.read_bytes()


def until(program, condition):
    """Do what a hub does, until ``condition()`` holds."""
    deadline = time.monotonic() + PATIENCE_S
    ended = False
    while not condition():
        left = deadline - time.monotonic()
        assert left > 0, f"{condition} did not come true; the end of the output is {log(program)[-500:]}"
        waiting = [program.master] if program.wants_write else []
        watched = [] if ended else [program.wakeup]
        exits = [program.ended] if program.exit() is None else []
        readable, writable, _ = select.select([*watched, *exits], waiting, [], min(left, 0.2))
        if writable:
            program.flush_input()
        if watched and program.wakeup in readable and not os.read(program.wakeup, 4096):
            ended = not program.mend_keeper()


def until_printed(program, text):
    until(program, lambda: text in log(program))


def until_over(program):
    """The program has ended, and all its output is kept. Returns how it ended."""
    until(program, lambda: program.exit() is not None)
    until_ended(program.keeper_pid)
    return program.exit()


def until_ended(pid):
    """Any process has ended; one of ours need not be waited for yet."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([fd], [], [], PATIENCE_S)[0], f"process {pid} does not end"
    finally:
        os.close(fd)


def opened():
    """The numbers of the descriptors of this process."""
    return sorted(os.listdir("/proc/self/fd"))
