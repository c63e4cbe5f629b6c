"""Storage: the identity of a piece of memory that several tensors may share, and its version counter."""

from __future__ import annotations

import threading
import weakref
from types import CodeType
from typing import Any, Self

from .current import current
from .grad_mode import mode
from .locks import after_fork, renewed

_counting = threading.RLock()
"""Held while a write is counted, or the storage object of a tensor or the AccumulateGrad of a leaf is made.

Two writes that are counted as one could hide the later of them from what was saved in between. Re-entrant, since a signal handler
may write in the thread that holds it. No user code is called with it."""


def _renew_lock() -> None:
    """In a forked child: the thread that held the lock may not be here."""
    global _counting
    _counting = renewed(_counting)


after_fork(_renew_lock)


def counting() -> threading.RLock:
    """The lock around counts of writes, and around what is made once for all threads."""
    return _counting


class Storage:
    """Shared by a tensor, its views and its detached twins; ``version`` counts the writes to the memory.

    A tensor gets its storage object when first needed (a view, a write, an instrument): until then nothing else
    can share the memory and its version is 0.
    """

    __slots__ = ("__weakref__", "conjugate", "tag", "version", "writers")

    conjugate: bool
    """Whether this is the memory of a conjugate, which in PyTorch would be that of the tensor itself."""
    version: int
    tag: int
    """Number given by an instrument; 0 when none has."""
    writers: list[tuple[int, str, CodeType, int]] | tuple[()]
    """The latest writes as ``(new version, op, code, lasti)``, bounded by :data:`REMEMBERED_WRITES`."""

    def __init__(self) -> None:
        self.version = 0
        self.tag = 0
        self.writers = ()
        self.conjugate = False

    def wrote(self, op: str, code: CodeType, lasti: int) -> None:
        """Count a write by ``op`` from the given site."""
        with _counting:
            self.version += 1
            writers = self.writers = self.writers or []
            writers.append((self.version, op, code, lasti))
            if len(writers) > REMEMBERED_WRITES:
                del writers[: -REMEMBERED_WRITES // 2]


REMEMBERED_WRITES = 64
"""How many writes of one storage error messages can still name; the trace has all of them."""


UNSAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
    "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or "
    "use `torch.no_grad()` instead of `torch.inference_mode()`."
)


def unsaved() -> Exception:
    """PyTorch's error of saving an inference tensor; no instrument is told, since an instrument may be what asks for a version."""
    return RuntimeError(UNSAVED)


class InferenceStorage(Storage):
    """Memory of a tensor made in inference mode: writes to it are not counted.

    So nobody can tell whether it changed since it was saved, and an op that is about to save it, which reads the version, is
    refused here: ordinary tensors pay nothing for that. A function that is transformed may save it where
    :func:`~agdbg_engine.inside.check_inference` says so, once the op's node is there.
    """

    __slots__ = ("_level", "transformed")

    transformed: bool
    """Whether a function that was transformed has saved it."""

    def __init__(self) -> None:
        self.transformed = False
        self._level = None if mode.transform is None else weakref.ref(mode.transform)
        self.tag = 0
        self.writers = ()
        self.conjugate = False

    def level(self) -> Any:
        """The transform in which the tensor was made; ``None`` outside of all, and when that has ended."""
        return None if self._level is None else self._level()

    def of_level(self, other: InferenceStorage) -> Self:
        """This one, as made where ``other`` was."""
        self._level = other._level
        return self

    @property
    def version(self) -> int:  # type: ignore[override]  # a plain slot in the base: there is no number here
        """None: raises PyTorch's :class:`RuntimeError` about saving; 0 where a transform reads it."""
        if mode.transform is not None:
            self.transformed = True
            mode.transform.saves_inference = True
            return 0
        if self.transformed and current.bp is not None:
            return 0
        raise unsaved()

    def wrote(self, op: str, code: CodeType, lasti: int) -> None:
        """Nothing to count."""


class TwinStorage(InferenceStorage):
    """Memory of an inference tensor as its detached twin sees it, or a tensor whose ``data`` it became: as in PyTorch writes are
    allowed and counted, saving is not.
    """

    __slots__ = ("counter",)

    counter: Storage
    """Counts the writes: that which a tensor had before."""

    def __init__(self, counter: Storage | None = None) -> None:
        super().__init__()
        self.counter = counter or Storage()

    @property
    def version(self) -> int:  # type: ignore[override]  # as in the base
        """As of any inference tensor; in a pass, where it is compared with what was saved before, the number of writes."""
        return self.counter.version if current.bp is not None else super().version

    def wrote(self, op: str, code: CodeType, lasti: int) -> None:
        """Count."""
        self.counter.wrote(op, code, lasti)


def version_of(t: Any) -> int:
    """How often the memory of tensor ``t`` was written; 0 for an inference tensor, whose writes are not counted."""
    storage = t._storage
    return 0 if storage is None or isinstance(storage, InferenceStorage) else storage.version


_shown: weakref.WeakSet[Storage] = weakref.WeakSet()


def show(t: Any) -> None:
    """An array of NumPy is on the memory of tensor ``t``, which so cannot be exchanged for a larger one."""
    _shown.add(t._shared_storage())


def check_grows(t: Any) -> None:
    """Refuse to give tensor ``t`` more memory where that is another library's, or shown by it."""
    if t._storage is not None and t._storage in _shown:
        raise RuntimeError("Trying to resize storage that is not resizable")
