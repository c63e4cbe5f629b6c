"""Name clashes between the modules that agdbg imported and files that lie beside the script.

Beside a script there may be a ``profile.py`` or a ``queue.py``. Under ``python`` such a file is what ``import
queue`` in the script gives. agdbg has imported some standard modules before the script starts, and imports
more after it has ended; neither may change what the script gets, and the script's files must not take the
place of what agdbg needs.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from types import ModuleType


class Isolation:
    """Keeps both sides' modules apart where their names clash; mostly there is nothing to do.

    Args:
        directory: the script's ``sys.path[0]``, empty for the current directory; None when it has none (``python -P``).
        own_path: the ``sys.path`` that agdbg itself imports from.
    """

    def __init__(self, directory: str | None, own_path: list[str]) -> None:
        self._directory = directory
        self._own_path = own_path
        self._hidden: dict[str, ModuleType] = {}

    def hide(self) -> None:
        """Take those modules out of ``sys.modules`` that the script would have found in its own directory."""
        self._hide(_loaded_after_startup())

    def _hide(self, loaded: set[str]) -> None:
        """Of the top-level modules ``loaded``, hide those that clash with a file, submodules included."""
        if self._directory is None:
            return
        clashes = {name for name in loaded & _stems(self._directory) if self._is_shadowed(name, self._directory)}
        for name in list(sys.modules):
            if name.partition(".")[0] in clashes:
                self._hidden[name] = sys.modules.pop(name)

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """While this is open, path and modules are agdbg's. The script's come back afterwards."""
        script_path, sys.path = sys.path, list(self._own_path)
        theirs = {name: sys.modules.pop(name) for name in list(sys.modules) if self._is_theirs(name)}
        before = set(sys.modules)
        sys.modules.update(self._hidden)
        try:
            yield
        finally:
            self._hide(set(sys.modules) - before)
            sys.modules.update(theirs)
            sys.path = script_path

    def _is_shadowed(self, name: str, directory: str) -> bool:
        """True when ``import name`` in the script means a file of its directory."""
        module = sys.modules.get(name)
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if origin in (None, "built-in", "frozen"):  # these come before any path
            return False
        spec = PathFinder.find_spec(name, [directory])
        return spec is not None and spec.loader is not None and spec.origin != origin

    def _is_theirs(self, name: str) -> bool:
        """True for a loaded module that has a standard module's name and lies in the script's directory."""
        if self._directory is None or name.partition(".")[0] not in sys.stdlib_module_names:
            return False
        file = getattr(sys.modules[name], "__file__", None)
        try:
            return isinstance(file, str) and file.startswith(os.path.join(os.path.abspath(self._directory), ""))
        except OSError:  # it is the current directory, which was removed
            return False


def _loaded_after_startup() -> set[str]:
    """Top-level modules that ``python`` would not have loaded before its script: ``site`` is its last."""
    names = list(sys.modules)
    after = names[names.index("site") + 1 :] if "site" in names else names
    return {name for name in after if "." not in name} - {"__main__", "agdbg"}


def _stems(directory: str) -> set[str]:
    """What could be imported from ``directory``, by the look of its file names."""
    try:
        return {name.partition(".")[0] for name in os.listdir(directory or os.curdir)}
    except OSError:
        return set()
