"""How the program can be, and how the screen says it; resizing, quitting, and what must not hang or crash."""

import asyncio

import pytest
from agdbg_tests_driving import drive

from agdbg.protocol.errors import Disconnected, RequestFailed
from agdbg_ui.losing import NOT_KNOWN
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.wording import WALK


def empty(hub):
    hub.size = 0


def banner(screen):
    return screen.app.query_one(Banner)


def test_before_it_is_connected_the_screen_is_there(new_app):
    async def main():
        gate = asyncio.Event()
        app = new_app()
        connect = app._connect

        async def late():
            await gate.wait()
            return await connect()

        app._connect = late
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            assert app.session is None
            assert "starting" in app.lanes.note
            said = []
            app.say = lambda text, *how: said.append(text)
            await pilot.press("n")
            assert said == ["still starting: press it again when that is done"]
            await pilot.press("b", "x", "e", "z", "t", "g", "slash", "a", "enter", "escape")
            gate.set()
            await pilot.pause()

    asyncio.run(main())


def test_running_without_autograd_says_for_how_long(shown):
    now = [0.0]

    async def script(screen):
        assert "running; no autograd recorded yet" in screen.text
        now[0] = 7.5
        screen.app._show_state()
        await screen.settle()
        assert "no event for 7 s" in screen.text
        assert "running, no event for 7 s" in screen.title

    drive(shown, script, prepare=empty, clock=lambda: now[0])


def test_while_the_hub_works_nobody_counts_for_how_long_nothing_came(shown):
    now = [0.0]

    async def script(screen):
        screen.hub.send("progressStart", progressId="1", title="Reading the recording")
        now[0] = 9.5
        screen.app._show_state()
        await screen.settle()
        assert "no event" not in screen.text
        screen.hub.send("progressEnd", progressId="1")
        now[0] = 13.5
        screen.app._show_state()
        await screen.settle()
        assert "running, no event for 4 s" in screen.title

    drive(shown, script, prepare=empty, clock=lambda: now[0])


def test_it_ended_without_autograd(shown):
    async def script(screen):
        screen.hub.end(0)
        await screen.settle()
        assert "ended with status 0" in screen.title
        assert "no autograd graph was recorded" in screen.text
        await screen.press("x")
        assert "No problem was found" in screen.text

    drive(shown, script, prepare=empty)


NOTHING_YET = "nothing was recorded so far in /srv/t: the program has not used an autograd engine yet"


def toasts(screen):
    return [each.message for each in screen.app._notifications]


def test_it_ended_without_autograd_and_nothing_is_complained_of(shown):
    async def script(screen):
        screen.hub.refuse["agdbg/findings"] = RequestFailed(NOTHING_YET)
        screen.hub.end(0)
        await screen.until(lambda: screen.hub.asked("agdbg/findings"))
        await screen.settle()
        assert banner(screen).headline == NOTHING_YET
        assert toasts(screen) == []
        await screen.press("x")
        assert "nothing was recorded so far" in screen.text
        assert toasts(screen) == []

    drive(shown, script, prepare=empty)


def test_a_diagnosis_that_is_refused_leaves_the_reason_of_the_stop(shown):
    async def script(screen):
        screen.hub.refuse["exceptionInfo"] = RequestFailed("the thread went on")
        await screen.stop(11, reason="exception", text="freed")
        assert "freed" in banner(screen).headline
        assert toasts(screen) == []

    drive(shown, script)


@pytest.mark.parametrize(
    ("command", "arguments"), [("launch", {"program": "train.py"}), ("attach", {"trace": "/srv/t"})]
)
def test_nothing_is_asked_before_the_hub_has_taken_the_launch(new_app, on_screen, command, arguments):
    async def main():
        app = new_app(command=command, arguments=arguments)
        gate = asyncio.Event()
        app.prepare.append(lambda hub: hub.held.update({command: gate}))
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            screen = on_screen(app, pilot)
            await screen.until(lambda: app.session is not None and app.hub.asked(command))
            await screen.press("4", "down", "0", "down", "full_stop", "1")
            await pilot.resize_terminal(160, 48)
            screen.hub.send("agdbg/grew", nodes=3, records=9)
            screen.hub.send("breakpoint", reason="new", breakpoint=screen.hub.on_line("/srv/train.py", 7))
            await screen.settle()
            assert not any(name.startswith("agdbg/") for name, _ in screen.hub.requests)
            gate.set()
            await screen.ready()
            assert "MulBackward0" in screen.text
            assert [each for each in toasts(screen) if "no program" in each] == []

    asyncio.run(main())


