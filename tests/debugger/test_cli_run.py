"""``agdbg run`` with an engine: where the trace goes, what is said, and that the program never suffers."""

import json
import re
import shutil
import sys

import pytest

HEAD = "import sys\nimport agdbg_engine as torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"
TWICE = HEAD + "loss = (x * x).sum()\nloss.backward()\nloss.backward()\n"
CAUGHT = HEAD + (
    "loss = (x * x).sum()\nloss.backward()\ntry:\n    loss.backward()\nexcept RuntimeError:\n    print('caught')\n"
)
FINE = HEAD + "(x * x).sum().backward()\nprint(x.grad)\n"
# What a program with an engine may do, and must do alike under both.
PROGRAMS = {
    "fine": FINE,
    "twice": TWICE,
    "caught": CAUGHT,
    "caught-then-another-error": CAUGHT + "1 / 0\n",
    "raised-from": TWICE.replace("loss.backward()\nloss", "loss.backward()\ntry: loss")
    + "except RuntimeError as e: raise ValueError('mine') from e\n",
    "exit-after": CAUGHT + "sys.exit(7)\n",
    "in-a-thread": HEAD
    + "import threading as t\nw = t.Thread(target=lambda: (x * x).sum().backward())\nw.start(); w.join()\n"
    "print(x.grad)\n",
    "error-in-a-thread": HEAD + "import threading as t\nloss = (x * x).sum()\nloss.backward()\n"
    "w = t.Thread(target=loss.backward, name='w'); w.start(); w.join()\n",
    "at-exit": HEAD + "import atexit\natexit.register(lambda: ((x * x).sum().backward(), print(x.grad)))\n",
    "interrupt": HEAD + "loss = (x * x).sum()\nloss.backward()\nraise KeyboardInterrupt\n",
    "fork": FINE + "import os\npid = os.fork()\n"
    "if pid == 0:\n    (x * 2).sum().backward()\n    print(x.grad, flush=True)\n"
    "else:\n    os.waitpid(pid, 0)\n",
    "multiprocessing": "import multiprocessing as m\nimport agdbg_engine as torch\ndef f(n):\n"
    "    x = torch.tensor([n], requires_grad=True); (x * x).sum().backward(); return str(x.grad)\n"
    "if __name__ == '__main__':\n    print(m.get_context('fork').Pool(1).map(f, [1.0, 2.0]))\n",
    "engine-in-a-module": "import other\nother.f()\n",
    "imports-late": "def f():\n    import agdbg_engine as torch\n    print(torch.tensor([1.0]))\nf()\n",
    "engine-submodule": "from agdbg_engine.nn import functional\nprint(functional.__name__)\n",
    "closes-standard-error": FINE + "sys.stderr.close()\n",
    "moves-away": HEAD + "import os\nos.mkdir('d'); os.chdir('d'); os.rmdir('../d')\n(x * x).sum().backward()\n",
    "clears-modules": FINE + "for name in [n for n in sys.modules if n.startswith('agdbg.')]: del sys.modules[name]\n",
    "breaks-the-path": FINE + "sys.path = None\n",
    "closes-all-files": FINE + "import os\nos.closerange(3, 100)\n",
    "removes-the-trace": FINE + "import shutil\nshutil.rmtree('.agdbg', ignore_errors=True)\n",
    "breaks-explanations": FINE
    + "if 'agdbg' in sys.modules:\n    import agdbg.explain.explanation\n    agdbg.explain.explanation.explain = None\n",
    "installs-a-sink": HEAD + "from agdbg_engine import events\nevents.remove()\n(x * x).sum().backward()\n",
    "module-patched": FINE + "import json, os\njson.dumps = json.loads = os.path.exists = None\n",
}
OTHER = (
    "import agdbg_engine as torch\n"
    "def f():\n    x = torch.tensor([1.0], requires_grad=True)\n    (x * x).sum().backward()\n"
)


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_recorded_program_does_what_it_does_under_python(programs, name):
    programs.write({"p.py": PROGRAMS[name], "other.py": OTHER})
    python, agdbg = programs.both(["p.py"])
    assert agdbg == python
    assert agdbg.said or name == "closes-standard-error"


def run(programs, code, *options, **how):
    programs.write({"p.py": code})
    return programs.run(programs.agdbg_command(["p.py"], options=options), **how)


def explained(programs, trace):
    ended = programs.run(programs.command("explain", "--json", trace))
    assert ended.status == 0, ended
    return json.loads(ended.stdout)["findings"]


def said_trace(ended):
    """The trace that the last line names."""
    assert ended.said[-1].startswith("agdbg: trace: ")
    return ended.said[-1].removeprefix("agdbg: trace: ")


def traces(programs):
    folder = programs.directory / ".agdbg"
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.exists() else []


# ----- the explanation -----


