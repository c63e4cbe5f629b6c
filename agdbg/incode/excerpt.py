"""A part of a trace as a trace of its own: what was recorded from a row on, and what that part cannot do without.

Older nodes that the part goes back to come first, with what they saved and who wrote to it and the passes that ran them; older
errors do not.
"""

import os
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agdbg.diagnose.walk import Walk
from agdbg.events import Kind
from agdbg.record import Facts, Trace
from agdbg.record.batch import sealed
from agdbg.record.format import HEADER, RECORD_SIZE, RECORDS_FILE, STRINGS_FILE
from agdbg.record.index import Rows
from agdbg.record.layout import LAYOUT, Holds
from agdbg.record.metafile import refuse_used, write_meta

Words = npt.NDArray[np.uint64]

_NODE = np.uint64((1 << 48) - 1)
_STORAGE = np.uint64((1 << 36) - 1)
#: Kinds that are of use whole, and rare.
_KEPT_WHOLE = (Kind.GRAD_MODE, Kind.DUAL_LEVEL, Kind.MODULE, Kind.CUT)
_DROPPED = (Kind.ERROR, Kind.CLOCK)
_BITS = {
    Holds.NODE: (Holds.NODE, _NODE),
    Holds.EDGE: (Holds.NODE, _NODE),
    Holds.STORAGE: (Holds.STORAGE, _STORAGE),
    Holds.SAVE: (Holds.STORAGE, _STORAGE),
    Holds.PASS: (Holds.PASS, np.uint64(2**64 - 1)),
}


def copy_excerpt(source: Path, target: Path, start: int, exit: dict[str, object]) -> None:
    """Copy the records of a trace from row ``start`` on to a new trace in ``target``.

    Args:
        source: the trace, which may still grow.
        target: a directory that is not there, or is empty.
        start: the first row.
        exit: what ``meta.json`` is to say of the end.

    Raises:
        TraceError: there is a trace in ``target`` already.
        OSError: it cannot be written.
    """
    refuse_used(target)
    trace = Trace.open(source)
    target.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".agdbg-part-", dir=target.parent))
    try:
        content = _batches(trace, start)
        (temporary / RECORDS_FILE).write_bytes(HEADER + content)
        shutil.copyfile(source / STRINGS_FILE, temporary / STRINGS_FILE)
        meta = {key: value for key, value in trace.meta.items() if key in ("program", "engine", "sees")}
        counts = {"records": len(content) // RECORD_SIZE, "strings": len(Trace.open(temporary).strings)}
        part = {"of": str(source), "from": start, "to": len(trace.records)}
        write_meta(temporary, {**meta, "part": part, "closed": True, "counts": counts, "exit": exit})
        for file in sorted(temporary.iterdir()):
            os.replace(file, target / file.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _batches(trace: Trace, start: int) -> bytes:
    """The records from ``start`` on and those before that they need, in batches that begin at the times of the trace."""
    records = np.concatenate([trace.records[_needed(trace, start)], trace.records[start:]]).astype("<u8", copy=False)
    clocks = np.flatnonzero(records[:, 0].astype(np.uint8) == Kind.CLOCK).tolist()
    earlier = trace.records[:start][trace.kinds[:start] == Kind.CLOCK]
    batches = [(int(earlier[-1:, 2].max(initial=0)), 0, (*clocks, len(records))[0])]
    batches += [(int(records[at, 2]), at + 1, end) for at, end in pairwise([*clocks, len(records)])]
    full = [(time, first, end) for time, first, end in batches if end > first]
    return b"".join(sealed(i, time, records[first:end].tobytes()) for i, (time, first, end) in enumerate(full, 1))


def _needed(trace: Trace, start: int) -> Rows:
    """The rows before ``start`` that the rest builds on."""
    part = Trace.of(trace.path, trace.records[start:], trace.meta, trace.strings, [])
    nodes = _below(trace, _mentioned(part, Holds.NODE))
    past = Trace.of(trace.path, trace.records[:start], trace.meta, trace.strings, [])
    keep = np.isin(past.kinds, np.array(_KEPT_WHOLE, np.uint8))
    keep |= _about(past, Holds.NODE, nodes)
    storages = np.union1d(_mentioned(part, Holds.STORAGE), _mentioned(past, Holds.STORAGE, np.flatnonzero(keep)))
    keep |= _about(past, Holds.STORAGE, storages)
    named = np.isin(past.records[:, 2], storages) | np.isin(past.records[:, 3] & _NODE, nodes)
    keep |= (past.kinds == Kind.TENSOR) & named
    passes = np.union1d(_mentioned(part, Holds.PASS), _mentioned(past, Holds.PASS, np.flatnonzero(keep)))
    keep |= _about(past, Holds.PASS, passes)
    keep &= ~np.isin(past.kinds, np.array(_DROPPED, np.uint8))
    found: Rows = np.flatnonzero(keep)
    return found


def _below(trace: Trace, nodes: Words) -> Words:
    """The nodes, and all that can be reached from them."""
    walk = Walk(Facts(trace))
    reached: Words = walk.ids[walk.below(walk.mask(nodes))]
    return reached


def _mentioned(trace: Trace, entity: Holds, rows: Rows | None = None) -> Words:
    """The numbers of nodes, storages or passes that stand in records."""
    found: list[Words] = []
    for kind, fields in LAYOUT.items():
        at = np.flatnonzero(trace.kinds == kind)
        if rows is not None:
            at = np.intersect1d(at, rows, assume_unique=True)
        for field in fields if len(at) else ():
            if field.holds in _BITS and _BITS[field.holds][0] is entity:
                found.append(np.unique(trace.records[at, field.word] & _BITS[field.holds][1]))
    numbers: Words = np.unique(np.concatenate(found)) if found else np.zeros(0, np.uint64)
    named: Words = numbers[numbers != 0]
    return named


def _about(trace: Trace, entity: Holds, numbers: Words) -> npt.NDArray[np.bool_]:
    """Which records are about one of these, as their main entity."""
    keep = np.zeros(len(trace.records), bool)
    for kind, fields in LAYOUT.items():
        if fields[0].word == 1 and fields[0].holds is entity:
            at = np.flatnonzero(trace.kinds == kind)
            keep[at] = np.isin(trace.records[at, 1], numbers)
    return keep
