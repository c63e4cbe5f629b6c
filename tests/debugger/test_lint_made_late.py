"""A parameter that is made in ``forward``: an optimizer that was built before does not have it."""

import pytest

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        {begin}
    def forward(self, x):
        {make}
        return self.lin(x) * self.{name}
net = Net()
{before}
for i in range(3):
    opt.zero_grad()
    {run}
    opt.step()
"""
SGD = "opt = optim.SGD(net.parameters(), .1)"
IF_NONE = "if self.p is None: self.p = nn.Parameter(ag.ones(3))"


AT_ONCE = "net(ag.ones(2, 3)).sum().backward()"
KEPT = "loss = net(ag.ones(2, 3)).sum(); loss.backward()"


def net(make=IF_NONE, begin="self.p = None", before=SGD, name="p", run=AT_ONCE):
    return NET.format(make=make, begin=begin, before=before, name=name, run=run)


MADE = {
    "None": net(),
    "hasattr": net("if not hasattr(self, 'p'): self.p = nn.Parameter(ag.ones(3))", "pass"),
    "registered": net("if self.p is None: self.p = nn.Parameter(ag.ones(3))", "self.register_parameter('p', None)"),
    "register_parameter": net("if not hasattr(self, 'p'): self.register_parameter('p', nn.Parameter(ag.ones(3)))", "pass"),
    "a loss that is kept": net(run=KEPT),
    "an output that is kept": net(run="out = net(ag.ones(2, 3)); out.sum().backward()"),
    "hasattr and a loss that is kept": net("if not hasattr(self, 'p'): self.p = nn.Parameter(ag.ones(3))", "pass", run=KEPT),
    "inner": net(before="inner, net = net, nn.Sequential(net)\n" + SGD),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_a_parameter_that_is_made_in_forward(linted, lines_of, name):
    found = linted(MADE[name]).only("not-optimized")
    called = "`0.p`" if name == "inner" else "`p`"
    assert f"Parameter {called} is made in forward(), after SGD at line" in found.cause and "__init__()" in found.fix
    assert lines_of(found, "used") == [9]


ANEW = "self.p = nn.Parameter(ag.ones(3))"
CORRECT = {
    "made before the optimizer": net(before="net(ag.ones(2, 3)); " + SGD),
    "added to the optimizer": net(before="net(ag.ones(2, 3))\n" + SGD.replace("net.parameters()", "net.lin.parameters()")
                                  + "\nopt.add_param_group({'params': [net.p]})"),
    "made in __init__": net("pass", "self.p = nn.Parameter(ag.ones(3))"),
    "made anew for each graph": net(ANEW, "pass"),
    "made anew for each graph, which is kept": net(ANEW, "pass", run=KEPT),
    "used twice in one graph": net(ANEW, "pass", run="(net(ag.ones(2, 3)) * net.p).sum().backward(retain_graph=True)"),
    "frozen": net("if self.p is None: self.p = nn.Parameter(ag.ones(3), requires_grad=False)"),
    "used before the model runs": net("pass", "self.p = nn.Parameter(ag.ones(3))",
                                      SGD + "\n(net.p * 2).sum().backward()"),
}  # fmt: skip


@pytest.mark.parametrize("name", CORRECT)
def test_a_parameter_that_an_optimizer_has_or_need_not_have_is_no_finding(linted, name):
    assert [each.kind for each in linted(CORRECT[name]).lints] == []


def test_a_model_that_is_first_used_inside_of_another_one_was_not_made_there(linted):
    other = net(
        "self.p = [other.weight] if i % 2 == 0 else (other(x), [other.weight])[1]", "self.p = None", name="p[0].sum()"
    )
    ran = linted(other.replace("net = Net()", "net, other, i = Net(), nn.Linear(3, 3), 0"))
    assert not [each for each in ran.lints if "is made in forward" in each.cause]
