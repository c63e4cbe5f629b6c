"""A program that a hub has started is on its terminal what it would be on one of a shell."""

import hashlib
import os
import re
import select
import signal

import pytest

from agdbg.errors import InputError
from agdbg.hub.program import Exit, LaunchSpec, Program, command_of
from agdbg.hub.terminal import INPUT_LIMIT
from agdbg.launch import boot


def test_what_is_typed_is_what_input_returns(stage, hub_process):
    program = stage.program("print('hello', input('name? '))")
    hub_process.until_printed(program, b"name? ")
    program.send("Grüße\n".encode())
    assert hub_process.until_over(program) == Exit(0, None)
    assert hub_process.log(program).decode() == "name? Grüße\r\nhello Grüße\r\n"  # the terminal echoes


def test_a_backspace_takes_a_whole_character(stage, hub_process):
    program = stage.program("print(ascii(input('? ')))")
    hub_process.until_printed(program, b"? ")
    program.send("aü\x7fb\n".encode())
    hub_process.until_printed(program, b"'ab'")


def test_much_input_waits_for_a_program_that_reads_late(stage, hub_process):
    gate, text = stage.gate(), b"".join(b"line %d\n" % i for i in range(40_000))
    script = (
        "import sys, hashlib\nopen(sys.argv[1]).readline()\n"
        "print(hashlib.sha1(sys.stdin.buffer.read(int(sys.argv[2]))).hexdigest())"
    )
    program = stage.program(script, gate, len(text))
    program.send(text)
    assert program.wants_write
    gate.open()
    hub_process.until_printed(program, hashlib.sha1(text).hexdigest().encode())
    assert not program.wants_write


def test_input_that_nobody_reads_is_refused_in_the_end(stage):
    program = stage.program("import signal; signal.pause()")
    with pytest.raises(InputError, match=f"at most {INPUT_LIMIT} may"):
        for _ in range(100):
            program.send(b"x" * 999 + b"\n" + b"y" * 64_000 + b"\n")
    program.send(b"z")  # it still goes on


def test_input_for_a_program_that_has_ended_is_dropped(stage, hub_process):
    program = stage.program("")
    hub_process.until_over(program)
    program.send(b"x")
    assert not program.wants_write


INTERRUPTED = """\
import signal
try:
    print("ready")
    signal.pause()
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def deaf_to_ctrl_c():
    """A test process that ignores signals, as one does that a script has started in the background."""
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGINT])
    yield
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1, signal.SIGINT])
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_ctrl_c_interrupts_the_program(stage, hub_process):
    program = stage.program(INTERRUPTED)
    hub_process.until_printed(program, b"ready\r\n")
    program.send(b"\x03")
    assert hub_process.until_over(program) == Exit(0, None)
    assert hub_process.log(program).endswith(b"interrupted\r\n")


def test_signals_that_the_hub_ignores_work_in_the_program(deaf_to_ctrl_c, stage, hub_process):
    script = (
        "import signal as s\nprint(s.getsignal(s.SIGHUP) == s.getsignal(s.SIGQUIT) == s.SIG_DFL,"
        "s.pthread_sigmask(s.SIG_BLOCK, []))\n"
    )
    program = stage.program(script + INTERRUPTED)
    hub_process.until_printed(program, b"ready\r\n")
    program.send(b"\x03")
    assert hub_process.until_over(program) == Exit(0, None)
    assert hub_process.log(program) == b"True set()\r\nready\r\n^Cinterrupted\r\n"


def test_the_program_sees_the_size_of_its_terminal_and_its_changes(stage, hub_process):
    script = (
        "import os, signal\nshow = lambda *_: print(*os.get_terminal_size())\n"
        "signal.signal(signal.SIGWINCH, show)\nshow()\nwhile True: signal.pause()"
    )
    program = stage.program(script, columns=101, rows=33)
    hub_process.until_printed(program, b"101 33\r\n")
    program.resize(57, 11)
    hub_process.until_printed(program, b"57 11\r\n")
    with pytest.raises(InputError, match="columns 0: a terminal has"):
        program.resize(0, 11)
    with pytest.raises(InputError, match="rows 65536: a terminal has"):
        program.resize(10, 1 << 16)


SURROUNDINGS = """\
import os, sys
print("leads", os.getsid(0) == os.getpid() == os.getpgrp() == os.tcgetpgrp(0))
with open("/dev/tty", "w") as terminal:
    print("terminal", os.ttyname(0) == os.ttyname(1) == os.ttyname(2), file=terminal)
