"""Runs a recorded program again and again, each time with a fault at one more of the calls by which the recorder changes files.

`python fault_boundaries.py MODE PROGRAM DIRECTORY` forks one process a run, which is what `agdbg run` is, and prints a
JSON object for each: which call was hurt, and what became of program and trace. The last run is one that was not hurt.
The modes:

    ENOSPC               the call fails with that error, once
    EIO, EBADF           likewise; writes only
    half                 half of it is written, then there is no room
    short                half of it is written, which is no error
    forever              there is no room for this call and all that follow
    kill                 SIGKILL before the call
    kill-half            half of it is written, then SIGKILL
"""

import builtins
import contextlib
import errno
import gc
import importlib.util
import io
import json
import os
import pathlib
import signal
import sys
import tempfile

import numpy  # noqa: F401  (here once, for all the runs)

import agdbg.diagnose
import agdbg.explain.explanation
import agdbg.launch.recording
import agdbg.record.writer
from agdbg import cli
from agdbg.record import Facts, Trace

PATIENCE_S = 100


def _beside(name):
    """A module that lies beside this file."""
    spec = importlib.util.spec_from_file_location(name, pathlib.Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ENGINE = _beside("forked_program").Imported()  # once, for all the runs: each imports it from there
CALLS = {"open": os.open, "write": os.write, "lseek": os.lseek, "close": os.close, "replace": os.replace}
HALVES = ("half", "short", "kill-half")
WRITES = (*HALVES, "EIO", "EBADF")
"""The modes that are for writes only."""


class Fault:
    """Counts the calls that concern files of a trace in `top`, and hurts one."""

    def __init__(self, mode, number, top, mark):
        self.mode, self.number, self.top, self.mark = mode, number, top, mark
        self.count = 0

    def begin(self):
        """From now on."""
        for name in CALLS:
            setattr(os, name, getattr(self, name))
        self.write_bytes, pathlib.Path.write_bytes = pathlib.Path.write_bytes, self.whole_file()
        self.plain_open, builtins.open = builtins.open, self.in_place

    def name_of(self, fd):
        """The name of an open file of the trace; None for any other."""
        try:
            path = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            return None
        return os.path.basename(path) if path.startswith(self.top) else None

    def struck(self, what, data=None, write=None):
        """Called before a call; what the call must return when half of it was done in its place."""
        if data is None and self.mode in WRITES:
            return None
        self.count += 1
        if self.count < self.number or (self.count > self.number and self.mode != "forever"):
            return None
        if self.count == self.number:
            self.tell(what)
        done = write(bytes(data)[: len(data) // 2]) if self.mode in HALVES else None
        if self.mode.startswith("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.mode == "short":
            return done
        code = getattr(errno, self.mode, errno.ENOSPC)
        raise OSError(code, os.strerror(code))

    def tell(self, what):
        """Leave word of where it was, and of what the program had printed by then."""
        with self.plain_open(self.mark, "w") as file:
            json.dump({"call": what, "printed": os.fstat(1).st_size}, file)

    def open(self, path, flags, *more, **how):
        if os.fspath(path).startswith(self.top):
            self.struck(f"open {os.path.basename(path)}")
        return CALLS["open"](path, flags, *more, **how)

    def write(self, fd, data):
        name = self.name_of(fd)
        if name is None:
            return CALLS["write"](fd, data)
        done = self.struck(f"write {name}", data, lambda some: CALLS["write"](fd, some))
        return CALLS["write"](fd, data) if done is None else done

    def lseek(self, fd, *more):
        if (name := self.name_of(fd)) is not None:
            self.struck(f"lseek {name}")
        return CALLS["lseek"](fd, *more)

    def close(self, fd):
        if (name := self.name_of(fd)) is not None:
            self.struck(f"close {name}")
        return CALLS["close"](fd)

    def replace(self, source, target):
        if os.fspath(target).startswith(self.top):
            self.struck(f"rename {os.path.basename(target)}")
        return CALLS["replace"](source, target)

    def whole_file(self):
        """In place of `Path.write_bytes`, whose own file goes on after a short write."""

        def write_bytes(path, data):
            if self.mode == "short" or not str(path).startswith(self.top):
                return self.write_bytes(path, data)
            self.struck(f"write {path.name}", data, lambda some: self.write_bytes(path, some))
            return self.write_bytes(path, data)

        return write_bytes

    def in_place(self, file, mode="r", *more, **how):
        """In place of `open`: what is written over `meta.json` when there is no room for another."""
        if mode == "r+b" and str(file).startswith(self.top):
            self.struck(f"rewrite {os.path.basename(file)}")
        return self.plain_open(file, mode, *more, **how)


class Run:
    """One run in a directory of its own."""

    def __init__(self, mode, number, program, directory):
        self.mode, self.number, self.program = mode, number, program
        self.directory = directory / f"{mode}-{number}"
        self.mark = self.directory / "hurt"
        for name in ("trace", "temporary"):
            (self.directory / name).mkdir(parents=True)

    def become(self):
        """This process is the program from now on."""
        signal.alarm(PATIENCE_S)
        sys.meta_path.insert(0, ENGINE)
        for fd, name in ((1, "out"), (2, "err")):
            opened = os.open(self.directory / name, os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(opened, fd)
            os.close(opened)
        agdbg.record.writer.perf_counter_ns = lambda: 0  # no batch is ever old: each run has the same calls
        tempfile.tempdir = str(self.directory / "temporary")
        sys.argv = ["agdbg", "run", "--headless", "--trace", str(self.directory / "trace"), self.program]
        Fault(self.mode, self.number, os.path.join(os.path.realpath(self.directory), "t"), self.mark).begin()

    def seen(self, status):
        """What became of it."""
        hurt = json.loads(self.mark.read_text()) if self.mark.exists() else None
        out = (self.directory / "out").read_bytes()
        return {
            "number": self.number,
            "call": hurt and hurt["call"],
            "told": out[: hurt["printed"]].decode() if hurt else out.decode(),
            "status": status,
            "out": out.decode(),
            "err": (self.directory / "err").read_text(),
            "traces": [self.read(path) for path in self.traces()],
        }

    def traces(self):
        """The directories that hold something: the one that was named, and those that took its place."""
        places = [self.directory / "trace", *(self.directory / "temporary").iterdir()]
        return [path for path in places if any(path.iterdir())]

    def read(self, path):
        """What a reader finds in a trace, and what `agdbg explain` says of it."""
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = cli.main(["explain", "--json", str(path)])
        found = {
            "place": path.parent.name if path.name != "trace" else "named",
            "files": sorted(file.name for file in path.iterdir()),
            "status": status,
        }
        if status:
            return found
        facts = Facts(Trace.open(path))
        explained = json.loads(said.getvalue())
        with contextlib.redirect_stdout(io.StringIO()) as text:
            cli.main(["explain", str(path)])
        return found | {
            "state": explained["state"],
            "ending": explained["ending"],
            "text": text.getvalue(),
            "problems": facts.trace.problems,
            "errors": [[error.kind, error.site.line] for error in facts.errors],
            "records": facts.trace.kinds.tolist(),
            "ops": [facts.node(number).op.name for number in facts.node_ids.tolist()],
        }


def main(mode, program, directory):
    """Fork the runs; True in a process that is one of them."""
    gc.collect()
    gc.freeze()  # not written to by collections, and so it stays shared
    number = 0
    while True:
        number += 1
        run = Run(mode, number, program, pathlib.Path(directory))
        pid = os.fork()
        if not pid:
            run.become()
            return True
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        seen = run.seen(status)
        print(json.dumps(seen), flush=True)
        if seen["call"] is None:
            return False


if __name__ == "__main__" and main(*sys.argv[1:]):
    sys.exit(cli.main())
