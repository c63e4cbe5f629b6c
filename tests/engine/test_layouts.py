"""Results that lie row by row in PyTorch do so here, whatever the operand does: programs that `view(-1)` them run."""

import pytest
import torch

import agdbg_engine as ag

PROGRAMS = """
a.cumsum(0)
a.cumprod(1)
a.cummax(0)[0]
a.cummin(1)[1]
a.logcumsumexp(0)
a.softmax(0)
a.softmax(1)
a.log_softmax(1)
F.softmin(a, 0)
torch.var_mean(c, 1)[0]
torch.std_mean(c, 0)[1]
c.var(1)
c.std(0)
c.prod(1)
c.aminmax(dim=1)[0]
F.layer_norm(c, (2,))
c.topk(1, 2)[1]
a.roll(1, 0)
a.roll(1)
a.tile((2, 1))
a.repeat(1, 2)
a.tril()
a.triu(1)
a.renorm(2, 0, 1.0)
c.sum(1)
c.mean(0)
c.amax(1)
c.amin(0)
c.logsumexp(1)
c.logsumexp(0, True)
F.logsigmoid(a)
""".strip().splitlines()


def laid(lib, expression):
    a = lib.arange(6.0).view(2, 3).t()
    c = lib.arange(24.0).view(2, 3, 4).permute(2, 1, 0)
    result = eval(expression, {"a": a, "c": c, "torch": lib, "F": lib.nn.functional})
    return result.is_contiguous()


@pytest.mark.parametrize("expression", PROGRAMS)
def test_a_result_of_a_transposed_tensor(expression):
    assert laid(ag, expression) == laid(torch, expression)


@pytest.mark.parametrize("op", ["complex", "polar"])
def test_complex_numbers_lie_as_their_parts_do(op):
    for part in (ag.arange(6.0).view(2, 3).t(), ag.arange(6.0).view(2, 3), ag.ones(2, 1).expand(2, 3)):
        made = getattr(ag, op)(part, part)
        theirs = torch.from_numpy(part.numpy())
        assert made.stride() == getattr(torch, op)(theirs, theirs).stride()


EXPANDED = """
torch.ones(3).expand(2, 3)
torch.ones(3, 1).expand(3, 4)
torch.ones(3, 4).t().expand(2, 4, 3)
torch.ones(2, 3, 4).permute(2, 0, 1)[:, :, None].expand(4, 2, 5, 3)
torch.ones(3, 4)[:, ::2].expand(2, 3, 2)
torch.ones(()).expand(2, 3)
""".strip().splitlines()
COPIES = {
    "clone": lambda x, lib: x.clone(), "double": lambda x, lib: x.double(), "to": lambda x, lib: x.to(lib.int64),
    "zeros_like": lambda x, lib: lib.zeros_like(x), "full_like": lambda x, lib: lib.full_like(x, 1.0),
    "type_as": lambda x, lib: x.long().type_as(x), "rand_like": lambda x, lib: lib.rand_like(x),
    "randn_like": lambda x, lib: lib.randn_like(x), "randint_like": lambda x, lib: lib.randint_like(x, 5),
}  # fmt: skip


PERMUTED = ["torch.ones(4, 3).t()", "torch.ones(4, 3, 2).permute(0, 2, 1)", "torch.ones(4, 6).t()[::2]"]


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("expression", EXPANDED + PERMUTED)
def test_a_copy_of_what_repeats_its_memory(expression, copy):
    theirs, ours = (COPIES[copy](eval(expression, {"torch": lib}), lib).stride() for lib in (torch, ag))
    assert ours == theirs
