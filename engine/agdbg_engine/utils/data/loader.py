"""DataLoader: the samples of a dataset in batches, in this process."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, Generic, TypeVar

from ...device import may_pin
from ...random import Generator
from ...sites import user_stacklevel
from . import drawing
from .collate import default_collate, default_convert
from .datasets import IterableDataset
from .samplers import BatchSampler, RandomSampler, SequentialSampler

T = TypeVar("T", covariant=True)

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader(Generic[T]):
    """Batches of ``dataset``: an iterator anew for every ``for``. ``num_workers`` must be 0: there are no other processes."""

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
        multiprocessing_context: Any = None, generator: Generator | None = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.pin_memory, self.pin_memory_device, self.in_order = pin_memory, pin_memory_device, in_order
        self.prefetch_factor, self.worker_init_fn = prefetch_factor, worker_init_fn
        self.multiprocessing_context = None
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = self._usual_sampler(bool(shuffle), generator)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.generator = batch_size, drop_last, generator
        self.sampler, self.batch_sampler = sampler, batch_sampler
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn: Callable[[Any], Any] = collate_fn
        self.persistent_workers = persistent_workers
        self._ready = True

    def _usual_sampler(self, shuffle: bool, generator: Generator | None) -> Any:
        if self._iterable:
            return _Endless()
        return RandomSampler(self.dataset, generator=generator) if shuffle else SequentialSampler(self.dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and self.__dict__.get("_ready"):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[T]:
        drawing.check(self.generator)
        batches = self._from_iterable() if self._iterable else self._by_number()
        return map(_pinned, batches) if self.pin_memory and _can_pin() else batches

    def _by_number(self) -> Iterator[T]:
        if self.batch_sampler is None:
            return (self.collate_fn(self.dataset[i]) for i in self.sampler)
        several = getattr(self.dataset, "__getitems__", None) or self._one_by_one
        return (self.collate_fn(several(batch)) for batch in self.batch_sampler)

    def _one_by_one(self, batch: list[int]) -> list[Any]:
        return [self.dataset[i] for i in batch]

    def _from_iterable(self) -> Iterator[T]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(itertools.islice(samples, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if not self._iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _can_pin() -> bool:
    if not may_pin():
        warnings.warn(
            "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    return may_pin()


def _pinned(batch: Any) -> Any:
    """``batch`` with its tensors, and what else has a method ``pin_memory``, pinned, in containers of the same types."""
    if hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, str | bytes):
        return batch
    if isinstance(batch, Mapping):
        return _refilled(batch, {key: _pinned(x) for key, x in batch.items()}, dict)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(_pinned, batch))
    return _refilled(batch, [*map(_pinned, batch)], list) if isinstance(batch, Sequence) else batch


def _refilled(batch: Any, content: Any, plain: type) -> Any:
    """A container as ``batch`` with other ``content``; a ``plain`` one where its type makes none of that."""
    made: Any
    try:
        if isinstance(batch, MutableMapping):
            made = copy.copy(batch)
            made.update(content)
        elif isinstance(batch, MutableSequence):
            made = copy.copy(batch)
            for i, x in enumerate(content):
                made[i] = x
        else:
            made = type(batch)(content)
    except TypeError:
        return plain(content)
    return made


class _Endless:
    """The sampler of a dataset that has no numbers."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def _check_workers(workers: int, timeout: float, prefetch: Any, persistent: bool, context: Any) -> None:
    if workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if workers > 0:
        raise NotImplementedError(
            f"num_workers={workers} is not supported: data is loaded in this process only. Use num_workers=0."
        )
    if prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, "
            "otherwise set prefetch_factor to None."
        )
    if persistent:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if context is not None:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={workers}"
        )


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    start = "DataLoader with IterableDataset: expected unspecified"
    if shuffle not in (False, None):
        raise ValueError(f"{start} shuffle option, but got shuffle={shuffle}")
    if sampler is not None:
        raise ValueError(f"{start} sampler option, but got sampler={sampler}")
    if batch_sampler is not None:
        raise ValueError(f"{start} batch_sampler option, but got batch_sampler={batch_sampler}")


def get_worker_info() -> None:
    """``None``: there are no workers."""
    return
