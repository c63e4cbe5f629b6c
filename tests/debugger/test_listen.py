"""Programs that listen: by `agdbg listen`, and by `agdbg.listen()` in their own code. Real hubs, real ports."""

import json
import os
import re
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from agdbg import cli
from agdbg.commands import attach as attach_command
from agdbg.hub import place
from agdbg.protocol.client import Client, Disconnected, RequestFailed
from agdbg.record import Facts, Trace

PATIENCE_S = 60.0
SMALL = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
h = x * x
y = h.exp()
loss = y.sum()
loss.backward()
print("grad", x.grad.tolist())
"""


class Started:
    """A program, and what it says on its standard error, line by line."""

    def __init__(self, words, directory, **environment):
        known = {name: value for name, value in os.environ.items() if name != "AGDBG_TOKEN"}
        self.process = subprocess.Popen(
            [sys.executable, *map(str, words)], cwd=directory, env=known | environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.said = []

    def until(self, pattern):
        """The match in the first line that has one."""
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"no {pattern} in {''.join(self.said)}")

    def end(self):
        """Its exit status, and all that it printed on standard output."""
        printed, rest = self.process.communicate(timeout=PATIENCE_S)
        self.said.append(rest)
        return self.process.returncode, printed

    def close(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Start a program; what is left of it is ended after the test, and so is its hub, which sees that."""
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    (tmp_path / "small.py").write_text(SMALL)
    made = []

    def begin(*words, **environment):
        made.append(Started(words, tmp_path, **environment))
        return made[-1]

    yield begin
    for each in made:
        each.close()


def own(tmp_path, text):
    path = tmp_path / "own.py"
    path.write_text(text)
    return path


def plain(tmp_path):
    """What the script prints by itself."""
    command = [sys.executable, tmp_path / "small.py"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout


def joined(address, token=None, **breakpoints):
    client = Client.connect(address, token=token, timeout=PATIENCE_S)
    client.request("initialize", adapterID="agdbg", clientName="a test")
    client.request("attach")
    if breakpoints:
        client.request("setFunctionBreakpoints", breakpoints=[breakpoints])
    client.request("configurationDone")
    return client


def stepped_to_the_end(client):
    assert "ExpBackward0" in client.wait_for("stopped")["description"]
    client.request("next", threadId=1)
    client.wait_for("stopped")
    client.request("setFunctionBreakpoints", breakpoints=[])
    client.request("continue", threadId=1)
    return client.wait_for("agdbg/ended")


def test_a_script_waits_at_a_port_and_is_stepped(start, tmp_path):
    program = start("-m", "agdbg", "listen", "--wait", "small.py", "unused")
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    program.until("waiting for a client")
    with joined(found[1], found[2], name="Exp*") as client:
        status = client.request("agdbg/status")
        assert (status["pid"], status["argv"]) == (program.process.pid, ["small.py", "unused"])
        ended = stepped_to_the_end(client)
        assert (ended["exit"], ended["signal"]) == (0, None)
        assert client.wait_for("exited") == {"exitCode": 0}
        assert client.request("agdbg/rows", start=0, count=10)["total"] == 3
    status, printed = program.end()
    assert (status, printed) == (0, plain(tmp_path))
    assert Trace.open(ended["trace"]).meta["exit"]["status"] == 0


@pytest.mark.parametrize("how", ["script", "module"])
def test_the_stack_begins_with_the_program(start, tmp_path, how):
    """What an installer writes to start agdbg is a file like any other, and no frame of the program."""
    (tmp_path / "starter").write_text(
        "import sys\nfrom agdbg.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    words = ["small.py"] if how == "script" else ["-m", "small"]
    program = start(
        tmp_path / "starter", "listen", "--wait", *words, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])
    )
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2], name="Exp*") as client:
        client.wait_for("stopped")
        frames = client.request("stackTrace", threadId=1)["stackFrames"]
        assert [each["source"]["name"] for each in frames if "source" in each and each["name"] == "<module>"] == [
            "small.py"
        ]
        assert "starter" not in str(frames)
        client.request("setFunctionBreakpoints", breakpoints=[])
        client.request("continue", threadId=1)
        client.wait_for("agdbg/ended")
    assert program.end() == (0, plain(tmp_path))


def test_a_script_that_nobody_joins_runs_as_ever(start, tmp_path):
    program = start("-m", "agdbg", "listen", "small.py")
    assert program.end() == (0, plain(tmp_path))
    assert "the token is" in program.said[-1]
    assert "nothing to explain" in program.said[-1]


