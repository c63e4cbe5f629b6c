"""A client for tests: it compares all that a hub sends with the types of the protocol."""

from agdbg.protocol.calls import is_event
from agdbg.protocol.check import check_body, check_event
from agdbg.protocol.client import Client


class CheckedClient(Client):
    """Fails at the first message that is not of its type."""

    def request(self, command, /, **arguments):
        body = super().request(command, **arguments)
        check_body(command, body)
        return body

    def _sort(self, messages):
        for message in messages:
            if is_event(message):
                check_event(message["event"], message["body"])
        super()._sort(messages)

    def none_of(self, event):
        """True when no such event is there; those that were sent before the last answer are."""
        return not any(each["event"] == event for each in self.events)
