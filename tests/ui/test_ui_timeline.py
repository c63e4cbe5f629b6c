"""The timeline: bars, the place where somebody stands, other passes; moving along it selects, Enter goes there."""

import pytest
from agdbg_tests_driving import PaneHost, drive, drive_pane, seen

from agdbg.sizes import size
from agdbg_ui.amounts import bar, curve, duration, share
from agdbg_ui.text import cells
from agdbg_ui.widgets.pass_profile import PassProfile
from agdbg_ui.widgets.timeline import TimelinePane


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
            "hooksNs": 250 * (index % 3),
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
        assert "Op0" in lines[2] and "[w" in lines[6] and "ht]" in lines[6]
        assert "µs" in lines[2]
        if width >= 80:
            assert "|g| 0.25" in lines[3] and "2 hooks 17%" in lines[4]
        if width >= 200:
            assert "train.py:2" in lines[3]

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


def test_of_another_thread_its_own_pass_is_shown(shown):
    async def script(screen):
        tell = screen.hub.do_timeline
        screen.hub.do_timeline = lambda threadId=None, **more: tell(**({"pass": 3 - threadId} | more))
        await screen.press("6")
        await screen.stop(6)
        await screen.until(lambda: "pass 2" in screen.text)
        screen.hub.send("stopped", reason="breakpoint", threadId=2, description="before Mean, node 2 of 12", text="")
        await screen.until(lambda: screen.app.session.view.stopped == (1, 2))
        await screen.press("t")
        await screen.until(lambda: "pass 1" in screen.text)
        await screen.press("right", "t")
        await screen.until(lambda: "pass 2" in screen.text and screen.app.panes.timeline.pass_id is None)

    drive(shown, script)


def test_in_another_pass_nobody_stands_and_back_in_the_own_one_its_place_is_shown():
    async def script(app, pilot):
        app.set_focus(None)
        await pilot.pause()
        for number, at in ((2, 7), (1, None), (2, 7)):
            app.pane.put(body(total=20, number=number, at=at), app.pane.pages.age)
            await pilot.pause()
            assert (app.pane.pages.counter, app.pane.cursor) == (at, at or 0)

    drive_pane(PaneHost(TimelinePane()), script)


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


def test_amounts_in_few_cells():
    assert [size(each) for each in (0, 1023, 1024, 5 << 20, 3 << 30)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "5.0 MiB",
        "3.0 GiB",
    ]
    assert [share(*each) for each in ((0, 9), (1, 1000), (1, 3), (319, 320), (3, 3), (1, 0))] == [
        "0%", "<1%", "33%", ">99%", "100%", "0%",
    ]  # fmt: skip
    assert curve([8, 4, 1, 0], 9) == "█▅▂ "
    assert curve([1, 8, 2, 1], 2) == "█▃"
    assert [curve([], 5), curve([1], 0), curve([0, 0], 5)] == ["", "", "  "]


def told(**more):
    points = [{"order": at, "held": 1024 * (4 - at), "ns": 1, "hooksNs": 0, "gradient": None} for at in range(4)]
    facts = {"pass": 1, "total": 4, "start": 0, "held": [4096, 3072, 2048, 1024], "heldMost": 4096, "mostAt": 0}
    facts |= {"heldAfter": 0, "storages": 4, "unknown": 0, "wholeNs": 1000, "hookCalls": 2, "hooksNs": 250}
    return facts | {"points": points, "layers": []} | more


def line(width=100, **more):
    profile = PassProfile()
    profile.put(told(**more), 0)
    return "".join(text for text, _ in profile.line(1, width)), profile.held(1)


def test_memory_and_hooks_of_a_pass_are_said_in_one_line():
    assert line() == ("memory █▆▅▃ 4.0 KiB at most, then 0 B   hooks 25% (2 calls)", "3.0 KiB")
    assert line(width=52)[0] == "memory 4.0 KiB at most, then 0 B   hooks 25% (2 calls)"
    assert line(unknown=1) == (
        "memory █▆▅▃ 4.0 KiB at most, then 0 B, 1 of unknown size   hooks 25% (2 calls)",
        "≥ 3.0 KiB",
    )
    assert line(unknown=4, hookCalls=0) == ("memory unknown: no shapes recorded (--also shapes)", "")
    assert line(storages=0, hookCalls=0)[0] == "saved tensors hold nothing"
    assert line(hookCalls=1, hooksNs=None)[0].endswith("hooks unknown (1 call)")


def test_what_a_page_does_not_hold_is_asked_for_and_nothing_else():
    profile = PassProfile()
    assert profile.wanted(1, 0, 9, 0) == (0, 1000, 0)
    profile.put(told(), 0)
    assert profile.wanted(1, 0, 9, 0) is None
    assert profile.wanted(1, 0, 9, 1) == (0, 1000, 1)
    assert profile.wanted(2, 0, 9, 0) == (0, 1000, 0)
    profile.put(told(total=5000, held=[1] * 1000), 0)
    assert profile.wanted(1, 500, 999, 0) is None
    assert profile.wanted(1, 990, 1005, 0) == (490, 1000, 0)
    profile.put(told(total=5000, start=4490, held=[1] * 510), 0)
    assert profile.wanted(1, 4900, 5010, 0) is None


def test_memory_hooks_and_layers_are_shown(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("6")
        await screen.until(lambda: "memory" in screen.text and "hooks" in screen.text)
        await screen.press("left")
        await screen.until(lambda: screen.text.count("36.0 KiB") > 1)
        await screen.press("l")
        await screen.until(lambda: "gradient norm by layer" in screen.text)
        assert "3 NaN" in screen.text and "0.0023" in screen.text
        await screen.press("down")
        await screen.until(lambda: screen.app.lanes.cursor == 4)
        await screen.press("l")
        await screen.until(lambda: "36.0 KiB at most" in screen.text)

    drive(shown, script)


def test_layers_that_were_not_recorded_say_what_to_do(shown):
    async def script(screen):
        screen.hub.profile = {"layers": []}
        await screen.stop(6)
        await screen.press("6", "l")
        await screen.until(lambda: "run with --also values" in screen.text)

    drive(shown, script)


def test_that_there_is_no_pass_is_said_only_when_that_is_known():
    async def script(app, pilot):
        assert "".join(seen(app.pane)).strip() == "…"
        app.pane.put(body(total=0, number=0, call="", file="", line=0, outcome=""), 0)
        await pilot.pause()
        assert [line.strip() for line in seen(app.pane)[:3]] == ["no pass", "", "no backward pass yet"]

    drive_pane(PaneHost(TimelinePane()), script, (60, 10))
