"""nan, inf: which node made the first NaN or infinity, in forward or in backward, and whether it did any harm.

A node is the producer when what came in was finite and what went out is not. What a later node leaves out (``where``,
``nan_to_num``, an index) before it reaches a loss or the gradient of a leaf does no harm, and is not accused;
``remarks`` tells of it on request.

Needs: SUMMARY records (the extra ``values``), edges, PASS_STARTED; for names TENSOR; for the place of the element SHAPE; BUMP (when
the parameters were spoiled, from where on everything is a consequence).
"""

import numpy as np

from agdbg.diagnose import diverging
from agdbg.diagnose.absorbed import absorbed
from agdbg.diagnose.bad_inputs import BadInput, bad_input, cause_of, fix_of
from agdbg.diagnose.bad_values import OTHERS, Story, seen_of, stories
from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.given import given_finding, hook_at
from agdbg.diagnose.joined_op import joined_op
from agdbg.diagnose.loss_scale import Overflow, overflow
from agdbg.diagnose.masked import choice_above, rewrite
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.singular import only_passes_on, singular
from agdbg.diagnose.source import call_text, expression, operand
from agdbg.diagnose.spoiled import elements_words, leaf_words
from agdbg.diagnose.words import Lines, capital, count, listed, op_words
from agdbg.record.facts import NodeFact

#: Leaves that are asked for their names.
LEAVES = 20


def findings(case: Case) -> list[Found]:
    """One finding for each line that made a bad value which did harm, until the parameters themselves are spoiled."""
    found, seen, diverged = [], set(), set[int]()
    for story in stories(case):
        if story.discarded:
            continue
        made_at = int(case.walk.made_at[case.walk.place(story.producer.id)])
        if (story.forward, made_at) in seen or any(diverging.follows(case, story, each) for each in diverged):
            continue
        seen.add((story.forward, made_at))
        diverged |= {made_at} if diverging.sizes(case, story) else set()
        expected = _overflow(case, story)
        if expected is None or not expected.harmless:
            found.append(Found(story.call.row, _finding(case, story, expected)))
    return found


def _overflow(case: Case, story: Story) -> Overflow | None:
    """The scaling of the loss that made the value overflow; what overflows before the loss is scaled is not its work."""
    found = overflow(case, story.call, story.producer, story.reach)
    return None if found is not None and story.forward and story.producer.id != found.node else found


# ----- on request -----


def remarks(case: Case) -> list[Found]:
    """Bad values that did no harm: those that a later node leaves out, gradients that no step took, and the expected overflow of
    a scaled loss.
    """
    told, found = stories(case), []
    harm = {each.producer.id for each in told} | {other.id for each in told for other in each.others}
    for each in told:
        expected = _overflow(case, each)
        if expected is not None and expected.harmless:
            found.append(Found(each.call.row, _expected(case, each, expected)))
            break
    left_out = next((each for each in told if each.discarded and _overflow(case, each) is None), None)
    if left_out is not None:
        found.append(Found(left_out.call.row, _left_out(case, left_out)))
    before = next((each.call.row for each in told if not each.discarded), len(case.facts.trace.records))
    return [*found, *absorbed(case, harm, before)]


def _left_out(case: Case, story: Story) -> Finding:
    lines, call, node = Lines(story.call.site), story.call, story.producer
    what = "A NaN" if _has_nan(case, story) else "An infinity"
    return Finding(
        kind="absorbed",
        cause=(
            f"{what} of {made_by(node)}{lines.at(node.site)} came into gradients in `{call_text(call.site, call.call)}`"
            f"{lines.at(call.site)} and does no harm: other gradients took their place before a step."
        ),
        evidence=_evidence(case, story, None, None),
        nodes=(node.id,),
        certainty="certain",
        fix="Nothing. If it happens often, look at the values that go in there, with isfinite(), min() and max().",
    )


def _expected(case: Case, story: Story, expected: Overflow) -> Finding:
    lines, call = Lines(story.call.site), story.call
    return Finding(
        kind="overflow",
        cause=(
            f"The gradient of the scaled loss overflowed in `{call_text(call.site, call.call)}`{lines.at(call.site)}, and no step "
            "was taken: that is expected now and then."
        ),
        evidence=_evidence(case, story, None, expected),
        nodes=(story.producer.id,),
        certainty="likely",
        fix="Nothing. If it happens at every step, the scale is too large, or the loss is not finite by itself.",
    )


