"""Tangents, views and writes: a view's tangent is a view of its base's, whichever of them had it first. As in PyTorch."""

import pytest
from agdbg_tests_differential import Programs, error_of, same
from agdbg_tests_forward_tools import dual_facts, pytorch, tangent

program = Programs()


def vector(t, *values):
    return t.tensor(list(values), dtype=t.float64)


def made(t, values=(1, 2, 3), tangents=(4, 5, 6)):
    return t.autograd.forward_ad.make_dual(vector(t, *values), vector(t, *tangents))


def seen(t, *tensors):
    return [dual_facts(t, x) for x in tensors]


@program
def a_view_of_a_dual(t):
    x = made(t)
    v = x[:2]
    return [seen(t, x, v), tangent(t, v)._base is tangent(t, x)]


@program
def writing_through_the_base(t):
    x = made(t)
    v, before = x[1:], tangent(t, x)
    x.mul_(2)
    return [seen(t, x, v), tangent(t, x) is before]


@program
def writing_through_a_view(t):
    x = made(t)
    v = x[1:]
    v.mul_(made(t, (2, 3), (1, 1)))
    return seen(t, x, v)


@program
def a_write_changes_the_tangent_that_was_given(t):
    given = vector(t, 4, 5, 6)
    x = t.autograd.forward_ad.make_dual(vector(t, 1, 2, 3), given)
    x.mul_(2)
    return [given, given._version, tangent(t, x) is given]


@program
def a_result_never_shares_the_given_tangent(t):
    given = vector(t, 4, 5, 6)
    x = t.autograd.forward_ad.make_dual(vector(t, 1, 2, 3), given)
    for y in (x + 1, x.clone(), x + vector(t, 1, 1, 1), x - 1):
        y.mul_(2)
    return given


@program
def a_first_tangent_through_a_view_reaches_base_and_siblings(t):
    base = t.zeros(4, dtype=t.float64)
    first, last, all_of_it = base[:2], base[1:], base.view(2, 2)
    first.copy_(made(t, (1, 2), (7, 8)))
    return [seen(t, base, last, first, all_of_it), tangent(t, last)._base is tangent(t, base)]


@program
def a_first_tangent_through_a_view_of_a_view(t):
    base = t.zeros(2, 3, dtype=t.float64)
    row = base[1]
    row[1:].add_(made(t, (1, 2), (7, 8)))
    return seen(t, base, row, base.t(), base.t()[2])


@program
def a_first_tangent_through_all_of_the_base(t):
    base = t.zeros(3, dtype=t.float64)
    v = base.view(3)
    v.copy_(made(t))
    return [seen(t, base, v), tangent(t, v) is tangent(t, base)]


@program
def a_first_tangent_through_the_transposed_base(t):
    base = t.zeros(2, 2, dtype=t.float64)
    v = base.t()
    v.copy_(made(t, (1, 2, 3, 4), (5, 6, 7, 8)).view(2, 2))
    return seen(t, base, v)


@program
def a_view_made_before_the_level(t):
    base = t.zeros(3, dtype=t.float64)
    v = base[1:]
    base.add_(made(t))
    return seen(t, base, v)


@program
def set_items(t):
    x = t.zeros(2, 3, dtype=t.float64)
    x[0] = made(t)
    x[1, 2] = made(t, (1,), (9,))[0]
    seen_first = seen(t, x)
    x[:, 1] = 5.0
    x[x > 1] = 0.5
    return [seen_first, seen(t, x)]


@program
def a_dual_is_a_view_of_its_primal_but_shares_no_tangent(t):
    x = vector(t, 1, 2, 3)
    before = x[:2]
    d = t.autograd.forward_ad.make_dual(x, vector(t, 4, 5, 6))
    d[0] = 7.0
    v = d[1:]
    v.mul_(3)
    return [seen(t, x, before, d, v), d._base is x, v._base is x]


@program
def a_primal_shares_no_tangent_with_its_dual(t):
    d = made(t)
    primal = t.autograd.forward_ad.unpack_dual(d).primal
    v = primal[:2]
    v.copy_(made(t, (1, 2), (7, 8)))
    return [seen(t, d, primal, v), primal._base is d._base]


