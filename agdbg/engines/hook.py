"""A callback for the moment when a module has been imported: so that agdbg need not import an engine itself.

A program that never imports the engine pays for one more finder on ``sys.meta_path`` and nothing else.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Callback = Callable[[ModuleType], None]


def on_import(name: str, callback: Callback) -> Callable[[], None]:
    """Call ``callback(module)`` once, right after the module ``name`` was imported; now, if it has been
    already.

    An import that fails is not counted: the next one may succeed. What the callback raises comes out of the
    program's ``import`` statement, so it should raise nothing.

    Returns:
        A function that takes the hook away again; calling it twice, or after the callback, does nothing.
    """
    watcher = _Watcher(name, callback)
    module = sys.modules.get(name)
    if module is not None:
        callback(module)
    else:
        sys.meta_path.insert(0, watcher)
    return watcher.remove


class _Watcher:
    """A finder that lets the other finders find one module and wraps the loader they chose."""

    def __init__(self, name: str, callback: Callback) -> None:
        self._name = name
        self._callback = callback

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the watched module as the other finders give it, with a loader that tells."""
        if fullname != self._name:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):  # a namespace package has no loader to wrap
                    spec.loader = _TellingLoader(spec.loader, self)  # type: ignore[assignment]  # a loader by what it does, not by its class
                return spec
        return None

    def imported(self, module: ModuleType) -> None:
        """The watched module has been executed without an error."""
        self.remove()
        self._callback(module)

    def remove(self) -> None:
        """Take this finder off ``sys.meta_path``."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


class _TellingLoader:
    """The real loader, and a call when it is done. While the module executes it has its real loader again."""

    def __init__(self, real: Any, watcher: _Watcher) -> None:
        self._real = real
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module with its real loader, then tell the watcher."""
        module.__loader__ = self._real
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        self._real.exec_module(module)
        self._watcher.imported(module)

    # Python leaves the frames of its import machinery, which it knows by this file name, out of tracebacks
    # and of the stack levels of warnings. This one belongs to them.
    exec_module.__code__ = exec_module.__code__.replace(co_filename="<frozen importlib._bootstrap>")
