"""What `initialize` promises is so, capability by capability, and what it does not promise is refused in words."""

import json
import os
import select
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

from agdbg.hub.handlers.beginning import CAPABILITIES
from agdbg.hub.starting import start_hub
from agdbg.protocol.client import Client, RequestFailed
from agdbg.protocol.messages import REQUESTS
from agdbg.protocol.unsupported import UNSUPPORTED

PATIENCE_S = 60.0
DEBUGPY = Path(find_spec("debugpy").origin).parent  # it is not imported: it changes the interpreter
SCHEMA = json.loads((DEBUGPY / "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json").read_text("utf-8"))
ALL = set(SCHEMA["definitions"]["Capabilities"]["properties"])
#: By capability: the requests that a client may send when it is there, and that are refused otherwise.
REQUEST_OF = {
    "supportsRestartFrame": "restartFrame",
    "supportsGotoTargetsRequest": "gotoTargets",
    "supportsStepInTargetsRequest": "stepInTargets",
    "supportsCompletionsRequest": "completions",
    "supportsModulesRequest": "modules",
    "supportsLoadedSourcesRequest": "loadedSources",
    "supportsTerminateThreadsRequest": "terminateThreads",
    "supportsReadMemoryRequest": "readMemory",
    "supportsWriteMemoryRequest": "writeMemory",
    "supportsDisassembleRequest": "disassemble",
    "supportsBreakpointLocationsRequest": "breakpointLocations",
    "supportsInstructionBreakpoints": "setInstructionBreakpoints",
}
SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
h = x * x
y = h.exp()
loss = y.sum()
loss.backward()
loss.backward()
"""
EXP = SCRIPT.splitlines().index("y = h.exp()") + 1


def commands():
    """All requests of the protocol, as the published schema has them, newest ones that it lacks added."""
    found = {"locations"}
    for name, definition in SCHEMA["definitions"].items():
        for part in definition.get("allOf", []) if name.endswith("Request") else []:
            found |= set(part.get("properties", {}).get("command", {}).get("enum", []))
    return found


class Launch:
    """A real program under a real hub, which has not started yet."""

    def __init__(self, directory):
        self.path = directory / "train.py"
        self.path.write_text(SCRIPT)
        self.hub = start_hub()
        self.client = Client.connect(self.hub.client_socket, timeout=PATIENCE_S)
        self.client.request("initialize", adapterID="agdbg")
        self._launch = {"program": str(self.path), "cwd": str(directory), "trace": str(directory / "trace")}
        self.ask = self.client.request

    def begin(self, **arguments):
        self.ask("launch", **self._launch, **arguments)
        self.ask("configurationDone")
        return self.client.wait_for("stopped") if arguments.get("stopOnEntry") else None

    def go(self, command, **arguments):
        self.ask(command, threadId=1, **arguments)
        return self.client.wait_for("stopped")

    def stop_at(self, command, what):
        """The verified breakpoints, and where the program stops."""
        made = self.ask(command, **what)["breakpoints"]
        assert all(each["verified"] for each in made), made
        self.begin()
        return self.client.wait_for("stopped")

    def source(self, **more):
        return {"source": {"path": str(self.path)}, "breakpoints": [{"line": EXP, **more}]}

    def frame(self):
        return self.ask("stackTrace", threadId=1)["stackFrames"][0]["id"]

    def gradient(self):
        scopes = self.ask("scopes", frameId=self.frame())["scopes"]
        reference = next(each["variablesReference"] for each in scopes if each["name"] == "Gradients in")
        return reference, self.ask("variables", variablesReference=reference)["variables"][0]

    def ended(self):
        return self.client.wait_for("exited")["exitCode"]

    def close(self):
        fd = os.pidfd_open(self.hub.pid)
        try:
            self.client.request("disconnect", terminateDebuggee=True)
            self.client.close()
            assert select.select([fd], [], [], PATIENCE_S)[0]
        finally:
            os.close(fd)


@pytest.fixture
def launch(tmp_path):
    made = Launch(tmp_path)
    yield made
    made.close()


# ----- one function for each capability that is there -----


def has_configuration_done(launch):
    launch.begin()
    launch.client.wait_for("process")


def has_function_breakpoints(launch):
    stop = launch.stop_at("setFunctionBreakpoints", {"breakpoints": [{"name": "Exp*"}]})
    assert stop["reason"] == "function breakpoint"


def has_conditional_breakpoints(launch):
    launch.ask("setBreakpoints", **launch.source(condition="False"))
    stop = launch.stop_at(
        "setFunctionBreakpoints", {"breakpoints": [{"name": "Exp*", "condition": "node.op == 'ExpBackward0'"}]}
    )
    assert stop["reason"] == "function breakpoint"


def has_hit_conditional_breakpoints(launch):
    first = launch.stop_at("setFunctionBreakpoints", {"breakpoints": [{"name": "*Backward0", "hitCondition": "3"}]})
    assert "SumBackward0" in first["description"]


def has_log_points(launch):
    launch.ask("setBreakpoints", **launch.source(logMessage="built {node.op}"))
    launch.ask("setExceptionBreakpoints", filters=["backward-twice"])
    launch.begin()
    assert (
        "ExpBackward0" in launch.client.wait_for("output", predicate=lambda body: "built" in body["output"])["output"]
    )


def has_data_breakpoints(launch):
    launch.begin(stopOnEntry=True)
    found = launch.ask("dataBreakpointInfo", name="x")
    assert found["dataId"]
    (made,) = launch.ask("setDataBreakpoints", breakpoints=[{"dataId": found["dataId"]}])["breakpoints"]
    assert made["verified"]


def has_exception_filter_options(launch):
    options = {"filters": [], "filterOptions": [{"filterId": "backward-twice"}]}
    assert launch.stop_at("setExceptionBreakpoints", options)["reason"] == "exception"


def has_filters(launch):
    names = [each["filter"] for each in CAPABILITIES["exceptionBreakpointFilters"]]
    made = launch.ask("setExceptionBreakpoints", filters=names)["breakpoints"]
    assert [each["verified"] for each in made] == [True] * len(names)


def evaluates_for_hovers(launch):
    launch.begin(stopOnEntry=True)
    assert launch.ask("evaluate", expression="1 + 1", frameId=launch.frame(), context="hover")["result"] == "2"
    with pytest.raises(RequestFailed):
        launch.ask("evaluate", expression="z = 1", frameId=launch.frame(), context="hover")


def steps_back(launch):
    first = launch.begin(stopOnEntry=True)["description"]
    assert launch.go("next")["description"] != first
    assert launch.go("stepBack")["description"].split(",")[0] in first
    launch.go("next")
    launch.go("next")
    launch.go("reverseContinue")


def sets_variables(launch):
    launch.begin(stopOnEntry=True)
    reference, before = launch.gradient()
    launch.ask("setVariable", variablesReference=reference, name=before["name"], value="grad * 0")
    assert launch.gradient()[1]["value"] != before["value"]


def sets_expressions(launch):
    launch.begin(stopOnEntry=True)
    before = launch.gradient()[1]["value"]
    launch.ask("setExpression", expression="grad", value="grad * 0", frameId=launch.frame())
    assert launch.gradient()[1]["value"] != before


def restarts(launch):
    launch.begin(stopOnEntry=True)
    pid = launch.ask("agdbg/status")["pid"]
    launch.ask("restart")
    assert launch.ask("agdbg/status")["pid"] not in (pid, None)


def explains_exceptions(launch):
    launch.stop_at("setExceptionBreakpoints", {"filters": ["backward-twice"]})
    assert launch.ask("exceptionInfo", threadId=1)["exceptionId"] == "backward-twice"


def terminates(launch):
    launch.begin(stopOnEntry=True)
    launch.ask("terminate")
    assert launch.ended() == 128 + signal.SIGTERM


def terminates_on_leaving(launch):
    launch.begin(stopOnEntry=True)
    fd = os.pidfd_open(launch.ask("agdbg/status")["pid"])
    other = Client.connect(launch.hub.client_socket, timeout=PATIENCE_S)
    other.request("initialize", adapterID="agdbg")
    other.request("attach")
    other.request("disconnect", terminateDebuggee=True)
    other.close()
    assert select.select([fd], [], [], PATIENCE_S)[0]
    os.close(fd)


def cancels(launch):
    """What waits for a drawing, which waits for whoever reads the pipe that it goes to, is never begun."""
    pipe = launch.path.with_name("graph.txt")
    os.mkfifo(pipe)
    launch.begin(stopOnEntry=True)
    drawing = launch.client.send("agdbg/export", path=str(pipe), overwrite=True)
    waiting = launch.client.send("agdbg/findings")
    launch.ask("cancel", requestId=waiting)
    assert "node" in pipe.read_text()
    assert launch.client.answer(drawing)["path"] == str(pipe)
    with pytest.raises(RequestFailed, match="cancelled"):
        launch.client.answer(waiting)


def pages_frames(launch):
    launch.begin(stopOnEntry=True)
    whole = launch.ask("stackTrace", threadId=1)
    page = launch.ask("stackTrace", threadId=1, startFrame=1, levels=1)
    assert page["stackFrames"] == whole["stackFrames"][1:2]
    assert page["totalFrames"] == whole["totalFrames"] > 1


def moves_one_thread(launch):
    launch.begin(stopOnEntry=True)
    assert launch.go("next", singleThread=True)["allThreadsStopped"] is False
    launch.ask("setExceptionBreakpoints", filters=[])
    assert launch.ask("continue", threadId=1, singleThread=True) == {"allThreadsContinued": False}


HOLDS = {
    "supportsConfigurationDoneRequest": has_configuration_done,
    "supportsFunctionBreakpoints": has_function_breakpoints,
    "supportsConditionalBreakpoints": has_conditional_breakpoints,
    "supportsHitConditionalBreakpoints": has_hit_conditional_breakpoints,
    "supportsLogPoints": has_log_points,
    "supportsDataBreakpoints": has_data_breakpoints,
    "supportsExceptionFilterOptions": has_exception_filter_options,
    "exceptionBreakpointFilters": has_filters,
    "supportsEvaluateForHovers": evaluates_for_hovers,
    "supportsStepBack": steps_back,
    "supportsSetVariable": sets_variables,
    "supportsSetExpression": sets_expressions,
    "supportsRestartRequest": restarts,
    "supportsExceptionInfoRequest": explains_exceptions,
    "supportsTerminateRequest": terminates,
    "supportsCancelRequest": cancels,
    "supportTerminateDebuggee": terminates_on_leaving,
    "supportsDelayedStackTraceLoading": pages_frames,
    "supportsSingleThreadExecutionRequests": moves_one_thread,
}


def test_every_promise_has_its_proof():
    assert {name for name, value in CAPABILITIES.items() if value} == set(HOLDS)
    assert set(HOLDS) <= ALL
    assert set(REQUEST_OF) <= ALL - set(HOLDS)


@pytest.mark.parametrize("name", HOLDS)
def test_what_is_promised_is_so(launch, name):
    HOLDS[name](launch)


@pytest.mark.parametrize("command", REQUEST_OF.values())
def test_what_is_not_promised_is_refused(hub, command):
    with pytest.raises(RequestFailed, match=f"^{command}: agdbg does not have this request: \\w"):
        hub.client().request(command)


def test_every_request_of_the_protocol_is_answered(hub):
    assert commands() <= set(REQUESTS) | set(UNSUPPORTED)
    assert not set(REQUESTS) & set(UNSUPPORTED)
    client = hub.client()
    for command in sorted(UNSUPPORTED):
        with pytest.raises(RequestFailed) as refused:
            client.request(command, threadId=1, whatever=[])
        assert str(refused.value) == f"{command}: agdbg does not have this request: {UNSUPPORTED[command]}"
        assert refused.value.body["error"]["format"]
    assert client.request("agdbg/status")["state"] == "waiting"


def test_a_client_that_joins_what_cannot_be_started_again_is_told(hub, new_recorder):
    new_recorder("recorded").close()
    trace = next(Path(hub.directory).parent.glob("recorded"))
    client = hub.client()
    client.request("attach", trace=str(trace))
    client.request("configurationDone")
    assert client.wait_for("capabilities") == {"capabilities": {"supportsRestartRequest": False}}
    with pytest.raises(RequestFailed, match="restart"):
        client.request("restart")
