"""Graphs that no pass goes through and that a program keeps turn by turn, as a validation without ``no_grad()`` does."""

import pytest

TRAINED = """net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)); opt = optim.SGD(net.parameters(), lr=.1)
bank, log, other = [], {'val': []}, {}
def evaluate():
    return net(ag.randn(8, 3)).pow(2).mean()
BEFORE
for turn in range(8):
    loss = net(ag.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    KEEP
AFTER
"""


def program(keep, before="", after=""):
    indented = keep.replace("\n", "\n    ")
    return TRAINED.replace("KEEP", indented).replace("BEFORE", before).replace("AFTER", after)


CLASS = """class Meter:
    def __init__(self):
        self.values = []
    def update(self, value, n=1):
        self.values.append(value)
meter = Meter()"""
VALIDATION = """class Meter:
    def __init__(self):
        self.values = []
    def update(self, value):
        self.values.append(value)
meter = Meter()
def validate():
    meter.update(evaluate())"""
AVERAGES = """class Averages:
    def __init__(self):
        self.shadow = {name: each.clone() for name, each in net.named_parameters()}
    def update(self):
        for name, each in net.named_parameters():
            self.shadow[name] = 0.9 * self.shadow[name] + 0.1 * each
averages = Averages()"""
#: What keeps them, what stands before the loop; the statement that is named, with its line, and the bank.
PILES = {
    "an expression": ("bank.append(net(ag.ones(3)).sum())", "", "bank.append(net(ag.ones(3)).sum())", "bank"),
    "a name": ("val = evaluate()\nbank.append(val)", "", "bank.append(val)", "bank"),
    "what a function returns": ("log['val'].append(evaluate())", "", "log['val'].append(evaluate())", "log['val']"),
    "with others": ("bank.append((turn, evaluate()))", "", "bank.append((turn, evaluate()))", "bank"),
    "added to a list": ("bank += [evaluate()]", "", "bank += [evaluate()]", "bank"),
    "a key": ("other[turn] = evaluate()", "", "other[turn] = evaluate()", "other"),
    "a counter": ("step += 1\nother[step] = evaluate()", "step = 0", "other[step] = evaluate()", "other"),
    "an object": ("meter.update(evaluate())", CLASS, "self.values.append(value)", "self.values"),
}


@pytest.mark.parametrize("name", PILES)
def test_what_keeps_them_is_named_and_the_fix_mends_it(linted, lines_of, tmp_path_factory, name):
    keep, before, statement, bank = PILES[name]
    source = program(keep, before, "print(len(bank))")
    found = linted(source).only("graph-growth")
    assert f"`{statement}` at line" in found.cause and f"8 graphs of 8 turns in `{bank}`" in found.cause, found.cause
    assert "no backward() goes through them" in found.cause and found.certainty == "likely"
    (line,) = lines_of(found, "holds")
    text = source.splitlines()[line - 2]
    assert statement in text
    new = found.fix.partition("`")[2].partition("`")[0]
    assert ".detach()" in new and f"in place of `{statement}` at line {line}" in found.fix, found.fix


def test_an_object_that_a_function_gives_them_to_keeps_them(linted):
    found = linted(program("validate()", VALIDATION)).only("graph-growth")
    assert "8 graphs of 8 turns in `self.values`" in found.cause and "`self.values.append(value.detach())`" in found.fix


def test_an_average_of_parameters_keeps_what_it_was_computed_from(linted):
    found = linted(program("averages.update()", AVERAGES)).only("graph-growth")
    assert "(0.9 * self.shadow[name] + 0.1 * each).detach()` in place of" in found.fix, found.fix


def test_the_fix_leaves_nothing_to_say(linted):
    source = program("bank.append(evaluate())").replace("evaluate())", "evaluate().detach())")
    assert linted(source).lints == []


DEFERRED = """losses = []
for turn in range(8):
    inner = net(ag.randn(4, 3)).pow(2).mean()
    inner.backward()
    losses.append(evaluate())
sum(losses).backward()"""
LOCAL = """def validate():
    found = []
    for _ in range(3):
        found.append(evaluate())
    return sum(each.item() for each in found)"""
