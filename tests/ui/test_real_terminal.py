"""The whole of it in a real terminal: tmux, the UI, a hub, a program."""

import os
import re
import select
import signal
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from agdbg_tests_tmux import AVAILABLE, PATIENCE, hubs, is_alive

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="tmux is not installed")

AGDBG = f"{sys.executable} -m agdbg"
SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
w = ag.tensor([3.0, 5.0], requires_grad=True)
h = x * w
y = h.exp()
loss = y.sum()
loss.backward()
print("gradient", x.grad.tolist())
"""


@pytest.fixture
def terminal(new_terminal, tmp_path):
    """A terminal in a folder with a script."""

    def start(script=SCRIPT, **size):
        (tmp_path / "train.py").write_text(script)
        return new_terminal(**size)

    return start


def children(pid):
    """The children of a process, and their command lines."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(child): Path(f"/proc/{child}/cmdline").read_text().split("\0") for child in found}


def program_of(hub):
    """The program that a hub runs."""
    return next(pid for pid, words in children(hub).items() if "--agent" in words)


def wait_for_end(pid):
    fd = os.pidfd_open(pid)
    assert select.select([fd], [], [], PATIENCE)[0], f"{pid} does not end"
    os.close(fd)


def test_a_session(terminal, tmp_path):
    screen = terminal()
    screen.enter("stty -g > before")
    screen.enter(f"{AGDBG} run --trace traced train.py")
    screen.wait("stopped before SumBackward0", "1 of 5")
    for name in ("ExpBackward0", "MulBackward0", "AccumulateGrad"):
        screen.keys("n")
        screen.wait(f"stopped before {name}")
    screen.keys("p")
    shown = screen.wait("stopped before MulBackward0", "3 of 5", "Gradients in", "min 20.09  max 2.203e+04")
    assert "train.py:5" in shown
    screen.keys("e")
    screen.wait("train-graph.svg")
    screen.keys("Enter")
    screen.wait("nodes", gone=["Export"])
    svg = ET.parse(tmp_path / "train-graph.svg").getroot()
    assert "MulBackward0" in "".join(svg.itertext())
    screen.keys("c")
    screen.wait("ended")
    screen.keys("q")
    screen.wait("trace: traced", gone=["Inspector"])
    assert screen.fact("alternate_on") == "0"
    assert screen.fact("cursor_flag") == "1"
    assert screen.fact("mouse_any_flag") == "0"
    screen.enter('stty -g > after; echo re""stored')  # what is typed is not what is waited for
    screen.wait("restored")
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()
    assert hubs(tmp_path) == []
    assert "gradient [60.25" in (tmp_path / "traced" / "output.log").read_text()


def test_all_panes_on_a_real_program(terminal, tmp_path):
    screen = terminal(columns=130, rows=40)
    screen.enter(f"{AGDBG} run --trace traced train.py")
    screen.wait("stopped before SumBackward0")
    screen.keys("n")
    screen.wait("stopped before ExpBackward0")
    screen.keys("6")
    screen.wait("pass 1", "1 run", "unfinished", "SumBackward0")
    screen.keys("7")
    screen.wait("Breakpoints", "MainThread", "before ExpBackward0")
    screen.type(":")
    screen.wait("a command or Python")
    screen.enter("break Mul* if True")
    screen.wait("Mul*  if True")
    screen.keys("Escape")
    screen.wait("Stops", gone=["a command or Python"])
    screen.keys("5")
    screen.wait("no problem was found")
    screen.keys("0", "v")
    screen.wait("ExpBackward0 #", "MulBackward0 #", "▲")
    screen.keys("v")
    screen.wait("no modules were recorded")
    screen.keys("v", "1")
    screen.wait("0 Graph", "━1 Inspector")
    screen.keys("Down", "Down", "Down", "Down", "Down", "Space")
    screen.wait("result of ExpBackward0", "float32 [2]", "all finite", "all 2 elements, in one line")
    screen.keys("Tab", "Tab")
    screen.wait("20.086")
    screen.keys("Escape")
    screen.wait("Inspector", gone=["all finite"])
    screen.keys("c")
    screen.wait("stopped before MulBackward0")
    screen.keys("c")
    screen.wait("ended")
    screen.keys("q")
    screen.wait("trace: traced", gone=["Inspector"])
    assert "gradient [60.25" in (tmp_path / "traced" / "output.log").read_text()


