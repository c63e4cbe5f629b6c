"""Consoles on real hubs with real programs, for the tests of test_console_*.py."""

import os
import re
import select
import signal

from agdbg_tests_checked_client import CheckedClient

from agdbg.console import Console

PATIENCE_S = 30.0
#: A pass of five nodes: sum 5, exp 4, mul 3, and the leaves x 1 and w 2.
SMALL = """\
import agdbg_engine as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 5.0], requires_grad=True)
h = x * w
y = h.exp()
loss = y.sum()
loss.backward()
print("grads", *(None if t.grad is None else t.grad.tolist() for t in (x, w)))
"""


class ConsoleStage:
    """Starts hubs with a console each, and ends what is left of them."""

    def __init__(self, directory, start_hub):
        self.directory = directory
        self._start_hub = start_hub
        self._hubs = []
        self._clients = []

    def hub(self):
        address = self._start_hub()
        self._hubs.append((address.pid, os.pidfd_open(address.pid)))
        return address.client_socket

    def client(self, address):
        client = CheckedClient.connect(address, timeout=PATIENCE_S)
        self._clients.append(client)
        client.request("initialize", adapterID="agdbg")
        return client

    def script(self, text, name="script.py"):
        path = self.directory / name
        path.write_text(text)
        return path

    def console(self, text, **launch):
        """A console on a program that was not started yet."""
        path = self.script(text)
        launch = {"program": str(path), "cwd": str(self.directory), **launch}
        return Said(self.client(self.hub()), launch=launch)

    def opened(self, trace):
        """A console on a trace, which stands where a reader begins."""
        client = self.client(self.hub())
        client.request("attach", trace=str(trace))
        client.request("configurationDone")
        console = Said(client)
        if not console.state.stops:  # else it was there already
            console.arrived()
        return console

    def joined(self, address):
        """Another console on what a hub runs."""
        client = self.client(address)
        client.request("attach")
        client.request("configurationDone")
        return Said(client)

    def close(self):
        for client in self._clients:
            client.close()
        for pid, fd in self._hubs:
            if not select.select([fd], [], [], 0)[0]:
                os.kill(pid, signal.SIGKILL)
            assert select.select([fd], [], [], PATIENCE_S)[0]
            os.close(fd)


class Said(Console):
    """A console that keeps what the program has printed; ``do`` gives the text of a reply."""

    def __init__(self, client, **more):
        self.printed = ""
        super().__init__(client, on_output=self._keep, **more)

    def _keep(self, text):
        self.printed += text.replace("\r\n", "\n")

    def do(self, *lines):
        """Do commands; the text of the last."""
        return [self.execute(line).text for line in lines][-1]

    def value(self, line):
        return self.execute(line).value

    def end(self):
        """Let the program run to its end; what it has printed."""
        self.let_go()
        self.drain()
        return self.printed

    def grads(self):
        """The gradients that SMALL has printed at its end."""
        found = re.search(r"grads (.*)", self.end())
        assert found is not None, self.printed
        return found[1]
