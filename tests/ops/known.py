"""Where the engine differs from PyTorch and why it may: each is tested to be different still."""

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A difference of an entry in one check; ``samples`` is a pattern of file names for the samples' lines."""

    op: str
    check: str
    reason: str
    samples: str = "*"

    def covers(self, failure):
        """Whether a failure is this difference."""
        return fnmatch.fnmatchcase(f"{failure.sample} {failure.text}", self.samples)


KNOWN: list[Known] = []


def unknown(report):
    """The failures that no known difference covers."""
    rows = [k for k in KNOWN if (k.op, k.check) == (report.op, report.check)]
    return [f for f in report.failures if not any(k.covers(f) for k in rows)]


def reasons(report):
    """The reasons of the known differences among the failures."""
    rows = [k for k in KNOWN if (k.op, k.check) == (report.op, report.check)]
    return [k.reason for k in rows if any(map(k.covers, report.failures))]
