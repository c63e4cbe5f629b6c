"""What the words of each kind of record hold: so that those of two traces can be compared, and impossible ones found.

Numbers of nodes, storages, tensors, passes, modules and optimizers are given by a recorder and differ from run to run: they
are compared by the order in which they are first mentioned. Times are not compared, and no sequence numbers.
"""

from enum import Enum
from typing import Final, NamedTuple

from agdbg.events import Kind


class Holds(Enum):
    """What a word holds."""

    NODE = "node"
    STORAGE = "storage"
    TENSOR = "tensor"
    PASS = "pass"
    MODULE = "module"
    OPTIMIZER = "optimizer"
    HOOK = "hook"
    EDGE = "edge"
    SAVE = "save"
    SITE_OP = "site and op"
    SITE = "site"
    TEXT = "text"
    TEXTS = "two texts"
    NUMBER = "number"
    PAIR = "two numbers"
    NORM = "float64"


class Field(NamedTuple):
    """One word of a record: its name for a reader, what it holds, and which word it is."""

    name: str
    holds: Holds
    word: int


#: What numbers are given to, each numbered by itself.
ENTITIES: Final = (Holds.NODE, Holds.STORAGE, Holds.TENSOR, Holds.PASS, Holds.MODULE, Holds.OPTIMIZER, Holds.HOOK)


def _fields(*fields: tuple[str, Holds, int]) -> tuple[Field, ...]:
    return tuple(Field(*each) for each in fields)


_PASS = ("pass", Holds.PASS, 2)
_WHERE = ("", Holds.SITE_OP, 3)

