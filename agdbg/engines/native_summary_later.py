"""Summaries of arrays on devices: asked for when they are told of, fetched when their batch of records is written.

A program on a GPU does not wait for the debugger with every gradient: kernels are put behind its own, and what they found comes to
the host in one copy for each batch, at a stop, and at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agdbg.engines.native_summary import Summary, answered
from agdbg.events import pack_float, pack_pair
from agdbg.record import Recorder
from agdbg.record.format import RECORD

_MOST = 2**32 - 1


def words_of(found: Summary) -> tuple[int, int, int, int, int]:
    """The last words of a SUMMARY record."""
    counts = pack_pair(min(found.nans, _MOST), min(found.infs, _MOST))
    return pack_float(found.norm), pack_float(found.largest), counts, found.first_bad + 1, found.elements


class Later:
    """The SUMMARY records of one recording that are not known yet.

    Args:
        recorder: keeps their places.
        fail: is told what went wrong; the records are left out then.
    """

    def __init__(self, recorder: Recorder, fail: Callable[[Exception], None]) -> None:
        self._recorder, self._fail = recorder, fail
        self._waiting: list[tuple[bytearray, tuple[int, int, int], Any, int]] = []
        recorder.completing.append(self._complete)

    def summarise(self, first: tuple[int, int, int], words: Any, elements: int) -> None:
        """Record what ``words`` (of ``Backend.ask``) will tell of an array; ``first`` are the first words of the record."""
        place = bytearray(RECORD.size)
        self._waiting.append((place, first, words, elements))  # before it is in a batch that another thread may write
        self._recorder.reserve(place)

    def _complete(self) -> None:
        waiting = self._waiting[:]
        del self._waiting[: len(waiting)]
        if not waiting:
            return
        try:
            found = answered([each[2] for each in waiting], [each[3] for each in waiting])
        except Exception as error:
            for place, *_ in waiting:
                place.clear()
            self._fail(error)
            return
        for (place, first, *_), summary in zip(waiting, found, strict=True):
            RECORD.pack_into(place, 0, *first, *words_of(summary))
