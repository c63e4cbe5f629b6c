"""A function with all its forms: what PyTorch says about a call that fits none of them."""

from __future__ import annotations

import warnings

from ..sites import user_stacklevel
from .kinds import Taken, type_name
from .signature import Args, Keywords, Signature, Wrong

_WITH_NUMBERS = {"copy_", "to"} | {
    name + end
    for name in ("add", "sub", "mul", "div", "divide", "multiply", "subtract", "true_divide", "floor_divide")
    for end in ("", "_")
}
"""Functions that take numbers for tensors."""


class Parser:
    """The forms of one function."""

    told = False
    """Whether somebody was warned of a form that is not shown."""

    def __init__(self, name: str, signatures: list[Signature], method: bool) -> None:
        self.name, self.signatures, self.method = name, signatures, method
        self.numbers = name in _WITH_NUMBERS
        shown = [s for s in signatures if not s.hidden]
        self.lists = int(not method and all(s.parameters and s.parameters[0].is_tensors for s in shown))
        """So many arguments are lists of tensors in all forms: what these hold does not count."""
        self.tensors = min(_leading_tensors(s) for s in shown) or self.lists
        """So many arguments are tensors in all forms: a call with these alone is not looked at beforehand."""

    def examine(self, args: Args, kwargs: Keywords) -> tuple[Args, Keywords, bool]:
        """Raise what PyTorch raises for the types of a call's arguments; else these, in the order of a form that is shown and
        with Python's numbers, and whether other values of the same types would be taken as they are.
        """
        error, fitting, by_value = self._look(args, kwargs)
        if error is not None:
            raise error
        if fitting is None:
            return args, kwargs, True
        numbers = fitting.in_python(args, kwargs)
        args, kwargs = numbers or (args, kwargs)
        if fitting.hidden:
            args, kwargs = self._in_order(fitting, args, kwargs)
        return args, kwargs, numbers is None and not fitting.hidden and not by_value

    def _in_order(self, hidden: Signature, args: Args, kwargs: Keywords) -> tuple[Args, Keywords]:
        """A call of a form that is not shown, as one of the form that is; PyTorch warns of the first in a process."""
        shown = [s for s in self.signatures if not s.hidden]
        forms = "".join(f"\n\t{self.name}{s}" for s in shown)
        told, Parser.told = Parser.told, True
        if not told:
            warnings.warn(
                f"This overload of {self.name} is deprecated:\n\t{self.name}{hidden}\nConsider using one of the following "
                f"signatures instead:{forms}",
                UserWarning,
                stacklevel=user_stacklevel(),
            )
        given = {p.name: v for p, v in hidden.bound(args, kwargs)}
        if "out" in kwargs:
            given["out"] = kwargs["out"]
        first = tuple(given.pop(p.name) for p in shown[0].positional)
        return first, given

    def refusal(self, args: Args, kwargs: Keywords) -> Exception | None:
        """What PyTorch raises for the types of a call's arguments; ``None`` where it takes them."""
        return self._look(args, kwargs)[0]

    def _look(self, args: Args, kwargs: Keywords) -> tuple[Exception | None, Signature | None, bool]:
        if "out" in kwargs:
            kwargs = {n: v for n, v in kwargs.items() if n != "out"}
        taken = Taken()
        alone = len(self.signatures) == 1
        if alone and self.signatures[0].no_arguments:
            return self._none_taken(args, kwargs), None, False
        wrong: Wrong | None = None
        for s in self.signatures:
            wrong = s.wrong(args, kwargs, self.numbers, taken, alone)
            if wrong is None:
                return None, s, taken.by_value
            if wrong.final:
                break
        assert wrong is not None
        if alone or wrong.final:
            return self._error(wrong), None, False
        return self._of_several(args, kwargs), None, False

    def _of_several(self, args: Args, kwargs: Keywords) -> Exception:
        given = len(args) + len(kwargs)
        plausible = [s for s in self.signatures if s.fewest <= given <= len(s.all) and not s.hidden]
        if len(plausible) == 1:
            wrong = plausible[0].wrong(args, kwargs, self.numbers, Taken(), True)
            if wrong is not None:
                return self._error(wrong)
        shown = [s for s in self.signatures if not s.hidden]
        by_name = [f"{n}={type_name(v)}" for n, v in reversed(kwargs.items())]  # in this order PyTorch shows them
        kinds = ", ".join([*map(type_name, args), *by_name]) + ("" if args or not kwargs else ", ")
        head = f"{self.name}() received an invalid combination of arguments - got ({kinds}), but expected"
        if len(shown) == 1:
            strange = [n for n in reversed(kwargs) if not shown[0].has(n)]
            if strange:
                return TypeError(
                    f"{head.partition(' - got')[0]} - got unrecognized keyword arguments: {', '.join(strange)}"
                )
            return TypeError(f"{head} {shown[0]}")
        return TypeError("\n * ".join([f"{head} one of:", *map(str, shown)]) + "\n")

    def _error(self, wrong: Wrong) -> Exception:
        if not wrong.named:
            return TypeError(wrong.text)
        return TypeError(f"{self.name}(){'' if wrong.text[0] == ':' else ' '}{wrong.text}")

    def _none_taken(self, args: Args, kwargs: Keywords) -> Exception | None:
        return none_taken(self.name, args, kwargs) if args or kwargs else None


def none_taken(name: str, args: Args, kwargs: Keywords) -> Exception:
    """What Python says of a method in C that takes nothing, and was given something."""
    if kwargs:
        return TypeError(f"TensorBase.{name}() takes no keyword arguments")
    return TypeError(f"TensorBase.{name}() takes no arguments ({len(args)} given)")


def _leading_tensors(s: Signature) -> int:
    return next((i for i, p in enumerate(s.parameters) if p.kind != "Tensor" or p.size is not None), len(s.parameters))