# ----- the finding -----


def _finding(case: Case, story: Story, expected: Overflow | None) -> Finding:
    kind = "nan" if _has_nan(case, story) else "inf"
    if story.seen.what == "gradient in":
        return given_finding(case, story.call, story.producer, story.seen, kind)
    choice = None if story.forward else choice_above(case, case.walk.place(story.producer.id), story.reach)
    before = None if story.forward or expected is not None else bad_input(case, story.producer)
    if before is not None:
        return _bad_before(case, story, before, choice, kind)
    nodes = dict.fromkeys([story.producer.id, *([choice.id] if choice else []), *(each.id for each in story.others)])
    return Finding(
        kind=kind,
        cause=_cause(case, story, choice, kind),
        evidence=_evidence(case, story, choice, expected),
        nodes=tuple(nodes),
        certainty=_certainty(case, story, choice),
        fix=expected.fix if expected is not None else _fix(case, story, choice),
    )


def _bad_before(case: Case, story: Story, before: BadInput, choice: NodeFact | None, kind: str) -> Finding:
    """The finding about an op that computed with bad values in forward."""
    lines, call = Lines(story.call.site), f"`{call_text(story.call.site, story.call.call)}`"
    made = seen_of(case, before.node, story.call, True)
    known = singular(before.node.op.name)
    why = f"\n{known.forward}" if known is not None and known.forward else ""
    where = f"{elements_words(case, made)}; " if made is not None else ""
    produced = (
        f"{op_words(before.node)}: {where}what came in on the graph was finite{_in_layer(case, before.node)}{why}"
    )
    first = Story(story.call, before.node, made or story.seen, True, (), story.leaves, story.reach, before.became)
    shown = [each for each in _evidence(case, first, None, None) if each.role not in ("produced", "needed")]
    masked = (
        [Evidence("masked", choice.site, f"{op_words(choice)} leaves them out in forward", choice.id)]
        if choice is not None
        else []
    )
    nodes = dict.fromkeys([before.node.id, *([choice.id] if choice else []), story.producer.id])
    return Finding(
        kind=kind,
        cause=f"{cause_of(before, story.producer, choice, call + lines.at(story.call.site), lines)}{_hit(case, story)}.",
        evidence=(
            Evidence("produced", before.node.site, produced, before.node.id),
            *shown,
            *masked,
            Evidence("needed", story.call.site, _needed(case, story)),
        ),
        nodes=tuple(nodes),
        certainty="certain",
        fix=fix_of(case, before, choice),
    )


def _has_nan(case: Case, story: Story) -> bool:
    """Whether there is a NaN, in what the producer made or in the gradient of a leaf."""
    measured = case.measured
    at = measured.of_pass(story.call.id)
    in_leaf = np.isin(measured.place[at], story.leaves) & (measured.nans[at] > 0)
    return bool(story.seen.nans or in_leaf.any() or story.became is not None)


