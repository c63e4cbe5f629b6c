"""``--batch``: scripted sessions on the command line, of programs, traces and programs that run."""

import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from agdbg_tests_console_stage import PATIENCE_S, SMALL

AGDBG = [sys.executable, "-m", "agdbg"]
PRINTED = "grads [60.25661087036133, 110132.3359375] [20.08553695678711, 44052.93359375]"


@pytest.fixture
def batch(tmp_path):
    """Runs ``agdbg`` in a directory with script.py; the result has its status, output and errors."""

    def run(*words, text=SMALL, stdin="", **more):
        (tmp_path / "script.py").write_text(text)
        return subprocess.run(
            [*AGDBG, *words], cwd=tmp_path, input=stdin, capture_output=True, text=True, timeout=2 * PATIENCE_S, **more
        )

    return run


def commands(*lines):
    return [word for line in lines for word in ("-x", line)]


def test_a_session_as_in_gdb(batch):
    done = batch("run", "--batch", *commands("break MulBackward0", "continue", "where", "explain"), "script.py")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[:3] == [
        "1  MulBackward0",
        "breakpoint 1: forward, line 5 built MulBackward0",
        "  script.py:5  h = x * w",
    ]
    assert lines[3] == "-> #0  MulBackward0, just built  script.py:5  h = x * w"
    assert lines[-1] == PRINTED
    assert done.stderr.splitlines()[0] == (
        "agdbg: the commands are done; breakpoints are dropped, and the program goes on to its end"
    )
    assert done.stderr.splitlines()[1].startswith("agdbg: trace: .agdbg/script-")


def test_json_has_one_object_a_command_and_the_program_prints_on_standard_error(batch):
    done = batch("run", "--batch", "--json", *commands("start", "next", "nxt", "p grad"), "script.py")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["command"], each["ok"]) for each in answers] == [
        ("start", True), ("next", True), ("nxt", False), ("p grad", True),
    ]  # fmt: skip
    assert answers[1]["value"]["stop"]["description"].startswith("before ExpBackward0")
    assert answers[2]["error"] == "there is no command 'nxt', did you mean next?; help lists them"
    assert answers[3]["value"] == {"result": answers[3]["text"], "type": "Tensor"}
    assert PRINTED in done.stderr
    assert done.returncode == 5


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("", 0),
        ("import sys\nsys.exit(3)\n", 3),
        ("1 / 0\n", 1),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", 137),
    ],
)
def test_the_status_is_the_programs(batch, end, status):
    done = batch("run", "--batch", "--no-trace", "-x", "start", "script.py", text=SMALL + end)
    assert done.returncode == status
    assert PRINTED in done.stdout


@pytest.mark.parametrize(
    ("call", "end"),
    [
        ("_exit(9)", "the program has ended with exit status 9"),
        ("kill(__import__('os').getpid(), 9)", "the program was ended by SIGKILL"),
    ],
)
def test_a_command_that_ends_the_program_says_how(batch, call, end):
    command = f"p __import__('os').{call}"
    done = batch("run", "--batch", "--no-trace", *commands("start", command), "script.py")
    assert (done.returncode, done.stderr) == (5, f"agdbg: error: {command}: {end}\n")


@pytest.mark.parametrize("words", [[], ["-x", "c"], ["-x", "c", "-x", "run"]])
def test_a_program_that_cannot_be_started_is_told_once_for_each_command(batch, words):
    done = batch("run", "--batch", *words, "absent.py")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("there is no such file in") == max(1, len(words) // 2)


def test_a_syntax_error_leaves_no_recording(batch):
    done = batch("run", "--batch", *commands("c", "where"), "script.py", text="x = (\n")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-2:] == [
        "the program has ended with exit status 1; nothing was recorded",
        "the program has ended, and no node that ran was recorded",
    ]


def test_where_no_node_ran_no_gradient_can_be_replaced(batch):
    done = batch("run", "--batch", *commands("c", "set grads[0] = 1"), "script.py", text="print(1)\n")
    assert "grads[0] cannot be replaced: the program has ended, and no node that ran was recorded" in done.stderr


