"""Writes into memory that overlaps itself (``unfold``, ``as_strided``) give the values that PyTorch's loops give, or are refused."""

import pytest
from agdbg_tests_differential import same

import agdbg_engine as ag

pytest.importorskip("torch")


def counted(t, v):
    return t.arange(1.0, 1 + v.numel()).reshape(v.shape)


def turned(t, v):
    return counted(t, v).reshape(v.shape[::-1]).t()


MEMORY = {
    "shifted by one": lambda t: t.arange(1.0, 4.0).unfold(0, 2, 1),
    "turned": lambda t: t.arange(1.0, 4.0).unfold(0, 2, 1).t(),
    "three times": lambda t: t.arange(1.0, 8.0).unfold(0, 3, 1),
    "wide rows": lambda t: t.arange(1.0, 41.0).unfold(0, 20, 3),
    "high columns": lambda t: t.arange(1.0, 11.0).as_strided((4, 2), (1, 2)),
    "of a base with room": lambda t: t.arange(1.0, 13.0).as_strided((2, 3), (2, 1), 4),
}
EACH = {
    "mul_": lambda t, v: v.mul_(2),
    "*=": lambda t, v: v.__imul__(counted(t, v)),
    "mul_ turned": lambda t, v: v.mul_(turned(t, v)),
    "add_ itself": lambda t, v: v.add_(v),
    "neg_": lambda t, v: v.neg_(),
    "relu_": lambda t, v: v.sub_(2).relu_(),
    "div_": lambda t, v: v.div_(2),
    "pow_": lambda t, v: v.fmod_(3).pow_(2),
    "lerp_": lambda t, v: v.lerp_(t.zeros(v.shape), counted(t, v) / 64),
    "addcmul_": lambda t, v: v.addcmul_(counted(t, v), t.ones(v.shape)),
    "logical_not_": lambda t, v: v.logical_not_(),
    "lt_": lambda t, v: v.lt_(2),
    "masked_fill_": lambda t, v: v.masked_fill_(v > 2, 0.0),
    "fill_": lambda t, v: v.fill_(7),
    "zero_": lambda t, v: v.zero_(),
    "copy_": lambda t, v: v.copy_(counted(t, v)),
    "copy_ turned": lambda t, v: v.copy_(turned(t, v)),
    "clamp_": lambda t, v: v.clamp_(0, 2),
    "tril_": lambda t, v: v.tril_(),
    "triu_": lambda t, v: v.triu_(),
    "fill_diagonal_": lambda t, v: v.fill_diagonal_(9.0),
    "index_fill_": lambda t, v: v.index_fill_(0, t.tensor([0, 1]), 9.0),
    "rows": lambda t, v: v.__setitem__(t.tensor([1, 0]), counted(t, v)[:2]),
    "added rows": lambda t, v: v.index_put_((t.tensor([0, 1, 0]),), t.ones(3, v.shape[1]), accumulate=True),
    "slice": lambda t, v: v.__setitem__(slice(None), counted(t, v)),
    "out": lambda t, v: t.add(turned(t, v), 1, out=v),
    "eye": lambda t, v: t.eye(*v.shape, out=v),
    "init.eye_": lambda t, v: t.nn.init.eye_(v),
}


@pytest.mark.parametrize("write", EACH)
@pytest.mark.parametrize("memory", MEMORY)
def test_element_after_element(memory, write):
    def both(t):
        v = MEMORY[memory](t)
        EACH[write](t, v)
        return [v, v._base, v._version]

    same(both)


@pytest.mark.parametrize("write", [lambda v: v.fill_(3), lambda v: v.zero_(), lambda v: v[0].mul_(5)])
def test_gradients_where_elements_need_not_be_told_apart(write):
    def both(t):
        x = t.arange(1.0, 5.0).requires_grad_()
        y = x * 1
        v = y.unfold(0, 2, 1)
        write(v)
        (y * t.arange(1.0, 5.0)).sum().backward()
        return [x.grad, y, v]

    same(both)


@pytest.mark.parametrize(
    "write", [lambda v: v.mul_(2), lambda v: v.copy_(ag.ones(3, 2)), lambda v: v.masked_fill_(v > 1, 2)]
)
def test_no_gradient_is_wrong(write):
    """Refused at the write: a formula knows nothing of elements that share memory, and PyTorch's gradient is wrong."""
    y = ag.arange(1.0, 5.0).requires_grad_() * 1
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
        write(y.unfold(0, 2, 1))
    assert y.tolist() == [1.0, 2.0, 3.0, 4.0] and y._version == 0


