"""A program that ends badly, waits, or does not stop: the screen says why, and what it waits for."""

import pytest
from agdbg_tests_driving import drive

from agdbg.protocol.errors import RequestFailed
from agdbg_ui import editor
from agdbg_ui.losing import NOT_KNOWN
from agdbg_ui.themes import banner_look
from agdbg_ui.widgets.banner import Banner

TORCH = "no autograd activity recorded: PyTorch is not recorded yet, only agdbg_engine is"
TRACEBACK = """Traceback (most recent call last):\r\n  File "a.py", line 2\r\nImportError: no module\r\n"""


def nothing_recorded(hub):
    hub.size = 0
    hub.refuse["agdbg/findings"] = RequestFailed(TORCH)


def banner(screen):
    return screen.app.query_one(Banner)


def toasts(screen):
    return [each.message for each in screen.app._notifications]


async def ended(screen, exit=1, signal=None, printed=""):
    if printed:
        screen.hub.send("output", category="stdout", output=printed)
    screen.hub.end(exit, signal)
    await screen.until(lambda: screen.app.session.view.life == "ended" and screen.hub.asked("agdbg/findings"))
    await screen.settle()


# ----- a bad end -----


def test_an_error_before_any_autograd_brings_the_output_to_the_front(shown):
    async def script(screen):
        await screen.press("2")
        await ended(screen, printed=f"hello\r\n{TRACEBACK}")
        assert banner(screen).headline == "ImportError: no module"
        assert banner(screen).detail == f"at a.py:2; {TORCH}"
        assert "ended with status 1" in screen.title
        assert "▸3" in screen.text
        assert 'File "a.py", line 2' in screen.text
        await screen.press("x")
        assert "the program ended with status 1" in screen.text
        assert "PyTorch is not recorded yet" in screen.text
        assert "ImportError: no module" in screen.text

    drive(shown, script, prepare=nothing_recorded)


@pytest.mark.parametrize(
    ("exit", "signal", "printed", "headline", "detail"),
    [
        (3, None, "about to exit\r\n", "□ ended: with exit status 3; its last words: about to exit", TORCH),
        (1, None, "bad flags: --lr\r\n", "□ ended: with exit status 1; its last words: bad flags: --lr", TORCH),
        (3, None, TRACEBACK, "□ ended: with exit status 3; its last words: ImportError: no module", TORCH),
        (2, None, "", "□ ended: with exit status 2; it printed nothing", TORCH),
        (1, None, TRACEBACK, "✗ error: ImportError: no module", f"at a.py:2; {TORCH}"),
        (None, "SIGSEGV", "", "✗ error: ended by SIGSEGV; it printed nothing", TORCH),
        (None, "SIGTERM", "epoch 1\r\n", f"✗ error: {TORCH}", ""),
        (0, None, "fine\r\n", f"□ ended: {TORCH}", ""),
    ],
    ids=[
        "a status",
        "a text",
        "a traceback that was printed",
        "nothing printed",
        "an error",
        "a signal",
        "killed",
        "well",
    ],
)
def test_the_banner_says_what_is_known_of_the_end(shown, exit, signal, printed, headline, detail):
    async def script(screen):
        await ended(screen, exit, signal, printed)
        look = banner_look(banner(screen).kind)
        said = f"{look.mark} {look.word}: {banner(screen).headline}", banner(screen).detail
        assert said == (headline, detail)
        assert ("▸3" in screen.text) is (exit != 0 and signal != "SIGTERM")

    drive(shown, script, prepare=nothing_recorded)


def test_the_error_that_the_recording_names_is_told_first(shown):
    def prepare(hub):
        hub.do_findings = lambda lints=False: {"findings": [], "rendered": "the whole", "uncaught": "ValueError: late"}

    async def script(screen):
        await ended(screen, printed=TRACEBACK)
        assert banner(screen).headline == "ValueError: late"

    drive(shown, script, prepare=prepare)


CAUGHT = {
    "kind": "inplace-modified",
    "cause": "`mul_` changed what was saved.",
    "certainty": "certain",
    "fix": "",
    "caught": True,
    "ended": None,
    "nodes": [],
    "evidence": [],
}


def ended_for(hub, uncaught="", ended=None):
    """An error was caught; then the program ended for another one."""
    one = {"kind": "shape", "text": f"{uncaught}\nmore", "count": 1, "caught": ended is None, "ended": ended}
    body = {"findings": [CAUGHT], "rendered": "the whole", "unseen": ""}
    more = {"undiagnosed": [one | {"file": "", "line": 0}]} if ended else {"uncaught": uncaught}
    hub.do_findings = lambda lints=False: body | more


