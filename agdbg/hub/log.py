"""The hub's log: its standard error, which is a file in the runtime directory once it has started."""

import sys
import time
import traceback


def log(text: str) -> None:
    """Write a line with the local time before it. A log that cannot be written is no reason to fail."""
    try:
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return


def log_error(what: str) -> None:
    """Write the error that is being handled, with its stack, and what was being done."""
    log(f"{what}:\n{traceback.format_exc().rstrip()}")
