"""Nodes, leaves and places in the words of the inspector and the events."""

import re

from agdbg.record.facts import NodeFact
from agdbg.record.lookup import Site
from agdbg.record.query import Facts

#: Characters of a text in an answer; what is longer is cut.
TEXT = 200
_MOST_IN_WORDS = 1 << 32


def cut(text: str) -> str:
    """At most :data:`TEXT` characters of a text."""
    return text if len(text) <= TEXT else text[: TEXT - 3] + "..."


def place(site: Site) -> str:
    """``train.py:12``; empty when nothing is known."""
    name = re.split(r"[\\/]", site.file)[-1]
    return f"{name}:{site.line}" if site.line else name


def at(site: Site) -> str:
    """`` at train.py:12``, or nothing."""
    where = place(site)
    return f" at {where}" if where else ""


def storage_words(facts: Facts, storage: int) -> str:
    """A storage by the name of a tensor on it; the number of one that only its maker knows says nothing to a reader."""
    names = facts.names(storage) if storage else []
    return names[0] if names else f"storage {storage}" if 0 < storage <= _MOST_IN_WORDS else "an unnamed storage"


def is_leaf(node: NodeFact) -> bool:
    """Whether a node accumulates the gradient of a leaf."""
    return node.op.name.endswith("AccumulateGrad")


def node_words(facts: Facts, number: int) -> str:
    """``MulBackward0 #5``, or a leaf by its name: ``1.weight #3``."""
    node = facts.node(number)
    if node is None:
        return f"#{number}, born before the recording"
    name = (facts.name_of_leaf(number) or "leaf") if is_leaf(node) else node.op.name
    return f"{name} #{number}"


def pass_words(facts: Facts, pass_id: int) -> str:
    """``pass 2, backward at train.py:20``."""
    found = facts.pass_of(pass_id)
    return f"pass {pass_id}, {found.call or 'backward'}{at(found.site)}" if found else f"pass {pass_id}"
