"""Microsoft's own client for testing debug adapters, an npm package, against `agdbg dap`. Skipped where there is no npm."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from agdbg_tests_hub_process import until_ended

CLIENT = Path(__file__).parent / "dap_client"
SCENARIOS = re.findall(r"^  async '(.+)'\(\) \{$", (CLIENT / "scenarios.js").read_text("utf-8"), re.MULTILINE)
PATIENCE_S = 120.0
ADAPTER = 'import sys\nfrom agdbg.cli import main\nsys.exit(main(["dap"]))\n'
SMALL = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
w = ag.tensor([3.0, 5.0], requires_grad=True)
h = x * w
y = h.exp()
loss = y.sum()
loss.backward()
print("grad", x.grad.tolist())
"""
TWICE = SMALL + "loss.backward()\n"
FAILING = "import sys\nsys.exit(int(sys.argv[1]))\n"


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """The folder of the npm packages, installed as the lock file says."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node and npm are not installed: Microsoft's client for testing debug adapters was NOT run")
    folder = tmp_path_factory.mktemp("npm")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(CLIENT / name, folder)
    install = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        done = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not get its package in time: Microsoft's client was NOT run")
    if done.returncode:
        pytest.skip(f"npm cannot install Microsoft's client, which was NOT run: {done.stderr[-500:]}")
    return folder / "node_modules"


@pytest.fixture
def facts(modules, tmp_path):
    """What a scenario needs to know, as a file."""
    known = {
        "modules": str(modules),
        "python": sys.executable,
        "directory": str(tmp_path),
        "told": str(tmp_path / "told"),
    }
    for name, text in {"adapter": ADAPTER, "small": SMALL, "twice": TWICE, "failing": FAILING}.items():
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        known[name] = str(path)
    lines = SMALL.splitlines()
    known["lines"] = {
        name: lines.index(text) + 1
        for name, text in {"mul": "h = x * w", "exp": "y = h.exp()", "loss": "loss = y.sum()"}.items()
    }

    def write(**more):
        file = tmp_path / "facts.json"
        file.write_text(json.dumps(known | more))
        return file

    return write


def node(facts, *name):
    done = subprocess.run(
        ["node", str(CLIENT / "scenarios.js"), str(facts), *name], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_scenarios_are_those_that_are_run(facts):
    assert json.loads(node(facts())) == SCENARIOS


@pytest.mark.parametrize(
    "name", [name for name in SCENARIOS if name not in ("shows a trace", "serves at a port with a token")]
)
def test_scenario(facts, tmp_path, name):
    node(facts(), name)
    if (told := tmp_path / "told").exists():
        until_ended(int(told.read_text()))


def test_a_trace(facts, tmp_path):
    trace = tmp_path / "recorded"
    command = [sys.executable, "-m", "agdbg", "run", "--headless", "--trace", str(trace), str(tmp_path / "small.py")]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)
    node(facts(trace=str(trace)), "shows a trace")


def test_a_port(facts, tmp_path):
    environment = {**os.environ, "AGDBG_TOKEN": "open sesame"}
    command = [sys.executable, "-m", "agdbg", "dap", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path) as server:
        try:
            address = re.search(r":(\d+)$", server.stderr.readline().rstrip())
            assert "the token is the one given" in server.stderr.readline()
            node(facts(port=int(address[1]), token="open sesame"), "serves at a port with a token")
        finally:
            server.terminate()
