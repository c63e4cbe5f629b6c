"""The runs of a line within an iteration, and what of each of them crosses to the next one.

Needs: births and edges; the source. A line of a layer runs once for each layer, so what crosses is counted by run: the tensors of
one state are those of one run.
"""

import ast

import numpy as np

from agdbg.diagnose.carriers import LOOP
from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import COMPREHENSIONS, Scope, function_of, module_of, place
from agdbg.diagnose.handing import crossed
from agdbg.diagnose.meeting import Entry
from agdbg.record.facts import PassFact
from agdbg.record.lookup import Site

_LOW = np.uint64((1 << 32) - 1)
#: Layers that run the same ops for each of their layers, directions and steps.
_LAYERED = {"RNN", "LSTM", "GRU"}
#: Ops of a line of which the layer is looked up.
_LOOKED_AT = 10_000
_MAYBE = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.BoolOp, *LOOP, *COMPREHENSIONS)


class Runs:
    """What ran between two passes, and what the second one takes from before the first one; ``until`` is the row of its end."""

    def __init__(self, case: Case, first: PassFact, second: PassFact, until: int = 0) -> None:
        self._case, self._first = case, first.row
        self._until = until or len(case.facts.trace.records)
        self._of_layers: dict[int, np.ndarray] = {}
        self._crossed = np.array(crossed(case, first, second), np.int64)

    def tensors(self, sites: set[Site]) -> int:
        """How many tensors a state consists of that the lines of some sites made: of each line those of one run."""
        return sum(self._at_most(line) for line in self._lines(sites))

    def sites(self) -> set[Site]:
        """Where what crosses was made."""
        return {
            self._case.facts.site_and_op(int(word))[0] for word in np.unique(self._case.walk.made_at[self._crossed])
        }

    def each_crosses(self, entry: Entry) -> bool:
        """Whether every run of the line of an entry hands something on: each belongs to an object, or an item, of its own."""
        line = self._line(entry)
        return 0 < self.of_line(line) == len(np.unique(self._run_of(line)))

    def of_entry(self, entry: Entry) -> int:
        """How often the line of an entry ran."""
        return self.of_line(self._line(entry))

    def of_line(self, line: int) -> int:
        """How often a line ran: of the ops of one run of it some come once."""
        calls = self._calls(line)
        if len(calls):
            return len(np.unique(calls))
        words, counts = self._words(line)
        return int(counts.min()) if len(words) else 0

    def _calls(self, line: int) -> np.ndarray:
        """The call of a recurrent layer that made each op of a line; none where no layer did: it runs an op several times."""
        if line not in self._of_layers:
            self._of_layers[line] = self._find_calls(line)
        return self._of_layers[line]

    def _find_calls(self, line: int) -> np.ndarray:
        walk, none, found = self._case.walk, np.zeros(0, np.int64), []
        since = (walk.born > self._first) & (walk.born < self._until) & ((walk.made_at & _LOW) == np.uint64(line))
        nodes = walk.ids[since].tolist()
        if not 0 < len(nodes) <= _LOOKED_AT:
            return none
        made = self._case.facts.node(int(nodes[0]))
        tree = module_of(made.site.file) if made is not None else None
        own = {each.name for each in ast.walk(tree) if isinstance(each, ast.ClassDef)} if tree is not None else set()
        for node in nodes:
            calls = self._case.facts.module_calls(int(node))
            if not calls or calls[-1][1].class_name not in _LAYERED - own:
                return none
            found.append(calls[-1][0])
        return np.array(found, np.int64)

    def of_function(self, site: Site) -> int:
        """How often the function around a site ran, as a line of it says that is in no loop and no branch; 0 when none does."""
        walk, found = self._case.walk, []
        since = (walk.born > self._first) & (walk.born < self._until)
        for word in np.unique(walk.made_at[since]):
            made = self._case.facts.site_and_op(int(word))[0]
            if (made.file, made.func) == (site.file, site.func) and _is_plain(made):
                found.append(self.of_line(int(word) & int(_LOW)))
        return min(found, default=0)

    def objects(self, entry: Entry) -> int:
        """How many of the runs hand something on."""
        return len(np.unique(self._run_of(self._line(entry))))

    def _line(self, entry: Entry) -> int:
        walk = self._case.walk
        return int(walk.made_at[walk.place(entry.node.id)] & _LOW)

    def _lines(self, sites: set[Site]) -> set[int]:
        words = np.unique(self._case.walk.made_at[self._crossed])
        return {int(word & _LOW) for word in words if self._case.facts.site_and_op(int(word))[0] in sites}

    def _at_most(self, line: int) -> int:
        runs = self._run_of(line)
        return int(np.unique(runs, return_counts=True)[1].max()) if len(runs) else 0

    def _words(self, line: int) -> tuple[np.ndarray, np.ndarray]:
        """The ops of a line since the first pass, outside of passes as the line is, and how often each came."""
        walk = self._case.walk
        since = (walk.born > self._first) & (walk.born < self._until) & ((walk.made_at & _LOW) == np.uint64(line))
        inside = walk.in_pass[self._crossed[(walk.made_at[self._crossed] & _LOW) == np.uint64(line)]]
        if len(inside):
            since &= walk.in_pass == inside[0]
        words, counts = np.unique(walk.made_at[since], return_counts=True)
        return words, counts

    def _run_of(self, line: int) -> np.ndarray:
        """Of all that crosses of a line the run that made it, by the first op that comes once in each run."""
        walk = self._case.walk
        places = self._crossed[(walk.made_at[self._crossed] & _LOW) == np.uint64(line)]
        words, counts = self._words(line)
        if not len(words):
            return np.zeros(len(places), np.int64)
        if len(self._calls(line)):
            calls = [self._case.facts.module_calls(int(node)) for node in walk.ids[places]]
            return np.array([each[-1][0] if each else 0 for each in calls], np.int64)
        once = words[counts == counts.min()]
        born = {int(word): np.sort(walk.born[walk.made_at == word]) for word in once}
        marker = min(born.values(), key=lambda each: int(each[each > self._first][0]))
        found: np.ndarray = np.searchsorted(marker, walk.born[places], side="right")
        return found


def _is_plain(site: Site) -> bool:
    """Whether a line is known to run once in each run of its function."""
    here = place(site)
    at = next((index for index in range(len(here.around) - 1, -1, -1) if isinstance(here.around[index], Scope)), -1)
    return here.known and at >= 0 and not any(isinstance(each, _MAYBE) for each in here.around[at:])


def loops_in_function(site: Site) -> bool:
    """Whether a line is in a loop or comprehension of its function, so that it may run more often than that."""
    around = place(site).around
    at = next((index for index in range(len(around) - 1, -1, -1) if isinstance(around[index], Scope)), -1)
    return function_of(site) != "<module>" and any(
        isinstance(each, (*LOOP, *COMPREHENSIONS)) for each in around[at + 1 :]
    )
