"""A tensor on a page of its own: heat map, shades, numbers, slices, what is not finite."""

import asyncio

import numpy as np
import pytest
from agdbg_tests_driving import drive

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.heat import colour_of, greatest, shade_of
from agdbg_ui.screens.tensor import TensorScreen, _range, change_pieces, histogram, kept_words
from agdbg_ui.text import width_of


async def opened(screen, key="enter"):
    await screen.stop(6)
    await screen.press("up", "1")
    await screen.until(lambda: (screen.app.panes.inspector.body or {}).get("node") == 6)
    await screen.press("down", "down", "down", "down", key)
    await screen.until(lambda: isinstance(screen.app.screen, TensorScreen) and screen.app.screen.view.body)
    await screen.settle()
    return screen.app.screen


def test_what_is_waited_for_is_said(shown):
    async def script(screen):
        screen.hub.held["agdbg/tensor"] = asyncio.Event()
        await screen.stop(6)
        await screen.press("up", "1")
        await screen.until(lambda: (screen.app.panes.inspector.body or {}).get("node") == 6)
        await screen.press("down", "down", "down", "down", "enter")
        await screen.until(lambda: "the program looks at all elements: statistics" in screen.text)

    drive(shown, script)


@pytest.mark.parametrize("key", ["enter", "space"])
def test_a_value_opens_as_a_heat_map_with_what_is_known_of_all(shown, key):
    async def script(screen):
        page = await opened(screen, key)
        assert "saved tensor self of SubBackward0 #6: float64 [32, 10]" in screen.text
        for part in (
            "min -3",
            "max 3",
            "mean",
            "std",
            "norm",
            "all finite",
            "heat map, blue below zero, orange above:  all of 32 x 10",
            "▀",
        ):
            assert part in screen.text
        assert (page.view.body["rowStep"], page.view.body["columnStep"]) == (1, 1)
        await screen.press("escape")
        assert screen.app.focused is screen.app.panes.inspector

    drive(shown, script, size=(80, 24))


def test_it_is_seen_in_three_ways_and_numbers_scroll(shown):
    async def script(screen):
        page = await opened(screen)
        await screen.press("tab")
        await screen.until(lambda: "shades of |x|, from blank (0) to █ (2.9999)" in screen.text)
        await screen.press("tab")
        await screen.until(lambda: f"{screen.hub.tensor[0, 1]:.5g}" in screen.text)
        await screen.press("pagedown", "right")
        await screen.until(lambda: page.view.body["column"] == 1)
        row = page.view.body["row"]
        assert row > 0
        assert f"{screen.hub.tensor[row, 1]:.5g}" in screen.text
        await screen.press("home")
        await screen.until(lambda: page.view.body["row"] == 0)
        await screen.press("tab")
        await screen.until(lambda: page.view.mode == "heat")

    drive(shown, script)


def test_a_slice_of_more_dimensions_is_chosen(shown):
    def prepare(hub):
        hub.tensor = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)

    async def script(screen):
        page = await opened(screen)
        await screen.press("right_square_bracket")
        await screen.until(lambda: page.view.body["index"] == [1, 0])
        await screen.press("right_curly_bracket", "left_square_bracket")
        await screen.until(lambda: page.view.body["index"] == [1, 2])
        assert "[1, <2>, :, :]" in screen.text

    drive(shown, script, prepare=prepare)


@pytest.mark.parametrize("number", [-4.0626e-05, -1.2346e-300, -1.2346e-05 - 1.2346e-05j])
def test_numbers_stand_apart(shown, number):
    def prepare(hub):
        hub.tensor = np.full((3, 30), number)

    async def script(screen):
        page = await opened(screen)
        await screen.press("tab", "tab")
        told = f"{number:.5g}"
        await screen.until(lambda: page.view.mode == "numbers" and told in screen.text)
        line = max(screen.lines(), key=lambda line: line.count(told))
        assert line.count(told) == line.count(f" {told}") > 1
        assert len(page.view.body["values"][0]) == line.count(told)

    drive(shown, script, prepare=prepare)