def test_it_had_ended_before_the_screen_was_there(shown):
    def over(hub):
        hub.size, hub.state, hub.exit = 0, "ended", 3

    async def script(screen):
        assert "ended with status 3" in screen.title
        assert "the program ended with status 3" in screen.text

    result = drive(shown, script, prepare=over)
    assert result is None  # the test ended the app, not the user


def test_a_recording_is_stepped_through(shown):
    async def script(screen):
        assert "recording" in screen.title
        await screen.press("n")
        await screen.until(lambda: screen.app.lanes.pages.counter == 11)
        await screen.until(lambda: "recording: before AddBackward0" in screen.title)
        await screen.press("q")

    result = drive(shown, script, state="trace", command="attach", arguments={"trace": "/srv/t"})
    assert (result.status, result.left_running, result.error) == (None, False, "")


def test_a_recording_shows_its_first_finding(shown):
    def wrong(hub):
        hub.findings = [{"cause": "backward() freed what it needs"}, {"cause": "another"}]
        hub.rendered = "1. backward() freed what it needs\n2. another"

    async def script(screen):
        await screen.until(lambda: "backward() freed what it needs (and 1 more)" in screen.text)
        await screen.press("x")
        assert "2. another" in screen.text

    drive(shown, script, prepare=wrong, state="trace", command="attach", arguments={"trace": "/srv/t"})


