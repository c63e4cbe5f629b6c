"""``agdbg export``: the graph of a trace, or of a script that is run for it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from agdbg_tests_side_by_side import SideBySide

OK = """\
import sys
import agdbg_engine as torch
print("args", sys.argv[1:], sys.stdin.read())
w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * w).sum().backward()
(w.exp() * w).sum().backward()
"""
#: An error is written at once, so a process may die right after it.
DIES = OK + "loss = (w * w).sum()\nloss.backward()\ntry: loss.backward()\nexcept RuntimeError: print(flush=True)\n"
FILES = {
    "ok.py": OK,
    "fails.py": OK + "sys.exit(3)\n",
    "raises.py": OK + "raise ValueError('mine')\n",
    "killed.py": DIES + "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "quits.py": DIES + "import os\nos._exit(5)\n",
    "app/__main__.py": OK,
}


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


@pytest.fixture
def project(programs):
    programs.write(FILES)
    return programs


def export(project, *words, **how):
    return project.run(project.command("export", *words), **how)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A trace of ``ok.py``."""
    project = SideBySide(tmp_path_factory.mktemp("recorded"))
    project.write(FILES)
    project.run(project.agdbg_command(["ok.py"], options=["--trace", "t"]))
    return project.directory / "t"


@pytest.fixture
def trace(project, recorded):
    shutil.copytree(recorded, project.directory / "t")
    return project


def read(project, name):
    return (project.directory / name).read_text(encoding="utf-8")


def ops(project, name):
    return [node["op"] for node in json.loads(read(project, name))["nodes"]]


@pytest.mark.parametrize("name", ["g.svg", "g.dot", "g.gv", "g.json", "g.txt", "G.SVG"])
def test_formats_by_suffix(trace, name):
    ended = export(trace, "t", "-o", name)
    assert (ended.status, ended.stdout, ended.stderr) == (0, "", "")
    assert ended.said == [f"agdbg: wrote {name}: 3 nodes"]
    assert "MulBackward0" in read(trace, name)
    if name.lower().endswith("svg"):
        ElementTree.fromstring(read(trace, name))


def test_format_by_name(trace):
    assert export(trace, "t", "-o", "graph", "--format", "json").status == 0
    assert json.loads(read(trace, "graph"))["format"] == "agdbg-graph"


def test_to_standard_output(trace):
    ended = export(trace, "t", "-o", "-", "--format", "json")
    assert (ended.status, ended.said) == (0, [])
    assert json.loads(ended.stdout)["format"] == "agdbg-graph"


def test_to_a_file_by_its_descriptor(trace):
    """The name of standard output is no name of the file that it leads to, which may have none any more."""
    with tempfile.TemporaryFile() as file:
        command = trace.command("export", "t", "-o", "/dev/stdout", "--format", "dot")
        subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, cwd=trace.directory, env=trace.env, check=True)
        file.seek(0)
        assert b"digraph" in file.read()
    assert Path("/dev/stdout").is_symlink()


def test_to_a_pipe(trace):
    ended = trace.run(
        [
            "sh",
            "-c",
            '"$@" | cat',
            "sh",
            *trace.command("export", "t", "-o", "/dev/stdout", "--format", "dot"),
        ]
    )
    assert ended.stdout.startswith("//") or "digraph" in ended.stdout


def test_passes(trace):
    for words, expected in {
        ("--pass", "1"): {"MulBackward0", "SumBackward0"},
        ("--pass", "2"): {"ExpBackward0", "MulBackward0", "SumBackward0"},
        (): {"ExpBackward0", "MulBackward0", "SumBackward0"},
    }.items():
        assert export(trace, "t", "-o", "g.json", *words).status == 0
        assert set(ops(trace, "g.json")) == expected, words
    export(trace, "t", "-o", "g.json", "--pass", "all")
    assert ops(trace, "g.json").count("SumBackward0") == 2


def test_a_pass_that_is_not_there(trace):
    ended = export(trace, "t", "-o", "g.json", "--pass", "7")
    assert ended.status == 2
    assert "--pass 7" in ended.said[0]
    assert "1, 2" in ended.said[0]


def test_big_graphs_are_folded_unless_full(project):
    project.write({"big.py": "import agdbg_engine as t\nx = t.tensor([1.0], requires_grad=True)\ny = x\n"
                   "for _ in range(500): y = y * 2\ny.sum().backward()"})  # fmt: skip
    assert export(project, "big.py", "-o", "g.json", "--trace", "t").status == 0
    assert len(ops(project, "g.json")) <= 200
    assert export(project, "t", "-o", "g.json", "--full").status == 0
    assert len(ops(project, "g.json")) == 501