def test_its_exit_status_is_the_programs(start, tmp_path):
    path = own(tmp_path, "import sys\nsys.exit(7)\n")
    assert start("-m", "agdbg", "listen", path).end()[0] == 7


@pytest.mark.parametrize("late", [False, True], ids=["before the engine", "after it has recorded"])
def test_a_program_listens_by_itself(start, tmp_path, late):
    first = "import agdbg_engine as ag\nold = ag.ones(2, requires_grad=True) * 2\n" if late else ""
    last = "old.sum().backward()\n" if late else ""
    path = own(tmp_path, f"import agdbg\n{first}agdbg.listen(wait=True)\n{SMALL}{last}")
    program = start(path)
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2], name="Exp*") as client:
        ended = stepped_to_the_end(client)
        assert ended["exit"] is None  # a parent alone is told, and the program does not know itself
        assert not any(each["event"] == "exited" for each in client.events)
        assert client.request("agdbg/status")["state"] == "ended"
        watched = client.request(
            "dataBreakpointInfo", name="x"
        )  # nothing is written to, nor can this hub start it anew
        assert watched["dataId"] is None and "cannot be started anew here" in watched["description"]
    assert program.end() == (0, plain(tmp_path))


def test_listening_under_a_recording_goes_on_with_it(start, tmp_path):
    path = own(tmp_path, f"import agdbg, agdbg_engine\nagdbg.listen(wait=True)\n{SMALL}")
    program = start("-m", "agdbg", "run", "--headless", path)
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2], name="Exp*") as client:
        assert stepped_to_the_end(client)["exit"] == 0
        assert client.request("agdbg/rows", start=0, count=10)["total"] == 3
    assert program.end()[0] == 0


@pytest.mark.parametrize("how", ["by the command", "in the program"])
def test_extras_are_recorded(start, tmp_path, how):
    if how == "by the command":
        program = start("-m", "agdbg", "listen", "--also", "shapes", "--trace", "traced", "small.py")
        trace = tmp_path / "traced"
    else:
        path = own(tmp_path, f"import agdbg\nprint(agdbg.listen(also='shapes').trace)\n{SMALL}")
        program, trace = start(path), None
    status, printed = program.end()
    assert status == 0
    assert Facts(Trace.open(trace or printed.splitlines()[0])).shape(1) is not None


def test_a_stop_in_the_programs_own_code(start, tmp_path):
    text = SMALL.replace("loss.backward()", "agdbg.breakpoint()\nloss.backward()")
    program = start(own(tmp_path, f"import agdbg\nagdbg.listen(wait=True)\n{text}"))
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2]) as client:
        assert "agdbg.breakpoint()" in str(client.wait_for("stopped"))
        assert client.request("stackTrace", threadId=1)["stackFrames"][0]["source"]["name"] == "own.py"
        client.request("continue", threadId=1)
        client.wait_for("agdbg/ended")
    assert program.end() == (0, plain(tmp_path))


def test_an_uncaught_error_is_known(start, tmp_path):
    path = own(tmp_path, f"import agdbg\nagdbg.listen(wait=True)\n{SMALL}raise KeyError('no')\n")
    program = start(path)
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2]) as client:
        assert client.wait_for("exited") == {"exitCode": 1}
    assert program.end()[0] == 1


def test_a_second_call_and_a_socket_of_this_user(start, tmp_path):
    place = tmp_path / "here.sock"
    path = own(
        tmp_path,
        f"import agdbg\na = agdbg.listen(path={str(place)!r})\nb = agdbg.listen(wait=True)\nassert a is b\n{SMALL}",
    )
    program = start(path)
    assert program.until(r"listening at (\S+);")[1] == str(place)
    program.until("waiting")
    assert place.stat().st_mode & 0o777 == 0o600
    with joined(place, name="Exp*") as client:
        hub = os.pidfd_open(int(client.request("agdbg/status")["pid"]))
        stepped_to_the_end(client)
    os.close(hub)
    assert program.end()[0] == 0


def test_a_killed_hub_lets_the_program_go(start, tmp_path):
    program = start("-m", "agdbg", "listen", "--wait", "small.py")
    found = program.until(r"listening at (\S+):(\d+); the token is (\S+)")
    program.until("waiting")
    (hub,) = (tmp_path / "run" / "agdbg").iterdir()
    os.kill(int(json.loads((hub / "hub.json").read_text())["pid"]), 9)
    assert program.end() == (0, plain(tmp_path))
    with pytest.raises(OSError):
        socket.create_connection((found[1], int(found[2])), PATIENCE_S)


