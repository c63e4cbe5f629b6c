"""``agdbg.breakpoint``: a stop that stands in the program itself."""

from agdbg.incode import readers
from agdbg.tell import tell

_HOW = """\
agdbg.breakpoint(): {why}, so the program goes on.
To stop here, run it by `agdbg run SCRIPT` on a terminal, or from an editor by agdbg's debug adapter."""
_JOIN = """\
agdbg.breakpoint(): no debugger has joined the program, so it goes on.
To stop here, join it before, by `agdbg attach`; agdbg.listen(wait=True) and `agdbg listen --wait` wait for that."""
_told: list[str] = []


def breakpoint() -> None:
    """Stop the running thread here, if a debugger watches the program; otherwise say once how to have one, and go on."""
    loaded = readers.loaded()
    found = [reader.stop("agdbg.breakpoint()") for reader in loaded]
    if any(found):
        return
    why = "no debugger listens" if loaded else "no autograd engine has been imported yet"
    text = _JOIN if None in found else _HOW.format(why=why)
    if text not in _told:
        _told.append(text)
        tell(text)