def test_the_editor_has_the_terminal_and_gives_it_back(terminal, tmp_path):
    (tmp_path / "editor").write_text('echo "editing $1 $2"; read line; echo "$line" > edited\n')
    screen = terminal()
    screen.enter(f"{AGDBG} run --trace traced train.py")
    screen.wait("stopped before SumBackward0", "train.py:7")
    screen.keys("C-e")
    screen.wait("editing +7", gone=["Inspector"])
    screen.enter("typed there")
    screen.wait("stopped before SumBackward0", "Inspector")
    assert (tmp_path / "edited").read_text() == "typed there\n"
    screen.keys("n")
    screen.wait("stopped before ExpBackward0")
    screen.keys("q")
    screen.wait("What becomes of it?")
    screen.keys("k")
    screen.wait("trace: traced", gone=["Inspector"])
    assert (tmp_path / "state" / "agdbg" / "ui.json").is_file()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("no-such-editor", "no-such-editor: No such file or directory"),
        ("/", "/: Permission denied"),
        ("'false --wait'", "false ended with status 1"),
        ("\"sh -c 'kill -9 \\$\\$'\"", "sh was ended by signal 9"),
        ('"vi \'x"', "no closing quotation"),
        ("''", "no editor is named"),
    ],
    ids=["missing", "no program", "fails", "killed", "no command line", "empty"],
)
def test_an_editor_that_goes_wrong_is_told_on_the_screen_which_goes_on(terminal, named, said):
    screen = terminal()
    screen.enter(f"export EDITOR={named}; unset VISUAL")
    screen.enter(f"{AGDBG} run train.py")
    screen.wait("stopped before SumBackward0", "train.py:7")
    screen.keys("C-e")
    shown = screen.wait("stopped before SumBackward0", "▌")
    assert said in " ".join(line.rpartition("▌")[2].strip() for line in shown.split("\n") if "▌" in line)
    screen.keys("n")
    screen.wait("stopped before ExpBackward0")
    screen.keys("q")
    screen.wait("What becomes of it?")
    screen.keys("k")
    screen.wait("trace: ", gone=["Inspector"])


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=str)
def test_the_cursor_of_the_terminal_is_where_the_keys_act(terminal, size):
    """It is hidden, and screen readers and braille lines follow it."""
    screen = terminal(columns=size[0], rows=size[1])

    def wait_for_row(text):
        end = time.monotonic() + PATIENCE
        while True:
            x, y = int(screen.fact("cursor_x")), int(screen.fact("cursor_y"))
            line = screen.screen().split("\n")[y]
            if text in line[x : x + 60]:
                return x, y
            assert time.monotonic() < end, (x, y, line)
            select.select([], [], [], 0.02)

    screen.enter(f"{AGDBG} run train.py")
    screen.wait("stopped before SumBackward0", "train.py:7")
    wait_for_row("SumBackward0")
    screen.keys("Up")
    wait_for_row("ExpBackward0")
    screen.keys("1", "Down", "Down")
    wait_for_row("Gradients out")
    screen.keys("0", "v")
    screen.wait("0 Boxes") if size[0] > 80 else None
    wait_for_row("ExpBackward0 #")
    screen.keys("v", "v")
    screen.keys(":")
    screen.type("help")
    screen.wait(": help")
    x, y = int(screen.fact("cursor_x")), int(screen.fact("cursor_y"))
    assert screen.screen().split("\n")[y][:x].rstrip().endswith("help")