@pytest.mark.parametrize("words", [[], ["-x", "quit"], ["-x", "start"]])
def test_a_trace_that_goes_elsewhere_says_why(batch, tmp_path, words):
    (tmp_path / ".agdbg").write_text("in the way")
    (tmp_path / "elsewhere").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "elsewhere")}
    done = batch("run", "--batch", *words, "script.py", env=environment)
    assert done.returncode == 0
    told = f"cannot write to {tmp_path / '.agdbg'} (Not a directory): the trace goes to"
    assert (done.stdout.count(told), done.stderr.count(f"agdbg: {told}")) == (0, 1)


def test_a_program_that_no_command_starts_runs_all_the_same(batch):
    done = batch("run", "--batch", "--no-trace", "-x", "log mul built {node.op_name}", "script.py", "more")
    assert (done.returncode, PRINTED in done.stdout) == (0, True)


def test_files_of_commands_in_their_place(batch, tmp_path):
    (tmp_path / "first.txt").write_text("# where it begins\nstart\n\n  next 2\n")
    done = batch(
        "run", "--batch", "-X", "first.txt", "-x", "grads", "-X", "-", "script.py", stdin="skip\nquit\nnonsense\n"
    )
    assert done.returncode == 0, done.stderr
    assert "before MulBackward0, node 3 of 5" in done.stdout
    assert "grads [0.0, 0.0] [0.0, 0.0]" in done.stdout


def test_the_programs_input_is_ours(batch):
    text = "import sys\nprint(repr(input()))\nprint(repr(sys.stdin.read()))\ntry:\n    input()\nexcept EOFError:\n    print('the end')\n"
    done = batch("run", "--batch", "--no-trace", "-x", "run", "script.py", text=text, stdin="one\ntwo\nthree")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "'one'",
        "'two\\nthree'",
        "the end",
        "the program has ended with exit status 0; nothing was recorded",
    ]


def test_pdb_reads_the_programs_input(batch):
    text = SMALL.replace(
        "loss.backward()", "def hook(g):\n    seen = g * 1\n    return seen\nh.register_hook(hook)\nloss.backward()"
    )
    done = batch(
        "run",
        "--batch",
        "--no-trace",
        *commands("start", "next 2", "pdb"),
        "script.py",
        text=text,
        stdin="n\np list(seen.shape)\nc\n",
    )
    assert done.returncode == 0, done.stderr
    assert "-> return seen" in done.stdout and "(Pdb) [2]" in done.stdout.replace(
        "(Pdb) p list(seen.shape)\n", "(Pdb) "
    )
    assert "before AccumulateGrad, node 4 of 5" in done.stdout


def test_all_that_a_program_prints_is_there(batch):
    text = "for i in range(30_000):\n    print('line', i)\nprint('caf\\u00e9', end='')\n"
    done = batch("run", "--batch", "--no-trace", "-x", "run", "script.py", text=text)
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("line")] == [f"line {i}" for i in range(30_000)]
    assert lines[-1].endswith("caf\u00e9") or "caf\u00e9" in lines[-2:]