print("open", sorted(os.listdir("/proc/self/fd"), key=int)[:-1])
print("size", os.environ.get("COLUMNS"), os.environ.get("LINES"))
print("env", os.environ["TERM"], os.environ["ADDED"], "TAKEN" in os.environ)
print("cwd", os.getcwd())
"""


def test_its_surroundings(stage, hub_process, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("LINES", "5")
    monkeypatch.setenv("TAKEN", "1")
    monkeypatch.delenv("TERM", raising=False)
    inherited = os.open("/dev/null", os.O_RDONLY)
    program = stage.program(SURROUNDINGS, cwd=str(tmp_path), env={"ADDED": "ü", "TAKEN": None})
    os.close(inherited)
    hub_process.until_over(program)
    assert hub_process.log(program).decode().splitlines() == [
        "leads True",
        "terminal True",
        "open ['0', '1', '2']",
        "size None None",
        "env xterm-256color ü False",
        f"cwd {tmp_path}",
    ]


def test_terminal_and_size_can_be_given(stage, hub_process, monkeypatch):
    monkeypatch.setenv("TERM", "vt100")
    script = "import os; print(os.environ['TERM'], os.environ['COLUMNS'])"
    program = stage.program(script, env={"COLUMNS": "7"})
    hub_process.until_printed(program, b"vt100 7")


@pytest.mark.parametrize(
    ("script", "end"),
    [
        ("", Exit(0, None)),
        ("raise SystemExit(7)", Exit(7, None)),
        ("1 / 0", Exit(1, None)),
        ("import os; os._exit(255)", Exit(255, None)),
        ("import os; os.kill(os.getpid(), 9)", Exit(None, "SIGKILL")),
        ("import os; os.abort()", Exit(None, "SIGABRT")),
        ("import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 1)", Exit(None, f"signal {signal.SIGRTMIN + 1}")),
    ],
)
def test_how_it_ended(stage, hub_process, script, end):
    program = stage.program(script)
    assert hub_process.until_over(program) == end
    assert program.exit() == end  # asked again


def test_the_end_can_be_waited_for(stage, hub_process):
    gate = stage.gate()
    program = stage.program("import sys; open(sys.argv[1]).readline()", gate)
    assert program.exit() is None
    assert not select.select([program.ended], [], [], 0)[0]
    gate.open()
    assert select.select([program.ended], [], [], hub_process.PATIENCE_S)[0]
    assert program.exit() == Exit(0, None)


FAMILY = """\
import os, signal, sys
child = os.fork()
if child and len(sys.argv) > 1:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
os.write(1, b"parent of %d\\n" % child if child else b"child\\n")  # at once, so that they do not mix
signal.pause()
"""


@pytest.mark.parametrize(
    ("way", "args", "end"),
    [
        ("terminate", [], Exit(None, "SIGTERM")),
        ("terminate", ["x"], Exit(5, None)),
        ("kill", ["x"], Exit(None, "SIGKILL")),
    ],
)
def test_ending_it_ends_its_children(stage, hub_process, way, args, end):
    program = stage.program(FAMILY, *args)
    hub_process.until_printed(program, b"child\r\n")
    hub_process.until(program, lambda: re.search(rb"parent of \d+\r\n", hub_process.log(program)))
    child = int(re.search(rb"parent of (\d+)", hub_process.log(program))[1])
    getattr(program, way)()
    assert hub_process.until_over(program) == end  # the terminal is closed: the child is gone too
    hub_process.until_ended(child)
    program.kill()  # there is nothing to end any more


def test_it_goes_on_when_the_hub_closes_it(stage, hub_process, tmp_path):
    gate = stage.gate()
    program = stage.program("import sys; open(sys.argv[1]).readline(); print('on')", gate)
    pid, keeper = program.pid, program.keeper_pid
    program.close()
    program.close()
    gate.open()
    hub_process.until_ended(pid)
    hub_process.until_ended(keeper)
    assert hub_process.log(program) == b"on\r\n"
    assert program.exit() == Exit(0, None)


def attempt(tmp_path, command, **spec):
    return Program(LaunchSpec("x.py", **spec), None, tmp_path, lambda *_: command)


@pytest.mark.parametrize(
    ("command", "spec", "message"),
    [
        (["/no/python"], {}, "cannot start /no/python: No such file or directory"),
        (["/etc/passwd"], {}, "cannot start /etc/passwd: Permission denied"),
        (["true", "a\0b"], {}, "cannot start true: embedded null byte"),
        (["true"], {"env": {"A": "\0"}}, "cannot start true: embedded null byte"),
        (["true"], {"cwd": "/no/where"}, "cannot start the program in /no/where: there is no such directory"),
        (["true"], {"columns": -1}, "columns -1: a terminal has"),
    ],
)
def test_what_cannot_be_started_is_said_and_leaves_nothing(tmp_path, hub_process, command, spec, message):
    before = hub_process.opened()
    with pytest.raises(InputError, match=message):
        attempt(tmp_path, command, **spec).start()
    assert hub_process.opened() == before


def test_a_trace_that_is_gone_is_said(tmp_path):
    with pytest.raises(InputError, match=r"cannot keep the output .*gone/output.log: No such file"):
        attempt(tmp_path / "gone", ["true"]).start()


class Place:
    directory = "/run/agdbg/12"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (LaunchSpec("a.py", args=["-m", "b"]), ["a.py", "-m", "b"]),
        (LaunchSpec("-a.py"), ["--", "-a.py"]),
        (LaunchSpec("-"), ["-"]),
        (LaunchSpec("pkg.mod", is_module=True, args=["--", "b"]), ["-m", "pkg.mod", "--", "b"]),
    ],
)
def test_the_command_is_agdbg_run(spec, words, tmp_path):
    command = command_of(spec, Place, tmp_path)
    options = ["run", "--headless", "--trace", str(tmp_path), "--agent", "/run/agdbg/12"]
    assert command[: len(boot.command()) - 1] == boot.command()[:-1]
    assert command[len(boot.command()) :] == [*options, *words]