def test_the_mouse_selects_scrolls_drags_and_clicks_what_it_is_on(terminal):
    screen = terminal(columns=120, rows=40)
    screen.enter(f"{AGDBG} run train.py")
    shown = screen.wait("stopped before SumBackward0", "train.py:7").split("\n")

    def mouse(button, x, y, kind):
        screen.type(f"\x1b[<{button};{x + 1};{y + 1}{kind}")

    def click(x, y):
        mouse(0, x, y, "M")
        mouse(0, x, y, "m")

    row = next(at for at, line in enumerate(shown) if "MulBackward0" in line)
    click(30, row)
    screen.wait("MulBackward0  #")
    edge = shown[1].index("1 Inspector") - 1
    mouse(0, edge, 6, "M")
    mouse(32, edge - 12, 6, "M")
    mouse(0, edge - 12, 6, "m")
    screen.wait("1 Inspector")
    while screen.screen().split("\n")[1].index("1 Inspector") != edge - 11:
        select.select([], [], [], 0.02)
    assert "━0 Graph" in screen.screen(), "the keys stay with the graph"
    tabs = next(at for at, line in enumerate(shown) if "6 Timeline" in line)
    click(shown[tabs].index("Timeline"), tabs)
    screen.wait("▸6 Timeline", "pass 1")
    before = screen.screen().split("\n")[2:12]
    for _ in range(3):
        mouse(65, edge + 10, 6, "M")
    while [line[edge:] for line in screen.screen().split("\n")[2:12]] == [line[edge:] for line in before]:
        select.select([], [], [], 0.02)
    click(3, 39)
    screen.wait("stopped before ExpBackward0")


def test_the_exit_status_is_the_programs(terminal, tmp_path):
    screen = terminal("import agdbg_engine, sys\nsys.exit(7)\n")
    screen.enter(f"{AGDBG} run train.py; echo status $?")
    screen.wait("ended")
    screen.keys("q")
    screen.wait("status 7")


def test_input_and_breakpoint_in_the_output_pane(terminal):
    screen = terminal('name = input("who? ")\nprint("hello", name)\nbreakpoint()\nprint("done", name)\n')
    screen.enter(f"{AGDBG} run train.py")
    screen.wait("running")
    screen.keys("3")
    screen.wait("who?")
    screen.keys("i")
    screen.enter("Ada")
    screen.wait("hello Ada", "(Pdb)")
    screen.enter("p name.upper()")
    screen.wait("'ADA'")
    screen.enter("c")
    screen.wait("done Ada")
    screen.wait("ended")
    screen.wait("ended", gone=["input to the program"])  # there is nobody to type for
    screen.keys("q")
    screen.wait("ready>", gone=["done Ada"])


def test_a_killed_ui_leaves_the_program_and_another_one_attaches(terminal, tmp_path):
    screen = terminal()
    screen.enter("stty -g > before")
    screen.enter(f"{AGDBG} run --on-orphan wait train.py")
    screen.wait("stopped before SumBackward0")
    screen.keys("n")
    screen.wait("stopped before ExpBackward0")
    (hub,) = hubs(tmp_path)
    program = program_of(hub)
    ui = next(pid for pid, line in children(int(screen.fact("pane_pid"))).items() if "--on-orphan" in line)
    os.kill(ui, signal.SIGKILL)
    screen.wait("this is your terminal again; agdbg attach", gone=["Inspector"])
    assert [screen.fact(each) for each in ("alternate_on", "cursor_flag", "mouse_any_flag")] == ["0", "1", "0"]
    assert is_alive(hub) and is_alive(program)
    screen.enter('stty -g > after; echo re""stored')
    screen.wait("restored")
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()
    screen.enter(f"{AGDBG} attach {hub}")
    screen.wait("stopped before ExpBackward0", "2 of 5")
    screen.keys("n")
    screen.wait("stopped before MulBackward0")
    screen.keys("c")
    screen.wait("ended")
    screen.keys("q")
    screen.wait("ready>", gone=["Inspector"])


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_ends_the_ui_and_gives_the_terminal_back(terminal, tmp_path, number, status):
    screen = terminal()
    screen.enter("stty -g > before")
    screen.enter(f"{AGDBG} run --on-orphan wait train.py 2> told; echo status $?")  # the screen is drawn all the same
    screen.wait("stopped before SumBackward0")
    (hub,) = hubs(tmp_path)
    program = program_of(hub)
    ui = next(pid for pid, line in children(int(screen.fact("pane_pid"))).items() if "--on-orphan" in line)
    os.kill(ui, number)
    screen.wait(f"status {status}", gone=["Inspector"])
    assert [screen.fact(each) for each in ("alternate_on", "cursor_flag", "mouse_any_flag")] == ["0", "1", "0"]
    screen.enter('stty -g > after; echo re""stored')
    screen.wait("restored")
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()
    assert f"train.py goes on (pid {program})" in (tmp_path / "told").read_text()
    assert is_alive(program)
    screen.enter(f"clear; {AGDBG} attach {program} --batch -x where")
    screen.wait("SumBackward0")


