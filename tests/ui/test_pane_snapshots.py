"""How the panes look, narrow and wide. After a wanted change: pytest tests/ui --snapshot-update, then look at the files."""

import pytest
from textual.app import App

from agdbg_ui.spots import Spot
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.widgets.events import EventsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.source import BREAKPOINT, SourcePane

NARROW = (38, 14)
WIDE = (120, 24)
LOW = (60, 5)


class Host(App[None]):
    def __init__(self, pane):
        super().__init__()
        self.pane = pane

    def compose(self):
        yield self.pane


def entry(name, value, state=""):
    return {"name": name, "value": value, "type": "Tensor", "reference": 0, "state": state}


NODE = {
    "node": 12,
    "op": "MulBackward0",
    "row": 11,
    "file": "/home/me/train/model.py",
    "line": 14,
    "text": "    y = x * self.weight[0]",
    "state": "next",
    "sections": [
        {
            "name": "Gradients in",
            "entries": [entry("grad 0", "float64 [3, 4]  min -1.2  max 3.4  mean 0.1  norm 5.6") | {"reference": 7}],
        },
        {"name": "Gradients out", "entries": []},
        {
            "name": "Saved tensors",
            "entries": [
                entry(
                    "self",
                    "modified: written by mul_ at model.py:9, version 0 saved, 1 now  float64 [3, 4]",
                    "modified",
                ),
                entry("other", "float64 [4]  version 0 saved, 0 now", "ok"),
                entry("result", "freed by pass 1, backward at train.py:31  float64 [3, 4]", "freed"),
                entry("mask", "not a tensor", "empty"),
            ],
        },
        {
            "name": "Next edges",
            "entries": [entry("0", "AddBackward0 #11, input 0"), entry("1", "AccumulateGrad #3 (1.weight)")],
        },
        {"name": "Hooks", "entries": [entry("tensor pre-hook", "clip at /home/me/train/model.py:99")]},
        {"name": "Node", "entries": [entry("thread", "MainThread"), entry("evil\x1b[31m", "\u202e[red] 漢字\n" * 20)]},
    ],
}

SOURCE = '''"""A model."""

import agdbg_engine as ag


class Net:
    """Two layers\x00, one of which is \x1b[31mred."""

    def forward(self, x):
        h = (x @ self.weight_1 + self.bias_1).relu()  # a comment that says a lot about this very long line
        return h @ self.weight_2 * 0.5


net = Net()
loss = net.forward(ag.ones(3, 漢字="漢字")).sum()
loss.backward()
if loss.item() is not None:
\tprint(f"loss {loss.item():.3f}", 'done')
'''

OUTPUT = (
    "".join(f"epoch {n}\tloss \x1b[32m{1 / (n + 1):.4f}\x1b[0m\r\n" for n in range(30))
    + "  0%|     |\r 50%|##   |\r100%|#####|\r\n"
    + "\x1b[1;38;5;208morange\x1b[0m \x1b]0;title\x07plain \x1b[41mred 漢字\x1b[0m \x1b[2mdim\x1b[0m\r\n"
    + "a long line that is wrapped where the pane ends, as on a terminal of this width, wherever that may be\r\n(Pdb) "
)


def inspector(app):
    app.pane.show(NODE)


def source(app):
    app.pane.show(
        Spot("/home/me/train/model.py", 10, column=14, end_line=10, end_column=50),
        SOURCE,
        {9: BREAKPOINT, 10: BREAKPOINT, 16: "backward() called here"},
    )


def missing(app):
    app.pane.show(Spot("/gone/model.py", 14, "y = x * self.weight[0]"), None, {14: BREAKPOINT})


def output(app):
    app.pane.set_log_path("/home/me/train/.agdbg/2025/output.log")
    app.pane.feed(OUTPUT)


def typing(app):
    output(app)
    app.pane.enter_input_mode()


def events(app):
    kinds = ["pass started", "version bump", "error", "hook fired"]
    made = [
        {"index": n, "time_ns": n * 123_456_789, "timed": True, "kind": kinds[n % 4], "text": f"number {n}, \x1b" + " so to say" * n, "node": 3, "file": "/a/train.py", "line": n}
        for n in range(10)
    ]  # fmt: skip
    app.pane.set_total(12)
    app.pane.set_events(0, made)


def error(app):
    app.pane.show(
        "error",
        "backward() a second time: the graph of this loss was freed by the first pass, train.py:31",
        "RuntimeError: Trying to backward through the graph a second time",
    )


def ahead(app):
    app.pane.show(
        "predicted",
        "`loss.backward()` at line 38 freed the graph of `features`, which `image_loss.backward()` needs as well.",
        "before MseLossBackward0, node 1 of 15 of backward()",
    )


def stop(app):
    app.pane.show("stop", "breakpoint 1, before MulBackward0, 3 of 12", "")


@pytest.mark.parametrize("size", [NARROW, WIDE, LOW], ids=["narrow", "wide", "low"])
@pytest.mark.parametrize(
    ("pane", "fill"),
    [
        (Inspector, inspector),
        (SourcePane, source),
        (SourcePane, missing),
        (OutputPane, output),
        (OutputPane, typing),
        (EventsPane, events),
        (Banner, error),
        (Banner, ahead),
        (Banner, stop),
    ],
)
def test_pane(snap_compare, pane, fill, size):
    async def run_before(pilot):
        await pilot.pause()
        pilot.app.pane.focus()
        await pilot.pause()  # the focus comes in a later turn of the loop
        fill(pilot.app)
        await pilot.pause()

    assert snap_compare(Host(pane()), terminal_size=size, run_before=run_before)


@pytest.mark.parametrize("pane", [Inspector, SourcePane, OutputPane, EventsPane])
def test_empty_pane(snap_compare, pane):
    assert snap_compare(Host(pane()), terminal_size=(38, 5))
