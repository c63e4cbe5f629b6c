"""The places of a node in the source pane: its forward line, the code of its hooks, the call of the pass."""

import pytest
from agdbg_tests_driving import drive

from agdbg_ui.messages import Moved
from agdbg_ui.spots import Spot, line_of_stop, own_line, place_that_runs, places_of
from agdbg_ui.view import Frame, Stop

CLIP = {"kind": "tensor", "name": "train.<locals>.clip", "file": "/srv/hooks.py", "line": 3}
AFTER = {"kind": "post", "name": "after", "file": "/srv/hooks.py", "line": 9}
BODY = {"file": "/srv/train.py", "line": 7, "column": 1, "endLine": 7, "endColumn": 9, "text": "h = f(x)"}


@pytest.mark.parametrize(
    ("phase", "runs", "line", "role"),
    [
        ("tensor-hooks", False, 3, "tensor hook clip, runs next"),
        ("tensor-hooks", True, 3, "tensor hook clip, runs"),
        ("post-hooks", False, 9, "post hook after, runs next"),
        ("apply", False, 7, "forward line (space: its hooks)"),
        ("", False, 7, "forward line (space: its hooks)"),
    ],
)
def test_what_runs_is_the_place(phase, runs, line, role):
    place = place_that_runs(BODY | {"hooks": [CLIP, AFTER]}, phase, runs)
    assert (place.line, place.role) == (line, role)


def test_a_node_without_hooks_has_its_line():
    (place,) = places_of(BODY | {"hooks": []}, "tensor-hooks")
    assert (place.line, place.column, place.role) == (7, 1, "")


def test_space_turns_from_place_to_place(shown):
    async def script(screen):
        screen.hub.hook_code = [CLIP]
        await screen.stop(8)
        await screen.press("2")
        source = screen.app.panes.source
        seen = []
        for _ in range(4):
            seen.append((source.path.rpartition("/")[2], source.line, source.spot.role.partition(" ")[0]))
            await screen.press("space")
        first = ("train.py", 10, "forward")
        assert seen == [first, ("hooks.py", 3, "tensor"), ("train.py", 11, "call"), first]

    drive(shown, script)


@pytest.mark.parametrize(("number", "role"), [(1, "call of pass 1"), (2, "call of pass 2"), (0, "")])
def test_the_call_is_that_of_the_pass_that_ran_the_node(shown, number, role):
    async def script(screen):
        screen.hub.do_timeline, tell = (
            lambda node, threadId, **more: tell(**more, **{"pass": number}),
            screen.hub.do_timeline,
        )
        await screen.stop(8)
        await screen.press("2", "space")
        assert screen.app.panes.source.spot.role == role
        assert screen.hub.asked("agdbg/timeline") == [{"start": 0, "count": 0, "node": 9, "threadId": 1}]

    drive(shown, script)


ROLE = "the line of f that led to the error"
LIBRARY = "/usr/lib/python3.11/site-packages/layers/core.py"


def frame(number, name, file, line):
    return {
        "id": 10000 + number, "name": name, "line": line, "column": 1, "source": {"path": file}, "presentationHint": "normal"
    }  # fmt: skip


def test_space_turns_from_an_error_in_a_library_to_the_own_line(shown):
    async def script(screen):
        source = screen.app.panes.source
        await screen.stop(8)
        await screen.press("2")
        frames = [
            frame(0, "call", LIBRARY, 70),
            frame(1, "step", "/srv/optim.py", 7),
            frame(2, "main", "/srv/train.py", 3),
        ]
        screen.hub.do_stackTrace = lambda **_: {"stackFrames": frames, "totalFrames": 3}
        screen.hub.stop(None, reason="exception", text="ValueError: too large")
        await screen.until(lambda: source.path == LIBRARY)
        await screen.settle()
        await screen.press("2", "space")
        await screen.until(lambda: (source.path, source.current_line) == ("/srv/optim.py", 7))
        assert source.spot.role == "the line of step that led to the error"
        await screen.press("space")
        await screen.until(lambda: source.path == "/srv/train.py")

    drive(shown, script)