def test_a_hub_that_is_killed_at_a_stop_lets_the_program_go(start, tmp_path):
    program = start(own(tmp_path, f"import agdbg\nagdbg.listen(wait=True)\n{SMALL}"))
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2], name="Exp*") as client:
        client.wait_for("stopped")
        (hub,) = (tmp_path / "run" / "agdbg").iterdir()
        os.kill(int(json.loads((hub / "hub.json").read_text())["pid"]), 9)
        with pytest.raises(Disconnected):
            client.request("threads")
    assert program.end() == (0, plain(tmp_path))


def test_a_forked_child_neither_stops_nor_listens(start, tmp_path):
    text = """
import agdbg, os, sys
import agdbg_engine as ag
agdbg.listen(wait=True)
x = ag.ones(2, requires_grad=True)
pid = os.fork()
loss = x.exp().sum()
loss.backward()
if not pid:
    try:
        agdbg.listen()
    except Exception as error:
        print("child:", x.grad.tolist(), error, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print("parent:", x.grad.tolist())
"""
    program = start(own(tmp_path, text))
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2], name="Exp*") as client:
        client.wait_for("stopped")
        client.request("setFunctionBreakpoints", breakpoints=[])
        client.request("continue", threadId=1)
        client.wait_for("agdbg/ended")
        assert not [each for each in client.events if each["event"] == "stopped"]
    status, printed = program.end()
    child, parent = sorted(printed.splitlines())
    assert (status, child[6:40], "was forked from one" in child) == (0, parent[7:41], True)


def test_a_killed_program_is_told_of_without_a_status(start, tmp_path):
    path = own(tmp_path, "import agdbg, os\nagdbg.listen(wait=True)\nos.kill(os.getpid(), 9)\n")
    program = start(path)
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2]) as client:
        assert client.wait_for("agdbg/ended") == {"exit": None, "signal": None, "trace": ""}


def test_what_is_refused_to_a_program_with_its_own_terminal(start, tmp_path):
    path = own(tmp_path, f"import agdbg\nagdbg.listen(wait=True)\n{SMALL}")
    program = start(path)
    found = program.until(r"listening at (\S+:\d+); the token is (\S+)")
    with joined(found[1], found[2], name="Exp*") as client:
        client.wait_for("stopped")
        for command, arguments in {"agdbg/input": {"text": "y\n"}, "agdbg/resize": {"columns": 9, "rows": 9}}.items():
            with pytest.raises(RequestFailed, match="has its own terminal"):
                client.request(command, **arguments)
        assert client.request("agdbg/output", start=0, length=9)["total"] == 0
        client.request("terminate")
        client.wait_for("agdbg/ended")
    assert program.end()[0] == -15


@pytest.mark.parametrize("token", ["wrong", "", None])
def test_the_token_is_wanted(start, token):
    program = start("-m", "agdbg", "listen", "--wait", "small.py", AGDBG_TOKEN="open sesame")
    found = program.until(r"listening at (\S+:\d+); the token is the one given")
    port = found[1].rpartition(":")[2]
    program.until(rf"join by agdbg attach --host 127.0.0.1 --port {port} with the token in AGDBG_TOKEN, or in a file")
    assert "open sesame" not in "".join(program.said)
    client = Client.connect(found[1], token=token, timeout=PATIENCE_S)
    client.request("initialize", adapterID="agdbg")
    with pytest.raises(RequestFailed, match="the token is not the one" if token else "wants its token first"):
        client.request("attach")
    with pytest.raises(Disconnected):
        client.request("threads")
    with joined(found[1], "open sesame"):
        assert program.end()[0] == 0
    assert "open sesame" not in "".join(program.said)


def test_the_program_does_not_inherit_the_token_of_its_hub(start, tmp_path):
    path = own(tmp_path, "import os\nprint(os.environ.get('AGDBG_TOKEN'))\n")
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_text("open sesame\n")
    assert start("-m", "agdbg", "listen", "--token-file", secret, path).end()[1] == "None\n"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--token-file", "loose", "small.py"], "chmod 0600 loose"),
        (["--token-file", "missing", "small.py"], "No such file"),
        (["--token-file", "empty", "small.py"], "it is empty"),
        (["--host", "256.0.0.1", "small.py"], "name another host"),
        (["--path", "small.py", "small.py"], "name another path"),
        (["--also", "weights", "small.py"], "nothing called 'weights'"),
        ([], "nothing to run"),
    ],
)
def test_what_listen_refuses(start, tmp_path, options, told):
    (tmp_path / "loose").write_text("t")
    (tmp_path / "loose").chmod(0o644)
    (tmp_path / "empty").touch(0o600)
    program = start("-m", "agdbg", "listen", *options)
    assert program.end()[0] == 2
    assert told in program.said[-1]
    assert (tmp_path / "small.py").read_text() == SMALL


