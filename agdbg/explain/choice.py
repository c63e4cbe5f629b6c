"""Some kinds of findings out of an explanation: those that are asked for, without those that are not wanted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from agdbg.explain.explanation import Explanation


@dataclass(frozen=True)
class Choice:
    """Patterns as of ``fnmatch`` for kinds of findings.

    Attributes:
        only: a kind must fit one of these; empty: all fit.
        ignore: a kind that fits one of these is left out.
    """

    only: Sequence[str] = ()
    ignore: Sequence[str] = ()

    def takes(self, kind: str) -> bool:
        """Whether findings of a kind are wanted."""
        wanted = not self.only or any(fnmatchcase(kind, each) for each in self.only)
        return wanted and not any(fnmatchcase(kind, each) for each in self.ignore)

    def of(self, explanation: Explanation) -> Explanation:
        """The explanation with what is wanted of it; what is lost of the trace is told all the same."""
        findings = [each for each in explanation.findings if self.takes(each.finding.kind)]
        undiagnosed = [each for each in explanation.undiagnosed if self.takes(each.error.kind)]
        left_out = len(explanation.findings) + len(explanation.undiagnosed) - len(findings) - len(undiagnosed)
        return replace(explanation, findings=findings, undiagnosed=undiagnosed, left_out=left_out)
