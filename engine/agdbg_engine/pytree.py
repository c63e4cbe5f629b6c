"""Nested tuples, lists and dicts of anything: taken apart into a flat list and put together again.

PyTorch's rules: a named tuple and a subclass of dict that it knows keep their type, everything else is a leaf; dicts are of one
structure only if their keys come in the same order.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any


class Structure:
    """The shape of a nest: ``kind`` is its type (``None`` for a leaf), ``keys`` those of a dict, in order.

    ``factory`` is what a defaultdict makes missing values with.
    """

    __slots__ = ("factory", "keys", "kind", "parts")

    def __init__(self, kind: type | None, keys: list[Any] | None, parts: list[Structure], factory: Any = None) -> None:
        self.kind = kind
        self.keys = keys
        self.parts = parts
        self.factory = factory

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self._facts() == other._facts()

    def _facts(self) -> tuple[Any, ...]:
        return self.kind, self.keys, self.factory, self.parts

    __hash__ = None  # type: ignore[assignment]  # how Python says unhashable

    def __repr__(self) -> str:
        """As PyTorch writes it, for messages."""
        if self.kind is None:
            return "*"
        parts = ",\n  ".join(repr(p).replace("\n", "\n  ") for p in self.parts)
        if _named(self.kind):
            return f"TreeSpec(namedtuple, {self.kind}, [{parts}])"
        context = [self.factory, self.keys] if self.kind is defaultdict else self.keys
        return f"TreeSpec({self.kind.__name__}, {context}, [{parts}])"

    def drawing(self) -> str:
        """The nest with ``*`` for every leaf."""
        return repr(unflatten([_Star()] * _count(self), self))


class _Star:
    def __repr__(self) -> str:
        return "*"


_LEAF = Structure(None, None, [])
_DICTS = (dict, OrderedDict, defaultdict)


def _named(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """The leaves of ``tree`` in order, and its structure."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list[Any]) -> Structure:
    kind = type(tree)
    if kind in _DICTS:
        factory = tree.default_factory if kind is defaultdict else None
        return Structure(kind, list(tree), [_flatten(v, leaves) for v in tree.values()], factory)
    if kind in (tuple, list) or _named(kind):
        return Structure(kind, None, [_flatten(v, leaves) for v in tree])
    leaves.append(tree)
    return _LEAF


def unflatten(leaves: list[Any] | tuple[Any, ...], structure: Structure) -> Any:
    """A nest of ``structure`` with ``leaves`` in it."""
    return _unflatten(iter(leaves), structure)


def _unflatten(leaves: Iterator[Any], structure: Structure) -> Any:
    kind = structure.kind
    if kind is None:
        return next(leaves)
    parts = [_unflatten(leaves, p) for p in structure.parts]
    if structure.keys is not None:
        pairs = dict(zip(structure.keys, parts, strict=True))
        if kind is dict:
            return pairs
        return OrderedDict(pairs) if kind is OrderedDict else defaultdict(structure.factory, pairs)
    return kind(*parts) if _named(kind) else kind(parts)


def _count(structure: Structure) -> int:
    return 1 if structure.kind is None else sum(map(_count, structure.parts))


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """``tree`` with ``function`` applied to every leaf."""
    leaves, structure = flatten(tree)
    return unflatten([function(x) for x in leaves], structure)
