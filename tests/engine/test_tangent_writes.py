"""In-place ops write the tangent by the op that PyTorch writes it by: its values, version and the name of its history."""

import pytest
from agdbg_tests_differential import error_of, same

pytest.importorskip("torch")
# PyTorch itself compiles some formulas with it at the first dual.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")


def mask(t):
    return t.tensor([[True, False, False], [False, True, True]])


def first(t):
    return t.tensor([[0, 1, 0]])


WRITES = {
    "zero_": lambda t, y, d: y.zero_(),
    "fill_ by a number": lambda t, y, d: y.fill_(3),
    "fill_ by a tensor": lambda t, y, d: y.fill_(t.tensor(3.0)),
    "fill_ by a dual": lambda t, y, d: y.fill_(d[0, 0]),
    "copy_": lambda t, y, d: y.copy_(t.ones(3)),
    "copy_ of a dual": lambda t, y, d: y.copy_(d),
    "masked_fill_": lambda t, y, d: y.masked_fill_(mask(t), 2.0),
    "masked_fill_ by a dual": lambda t, y, d: y.masked_fill_(mask=mask(t), value=d[0, 1]),
    "index_fill_": lambda t, y, d: y.index_fill_(1, t.tensor([0, 2]), 2.0),
    "item": lambda t, y, d: y.__setitem__(0, 2.0),
    "item of a dual": lambda t, y, d: y.__setitem__(0, d[1]),
    "item by a mask": lambda t, y, d: y.__setitem__(mask(t), 2.0),
    "item by indices": lambda t, y, d: y.__setitem__(t.tensor([0]), d[:1]),
    "index_put_ adding": lambda t, y, d: y.index_put_((t.tensor([0, 0]),), d, accumulate=True),
    "scatter_ of a number": lambda t, y, d: y.scatter_(0, first(t), 3.0),
    "scatter_ of a tensor": lambda t, y, d: y.scatter_(0, first(t), t.ones(2, 3)),
    "scatter_ of a dual": lambda t, y, d: y.scatter_(0, first(t), d[:1]),
    "put_": lambda t, y, d: y.put_(t.tensor([0, 4]), t.ones(2)),
    "put_ of a dual": lambda t, y, d: y.put_(t.tensor([0, 4]), d[0, :2]),
    "masked_scatter_": lambda t, y, d: y.masked_scatter_(mask(t), t.ones(3)),
    "masked_scatter_ of a dual": lambda t, y, d: y.masked_scatter_(mask(t), d),
    "conj_physical_": lambda t, y, d: y.conj_physical_(),
    "lt_": lambda t, y, d: y.lt_(2),
    "eq_ to a dual": lambda t, y, d: y.eq_(d),
    "bernoulli_": lambda t, y, d: y.bernoulli_(1.0),
    "mul_": lambda t, y, d: y.mul_(2),
    "sin_": lambda t, y, d: y.sin_(),
    "floor_": lambda t, y, d: y.floor_(),
    "index_add_": lambda t, y, d: y.index_add_(0, t.tensor([0]), t.ones(1, 3)),
    "t_": lambda t, y, d: y.t_(),
    "unsqueeze_": lambda t, y, d: y.unsqueeze_(0),
    "squeeze_": lambda t, y, d: y.unsqueeze_(0).squeeze_(),
    "row": lambda t, y, d: y[1].zero_(),
    "column": lambda t, y, d: y[:, 1].fill_(2.0),
}
MADE = {"dual": lambda d: d, "result": lambda d: d * 1, "view": lambda d: (d * 1).view(2, 3)}


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("write", WRITES)
def test_a_write(write, make):
    def both(t):
        fw = t.autograd.forward_ad
        with fw.dual_level():
            w = t.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
            y = MADE[make](fw.make_dual(t.ones(2, 3) / 2, w * 1))
            v = fw.unpack_dual(y).tangent
            saved = (v * v).sum()
            WRITES[write](t, y, fw.make_dual(t.ones(2, 3) * 3, w * 5))
            new = fw.unpack_dual(y).tangent
            g = t.autograd.grad((new * new).sum(), w, retain_graph=True)
            return [new is v, new, new._version, g, error_of(lambda: saved.backward())]

    same(both)


INTO_PLAIN = {
    "mul_": lambda x, d: x.mul_(d),
    "div_": lambda x, d: x.div_(d),
    "pow_": lambda x, d: x.pow_(exponent=d),
    "addcmul_": lambda x, d: x.addcmul_(d, x.clone()),
    "addcmul_ by names": lambda x, d: x.addcmul_(tensor1=d, tensor2=d),
    "atan2_": lambda x, d: x.atan2_(d),
    "ldexp_": lambda x, d: x.ldexp_(d),
}


@pytest.mark.parametrize("of_view", [False, True])
@pytest.mark.parametrize("write", INTO_PLAIN)
def test_gradients_of_the_tangent_that_a_dual_brings_are_those_by_what_was_there_before(write, of_view):
    def both(t):
        fw = t.autograd.forward_ad
        with fw.dual_level():
            v = t.tensor([0.3, 0.7, -0.5], requires_grad=True)
            x = t.tensor([1.2, 0.8, 2.3])
            d = fw.make_dual(t.tensor([1.0, 2.0, 0.5]), v * 0.7)
            INTO_PLAIN[write](x.view(3) if of_view else x, d)
            new = fw.unpack_dual(x).tangent
            return [new.detach(), t.autograd.grad((new * new).sum(), v)]

    same(both)
