"""The command line itself: help, what it costs to start, and what it answers to bad input."""

import json
import os
import signal
import subprocess
import sys

import pytest

from agdbg import cli

TWICE = """\
import agdbg_engine as torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (x * x).sum()
loss.backward()
loss.backward()
"""
HELP = {
    (): ["run", "explain", "export", "trace", "debugger for automatic differentiation", "Exit status"],
    ("run",): ["SCRIPT", "-m MODULE", "--trace DIR", "--no-trace", "--headless"],
    ("explain",): ["TRACE", "--json"],
    ("export",): ["SCRIPT", "TRACE", "-o FILE", "--pass", "--full", "--format", "--json", "-- ARG"],
    ("trace",): ["info"],
    ("trace", "info"): ["TRACE", "--json"],
}
# arguments: what must be in the one line that tells about it
BAD = {
    ("run",): ["nothing to run", "agdbg run SCRIPT"],
    ("run", "--trace", "t"): ["nothing to run"],
    ("run", "-m"): ["nothing to run", "-m MODULE"],
    ("run", "--trace", "file", "script.py"): ["--trace file", "name a directory"],
    ("run", "--trace", "file/t", "script.py"): ["--trace file/t", "name another"],
    ("run", "--trace", "used", "script.py"): ["--trace used", "there is a trace in it", "remove it"],
    ("run", "--trace", "", "script.py"): ["--trace", "empty", "name a directory"],
    ("run", "--trace", "folder", "script.py"): ["--trace folder", "other files", "empty directory"],
    ("export", "script.py", "-o", "g.svg", "--trace", ""): ["--trace", "empty", "name a directory"],
    ("explain", "none"): ["none does not exist"],
    ("explain", "file"): ["file is a file"],
    ("open", "none"): ["none does not exist"],
    ("explain", "."): [". is not a trace", "it holds traces, of which the newest is used"],
    ("export", ".", "-o", "g.svg"): ["neither a trace", "it holds traces, of which the newest is used"],
    ("explain", "folder"): ["folder is not a trace", "records.bin"],
    ("explain", "foreign"): ["foreign", "records.bin"],
    ("explain", "newer"): ["newer", "version"],
    ("explain", ""): ["not a trace"],
    ("trace", "info", "none"): ["none does not exist"],
    ("trace", "info", "foreign"): ["foreign", "records.bin"],
    ("export", "none", "-o", "g.svg"): ["none does not exist", "name a script"],
    ("export", "folder", "-o", "g.svg"): ["folder", "neither a trace nor a __main__.py"],
    ("export", "foreign", "-o", "g.svg"): ["foreign", "records.bin"],
    ("export", "script.py", "-o", "g.pdf"): ["g.pdf", ".pdf", ".svg"],
    ("export", "script.py", "-o", "g"): ["without a suffix", ".svg"],
    ("export", "script.py", "-o", "g.svg", "--format", "pdf"): [".pdf", ".svg"],
    ("export", "script.py", "-o", "-"): ["-o -", "--format"],
    ("export", "script.py", "-o", "-", "--format", "dot", "--json"): ["-o -", "--json"],
    ("export", "script.py", "-o", "no/g.svg"): ["-o no/g.svg", "no directory no"],
    ("export", "script.py", "-o", "folder.svg"): ["-o folder.svg", "is a directory"],
    ("export", "script.py", "-o", "g.svg", "--trace", "used"): ["--trace used", "there is a trace in it"],
    ("export", "used", "-o", "g.svg", "--trace", "t"): ["used is a trace", "--trace"],
    ("export", "used", "-o", "g.svg", "--", "x"): ["used is a trace", "arguments"],
    ("export", "script.py", "-o", "g.svg"): ["script.py", "status 0", "no graph"],
    ("export", "syntax.py", "-o", "g.svg"): ["syntax.py", "status 1", "no graph"],
    ("export", "dies.py", "-o", "g.svg"): ["dies.py", "SIGKILL", "no graph"],
    ("export", "no_graph.py", "-o", "g.svg"): ["no_graph.py", "no graph"],
}
USAGE = [
    [],
    ["dance"],
    ["run", "--no-such", "script.py"],
    ["run", "--trac", "t", "script.py"],
    ["run", "--trace", "t", "--no-trace", "script.py"],
    ["explain"],
    ["explain", "a", "b"],
    ["export", "script.py"],
    ["export", "-o", "g.svg"],
    ["export", "script.py", "-o", "g.svg", "--pass", "0"],
    ["export", "script.py", "-o", "g.svg", "--pass", "every"],
    ["trace"],
    ["trace", "dance"],
    ["trace", "info"],
]


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_help(words, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert [part for part in HELP[words] if part not in text] == []


def test_version(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == "agdbg 0.1.0\n"


def test_starting_imports_nothing_heavy():
    code = "import sys, agdbg.cli; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    heavy = {"numpy", "textual", "rich", "torch", "cupy", "graphviz", "agdbg_engine", "agdbg_ui", "asyncio"}
    assert not heavy & set(done.stdout.split())


def test_running_a_script_without_autograd_imports_nothing_heavy(programs):
    programs.write(
        {"s.py": "import sys; print({n.partition('.')[0] for n in sys.modules} & {'numpy', 'agdbg_engine'})"}
    )
    assert programs.anew().run(programs.agdbg_command(["s.py"])).stdout == "set()\n"


@pytest.fixture
def things(programs):
    """What the bad command lines name."""
    programs.write(
        {
            "script.py": "pass",
            "syntax.py": "def (",
            "dies.py": "import os; os.kill(os.getpid(), 9)",
            "no_graph.py": "import agdbg_engine",
            "file": "",
            "folder/x": "",
            "folder.svg/x": "",
            "foreign/records.bin": "something else, and long enough to be more than a header of 64 bytes",
            "newer/records.bin": b"AGDBGTRC" + (99).to_bytes(4, "little") + (64).to_bytes(4, "little") + bytes(48),
            "twice.py": TWICE,
        }
    )
    programs.run(programs.agdbg_command(["twice.py"], options=["--trace", "used"]))
    return programs


def test_bad_input_is_answered_in_a_line(things):
    """One test for all: making the things takes longer than asking."""
    for words, parts in BAD.items():
        ended = things.run(things.command(*words))
        assert ended.status == 2, words
        assert json.loads(ended.stdout).keys() == {"error", "status"} if "--json" in words else ended.stdout == "", (
            words
        )
        errors = [line for line in ended.said if line.startswith("agdbg: error: ")]
        assert len(errors) == 1, (words, ended)
        assert [part for part in parts if part not in errors[0]] == [], (words, errors)
        assert "Traceback" not in ended.stderr, words
    assert not (things.directory / "g.svg").exists()
    assert not (things.directory / "t").exists() or not list((things.directory / "t").iterdir())


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_bad_usage_is_answered_with_the_usage(words, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: agdbg")
    assert "error: " in captured.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["run", "--bogus", "s.py"], "a dash goes behind --"),
        (["export", "--bogus", "s.py", "-o", "g.svg"], "for the script goes behind --"),
        (["explain", "t", "--bogus"], ""),
        (["trace", "info", "--bogus", "t"], ""),
    ],
)
def test_an_unknown_option_is_answered_with_the_usage_of_its_command(words, hint, capsys):
    with pytest.raises(SystemExit):
        cli.main(words)
    err = capsys.readouterr().err
    assert err.startswith(f"usage: agdbg {' '.join(words[: 2 if words[0] == 'trace' else 1])} ")
    assert "unrecognized arguments: --bogus" in err
    assert hint in err


