"""PyTorch's functions about the devices of one backend and their streams; ``device`` is the current one unless given."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .. import streams
from ..backends import Backend, Properties
from .stream_types import StreamContext, types_of


class Devices:
    """Devices and streams of one backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.Stream, self.ExternalStream, self.Event = types_of(backend, self.index)

    # ----- devices -----

    def current_device(self) -> int:
        """The number of the device that is meant where no number is given."""
        return self._backend.current()

    def set_device(self, device: Any) -> None:
        """Make ``device`` the current one of this thread; nothing changes for a negative number."""
        index = self.index(device)
        if index >= 0:
            self._backend.use(index)

    def device(self, device: Any) -> AbstractContextManager[Any]:
        """A context in which ``device`` is the current one; nothing changes for ``None`` and negative numbers."""
        index = -1 if device is None else self.index(device)
        return self._backend.on(index) if index >= 0 else nullcontext()

    def device_of(self, obj: Any) -> AbstractContextManager[Any]:
        """A context in which the device of the tensor ``obj`` is the current one; nothing changes for a tensor on the CPU."""
        place = obj.device
        return self.device(place.index if place.type == self._backend.kind else None)

    def synchronize(self, device: Any = None) -> None:
        """Wait until the device has done all that it was asked for."""
        self._backend.synchronize(None if device is None else self.index(device))

    def get_device_name(self, device: Any = None) -> str:
        """What the maker calls the device."""
        return self._backend.name_of(self.index(device))

    def get_device_properties(self, device: Any = None) -> Properties:
        """Name, compute capability, memory in bytes and number of processors of the device."""
        return self._backend.properties_of(self.index(device))

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """The compute capability of the device, as ``(major, minor)``."""
        return self.get_device_properties(device)[1:3]

    def can_device_access_peer(self, device: Any, peer_device: Any) -> bool:
        """Whether the device can read the memory of another."""
        return self._backend.can_access(self.index(device), self.index(peer_device))

    def index(self, device: Any) -> int:
        """The number that a ``device=`` means; of a second device the engine is told. Errors are PyTorch's."""
        from ..device import device as Device
        from ..device import resolved

        kind = self._backend.kind
        if isinstance(device, int) and device < 0:
            return device
        given = Device(kind if device is None else f"{kind}:{device}" if isinstance(device, int) else device)
        if given.type != kind:
            raise ValueError(f"Expected a {kind} device, but got: {given}")
        index = resolved(given).index
        return 0 if index is None else index

    # ----- streams -----

    def stream(self, stream: streams.Stream | None) -> StreamContext:
        """A context in which this thread's work goes to ``stream``, on its device; nothing changes for ``None``."""
        return StreamContext(stream)

    def set_stream(self, stream: streams.Stream | None) -> None:
        """Let this thread's work go to ``stream`` from now on, on its device; nothing changes for ``None``."""
        if stream is not None:
            streams.set_current(stream)

    def current_stream(self, device: Any = None) -> streams.Stream:
        """The stream that this thread's work on the device goes to."""
        return streams.current(self._backend, self.index(device))

    def default_stream(self, device: Any = None) -> streams.Stream:
        """The stream that is current where nobody has chosen another."""
        return streams.default(self._backend, self.index(device))
