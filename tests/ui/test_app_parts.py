"""The parts without a screen: steps that wait, refreshes that coalesce, output that is bounded, words, imports, starting."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from agdbg_tests_driving import drive
from textual.css.stylesheet import Stylesheet
from textual.widget import Widget
from textual.widgets import Input

import agdbg_ui
from agdbg.hub.starting import HubFailed
from agdbg_ui import main as ways_in
from agdbg_ui.newest import Newest
from agdbg_ui.panes import Panes
from agdbg_ui.printed import Waiting
from agdbg_ui.screens.wrapping import fitted
from agdbg_ui.steps import MOST_WAITING, Steps
from agdbg_ui.themes import BANNER, banner_look
from agdbg_ui.view import Frame, Stop, View, frame_of
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.wording import WALK, banner, emptiness, has_nodes, no_value, spaced, title

PATIENCE_S = 30.0


def run(coroutine):
    async def timed():
        async with asyncio.timeout(PATIENCE_S):
            return await coroutine

    return asyncio.run(timed())


# ----- one at a time -----


def test_asking_often_runs_twice_and_the_second_sees_the_newest():
    async def script():
        wish, seen, tasks = [0], [], []
        gate = asyncio.Event()

        async def job():
            seen.append(wish[0])
            await gate.wait()

        newest = Newest(job, tasks.append)
        for number in range(1, 100):
            wish[0] = number
            newest.ask()
            await asyncio.sleep(0)
        assert newest.busy
        gate.set()
        await asyncio.gather(*tasks)
        return seen, newest.busy

    assert run(script()) == ([1, 99], False)


def test_a_job_that_failed_can_be_asked_again():
    async def script():
        tasks = []

        async def job():
            raise ValueError("no")

        newest = Newest(job, tasks.append)
        for _ in range(2):
            newest.ask()
            await asyncio.wait(tasks)
        return [str(task.exception()) for task in tasks]

    assert run(script()) == ["no", "no"]


def test_steps_wait_for_one_another():
    async def script():
        sent, tasks = [], []

        async def send(command):
            sent.append(command)
            return True

        steps = Steps(send, tasks.append, patience=PATIENCE_S)
        for command in ("next", "next", "back"):
            steps.add(command)
        for expected in (["next"], ["next"] * 2, ["next", "next", "back"]):
            while sent != expected:
                await asyncio.sleep(0)
            steps.settle()
        await asyncio.gather(*tasks)
        return sent

    assert run(script()) == ["next", "next", "back"]


def test_steps_behind_one_that_does_not_stop_are_forgotten():
    async def script():
        sent, tasks = [], []

        async def send(command):
            sent.append(command)
            return True

        steps = Steps(send, tasks.append, patience=0.01)
        for _ in range(1000):
            steps.add("continue")
        await asyncio.gather(*tasks)
        assert sent == ["continue"]
        steps.add("next")
        steps.settle()
        await asyncio.gather(*tasks)
        return sent

    assert run(script()) == ["continue", "next"]


def test_a_key_held_down_does_not_pile_up():
    async def script():
        sent, tasks = [], []

        async def send(command):
            sent.append(command)
            return False

        steps = Steps(send, tasks.append)
        for _ in range(1000):
            steps.add("next")
        await asyncio.gather(*tasks)
        return len(sent)

    assert run(script()) == MOST_WAITING


def test_waiting_output_is_bounded_and_says_what_is_missing():
    waiting = Waiting(most=100)
    for number in range(1000):
        waiting.add(f"{number:04}\n")
    text = waiting.take()
    assert text.startswith("\n[4,900 characters not shown]\n0980\n")
    assert text.endswith("0999\n")
    assert not waiting
    assert waiting.take() == ""


# ----- words -----


FRAMES = (Frame(1, "MulBackward0, 3 of 12", "/a.py", 3, False), Frame(2, "created in f", "/a.py", 3, True))
LIVE = Stop(1, "step", "before MulBackward0", frames=FRAMES)
PAST = Stop(1, "step", "in the recording: MulBackward0, node 3 of 12 of backward, pass 2", frames=FRAMES)
AT_END = (Frame(1, "end of pass 2", "", 0, True),)
END = Stop(1, "step", "the pass is over", frames=AT_END)
PAST_END = Stop(1, "step", "in the recording: its end, after pass 2", frames=AT_END)


WROTE = "version-bump: mul_ wrote to w"
AT_WRITE = Stop(3, "data breakpoint", WROTE, frames=(Frame(1, "step", "/w/optim.py", 7, False, True),))
IN_MODULE = Stop(1, "data breakpoint", WROTE, frames=(Frame(1, "<module>", "/w/net.py", 12, False, True),))
AT_SQRT = "before SqrtBackward0, node 3 of 1,004 of backward"
RECORDED = "in the recording: Mul, node 2 of 9 of backward, pass 1"
BUILT = "forward, line 8 built MulBackward0"
RETURNS = "backward() has run its 4 nodes and is about to return"


def words(view, now=0.0, width=100):
    return "".join(text for text, _ in title(view, now, width)).strip()


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (View(), "agdbg  … starting"),
        (View("running", ("/a/train.py",)), "train.py  » running"),
        (View("stopped", ("train.py",), stop=LIVE), "train.py  ■ stopped before MulBackward0  3 of 12"),
        (View("stopped", ("train.py",), stop=END), "train.py  ■ stopped at the end of pass 2"),
        (View("ended", ("t.py",), exit=3), "t.py  ✗ ended with status 3"),
        (View("ended", ("t.py",), exit=0, stop=PAST), "t.py  □ ended with status 0  ◂ recording: before MulBackward0, node 3 of 12 of backward, pass 2"),
        (View("trace", ("t.py",), stop=PAST), "t.py  ◂ recording: before MulBackward0, node 3 of 12 of backward, pass 2"),
        (View("trace", ("t.py",), stop=PAST_END), "t.py  ◂ recording: its end, after pass 2"),
        (View("stopped", ("t.py",), stop=Stop(1, "step", f"{AT_SQRT}()")), f"t.py  ■ stopped {AT_SQRT}()"),
        (View("stopped", ("t.py",), stop=Stop(1, "step", f"{AT_SQRT}(); breakpoint 2")), f"t.py  ■ stopped {AT_SQRT}()"),
        (View("trace", ("t.py",), stop=Stop(1, "step", RECORDED)), "t.py  ◂ recording: before Mul, node 2 of 9 of backward, pass 1"),
        (View("stopped", ("t.py",), stop=Stop(1, "step", BUILT)), f"t.py  ■ stopped: {BUILT}"),
        (View("stopped", ("t.py",), stop=Stop(1, "step", RETURNS)), f"t.py  ■ stopped: {RETURNS}"),
        (View("ended", ("t.py",), signal="SIGSEGV"), "t.py  ✗ ended by SIGSEGV"),
        (View("trace", ("t.py",)), "t.py  □ recording"),
        (View("lost", ("t.py",)), "t.py  ✗ the connection to the hub is gone"),
        (View("stopped", ("t.py",), stop=LIVE, stopped=(1, 2)), "t.py  ■ stopped before MulBackward0  3 of 12  thread 1, one of 2 stopped (t)"),
        (View("stopped", ("t.py",), stop=AT_WRITE), "t.py  ■ stopped in step, optim.py:7"),
        (View("stopped", ("t.py",), stop=AT_WRITE, stopped=(1, 3)), "t.py  ■ stopped in step, optim.py:7  thread 3, one of 2 stopped (t)"),
        (View("stopped", ("t.py",), stop=IN_MODULE), "t.py  ■ stopped at net.py:12"),
    ],
)  # fmt: skip
def test_the_title_says_how_it_is(view, expected):
    assert words(view) == expected


def test_the_title_has_the_end_of_the_trace_where_there_is_room():
    view = View("running", ("t.py",), trace="/very/long/" + "x" * 60 + "/t-1")
    assert words(view, width=60).endswith("x/t-1")
    assert len(words(view, width=60)) <= 60
    assert "t-1" not in words(view, width=30)


def test_the_name_of_the_program_takes_what_is_free():
    view = View("stopped", ("/w/digits_backward_twice_again.py",))
    assert "digits_backward_twice_again.py" in words(view, width=60)
    assert "digits" in words(view, width=30) and len(words(view, width=30)) <= 30


def test_the_time_without_an_event_is_said_only_when_it_is_long():
    view = View("running", ("t.py",), idle_from=10.0)
    assert "no event" not in words(view, now=11.9)
    assert "no event for 3 s" in words(view, now=13.5)
    assert "no event for 3 s" in emptiness(view, 13.5)
    reads = view._replace(hub_works=True)
    assert "no event" not in words(reads, now=13.5) + emptiness(reads, 13.5)


@pytest.mark.parametrize("life", ["starting", "waiting", "running", "stopped", "ended", "trace", "lost"])
def test_every_state_has_words_for_an_empty_graph(life):
    assert emptiness(View(life, exit=0), 0.0)


def test_the_banner_says_why():
    assert banner(View("running")) is None
    assert banner(View("stopped", stop=LIVE)) == ("stop", "before MulBackward0", "")
    assert banner(View("ended", exit=0)) == ("ended", WALK, "")
    assert banner(View("ended", exit=1)) == ("ended", WALK, "")
    assert banner(View("trace", stop=Stop(1, "step", "in the recording"))) == ("recorded", "in the recording", "")
    failed = Stop(1, "exception", "RuntimeError is about to be raised: freed", "RuntimeError: freed\nmore")
    assert banner(View("stopped", stop=failed)) == ("error", "RuntimeError: freed", failed.description)


@pytest.mark.parametrize("where", [f"{AT_SQRT}()", f"{AT_SQRT}(), which calls hooks", RECORDED, BUILT, RETURNS])
def test_where_it_stands_is_said_once(where):
    assert banner(View("stopped", stop=Stop(1, "step", where))) is None
    told = banner(View("stopped", stop=Stop(1, "breakpoint", f"{where}; the condition failed")))
    assert told == ("recorded" if where == RECORDED else "stop", "the condition failed", "")


@pytest.mark.parametrize(
    ("where", "expected"),
    [(f"{AT_SQRT}()", True), (RECORDED, True), (BUILT, True), ("in the recording: no node ran", False)],
)
def test_a_graph_is_there_where_a_thread_stands_at_a_node(where, expected):
    assert has_nodes(View("stopped", stop=Stop(1, "step", where))) is expected
    assert not has_nodes(View("stopped"))


def test_a_place_that_has_no_room_in_the_title_is_said_in_short():
    stop = Stop(1, "step", f"{AT_SQRT}(), which calls hooks", frames=LIVE.frames)
    assert (
        words(View("stopped", ("train.py",), stop=stop), width=60) == "train.py  ■ stopped before MulBackward0  3 of 12"
    )


def test_an_error_that_has_not_happened_is_told_as_what_would():
    ahead = Stop(1, "exception", "before MulBackward0, node 1 of 3 of backward()", "freed\nmore")
    assert banner(View("stopped", stop=ahead)) == ("predicted", "freed", "")
    assert banner_look("predicted").word == "will fail"
    assert len({look.mark for look in BANNER.values()}) == len(BANNER)


def test_a_nan_has_happened_and_nothing_fails():
    made = "SqrtBackward0 made NaN"
    stop = Stop(1, "exception", f"before AccumulateGrad, node 5 of 5; {made}", made)
    assert banner(View("stopped", stop=stop)) == ("found", made, "")
    assert banner_look("found").word == "found"


def test_why_there_is_no_value():
    recorded = Stop(0, "step", "in the recording, before MulBackward0, pass 1")
    assert no_value(recorded, "not captured").startswith("not captured: a recording has no")
    assert no_value(LIVE, "not there yet").startswith("not there yet: ")
    assert no_value(LIVE, "not captured").startswith("not captured: a value is there while")


def test_evidence_is_set_apart():
    text = "1. It failed.\n   kind, certain\n   entry  a.py:3\n            y = x  * w\n            ^^^^^\n   fix    Do not."
    lines = spaced(text).split("\n")
    assert lines == text.replace("\n   entry", "\n\n   entry").replace("\n   fix", "\n\n   fix").split("\n")
    assert spaced(spaced(text)) == spaced(text)


@pytest.mark.parametrize(
    ("view", "status"),
    [(View(), None), (View("ended", exit=4), 4), (View("ended", signal="SIGKILL"), 137), (View("ended", signal="?"), 128)],
)  # fmt: skip
def test_the_status_is_what_a_shell_shows(view, status):
    assert view.status() == status


def test_a_frame_without_a_source():
    assert frame_of({"id": 1, "name": "f"}) == Frame(1, "f", "", 0, False)


def test_explanations_are_fitted():
    text = "fix          Pass retain_graph=True to the first call, or compute it again\n    a = very_long_name + another_long_name\n        ^^^^^^^^^^^^^^"
    assert fitted(text, 40).split("\n") == [
        "fix          Pass retain_graph=True to",
        "             the first call, or compute",
        "             it again",
        "    a = very_long_name + another_long_n…",
        "        ^^^^^^^^^^^^^^",
    ]
    assert fitted("1. one two three", 10) == "1. one two\n   three"
    assert fitted("\x1b[2J\tx", 20) == "␛[2J    x"
    assert fitted("x" * 50, 20).count("\n") == 2


# ----- imports and starting -----


def loaded_by(code):
    code += "; import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_debugger_and_the_bare_package_bring_in_no_textual():
    assert not loaded_by("import agdbg") & {"textual", "rich", "agdbg_ui"}
    assert not loaded_by("import agdbg_ui") & {"textual", "rich", "numpy"}
    assert not loaded_by("import agdbg_ui.main") & {"textual", "rich", "numpy"}


def test_the_app_brings_in_no_engine_and_no_numpy():
    loaded = loaded_by("import agdbg_ui.app")
    assert "textual" in loaded
    assert not loaded & {"agdbg_engine", "numpy", "torch"}


def test_the_first_frame_waits_for_nothing_that_it_does_not_show():
    code = "import agdbg_ui.app, json, sys; print(json.dumps([name for name in sys.modules if 'agdbg' in name]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(json.loads(done.stdout))
    assert "agdbg_ui.panes" in loaded
    assert not loaded & {"agdbg.protocol.vendor", "agdbg.protocol.checkers", "agdbg_ui.session", "agdbg_ui.console"}
    assert {name for name in loaded if name.startswith("agdbg_ui.screens.")} == {"agdbg_ui.screens.main"}


def test_all_that_is_not_loaded_before_the_first_frame_is_loaded_after_it():
    code = "import json, sys; from agdbg_ui import later; later.load(); print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    folder = Path(agdbg_ui.__file__).parent
    files = [each.relative_to(folder.parent).with_suffix("") for each in folder.rglob("*.py")]
    assert {".".join(file.parts).removesuffix(".__init__") for file in files} <= set(json.loads(done.stdout))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=str)
def test_panes_get_their_styles_once_before_the_first_frame(new_app, monkeypatch, size):
    styled = []
    apply = Stylesheet.apply
    monkeypatch.setattr(
        Stylesheet, "apply", lambda self, node, **how: (styled.append(node), apply(self, node, **how))[1]
    )

    async def main():
        app = new_app()
        async with app.run_test(size=size):
            lines = [each for each in styled if isinstance(each, Input)]
            assert len(lines) == 2, "one for the prompt, one for the program"
            panes = [str(each.id) for each in styled if isinstance(each, Widget) and each.has_class("pane")]
            assert sorted(panes) == sorted(Panes.ALL)

    asyncio.run(main())


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=str)
def test_panes_get_their_styles_once_when_another_gets_the_keys(shown, monkeypatch, size):
    styled = []
    apply = Stylesheet.apply

    async def script(screen):
        await screen.settle()
        assert screen.app.focused is screen.app.lanes
        monkeypatch.setattr(
            Stylesheet, "apply", lambda self, node, **how: (styled.append(node), apply(self, node, **how))[1]
        )
        for key in "10":
            styled.clear()
            await screen.press(key)
            panes = [str(each.id) for each in styled if isinstance(each, Lanes | Inspector)]
            assert sorted(panes) == ["inspector", "lanes"]

    drive(shown, script, size=size)


@pytest.fixture
def headless(monkeypatch):
    from agdbg_ui.app import AgdbgApp

    run_app = AgdbgApp.run
    monkeypatch.setattr(AgdbgApp, "run", lambda app: run_app(app, headless=True))


def test_a_hub_that_does_not_start_is_told(headless, monkeypatch):
    def fails(words=()):
        raise HubFailed("the hub did not start: no space left")

    monkeypatch.setattr("agdbg.hub.starting.start_hub", fails)
    assert ways_in.run_tui({"program": "x.py"}).error == "the hub did not start: no space left"


def test_an_address_where_nobody_answers_is_told(headless, tmp_path):
    assert str(tmp_path / "s") in ways_in.attach(str(tmp_path / "s")).error
