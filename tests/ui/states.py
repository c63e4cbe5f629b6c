"""All that the screen can show: one table of states by name, each with how to get there from a program that has just begun."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from agdbg_tests_fake_hub import SCRIPT
from textual.widget import Widget

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.panes import Workspace
from agdbg_ui.screens.export import ExportScreen
from agdbg_ui.screens.filters import FiltersScreen
from agdbg_ui.screens.help import HelpScreen
from agdbg_ui.screens.page import Page
from agdbg_ui.screens.palette import Palette
from agdbg_ui.screens.question import Question
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.widgets.boxes import Boxes
from agdbg_ui.widgets.events import EventsPane
from agdbg_ui.widgets.findings import FindingsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.key_line import KeyLine
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.output_lines import OutputLines
from agdbg_ui.widgets.program_input import ProgramInput
from agdbg_ui.widgets.prompt import Prompt
from agdbg_ui.widgets.source import SourcePane
from agdbg_ui.widgets.stops import StopsPane
from agdbg_ui.widgets.timeline import TimelinePane
from agdbg_ui.widgets.title_line import TitleLine
from agdbg_ui.widgets.transcript import Transcript
from agdbg_ui.widgets.tree import TreeView

EXPLANATION = """\
`loss.backward()` at train.py:11 freed what `error * error` at train.py:10 had saved, before it was needed again.
backward-twice, certain

created      train.py:10 in <module>
                 loss = (error * error).mean() + 0.01 * (hidden * hidden).mean()
                         ^^^^^^^^^^^^^
