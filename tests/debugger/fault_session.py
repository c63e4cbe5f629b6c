"""A client with a short session, run as a process of its own: `python fault_session.py SCRIPT TRACE [unix | tcp]`.

Prints what it has seen, as one JSON list of the names of events and of how it ended.
"""

import json
import sys
from pathlib import Path

from agdbg.hub.starting import HubFailed, start_hub
from agdbg.protocol.client import Client, Disconnected, RequestFailed

PATIENCE_S = 60.0


class Ended(Exception):
    """The program has ended, with the body of the event that told of it."""


def await_stop(client):
    """The program stands.

    Raises:
        Ended: it does not any more.
    """
    while (message := client.next_event()) is not None:
        if message["event"] == "stopped":
            return
        if message["event"] == "agdbg/ended":
            raise Ended(message["body"])
    raise TimeoutError("nothing stopped")


def launch(client, script, trace):
    client.request("initialize", adapterID="agdbg")
    client.request("launch", program=script, trace=trace, cwd=str(Path(script).parent), stopOnEntry=True)
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "Mul*"}])
    client.request("configurationDone")


def session(client):
    await_stop(client)
    client.request("stackTrace", threadId=1)
    client.request("next", threadId=1)
    await_stop(client)
    client.request("evaluate", expression="1 + 1")
    client.request("continue", threadId=1)
    await_stop(client)
    client.request("setFunctionBreakpoints", breakpoints=[])
    client.request("continue", threadId=1)
    await_stop(client)


def outcome(client, script, trace):
    """How the program ended, whatever the hub refuses since it has; or why it did not begin."""
    try:
        launch(client, script, trace)
    except RequestFailed as error:
        return {"refused": str(error)}
    try:
        session(client)
    except Ended as ended:
        return ended.args[0]
    except RequestFailed:  # a thread that is gone cannot be asked
        return client.wait_for("agdbg/ended")


def connected(over):
    """To a hub of its own."""
    if over == "unix":
        return Client.connect(start_hub().client_socket, timeout=PATIENCE_S)
    hub = start_hub(["--listen", "127.0.0.1:0"])
    return Client.connect(hub.address, token=hub.token, timeout=PATIENCE_S)


def main(script, trace, over):
    try:
        client = connected(over)
        seen = outcome(client, script, trace)
    except (Disconnected, HubFailed) as error:
        seen = type(error).__name__
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
