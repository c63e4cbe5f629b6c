"""How a state is detached, by what it is: a tensor, a tuple of them as of an LSTM, a list, a dict; and one that begins as None.

Needs: births and edges (how many tensors it consists of); the source.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agdbg.diagnose.applies import is_cache
from agdbg.diagnose.carriers import objects_of, stored_by
from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import function_of, in_inner_loop, module_of, place
from agdbg.diagnose.forms import Form
from agdbg.diagnose.forms import levels as levels_of
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.named_fields import fields_of
from agdbg.diagnose.naming import entry_words, used_as
from agdbg.diagnose.runs import Runs
from agdbg.diagnose.shapes import (
    ONE,
    Levels,
    Shape,
    holds_none,
    holds_numbers,
    is_own,
    is_plain,
    shape_of,
    values,
    without_graph,
)
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of
from agdbg.diagnose.taken_apart import ways_apart
from agdbg.diagnose.words import Lines, listed
from agdbg.record.facts import PassFact
from agdbg.record.lookup import Site

#: Names that a fix detaches.
NAMED = 4


@dataclass(frozen=True)
class State:
    """What is carried over: how many tensors cross from one iteration to the next, and where its source is.

    ``shared``: others hold the same list or dict, so that it is to be changed and not built anew. ``written``: a line wrote by an
    index into a tensor, and not into a list. ``some``: not each item of what holds them carries something, so it may be None.
    ``there``: where the statement is to stand, when that is another function. ``cache``: it is to be emptied instead.
    ``forms``: by variable of the loop what the function that made the state returned for it.
    """

    tensors: int
    site: Site
    shared: bool = False
    written: bool = False
    some: bool = False
    there: Site | None = None
    cache: bool = False
    forms: Mapping[str, Form] = field(default_factory=dict)

    def detached(self, names: list[str], given: str = "", held: str = "") -> str:
        """The statements that detach, in quotes: ``h = h.detach()``; for ``given`` the name that gets it, of ``held`` the form."""
        if self.cache:
            return listed([f"`{each}.clear()`" for each in names[:NAMED]], NAMED)
        if any(self.is_vague(each, len(names), held) for each in names):
            return listed([f"each tensor in `{given or each}`" for each in names[:NAMED]], NAMED)
        ways = [way for each in names for way in self._statements(given or each, each, len(names), held)]
        return listed([f"`{each}`" for each in ways[:NAMED]], NAMED)

    def is_vague(self, name: str, names: int = 1, held: str = "") -> bool:
        """Whether nothing says in which form one of some names holds tensors: no edit fits for sure."""
        if self.written or fields_of(self.site, name, self.tensors) is not None:
            return False
        told = self._told(name, held)
        if told is not None:
            return told.mixed
        if name in self.forms:
            return levels_of(self.forms[name], self.tensors) is None
        apart = {way for site, each in self._sources(name, held) for way in ways_apart(site, each)}
        return "key" in apart or ("position" in apart and self.tensors < 2 * names)

    @property
    def verb(self) -> str:
        """What is to be done, as a word."""
        return "empty" if self.cache else "detach"

    def _statements(self, given: str, name: str, names: int, held: str) -> list[str]:
        fields = fields_of(self.site, name, self.tensors)
        return fields.statements(given, name) if fields else [self._statement(given, name, names, held)]

    def _statement(self, given: str, name: str, names: int, held: str) -> str:
        levels, value = self.levels(name, names, held), self.without_graph(name, names, held)
        outer = levels[0] if levels else ""
        near = self.there or self.site
        if given == name and (self.shared or not is_own(near, name) or not is_plain(near, name)):
            if outer == "list":
                return f"{name}[:] = {value}"
            if outer == "dict":
                return f"{name}.update({value})"
        return f"{given} = {value}"

    def without_graph(self, name: str, names: int = 1, held: str = "") -> str:
        """The expression for what one of some names holds, without its graph."""
        if (fields := fields_of(self.site, name, self.tensors)) is not None:
            return fields.without_graph(name)
        levels, maybe = self.levels(name, names, held), self.some and holds_none(self.site, name)
        form = self.forms.get(name) if self._told(name, held) is None else None
        numbers = any(holds_numbers(site, each) for site, each in self._sources(name, held))
        numbers |= form is not None and form.has_plain
        return without_graph(name, levels, pair=self.tensors == 2 * names, maybe=maybe, numbers=numbers)

    def levels(self, name: str, names: int = 1, held: str = "") -> Levels:
        """What one of some names holds, as the source says, else by how many tensors there are."""
        known = self._told(name, held)
        if known is None and name in self.forms and not self.written:
            return levels_of(self.forms[name], self.tensors // names) or ()
        told = known or Shape((), False)
        if self.written:
            return told.levels[:-1]
        several: Levels = ("tuple",) if self.tensors >= 2 * names and not told.closed else ()
        return (*told.levels, *several)

    def _told(self, name: str, held: str) -> Shape | None:
        shapes = (shape_of(site, each) for site, each in self._sources(name, held))
        return next((shape for shape in shapes if shape), None)

    def _sources(self, name: str, held: str) -> list[tuple[Site, str]]:
        """Where the source says what a name holds."""
        sites = [each for each in (self.there, self.site) if each is not None]
        return [(site, each) for each in (name, held) if each for site in sites]


def state_of(case: Case, entries: list[Entry], runs: Runs | None, second: PassFact | None) -> State:
    """What one run of the function or line that made an entry hands to the next iteration."""
    site = entries[0].node.site
    inside = second is not None and _function(site) != _function(second.site)
    own = [each.node.id for each in entries if _is_same(each.node.site, site, inside)]
    if runs is None or second is None:
        return State(len(own), site, cache=is_cache(site))
    inside = inside and not in_inner_loop(site, second.site)
    found = runs.tensors({each for each in runs.sites() if _is_same(each, site, inside)})
    return State(found or len(own), site, cache=is_cache(site))


def _is_same(site: Site, made: Site, inside: bool) -> bool:
    """Whether it was made in the same function, or on the same line where the loop runs in that function."""
    return _function(site) == _function(made) and (inside or site.line == made.line)


def _function(site: Site) -> tuple[str, str]:
    return site.file, function_of(site)


def detach(case: Case, entries: list[Entry], lines: Lines, state: State, names: list[str]) -> str:
    """The advice to cut the graph at these entries, which have some names, as the beginning of a sentence."""
    if names:
        how, it = state.detached(names), "it" if len(names) == 1 else "them"
        return (
            f"{state.verb} {listed((f'`{name}`' for name in names), NAMED)} before the next iteration uses {it}: {how}"
        )
    used = used_as(entries[0])
    consumer = entries[0].consumer
    where = f", as `{used}`{lines.at(consumer.site)}" if used and consumer is not None else ""
    return f"detach {entry_words(case, entries[0])} before the next iteration uses it{where}"


# ----- what the source says -----


def begins_empty(site: Site, name: str) -> bool:
    """Whether the file gives a name the value None somewhere: of the function around a site, of an attribute, of a key."""
    return any(_is_none(site, each) for each in (*values(site, name), *_begins(site, name)))


def _is_none(site: Site, tree: ast.expr) -> bool:
    """Whether a value is None, or a parameter that is None where a call does not give it."""
    if isinstance(tree, ast.Constant):
        return tree.value is None
    module = module_of(site.file)
    if not isinstance(tree, ast.Name) or module is None:
        return False
    given = [each.args for each in ast.walk(module) if isinstance(each, ast.FunctionDef)]
    pairs = [
        pair
        for each in given
        for pair in (
            *zip(reversed([*each.posonlyargs, *each.args]), reversed(each.defaults), strict=False),
            *zip(each.kwonlyargs, each.kw_defaults, strict=True),
        )
    ]
    return any(
        at.arg == tree.id and isinstance(default, ast.Constant) and default.value is None for at, default in pairs
    )


def _begins(site: Site, name: str) -> Iterator[ast.expr]:
    """What a class or an object gives an attribute at first, and a dict the item of a key: ``{"h": None}``."""
    tree, read = module_of(site.file), _tree(name)
    inside = list(ast.walk(tree)) if tree is not None else []
    if isinstance(read, ast.Attribute):
        for each in inside:
            for part in each.body if isinstance(each, ast.ClassDef) else ():
                if (
                    isinstance(part, ast.Assign | ast.AnnAssign)
                    and part.value is not None
                    and read.attr in stored_by(part)
                ):
                    yield part.value
            if isinstance(each, ast.Call):
                yield from (key.value for key in each.keywords if key.arg == read.attr)
            if isinstance(each, ast.Assign) and any(
                isinstance(part, ast.Attribute) and part.attr == read.attr for part in each.targets
            ):
                yield each.value
    elif isinstance(read, ast.Subscript) and isinstance(read.slice, ast.Constant):
        for each in inside:
            if isinstance(each, ast.Dict):
                both = zip(each.keys, each.values, strict=True)
                yield from (value for key, value in both if key is not None and _is_key(key, read.slice.value))
            elif isinstance(each, ast.Call) and called(each) == "dict":
                yield from (key.value for key in each.keywords if key.arg == read.slice.value)


def _is_key(tree: ast.expr, key: object) -> bool:
    return isinstance(tree, ast.Constant) and tree.value == key


def _tree(name: str) -> ast.expr | None:
    try:
        return ast.parse(name, mode="eval").body
    except SyntaxError:
        return None


def is_made_late(site: Site, name: str) -> bool:
    """Whether there may be no such attribute or item at first: the file asks for it, or gives it no first value that is known."""
    function, read = place(site).function, _tree(name)
    asked = [each for each in ast.walk(function) if isinstance(each, ast.Call)] if function is not None else []
    if any(name_of(each.func) in ("hasattr", "getattr") for each in asked) and "." in name:
        return True
    if isinstance(read, ast.Subscript) and isinstance(read.slice, ast.Constant) and isinstance(read.slice.value, str):
        return not any(True for _ in _begins(site, name))
    is_own = name.startswith("self.") and name.count(".") == 1
    return (
        isinstance(read, ast.Attribute)
        and not is_own
        and not any(
            each is not None for each in _begins(site, name) if not isinstance(each, ast.Call) or called(each) in ONE
        )
    )


def object_of(site: Site, function: str) -> str:
    """The one name that the file of a site gives an object of the class of a method; empty when there are more, or none."""
    tree, (class_name, dot, _) = module_of(site.file), function.rpartition(".")
    found = objects_of(tree, class_name) if tree is not None and dot else set()
    return found.pop() if len(found) == 1 else ""
