"""Writes the record of a node's birth: one function per node class, made when the class is first seen.

A general function would ask every node how many edges and saved tensors its class has; on a node that takes two
microseconds all in all, the asking is what costs. What the made function cannot do (an edge to a later output, a producer without
a number, a freed slot, a number too big for its bits) makes it raise, and the general way takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from agdbg.events import Kind, head
from agdbg.record.format import INLINE, MORE_RECORD, born_record
from agdbg_engine.node import Node, NodeN
from agdbg_engine.ops.forward import SavedResult
from agdbg_engine.ops.wide.node import Interpreted
from agdbg_engine.sites import INTERNAL
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink

MADE_BY_NODE = 1 << 35
"""Set in the id of a storage: the other bits are the id of the node whose first output lies in it."""

_VERSION_BITS = 20
_LOW = (1 << 32) - 1
_STORAGE_HIGH = 15  # the number of a storage has 36 bits

_FILE = "<births>"
INTERNAL.add(
    _FILE
)  # the context of a custom Function tells the engine's number from an attribute of the program by this


class _Unusual(Exception):
    """This node needs the general way."""


def birth_writer(cls: type[Node], sink: NativeSink) -> Callable[[Node, Tensor], None]:
    """A function that records the birth of a node of ``cls`` through ``sink``."""
    if cls.user_code:
        return sink.born_unusual
    source = "\n".join(_source(cls))
    inline = min(cls.arity, INLINE)
    names: dict[str, Any] = {
        "new_node": sink.new_node,
        "append": sink.append,
        "pack": born_record(inline, min(len(cls.slots), INLINE)).pack,
        "pack_more": MORE_RECORD.pack,
        "tick": sink.tick,
        "logs": sink.logs,
        "catch_up": sink.catch_up,
        "ordinal": sink.ordinal,
        "sites": sink.sites,
        "storage_of": sink.storage_of,
        "number_of": sink._storage,
        "name_leaf": sink.name_leaf,
        "OP": sink.recorder.op(cls.op_name, cls.slots),
        "SavedResult": SavedResult,
        "Unusual": _Unusual,
        "unusual": sink.born_unusual,
    }
    exec(compile(source, _FILE, "exec"), names)
    made: Callable[[Node, Tensor], None] = names["write"]
    return made


def _source(cls: type[Node]) -> Iterator[str]:
    yield "def write(node, out):"
    yield "  try:"
    yield "    if logs:"
    yield "        catch_up()"
    if cls.arity:
        yield "    if node.nrs is not None:"
        yield "        raise Unusual"
    several = issubclass(cls, NodeN)
    yield from _any_edges() if several else _edges(cls.arity)
    several_results = cls.outputs if issubclass(cls, Interpreted) and cls.n_outputs > 1 else ()
    for i, (slot, is_output) in enumerate(zip(cls.slots, cls.outputs_saved, strict=True)):
        yield from _result() if is_output else _input(i, slot, slot in several_results)
    yield "    code = node.code"
    yield "    site = sites[id(code)][node.lasti]"
    yield "    tag = new_node()"  # when nothing can send it the general way any more, which gives a number too
    for i, is_output in enumerate(cls.outputs_saved):
        if is_output:
            yield f"    l{i} = tag"
            yield f"    h{i} = {MADE_BY_NODE >> 32 | i << 24}"
    yield "    thread = ordinal.number"
    first = str(head(Kind.BORN, a=cls.arity, b=len(cls.slots)))
    if several:
        first = f"{head(Kind.BORN, b=len(cls.slots))} | (count if count < 255 else 255) << 16"
    edges = [f"e{i}" for i in range(min(cls.arity, INLINE))]
    saves = [f"l{i}, h{i}" for i in range(min(len(cls.slots), INLINE))]
    parts = [first, "thread", "tag", "node.seq", "site", "OP", *edges, *saves]
    yield f"    append(pack({', '.join(parts)}))"
    if several:
        yield f"    for i in range({INLINE}, count):"
        yield f"        append(pack_more({head(Kind.EDGE)}, thread, tag, i, tags[i], 0))"
    for i in range(INLINE, len(cls.slots)):
        yield f"    if l{i}:"  # every memory and every node has a number above 0
        storage, version = f"l{i} | (h{i} & {_STORAGE_HIGH}) << 32", f"h{i} >> 4 & {(1 << _VERSION_BITS) - 1}"
        yield f"        append(pack_more({head(Kind.SAVED)}, thread, tag, {i}, {storage}, {version}))"
    yield "    node.tag = tag"
    yield "    if not tag & 15:"
    yield "        tick()"
    if cls.leaf:
        yield "    name_leaf(node)"
    yield "  except Exception:"
    yield "    unusual(node, out)"


def _edges(arity: int) -> Iterator[str]:
    for i in range(arity):
        yield f"    n = node.n{i}"
        yield f"    e{i} = n.tag if n is not None else 0"


def _any_edges() -> Iterator[str]:
    """Those of a node with any number of them, the first ones by themselves."""
    yield "    tags = [n.tag if n is not None else 0 for n in node.next]"
    yield "    count = len(tags)"
    for i in range(INLINE):
        yield f"    e{i} = tags[{i}] if count > {i} else 0"


def _input(i: int, slot: str, result: bool) -> Iterator[str]:
    """The SAVE word of an input, or of a ``result`` of an op with several, in halves."""
    yield f"    t = node.s_{slot}"
    yield "    if t is None:"
    yield f"        l{i} = h{i} = 0"
    if result:
        yield "    elif type(t) is SavedResult:"
        yield f"        st, v = t.real_storage, node.v_{slot}"
        yield f"        if v >> {_VERSION_BITS}:"
        yield "            raise Unusual"
        yield "        w = st.tag or number_of(st)"
        yield from _halves(i, "        ")
    yield "    else:"
    yield "        st = t._storage"
    yield "        if st is not None:"
    yield f"            v = node.v_{slot}"
    yield f"            if v >> {_VERSION_BITS}:"
    yield "                raise Unusual"
    yield "            w = st.tag or storage_of(t)"
    yield from _halves(i, "            ")
    yield "        else:"
    yield "            n = t._fn"
    yield "            if n is not None:"
    yield f"                l{i} = n.tag"
    yield f"                h{i} = {MADE_BY_NODE >> 32 | i << 24}"
    yield "            else:"
    yield f"                l{i} = storage_of(t)"
    yield f"                h{i} = {i << 24}"


def _halves(i: int, indent: str) -> Iterator[str]:
    """The storage ``w`` and its version ``v`` as a SAVE word in halves."""
    yield indent + f"if w <= {_LOW}:"  # other numbers are rare, and integers of more than 30 bits slow
    yield indent + f"    l{i} = w"
    yield indent + f"    h{i} = v << 4 | {i << 24}"
    yield indent + "else:"
    yield indent + f"    l{i} = w & {_LOW}"
    yield indent + f"    h{i} = w >> 32 | v << 4 | {i << 24}"


def _result() -> Iterator[str]:
    """A result is told by the number of its node as long as it has no storage."""
    yield "    if node.o_storage is not None:"
    yield "        raise Unusual"
