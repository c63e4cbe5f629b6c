"""Storage: the identity of a piece of memory that several tensors may share, and its version counter."""

from __future__ import annotations

from types import CodeType


class Storage:
    """Shared by a tensor, its views and its detached twins; ``version`` counts the writes to the memory.

    A tensor gets its storage object when first needed (a view, a write, an instrument): until then nothing else
    can share the memory and its version is 0.
    """

    __slots__ = ("__weakref__", "tag", "version", "writers")

    version: int
    tag: int
    """Number given by an instrument; 0 when none has."""
    writers: list[tuple[int, str, CodeType, int]] | tuple[()]
    """The latest writes as ``(new version, op, code, lasti)``, bounded by :data:`REMEMBERED_WRITES`."""

    def __init__(self) -> None:
        self.version = 0
        self.tag = 0
        self.writers = ()

    def wrote(self, op: str, code: CodeType, lasti: int) -> None:
        """Count a write by ``op`` from the given site."""
        self.version += 1
        writers = self.writers = self.writers or []
        writers.append((self.version, op, code, lasti))
        if len(writers) > REMEMBERED_WRITES:
            del writers[: -REMEMBERED_WRITES // 2]


REMEMBERED_WRITES = 64
"""How many writes of one storage error messages can still name; the trace has all of them."""