#: The words that are compared. A kind that is not here is not compared: batches, what this version does not know, and HELD,
#: which depends on when memory is collected.
LAYOUT: Final[dict[Kind, tuple[Field, ...]]] = {
    Kind.BORN: _fields(
        ("node", Holds.NODE, 1), _WHERE, ("input 0", Holds.EDGE, 4), ("input 1", Holds.EDGE, 5),
        ("saved", Holds.SAVE, 6), ("saved as well", Holds.SAVE, 7),
    ),
    Kind.EDGE: _fields(("node", Holds.NODE, 1), ("input", Holds.NUMBER, 2), ("to", Holds.EDGE, 3)),
    Kind.SAVED: _fields(
        ("node", Holds.NODE, 1), ("slot", Holds.NUMBER, 2), ("storage", Holds.STORAGE, 3), ("version", Holds.NUMBER, 4)
    ),
    Kind.RAN: _fields(("node", Holds.NODE, 1), _PASS, ("place", Holds.NUMBER, 3), ("outcome", Holds.NUMBER, 6)),
    Kind.PASS_STARTED: _fields(
        ("pass", Holds.PASS, 1), ("", Holds.SITE_OP, 2), ("root", Holds.EDGE, 3), ("called from", Holds.PASS, 4),
        ("nodes", Holds.NUMBER, 6),
    ),
    Kind.ROOT: _fields(("pass", Holds.PASS, 1), ("number", Holds.NUMBER, 2), ("root", Holds.EDGE, 3)),
    Kind.PASS_FINISHED: _fields(("pass", Holds.PASS, 1), ("outcome", Holds.NUMBER, 2), ("nodes run", Holds.NUMBER, 3)),
    Kind.TENSOR: _fields(
        ("tensor", Holds.TENSOR, 1), ("storage", Holds.STORAGE, 2), ("producer", Holds.EDGE, 3),
        ("name and kind", Holds.TEXTS, 4),
    ),
    Kind.BUMP: _fields(
        ("storage", Holds.STORAGE, 1), ("old version", Holds.NUMBER, 2), ("new version", Holds.NUMBER, 3),
        ("", Holds.SITE_OP, 4), ("node", Holds.NODE, 5), ("tensor", Holds.TENSOR, 6),
    ),
    Kind.VIEW: _fields(
        ("storage", Holds.STORAGE, 1), ("base", Holds.EDGE, 2), ("view", Holds.EDGE, 3), ("", Holds.SITE_OP, 4),
        ("begins at", Holds.NUMBER, 5), ("shape and strides", Holds.TEXTS, 6),
    ),
    Kind.REBASED: _fields(
        ("storage", Holds.STORAGE, 1), ("before", Holds.EDGE, 2), ("now", Holds.EDGE, 3), ("", Holds.SITE_OP, 4)
    ),
    Kind.CUT: _fields(
        ("storage", Holds.STORAGE, 1), ("", Holds.SITE_OP, 2), ("from", Holds.EDGE, 3), ("times", Holds.NUMBER, 4)
    ),
    Kind.GRAD_MODE: _fields(("", Holds.SITE_OP, 2)),
    Kind.ERROR: _fields(
        ("node", Holds.NODE, 1), _PASS, _WHERE, ("storage", Holds.STORAGE, 4), ("versions", Holds.PAIR, 5),
        ("message", Holds.TEXT, 6), ("slot", Holds.NUMBER, 7),
    ),
    Kind.HOOK: _fields(
        ("node", Holds.NODE, 1), _PASS, _WHERE, ("storage", Holds.STORAGE, 4), ("hook", Holds.HOOK, 5),
        ("defined at", Holds.SITE, 6), ("shares with", Holds.EDGE, 7),
    ),
    Kind.FREED: _fields(("node", Holds.NODE, 1), _PASS),
    Kind.PROBE: _fields(
        ("storage", Holds.STORAGE, 1), ("version", Holds.NUMBER, 2), ("checksum", Holds.NUMBER, 3),
        ("node", Holds.NODE, 5), ("slot", Holds.NUMBER, 6),
    ),
    Kind.UNDONE: _fields(("node", Holds.NODE, 1), _PASS, ("place", Holds.NUMBER, 3)),
    Kind.EDITED: _fields(("node", Holds.NODE, 1), _PASS, ("output", Holds.NUMBER, 3)),
    Kind.PACKED: _fields(("node", Holds.NODE, 1), ("slot", Holds.NUMBER, 2), _WHERE),
    Kind.UNPACKED: _fields(("node", Holds.NODE, 1), ("slot", Holds.NUMBER, 2), ("pass", Holds.PASS, 3)),
    Kind.CLONED: _fields(("storage", Holds.STORAGE, 1), ("copies", Holds.NUMBER, 2), _WHERE),
    Kind.DUAL_LEVEL: _fields(("", Holds.SITE_OP, 2), ("level", Holds.NUMBER, 3)),
    Kind.FUNCTION: _fields(("node", Holds.NODE, 1), _PASS, _WHERE, ("defined at", Holds.SITE, 4)),
    Kind.UNMARKED: _fields(
        ("storage", Holds.STORAGE, 1), ("node", Holds.NODE, 2), _WHERE, ("argument", Holds.TEXTS, 4),
        ("requires grad", Holds.NUMBER, 5),
    ),
    Kind.KEPT: _fields(
        ("node", Holds.NODE, 1), ("storage", Holds.STORAGE, 2), _WHERE, ("as", Holds.TEXTS, 4),
        ("has gradients", Holds.NUMBER, 5),
    ),
    Kind.RECOMPUTED: _fields(
        ("node", Holds.NODE, 1), _PASS, _WHERE, ("difference", Holds.TEXTS, 4), ("ops", Holds.NUMBER, 5)
    ),
    Kind.MODULE: _fields(
        ("module", Holds.MODULE, 1), ("path and class", Holds.TEXTS, 2), ("parent", Holds.MODULE, 3)
    ),
    Kind.SHAPE: _fields(
        ("node", Holds.NODE, 1), ("shape and device", Holds.TEXTS, 2), ("bytes", Holds.NUMBER, 3),
        ("storage", Holds.STORAGE, 4), ("bytes of storage", Holds.NUMBER, 5), ("output", Holds.NUMBER, 6),
    ),
    Kind.SUMMARY: _fields(
        ("node", Holds.NODE, 1), _PASS, ("norm", Holds.NORM, 3), ("largest", Holds.NORM, 4),
        ("NaN and infinities", Holds.PAIR, 5), ("first bad", Holds.NUMBER, 6), ("elements", Holds.NUMBER, 7),
    ),
    Kind.OPTIMIZER: _fields(
        ("storage", Holds.STORAGE, 1), ("", Holds.SITE_OP, 2), ("optimizer", Holds.OPTIMIZER, 3),
        ("requires grad", Holds.NUMBER, 4),
    ),
    Kind.RETAINED: _fields(("pass", Holds.PASS, 1)),
    Kind.GRAD_READ: _fields(("storage", Holds.STORAGE, 1), _PASS, _WHERE, ("of", Holds.EDGE, 4)),
    Kind.CAST: _fields(
        ("node", Holds.NODE, 1), _PASS, _WHERE, ("argument and dtype", Holds.TEXTS, 4),
        ("returned and given", Holds.TEXTS, 5), ("fractions", Holds.NUMBER, 6),
    ),
}  # fmt: skip

#: Kinds that are recorded on request, or by later versions only: compared where both traces have them.
ON_REQUEST: Final = (Kind.MODULE, Kind.SHAPE, Kind.SUMMARY, Kind.PROBE, Kind.OPTIMIZER)
