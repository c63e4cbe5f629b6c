"""The names of parameters, as instruments are told them: from the root of the model that they belong to."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from .. import events
from ..tensor import Parameter, Tensor

if TYPE_CHECKING:
    from .module import Module

_parents: weakref.WeakKeyDictionary[Module, list[weakref.ref[Module]]] = weakref.WeakKeyDictionary()
"""Which modules hold a module, the newest last: to call a parameter by its full name even when only a part of the model runs.

Several, since the newest may be gone soon: ``for layer in model[::2]`` puts layers into a module that lives as long as the loop."""

_owners: weakref.WeakValueDictionary[int, Module] = weakref.WeakValueDictionary()
"""Which module holds a parameter, by ``id``: to name one that is used without calling the module.

An ``id`` that a later tensor has inherited leads to a module that does not hold it, which then names its own."""

_announced: weakref.WeakKeyDictionary[Module, tuple[events.Sink, int]] = weakref.WeakKeyDictionary()
"""Root modules whose names the sink has been told, with what :func:`_contents` gave then."""


def holds(parent: Module, child: Module) -> None:
    """Note that ``parent`` now holds ``child``."""
    held = _parents.get(child)
    if held is None:
        _parents[child] = [weakref.ref(parent)]
    elif parent_of(child) is not parent:
        held[:] = [ref for ref in held if ref() not in (None, parent)] + [weakref.ref(parent)]


def parent_of(module: Module) -> Module | None:
    """The newest module that holds a module and is still there."""
    return next((parent for ref in reversed(_parents.get(module, ())) if (parent := ref()) is not None), None)


def owns(module: Module, parameter: Parameter) -> None:
    """Note that ``module`` now holds ``parameter``."""
    _owners[id(parameter)] = module


def announce_owner(t: Tensor) -> None:
    """Tell the sink the names of the model that parameter ``t`` belongs to, if it belongs to one."""
    owner = _owners.get(id(t)) if isinstance(t, Parameter) else None
    if owner is not None:
        announce(owner)


def announce(module: Module) -> None:
    """Tell the sink where all modules, parameters and buffers of the model stand that ``module`` is part of.

    Again when the root of the model is called and something has been put into it, taken out of it, frozen or unfrozen.
    """
    root = _root(module)
    sink = events.sink
    if sink is None:
        return
    known = _announced.get(root)
    if known is not None and known[0] is sink and root is not module:
        return
    try:
        now = sink, _contents(root)
        if known is not None and known == now:
            return
        _announced[root] = now
        _tell(root, sink)
    except Exception:  # one that cannot list what it holds, as before Module.__init__(): it may still have a forward
        return


def _contents(root: Module) -> int:
    """A number that is another one when a model holds something else, or other parameters of it require a gradient."""
    parts: list[Any] = []
    for name, module in root.named_modules():
        parts += name, id(module)
        parts += [(id(t), t._rg) for t in module._parameters.values() if t is not None]
        parts += [id(t) for t in module._buffers.values() if t is not None]
    return hash(tuple(parts))


def _tell(root: Module, sink: events.Sink) -> None:
    by_path: dict[str, Module] = {}
    for path, module in root.named_modules():
        by_path[path] = module
        holder = path.rpartition(".")[0] if path else None
        sink.module_named(module, path, None if holder is None else by_path.get(holder, root))
    named = [(*pair, "parameter") for pair in root.named_parameters()]
    for name, t, kind in [*named, *((*pair, "buffer") for pair in root.named_buffers())]:
        sink.tensor_named(t, name, kind)


def model_of(t: Tensor) -> Module | None:
    """The root of the model that parameter ``t`` belongs to; ``None`` when it belongs to none."""
    found = _owners.get(id(t)) if isinstance(t, Parameter) else None
    return None if found is None else _root(found)


def _root(module: Module) -> Module:
    """The model that a module is a part of."""
    while (parent := parent_of(module)) is not None:
        module = parent
    return module
