"""`agdbg.breakpoint()`: a stop that stands in the program; without a debugger the program goes on, and is told so once."""

from agdbg_tests_agent_hub import SCRIPT

from agdbg.agent.control import Settings

STOPPING = SCRIPT.replace("loss = y.sum()", "import agdbg; agdbg.breakpoint()\nloss = y.sum()")
IN_A_HOOK = SCRIPT.replace(
    "loss = y.sum()", "import agdbg; y.register_hook(lambda g: agdbg.breakpoint())\nloss = y.sum()"
)


def test_the_program_stops_in_its_forward_code_and_goes_on(run_agent):
    hub = run_agent(STOPPING, Settings())
    stop = hub.stopped()
    assert (stop["reason"], stop["where"], stop["description"]) == ("breakpoint", "event", "agdbg.breakpoint()")
    assert [frame["line"] for frame in stop["frames"]] == [hub.line("agdbg.breakpoint()")]
    assert hub.ask("evaluate", expression="y.tolist()[0] > 20", frame=0)["result"] == "True"
    stop = hub.go("next")
    assert stop["description"].endswith("built SumBackward0")
    status, out, _ = hub.end()
    assert status == 0 and out.startswith("[60.25")


def test_it_stops_inside_of_a_pass(run_agent):
    hub = run_agent(IN_A_HOOK, Settings())
    stop = hub.stopped()
    assert stop["description"] == "agdbg.breakpoint()" and stop["pass"] == 1
    assert hub.end()[0] == 0


def test_without_a_debugger_it_is_told_once_how_to_have_one(programs):
    programs.write(
        {"train.py": "import agdbg, agdbg_engine\nfor _ in range(3):\n    agdbg.breakpoint()\nprint('done')\n"}
    )
    for command in (
        programs.python_command(["train.py"]),
        programs.agdbg_command(["train.py"], options=["--headless"]),
    ):
        done = programs.run(command)
        assert done.status == 0 and done.stdout == "done\n"
        said = [line for line in done.said if "breakpoint" in line or "agdbg run SCRIPT" in line]
        assert said == [
            "agdbg: agdbg.breakpoint(): no debugger listens, so the program goes on.",
            "agdbg: To stop here, run it by `agdbg run SCRIPT` on a terminal, or from an editor by agdbg's debug adapter.",
        ]


def test_before_an_engine_is_there_it_cannot_stop(programs):
    programs.write({"train.py": "import agdbg\nagdbg.breakpoint()\nprint('done')\n"})
    done = programs.run(programs.python_command(["train.py"]))
    assert done.status == 0 and "no autograd engine has been imported yet" in done.said[0]