def test_the_first_element_that_is_not_finite_is_gone_to(shown):
    def prepare(hub):
        hub.tensor = np.zeros((300, 400))
        hub.tensor[250, 333] = np.nan

    async def script(screen):
        page = await opened(screen)
        assert "1 NaN" in screen.text and "first at [250, 333]" in screen.text
        assert "of the finite ones  min 0" in screen.text
        await screen.press("b")
        await screen.until(lambda: page.view.mode == "numbers" and page.view.body["row"])
        row, column = 250 - page.view.body["row"], 333 - page.view.body["column"]
        assert page.view.body["values"][row][column] == "nan"
        assert 3 < row < page.view.room[0] - 3  # with what is around it

    drive(shown, script, prepare=prepare)


@pytest.mark.parametrize(("shape", "bad"), [((300, 400), (299, 399)), ((2, 300, 400), (1, 298, 0)), ((3000,), (2999,))])
def test_where_it_is_at_the_end_the_page_is_full_of_numbers(shown, shape, bad):
    def prepare(hub):
        hub.tensor = np.zeros(shape)
        hub.tensor[bad] = np.inf

    async def script(screen):
        page = await opened(screen)
        await screen.press("b")
        await screen.until(
            lambda: page.view.mode == "numbers" and any("inf" in each for each in page.view.body["values"])
        )
        rows, columns = page.view.room
        assert [len(page.view.body["values"]), len(page.view.body["values"][0])] == [rows, columns]
        await screen.press("pagedown", "pagedown", "right")
        await screen.until(lambda: len(page.view.body["values"]) == rows)

    drive(shown, script, prepare=prepare)


def test_a_heat_map_that_is_a_little_too_high_uses_all_rows(shown):
    def prepare(hub):
        hub.tensor = np.arange(60.0 * 10).reshape(60, 10)

    async def script(screen):
        page = await opened(screen)
        rows, _ = page.view.room
        assert rows < 60 < 2 * rows
        assert len(page.view.body["values"]) == rows
        assert f"{rows} evenly spread rows of 60, columns 0 to 9 of 10" in screen.text

    drive(shown, script, prepare=prepare, size=(120, 24))


def test_a_small_matrix_is_drawn_large(shown):
    def prepare(hub):
        hub.tensor = np.array([[0.0, 1.0], [1.0, 0.0]])

    async def script(screen):
        page = await opened(screen)
        drawn = [page.view._heat(y, 40) for y in range(5)]
        below = [[segment.style.bgcolor for segment in strip][:2] for strip in drawn]
        assert drawn[0] == drawn[1] != drawn[2] == drawn[3]  # an element has 4 columns and 4 halves of a line
        assert below[0] == below[2][::-1]
        await screen.press("tab")
        await screen.until(lambda: page.view.mode == "shades")
        assert [page.view._shades(y, 10).text for y in range(5)] == ["    ████  "] * 2 + ["████      "] * 2 + [" " * 10]

    drive(shown, script, prepare=prepare)


def test_what_has_changed_since_an_earlier_pass(shown):
    async def script(screen):
        page = await opened(screen)
        await screen.press("d")
        await screen.until(lambda: "nothing kept of an earlier pass" in screen.text)
        assert page.view.body["compared"]["keptBytes"] == screen.hub.tensor.nbytes
        await screen.press("d")
        await screen.until(lambda: "min -3" in screen.text)
        screen.hub.pass_id, screen.hub.tensor = 3, screen.hub.tensor.copy()
        screen.hub.tensor[3, 4] += 0.5
        await screen.press("d")
        await screen.until(lambda: "pass 3 - pass 2" in screen.text)
        for part in ("<1% changed (1 of 320)", "|Δ| max 0.5", "32 x 10  kept 5.0 KiB of 64.0 MiB", "change, heat"):
            assert part in screen.text
        assert page.view.body["values"][3][4] == "0.5"

    drive(shown, script, size=(120, 40))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=str)