def _cause(case: Case, story: Story, choice: NodeFact | None, kind: str) -> str:
    lines, node, seen = Lines(story.call.site), story.producer, story.seen
    call = f"`{call_text(story.call.site, story.call.call)}`{lines.at(story.call.site)}"
    made = f"{made_by(node)}{lines.at(node.site)}"
    what = "infinity" if seen.infs else "NaN"
    hit = _hit(case, story)
    if story.forward:
        start = (
            f"{what} came in with data at {made}"
            if _from_outside(story)
            else f"{capital(made)} made the first {what} in forward"
        )
        if _is_leaf(story):
            start = f"{capital(leaf_words(case, case.walk.place(node.id)) or 'a leaf')} itself holds {what} when it is first used"
        if story.became is not None:
            start += f", which became NaN at {made_by(story.became)}{lines.at(story.became.site)}"
        if story.meant is not None:
            start += f" out of the infinities of {made_by(story.meant)}{lines.at(story.meant.site)}"
        grown = diverging.sizes(case, story)
        start += diverging.words(grown) if grown else ""
        return f"{start}, and what {call} starts from has it too{hit}."
    if choice is not None and _hidden(case, story):
        chosen = f"{made_by(choice)}{lines.at(choice.site)}"
        if not _was_bad(case, story):
            return (
                f"In {call} the gradient became NaN at {made}: {chosen} leaves out its result there and sends it a gradient of "
                f"zero, which met an infinite derivative: 0 * inf is NaN{hit}."
            )
        return (
            f"{capital(chosen)} leaves out the bad values of {made} in forward, but in {call} their gradient of zero met an "
            f"infinite derivative there: 0 * inf is NaN{hit}."
        )
    hook = hook_at(case, story.call, node)
    if hook is not None:
        made += f", where the hook{lines.at(hook)} fires before the node runs"
    if kind == "inf" or not seen.nans:
        after = ", which became NaN further down" if kind == "nan" else ""
        return f"In {call} the gradient became infinite at {made}{after}: what came in was finite{hit}."
    if not _was_bad(case, story) and _is_singular(node):
        why = "a gradient of zero met an infinite derivative, and 0 * inf is NaN"
        return f"In {call} the gradient became NaN at {made}: {why}{hit}."
    return f"In {call} the gradient became NaN at {made}: what came in was finite{hit}."


def _is_leaf(story: Story) -> bool:
    return story.producer.op.name.endswith("AccumulateGrad")


def _hit(case: Case, story: Story) -> str:
    named = list(dict.fromkeys(name for place in story.leaves[:LEAVES] if (name := leaf_words(case, place))))
    return f"; the gradient of {listed(named)} has it" if named else ""


def _was_bad(case: Case, story: Story) -> bool:
    """Whether the producer's own value was bad in forward."""
    return bool(case.measured.bad_output[case.walk.place(story.producer.id)])


def _is_singular(node: NodeFact) -> bool:
    """Whether the derivative of an op may be infinite where its value is finite."""
    known = singular(node.op.name)
    return known is not None and "infinite" in known.backward


def _hidden(case: Case, story: Story) -> bool:
    """Whether the producer's own value was bad, or the gradient that came in was zero throughout."""
    place = case.walk.place(story.producer.id)
    if case.measured.bad_output[place]:
        return True
    came = [
        each
        for each in case.facts.summaries(story.producer.id)
        if each.what == "gradient in" and each.pass_id == story.call.id
    ]
    return bool(story.seen.nans) and all(each.infs == each.nans == 0 for each in came)


def _from_outside(story: Story) -> bool:
    """Whether the op cannot make a NaN of its own, so that it came in with a tensor that has no history."""
    finite = story.meant is None
    return finite and bool(story.seen.nans) and not story.seen.infs and only_passes_on(story.producer.op.name)


def _certainty(case: Case, story: Story, choice: NodeFact | None) -> Certainty:
    if story.forward:
        return "likely" if _from_outside(story) else "certain"
    if hook_at(case, story.call, story.producer) is not None:
        return "likely"
    if choice is not None and _hidden(case, story) and not case.measured.bad_output[case.walk.place(story.producer.id)]:
        return "likely"
    return "certain"


def _evidence(case: Case, story: Story, choice: NodeFact | None, expected: Overflow | None) -> tuple[Evidence, ...]:
    node, call = story.producer, story.call
    found: list[tuple[int, Evidence]] = [
        (node.row, Evidence("produced", node.site, _produced(case, story, expected), node.id))
    ]
    if story.meant is not None:
        note = f"{op_words(story.meant)} puts in infinities, which are no fault by themselves"
        found.append((story.meant.row, Evidence("masked", story.meant.site, note, story.meant.id)))
    if story.became is not None:
        note = f"{op_words(story.became)} made NaN of its infinities: 0 * inf, inf - inf and inf / inf are NaN"
        found.append((story.became.row, Evidence("became NaN", story.became.site, note, story.became.id)))
    for other in story.others[:OTHERS]:
        found.append((other.row, Evidence("produced", other.site, f"{op_words(other)} made some of its own", other.id)))
    if choice is not None and not story.forward:
        what = "them" if _was_bad(case, story) else "these elements"
        note = f"{op_words(choice)} leaves {what} out in forward; in backward it sends zeros to where they were"
        found.append((choice.row, Evidence("masked", choice.site, note, choice.id)))
    hook = None if story.forward else hook_at(case, call, node)
    if hook is not None:
        found.append(
            (
                node.row + 1,
                Evidence("hook", hook, "fired at this node, and may have changed the gradient before it ran"),
            )
        )
    if expected is not None:
        found.append((expected.row, Evidence("scaled", expected.site, expected.note, expected.node)))
    found.append((call.row, Evidence("needed", call.site, _needed(case, story))))
    return tuple(evidence for _, evidence in sorted(found, key=lambda each: each[0]))


