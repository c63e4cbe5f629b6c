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
        killed: the person has ended the program by quitting; without a status it has not ended yet.
        ending: how the program ended, in words; "" while it has not.
        program: its name.
        pid: its process number, where it was left behind.
        early: it was left before the program began, of which nothing goes on.
        signal: number of the signal that has ended the debugger, or None.
        is_crash: the UI has ended by a mistake of its own.
        error: why the session could not begin, or was cut; "" when all went well.
    """

    status: int | None = None
    trace: str = ""
    left_running: bool = False
    error: str = ""
    killed: bool = False
    ending: str = ""
    program: str = ""
    pid: int | None = None
    early: bool = False
    signal: int | None = None
    is_crash: bool = False
