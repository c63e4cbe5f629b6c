"""How the whole screen looks, at 80 x 24 and 160 x 48. After a wanted change: pytest tests/ui --snapshot-update, and look."""

import pytest

NARROW, WIDE = (80, 24), (160, 48)
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "160x48"])
EXPLANATION = """\
`loss.backward()` at train.py:11 freed what `error * error` at train.py:10 had saved, before it was needed again.
backward-twice, certain

created      train.py:10 in <module>
                 loss = (error * error).mean() + 0.01 * (hidden * hidden).mean()
                         ^^^^^^^^^^^^^
fix          Pass retain_graph=True to the first call."""


async def nothing(screen):
    pass


async def stopped(screen):
    screen.hub.send("output", category="stdout", output="epoch 1  loss 0.53\nepoch 2  loss \x1b[32m0.41\x1b[0m\n")
    await screen.until(lambda: "epoch 2  loss 0.41" in screen.app.output.lines)
    await screen.stop(6)


async def failed(screen):
    cause = EXPLANATION.partition("\n")[0]
    screen.hub.exception = {"exceptionId": "twice", "description": cause, "details": {"message": EXPLANATION}}
    await screen.stop(11, reason="exception", text="RuntimeError: Trying to backward through the graph a second time")
    await screen.until(lambda: "backward()` at train.py:11" in screen.text)


def no_nodes(hub):
    hub.size = 0


@SIZES
def test_stopped(looks, size):
    assert looks(stopped, size)


@SIZES
def test_stopped_before_an_error(looks, size):
    assert looks(failed, size)


@SIZES
@pytest.mark.parametrize(
    "key", ["x", "e", "question_mark", "q", "f"], ids=["explanation", "export", "help", "quit", "errors"]
)
def test_over_the_screen(looks, size, key):
    async def script(screen):
        await failed(screen)
        await screen.press(key)

    assert looks(script, size)


@SIZES
@pytest.mark.parametrize("key", ["2", "3", "4"], ids=["source", "output", "events"])
def test_pane_with_the_keys(looks, size, key):
    async def script(screen):
        await stopped(screen)
        await screen.press(key)

    assert looks(script, size)


@SIZES
def test_search(looks, size):
    async def script(screen):
        await stopped(screen)
        await screen.press("slash", *"mean", "enter")

    assert looks(script, size)


def test_input_mode(looks):
    async def script(screen):
        await stopped(screen)
        await screen.press("i", *"a line")

    assert looks(script, NARROW)


def test_evaluate(looks):
    async def script(screen):
        await stopped(screen)
        await screen.press("colon", *"loss.item()", "enter")

    assert looks(script, NARROW)


def test_breakpoint(looks):
    async def script(screen):
        await stopped(screen)
        await screen.press("up", "b")
        await screen.until(lambda: screen.app.lanes.selected["breakpoint"])
        screen.app.clear_notifications()

    assert looks(script, NARROW)


def test_scrolled_away(looks):
    async def script(screen):
        await screen.stop(500)
        await screen.press("home")

    assert looks(script, NARROW, nodes=1000)


def test_running_without_autograd(looks):
    assert looks(nothing, NARROW, prepare=no_nodes)


def test_ended_without_autograd(looks):
    async def script(screen):
        screen.hub.end(1)
        await screen.until(lambda: "ended with status 1" in screen.title)

    assert looks(script, NARROW, prepare=no_nodes)


def test_killed_while_stopped(looks):
    async def script(screen):
        await stopped(screen)
        screen.hub.end(None, "SIGKILL")
        await screen.until(lambda: "SIGKILL" in screen.title)

    assert looks(script, NARROW)


def test_recording(looks):
    async def script(screen):
        screen.app.action_step("next")
        await screen.until(lambda: "recording: before" in screen.title)

    assert looks(script, WIDE, state="trace", command="attach", arguments={"trace": "/srv/t"})


def test_hub_gone(looks):
    async def script(screen):
        await stopped(screen)
        screen.hub.die("the hub is gone; the program runs on, and its output goes to output.log")
        await screen.until(lambda: "connection to the hub is gone" in screen.title)

    assert looks(script, NARROW)


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 14), (110, 12)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small(looks, size):
    assert looks(stopped, size)


def test_light_theme(looks):
    async def script(screen):
        screen.app.theme = "textual-light"
        await stopped(screen)

    assert looks(script, WIDE)
