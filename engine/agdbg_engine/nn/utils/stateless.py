"""A module called with other tensors in the place of its parameters and buffers, which it has back afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...tensor import Tensor

if TYPE_CHECKING:
    from ..module import Module


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | tuple[Mapping[str, Tensor], ...],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` as if its parameters and buffers were those given by full name.

    ``tie_weights``: what is given for one name of a shared parameter is used for its other names too. ``strict``:
    :class:`RuntimeError` unless the names are exactly those of the module.
    """
    given = _merged(parameter_and_buffer_dicts)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def _merged(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, list | tuple):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(d, Mapping) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    keys = [key for d in dicts for key in d]
    repeated = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {key: value for d in dicts for key, value in d.items()}


@contextlib.contextmanager
def _replaced(module: Module, given: dict[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    """Inside, the module holds the given tensors."""
    held = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    if tie_weights:
        given = _with_ties(held, given)
    if strict:
        _check_names(module, held, given)
    places = [_place(module, name) for name in given]
    before = [(store, key, store.get(key, _NOTHING)) for store, key in places]
    try:
        for (store, key), value in zip(places, given.values(), strict=True):
            store[key] = value
        yield
    finally:
        for store, key, value in before:
            if value is _NOTHING:
                del store[key]
            else:
                store[key] = value


_NOTHING = object()


def _place(module: Module, name: str) -> tuple[dict[str, Any], str]:
    """The dict in which the tensor of this full name is held, or would be an attribute; and its key there."""
    path, _, key = name.rpartition(".")
    owner = module.get_submodule(path)
    held: tuple[dict[str, Any], ...] = (owner._parameters, owner._buffers)
    return next((store for store in held if key in store), owner.__dict__), key


def _with_ties(held: dict[str, Tensor], given: dict[str, Tensor]) -> dict[str, Tensor]:
    """``given``, and the same tensors for the other names of what they take the place of."""
    names: dict[int, list[str]] = {}
    for name, t in held.items():
        names.setdefault(id(t), []).append(name)
    found = dict(given)
    for tied in names.values():
        values = [given[name] for name in tied if name in given]
        if len({id(value) for value in values}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using tie_weights=False"
            )
        if values:
            found.update(dict.fromkeys(tied, values[0]))
    return found


def _check_names(module: Module, held: dict[str, Tensor], given: dict[str, Tensor]) -> None:
    unexpected, missing = ([n for n in a if n not in b] for a, b in ((given, held), (held, given)))
    faults = [f"Unexpected key(s): {', '.join(map(repr, unexpected))}."] if unexpected else []
    faults += [f"Missing key(s): {', '.join(map(repr, missing))}."] if missing else []
    if faults:
        listed = "\n\t".join(faults)
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t{listed}")
