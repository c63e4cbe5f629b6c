"""The user's frames at a stop, without those of agdbg and of an engine."""

import os
import sys
from pathlib import Path
from types import CodeType, FrameType, TracebackType

_OWN = os.path.join(Path(__file__).resolve().parents[1], "")
_MOST = 200
#: The module that runs a program: what has called it started agdbg, be it an installed script or `python -c`.
_LAUNCHER = "agdbg.launch.program"
_NO_MODULE = ("<frozen runpy>", "<frozen importlib._bootstrap>")


def user_frames(internal: frozenset[str], runs_pass: CodeType | None = None) -> list[tuple[FrameType, int]]:
    """Frames of the running thread, innermost first, each with how many passes it, or what it calls, has started that run.

    ``internal`` are the files of the engine, ``runs_pass`` is the function there that is called once for each pass.
    """
    found: list[tuple[FrameType, int]] = []
    frame: FrameType | None = sys._getframe(1)
    passes = 0
    while frame is not None and len(found) < _MOST:
        code = frame.f_code
        file = code.co_filename
        if file in internal or file.startswith(_OWN):
            passes += code is runs_pass
            if frame.f_globals.get("__name__") == _LAUNCHER:
                return found
        elif file not in _NO_MODULE:
            found.append((frame, passes))
        frame = frame.f_back
    if found and found[-1][0].f_code.co_filename == "<string>":  # the code that started agdbg
        found.pop()
    return found


def described(frame: FrameType, passes: int = 0) -> dict[str, object]:
    """File, line and function of a frame, and how many passes it has started, if that is several."""
    code = frame.f_code
    told: dict[str, object] = {"file": code.co_filename, "line": frame.f_lineno, "name": code.co_qualname}
    return {**told, "passes": passes} if passes > 1 else told


def dead_frames(trace: TracebackType | None, internal: frozenset[str]) -> list[FrameType]:
    """Frames that an error has left, innermost first; none without one."""
    found: list[FrameType] = []
    step = trace
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file not in internal and not file.startswith(_OWN) and file not in _NO_MODULE:
            found.append(step.tb_frame)
        step = step.tb_next
    return found[: -_MOST - 1 : -1]


def innermost(internal: frozenset[str]) -> FrameType | None:
    """The innermost of :func:`user_frames`; None when there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename in internal or frame.f_code.co_filename.startswith(_OWN)):
        frame = frame.f_back
    return frame
