"""``out=``: what is written, refused, resized and counted; index_put with accumulate. As in PyTorch."""

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, name_of, same, versions

import agdbg_engine as ag
from agdbg_engine.ops.out import NAMES

torch = pytest.importorskip("torch")
programs = Programs()

SAMPLES = (
    lambda t, a: (a,), lambda t, a: (a, a), lambda t, a: (a, 0), lambda t, a: (a[0], a[1]), lambda t, a: ([a, a],),
    lambda t, a: (a > 1, a, a), lambda t, a: (a, 0, (a > 1).long()), lambda t, a: (a[None], a[None]), lambda t, a: (a, a[0]),
    lambda t, a: (a, a, a), lambda t, a: (a > 1, a > 1), lambda t, a: (a > 1,), lambda t, a: (a, 0.5), lambda t, a: (a, 0.5, 2.0),
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_function_writes_what_it_returns(name):
    a = torch.tensor([[0.5, 1.5], [2.5, 0.75]])
    done = 0
    for sample in SAMPLES:
        try:
            expected = getattr(torch, name)(*sample(torch, a))
            outs = torch.empty(0, dtype=expected.dtype)
            getattr(torch, name)(*sample(torch, a), out=outs)
        except Exception:
            continue
        ours = ag.tensor(a.numpy())
        if error_of(lambda: getattr(ag, name)(*sample(ag, ours))) != "nothing":  # noqa: B023 - called here
            continue  # a form that the engine does not have
        out = ag.empty(tuple(expected.shape), dtype=getattr(ag, str(expected.dtype).removeprefix("torch.")))
        assert getattr(ag, name)(*sample(ag, ours), out=out) is out
        assert torch.allclose(torch.from_numpy(out.numpy()), expected, equal_nan=True) and out._version == 1
        done += 1
    assert done


@programs
def refused_where_a_gradient_is_wanted(t):
    x, o = leaf(t, 1.0, 2.0), t.zeros(2, dtype=t.float64)
    y = x * 1
    calls = [
        lambda: t.add(x, 1, out=o), lambda: t.exp(o, out=x), lambda: t.exp(o, out=y), lambda: t.sum(y, 0, out=o),
        lambda: t.cat([o, x], out=o), lambda: t.max(x, 0, out=(o, t.zeros(2, dtype=t.int64))),
    ]  # fmt: skip
    return [[error_of(call) for call in calls], o, x, versions(o, x, y)]


@programs
def allowed_without_gradients(t):
    x, o = leaf(t, 1.0, 2.0), t.zeros(2, dtype=t.float64)
    with t.no_grad():
        got = [t.add(x, 1, out=o) is o, t.mul(o, 2, out=x) is x]
    return [got, o, x, versions(o, x), name_of(o.grad_fn)]


@programs
def sizes(t):
    b = t.arange(4.0)
    o, empty = t.zeros(2), t.empty(0)
    with logged_warnings() as said:
        got = [t.exp(b, out=o) is o, t.exp(b, out=empty) is empty, t.sum(b, 0, out=t.zeros(()))]
    return [got, o, empty, [s.partition(".")[0] for s in said]]


@programs
def dtypes(t):
    b = t.arange(4.0)
    outs = [t.zeros(4, dtype=d) for d in (t.int64, t.float64, t.bool, t.complex64)]
    m = t.ones(2, 2)
    return [
        [error_of(lambda o=o: t.square(b * 0.5, out=o)) for o in outs], outs, error_of(lambda: t.eq(b, b, out=b)), b,
        error_of(lambda: t.mm(m, m, out=t.zeros(2, 2, dtype=t.float64))), error_of(lambda: t.exp(b, out=3)),
        error_of(lambda: t.cat([b, b], out=t.zeros(8, dtype=t.int64))),
    ]  # fmt: skip


@programs
def memory(t):
    b = t.arange(5.0)
    seen = [error_of(lambda: t.add(b[:4], 1, out=b[1:])), b.clone(), t.add(b, 1, out=b) is b, b.clone()]
    seen += [error_of(lambda: t.exp(b, out=t.zeros(1).expand(5))), t.exp(b[:2], out=b[2:4]), b, b._version]
    rows = t.zeros(2, 5)
    return [*seen, t.mul(b, 2, out=rows[1]), rows, rows._version]


@programs
def memory_of_another_size(t):
    a, b, seen = t.arange(6.0).view(2, 3), t.arange(4.0), []
    for call in (
        lambda: t.mul(a, 2, out=a[0]), lambda: t.mul(a[0], 2, out=a), lambda: t.mul(a, 2, out=a.t()),
        lambda: t.mul(b[:2], 2, out=b), lambda: t.mul(b.view(2, 2), 2, out=b),
        lambda: t.mul(t.ones(3), 2, out=t.zeros(3).expand(2, 3)), lambda: t.cumsum(a[:1], 1, out=a.view(-1)[1:]),
        lambda: t.outer(a[0], a[0], out=a[0]), lambda: t.addmm(a[:, :2], a[:, :2], a[:, :2], out=t.zeros(3).expand(2, 3)),
    ):  # fmt: skip
        with logged_warnings() as said:
            seen.append([error_of(call), len(said), a.clone(), b.clone()])
    return seen


@programs
def joined_into_an_operand(t):
    a = t.arange(6.0)
    return (
        [error_of(lambda f=f: f([a[:2], a[2:4]], 0, out=a[:4])) for f in (t.cat, t.stack, t.concat)]
        + [error_of(lambda f=f: f([a[:2], a[2:4]], out=a[:4])) for f in (t.hstack, t.vstack, t.dstack, t.column_stack)]
        + [error_of(lambda: t.cat([a, a], out=a))]
    )


@programs
def resized_in_its_memory(t):
    seen = []
    for rows in (lambda x: x, lambda x: x.t()):
        base = t.arange(12.0)
        twin, tail = base.detach(), base[3:5]
        with logged_warnings() as said:
            t.mul(rows(t.arange(4.0).view(2, 2)), 5, out=twin)
            t.mul(t.ones(2, 2), -1, out=tail)
        seen += [base, twin, tail, twin.stride(), tail.stride(), tail.storage_offset(), versions(base, twin), len(said)]
    return seen


@programs
def several_outs(t):
    x = t.tensor([[1.0, 5.0], [7.0, 2.0]])
    values, indices = t.zeros(2), t.zeros(2, dtype=t.int64)
    got = t.max(x, 1, out=(values, indices))
    return [got[0] is values, got[1] is indices, values, indices, versions(values, indices)]


@programs
def a_write_by_out_is_noticed(t):
    x, held = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
    y = x * held
    t.add(held, 1, out=held)
    return error_of(y.sum().backward)


@programs
def refused_for_dual_tensors(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d, o = fw.make_dual(t.ones(2), t.ones(2)), t.zeros(2)
        return [error_of(lambda: t.exp(d, out=o)), error_of(lambda: t.add(o, 1, out=d))]  # PyTorch has written by then


@programs
def out_is_none(t):
    x = leaf(t, 1.0, 2.0)
    return t.exp(x, out=None)


# ----- index_put -----


@programs
def index_put_with_accumulate(t):
    x, v = leaf(t, 1.0, 2.0, 3.0), leaf(t, 10.0, 20.0)
    y = x * 1
    y.index_put_((t.tensor([0, 0]),), v, accumulate=True)
    (y * y).sum().backward()
    return [y, x.grad, v.grad]


@programs
def index_put_of_a_copy(t):
    x, v = leaf(t, 1.0, 2.0, 3.0), leaf(t, 10.0, 20.0)
    where = (t.tensor([2, 0]),)
    a, b = t.index_put(x, where, v), x.index_put(where, v, accumulate=True)
    (a * b).sum().backward()
    return [a, b, x, x.grad, v.grad]


@programs
def index_put_through_a_view(t):
    x, v = leaf(t, *range(6)), leaf(t, 10.0)
    y = (x * 1).view(2, 3)
    y.t()[1:].index_put_((t.tensor([0, 1, 0]), t.tensor([0, 1, 0])), v, True)
    (y * y).sum().backward()
    return [y, x.grad, v.grad]


@programs
def index_put_wrongly(t):
    x, i = t.zeros(3), t.tensor([0])
    return [
        error_of(x.index_put_, i, t.ones(1)), error_of(x.index_put_, (3,), t.ones(1)).kind, error_of(x.index_put_, [i], 3.0),
        error_of(x.index_put_, (i, i), t.ones(1)).kind, error_of(x.index_put_, (i,), t.ones(2)),
        error_of(x.index_put_, (i,), t.ones(1, dtype=t.float64)), error_of(leaf(t, 1.0).index_put_, (i,), t.ones(1, dtype=t.float64)),
        x,
    ]  # fmt: skip


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
