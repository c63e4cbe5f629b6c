"""How a state is detached, by what it is: a tensor, a tuple of them as of an LSTM, a list, a dict; and one that begins as None.

Needs: births and edges (how many tensors it consists of); the source.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agdbg.diagnose.carriers import objects_of
from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import module_of, place
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.naming import entry_names, entry_words, used_as
from agdbg.diagnose.syntax import name_of
from agdbg.diagnose.words import Lines, listed
from agdbg.record.facts import PassFact
from agdbg.record.lookup import Site

#: What a name holds: one tensor, or several in something.
Form = Literal["tensor", "tuple", "list", "dict", "nested"]
_WAYS: dict[Form, str] = {
    "tensor": "{0}.detach()",
    "tuple": "tuple(each.detach() for each in {0})",
    "list": "[each.detach() for each in {0}]",
    "dict": "{{key: each.detach() for key, each in {0}.items()}}",
    "nested": "[tuple(each.detach() for each in one) for one in {0}]",
}
#: Names that a fix detaches.
NAMED = 4
_MANY = ast.Tuple | ast.List


@dataclass(frozen=True)
class State:
    """What is carried over: how many tensors cross from one iteration to the next, and where its source is."""

    tensors: int
    site: Site

    def detached(self, names: list[str], given: str = "", held: str = "") -> str:
        """The statements that detach, in quotes: ``h = h.detach()``; for ``given`` the name that gets it, of ``held`` the form."""
        ways = [f"`{given or each} = {self.without_graph(each, len(names), held)}`" for each in names]
        return listed(ways[:NAMED], NAMED)

    def without_graph(self, name: str, names: int = 1, held: str = "") -> str:
        """The expression for what one of some names holds, without its graph."""
        return _WAYS[self.form(name, names, held)].format(name)

    def form(self, name: str, names: int = 1, held: str = "") -> Form:
        """What one of some names holds, as the source says, else by how many tensors there are."""
        told = next((form for each in (name, held) if each and (form := _told(self.site, each))), None)
        return told or ("tuple" if self.tensors >= 2 * names else "tensor")


def state_of(case: Case, entries: list[Entry], first: PassFact | None, second: PassFact | None) -> State:
    """What the function or line that made an entry hands to the second pass's iteration."""
    made = site = entries[0].node.site
    inside = second is not None and (made.file, made.func) != (second.site.file, second.site.func)
    own = [each.node.id for each in entries if _is_same(each.node.site, made, inside)]
    if first is None or second is None:
        return State(len(own), site)
    walk, edges = case.walk, case.walk.edges
    reached = walk.below(walk.mask(root for root, _ in second.roots))
    late = walk.born > first.row
    crossing = (reached & late)[edges.source] & (~late & ~walk.leaves & (walk.born >= 0))[edges.target]
    targets = np.unique(edges.target[crossing]).tolist()
    sites = (case.facts.site_and_op(int(walk.made_at[each]))[0] for each in targets)
    return State(max(len(own), sum(_is_same(each, made, inside) for each in sites)) if targets else len(own), site)


def _is_same(site: Site, made: Site, inside: bool) -> bool:
    """Whether it was made in the same function, or on the same line where the loop runs in that function."""
    return (site.file, site.func) == (made.file, made.func) and (inside or site.line == made.line)


def detach(case: Case, entries: list[Entry], lines: Lines, state: State) -> str:
    """The advice to cut the graph at these entries, as the beginning of a sentence."""
    names = list(dict.fromkeys(name for each in entries for name in entry_names(case, each)))
    if names:
        how = state.detached(names)
        return f"detach {listed((f'`{name}`' for name in names), NAMED)} before the next iteration uses it: {how}"
    used = used_as(entries[0])
    consumer = entries[0].consumer
    where = f", as `{used}`{lines.at(consumer.site)}" if used and consumer is not None else ""
    return f"detach {entry_words(case, entries[0])} before the next iteration uses it{where}"


# ----- what the source says -----


def begins_empty(site: Site, name: str) -> bool:
    """Whether the file gives a name, of the function around a site or of its class, the value None somewhere."""
    return any(isinstance(each, ast.Constant) and each.value is None for each in _values(site, name))


def is_made_late(site: Site, name: str) -> bool:
    """Whether the function around a site asks if there is such an attribute: at first there is none."""
    function = place(site).function
    asked = [each for each in ast.walk(function) if isinstance(each, ast.Call)] if function is not None else []
    return any(name_of(each.func) in ("hasattr", "getattr") for each in asked) and "." in name


def object_of(site: Site, function: str) -> str:
    """The one name that the file of a site gives an object of the class of a method; empty when there are more, or none."""
    tree, (class_name, dot, _) = module_of(site.file), function.rpartition(".")
    found = objects_of(tree, class_name) if tree is not None and dot else set()
    return found.pop() if len(found) == 1 else ""


def _told(site: Site, name: str) -> Form | None:
    forms = [form for each in _values(site, name) if (form := _form(each)) is not None]
    return forms[0] if forms else None


def _form(tree: ast.expr) -> Form | None:
    if isinstance(tree, ast.ListComp):
        return "nested" if isinstance(tree.elt, _MANY) else "list"
    if isinstance(tree, _MANY) and tree.elts:
        if all(isinstance(each, _MANY) for each in tree.elts):
            return "nested"
        return "list" if isinstance(tree, ast.List) else "tuple"
    return "dict" if isinstance(tree, ast.Dict) and tree.keys else None


def _values(site: Site, name: str) -> Iterator[ast.expr]:
    """What the function around a site, or the file for an attribute, gives a name by a plain assignment."""
    around = place(site)
    tree: ast.AST | None = around.function if name.isidentifier() and around.function else module_of(site.file)
    tail = name.rpartition(".")[2]
    for each in ast.walk(tree) if tree is not None and around.known else ():
        if isinstance(each, ast.Assign):
            for target in each.targets:
                yield from _given(target, each.value, name, tail)


def _given(target: ast.expr, value: ast.expr, name: str, tail: str) -> Iterable[ast.expr]:
    if isinstance(target, _MANY):
        if isinstance(value, _MANY) and len(value.elts) == len(target.elts):
            for each, part in zip(target.elts, value.elts, strict=True):
                yield from _given(each, part, name, tail)
    elif name_of(target) == name or (isinstance(target, ast.Attribute) and "." in name and target.attr == tail):
        yield value
