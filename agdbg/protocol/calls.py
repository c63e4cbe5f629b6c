"""What both clients share: they number requests, carry the token, and read responses."""

import re
from collections.abc import Mapping
from typing import Any

from agdbg.protocol import wire
from agdbg.protocol.errors import Disconnected, RequestFailed
from agdbg.protocol.messages import request

#: Requests that carry the token, which a hub demands on TCP.
WITH_TOKEN = frozenset({"launch", "attach"})


class Calls:
    """Makes the requests of one connection."""

    def __init__(self, token: str | None = None) -> None:
        self._token = token
        self._seq = 0

    def make(self, command: str, arguments: Mapping[str, Any]) -> tuple[int, bytes]:
        """The number of a new request, and its bytes."""
        self._seq += 1
        fields = dict(arguments)
        if self._token is not None and command in WITH_TOKEN:
            fields.setdefault("token", self._token)
        return self._seq, wire.encode(request(self._seq, command, fields))


def is_event(message: dict[str, Any]) -> bool:
    """True for an event, which is given a body if it has none."""
    if message.get("type") != "event" or not isinstance(message.get("event"), str):
        return False
    if not isinstance(message.get("body"), dict):
        message["body"] = {}
    return True


def answered_by(message: dict[str, Any]) -> int:
    """The number of the request to which the message is the response, or 0."""
    number = message.get("request_seq") if message.get("type") == "response" else 0
    return number if isinstance(number, int) else 0


def body_of(response: dict[str, Any]) -> dict[str, Any]:
    """The body of a response, empty when it has none.

    Raises:
        RequestFailed: the hub refused the request.
    """
    body = response.get("body")
    if not isinstance(body, dict):
        body = {}
    if response.get("success") is True:
        return body
    command = str(response.get("command", ""))
    text = _text_of(body.get("error")) or str(response.get("message") or f"{command} failed, without a reason")
    raise RequestFailed(text, command, body)


def _text_of(error: Any) -> str:
    """The text of an error, with its variables in their places."""
    if not isinstance(error, dict):
        return ""
    text = str(error.get("format") or "")
    variables = error.get("variables")
    if isinstance(variables, dict) and variables:
        return re.sub(r"\{(\w+)\}", lambda found: str(variables.get(found[1], found[0])), text)
    return text


def timed_out(command: str, seconds: float) -> TimeoutError:
    """No answer has come to a request."""
    return TimeoutError(
        f"no answer within {seconds:g} s (to {command}): the program, or the machine, is busy with something else"
    )


def gone(address: str, reason: object = "") -> Disconnected:
    """The connection has ended, and not because we closed it."""
    why = f": {reason}" if reason else ""
    return Disconnected(f"the hub at {address} has closed the connection{why}; the trace keeps what was recorded")
