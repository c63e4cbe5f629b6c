"""The neutral event model that every engine adapter emits: kinds, provenance and the packed words.

One event is one record of eight unsigned 64-bit words: a head word, the id of the main entity and six
payload words. ``docs/events.md`` says what each kind means, ``docs/trace-format.md`` how records lie on disk.
Nothing here knows an engine.
"""

from enum import IntEnum
from struct import Struct

#: Word 0 of an edge or a save that is not there; ids of nodes and storages start at 1.
NOTHING = 0
#: The sequence number of an ``AccumulateGrad`` node, which must run before every node of the same thread.
ACCUMULATE_SEQUENCE = 2**64 - 1
#: Bits 0 and 1 of the flags hold the :class:`Provenance`.
PROVENANCE_MASK = 3
#: Flags of ``PASS_STARTED``.
RETAIN_GRAPH = 4
CREATE_GRAPH = 8
#: Flag of ``ERROR``: nothing was raised, a stop before the pass has seen that it would be.
PREDICTED = 4
#: Flag of ``HOOK``: it wrote to a gradient that it was given.
EDITED_IN_PLACE = 4
#: Flag of ``FUNCTION``: it says of itself that it cannot be differentiated.
ONCE_DIFFERENTIABLE = 4
#: Flag of ``RECOMPUTED``: other random numbers were drawn than in the first run.
REDRAWN = 4

#: Flag of ``EDITED``: what was replaced is a saved tensor, for one run.
SAVED_EDIT = 4

_NODE_BITS, _NODE_MASK = 48, (1 << 48) - 1
_STORAGE_BITS, _STORAGE_MASK = 36, (1 << 36) - 1
_VERSION_BITS, _VERSION_MASK = 20, (1 << 20) - 1
_SLOT_SHIFT = _STORAGE_BITS + _VERSION_BITS
_LOW = (1 << 32) - 1
_FLOAT, _WORD = Struct("<d"), Struct("<Q")


class Kind(IntEnum):
    """What a record says. Numbers are part of the trace format and never reused."""

    BORN = 1
    EDGE = 2
    SAVED = 3
    RAN = 4
    PASS_STARTED = 5
    ROOT = 6
    PASS_FINISHED = 7
    TENSOR = 8
    BUMP = 9
    VIEW = 10
    REBASED = 11
    CUT = 12
    GRAD_MODE = 13
    ERROR = 14
    CLOCK = 15
    HOOK = 16
    FREED = 17
    PROBE = 18
    UNDONE = 19
    EDITED = 20
    PACKED = 21
    UNPACKED = 22
    CLONED = 23
    DUAL_LEVEL = 24
    FUNCTION = 25
    UNMARKED = 26
    KEPT = 27
    RECOMPUTED = 28
    MODULE = 29
    SHAPE = 30
    SUMMARY = 31
    OPTIMIZER = 32
    RETAINED = 33
    HELD = 34
    GRAD_READ = 35
    CAST = 36


class Provenance(IntEnum):
    """How an adapter knows a fact; a diagnosis that rests on an inferred one says so."""

    OBSERVED = 0
    INFERRED = 1
    UNKNOWN = 2


#: By the bits in word 0.
_PROVENANCES = (Provenance.OBSERVED, Provenance.INFERRED, Provenance.UNKNOWN, Provenance.UNKNOWN)


class Outcome(IntEnum):
    """How one node's run, or a whole pass, ended."""

    OK = 0
    ERROR = 1
    SKIPPED = 2


class HookAction(IntEnum):
    """Field ``a`` of a ``HOOK`` record."""

    REGISTERED = 0
    FIRED = 1
    REMOVED = 2


class ModuleEvent(IntEnum):
    """Field ``a`` of a ``MODULE`` record."""

    NAMED = 0
    ENTERED = 1
    LEFT = 2


class Summarized(IntEnum):
    """Field ``a`` of a ``SUMMARY`` record: what was summarised."""

    OUTPUT = 0
    GRADIENT_IN = 1
    GRADIENT_OUT = 2


class Probed(IntEnum):
    """Field ``a`` of a ``PROBE`` record."""

    SAVED = 0
    CHECKED = 1


class OptimizerEvent(IntEnum):
    """Field ``a`` of an ``OPTIMIZER`` record."""

    BUILT = 0
    STEPPED = 1


class NeedsGrad(IntEnum):
    """Field ``a`` of a ``TENSOR`` record."""

    UNKNOWN = 0
    YES = 1
    NO = 2


