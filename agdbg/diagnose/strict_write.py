"""saved-written: with strict saved tensors a write to what a node had saved was refused.

Needs: the error with its node and slot; the node's line.
"""

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.naming import saved_name
from agdbg.diagnose.words import Lines, op_words, slot_words
from agdbg.diagnose.writes import write

KIND = "saved-written"


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind whose node is known."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding | None:
    error, node = failure.first, case.facts.node(failure.first.node)
    if node is None:
        return None
    lines, wrote = Lines(error.site), write(error.site)
    what = saved_name(case, node, error.slot, error.storage)
    by = f"`{wrote.text}`" if wrote.text else "An in-place op"
    return Finding(
        kind=KIND,
        cause=(
            f"{by}{lines.at(error.site)} would write into {what or 'a tensor'}, which {op_words(node)}"
            f"{lines.at(node.site)} saved for its backward, and saved tensors are strict."
        ),
        evidence=(
            Evidence("saved", node.site, f"{op_words(node)} saved {slot_words(error.slot)}", node.id),
            Evidence("refused", error.site, "nothing was written"),
        ),
        nodes=(node.id,),
        certainty="certain",
        fix=(
            f"Write it out of place{f', as `{wrote.value}`,' if wrote.instead else ''} under a name of its own, or write after "
            "the last backward() that needs what was saved."
        ),
    )
