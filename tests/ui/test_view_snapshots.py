"""How each pane looks on a narrow, a wide and a huge screen. After a wanted change: pytest tests/ui --snapshot-update, and look."""

import numpy as np
import pytest
from agdbg_tests_fake_hub import SCRIPT

from agdbg_ui.screens.tensor import TensorScreen

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=lambda size: f"{size[0]}x{size[1]}")


def evidence(role, line, text, note=""):
    place = {"file": SCRIPT, "line": line, "end_line": line, "col": 0, "end_col": 0, "func": "f"}
    return {"role": role, "note": note, "text": text, **place}


def prepared(hub):
    """A hub that has found something."""
    facts = {"certainty": "certain", "caught": False, "ended": None, "predicted": False, "lint": False, "remark": False}
    written = {
        "kind": "inplace-modified",
        "cause": "`error.mul_(2)` at train.py:10 changed what `error * error` had saved at train.py:10 before it was used.",
        "fix": "Write `error = error * 2` instead, which makes a new tensor.",
        "nodes": [7],
        "evidence": [
            evidence("saved", 10, "loss = (error * error).mean()"),
            evidence("wrote", 9, "error.mul_(2)", "version 0 to 1"),
        ],
    }
    unused = {
        "kind": "unused-gradient",
        "cause": "The gradient of `2.bias` was computed and never used.",
        "fix": "",
        "nodes": [5],
        "evidence": [evidence("built", 8, "scores = model[2](hidden)")],
        "lint": True,
    }
    hub.findings = [facts | written, facts | unused]


async def stopped(screen):
    screen.hub.send("output", category="stdout", output="epoch 1  loss 0.53\nepoch 2  loss \x1b[32m0.41\x1b[0m\n")
    await screen.until(lambda: "epoch 2  loss 0.41" in screen.app.output.lines)
    await screen.stop(6)


async def console(screen):
    await stopped(screen)
    for line in ("where", "break Mul* if x > 3", "loss.item()", "nxt"):
        await screen.press("colon")
        screen.app.prompt.line.value = line
        await screen.press("enter")
        await screen.until(lambda: not screen.app.commander.is_busy)
        await screen.settle()
    await screen.press("escape", "8")
    screen.app.clear_notifications()


async def palette(screen):
    await stopped(screen)
    await screen.press("ctrl+p")
    await screen.until(lambda: "view inspector" in screen.text or "next  (n)" in screen.text)


async def findings(screen):
    await stopped(screen)
    await screen.press("5")
    await screen.until(lambda: screen.app.panes.findings.findings)
    await screen.press("down", "down", "down")


async def timeline(screen):
    await stopped(screen)
    await screen.press("6")
    await screen.until(lambda: "pass 2" in screen.text)
    await screen.press("left")
    await screen.until(lambda: "12 runs" in screen.text)
    await screen.press("down", "down")


async def layers(screen):
    await timeline(screen)
    await screen.press("l")


async def boxes(screen):
    await stopped(screen)
    await screen.press("v")
    await screen.until(lambda: "#7" in screen.text)


async def stops(screen):
    await stopped(screen)
    await screen.app.session.breakpoints.toggle_line(SCRIPT, 9)
    await screen.app.session.breakpoints.toggle_name("Mul*")
    await screen.press("7")
    await screen.until(lambda: "Threads" in screen.text or len(screen.app.panes.stops.items) > 6)
    await screen.press("down")


async def modules(screen):
    await stopped(screen)
    await screen.press("v", "v")
    await screen.until(lambda: "Sequential" in screen.text)
    await screen.press("down")


async def marked(screen):
    await stopped(screen)
    await screen.press("m", "up", "up", "m")
    await screen.until(lambda: len(screen.app.lanes.marked) == 3)


async def tensor(screen):
    await stopped(screen)
    await screen.press("up", "1")
    await screen.until(lambda: (screen.app.panes.inspector.body or {}).get("node") == 6)
    await screen.press("down", "down", "down", "down", "enter")
    await screen.until(lambda: isinstance(screen.app.screen, TensorScreen) and screen.app.screen.view.body)


async def numbers(screen):
    await tensor(screen)
    await screen.press("tab", "tab")
    await screen.until(lambda: screen.app.screen.view.mode == "numbers" and "0.42" in screen.text)


async def change(screen):
    await tensor(screen)
    await screen.press("d")
    await screen.until(lambda: screen.app.screen.view.body["compared"])
    screen.hub.pass_id, screen.hub.tensor = 3, screen.hub.tensor * np.linspace(0.5, 1.5, 10)
    await screen.press("d", "d")
    await screen.until(lambda: "pass 3 - pass 2" in screen.text)


async def working(screen):
    await stopped(screen)
    screen.hub.send("progressStart", progressId="1", title="Writing the graph", cancellable=True)
    screen.hub.send("progressUpdate", progressId="1", message="laying out", percentage=40.0)
    await screen.until(lambda: "laying out 40%" in screen.text)


async def zoomed(screen):
    await stopped(screen)
    await screen.press("1", "Z")


async def folded(screen):
    await stopped(screen)
    await screen.press("{", "home", "right")
    await screen.until(lambda: screen.app.lanes.row_count == 6 and screen.app.lanes.selected is not None)
    screen.app.clear_notifications()


_ALL = (
    folded,
    console,
    palette,
    findings,
    timeline,
    layers,
    boxes,
    stops,
    modules,
    marked,
    tensor,
    numbers,
    change,
    working,
    zoomed,
)
VIEWS = {each.__name__: each for each in _ALL}


@SIZES
@pytest.mark.parametrize("view", VIEWS)
def test_view(looks, size, view):
    assert looks(VIEWS[view], size, prepare=prepared)


@pytest.mark.parametrize("theme", ["agdbg-contrast", "agdbg-safe"])
def test_theme(looks, theme):
    async def script(screen):
        screen.app.theme = theme
        await findings(screen)

    assert looks(script, (120, 40), prepare=prepared)
