"""Which engines the program tried to import, whether or not that went well."""

import sys
from collections.abc import Iterable, Sequence
from types import FrameType, ModuleType

_NEAR = 8  # frames between a finder and the import statement's function, with other finders in between


class Attempts:
    """A finder that finds nothing and remembers what was to be imported.

    Args:
        names: the top-level modules to look out for.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self.tried: set[str] = set()

    def watch(self) -> None:
        """Be asked from now on."""
        sys.meta_path.insert(0, self)

    def end(self) -> None:
        """Leave ``sys.meta_path``, which the program may have changed."""
        if self in (sys.meta_path or ()):
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Leave it to the others. ``importlib.util.find_spec`` is no attempt to import."""
        if name in self._names and _is_import(sys._getframe(1)):
            self.tried.add(name)


def _is_import(frame: FrameType | None) -> bool:
    for _ in range(_NEAR):
        if frame is None:
            return False
        if frame.f_code.co_name == "_find_and_load":
            return True
        frame = frame.f_back
    return False
