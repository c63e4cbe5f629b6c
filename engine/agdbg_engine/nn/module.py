"""Module: a tree of parameters, buffers and sub-modules with a ``forward``."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from .. import events
from ..grad_mode import no_grad
from ..tensor import Parameter, Tensor
from . import module_hooks
from .hookable import Hookable

_parents: weakref.WeakKeyDictionary[Module, weakref.ref[Module]] = weakref.WeakKeyDictionary()
"""Which module holds a module: to call a parameter by its full name even when only a part of the model runs."""

_owners: weakref.WeakValueDictionary[int, Module] = weakref.WeakValueDictionary()
"""Which module holds a parameter, by ``id``: to name one that is used without calling the module.

An ``id`` that a later tensor has inherited leads to a module that does not hold it, which then names its own."""

_announced: weakref.WeakKeyDictionary[Module, tuple[events.Sink, int]] = weakref.WeakKeyDictionary()
"""Root modules whose parameter names the sink has been told, with the number of names."""


class Module(Hookable):
    """Base class of all layers and models: assign :class:`Parameter` and modules as attributes, define ``forward``."""

    training: bool

    def __init__(self) -> None:
        self.__dict__.update(_parameters={}, _buffers={}, _modules={}, training=True)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if events.sink is not None:
            announce(self)
        if self._hooks is not None or module_hooks.everywhere is not None:
            return module_hooks.Call(self, args, kwargs).run()
        return self.forward(*args, **kwargs)

    # ----- attributes -----

    def __setattr__(self, name: str, value: Any) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign '{name}' before Module.__init__() call")
        if isinstance(value, Parameter):
            self.__dict__.pop(name, None)
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self.add_module(name, value)
        else:
            self._set_plain(name, value)

    def _set_plain(self, name: str, value: Any) -> None:
        """Assign what is neither parameter nor module: refused where it would silently replace one of them."""
        wanted = (
            (self._parameters, "parameter", "torch.nn.Parameter or None", ()),
            (self._modules, "child module", "torch.nn.Module or None", ()),
            (self._buffers, "buffer", "torch.Tensor or None", (Tensor,)),
        )
        for registry, what, expected, kinds in wanted:
            if name in registry:
                if value is not None and not isinstance(value, kinds):
                    given = type(value).__name__
                    raise TypeError(f"cannot assign '{given}' as {what} '{name}' ({expected} expected)")
                registry[name] = value
                return
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        for registry in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(registry, {})
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                return
        del self.__dict__[name]

    def add_module(self, name: str, module: Module | None) -> None:
        """Hold ``module`` under ``name``."""
        self.__dict__.pop(name, None)
        self._modules[name] = module
        if module is not None:
            _parents[module] = weakref.ref(self)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Hold ``parameter`` under ``name``."""
        self._parameters[_checked(name)] = parameter
        if parameter is not None:
            _owners[id(parameter)] = self

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """Hold a tensor that is state but not trained."""
        self._buffers[_checked(name)] = tensor

    # ----- walking -----

    def children(self) -> Iterator[Module]:
        """Direct sub-modules."""
        return (m for m in self._modules.values() if m is not None)

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once, with dotted names."""
        seen: set[int] = set()
        stack = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield name, module
            below = [(f"{name}.{n}" if name else n, m) for n, m in module._modules.items() if m is not None]
            stack.extend(reversed(below))

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        return (m for _, m in self.named_modules())

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """All parameters, each once, with dotted names."""
        return self._named("_parameters", prefix)

    def parameters(self) -> Iterator[Parameter]:
        """All parameters, each once."""
        return (p for _, p in self.named_parameters())

    def named_buffers(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """All buffers, each once, with dotted names."""
        return self._named("_buffers", prefix)

    def _named(self, registry: str, prefix: str) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for name, module in self.named_modules(prefix):
            for key, value in module.__dict__[registry].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{name}.{key}" if name else key), value

    # ----- state -----

    def train(self, mode: bool = True) -> Self:
        """Switch training behaviour (dropout) on or off."""
        for m in self.modules():
            m.training = mode
        return self

    def eval(self) -> Self:
        """Switch to evaluation behaviour."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Freeze or unfreeze all parameters."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters."""
        for p in self.parameters():
            clear_grad(p, set_to_none)

    def state_dict(self) -> dict[str, Tensor]:
        """Parameters and buffers by name, sharing memory."""
        return {name: t.detach() for name, t in (*self.named_parameters(), *self.named_buffers())}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Copy values in; raises :class:`RuntimeError` naming missing and unexpected keys."""
        own: dict[str, Tensor] = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        missing, unexpected = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
        if missing or unexpected:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}: missing {missing}, unexpected {unexpected}"
            )
        with no_grad():
            for name, t in own.items():
                t.copy_(state[name])

    # ----- printing -----

    def extra_repr(self) -> str:
        """What stands between the parentheses of a leaf module's repr."""
        return ""

    def __repr__(self) -> str:
        lines = [f"  ({name}): " + repr(m).replace("\n", "\n  ") for name, m in self._modules.items()]
        if not lines:
            return f"{type(self).__name__}({self.extra_repr()})"
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *modules: Module) -> None:
        super().__init__()
        for i, m in enumerate(modules):
            self.add_module(str(i), m)

    def forward(self, x: Any) -> Any:
        for m in self._modules.values():
            x = m(x)
        return x

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, i: int) -> Module:
        return list(self._modules.values())[i]

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())


class ModuleList(Sequential):
    """Modules in a list, called by whoever holds it."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__(*modules)

    def append(self, module: Module) -> Self:
        """Put ``module`` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def forward(self, x: Any) -> Any:
        raise NotImplementedError('Module [ModuleList] is missing the required "forward" function')

    def __repr__(self) -> str:
        shown = [repr(m) for m in self]
        if not shown:
            return f"{type(self).__name__}()"
        lines, first = [], 0
        for i, text in enumerate(shown):
            if i + 1 < len(shown) and shown[i + 1] == text:
                continue
            name = f"({i}): " if i == first else f"({first}-{i}): {i - first + 1} x "
            lines.append(f"  {name}" + text.replace("\n", "\n  "))
            first = i + 1
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])


def _checked(name: str) -> str:
    """A name under which something can be held: dots separate the parts of a full name."""
    if "." in name:
        raise KeyError(f'name can\'t contain ".", got: {name!r}')
    if not name:
        raise KeyError('name can\'t be empty string ""')
    return name


def announce_owner(t: Tensor) -> None:
    """Tell the sink the names of the model that parameter ``t`` belongs to, if it belongs to one."""
    owner = _owners.get(id(t)) if isinstance(t, Parameter) else None
    if owner is not None:
        announce(owner)


def clear_grad(p: Tensor, set_to_none: bool) -> None:
    """Drop the gradient of ``p``, or fill it with zeros."""
    if set_to_none or p._grad is None:
        p._grad = None
    else:
        p._grad = p._grad.detach()
        p._grad.zero_()


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