def test_an_uncaught_error_is_explained_after_its_traceback(programs):
    ended = run(programs, TWICE)
    merged = programs.run(["sh", "-c", '"$@" 2>&1', "sh", *programs.agdbg_command(["p.py"])]).stdout.splitlines()
    first = next(number for number, line in enumerate(merged) if line.startswith("agdbg:"))
    assert merged[0] == "Traceback (most recent call last):"
    assert all(line.startswith("agdbg:") for line in merged[first:])
    assert any("backward-twice" in line and "uncaught" in line for line in ended.said)
    assert any("p.py:6" in line for line in ended.said)
    assert "agdbg:" in ended.said[0]


def test_a_caught_error_is_explained_and_marked(programs):
    ended = run(programs, CAUGHT)
    assert (ended.status, ended.stdout, ended.stderr) == (0, "caught\n", "")
    assert any("backward-twice" in line and ", caught:" in line for line in ended.said)
    assert [finding["caught"] for finding in explained(programs, said_trace(ended))] == [True]


@pytest.mark.parametrize(
    ("name", "caught"),
    [("twice", False), ("raised-from", False), ("caught-then-another-error", True), ("exit-after", True)],
)
def test_what_became_of_the_error_is_known_later_too(programs, name, caught):
    """An error that was raised from one of autograd ends the program with that one behind it."""
    ended = run(programs, PROGRAMS[name])
    assert [finding["caught"] for finding in explained(programs, said_trace(ended))] == [caught]


def test_a_killed_program_does_not_say_what_became_of_the_error(programs):
    run(programs, CAUGHT + "import os; os.kill(os.getpid(), 9)", "--trace", "t")
    assert [finding["caught"] for finding in explained(programs, "t")] == [None]


def test_explain_says_what_was_said_at_the_end(programs):
    ended = run(programs, TWICE)
    printed = programs.run(programs.command("explain", said_trace(ended))).stdout
    assert printed.splitlines() == [line.removeprefix("agdbg:")[1:] for line in ended.said[:-1]]


def test_nothing_wrong(programs):
    ended = run(programs, FINE)
    assert ended.said[0].startswith("agdbg: nothing to explain: ")
    assert "1 backward pass" in ended.said[0]


@pytest.mark.parametrize("code", ["import agdbg_engine", "import agdbg_engine\nraise ValueError"])
def test_an_engine_that_builds_no_graph(programs, code):
    ended = run(programs, code)
    assert ended.said[0] == "agdbg: no autograd activity recorded: the engine built no graph"
    assert "agdbg:" not in [each.strip() for each in ended.said]
    assert len(ended.said) == (3 if "raise" in code else 2)


def test_many_errors_are_not_all_shown(programs):
    loop = (
        "for _ in range(8):\n"
        "    l = (x * x).sum(); l.backward()\n    try: l.backward()\n    except RuntimeError: pass\n"
    )
    ended = run(programs, HEAD + loop)
    numbered = [line for line in ended.said if re.match(r"agdbg: \d+\. ", line)]
    found = explained(programs, said_trace(ended))
    assert len(numbered) == min(5, len(found))
    assert any("more finding" in line for line in ended.said) == (len(found) > 5)


def test_what_happens_after_main_is_recorded(programs):
    for name in ("at-exit", "in-a-thread"):
        ended = run(programs, PROGRAMS[name])
        info = programs.run(programs.command("trace", "info", "--json", said_trace(ended)))
        assert json.loads(info.stdout)["passes"]["ok"] == 1


def test_trace_info(programs):
    run(programs, TWICE, "--trace", "t")
    found = json.loads(programs.run(programs.command("trace", "info", "--json", "t")).stdout)
    assert found["closed"] is True
    assert found["program"]["argv"] == ["p.py"]
    assert found["program"]["cwd"] == str(programs.directory)
    assert found["engine"]["name"] == "agdbg_engine"
    assert found["exit"]["status"] == 1
    assert found["exit"]["uncaught"]["type"] == "RuntimeError"
    assert (found["passes"]["ok"], found["passes"]["error"]) == (1, 1)
    text = programs.run(programs.command("trace", "info", "t"))
    assert (text.status, text.stderr) == (0, "")
    assert "p.py" in text.stdout


# ----- where the trace goes -----


def test_the_default_place(programs):
    first, second = run(programs, FINE), run(programs, FINE)
    assert said_trace(first) != said_trace(second)
    for name in traces(programs):
        assert re.fullmatch(r"p-\d{8}-\d{6}(-\d+)?", name)
    assert len(traces(programs)) == 2
    assert (programs.directory / ".agdbg" / ".gitignore").read_text() == "*\n"


def test_a_name_in_use_gets_a_number(programs, monkeypatch):
    from agdbg.launch import place

    made = [place.reserved(programs.directory, "a b/ö", 0.0).name for _ in range(3)]
    assert re.fullmatch(r"a_b_ö-19(69|70)\d{4}-\d{6}", made[0])
    assert made[1:] == [f"{made[0]}-2", f"{made[0]}-3"]
    assert place.reserved(programs.directory, "--", 0.0).name.startswith("script-")


def test_the_place_is_below_the_directory_of_the_start(programs):
    ended = run(programs, HEAD + "import os\nos.mkdir('d'); os.chdir('d')\n(x * x).sum().backward()\n")
    assert said_trace(ended).startswith(".agdbg/p-")
    assert len(traces(programs)) == 1