def test_only_at_an_error_and_beside_others_there_is_an_own_line():
    frames = (
        Frame(1, "MulBackward0, 1 of 2", "/a.py", 3, False),
        Frame(2, "created in f", "/a.py", 3, True),
        Frame(3, "call", LIBRARY, 70, False, True),
        Frame(4, "f", "/a.py", 9, False, True),
    )
    assert own_line(Stop(1, "exception", "before Mul", frames=frames)) == Spot("/a.py", 9, role=ROLE)
    assert own_line(Stop(1, "step", "before Mul", frames=frames)) is None
    assert own_line(Stop(1, "exception", "in the recording: Mul", frames=frames)) is None
    assert own_line(Stop(1, "exception", "before Mul", frames=frames[:3])) is None


def test_in_a_hook_its_code_is_shown_and_edited(shown):
    async def script(screen):
        screen.hub.hook_code, screen.hub.phase = [CLIP], "tensor-hooks"
        await screen.stop(8)
        source, inspector = screen.app.panes.source, screen.app.panes.inspector
        await screen.until(lambda: source.path == CLIP["file"])
        assert (source.line, source.current_line) == (3, 3)
        assert "runs: tensor-hooks next" in "".join(text for text, _ in inspector.header_row(0, 60))

    drive(shown, script)


def test_a_long_step_says_what_it_runs(shown, monkeypatch):
    monkeypatch.setattr("agdbg_ui.moving.HUSH_S", 0)

    async def script(screen):
        screen.hub.hook_code, screen.hub.phase = [CLIP], "tensor-hooks"
        await screen.stop(8)
        screen.hub.do_stepIn = lambda **_: {}
        await screen.press("s")
        await screen.until(lambda: "running the tensor-hooks of MulBackward0" in screen.text)
        source = screen.app.panes.source
        await screen.until(lambda: source.spot.role == "tensor hook clip, runs")
        screen.hub.phase = "apply"
        await screen.stop(8)
        await screen.until(lambda: source.path == "/srv/train.py")
        assert "running" not in screen.text

    drive(shown, script)


def test_at_a_write_that_is_watched_its_line_is_shown_until_another_node_is_selected(shown):
    async def script(screen):
        source, lanes = screen.app.panes.source, screen.app.lanes
        await screen.stop(8)
        await screen.press("2")
        frame = {"id": 10000, "name": "step", "line": 7, "column": 1, "source": {"path": "/srv/optim.py"}}
        screen.hub.do_stackTrace = lambda **_: {"stackFrames": [frame], "totalFrames": 1}
        screen.hub.stop(None, reason="data breakpoint")
        await screen.until(lambda: source.path == "/srv/optim.py")
        assert (source.current_line, source.spot.role) == (7, "the write that is watched")
        screen.app.post_message(Moved())
        await screen.settle()
        assert source.path == "/srv/optim.py"
        await screen.press("0", "up")
        await screen.until(lambda: source.path == "/srv/train.py")
        await screen.press("2", "space")  # no pass has run that node: there is no call to show
        await screen.until(lambda: source.path == "/srv/optim.py")
        assert lanes.pages.counter is None

    drive(shown, script)


@pytest.mark.parametrize(
    ("frames", "line"),
    [
        ([], None),
        ([Frame(1, "f", "/a.py", 3, False)], 3),
        ([Frame(1, "f", "", 3, False)], None),
        ([Frame(1, "MulBackward0, 1 of 2", "/a.py", 3, False), Frame(2, "created in f", "/a.py", 3, True)], None),
        ([Frame(1, "end of pass 1", "", 0, True), Frame(2, "f", "/a.py", 9, False)], None),
    ],
)
def test_only_a_stop_at_no_node_has_a_line_of_its_own(frames, line):
    spot = line_of_stop(Stop(1, "step", "somewhere", frames=tuple(frames)))
    assert (spot and spot.line) == line
    assert line_of_stop(Stop(1, "step", "in the recording: somewhere", frames=tuple(frames))) is None
    assert line_of_stop(None) is None


def test_a_node_that_calls_for_long_is_named_while_the_program_runs(shown):
    async def script(screen):
        hub, session = screen.hub, screen.app.session
        await screen.until(lambda: session.view.life == "running")
        hub.runs = "ExpBackward0 #7, which calls hooks"
        session.terminal.ask()
        await screen.until(lambda: "» running ExpBackward0 #7, which calls hooks" in screen.title)
        await screen.until(lambda: "the program runs ExpBackward0 #7, which calls hooks" in screen.text)
        await screen.stop(8)
        assert session.view.runs == "" and "ExpBackward0 #7" not in screen.title

    drive(shown, script)
