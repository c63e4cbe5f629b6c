"""Two clients at one real hub: the breakpoints of both are there, whoever sets one."""

import asyncio
import os
import signal
from contextlib import suppress

import pytest

from agdbg.hub.starting import start_hub
from agdbg.protocol.async_client import AsyncClient
from agdbg_ui.session import Session

PATIENCE_S = 60.0
SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
h = x * x
y = h.exp()
loss = y.sum()
loss.backward()
"""


@pytest.fixture
def hub(tmp_path, monkeypatch):
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    started = start_hub()
    fd = os.pidfd_open(started.pid)
    yield started.client_socket
    with suppress(ProcessLookupError):  # it has ended with its last client
        signal.pidfd_send_signal(fd, signal.SIGTERM)
    os.close(fd)


def test_neither_client_takes_away_what_the_other_has_set(hub, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    path, told = str(script), asyncio.Queue()

    async def main():
        first = await AsyncClient.connect(hub)
        posted = asyncio.Queue()
        ours = Session(await AsyncClient.connect(hub), posted.put_nowait)
        first.on_event = lambda message: told.put_nowait(message)
        await first.request("initialize", clientID="editor", adapterID="agdbg", pathFormat="path")
        await first.request("launch", program=path, trace=str(tmp_path / "traced"), cwd=str(tmp_path), stopOnEntry=True)
        await first.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": 4}])
        await first.request("setFunctionBreakpoints", breakpoints=[{"name": "Exp*"}])
        await first.request("configurationDone")
        await until(told, lambda message: message["event"] == "stopped")

        await ours.attach({})
        assert ours.breakpoints.all == ["Exp*", "train.py:4"]
        assert await ours.breakpoints.toggle_line(path, 6)
        body = await until(told, lambda message: message["event"] == "breakpoint")
        assert (body["reason"], body["breakpoint"]["line"]) == ("new", 6)

        await first.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": 6}])
        async with asyncio.timeout(PATIENCE_S):
            while ours.breakpoints.lines(path) != [6]:
                await posted.get()
        assert not await ours.breakpoints.toggle_name("Exp*")
        await until(told, lambda message: message["body"].get("reason") == "removed")
        await ours.part(True, PATIENCE_S)
        ours.close()
        first.close()

    asyncio.run(main())


async def until(told, wanted):
    """The body of the next event that is wanted."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            message = await told.get()
            if wanted(message):
                return message["body"]
