"""Devices on which work may be under way when a thread of the program is looked at."""

from contextlib import suppress

from agdbg_engine import streams


def settle() -> None:
    """Wait for the devices that the program uses: values are read on the stream of this thread, whoever computes them."""
    with suppress(Exception):  # a device that has failed says so at each value that is asked for
        streams.wait_for_all()
