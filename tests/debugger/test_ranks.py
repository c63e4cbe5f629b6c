"""Processes of a parallel program: which one this is, and where the others are."""

import dataclasses
import json
from pathlib import Path

import pytest

from agdbg.hub.place import HubInfo
from agdbg.hub.processes import Here, processes
from agdbg.ranks import Rank, rank_in, rank_of, with_rank
from agdbg.record.metafile import describe_program

ARGV, CWD = ["train.py", "-x"], "/srv"


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({}, None),
        ({"RANK": ""}, None),
        ({"RANK": "first"}, None),
        ({"RANK": "-1"}, None),
        ({"RANK": "1"}, Rank(1)),
        ({"RANK": "1", "WORLD_SIZE": "4"}, Rank(1, 4)),
        ({"RANK": "1", "WORLD_SIZE": "x", "MASTER_PORT": "29500"}, Rank(1, 0, ":29500")),
        ({"RANK": "0", "MASTER_ADDR": "h", "MASTER_PORT": "1", "TORCHELASTIC_RUN_ID": "r"}, Rank(0, 0, "r")),
    ],
)
def test_the_environment_tells_the_rank(environment, rank):
    assert rank_of(environment) == rank
    if rank is not None:
        assert rank_in(json.loads(json.dumps(rank.table()))) == rank


@pytest.mark.parametrize("table", [{}, {"rank": "1"}, {"rank": True}, {"rank": -1}, {"rank": None}])
def test_a_file_that_tells_no_rank(table):
    assert rank_in(table) is None


def test_names():
    assert Rank(1, 4).told == "rank 1 of 4" and Rank(2).told == "rank 2"
    assert with_rank("train", {"RANK": "3"}) == "train-rank3" and with_rank("train", {}) == "train"


def test_a_recording_tells_the_rank_of_its_program(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert rank_in(describe_program()) == Rank(1, 2)
    monkeypatch.delenv("RANK")
    assert "rank" not in describe_program()


def recording(folder, name, rank, started="2026-01-02T03:04:05+00:00", argv=ARGV, **more):
    directory = folder / name
    directory.mkdir()
    table = {} if rank is None else rank.table()
    program = {"argv": argv, "cwd": CWD, "started": started, **table, **more}
    (directory / "meta.json").write_text(json.dumps({"program": program}))
    return directory


def hub(rank, program, name="7", argv=ARGV, trace=""):
    return HubInfo(Path("/run") / name, int(name), argv, CWD, trace, 0.0, program, rank)


def told(found):
    return [(each["rank"], each["pid"], Path(each["trace"]).name, each["isHere"]) for each in found]


def test_a_program_without_ranks_is_the_only_one(tmp_path):
    recording(tmp_path, "other", Rank(1, 2))
    mine = recording(tmp_path, "mine", None)
    assert told(processes(Here(None, ARGV, CWD, 5, mine), [hub(Rank(1, 2), 9)])) == [(None, 5, "mine", True)]


def test_ranks_that_run_and_those_of_which_there_are_recordings(tmp_path):
    mine = recording(tmp_path, "a0", Rank(1, 4))
    recording(tmp_path, "a2", Rank(2, 4))
    recording(tmp_path, "older-a2", Rank(2, 4), "2025-01-02T03:04:05+00:00")
    recording(tmp_path, "a3", Rank(3, 4))
    recording(tmp_path, "other-program", Rank(0, 4), argv=["eval.py"])
    recording(tmp_path, "other-world", Rank(0, 8))
    (tmp_path / "no-trace").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "meta.json").write_text("[")
    running = [hub(Rank(3, 4), 33, "8", trace="/t/a3"), hub(Rank(0, 4), 0, "9"), hub(Rank(0, 4), 3, "6", ["eval.py"])]
    found = processes(Here(Rank(1, 4), ARGV, CWD, 5, mine), running)
    assert told(found) == [(1, 5, "a0", True), (2, None, "a2", False), (3, 33, "a3", False)]
    assert [each["address"] for each in found] == ["", "", "/run/8/client.sock"]


def test_of_a_rank_that_stands_this_is_told(tmp_path):
    mine = recording(tmp_path, "a0", Rank(0, 3))
    recording(tmp_path, "a2", Rank(2, 3))
    stands = dataclasses.replace(hub(Rank(1, 3), 33, "8"), stopped=True)
    assert [each["stopped"] for each in processes(Here(Rank(0, 3), ARGV, CWD, 5, mine), [stands])] == [
        False,
        True,
        False,
    ]
    goes_on = dataclasses.replace(stands, stopped=False)
    assert [each["stopped"] for each in processes(Here(Rank(0, 3), ARGV, CWD, 5, mine, True), [goes_on])] == [
        True,
        False,
        False,
    ]


def test_of_two_jobs_at_once_each_keeps_to_its_own(tmp_path):
    mine = recording(tmp_path, "mine", Rank(0, 2, "one"))
    recording(tmp_path, "theirs", Rank(1, 2, "two"))
    assert len(processes(Here(Rank(0, 2, "one"), ARGV, CWD, None, mine), [hub(Rank(1, 2, "two"), 9)])) == 1
    recording(tmp_path, "ours", Rank(1, 2, "one"))
    assert told(processes(Here(Rank(0, 2, "one"), ARGV, CWD, None, mine), []))[1:] == [(1, None, "ours", False)]
