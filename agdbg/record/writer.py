"""The recorder: packs events into records and appends them in batches, on the thread that produced them.

It runs inside somebody else's program, so it must be cheap and must never hurt: after a write error it stops,
says so once on stderr and swallows everything that follows; in a forked child it is silent.
"""

import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from zlib import crc32

from agdbg.record import children, elsewhere, lifetime
from agdbg.record.appendfile import AppendFile
from agdbg.record.batch import sealed
from agdbg.record.errors import TraceError, reason_of
from agdbg.record.format import HEADER, RECORD, RECORD_SIZE, RECORDS_FILE, STRINGS_FILE
from agdbg.record.metafile import describe_program, refuse_used, remove_meta, rewrite_meta, write_meta
from agdbg.record.strings import StringTable
from agdbg.tell import tell

#: A batch is written when it holds this many records, its clock included, ...
BATCH_RECORDS = 4096
#: ... or when so many nanoseconds have gone by since the last one.
BATCH_NS = 50_000_000

_LOOK = 15  # the time is looked at on every 16th record
_pack = RECORD.pack


class _Ordinal(threading.local):
    """A small number for every thread; unlike an ident it is never reused."""

    def __init__(self, following: "itertools.count[int]") -> None:
        self.number = next(following)


class Recorder:
    """Writes one trace directory.

    Args:
        path: the directory to make; it may exist, but not with a trace in it.
        program: what runs: ``argv``, ``cwd``, ``python``, ``started``; what is missing is filled in.
        engine: ``name`` and ``version`` of the engine.
        sees: what the adapter can see of its engine, see ``docs/trace-format.md``.

    Attributes:
        start_ns: ``perf_counter_ns()`` when the trace began; times in records are counted from it.
        new_node, new_storage, new_tensor, new_pass: the next id of an entity, from 1; no id is ever reused.
        op, text, site, site_at: string ids, see :class:`agdbg.record.strings.StringTable`.
        append, pack: the two halves of :meth:`emit` for an adapter that saves the call; it calls :meth:`tick` itself.
        ordinal: its ``number`` is the ordinal of the running thread, as :meth:`thread` gives it.

    Raises:
        TraceError: the directory holds a trace already, or cannot be made or written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        program: dict[str, object],
        engine: dict[str, object],
        sees: dict[str, object],
    ) -> None:
        self.path = Path(path)
        self.start_ns = self._last_ns = perf_counter_ns()
        self.new_node = itertools.count(1).__next__
        self.new_storage = itertools.count(1).__next__
        self.new_tensor = itertools.count(1).__next__
        self.new_pass = itertools.count(1).__next__
        self._table = table = StringTable()
        self.op, self.text, self.site, self.site_at = table.op, table.text, table.site, table.site_at
        self.ordinal = _Ordinal(itertools.count(1))
        self._pending: list[bytes | bytearray] = []
        self._in_blocks = 0
        """About how many records there are beside one for each that is pending: in blocks."""
        self.append, self.pack = self._pending.append, _pack
        self.completing: list[Callable[[], None]] = []
        """What is called before a batch is written: it fills what :meth:`reserve` gave, or makes it empty. It must not raise."""
        self.on_moved: Callable[[Path], object] = lambda path: None
        """Called when the trace has another place, since the program has moved or removed its directory. It must not raise."""
        self._batches = self._written = self._strings_written = 0
        self._strings_checksum = 0
        self._lock = threading.RLock()
        self._draining = self._stopped = False
        self._parents: Path | None = None
        """In a forked child that has not used the engine: the directory of the trace of the process that it was forked from."""
        self._meta: dict[str, object] = {"program": {**describe_program(), **program}}
        self._meta |= {"engine": engine, "sees": sees}
        self._create()

    def _create(self) -> None:
        """Make the files: the one first that can be made once only, so that of two recorders one is refused at once."""
        try:
            refuse_used(self.path)
            self.path.mkdir(parents=True, exist_ok=True)
            self._strings = AppendFile(self.path / STRINGS_FILE)
            self._create_others()
        except OSError as error:
            if isinstance(error, FileExistsError):  # another one was quicker
                refuse_used(self.path)
            raise TraceError(f"cannot write a trace to {self.path}: {error.strerror or error}") from error
        lifetime.live.add(self)

    def _create_others(self) -> None:
        """Make what is beside the strings, or take all away: the directory must be good for another try."""
        made = [self._strings]
        try:
            write_meta(self.path, self._meta)
            self._records = AppendFile(self.path / RECORDS_FILE)
            made.append(self._records)
            self._records.offset = self._records.write(HEADER)
        except OSError:
            for file in made:
                file.remove()
            remove_meta(self.path)
            raise

    # ----- the hot path -----

    def emit(self, w0: int, w1: int, w2: int, w3: int, w4: int, w5: int, w6: int, w7: int) -> None:
        """Append one record of eight words, each an int from 0 to 2**64 - 1 (``struct.error`` otherwise)."""
        pending = self._pending
        pending.append(_pack(w0, w1, w2, w3, w4, w5, w6, w7))
        if not len(pending) & _LOOK:
            self.tick()

    def reserve(self, place: bytearray) -> None:
        """Append a record that is not known yet: ``place`` is filled (with :data:`RECORD`) by one of :attr:`completing`."""
        self._pending.append(place)
        self.tick()

    def append_block(self, records: bytes) -> None:
        """Append many packed records at once (at most half a batch), and write if a batch is full or old."""
        more = len(records) // RECORD_SIZE - 1
        if self._due(BATCH_NS, more):
            self.tick(0)
        self._in_blocks += more
        self._pending.append(records)

    def tick(self, age_ns: int = BATCH_NS) -> None:
        """Write what is pending if a batch is full or ``age_ns`` old, unless another thread is just doing so."""
        if self._stopped:
            self._pending.clear()
            self._note_child()
        elif self._due(age_ns) and self._lock.acquire(blocking=False):
            try:
                self._drain()
            finally:
                self._lock.release()

    def _due(self, age_ns: int, more: int = 0) -> bool:
        pending = len(self._pending) + self._in_blocks + more
        return pending >= BATCH_RECORDS - 1 - _LOOK or perf_counter_ns() - self._last_ns >= age_ns

    def now(self) -> int:
        """Nanoseconds since the trace began."""
        return perf_counter_ns() - self.start_ns

    def thread(self) -> int:
        """The ordinal of the calling thread; the one that made the recorder is 1."""
        return self.ordinal.number

    # ----- writing -----

    @property
    def batches(self) -> int:
        """How many batches have been written."""
        return self._batches

    @property
    def stopped(self) -> bool:
        """True after :meth:`close`, after a write error and in a forked child: records go nowhere."""
        return self._stopped

    def flush(self) -> None:
        """Write everything that is pending: call it before a stop, an error, an exit. Never raises."""
        with self._lock:
            self._drain()
            self._look_around()
            self._note_child()

    def close(self, exit: dict[str, object] | None = None) -> None:
        """Flush, mark the trace as complete and stop recording; ``exit`` says how the program ended."""
        self.flush()
        with self._lock:
            if self._stopped or self._draining:
                return
            counts = {"records": self._written, "strings": self._strings_written, "batches": self._batches}
            sums = {STRINGS_FILE: self._strings_checksum}
            try:
                self._strings.settle()
                self._records.settle()
                write_meta(
                    self.path, {**self._meta, "closed": True, "counts": counts, "crc32": sums, "exit": exit or {}}
                )
            except OSError as error:
                self._fail(error)
            else:
                self._stop()

    def _drain(self) -> None:
        """Write one batch; the caller holds the lock. A signal handler that comes in again does nothing."""
        if self._stopped or self._draining:
            return
        self._draining = True
        try:
            self._write_strings_and(self._pending[:])
        except RecursionError:  # the program is deep in its own calls: the batch waits for the next time
            return
        except Exception as error:  # whatever it is, it is ours, and the program goes on without us
            self._fail(error)
        finally:
            self._draining = False

    def _write_strings_and(self, batch: list[bytes | bytearray]) -> None:
        """Write the strings, then the batch that uses them.

        What was written is taken off its list and the offset moved on without a call in between, where alone
        Python runs signal handlers: a ``KeyboardInterrupt`` in here neither loses nor doubles a record.
        """
        if self._is_removed:
            self._save_elsewhere()
        for complete in self.completing:
            complete()
        self._last_ns = perf_counter_ns()
        fresh, lines = self._table.lines()
        if fresh:
            end, checksum = self._strings.write(lines), crc32(lines, self._strings_checksum)
            del self._table.waiting[:fresh]
            self._strings.offset, self._strings_checksum = end, checksum
            self._strings_written += fresh
        if batch:
            strings = self._strings.offset, self._strings_checksum
            data = sealed(self._batches + 1, self._last_ns - self.start_ns, b"".join(batch), *strings)
            count, end = len(batch), self._records.write(data)
            del self._pending[:count]
            self._records.offset = end
            self._batches += 1
            self._in_blocks = 0
            self._written += len(data) // RECORD_SIZE

    # ----- the directory of a trace is not ours alone -----

    @property
    def _is_removed(self) -> bool:
        return self._records.is_removed or self._strings.is_removed

    def _save_elsewhere(self) -> None:
        """The program has removed the trace. What is open is still there: it goes on in another directory.

        Raises:
            OSError: there is no place for it.
        """
        place, self._strings, self._records = elsewhere.save(self.path.name, self._strings, self._records, self._meta)
        self._moved(place, "removed")

    def _look_around(self) -> None:
        """Nothing is written just now: see whether the directory is still where it was; the caller holds the lock."""
        if self._stopped or self._draining or self._records.is_in_place:  # a file that is removed is in no place
            return
        try:
            if self._is_removed:
                self._save_elsewhere()
            elif (place := elsewhere.found(self._strings, self._records)) is not None:
                self._moved(place, "moved")
        except OSError as error:
            self._fail(error)

    def _moved(self, place: Path, what: str) -> None:
        tell(f"the program has {what} the trace {self.path} while it was written: it goes on, whole, in {place}")
        self.path = place
        self.on_moved(place)

    def abandon(self, reason: str) -> None:
        """Stop before the program has ended, and leave word of it in ``meta.json``. Never raises."""
        with self._lock:
            self._drain()
            if not self._stopped:
                self._note_stopped(reason)
                self._stop()

    def _note_stopped(self, reason: str) -> None:
        stopped = {"reason": reason, "records": self._kept()}
        try:
            if (self.path / RECORDS_FILE).exists():  # else the directory is gone, or the program's
                rewrite_meta(self.path, {**self._meta, "stopped": stopped})
        except OSError:  # no room even for that: the trace is at least not marked as closed
            return

    def _kept(self) -> int:
        """How many records can be read: of a batch that broke off, those that came to be whole."""
        return max(self._written, self._records.written // RECORD_SIZE - 1)

    def _fail(self, error: Exception) -> None:
        reason = reason_of(error)
        kept = f"{self.path} keeps {self._kept():,} records"
        if self._is_removed:
            kept = f"the program has removed {self.path}, and there is no other place to keep it"
        self._note_stopped(reason)
        self._stop()
        tell(f"recording stopped: {reason}; {kept}")

    def _stop(self) -> None:
        if self._stopped:
            return
        self._stopped = True
        lifetime.live.discard(self)
        self._pending.clear()
        self._records.close()
        self._strings.close()

    # ----- fork, see agdbg.record.lifetime -----

    def before_fork(self) -> None:
        """Flush, and hold the lock until the fork is done."""
        self._lock.acquire()
        self._drain()

    def after_fork_in_parent(self) -> None:
        """Let other threads write again."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Stop: the trace is the parent's. Locks are renewed: threads that are not here may hold them."""
        self._lock = threading.RLock()
        self._table.renew_lock()
        was_recording = not self._stopped
        self._stop()
        self._parents = self.path.absolute() if was_recording else None

    def _note_child(self) -> None:
        """In a forked child: the engine is used here. It is noted once, beside the parent's trace."""
        place, self._parents = self._parents, None
        if place is not None:
            children.note(place, children.FORKED, os.getpid())
