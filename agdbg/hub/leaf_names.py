"""What the leaves that a node uses are called on a screen: by the recording, by the node's own line, or by their shapes."""

from agdbg.diagnose.source import operand
from agdbg.protocol.vendor import Badge
from agdbg.record.live import LiveFacts

#: What a leaf is called of which nothing is known.
LEAF = "leaf"


def named(facts: LiveFacts, node: int, badges: list[Badge]) -> list[Badge]:
    """The badges of a node; those without a text get one.

    The recording has names for what is in modules, and for what was watched. Any other leaf goes by the variable that stands on
    the line of the node, and is called a leaf of its shape where that line does not tell.
    """
    return [badge if badge["text"] else {**badge, "text": _called(facts, node, badge["node"])} for badge in badges]


def variable(facts: LiveFacts, node: int, leaf: int) -> str:
    """What the line of a node calls a leaf that it uses; empty where that cannot be told."""
    user = facts.node(node) if node != leaf else None
    if user is None:
        return ""
    names = (operand(user.site, user, index) for index, edge in enumerate(user.edges) if edge.node == leaf)
    return next(filter(None, names), "")


def _called(facts: LiveFacts, node: int, leaf: int) -> str:
    if name := variable(facts, node, leaf):
        return name
    shape = facts.shape(leaf)
    return LEAF if shape is None else f"{LEAF} {shape.text[max(shape.text.find('['), 0) :]}"