@pytest.mark.parametrize("ended_what", [None, "program"], ids=["of no engine", "without a diagnosis"])
@pytest.mark.parametrize("state", ["running", "trace"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
def test_the_error_that_ended_the_program_is_told_and_not_one_that_it_caught(shown, ended_what, state, size):
    async def script(screen):
        if state == "running":
            await ended(screen, printed=TRACEBACK)
        else:
            screen.hub.stop(5, reason="exception", text="RuntimeError: modified", recorded=True)
        await screen.until(lambda: banner(screen).headline == "KeyError: 'it'")
        await screen.until(lambda: screen.app.output.display)
        assert banner(screen).kind == "error"
        await screen.press("5")
        await screen.settle()
        assert "caught by the program" in screen.text and not screen.app.output.display

    def prepare(hub):
        ended_for(hub, "KeyError: 'it'", ended_what)

    how = {"state": "trace", "command": "attach", "arguments": {"trace": "/t"}} if state == "trace" else {}
    drive(shown, script, prepare=prepare, size=size, **how)


def test_of_several_findings_that_of_the_end_is_in_the_banner(shown):
    def prepare(hub):
        hub.findings = [CAUGHT, CAUGHT | {"cause": "It was run twice.", "caught": False, "ended": "program"}]

    async def script(screen):
        await ended(screen)
        assert banner(screen).headline == "It was run twice. (and 1 more)"

    drive(shown, script, prepare=prepare)


def test_what_was_printed_last_stands_there_when_the_end_is_told(shown):
    async def script(screen):
        screen.hub.send("output", category="stdout", output=TRACEBACK)
        screen.hub.end(1)
        await screen.until(lambda: banner(screen).headline == "ImportError: no module")

    drive(shown, script, prepare=nothing_recorded)


@pytest.mark.parametrize("state", ["running", "trace"])
@pytest.mark.parametrize("size", [0, 30], ids=["no nodes", "nodes"])
def test_space_goes_to_the_line_of_the_error_that_ended_the_program(shown, state, size):
    led = TRACEBACK.replace(
        "ImportError", '    import it\r\n  File "/usr/lib/python3.11/json/x.py", line 7\r\nImportError'
    )

    def prepare(hub):
        ended_for(hub, "ImportError: no module")
        hub.size = size

    async def script(screen):
        if state == "running":
            await ended(screen, printed=led)
        else:
            screen.hub.send("output", category="stdout", output=led)
        await screen.until(lambda: banner(screen).headline == "ImportError: no module")
        source = screen.app.panes.source
        await screen.press("2")
        for _ in range(4):  # the forward line, the call of the pass
            await screen.press("space")
            await screen.settle()
            if source.spot.file == "a.py":
                break
        assert (source.spot.file, source.spot.line, source.spot.known) == ("a.py", 2, "import it")
        assert source.spot.role == "the line that led to the error"
        assert "no other place" not in "".join(toasts(screen))

    how = {"state": "trace", "command": "attach", "arguments": {"trace": "/t"}} if state == "trace" else {}
    drive(shown, script, prepare=prepare, size=(120, 40), **how)


# ----- output that nobody kept -----


@pytest.mark.parametrize("kept", [True, False])
def test_a_recording_without_output_says_why(shown, kept):
    async def script(screen):
        await screen.press("3")
        await screen.until(lambda: "was not recorded" in screen.text or "has written nothing" in screen.text)
        assert ("--headless" in screen.text) is not kept
        assert "nothing yet" not in screen.text

    def prepare(hub):
        hub.output_kept = kept

    drive(shown, script, prepare=prepare, state="trace", command="attach", arguments={"trace": "/srv/t"})


def test_a_program_with_a_terminal_of_its_own_is_typed_to_there(shown):
    async def script(screen):
        await screen.press("3")
        await screen.until(lambda: "is not recorded" in screen.text)
        await screen.press("enter")
        await screen.until(lambda: toasts(screen) and not screen.app.output.input_mode)
        screen.app._notifications.clear()
        await screen.press("0", "i")
        assert "type there" in toasts(screen)[-1]
        assert not screen.app.output.input_mode

    def prepare(hub):
        hub.output_kept = False

    drive(shown, script, prepare=prepare, command="attach", arguments={})


def test_the_editor_opens_all_output_from_its_pane(shown, monkeypatch):
    asked = []

    def command(path, line):
        asked.append((path, line))
        raise editor.NoEditor("there is none")

    monkeypatch.setattr(editor, "command", command)

    async def script(screen):
        await screen.press("3", "ctrl+e")
        assert asked == [("/srv/agdbg-traces/train-1/output.log", 1)]
        await screen.press("0")
        await screen.until(lambda: screen.app.panes.source.path)
        await screen.press("ctrl+e")
        assert asked[1][0] == "/srv/train.py"

    drive(shown, script)


# ----- findings -----


def test_a_recording_whose_size_is_told_later_was_looked_at_all_the_same(shown):
    async def script(screen):
        pane = screen.app.panes.findings
        await screen.until(lambda: "no problem was found" in pane.empty_text)
        screen.hub.send("agdbg/grew", nodes=3, records=9)
        await screen.until(lambda: screen.app.session.view.nodes == 3)
        await screen.settle()
        assert "no problem was found" in pane.empty_text
        screen.hub.send("agdbg/grew", nodes=4, records=12)
        await screen.until(lambda: "more has happened since" in pane.empty_text)

    def prepare(hub):
        hub.state = "trace"
        hub.findings = []

    drive(shown, script, prepare=prepare)


def test_what_the_findings_pane_says_is_true_at_each_moment(shown):
    async def script(screen):
        pane = screen.app.panes.findings
        assert "nobody has looked yet" in pane.empty_text
        await screen.press("5")
        await screen.until(lambda: "nothing was recorded so far" in pane.empty_text)
        screen.hub.refuse.clear()
        screen.hub.send("agdbg/grew", nodes=3, records=9)
        await screen.until(lambda: "more has happened since" in pane.empty_text)
        await screen.press("5")
        await screen.until(lambda: "no problem was found" in pane.empty_text)
        screen.hub.stop(6)
        await screen.until(lambda: "more has happened since" in pane.empty_text)
        screen.hub.end(0)
        await screen.until(lambda: "no problem was found" in pane.empty_text)

    def prepare(hub):
        hub.refuse["agdbg/findings"] = RequestFailed("nothing was recorded so far")

    drive(shown, script, prepare=prepare)


# ----- where it stands -----


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("SinBackward0, just built", "stopped after SinBackward0 was built"),
        ("SinBackward0, 3 of 12", "stopped before SinBackward0  3 of 12"),
        ("SinBackward0, 3 of 12, apply", "stopped in SinBackward0  3 of 12, apply"),
        ("SinBackward0", "stopped at SinBackward0"),
    ],
)
def test_the_title_says_how_it_stands_to_the_node(shown, name, title):
    """Where there is no room for all that the hub says of the place."""

    def prepare(hub):
        hub.op = lambda row: "M" * 140
        frames, node = hub.do_stackTrace, hub.do_node
        hub.do_node = lambda **how: node(**how) | {"state": "pending"}
        hub.do_stackTrace = lambda **how: {
            "stackFrames": [f | {"name": name} for f in frames(**how)["stackFrames"][:1]]
        }

    async def script(screen):
        await screen.stop(6)
        assert title in screen.title
        assert screen.title.count("built") == title.count("built")
        assert ("runs next" in screen.text) is (name == "SinBackward0, 3 of 12")

    drive(shown, script, size=(140, 40), prepare=prepare)


