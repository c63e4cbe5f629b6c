"""One program under ``python`` and under ``agdbg run``: what a test compares."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

MARK = "agdbg:"
#: What an installed console script holds.
ENTRY = "import sys\nfrom agdbg.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


def environment():
    """What programs find, whoever runs the tests."""
    unset = ("PYTHONPATH", "PYTHONSAFEPATH", "PYTHONUNBUFFERED")
    kept = {k: v for k, v in os.environ.items() if k not in unset}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Ended:
    """What can be seen of a process that has ended; ``said`` are the lines of agdbg on standard error."""

    status: int
    stdout: str
    stderr: str
    said: list[str] = field(compare=False)


def ended(status, stdout, stderr):
    lines = stderr.splitlines(keepends=True)
    own = [line.rstrip("\n") for line in lines if line.startswith(MARK)]
    rest = "".join(line for line in lines if not line.startswith(MARK))
    return Ended(status, _of_any_run(stdout), _of_any_run(rest), own)


def _of_any_run(text):
    """The text without what differs from run to run: addresses, and how long unittest took."""
    return re.sub(r"0x[0-9a-f]{8,}", "0x...", re.sub(r"(?m)^(Ran \d+ tests? in )[\d.]+s$", r"\1...s", text))


class SideBySide:
    """Runs programs in a directory of their own; ``directory`` is its path, real and absolute.

    With a ``nursery`` agdbg is forked from it where a test does not compare it with Python.
    """

    def __init__(self, directory: Path, nursery=None) -> None:
        self.nursery = nursery
        self.directory = (directory / "work").resolve()
        self.directory.mkdir()
        self._entry = directory / "bin" / "agdbg"
        self._entry.parent.mkdir()
        self._entry.write_text(ENTRY)
        self.env = environment()

    def anew(self):
        """This; from now on agdbg is started anew each time, for a test of how it or the engine is imported."""
        self.nursery = None
        return self

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def python_command(self, words, flags=()):
        return [sys.executable, *flags, *words]

    def agdbg_command(self, words, flags=(), options=()):
        return [sys.executable, *flags, str(self._entry), "run", *options, *words]

    def command(self, *words, flags=()):
        """The command line of another subcommand of agdbg."""
        return [sys.executable, *flags, str(self._entry), *words]

    def run(self, command, stdin="", cwd=None, env=None, **how):
        told = self.env | (env or {})
        is_agdbg = command[:2] == [sys.executable, str(self._entry)]
        if self.nursery is not None and is_agdbg and not how and self.nursery.can(told):
            status, *texts = self.nursery.run(command[1:], stdin.encode(), cwd or self.directory, told)
            return ended(status, *(text.decode("utf-8", "surrogateescape") for text in texts))
        return self._run_anew(command, stdin, cwd, told, **how)

    def _run_anew(self, command, stdin="", cwd=None, env=None, **how):
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            cwd=cwd or self.directory,
            env=env,
            timeout=120,
            check=False,
            **how,
        )
        return ended(done.returncode, done.stdout, done.stderr)

    def both(self, words, flags=(), options=(), env=None, **how):
        """Run under both; return what was seen under python, then under agdbg."""
        told = self.env | (env or {})
        python = self._run_anew(self.python_command(words, flags), env=told, **how)
        assert not python.said
        return python, self._run_anew(self.agdbg_command(words, flags, options), env=told, **how)
