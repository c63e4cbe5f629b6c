"""Names read off a source line: safe for any line, with columns as Python's code objects tell them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agdbg.diagnose.source import assigned, call_text, differentiated, expression, is_returned, operand
from agdbg.diagnose.writes import Write, write
from agdbg.record.facts import EdgeFact, NodeFact
from agdbg.record.lookup import NO_SITE, Op, Site


def at(text, part=None, **how):
    """The site of ``part`` on a line; without a part no columns are known."""
    if part is None:
        return Site("train.py", 7, text=text, **how)
    before = text[: text.index(part)]
    start = len(before.encode())
    return Site("train.py", 7, "f", start, start + len(part.encode()), text, 7)


def node(op="MulBackward0", edges=(1, 2)):
    return NodeFact(9, Op(op), 1, NO_SITE, tuple(EdgeFact(each, 0, 0) for each in edges), (), 0, 1)


@pytest.mark.parametrize(
    ("text", "part", "name"),
    [
        ("    h = torch.tanh(h * w)", "torch.tanh(h * w)", "h"),
        ("    h = torch.tanh(h * w)", "h * w", ""),
        ("    h = torch.tanh(h * w)", None, "h"),
        ("self.h = f(x)", "f(x)", "self.h"),
        ("hs[i] = f(x)", "f(x)", "hs[i]"),
        ("a = b = f(x)", "f(x)", "a"),
        ("h, c = f(x)", "f(x)", ""),
        ("h, c = f(x), g(x)", "g(x)", "c"),
        ("total += loss", "total += loss", "total"),
        ("total += loss", None, "total"),
        ("h: Tensor = f(x)", "f(x)", "h"),
        ("if (h := f(x)) is None:", "f(x)", "h"),
        ("for x in xs: h = f(x)", "f(x)", "h"),
        ("with no_grad(): h = f(x)", "f(x)", "h"),
        ("a = 1; h = f(x)", "f(x)", "h"),
        ("größe = 'ä'; höhe = f(x)", "f(x)", "höhe"),
        ("return f(x)", "f(x)", ""),
        ("losses.append(f(x))", "f(x)", ""),
        ("h = torch.tanh(", None, ""),
        ("else:", None, ""),
        ("\x00", None, ""),
        ("", None, ""),
    ],
)
def test_what_a_line_assigns(text, part, name):
    assert assigned(at(text, part)) == name


def test_an_assignment_that_goes_on_to_the_next_line():
    assert assigned(Site("train.py", 7, "f", 8, 9, "    h = torch.tanh(", 9)) == "h"
    assert assigned(Site("train.py", 7, "f", 19, 9, "    h = torch.tanh(h * (", 9)) == "", (
        "only a part of the right side"
    )


def test_a_return():
    assert is_returned(at("    return f(x)", "f(x)")) and is_returned(at("return f(x)"))
    assert not is_returned(at("return g(f(x))", "f(x)"))
    assert not is_returned(at("return")) and not is_returned(at("h = f(x)", "f(x)")) and not is_returned(NO_SITE)


def test_the_expression_counts_bytes():
    assert expression(at("größe = höhe * w", "höhe * w")) == "höhe * w"
    assert expression(at("h = f(x)")) == "", "columns are not known"
    assert expression(Site("a.py", 7, "f", 4, 3, "h = f(", 9)) == "", "it ends on another line"
    assert expression(Site("a.py", 7, "f", 400, 500, "h = f(x)", 7)) == "", "the line is shorter"
    assert len(expression(at("h = " + "x + " * 99 + "x", "x + " * 99 + "x"))) < 60


@pytest.mark.parametrize(
    ("text", "part", "made", "index", "name"),
    [
        ("y = h * w", "h * w", node(), 0, "h"),
        ("y = h * w", "h * w", node(), 1, "w"),
        ("y = h * w", "h * w", node(edges=(0, 2)), 0, "h"),
        ("y = h * w", "h * w", node(edges=(1, 0)), 0, ""),  # it may have been w.__rmul__(h)
        ("y = 2 * w", "2 * w", node(edges=(1,)), 0, "w"),
        ("y = a - w", "a - w", node("RsubBackward0"), 0, ""),
        ("y = -h", "-h", node("NegBackward0"), 0, "h"),
        ("y = h[0]", "h[0]", node("SelectBackward0"), 0, "h"),
        ("y = h.exp()", "h.exp()", node("ExpBackward0"), 0, "h"),
        ("y = torch.exp(h)", "torch.exp(h)", node("ExpBackward0"), 0, "h"),
        ("y = exp(h)", "exp(h)", node("ExpBackward0"), 0, "h"),
        ("y = h.mul(w)", "h.mul(w)", node(), 1, "w"),
        ("y = torch.mul(h, w)", "torch.mul(h, w)", node(), 1, "w"),
        ("y = head(h)", "head(h)", node("AddmmBackward0", (1, 2, 3)), 1, "h"),
        ("y = self.head(self.h)", "self.head(self.h)", node("AddmmBackward0"), 1, "self.h"),
        ("y = cell(x, h)", "cell(x, h)", node("AddmmBackward0"), 1, ""),
        ("y = sum(losses)", "sum(losses)", node("AddBackward0"), 0, ""),
        ("y = exp(f(x))", "exp(f(x))", node("ExpBackward0"), 0, ""),
        ("h *= w", "h *= w", node(), 0, "h"),
        ("y = h * w", None, node(), 0, ""),
    ],
)
def test_operands(text, part, made, index, name):
    assert operand(at(text, part), made, index) == name


@pytest.mark.parametrize(
    ("text", "part", "said", "root"),
    [
        ("loss.backward()", "loss.backward()", "loss.backward()", "loss"),
        ("loss.backward()", None, "loss.backward()", "loss"),
        ("for l in ls: l.backward(retain_graph=True)", None, "l.backward(retain_graph=True)", "l"),
        ("self.loss.backward()", None, "self.loss.backward()", "self.loss"),
        ("(a + b).backward()", "(a + b).backward()", "(a + b).backward()", ""),
        ("y.backward(torch.ones(3))", None, "y.backward(torch.ones(3))", ""),
        ("accelerator.backward(loss)", None, "accelerator.backward(loss)", ""),
        ("g, = torch.autograd.grad(loss, w)", "torch.autograd.grad(loss, w)", "torch.autograd.grad(loss, w)", "loss"),
        ("torch.autograd.backward(loss)", None, "torch.autograd.backward(loss)", "loss"),
        ("grad(loss, w)", None, "grad(loss, w)", "loss"),
        ("self._target(*self._args)", "self._target(*self._args)", "backward()", ""),
        ("loss.backward(" + "a=1, " * 20 + ")", None, "loss.backward(...)", "loss"),
        ("x" * 90 + ".backward()", None, "backward()", "x" * 90),
        ("loss.backward(", None, "backward()", ""),
        ("", None, "backward()", ""),
    ],
)
def test_calls_of_backward(text, part, said, root):
    site = at(text, part)
    assert call_text(site, "backward", "grad") == said and differentiated(site) == root


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("y *= a + b", "y *= a + b", Write("augmented", "y", "y *= a + b", "y = y * (a + b)")),
        ("y *= 3", None, Write("augmented", "y", "y *= 3", "y = y * 3")),
        ("self.y -= g", None, Write("augmented", "self.y", "self.y -= g", "self.y = self.y - g")),
        ("with no_grad(): w -= g", "w -= g", Write("augmented", "w", "w -= g", "w = w - g")),
        ("y[0] = 3", "y[0]", Write("index", "y", "y[0] = 3")),
        ("y[0][1] = 3", None, Write("index", "y", "y[0][1] = 3")),
        ("y[0] += 3", "y[0]", Write("index", "y", "y[0] += 3")),
        ("y[mask].zero_()", "y[mask].zero_()", Write("index", "y", "y[mask].zero_()")),
        ("y.mul_(3)", "y.mul_(3)", Write("method", "y", "y.mul_(3)", "y = y.mul(3)")),
        ("z = y.add_(x, alpha=2)", None, Write("method", "y", "y.add_(x, alpha=2)", "y = y.add(x, alpha=2)")),
        ("torch.add_(y, x)", None, Write("method", "y", "torch.add_(y, x)", "y = y.add(x)")),
        ("y.view(-1).mul_(3)", "y.view(-1).mul_(3)", Write("method", "", "y.view(-1).mul_(3)")),
        ("y.add_(1).mul_(2)", "y.add_(1)", Write("method", "y", "y.add_(1).mul_(2)", "y = y.add(1).mul(2)")),
        ("y.copy_(x)", None, Write("method", "y", "y.copy_(x)", "y = x")),
        ("y.zero_()", None, Write("method", "y", "y.zero_()", "y = y.new_zeros(y.shape)")),
        ("y.fill_(2).mul_(x)", None, Write("method", "y", "y.fill_(2).mul_(x)", "y = y.new_full(y.shape, 2).mul(x)")),
        ("y.normal_()", None, Write("method", "y", "y.normal_()")),
        ("F.relu(y, inplace=True)", None, Write("inplace", "y", "F.relu(y, inplace=True)")),
        ("z = F.relu(y, inplace=False)", None, Write("unknown")),
        ("torch.exp(x, out=y)", None, Write("out", "y", "torch.exp(x, out=y)")),
        ("z = net(y)", "net(y)", Write("unknown")),
        ("y.__exit__()", None, Write("unknown")),
        ("y = x[0]", "x[0]", Write("unknown")),
        ("y *=", None, Write("unknown")),
        ("", None, Write("unknown")),
    ],
)
def test_writes(text, part, expected):
    assert write(at(text, part)) == expected


@pytest.mark.parametrize("text", ["y *= a + b", "y **= -2", "y -= a - b", "y <<= 1 if a else 2", "y.add_(-a)"])
def test_what_is_proposed_instead_says_the_same(text):
    class Number(int):
        def add(self, other):
            return self + other

    before, after = {"a": 1, "b": 2, "y": Number(7)}, {"a": 1, "b": 2, "y": Number(7)}
    exec(text.replace(".add_(", " += ("), before)
    exec(write(at(text)).instead, after)
    assert before["y"] == after["y"] != 7


@given(st.text(), st.integers(-1, 40), st.integers(-1, 40), st.integers(0, 9))
def test_any_line_can_be_looked_at(text, col, end_col, end_line):
    _look_at(Site("train.py", 7, "f", col, end_col, text, end_line))


HARD = ["(" * 900, "-" * 999 + "x", "x" + "[0]" * 300, "1is 2", r"'\d'.backward()", "y = " + "f(" * 80 + ")" * 80]


@pytest.mark.parametrize("text", HARD, ids=range(len(HARD)))
def test_lines_that_are_hard_on_a_parser(text):
    _look_at(at(text))
    _look_at(at(text, text[-3:]))


def _look_at(site):
    assert isinstance(assigned(site), str) and isinstance(expression(site), str)
    assert isinstance(operand(site, node(), 1), str) and isinstance(write(site), Write)
    assert call_text(site, "backward") and isinstance(differentiated(site), str) and is_returned(site) in (True, False)
