"""`agdbg lint`: a program runs as ever, and what is wrong with its graphs is told at its end."""

import json

import pytest

GOOD = """
import agdbg_engine as torch
from agdbg_engine import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(5, 3)).pow(2).mean()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 6))
"""
SILENT = """
import agdbg_engine as torch
x = torch.ones(3, requires_grad=True)
y = (x * 2).exp()
y.data.mul_(3)
y.sum().backward()
print("grad", x.grad.tolist())
"""
TWICE = """
import agdbg_engine as torch
loss = torch.ones(2, requires_grad=True).exp().sum()
loss.backward()
loss.backward()
"""
NAN = """
import agdbg_engine as torch
x = torch.tensor([-1.0, -4.0], requires_grad=True)
torch.where(x > 0, x.sqrt(), x).sum().backward()
"""


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


@pytest.fixture
def lint(programs, tmp_path):
    """A function that lints a script; temporary files go to a directory of their own, which must be empty at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()

    def run(text, *options, args=()):
        programs.write({"train.py": text})
        done = programs.run(programs.command("lint", *options, "train.py", *args), env={"TMPDIR": str(folder)})
        assert [each.name for each in folder.iterdir() if each.name.startswith("agdbg")] == []
        return done

    return run


def test_a_good_program_has_no_findings_and_computes_the_same(programs, lint):
    done = lint(GOOD)
    plain = programs.run(programs.python_command(["train.py"]))
    assert done.status == 0, done
    assert done.stderr == plain.stdout and done.stderr.startswith("loss")
    assert done.stdout.startswith("nothing to explain: ")
    assert done.said == []


def test_an_error_is_found_and_the_end_of_the_program_is_told(lint):
    done = lint(TWICE)
    assert done.status == 3
    assert done.stdout.startswith("1. `loss.backward()` at line 5 goes through the graph")
    assert done.said == ["agdbg: train.py exited with status 1"]
    assert "RuntimeError" in done.stderr


def test_the_masked_branch_trap_is_found_though_nothing_was_raised(lint):
    done = lint(NAN, "--json")
    found = json.loads(done.stdout)
    assert done.status == 3 and found["program_status"] == 0
    assert [each["lint"] for each in found["findings"]] == [True] * len(found["findings"])
    assert any("sqrt" in each["cause"].lower() for each in found["findings"])
    assert found["trace"] is None, "the trace is gone, and has no name"
    assert json.loads(lint(GOOD, "--json", "--trace", "kept").stdout)["trace"].endswith("kept")


@pytest.mark.parametrize("words", [["lint", "--json", "missing.py"], ["explain", "--json", "missing"]])
def test_json_is_printed_also_where_nothing_can_be_done(programs, words):
    done = programs.run(programs.command(*words))
    told = json.loads(done.stdout)
    assert done.status == told["status"] == 2 and "missing" in told["error"]
    assert done.said == [f"agdbg: error: {told['error']}"]


def test_a_write_that_no_version_tells_of_is_found_and_the_result_is_as_ever(lint, programs):
    done = lint(SILENT)
    assert done.status == 3 and "y.data.mul_(3)" in done.stdout and "silent-write" in done.stdout
    assert done.stderr == programs.run(programs.python_command(["train.py"])).stdout


def test_kinds_are_chosen_and_what_is_left_out_is_told(lint):
    done = lint(TWICE, "--ignore", "backward-*")
    assert done.status == 4
    assert done.said[0] == "agdbg: left out by --only and --ignore: 1 finding (backward-twice)"
    assert lint(TWICE, "--only", "inplace-modified,backward-twice").status == 3
    assert "nothing to explain" not in done.stdout and "1 finding left out" in done.stdout
    assert lint(GOOD, "--only", "nan").status == 0


@pytest.mark.parametrize(
    ("words", "nearest"), [(("--only", "inplace-modifed"), "inplace-modified"), (("--ignore", "nan,hooks-*"), "")]
)
def test_a_kind_that_there_is_not_is_refused(lint, words, nearest):
    done = lint(GOOD, *words)
    assert done.status == 2 and done.stdout == ""
    (said,) = done.said
    assert f"no kind of finding is called {words[1].split(',')[-1]!r}" in said and "backward-twice, checkpoint" in said
    assert f"did you mean {nearest}?" in said if nearest else True


def test_a_program_that_fails_for_another_reason(lint):
    done = lint(GOOD + "\nraise SystemExit(7)\n")
    assert done.status == 4 and done.said == ["agdbg: train.py exited with status 7"]


def test_a_program_that_is_killed_was_not_checked_to_its_end(lint):
    done = lint(GOOD + "\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert done.status == 4
    assert done.said == ["agdbg: train.py was ended by SIGKILL"]
    assert "killed" in done.stdout


def test_a_program_without_an_engine_cannot_be_checked(lint):
    done = lint("print('hello')")
    assert done.status == 2 and "recorded no graph" in done.said[-1]


def test_the_trace_can_be_kept_and_is_explained_alike(programs, lint):
    assert lint(NAN, "--trace", "kept").status == 3
    alone = programs.run(programs.command("explain", "kept"))
    both = programs.run(programs.command("explain", "--all", "--json", "kept"))
    assert alone.status == both.status == 0
    assert any(each["lint"] for each in json.loads(both.stdout)["findings"])
    assert programs.run(programs.command("lint", "--trace", "kept", "train.py")).status == 2


def test_arguments_belong_to_the_program(programs, lint):
    done = lint(GOOD + "\nimport sys; print(sys.argv[1:])", args=["--json", "-x"])
    assert done.status == 0 and "['--json', '-x']" in done.stderr
    programs.write({"package/__main__.py": GOOD})
    done = programs.run(programs.command("lint", "-m", "package"))
    assert done.status == 0 and "loss" in done.stderr


@pytest.mark.parametrize("words", [[], ["--"], ["-m"]])
def test_nothing_to_check(programs, words):
    assert programs.run(programs.command("lint", *words)).status == 2
