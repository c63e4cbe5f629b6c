"""The console on a program that others have started, or that is started anew with edited files."""

import re
import subprocess
import sys

import pytest
from agdbg_tests_console_stage import PATIENCE_S, SMALL

AGDBG = [sys.executable, "-m", "agdbg"]


@pytest.fixture
def listening(tmp_path):
    """A program that waits for its first client, and the id by which it is joined."""
    (tmp_path / "small.py").write_text(SMALL)
    command = [*AGDBG, "listen", "--no-trace", "--wait", "small.py"]
    made = subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = iter(made.stderr.readline, "")
    found = next(match for line in lines if (match := re.search(r"on this machine agdbg attach (\d\S*)", line)))
    assert next(line for line in lines if "waiting for a client" in line)
    yield made, found[1]
    made.kill()
    made.communicate()


def attach(name, *commands):
    words = [word for command in commands for word in ("-x", command)]
    command = [*AGDBG, "attach", "--batch", *words, name]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S)


def test_breakpoints_are_set_before_a_waiting_program_goes_on(listening):
    program, name = listening
    done = attach(name, "break Exp*", "continue", "wait", "where", "continue", "delete", "wait")
    told = [line for line in done.stdout.splitlines() if line.startswith("breakpoint 1:")]
    assert told[:2] == ["breakpoint 1: forward, line 6 built ExpBackward0"] * 2
    assert "wait" not in done.stderr
    assert program.communicate(timeout=PATIENCE_S)[0].startswith("grads ")


def test_a_refusal_names_the_command_once(listening):
    _, name = listening
    done = attach(name, "break Exp*", "continue", "restart", "set grad = 1")
    assert "agdbg: error: restart: the program was not started by this hub, so it cannot start it anew" in done.stderr
    assert re.search(r"^agdbg: error: set grad = 1: (?!setExpression:)", done.stderr, re.MULTILINE)
    assert done.returncode == 5


def test_an_edited_file_is_shown_as_it_is_now_after_a_restart(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SMALL)
    (tmp_path / "edit.py").write_text(f"open({str(script)!r}, 'w').write({'# new' + chr(10) + SMALL!r})\n")
    commands = ["break Exp*", "run", f"print exec(open({str(tmp_path / 'edit.py')!r}).read())", "restart", "where"]
    words = [word for command in commands for word in ("-x", command)]
    done = subprocess.run(
        [*AGDBG, "run", "--batch", "--no-trace", *words, "script.py"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    line = next(line for line in SMALL.splitlines() if ".exp()" in line).strip()
    number = next(number for number, each in enumerate(SMALL.splitlines(), 1) if ".exp()" in each)
    before, after = done.stdout.split(f"script.py:{number + 1}", 1)
    assert f"script.py:{number}  {line}" in before
    assert after.startswith(f"  {line}") and f"created in <module>  script.py:{number + 1}  {line}" in after


def batch(tmp_path, text, *commands):
    (tmp_path / "script.py").write_text(text)
    words = [word for command in commands for word in ("-x", command)]
    done = subprocess.run(
        [*AGDBG, "run", "--batch", "--no-trace", *words, "script.py"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    return done.stdout.splitlines()


IN_A_HOOK = """\
import agdbg, agdbg_engine as torch
x = torch.ones(2, requires_grad=True)
def hook(g):
    agdbg.breakpoint()
    with torch.enable_grad():
        (x.detach().requires_grad_() * 2).sum().backward()
    return g
y = x * x
y.register_hook(hook)
y.sum().backward()
"""


def test_a_stop_that_the_program_asks_for_is_at_its_own_line(tmp_path):
    assert batch(tmp_path, IN_A_HOOK, "run")[:2] == ["agdbg.breakpoint()", "  script.py:4  agdbg.breakpoint()"]


def test_the_end_of_a_nested_pass_is_at_its_call(tmp_path):
    shown = batch(tmp_path, IN_A_HOOK, "run", "step", "finish")
    end = next(number for number, line in enumerate(shown) if "is about to return" in line)
    assert shown[end + 1] == "  script.py:6  (x.detach().requires_grad_() * 2).sum().backward()"


def test_after_the_end_where_is_in_the_recording(tmp_path):
    shown = batch(tmp_path, SMALL, "run", "where")
    place = shown.index("in the recording, since the program has ended:")
    assert shown[place + 1].startswith("-> #0 ")


def test_a_stop_in_another_thread_names_it(tmp_path):
    text = """\
import threading, agdbg_engine as torch
x = torch.ones(2, requires_grad=True)
thread = threading.Thread(target=lambda: (x * x).sum().backward(), name="loader")
(x + x).sum().backward()
thread.start()
thread.join()
"""
    shown = batch(tmp_path, text, "break Add*", "break Mul* backward", "run", "continue", "continue")
    stops = [line for line in shown if "MulBackward0, node" in line]
    assert len(stops) == 1 and stops[0].startswith("thread 2 (loader): breakpoint 2: before MulBackward0")
