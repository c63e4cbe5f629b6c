"""A recording that is damaged, or stopped before its program: every command and every client says so."""

import re
import shutil
import subprocess
import sys

import pytest
from agdbg_tests_checked_client import CheckedClient

from agdbg import cli
from agdbg.hub.starting import start_hub

PROGRAM = "import agdbg_engine as torch\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\n"
#: Its files may not grow any more from some moment on, as on a full disk.
FULL = """
import resource, signal, sys
import agdbg_engine as torch
x = torch.ones(3, requires_grad=True)
(x * x).sum().backward()
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
for _ in range(300):
    (x * x * x).sum().backward()
input()
print("grad", x.grad.tolist())
"""
#: How many records there are is a matter of how many batches the time sufficed for.
DAMAGE = re.compile(
    r"records\.bin: of \d+ records those from 1 to \d+ are not as written, so what is told of the trace may be wrong"
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "p.py").write_text(PROGRAM)
    run = [sys.executable, "-m", "agdbg", "run", "--headless", "--trace", "t", "p.py"]
    subprocess.run(run, cwd=folder, check=True, capture_output=True)
    return folder / "t"


@pytest.fixture
def damaged(recorded, tmp_path):
    shutil.copytree(recorded, tmp_path / "t")
    with open(tmp_path / "t" / "records.bin", "r+b") as file:
        file.seek(70)
        file.write(b"\xff\xff\xff")
    return tmp_path / "t"


@pytest.mark.parametrize(
    "words",
    [
        ["export", "{}", "-o", "{}/../g.svg"],
        ["trace", "export", "{}", "--json", "{}/../t.json"],
        ["trace", "query", "by-op", "{}"],
        ["trace", "report", "memory", "{}"],
        ["trace", "report", "memory", "{}", "--json"],
        ["trace", "info", "{}"],
        ["explain", "{}"],
        ["diff", "{}", "{}"],
        ["diff", "{}", "{}", "--json"],
    ],
)
def test_each_command_says_that_a_recording_is_damaged(damaged, recorded, capfd, words):
    cli.main([word.format(damaged) for word in words])
    said = "".join(capfd.readouterr())
    assert len(DAMAGE.findall(said)) == (2 if "diff" in words else 1)
    cli.main(
        [word.format(recorded) for word in words] + (["--force"] if "export" in words and "trace" in words else [])
    )
    assert not DAMAGE.search("".join(capfd.readouterr()))


def joined(address, **arguments):
    client = CheckedClient.connect(address.client_socket, timeout=60)
    client.request("initialize", adapterID="agdbg")
    client.request("attach", **arguments)
    client.request("configurationDone")
    return client


def test_a_client_is_told_that_the_trace_it_has_opened_is_damaged(damaged):
    address = start_hub()
    client = joined(address, trace=str(damaged))
    troubles = client.wait_for("agdbg/troubled")["troubles"]
    assert [trouble["kind"] for trouble in troubles] == ["damaged"]
    assert DAMAGE.fullmatch(troubles[0]["text"].removeprefix("the trace is damaged: "))
    later = joined(address)
    assert later.request("agdbg/status")["troubles"] == troubles
    for each in (client, later):
        each.close()


def test_a_whole_trace_has_no_troubles(recorded):
    client = joined(start_hub(), trace=str(recorded))
    client.wait_for("agdbg/grew")
    assert client.request("agdbg/findings")["problems"] == []  # by the same worker, after it has looked
    assert client.request("agdbg/status")["troubles"] == []
    client.close()


def test_clients_are_told_while_the_program_goes_on_that_recording_has_stopped(tmp_path):
    (tmp_path / "p.py").write_text(FULL)
    client = CheckedClient.connect(start_hub().client_socket, timeout=60)
    client.request("initialize", adapterID="agdbg")
    client.request("launch", program=str(tmp_path / "p.py"), cwd=str(tmp_path), trace="t")
    client.request("configurationDone")
    (trouble,) = client.wait_for("agdbg/troubled")["troubles"]
    assert trouble["kind"] == "stopped"
    reason = "File too large: this process may write files of 20,000 bytes at most (ulimit -f)"
    assert trouble["text"] == f"recording stopped: {reason}; what came later is not in {tmp_path / 't'}"
    status = client.request("agdbg/status")
    assert (status["state"], status["troubles"]) == ("running", [trouble])
    assert client.request("agdbg/rows", start=0, count=1)["total"] > 5  # what was recorded is shown
    client.request("agdbg/input", text="\n")
    assert client.wait_for("exited") == {"exitCode": 0}
    assert "grad [902.0, 902.0, 902.0]" in (tmp_path / "t" / "output.log").read_text()
    client.close()
