"""Tensors of PyTorch beside the engine's: told apart from objects that override, and refused in one line.

Their class has ``__torch_function__`` too, and each side would ask the other for ever: PyTorch's default calls the function again,
and so does the engine's. PyTorch is never imported here; where nobody has, there are no such tensors.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = [
    "among",
    "arrays",
    "belongs_to_pytorch",
    "beside_expected",
    "described",
    "hint",
    "is_foreign",
    "kind_name",
    "refuse",
    "refuse_to_hold",
    "refused",
    "refused_there",
    "refusing",
]

_OURS = "agdbg_engine.from_numpy(t.numpy(force=True))"
_SAYS = "a tensor of PyTorch"
_THEIRS = "torch.from_numpy(a.detach().cpu().numpy())"


def _tensor_class() -> Any:
    """PyTorch's class of tensors where the process has it; ``None`` where not, or where the name stands for something else."""
    torch = sys.modules.get("torch")
    found = getattr(torch, "Tensor", None)
    return found if isinstance(found, type) and found.__module__ == "torch" else None


def is_pytorchs(kind: type) -> bool:
    """Whether objects of ``kind`` are tensors of PyTorch, a subclass's too."""
    theirs = _tensor_class()
    return theirs is not None and issubclass(kind, theirs)


def is_foreign(kind: type) -> bool:
    """Whether objects of ``kind`` are tensors of PyTorch that nobody taught anything of the engine.

    A subclass with a ``__torch_function__`` of its own may know the engine's functions, until it has asked PyTorch's default.
    """
    if not is_pytorchs(kind):
        return False
    torch: Any = sys.modules["torch"]
    handler = kind.__torch_function__  # type: ignore[attr-defined]  # of every tensor of PyTorch
    default = _tensor_class().__torch_function__
    own = getattr(handler, "__func__", handler) not in (default.__func__, torch._C._disabled_torch_function_impl)
    return not own or not torch._C._is_torch_function_enabled()


def kind_name(value: Any) -> str:
    """The class of ``value`` as errors name it: a tensor of PyTorch is not just called a Tensor."""
    kind = type(value)
    return f"torch.{kind.__name__}" if kind.__module__.partition(".")[0] == "torch" else kind.__name__


def hint(value: Any) -> str:
    """What an error that names the class of ``value`` adds where that is a tensor of PyTorch: how to convert it; else nothing."""
    return f" ({_SAYS}: {_OURS} makes it one of the engine)" if is_pytorchs(type(value)) else ""


def described(value: Any) -> str:
    """The class of ``value``, and how to convert it where it is a tensor of PyTorch."""
    return f"{kind_name(value)}{hint(value)}"


def among(args: Iterable[Any], kwargs: dict[str, Any]) -> bool:
    """Whether an argument of a call is, or holds, a tensor of PyTorch that the engine is not to ask."""
    return any(True for arg in (*args, *kwargs.values()) for _ in _foreign_in(arg))