def test_a_trace(batch):
    made = batch("run", "--headless", "--trace", "trace", "script.py")
    assert made.returncode == 0
    done = batch("open", "trace", "--batch", *commands("where", "next", "events", "goto 0", "findings"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "in the recording: ExpBackward0, node 2 of 5" in done.stdout
    assert done.stdout.splitlines()[-1] == "nothing was found"
    refused = batch("open", "trace", "--batch", "--json", "-x", "skip")
    assert refused.returncode == 5
    assert "this is a trace" in json.loads(refused.stdout)["error"]


def test_a_damaged_trace_is_told(batch, tmp_path):
    """Answers about what is left look like those about a whole one."""
    assert batch("run", "--headless", "--trace", "trace", "script.py").returncode == 0
    records = tmp_path / "trace" / "records.bin"
    records.write_bytes(records.read_bytes()[:700])
    done = batch("open", "trace", "--batch", "-x", "findings")
    assert done.returncode == 0
    assert "agdbg: trace is damaged: records.bin: the last record is cut after 60 bytes" in done.stderr


def test_a_program_that_runs(console_stage, batch):
    console = console_stage.console(SMALL)
    console.do("start", "next")
    hub = os.path.basename(os.path.dirname(console.client._address))
    done = batch("attach", hub, "--batch", *commands("where", "info threads", "next"))
    assert "-> #0  ExpBackward0, 2 of 5" in done.stdout
    assert done.returncode == 5  # another client has control
    assert "has control" in done.stderr
    taken = batch("attach", hub, "--batch", *commands("control take", "next"))
    assert (taken.returncode, "before MulBackward0" in taken.stdout) == (0, True)
    assert "the program is left to its other clients" in taken.stderr
    console.settle()
    assert console.grads() in PRINTED


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "-x", "next", "script.py"], "-x is for --batch, which is missing"),
        (["open", "nothing", "--batch"], "nothing"),
        (["run", "--batch", "-X", "missing.txt", "script.py"], "-X missing.txt: cannot be read"),
        (["run", "--batch", "-x", "run", "missing.py"], "there is no such file"),
        (["run", "--batch"], "nothing to run"),
        (["attach", "/nowhere/client.sock", "--batch"], "/nowhere/client.sock"),
        (["attach", "--port", "1", "--token", "x", "--batch"], "127.0.0.1:1"),
    ],
)
def test_bad_input(batch, words, message):
    done = batch(*words)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_batch_that_is_ended_ends_its_program(batch, tmp_path, number):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    text = f"import os, time\nwith open({str(gate)!r}, 'w') as f:\n    f.write(str(os.getpid()))\nwhile True:\n    time.sleep(60)\n"
    (tmp_path / "script.py").write_text(text)
    ours = subprocess.Popen(
        [*AGDBG, "run", "--batch", "--no-trace", "-x", "run", "script.py"], cwd=tmp_path, stdin=subprocess.DEVNULL
    )
    program = int(gate.read_text())
    watched = os.pidfd_open(program)
    ours.send_signal(number)
    assert ours.wait(PATIENCE_S) == -number

    assert select.select([watched], [], [], PATIENCE_S)[0]
    os.close(watched)


def test_the_session_on_the_page_is_a_real_one(batch, tmp_path):
    page = (Path(__file__).resolve().parents[2] / "docs" / "console.md").read_text("utf-8")
    script, command, shown = re.search(
        r"```python\n(.*?)```\n\n```text\n\$ agdbg (.*?)\n(.*?)```", page, re.DOTALL
    ).groups()
    (tmp_path / "train.py").write_text(script)
    done = batch(*shlex.split(command))
    assert (done.returncode, done.stdout) == (0, shown)


def test_a_hub_that_dies_is_told(batch, tmp_path):
    from agdbg.hub.place import running

    gate, end = tmp_path / "gate", tmp_path / "end"
    os.mkfifo(gate)
    os.mkfifo(end)
    text = f"import os\nwith open({str(gate)!r}, 'w') as f:\n    f.write(str(os.getpid()))\nopen({str(end)!r}).read()\n"
    (tmp_path / "script.py").write_text(text)
    ours = subprocess.Popen(
        [*AGDBG, "run", "--batch", "-x", "run", "script.py"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    program = os.pidfd_open(int(gate.read_text()))
    [hub] = [each for each in running() if each.cwd == str(tmp_path)]
    os.kill(hub.pid, signal.SIGKILL)
    _, said = ours.communicate(timeout=PATIENCE_S)
    assert ours.returncode == 70
    assert "the program, if there is one, goes on without a debugger" in said
    assert "mistake in agdbg" not in said
    end.write_text("")  # the program has waited for that
    assert select.select([program], [], [], PATIENCE_S)[0]
    os.close(program)
