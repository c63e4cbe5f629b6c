"""Real hubs with real programs: each a process of its own, as for a user."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from agdbg_tests_checked_client import CheckedClient

from agdbg.hub.awaiting import _READS
from agdbg.hub.starting import start_hub
from agdbg.protocol.client import Disconnected, RequestFailed
from agdbg.record import Trace

PATIENCE_S = 30.0
EXAMPLE = Path(__file__).parents[2] / "examples" / "digits_backward_twice.py"
SMALL = """
import agdbg_engine as torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
h = x * w
y = h.exp()
loss = y.sum()
loss.backward()
print("grad", x.grad.tolist())
"""


class Stepper(CheckedClient):
    def step(self, command):
        self.request(command, threadId=1)
        return self.wait_for("stopped")["description"]

    def entries(self, name):
        """The entries of a scope of the node at which the program stands."""
        scopes = self.request("scopes", frameId=10_000)["scopes"]
        reference = next(each["variablesReference"] for each in scopes if each["name"] == name)
        return reference, self.request("variables", variablesReference=reference)["variables"]


class Hub:
    """A hub, and what is known of it."""

    def __init__(self, directory):
        self.directory = directory
        self.address = start_hub()
        self.runtime = Path(self.address.client_socket).parent
        self.fd = os.pidfd_open(self.address.pid)
        self.clients = []

    def client(self):
        client = Stepper.connect(self.address.client_socket, timeout=PATIENCE_S)
        self.clients.append(client)
        client.request("initialize", adapterID="agdbg")
        return client

    def launched(self, program, filters=(), **arguments):
        if not isinstance(program, Path):
            script = self.directory / "script.py"
            script.write_text(program)
            program = script
        client = self.client()
        client.request("launch", program=str(program), cwd=str(self.directory), **arguments)
        client.request("setExceptionBreakpoints", filters=list(filters))
        client.request("configurationDone")
        return client

    def joined(self):
        client = self.client()
        client.request("attach")
        client.request("configurationDone")
        return client

    def has_ended(self):
        return has_ended(self.fd)

    def close(self):
        for client in self.clients:
            client.close()
        if not select.select([self.fd], [], [], 0)[0]:
            os.kill(self.address.pid, signal.SIGKILL)
        assert self.has_ended()
        os.close(self.fd)


def has_ended(pidfd):
    """True when the process has ended, for which it has some time."""
    return bool(select.select([pidfd], [], [], PATIENCE_S)[0])


@pytest.fixture
def hub(tmp_path):
    made = Hub(tmp_path)
    yield made
    made.close()


def printed(client, until):
    text = ""
    while until not in text:
        text += client.wait_for("output")["output"]
    return text


def test_stepping_there_and_back_with_a_changed_gradient(hub):
    client = hub.launched(SMALL, stopOnEntry=True)
    assert client.wait_for("stopped")["reason"] == "entry"
    assert "ExpBackward0" in client.step("next")
    first = client.entries("Gradients in")[1][0]["value"]
    assert "MulBackward0" in client.step("next")
    assert "ExpBackward0" in client.step("stepBack")
    reference, (gradient,) = client.entries("Gradients in")
    assert gradient["value"] == first
    client.request("setVariable", variablesReference=reference, name="0", value="grad * 0")
    assert client.request("evaluate", expression="x.tolist()", frameId=10_002)["result"] == "[1.0, 2.0]"
    client.request("continue", threadId=1)
    assert "grad [0.0, 0.0]" in printed(client, "]")
    assert client.wait_for("exited") == {"exitCode": 0}


def test_other_ranks_are_told_whether_this_one_stands(hub):
    client = hub.launched(SMALL, stopOnEntry=True, env={"RANK": "1", "WORLD_SIZE": "2"})

    def wait_until(stopped):
        ends = monotonic() + PATIENCE_S
        while json.loads((hub.runtime / "hub.json").read_text()).get("stopped", False) is not stopped:
            assert monotonic() < ends
            sleep(0.02)

    client.wait_for("stopped")
    wait_until(True)
    assert [each["stopped"] for each in client.request("agdbg/processes")["processes"] if each["isHere"]] == [True]
    client.request("continue", threadId=1)
    wait_until(False)


def test_inside_a_node_out_of_the_pass_and_its_elements(hub):
    client = hub.launched(SMALL, stopOnEntry=True)
    client.wait_for("stopped")
    client.step("next")
    client.step("next")
    _, saved = client.entries("Saved tensors")
    assert [each["name"] for each in saved] == ["self", "other"]
    reference = saved[1]["variablesReference"]
    elements = client.request("variables", variablesReference=reference, start=0, count=10)["variables"]
    assert [(each["name"], each["value"]) for each in elements] == [("[0]", "3.0"), ("[1]", "4.0")]
    client.step("stepIn")
    assert client.request("stackTrace", threadId=1)["stackFrames"][0]["name"].startswith("MulBackward0, ")
    client.step("stepOut")
    assert client.request("agdbg/rows", start=0, count=10)["total"] == 3


def test_breakpoints_on_a_line_and_on_a_name(hub):
    client = hub.client()
    script = hub.directory / "script.py"
    script.write_text(SMALL)
    client.request("launch", program=str(script), cwd=str(hub.directory))
    (line,) = client.request("setBreakpoints", source={"path": str(script)}, breakpoints=[{"line": 6}])["breakpoints"]
    (name,) = client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}])["breakpoints"]
    client.request("configurationDone")
    hit = []
    while len(hit) < 4:  # two nodes are built, and run in the opposite order
        stopped = client.wait_for("stopped")
        hit.append((*stopped["hitBreakpointIds"], stopped["reason"]))
        client.request("continue", threadId=1)
    on_line, on_name = (line["id"], "breakpoint"), (name["id"], "function breakpoint")
    assert hit == [on_name, on_line, on_line, on_name]
    client.wait_for("exited")


def test_an_error_is_diagnosed_before_its_pass_starts(hub):
    client = hub.launched(EXAMPLE, filters=["backward-twice"])
    stopped = client.wait_for("stopped")
    assert stopped["reason"] == "exception"
    info = client.request("exceptionInfo", threadId=1)
    assert info["exceptionId"] == "backward-twice"
    assert "retain_graph" in info["details"]["message"]
    assert "still runs" not in info["details"]["message"]  # that is said of a recording, not of an error
    client.request("continue", threadId=1)
    assert client.wait_for("exited") == {"exitCode": 1}
    client.request("stepBack", threadId=1)
    assert client.wait_for("stopped")["description"].startswith("in the recording")
    assert client.request("agdbg/findings")["findings"][0]["kind"] == "backward-twice"
    drawing = client.request("agdbg/export", path="graph.svg")
    assert Path(drawing["path"]).read_text().startswith("<svg")
    client.request("disconnect")
    assert hub.has_ended()
    assert not hub.runtime.exists()


def test_a_killed_client_leaves_the_program_and_a_new_one_joins(hub):
    client = hub.launched(SMALL, stopOnEntry=True, onOrphan="wait")
    client.wait_for("stopped")
    client.close()
    other = hub.joined()
    assert other.wait_for("stopped")["description"].startswith("before SumBackward0")
    other.request("continue", threadId=1)
    assert other.wait_for("exited") == {"exitCode": 0}


def test_a_killed_client_lets_the_program_run_to_its_end(hub):
    client = hub.launched(SMALL, stopOnEntry=True, trace="mine")
    client.wait_for("stopped")
    client.close()
    assert hub.has_ended()
    assert "grad" in (hub.directory / "mine" / "output.log").read_text()
    assert Trace.open(hub.directory / "mine").closed


def test_a_killed_hub_lets_the_program_run_to_its_end(hub):
    client = hub.launched(SMALL, stopOnEntry=True, trace="mine")
    client.wait_for("stopped")
    program = os.pidfd_open(client.request("agdbg/status")["pid"])
    os.kill(hub.address.pid, signal.SIGKILL)
    assert has_ended(program)
    os.close(program)
    with pytest.raises(Disconnected):
        client.request("threads")
    trace = Trace.open(hub.directory / "mine")
    assert (trace.closed, trace.problems) == (True, [])
    assert "grad" in (hub.directory / "mine" / "output.log").read_text()


def test_a_killed_program_leaves_its_trace(hub):
    client = hub.launched(SMALL, stopOnEntry=True)
    client.wait_for("stopped")
    client.step("next")
    client.step("next")
    os.kill(client.request("agdbg/status")["pid"], signal.SIGKILL)
    assert client.wait_for("agdbg/ended")["signal"] == "SIGKILL"
    assert client.request("agdbg/rows", start=0, count=10)["total"] == 3
    client.request("stepBack", threadId=1)
    assert client.wait_for("stopped")["description"].startswith("in the recording")


def test_going_back_from_the_first_node_is_refused(hub):
    client = hub.launched(SMALL, stopOnEntry=True)
    client.wait_for("stopped")
    for command in ("stepBack", "reverseContinue"):
        with pytest.raises(
            RequestFailed, match=r"no node ran before this, .*: before SumBackward0, node 1 of 5 .*, pass 1$"
        ):
            client.request(command, threadId=1)
    assert client.none_of("stopped")
    assert client.step("next").startswith("before ExpBackward0")
    client.request("continue", threadId=1)
    assert client.wait_for("exited") == {"exitCode": 0}


def test_a_pause_stops_at_the_next_node(hub):
    source = SMALL.replace(
        "loss.backward()", "print('now', flush=True)\nwhile True:\n    loss.backward(retain_graph=True)"
    )
    client = hub.launched(source)
    printed(client, "now")
    client.request("pause", threadId=1)
    assert client.wait_for("stopped")["reason"] == "pause"
    client.request("terminate")
    assert client.wait_for("agdbg/ended")["signal"] == "SIGTERM"


HOOKED = """\
import time
from pathlib import Path
import agdbg_engine as ag