@pytest.mark.parametrize(("shape", "columns"), [((), 1), ((5,), 5), ((48,), 48), ((3000,), 3000), ((0,), 0)])
def test_a_vector_is_no_matrix(shown, size, shape, columns):
    """It goes on in the next line, which is a matter of the page; how many elements there are is one of the tensor."""

    async def script(screen):
        screen.hub.tensor = np.arange(float(np.prod(shape))).reshape(shape) - 7.0
        page = await opened(screen)
        total, width = int(np.prod(shape)), page.view.body["width"]
        said = " ".join(screen.text.replace("│", " ").split())
        assert " x " not in said
        if not shape:
            assert "its only element" in said
        elif page.view.body["rowStep"] == 1:
            assert f"all {total:,} elements, {'in one line' if width >= total else f'{width:,} in a line'}" in said
        await screen.press("tab", "tab")
        await screen.until(lambda: "numbers" in screen.text and page.view.mode == "numbers")
        await screen.press("pagedown")
        width, values = page.view.body["width"], page.view.body["values"]
        lines = [line.strip("│ ").split() for line in screen.lines()]
        first = page.view.body["row"] * width
        if total:
            assert [str(first), *(each for each in values[0] if each)] in lines, "a line begins with its first element"
        if len(shape) == 1 and len(values) < page.view.body["height"]:
            assert f"elements {first:,} to" in " ".join(screen.text.replace("│", " ").split())

    drive(shown, script, size=size)


def test_what_is_said_of_a_change():
    facts = {"now": 3, "before": 2, "why": "", "changed": 3, "largest": "1", "mean": "0.5", "dropped": 0}
    facts |= {"keptBytes": 1024, "limitBytes": 4096}

    def said(**more):
        return "".join(text for text, _ in change_pieces({"shape": [2, 3], "compared": facts | more}))

    assert said() == "pass 3 - pass 2  50% changed (3 of 6)  |Δ| max 1 mean 0.5"
    assert said(largest="", mean="") == "pass 3 - pass 2  50% changed (3 of 6)"
    assert said(why="not kept").endswith("mean 0.5  not kept")
    assert said(before=None, why="another shape") == "another shape"
    assert kept_words(facts) == "  kept 1.0 KiB of 4.0 KiB"
    assert kept_words(facts | {"dropped": 2}) == "  kept 1.0 KiB of 4.0 KiB, 2 others dropped"


def test_a_value_that_is_not_there_says_so(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("up", "1", "down", "space")
        await screen.until(lambda: "not captured" in screen.text)

    drive(shown, script)


def test_a_refusal_is_shown(shown):
    async def script(screen):
        screen.hub.refuse["agdbg/tensor"] = RequestFailed("variablesReference 55 is out of date")
        await screen.stop(6)
        await screen.press("up", "1", "down", "down", "down", "down", "enter")
        await screen.until(lambda: "is out of date" in screen.text)

    drive(shown, script)


def test_signs_have_colours_of_their_own_and_magnitudes_shades():
    assert greatest([["1", "-4", "nan"], ["", "inf"]]) == 4.0
    assert colour_of("", 4.0) is None
    assert colour_of("nan", 4.0) == colour_of("inf", 4.0) != colour_of("4", 4.0)
    assert colour_of("4", 4.0) != colour_of("-4", 4.0)
    assert [shade_of(text, 4.0) for text in ("0", "0.1", "4", "-4", "nan", "-inf", "")] == [
        " ",
        "·",
        "█",
        "█",
        "N",
        "I",
        " ",
    ]
    assert histogram([0, 1, 8, 1000]) == " ▁▁█"


@pytest.mark.parametrize("width", [40, 60, 100])
def test_what_is_said_of_all_is_whole_at_every_width(shown, width):
    def prepare(hub):
        hub.tensor = np.sin(np.arange(4000.0) / 7).reshape(40, 100) * 3
        hub.tensor[3, 4] = np.nan

    async def script(screen):
        page = await opened(screen)
        said = "".join("".join(text for text, _ in line) for line in page.view._head).replace(" ", "")
        for part in ("norm134.", "zeros1", "1NaN,0Inf,thefirstat[3,4](b)", "of40,", "of100"):
            assert part in said, said
        assert all(width_of(line) <= page.view.size.width for line in page.view._head)
        assert page.view.body["values"]

    drive(shown, script, size=(width, 24), prepare=prepare)


def test_steps_are_told_as_ordinals():
    assert [_range("rows", 0, 5, step) for step in (1, 2, 3, 11, 21)] == [
        "rows 0 to 4",
        "every 2nd of rows 0 to 8",
        "every 3rd of rows 0 to 12",
        "every 11th of rows 0 to 44",
        "every 21st of rows 0 to 84",
    ]
