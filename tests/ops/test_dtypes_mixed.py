"""Operands and numbers of several dtypes: each line is run with the engine and with PyTorch, and gives the same or the same error."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")  # the reference

import agdbg_engine as engine  # noqa: E402 - after the skip

COMPARISONS = """
tensor([.1, .3]) > tensor(.1, dtype=float64)
tensor([.1, .3]) == tensor(.1, dtype=float64)
tensor([.1, .3]).lt_(tensor([.1, .4], dtype=float64))
tensor([10, 200], dtype=uint8) < tensor(300)
tensor([10, 200], dtype=uint8) < 300
tensor([10, 200], dtype=uint8) > tensor(-1)
tensor([10, 200], dtype=int32) <= tensor(2**32)
tensor([.1], dtype=float16) == tensor(.1)
tensor([16777217]) == tensor([16777216.])
tensor([16777217]) == 16777216.
tensor([1, 1], dtype=uint8).logical_and(tensor(256))
tensor([True]) == 2
tensor([True, False]).lt_(tensor([.5, .5]))
tensor([1., 2.]).gt_(tensor([1j]))
"""
RANGES = """
arange(1., 5.000001, 2., dtype=int32)
arange(0., 10.5, 2, dtype=int32)
arange(0., 10.5, 2, dtype=int64)
arange(0, 3, .5, dtype=uint8)
arange(0, 3, .5, dtype=int64)
arange(300, 3, -2, dtype=uint8)
arange(2.7, 5.2, .9, dtype=int16)
"""
DIVISIONS = """
tensor([3, 4], dtype=uint8) / tensor(1000)
tensor(300) / tensor([1, 2], dtype=uint8)
tensor([1, 2], dtype=int32) / tensor(2**40)
true_divide(tensor([3, 4], dtype=uint8), tensor(1000))
tensor([3, 4], dtype=uint8).floor_divide(tensor(1000))
"""
WRITES = """
tensor([1, 2], dtype=int32).bitwise_and_(tensor([1.5, 2.]))
tensor([1, 2], dtype=int32).gcd_(tensor([1.5, 2.]))
tensor([1., 2.]).hypot_(tensor([1j, 2.]))
tensor([1., 2.]).atan2_(tensor([1j, 2.]))
tensor([1, 2]).fmod_(tensor([1.5, 2.]))
tensor([1, 2]).fmod_(tensor([[1.5, 2.]]))
tensor([1, 2]).igamma_(tensor([1.5, 2.]))
tensor([1., 2.]).nextafter_(tensor([1j, 2.]))
tensor([1, 2]).xlogy_(tensor([1, 2]))
tensor([1, 2]).copysign_(2)
tensor(1).bitwise_or_(tensor([1., 2.]))
tensor([1., 2.]).hypot_(3)
"""
NUMBERS = """
tensor([1.,2.],dtype=float16).masked_fill(tensor([True,False]),-1e9)
full((2,),1e9,dtype=float16)
full((2,),1e5,dtype=float16)
full((2,),65519.,dtype=float16)
full((2,),65520.,dtype=float16)
full((2,),inf,dtype=float16)
full((2,),100000,dtype=float16)
full_like(tensor([1.],dtype=float16),1e9)
tensor([1.,2.],dtype=float16).new_full((2,),1e9)
tensor([1.,2.],dtype=float16).fill_(1e9)
tensor([1.,2.],dtype=float16).fill_(tensor(1e9))
tensor([1.,2.],dtype=float16).clamp(max=1e5)
tensor([1.,2.],dtype=float16).clamp(min=-1e5)
tensor([1.,2.],dtype=float16).clamp_min(-1e5)
tensor([1.,2.],dtype=float16).clamp_max(1e5)
tensor([1.,2.]).clamp(max=1e300)
tensor([1.,2.]).clamp_max(1e300)
where(tensor([True,False]), tensor([1.,2.]), 1e300)
where(tensor([True,False]), tensor([1.,2.],dtype=float16), 1e9)
where(tensor([True,False]), 1e9,tensor([1.,2.],dtype=float16))
where(tensor([True,False]), 1e300, tensor([1.,2.]))
where(tensor([True,False]), 1e300, 2.)
where(tensor([True,False]), tensor([1.,2.],dtype=float64), 1e300)
where(tensor([True,False]), tensor([1,2],dtype=uint8), 1e300)
where(tensor([True,False]), tensor([1,2],dtype=uint8), 2**40)
tensor([1.,2.]).masked_fill(tensor([True,False]),1e300)
tensor([1.,2.],dtype=float16).masked_fill(tensor([True,False]),tensor(1e9))
tensor([1.,2.],dtype=float16)*65536.
tensor([1.,2.],dtype=float16)*1e300
tensor([1.,2.])*1e300
tensor([1.,2.])+1e300
tensor([1.,2.],dtype=float16).add(1., alpha=1e9)
tensor([1.,2.],dtype=float16).add(tensor([1.,2.],dtype=float16), alpha=1e9)
tensor([1e-3,2e-4],dtype=float16)*65536.
tensor([1e4],dtype=float16)/65536.
tensor([1e4],dtype=float16)/65536
tensor([1e4],dtype=float16)/tensor(65536.)
tensor(65536.)*tensor([1e-3],dtype=float16)
tensor([1e-3],dtype=float16)*tensor(65536.)
tensor([1e-3],dtype=float16).mul_(tensor(65536.))
tensor([1e-3],dtype=float16).div_(70000.)
tensor([1.],dtype=float16).addcdiv(tensor([1e-3],dtype=float16),tensor([2.],dtype=float16),value=1e5)
tensor([1.],dtype=float16).addcmul(tensor([1e-3],dtype=float16),tensor([2.],dtype=float16),value=1e5)
tensor([1.],dtype=float16).lerp(tensor([1.001],dtype=float16),1e5)
zeros(2,dtype=float16).add_(6e4, alpha=1e-8)
zeros(2,dtype=float16).add(6e4, alpha=1e-3)
tensor([1.5],dtype=float16)**17.3
tensor([1.5],dtype=float16)**70000.
tensor([1.5],dtype=float16)-70000.
70000.-tensor([1e4],dtype=float16)
70000./tensor([1e4],dtype=float16)
tensor([6e4],dtype=float16)+70000
tensor([6e4],dtype=float16)-70000
tensor([6e4],dtype=float16)>70000.
tensor([inf],dtype=float16)>70000.
tensor([inf],dtype=float16)==70000.
tensor([1.],dtype=float16).fmod(70000.)
tensor([1.],dtype=float16).remainder(70000.)
tensor([1.],dtype=float16).floor_divide(70000.)
tensor([1.],dtype=float16).copysign(-70000.)
maximum(tensor([1.],dtype=float16),tensor(70000.))
atan2(tensor([1.],dtype=float16),tensor(70000.))
tensor([1,2],dtype=int32)/tensor(2**40)
tensor([.1],dtype=float16) == tensor(.1)
tensor([.1],dtype=float16) == .1
tensor([True]).pow(tensor([True]))
tensor([True]).pow(True)
tensor([1j]).clamp(min=tensor([1j]))
tensor([1j]).clamp(min=tensor([1.]))
tensor([1j]).clamp(min=1.)
tensor([1j]).clamp(max=tensor([1j]))
nn.functional.l1_loss(tensor([1,2]),tensor([2,4]))
nn.functional.l1_loss(tensor([1,2]),tensor([2,4]),reduction='sum')
nn.functional.l1_loss(tensor([1,2]),tensor([2,4]),reduction='none')
nn.functional.kl_div(tensor([1j]),tensor([1j]))
nn.functional.kl_div(tensor([1j]),tensor([1j]),log_target=True)
nn.functional.kl_div(tensor([1j]),tensor([1.]))
nn.functional.kl_div(tensor([1.]),tensor([1j]))
nn.functional.kl_div(tensor([1j]),tensor([1j]),reduction='sum',log_target=True)
nn.functional.huber_loss(tensor([1.,2.]),tensor([2.,4.],dtype=float64))
nn.functional.cosine_similarity(tensor([1.,2.],dtype=float16), tensor(2.), 0)
nn.functional.cosine_similarity(tensor([1.,2.],dtype=float16), tensor([2.,3.]), 0)
tensordot(tensor([1,2],dtype=int32),tensor([3,4],dtype=int32),0)
tensordot(tensor([1,2],dtype=int32),tensor([3,4],dtype=int32),1)
tensordot(tensor([1,2],dtype=uint8),tensor([3,4],dtype=uint8),0)
tensordot(tensor([1.,2],dtype=float16),tensor([3.,4],dtype=float16),0)
tensor([1e-3], dtype=float16).mul_(65536)
tensor([2e4], dtype=float16) - tensor(70000.)
3 - tensor([1, 2], dtype=uint8).sub(True, alpha=2)
sub(3, tensor([True]), alpha=2)
tensordot(tensor([[1, 2]], dtype=int32), tensor([3], dtype=int32), ([1], [0]))
nn.functional.mse_loss(tensor([1., 2.]), tensor([2., 4.], dtype=float64))
"""
GRADIENTS = """
tensor([500.], dtype=float16, requires_grad=True) / 70000.
tensor([1e-3], dtype=float16, requires_grad=True) * 65536
tensor([1e-3], dtype=float16, requires_grad=True) * tensor(65536.)
tensor([2.], dtype=float16, requires_grad=True) ** 3
nn.functional.mse_loss(tensor([1., 2.], requires_grad=True), tensor([2., 4.], dtype=float64))
nn.functional.huber_loss(tensor([1., 2.], requires_grad=True), tensor([2., 4.], dtype=float64))
nn.functional.huber_loss(tensor([1., 2.], dtype=float64, requires_grad=True), tensor([2., 4.]))
nn.functional.smooth_l1_loss(tensor([1., 2.], requires_grad=True), tensor([2., 4.], dtype=float64))
"""

FUNCTIONS = [
    "arange",
    "full",
    "where",
    "true_divide",
    "nn",
    "maximum",
    "atan2",
    "div",
    "floor_divide",
    "xlogy",
    "tensordot",
    "sub",
    "addcdiv",
    "addcmul",
    "clamp",
    "clamp_max",
    "clamp_min",
    "einsum",
    "fmax",
    "fmin",
    "hypot",
    "lerp",
]


def said(library, text, gradient=False):
    """Dtype and values of the result, or of the gradient of its first leaf; or type and first line of the error."""
    names = {n: getattr(library, n) for n in dir(library) if n not in ("float", "int", "complex", "bool", "sum")}
    names.update({n: getattr(library, n) for n in FUNCTIONS})
    made = []
    names["tensor"] = lambda *args, **kwargs: made.append(library.tensor(*args, **kwargs)) or made[-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = eval(text, {**names, "inf": float("inf")})  # a line of this file
            if gradient:
                found.sum().backward()
                found = next(t.grad for t in made if t.requires_grad)
    except Exception as error:  # it is what is compared
        return type(error).__name__, str(error).splitlines()[0]
    return seen(found)


def seen(tensor):
    """Dtype and rounded values."""
    values = np.array(tensor.tolist()) + 0  # -0 is 0
    digits = 3 if "float16" in str(tensor.dtype) else 5
    return str(tensor.dtype).rpartition(".")[2], [f"{x:.{digits}g}" for x in values.reshape(-1)]


@pytest.mark.parametrize(
    "text", f"{COMPARISONS}{RANGES}{DIVISIONS}{WRITES}{NUMBERS}".replace("\n\n", "\n").strip().splitlines()
)
def test_line(text):
    assert said(engine, text) == said(torch, text)


@pytest.mark.parametrize("text", GRADIENTS.strip().splitlines())
def test_gradient(text):
    assert said(engine, text, True) == said(torch, text, True)


WIDER = [("float16", "float32"), ("float32", "float64"), ("complex64", "complex128"), ("complex64", "float64")]
STATEMENTS = [
    "t += w", "t -= w", "t.add_(w, alpha=3)", "t.subtract_(w)", "t.sub_(w, alpha=2)", "t *= w", "t /= w", "t.clamp_max_(w.real)",
    "t.copy_(w)", "t.hypot_(w)", "t.atan2_(w)",
]  # fmt: skip
VIEWS = ["x[0]", "x.view(3, 2).T[0, :1]", "x.unsqueeze(0)[0, 1]", "x.t()[:, 0]", "x[:, :1]", "x"]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize(("narrow", "wide"), WIDER)
def test_gradient_of_a_wider_operand(narrow, wide, statement):
    """It has the dtype of the operand, and is there, whatever the view that is written through."""
    if "complex" in narrow and any(n in statement for n in ("clamp", "hypot", "atan2")):
        pytest.skip("of real numbers alone")
    for view in VIEWS:
        found = []
        for library in (engine, torch):
            w = library.tensor([1.5], dtype=getattr(library, wide), requires_grad=True)
            leaf = library.ones(2, 3, dtype=getattr(library, narrow), requires_grad=True)
            x = leaf * 2
            t = eval(view, {"x": x})  # a row of the table above
            exec(statement, {"t": t, "w": w})
            (x * x).sum().abs().backward()
            found.append([seen(w.grad), seen(leaf.grad)])
        assert found[0] == found[1], view


@pytest.mark.parametrize("weight", [[0.4 + 2j], 0.4 + 2j])
@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_gradient_of_lerp_conjugates_a_weight_of_one_element(name, weight):
    grads = []
    for library in (engine, torch):
        dtype = getattr(library, name)
        x = library.tensor([0.7 + 1j, 2.5 - 1j], dtype=dtype, requires_grad=True)
        w = library.tensor(weight, dtype=dtype, requires_grad=True)
        library.lerp(x, x * 2, w).sum().real.backward()
        grads.append([x.grad.tolist(), w.grad.tolist()])
    assert grads[0] == grads[1]


REFUSED = """
floor_divide(tensor([1j]), 2)
floor_divide(tensor([1.]), 2j)
floor_divide(tensor([True]), True)
tensor([1.]).floor_divide(tensor([1j]))
div(tensor([1.]), 2j, rounding_mode='trunc')
einsum("i,j->ij", tensor(1.), tensor([1., 2.]))
einsum("i", None)
einsum(2, tensor([1.]))
atan2(tensor([1.]), None)
hypot(tensor([1.]), None)
clamp_min(tensor([True]), True)
clamp_max(tensor([True]), True)
clamp(tensor([True]), True, True)
fmax(tensor([1j]), tensor([1.]))
fmin(tensor([1.]), tensor([1j]))
addcmul(tensor([True]), tensor([True]), tensor([True]))
addcmul(tensor([1.]), tensor([1.]), tensor([1.]), value=2j)
addcdiv(tensor([1.]), tensor([1.]), tensor([1.]), value=2j)
addcmul(tensor([1]), tensor([1]), tensor([1]), value=2 + 0j)
lerp(tensor([1.]), tensor([1.]), 2j)
tensordot(tensor([True]), tensor([True]), 1)
tensordot(tensor([[True]]), tensor([[True]]), 1)
tensordot(tensor([[True], [True]]), tensor([[True]]), 1)
"""


@pytest.mark.parametrize("text", REFUSED.strip().splitlines())
def test_refused(text):
    assert said(engine, text) == said(torch, text)
