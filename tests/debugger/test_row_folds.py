"""Rows folded by calls of modules and by repeats: every row is in one item, and what is opened and closed is."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agdbg.events import Kind, ModuleEvent, head, pack_site_op
from agdbg.graph.repeats import LEAST_REPEATS, find_repeats, likely_periods
from agdbg.graph.row_calls import RowCalls
from agdbg.graph.row_folds import Folding, RowFolds
from agdbg.graph.row_nodes import RowNodes
from agdbg.record.growing import Growing
from agdbg.record.lookup import Strings


class Program:
    """Records of a program that is written as a text: ``(`` enters a module, ``)`` leaves it, a letter builds a node."""

    def __init__(self, text):
        self.records, self.open, self.nodes = [], [], 0
        for letter in text:
            self.take(letter)
        self.growing = Growing()
        self.rows = RowNodes(self.growing, Strings())
        self.folds = RowFolds(self.rows, RowCalls(self.growing, self.rows))
        self.read = 0
        self.feed(len(self.records))

    def take(self, letter):
        if letter == "(":
            self.open.append(len(self.open) + 1)
            self.records.append([head(Kind.MODULE, 1, a=ModuleEvent.ENTERED), self.open[-1], *[0] * 6])
        elif letter == ")":
            self.records.append([head(Kind.MODULE, 1, a=ModuleEvent.LEFT), self.open.pop(), *[0] * 6])
        else:
            self.nodes += 1
            place = pack_site_op(ord(letter), ord(letter))
            self.records.append([head(Kind.BORN, 1, 0, 0, 0), self.nodes, self.nodes, place, *[0] * 4])

    def feed(self, count):
        self.growing.grow(np.array(self.records[:count], np.uint64).reshape(-1, 8))
        births = self.growing.rows(Kind.BORN)
        self.rows.add(births[self.read :])
        self.read = len(births)

    def seen(self, folding):
        """The items: their lengths, with the repeats."""
        view = self.folds.view(folding)
        items = [view.item(at) for at in range(len(view))]
        assert [each.end for each in items[:-1]] == [each.start for each in items[1:]]
        assert not items or (items[0].start, items[-1].end) == (0, len(self.rows))
        return [f"{each.end - each.start}x{each.times}" if each.times else each.end - each.start for each in items]


def test_what_a_call_has_built_is_one_item():
    program = Program("a(b(cd)e(f))g(h)")
    assert program.seen(Folding()) == [1] * 8
    assert program.seen(Folding(1)) == [1, 5, 1, 1]
    assert program.seen(Folding(2)) == [1, 1, 2, 1, 1, 1, 1]
    assert program.seen(Folding(9)) == [1] * 8


def test_two_calls_of_one_module_are_two_items():
    assert Program("(ab)(ab)(ac)").seen(Folding(1)) == [2, 2, 2]


def test_repeats_are_one_item_and_open_to_what_repeats():
    program = Program("x" + "(ab)l" * 200 + "y")
    assert program.seen(Folding(1)) == [1, "600x200", 1]
    opened = program.folds.unfolded(Folding(1), 50)
    assert opened.opened == (1,)
    assert program.seen(opened) == [1, *[2, 1] * 200, 1]
    twice = program.folds.unfolded(opened, 8)  # the third call
    assert program.seen(twice)[:8] == [1, 2, 1, 2, 1, 1, 1, 1]
    assert program.folds.folded(twice, 7) == opened
    assert program.folds.folded(opened, 300) == Folding(1)


def test_folds_that_begin_at_one_row_open_and_close_one_by_one():
    program = Program("((aab)(b))" * 5)
    one = program.folds.unfolded(Folding(1), 0)
    two = program.folds.unfolded(one, 0)
    three = program.folds.unfolded(two, 0)
    assert [each.opened for each in (one, two, three)] == [(0,), (0, 0), (0, 0, 0)]
    assert program.seen(one) == [4] * 5
    assert program.seen(two) == [3, 1, 4, 4, 4, 4]
    assert program.seen(three) == [1, 1, 1, 1, 4, 4, 4, 4]
    assert program.folds.folded(three, 1) == two
    assert program.folds.folded(three, 3) == one
    assert program.folds.folded(two, 0) == one
    assert program.folds.folded(one, 9) == Folding(1)
    assert program.folds.unfolded(three, 0) == three


def test_a_module_that_only_calls_another_opens_to_what_that_has_built():
    program = Program("(((abc)))")
    assert program.seen(program.folds.unfolded(Folding(1), 0)) == [1, 1, 1]


def test_repeats_inside_of_a_module():
    program = Program("(" + "ab" * 30 + ")z")
    assert program.seen(Folding(1)) == [60, 1]
    inside = program.folds.unfolded(Folding(1), 3)
    assert program.seen(inside) == ["60x30", 1]
    assert program.seen(program.folds.unfolded(inside, 3)) == [1] * 61


def test_one_call_is_folded_where_nothing_else_is():
    program = Program("x((ab)c)(de)")
    inner = program.folds.folded(Folding(), 2)
    assert inner == Folding(closed=((1, 2),))
    assert program.seen(inner) == [1, 2, 1, 1, 1]
    outer = program.folds.folded(inner, 1)
    assert program.seen(outer) == [1, 3, 1, 1]
    assert program.folds.folded(outer, 1) == outer
    assert program.folds.unfolded(outer, 2) == inner
    assert program.folds.unfolded(inner, 2) == Folding()
    assert program.folds.folded(Folding(), 0) == Folding()
    assert Folding().is_plain != inner.is_plain


def test_a_row_is_shown_by_opening_what_it_is_in():
    program = Program("((ab)(c))l" * 60)
    shown = program.folds.shown(Folding(1), 41)
    view = program.folds.view(shown)
    assert not view.item(view.at(41)).is_fold
    assert view.starts[view.at(41)] == 41
    assert len(view) < 140


def test_more_rows_make_another_view():
    program = Program("")
    program.take("(")
    for _ in range(6):
        program.take("a")
    program.feed(4)
    assert program.seen(Folding(1)) == [3]
    first = program.folds.view(Folding(1))
    assert program.folds.view(Folding(1)) is first
    program.feed(7)
    assert program.seen(Folding(1)) == [6]


def test_a_stretch_that_is_not_there_is_not_closed():
    program = Program("(ab)l" * 9)
    assert program.seen(Folding(1, closed=((3, 1), (99, 1), (4, 1)))) == ["27x9"]
    assert program.seen(Folding(1, opened=(2, 99))) == ["27x9"]


def test_likely_periods_are_those_that_matter():
    keys = np.tile(np.arange(700), 40)
    assert 700 in likely_periods(keys)
    assert find_repeats(keys, tried=likely_periods(keys)) == [(0, 700, 40)]
    assert likely_periods(np.arange(10_000)) == []
    assert find_repeats(np.arange(10_000), tried=[]) == []
    assert likely_periods(np.zeros(40, np.int64)) == list(range(1, 40 // LEAST_REPEATS + 1))


@st.composite
def programs(draw):
    text, depth = "", 0
    for letter in draw(st.text("()aab", max_size=60)):
        if letter == ")" and not depth:
            continue
        depth += {"(": 1, ")": -1}.get(letter, 0)
        text += letter
    return text * draw(st.integers(1, 6)) if not depth else text


@settings(max_examples=60, deadline=None)
@given(programs(), st.integers(0, 4), st.lists(st.tuples(st.sampled_from("fus"), st.integers(0, 400)), max_size=8))
def test_whatever_is_folded_every_row_is_in_one_item(text, depth, moves):
    program = Program(text)
    folding = Folding(depth)
    program.seen(folding)
    for move, row in moves:
        if row >= len(program.rows):
            continue
        change = {"f": program.folds.folded, "u": program.folds.unfolded, "s": program.folds.shown}[move]
        before = len(program.seen(folding))
        changed = change(folding, row)
        after = len(program.seen(changed))
        assert after < before or move != "f" or changed == folding
        assert after > before or move != "u" or changed == folding or after == before == 1
        folding = changed