def _produced(case: Case, story: Story, expected: Overflow | None) -> str:
    """What the producer did, and of what op that is the way, unless the scale of the loss is why."""
    node, seen = story.producer, story.seen
    where = elements_words(case, seen)
    known = singular(node.op.name)
    if _is_leaf(story):
        return f"its first use: {where}"
    if story.forward:
        came = "no NaN came in on the graph" if story.meant is not None else "what came in on the graph was finite"
        came += _in_layer(case, node)
        why = f"\n{known.forward}" if known is not None and known.forward and not diverging.sizes(case, story) else ""
        shape = case.facts.shape(node.id, seen.index)
        if seen.infs and shape is not None and shape.dtype == "float16":
            why += "\nfloat16 ends at 65,504: compute this part in float32, or keep the numbers smaller"
        return f"{op_words(node)}: {where}; {came}{why}"
    given = operand(node.site, node, seen.index) if expression(node.site) else ""
    to = f"`{given}`" if given else f"input {seen.index}"
    bad = bool(case.measured.bad_output[case.walk.place(node.id)])
    why = "" if known is None or expected is not None else known.forward if bad else known.backward
    reason = f"\n{why}" + ("; its derivative there is no better" if bad else "") if why else ""
    layer = _in_layer(case, node)
    return f"{op_words(node)}: in the gradient that it sends to {to} {where}; what came in was finite{layer}{reason}"


def _in_layer(case: Case, node: NodeFact) -> str:
    """In which layer of the model a node was built; empty for none, or the model itself."""
    module = case.facts.module_of(node.id)
    return f"; in layer `{module.path}` ({module.class_name})" if module is not None and module.path else ""


def _needed(case: Case, story: Story) -> str:
    names = list(dict.fromkeys(name for place in story.leaves[:LEAVES] if (name := leaf_words(case, place))))
    if names:
        return f"pass {story.call.id}: left it in the gradient of {listed(names)}"
    if story.leaves:
        return f"pass {story.call.id}: left it in the gradient of {count(len(story.leaves), 'leaf').replace('leafs', 'leaves')}"
    return f"pass {story.call.id}: started from it" if story.forward else f"pass {story.call.id}: ran it"


def _fix(case: Case, story: Story, choice: NodeFact | None) -> str:
    node = story.producer
    known = singular(node.op.name)
    if diverging.sizes(case, story):
        return diverging.FIX
    if _is_leaf(story):
        return "Look at what wrote to it last: an initialisation, empty(), a file that was loaded, a step with a bad gradient."
    if choice is not None and _hidden(case, story):
        return rewrite(case, node, choice)
    if story.meant is not None and known is not None and known.keep:
        return f"{capital(known.keep)}, or put zeros with where() in place of what goes in there, and mask the result."
    if story.forward and _from_outside(story):
        return (
            "Look at the data that goes in there, with isnan(): this op gives NaN only where NaN or infinity goes in, and what "
            "came from the graph was finite."
        )
    rounded = not story.seen.nans if story.forward else not _was_bad(case, story)
    joined = joined_op(case, node) if rounded and story.meant is None else ""
    if joined:
        return f"Use {joined}: it is finite where the one below rounds to 0."
    if known is not None and known.keep and not story.forward and not _was_bad(case, story) and _is_singular(node):
        return f"{capital(known.keep)}. What is added to its result comes too late: the derivative of the op itself is infinite."
    if known is not None and known.keep:
        keep = (known.keep_value if story.forward else "") or known.keep
        return f"Look at what goes in there, with isnan(), min() and max(); {keep}."
    return "Look at what goes in there, with isfinite(), min() and max(), and keep it in the range in which the op is finite."
