"""Writes to expanded memory in forward mode: the tangent follows as in PyTorch, and what is refused has changed nothing.

PyTorch refuses some of them when the data is written already: there only the errors are compared.
"""

import pytest
from agdbg_tests_differential import error_of, same

pytest.importorskip("torch")

# PyTorch says so of masks and index tensors on expanded memory, and itself compiles some formulas at the first dual.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated:UserWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning"),
]


def mask(t):
    return t.tensor([[True, False, False], [False, False, True]])


WRITES = {
    "zero_": lambda t, e, s: e.zero_(),
    "fill_": lambda t, e, s: e.fill_(3),
    "fill_ by a tensor": lambda t, e, s: e.fill_(t.tensor(3.0)),
    "fill_ by a dual": lambda t, e, s: e.fill_(s),
    "fill_ by name": lambda t, e, s: e.fill_(value=s),
    "masked_fill_": lambda t, e, s: e.masked_fill_(mask(t), 9.0),
    "masked_fill_ by a dual": lambda t, e, s: e.masked_fill_(mask(t), s),
    "masked_fill_ by name": lambda t, e, s: e.masked_fill_(mask=mask(t), value=s),
    "index_fill_": lambda t, e, s: e.index_fill_(1, t.tensor([0]), 9.0),
    "index_fill_ by a dual": lambda t, e, s: e.index_fill_(1, t.tensor([0]), s),
    "index_fill_ by name": lambda t, e, s: e.index_fill_(dim=1, index=t.tensor([0]), value=s),
    "index_put_": lambda t, e, s: e.index_put_((t.tensor([0]), t.tensor([1])), t.tensor([9.0])),
    "index_put_ of a dual": lambda t, e, s: e.index_put_((t.tensor([0]), t.tensor([1])), s),
    "index_put_ adding": lambda t, e, s: e.index_put_((t.tensor([0, 1]), t.tensor([1, 1])), s, accumulate=True),
    "item": lambda t, e, s: e.__setitem__(0, s),
    "item by a mask": lambda t, e, s: e.__setitem__(mask(t), 5.0),
    "one item": lambda t, e, s: e.__setitem__((0, 1), s),
    "all items": lambda t, e, s: e.__setitem__(slice(None), 5.0),
    "row": lambda t, e, s: e[0].zero_(),
    "mul_": lambda t, e, s: e.mul_(2),
    "add_ of a dual": lambda t, e, s: e.add_(s),
    "copy_": lambda t, e, s: e.copy_(t.ones(2, 3)),
    "lerp_": lambda t, e, s: e.lerp_(s, 0.5),
    "unsqueeze_, then zero_": lambda t, e, s: e.unsqueeze_(0).zero_(),
    "detach": lambda t, e, s: e.detach().zero_(),
    "bernoulli_": lambda t, e, s: e.bernoulli_(1.0),
}


def result_of_a_dual(t, fw, wants):
    p = fw.make_dual(t.tensor([1.0, 2.0, 3.0], requires_grad=wants), t.ones(3)) * 2
    return p, p.expand(2, 3)


def dual_whose_tangent_is_recorded(t, fw, wants):
    p = fw.make_dual(t.tensor([1.0, 2.0, 3.0], requires_grad=wants), t.ones(3, requires_grad=True) * 2)
    return p, p.expand(2, 3)


def dual_of_an_expanded_leaf(t, fw, wants):
    p = fw.make_dual(t.ones(3, requires_grad=wants) * 1, t.ones(3, requires_grad=True))
    return p, p.expand(2, 3)


def expanded_both(t, fw, wants):
    p = fw.make_dual(t.ones(3).expand(2, 3), t.ones(3).expand(2, 3))
    return p, p


def view_without_a_tangent(t, fw, wants):
    p = t.tensor([1.0, 2.0, 3.0], requires_grad=wants) * 2
    return p, p.expand(2, 3)


def base_that_repeats(t, fw, wants):
    p = t.ones(3).expand(2, 3).detach()
    return p, p


def part_of_a_base_that_repeats(t, fw, wants):
    p = t.ones(3).expand(2, 2, 3).detach()
    return p, p[0]


MADE = (
    result_of_a_dual, dual_whose_tangent_is_recorded, dual_of_an_expanded_leaf, expanded_both, view_without_a_tangent,
    base_that_repeats, part_of_a_base_that_repeats,
)  # fmt: skip


def after(t, make, write, wants):
    """The error of ``write``, and what is there afterwards; nothing of that where it was refused, unless here is ``t``."""
    fw = t.autograd.forward_ad
    with fw.dual_level():
        owner, e = make(t, fw, wants)
        before = state(fw, owner)
        said = error_of(lambda: WRITES[write](t, e, fw.make_dual(t.tensor(5.0), t.tensor(7.0))) is None)
        now = state(fw, owner)
        if said == "nothing":
            return [said, now, owner.grad_fn is None, backward(t, fw, owner)]
        if t.__name__ == "agdbg_engine":
            assert now == before
        return said


def state(fw, x):
    tangent = fw.unpack_dual(x).tangent
    return [x.tolist(), x._version, None if tangent is None else tangent.tolist()]


def backward(t, fw, x):
    tangent = fw.unpack_dual(x).tangent
    return [error_of(lambda y=y: y.sum().backward()) for y in (x, tangent) if y is not None and y.requires_grad]


@pytest.mark.parametrize("wants", [False, True])
@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("write", WRITES)
def test_a_write(write, make, wants):
    same(lambda t: after(t, make, write, wants))


def test_levels_inside_of_one_another():
    """The tangent of a tangent is written too: the derivative of the derivative too."""

    def both(t):
        def f(x):
            e = (x * x * t.ones(3)).expand(2, 3)
            e.masked_fill_(mask(t), x * x)
            return e[0].sum()

        once = t.func.jvp(f, (t.tensor(3.0),), (t.tensor(1.0),))
        twice = t.func.jvp(lambda x: t.func.jvp(f, (x,), (t.ones(()),))[1], (t.tensor(3.0),), (t.tensor(1.0),))
        return [once, twice]

    same(both)


@pytest.mark.parametrize("tangent", ["leaf", "no_grad view", "piece"])
def test_changes_of_shape_are_writes_to_the_tangent_too(tangent):
    def both(t):
        fw = t.autograd.forward_ad
        w = t.ones(2, 3, requires_grad=True)
        with t.no_grad():
            inside = (w * 1)[0]
        given = {"leaf": t.ones(3, requires_grad=True), "no_grad view": inside, "piece": (w * 1).unbind()[0]}[tangent]
        with fw.dual_level():
            d = fw.make_dual(t.ones(3), given)
            return error_of(lambda: d.unsqueeze_(0))

    same(both)