class Creation(IntEnum):
    """Field ``a`` of a ``VIEW`` record: where the view was made, which decides whether it may be written in place."""

    UNKNOWN = 0
    DEFAULT = 1
    NO_GRAD = 2
    ONE_OF_SEVERAL = 3
    INFERENCE = 4
    IN_CUSTOM_FUNCTION = 5


class Held(IntEnum):
    """Field ``a`` of a ``HELD`` record: what holds a graph that was run already."""

    SOMEBODY = 0
    GRADIENT = 1


class Fractions(IntEnum):
    """Word 6 of a ``CAST`` record: whether a gradient that came in has numbers that are no integers."""

    UNKNOWN = 0
    YES = 1
    NO = 2


class FunctionCall(IntEnum):
    """Field ``a`` of a ``FUNCTION`` record."""

    FORWARD = 0
    BACKWARD = 1
    JVP = 2


def head(kind: int, thread: int = 0, flags: int = 0, a: int = 0, b: int = 0) -> int:
    """Pack word 0. ``a`` and ``b`` are counts of one byte: 255 stands for 255 or more."""
    return kind | flags << 8 | min(a, 255) << 16 | min(b, 255) << 24 | thread << 32


def kind_of(word0: int) -> int:
    """The kind number in word 0; it may be one that :class:`Kind` does not know."""
    return word0 & 255


def flags_of(word0: int) -> int:
    """All eight flag bits of word 0."""
    return word0 >> 8 & 255


def a_of(word0: int) -> int:
    """The small number ``a`` of word 0 (0 to 255)."""
    return word0 >> 16 & 255


def b_of(word0: int) -> int:
    """The small number ``b`` of word 0 (0 to 255)."""
    return word0 >> 24 & 255


def thread_of(word0: int) -> int:
    """The ordinal of the thread that emitted the record; 1 is the first one seen."""
    return word0 >> 32


def provenance_of(word0: int) -> Provenance:
    """The provenance in word 0; the unassigned value 3 reads as unknown."""
    return _PROVENANCES[word0 >> 8 & PROVENANCE_MASK]


def pack_edge(node: int, output_nr: int = 0) -> int:
    """Pack an EDGE word. Output 65535 stands for 65535 or more; ``node`` 0 means no edge."""
    return (node & _NODE_MASK) | min(output_nr, 65535) << _NODE_BITS if node else NOTHING


def unpack_edge(word: int) -> tuple[int, int]:
    """The ``(node, output number)`` of an EDGE word; ``(0, 0)`` when there is no edge."""
    return word & _NODE_MASK, word >> _NODE_BITS


def pack_save(storage: int, version: int, slot: int) -> int:
    """Pack a SAVE word, or return 0 when a number does not fit: write a ``SAVED`` record then."""
    if storage > _STORAGE_MASK or version > _VERSION_MASK or slot > 255:
        return NOTHING
    return storage | version << _STORAGE_BITS | slot << _SLOT_SHIFT


def unpack_save(word: int) -> tuple[int, int, int]:
    """The ``(storage, version, slot index)`` of a SAVE word."""
    return word & _STORAGE_MASK, word >> _STORAGE_BITS & _VERSION_MASK, word >> _SLOT_SHIFT


def pack_pair(low: int, high: int) -> int:
    """Pack two 32-bit numbers, ``low`` in bits 0 to 31."""
    return low & _LOW | (high & _LOW) << 32


def unpack_pair(word: int) -> tuple[int, int]:
    """The ``(low, high)`` halves of a word."""
    return word & _LOW, word >> 32


def pack_duration(ns: int) -> tuple[int, int]:
    """Nanoseconds as a number of 32 bits and how far it was shifted to the right for that: exact below 4.29 seconds."""
    shift = max(ns.bit_length() - 32, 0)
    return ns >> shift, shift


def pack_float(number: float) -> int:
    """The bits of a float64 as a word."""
    word: int = _WORD.unpack(_FLOAT.pack(number))[0]
    return word


def unpack_float(word: int) -> float:
    """The float64 whose bits a word holds."""
    number: float = _FLOAT.unpack(_WORD.pack(word))[0]
    return number


def pack_site_op(site: int, op: int) -> int:
    """Pack a SITE_OP word from the string ids of a source site and of an op (0 = none)."""
    return pack_pair(site, op)


def unpack_site_op(word: int) -> tuple[int, int]:
    """The ``(site, op)`` string ids of a SITE_OP word."""
    return unpack_pair(word)
