"""Starting a hub, and what is said when that fails."""

import os
import select
import signal
import sys

import pytest

from agdbg.hub import starting
from agdbg.hub.starting import HubAddress, HubFailed, start_hub
from agdbg.launch import boot

ANNOUNCE = """\
import json, os, sys
print(json.dumps({"client_socket": sys.argv[1], "pid": os.getpid(), "more": 1}), flush=True)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
"""


def detached(then):
    return boot.command(then, before=starting._DETACH)


def wait_for_end(pid):
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([fd], [], [], 20)[0]
    os.close(fd)


def processes_with(word):
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        found += [int(entry)] * (os.fsencode(word) in words)
    return found


@pytest.fixture
def gate(tmp_path):
    os.mkfifo(tmp_path / "gate")
    return str(tmp_path / "gate")


def test_the_hub_is_nobodys_child_and_tells_its_address(gate):
    facts = "with open(sys.argv[2], 'w') as f: print(os.getppid(), os.getsid(0), os.getpgrp(), file=f)\n"
    address = start_hub(["/run/x ü.sock", gate], command=detached(ANNOUNCE + facts))
    with open(gate) as answers:
        parent, session, group = map(int, answers.readline().split())
    assert address == HubAddress("/run/x ü.sock", address.pid)
    assert parent != os.getpid()
    assert session != os.getsid(0)
    assert group != os.getpgrp()
    wait_for_end(address.pid)


def test_the_hub_may_go_on_printing(gate):
    more = "print('x' * 100_000, flush=True)\nprint('y' * 100_000, file=sys.stderr, flush=True)\nopen(sys.argv[2], 'w').write('on')"
    address = start_hub(["s", gate], command=detached(ANNOUNCE + more))
    with open(gate) as answers:
        assert answers.read() == "on"
    wait_for_end(address.pid)


def test_the_hub_has_the_flags_of_this_interpreter():
    assert detached("pass")[:-1] == [*boot.command("pass")[:-1]]
    assert "-c" in detached("pass")


@pytest.mark.parametrize(
    ("then", "message"),
    [
        ("raise OSError('no room')", r"ended before it could be reached:\nTraceback (.|\n)*OSError: no room$"),
        ("sys.exit(3)", "ended before it could be reached and said nothing; try .* -m agdbg.hub"),
        ("print('hello')", "gave no address but 'hello'"),
        ("print('[]')", "gave no address but"),
        ("print('{')", "gave no address but"),
        ("print('x', end='')", "gave no address but 'x'"),
    ],
)
def test_a_hub_that_fails_is_told_of(then, message):
    with pytest.raises(HubFailed, match=message):
        start_hub(command=detached(then))


def test_of_a_long_complaint_the_end_is_shown():
    with pytest.raises(HubFailed) as failed:
        start_hub(command=detached("sys.exit('x' * 100_000 + 'the reason')"))
    assert str(failed.value).endswith("xthe reason")
    assert len(str(failed.value)) < 3000


def test_a_hub_that_does_not_answer_is_ended(tmp_path):
    mark = str(tmp_path / "a word of its command line")
    then = "import signal\nprint('half', end='', flush=True)\nsignal.pause()"
    with pytest.raises(HubFailed, match=r"did not answer within 0\.5 s and said nothing"):
        start_hub([mark], command=detached(then), patience=0.5)
    for pid in processes_with(mark):  # however far it had come by then
        wait_for_end(pid)


def test_a_python_that_is_gone_is_said():
    with pytest.raises(HubFailed, match="cannot start the hub of the debugger: /no/python: No such file"):
        start_hub(command=["/no/python"])


def test_nothing_stays_open_but_the_lifelines_of_hubs_that_live(gate, monkeypatch):
    monkeypatch.setattr(starting, "_lifelines", [])
    before = set(os.listdir("/proc/self/fd"))
    address = start_hub(["s", gate], command=detached(ANNOUNCE + "open(sys.argv[2]).read()"))
    with pytest.raises(HubFailed):
        start_hub(command=[sys.executable, "-c", ""])
    assert set(os.listdir("/proc/self/fd")) - before == set(map(str, starting._lifelines))
    with open(gate, "w"):
        pass
    wait_for_end(address.pid)
    with pytest.raises(HubFailed):
        start_hub(command=[sys.executable, "-c", ""])
    assert set(os.listdir("/proc/self/fd")) == before


def test_files_of_the_current_directory_are_not_imported(tmp_path, monkeypatch):
    for name in ("json", "agdbg", "runpy", "os"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('a file of the user')")
    monkeypatch.chdir(tmp_path)
    address = start_hub(["s"], command=detached(ANNOUNCE))
    assert address.client_socket == "s"
    wait_for_end(address.pid)


def test_ctrl_c_at_the_client_does_not_reach_it(gate):
    wait = "with open(sys.argv[2]) as f: f.readline()\n"
    address = start_hub(["s", gate], command=detached(ANNOUNCE + wait))
    assert os.getpgid(address.pid) != os.getpgrp()
    os.kill(address.pid, signal.SIGKILL)
    wait_for_end(address.pid)
