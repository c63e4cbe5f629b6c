"""A list of the losses of all iterations, which each differentiates: the fix is to differentiate the loss of the iteration alone."""

import re

import pytest

HEAD = """import agdbg_engine as ag
ag.manual_seed(0)
w = ag.randn(4, requires_grad=True)
opt = ag.optim.SGD([w], lr=.1)
"""
END = """    opt.zero_grad()
    total.backward()
    opt.step()
"""


def turn(begin, *lines, end=END):
    return "\n".join([begin, "for t in range(4):", *(f"    {each}" for each in lines), end])


SQUARE, LIST = "((ag.randn(4) * w) ** 2).sum()", "losses = []"
NAMED = [f"loss = {SQUARE}", "losses.append(loss)"]
ONE = "Call backward() on the loss of this iteration alone, `loss.backward()` in place of `total.backward()`"
CLEAR = "Differentiate the losses of this iteration alone: `losses.clear()`, after `total.backward()`"
WHOLE = "Differentiate the losses of this iteration alone, and keep the others in `losses` without their graphs: `"
#: The program, how the fix begins, and more that it says.
LOSSES = {
    "without a name": (
        turn(LIST, f"losses.append({SQUARE})", "total = sum(losses) / len(losses)"),
        "Name the loss of this iteration, keep it in `losses` without its graph: `loss = ((ag.randn(4) * w) ** 2).sum(); "
        "losses.append(loss.detach())` in place of `losses.append(((ag.randn(4) * w) ** 2).sum())` at line 7, or with "
        "`loss.item()` as a plain number; and differentiate it alone, `loss.backward()` in place of `total.backward()` at line 10",
    ),
    "of another name": (
        turn(LIST, f"losses.append({SQUARE})", "loss = ag.stack(losses).mean()", end=END.replace("total", "loss")),
        "Name the loss of this iteration, keep it in `losses` without its graph: `current = ((ag.randn(4) * w) ** 2).sum(); losses",
    ),
    "named": (turn(LIST, *NAMED, "total = sum(losses)"), f"{ONE} at line 11, and keep it in `losses` without its graph: "
              "`losses.append(loss.detach())` in place of `losses.append(loss)` at line 8, or with `loss.item()`"),
    "stacked": (turn(LIST, *NAMED, "total = ag.stack(losses).mean()"), ONE),
    "stacked by a function": (turn(LIST, *NAMED, "total = ag.mean(ag.stack(losses))"), ONE),
    "of a loop": (turn(LIST, *NAMED, "total = 0", "for each in losses:", "    total = total + each"), CLEAR),
    "the last ones": (turn(LIST, *NAMED, "total = sum(losses[-2:]) / 2"), ONE),
    "scaled": (turn(LIST, *NAMED, "total = sum(0.5 * each for each in losses)"), ONE),
    "built anew": (turn(LIST, f"loss = {SQUARE}", "losses = losses + [loss]", "total = sum(losses)"), ONE),
    "with +=": (turn(LIST, f"loss = {SQUARE}", "losses += [loss]", "total = sum(losses)"), ONE),
    "in the call": (turn(LIST, *NAMED, end="    sum(losses).backward()\n"),
                    "Differentiate the losses of this iteration alone: `losses.clear()`, after `sum(losses).backward()`"),
    "several": (turn(LIST, "for k in range(2):", f"    losses.append({SQUARE})", "total = sum(losses)"), CLEAR),
    "two lines": (turn(LIST, *NAMED, "losses.append(w.pow(2).sum())", "total = sum(losses)"), CLEAR),
    "beside another": (turn(LIST, *NAMED, "total = sum(losses) + w.pow(2).sum()"), CLEAR),
    "several, read later": (
        turn(LIST, "for k in range(2):", f"    losses.append({SQUARE})", "total = sum(losses)")
        + "print(len(losses), losses[-1])\n",
        f"{WHOLE}losses = [each.detach() for each in losses]`, after `total.backward()` at line 11",
    ),
    "several, in a function": (
        "losses = []\ndef step():\n    for k in range(2):\n        losses.append(" + SQUARE + ")\n    total = sum(losses)\n"
        + END + "for t in range(3):\n    step()\nprint(losses[-1])\n",
        f"{WHOLE}losses[:] = [each.detach() for each in losses]`, after `total.backward()` at line 11",
    ),
}  # fmt: skip


@pytest.fixture
def programs(carried):
    return carried(HEAD)


def applied(text, fix):
    """The program with all that the fix says, where it says it."""
    lines = (HEAD + text).splitlines()
    for new, old, at in re.findall(r"`([^`]+)` in place of `([^`]+)` at line (\d+)", fix):
        assert lines[int(at) - 1].strip() == old
        lines[int(at) - 1] = lines[int(at) - 1].replace(old, new)
    for new, at in re.findall(r"`([^`]+)`, after `[^`]+` at line (\d+)", fix):
        lines[int(at) - 1] += f"; {new}"
    return "\n".join(lines).removeprefix(HEAD) + "\n"


@pytest.mark.parametrize("name", LOSSES)
def test_the_loss_of_the_iteration_is_differentiated_alone(programs, name):
    text, begin = LOSSES[name]
    said = programs.run(text)
    fix = programs.fix_in(said.stdout)
    assert said.status == 3 and fix.startswith(begin) and "To train through" not in said.stdout
    again = programs.run(applied(text, fix))
    assert again.status == 0, again.stdout


def test_states_that_are_kept_are_no_losses(programs):
    text = turn(
        "hist = []", "z = ag.randn(4) * w", "hist.append(z)", "total = sum(ag.tanh(m) for m in hist).pow(2).sum()"
    )
    assert programs.fix(text).startswith("Detach what `hist` keeps")
