"""Programs that fork, exit, die or go on in the middle of a backward pass: as under Python alone, and their own trace is whole."""

import re

import pytest

from agdbg.record import Facts, Trace

HEAD = """\
import atexit, os, signal, sys, threading
import agdbg_engine as ag

def run(n=2.0, hook=None):
    with ag.enable_grad():
        x = ag.tensor([1.0, n], requires_grad=True)
        y = x * x
        if hook is not None:
            y.register_hook(hook)
        y.exp().sum().backward()
    return x.grad.tolist()

def reaped(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""
LEAVE_IN_CHILD = """\
def hook(g):
    pid = os.fork()
    if not pid:
        print("child", run(3.0), flush=True)
        {leave}
    print("parent", reaped(pid), flush=True)
"""
CHILD_GOES_ON = """\
forked = []
def hook(g):
    forked.append(os.fork())
    if forked[0]:
        print(reaped(forked[0]), flush=True)
print("child" if not run(2.0, hook) or not forked[0] else "parent", run(3.0), flush=True)
"""
FORK_AND_THREADS = """\
started, stop = threading.Barrier(3), threading.Event()
def work():
    started.wait()
    while not stop.is_set():
        run()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
started.wait()
for _ in range(5):
    pid = os.fork()
    if not pid:
        os._exit(run(3.0) != run(3.0))
    print(reaped(pid))
stop.set()
for thread in threads: thread.join()
"""
THREADS = """\
results = {}
def work(n): results[n] = [run(float(n), lambda g: g * 2) for _ in range(20)]
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(results.items()))
"""
DAEMONS = """\
ready = threading.Barrier(3)
def work():
    run(); ready.wait()
    while True: run()
for _ in range(2): threading.Thread(target=work, daemon=True).start()
ready.wait()
print(run(3.0))
sys.exit(5)
"""
SUBPROCESS = """\
import subprocess
code = "import agdbg_engine as ag; x = ag.ones(2, requires_grad=True); (x * x).sum().backward(); print(x.grad); raise SystemExit(4)"
def hook(g): print(subprocess.run([sys.executable, "-c", code], capture_output=True))
print(run(2.0, hook))
"""
SPAWN = """\
import multiprocessing as m
if __name__ == "__main__":
    child = m.get_context("spawn").Process(target=run)
    child.start(); child.join()
    print(child.exitcode, run())
"""
HANDLER = """\
def handle(number, frame): print("handler", run(3.0)); {end}
signal.signal(signal.{name}, handle)
def hook(g): signal.raise_signal(signal.{name})
print(run(2.0, hook))
"""
OUTLIVES = """\
main_is_over = threading.main_thread().join
threading.Thread(target=lambda: (main_is_over(), print(run()))).start()
print(run(3.0))
"""
AT_EXIT = """\
def last():
    print(run(2.0, lambda g: g * 3)); x = ag.ones(2, requires_grad=True); y = (x * x).sum(); y.backward(); y.backward()
atexit.register(last)
"""
EXIT = {
    "at-once": ("hook = lambda g: os._exit(9)\nrun(2.0, hook)", 1),
    "sys-exit": ("hook = lambda g: sys.exit(6)\nrun(2.0, hook)", 1),
    "killed": ("hook = lambda g: os.kill(os.getpid(), signal.SIGKILL)\nrun(2.0, hook)", 1),
    "terminated": ("hook = lambda g: os.kill(os.getpid(), signal.SIGTERM)\nrun(2.0, hook)", 1),
    "aborted": ("hook = lambda g: os.abort()\nrun(2.0, hook)", 1),
    "replaced": ("hook = lambda g: os.execv(sys.executable, ['python', '-c', 'print(3); raise SystemExit(4)'])\nrun(2.0, hook)", 1),
    "interrupted": ("hook = lambda g: signal.raise_signal(signal.SIGINT)\nrun(2.0, hook)", 1),
}  # fmt: skip
PROGRAMS = {
    "fork-exit-at-once": (LEAVE_IN_CHILD.format(leave="os._exit(3)") + "print(run(2.0, hook), run())", 2),
    "fork-exit": (LEAVE_IN_CHILD.format(leave="sys.exit(3)") + "print(run(2.0, hook), run())", 2),
    "fork-error": (LEAVE_IN_CHILD.format(leave="1 / 0") + "print(run(2.0, hook), run())", 2),
    "fork-killed": (LEAVE_IN_CHILD.format(leave="os.kill(os.getpid(), 9)") + "print(run(2.0, hook), run())", 2),
    "child-goes-on": (CHILD_GOES_ON, 2),
    "fork-between-busy-threads": (FORK_AND_THREADS, None),
    "threads": (THREADS, 80),
    "daemons": (DAEMONS, None),
    "outlives-main": (OUTLIVES, 2),
    "subprocess": (SUBPROCESS, 1),
    "spawn": (SPAWN, 1),
    "handler-runs-a-pass": (HANDLER.format(name="SIGUSR1", end="pass"), 2),
    "handler-exits": (HANDLER.format(name="SIGTERM", end="sys.exit(8)"), 2),
    "handler-raises": (HANDLER.format(name="SIGINT", end="1 / 0"), 2),
    "at-exit": (AT_EXIT, 3),
    **EXIT,
}
UNCLOSED = {"at-once", "killed", "terminated", "aborted", "replaced"}
"""Those that end without a word to Python."""


def frames_of_the_program(stderr):
    """A traceback without the lines of the engine, which runs other lines of its own while it is recorded."""
    return re.sub(r'  File "[^"]*/agdbg_engine/[^"]*", line .*\n(    .*\n)+', "", stderr)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_what_it_does_under_python(programs, name):
    code, passes = PROGRAMS[name]
    programs.write({"p.py": HEAD + code})
    python = programs.run(programs.python_command(["p.py"]))
    agdbg = programs.run(programs.agdbg_command(["p.py"], options=["--trace", "t"]))
    assert (agdbg.status, agdbg.stdout) == (python.status, python.stdout)
    assert frames_of_the_program(agdbg.stderr) == frames_of_the_program(python.stderr)
    assert not any("instrument" in line or "internal error" in line or "stopped" in line for line in agdbg.said)
    trace = Trace.open(programs.directory / "t")
    assert trace.problems == [] and trace.closed == (name not in UNCLOSED)
    facts = Facts(trace)
    if trace.closed and passes is not None:
        assert len(facts.passes) == passes, "those of the children are not in it"
    if trace.closed and name != "daemons":
        assert all(found.outcome != "unfinished" for found in facts.passes)
    assert len(set(facts.node_ids.tolist())) == len(facts.node_ids)
