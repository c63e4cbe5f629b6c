"""Graphs that no pass runs: a remark, on request."""

import pytest

LOOP = """
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    loss = (model(ag.ones(2, 3)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    SCORE
"""


@pytest.mark.parametrize("score", ["score = model(ag.ones(2, 3)).mean()", "print(model(ag.ones(2, 3)).mean().item())"])
def test_an_evaluation_with_a_graph(linted, lines_of, score):
    (found,) = linted(LOOP.replace("SCORE", score)).remarked("never-run")
    assert "`model(ag.ones(2, 3)).mean()` at line 9 has a graph of 6 nodes, 3 times, which no backward()" in found.cause
    assert "kept for nothing" in found.cause and "no_grad()" in found.fix and found.certainty == "certain"
    assert lines_of(found, "begins") == [9] and lines_of(found, "made") == [9]


@pytest.mark.parametrize(
    "score",
    [
        "pass",
        "with ag.no_grad(): score = model(ag.ones(2, 3)).mean()",
        "print((loss * 2).item())",
        "(model(ag.ones(2, 3)).mean()).backward()",
        "total = model(ag.ones(2, 3)).mean() if i == 2 else None",
    ],
    ids=["nothing", "no_grad", "a number", "run", "after the last pass"],
)
def test_graphs_that_are_run_or_not_worth_a_word(linted, score):
    assert linted(LOOP.replace("SCORE", score)).remarked("never-run") == []


def test_the_graph_of_a_gradient_is_none(linted):
    source = """
x = ag.tensor([1.0, 2.0], requires_grad=True)
for i in range(2):
    g, = ag.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
"""
    assert linted(source).remarked("never-run") == []