BUFFER = """class Buffer:
    def __init__(self):
        self.kept = []
    def add(self, one):
        self.kept.append(one)
        self.trim()
    def trim(self):
        RESET
buffer = Buffer()"""
CLOSURE = """def validate():
    found = []
    def one(): found.append(evaluate())
    for _ in range(3): one()
    return len(found)"""
ANEW = """def episode():
    buffer = Buffer()
    for _ in range(3): buffer.add(evaluate())"""
TRIMS = "def trim(kept):\n    if len(kept) > 2: del kept[0]"
RESETS = "def reset():\n    global bank\n    bank = []"
RIGHT = {
    "an object that keeps the last ones": program(
        "buffer.add(evaluate())", BUFFER.replace("RESET", "self.kept = self.kept[-2:]")
    ),
    "an object that begins anew": program(
        "buffer.add(evaluate())\nbuffer.trim()", BUFFER.replace("RESET", "self.__init__()")
    ),
    "an object that is made in each turn": program("episode()", BUFFER.replace("RESET", "pass") + "\n" + ANEW),
    "an object of a class that is not known": program(
        "kept.add(evaluate())", "kept = type('Kept', (), {'add': lambda self, one: None})()"
    ),
    "a list of an outer function": program("validate()", CLOSURE),
    "a function that lets go": program("bank.append(evaluate())\ntrim(bank)", TRIMS),
    "a function that makes it anew": program("bank.append(evaluate())\nreset()", RESETS),
    "an average of values alone": program(
        "averages.update()", AVERAGES.replace("self.shadow[name] +", "self.shadow[name].detach() +")
    ),
    "the same keys in each turn": program("for key in 'ab': other[key] = evaluate()"),
    "numbers": program("bank.append(evaluate().item())"),
    "under no_grad": program("with ag.no_grad():\n    bank.append(evaluate())"),
    "the last one": program("other['last'] = evaluate()"),
    "used in its turn": program("val = evaluate()\nprint(val.item())"),
    "made anew in each turn": program("bank = []\nfor _ in range(3): bank.append(evaluate())"),
    "emptied in each turn": program("bank.append(evaluate())\nif len(bank) > 2: bank.clear()"),
    "only the last ones": program("bank.append(evaluate())\nbank[:] = bank[-2:]"),
    "the oldest goes": program("bank.append(evaluate())\nif len(bank) > 2: bank.pop(0)"),
    "bounded": program("bank.append(evaluate())", "import collections\nbank = collections.deque(maxlen=2)"),
    "of a run of a function": program("bank.append(validate())", LOCAL),
    "summed and then passed": program("pass", "", DEFERRED),
    "read as a number": program("bank.append(float(evaluate()))"),
    "in two turns": program("if turn < 2: bank.append(evaluate())"),
}


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_nothing_is_said(linted, source):
    assert [each.cause for each in linted(source).lints if each.kind == "graph-growth"] == []


def test_nothing_is_said_when_the_program_was_ended(linted):
    told = linted(program("bank.append(evaluate())\nif turn == 6: loss.backward()"))
    assert told.error is not None and [each for each in told.lints if each.kind == "graph-growth"] == []


SUMMED = """total = 0
for _ in range(3): total = total + net(ag.randn(8, 3)).pow(2).mean()
if turn < 0: print(total)"""


def test_a_sum_goes_on_from_turn_to_turn_or_begins_anew(linted):
    found = linted(program("total += net(ag.randn(8, 3)).mean()", "total = 0")).only("graph-growth")
    assert "it keeps the graphs of 8 iterations in memory" in found.cause and found.certainty == "likely"
    assert "`total += net(ag.randn(8, 3)).mean().item()`" in found.fix


def test_a_sum_that_begins_anew_in_each_turn_is_counted_by_its_longest(linted, tmp_path):
    found = linted(program(SUMMED.replace("range(3)", "range(12)"))).only("graph-growth")
    assert "it keeps the graphs of 12 iterations in memory" in found.cause


def test_a_short_sum_that_begins_anew_in_each_turn_does_not_grow(linted):
    assert linted(program(SUMMED)).lints == []
