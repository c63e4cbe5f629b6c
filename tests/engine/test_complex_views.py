"""Parts, views and conjugates of complex tensors, and the way from real to complex and back: the same as PyTorch."""

import pytest
from agdbg_tests_differential import Programs, error_of, graph_of, leaf, logged_warnings, same

import agdbg_engine as ag

torch = pytest.importorskip("torch")
programs = Programs()


def cleaf(t, *values):
    return t.tensor(list(values) or [1 + 2j, 3 - 1j], dtype=t.complex128, requires_grad=True)


@programs
def parts_are_views(t):
    z, x = cleaf(t), leaf(t, 1.0)
    return [
        z.real,
        z.imag,
        z.real._base is z,
        t.real(z),
        t.imag(z),
        x.real is x,
        error_of(lambda: x.imag),
        error_of(t.imag, x),
    ]


@programs
def gradients_of_parts(t):
    z = cleaf(t)
    (z.real * 2 + z.imag * z.imag).sum().backward()
    return [z.grad, graph_of(z.real * 2 + z.imag)]


@programs
def pairs_are_views(t):
    z, x = cleaf(t), t.ones(3, 2, requires_grad=True)
    a, b = t.view_as_real(z), t.view_as_complex(x)
    (a * t.arange(4.0).reshape(2, 2)).sum().backward()
    (b * (1 + 2j)).abs().sum().backward()
    return [a, b, z.grad, x.grad]


@programs
def what_is_not_pairs(t):
    wrong = [t.ones(3, 3), t.tensor(1.0), t.ones(2, 2, dtype=t.int64), t.ones(2, 2).T, t.ones(2, 2, dtype=t.complex64)]
    wrong += [t.ones(3, 3)[:, :2], t.ones(6)[1:5].reshape(2, 2)]
    return [error_of(t.view_as_complex, w) for w in wrong] + [error_of(t.view_as_real, t.ones(2))]


@programs
def writing_a_part(t):
    z = cleaf(t)
    y = z * 1
    y.real.mul_(3)
    y.imag[0] = 7.0
    y.abs().sum().backward()
    return [y, z.grad, y._version]


@programs
def assigning_parts(t):
    z, c, x = cleaf(t), t.tensor([1 + 1j]), t.ones(2)
    y = z * 1
    y.real = t.tensor([5.0, 6.0], dtype=t.float64)
    c.imag = 4.0
    x.real = t.tensor([5.0, 6.0])
    y.sum().real.backward()
    bad = [error_of(setattr, x, "imag", x), error_of(setattr, c, "real", None), error_of(setattr, z, "real", z.real)]
    return [y, z.grad, c, x, bad]


@programs
def a_part_written_with_a_recorded_value(t):
    z, x = cleaf(t), leaf(t, 2.0, 3.0)
    y = z * 2
    y.imag.mul_(x)
    (y * y.conj()).real.sum().backward()
    return [z.grad, x.grad]


@programs
def other_views_see_the_write(t):
    z = cleaf(t)
    y = z * 1
    pairs, first = t.view_as_real(y), y[:1]
    y.real.mul_(10)
    ((pairs * pairs).sum() + first.abs().sum()).backward()
    return [pairs.detach(), first.detach(), z.grad]


@programs
def real_memory_written_as_complex(t):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64, requires_grad=True)
    y = x * 1
    t.view_as_complex(y)[0].mul_(2j)
    (y * t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64)).sum().backward()
    return [y, x.grad]


@programs
def second_order_through_a_written_part(t):
    z = cleaf(t)
    y = z * z
    y.real.mul_(3)
    (g,) = t.autograd.grad((y * y.conj()).real.sum(), z, create_graph=True)
    (h,) = t.autograd.grad(g.abs().sum(), z)
    return [g.detach(), h]


@programs
def of_two_parts(t):
    x, y = leaf(t, 1.0, 2.0), leaf(t, 3.0)
    z = t.complex(x, y)
    (z * z).abs().sum().backward()
    wrong = [(x, y.detach().float()), (t.ones(1, dtype=t.int64), t.ones(1, dtype=t.int64)), (x, 1.0)]
    return [z, x.grad, y.grad, [error_of(t.complex, *w) for w in wrong]]


@programs
def of_length_and_angle(t):
    r, a = leaf(t, 1.0, 2.0, 0.0), leaf(t, 0.5, -2.0, 1.0)
    z = t.polar(r, a)
    (z * (1 + 2j)).real.sum().backward()
    return [z, r.grad, a.grad]


