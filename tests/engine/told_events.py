"""All events that a program tells, as text: for the tests of their complete lists."""

from agdbg_engine import events
from agdbg_engine.autograd import graph


class Everything(events.Sink):
    """Notes every event by its name and the names among its arguments."""

    def __init__(self):
        self.log = []


def _noting(name):
    def note(self, *args):
        self.log.append(" ".join([name, *(s for a in args if (s := _text(a)))]))

    return note


def _text(a):
    """Numbers, places and tensors are left out."""
    if isinstance(a, str):
        return a
    if isinstance(a, BaseException):
        return type(a).__name__
    return a.name().rpartition("::")[2] if isinstance(a, graph.Node) else ""


for _name in events.METHODS:
    setattr(Everything, _name, _noting(_name))


def told(program):
    """The events of ``program``."""
    sink = Everything()
    events.install(sink)
    try:
        program()
    finally:
        events.remove()
    return sink.log
