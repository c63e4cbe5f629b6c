"""How a session on the terminal ended."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TuiResult:
    """What is to be said once the terminal is restored.

    Attributes:
        status: exit status of the program as a shell shows it (128 + n after signal n); None: it has not ended, or
            there was none.
        trace: directory of the recording, or "".
        left_running: the program was left behind alive.
        error: why the session could not begin, or was cut; "" when all went well.
    """

    status: int | None = None
    trace: str = ""
    left_running: bool = False
    error: str = ""
