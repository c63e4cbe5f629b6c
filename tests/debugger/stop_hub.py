"""A real hub with a real program, for the tests of where it stops (test_stops_*.py)."""

import os
import select
import signal
from pathlib import Path
from time import monotonic

from agdbg_tests_checked_client import CheckedClient

PATIENCE_S = 60.0


class Stopper(CheckedClient):
    """A client that knows the program that it has launched."""

    directory = None

    # ----- before it runs -----

    def prepare(self, text):
        """Get a script ready to be run."""
        self.script = self.directory / "script.py"
        self.script.write_text(text)
        self.request("launch", program=str(self.script), cwd=str(self.directory))
        self.request("setExceptionBreakpoints", filters=[])
        return self

    def line(self, part):
        """The number of the first line of the script with ``part`` in it."""
        return next(n for n, text in enumerate(self.script.read_text().splitlines(), 1) if part in text)

    def on_names(self, *wanted):
        wanted = [{"name": each} if isinstance(each, str) else each for each in wanted]
        return self.request("setFunctionBreakpoints", breakpoints=wanted)["breakpoints"]

    def on_lines(self, *wanted):
        return self.request("setBreakpoints", source={"path": str(self.script)}, breakpoints=list(wanted))[
            "breakpoints"
        ]

    def on_events(self, *wanted):
        wanted = [{"kind": each} if isinstance(each, str) else each for each in wanted]
        return self.request("agdbg/setEventBreakpoints", kinds=wanted)["breakpoints"]

    def on_errors(self, *filters, **options):
        wanted = [{"filterId": name, **rule} for name, rule in options.items()]
        return self.request("setExceptionBreakpoints", filters=list(filters), filterOptions=wanted)["breakpoints"]

    def watch(self, *wanted):
        wanted = [{"dataId": each} if isinstance(each, str) else each for each in wanted]
        return self.request("setDataBreakpoints", breakpoints=wanted)["breakpoints"]

    # ----- while it runs -----

    def run(self):
        """Start the program, and wait for its first stop; None when it ends without one."""
        self.request("configurationDone")
        return self.stopped()

    def stopped(self):
        return self._either("stopped", "exited")

    def go(self, command="continue"):
        """Go on, and wait for the next stop; None when the program has ended."""
        self.request(command, threadId=1)
        return self.stopped()

    def _either(self, *names):
        """The body of the first event of these, None for the last of them."""
        while True:
            for each in list(self.events):
                if each["event"] in names:
                    self.events.remove(each)
                    if each["event"] == names[-1]:
                        self.exit = each["body"]["exitCode"]
                        return None
                    return each["body"]
            assert self._read(monotonic() + PATIENCE_S), "the program says nothing"

    def all_stops(self):
        """The descriptions of all stops to the end of the program."""
        stops, stop = [], self.run()
        while stop is not None:
            stops.append(stop["description"])
            stop = self.go()
        return stops

    def value(self, expression, frame=None):
        asked = {} if frame is None else {"frameId": frame}
        return self.request("evaluate", expression=expression, **asked)["result"]

    def printed(self):
        """All that the program has printed."""
        total = self.request("agdbg/output", start=0, length=0)["total"]
        return self.request("agdbg/output", start=0, length=min(total, 200_000))["text"].replace("\r", "")

    def none_of_event(self, event):
        """True when no such event is there; those that were sent before the last answer are."""
        self.request("threads")
        return not any(each["event"] == event for each in self.events)

    def said(self):
        """What the hub has said beside answers: log messages, for example."""
        self.request("threads")  # what was sent before its answer is there
        return [
            e["body"]["output"].rstrip("\n")
            for e in self.events
            if e["event"] == "output" and e["body"]["category"] == "console"
        ]


class StopHub:
    """A hub; ``client()`` connects to it."""

    def __init__(self, directory, start_hub):
        self.directory = directory
        self.address = start_hub()
        self.fd = os.pidfd_open(self.address.pid)
        self.clients = []

    def client(self):
        client = Stopper.connect(self.address.client_socket, timeout=PATIENCE_S)
        client.directory = Path(self.directory)
        self.clients.append(client)
        client.capabilities = client.request("initialize", adapterID="agdbg")
        return client

    def program(self, text):
        return self.client().prepare(text)

    def close(self):
        for client in self.clients:
            client.close()
        if not select.select([self.fd], [], [], 0)[0]:
            os.kill(self.address.pid, signal.SIGKILL)
        assert select.select([self.fd], [], [], PATIENCE_S)[0]
        os.close(self.fd)
