"""``agdbg run`` treats threads, processes, signals, streams and directories as ``python`` does."""

import os
import signal
import subprocess

import pytest

PROGRAMS = {
    "exit-handlers": "import atexit\nfor i in range(3): atexit.register(print, i)\nprint('end')",
    "thread-outlives-main": (
        "import threading\n"
        "main_is_over = threading.main_thread().join\n"
        "threading.Thread(target=lambda: (main_is_over(), print('thread'))).start()\n"
        "print('main')"
    ),
    "thread-outlives-an-error": (
        "import threading, atexit\natexit.register(print, 'handler')\n"
        "main_is_over = threading.main_thread().join\n"
        "threading.Thread(target=lambda: (main_is_over(), print('thread'))).start()\n"
        "1 / 0"
    ),
    "daemon-thread": ("import threading as t\nt.Thread(target=t.Event().wait, daemon=True).start()\nprint('main')"),
    "globals-die": "class C:\n    def __del__(self): print('gone', __name__)\nc = C()\nprint('end')",
    "executor": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(2) as pool: print(list(pool.map(abs, [-1, 2])))"
    ),
    "asyncio": "import asyncio\nasync def f(): return 3\nprint(asyncio.run(f()))",
    "fork": (
        "import os\npid = os.fork()\nif pid == 0:\n    print('child', flush=True)\nelse:\n"
        "    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    ),
    "fork-with-an-error-in-the-child": (
        "import os\npid = os.fork()\nif pid == 0:\n    1 / 0\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    ),
    "exec": "import os, sys\nos.execv(sys.executable, ['python', '-c', 'print(3); raise SystemExit(4)'])",
    "subprocess": "import subprocess as s, sys\nprint(s.run([sys.executable, '-c', 'print(1)']).returncode)",
    "directory-changes": "import os\nos.mkdir('d'); os.chdir('d')\nimport beside\nprint(beside.x)",
    "directory-is-removed": "import os\nos.mkdir('d'); os.chdir('d'); os.rmdir('../d')\nprint('on')\n1 / 0",
    "script-removes-itself": "import os\nos.remove(__file__)\nprint('on')\n1 / 0",
    "reads-standard-input": "import sys\nprint(input('? '), sys.stdin.read(), sys.stdin.isatty())",
    "standard-input-ends": "import sys\nsys.stdin.read()\ninput()",
    "closes-its-streams": "import sys\nsys.stdout.close(); sys.stderr.close()",
    "closes-its-descriptors": "import os\nos.close(1); os.close(2)\nprint('x')",
    "replaces-standard-output": "import sys, io\nsys.stdout = io.StringIO()\nprint('x')",
    "handles-the-signal": (
        "import signal\nsignal.signal(2, lambda *a: print('caught'))\nsignal.raise_signal(signal.SIGINT)"
    ),
    "default-signal-handlers": (
        "import signal\nprint([signal.getsignal(s) for s in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)])"
    ),
    "profile-and-trace": "import sys\nprint(sys.getprofile(), sys.gettrace())",
    "trace-function": (
        "import sys\nseen = []\nsys.settrace(lambda f, e, a: seen.append(f.f_code.co_name))\n"
        "def f(): pass\nf()\nsys.settrace(None)\nprint(seen)"
    ),
    "audit": ("import sys\nsys.addaudithook(lambda e, a: e == 'sys.excepthook' and print(e))\nraise ValueError"),
    "garbage": "import gc\nprint(gc.isenabled(), gc.get_threshold(), gc.garbage)",
    "file-descriptors": "import os\nprint(os.path.isdir('/proc/self/fd') and os.listdir('/proc/self/fd'))",
    "environment": "import os\nprint(sorted(os.environ.items()))",
    "locale": "import locale, sys\nprint(locale.getlocale(), sys.stdin.encoding, sys.stdout.encoding)",
    "warnings-filters": "import warnings\nprint(warnings.filters)",
    "logging": "import logging\nlogging.warning('w'); logging.basicConfig(); logging.exception('e')",
    "loggers": "import logging\nprint(logging.root.manager.loggerDict)",
    "imports": "import sys\nprint(sys.path_hooks, len(sys.meta_path) >= 3, '__main__' in sys.modules)",
}
MULTIPROCESSING = """\
import multiprocessing as mp, pickle, sys

class Point:
    x = 3

def work(n):
    return n + Point.x, __name__, type(Point()).__module__

if __name__ == "__main__":
    mp.set_start_method(sys.argv[1])
    with mp.Pool(1) as pool:
        print(pool.map(work, [1, 2]))
    queue = mp.SimpleQueue()
    child = mp.Process(target=queue.put, args=(Point(),))
    child.start()
    print(queue.get().x)
    child.join()
    print(child.exitcode)
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_what_it_does_under_python(programs, name):
    def fresh():
        programs.write({"p.py": PROGRAMS[name], "beside.py": "x = 1"})
        (programs.directory / "d").exists() and (programs.directory / "d").rmdir()

    fresh()
    python = programs.run(programs.python_command(["p.py"]), stdin="a\nb\n")
    fresh()
    agdbg = programs.run(programs.agdbg_command(["p.py"]), stdin="a\nb\n")
    assert agdbg == python


@pytest.mark.parametrize("module", [False, True], ids=["script", "module"])
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(programs, method, module):
    programs.write({"p.py": MULTIPROCESSING})
    python, agdbg = programs.both(["-m", "p", method] if module else ["p.py", method])
    assert agdbg == python
    assert agdbg.status == 0
    assert len(agdbg.said) == 1, "a child must say nothing"


def started(programs, command):
    """Start a program and wait until it prints a line."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=programs.directory, env=programs.env, text=True, **streams)
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("work", ["input()", "import threading as t; t.Event().wait()", "while 1: pass"])
def test_a_signal_from_outside(programs, work, number):
    start = "import atexit; atexit.register(print, 'handler')\nprint('ready', flush=True)\n"
    programs.write({"p.py": start + work})
    seen = []
    for command in (programs.python_command(["p.py"]), programs.agdbg_command(["p.py"])):
        process = started(programs, command)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
        lines = [line for line in stderr.splitlines() if not line.startswith("agdbg:")]
        seen.append((process.returncode, stdout, lines[:1] + lines[-1:]))  # where it struck is chance
        assert "agdbg/" not in "".join(lines)
    assert seen[1] == seen[0]
    assert seen[1][0] == -number


def test_a_shell_sees_130_after_ctrl_c(programs):
    programs.write({"p.py": "import os, signal; os.kill(os.getpid(), signal.SIGINT)"})
    command = ["sh", "-c", '"$@"; echo $?', "sh", *programs.agdbg_command(["p.py"])]
    assert programs.run(command).stdout == "130\n"


def run_into_closed_pipe(programs, command, stream):
    """Run with a pipe that nobody reads as one stream; return the status and the lines on the other."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "stdin": subprocess.DEVNULL,
        stream: writer,
    }
    process = subprocess.Popen(command, cwd=programs.directory, env=programs.env, text=True, **streams)
    os.close(writer)
    texts = process.communicate(timeout=60)
    lines = [line for text in texts if text for line in text.splitlines() if not line.startswith("agdbg:")]
    return process.returncode, lines


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(
    "code",
    [
        "print('x')",
        "print('x', flush=True)",
        "import sys; print('x', file=sys.stderr)",
        "print('x'); 1 / 0",
        "pass",
        "import sys; print('x'); sys.exit(3)",
    ],
)
def test_a_pipe_that_nobody_reads(programs, code, stream):
    programs.write({"p.py": code})
    python, agdbg = (
        run_into_closed_pipe(programs, command, stream)
        for command in (programs.python_command(["p.py"]), programs.agdbg_command(["p.py"]))
    )
    assert agdbg == python


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(programs, closed):
    programs.write({"p.py": "import sys\nprint(sys.stdin, sys.stdout, sys.stderr)\n1 / 0"})
    python, agdbg = (
        programs.run(["sh", "-c", f'"$@" {closed}; echo status $?', "sh", *command])
        for command in (programs.python_command(["p.py"]), programs.agdbg_command(["p.py"]))
    )
    assert agdbg == python


def test_a_full_disk(programs):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    programs.write({"p.py": "print('x')"})
    python, agdbg = (
        programs.run(["sh", "-c", '"$@" > /dev/full', "sh", *command])
        for command in (programs.python_command(["p.py"]), programs.agdbg_command(["p.py"]))
    )
    assert agdbg == python
    assert agdbg.status in (1, 120), (
        "120 where Python meets the error when it ends, as it does unless it is told not to buffer"
    )


def test_started_in_a_directory_that_is_gone(programs):
    programs.write({"p.py": "print(__file__)"})
    script = str(programs.directory / "p.py")
    shell = 'mkdir gone; cd gone; rmdir ../gone; "$@"'
    python, agdbg = (
        programs.run(["sh", "-c", shell, "sh", *command])
        for command in (programs.python_command([script]), programs.agdbg_command([script]))
    )
    assert agdbg == python


def test_what_the_program_printed_comes_before_what_agdbg_says(programs):
    programs.write({"p.py": "print('printed')"})
    merged = programs.run(["sh", "-c", '"$@" 2>&1', "sh", *programs.agdbg_command(["p.py"])])
    assert merged.stdout.splitlines()[0] == "printed"
    assert merged.stdout.splitlines()[1].startswith("agdbg:")
