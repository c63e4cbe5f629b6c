"""The pane of breakpoints, watches, errors and threads."""

from agdbg_tests_driving import drive

from agdbg_ui.view import Stop, View
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.widgets.prompt import Prompt
from agdbg_ui.widgets.stops import items_of
from agdbg_ui.wording import banner


def at(screen, text):
    """Put the cursor on the item that has a text."""
    pane = screen.app.panes.stops
    pane.cursor = next(index for index, item in enumerate(pane.items) if text in f"{item.text}  {item.more}")
    return pane


async def shown_pane(screen, row=6):
    await screen.stop(row)
    await screen.app.session.breakpoints.toggle_name("Mul*")
    await screen.app.session.breakpoints.toggle_line("/srv/train.py", 9)
    await screen.press("7")
    await screen.until(lambda: screen.app.panes.stops.items)


def test_all_there_is_is_listed(shown):
    async def script(screen):
        await shown_pane(screen)
        texts = [f"{item.text}|{item.more}" for item in screen.app.panes.stops.items]
        assert texts[:3] == ["Breakpoints|2", "1  Mul*|", "2  train.py:9|"]
        assert "Watches|none" in texts
        assert "Threads|1" in texts
        assert any(text.startswith("1  MainThread|before MulBackward0") for text in texts)

    drive(shown, script)


def test_a_breakpoint_is_removed_and_given_a_condition(shown):
    async def script(screen):
        await shown_pane(screen)
        at(screen, "train.py:9")
        await screen.press("equals_sign")
        assert screen.app.query_one(Prompt).line.value == "condition 2 "
        await screen.press(*"x>3", "enter")
        await screen.until(lambda: not screen.app.commander.is_busy)
        await screen.press("escape")
        await screen.until(lambda: any("if x>3" in item.more for item in screen.app.panes.stops.items))
        at(screen, "Mul*")
        await screen.press("d")
        await screen.until(lambda: not any("Mul*" in item.text for item in screen.app.panes.stops.items))
        assert screen.hub.names == []
        at(screen, "train.py:9")
        await screen.press("delete")
        await screen.until(lambda: screen.hub.lines["/srv/train.py"] == [])

    drive(shown, script)


def test_enter_goes_there_and_switches_errors(shown):
    async def script(screen):
        await shown_pane(screen)
        at(screen, "Mul*")
        await screen.press("enter")
        await screen.until(lambda: screen.hub.asked("agdbg/find"))
        assert screen.hub.asked("agdbg/find")[-1]["text"] == "Mul"
        at(screen, "leaf-inplace")
        await screen.press("space")
        await screen.until(lambda: "leaf-inplace" in screen.app.session.filters.on)
        await screen.until(lambda: at(screen, "leaf-inplace").items[screen.app.panes.stops.cursor].mark == "✓")

    drive(shown, script)


def test_a_stop_counts_for_its_breakpoint(shown):
    async def script(screen):
        await shown_pane(screen)
        screen.hub.send("stopped", reason="breakpoint", threadId=1, description="before x", hitBreakpointIds=[1])
        await screen.until(lambda: any("stopped 1 time" in item.more for item in screen.app.panes.stops.items))

    drive(shown, script)


def test_another_thread_is_turned_to(shown):
    def prepare(hub):
        threads = [{"id": 1, "name": "MainThread", "stopped": True}, {"id": 2, "name": "Worker", "stopped": True}]
        status = hub.do_status
        hub.do_status = lambda: status() | {"threads": threads}

    async def script(screen):
        await shown_pane(screen)
        screen.hub.send("stopped", reason="breakpoint", threadId=2, description="before y", text="")
        await screen.until(lambda: any("before y" in item.more for item in screen.app.panes.stops.items))
        at(screen, "Worker")
        await screen.press("enter")
        await screen.until(lambda: screen.app.session.thread == 2)
        await screen.until(
            lambda: any("Worker" in item.text and "this one" in item.more for item in screen.app.panes.stops.items)
        )
        at(screen, "MainThread")
        await screen.press("enter")
        await screen.until(lambda: screen.app.session.thread == 1)

    drive(shown, script, prepare=prepare)


def test_what_says_when_it_stops_is_told():
    bodies = [
        {"id": 1, "verified": True, "kind": "hook", "ignore": 3, "temporary": True},
        {"id": 2, "verified": False, "name": "[", "message": "no such pattern"},
        {"id": 4, "verified": False, "reason": "pending", "dataId": "name:w", "message": "it waits"},
        {"id": 3, "verified": True, "dataId": "storage:7", "label": "w.grad", "condition": "x", "logMessage": "at {x}"},
    ]
    items = items_of(bodies, {1: 2}, [], frozenset(), [])
    assert [f"{item.text}|{item.more}" for item in items if item.sort] == [
        "1  hook|ignores 3  once  stopped 2 times",
        "2  [|no such pattern",
        "4  parameters and buffers called w|it waits",
        "3  w.grad|if x  logs at {x}",
    ]


def test_the_one_process_is_named_and_where_others_are(shown):
    async def script(screen):
        await shown_pane(screen)
        pane = at(screen, "4242 train.py")
        assert pane.items[pane.cursor].more == "this one"
        await screen.press("enter")
        await screen.until(lambda: "attach --list" in screen.text)
        screen.hub.end(exit=3)
        await screen.until(lambda: any(item.more == "this one, ended with status 3" for item in pane.items))

    drive(shown, script)


