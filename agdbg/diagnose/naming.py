"""What people call a tensor: a parameter's name, a variable on the line that made it or used it."""

from agdbg.diagnose.carriers import held_as
from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import function_of
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.source import assigned, expression, is_returned, operand, viewed_operand
from agdbg.diagnose.words import is_result, listed, op_words, same_line
from agdbg.diagnose.writes import write
from agdbg.record.facts import NodeFact

#: Ops whose output is a view of their input: what was saved behind them is the input's memory.
_VIEWS: tuple[str, ...] = ("T", "Transpose", "Permute", "View", "ReshapeAlias", "Alias", "AsStrided")
_VIEWS += ("Expand", "Unsqueeze", "Squeeze", "Slice", "Select")
_VIEW_OPS = tuple(f"{name}Backward" for name in _VIEWS)
#: Slots by the operand that they hold.
_FIRST = {"self", "input", "mat1", "base"}
_SECOND = {"other", "exponent", "mat2", "vec", "weight"}


def entry_name(case: Case, entry: Entry) -> str:
    """The name by which the second graph came upon a tensor of the first; empty when it has none.

    What a function returns has another name in its caller, so the name that it has elsewhere is no help.
    """
    name = case.facts.name_of_leaf(entry.node.id) or assigned(entry.node.site)
    return name or ("" if is_returned(entry.node.site) else used_as(entry))


def entry_names(case: Case, entry: Entry) -> list[str]:
    """The same, or of a call with several results the names that it hands on: ``h``, ``c`` of ``out, (h, c) = lstm(x, (h, c))``."""
    name = entry_name(case, entry)
    user = entry.consumer
    elsewhere = (
        user is not None and user.site.func == entry.node.site.func and not same_line(user.site, entry.node.site)
    )
    return [name] if name else [] if elsewhere else held_as(entry.node.site)


def used_as(entry: Entry) -> str:
    """The name by which the consumer took it, on its own line; empty when there is none."""
    consumer = entry.consumer
    if consumer is None or consumer.site == entry.node.site:
        return ""
    return operand(consumer.site, consumer, entry.index)


def entry_words(case: Case, entry: Entry) -> str:
    """The same in words: the name, or what made it."""
    names = entry_names(case, entry)
    if names:
        return listed(f"`{name}`" for name in names)
    site = entry.node.site
    if is_returned(site) and site.func:
        return f"what `{function_of(site)}` returned"
    return f"the result of {made_by(entry.node)}"


def made_by(node: NodeFact) -> str:
    """The expression that built a node, or its op."""
    text = expression(node.site)
    return f"`{text}`" if text else op_words(node)


def saved_name(case: Case, node: NodeFact | None, slot: str, storage: int) -> str:
    """What a saved tensor is called, in quotes, with ``parameter`` before; empty when that cannot be told."""
    known = _named_storage(case, storage)
    if known or node is None:
        return known
    slot = slot.removeprefix("_saved_")
    if is_result(slot):
        name = assigned(node.site) or write(node.site).target
    else:
        name = _leaf_of_slot(case, node, slot) or _argument(node, slot, of_tensors=bool(storage))
    return f"`{name}`" if name else ""


def _named_storage(case: Case, storage: int) -> str:
    named = [each for each in case.facts.tensors if each.storage == storage and each.name] if storage else []
    if not named:
        return ""
    name = case.facts.names(storage)[0]
    kind = next(each.kind for each in named if each.name == name)
    if kind not in ("parameter", "buffer"):
        return f"`{name}`"
    others = len({each.storage for each in case.facts.tensors if each.name == name})
    return f"{kind} `{name}`" if others < 2 else f"a {kind} called `{name}` ({_number(others)} have this name)"


def _number(number: int) -> str:
    return {2: "two", 3: "three"}.get(number, f"{number:,}")


def _argument(node: NodeFact, slot: str, *, of_tensors: bool) -> str:
    index = 0 if slot in _FIRST else 1 if slot in _SECOND else -1
    return viewed_operand(node.site, node, index, of_tensors=of_tensors) if index >= 0 else ""


def _leaf_of_slot(case: Case, node: NodeFact, slot: str) -> str:
    """The name of the leaf that a saved input is, or is a view of."""
    index = {
        "self": 0,
        "other": 1,
        "weight": 1,
        "mat1": len(node.edges) - 2,
        "mat2": len(node.edges) - 1,
    }.get(slot, -1)
    number = node.edges[index].node if 0 <= index < len(node.edges) else 0
    for _ in range(len(_VIEWS)):
        below = case.facts.node(number)
        if below is None or not below.op.name.startswith(_VIEW_OPS):
            break
        number = below.edges[0].node if below.edges else 0
    return case.facts.name_of_leaf(number) or ""
