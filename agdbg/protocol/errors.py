"""What can go wrong between a client and a hub."""

from typing import Any


class ProtocolError(Exception):
    """The peer sent what the protocol does not allow; the message names the field, its value and what is expected.

    Attributes:
        messages: the whole messages that came before the bad one in the same piece of the stream.
    """

    def __init__(self, text: str, messages: list[dict[str, Any]] | None = None) -> None:
        super().__init__(text)
        self.messages = messages or []


class Disconnected(ConnectionError):
    """There is no hub at the address, or the connection to it is gone."""


class RequestFailed(Exception):
    """The hub refused a request; the message says why and what to do.

    Attributes:
        command: the refused request.
        body: the body of the response; its ``error`` has the number and the variables of the message.
    """

    def __init__(self, text: str, command: str = "", body: dict[str, Any] | None = None) -> None:
        super().__init__(text)
        self.command = command
        self.body = body or {}

    @property
    def code(self) -> str:
        """What a program may go by, as ``barrier``; mostly empty."""
        error = self.body.get("error")
        variables = error.get("variables") if isinstance(error, dict) else None
        return str(variables.get("code", "")) if isinstance(variables, dict) else ""