def test_no_thread_of_a_program_that_has_ended_runs(shown):
    async def script(screen):
        await ended(screen, 0)
        await screen.press("7")
        await screen.until(lambda: screen.app.panes.stops.items)
        threads = [item for item in screen.app.panes.stops.items if item.sort == "thread"]
        assert [(each.mark, each.more) for each in threads] == [
            ("■", "no program runs; n and p walk through its recording")
        ]

    drive(shown, script)


def test_no_thread_is_said_to_run_when_the_hub_is_gone(shown):
    def threads(screen):
        return [item for item in screen.app.panes.stops.items if item.sort == "thread"]

    async def script(screen):
        await screen.press("7")
        await screen.until(lambda: threads(screen))
        screen.hub.die()
        await screen.until(lambda: [each.more for each in threads(screen)] == [NOT_KNOWN])

    drive(shown, script)


# ----- steps that are dropped -----


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (lambda hub: hub.end(1), "the program has ended: 2 steps that waited were dropped"),
        (
            lambda hub: hub.stop(3, reason="exception", text="freed"),
            "the program stopped for an error: 2 steps that waited were dropped",
        ),
        (lambda hub: hub.die(), "the hub is gone: 2 steps that waited were dropped"),
    ],
    ids=["end", "error", "hub"],
)
def test_steps_that_are_dropped_are_told(shown, ends, told):
    async def script(screen):
        await screen.stop(6)
        screen.hub.do_next = lambda threadId: {}
        await screen.at_once("n", "n", "n")
        await screen.until(lambda: len(screen.hub.asked("next")) == 1)
        ends(screen.hub)
        await screen.until(lambda: told in toasts(screen))
        assert len(screen.hub.asked("next")) == 1

    drive(shown, script)