@program
def layouts_of_given_tangents(t):
    fw = t.autograd.forward_ad
    rows = t.ones(2, 3, dtype=t.float64)
    big = t.arange(12, dtype=t.float64)
    pairs = [
        (rows, t.arange(6, dtype=t.float64).view(3, 2).t()),
        (rows, t.ones(1, 3, dtype=t.float64).expand(2, 3)),
        (rows.t(), t.ones(3, 2, dtype=t.float64)),
        (big[::4], vector(t, 1, 2, 3)),
        (vector(t, 1, 2, 3), big[::4]),
        (vector(t, 1, 2, 3), big[:3]),
        (big[:3], big[3:6]),
        (t.ones(1, 3, dtype=t.float64).expand(2, 3), t.ones(1, 3, dtype=t.float64).expand(2, 3)),
    ]
    duals = [fw.make_dual(x, v) for x, v in pairs]
    same_object = [tangent(t, d) is v for d, (_, v) in zip(duals, pairs, strict=True)]
    return [seen(t, *duals), same_object]


@program
def expanded_primal_with_another_tangent(t):
    expanded = t.ones(1, 3, dtype=t.float64).expand(2, 3)
    return error_of(t.autograd.forward_ad.make_dual, expanded, t.ones(2, 3, dtype=t.float64))


@program
def layouts_of_results(t):
    x = t.autograd.forward_ad.make_dual(t.ones(2, 3, dtype=t.float64).t(), t.ones(3, 2, dtype=t.float64))
    return seen(t, x * 2, x.clone(), x.contiguous(), x.sum(0), x + t.ones(2, dtype=t.float64), x.reshape(-1), x.t())


@program
def pieces(t):
    x = made(t)
    rows = x.view(3, 1).unbind(0)
    return [seen(t, *rows, *x.split(2), *x.split([1, 2]), *x.chunk(2)), rows[0]._base is x._base]


@program
def writing_into_pieces(t):
    x = vector(t, 1, 2, 3)
    first, last = x.split(2)
    first.copy_(made(t, (1, 2), (7, 8)))
    return seen(t, x, first, last)


@program
def joined(t):
    x, y = made(t), vector(t, 1, 2)
    return seen(
        t, t.cat([x, y]), t.cat([y, x, y]), t.stack([x, x * 2], 1), t.stack([vector(t, 1, 2, 3), x]), t.cat([y])
    )


@program
def writes_of_all_kinds(t):
    results = []
    for write in (
        lambda x: x.zero_(),
        lambda x: x.fill_(3.0),
        lambda x: x.fill_(made(t)[1]),
        lambda x: x.copy_(vector(t, 1, 1, 1)),
        lambda x: x.copy_(made(t, (7,), (8,))),
        lambda x: x.masked_fill_(x > 1, 0.0),
        lambda x: x.exp_(),
        lambda x: x.add_(x),
        lambda x: x.mul_(x.clone()),
        lambda x: x.div_(made(t, (1, 2, 3), (1, 0, 1))),
        lambda x: x.sub_(made(t), alpha=2),
        lambda x: x.clamp_(1.5, 2.5),
    ):
        for x in (made(t), vector(t, 1, 2, 3)):
            write(x)
            results.append(seen(t, x))
    return results


@program
def other_dtypes(t):
    fw = t.autograd.forward_ad
    x = fw.make_dual(t.ones(2, dtype=t.float32), vector(t, 1, 2))
    y = made(t, (1, 2), (3, 4)).float()
    y.copy_(made(t, (1, 2), (3, 4)) * 2)
    return seen(t, x, x * 2, x + made(t, (1, 2), (3, 4)), y)


@program
def nothing_is_computed_with_a_missing_tangent(t):
    inf, zero, one = (vector(t, v) for v in (float("inf"), 0.0, 1.0))
    d = made(t, (0,), (1,))
    return seen(
        t, d * inf, d ** vector(t, 0.5), zero * d, zero ** made(t, (0.5,), (1,)), d / zero, zero / d, d / inf,
        t.where(one > 0, d, vector(t, float("nan"))), t.mm(inf.view(1, 1), d.view(1, 1)), inf * one * d, (inf - inf) + d,
    )  # fmt: skip


@program
def writing_where_the_tangent_is_a_leaf(t):
    leaf = vector(t, 1, 1, 1).requires_grad_()
    return error_of(t.autograd.forward_ad.make_dual(vector(t, 1, 2, 3), leaf).mul_, 2)


@program
def writing_where_the_tangent_has_a_history(t):
    leaf = vector(t, 1, 1, 1).requires_grad_()
    d = t.autograd.forward_ad.make_dual(vector(t, 1, 2, 3), leaf * 2)
    v = d[1:]
    d.mul_(3)
    v.exp_()
    found = tangent(t, v)
    found.sum().backward()
    return [seen(t, d, v), leaf.grad]


