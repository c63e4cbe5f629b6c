"""The program at stops: pauses, threads, forks, signals, a dead hub, and the trace that it leaves."""

import subprocess
import sys

import pytest
from agdbg_tests_agent_hub import SCRIPT

from agdbg.agent.control import FunctionStop, Settings
from agdbg.diagnose import finding_of
from agdbg.events import Kind
from agdbg.record import Facts, Trace
from agdbg.record.reader import LOW_HALVES, STRING_WORDS


def test_pause(run_agent):
    text = """\
import agdbg_engine as ag
x = ag.tensor([1.0], requires_grad=True)
input()
n = 0
while n >= 0:
    (x * 2).sum().backward()
    n += 1
"""
    hub = run_agent(text, Settings())
    hub.type("\n")
    hub.publish(pause=1)
    stop = hub.stopped()
    assert stop["reason"] == "pause"
    assert hub.ask("evaluate", expression="n = -5", frame=-1 + len(stop["frames"]))["result"] == ""
    assert hub.end()[0] == 0


def test_pause_in_the_middle_of_a_long_pass(run_agent):
    text = """\
import agdbg_engine as ag
x = ag.tensor([1.0], requires_grad=True)
y = x
input()
for _ in range(20000):
    y = y + x
gate = x * 1
gate.register_hook(lambda g: print("in the hook", flush=True) or input() or None)
(y * gate).sum().backward()
print(x.grad.tolist())
"""
    hub = run_agent(text, Settings())
    hub.publish(pause=1)
    hub.type("\n")
    assert hub.stopped()["where"] == "born"
    hub.ask("resume", how="out", force=False)
    assert hub.stopped()["position"] == 0
    hub.ask("resume", how="continue", force=False)
    assert hub.program.stdout.readline() == "in the hook\n"  # it waits in the middle of the pass
    hub.publish(pause=2)
    hub.type("\n")
    stop = hub.stopped()
    assert stop["reason"] == "pause"
    assert 0 < stop["position"] < stop["planned"]
    assert stop["undo"] == 0  # what ran unnoted cannot be taken back, nor what ran before it
    assert hub.answer("resume", how="back", force=False)["code"] == "beyond"
    assert hub.end()[1] == "[40002.0]\n"


def test_pause_on_the_way_to_a_breakpoint(run_agent):
    text = """\
import agdbg_engine as ag
x = ag.tensor([1.0], requires_grad=True)
y = x * 1
for _ in range(2000):
    y = y + 1
y.register_hook(lambda g: print("in the hook", flush=True) or input() or None)
(y * 1).sum().backward()
"""
    hub = run_agent(text)
    hub.stopped()
    hub.publish(functions=[FunctionStop(1, "AccumulateGrad")])
    hub.ask("resume", how="continue", force=False)
    assert hub.program.stdout.readline() == "in the hook\n"
    hub.publish(pause=1)
    hub.type("\n")
    stop = hub.stopped()
    assert (stop["reason"], stop["undo"]) == ("pause", stop["position"])
    assert 0 < stop["position"] < stop["planned"] - 1
    hub.publish(functions=[])
    assert hub.end()[0] == 0


def test_reverse_stops_at_a_node_that_called_hooks(run_agent):
    hub = run_agent(SCRIPT.replace("loss.backward()", "h.register_hook(lambda g: None)\nloss.backward()"))
    hub.stopped()
    hub.go("out")
    stop = hub.go("reverse")
    assert stop["position"] == 3  # MulBackward0, number 2, called the hook
    assert hub.answer("resume", how="reverse", force=False)["code"] == "barrier"
    assert hub.go("reverse", force=True)["position"] == 0
    assert hub.end()[0] == 0


