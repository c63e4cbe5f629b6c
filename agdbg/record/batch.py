"""A batch of records on disk: what stands at its head, so that a reader sees whether it is as it was written."""

from zlib import crc32

from agdbg.events import Kind, head
from agdbg.record.format import RECORD, RECORD_SIZE

_CLOCK = head(Kind.CLOCK)
_SUM = slice(24, 32)
"""Where the length and the checksum stand in the record; the checksum is of the batch with zeros there."""


def sealed(number: int, time_ns: int, records: bytes) -> bytes:
    """A batch with its ``CLOCK`` record.

    Args:
        number: of the batch, from 1.
        time_ns: nanoseconds since the trace began.
        records: what is in it, packed.
    """
    length = len(records) // RECORD_SIZE + 1
    checksum = crc32(records, crc32(RECORD.pack(_CLOCK, number, time_ns, 0, 0, 0, 0, 0)))
    return RECORD.pack(_CLOCK, number, time_ns, length | checksum << 32, 0, 0, 0, 0) + records


def is_whole(batch: bytes | bytearray) -> bool:
    """Whether a batch of the right length holds what was written."""
    told = int.from_bytes(batch[_SUM], "little") >> 32
    return (
        crc32(memoryview(batch)[RECORD_SIZE:], crc32(batch[: _SUM.start] + bytes(8) + batch[_SUM.stop : RECORD_SIZE]))
        == told
    )
