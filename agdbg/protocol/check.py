"""Tests what came in against the message types, so that a malformed request is refused in words and never half done.

The types are read once each and turned into small checkers. The fields that a standard type does not have are let
through: editors send more than agdbg reads. In a request of agdbg's own, one is a mistake and is refused.
"""

import json
from typing import Any, cast

from agdbg.protocol.checkers import Problem, checker
from agdbg.protocol.errors import ProtocolError
from agdbg.protocol.messages import EVENTS, REQUESTS, Request
from agdbg.protocol.unsupported import refusal
from agdbg.protocol.vendor import PREFIX

_SHOWN = 60
_ARGUMENTS = (dict, type(None))


def check_request(message: dict[str, Any]) -> Request:
    """Test that a message is a request, of any command, and return it.

    Raises:
        ProtocolError: it is not; the message names the field, its value and what is expected.
    """
    if not _is_plainly_one(message):
        _refuse_if(checker(Request, False).problem(message), "the message", "it")
    return cast(Request, message)


def _is_plainly_one(message: dict[str, Any]) -> bool:
    """Whether nothing can be wrong with a message, which is so for all but a few: the checkers find the words for what is."""
    return (
        type(message.get("seq")) is int
        and message.get("type") == "request"
        and type(message.get("command")) is str
        and type(message.get("arguments")) in _ARGUMENTS
    )


def check_arguments(command: str, arguments: Any) -> dict[str, Any]:
    """Test the arguments of a request and return them; ``None`` stands for none.

    Raises:
        ProtocolError: there is no such command, or a field is missing, unknown, mistyped or out of its limits.
    """
    shape = REQUESTS.get(command)
    if shape is None:
        raise ProtocolError(refusal(command) or f"there is no command {_shown(command)}{_near(command, REQUESTS)}")
    if arguments is None:
        arguments = {}
    _refuse_if(checker(shape.arguments, command.startswith(PREFIX)).problem(arguments), command, "arguments")
    return cast("dict[str, Any]", arguments)


def check_body(command: str, body: Any) -> None:
    """Test the body of the response to a command; it may have no other fields than its type.

    Raises:
        ProtocolError: it is not what the command's type says.
    """
    _refuse_if(checker(REQUESTS[command].body, True).problem(body), f"the response to {command}")


def check_event(name: str, body: Any) -> None:
    """Test the body of an event; it may have no other fields than its type.

    Raises:
        ProtocolError: it is not what the event's type says.
    """
    _refuse_if(checker(EVENTS[name], True).problem(body), f"the event {name}")


def _refuse_if(problem: Problem | None, what: str, whole: str = "body") -> None:
    if problem is None:
        return
    field = problem.path.lstrip(".") or whole
    if problem.is_missing:
        raise ProtocolError(f"{what}: {field} is missing; expected {problem.expected}")
    if problem.known is not None:
        known = ", ".join(problem.known) or "none"
        raise ProtocolError(f"{what}: there is no field {field}, here {_shown(problem.value)}; the fields are: {known}")
    raise ProtocolError(f"{what}: {field} is {_shown(problem.value)}; expected {problem.expected}")


def _shown(value: Any) -> str:
    """A value as JSON, cut to what a line can hold."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _near(name: str, known: dict[str, Any]) -> str:
    from difflib import get_close_matches  # only when somebody has mistyped

    near = get_close_matches(str(name)[:_SHOWN], known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; the commands are: {', '.join(known)}"