def test_steps_behind_one_that_does_not_stop_are_told(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.do_next = lambda threadId: {}
        screen.app.session._steps.patience = 0.01
        for _ in range(2):  # without a wait between them: the second one waits before the first one's time is over
            screen.app.session.step("next")
        await screen.until(lambda: "the program runs on: 1 step that waited was dropped" in toasts(screen))

    drive(shown, script)


# ----- what a running program waits for -----


def test_a_program_that_waits_for_input_is_told_until_something_is_typed(shown):
    async def script(screen):
        screen.hub.awaits_input = True
        screen.app._tick()
        await screen.until(lambda: "waits for input" in screen.title)
        await screen.until(lambda: banner(screen).headline == "the program waits for input: i types into it")
        await screen.press("i", "x")
        screen.hub.awaits_input = False  # what is typed is read, and each tick asks the hub
        await screen.press("enter")
        await screen.until(lambda: screen.hub.asked("agdbg/input"))
        await screen.until(lambda: "waits for input" not in screen.title)
        screen.hub.awaits_input = True
        screen.app._tick()
        await screen.until(lambda: "waits for input" in screen.title)
        screen.hub.stop(6)
        await screen.until(lambda: "stopped" in screen.title)
        await screen.until(lambda: "waits for input" not in screen.text)

    drive(shown, script)


def test_a_pause_that_leads_to_nothing_says_what_it_waits_for(shown):
    async def script(screen):
        screen.hub.do_pause = lambda threadId: {}
        await screen.press("z")
        await screen.until(lambda: "to stop at its next node" in screen.title)
        await screen.until(lambda: "z has asked for a stop" in banner(screen).headline)
        await screen.press("z")
        assert any("asked to stop once more" in each for each in toasts(screen))
        assert len(screen.hub.asked("pause")) == 2
        screen.hub.stop(6)
        await screen.until(lambda: "stopped before" in screen.title)
        await screen.until(lambda: "z has asked" not in screen.text)

    drive(shown, script)


def test_there_is_nothing_to_pause_in_a_program_that_has_ended(shown):
    async def script(screen):
        await ended(screen, 0)
        await screen.press("z")
        assert "no program runs here" in toasts(screen)

    drive(shown, script)


# ----- what is told at the end -----


def test_the_result_tells_what_became_of_the_program(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("q", "l")

    left = drive(shown, script)
    assert (left.program, left.pid, left.ending, left.killed) == ("train.py", 4242, "", False)

    async def kill(screen):
        await screen.stop(6)
        await screen.press("q", "k")

    killed = drive(shown, kill)
    assert (killed.ending, killed.killed, killed.status) == ("ended by SIGTERM", True, 143)


# ----- a recording that is not whole -----


def test_that_recording_has_stopped_is_told_while_the_program_goes_on(shown):
    text = "recording stopped: No space left on device; what came later is not in /tmp/t"

    async def script(screen):
        screen.hub.send("agdbg/troubled", troubles=[{"kind": "stopped", "text": text}])
        await screen.until(lambda: "! recording stopped" in screen.title)
        assert "» running" in screen.title or "stopped" in screen.title
        assert toasts(screen) == [text]
        screen.hub.send("agdbg/grew", nodes=7, records=20)
        await screen.settle()
        assert toasts(screen) == [text]
        await screen.press("x")
        assert "No space left on device" in screen.text

    drive(shown, script)


def test_what_is_damaged_of_a_recording_is_told_when_it_is_opened(shown):
    async def script(screen):
        troubles = [
            {"kind": "damaged", "text": f"the trace is damaged: {what}"} for what in ("records.bin", "strings.jsonl")
        ]
        screen.hub.send("agdbg/troubled", troubles=troubles)
        await screen.until(lambda: "! damaged recording" in screen.title)
        assert toasts(screen) == ["the trace is damaged: records.bin (and 1 more; x tells all)"]
        await screen.press("x")
        assert "the trace is damaged: strings.jsonl" in screen.text

    drive(shown, script)


def test_a_program_that_does_not_end_when_it_is_asked_is_killed(shown):
    async def script(screen):
        asked = []

        def terminate():
            asked.append("terminate")
            if len(asked) == 2:  # which is how the hub is told to kill
                screen.hub.end(None, "SIGKILL")
            return {}

        screen.hub.do_terminate = terminate
        session = screen.app.session
        await session.part(True, 30.0, grace=0.05)
        assert asked == ["terminate", "terminate"]
        assert session.view.status() == 137

    drive(shown, script)