RESULTS = [
    ["explain", "used"],
    ["explain", "--json", "used"],
    ["trace", "info", "used"],
    ["trace", "info", "--json", "used"],
    ["export", "used", "-o", "-", "--format", "dot"],
    ["export", "used", "-o", "g.svg", "--json"],
]


@pytest.mark.parametrize(
    ("where", "reason"), [(">/dev/full", "No space left on device"), (">&-", "it is closed")], ids=["full", "closed"]
)
def test_results_that_cannot_be_written(things, where, reason):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    for words in RESULTS:
        for unbuffered in ("", "1"):
            shell = ["sh", "-c", f'"$@" {where}', "sh", *things.command(*words)]
            ended = things.run(shell, env={"PYTHONUNBUFFERED": unbuffered})
            assert (ended.status, ended.stderr) == (2, ""), words
            assert ended.said == [f"agdbg: error: cannot write to standard output: {reason}"], words


@pytest.mark.parametrize("words", [["export", "used", "-o", "-", "--format", "svg"], ["explain", "--json", "used"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_results_of_which_only_a_part_can_be_written(things, words, unbuffered):
    shell = ["sh", "-c", 'ulimit -f 1; trap "" XFSZ; "$@" >part', "sh", *things.command(*words)]
    whole = things.run(things.command(*words)).stdout
    ended = things.run(shell, env={"PYTHONUNBUFFERED": unbuffered})
    if len(whole) <= 512:
        pytest.skip("it is too short to be cut")
    assert ended.said == ["agdbg: error: cannot write to standard output: File too large"]
    assert ended.status == 2


def test_help_that_cannot_be_written(things):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    shell = ["sh", "-c", '"$@" >/dev/full', "sh", *things.command("--help")]
    ended = things.run(shell, env={"PYTHONUNBUFFERED": ""})
    assert (ended.status, ended.stderr) == (2, "")


def test_results_into_a_pipe_that_nobody_reads(things):
    for words in (["explain", "used"], ["explain", "--json", "used"], ["trace", "info", "used"]):
        reader, writer = os.pipe()
        os.close(reader)
        command = things.command(*words)
        done = subprocess.run(
            command, cwd=things.directory, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, b"")


def test_ctrl_c_ends_quietly(things):
    code = """\
import sys, threading, agdbg.record.info as info
from agdbg.cli import main
def wait(trace):
    print("ready", flush=True)
    threading.Event().wait()
info.summary = wait
sys.exit(main(["trace", "info", "used"]))
"""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = subprocess.Popen([sys.executable, "-c", code], cwd=things.directory, text=True, **streams)
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    assert (child.communicate(timeout=60), child.returncode) == (("", ""), -signal.SIGINT)


def test_a_mistake_in_agdbg_is_told_in_a_line(things):
    broken = "import sys, agdbg.record.info as i\ni.summary = lambda trace: 1 / 0\nfrom agdbg.cli import main\n"
    code = broken + "sys.exit(main(['trace', 'info', 'used']))"
    ended = things.run([sys.executable, "-c", code])
    assert (ended.status, ended.stdout, ended.stderr) == (70, "", "")
    assert ended.said[0] == "agdbg: internal error: ZeroDivisionError: division by zero (<string>:2)"
    ended = things.run([sys.executable, "-c", code], env={"AGDBG_DEBUG": "1"})
    assert "agdbg: Traceback (most recent call last):" in ended.said


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_text_is_printed_in_any_encoding(programs, encoding):
    programs.write({"s.py": TWICE.replace("x", "größe_字")})
    programs.run(programs.agdbg_command(["s.py"], options=["--trace", "t"]))
    command = programs.command("explain", "t")
    done = subprocess.run(
        command, cwd=programs.directory, env=programs.env | {"PYTHONIOENCODING": encoding},
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert "gr" in done.stdout.decode(encoding)
