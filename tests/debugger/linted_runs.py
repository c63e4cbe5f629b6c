"""Runs scripts on the engine with everything recorded, and hands out what lints and diagnoses find; conftest.py makes a fixture."""

import contextlib
import textwrap
from dataclasses import dataclass

from agdbg.diagnose import diagnose, lint
from agdbg.engines import native
from agdbg.record import Facts, Recorder, Trace

HEAD = """import warnings; warnings.simplefilter("ignore")
import agdbg_engine as ag; from agdbg_engine import nn
from agdbg_engine.autograd import Function, grad, gradcheck
x = ag.tensor([1., 2.], requires_grad=True)
"""  # lines 1 to 4


@dataclass
class Linted:
    """A trace of a script that ran; lines count from the first of the script behind the head, which is line 5."""

    facts: Facts

    @property
    def lints(self):
        """What is wrong though nothing was raised."""
        return lint(self.facts)

    @property
    def findings(self):
        """What is found about errors."""
        return diagnose(self.facts)

    def only(self, kind):
        """The one lint of this kind; there must be exactly one."""
        (found,) = [each for each in self.lints if each.kind == kind]
        return found

    def kinds(self):
        """The kinds of all lints."""
        return sorted(each.kind for each in self.lints)


def roles(finding):
    """Role and line of all evidence."""
    return [(each.role, each.site.line) for each in finding.evidence]


class LintedRuns:
    """Runs scripts, each in a directory of its own."""

    def __init__(self, directory):
        self._directory = directory
        self._count = 0

    def __call__(self, source, also=native.EXTRAS, error=()):
        self._count += 1
        here = self._directory / f"linted{self._count}"
        here.mkdir()
        file = here / "script.py"
        file.write_text(HEAD + textwrap.dedent(source).strip("\n") + "\n")
        recorder = Recorder(here / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.sees(also))
        native.attach(recorder, also=also)
        names = {"__name__": "__main__"}
        try:
            with contextlib.suppress(error):
                exec(compile(file.read_text(), str(file), "exec"), names)
        finally:
            native.detach()
            recorder.close()
        return Linted(Facts(Trace.open(here / "trace")))
