"""A batch of records on disk: what stands at its head, so that a reader sees whether it is as it was written."""

from collections.abc import Sequence
from zlib import crc32

from agdbg.events import Kind, head
from agdbg.record.format import RECORD, RECORD_SIZE

_CLOCK = head(Kind.CLOCK)
_SUM = slice(24, 32)
"""Where the length and the checksum stand in the record; the checksum is of the batch with zeros there."""
_LOW = (1 << 32) - 1


def sealed(number: int, time_ns: int, records: bytes, strings: int = 0, checksum: int = 0) -> bytes:
    """A batch with its ``CLOCK`` record, which has a checksum of its own: a length that was changed is not taken for a cut.

    Args:
        number: of the batch, from 1.
        time_ns: nanoseconds since the trace began.
        records: what is in it, packed.
        strings: how many bytes of strings were written before it.
        checksum: of these.
    """
    length = len(records) // RECORD_SIZE + 1
    told = checksum | crc32(RECORD.pack(_CLOCK, number, time_ns, length, strings, checksum, 0, 0)) << 32
    total = crc32(records, crc32(RECORD.pack(_CLOCK, number, time_ns, 0, strings, told, 0, 0)))
    return RECORD.pack(_CLOCK, number, time_ns, length | total << 32, strings, told, 0, 0) + records


def head_is_whole(clock: Sequence[int]) -> bool:
    """Whether the words of a ``CLOCK`` record are those that were written; true where it does not tell, as of an older writer."""
    told = clock[5] >> 32
    return not told or crc32(RECORD.pack(*clock[:3], clock[3] & _LOW, clock[4], clock[5] & _LOW, *clock[6:])) == told


def is_whole(batch: bytes | bytearray) -> bool:
    """Whether a batch of the right length holds what was written."""
    told = int.from_bytes(batch[_SUM], "little") >> 32
    return (
        crc32(memoryview(batch)[RECORD_SIZE:], crc32(batch[: _SUM.start] + bytes(8) + batch[_SUM.stop : RECORD_SIZE]))
        == told
    )
