"""What `agdbg trace info` says."""

import json
import re

import pytest

from agdbg.events import Kind, head, pack_site_op
from agdbg.record import Trace
from agdbg.record.info import render, summary


def test_summary(torch_optimizer_step):
    info = summary(Trace.open(torch_optimizer_step.path))
    assert info["engine"] == {"name": "torch", "version": "2.13.0"}
    assert info["sees"]["edges"] == "inferred"
    assert info["program"]["argv"] == ["train.py"]
    assert info["closed"] is True and info["exit"] == {"status": 1} and info["problems"] == []
    assert info["nodes"] == len(torch_optimizer_step.nodes) == 9
    assert info["passes"] == {"ok": 1, "error": 1, "unfinished": 0}
    assert info["records"]["born"] == 9 and info["records"]["bump"] == 4
    (error,) = info["errors"]
    assert error["kind"] == "inplace-modified" and error["site"] == "/project/train.py:4"
    files = torch_optimizer_step.path.iterdir()
    assert info["bytes"] == sum(file.stat().st_size for file in files)
    assert json.loads(json.dumps(info)) == info


def test_text(torch_optimizer_step):
    text = render(summary(Trace.open(torch_optimizer_step.path)))
    path = re.escape(str(torch_optimizer_step.path))
    expected = rf"""trace    {path}  \(\d+\.\d KiB, closed\)
program  train\.py
started  .*, recorded for 0\.\d+ s
engine   torch 2\.13\.0
records  46: 9 born, 9 edge, 3 saved, 11 ran, 2 pass_started, 2 pass_finished, 4 tensor, 4 bump, .*, 1 clock
nodes    9
passes   1 ok, 1 error, 0 unfinished
errors   1
         inplace-modified at /project/train\.py:4: one of the variables needed for gradient .*
problems 0
"""
    assert re.fullmatch(expected, text), text


def test_text_of_a_trace_that_lost_everything(torch_optimizer_step):
    path = torch_optimizer_step.path
    (path / "meta.json").unlink()
    (path / "strings.jsonl").unlink()
    (path / "records.bin").write_bytes((path / "records.bin").read_bytes()[:70])
    text = render(summary(Trace.open(path)))
    assert "program  unknown" in text and "engine   unknown\n" in text
    assert ", not closed)" in text
    assert "ending   the trace is not closed: the program was killed or still runs, so there may be more" in text
    assert "problems 3\n" in text and "the last record is cut after 6 bytes" in text


def test_many_errors_are_counted_and_some_shown(new_recorder):
    recorder = new_recorder()
    site = recorder.site_at("train.py", 3, "f", "x")
    for number in range(1, 1201):
        word = pack_site_op(site, recorder.op("other"))
        recorder.emit(head(Kind.ERROR), 0, 0, word, 0, 0, recorder.text(f"error {number}\nmore"), 0)
    recorder.close()
    text = render(summary(Trace.open(recorder.path)))
    assert "errors   1,200\n" in text
    assert "         other at train.py:3: error 10\n         ... and 1,190 more\n" in text
    assert "error 11" not in text and "more\n" in text


def test_what_the_program_has_printed_is_named(new_recorder):
    recorder = new_recorder(output="output.log")
    recorder.close()
    assert summary(Trace.open(recorder.path))["output"] is None  # it is told of, but is not there
    (recorder.path / "output.log").write_bytes(b"x" * 1536)
    info = summary(Trace.open(recorder.path))
    assert info["output"] == {"file": "output.log", "bytes": 1536}
    assert "program  train.py\noutput   output.log  (1.5 KiB)\nstarted" in render(info)


@pytest.mark.parametrize("output", [None, 7, "", "..", "/", "a\0b", ["output.log"]])
def test_output_of_nonsense_is_none(new_recorder, output):
    recorder = new_recorder(output=output)
    recorder.close()
    info = summary(Trace.open(recorder.path))
    assert info["output"] is None and "\noutput" not in render(info)
