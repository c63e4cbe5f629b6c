"""Subpackages of agdbg that are called like functions: ``agdbg.record`` is both the package and what records a block.

A name of a package can have one meaning only, so the module itself is made callable. What is called is looked up by name: the
packages in question may not import what runs a program.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A module that can be called."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        module, _, name = self.__agdbg_call__.partition(":")
        return getattr(import_module(module), name)(*args, **named)


def make_callable(name: str, function: str) -> None:
    """Let calls of the module ``name`` go to ``function``, given as ``package.module:name``."""
    module = sys.modules[name]
    module.__dict__["__agdbg_call__"] = function
    module.__class__ = _Callable
