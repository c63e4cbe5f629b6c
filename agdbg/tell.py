"""What agdbg says beside a running program: lines on standard error, each marked as agdbg's own."""

import sys

#: Every line that agdbg writes on standard error begins with this (an empty one is the mark alone).
MARK = "agdbg:"


def tell(text: str) -> None:
    """Write ``text`` on the process's standard error, each line marked.

    The stream is the one the process began with, since ``sys.stderr`` may be the program's own object by now.
    One that is closed, full or gone is no reason to fail.
    """
    stream = sys.__stderr__
    if stream is None:
        return
    marked = "".join(f"{MARK} {line}".rstrip() + "\n" for line in text.split("\n"))
    try:
        stream.write(marked)
        stream.flush()
    except (OSError, ValueError):
        return
