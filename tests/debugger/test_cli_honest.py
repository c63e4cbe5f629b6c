"""What ``agdbg`` says when not all is well: it never calls well what is not, and knows what it does not know."""

import json
import os
import signal
import subprocess
import sys

import pytest

HEAD = "import agdbg_engine as torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"
FINE = HEAD + "(x * x).sum().backward()\n"
SCALAR = "RuntimeError: grad can be implicitly created only for scalar outputs"
NONE = "has no diagnosis for: "
WAITS = HEAD + "import os, signal\n(x * x).backward(x)\ntry: (x * x).backward()\nexcept RuntimeError: pass\n"


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


def run(programs, code, *options, **how):
    programs.write({"p.py": code})
    return programs.run(programs.agdbg_command(["p.py"], options=options), **how)


def explained(programs, trace="t"):
    text = programs.run(programs.command("explain", trace))
    found = json.loads(programs.run(programs.command("explain", "--json", trace)).stdout)
    info = json.loads(programs.run(programs.command("trace", "info", "--json", trace)).stdout)
    assert (info["state"], info["ending"]) == (found["state"], found["ending"])
    return text.stdout, found


# ----- errors for which no diagnosis speaks -----

HOOK = HEAD + "y = x * x\ny.register_hook(lambda g: 1 / 0)\n"
UNDIAGNOSED = {
    "caught": (HEAD + "try: (x * x).backward()\nexcept RuntimeError: pass\n", SCALAR, 3, "; the program went on", True),
    "uncaught": (HEAD + "(x * x).backward()\n", SCALAR, 3, "; it ended the program", False),
    "hook": (HOOK + "y.sum().backward()\n", "ZeroDivisionError: division by zero", 5, "; it ended the program", False),
    "interrupt": (
        HEAD + "def stop(g): raise KeyboardInterrupt\ny = x * x\ny.register_hook(stop)\ny.sum().backward()\n",
        "KeyboardInterrupt: ", 6, "; it ended the program", False,
    ),
    "thread": (
        HEAD + "import threading as t\nw = t.Thread(target=lambda: (x * x).backward()); w.start(); w.join()\n",
        SCALAR, 4, "; it ended a thread", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDIAGNOSED)
def test_an_error_without_a_diagnosis_is_told(programs, name):
    code, error, line, fate, caught = UNDIAGNOSED[name]
    ended = run(programs, code, "--trace", "t")
    assert ended.said[0].startswith(f"agdbg: 1 error that agdbg has no diagnosis for: {error.strip()}")
    assert f" at p.py:{line} in " in ended.said[0]
    assert ended.said[0].endswith(fate)
    assert "no error" not in "".join(ended.said)
    text, found = explained(programs)
    assert text.splitlines()[0] == ended.said[0].removeprefix("agdbg: ")
    [each] = found["undiagnosed"]
    assert (each["text"].splitlines()[0], each["line"], each["count"], each["caught"]) == (error, line, 1, caught)
    assert each["ended"] == {"; it ended the program": "program", "; it ended a thread": "thread"}.get(fate)


def test_repeats_of_an_error_are_counted_and_many_errors_are_listed(programs):
    again = "for i in range(1200):\n    try: (x * x).backward()\n    except RuntimeError: pass\n"
    other = "try: (x + x).backward()\nexcept RuntimeError: pass\n"
    ended = run(programs, HEAD + again)
    assert ended.said[0].startswith("agdbg: 1,200 errors that")
    assert "(1,200 times)" in ended.said[0]
    ended = run(programs, HEAD + again + other * 7)
    assert ended.said[0] == "agdbg: 1,207 errors that agdbg has no diagnosis for:"
    assert ended.said[6] == "agdbg:    ... and 3 more"


def test_a_program_that_ends_with_an_error_of_its_own(programs):
    ended = run(programs, FINE + "{}['key']\n", "--trace", "t")
    assert ended.said[0] == "agdbg: the program ended with KeyError: 'key'; no autograd mistake was found"
    text, found = explained(programs)
    assert text.splitlines() == [ended.said[0].removeprefix("agdbg: ")]
    assert found["uncaught"] == "KeyError: 'key'"
    ended = run(programs, HEAD + "try: (x * x).backward()\nexcept RuntimeError: pass\n{}['key']\n")
    assert "agdbg: the program ended with KeyError: 'key'; none of the above is about it" in ended.said


# ----- threads -----


def test_an_error_that_ended_a_thread_is_not_called_caught(programs):
    code = HEAD + (
        "import threading as t\nloss = (x * x).sum()\nloss.backward()\n"
        "w = t.Thread(target=loss.backward); w.start(); w.join()\nprint(t.excepthook is t.__excepthook__)\n"
    )
    ended = run(programs, code, "--trace", "t")
    assert ended.stdout == "True\n"
    assert ended.stderr == programs.run([sys.executable, "p.py"]).stderr
    assert "agdbg:    backward-twice, certain, uncaught: this error ended a thread" in ended.said
    [finding] = explained(programs)[1]["findings"]
    assert (finding["caught"], finding["ended"]) == (False, "thread")


@pytest.mark.parametrize("hook", ["lambda a: print(a.exc_type)", "lambda a: 1 / 0"])
def test_a_hook_of_the_program_for_threads_is_called_as_ever(programs, hook):
    code = (
        FINE
        + f"import threading as t\nt.excepthook = {hook}\nw = t.Thread(target=lambda: [][0]); w.start(); w.join()\n"
    )
    programs.write({"p.py": code})
    python, agdbg = programs.both(["p.py"])
    assert agdbg == python


# ----- traces that are not whole -----


def test_a_killed_program(programs):
    run(programs, FINE + "import os\nos.kill(os.getpid(), 9)\n", "--trace", "t")
    text, found = explained(programs)
    assert "the program was killed" in text
    assert "no error" not in text
    assert found["state"] == ("killed" if sys.platform == "linux" else "unknown")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_a_program_that_still_runs(programs):
    programs.write({"p.py": WAITS + "print('ready', flush=True)\nsignal.pause()\n"})
    command = programs.agdbg_command(["p.py"], options=["--trace", "t"])
    process = subprocess.Popen(command, cwd=programs.directory, env=programs.env, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        text, found = explained(programs)
        meta = json.loads((programs.directory / "t" / "meta.json").read_text())
        meta["pid"] = os.getpid()
        (programs.directory / "t" / "meta.json").write_text(json.dumps(meta))
        other = explained(programs)[1]
    finally:
        process.kill()
        process.communicate()
    assert found["state"] == "running"
    assert "the program has not ended" in text
    assert other["state"] == "killed", "a process that lives, but did not write this trace"


def test_a_recording_that_stopped_early(programs):
    code = FINE + "import gc\nfrom agdbg.record import Recorder\n"
    code += "[r.abandon('the disk caught fire') for r in gc.get_objects() if isinstance(r, Recorder)]\n"
    ended = run(programs, code, "--trace", "t")
    said = "recording stopped early (the disk caught fire): what came later is not in the trace"
    assert f"agdbg: {said}" in ended.said
    text, found = explained(programs)
    assert said in text
    assert (found["state"], found["ending"]) == ("stopped", said)
    assert said in programs.run(programs.command("trace", "info", "t")).stdout
    assert "nothing to explain" not in text + "".join(ended.said)


def test_a_trace_that_lost_its_strings(programs):
    run(programs, FINE, "--trace", "t")
    (programs.directory / "t" / "strings.jsonl").write_text("")
    text, found = explained(programs)
    assert "the trace is damaged: strings.jsonl" in text
    assert "nothing to explain" not in text
    assert found["problems"]


# ----- engines that were not recorded -----

ENGINES = {
    "print()": "the program did not import agdbg_engine",
    "import importlib.util as u\nu.find_spec('agdbg_engine')": "the program did not import agdbg_engine",
    "import sys\nsys.modules['numpy'] = None\ntry: import agdbg_engine\nexcept ImportError: pass": (
        "the program tried to import agdbg_engine, which failed"
    ),
    "import torch": "PyTorch is not recorded yet, only agdbg_engine is",
    "try: import torch.no_such\nexcept ImportError: pass": "PyTorch is not recorded yet, only agdbg_engine is",
}


INTERRUPTED = """
import signal, sys
class Key:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Key())
import agdbg_engine
"""


@pytest.mark.parametrize("module", ["agdbg_engine.tensor", "agdbg.engines.native"])
def test_ctrl_c_while_the_engine_is_imported_is_no_failed_import(programs, module):
    programs.write({"p.py": INTERRUPTED.format(module=module)})
    ended = programs.anew().run(programs.agdbg_command(["p.py"]))
    assert ended.status == -2
    assert ended.said == [
        "agdbg: no autograd activity recorded: the program was interrupted while it imported agdbg_engine"
    ]


@pytest.mark.parametrize("code", ENGINES)
def test_why_nothing_was_recorded(programs, code):
    programs.write({"torch.py": ""})
    assert run(programs.anew(), code).said == [f"agdbg: no autograd activity recorded: {ENGINES[code]}"]


def test_agdbg_under_agdbg(programs):
    programs.write({"p.py": FINE, "q.py": "from agdbg.cli import main\nmain(['run', 'p.py'])\n"})
    for words in (["-m", "agdbg", "run", "p.py"], ["q.py"]):
        ended = programs.run(programs.agdbg_command(words))
        assert (ended.status, ended.stderr) == (0, "")
        assert [line.partition("-")[0] for line in ended.said] == [
            "agdbg: nothing to explain: 3 nodes, 1 backward pass recorded, no error",
            "agdbg: values were not recorded: NaN and what else raises no error is found by agdbg lint, or with ",
            "agdbg: trace: .agdbg/p",
        ]  # fmt: skip


def test_agdbg_under_agdbg_that_records_already(programs):
    programs.write({"p.py": FINE, "q.py": "import agdbg_engine\nfrom agdbg.cli import main\nmain(['run', 'p.py'])\n"})
    ended = programs.run(programs.agdbg_command(["q.py"]))
    assert (ended.status, ended.stderr) == (0, "")
    assert "this process is recorded already" in ended.said[0]
    assert ended.said[-1].startswith("agdbg: trace: .agdbg/q-")


# ----- a full disk at the start -----


def test_a_disk_that_is_full_at_the_start(programs, tmp_path):
    (tmp_path / "temporary").mkdir()
    full = (
        "import agdbg.record.writer as w, errno\nreal = w.write_meta\n"
        "def full(directory, content):\n"
        "    if '.agdbg' in str(directory): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "    real(directory, content)\nw.write_meta = full\n"
    )
    ended = run(programs, full + FINE, env={"TMPDIR": str(tmp_path / "temporary")})
    assert ended.status == 0
    assert "No space left on device: the trace goes to " in ended.said[0]
    assert ended.said[-1].startswith(f"agdbg: trace: {tmp_path}/temporary/agdbg-p-")
    assert os.listdir(programs.directory / ".agdbg") == [".gitignore"]


def test_ctrl_c_is_no_autograd_mistake(programs):
    ended = run(programs, FINE + "raise KeyboardInterrupt\n")
    assert ended.status == -signal.SIGINT
    assert ended.said[0] == "agdbg: the program ended with KeyboardInterrupt; no autograd mistake was found"


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("import json\n", "did not import agdbg_engine"),
        ("try: import torch\nfinally: pass\n", "PyTorch is not recorded yet"),
    ],
)
def test_a_hub_is_left_word_why_nothing_was_recorded(programs, code, word):
    programs.write({"torch.py": ""})
    hub = programs.directory / "hub"
    hub.mkdir()
    ended = run(programs, code, "--headless", "--trace", "t", "--agent", str(hub))
    assert ended.said == []
    assert word in (hub / "unrecorded").read_text()
