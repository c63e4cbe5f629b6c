"""Make the pictures of this directory out of real sessions: `python screenshots/make.py [--check] [NAME ...]`.

Each picture is the app on a real hub that runs a real program; `scenes.py` says what is done in it. With --check nothing
is written, and the exit status is 1 when a picture no longer says what the app says.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(argv: list[str] | None = None) -> int:
    """Make or check the named pictures (default: all)."""
    parser = argparse.ArgumentParser(description="Make the pictures of this directory out of real sessions.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a picture, without .svg (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a picture is stale")
    options = parser.parse_args(argv)
    _forget_the_terminal()
    from scenes import SCENES

    unknown = [name for name in options.names if name not in SCENES]
    if unknown:
        parser.error(f"no picture is called {', '.join(unknown)}; the pictures are {', '.join(SCENES)}")
    names = options.names or list(SCENES)
    pictures = asyncio.run(_taken(names))
    if options.check:
        return _check(pictures, set() if options.names else _strangers(SCENES))
    for name, svg in pictures.items():
        _path(name).write_text(svg, encoding="utf-8")
        print(f"{_path(name)}")
    return 0


def _forget_the_terminal() -> None:
    """Colours and animations are those of the pictures, not of the terminal that this runs on."""
    for name in [*os.environ]:
        if name.startswith("TEXTUAL") or name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
            del os.environ[name]
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")  # plain terminals get other colours
    os.environ["TEXTUAL_ANIMATIONS"] = "none"


async def _taken(names: list[str]) -> dict[str, str]:
    from scenes import SCENES
    from stage import new_stage

    pictures = {}
    for name in names:
        async with new_stage() as stage:
            pictures[name] = await SCENES[name](stage)
    return pictures


def _check(pictures: dict[str, str], strangers: set[str]) -> int:
    from picture import differences

    stale = 0
    for name, svg in pictures.items():
        path = _path(name)
        differing = differences(path.read_text(encoding="utf-8"), svg) if path.exists() else ["it is not there"]
        if differing:
            stale += 1
            print(f"{path} is stale; python screenshots/make.py {name} makes it anew", *differing, sep="\n")
    for name in sorted(strangers):
        print(f"{_path(name)} is no picture that scenes.py makes; remove it")
    return int(bool(stale or strangers))


def _strangers(known: object) -> set[str]:
    """Pictures that are no longer made."""
    assert isinstance(known, dict)
    return {path.stem for path in HERE.glob("*.svg")} - set(known)


def _path(name: str) -> Path:
    return HERE / f"{name}.svg"


if __name__ == "__main__":
    sys.exit(main())
