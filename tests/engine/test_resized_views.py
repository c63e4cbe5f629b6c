"""Views and their bases that ``resize_`` gives another size, then writes: the gradients of what lies where, or a refusal."""

import pytest
from agdbg_tests_differential import leaf, same

import agdbg_engine as ag

pytest.importorskip("torch")


def numbers(t, n):
    return leaf(t, *[float(i) for i in range(1, n + 1)])


def gradients(t, shown, *leaves):
    """Of every element as its place in ``shown`` counts."""
    weights = t.arange(1.0, shown.numel() + 1).view(shown.shape)
    return t.autograd.grad((shown * weights).sum(), leaves, retain_graph=True, allow_unused=True)


def written_view(t, size):
    y = t.zeros(2, 3)
    v = y[:, 1]
    y.resize_(*size)
    a = numbers(t, 2)
    v.copy_(a * 2)
    return y, v, gradients(t, y, a), gradients(t, v, a)


def written_base(t, size):
    y = t.zeros(2, 3)
    v = y[:, 1]
    y.resize_(*size)
    a = numbers(t, y.numel())
    y.copy_((a * 2).view(y.shape))
    return v, gradients(t, y, a), gradients(t, v, a)


@pytest.mark.parametrize("size", [(3, 2), (6,), (1, 6), (5,), (5, 1)], ids=str)
@pytest.mark.parametrize("program", [written_view, written_base])
def test_a_resized_base(program, size):
    same(lambda t: program(t, size))


@pytest.mark.parametrize("size", [(3,), (4, 1), (2, 2)], ids=str)
@pytest.mark.parametrize("program", [written_view, written_base])
def test_a_base_that_has_lost_what_a_view_shows(program, size):
    """PyTorch refuses most of them in backward, and not in these words."""
    with pytest.raises(RuntimeError, match="A view shows elements that are not in its base"):
        program(ag, size)


@pytest.mark.parametrize("turned_first", [False, True])
def test_a_base_that_is_turned_as_well(turned_first):
    def program(t):
        y = t.zeros(2, 3)
        v = y[:, 1]
        if turned_first:
            y.t_()
        y.resize_(3, 2)
        if not turned_first:
            y.t_()
        a = numbers(t, 2)
        v.copy_(a * 2)
        return y, gradients(t, y, a), gradients(t, v, a)

    same(program)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("size", [(1,), (4,), (2, 2), (6,)], ids=str)
def test_a_resized_view(size, whole):
    def program(t):
        y = t.zeros(8)
        v = y[2:4]
        before = v[1:]
        v.resize_(*size)
        after = v.view(-1)[:1]
        a = numbers(t, 8 if whole else v.numel())
        (y if whole else v).copy_((a * 2).view(y.shape if whole else v.shape))
        return y, v, before, [gradients(t, x, a) for x in (y, v, before, after)]

    same(program)


@pytest.mark.parametrize("through", ["made before", "made after"])
def test_a_write_through_a_view_of_a_resized_view(through):
    def program(t):
        y = t.zeros(8)
        v = y[2:4]
        before = v[1:]
        v.resize_(2, 2)
        a = numbers(t, 1)
        (before if through == "made before" else v[1, :1]).copy_(a * 2)
        return y, [gradients(t, x, a) for x in (y, v, before)]

    same(program)


@pytest.mark.parametrize("size", [(6,), (1,)], ids=str)
def test_tangents(size):
    def program(t):
        fw = t.autograd.forward_ad
        with fw.dual_level():
            y = t.zeros(8)
            v = y[2:4]
            v.resize_(*size)
            v.copy_(fw.make_dual(t.ones(size), t.arange(1.0, 1 + v.numel())))
            z = t.zeros(2, 3)
            u = z[:, 1]
            z.resize_(3, 2)
            u.copy_(fw.make_dual(t.ones(2), t.arange(1.0, 3)))
            return [fw.unpack_dual(x).tangent for x in (y, v, z, u)]

    same(program)


def test_views_that_keep_the_old_memory():
    """In PyTorch the memory grows with them: here nobody would know of a recorded write, unless it is refused."""
    y = ag.zeros(4)
    v = y[2:]
    y.resize_(50)
    v.add_(1)
    assert v.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="was given more memory by a resize_"):
        v.mul_(ag.ones(2, requires_grad=True))
    assert v.tolist() == [1.0, 1.0]
    a = ag.ones(50, requires_grad=True)
    y.copy_(a * 2)
    assert ag.autograd.grad(v.sum() + y.sum(), a)[0].tolist() == [2.0] * 50
    assert v.grad_fn is None and y[2:4].grad_fn is not None


def test_a_view_with_memory_of_its_own():
    y = ag.zeros(4)
    v = y[2:]
    v.resize_(3)
    a = ag.ones(3, requires_grad=True)
    v[1:].copy_(a[1:] * 2)
    assert not v._is_view() and ag.autograd.grad(v.sum(), a)[0].tolist() == [0.0, 2.0, 2.0]
    assert not y.requires_grad and y.tolist() == [0.0] * 4
