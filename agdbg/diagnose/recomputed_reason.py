"""Why a checkpointed function did something else when it ran again: random numbers, a branch, a number, a mode."""

import ast
import re
from typing import NamedTuple

from agdbg.diagnose.enclosing import Scope, place, site_of
from agdbg.diagnose.source import quoted
from agdbg.diagnose.syntax import read, unparse
from agdbg.record.lookup import Site

_OP = r'{}:\s+(.+?) -> (.+?) at File "([^"\n]+)", line (\d+), in ([^:\n]+): ([^\n]*)'
_FIRST, _AGAIN = re.compile(_OP.format("first run")), re.compile(_OP.format("recomputation"))
_RANDOM = re.compile(
    r"\brandom\.|\brand\w*\(|dropout|bernoulli|multinomial|\bnormal\w*\(|\bshuffle\(|\bchoice\(|\buniform\w*\("
)
_FOREIGN = re.compile(r"((np|numpy)\.)?random\.\w")
_MODE = re.compile(r"\btraining\b|is_grad_enabled|autocast")
_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.For, ast.Match)


class Ran(NamedTuple):
    """An op of one of the runs: with its numbers, what it made, where."""

    op: str
    made: str
    site: Site

    @property
    def name(self) -> str:
        """The op without its numbers."""
        return self.op.partition(" with ")[0]


class Difference(NamedTuple):
    """The first op that is not the same in both runs; None for a run that did nothing more."""

    first: Ran | None
    again: Ran | None


def difference(text: str) -> Difference | None:
    """What an engine's text tells of the first op that differs; None when it tells of none."""
    first, again = _FIRST.search(text), _AGAIN.search(text)
    if first is None and again is None:
        return None
    return Difference(_ran(first), _ran(again))


def _ran(found: re.Match[str] | None) -> Ran | None:
    if found is None:
        return None
    return Ran(found[1], found[2], Site(file=found[3], line=int(found[4]), func=found[5], text=found[6]))


def likely_reason(found: Difference, redrawn: bool) -> str:
    """What the two lines say about the reason, to follow the cause; empty when they say nothing."""
    first, again = found
    sites = [each.site for each in found if each is not None]
    if redrawn:
        return "it drew other random numbers the second time, since preserve_rng_state=False keeps none"
    drawing = next((each for each in sites if _RANDOM.search(_statement(each))), None)
    if drawing is not None:
        return f"line {drawing.line} draws random numbers that are not repeated"
    test = _branch(sites)
    if test:
        if _RANDOM.search(test):
            return f"`{test}` draws random numbers that are not repeated"
        what = "a mode that was switched" if _MODE.search(test) else "something that changed between the two runs"
        return f"`{test}` depends on {what}"
    if first is not None and again is not None and first.name == again.name and first.op != again.op:
        return f"a number that line {first.site.line} uses changed between the two runs{_from(first.site)}"
    return ""


def foreign_draw(site: Site) -> tuple[str, Site] | None:
    """A call in the function around a site that draws random numbers which no engine repeats: of NumPy or of Python."""
    function = place(site).function
    calls = [each for each in ast.walk(function) if isinstance(each, ast.Call)] if function is not None else []
    for each in calls:
        if _FOREIGN.match(unparse(each.func)):
            return quoted(unparse(each)), site_of(site, each)
    return None


def _statement(site: Site) -> str:
    return site.text


def _branch(sites: list[Site]) -> str:
    """The test of the innermost branch that is around one of two sites and not around the other, or around both."""
    around = [_branches(site) for site in sites]
    if not around:
        return ""
    if len(around) == 2:
        one, other = around
        apart = [each for each in [*one, *other] if (each in one) != (each in other)]
        same = [each for each in one if each in other and _parts(each, sites)]
        chosen = apart[-1:] or same[-1:]
    else:
        chosen = around[0][-1:]
    if chosen:
        return quoted(unparse(_test(chosen[0])))
    return _conditional(sites) or _guard(sites)


def _conditional(sites: list[Site]) -> str:
    """The test of an ``a if c else b`` on one of the lines."""
    for site in sites:
        reading = read(site)
        inside = ast.walk(reading.statement) if reading is not None else iter(())
        found = next((each for each in inside if isinstance(each, ast.IfExp)), None)
        if found is not None:
            return quoted(unparse(found.test))
    return ""


def _branches(site: Site) -> list[ast.AST]:
    """The branches around a site in its function, from the outside to the inside."""
    found: list[ast.AST] = []
    for each in place(site).around:
        if isinstance(each, Scope):
            found = []
        elif isinstance(each, _BRANCHES):
            found.append(each)
    return found


def _parts(branch: ast.AST, sites: list[Site]) -> bool:
    """Whether two sites are in different parts of one branch."""
    if not isinstance(branch, ast.If) or not branch.orelse:
        return False
    line = branch.orelse[0].lineno
    return (sites[0].line < line) != (sites[1].line < line)


def _guard(sites: list[Site]) -> str:
    """Of ``if c: return a`` and lines behind it the test ``c``: no branch is around those."""
    for site in sites:
        function = place(site).function
        body = function.body if function is not None and isinstance(function.body, list) else []
        passed = [each for each in body if isinstance(each, ast.If) and each.lineno <= max(s.line for s in sites)]
        if passed:
            return quoted(unparse(passed[-1].test))
    return ""


def _test(branch: ast.AST) -> ast.AST:
    if isinstance(branch, ast.If | ast.IfExp | ast.While):
        return branch.test
    return branch.iter if isinstance(branch, ast.For) else branch.subject if isinstance(branch, ast.Match) else branch


def _from(site: Site) -> str:
    """The names on a line that are no arguments of its function."""
    reading = read(site)
    function = place(site).function
    own = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)} if function is not None else set()
    if reading is None:
        return ""
    names = [each for each in ast.walk(reading.statement) if isinstance(each, ast.Attribute | ast.Subscript | ast.Name)]
    called = {id(each.func) for each in ast.walk(reading.statement) if isinstance(each, ast.Call)}
    parts = {id(each.value) for each in names if not isinstance(each, ast.Name)}  # `torch` of `torch.exp`
    told = [
        unparse(each)
        for each in names
        if id(each) not in called | parts and isinstance(getattr(each, "ctx", None), ast.Load)
    ]
    state = [each for each in told if each.partition(".")[0].partition("[")[0] not in own - {"self"} and each != "self"]
    return f" (`{quoted(state[0])}`?)" if state else ""
