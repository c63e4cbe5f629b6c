"""Arguments and results of the function transforms: which arguments are meant, and PyTorch's checks."""

from __future__ import annotations

from typing import Any

from ..foreign import hint
from ..pytree import flatten
from ..tensor import Tensor

Argnums = int | tuple[int, ...]


def positions(argnums: Any, count: int) -> Argnums:
    """``argnums`` made non-negative; :class:`RuntimeError` for what is not among ``count`` arguments."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, int):
        return _position(argnums, count)
    found = tuple(_position(n, count) for n in argnums)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _position(n: Any, count: int) -> int:
    if not isinstance(n, int):
        raise RuntimeError(f"argnum must be int, got: {type(n)}")
    if not -count <= n < count:
        raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
    return n % count


def sliced(args: tuple[Any, ...], argnums: Any) -> Any:
    """The argument at ``argnums``, or the tuple of those."""
    where = positions(argnums, len(args))
    return args[where] if isinstance(where, int) else tuple(args[i] for i in where)


def replaced(args: tuple[Any, ...], argnums: Any, new: Any) -> tuple[Any, ...]:
    """``args`` with ``new`` (what :func:`sliced` gave, changed) in its place."""
    where = positions(argnums, len(args))
    pairs = {where: new} if isinstance(where, int) else dict(zip(where, new, strict=True))
    return tuple(pairs.get(i, a) for i, a in enumerate(args))


def with_aux(output: Any, has_aux: bool, api: str) -> tuple[Any, Any]:
    """The output proper and the auxiliary one that a function returned; ``None`` for the latter without ``has_aux``."""
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def check_outputs(found: list[Any], api: str) -> None:
    """Every one of ``found`` must be a tensor, and there must be one."""
    if not found or (len(found) == 1 and found[0] is None):
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {found})")
    for x in found:
        check_tensor(x, api)


def check_tensor(x: Any, api: str) -> None:
    """``x``, which a function returned, must be a tensor."""
    if not isinstance(x, Tensor):
        raise RuntimeError(
            f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(x)}{hint(x)}"
        )


def check_real(name: str, tree: Any, what: str) -> None:
    """No tensor of ``tree``, the ``what`` (inputs or outputs) of transform ``name``, may be complex."""
    for i, x in enumerate(flatten(tree)[0]):
        if isinstance(x, Tensor) and x.dtype.kind == "c":
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}"
            )
