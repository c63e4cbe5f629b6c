"""How a trace lies on disk: file names, header and record; ``docs/trace-format.md`` says it in prose."""

import struct
import sys
from pathlib import Path
from typing import Final

from agdbg.record.errors import TraceError

RECORDS_FILE: Final = "records.bin"
STRINGS_FILE: Final = "strings.jsonl"
META_FILE: Final = "meta.json"

MAGIC: Final = b"AGDBGTRC"
VERSION: Final = 1
RECORD_SIZE: Final = 64
WORDS: Final = 8
FORMAT_NAME: Final = "agdbg-trace"

_HEADER: Final = struct.Struct("<8sII48x")
_ORDER: Final = "@" if sys.byteorder == "little" else "<"
"""Native packing is faster, and lays these formats out alike: everything in them is aligned without gaps."""

RECORD: Final = struct.Struct(_ORDER + "8Q")
RAN_RECORD: Final = struct.Struct(_ORDER + "IIQQQQQQ8x")
"""A RAN record with word 0 in halves, the low one first, without the word that it does not use."""
MORE_RECORD: Final = struct.Struct(_ORDER + "IIQQQQ24x")
"""An EDGE or SAVED record, likewise."""
INLINE: Final = 2
"""So many edges and as many saves are in a BORN record itself; the others have records of their own."""
HEADER: Final = _HEADER.pack(MAGIC, VERSION, RECORD_SIZE)


def born_record(edges: int, saves: int) -> struct.Struct:
    """A BORN record with only so many edges and saves, at most :data:`INLINE`; word 0, SITE_OP and SAVE words are in halves.

    Each node has one such record, and integers of more than 30 bits are what costs most to make and to pack.
    """
    return struct.Struct(
        _ORDER + "IIQQII" + "Q" * edges + "8x" * (INLINE - edges) + "II" * saves + "8x" * (INLINE - saves)
    )


def check_header(start: bytes, path: Path) -> bool:
    """Check the first bytes of ``path``; false when they are a cut header, with no record after it.

    Raises:
        TraceError: the file is something else, of another version or has another record size.
    """
    if len(start) < RECORD_SIZE:
        if HEADER.startswith(start):
            return False
        raise TraceError(f"{path} is not a trace: it starts with {start[:8]!r}, not {MAGIC!r}")
    magic, version, size = _HEADER.unpack(start[:RECORD_SIZE])
    if magic != MAGIC:
        raise TraceError(f"{path} is not a trace: it starts with {magic!r}, not {MAGIC!r}")
    if version != VERSION:
        raise TraceError(f"{path} has trace format version {version}; this agdbg reads version {VERSION}")
    if size != RECORD_SIZE:
        raise TraceError(f"{path} says records of {size} bytes; version {VERSION} has {RECORD_SIZE}")
    return True