def test_a_program_without_an_engine_leaves_nothing(programs):
    ended = run(programs, "print(1)", "--trace", "t")
    assert ended.said == ["agdbg: no autograd activity recorded: the program did not import agdbg_engine"]
    assert not (programs.directory / "t").exists()
    run(programs, "print(1)")
    assert not (programs.directory / ".agdbg").exists()


def test_an_unwritable_place_is_replaced_by_a_temporary_one(programs, tmp_path):
    programs.write({".agdbg": "a file where the folder should be"})
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    ended = run(programs, FINE, env={"TMPDIR": str(elsewhere)})
    assert ended.status == 0
    assert ended.said[0].startswith(f"agdbg: cannot write to {programs.directory / '.agdbg'} (")
    assert said_trace(ended).startswith(str(elsewhere / "agdbg-p-"))
    assert programs.run(programs.command("trace", "info", said_trace(ended))).status == 0


def test_a_start_directory_that_is_gone(programs, tmp_path):
    programs.write({"p.py": FINE})
    shell = 'mkdir gone; cd gone; rmdir ../gone; "$@"'
    command = programs.agdbg_command([str(programs.directory / "p.py")])
    ended = programs.run(["sh", "-c", shell, "sh", *command], env={"TMPDIR": str(tmp_path)})
    assert ended.status == 0
    assert "the current directory is gone" in ended.said[0]
    assert said_trace(ended).startswith(str(tmp_path))


def test_no_place_at_all(programs):
    programs.write({".agdbg": ""})
    ended = run(programs, FINE, env={"TMPDIR": "/dev/null", "TEMP": "/dev/null", "TMP": "/dev/null"})
    assert ended.status == 0
    assert ended.stdout == run(programs, FINE, "--no-trace").stdout
    shutil.rmtree(said_trace(ended))  # where Python's own search for a temporary place has ended


def test_a_named_place(programs):
    ended = run(programs, FINE, "--trace", "deep/er")
    assert said_trace(ended) == "deep/er"
    assert traces(programs) == []
    again = run(programs, FINE, "--trace", "deep/er")
    assert again.status == 2
    assert again.stdout == "", "the program must not run when its trace cannot be written"


def test_a_named_place_may_be_there_when_it_is_empty(programs):
    (programs.directory / "t").mkdir()
    assert said_trace(run(programs, FINE, "--trace", "t")) == "t"


def test_no_trace_is_kept_on_request(programs, tmp_path):
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    ended = run(programs, TWICE, "--no-trace", env={"TMPDIR": str(elsewhere)})
    assert any("backward-twice" in line for line in ended.said)
    assert not any("trace:" in line for line in ended.said)
    assert list(elsewhere.iterdir()) == []
    assert traces(programs) == []


def test_the_name_of_a_module_and_of_a_folder(programs):
    programs.write({"pkg/__init__.py": "", "pkg/mod.py": FINE, "app/__main__.py": FINE})
    programs.run(programs.agdbg_command(["-m", "pkg.mod"]))
    programs.run(programs.agdbg_command(["app/"]))
    programs.run(programs.agdbg_command(["-"]), stdin=FINE)
    assert [name.partition("-")[0] for name in traces(programs)] == ["app", "pkg.mod", "stdin"]


# ----- when something in agdbg goes wrong -----


def test_an_adapter_that_fails_is_told_and_the_program_goes_on(programs):
    broken = "import agdbg.engines\nsys = __import__('sys')\nsys.modules['agdbg.engines.native'] = None\n"
    ended = run(programs, broken + FINE)
    python = programs.run([sys.executable, "p.py"])
    assert ended == python
    assert ended.said[0].startswith("agdbg: cannot record agdbg_engine: ")
    assert len(ended.said) == 1


def test_a_mistake_in_the_explanation_is_told_and_the_status_stands(programs):
    broken = (
        "import agdbg.explain.explanation\n"
        "def fail(path): raise ZeroDivisionError('a mistake')\nagdbg.explain.explanation.explain = fail\n"
    )
    ended = run(programs, broken + FINE + "sys.exit(9)")
    assert ended.status == 9
    assert ended.said[-1].startswith("agdbg: internal error: ZeroDivisionError: a mistake; the trace is in ")
    assert "Traceback" not in ended.stderr


def test_of_two_errors_the_one_that_ended_the_program_is_told_first(programs):
    twice = "loss = (x * x).sum()\nloss.backward()\ntry: loss.backward()\nexcept RuntimeError: pass\n"
    ended = run(programs, HEAD + twice + "loss.backward()\n")
    findings = explained(programs, said_trace(ended))
    assert [(finding["caught"], finding["ended"]) for finding in findings] == [(False, "program"), (True, None)]


def test_of_one_error_that_came_again_and_again_the_last_ended_the_program(programs):
    loop = (
        "for i in range(3):\n    l = (x * x).sum(); l.backward()\n"
        "    try: l.backward()\n    except RuntimeError:\n        if i == 2: raise\n"
    )
    ended = run(programs, HEAD + loop)
    assert [finding["caught"] for finding in explained(programs, said_trace(ended))] == [False]
