"""Where tensors of a file go: on the device that they were on, or on what ``map_location`` says."""

from __future__ import annotations

from typing import Any

from ..backends import BACKENDS
from ..creation import leaf
from ..device import CPU, device
from ..tensor import Tensor, wrap


class LocationError(Exception):
    """The device of a tensor cannot be had; ``told`` is what a caller of :func:`load` is told."""

    def __init__(self, told: BaseException) -> None:
        super().__init__(str(told))
        self.told = told


def placed(a: Any, saved: str, map_location: Any) -> Tensor:
    """The array ``a``, which was on the device ``saved``, as a leaf where it is to be, or :class:`LocationError`."""
    place = _where(a, saved, map_location)
    try:
        return leaf(a, place, False)
    except RuntimeError as error:
        text = f"{error}. Give load() a map_location where the tensors should go, such as 'cpu'"
        first = _unavailable(place)
        raise LocationError(RuntimeError(f"{first}\n  {text}" if first else text)) from error


def _where(a: Any, saved: str, map_location: Any) -> device:
    if isinstance(map_location, dict):
        map_location = map_location.get(saved)
    elif map_location is not None and not isinstance(map_location, str | device):
        try:
            found = map_location(wrap(a), saved)
            map_location = None if found is None else found.device
        except Exception as error:  # the caller's function, whatever it raises, is not a fault of the file
            raise LocationError(error) from error.__cause__
    wanted = saved if map_location is None else map_location
    if wanted == "cpu":
        return CPU
    try:
        return device(wanted)
    except (RuntimeError, TypeError) as error:
        first = f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {wanted})"
        raise LocationError(RuntimeError(f"{first}\n  {error}")) from error


def _unavailable(place: device) -> str | None:
    """What PyTorch says of a device that there is not; ``None`` for one that there is."""
    backend, kind = BACKENDS[place.type], place.type
    if not backend.is_usable():
        return (
            f"Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() is False. "
            "If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') "
            "to map your storages to the CPU."
        )
    if place.index is not None and place.index >= backend.count():
        return (
            f"Attempting to deserialize object on {kind.upper()} device {place.index} but torch.{kind}.device_count() is "
            f"{backend.count()}. Please use torch.load with map_location to map your storages to an existing device."
        )
    return None
