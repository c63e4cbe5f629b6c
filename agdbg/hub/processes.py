"""The processes of a parallel program: those that run, by the hubs there are, and those of which recordings lie side by side."""

import json
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from agdbg.hub.place import HubInfo
from agdbg.protocol.vendor import Process
from agdbg.ranks import Rank, rank_in
from agdbg.record.format import META_FILE

#: Recordings beside this one that are looked at, the newest first.
MOST = 256
#: What is read of ``meta.json`` at most, in bytes.
_META = 1 << 20


class Here(NamedTuple):
    """The process that this hub has.

    Attributes:
        rank: None: its launcher names none.
        pid: None: it does not run.
        trace: the directory of its recording; None: there is none.
        stopped: whether a thread of it stands.
    """

    rank: Rank | None
    argv: list[str]
    cwd: str
    pid: int | None
    trace: Path | None
    stopped: bool = False


class _Recorded(NamedTuple):
    rank: Rank
    trace: Path
    started: float


def processes(here: Here, hubs: Iterable[HubInfo]) -> list[Process]:
    """This process, and where it is one of several the others of its run, by their ranks.

    What belongs together runs the same command in the same directory, under one job where the launchers tell of it. Of a rank
    with several recordings, from several runs, the one that began nearest to this one is taken.

    Args:
        here: this process.
        hubs: all that there are, this one among them or not.
    """
    mine: Process = {
        "rank": None if here.rank is None else here.rank.number,
        "world": here.rank.world if here.rank is not None else 0,
        "pid": here.pid,
        "stopped": here.stopped,
        "argv": here.argv,
        "trace": "" if here.trace is None else str(here.trace),
        "address": "",
        "isHere": True,
    }
    if here.rank is None:
        return [mine]
    found = {here.rank.number: mine}
    for hub in hubs:
        if hub.rank is not None and hub.program and _belongs(here, hub.argv, hub.cwd, hub.rank):
            other: Process = {**mine, "rank": hub.rank.number, "pid": hub.program, "argv": hub.argv, "isHere": False}
            place: Process = {**other, "trace": hub.trace, "address": str(hub.client_socket), "stopped": hub.stopped}
            found.setdefault(hub.rank.number, place)
    for recorded in _beside(here):
        other = {
            **mine,
            "rank": recorded.rank.number,
            "pid": None,
            "trace": str(recorded.trace),
            "isHere": False,
            "stopped": False,
        }
        found.setdefault(recorded.rank.number, other)
    return [found[number] for number in sorted(found)]


def _beside(here: Here) -> Iterator[_Recorded]:
    """The recordings of other ranks beside this one, those that began nearest to it first."""
    if here.trace is None:
        return
    began = _started(_program(here.trace))
    others = [_recorded(here, each) for each in _newest(here.trace.parent) if each != here.trace]
    yield from sorted((each for each in others if each is not None), key=lambda each: abs(each.started - began))


def _newest(folder: Path) -> list[Path]:
    try:
        there = sorted(folder.iterdir(), key=lambda each: each.lstat().st_mtime, reverse=True)
    except OSError:  # it is gone, or something in it just now
        return []
    return there[:MOST]


def _recorded(here: Here, trace: Path) -> _Recorded | None:
    program = _program(trace)
    rank = rank_in(program)
    argv = program.get("argv")
    if rank is None or not isinstance(argv, list) or not _belongs(here, argv, str(program.get("cwd") or ""), rank):
        return None
    return _Recorded(rank, trace, _started(program))


def _belongs(here: Here, argv: list[Any], cwd: str, rank: Rank) -> bool:
    mine = here.rank
    assert mine is not None
    same_job = rank.job == mine.job if rank.job and mine.job else True
    same_place = os.path.realpath(cwd) == os.path.realpath(here.cwd)
    return same_job and same_place and (rank.world, argv) == (mine.world, here.argv)


def _program(trace: Path) -> dict[str, Any]:
    """What a recording says of its program; nothing where it is none, or cannot be read."""
    try:
        with open(trace / META_FILE, encoding="utf-8") as file:
            program = json.loads(file.read(_META)).get("program")
    except (OSError, ValueError, AttributeError):
        return {}
    return program if isinstance(program, dict) else {}


def _started(program: dict[str, Any]) -> float:
    """When it began, in seconds since the epoch; 0: not known."""
    try:
        return datetime.fromisoformat(str(program.get("started"))).timestamp()
    except ValueError:
        return 0.0
