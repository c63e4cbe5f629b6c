"""What a breakpoint means: one rule for the program, which stops, and for the hub, which shows it and refuses bad ones."""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

EVENTS: dict[str, str] = {
    "node-born": "a node was built",
    "node-ran": "a node has run",
    "save": "a node that was built has saved tensors",
    "unpack": "a node is about to read what it saved, or an unpack hook gave it back",
    "release": "a node that has run let go of what it saved",
    "packed": "a pack hook took what a node saves",
    "cloned": "saved tensors were copied before a write",
    "version-bump": "a write raised the version of a storage",
    "view-created": "a view was made",
    "history-rebased": "a write gave a tensor another history",
    "cut": "a gradient path ended: detach, no_grad, .data, an integer, NumPy, item, or a new tensor of the values",
    "grad-mode": "gradients were switched on or off",
    "tensor-named": "a tensor got a name",
    "hook-registered": "a hook was registered",
    "hook-fired": "a hook has been called",
    "hook-removed": "a hook was removed",
    "accumulate": "a gradient is about to be added to a leaf",
    "graph-freed": "a pass without retain_graph has freed its graph",
    "backward-started": "backward() or grad() is about to run its first node",
    "backward-finished": "backward() or grad() has run its nodes and is about to return",
    "dual-level": "a level of forward mode was entered or left",
    "custom-forward": "forward of a custom Function is about to be called",
    "custom-backward": "backward of a custom Function is about to be called",
    "custom-jvp": "jvp of a custom Function is about to be called",
    "unmarked-write": "a custom Function wrote to an argument without mark_dirty",
    "kept": "the context of a custom Function holds a tensor that was not saved",
    "gradient-cast": "the gradient that a custom Function returned was cast to its argument's dtype",
    "module-entered": "the forward of a module is about to be called",
    "module-left": "the forward of a module has returned or raised",
    "recomputed": "a checkpointed function has run again",
}
"""What a breakpoint on an event stops at, by the kind of the event."""

_NUMBER = re.compile(r"(?:#|node\s+)(\d+)\s*", re.IGNORECASE)
_STORAGE = re.compile(r"storage[:\s]\s*(\d+)\s*", re.IGNORECASE)
_HITS = re.compile(r"\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*")
_TESTS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda hits, number: hits == number,
    ">=": lambda hits, number: hits >= number,
    "<=": lambda hits, number: hits <= number,
    ">": lambda hits, number: hits > number,
    "<": lambda hits, number: hits < number,
    "%": lambda hits, number: hits % number == 0,
}


def names_of_op(op: str) -> list[str]:
    """The names that a node answers to: ``MulBackward0`` also to ``Mul`` and ``mul``."""
    short = re.sub(r"Backward\d*$", "", op.rpartition("::")[2])
    return list(dict.fromkeys([op, op.rpartition("::")[2], short, short.lower()]))


def matches(pattern: str, names: Iterable[str]) -> bool:
    """True when one of the ``names`` is the pattern, as ``params[0]``, or fits it as in ``fnmatch``; case matters."""
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def node_number(pattern: str) -> int:
    """The number of the one node that ``#123`` or ``node 123`` means; 0 for any other pattern."""
    found = _NUMBER.fullmatch(pattern.strip())
    return int(found[1]) if found else 0


def storage_number(text: str) -> int:
    """The number of the storage that ``storage 123`` or ``storage:123`` means; 0 for anything else."""
    found = _STORAGE.fullmatch(text.strip())
    return int(found[1]) if found else 0


def event_kind(text: str) -> str:
    """The kind as :data:`EVENTS` has it: ``version bump`` and ``Version_Bump`` are ``version-bump``."""
    return re.sub(r"[\s_]+", "-", text.strip().lower())


# ----- how often -----


def hit_test(condition: str) -> Callable[[int], bool] | None:
    """What a hit condition asks of the number of hits so far, this one included; ``None`` when it is none.

    ``3`` and ``==3`` mean the third hit, ``>=3`` that and all later ones, ``%5`` every fifth.
    """
    found = _HITS.fullmatch(condition)
    if found is None or not int(found[2]):
        return None
    test, number = _TESTS[found[1] or "=="], int(found[2])
    return lambda hits: test(hits, number)


def hit_problem(condition: str) -> str:
    """What is wrong with a hit condition; empty when nothing is."""
    if not condition or hit_test(condition) is not None:
        return ""
    return (
        f"hitCondition {condition!r} is no number of hits: write 3 for the third hit, >=3 for that and all later ones, "
        "%5 for every fifth (there are ==, >=, >, <=, < and %, with a number from 1)"
    )
