"""All kinds of findings there are, in one table; ``docs/diagnoses.md`` tells of each."""

from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

#: Errors that were raised.
RAISED: Final = (
    "backward-twice",
    "checkpoint",
    "gradcheck",
    "hook-error",
    "inference",
    "inplace-modified",
    "invalid-gradient",
    "leaf-inplace",
    "no-grad-fn",
    "none-grad",
    "not-implemented",
    "once-differentiable",
    "saved-written",
    "view-inplace",
)
#: What raises nothing; ``nan`` is an error in anomaly mode.
SILENT: Final = (
    "backward-cut",
    "context-cycle",
    "context-written",
    "exploding-gradient",
    "grad-read-early",
    "gradient-cast",
    "gradient-cycle",
    "gradient-edited",
    "graph-growth",
    "hook-left-behind",
    "hook-never-fired",
    "inf",
    "intermediate-kept",
    "nan",
    "no-create-graph",
    "no-gradient",
    "non-leaf",
    "not-optimized",
    "recomputation",
    "silent-write",
    "unmarked-write",
    "vanishing-gradient",
)
#: What is no fault, told on request.
REMARKED: Final = (
    "absorbed",
    "constant-gradient",
    "harmless-write",
    "never-run",
    "not-twice",
    "overflow",
    "zero-gradient",
)
#: Errors whose message says it all; there may be no finding about them.
PLAIN: Final = ("non-scalar", "other", "shape", "uncaught")
KINDS: Final = tuple(sorted({*RAISED, *SILENT, *REMARKED, *PLAIN}))
#: Of a finding that names the cause of an error by a kind of its own, the kind of the error.
_ERROR_OF: Final = {"intermediate-kept": "no-grad-fn"}


def error_kind(kind: str) -> str:
    """The kind of the errors that a finding of a kind is about."""
    return _ERROR_OF.get(kind, kind)


def unknown(pattern: str) -> str:
    """What to say of a pattern that fits no kind, with the nearest; empty where one fits."""
    if any(fnmatchcase(kind, pattern) for kind in KINDS):
        return ""
    near = get_close_matches(pattern, KINDS, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"no kind of finding is called {pattern!r}{hint} The kinds are {', '.join(KINDS)}"
