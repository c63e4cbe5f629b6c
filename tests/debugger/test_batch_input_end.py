"""The end of a batch's standard input is the end of the program's, whatever mode the program reads its terminal in."""

import subprocess
import sys

import pytest
from agdbg_tests_console_stage import PATIENCE_S

ENGINE = "import agdbg_engine as torch\nx = torch.ones(2, requires_grad=True)\n"


@pytest.fixture
def batch(tmp_path):
    """Runs a program in a batch; the result has its status and output."""

    def run(text, *commands, stdin=""):
        (tmp_path / "script.py").write_text(text)
        words = [word for command in commands for word in ("-x", command)]
        return subprocess.run(
            [sys.executable, "-m", "agdbg", "run", "--batch", "--no-trace", *words, "script.py"],
            cwd=tmp_path, input=stdin, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip

    return run


def test_pdb_finds_the_end(batch):
    done = batch(ENGINE + "breakpoint()\n(x * x).sum().backward()\n", "break Mul*", "run")
    assert (done.returncode, "bdb.BdbQuit" in done.stdout) == (1, True)


def test_pdb_in_a_function_finds_the_end(batch):
    text = ENGINE + "y = x * x\ny.register_hook(lambda g: g * 2)\ny.sum().backward()\nprint(x.grad.tolist())\n"
    done = batch(text, "start", "next", "pdb", "where")
    assert (done.returncode, "[4.0, 4.0]" in done.stdout) == (0, True)


def test_a_condition_that_reads_finds_the_end(batch):
    done = batch(ENGINE + "(x * x).sum().backward()\nprint(x.grad.tolist())\n", "break Mul* if breakpoint()", "run")
    assert (done.returncode, "[2.0, 2.0]" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("stdin", "got"), [("", "end"), ("abc\n", "'abc' end"), ("abc", "'abc' end"), ("a\nb\n", "'a' 'b' end")]
)
def test_readline_finds_what_was_typed_and_then_the_end(batch, stdin, got):
    text = "import agdbg_engine, readline\ntry:\n    while True: print('got', repr(input()))\nexcept EOFError: print('got end')\n"
    done = batch(text, "run", stdin=stdin)
    assert [word for line in done.stdout.splitlines() for word in line.split()[1:] if "got" in line] == got.split()


def test_the_end_is_there_for_every_read_of_lines_and_after_a_restart(batch):
    text = """\
import agdbg_engine, code, sys
code.interact(banner="")
ends = 0
for _ in range(70):
    ends += sys.stdin.readline() == ""
print("ends", ends)
"""
    done = batch(text, "run", "restart")
    assert done.stdout.count("ends 70") == 2


@pytest.mark.parametrize(
    ("text", "status", "told"),
    [
        ("import agdbg_engine\ninput('say: ')\n", 5, "EOFError"),
        (
            ENGINE + "y = x * x\ny.register_hook(lambda g: g * 2)\ny.sum().backward()\nprint(x.grad.tolist())\n",
            0,
            "[4.0, 4.0]",
        ),
    ],
)
def test_commands_from_standard_input_leave_none_for_the_program(tmp_path, text, status, told):
    (tmp_path / "script.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "agdbg", "run", "--batch", "--no-trace", "-X", "-", "script.py"],
        cwd=tmp_path, input="start\nnext\npdb\nwhere\n", capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert (done.returncode, told in done.stdout) == (status, True)


def test_a_command_of_standard_input_is_done_before_the_next_one_is_written(tmp_path):
    (tmp_path / "script.py").write_text(ENGINE + "y = x * x\ny.sum().backward()\nprint(x.grad.tolist())\n")
    command = [sys.executable, "-m", "agdbg", "run", "--batch", "--no-trace", "-X", "-", "script.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as batch:
        for line, place in (("start", "before SumBackward0"), ("next", "before MulBackward0")):
            batch.stdin.write(f"{line}\n")
            batch.stdin.flush()
            assert place in next(
                each for each in batch.stdout if each.startswith("before")
            )  # and standard input is open
        rest, _ = batch.communicate(timeout=PATIENCE_S)
    assert batch.returncode == 0 and "[2.0, 2.0]" in rest