fix          Pass retain_graph=True to the first call."""


@dataclass
class State:
    """How to get to what is shown.

    `shows` are the classes of screens and widgets that are then seen, `prepare` changes the made-up hub before the app has
    connected, `how` are arguments of the app and the hub, and `environment` are variables of the terminal.
    """

    script: Callable[[Any], Awaitable[None]]
    shows: tuple[type[Widget], ...] = ()
    prepare: Callable[[Any], None] = lambda hub: None
    how: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


STATES: dict[str, State] = {}


def state(script=None, **more):
    """Put a function into the table, under its name."""

    def put(script):
        STATES[script.__name__] = State(script, **more)
        return script

    return put if script is None else put(script)


# ----- hubs -----


def no_nodes(hub):
    hub.size = 0


def evidence(role, line, text, note=""):
    place = {"file": SCRIPT, "line": line, "end_line": line, "col": 0, "end_col": 0, "func": "f"}
    return {"role": role, "note": note, "text": text, **place}


def found(hub):
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


RECORDING = {"state": "trace", "command": "attach", "arguments": {"trace": "/srv/t"}}

# ----- how the program is -----


@state
async def running(screen):
    pass


@state(prepare=no_nodes)
async def running_without_autograd(screen):
    pass


@state(prepare=no_nodes)
async def starting(screen):
    screen.app.session._set(life="starting")
    await screen.settle()


@state
async def pausing(screen):
    screen.app.session._say_pausing()
    await screen.settle()


@state
async def waiting_for_input(screen):
    screen.hub.awaits_input = True
    screen.hub.send("output", category="stdout", output="learning rate? ")
    screen.app._tick()
    await screen.until(lambda: "waits for input" in screen.text)


@state(shows=(Workspace, TitleLine, Lanes, KeyLine))
async def first_stop(screen):
    await screen.stop(11)


@state
async def stopped(screen):
    screen.hub.send("output", category="stdout", output="epoch 1  loss 0.53\nepoch 2  loss \x1b[32m0.41\x1b[0m\n")
    await screen.until(lambda: "epoch 2  loss 0.41" in screen.app.output.lines)
    await screen.stop(6)


@state
async def inside_a_node(screen):
    screen.hub.phase = "apply"
    await screen.stop(6)


@state
async def several_threads(screen):
    await stopped(screen)
    screen.hub.send(
        "stopped", reason="step", threadId=2, description="before MeanBackward0, node 5 of 12 of backward()"
    )
    await screen.until(lambda: len(screen.app.session.view.stopped) == 2)


@state
async def watching(screen):
    """Another client moves the program."""
    screen.hub.holder = "agdbg on pts/3"
    await stopped(screen)
    await screen.until(lambda: "watching (C)" in screen.title)


@state
async def in_control(screen):
    await watching(screen)
    await screen.press("C")
    await screen.until(lambda: "in control" in screen.title and "agdbg on pts/3 was told" in screen.text)


@state
async def control_is_lost(screen):
    await stopped(screen)
    screen.hub.take_away()
    await screen.until(lambda: "watching (C)" in screen.title and "C takes it back" in screen.text)


@state
async def evaluating(screen):
    await stopped(screen)
    screen.hub.held["evaluate"] = asyncio.Event()
    await screen.press("colon", *"slow()", "enter")
    await screen.until(lambda: "evaluating" in screen.title)


@state(shows=(Banner,))
async def stopped_at_an_error(screen):
    cause = EXPLANATION.partition("\n")[0]
    screen.hub.exception = {"exceptionId": "twice", "description": cause, "details": {"message": EXPLANATION}}
    await screen.stop(11, reason="exception", text="RuntimeError: Trying to backward through the graph a second time")
    await screen.until(lambda: "backward()` at train.py:11" in screen.text)


@state
async def finished(screen):
    await stopped(screen)
    screen.hub.end(0)
    await screen.until(lambda: "ended with status 0" in screen.title)


@state(prepare=found)
async def ended_with_an_error(screen):
    await stopped(screen)
    screen.hub.end(1)
    await screen.until(lambda: "ended with status 1" in screen.title)
    await screen.until(lambda: "changed what" in screen.text)


@state(prepare=no_nodes)
async def ended_without_autograd(screen):
    screen.hub.end(1)
    await screen.until(lambda: "ended with status 1" in screen.title)


@state
async def killed(screen):
    await stopped(screen)
    screen.hub.end(None, "SIGKILL")
    await screen.until(lambda: "SIGKILL" in screen.title)


@state(how=RECORDING)
async def recording(screen):
    screen.app.action_step("next")
    await screen.until(lambda: "recording: before" in screen.title)


@state
async def hub_lost(screen):
    await stopped(screen)
    screen.hub.die("the hub is gone; the program runs on, and its output goes to output.log")
    await screen.until(lambda: "connection to the hub is gone" in screen.title)


# ----- the graph -----


@state(how={"nodes": 1000})
async def scrolled_away(screen):
    await screen.stop(500)
    await screen.press("home")


@state
async def marked(screen):
    await stopped(screen)
    await screen.press("m", "up", "up", "m")
    await screen.until(lambda: len(screen.app.lanes.marked) == 3)


@state
async def folded(screen):
    await stopped(screen)
    await screen.press("{", "home", "right")
    await screen.until(lambda: screen.app.lanes.row_count == 6 and screen.app.lanes.selected is not None)
    screen.app.clear_notifications()


@state
async def breakpoint_on_a_line(screen):
    await stopped(screen)
    await screen.press("up", "b")
    await screen.until(lambda: (screen.app.lanes.selected or {}).get("breakpoint"))
    stops = screen.app.panes.stops
    await screen.until(lambda: not stops.size.width or "train.py:9" in str(stops.items))
    screen.app.clear_notifications()


@state(shows=(Boxes,))
async def boxes(screen):
    await stopped(screen)
    await screen.press("v")
    await screen.until(lambda: "#7" in screen.text)


@state
async def boxes_by_modules(screen):
    await boxes(screen)
    await screen.press("space")
    await screen.until(lambda: screen.hub.asked("agdbg/neighbourhood")[-1].get("depth"))


@state(prepare=no_nodes)
async def boxes_empty(screen):
    await screen.press("v")


@state(shows=(TreeView,))
async def modules(screen):
    await stopped(screen)
    await screen.press("v", "v")
    await screen.until(lambda: "Sequential" in screen.text)
    await screen.press("down")


# ----- panes -----


@state(shows=(Inspector,))
async def inspector(screen):
    await stopped(screen)
    await screen.press("1", "down", "down", "down", "down")


@state(shows=(SourcePane,))
async def source(screen):
    await stopped(screen)
    await screen.press("2")


@state(shows=(OutputPane, OutputLines))
async def output(screen):
    await stopped(screen)
    await screen.press("3")


@state(shows=(ProgramInput,))
async def input_mode(screen):
    await stopped(screen)
    await screen.press("i", *"a line")


@state(shows=(EventsPane,))
async def events(screen):
    await stopped(screen)
    await screen.press("4")


@state(shows=(FindingsPane,), prepare=found)
async def findings(screen):
    await stopped(screen)
    await screen.press("5")
    await screen.until(lambda: screen.app.panes.findings.findings)
    await screen.press("down", "down", "down")


@state
async def findings_none(screen):
    await stopped(screen)
    await screen.press("5")


@state
async def timeline(screen):
    await stopped(screen)
    await screen.press("6")
    await screen.until(lambda: "pass 2" in screen.text)
    await screen.press("left")
    await screen.until(lambda: "12 runs" in screen.text)
    await screen.press("down", "down")


@state(shows=(TimelinePane,))
async def layers(screen):
    await timeline(screen)
    await screen.press("l")


@state(shows=(StopsPane,))
async def stops(screen):
    await stopped(screen)
    await screen.press("B")
    screen.app.prompt.line.value = "Mul*"
    await screen.press("enter", "escape", "up", "b", "7")
    await screen.until(lambda: all(each in str(screen.app.panes.stops.items) for each in ("train.py:9", "Mul*")))
    await screen.press("home", "down")
    screen.app.clear_notifications()


def three_ranks(hub):
    """This one is the first; the second runs, and of the third there is a recording."""
    hub.rank = "rank 0 of 3"
    hub.processes = [
        {
            "rank": rank,
            "world": 3,
            "pid": pid,
            "stopped": pid == 4243,
            "argv": [SCRIPT],
            "trace": f"/t/{rank}",
            "address": "",
            "isHere": not rank,
        }
        for rank, pid in enumerate((4242, 4243, None))
    ]


@state(shows=(StopsPane,), prepare=three_ranks)
async def ranks(screen):
    await stopped(screen)
    await screen.press("7")
    await screen.until(lambda: "rank 2" in str(screen.app.panes.stops.items))
    await screen.press("end", "pageup")


@state(shows=(Transcript,))
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


@state
async def zoomed(screen):
    await stopped(screen)
    await screen.press("1", "Z")


# ----- the line that is typed -----


@state
async def search(screen):
    await stopped(screen)
    await screen.press("slash", *"mean", "enter")
    await screen.until(lambda: "row 8 of 12" in screen.text)


@state
async def search_is_typed(screen):
    await stopped(screen)
    await screen.press("slash", *"mea")


@state(shows=(Prompt,))
async def prompt_empty(screen):
    await stopped(screen)
    await screen.press("colon")


@state
async def evaluated(screen):
    await stopped(screen)
    await screen.press("colon", *"loss.item()", "enter")


@state
async def evaluated_wrong(screen):
    await stopped(screen)
    await screen.press("colon", *"boom", "enter")
    await screen.until(lambda: "NameError" in screen.text)


@state
async def break_on_a_name(screen):
    await stopped(screen)
    await screen.press("B")


@state
async def gradient_is_replaced(screen):
    await stopped(screen)
    await screen.press("1", "down", "enter", *"g*2")


# ----- what lies over the screen -----


@state(shows=(HelpScreen,))
async def help_page(screen):
    await stopped(screen)
    await screen.press("question_mark")


@state(shows=(Page,))
async def explanation(screen):
    await stopped_at_an_error(screen)
    await screen.press("x")


@state(shows=(FiltersScreen,))
async def filters(screen):
    await stopped(screen)
    await screen.press("E", "space")


@state(shows=(Palette,))
async def palette(screen):
    await stopped(screen)
    await screen.press("ctrl+p")
    await screen.until(lambda: "view inspector" in screen.text or "next  (n)" in screen.text)


@state(shows=(Question,))
async def quit_question(screen):
    await stopped(screen)
    await screen.press("q")


@state
async def barrier_question(screen):
    await stopped(screen)
    screen.hub.refuse["stepBack"] = barrier()
    await screen.press("p")
    await screen.until(lambda: "what they did is not taken back" in screen.text)


def barrier():
    """What the hub says to a step back across a node with hooks."""
    details = {"id": 1, "format": "{text}", "variables": {"text": "hooks", "code": "barrier"}}
    return RequestFailed("MulBackward0 has user hooks: what they did is not taken back", "stepBack", {"error": details})


@state(shows=(ExportScreen,))
async def export(screen):
    await stopped(screen)
    await screen.press("e")


# ----- what takes long, and notes -----


@state
async def working(screen):
    await stopped(screen)
    screen.hub.send("progressStart", progressId="1", title="Writing the graph", cancellable=True)
    screen.hub.send("progressUpdate", progressId="1", message="laying out", percentage=40.0)
    await screen.until(lambda: "laying out 40%" in screen.text)


@state
async def cancelled(screen):
    await working(screen)
    await screen.press("escape")
    await screen.until(lambda: "laying out" not in screen.text)


def unread(hub):
    """A recording of which no row has come yet."""
    hub.held["agdbg/rows"] = asyncio.Event()


@state(prepare=unread, how=RECORDING)
async def reading_a_recording(screen):
    screen.hub.send("progressStart", progressId="1", title="Reading the trace", cancellable=True)
    screen.hub.send("progressUpdate", progressId="1", message="records", percentage=70.0)
    await screen.until(lambda: "70%" in screen.text)


@state
async def refused(screen):
    await stopped(screen)
    screen.app.say("cannot write: no space left", "error")
    screen.app.say("breakpoint at train.py:9 set")


# ----- colours -----


def in_theme(name):
    async def script(screen):
        screen.app.theme = name
        await findings(screen)

    return script


for _name, _theme in {
    "light": "textual-light",
    "contrast": "agdbg-contrast",
    "safe": "agdbg-safe",
    "sixteen": "agdbg-16",
}.items():
    STATES[f"theme_{_name}"] = State(in_theme(_theme), prepare=found)
STATES["no_color"] = State(findings, prepare=found, environment={"NO_COLOR": "1"})
