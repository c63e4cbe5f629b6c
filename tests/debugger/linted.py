"""Runs a small script on agdbg's own engine with everything recorded that can be, and lints it.

conftest.py makes a fixture of it. Line 1 of every script is HEAD, so that the first line of the source is line 2.
"""

import warnings
from dataclasses import dataclass

import agdbg_engine as ag
from agdbg.diagnose import diagnose, lint, remarks
from agdbg.engines import native
from agdbg.record import Facts, Recorder, Trace

HEAD = "import agdbg_engine as ag; import numpy as np; from agdbg_engine import nn, optim\n"
ALL = frozenset(("shapes", "values", "checksums"))


@dataclass
class Linted:
    """What became of a script."""

    facts: Facts
    error: Exception | None

    @property
    def lints(self):
        return lint(self.facts)

    @property
    def remarks(self):
        return remarks(self.facts)

    @property
    def diagnosed(self):
        return diagnose(self.facts)

    def only(self, kind):
        """The only lint, which is of this kind."""
        found = self.lints
        assert [each.kind for each in found] == [kind], [each.cause for each in found]
        return found[0]

    def remarked(self, kind):
        """The remarks of a kind; nothing was found fault with."""
        assert self.lints == []
        return [each for each in self.remarks if each.kind == kind]


def lines_of(finding, role):
    """The lines of the evidence of a role."""
    return [each.site.line for each in finding.evidence if each.role == role]


def run(directory, source, also=ALL):
    """Run a script in this process and read its trace."""
    script = directory / "script.py"
    script.write_text(HEAD + source.lstrip("\n"))
    recorder = Recorder(directory / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.SEES)
    native.attach(recorder, also=also)
    error = None
    ag.manual_seed(0)  # whatever was drawn in this process before
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the engine warns of is not the matter here
            exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    except (RuntimeError, TypeError) as raised:
        error = raised
    finally:
        native.detach()
        recorder.close()
    return Linted(Facts(Trace.open(recorder.path)), error)
