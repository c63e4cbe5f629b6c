"""The end of a recording: the trace is explained on standard error."""

import sys
from dataclasses import replace
from pathlib import Path

from agdbg.tell import tell


def is_there(directory: Path) -> bool:
    """False when the records are gone."""
    from agdbg.record.format import RECORDS_FILE

    return (directory / RECORDS_FILE).exists()


def explain(directory: Path, base: Path | None) -> bool:
    """Say what the trace explains; False when it cannot be read any more, which is said too."""
    from agdbg.explain.explanation import explain as explanation_of
    from agdbg.explain.palette import Palette
    from agdbg.explain.text import SHOWN_AT_EXIT, as_text
    from agdbg.record import TraceError
    from agdbg.record.ending import Ending

    if not is_there(directory):
        tell(f"the trace {below(directory, base)} was removed while the program ran: there is nothing to explain")
        return False
    try:
        found = explanation_of(directory)
    except TraceError as error:
        tell(f"cannot explain: {error}")
        return False
    if found.ending.state not in ("closed", "stopped"):  # not even that could be written
        found = replace(found, ending=Ending("stopped", "the trace could not be closed"))
    tell(as_text(found, base=base, palette=Palette.of(sys.__stderr__), limit=SHOWN_AT_EXIT))
    return True


def below(path: Path, base: Path | None) -> str:
    """``path`` from the start directory when it is below it: the program may have gone elsewhere."""
    return str(path.relative_to(base) if base is not None and path.is_relative_to(base) else path)