def test_a_script_is_run_first(project):
    ended = export(project, "ok.py", "-o", "g.json", "--", "--trace", "x", "--", "y", stdin="in")
    assert ended.status == 0
    assert ended.stdout == "args ['--trace', 'x', '--', 'y'] in\n"
    assert ops(project, "g.json") == ["ExpBackward0", "MulBackward0", "SumBackward0"]
    assert sorted(os.listdir(project.directory)) == sorted([*(n.partition("/")[0] for n in FILES), "g.json"])


def test_a_folder_is_run_too(project):
    assert export(project, "app", "-o", "g.json").status == 0


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("fails.py", "fails.py exited with status 3"),
        ("raises.py", "raises.py exited with status 1"),
        ("killed.py", "killed.py was ended by SIGTERM"),
        ("quits.py", "quits.py exited with status 5"),
    ],
)
def test_the_graph_is_written_although_the_script_fails(project, script, said):
    ended = export(project, script, "-o", "g.json", "--trace", "t", "--json")
    assert ended.status == 0
    assert [line for line in ended.said if line.startswith(f"agdbg: {said}")]
    assert "args [] \n" in ended.stderr, "its output is beside the result"
    codes = {"fails.py": 3, "raises.py": 1, "killed.py": -15, "quits.py": 5}
    assert json.loads(ended.stdout)["script_status"] == codes[script]


def test_summary_as_json(trace):
    found = json.loads(export(trace, "t", "-o", "g.svg", "--json").stdout)
    assert found["output"] == "g.svg"
    assert found["nodes"] == 3
    assert found["script_status"] is None
    assert "pass 2" in found["title"]


def test_the_trace_is_kept_when_named(project):
    ended = export(project, "ok.py", "-o", "g.json", "--trace", "kept")
    assert "agdbg: trace: kept" in ended.said
    assert (project.directory / "kept" / "records.bin").exists()
    ended = export(project, "ok.py", "-o", "g.json")
    assert not [line for line in ended.said if "trace:" in line]


def test_an_old_file_is_replaced_as_a_whole_with_its_permissions(trace):
    file = trace.directory / "g.json"
    file.write_text('{"format": "agdbg-graph", "old": 1}')
    file.chmod(0o640)
    (trace.directory / "link.json").symlink_to("g.json")
    assert export(trace, "t", "-o", "link.json").status == 0
    assert (trace.directory / "link.json").is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert "old" not in json.loads(file.read_text())


def test_a_new_file_has_usual_permissions(trace):
    (trace.directory / "usual").write_text("")
    assert export(trace, "t", "-o", "g.json").status == 0
    assert (trace.directory / "g.json").stat().st_mode == (trace.directory / "usual").stat().st_mode