# ----- agdbg attach -----


def attach(tmp_path, *words, **environment):
    known = {name: value for name, value in os.environ.items() if name != "AGDBG_TOKEN"}
    return subprocess.run(
        [sys.executable, "-m", "agdbg", "attach", *words], cwd=tmp_path, env=known | environment, text=True,
        capture_output=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_attach_at_a_port_by_commands(start, tmp_path):
    path = own(tmp_path, f"import os\nwhile not os.path.exists('enough'):\n{textwrap.indent(SMALL, '    ')}")
    program = start("-m", "agdbg", "listen", path, AGDBG_TOKEN="open sesame")
    port = program.until(r"listening at 127.0.0.1:(\d+)")[1]
    wrong = attach(tmp_path, "--port", port, "--batch", "-x", "info passes", AGDBG_TOKEN="wrong")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "the token is not the one" in wrong.stderr
    commands = ["-x", "pause", "-x", "where", "-x", "next"]
    found = attach(tmp_path, "--port", port, "--batch", *commands, AGDBG_TOKEN="open sesame")
    assert (found.returncode, "own.py" in found.stdout) == (0, True), found.stdout + found.stderr
    (tmp_path / "enough").touch()
    status, printed = program.end()
    assert (status, set(printed.splitlines(keepends=True))) == (0, {plain(tmp_path)})


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--port", "1"], "wants its token"),
        (["--port", "70000", "--token", "t"], "between 1 and 65535"),
        (["--host", "h"], "--host goes with --port"),
        (["--token-file", "f"], "--token-file goes with --port"),
        (["12", "--port", "1", "--token", "t"], "name two programs"),
        (["--port", "1", "--token", "t", "--batch"], "no hub answers at 127.0.0.1:1"),
        (["/no/such.sock", "--batch"], "no hub answers at /no/such.sock"),
    ],
)
def test_what_attach_refuses(tmp_path, words, told):
    done = attach(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_that_nothing_runs_is_said_and_is_no_failure(monkeypatch, capsys):
    said = []
    monkeypatch.setattr(place, "running", list)
    monkeypatch.setattr(attach_command, "tell", said.append)
    assert [cli.main(["attach", "--list", *words]) for words in ([], ["--json"])] == [0, 0]
    assert (capsys.readouterr().out, said) == ("[]\n", ["nothing runs under agdbg; agdbg run SCRIPT starts something"])


def test_each_that_runs_is_listed_with_the_process_number_of_its_program(monkeypatch, capsys):
    hubs = [place.HubInfo(Path(f"/run/{name}"), 1, ["a.py"], "/w", "", 0.0, pid) for name, pid in (("7", 12), ("8", 0))]
    monkeypatch.setattr(place, "running", lambda: hubs)
    assert cli.main(["attach", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == ["7  a.py  (pid 12, in /w)", "8  a.py  (in /w)"]
    assert cli.main(["attach", "--list", "--json"]) == 0
    assert [each["pid"] for each in json.loads(capsys.readouterr().out)] == [12, None]


def test_a_breakpoint_of_the_programs_own_waits_for_nobody_and_says_so_once(start, tmp_path):
    text = SMALL.replace("loss.backward()", "[agdbg.breakpoint() for _ in range(2)]\nloss.backward()")
    program = start(own(tmp_path, f"import agdbg\nagdbg.listen()\n{text}"))
    assert program.until(r"agdbg.breakpoint\(\): (.*)\n")[1] == "no debugger has joined the program, so it goes on."
    assert program.end() == (0, plain(tmp_path))


def test_what_is_no_port_is_refused_before_anything_begins(start, tmp_path):
    text = """
import agdbg
for port in (99999, -1, "x", None, True):
    try:
        agdbg.listen(port=port)
    except Exception as error:
        print(error)
found = agdbg.listen()
assert agdbg.listen(port=int(found.address.rpartition(":")[2])) is found
assert agdbg.listen(port=1 if found.address.endswith(":2") else 2) is found
"""
    program = start(own(tmp_path, text))
    status, printed = program.end()
    end = ": a port is a whole number from 0 to 65535; 0 takes any that is free"
    assert printed.splitlines() == [f"port {port}{end}" for port in ("99999", "-1", "'x'", "None", "True")]
    assert (status, "".join(program.said).count("is not used: this program can be reached at")) == (0, 1)
    program = start("-m", "agdbg", "listen", "--port", "99999", "small.py")
    assert program.end()[0] == 2
    assert "".join(program.said) == f"agdbg: error: port 99999{end}\n"
