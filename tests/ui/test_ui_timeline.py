"""The timeline: bars, the place where somebody stands, other passes; moving along it selects, Enter goes there."""

import pytest
from agdbg_tests_driving import PaneHost, drive, drive_pane, seen

from agdbg_ui.text import cells
from agdbg_ui.widgets.timeline import TimelinePane, bar, duration


def body(total=1000, start=0, count=200, number=1, **more):
    runs = [
        {
            "node": total - index,
            "op": f"Op{index}",
            "name": "weight" if index % 5 == 4 else "",
            "file": "/srv/train.py",
            "line": index + 1,
            "order": index,
            "startNs": index,
            "durationNs": 1000 * (index % 10 + 1),
            "outcome": "error" if index == total - 1 else "ok",
            "hooks": index % 3,
            "gradient": 0.25 if index % 2 else None,
            "record": 7 * index,
        }
        for index in range(start, min(start + count, total))
    ]
    facts = {"pass": number, "before": None, "after": 2, "call": "loss.backward()", "file": "/srv/train.py", "line": 11}
    facts |= {"outcome": "error", "total": total, "start": start, "runs": runs, "longestNs": 10_000, "wholeNs": 123}
    return facts | {"at": None} | more


class Host(PaneHost):
    def on_timeline_pane_wanted(self, message):
        if self.pane.wanted is not None:
            start, count, age = self.pane.wanted
            self.got.append((start, count))
            self.pane.put(body(start=start, count=count), age)

    def on_timeline_pane_selected(self, message):
        self.got.append((message.run["node"], message.go))


@pytest.mark.parametrize("width", [24, 46, 60, 80, 200])
def test_a_run_fits_and_shows_what_there_is_room_for(width):
    async def script(app, pilot):
        await pilot.pause()
        lines = seen(app.pane)
        assert all(cells(line) <= width for line in lines)
        assert "pass 1" in lines[0]
        assert "Op0" in lines[1] and "[wei" in lines[5]
        assert "µs" in lines[1]
        if width >= 80:
            assert "|g| 0.25" in lines[2] and "2 hooks" in lines[3]
        if width >= 200:
            assert "train.py:2" in lines[2]

    drive_pane(Host(TimelinePane()), script, (width, 20))


def test_only_what_is_seen_is_asked_for_and_moving_tells():
    async def script(app, pilot):
        await pilot.pause()
        assert sum(count for _, count in app.got) < 300
        app.got.clear()
        await pilot.press("down", "enter", "end")
        await pilot.pause()
        assert app.got[0] == (999, False)
        assert app.got[1] == (999, True)
        assert seen(app.pane)[-1].lstrip().startswith("1000 ✗")

    drive_pane(Host(TimelinePane()), script)


def test_a_bar_is_as_long_as_its_part():
    assert [bar(part, 4) for part in (0, 0.001, 0.25, 0.5, 0.53, 1, 7)] == ["", "▏", "█", "██", "██▏", "████", "████"]
    assert [duration(ns) for ns in (0, 999, 1500, 250_000, 12_345_678, 3 * 10**9)] == [
        "0 ns", "999 ns", "1.5 µs", "250 µs", "12.3 ms", "3.0 s",
    ]  # fmt: skip


def test_the_pass_in_which_the_program_stands_is_followed(shown):
    async def script(screen):
        await screen.press("6")
        await screen.until(lambda: "pass 1" in screen.text)
        await screen.stop(6)
        await screen.until(lambda: "pass 2" in screen.text and "5 runs" in screen.text)
        await screen.press("n")
        await screen.until(lambda: "6 runs" in screen.text)
        await screen.press("left")
        await screen.until(lambda: "12 runs" in screen.text)
        await screen.press("right")
        await screen.until(lambda: "6 runs" in screen.text)

    drive(shown, script)


def test_moving_along_it_selects_the_node_and_enter_goes_there(shown):
    async def script(screen):
        await screen.press("6")
        await screen.until(lambda: "pass 1" in screen.text)
        await screen.press("down", "down")
        await screen.until(lambda: screen.app.lanes.cursor == 9)
        await screen.press("enter")
        await screen.until(lambda: screen.hub.asked("agdbg/goto"))
        assert screen.hub.asked("agdbg/goto") == [{"row": 1002}]

    drive(shown, script, state="trace", command="attach", arguments={"trace": "/t"})


def test_while_it_is_not_seen_nothing_is_asked(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("n", "n")
        assert screen.hub.asked("agdbg/timeline") == []

    drive(shown, script)
