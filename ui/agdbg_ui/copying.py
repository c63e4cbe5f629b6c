"""What is copied: without what is only drawn, and where tmux keeps it."""

import asyncio
import os
import re
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress

#: So long tmux may take, in seconds.
_PATIENCE_S = 3.0
#: Before tmux 3.2 there is no ``-w``, by which it hands a buffer on to the terminal that it runs in.
_WAYS = (("load-buffer", "-w", "-"), ("load-buffer", "-"))
_DRAWN = re.compile(r"[▁-▏]{2,}|[─-╿]+")
_AT_START = re.compile(r"^(?:[▾▸▶◂●○◔◕◉◌⊘◆■□✓≠✗∅]\s+)+")
_AT_END = re.compile(r"\s+[✎→]$")
_ROOM = re.compile(r"\s{3,}")


def plain(text: str) -> str:
    """What a row says, without its marks, bars and the room between its columns."""
    text = _ROOM.sub("  ", _DRAWN.sub(" ", text)).strip()
    return _AT_END.sub("", _AT_START.sub("", text)).strip()


def is_in_tmux() -> bool:
    """Whether this terminal is one of tmux, which as it comes lets no program write its buffers by OSC 52."""
    return bool(os.environ.get("TMUX"))


async def to_tmux(text: str) -> bool:
    """Put a text into tmux's newest buffer, and by it onto the clipboard; whether it took it."""
    for way in _WAYS:
        if await _load(way, text):
            return True
    return False


async def _load(way: tuple[str, ...], text: str) -> bool:
    try:
        tmux = await asyncio.create_subprocess_exec("tmux", *way, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL)
    except OSError:  # it is not there, as where only its socket came into a container
        return False
    try:
        await asyncio.wait_for(tmux.communicate(text.encode("utf-8", "replace")), _PATIENCE_S)
    except TimeoutError:
        with suppress(ProcessLookupError):
            tmux.kill()
    return await tmux.wait() == 0
