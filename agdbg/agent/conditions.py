"""Conditions and log messages of breakpoints: Python that is compiled once and evaluated on the thread that comes by."""

import ast
import dis
import signal
from collections.abc import Callable, Collection, Iterator
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from agdbg.agent.ending import BUILTINS, ends
from agdbg.agent.evaluate import limited
from agdbg.agent.variables import TEXT

_FILE = "<breakpoint>"

Names = Callable[[Collection[str]], dict[str, Any]]
"""Gives the values of those of some names that a stop binds; only what is asked for is computed."""


Frame = Callable[[], FrameType | None]
"""Gives the program's innermost frame."""


class Expression(NamedTuple):
    """An expression that is compiled.

    Attributes:
        code: to be evaluated.
        names: those that it reads, inside of its lambdas and comprehensions too.
        has_functions: it has functions of its own, which see no locals.
        calls: it calls something, and so may not end soon.
        ends: it ends by itself, if the stop gives what it names, but for functions of Python.
        is_simple: nothing but what the stop gives is needed, if that is all that it names.
    """

    code: CodeType
    names: frozenset[str]
    has_functions: bool
    calls: bool
    ends: bool
    is_simple: bool


class Part(NamedTuple):
    """A part of a log message: text as it is, or an expression with the format of its value."""

    text: str
    code: Expression | None = None
    format: str = ""


def problem(what: str, expression: str) -> str:
    """Why ``expression``, which is the ``what`` of a breakpoint, cannot be evaluated; empty when it can."""
    try:
        compiled(expression)
    except (SyntaxError, ValueError) as error:
        return f"{what} {expression!r} is no Python expression: {getattr(error, 'msg', None) or error}"
    return ""


def log_problem(message: str) -> str:
    """Why a log message cannot be printed; empty when it can."""
    try:
        parts(message)
    except (SyntaxError, ValueError) as error:
        return f"logMessage {message!r}: {getattr(error, 'msg', None) or error}; write {{{{ for a brace"
    return ""


@cache
def compiled(expression: str) -> Expression:
    """The code of an expression; raises :class:`SyntaxError` or :class:`ValueError`."""
    code = compile(expression.strip(), _FILE, "eval", dont_inherit=True)
    tree = ast.parse(expression.strip(), _FILE, "eval")
    names = frozenset(each.id for each in ast.walk(tree) if isinstance(each, ast.Name))
    has_functions = any(isinstance(each, CodeType) for each in code.co_consts)
    calls = any("CALL" in step.opname for step in dis.get_instructions(code))
    calls, ends_itself = has_functions or calls, ends(tree)
    return Expression(code, names, has_functions, calls, ends_itself, not calls or ends_itself)


@cache
def parts(message: str) -> tuple[Part, ...]:
    """The parts of a log message; raises :class:`SyntaxError` or :class:`ValueError`."""
    return tuple(_parts(message))


def _parts(message: str) -> Iterator[Part]:
    text, at = "", 0
    while at < len(message):
        here = message[at]
        if here in "{}" and message[at : at + 2] == here * 2:
            text, at = text + here, at + 2
        elif here == "}":
            raise ValueError(f"there is a '}}' at character {at + 1} that closes nothing")
        elif here == "{":
            if text:
                yield Part(text)
            part, at = _expression(message, at + 1)
            text = ""
            yield part
        else:
            text, at = text + here, at + 1
    if text:
        yield Part(text)


def _expression(message: str, start: int) -> tuple[Part, int]:
    """The expression that begins at ``start``, which ends at the first brace up to where it is Python, and what follows."""
    error: Exception = ValueError(f"the '{{' at character {start} is not closed")
    end = message.find("}", start)
    while end >= 0:
        inside = message[start:end]
        for text, form in ((inside, ""), inside.rpartition(":")[::2]):
            try:
                if text.strip():
                    return Part(text.strip(), compiled(text), form), end + 1
            except (SyntaxError, ValueError) as found:
                error = ValueError(f"{{{inside}}} is no Python expression: {getattr(found, 'msg', None) or found}")
        end = message.find("}", end + 1)
    raise error


@cache
def read_by(condition: str, log: str) -> frozenset[str]:
    """The names that a condition and a log message read; either may be empty."""
    codes = [compiled(condition)] if condition else []
    codes += [part.code for part in parts(log) if part.code is not None]
    return frozenset().union(*(code.names for code in codes))


def value(expression: Expression, frame: Frame, names: Names, trusted: Collection[str] = ()) -> Any:
    """The value of an expression in what ``frame`` gives, for a limited time; what the stop binds comes first.

    Functions in the files ``trusted`` end by themselves.
    """
    code, wanted = expression.code, expression.names
    bound = names(wanted)
    if len(bound) == len(wanted) and expression.is_simple:  # the program's frame is not asked for anything
        return eval(code, {}, bound)
    free = wanted - bound.keys()
    here = frame() if free else None
    known, own = ({}, {}) if here is None else (here.f_globals, here.f_locals)  # None: nothing of the program is read
    is_short = not expression.calls or (
        expression.ends and free <= BUILTINS and free.isdisjoint(known) and free.isdisjoint(own)
    )
    local: dict[str, Any] | None
    if expression.has_functions:
        known, local = {**known, **own, **bound}, None
    else:  # no need to copy the names of a module
        local = bound if here is None or own is known else {**own, **bound}
    if is_short:  # no need to watch the clock
        return eval(code, known, local)
    return limited(lambda: eval(code, known, local), trusted)


def filled(message: str, frame: Frame, names: Names, describe: Callable[[Any], str]) -> str:
    """A log message with the values of its expressions; one that fails is told in its place."""
    return "".join(
        part.text if part.code is None else _filled(part, part.code, frame, names, describe) for part in parts(message)
    )


def _filled(part: Part, code: Expression, frame: Frame, names: Names, describe: Callable[[Any], str]) -> str:
    try:
        found = value(code, frame, names)
        if part.format:
            return format(found, part.format)[:TEXT]
        return found[:TEXT] if isinstance(found, str) else describe(found)
    except BaseException as error:
        if is_interrupt(error):
            raise
        return f"<{part.text}: {failure(error)}>"


def failure(error: BaseException) -> str:
    """What is said of an error of an expression; one for want of a graph has its reason told."""
    kind, text = type(error).__name__, str(error)
    if "does not require grad" in text:
        first = text.partition("\n")[0]
        return f"{kind}: {first}; conditions and log messages run without recording gradients"
    return f"{kind}: {text}" if text else kind


def is_interrupt(error: BaseException) -> bool:
    """Whether it is the program's Ctrl-C, and not a ``KeyboardInterrupt`` that the expression has raised itself."""
    if not isinstance(error, KeyboardInterrupt):
        return False
    handler = getattr(signal.getsignal(signal.SIGINT), "__code__", None)
    trace, code, at = error.__traceback__, None, -1
    while trace is not None:
        code, at = trace.tb_frame.f_code, trace.tb_lasti
        if code is handler:
            return True
        trace = trace.tb_next
    # between the steps of the code that was interrupted, it is not a raise that stands there
    return code is None or dis.opname[code.co_code[at]] != "RAISE_VARARGS"