def refused(function: Any, public: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    """What is wrong with a call of the engine's ``function`` (``public`` is its name in PyTorch) with a tensor of PyTorch."""
    from .signatures import refusal  # which knows of these tensors

    method = public.startswith("torch.Tensor.")
    wrong = refusal(public.removeprefix("torch."), args[method:], kwargs) if public else None
    if isinstance(wrong, TypeError) and _SAYS in str(wrong) and "\n" not in str(wrong):
        return wrong  # it stands where no tensor is wanted
    name = _shown((public or getattr(function, "__name__", "")).rpartition(".")[2])
    argument, value = _first(function, args, kwargs, method)
    return TypeError(f"{name}(): {argument} must be Tensor, not {described(value)}")


def refuse(value: Any, function: str, argument: str, at: int = 1) -> None:
    """:class:`TypeError` if ``value``, which ``function`` was given where it wants a tensor, is one of PyTorch.

    For code that goes on with methods of ``value``: those of PyTorch's tensors have the same names, and would compute there.
    """
    if is_pytorchs(type(value)):
        raise TypeError(f"{function}(): argument '{argument}' (position {at}) must be Tensor, not {described(value)}")


def _part_of(value: Any) -> str:
    """``parameter`` or ``module`` for one of PyTorch; empty for anything else."""
    nn: Any = getattr(sys.modules.get("torch"), "nn", None)
    if nn is None or _tensor_class() is None:
        return ""
    return "module" if isinstance(value, nn.Module) else "parameter" if isinstance(value, nn.Parameter) else ""


def beside_expected(value: Any, expected: str) -> str:
    """What an error of a module says that it can hold, in parentheses: the names are PyTorch's, but for an object of PyTorch, of
    which these would be true, those of the engine, and how to make one of it.
    """
    part = _part_of(value)
    if part == "module":
        from . import nn

        kind = type(value).__name__
        own = f"nn.{kind}" if hasattr(nn, kind) else "nn"
        how = f" (a module of PyTorch: make it by {__package__}.{own})"
    elif part:
        how = f" (a parameter of PyTorch: {__package__}.nn.Parameter({_OURS}) makes one of the engine)"
    else:
        how = hint(value)
    if not expected:
        return how
    return f" ({expected.replace('torch', __package__) if how else expected}){how}"


def refuse_to_hold(name: str, value: Any) -> None:
    """:class:`TypeError` if ``value``, assigned to an attribute of a module, is a parameter or module of PyTorch: it would be no
    part of that module, and not be trained.
    """
    part = _part_of(value)
    if part:
        expected = "torch.nn.Parameter" if part == "parameter" else "torch.nn.Module"
        raise TypeError(
            f"cannot assign '{type(value).__module__}.{type(value).__qualname__}' as {part} '{name}'"
            f"{beside_expected(value, f'{expected} expected')}"
        )


def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, whose errors of calls with tensors of PyTorch are about these."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception:
            if among(args, kwargs):
                raise refused(function, function.__name__, args, kwargs) from None
            raise

    return call


def arrays(data: Any) -> Any:
    """``data`` with NumPy's arrays for tensors of PyTorch, where it is one or lists of them; else as it is."""
    if is_pytorchs(type(data)):
        return data.numpy(force=True)
    first = data
    while type(first) in (list, tuple) and first:
        first = first[0]
    return _in_lists(data) if is_pytorchs(type(first)) else data


def _in_lists(data: Any) -> Any:
    return [_in_lists(d) for d in data] if isinstance(data, list | tuple) else arrays(data)


def _shown(name: str) -> str:
    """The name of an operator without underscores; that of an in-place method keeps its own."""
    return name[2:-2] if name.startswith("__") and name.endswith("__") else name


def _first(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], method: bool) -> tuple[str, Any]:
    """The first argument that is, or holds, a foreign tensor, in words, and that tensor."""
    try:
        given = inspect.signature(getattr(function, "of", function)).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # told by its place alone
        given = {}
    for at, arg in enumerate(args):
        found = next(_foreign_in(arg), None)
        if found is not None:
            name = next((n for n, v in given.items() if v is arg), "")
            name = " 'input'" if name == "self" else f" '{name}'" * bool(name)
            at += not (method and at)
            return f"element {found[0]} of " * (found[1] is not arg) + f"argument{name} (position {at})", found[1]
    for name, arg in kwargs.items():
        found = next(_foreign_in(arg), None)
        if found is not None:
            return f"element {found[0]} of " * (found[1] is not arg) + f"argument '{name}'", found[1]
    raise AssertionError("no argument is a tensor of PyTorch")


def _foreign_in(value: Any) -> Iterator[tuple[int, Any]]:
    return ((i, v) for i, v in enumerate(value if type(value) in (list, tuple) else (value,)) if is_foreign(type(v)))


# ----- the other way round -----


def belongs_to_pytorch(function: Any) -> bool:
    """Whether a ``__torch_function__`` of the engine was given ``function`` by PyTorch, of which it is one."""
    for of in (function, getattr(function, "__objclass__", None), getattr(function, "__self__", None)):
        kind = getattr(of, "__objclass__", of)
        if str(getattr(kind, "__module__", "")).partition(".")[0] == "torch":
            return _tensor_class() is not None
    return False


def refused_there(function: Any, types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """:class:`TypeError` of a function of PyTorch with a tensor of the engine; ``NotImplemented`` where others may know it."""
    from .tensor import Tensor

    if not all(issubclass(t, Tensor) or is_foreign(t) for t in types):
        return NotImplemented
    name = function.__name__ if function.__name__ != "__get__" else function.__self__.__name__
    values = [v for a in (*args, *kwargs.values()) for v in (a if type(a) in (list, tuple) else (a,))]
    if any(is_pytorchs(type(v)) for v in values):
        how = f"{_OURS} makes a tensor of the engine of one of PyTorch, and {_THEIRS} the other way round"
        raise TypeError(f"{_shown(name)}(): tensors of PyTorch and of agdbg_engine cannot be mixed; {how}")
    raise TypeError(
        f"{_shown(name)}(): a function of PyTorch was given a tensor of agdbg_engine; call the engine's function of that "
        f"name, or give it {_THEIRS}"
    )
