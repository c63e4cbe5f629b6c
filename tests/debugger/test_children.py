"""Processes that a program starts are not recorded: somebody says so, once, and how many there were."""

import json

import pytest

from agdbg.record import Trace
from agdbg.record.children import Children, children_of

HEAD = """\
import multiprocessing, os, subprocess, sys
import agdbg_engine as ag
def work(n=2.0):
    x = ag.ones(2, requires_grad=True)
    (x * n).sum().backward()
    return x.grad.tolist()
def main():
    work()
"""
TAIL = "\nif __name__ == '__main__':\n    main()\n"
PROGRAMS = {
    "none": ("    pass", Children()),
    "fork": ("    if not os.fork():\n        work(); work(); os._exit(0)\n    os.wait()", Children(forked=1)),
    "fork-without-engine": ("    if not os.fork():\n        os._exit(0)\n    os.wait()", Children()),
    "fork-and-leave": ("    os.chdir('/')\n    if not os.fork():\n        work(); sys.exit(0)\n    os.wait()", Children(forked=1)),
    "pool": (
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n        print(pool.map(work, [1.0, 2.0]))",
        Children(forked=1),
    ),
    "spawn": (
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n        print(pool.map(work, [1.0, 2.0]))",
        Children(started=1),
    ),
    "subprocess": (
        "    subprocess.run([sys.executable, '-c', 'print(1)'])\n    subprocess.run(['python3', '-c', 'print(1)'])\n    subprocess.run(['true'])",
        Children(started=2),
    ),
    "agdbg": ("    subprocess.run([sys.executable, '-c', 'import agdbg'])\n    subprocess.run([sys.executable, '-m', 'agdbg', '--version'])", Children()),
    "no-such": ("    try: subprocess.run(['no such program'])\n    except OSError as error: print(error)", Children()),
}  # fmt: skip


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


@pytest.mark.parametrize("name", PROGRAMS)
def test_who_was_not_recorded_is_told(programs, name):
    body, expected = PROGRAMS[name]
    programs.write({"p.py": HEAD + body + TAIL})
    python, agdbg = programs.both(["p.py"], options=["--trace", "t"])
    assert (agdbg.status, agdbg.stdout) == (python.status, python.stdout)
    assert children_of(programs.directory / "t") == expected
    told = [line for line in agdbg.said if "not recorded" in line and "values were" not in line]
    assert told == ([f"agdbg: {expected}"] if any(expected) else [])
    assert Trace.open(programs.directory / "t").problems == []
    info = programs.run(programs.command("trace", "info", "--json", "t")).stdout
    assert json.loads(info)["children"] == expected._asdict()
    assert (f"children {expected}" in programs.run(programs.command("trace", "info", "t")).stdout) == any(expected)


@pytest.mark.parametrize("options", [["--batch"], []])
def test_a_program_that_only_starts_others(programs, options):
    programs.write({"p.py": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''], check=True)\n"})
    said = programs.run(programs.agdbg_command(["p.py"], options=options)).said
    assert said[-1] == (
        "agdbg: no autograd activity recorded: the program did not import agdbg_engine; "
        "1 process of Python was started: what it did is not recorded"
    )


def test_batch_and_lint_tell_too(programs):
    programs.write({"p.py": HEAD + PROGRAMS["fork"][0] + TAIL})
    told = f"agdbg: {Children(forked=1)}"
    for command in (programs.agdbg_command(["p.py"], options=["--batch"]), programs.command("lint", "p.py")):
        assert programs.run(command).said.count(told) == 1


@pytest.mark.parametrize(
    ("children", "sentence"),
    [
        (Children(), ""),
        (Children(forked=1), "1 forked process used the engine: what it did is not recorded"),
        (Children(started=1200), "1,200 processes of Python were started: what they did is not recorded"),
        (
            Children(2, 1),
            "2 forked processes used the engine, and 1 process of Python was started: what they did is not recorded",
        ),
    ],
)
def test_the_sentence(children, sentence):
    assert str(children) == sentence
