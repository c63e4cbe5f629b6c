"""Python at a stop: expressions and statements on the stopped thread, for a limited time."""

import ast
import sys
from collections.abc import Callable, Collection
from time import perf_counter
from types import CodeType, FrameType
from typing import Any

LIMIT_S = 5.0
"""Python code that runs longer than this at a stop is broken off; a call into C is not."""


_LATE_S = 0.5
"""Code that ends so much later than it should was in a call that could not be broken off."""

DONE = object()
"""The value of statements."""


class TooLong(Exception):
    """The time is over."""


class Refused(Exception):
    """The request makes no sense here; the message says why."""


def evaluate(expression: str, frame: FrameType | None, extra: dict[str, Any], *, only_expression: bool = False) -> Any:
    """The value of an expression in ``frame``; statements are executed, and give :data:`DONE`.

    Names of ``extra`` come first. What statements assign is kept in a module; a running function keeps its locals.

    Raises:
        Refused: it is no Python, or statements where an expression is wanted.
    """
    code, is_statement = _compiled(expression, only_expression)
    is_module = frame is not None and frame.f_locals is frame.f_globals
    if frame is not None and is_module and not _uses(code, extra):
        names = frame.f_globals
    else:  # one namespace, since comprehensions see no locals of an eval
        names = {**(frame.f_globals if frame else {}), **(frame.f_locals if frame else {}), **extra}
    value = limited(lambda: eval(code, names))
    return DONE if is_statement else value


def names_lost(expression: str, frame: FrameType | None) -> list[str]:
    """What the statements ``expression`` assign in vain, because ``frame`` is that of a running function."""
    if frame is None or frame.f_locals is frame.f_globals:
        return []
    tree = _parsed(expression)
    if tree is None:
        return []
    stored = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(stored)) if not isinstance(tree.body[0] if tree.body else None, ast.Expr) else []


def refuse_lost(expression: str, frame: FrameType | None) -> None:
    """Refuse what does nothing but assign names that a running function forgets again.

    Raises:
        Refused: it does.
    """
    tree, lost = _parsed(expression), names_lost(expression, frame)
    if tree is None or not lost or not all(isinstance(each, _ASSIGNMENTS) for each in tree.body):
        return
    targets = [target for each in tree.body for target in getattr(each, "targets", [getattr(each, "target", None)])]
    if all(isinstance(target, ast.Name) for target in targets):
        raise Refused(
            f"{', '.join(lost)} cannot be set: a running function keeps its locals; what an object holds can be changed"
        )


_ASSIGNMENTS = ast.Assign | ast.AugAssign | ast.AnnAssign


def _parsed(expression: str) -> ast.Module | None:
    try:
        return ast.parse(expression.strip())
    except (SyntaxError, ValueError):
        return None


def _compiled(expression: str, only_expression: bool) -> tuple[CodeType, bool]:
    """The code, and whether it is statements."""
    try:
        return compile(expression.strip(), "<agdbg>", "eval", dont_inherit=True), False
    except (SyntaxError, ValueError) as error:
        if only_expression:
            raise Refused(f"{expression!r} is not an expression: {error}") from None
    try:
        return compile(expression, "<agdbg>", "exec", dont_inherit=True), True
    except (SyntaxError, ValueError) as error:
        raise Refused(f"{expression!r} is not Python: {error}") from None


def _uses(code: CodeType, names: dict[str, Any]) -> bool:
    return any(name in names for name in code.co_names)


def _too_long(took: float) -> str:
    """What is said of code that took so many seconds."""
    if took < LIMIT_S + _LATE_S:
        return f"broken off after {LIMIT_S:g} s"
    return (
        f"broken off after {took:.1f} s, not at the limit of {LIMIT_S:g} s: a single call, which cannot be broken off, "
        "ran on until then"
    )


def limited(function: Callable[[], Any], trusted: Collection[str] = ()) -> Any:
    """Call ``function``; its Python code gets :class:`TooLong` when the time is over, outside of the functions in the files
    ``trusted``, which end by themselves and are not slowed down.
    """
    begun = perf_counter()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        took = perf_counter() - begun
        if took > LIMIT_S:
            raise TooLong(_too_long(took))
        if frame.f_code.co_filename in trusted:
            return None
        frame.f_trace_opcodes = True  # a loop on one line has no line events
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return function()
    finally:
        sys.settrace(before)