def test_it_is_killed_while_it_is_stopped(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.end(None, "SIGKILL")
        await screen.until(lambda: "ended by SIGKILL" in screen.title)
        await screen.until(lambda: WALK in screen.text)
        assert screen.app.lanes.row_count == 12
        assert screen.app.lanes.pages.row(6) is not None
        await screen.press("q")

    result = drive(shown, script)
    assert (result.status, result.left_running) == (137, False)


def test_a_step_that_ends_the_program_leaves_nothing_waiting(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.do_next = lambda threadId: asyncio.get_running_loop().call_soon(screen.hub.end) and {}
        await screen.press("n")
        await screen.until(lambda: screen.app.session.view.life == "ended")
        del screen.hub.do_next
        await screen.press("n")
        await screen.until(lambda: screen.app.session.view.stop is not None)
        assert "recording: before" in screen.title

    drive(shown, script)


def test_the_hub_dies_and_what_was_seen_stays(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.die("the hub at /run/x is gone; the program runs on")
        await screen.until(lambda: "connection to the hub is gone" in screen.title)
        assert "the program runs on" in banner(screen).headline
        assert "MulBackward0" in screen.text
        await screen.press("n", "b", "x", "escape", "down", "q")

    result = drive(shown, script)
    assert "the program runs on" in result.error


def test_bad_arguments_are_told_after_the_terminal_is_restored(new_app):
    async def main():
        app = new_app()
        app.prepare.append(lambda hub: hub.refuse.update(launch=RequestFailed("launch: no such file: train.py")))
        async with app.run_test() as pilot:
            async with asyncio.timeout(30):
                while app.return_value is None:
                    await pilot.pause()
        return app.return_value

    assert asyncio.run(main()).error == "launch: no such file: train.py"


def test_no_hub_is_told_after_the_terminal_is_restored(new_app):
    async def main():
        app = new_app()

        async def nobody():
            raise Disconnected("no hub answers")

        app._connect = nobody
        async with app.run_test() as pilot:
            async with asyncio.timeout(30):
                while app.return_value is None:
                    await pilot.pause()
        return app.return_value

    assert asyncio.run(main()).error == "no hub answers"


def test_input_mode_ends_when_the_program_stops_unless_something_is_typed(shown):
    async def script(screen):
        for typed in ("", "ab"):
            screen.hub.send("continued", threadId=1)
            await screen.until(lambda: screen.app.session.view.stop is None)
            await screen.press("i", *typed)
            assert screen.app.output.input_mode
            await screen.stop(6)
            assert screen.app.output.input_mode is bool(typed)

    drive(shown, script)


def test_input_mode_ends_with_the_program(shown):
    async def script(screen):
        await screen.press("i")
        assert screen.app.output.input_mode
        screen.hub.end(0)
        await screen.until(lambda: not screen.app.output.input_mode)
        await screen.press("0", "i")
        assert not screen.app.output.input_mode
        assert "no program to type for" in screen.text

    drive(shown, script)


# ----- quitting -----


@pytest.mark.parametrize(
    ("key", "status", "left"), [("k", 143, False), ("l", None, True)], ids=["kill", "leave it running"]
)
def test_quitting_a_living_program_asks(shown, key, status, left):
    async def script(screen):
        await screen.stop(6)
        await screen.press("q")
        assert "has not ended" in screen.text
        await screen.press(key)
        assert screen.hub.asked("disconnect") == [{"terminateDebuggee": not left}]
        assert bool(screen.hub.asked("terminate")) is not left

    result = drive(shown, script)
    assert (result.status, result.left_running, result.trace) == (status, left, "/srv/agdbg-traces/train-1")


@pytest.mark.parametrize("key", ["s", "escape", "enter"])
def test_quitting_can_be_thought_better_of(shown, key):
    async def script(screen):
        await screen.press("q", key)
        assert screen.app.is_running
        assert screen.hub.asked("disconnect") == []
        assert screen.app.focused.id == "lanes"

    drive(shown, script)


def test_an_ended_program_is_quit_at_once(shown):
    async def script(screen):
        screen.hub.end(5)
        await screen.until(lambda: screen.app.session.view.life == "ended")
        await screen.press("q")

    assert drive(shown, script).status == 5


@pytest.mark.parametrize("key", ["question_mark", "x", "e", "q", "slash", "colon"])
def test_the_program_may_stop_and_end_under_whatever_lies_over_the_screen(shown, key):
    async def script(screen):
        await screen.stop(6)
        await screen.press(key)
        screen.hub.send("output", category="stdout", output="under it\n")
        screen.hub.stop(4)
        await screen.until(lambda: "before AddmmBackward0" in screen.app._title_line.text)
        await screen.pilot.resize_terminal(120, 40)
        screen.hub.end(0)
        await screen.until(lambda: "ended with status 0" in screen.app._title_line.text)
        screen.hub.die()
        await screen.until(lambda: screen.app.session.view.life == "lost")
        await screen.press("escape")
        assert "AddmmBackward0" in screen.text

    drive(shown, script)


@pytest.mark.parametrize(
    ("key", "lie"), [("4", "…  "), ("6", "no backward pass"), ("7", "Threads  none"), ("v", "…  ")]
)
def test_a_pane_that_nobody_had_looked_at_says_that_the_connection_is_gone(shown, key, lie):
    async def script(screen):
        await screen.stop(6)
        screen.hub.die()
        await screen.until(lambda: screen.app.session.view.life == "lost")
        await screen.press(key)
        assert NOT_KNOWN in screen.text and lie not in screen.text

    drive(shown, script)


def test_what_was_shown_last_stays_when_the_connection_is_gone(shown):
    async def script(screen):
        await screen.stop(6)
        for key in ("4", "6", "v"):
            await screen.press(key)
        panes = screen.app.panes
        known = panes.events.row_count, panes.timeline.row_count, panes.boxes._canvas
        screen.hub.die()
        await screen.until(lambda: screen.app.session.view.life == "lost")
        assert (panes.events.row_count, panes.timeline.row_count, panes.boxes._canvas) == known
        await screen.press("0", "6")
        assert "pass 2" in screen.text and NOT_KNOWN not in screen.text

    drive(shown, script)


# ----- size -----


def test_too_small_and_back(shown):
    async def script(screen):
        await screen.stop(6)
        for size in ((20, 5), (200, 9), (39, 40), (1, 1)):
            await screen.pilot.resize_terminal(*size)
            await screen.settle()
            assert "MulBackward0" not in screen.text
        await screen.pilot.resize_terminal(20, 5)
        await screen.settle()
        assert "too small: 20 x 5" in screen.text
        await screen.pilot.resize_terminal(80, 24)
        await screen.settle()
        assert "MulBackward0" in screen.text
        await screen.press("up")
        assert screen.app.lanes.cursor == 5

    drive(shown, script)


def test_narrow_shows_one_pane_and_wide_shows_all(shown):
    async def script(screen):
        await screen.stop(6)
        assert "Gradients in" in screen.text
        assert "from agdbg_engine import nn" not in screen.text
        await screen.pilot.resize_terminal(160, 48)
        await screen.settle()
        assert "Gradients in" in screen.text
        assert "from agdbg_engine import nn" in screen.text
        await screen.press("4")
        await screen.pilot.resize_terminal(80, 24)
        await screen.settle()
        assert "event 3" in screen.text
        assert "Gradients in" not in screen.text

    drive(shown, script)


@pytest.mark.parametrize("size", [(40, 10), (60, 15), (80, 24), (109, 30), (110, 12), (160, 48), (300, 100)])
def test_every_line_is_as_wide_as_the_terminal(shown, size):
    from rich.cells import cell_len

    async def script(screen):
        await screen.stop(6)
        assert len(screen.lines()) == size[1]
        assert {cell_len(line) for line in screen.lines()} == {size[0]}
        assert "▶" in screen.text

    drive(shown, script, size=size)


def test_the_program_gets_to_know_the_size_of_its_terminal(shown):
    async def script(screen):
        first = screen.hub.asked("launch")[0]
        await screen.pilot.resize_terminal(160, 48)
        await screen.until(lambda: any(each["columns"] > first["columns"] for each in screen.hub.asked("agdbg/resize")))

    drive(shown, script)


# ----- text of the program -----


def test_markup_and_controls_in_what_the_program_says_are_shown_as_they_are(shown):
    evil = "[bold red]x[/] \x1b[2J\x07 [link=a]"

    async def script(screen):
        screen.hub.exception = {"exceptionId": "e", "description": evil, "details": {"message": evil}}
        await screen.stop(6, reason="exception", text=evil)
        await screen.until(lambda: "[bold red]x[/]" in screen.text)
        screen.app.say(evil)
        await screen.press("x")
        assert "[bold red]x[/]" in screen.text
        assert "\x1b" not in screen.text

    drive(shown, script)


def test_output_comes_in_few_pieces(shown):
    fed = []

    async def script(screen):
        feed = screen.app.output.feed
        screen.app.output.feed = lambda text: (fed.append(text), feed(text))
        for number in range(2000):
            screen.hub.send("output", category="stdout", output=f"line {number}\n")
        await screen.until(lambda: fed and "line 1999" in fed[-1])
        assert len(fed) < 20
        await screen.press("3")
        assert "line 1999" in screen.text

    drive(shown, script)


def test_a_flood_of_output_is_cut_and_said(shown):
    async def script(screen):
        for _ in range(64):
            screen.hub.send("output", category="stdout", output="x" * 65536)
        screen.hub.send("output", category="stdout", output="\nthe end\n")
        await screen.until(lambda: "the end" in screen.app.output.lines)
        assert any("characters not shown" in line for line in screen.app.output.lines)

    drive(shown, script)


def test_output_from_before_is_there_after_an_attach(shown):
    def talked(hub):
        hub.text = "epoch 1\nepoch 2\n"

    async def script(screen):
        await screen.until(lambda: "epoch 2" in screen.app.output.lines)

    drive(shown, script, prepare=talked, command="attach", arguments={})
