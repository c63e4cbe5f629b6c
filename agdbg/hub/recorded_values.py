"""What a trace tells of the values of a node, which it has not: of gradients and outputs what was recorded, who shares memory."""

from agdbg.hub.wording import node_words, storage_words
from agdbg.record.deep_facts import SummaryFact
from agdbg.record.facts import NodeFact, SaveFact
from agdbg.record.live import LiveFacts

#: Before what was recorded of a gradient whose elements are not there.
RECORDED = "; recorded in "
#: Nodes that are named one by one.
SHOWN = 3


def gradients(facts: LiveFacts, node: int, what: str, before: int) -> dict[int, str]:
    """By output, or for what goes out by input, what was recorded of the last gradient before a record; it follows other words."""
    found = {each.index: each for each in facts.summaries(node) if each.what == what and each.row < before}
    return {number: f"{RECORDED}pass {each.pass_id}: {_words(each)}" for number, each in sorted(found.items())}


def outputs(facts: LiveFacts, node: int) -> dict[int, str]:
    """By number what the outputs of a node were."""
    shapes = {each.output: each.text for each in facts.shapes(node)}
    values = {each.index: _words(each) for each in facts.summaries(node) if each.what == "output"}
    both = ((number, (shapes.get(number, ""), values.get(number, ""))) for number in sorted({*shapes, *values}))
    return {number: "  ".join(filter(None, words)) for number, words in both}


def storage(facts: LiveFacts, node: NodeFact, save: SaveFact) -> str:
    """The storage of a saved tensor, and what else saved the same."""
    slots = [f"as {each.slot} too" for each in node.saves if each.storage == save.storage and each.slot != save.slot]
    others = [number for number in facts.savers(save.storage) if number != node.id]
    named = [node_words(facts, number) for number in others[:SHOWN]]
    more = [f"{len(others) - SHOWN:,} more"] if len(others) > SHOWN else []
    told = ", ".join([*slots, *(["by " + ", ".join(named + more)] if named else [])])
    return storage_words(facts, save.storage) + (f", saved {told}" if told else ", saved by no other node")


def _words(each: SummaryFact) -> str:
    bad = [f"{count:,} {name}" for count, name in ((each.nans, "NaN"), (each.infs, "Inf")) if count]
    of = " of what is finite" if bad else ""
    return "  ".join([f"norm {each.l2:.4g}", f"max |x| {each.largest:.4g}{of}", *bad])
