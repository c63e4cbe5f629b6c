"""A gradient that is differentiated again and has no graph: ``create_graph=True`` is missing, or it is constant.

The trace does not say what a call returned, so the source has to: the name that the line of the call assigns its
result to, or ``.grad`` after ``backward()``, on the line that was refused. Where that names something else, it may have been
made of any gradient before.
"""

import ast
from dataclasses import dataclass

from agdbg.diagnose.case import Case
from agdbg.diagnose.linear import only_linear
from agdbg.diagnose.source import call_text
from agdbg.diagnose.syntax import name_of, read
from agdbg.diagnose.words import Lines
from agdbg.record.facts import ErrorFact, PassFact
from agdbg.record.lookup import Site


@dataclass(frozen=True)
class Gradient:
    """The call whose result is meant, and what its result is called where it was refused; empty: not known.

    ``constant`` says that the call went through linear ops of the engine alone.
    """

    call: PassFact
    name: str
    constant: bool = False

    @property
    def named(self) -> bool:
        """Whether the line that was refused names the gradient."""
        return bool(self.name)

    @property
    def note(self) -> str:
        """What the call did."""
        if self.call.create_graph:
            return "computed with create_graph=True; the gradient came out without a graph"
        return "computed without create_graph=True: what it gives has no graph"

    def cause(self, call: str, lines: Lines) -> str:
        """The cause; ``call`` is the call that was refused, in words."""
        start = f"{call} starts from a tensor without a graph"
        made = f"`{call_text(self.call.site, self.call.call)}`{lines.at(self.call.site)}"
        if not self.named and self.call.create_graph:
            return f"{start}, and no cut was recorded; the gradient that {made} computed is constant, and has none."
        if not self.named:
            return f"{start}, and no cut was recorded; {made} computed gradients without create_graph=True."
        what = f"`{self.name}`, a gradient that {made} computed"
        if self.call.create_graph and not self.constant:
            return f"{start}: {what}, came out without one despite create_graph=True: its backward used nothing that has a graph."
        if self.call.create_graph:
            return (
                f"{start}: {what}, is constant: it does not depend on what was differentiated, so its gradient is zero."
            )
        return f"{start}: {what} without create_graph=True, so nothing leads back from it."

    def fix(self, lines: Lines) -> str:
        """What to do."""
        if self.call.create_graph and not self.constant:
            return (
                "See what the backward of these ops computes with: a custom Function should use what it has from "
                "ctx.saved_tensors, and operations of tensors. If the gradient really does not depend on its argument, its "
                "derivative is zero."
            )
        if self.call.create_graph:
            zero = (
                "The gradient of a linear function does not depend on its argument: take its derivative as zero, or leave "
                "this term out"
            )
            if self.named:
                return f"{zero}."
            return f"{zero}, if this is computed from it; otherwise set requires_grad on what should be trained."
        add = f"Pass create_graph=True to `{call_text(self.call.site, self.call.call)}`{lines.at(self.call.site)}"
        if self.named:
            return f"{add}."
        return f"{add} if this is computed from its gradients; otherwise set requires_grad on what should be trained."


def gradient_of(case: Case, error: ErrorFact) -> Gradient | None:
    """The gradient that was differentiated again; None when no call before computed one that may be meant."""
    before = [each for each in case.facts.passes if each.end_row < error.row and each.outcome == "ok"][::-1]
    names = _names(error.site)
    for each in before:
        found = results_of(each) & names
        if found:
            return Gradient(each, min(found), each.create_graph and only_linear(case, each))
    taken = next((name for name in sorted(names) if name.endswith(".grad")), "")
    leaf = next((each for each in before if each.call == "backward"), None) if taken else None
    if leaf is not None:
        return Gradient(leaf, taken, leaf.create_graph and only_linear(case, leaf))
    for each in before:
        if each.create_graph and only_linear(case, each):
            return Gradient(each, "", constant=True)
        if each.call == "grad" and not each.create_graph:
            return Gradient(each, "")
    return None


def _names(site: Site) -> set[str]:
    """The names and attributes on a line that are read and not called."""
    reading = read(site)
    if reading is None:
        return set()
    tree = reading.found or reading.statement
    called = {id(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
    read_there = [
        each for each in ast.walk(tree) if isinstance(each, ast.Name | ast.Attribute) and id(each) not in called
    ]
    return {name for each in read_there if (name := name_of(each))}


def results_of(call: PassFact) -> set[str]:
    """What the line of a call of ``grad`` assigns the gradients to."""
    reading = read(call.site) if call.call == "grad" else None
    if reading is None or not isinstance(reading.statement, ast.Assign):
        return set()
    parts = [part for target in reading.statement.targets for part in _parts(target)]
    return {name for part in parts if (name := name_of(part))}


def _parts(target: ast.expr) -> list[ast.expr]:
    return [*target.elts] if isinstance(target, ast.Tuple | ast.List) else [target]
