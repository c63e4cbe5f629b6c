"""`agdbg.explain` of every kind of error, with and without a recording, and what a loss says of the parameters it lacks."""

import pytest

import agdbg
import agdbg_engine as torch
from agdbg_engine import nn


def no_graph(x):
    (x.detach() * 2).sum().backward()


def unused(x):
    torch.autograd.grad((x * 2).sum(), torch.ones(2, requires_grad=True))


def unused_named(x):
    other = torch.ones(2, requires_grad=True)
    torch.autograd.grad((x * 2).sum(), other)


def leaf(x):
    x.mul_(2)


def vector(x):
    (x * 2).backward()


def part(x):
    (x * 2).unbind()[0].mul_(3)


FAULTS = {
    no_graph: ("no-grad-fn", "(x.detach() * 2).sum().backward()"),
    unused: ("none-grad", "torch.autograd.grad((x * 2).sum(), torch.ones(2, requires_grad=True))"),
    leaf: ("leaf-inplace", "x.mul_(2)"),
    vector: ("non-scalar", "(x * 2).backward()"),
    part: ("view-inplace", "(x * 2).unbind()[0].mul_(3)"),
}


def failed(fault):
    """The error of a fault, which went through more lines than the one that is wrong."""
    with pytest.raises(RuntimeError) as caught:
        fault(torch.ones(3, requires_grad=True))
    return caught.value


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_without_a_recording_the_line_is_the_innermost_one_of_the_program(fault):
    (found,) = agdbg.explain(failed(fault))
    kind, text = FAULTS[fault]
    (raised,) = [each.site for each in found.evidence if each.role == "raised"]
    assert (found.kind, raised.file, raised.func, raised.text.strip()) == (kind, __file__, fault.__name__, text)
    assert raised.line == fault.__code__.co_firstlineno + 1 and raised.text[raised.col : raised.end_col] == text


@pytest.mark.parametrize(
    ("fault", "role", "said"),
    [
        (no_graph, "cut", "the last cut before that is at line"),
        (unused_named, "refused", "asks for the gradient of `other`"),
        (leaf, "refused", "a leaf that requires grad"),
        (part, "view", "one of several views"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_with_a_recording_the_trace_tells_of_every_kind(fault, role, said, tmp_path):
    with agdbg.record(tmp_path / "trace"):
        (found,) = agdbg.explain(failed(fault))
    assert role in [each.role for each in found.evidence] and said in found.cause


def test_what_no_diagnosis_is_about_still_has_its_line(tmp_path):
    with agdbg.record(tmp_path / "trace"):
        (found,) = agdbg.explain(failed(vector))
    assert [each.site.func for each in found.evidence if each.role == "raised"] == ["vector"]


class TwoHeads(nn.Module):
    """Two heads, used in turn."""

    def __init__(self):
        super().__init__()
        self.body, self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x, head):
        return getattr(self, head)(torch.relu(self.body(x)))


def test_a_parameter_that_one_loss_lacks_may_be_trained_by_another():
    model = TwoHeads()
    (found,) = agdbg.lint(model(torch.ones(2, 3), "a").sum())
    assert (found.kind, found.certainty) == ("no-gradient", "possible")
    assert "`b.weight` and `b.bias`" in found.cause and "no gradient comes from this loss" in found.cause
    assert "will come" not in found.cause
