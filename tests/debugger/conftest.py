"""Fixtures for the tests of the debugger. Test files cannot import each other, so helpers are loaded here."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from agdbg.record import Recorder

HERE = Path(__file__).parent


def _load(name):
    """Load a helper module that lies beside this file."""
    spec = importlib.util.spec_from_file_location(f"agdbg_tests_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


_load("checked_client")
_load("scripted_agent")
_fake_torch = _load("fake_torch")

#: Two passes over one graph.
TWO_PASSES = """
h = (x * w)
y = h.sum()
y.backward()
y.backward()
"""


@pytest.fixture
def new_recorder(tmp_path, monkeypatch):
    """A function that makes a recorder in a fresh directory; what is still open is closed after the test.

    One whose directory a test removes goes on where temporary files go: that is the test's own directory.
    """
    made = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def make(name="trace", **program):
        told = {"argv": ["train.py"], **program}
        made.append(Recorder(tmp_path / name, program=told, engine={"name": "test"}, sees={}))
        return made[-1]

    yield make
    for recorder in made:
        recorder.close()


@pytest.fixture(scope="session")
def fake_torch():
    """The module fake_torch.py, for a test that writes a trace of its own."""
    return _fake_torch


@pytest.fixture
def torch_two_losses(tmp_path):
    """A trace as of PyTorch (path, nodes, storages, script): two losses share an encoder, backward-twice."""
    return _fake_torch.two_losses(tmp_path / "two_losses")


@pytest.fixture
def torch_carried_state(tmp_path):
    """A trace as of PyTorch: a hidden state is carried over iterations, backward-twice."""
    return _fake_torch.carried_state(tmp_path / "carried_state")


@pytest.fixture
def torch_optimizer_step(tmp_path):
    """A trace as of PyTorch: an optimizer steps between two passes, inplace-modified at 1.weight."""
    return _fake_torch.optimizer_step(tmp_path / "optimizer_step")


side_by_side_module = _load("side_by_side")


@pytest.fixture
def programs(tmp_path):
    """Runs programs under python and under agdbg, in a directory of their own."""
    return side_by_side_module.SideBySide(tmp_path)


_run_nursery = _load("run_nursery")


@pytest.fixture(scope="session")
def run_nursery():
    """Runs agdbg for tests that are not about how it starts."""
    nursery = _run_nursery.RunNursery(side_by_side_module.environment())
    yield nursery
    nursery.close()


@pytest.fixture
def warm_programs(tmp_path, run_nursery):
    """As `programs`, where agdbg is not started anew unless it is compared with Python."""
    return side_by_side_module.SideBySide(tmp_path, run_nursery)


carried_programs_module = _load("carried_programs")


@pytest.fixture
def carried(warm_programs):
    """A function of a head that runs programs below it, which carry something from one iteration to the next."""
    return lambda head: carried_programs_module.Carried(warm_programs, head)


@pytest.fixture(scope="session")
def carried_class():
    """The class that `carried` makes: called with something that runs programs, and the head of all of them."""
    return carried_programs_module.Carried


@pytest.fixture(scope="session")
def at_beginning():
    """A program with what a fix says of the beginning of a function."""
    return carried_programs_module.at_beginning


made_up_module = _load("made_up")


@pytest.fixture
def made_up(tmp_path):
    """A function that begins a trace, told by hand, of the script that it is given."""

    def begin(source, name="made_up"):
        (tmp_path / name).mkdir()
        return made_up_module.MadeUp(tmp_path / name, source)

    return begin


@pytest.fixture(scope="session")
def made_up_class():
    """The class that `made_up` makes: called with a directory and a script."""
    return made_up_module.MadeUp


hub_process_module = _load("hub_process")


@pytest.fixture
def hub_process():
    """The module hub_process.py: what a hub does with a program, until something holds."""
    return hub_process_module


@pytest.fixture
def stage(tmp_path):
    """Starts scripts on terminals of their own; what is left of them is ended after the test."""
    made = hub_process_module.Stage(tmp_path)
    yield made
    made.close()


_rare_programs = _load("rare_programs")
_fault_programs = _load("fault_programs")
_agent_hub = _load("agent_hub")


@pytest.fixture
def run_agent(tmp_path, run_nursery):
    """A function that runs a script with an agent and the test as its hub."""
    made = []

    def start(text, settings=None, *args):
        made.append(
            _agent_hub.AgentHub(run_nursery, tmp_path, text, settings or _agent_hub.Settings(entry=True), *args)
        )
        return made[-1]

    yield start
    for hub in made:
        hub.__exit__()


_hub_nursery = _load("hub_nursery")


@pytest.fixture(scope="session")
def hub_nursery():
    """Starts hubs for tests that are not about how a hub starts."""
    nursery = _hub_nursery.HubNursery()
    yield nursery
    nursery.close()


_stop_hub = _load("stop_hub")


@pytest.fixture
def stopping(tmp_path, hub_nursery):
    """A function that gets a script ready in a real hub, whose client sets breakpoints and runs it."""
    made = []

    def prepare(text):
        made.append(_stop_hub.StopHub(tmp_path, hub_nursery.start_hub))
        return made[-1].program(text)

    yield prepare
    for each in made:
        each.close()


hub_fakes_module = _load("hub_fakes")


@pytest.fixture
def hub(tmp_path):
    """A hub in a thread, with a program and agents that the test plays."""
    made = hub_fakes_module.HubThread(tmp_path / "hub")
    yield made
    made.close()


@pytest.fixture
def new_hub(tmp_path):
    """A function that makes such a hub with options."""
    made = []

    def make(**options):
        made.append(hub_fakes_module.HubThread(tmp_path / f"hub{len(made)}", **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


console_stage_module = _load("console_stage")


@pytest.fixture
def console_stage(tmp_path, hub_nursery):
    """Makes consoles on real programs; what is left of their hubs is ended after the test."""
    made = console_stage_module.ConsoleStage(tmp_path, hub_nursery.start_hub)
    yield made
    made.close()


linted_runs_module = _load("linted_runs")


@pytest.fixture
def lint_script(tmp_path):
    """A function that runs a script on the engine with everything recorded; its answer knows what lints find."""
    return linted_runs_module.LintedRuns(tmp_path)


@pytest.fixture(scope="session")
def lint_runs_class():
    """The class that `lint_script` makes: called with a directory."""
    return linted_runs_module.LintedRuns


@pytest.fixture(scope="session")
def roles():
    """A function: role and line of the evidence of a finding."""
    return linted_runs_module.roles


linted_module = _load("linted")


@pytest.fixture
def linted(tmp_path):
    """A function that runs a script on the engine with everything recorded, and says what is found about it."""
    return lambda source, also=linted_module.ALL: linted_module.run(tmp_path, source, also)


@pytest.fixture(scope="session")
def lines_of():
    """A function: the lines of the evidence of a role in a finding."""
    return linted_module.lines_of


@pytest.fixture
def told(tmp_path, made_up_class):
    """A recorder of a trace that is there: two passes over one graph, of which the second fails."""
    program = made_up_class(tmp_path, TWO_PASSES)
    program.leaf("x", "x")
    program.leaf("w", "w")
    program.node("h", "MulBackward0", 1, "x * w", ["x", "w"], self=("x", 0), other=("w", 0))
    program.node("y", "SumBackward0", 2, "h.sum()", ["h"])
    program.backward(3, "y", "h", "x", "w", expression="y.backward()")
    program.twice(4, "y", "h", "y", expression="y.backward()")
    program.recorder.flush()
    yield program
    program.recorder.close()


@pytest.fixture
def at_stop(hub, told, tmp_path):
    """A client and an agent that stands before the node ``h``, and the nodes by their labels."""
    client = hub.launched(trace=str(tmp_path / "recorded"))
    for file in (tmp_path / "trace").iterdir():
        shutil.copy(file, tmp_path / "recorded" / file.name)
    agent = hub.stopped(client, node=told.nodes["h"], position=1, planned=4)
    return client, agent, told.nodes


@pytest.fixture
def in_trace(hub, told):
    """A client that looks at the trace, and the nodes by their labels."""
    told.recorder.close()
    client = hub.client()
    client.request("attach", trace=str(told.recorder.path))
    client.request("configurationDone")
    client.wait_for("stopped")
    return client, told.nodes
