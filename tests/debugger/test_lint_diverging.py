"""Training that diverges: one finding, whichever op the growth reaches first; and infinities that are no divergence."""

import pytest

TRAINING = """
ag.manual_seed(0)
model = nn.Linear(4, 3)
opt = ag.optim.SGD(model.parameters(), lr=RATE)
data, y = ag.randn(32, 4), ag.randn(32, 3)
for i in range(60):
    opt.zero_grad()
    out = model(data)
    loss = LOSS
    loss.backward()
    opt.step()
"""
SQUARED = "((out - y) ** 2).mean()"


def _training(rate, loss=SQUARED):
    return TRAINING.replace("RATE", rate).replace("LOSS", loss)


@pytest.mark.parametrize("rate", ["50.0", "100.0", "1e4"])
def test_a_learning_rate_that_is_too_large_is_one_finding(lint_script, rate):
    run = lint_script(_training(rate))
    (found,) = run.lints
    assert found.kind == "inf" and "`(out - y) ** 2` at line 12" in found.cause
    assert "after its values had grown from pass to pass (" in found.cause
    assert "Lower the learning rate" in found.fix


def test_updates_by_hand_diverge_as_well(lint_script):
    by_hand = _training("50.0").replace(
        "opt.step()", "with ag.no_grad():\n        for p in model.parameters(): p -= 50.0 * p.grad"
    )
    (found,) = [each for each in lint_script(by_hand).lints if each.kind == "inf"]
    assert "Lower the learning rate" in found.fix


def test_an_infinity_without_growth_is_no_divergence(lint_script):
    run = lint_script(_training("0.01", "(out.abs() + (0 if i < 30 else 1e30)).pow(2).mean()"))
    (found,) = [each for each in run.lints if each.kind == "inf"]
    assert "grown" not in found.cause and "learning rate" not in found.fix


def test_a_growth_without_updates_is_no_divergence(lint_script):
    run = lint_script("for i in range(12):\n    (x * 1e4 ** i).pow(2).sum().backward()")
    assert all("learning rate" not in each.fix for each in run.lints)


def test_another_fault_beside_a_divergence_is_told(lint_script):
    run = lint_script("ag.sqrt(x - 5).sum().backward()\n" + _training("50.0"))
    assert sorted(each.kind for each in run.lints) == ["inf", "nan"]


def test_a_divergence_of_three_passes(lint_script):
    run = lint_script(
        "w = ag.tensor([3.0], requires_grad=True)\nopt = ag.optim.SGD([w], lr=10.)\n"
        "for i in range(9):\n    l = (w**4).sum(); opt.zero_grad(); l.backward(); opt.step()\n"
    )
    (found,) = [each for each in run.lints if each.kind == "inf"]
    assert "after its values had grown" in found.cause and "Lower the learning rate" in found.fix