@programs
def angles_and_directions_at_corners(t):
    z, x = cleaf(t, 1 + 2j, 0j, -1 + 0j), leaf(t, 1.0, -1.0, 0.0)
    (z.angle() + z.abs() + z.sgn().real).sum().backward()
    x.angle().sum().backward()
    return [z.grad, x.grad, z.angle(), x.angle(), t.tensor([2, -2]).angle(), z.sgn()]


@programs
def conjugates(t):
    z, x = cleaf(t), leaf(t, 1.0)
    (z.conj() * (1 + 2j)).real.sum().backward()
    physical = z.conj_physical()
    return [
        z.grad.resolve_conj(),
        physical,
        x.conj() is x,
        x.conj_physical() is x,
        z.conj().resolve_conj().detach().is_conj(),
    ]


@programs
def adjoints(t):
    z, x = cleaf(t).reshape(1, 2), t.ones(1, 2, requires_grad=True)
    products = [z @ z.mH, z.H @ z, x.mH, x.H, x.adjoint(), x.mT, x.T, t.ones(3).T.shape]
    wrong = [
        error_of(lambda: z[0].H),
        error_of(lambda: t.ones(1, 2, 3).H),
        error_of(lambda: z[0].mH),
        error_of(lambda: t.ones(3).mT),
    ]
    return [products, wrong]


@programs
def writes_through_transposes(t):
    x = t.ones(2, 3, requires_grad=True)
    y = x * 1
    y.T[0] = 5.0
    y.mT.mul_(2)
    y.sum().backward()
    return [y, x.grad]


@programs
def real_inputs_of_complex_results(t):
    x, y = leaf(t, 1.0, 2.0), leaf(t, 1.0, 2.0)
    c = t.tensor([1 + 2j, 3 - 1j], dtype=t.complex128)
    (x * c).sum().abs().backward()
    (y.to(t.complex128) * 2j + 1).abs().sum().backward()
    return [x.grad, y.grad, (x * 2j).dtype == t.complex128]


@programs
def complex_to_real(t):
    z = cleaf(t)
    y = z.to(t.float64)
    (y * 3).sum().backward()
    return [y, z.grad]


@programs
def numbers(t):
    z = t.tensor(1 + 2j)
    return [
        z.item(),
        complex(z),
        float(t.tensor(2 + 0j)),
        int(t.tensor(2 + 0j)),
        bool(z),
        z.dtype == t.complex64,
        z.is_complex(),
    ]


@programs
def training_a_complex_weight(t):
    w = cleaf(t, 1 + 1j, 2 - 1j)
    for _ in range(3):
        loss = ((w - (3 + 1j)).abs() ** 2).sum()
        w.grad = None
        loss.backward()
        with t.no_grad():
            w -= 0.1 * w.grad
    return [w, w.grad]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


SHOWN = {
    "vector": lambda t: t.tensor([1 + 2j, 3 - 1j]),
    "one": lambda t: t.tensor(1 + 2j),
    "double": lambda t: t.tensor([1 + 2j], dtype=t.complex128, requires_grad=True),
    "not finite": lambda t: t.tensor([1.5 + 2j, complex("nan+infj")]),
    "small": lambda t: t.tensor([1e-5 + 1j, 1e10 + 1j]),
    "signs": lambda t: t.tensor([-1 - 1j, 0j, complex(1, -0.0), 0.5j]),
    "matrix": lambda t: t.tensor([[1 + 2.25j, 100.125 - 3j], [1, 2]]),
    "nothing": lambda t: t.tensor([]).to(t.complex64),
    "long": lambda t: t.arange(30).to(t.complex64) * (1 + 0.5j),
    "many": lambda t: t.arange(2000).to(t.complex64) * (1 - 2j),
    "recorded": lambda t: t.view_as_complex(t.ones(3, 2, requires_grad=True)),
}


@pytest.mark.parametrize("name", SHOWN)
def test_printing(name):
    assert repr(SHOWN[name](ag)) == repr(SHOWN[name](torch)).replace("torch.", "")


def test_losing_the_imaginary_part_warns():
    with logged_warnings() as said:
        ag.tensor([1 + 2j]).to(ag.float64)
    assert said == ["UserWarning: Casting complex values to real discards the imaginary part"]


def test_conj_is_a_copy():
    """Unlike PyTorch's, which is a view that conjugates when read: NumPy has no such arrays."""
    z = ag.tensor([1 + 2j])
    c = z.conj()
    with pytest.raises(RuntimeError, match=r"^conj\(\) is a copy in this engine"):
        c.zero_()
    assert not c._is_view() and z.tolist() == [1 + 2j] and c.tolist() == [1 - 2j]
    assert c.clone().zero_().tolist() == [0]
