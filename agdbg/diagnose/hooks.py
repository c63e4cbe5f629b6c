"""hook-never-fired, hook-left-behind, gradient-edited: what goes wrong with hooks although nothing is raised.

Needs: HOOK with numbers, and for gradient-edited with what it wrote to; RAN; REBASED and BUMP; MODULE and SHAPE for
some of the reasons.
"""

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.hook_list import APART, HookList, Registered, function_name, hook_words, on_name
from agdbg.diagnose.hook_reasons import Reason, reason
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.source import assigned, call_text
from agdbg.diagnose.words import Lines, capital, count, listed, op_words
from agdbg.events import EDITED_IN_PLACE, Kind, unpack_edge
from agdbg.record.hooked import HookFact, hook_at
from agdbg.record.lookup import Site

NEVER, LEFT, EDITED = "hook-never-fired", "hook-left-behind", "gradient-edited"
#: Hooks of one line for which a reason is looked for.
LOOKED_AT = 20


def findings(case: Case) -> list[Found]:
    """One finding for each line that registers hooks of which none fired, that were left behind, or that edit gradients."""
    told = HookList(case.facts)
    return [*_never(case, told), *_left(case, told), *_edited(case, told)]


# ----- hooks that never fired -----


def _never(case: Case, told: HookList) -> list[Found]:
    found = []
    for group in told.groups:
        if group[0].fact.kind in APART or any(each.fired for each in group):
            continue
        looked = ((each, reason(case, each)) for each in group[:LOOKED_AT])
        wrong = next(((each, why) for each, why in looked if why.mistake), None)
        if wrong is not None:
            found.append(Found(wrong[0].fact.row, _never_finding(case, *wrong, len(group))))
    return found


def _never_finding(case: Case, hook: Registered, why: Reason, number: int) -> Finding:
    fact = hook.fact
    times = f" (like {count(number - 1, 'other')} of this line)" if number > 1 else ""
    where = Lines(fact.site).at(fact.site)
    return Finding(
        kind=NEVER,
        cause=f"{capital(hook_words(case.facts, fact))}, registered{where}, never fired{times}, because {why.words}.",
        evidence=(*why.evidence, Evidence("registered", fact.site, _on(case, fact), fact.node), *_definition(fact)),
        nodes=(fact.node,) if fact.node else (),
        certainty=why.certainty,
        fix=why.fix,
    )


def _on(case: Case, fact: HookFact) -> str:
    node = case.facts.node(fact.node)
    return f"{fact.kind} hook on {op_words(node)}" if node is not None else f"{fact.kind} hook"


def _definition(fact: HookFact) -> tuple[Evidence, ...]:
    return (Evidence("hook", fact.defined, "the function", fact.node),) if fact.defined.line else ()


# ----- hooks that stayed with the old node when a tensor was written in place -----


def _left(case: Case, told: HookList) -> list[Found]:
    facts, found = case.facts, []
    rebased = {unpack_edge(facts.words(row)[2])[0]: row for row in reversed(facts.rows(Kind.REBASED).tolist())}
    retained = {each.fact.storage: each.fact for each in told.all if each.fact.kind == "retain-grad"} if rebased else {}
    for group in told.groups if rebased else []:
        for each in group:
            row = rebased.get(each.fact.node, -1) if each.fact.node else -1
            if each.fact.kind == "tensor" and each.fired and each.fact.row < row < each.removed:
                found.append(Found(row, _left_finding(case, each, row, retained.get(each.fact.storage))))
                break
    return found


def _left_finding(case: Case, hook: Registered, row: int, retained: HookFact | None) -> Finding:
    facts, fact = case.facts, hook.fact
    site, op = facts.site_and_op(facts.words(row)[4])
    new = unpack_edge(facts.words(row)[3])[0]
    name, lines = on_name(facts, fact) or "the tensor", Lines(fact.site)
    quoted = f"`{name}`" if name != "the tensor" else name
    grad = f", while `{name}.grad` (retain_grad) is that after it" if retained is not None and quoted != name else ""
    keeps = (
        (Evidence("retained", retained.site, "moved to the new node", retained.node),) if retained is not None else ()
    )
    return Finding(
        kind=LEFT,
        cause=(
            f"{capital(hook_words(facts, fact))}, registered{lines.at(fact.site)}, stays with the node before the in-place op"
            f"{lines.at(site)} ({op.name or 'a write'}): it sees the gradient of the old value{grad}."
        ),
        evidence=(
            Evidence("registered", fact.site, _on(case, fact), fact.node),
            *keeps,
            Evidence("wrote", site, f"{op.name or 'a write'} gave {quoted} a new grad_fn"),
        ),
        nodes=tuple(node for node in (fact.node, new) if node),
        certainty="certain",
        fix=f"Register the hook after the in-place op for the gradient of the new value, or write {quoted} out of place.",
    )


