"""Pages and dialogs at 40x10 and more: what goes on below stands under its beginning, and nothing is wrapped twice or told twice."""

import pytest
from agdbg_tests_driving import drive

from agdbg_ui.explaining import without
from agdbg_ui.screens.help import help_text
from agdbg_ui.screens.page import Page
from agdbg_ui.screens.question import Question
from agdbg_ui.screens.wrapping import fitted

LABELLED = (
    "saved   train.py:14 in the function that is called main, with what it had kept of the pass before\n"
    + "\u2500" * 40
)


@pytest.mark.parametrize("width", [30, 36, 60, 100])
def test_help_hangs(width):
    lines = help_text(width).plain.split("\n")
    assert all(len(line) <= width for line in lines)
    within = [line for line in lines if line.startswith("   ")]
    assert (within or width == 100) and all(line.startswith(" " * 11) and line[11] != " " for line in within)


@pytest.mark.parametrize("width", [20, 36, 60])
def test_labels_hang_and_rules_fit(width):
    *lines, rule = fitted(LABELLED, width).split("\n")
    assert all(len(line) <= width for line in (*lines, rule)) and set(rule) == {"\u2500"}
    assert all(line.startswith(" " * 8) for line in lines[1:])


@pytest.mark.parametrize("key", ["x", "question_mark"])
def test_a_page_that_scrolls_is_wrapped_once(shown, key):
    async def script(screen):
        await screen.stop(6)
        message = LABELLED + "\nword" * 30
        screen.hub.rendered = message
        await screen.press(key)
        assert isinstance(screen.app.screen, Page)
        text = screen.app.screen.query_one("#page-text")
        assert text.size.height == len(str(text.content).split("\n")) > 10

    drive(shown, script, size=(40, 10))


@pytest.mark.parametrize("answer", ["q", "escape", "s"])
def test_the_question_about_leaving_is_left_as_it_says(shown, answer):
    async def script(screen):
        await screen.press("q")
        assert isinstance(screen.app.screen, Question) and "stay here (q, Esc)" in screen.text
        await screen.press(answer)
        assert not isinstance(screen.app.screen, Question) and screen.app.is_running

    drive(shown, script)


def test_what_goes_on_below_an_answer_stands_under_its_beginning(shown):
    async def script(screen):
        await screen.press("q")
        rows = [line.strip(" \u2502\u2503") for line in screen.lines()]
        at = next(number for number, row in enumerate(rows) if "leave it running" in row)
        line = screen.lines()[at]
        assert screen.lines()[at + 1].index("attach") == line.index("leave")

    drive(shown, script, size=(40, 14))


def test_errors_hang_too(shown):
    async def script(screen):
        await screen.press("E")
        lines = screen.lines()
        at = next(number for number, line in enumerate(lines) if "backward-twice" in line)
        assert lines[at].index("backward-twice") == lines[at - 1].index("Backward through")

    drive(shown, script, size=(40, 20))


def test_what_was_told_already_is_left_out():
    rendered = (
        "1. `x` was changed.\n   inplace-modified\n\n2. `y` was freed.\n   backward-twice\n\nthe program still runs"
    )
    assert without(rendered, "`x` was changed.") == "2. `y` was freed.\n   backward-twice\n\nthe program still runs"
    assert without(rendered, "something else") == rendered
