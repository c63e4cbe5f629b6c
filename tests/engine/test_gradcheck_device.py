"""``gradcheck`` of inputs on a device: the function runs there, and what is compared comes to the host in as many copies as results."""

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine.autograd import gradcheck, gradgradcheck
from agdbg_engine.gradcheck import GradcheckError


def leaf(*shape, device="strict", dtype=ag.float64):
    ag.manual_seed(0)
    return ag.rand(shape, dtype=dtype).to(device).requires_grad_()


FUNCTIONS = {
    "elements": (lambda x: x.sin() * x, (2, 3)), "product": (lambda x: x @ x.T, (2, 3)), "softmax": (lambda x: x.softmax(-1), (2, 3)), "sum": (lambda x: (x * x).sum(), (3,)),
    "two outputs": (lambda x: (x.exp(), x.cos()), (2,)), "number": (lambda x: x**3, ()), "none": (lambda x: x * 2, (0,)), "to the CPU": (lambda x: x.cpu() * 2, (2,)),
}  # fmt: skip


@pytest.mark.parametrize("place", ["strict", strict.PLACE])
@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_gradients_pass(name, fast, place):
    function, shape = FUNCTIONS[name]
    x = leaf(*shape, device=place)
    before = strict_content(x)
    strict.refusals.clear()
    with strict.allowed_host_reads():
        assert gradcheck(function, (x,), fast_mode=fast, check_forward_ad=True, check_batched_grad=name != "to the CPU")
        assert gradgradcheck(function, (x,), fast_mode=fast)
        assert gradgradcheck(function, (x,), fast_mode=fast, gen_non_contig_grad_outputs=True)
    assert strict.refusals == []
    assert (strict_content(x) == before).all()


def strict_content(x):
    return strict.host(x.detach()._a).copy()


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
def test_complex_inputs(fast):
    x = leaf(2, dtype=ag.complex128)
    with strict.allowed_host_reads():
        assert gradcheck(lambda x: x * x.conj() + x, (x,), fast_mode=fast)


class Twice(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
def test_a_wrong_gradient_is_told_as_on_the_cpu(fast):
    texts = []
    for place in ("strict", "cpu"):
        with pytest.raises(GradcheckError) as found, strict.allowed_host_reads():
            gradcheck(Twice.apply, (leaf(2, device=place),), fast_mode=fast)
        texts.append(str(found.value))
    assert texts[0] == texts[1]


def test_a_kink_is_told_as_on_the_cpu():
    texts = []
    for place in ("strict", "cpu"):
        x = ag.zeros(2, dtype=ag.float64, device=place, requires_grad=True)
        with pytest.raises(GradcheckError) as found, strict.allowed_host_reads():
            gradcheck(ag.relu, (x,))
        texts.append(str(found.value))
    assert texts[0] == texts[1]
    assert (strict_content(ag.zeros(2, device="strict")) == np.zeros(2)).all()


def test_two_inputs_of_which_one_is_on_the_cpu():
    x, y = leaf(2), leaf(2, device="cpu")
    with strict.allowed_host_reads():
        assert gradcheck(lambda x, y: x * y.to("strict"), (x, y))


def test_an_element_takes_as_many_copies_to_the_host_as_it_has_results():
    x = leaf(4)
    strict.copies.clear()
    with strict.allowed_host_reads():
        gradcheck(lambda x: x.sin(), (x,), check_undefined_grad=False)
    numerical, backward = 2 * 4, 2 * 4  # two values a difference; twice, to see that it is the same again
    assert len(strict.copies) == numerical + backward + 1  # that of a gradient for zeros
