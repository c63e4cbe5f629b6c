"""``agdbg.breakpoint``: a stop that stands in the program itself."""

from agdbg.incode import readers
from agdbg.tell import tell

_HOW = """\
agdbg.breakpoint(): {why}, so the program goes on.
To stop here, run it by `agdbg run SCRIPT` on a terminal, or from an editor by agdbg's debug adapter."""
_told: list[str] = []


def breakpoint() -> None:
    """Stop the running thread here, if a debugger watches the program; otherwise say once how to have one, and go on."""
    loaded = readers.loaded()
    if any(reader.stop("agdbg.breakpoint()") for reader in loaded):
        return
    why = "no debugger listens" if loaded else "no autograd engine has been imported yet"
    if why not in _told:
        _told.append(why)
        tell(_HOW.format(why=why))
