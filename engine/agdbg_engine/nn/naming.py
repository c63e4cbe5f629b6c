"""The names of parameters, as instruments are told them: from the root of the model that they belong to."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from .. import events
from ..tensor import Parameter, Tensor

if TYPE_CHECKING:
    from .module import Module

_parents: weakref.WeakKeyDictionary[Module, weakref.ref[Module]] = weakref.WeakKeyDictionary()
"""Which module holds a module: to call a parameter by its full name even when only a part of the model runs."""

_owners: weakref.WeakValueDictionary[int, Module] = weakref.WeakValueDictionary()
"""Which module holds a parameter, by ``id``: to name one that is used without calling the module.

An ``id`` that a later tensor has inherited leads to a module that does not hold it, which then names its own."""

_announced: weakref.WeakKeyDictionary[Module, tuple[events.Sink, int]] = weakref.WeakKeyDictionary()
"""Root modules whose parameter names the sink has been told, with the number of names."""


def holds(parent: Module, child: Module) -> None:
    """Note that ``parent`` now holds ``child``."""
    _parents[child] = weakref.ref(parent)


def owns(module: Module, parameter: Parameter) -> None:
    """Note that ``module`` now holds ``parameter``."""
    _owners[id(parameter)] = module


def announce_owner(t: Tensor) -> None:
    """Tell the sink the names of the model that parameter ``t`` belongs to, if it belongs to one."""
    owner = _owners.get(id(t)) if isinstance(t, Parameter) else None
    if owner is not None:
        announce(owner)


def announce(module: Module) -> None:
    """Tell the sink the full names of all parameters and buffers of the model that ``module`` is part of, once."""
    root = module
    while (ref := _parents.get(root)) is not None and (parent := ref()) is not None:
        root = parent
    sink = events.sink
    assert sink is not None
    known = _announced.get(root)
    if known is not None and known[0] is sink and root is not module:
        return
    named = [(n, t, "parameter") for n, t in root.named_parameters()] + [
        (n, t, "buffer") for n, t in root.named_buffers()
    ]
    if known is not None and known == (sink, hash(tuple(id(t) for _, t, _ in named))):
        return
    _announced[root] = (sink, hash(tuple(id(t) for _, t, _ in named)))
    for name, t, kind in named:
        sink.tensor_named(t, name, kind)
