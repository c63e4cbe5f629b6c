"""What is left when the hub is gone or does not answer, in words."""

import os

from agdbg_ui.view import View

#: Said to whoever asks for what only a hub can do.
GONE = "the hub is gone: this can no longer be done (q quits)"
#: Said in place of what nobody had asked for before the connection broke.
NOT_KNOWN = "not known: the connection to the hub is gone"
#: Said of a recording when the hub has not answered in time.
LATE = "no answer yet: the hub is busy with the recording; the last line tells how far it is"


def left_alone(view: View, why: str) -> str:
    """What becomes of the program, then why the connection ended.

    Args:
        view: how things were before.
        why: in the words of the connection.
    """
    if not view.alive:
        return why
    who = "the program" if view.pid is None else f"the program (pid {view.pid})"
    output = f"; output in {os.path.join(view.trace, 'output.log')}" if view.trace else ""
    return f"{who} goes on without a debugger{output} ({why})"
