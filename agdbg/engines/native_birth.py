"""Writes the record of a node's birth: one function per node class, made when the class is first seen.

A general function would ask every node how many edges and saved tensors its class has; on a node that takes two
microseconds all in all, the asking is what costs. What the made function cannot do (an edge to a later output, a producer without
a number, a freed slot, a number too big for its bits) makes it raise, and the general way takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from agdbg.events import Kind, head
from agdbg.record.format import born_record
from agdbg_engine.node import Node
from agdbg_engine.sites import INTERNAL
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink

MADE_BY_NODE = 1 << 35
"""Set in the id of a storage: the other bits are the id of the node whose first output lies in it."""

_VERSION_BITS = 20
_LOW = (1 << 32) - 1

_FILE = "<births>"
INTERNAL.add(
    _FILE
)  # the context of a custom Function tells the engine's number from an attribute of the program by this


class _Unusual(Exception):
    """This node needs the general way."""


def birth_writer(cls: type[Node], sink: NativeSink) -> Callable[[Node, Tensor], None]:
    """A function that records the birth of a node of ``cls`` through ``sink``."""
    if cls.arity > 2 or len(cls.slots) > 2 or cls.user_code:
        return sink.born_unusual
    source = "\n".join(_source(cls))
    names: dict[str, Any] = {
        "new_node": sink.new_node,
        "append": sink.append,
        "pack": born_record(cls.arity, len(cls.slots)).pack,
        "tick": sink.tick,
        "logs": sink.logs,
        "catch_up": sink.catch_up,
        "ordinal": sink.ordinal,
        "sites": sink.sites,
        "storage_of": sink.storage_of,
        "name_leaf": sink.name_leaf,
        "OP": sink.recorder.op(cls.op_name, cls.slots),
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
    for i in range(cls.arity):
        yield f"    n = node.n{i}"
        yield f"    e{i} = n.tag if n is not None else 0"
    for i, (slot, is_output) in enumerate(zip(cls.slots, cls.outputs_saved, strict=True)):
        yield from _result() if is_output else _input(i, slot)
    yield "    code = node.code"
    yield "    site = sites[id(code)][node.lasti]"
    yield "    tag = new_node()"  # when nothing can send it the general way any more, which gives a number too
    for i, is_output in enumerate(cls.outputs_saved):
        if is_output:
            yield f"    l{i} = tag"
            yield f"    h{i} = {MADE_BY_NODE >> 32 | i << 24}"
    first = head(Kind.BORN, a=cls.arity, b=len(cls.slots))
    edges = [f"e{i}" for i in range(cls.arity)]
    saves = [f"l{i}, h{i}" for i in range(len(cls.slots))]
    parts = [str(first), "ordinal.number", "tag", "node.seq", "site", "OP", *edges, *saves]
    yield f"    append(pack({', '.join(parts)}))"
    yield "    node.tag = tag"
    yield "    if not tag & 15:"
    yield "        tick()"
    if cls.leaf:
        yield "    name_leaf(node)"
    yield "  except Exception:"
    yield "    unusual(node, out)"


def _input(i: int, slot: str) -> Iterator[str]:
    """The SAVE word of an input, in halves."""
    yield f"    t = node.s_{slot}"
    yield "    if t is None:"
    yield f"        l{i} = h{i} = 0"
    yield "    else:"
    yield "        st = t._storage"
    yield "        if st is not None:"
    yield f"            v = node.v_{slot}"
    yield f"            if v >> {_VERSION_BITS}:"
    yield "                raise Unusual"
    yield "            w = st.tag or storage_of(t)"
    yield f"            l{i} = w & {_LOW}"
    yield f"            h{i} = w >> 32 | v << 4 | {i << 24}"
    yield "        else:"
    yield "            n = t._fn"
    yield "            if n is not None:"
    yield f"                l{i} = n.tag"
    yield f"                h{i} = {MADE_BY_NODE >> 32 | i << 24}"
    yield "            else:"
    yield f"                l{i} = storage_of(t)"
    yield f"                h{i} = {i << 24}"


def _result() -> Iterator[str]:
    """A result is told by the number of its node as long as it has no storage."""
    yield "    if node.o_storage is not None:"
    yield "        raise Unusual"
