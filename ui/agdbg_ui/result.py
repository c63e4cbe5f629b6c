"""How a session on the terminal ended."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agdbg_ui.view import View


class TuiResult(NamedTuple):
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

    @classmethod
    def of(cls, view: "View", name: str, kill: bool, is_early: bool, signal: int | None) -> "TuiResult":
        """That of a session as it was seen last, for the program ``name``, which was to be killed or was left."""
        return cls(
            view.status(),
            view.trace,
            view.alive and not kill,
            view.why,
            killed=kill,
            ending=view.ending() if view.life == "ended" else "",
            program=view.script or name,
            pid=view.pid,
            early=is_early,
            signal=signal,
        )
