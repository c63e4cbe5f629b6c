"""What is recorded beside the graph: asked for on a command line or by a client, and told by the trace."""

import argparse
import os
import select
import signal
import time

import pytest

from agdbg.commands import run
from agdbg.errors import InputError
from agdbg.events import Kind
from agdbg.extras import EXTRAS, checked, extras_of
from agdbg.hub.program import LaunchSpec, command_of
from agdbg.hub.starting import start_hub
from agdbg.protocol.client import Client, RequestFailed
from agdbg.record import Facts, Trace
from agdbg.record.info import summary

SCRIPT = """\
import agdbg_engine as ag
from agdbg_engine import nn
ag.manual_seed(1)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x = ag.ones(2, 3)
y = model(x)
y.register_hook(lambda g: g * 2)
loss = (y * y).sum()
loss.backward()
print([p.grad.tolist() for p in model.parameters()])
"""
PATIENCE_S = 30.0


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("shapes", {"shapes"}),
        ("values, shapes", {"shapes", "values"}),
        ("all", set(EXTRAS)),
        ("values,all", set(EXTRAS)),
        ("none", set()),
        ("", set()),
    ],
)
def test_names_on_a_command_line(text, names):
    assert extras_of(text) == names


@pytest.mark.parametrize("text", ["shape", "all,none", "shapes,everything"])
def test_other_names_are_refused(text):
    with pytest.raises(InputError, match="there are shapes, values, checksums"):
        extras_of(text)
    with pytest.raises(InputError):
        checked(text.split(","))


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


def kinds_of(path):
    """The extras that a trace has, by its records and by what its header says."""
    trace = Trace.open(path)
    facts = Facts(trace)
    kinds = {"shapes": Kind.SHAPE, "values": Kind.SUMMARY, "checksums": Kind.PROBE}
    found = {name for name, kind in kinds.items() if len(facts.rows(kind))}
    assert found == {name for name in EXTRAS if trace.meta["sees"][name]}
    return found


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), set()),
        (("--also", "values"), {"values"}),
        (("--also=all",), set(EXTRAS)),
        (("--also", "values", "--also=shapes"), {"shapes", "values"}),
    ],
)
def test_a_run_records_what_was_asked_for_and_prints_the_same(programs, options, names):
    programs.write({"script.py": SCRIPT})
    plain = programs.run(programs.agdbg_command(["script.py"], options=["--no-trace", "--headless"]))
    run = programs.run(programs.agdbg_command(["script.py"], options=["--headless", "--trace", "t", *options]))
    assert (run.status, run.stdout) == (0, plain.stdout)
    assert kinds_of(programs.directory / "t") == names
    counts = summary(Trace.open(programs.directory / "t"))["records"]
    assert {"module", "tensor"} <= set(counts)


@pytest.mark.parametrize(
    ("options", "also"),
    [
        ([], ["shapes"]),
        (["--also", "values"], ["shapes", "values"]),
        (["--also=values,checksums"], ["checksums", "shapes", "values"]),
        (["--also", "none"], []),
        (["--also", "none", "--also", "values"], ["shapes", "values"]),
    ],
)
def test_what_is_named_for_the_screen_takes_no_shapes_away(options, also):
    parser = argparse.ArgumentParser()
    run.configure(parser.add_subparsers(), {})
    assert run.launch_arguments(parser.parse_args(["run", *options, "script.py"]))["also"] == also


def test_a_name_that_is_none_is_told_before_anything_runs(programs):
    programs.write({"script.py": SCRIPT})
    run = programs.run(programs.agdbg_command(["script.py"], options=["--also", "gradients"]))
    assert (run.status, run.stdout) == (2, "")
    assert "nothing called 'gradients' can be recorded" in run.stderr


def test_a_hub_hands_it_on(tmp_path):
    class Runtime:
        directory = tmp_path

    command = command_of(LaunchSpec("script.py", also=["shapes", "values"]), Runtime, tmp_path)
    assert command[command.index("--also") + 1] == "shapes,values"
    assert "--also" not in command_of(LaunchSpec("script.py"), Runtime, tmp_path)


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A client of a hub of its own."""
    (tmp_path / "script.py").write_text(SCRIPT)
    address = start_hub()
    fd = os.pidfd_open(address.pid)
    client = Client.connect(address.client_socket, timeout=PATIENCE_S)
    client.request("initialize", adapterID="agdbg")
    yield client
    client.close()
    if not select.select([fd], [], [], 0)[0]:
        os.kill(address.pid, signal.SIGKILL)
    select.select([fd], [], [], PATIENCE_S)
    os.close(fd)


def launch(client, tmp_path, **arguments):
    script, trace = str(tmp_path / "script.py"), str(tmp_path / "trace")
    client.request("launch", program=script, cwd=str(tmp_path), trace=trace, stopOnEntry=True, **arguments)
    client.request("setExceptionBreakpoints", filters=[])
    client.request("configurationDone")


def test_gradients_are_summarised_where_a_pass_is_stepped_through(client, tmp_path):
    launch(client, tmp_path, also=list(EXTRAS))
    client.wait_for("stopped")
    for command in ("next", "next", "stepBack", "next", "stepIn", "stepIn", "next", "stepOut"):
        client.request(command, threadId=1, **({"force": True} if command == "stepBack" else {}))
        client.wait_for("stopped")
    client.request("continue", threadId=1)
    client.wait_for("exited")
    wait_until_closed(tmp_path / "trace")
    assert kinds_of(tmp_path / "trace") == set(EXTRAS)
    facts = Facts(Trace.open(tmp_path / "trace"))
    ran = facts.ran(1).tolist()
    arrived = {s.node for n in ran for s in facts.summaries(n) if s.what == "gradient in"}
    sent = {s.node for n in ran for s in facts.summaries(n) if s.what == "gradient out"}
    leaves = {n for n in ran if facts.node(n).op.name == "AccumulateGrad"}
    assert arrived == set(ran) and sent == set(ran) - leaves
    assert facts.silent_writes == [] and len(facts.rows(Kind.UNDONE)) == 1


def wait_until_closed(path):
    """The program closes its trace as the last thing it does."""
    deadline = time.monotonic() + PATIENCE_S
    while not Trace.open(path).closed and time.monotonic() < deadline:
        select.select([], [], [], 0.02)
    assert Trace.open(path).closed


def test_a_launch_with_another_name_is_refused(client, tmp_path):
    with pytest.raises(RequestFailed, match="also"):
        launch(client, tmp_path, also=["everything"])
