"""The list of events: pages are asked for once, the end is followed, errors stand out."""

from agdbg_tests_driving import PaneHost, drive_pane, seen

from agdbg_ui.text import cells
from agdbg_ui.widgets.events import PAGE, EventsPane, event_row, seconds


class Host(PaneHost):
    def on_events_pane_wanted(self, message):
        self.got.append((message.start, message.count))

    def on_events_pane_selected(self, message):
        self.got.append(message.event["index"])


def drive(pane, script, size=(60, 20)):
    drive_pane(Host(pane), script, size)


def event(index, kind="bump", text="version 0 to 1"):
    return {
        "index": index,
        "time_ns": index * 10**6,
        "timed": True,
        "kind": kind,
        "text": text,
        "node": 0,
        "file": "/a/train.py",
        "line": 3,
    }


def events(start, stop):
    return [event(index) for index in range(start, stop)]


def test_it_says_when_there_are_none():
    async def script(app, pilot):
        app.pane.set_total(0)
        assert seen(app.pane)[0] == "no events yet"
        await pilot.press("enter", "up", "end", "home")
        assert app.got == []

    drive(EventsPane(), script)


def test_it_asks_for_what_is_seen_once_and_shows_it():
    async def script(app, pilot):
        app.pane.set_total(1000)
        app.pane.refresh()
        await pilot.pause()
        assert app.got == [(4 * PAGE, PAGE)]
        assert seen(app.pane) == ["…"] * 20
        app.pane.set_events(4 * PAGE, events(800, 1000))
        assert "0.9990 s" in seen(app.pane)[-1]
        await pilot.press("home")
        await pilot.pause()
        assert app.got[1:] == [(0, PAGE)]

    drive(EventsPane(), script)


def test_only_what_is_new_is_asked_for_when_there_are_more():
    async def script(app, pilot):
        app.pane.set_total(30)
        app.pane.set_events(0, events(0, 30))
        app.pane.set_total(35)
        app.pane.set_total(40)
        await pilot.pause()
        assert app.got == [(0, 30), (30, 5), (35, 5)]
        app.pane.set_events(35, events(35, 40))  # answers may come in any order: a gap is asked for again
        app.pane.set_events(30, events(30, 35))
        app.pane.ask_again()
        await pilot.pause()
        assert app.got[3:] in ([], [(35, 5)])

    drive(EventsPane(), script)


def test_it_follows_the_end_unless_the_cursor_is_elsewhere():
    async def script(app, pilot):
        app.pane.set_events(0, events(0, 50))
        assert app.pane.cursor == 49
        await pilot.press("up")
        app.pane.set_total(60)
        assert app.pane.cursor == 48
        await pilot.press("end")
        app.pane.set_total(70)
        assert (app.pane.cursor, app.pane.at_end) == (69, True)

    drive(EventsPane(), script)


def test_enter_selects_an_event_that_is_here():
    async def script(app, pilot):
        app.pane.set_total(3)
        await pilot.press("enter")
        app.pane.set_events(0, events(0, 3))
        await pilot.press("up", "enter")
        await pilot.pause()
        assert app.got == [(0, 3), 1]

    drive(EventsPane(), script)


def test_only_so_many_pages_are_kept():
    async def script(app, pilot):
        app.pane.set_total(100 * PAGE)
        for page in range(100):
            app.pane.set_events(page * PAGE, events(page * PAGE, (page + 1) * PAGE))
        assert len(app.pane._pages) == 50
        assert app.pane.event_at(100 * PAGE - 1) is not None
        app.pane.forget()
        assert seen(app.pane)[0] == "…"

    drive(EventsPane(), script)


def test_an_error_has_a_mark_of_its_own():
    assert event_row(event(1, kind="error"), 80)[0][0] == "✗ "
    assert event_row(event(1, kind="error ahead"), 80)[0][0] == "! "  # it has not happened
    assert event_row(event(1, kind="bump"), 80)[0][0] == "  "


def test_a_row_is_as_wide_as_asked_whatever_the_text():
    for text in ("", "short", "long " * 100, "漢字" * 100, "\x1b[31m\n" * 30):
        for width in (38, 50, 60, 80, 120):
            row = event_row(event(10**9, text=text), width)
            assert sum(cells(part) for part, _ in row) == width
            assert all(part.isprintable() for part, _ in row)


def test_the_place_is_shown_where_there_is_room():
    assert "train.py:3" in "".join(text for text, _ in event_row(event(1), 80))
    assert "train.py:3" not in "".join(text for text, _ in event_row(event(1), 50))
    assert "  " in "".join(text for text, _ in event_row(event(1) | {"file": "", "line": 0}, 80))


def test_times():
    assert seconds(0) == "0.0000 s"
    untimed = "".join(text for text, _ in event_row(event(5) | {"timed": False}, 80))
    assert "0.0050 s" not in untimed and len(untimed) == len("".join(text for text, _ in event_row(event(5), 80)))
    assert seconds(1_234_567_890) == "1.2346 s"
    assert seconds(10**15) == "1000000 s"


def test_what_is_given_before_the_pane_is_mounted_is_there():
    pane = EventsPane()
    pane.set_events(0, events(0, 50))

    async def script(app, pilot):
        assert "0.0490 s" in seen(pane)[-1]

    drive(pane, script)
