"""Containers of modules: in a sequence, a list, or by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Self

from .module import Module, indented

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Numbered(Module):
    """Modules under the names ``0``, ``1`` ...: what a sequence and a list have in common."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return self._slice(idx)
        return self._modules[self._name_of(idx)]

    def _slice(self, idx: slice) -> Any:
        raise NotImplementedError

    def _name_of(self, idx: Any) -> str:
        """The name of number ``idx``, which may be negative; :class:`IndexError` where there is none."""
        number = operator.index(idx)
        if not -len(self) <= number < len(self):
            raise IndexError(f"index {number} is out of range")
        return list(self._modules)[number]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._name_of(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        for name in list(self._modules)[idx] if isinstance(idx, slice) else [self._name_of(idx)]:
            delattr(self, name)
        self._modules = {str(i): module for i, module in enumerate(self._modules.values())}

    def append(self, module: Module) -> Self:
        """Put ``module`` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Take out a module, or the modules of a slice."""
        found = self[key]
        del self[key]
        return found

    def _put(self, index: int, module: Module) -> None:
        """Hold ``module`` at ``index``, those from there on one further."""
        held = list(self._modules.values())
        held.insert(index, module)
        for i, m in enumerate(held):
            self._hold(str(i), m)


class Sequential(_Numbered):
    """Modules called one after the other; from an ordered dict they have its names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name) if isinstance(name, int) else name, module)

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def _slice(self, idx: slice) -> Self:
        return type(self)(OrderedDict(list(self._modules.items())[idx]))

    def insert(self, index: int, module: Module) -> Self:
        """Put ``module`` before number ``index``."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        self._put(index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Put all of ``sequential`` at the end."""
        for module in sequential:
            self.append(module)
        return self

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *_sequential(other))

    def __iadd__(self, other: Any) -> Self:
        return self.extend(list(_sequential(other)))

    def __mul__(self, other: Any) -> Sequential:
        return Sequential(*list(self) * self._factor(other))

    __rmul__ = __mul__

    def __imul__(self, other: Any) -> Self:
        return self.extend(list(self) * (self._factor(other) - 1))

    def _factor(self, other: Any) -> int:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return other


def _sequential(other: Any) -> Sequential:
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
    return other


class ModuleList(_Numbered):
    """Modules in a list, called by whoever holds it."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _slice(self, idx: slice) -> Self:
        return type(self)(list(self)[idx])

    def insert(self, index: int, module: Module) -> None:
        """Put ``module`` before number ``index``."""
        self._put(index, module)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Put all of ``modules`` at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        shown = [repr(m) for m in self]
        if not shown:
            return f"{self._get_name()}()"
        lines, first = [], 0
        for i, text in enumerate(shown):
            if i + 1 < len(shown) and shown[i + 1] == text:
                continue
            name = f"({i}): " if i == first else f"({first}-{i}): {i - first + 1} x "
            lines.append("  " + indented(name + text))
            first = i + 1
        return "\n".join([f"{self._get_name()}(", *lines, ")"])


class ModuleDict(Module):
    """Modules by name, called by whoever holds it."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take out all."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take out the module with this name."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Put in all of a mapping or of pairs."""
        for key, module in pairs("ModuleDict", "ModuleDict", modules, ModuleDict):
            self[key] = module


def pairs(what: str, called: str, given: Any, own: type[Any]) -> list[tuple[Any, Any]]:
    """Keys and values of a mapping, of an ``own`` container or of pairs; PyTorch's errors for what is none of them."""
    if not isinstance(given, Iterable):
        kind = type(given).__name__
        raise TypeError(f"{called}.update should be called with an iterable of key/value pairs, but got {kind}")
    if isinstance(given, Mapping | own):
        listed: Any = given
        return list(listed.items())
    found = []
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{what} update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        items: Any = pair
        if len(items) != 2:
            raise ValueError(f"{what} update sequence element #{i} has length {len(items)}; 2 is required")
        found.append((items[0], items[1]))
    return found