# ----- gradients edited under a sibling's feet -----


def _edited(case: Case, told: HookList) -> list[Found]:
    facts = case.facts
    heads = facts.trace.records[told.fired_rows, 0].astype("int64") >> 8 & EDITED_IN_PLACE
    found: dict[tuple[Site, Site], list[HookFact]] = {}
    for row in told.fired_rows[heads > 0].tolist():
        fired = hook_at(facts, row)
        if fired.shared_with:
            hook = told.by_number.get(fired.number)
            found.setdefault((fired.defined, hook.fact.site if hook is not None else fired.site), []).append(fired)
    return [Found(each[0].row, _edited_finding(case, told, each)) for each in found.values()]


def _edited_finding(case: Case, told: HookList, times: list[HookFact]) -> Finding:
    facts, fired = case.facts, times[0]
    hook = told.by_number.get(fired.number)
    fact = hook.fact if hook is not None else fired
    call, sibling, wrote = facts.pass_of(fired.pass_id), facts.node(fired.shared_with), _writes_in(case, fired)
    lines = Lines(fact.site)
    other = "another branch of the graph"
    evidence = [
        *([Evidence("registered", fact.site, _on(case, fact), fact.node)] if hook is not None else []),
        *_definition(fired),
    ]
    if sibling is not None:
        name = facts.name_of_leaf(sibling.id) or assigned(sibling.site)
        made = f" ({made_by(sibling)}{lines.at(sibling.site)})" if sibling.site.line else ""
        other = f"{f'`{name}`' if name else op_words(sibling)}{made}"
        if sibling.site.line:
            evidence.insert(
                0, Evidence("sibling", sibling.site, f"{op_words(sibling)} gets the same gradient tensor", sibling.id)
            )
    evidence += [Evidence("wrote", each, "wrote to the gradient in place") for each in wrote]
    if call is not None:
        evidence.append(
            Evidence("call", call.site, f"{count(len(times), 'time')} in `{call_text(call.site, call.call)}`")
        )
    where = fired.defined if fired.kind == "backward" else fact.site
    evidence = evidence or [
        Evidence("hook", fired.defined if fired.defined.line else fired.site, "wrote to its gradient", fired.node)
    ]
    return Finding(
        kind=EDITED,
        cause=(
            f"{capital(hook_words(facts, fact))}{lines.at(where)} writes to its gradient in place, and the gradient of "
            f"{other} lies in the same memory: that one is changed too."
        ),
        evidence=tuple(evidence),
        nodes=tuple(node for node in (fired.node, fired.shared_with) if node),
        certainty="certain",
        fix=(
            f"Return a new gradient from {_quoted(function_name(fired.defined)) or 'the hook'} and leave its argument as it is"
            f"{_instead(wrote)}."
        ),
    )


def _quoted(name: str) -> str:
    return f"`{name}`" if name else ""


def _writes_in(case: Case, fired: HookFact) -> list[Site]:
    """The lines in the hook that wrote to the memory of its gradient: all of them, since no record says which changed a value."""
    rows, storage = case.facts.rows(Kind.BUMP), 0
    found: list[Site] = []
    for row in rows[: rows.searchsorted(fired.row)][-8:][::-1].tolist():
        words = case.facts.words(row)
        site, _ = case.facts.site_and_op(words[4])
        if (site.file, site.func) == (fired.defined.file, fired.defined.func) and storage in (0, words[1]):
            storage = words[1]
            found.append(site)
    return list(dict.fromkeys(reversed(found)))


def _instead(wrote: list[Site]) -> str:
    texts = list(dict.fromkeys(each.text.strip() for each in wrote))
    quoted = [f"`{text}`" for text in texts if 0 < len(text) < 60]
    return f"; now it has {listed(quoted)}" if quoted and len(quoted) == len(texts) else ""