def test_out_from_the_end_of_an_inner_pass_goes_to_the_end_of_the_outer_one(run_agent):
    text = """\
import agdbg_engine as ag
x = ag.tensor([1.0], requires_grad=True)
def inner(g):
    with ag.enable_grad():
        (x * 7).sum().backward()
h = x * 2
h.register_hook(inner)
h.sum().backward()
"""
    hub = run_agent(text)
    hub.stopped()
    for how in ("next", "in", "in", "out"):
        stop = hub.go(how)
    assert (stop["where"], len(stop["outer"])) == ("end", 1)
    stop = hub.go("out")
    assert (stop["where"], stop["outer"], stop["position"]) == ("end", [], 3)
    assert hub.end()[0] == 0


def test_a_descriptor_that_the_program_took_over_is_not_written_to(run_agent):
    text = SCRIPT.replace(
        "loss.backward()",
        """import os, stat
loss.backward(retain_graph=True)
own = open("own.txt", "w")
for number in map(int, os.listdir("/proc/self/fd")):
    try:
        if number > 100 and stat.S_ISSOCK(os.fstat(number).st_mode):
            os.dup2(own.fileno(), number)
    except OSError:
        pass
loss.backward()""",
    )
    hub = run_agent(text, Settings(functions=[FunctionStop(1, "Sum*")]))
    assert hub.stopped()["where"] == "born"
    hub.go("continue")
    hub.ask("resume", how="continue", force=False)
    assert hub.stopped()["pass"] == 2  # by a new connection
    assert (hub.script.parent / "own.txt").read_text() == ""
    assert hub.end()[0] == 0


def test_threads_stop_on_their_own(run_agent):
    text = """\
import threading
import agdbg_engine as ag
def work(k):
    x = ag.tensor([1.0], requires_grad=True)
    (x * k).sum().backward()
    print(f"{k} {x.grad.tolist()}\\n", end="", flush=True)
threads = [threading.Thread(target=work, args=(k,)) for k in (2.0, 3.0)]
for t in threads: t.start()
for t in threads: t.join()
"""
    hub = run_agent(text, Settings(functions=[FunctionStop(1, "AccumulateGrad")]))
    stops = {}
    for _ in range(2):
        stop = hub.stopped()
        stops[stop["thread"]] = hub.channel
    assert len(stops) == 2
    for channel in stops.values():
        hub.channel = channel
        hub.ask("resume", how="continue", force=False)
    assert hub.message() is None
    status, out, _ = hub.result()
    assert status == 0
    assert sorted(out.splitlines()) == ["2.0 [2.0]", "3.0 [3.0]"]


def test_the_death_of_the_hub_at_a_stop(run_agent):
    hub = run_agent(SCRIPT)
    hub.stopped()
    hub.go("next")
    hub.hang_up()
    status, out, err = hub.result()
    assert (status, err) == (0, "")
    assert out.startswith("[60.25")
    assert Trace.open(hub.trace).closed


def test_the_death_of_the_hub_between_stops(run_agent):
    hub = run_agent("input()\n" + SCRIPT)
    hub.hang_up()
    hub.type("\n")
    status, out, _ = hub.result()
    assert status == 0
    assert out.startswith("[60.25")


def test_a_program_without_the_engine(run_agent):
    hub = run_agent("print('hello')\n")
    assert hub.result() == (0, "hello\n", "")


def test_a_forked_child_does_not_stop(run_agent):
    text = """\
import os
import agdbg_engine as ag
x = ag.tensor([1.0], requires_grad=True)
(x * 2).sum().backward()
pid = os.fork()
if pid == 0:
    (x * 3).sum().backward()
    print("child", x.grad.tolist(), flush=True)
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
(x * 3).sum().backward()
"""
    hub = run_agent(text)
    hub.stopped()
    hub.publish(functions=[FunctionStop(1, "Mul*")])
    stop = hub.go("continue")
    assert stop["breakpoints"] == [1]
    stop = hub.go("continue")
    assert (stop["where"], stop["frames"][0]["line"]) == ("born", 11)
    hub.publish(functions=[])
    status, out, _ = hub.end()
    assert (status, out) == (0, "child [5.0]\n3\n")