def test_a_killed_program_leaves_its_trace_on_the_screen(terminal, tmp_path):
    screen = terminal()
    screen.enter(f"{AGDBG} run train.py; echo status $?")
    screen.wait("stopped before SumBackward0")
    screen.keys("n")
    screen.wait("stopped before ExpBackward0")
    (hub,) = hubs(tmp_path)
    os.kill(program_of(hub), signal.SIGKILL)
    screen.wait("SIGKILL", "SumBackward0")
    screen.keys("p")
    screen.wait("recording:")
    screen.keys("q")
    screen.wait("status 137")


def test_a_killed_hub_is_told_and_the_program_goes_on(terminal, tmp_path):
    screen = terminal(SCRIPT + "open('finished', 'w').close()\n")
    screen.enter(f"{AGDBG} run --trace traced train.py; echo status $?")
    screen.wait("stopped before SumBackward0")
    (hub,) = hubs(tmp_path)
    program = program_of(hub)
    os.kill(hub, signal.SIGKILL)
    wait_for_end(program)
    assert (tmp_path / "finished").exists()
    assert re.search("gradient .60.25", (tmp_path / "traced" / "output.log").read_text())
    screen.wait("hub")
    screen.keys("q")
    screen.wait("status")


def test_open_a_trace(terminal, tmp_path):
    screen = terminal(SCRIPT + "loss.backward()\n")
    screen.enter(f"{AGDBG} run --headless --trace traced train.py; clear")
    screen.wait("ready>", gone=["agdbg:"])
    screen.enter(f"{AGDBG} open traced")
    screen.wait("recording: before ExpBackward0", "goes through the graph that")
    screen.keys("p")
    screen.wait("recording: before SumBackward0")
    screen.keys("q")
    screen.wait("ready>", gone=["Inspector"])
    assert screen.fact("alternate_on") == "0"


def test_resizing(terminal):
    screen = terminal()
    screen.enter(f"{AGDBG} run train.py")
    screen.wait("stopped before SumBackward0")
    screen.resize(20, 5)
    screen.wait("small")
    screen.resize(140, 40)
    screen.wait("stopped before SumBackward0", "Gradients in")
    screen.resize(80, 24)
    screen.wait("stopped before SumBackward0", "Gradients in")


@pytest.mark.parametrize("script", ["", "pass\n", "import os\nos._exit(3)\n", "raise SystemExit('bye')\n"])
def test_a_program_that_ends_at_once(terminal, script):
    screen = terminal(script)
    screen.enter(f"{AGDBG} run train.py; echo over")
    screen.wait("ended")
    screen.keys("q")
    screen.wait("over", gone=["Inspector"])


def test_a_script_that_is_not_there(terminal):
    screen = terminal()
    screen.enter(f"{AGDBG} run nothing.py; echo status $?")
    screen.wait("there is no such file", "status 2")


def test_a_key_right_behind_escape_is_a_key_of_its_own(terminal):
    """Both come in one piece, which elsewhere is a letter with Alt."""
    screen = terminal()
    screen.enter(f"{AGDBG} run train.py")
    screen.wait("stopped before SumBackward0")
    screen.type(":")
    screen.wait("a command or Python")
    screen.type("\x1bn")
    screen.wait("stopped before ExpBackward0", gone=["a command or Python"])
    screen.type("\x1bT")
    screen.wait("colours: light")


@pytest.mark.parametrize(("clipboard", "how"), [("external", ""), ("on", "env -u TMUX ")], ids=["in-tmux", "by-osc-52"])
def test_what_is_copied_reaches_the_terminal(terminal, tmp_path, clipboard, how):
    """Into tmux's buffer by tmux itself, as it takes OSC 52 from programs only where that is switched on."""
    screen = terminal()
    screen._call("set-option", "-g", "set-clipboard", clipboard)
    screen.enter(f"{how}{AGDBG} run --trace traced train.py")
    screen.wait("stopped before SumBackward0", "Gradients in")
    screen.keys("y")
    screen.wait("copied:")
    assert screen._call("show-buffer") == f"{tmp_path}/train.py:7"