def test_ctrl_c_ends_the_script_and_its_graph_is_written(project):
    project.write({"waits.py": DIES + "print('ready', flush=True)\nsys.stdin = None\nopen('fifo').read()\n"})
    os.mkfifo(project.directory / "fifo")
    process = subprocess.Popen(
        project.command("export", "waits.py", "-o", "g.json"),
        cwd=project.directory, env=project.env, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert "ready\n" in iter(process.stdout.readline, "")
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert "agdbg: waits.py was ended by SIGINT; what it recorded is exported all the same" in stderr
    assert "SumBackward0" in ops(project, "g.json")


@pytest.mark.parametrize(
    "name", ["ok.py", "t/meta.json", "t/strings.jsonl", "notes.txt", "data.json", "a.svg", "a.dot"]
)
def test_only_an_earlier_export_is_overwritten(trace, name):
    trace.write(
        {"notes.txt": "numpy\nagdbg 3\n", "data.json": '{"a": 1}', "a.svg": "<svg></svg>", "a.dot": "digraph g {}"}
    )
    trace.write({"link.svg": ""})
    before = read(trace, name)
    (trace.directory / "link.svg").unlink()
    (trace.directory / "link.svg").symlink_to(name)
    for output in (name, "link.svg"):
        for target in ("t", "ok.py"):
            ended = export(trace, target, "-o", output, "--format", "svg")
            assert (ended.status, ended.stdout) == (2, "")
            assert ended.said == [
                f"agdbg: error: -o {output}: there is a file which is no earlier export of agdbg; remove it, or name another"
            ]
    assert read(trace, name) == before


def test_a_file_that_the_script_makes_is_not_overwritten(project):
    project.write({"makes.py": OK + "open('g.json', 'w').write('{}')\n"})
    ended = export(project, "makes.py", "-o", "g.json")
    assert ended.status == 2
    assert read(project, "g.json") == "{}"


@pytest.mark.parametrize("name", ["g.svg", "g.dot", "g.json", "g.txt"])
def test_an_export_may_be_repeated(trace, name):
    for words in ((), ("--pass", "all"), ()):
        assert export(trace, "t", "-o", name, *words).status == 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_is_passed_on_and_nothing_is_left(project, name):
    """Of the two processes only agdbg gets it. The handler may interrupt a print, in which another one would be an error."""
    number = getattr(signal, name)
    code = f"import os, signal\ndef heard(*a): os.write(1, b'heard\\n'); sys.exit(4)\nsignal.signal({int(number)}, heard)\n"
    project.write({"waits.py": OK + code + "print('ready', flush=True)\nwhile True: signal.pause()\n", "temp/x": ""})
    process = subprocess.Popen(
        project.command("export", "waits.py", "-o", "g.json"),
        cwd=project.directory, env=project.env | {"TMPDIR": str(project.directory / "temp")}, text=True,
        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert "ready\n" in iter(process.stdout.readline, "")
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert stdout == "heard\n"
    assert process.returncode == (0 if name == "SIGINT" else -number), stderr
    assert os.listdir(project.directory / "temp") == ["x"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_the_script_does_not_outlive_a_killed_export(project, tmp_path):
    temporary = tmp_path / "temporary"  # the trace is left there
    temporary.mkdir()
    project.write({"waits.py": OK + "import signal\nprint('ready', flush=True)\nwhile True: signal.pause()\n"})
    process = subprocess.Popen(
        project.command("export", "waits.py", "-o", "g.json"), cwd=project.directory, text=True,
        env=project.env | {"TMPDIR": str(temporary)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert "ready\n" in iter(process.stdout.readline, "")
    process.kill()
    assert process.communicate(timeout=60)[0] == "", "the pipe ends when the script does"


def test_a_full_disk_is_told(trace):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    ended = export(trace, "t", "-o", "/dev/full", "--format", "dot")
    assert (ended.status, ended.stderr) == (2, "")
    assert ended.said == ["agdbg: error: -o /dev/full: cannot write it (No space left on device)"]


def test_files_here_do_not_take_the_place_of_agdbg(project):
    trap = "raise RuntimeError('this file was imported')"
    project.write({"agdbg.py": trap, "runpy.py": trap, "json.py": trap, "agdbg/__init__.py": trap})
    ended = export(project, "ok.py", "-o", "g.json")
    assert (ended.status, ended.stderr) == (0, "")


MODEL = """\
import agdbg_engine as torch
from agdbg_engine import nn
model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
model(torch.ones(2, 3)).sum().backward()
"""


def test_boxes_of_modules_and_shapes(project):
    project.write({"model.py": MODEL})
    ended = export(project, "model.py", "-o", "g.json", "--collapse", "module", "--shapes", "--trace", "t")
    assert ended.status == 0
    assert ops(project, "g.json") == ["0 (Linear)", "1.0 (Linear)", "TanhBackward0", "SumBackward0"]
    found = json.loads(read(project, "g.json"))["nodes"]
    assert [node["shapes"] for node in found] == [["float32[2, 4]"]] * 3 + [["float32[]"]]
    assert [node["module"] for node in found] == ["0", "1.0", "1.1", ""]
    assert export(project, "t", "-o", "h.json", "--collapse", "module:1").status == 0
    assert ops(project, "h.json") == ["0 (Linear)", "1 (Sequential)", "SumBackward0"]


@pytest.mark.parametrize("word", ["modules", "module:0", "module:x", "module:", ""])
def test_what_cannot_be_collapsed_is_refused(trace, word):
    ended = export(trace, "t", "-o", "g.txt", "--collapse", word)
    assert ended.status == 2 and "is neither 'module' nor 'module:N'" in ended.stderr


def test_a_trace_has_its_shapes_or_not(trace):
    ended = export(trace, "t", "-o", "g.txt", "--shapes")
    assert ended.status == 2 and "needs no --shapes" in "\n".join([*ended.said, ended.stderr])
