"""Nested levels, on which transforms stand: derivatives of derivatives, told apart by their level."""

import pytest
from agdbg_tests_forward_tools import pytorch

import agdbg_engine as ag

fw = ag.autograd.forward_ad


def vector(*values):
    return ag.tensor(list(values), dtype=ag.float64)


def jvp(function, x, v):
    """Value and tangent of ``function`` at ``x``."""
    with fw.nested_level() as level:
        return fw.unpack_dual(function(fw.make_dual(x, v, level=level)), level=level)


def derivative(function, v):
    return lambda x: jvp(function, x, v).tangent


CURVES = {
    "product": lambda t: lambda x: x * x * x.sin(),
    "saved result": lambda t: lambda x: x.exp().tanh().sqrt(),
    "reduced": lambda t: lambda x: (x * x).sum() * x.log_softmax(0),
    "written": lambda t: lambda x: written(t, x),
    "views": lambda t: lambda x: t.cat([x[1:] * x[:-1], x.view(3, 1).sum(1)]).exp(),
}


def written(t, x):
    y = t.zeros(3, dtype=t.float64)
    y[1:] = x[1:] * x[0]
    z = y * x
    z[:2].mul_(x[1:])
    return z.exp_()


@pytest.mark.parametrize("name", CURVES)
def test_third_derivatives_against_pytorch(name):
    torch = pytorch()
    u, v, w = (0.3, -1.0, 2.0), (1.0, 0.5, -0.2), (0.1, 0.7, 1.1)
    x = (0.2, 0.5, 0.9)
    ours = derivative(derivative(derivative(CURVES[name](ag), vector(*u)), vector(*v)), vector(*w))(vector(*x))

    def t_derivative(function, v):
        return lambda x: torch.func.jvp(function, (x,), (torch.tensor(v, dtype=torch.float64),))[1]

    make = lambda t: lambda x: t_written(x) if name == "written" else CURVES[name](t)(x)

    def t_written(x):
        """The same without writes into a tensor that is no input, which PyTorch's transforms refuse."""
        y = torch.cat([torch.zeros_like(x[:1]), x[1:] * x[0]]) * x
        return torch.cat([y[:2] * x[1:], y[2:]]).exp()

    theirs = t_derivative(t_derivative(t_derivative(make(torch), u), v), w)(torch.tensor(x, dtype=torch.float64))
    assert ours.tolist() == pytest.approx(theirs.tolist(), rel=1e-9)


def test_levels_are_not_confused():
    """d/dx (x * d/dy (x + y)) = 1, where confusing the two derivatives gives 2."""
    one = vector(1)

    def outer(x):
        return x * jvp(lambda y: x + y, vector(3), one).tangent

    assert jvp(outer, vector(2), one).tangent.tolist() == [1]


def test_a_level_sees_the_tangents_of_those_around_it():
    with fw.nested_level() as outer:
        x = fw.make_dual(vector(2), vector(1), level=outer)
        with fw.nested_level() as inner:
            y = fw.make_dual(x, x * 3, level=inner)
            z = y * y
            primal, tangent = fw.unpack_dual(z, level=inner)
            assert fw.unpack_dual(primal, level=inner).tangent is None
            assert fw.tangent_of(tangent, inner) is None
        assert primal.tolist() == [4]
        assert fw.tangent_of(primal, outer).tolist() == [4]
        assert tangent.tolist() == [2 * 2 * 6]  # 2 x (3 x)
        assert fw.tangent_of(tangent, outer).tolist() == [24]  # d/dx 6 x²
    assert fw.tangent_of(primal, outer) is None


def test_nested_levels_inside_of_the_public_one_and_not_the_other_way_round():
    with fw.dual_level():
        x = fw.make_dual(vector(2), vector(1))
        cube = derivative(lambda x: x**3, vector(1))(x)
        assert cube.tolist() == [12]
        assert fw.unpack_dual(cube).tangent.tolist() == [12]
    with fw.nested_level(), pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the moment"):
        fw.enter_dual_level()


def test_a_dual_of_an_inner_level_shares_the_outer_tangents_of_its_primal():
    with fw.nested_level() as outer:
        x = vector(1, 2)
        with fw.nested_level() as inner:
            d = fw.make_dual(x, vector(5, 6), level=inner)
            d[:1].copy_(fw.make_dual(vector(3), vector(4), level=outer))
            assert fw.tangent_of(x, outer).tolist() == [4, 0]
            assert fw.tangent_of(x, inner) is None
            assert fw.tangent_of(d, inner).tolist() == [0, 6]
        assert fw.tangent_of(d, outer).tolist() == [4, 0]


def test_a_closed_level_has_no_duals():
    with fw.nested_level() as level:
        x = fw.make_dual(vector(1), vector(1), level=level)
    with pytest.raises(RuntimeError, match="Invalid level given to _make_dual"):
        fw.make_dual(vector(1), vector(1), level=level)
    assert fw.unpack_dual(x, level=level).tangent is None  # as in PyTorch: nothing is left that could be asked for
    with pytest.raises(RuntimeError, match="Trying to access a forward AD level with an invalid index"):
        fw.set_tangent(vector(1), level, vector(1))


def test_forward_over_reverse_over_forward():
    """The third derivative of x⁴, the middle one by backward."""
    with fw.nested_level() as outer:
        x = fw.make_dual(vector(2.0), vector(1), level=outer)
        with fw.nested_level() as inner:
            leaf = fw.make_dual(x, vector(1), level=inner).requires_grad_()
            g = ag.autograd.grad((leaf**4).sum(), leaf)[0]
            second = fw.unpack_dual(g, level=inner).tangent
        assert second.tolist() == [48]
        assert fw.tangent_of(second, outer).tolist() == [48]