def slow(grad):
    Path("begun").touch()
    while not Path("enough").exists():
        time.sleep(0.001)

x = ag.ones(3, requires_grad=True)
y = x.exp()
y.register_hook(slow)
y.sin().sum().backward()
input("done?")
"""


@pytest.mark.parametrize("entry", [True, False])
def test_while_a_hook_runs_its_node_is_told(hub, entry):
    client = hub.launched(HOOKED, stopOnEntry=entry)
    if entry:
        client.wait_for("stopped")
        assert client.request("agdbg/status")["runs"] == ""
        client.request("continue", threadId=1)
    end = monotonic() + PATIENCE_S
    while not (hub.directory / "begun").exists():
        assert monotonic() < end
    told = client.request("agdbg/status")
    assert told["state"] == "running" and re.fullmatch(r"ExpBackward0 #\d+, which calls hooks", told["runs"])
    (hub.directory / "enough").touch()
    printed(client, "done?")
    assert client.request("agdbg/status")["runs"] == ""
    client.request("agdbg/input", text="yes\n")
    assert client.wait_for("exited") == {"exitCode": 0}


def test_input_is_typed(hub):
    client = hub.launched("print('hello', input('name? '))")
    printed(client, "name? ")
    end = monotonic() + PATIENCE_S
    while _READS and not client.request("agdbg/status")["awaitsInput"]:
        assert monotonic() < end
    client.request("agdbg/input", text="Ada\n")
    assert "hello Ada" in printed(client, "Ada\r\nhello Ada")
    assert client.wait_for("agdbg/ended")["trace"] == ""
    client.request("disconnect")
    assert hub.has_ended()
    [kept] = (hub.directory / ".agdbg").glob("*/*")
    assert (kept.name, kept.read_text()) == ("output.log", "name? Ada\nhello Ada\n")


def test_a_program_that_ends_at_once(hub):
    client = hub.launched("raise SystemExit(7)")
    assert client.wait_for("exited") == {"exitCode": 7}
    assert client.request("agdbg/rows", start=0, count=5)["total"] == 0


def test_much_output_holds_up_nobody(hub):
    client = hub.launched("import sys\nfor i in range(1000): print('x' * 20_000)\nprint('THE END')")
    assert client.wait_for("exited") == {"exitCode": 0}
    total = client.request("agdbg/output", start=0, length=0)["total"]
    assert total > 20_000_000
    assert "THE END" in client.request("agdbg/output", start=total - 100, length=100)["text"]


def test_a_trace_is_opened(hub):
    client = hub.launched(SMALL, trace="mine")
    client.wait_for("agdbg/ended")
    client.request("disconnect")
    other = Hub(hub.directory)
    try:
        reader = other.client()
        reader.request("attach", trace=str(hub.directory / "mine"))
        reader.request("configurationDone")
        assert reader.wait_for("stopped")["description"].startswith("in the recording")
        status = reader.request("agdbg/status")
        assert (status["state"], status["exit"]) == ("trace", 0)
        assert "grad" in reader.request("agdbg/output", start=0, length=1000)["text"]
        with pytest.raises(RequestFailed, match="this is a trace"):
            reader.request("agdbg/input", text="a")
    finally:
        other.close()


def test_a_hub_at_a_port_prints_its_token(tmp_path):
    command = [sys.executable, "-m", "agdbg.hub", "--listen", "127.0.0.1:0"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    try:
        announced = json.loads(started.stdout.readline())
        client = Stepper.connect(announced["address"], token=announced["token"], timeout=PATIENCE_S)
        client.request("initialize", adapterID="agdbg")
        client.request("launch", program=str(EXAMPLE), cwd=str(tmp_path))
        client.close()
        assert started.wait(PATIENCE_S) == 0
    finally:
        started.kill()
        started.stdout.close()


@pytest.mark.parametrize(("word", "told"), [("nowhere", "no host and port"), ("256.0.0.1:99999", "--listen")])
def test_a_port_that_cannot_be_had(word, told):
    done = subprocess.run([sys.executable, "-m", "agdbg.hub", "--listen", word], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
