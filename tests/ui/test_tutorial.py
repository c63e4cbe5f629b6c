"""docs/tutorial.md: every step of it is taken, and says what the page shows."""

import asyncio
import os
import re
import runpy
import sys
import tempfile
from pathlib import Path

import pytest

from agdbg import cli
from agdbg.commands.run import launch_arguments

ROOT = Path(__file__).resolve().parents[2]
DOCS = runpy.run_path(str(ROOT / "scripts" / "docs_output.py"))
STEPS = DOCS["steps"](DOCS["TOUR"].read_text(encoding="utf-8"))
SIZE = (120, 36)
KEYS = {"Enter": "enter", "Esc": "escape", "Tab": "tab", "Space": "space"}
KEYS |= {"↑": "up", "↓": "down", "←": "left", "→": "right"}


class Reader:
    """Follows the page from its beginning, as far as it is asked to."""

    def __init__(self, directory):
        self.tour = DOCS["Tour"](directory)
        self.taken = 0

    def comes_to(self, number):
        """Take the steps before this one that were not taken yet, without looking at what they say."""
        while self.taken < number:
            self.take(self.taken)

    def take(self, number):
        self.taken = number + 1
        return self.tour.take(STEPS[number])


@pytest.fixture(scope="module")
def reader():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        yield Reader(directory)


@pytest.fixture
def stage(monkeypatch):
    """What takes the screenshots; it shows the same name for its directory as the page."""
    monkeypatch.syspath_prepend(str(ROOT / "screenshots"))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")  # plain terminals have no heat map
    loaded = set(sys.modules)
    import stage  # its directory is on the path only here

    assert stage.SHOWN == DOCS["SHOWN"]
    yield stage
    for name in {"stage", "picture", "relabel"} - loaded:
        del sys.modules[name]


def without_last_digits(text):
    """Computed numbers differ in their last digits between BLAS libraries, and push what stands behind them."""
    return re.sub(r" +", " ", re.sub(r"-?\d+\.\d+(?:e[-+]?\d+)?", "#", text))


@pytest.mark.parametrize("number", range(len(STEPS)), ids=[f"{step.kind}-line-{step.line}" for step in STEPS])
def test_a_step_says_what_the_page_shows(reader, number, stage, monkeypatch):
    step = STEPS[number]
    reader.comes_to(number)
    printed = reader.take(number)
    assert without_last_digits(printed) == without_last_digits(step.body), "run scripts/docs_output.py"
    if step.kind == "screen":
        monkeypatch.chdir(reader.tour.here)
        command, *rows = step.body.splitlines()
        asyncio.run(replay(stage.Stage(str(reader.tour.home)), requested(command), rows))


def test_the_tour_has_commands_screens_and_edits():
    assert {step.kind for step in STEPS} == {"console", "screen", "diff"}
    fences = re.findall(r"^```(\w+)$", DOCS["TOUR"].read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == len(STEPS), "a block that no test looks at"


def test_an_edit_that_does_not_fit_is_refused(tmp_path):
    tour = DOCS["Tour"](str(tmp_path))
    edit = DOCS["Step"]("diff", "+++ examples/tutorial/train.py\n-no such line\n+another\n", (0, 0), 1)
    with pytest.raises(ValueError, match=r"train\.py has 0 times"):
        tour.take(edit)


def requested(command):
    """What the command asks the hub for: its program, or its recording."""
    options = cli._parser().parse_args(command.removeprefix("$ agdbg ").split())
    if options.command == "run":
        return "launch", launch_arguments(options)
    return "attach", {"trace": os.path.abspath(options.trace)}


async def replay(stage, request, rows):
    """Press the keys of each row; what it says comes to the screen only then."""
    async with stage.screen(SIZE, request) as screen:
        for row in rows:
            pressed, text = re.split(r"  +", row, maxsplit=1)
            if pressed:
                assert text not in screen.text, f"the screen says so before {pressed}: {text}\n{screen.text}"
            for word in re.findall(r'"[^"]*"|\S+', pressed):
                await screen.press(*(word[1:-1] if len(word) > 1 and word[0] == '"' else [KEYS.get(word, word)]))
            await screen.sees(text)
