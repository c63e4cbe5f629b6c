"""An agent without a hub, in the process of the test: it goes on from every stop as it was told to, and remembers what it saw."""

import contextlib
import itertools
import shutil
import tempfile
import warnings
from pathlib import Path

from agdbg.agent.agent import Agent, Command, Impossible
from agdbg.agent.control import ControlWriter
from agdbg.engines import native
from agdbg.engines.native_driver import Driver
from agdbg.record import Recorder
from agdbg_engine import events
from agdbg_engine.backward import Abandoned
from agdbg_engine.sites import INTERNAL

TOLD = ("where", "reason", "node", "position", "description", "breakpoints", "error", "note")


class ScriptedAgent(Agent):
    """Takes ``moves`` from the end, and continues when there are no more."""

    def __init__(self, folder, moves):
        super().__init__(folder)
        self.moves = list(moves)
        self.said = []
        """A line for every stop with all values there, and one for every message."""
        self.stops = []

    def stop(self, scene, thread):
        told = scene.stop()
        values = scene.values(told["node"])
        what = [told[key] for key in TOLD if key in told]
        self.stops.append(told)
        self.said.append(repr((what, values["in"], values["out"], values["saved"], values["grad"])))
        move = Command(self.moves.pop() if self.moves else "continue", force=True)
        try:
            scene.check(move)
        except Impossible:
            return Command("continue")
        return move

    def tell(self, message, thread):
        self.said.append(repr(message))


@contextlib.contextmanager
def stepped(settings, moves=(), also=()):
    """An agent under whose eyes the engine runs, and the directory of the recording. Warnings are errors."""
    folder = Path(tempfile.mkdtemp(prefix="agdbg-scripted-"))
    control = ControlWriter(folder / "control")
    control.publish(settings)
    native._node_count = itertools.count(1)
    native._node_ids = native._node_count.__next__
    recorder = Recorder(folder / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.sees(also))
    try:
        sink = native._new_sink(recorder, also)
        agent = ScriptedAgent(folder, moves)
        agent.recorder = recorder
        sink.obey(Driver(agent, sink))
        events.install(sink)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield agent, folder / "trace"
        assert not agent.gone
    finally:
        events.remove()
        recorder.close()
        control.close()
        shutil.rmtree(folder)


def advance_one_by_one(journal, count, before, where=None):
    """What ``Journal.advance`` does, the simple way."""
    for _ in range(count):
        try:
            before(journal.bp.order[journal.bp.position])
        except Abandoned:
            return
        journal.step()


INTERNAL.add(__file__)  # it is no line of the program
