"""view-inplace: a write to a view that is refused: where the view was made, and why it is no ordinary one."""

import ast

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding
from agdbg.diagnose.hook_list import hook_around
from agdbg.diagnose.layers import enclosing_at
from agdbg.diagnose.refusal import finding, refused, writing
from agdbg.diagnose.switched_off import switched_off_at
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.diagnose.words import Lines
from agdbg.diagnose.writers import disabled_at
from agdbg.diagnose.writes import write
from agdbg.events import HookAction, Kind, a_of, thread_of
from agdbg.record.facts import ErrorFact
from agdbg.record.hooked import HookFact
from agdbg.record.lookup import Site


def view(case: Case, failure: Failure) -> Finding:
    """The finding about one refused write to a view."""
    error = failure.first
    hook = hook_around(case, error) if "single memory location" in error.text else None
    if hook is not None:
        return _gradient_of_hook(failure, hook)
    row, made = _made_at(case, error)
    off = switched_off_at(case, row, made) if made is not None else None
    note = f"the view was made here{', with gradients switched off' if off is not None else ''}"
    loop = _loop(made) if made is not None else ""
    note += f": {loop} goes over views, by unbind()" if loop else ""
    hooked = _backward_hook(case, error)
    evidence = (
        [Evidence("hook", hooked, "registers a backward hook: the module then hands on views")]
        if hooked is not None
        else []
    )
    if off is not None and off != disabled_at(case, row):
        evidence.append(Evidence("switched off", off, "gradients are switched off in what this decorates"))
    evidence += [Evidence("view", made, note)] if made is not None else []
    evidence.append(refused(failure, "nothing was written"))
    where = f", made{Lines(error.site).at(made)}," if made is not None and made.line else ""
    what, fix = next(told for sign, *told in _VIEWS if sign in error.text)
    cause = f"{writing(error)} {what.format(where)}."
    layer = _layer(case, error)
    if layer:
        cause = f"{writing(error).removesuffix(' writes into')}, in {layer}, writes into {what.format(where)}."
    instead = write(error.site).instead
    if instead and "BackwardHookFunction" in error.text:
        fix = f"Write out of place: `{instead}`; or write to a clone() of what the module returned."
    if loop:
        fix = f"{loop} gives views that must not be written to. {fix}"
    return finding(failure, cause, evidence, "certain" if made is not None else "likely", fix)


def _gradient_of_hook(failure: Failure, hook: HookFact) -> Finding:
    """The finding about a hook that writes to the gradient that it is given."""
    error = failure.first
    value = write(error.site).value
    return finding(
        failure,
        f"{writing(error)} the gradient that the hook, registered{Lines(error.site).at(hook.site)}, is given; its elements share "
        "memory, as those of the gradient of sum() do.",
        [Evidence("registered", hook.site, f"{hook.kind} hook", hook.node), refused(failure, "nothing was written")],
        "likely",
        f"Return a new gradient from the hook and leave its argument as it is{f': `return {value}`' if value else ''}.",
    )


def _loop(made: Site) -> str:
    """The head of the loop that iterates over a tensor, in quotes; empty for another line."""
    reading = read(made)
    statement = reading.statement if reading is not None else None
    if not isinstance(statement, ast.For) or made.col < 0:
        return ""
    return f"`for {unparse(statement.target)} in {unparse(statement.iter)}`" if name_of(statement.iter) else ""


def _layer(case: Case, error: ErrorFact) -> str:
    """The layer that writes, when the program calls it and does not write itself."""
    if write(error.site).text:
        return ""
    around = enclosing_at(case, error.row, thread_of(case.facts.words(error.row)[0]))
    return f"layer `{around[0].path}` ({around[0].class_name})" if around and around[0].path else ""


def _backward_hook(case: Case, error: ErrorFact) -> Site | None:
    """The line that registered a backward hook of a module, when the view is of the kind that such hooks put in."""
    if "BackwardHookFunction" not in error.text:
        return None
    for row in case.facts.rows(Kind.HOOK).tolist():
        words = case.facts.words(row)
        site, op = case.facts.site_and_op(words[3])
        if row < error.row and a_of(words[0]) == HookAction.REGISTERED and op.name.startswith("module-backward"):
            return site
    return None


#: By a part of the message, which both engines word alike: what was written to, and the fix.
_VIEWS = (
    (
        "BackwardHookFunction",
        "a view{0} that a backward hook of a module put in: such a hook wraps what goes into the module and what comes out",
        "Drop inplace=True in the layer that writes, or write to a clone() of what the module returned.",
    ),
    (
        "custom Function",
        "a view{0} that a custom Function returned, as one does that returns its argument as it is",
        "Let forward() return a clone(), or write out of place.",
    ),
    (
        "multiple views",
        "one of several views{0} that one op returned together",
        "Write out of place and collect the results, with stack() for example, or write through an index.",
    ),
    (
        "no_grad mode",
        "a view{0} that was made under no_grad(), while gradients are recorded",
        "Make the view and write to it both inside no_grad(), or both outside.",
    ),
    (
        "single memory location",
        "a tensor{0} whose elements share memory, as after expand()",
        "clone() it before writing.",
    ),
    (
        "",
        "a view{0} of a leaf that requires grad, while gradients are recorded",
        "Put the write under no_grad() if it is an update, or write to a clone().",
    ),
)


def _made_at(case: Case, error: ErrorFact) -> tuple[int, Site | None]:
    """The record and the line of the view: of the node that made it, or else of the last view of the "
    "storage."""
    node = case.facts.node(error.node)
    if node is not None:
        return node.row, node.site
    rows = case.facts.rows_about(Kind.VIEW, error.storage) if error.storage else []
    rows = [row for row in rows if row < error.row]
    if "no_grad mode" in error.text:
        rows = [row for row in rows if disabled_at(case, row) is not None] or rows
    if not rows:
        return 0, None
    return rows[-1], case.facts.site_and_op(case.facts.words(rows[-1])[4])[0]
