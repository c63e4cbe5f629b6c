"""Devices and streams of the strict device, by CuPy's names: work is done at once, but noted with the stream that it was asked of.

There are two devices. Each thread has a current one, and on each device a current stream. A stream works only while its device is
the current one, and so does what records an event in it.
"""

import threading
from typing import ClassVar

COUNT = 2


class Elsewhere(RuntimeError):
    """Work was asked of a device that is not the current one."""


class _Here(threading.local):
    def __init__(self):
        self.device, self.streams = 0, {}


_here = _Here()


class Device:
    """A device by its number; as a context the current one of this thread."""

    def __init__(self, id=None):
        self.id = _here.device if id is None else int(id)
        self._before = []
        assert 0 <= self.id < COUNT, f"there is no device {id}"

    def use(self):
        """Make it the current one."""
        _here.device = self.id

    def __enter__(self):
        self._before.append(_here.device)
        self.use()
        return self

    def __exit__(self, *error):
        _here.device = self._before.pop()

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return self.id

    def synchronize(self):
        """Wait for all that was asked for."""


class Stream:
    """A queue, as CuPy's; ``waits`` notes which stream waits for which, ``work`` on which stream a function ran last.

    ``between`` notes the waits of one device for another, by their numbers.
    """

    waits: ClassVar = []
    between: ClassVar = []
    work: ClassVar = {}
    null = None

    def __init__(self, null=False, non_blocking=False, priority=0):
        self.ptr = 0 if null else id(self)
        self.device_id = -1 if null else _here.device
        self.done = True
        self.priority = min(max(priority, -5), 0)  # as CUDA does
        self._before = []

    @classmethod
    def from_external(cls, foreign):
        """A stream that another library has made."""
        version, address = foreign.__cuda_stream__()
        assert version == 0
        found = cls()
        found.ptr = address
        return found

    def check(self):
        """A stream is of use on its own device only."""
        if self.device_id not in (-1, _here.device):
            raise Elsewhere(f"a stream of device {self.device_id} while {_here.device} is the current one")

    def use(self):
        """Make it the current one of its device."""
        self.check()
        _here.streams[_here.device] = self

    def __enter__(self):
        self._before.append((_here.device, _here.streams.get(_here.device)))
        self.use()

    def __exit__(self, *error):
        device, stream = self._before.pop()
        _here.streams[device] = stream

    def record(self, event=None):
        """An event behind all that was asked for."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event):
        """Wait for ``event`` before what is asked for from now on."""
        self.check()
        Stream.waits.append((self, event.stream))
        if event.device != _here.device:
            Stream.between.append((_here.device, event.device))

    def synchronize(self):
        """Wait for all that was asked for."""


class Event:
    """A place in a stream, as CuPy's; of the device on which it was made."""

    def __init__(self, block=False, disable_timing=False):
        self.stream, self.done, self.timed, self.at = None, False, not disable_timing, 0
        self.device = _here.device

    def record(self, stream=None):
        """Put the event behind all that was asked for."""
        if self.device != _here.device:
            raise Elsewhere(f"an event of device {self.device} while {_here.device} is the current one")
        self.stream, self.done, self.at = stream or get_current_stream(), True, len(Stream.waits)
        self.stream.check()

    def synchronize(self):
        """Wait for the event."""


Stream.null = Stream(null=True)


def get_current_stream(device_id=-1):
    """The stream that this thread's work goes to."""
    return _here.streams.get(_here.device if device_id < 0 else device_id) or Stream.null


def get_elapsed_time(start, end):
    """Milliseconds, of which every wait takes one."""
    assert start.timed and end.timed
    return float(end.at - start.at)


def here():
    """The number of the current device."""
    return _here.device