@program
def a_first_tangent_with_a_history_through_a_view(t):
    leaf = vector(t, 7, 8).requires_grad_()
    base = vector(t, 1, 2, 3)
    sibling = base[:2]
    base[1:].copy_(t.autograd.forward_ad.make_dual(vector(t, 1, 1), leaf))
    found = tangent(t, sibling)
    (found * found).sum().backward()
    return [seen(t, base, sibling), leaf.grad]


@program
def writes_to_what_requires_grad(t):
    leaf = vector(t, 1, 2, 3).requires_grad_()
    x = t.autograd.forward_ad.make_dual(leaf, vector(t, 1, 1, 1)) * 1
    x[1:].mul_(x[:-1].clone())
    y = x.exp_().sum()
    y.backward()
    return [seen(t, x), leaf.grad]


@program
def writing_to_a_result_that_has_only_more_dimensions_than_the_dual(t):
    x = t.autograd.forward_ad.make_dual(vector(t, 3)[0], vector(t, 4)[0])
    one = vector(t, 1)
    results = [x + one, one + x, x - one, x + 1, x.sub(one), t.where(one > 0, x, one), t.maximum(x, -one), x * one]
    for y in results:
        y.mul_(0.5)
    return [seen(t, x), seen(t, *results)]


@program
def writing_to_a_result_of_the_same_shape(t):
    x = made(t)
    results = [x + 1, x - vector(t, 1), 1 - x, -x, x.clone(), x.sum().reshape(1), x.real * 1, t.where(x > 0, x, 0.0)]
    for y in results:
        y.mul_(0.5)
    return [seen(t, x), seen(t, *results)]


@pytest.mark.parametrize("made_program", program)
def test_program(made_program):
    torch = pytorch()
    assert torch

    def inside(t):
        with t.autograd.forward_ad.dual_level():
            return made_program(t)

    same(inside)


def test_a_refused_write_changes_neither_value_nor_tangent():
    """PyTorch writes the value and then finds that it cannot write the tangent."""
    import agdbg_engine as ag

    fw = ag.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(vector(ag, 1, 2), vector(ag, 1, 1).requires_grad_())
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            d.mul_(2)
        assert d.tolist() == [1, 2]
        assert fw.unpack_dual(d).tangent.tolist() == [1, 1]


def test_a_tensor_written_with_itself_has_the_right_tangent():
    """PyTorch reads the tangent of the argument when it has overwritten it: at (1, 2) it says (2, 6)."""
    import agdbg_engine as ag

    fw = ag.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(vector(ag, 1, 2), vector(ag, 1, 1))
        d.mul_(d)
        assert fw.unpack_dual(d).tangent.tolist() == [2, 4]


def test_a_tensor_written_with_another_dtype_has_a_tangent_of_its_own_dtype():
    """In PyTorch that depends on whether it had a tangent before."""
    import agdbg_engine as ag

    fw = ag.autograd.forward_ad
    with fw.dual_level():
        x = ag.zeros(2, dtype=ag.float32)
        x.copy_(fw.make_dual(vector(ag, 1, 2), vector(ag, 3, 4)))
        assert fw.unpack_dual(x).tangent.dtype == ag.float32


@pytest.mark.parametrize("write", ["exp_", "mul_", "clamp_"])
@pytest.mark.parametrize("first", ["clone", "flip", "neg", "mul"])
def test_a_view_of_a_dual_is_written_after_its_base(first, write):
    """Its tangent, a view, has a history since, which nobody has asked for yet."""

    def both(t):
        made = {"clone": lambda x: x.clone(), "flip": lambda x: x.flip(0), "neg": lambda x: -x, "mul": lambda x: x * 1}[
            first
        ]

        def written(x):
            y = made(x)
            v = y.view(1, 2)
            y.mul_(2)
            getattr(v, write)(*{"mul_": (x,), "clamp_": (-3, 3)}.get(write, ()))
            return (v * v).sum()

        x, one = vector(t, 1, 2).requires_grad_(), vector(t, 1, 1)
        fw = t.autograd.forward_ad
        with fw.dual_level():
            result = written(fw.make_dual(x, one))
            gradient = t.autograd.grad(fw.unpack_dual(result).tangent, x)[0].detach()
        return [gradient, t.func.hessian(written)(x.detach()), t.func.jvp(t.func.grad(written), (x.detach(),), (one,))]

    same(both)
