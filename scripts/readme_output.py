"""Write into README.md what its example prints: `python scripts/readme_output.py`.

The tests compare the two, so that the README cannot show what agdbg no longer says.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
SCRIPT = "examples/digits_backward_twice.py"
BEGIN = "<!-- written by scripts/readme_output.py: begin -->\n```text\n"
END = "```\n<!-- end -->\n"

# Stands for the folder that a run makes: its real name has the time in it.
TRACE = ".agdbg/digits_backward_twice-20260102-030405"


def fresh_output() -> str:
    """Run the example and return what agdbg, not the script, writes to standard error.

    Raises RuntimeError when the example does not fail, as it should.
    """
    with tempfile.TemporaryDirectory() as scratch:
        trace = str(Path(scratch).resolve() / "trace")
        command = [sys.executable, "-m", "agdbg", "run", "--trace", trace, SCRIPT]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 1:
        raise RuntimeError(f"{SCRIPT} should fail with exit status 1, not {done.returncode}: {done.stderr}")
    spoken = [line for line in done.stderr.splitlines(keepends=True) if line.startswith("agdbg:")]
    return "".join(spoken).replace(trace, TRACE)


def shown_output() -> str:
    """Return the output that README.md shows."""
    return README.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def main() -> None:
    """Replace the shown output by a fresh one."""
    page = README.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{README}: the marks around the example's output are missing")
    README.write_text(before + begin + fresh_output() + end + after, encoding="utf-8")


if __name__ == "__main__":
    main()