def test_a_recording_is_of_one_process(shown):
    async def script(screen):
        await screen.until(lambda: screen.app.lanes.row_count)
        await screen.press("7")
        await screen.until(lambda: screen.app.panes.stops.items)
        assert [each.more for each in screen.app.panes.stops.items if each.sort == "process"] == ["this one"]

    drive(shown, script, command="attach", arguments={"trace": "/t"}, state="trace")


def test_a_key_for_a_breakpoint_says_what_it_is_for_elsewhere(shown):
    async def script(screen):
        await shown_pane(screen)
        at(screen, "Threads")
        await screen.press("d", "equals_sign")
        said = [note.message for note in screen.app._notifications]
        assert said[-2:] == [
            "d removes a breakpoint or a watch: select one first",
            "= gives a breakpoint a condition: select one first",
        ]
        assert len(screen.hub.names) == 1

    drive(shown, script)


def test_a_stop_names_its_breakpoint_in_the_banner_and_on_the_page(shown):
    async def script(screen):
        await shown_pane(screen)
        where = "before MulBackward0, node 6 of 12 of backward()"
        screen.hub.send("stopped", reason="breakpoint", threadId=1, description=where, hitBreakpointIds=[2, 1])
        told = "breakpoint 2, train.py:9; breakpoint 1, Mul*"
        await screen.until(lambda: screen.app.query_one(Banner).headline.startswith(told))
        _, text = await screen.app._explaining.page()
        assert text.startswith(f"{told}\n{where}")

    drive(shown, script)


def test_what_is_watched_is_named_behind_what_was_written():
    stop = Stop(1, "data breakpoint", "version-bump: mul_ wrote to w", hit="watch 3, w")
    assert banner(View("stopped", stop=stop)) == ("stop", "version-bump: mul_ wrote to w (watch 3, w)", "")


def test_errors_that_the_console_deletes_are_seen_to_be_off(shown):
    def on(screen):
        return [item.name for item in screen.app.panes.stops.items if item.sort == "filter" and item.mark == "✓"]

    async def script(screen):
        await shown_pane(screen)
        at(screen, "leaf-inplace")
        await screen.press("space")
        await screen.until(lambda: "leaf-inplace" in on(screen))
        await screen.press("colon", *"delete", "enter")
        await screen.until(lambda: not screen.app.commander.is_busy)
        await screen.until(lambda: "errors to stop at stay" in screen.app.query_one(Prompt).answered)
        words = screen.app.query_one(Prompt).answered.partition("delete ")[2].partition(" takes")[0].split()
        assert "leaf-inplace" in on(screen)
        await screen.press(
            "colon", *["space" if each == " " else each for each in f"delete {' '.join(words)}"], "enter"
        )
        await screen.until(lambda: not screen.app.commander.is_busy)
        await screen.until(lambda: "deleted" in screen.app.query_one(Prompt).answered)
        await screen.until(lambda: not on(screen))
        assert not screen.app.session.filters.on

    drive(shown, script, size=(80, 30))


def test_what_is_switched_off_stays_and_is_shown_as_off(shown):
    def marks(screen):
        return {item.text: item.mark for item in screen.app.panes.stops.items if item.sort == "breakpoint"}

    async def say(screen, line):
        await screen.press("colon", *["space" if each == " " else each for each in line], "enter")
        await screen.until(lambda: not screen.app.commander.is_busy)
        await screen.press("escape")

    async def script(screen):
        breakpoints = screen.app.session.breakpoints
        await shown_pane(screen)
        before = screen.app.lanes.selected["line"]
        await breakpoints.toggle_line("/srv/train.py", before)
        await say(screen, "disable 1 2 3")
        await screen.until(lambda: set(marks(screen).values()) == {"\N{WHITE CIRCLE}"})
        assert list(marks(screen)) == ["1  Mul*", "2  train.py:9", f"3  train.py:{before}"]
        assert (screen.hub.names, screen.hub.lines["/srv/train.py"]) == ([], [])
        assert breakpoints.all == ["Mul* (off)", "train.py:9 (off)", f"train.py:{before} (off)"]
        await screen.press("0")
        await screen.until(lambda: screen.app.lanes.selected.get("off"))
        await screen.press("2")
        await screen.until(lambda: any("\N{WHITE CIRCLE}" in line for line in screen.lines()))
        await screen.press("0", "b")  # on again, and not a second one
        await screen.until(lambda: screen.hub.lines["/srv/train.py"] == [before])
        assert screen.hub.asked("setBreakpoints")[-1]["breakpoints"] == [{"line": before, "id": 3}]
        await screen.press("7")
        at(screen, "Mul*")
        await screen.press("space")
        await screen.until(lambda: marks(screen)["1  Mul*"] == "\N{BLACK CIRCLE}")
        assert screen.hub.names == ["Mul*"]
        await screen.press("space")
        await screen.until(lambda: marks(screen)["1  Mul*"] == "\N{WHITE CIRCLE}")
        await say(screen, "enable")
        await screen.until(lambda: set(marks(screen).values()) == {"\N{BLACK CIRCLE}"})
        await say(screen, "disable 2")
        await screen.until(lambda: marks(screen)["2  train.py:9"] == "\N{WHITE CIRCLE}")
        at(screen, "train.py:9")
        await screen.press("d")
        await screen.until(lambda: len(marks(screen)) == 2)
        await say(screen, "info breakpoints")
        assert "train.py:9" not in screen.app.query_one(Prompt).answered

    drive(shown, script)