@pytest.mark.parametrize("write", [lambda t, v: v.zero_(), lambda t, v: v.copy_(counted(t, v) * 2)])
def test_tangents_are_written_in_the_same_order(write):
    def both(t):
        fw = t.autograd.forward_ad
        with fw.dual_level():
            d = fw.make_dual(t.arange(1.0, 5.0), t.ones(4))
            write(t, d.unfold(0, 2, 1))
            return [fw.unpack_dual(d).tangent, d]

    same(both)


def test_a_tangent_that_would_be_wrong_is_refused():
    fw = ag.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(ag.arange(1.0, 4.0), ag.ones(3))
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
            d.unfold(0, 2, 1).mul_(2)
        assert d.tolist() == [1.0, 2.0, 3.0] and fw.unpack_dual(d).tangent.tolist() == [1.0, 1.0, 1.0]


# ----- expanded memory -----

FILLED = {
    "zeros_": lambda t, v: t.nn.init.zeros_(v),
    "ones_": lambda t, v: t.nn.init.ones_(v),
    "constant_": lambda t, v: t.nn.init.constant_(v, 4.0),
    "eye_": lambda t, v: t.nn.init.eye_(v),
    "dirac_": lambda t, v: t.nn.init.dirac_(v.unsqueeze(0)),
    "uniform_": lambda t, v: t.nn.init.uniform_(v),
    "orthogonal_": lambda t, v: t.nn.init.orthogonal_(v),
    "sparse_": lambda t, v: t.nn.init.sparse_(v, 0.5),
    "trunc_normal_": lambda t, v: t.nn.init.trunc_normal_(v),
    "tril_": lambda t, v: v.tril_(),
    "triu_": lambda t, v: v.triu_(),
    "threshold_": lambda t, v: t.nn.functional.threshold_(v, 2.0, 0.0),
    "zeros, out": lambda t, v: t.zeros(v.shape, out=v),
    "eye, out": lambda t, v: t.eye(*v.shape, out=v),
}


@pytest.mark.parametrize("write", FILLED)
def test_what_may_be_done_to_expanded_memory(write):
    def both(t):
        v = t.arange(1.0, 4.0).expand(2, 3)
        FILLED[write](t, v)
        return [v, v._version]

    same(both)


@pytest.mark.parametrize("name", ["zeros_", "eye_", "dirac_", "uniform_", "normal_", "orthogonal_", "sparse_"])
def test_writes_that_an_initialisation_counts(name):
    def both(t):
        w = t.ones(3, 3, 3) if name == "dirac_" else t.ones(3, 3)
        getattr(t.nn.init, name)(w, *([0.5] if name == "sparse_" else []))
        return w._version

    same(both)


@pytest.mark.parametrize("dtype", ["int64", "complex64"])
@pytest.mark.parametrize("name", ["uniform_", "normal_", "trunc_normal_", "kaiming_normal_"])
def test_dtypes_of_which_no_numbers_are_drawn(name, dtype):
    def both(t):
        return getattr(t.nn.init, name)(t.ones(2, 2, dtype=getattr(t, dtype))).shape

    same(both)


NUMBERS = {
    "a number": lambda t: 3,
    "a tensor": lambda t: t.tensor(3.0),
    "of one element": lambda t: t.tensor([3.0]),
    "with a gradient": lambda t: t.tensor(3.0, requires_grad=True),
    "a name": lambda t: "3",
}


@pytest.mark.parametrize("value", NUMBERS)
def test_a_diagonal_is_filled_with_a_number(value):
    def both(t):
        y = t.ones(2, 2, requires_grad=True) * 1
        return [y.fill_diagonal_(NUMBERS[value](t)), y.grad_fn]

    same(both)


def test_a_dual_on_a_diagonal_is_a_number():
    def both(t):
        fw = t.autograd.forward_ad
        with fw.dual_level():
            x = fw.make_dual(t.ones(2, 2), t.ones(2, 2))
            x.fill_diagonal_(fw.make_dual(t.tensor(3.0), t.tensor(5.0)))
            return [x, fw.unpack_dual(x).tangent]

    same(both)


@pytest.mark.filterwarnings("ignore:Use of index_put_ on expanded tensors is deprecated")
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("accumulate", [True, False])
@pytest.mark.parametrize("rows", [[0], [1], [0, 0], [0, 1], [1, 0, 1]])
def test_what_is_put_into_expanded_memory_from_there(rows, accumulate, own):
    def program(t):
        x = t.tensor([2.0, 3.0])
        v = x.expand(2, 2)
        v.index_put_((t.tensor(rows),), x if own else t.tensor([2.0, 3.0]), accumulate=accumulate)
        return [x, v, v._version]

    same(program)
