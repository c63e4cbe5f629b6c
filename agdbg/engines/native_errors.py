"""Which filters an error of the engine is meant for, besides that of its kind."""

import os
import re
from pathlib import Path

import agdbg_engine.hooks
from agdbg.error_text import message_of

_ENGINE = str(Path(agdbg_engine.hooks.__file__).parents[1])
_HOOKS = str(Path(agdbg_engine.hooks.__file__).parent)
_MODULE_HOOKS = tuple(str(Path(_HOOKS).parent / "nn" / name) for name in ("module_backward.py", "module_hooks.py"))
_SAVED_HOOKS = str(Path(_HOOKS).parent / "saved" / "hooks.py")
_OPEN = frozenset({"other", "invalid-gradient", "hook-error", "uncaught"})
"""Kinds that say little: the text of the error says more."""
_WORDS = (
    ("device", re.compile(r"\bdevices?\b", re.IGNORECASE)),
    ("dtype", re.compile(r"\bdtypes?\b|scalar type|data ?type|can't be cast|not implemented for '\w+'", re.IGNORECASE)),
    ("shape", re.compile(r"\bshapes?\b|\bsizes?\b|\bbroadcast", re.IGNORECASE)),
    ("not-implemented", re.compile(r"not (yet )?implemented|not differentiable|does not support", re.IGNORECASE)),
)


def filters_for(error: BaseException, kind: str) -> list[str]:
    """The filters, without ``any``, that stop at an error of a kind, the one that says most first."""
    found = [] if kind in ("other", "uncaught") else [kind]
    if kind in _OPEN:
        if raised_by_hook(error):
            found.append("hook-error")
        text = message_of(error).partition("\n")[0]
        found += [name for name, words in _WORDS if words.search(text)]
    if isinstance(error, NotImplementedError):
        found.append("not-implemented")
    return list(dict.fromkeys(found))


def raised_by_engine(error: BaseException) -> bool:
    """Whether the engine, or NumPy below it, raised the error: functions of the program that the engine calls do not count."""
    trace, file = error.__traceback__, ""
    files: list[str] = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        files.append(file)
        trace = trace.tb_next
    while files and f"{os.sep}numpy{os.sep}" in files[-1]:
        files.pop()
    return bool(files) and files[-1].startswith(_ENGINE)


def raised_by_hook(error: BaseException) -> bool:
    """Whether a hook of the program raised the error: the engine called a function of the program from where it calls hooks."""
    trace, before = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        is_hooks = before.startswith(_HOOKS) or before in _MODULE_HOOKS or before == _SAVED_HOOKS
        if is_hooks and not file.startswith(str(Path(_HOOKS).parent)):
            return True
        before, trace = file, trace.tb_next
    return False