def test_descriptors_that_the_program_closes(run_agent):
    text = SCRIPT.replace(
        "loss.backward()", "import os\nos.closerange(3, 4096)\nf = open('own.txt', 'w')\nloss.backward()"
    )
    hub = run_agent("import agdbg_engine as ag\n(ag.ones(1, requires_grad=True) * 2).sum().backward()\n" + text)
    hub.stopped()
    hub.ask("resume", how="continue", force=False)
    assert hub.message() is None  # the connection that the program closed
    assert hub.result()[1].startswith("[60.25")
    assert (hub.script.parent / "own.txt").read_text() == ""


@pytest.mark.parametrize("how", ["next", "continue", "again"])
def test_an_interrupt_at_a_stop_is_the_programs_when_it_goes_on(run_agent, how):
    """Not at once: it may have been meant for an expression that had just ended."""
    text = SCRIPT.replace(
        "loss.backward()", "try:\n    loss.backward()\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)"
    ).replace("print(x.grad", "print(0, x.grad and x.grad")
    hub = run_agent(text.replace("x.grad.tolist(), w.grad.tolist()", "x.grad"))
    hub.stopped()
    hub.program.send_signal(2)
    assert "KeyboardInterrupt is raised in the program when it goes on" in hub.program.stderr.readline()
    assert hub.ask("evaluate", expression="1 + 1", frame=0)["result"] == "2"
    if how == "again":
        hub.program.send_signal(2)
        assert "resumed" in hub.message()
    else:
        hub.ask("resume", how=how, force=False)
    assert hub.message() is None
    status, out, _ = hub.result()
    assert (status, out.splitlines()[0]) == (0, "interrupted")


def told(directory):
    """What a trace tells, without times: every record with its strings spelled out."""
    trace = Trace.open(directory)
    facts, found = Facts(trace), []
    for row in range(len(trace.records)):
        words = facts.words(row)
        kind = Kind(words[0] & 255)
        if kind == Kind.CLOCK:
            continue
        for index in STRING_WORDS.get(kind, ()):
            low, high = words[index] & 0xFFFFFFFF, 0 if (kind, index) in LOW_HALVES else words[index] >> 32
            words[index] = [
                str(trace.site(low)) if kind != Kind.TENSOR else trace.text(low),
                trace.op(high).name or trace.text(high),
            ]
        timed = {Kind.RAN: (4, 5), Kind.PASS_STARTED: (5,), Kind.PASS_FINISHED: (4, 5)}.get(kind, ())
        found.append([kind.name, *(w for i, w in enumerate(words) if i not in timed)])
    return found


def test_a_stepped_program_leaves_the_trace_that_it_leaves_alone(run_agent, tmp_path):
    text = """\
import agdbg_engine as ag
from agdbg_engine import nn, optim
ag.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
step = optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(ag.ones(4, 2)).pow(2).mean()
    loss.backward()
    step.step()
print(loss.item())
"""
    hub = run_agent(text)
    hub.stopped()
    for how in ["next", "in", "in", "next", "next", "out", "next", "next", "out", "next", "out", "in", "in", "next"]:
        hub.go(how)
    status, out, err = hub.end()
    assert (status, err) == (0, "")
    plain = tmp_path / "plain"
    command = [sys.executable, "-m", "agdbg", "run", "--headless", "--trace", str(plain), str(hub.script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == out
    assert told(hub.trace) == told(plain)


def test_a_foreseen_error_is_told_of_the_line_of_the_call(run_agent):
    hub = run_agent(SCRIPT + "loss.backward()  # again\n", Settings(exceptions=["backward-twice"]))
    hub.stopped()
    facts = Facts(Trace.open(hub.trace))
    error = facts.predicted[0]
    assert (error.site.line, error.pass_id) == (hub.line("# again"), 2)
    finding = finding_of(facts, error)
    assert [e.site.line for e in finding.evidence if e.role == "second call"] == [hub.line("# again")]
    assert hub.end()[0] == 1