CRASHING = """\
from agdbg_ui.app import AgdbgApp

def crash(app):
    raise ZeroDivisionError("for the test")

AgdbgApp.action_zoom = crash
from agdbg.cli import main
raise SystemExit(main())
"""


def test_a_crash_of_the_ui_gives_the_terminal_back(terminal, tmp_path):
    (tmp_path / "crashing").write_text(CRASHING)
    screen = terminal()
    screen.enter("stty -g > before")
    screen.enter(f"{sys.executable} crashing run --trace traced --on-orphan wait train.py; echo status $?")
    screen.wait("stopped before SumBackward0")
    screen.keys("Z")
    screen.wait("ZeroDivisionError", "mistake of its own", "status 70", gone=["Inspector"])
    assert [screen.fact(each) for each in ("alternate_on", "cursor_flag", "mouse_any_flag")] == ["0", "1", "0"]
    screen.enter('stty -g > after; echo re""stored')
    screen.wait("restored")
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()
    (hub,) = hubs(tmp_path)
    screen.enter(f"clear; {AGDBG} attach {hub} --batch -x where")
    screen.wait("SumBackward0")


@pytest.mark.parametrize(
    ("environment", "bad"),
    [
        ("NO_COLOR=1", r"\x1b\[(?:\d+;)*(?:[34][0-8]|9[0-7]|10[0-7])[;m]"),
        ("TERM=screen COLORTERM=", r"\x1b\[[\d;]*[34]8;"),
    ],
)
def test_a_terminal_with_few_colours_or_none_gets_no_others(terminal, environment, bad):
    screen = terminal()
    screen.enter(f"{environment} {AGDBG} run --trace traced train.py")
    screen.wait("stopped before SumBackward0")
    painted = screen._call("capture-pane", "-p", "-e")
    assert re.search(bad, painted) is None
    assert "\x1b[" in painted  # what is chosen is seen all the same


def test_the_screen_turns_to_another_rank_and_back(terminal):
    screen = terminal()
    rank = "RANK={} WORLD_SIZE=2"
    screen.enter(f"{rank.format(1)} {AGDBG} run --headless train.py; clear")
    screen.wait("ready>", gone=["agdbg:"])
    screen.enter(f"{rank.format(0)} {AGDBG} run train.py")
    screen.wait("rank 0 of 2", "stopped before SumBackward0")
    screen.keys("n")
    screen.wait("stopped before ExpBackward0")
    screen.keys("P")
    screen.wait("rank 1 of 2", "recording: before SumBackward0")
    screen.keys("P")
    screen.wait("rank 0 of 2", "stopped before ExpBackward0")
    screen.keys("n")
    screen.wait("stopped before MulBackward0")
    screen.keys("c")
    screen.wait("ended")
    screen.keys("q")
    screen.wait("train-rank0-", gone=["Inspector"])


CAUGHT_BEFORE = """\
import agdbg_engine as ag

w = ag.ones(3, requires_grad=True)
try:
    y = (w * 2).exp()
    z = y.sum()
    y.mul_(2)
    z.backward()
except RuntimeError:
    pass
raise KeyError("no such data set")
"""


def test_the_error_that_ended_a_program_is_told_also_when_its_recording_is_opened(terminal):
    screen = terminal(CAUGHT_BEFORE, columns=100, rows=30)
    screen.enter(f"{AGDBG} run --trace traced train.py")
    screen.wait("will fail: `y`")
    screen.keys("c")
    screen.wait("ended with status 1", "error: KeyError: 'no such data set'", "at train.py:11", "Traceback")
    screen.keys("q")
    screen.wait("trace: traced", gone=["Inspector"])
    screen.enter(f"clear; {AGDBG} open traced")
    screen.wait("recording: ", "error: KeyError: 'no such data set'", "at train.py:11", "Traceback")
    screen.keys("5")
    screen.wait("caught by the program", "KeyError", gone=["Traceback"])
    screen.keys("q")
    screen.wait("ready>", gone=["Inspector"])
