"""Writes through ``data``, bases that overlap themselves, operands that share memory, hooks across changes of shape: as in PyTorch."""

import pytest
from agdbg_tests_differential import Programs, error_of, same

pytest.importorskip("torch")
program = Programs()
W = [[1.0, 2.0], [3.0, 4.0]]


def pair(t):
    return t.tensor([2.0, 3.0], requires_grad=True), t.tensor([4.0, 5.0], requires_grad=True)


def four(t):
    return t.arange(1.0, 5.0).reshape(2, 2).requires_grad_()


# ----- writes through data, where saved tensors may be written to -----

THROUGH_DATA = {
    "mul_": lambda t, y: y.data.mul_(2),
    "item": lambda t, y: y.data.__setitem__(0, 7.0),
    "slice": lambda t, y: y.data[:2].mul_(2),
    "copy_": lambda t, y: y.data.copy_(t.ones(3)),
    "out": lambda t, y: t.exp(t.ones(3), out=y.data),
    "data of a view": lambda t, y: y.view(3, 1).data.mul_(2),
    "view of data": lambda t, y: y.data.view(3, 1).mul_(2),
    "data of data": lambda t, y: y.data.data.zero_(),
    "two writes": lambda t, y: (y.data.zero_(), y.data.add_(1)),
}


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("write", THROUGH_DATA)
def test_writes_through_data_where_they_are_allowed(write, leaf):
    def both(t):
        with t.autograd.graph.allow_mutation_on_saved_tensors():
            x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
            y = x if leaf else x * 1
            z, e = y * y, y.sin()
            THROUGH_DATA[write](t, y)
            THROUGH_DATA[write](t, y)
            (z.sum() + e.sum()).backward()
            return [x.grad, y]

    same(both)


def test_any_part_of_the_memory_counts():
    """PyTorch knows saved memory by its first byte and version, and misses these."""
    import agdbg_engine as ag

    for write in (lambda y: y.data[1:].mul_(5), lambda y: y.mul_(1).data.mul_(5)):
        with ag.autograd.graph.allow_mutation_on_saved_tensors():
            x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
            y = x * 1
            z = y * y
            write(y)
            z.sum().backward()
        assert x.grad.tolist() == [2, 4, 6]


def test_what_is_saved_after_a_write_is_the_new_value():
    """PyTorch takes it for what it saved before, as the version is the same."""
    import agdbg_engine as ag

    with ag.autograd.graph.allow_mutation_on_saved_tensors():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        before = y * y
        y.data.mul_(3)
        after = y * y
        y.data.zero_()
        (before + 100 * after).sum().backward()
    assert x.grad.tolist() == [602, 1204]


# ----- bases that overlap themselves -----

OVERLAPPING = {
    "expanded": lambda t: t.zeros(2).expand(2, 2).detach(),
    "expanded result": lambda t: (t.ones(2, requires_grad=True) * 1).expand(2, 2).detach(),
    "one number": lambda t: t.zeros(1).expand(2, 2).detach(),
}
WRITES = {
    "item": lambda e, x: e.__setitem__(0, x),
    "fill_": lambda e, x: e[0].fill_(x.sum()),
    "mul_": lambda e, x: e[0].mul_(x),
    "copy_": lambda e, x: e[0].copy_(x),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("base", OVERLAPPING)
@pytest.mark.parametrize("create_graph", [False, True])
def test_writes_to_a_base_that_overlaps_itself(base, write, create_graph):
    def both(t):
        x = t.ones(2, requires_grad=True)
        e = OVERLAPPING[base](t)
        written = error_of(lambda: WRITES[write](e, x))
        back = error_of(lambda: t.autograd.grad((e * t.tensor(W)).sum(), x, create_graph=create_graph))
        return [written, e, back]

    same(both)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("make", [lambda t: t.unfold(0, 2, 1), lambda t: t.as_strided((2, 2), (1, 1))])
def test_bases_that_overlap_in_part_are_refused_too(make, write):
    """PyTorch gives a wrong gradient for them."""
    import agdbg_engine as ag

    x = ag.ones(2, requires_grad=True)
    e = make(ag.zeros(3)).detach()
    WRITES[write](e, x)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
        (e * ag.tensor(W)).sum().backward()
    assert x.grad is None


@program
def bases_with_gaps_are_no_overlap(t):
    out = []
    for make in (lambda b: b.view(4, 4)[:, ::2], lambda b: b.view(2, 8).t(), lambda b: b.as_strided((3, 2), (3, 4))):
        x = t.ones(2, requires_grad=True)
        e = make(t.arange(16.0)).detach()
        e[0] = x if e.shape[1] == 2 else x.sum()
        (e * e).sum().backward()
        out += [x.grad, e]
    return out


# ----- retain_grad() and hooks across in-place changes of shape -----

TURNS = {
    "t_": lambda y: y.t_(),
    "transpose_": lambda y: y.transpose_(0, 1),
    "swapaxes_": lambda y: y.swapaxes_(0, 1),
    "unsqueeze_": lambda y: y.unsqueeze_(0),
    "unsqueeze_ and squeeze_": lambda y: y.unsqueeze_(0).squeeze_(0),
}


def by_backward(t, x, loss):
    loss.backward()
    return x.grad


USES = {
    "backward": by_backward,
    "grad": lambda t, x, loss: t.autograd.grad(loss, x),
    "create_graph": lambda t, x, loss: t.autograd.grad(loss, x, create_graph=True)[0].detach(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("turn", TURNS)
def test_retained_gradients_are_of_the_value_before_it_was_turned(turn, use):
    def both(t):
        out = []
        for make in (lambda x: x * 1, lambda x: (x * 1).mul_(3), lambda x: (x * 1).view(2, 2)):
            x = four(t)
            y = make(x)
            y.retain_grad()
            TURNS[turn](y)
            y.retain_grad()
            found = USES[use](t, x, (y * t.tensor(W)).sum())
            out += [found, y.grad if y.grad is None else y.grad.detach(), y.retains_grad]
        return out

    same(both)


@pytest.mark.parametrize("turn", TURNS)
def test_hooks_stay_with_the_value_before_it_was_turned(turn):
    def both(t):
        x, seen = four(t), []
        y = x * 1
        y.register_hook(lambda g: seen.append(["first", g.tolist()]))
        TURNS[turn](y)
        y.register_hook(lambda g: seen.append(["second", g.tolist()]))
        (y * t.tensor(W)).sum().backward()
        return [seen, y._backward_hooks is None, t.autograd.grad((y * t.tensor(W)).sum(), y)]

    same(both)


def test_a_write_after_a_turn_leaves_what_is_retained_behind():
    """PyTorch stops with an internal error."""
    import agdbg_engine as ag

    x = ag.ones(2, 2, requires_grad=True)
    y = x * 1
    y.retain_grad()
    y.t_().mul_(2)
    (y * ag.tensor(W)).sum().backward()
    assert y.grad.tolist() == [[2, 6], [4, 8]]


# ----- leaves that were made results -----

FREED = {
    "requires_grad_": lambda x: x.requires_grad_(False),
    "detach_": lambda x: x.detach_(),
    "attribute": lambda x: setattr(x, "requires_grad", False),
}
MADE = {
    "mul_": lambda x, w: x.mul_(w),
    "through a view": lambda x, w: x[0].mul_(w[0]),
    "copy_": lambda x, w: x.copy_(w),
    "number": lambda x, w: x.mul_(2),
    "detached again": lambda x, w: x.mul_(w).detach_(),
}


@pytest.mark.parametrize(
    "create_graph",
    [
        False,
        pytest.param(True, marks=pytest.mark.filterwarnings("ignore:Using backward")),
    ],  # of graphs that keep themselves; the test ends at once
)
@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("free", FREED)
def test_a_leaf_that_was_made_a_result(free, make, create_graph):
    def both(t):
        x, w = t.ones(2, requires_grad=True), t.tensor([2.0, 3.0], requires_grad=True)
        y = x * 3
        FREED[free](x)
        MADE[make](x, w)
        failed = error_of(lambda: y.sum().backward(create_graph=create_graph))
        return [failed, x, x.is_leaf, x.grad if x.is_leaf else None, w.grad]

    same(both)


# ----- operands that share memory with what is written -----

OPERANDS = {
    "fill_": lambda t, d: d.fill_(d[0, 0]),
    "fill_ of a part": lambda t, d: d[0].fill_(d[0, 0]),
    "fill_ of a view": lambda t, d: d.t().fill_(d[1, 1]),
    "masked_fill_": lambda t, d: d.masked_fill_(d.detach() > 2, d[1, 1]),
    "masked_fill_ by name": lambda t, d: d.masked_fill_(mask=d.detach() > 2, value=d[1, 1]),
    "masked_fill_ of a view": lambda t, d: d.t().masked_fill_(t.tensor([[True, False], [True, False]]), d[0, 1]),
    "mask": lambda t, d: d.__setitem__(d.detach() > 2, d[0, 1]),
    "index_fill_": lambda t, d: d.index_fill_(0, t.tensor([0]), d[0, 0]),
    "index_put_": lambda t, d: d.index_put_((t.tensor([1, 1]),), d),
    "index_put_ adding": lambda t, d: d.index_put_((t.tensor([1, 1]),), d, True),
    "index_put_ of a part": lambda t, d: d.index_put_((t.tensor([1, 1]),), d[:1]),
    "index_put_ of a number": lambda t, d: d.index_put_((t.tensor([0, 1]),), d[0, 0]),
    "index_put_ by a mask": lambda t, d: d.index_put_((t.tensor([[True, False], [True, False]]),), d[0, 1]),
    "item": lambda t, d: d.__setitem__(t.tensor([1, 1]), d),
    "item elsewhere": lambda t, d: d[0].__setitem__(t.tensor([0, 1]), d[1]),
    "index_add_": lambda t, d: d.index_add_(0, t.tensor([1, 1]), d),
    "index_copy_": lambda t, d: d.index_copy_(0, t.tensor([1, 0]), d),
    "index_copy_ of data": lambda t, d: d.index_copy_(0, t.tensor([1, 0]), d.data),
    "index_copy_ by name": lambda t, d: d.index_copy_(dim=0, index=t.tensor([1, 0]), source=d),
    "scatter_": lambda t, d: d.scatter_(0, t.tensor([[0, 1]]), d),
    "scatter_add_": lambda t, d: d.scatter_add_(0, t.tensor([[0, 1]]), d),
    "scatter_reduce_": lambda t, d: d.scatter_reduce_(0, t.tensor([[0, 1]]), d, "sum"),
    "index_reduce_": lambda t, d: d.index_reduce_(0, t.tensor([0, 1]), d, "prod"),
    "put_": lambda t, d: d.put_(t.tensor([[0, 1], [2, 3]]), d),
    "mul_ by itself": lambda t, d: d.mul_(d),
    "mul_ by a part": lambda t, d: d.mul_(d[0]),
}


@pytest.mark.parametrize("write", OPERANDS)
@pytest.mark.filterwarnings("ignore:index_reduce")  # torch says that it is in beta
def test_operands_that_share_memory(write):
    def both(t):
        plain = four(t).detach()
        out = [error_of(lambda: OPERANDS[write](t, plain) is plain), plain]
        for create_graph in (False, True):
            x = four(t)
            d = x * 1
            error_of(lambda d=d: OPERANDS[write](t, d))
            (g,) = t.autograd.grad((d * d * t.tensor(W)).sum(), x, create_graph=create_graph)
            out += [d.detach(), d._version, d.grad_fn.name(), g.detach()]
        return [*out, t.autograd.grad(g.sum(), x)]

    same(both)


ALIASES = {
    "itself": lambda t, x: x,
    "data": lambda t, x: x.data,
    "detach": lambda t, x: x.detach(),
    "set data": lambda t, x: (y := t.zeros(1), setattr(y, "data", x))[0],
    "parameter": lambda t, x: t.nn.Parameter(x, requires_grad=False),
    "data of a view": lambda t, x: x.view(-1).data.view(x.shape),
}
PARTS = {
    "add_ of a row": lambda t, w, a: a.add_(w[1]),
    "add_ of its row": lambda t, w, a: w.add_(a[1]),
    "mul_ shifted": lambda t, w, a: w[1:].mul_(a[:3]),
    "mul_ back": lambda t, w, a: w[:3].mul_(a[1:]),
    "out": lambda t, w, a: t.add(w[1:], 1, out=a[:3]),
    "out of exp": lambda t, w, a: t.exp(a[1:], out=w[:3]),
    "copy_": lambda t, w, a: a[:3].copy_(w[1:]),
    "copy_ of the transpose": lambda t, w, a: w[:3].copy_(a[:3].t()),
    "copy_ of all": lambda t, w, a: w.copy_(a),
    "item": lambda t, w, a: w.__setitem__(slice(0, 3), a[1:]),
    "item of a row": lambda t, w, a: w.__setitem__(1, a[1]),
    "one element": lambda t, w, a: w[0].add_(a[0, 0]),
    "columns with gaps": lambda t, w, a: w[:, :2].mul_(a[:, :2]),
    "other columns": lambda t, w, a: w[:, 0].mul_(a[:, 1]),
    "lerp_": lambda t, w, a: w[1:].lerp_(a[:3], 0.5),
    "addcmul_": lambda t, w, a: w[1:].addcmul_(a[:3], w[1:]),
    "unsqueezed": lambda t, w, a: w.view(1, 4, 3).add_(a.unsqueeze(0)),
    "unsqueezed inside": lambda t, w, a: w.view(4, 1, 3).mul_(a.unsqueeze(1)),
    "of other dimensions": lambda t, w, a: w.unsqueeze(0).add_(a),
    "item of the same": lambda t, w, a: w.__setitem__(slice(None), a.unsqueeze(0)),
    "sub_ flat": lambda t, w, a: w.view(-1)[1:].sub_(a.view(-1)[:-1]),
    "comparison": lambda t, w, a: w[1:].lt_(a[:3]),
    "addmm_": lambda t, w, a: w[:3].addmm_(a[1:], t.eye(3)),
    "addmv_": lambda t, w, a: w[0].addmv_(t.eye(3), a[1]),
    "addr_": lambda t, w, a: w[:3].addr_(a[0], a[1]),
    "baddbmm_": lambda t, w, a: w[None, :3].baddbmm_(a[None, 1:], t.eye(3)[None]),
    "out of mm": lambda t, w, a: t.mm(a[1:], t.eye(3), out=w[3:].expand(3, 3).clone()),
    "out of addmm": lambda t, w, a: t.addmm(a[1:], t.eye(3), t.eye(3), out=w[:3]),
    "out of amin": lambda t, w, a: t.amin(a, 0, out=w[3]),
    "out of dot": lambda t, w, a: t.dot(a[0], a[1], out=w[0, 1]),
    "out of median": lambda t, w, a: t.median(a, 0, out=(w[0], t.zeros(3, dtype=t.int64))),
    "out of the norm": lambda t, w, a: t.linalg.vector_norm(a, dim=0, out=w[3]),
    "out of max": lambda t, w, a: t.maximum(a[:3], w[1:], out=w[1:]),
    "out of cumsum": lambda t, w, a: t.cumsum(a[1:], 0, out=w[:3]),
    "masked_scatter_": lambda t, w, a: w.masked_scatter_(w > 8, a[:2]),
    "masked_fill_": lambda t, w, a: w.masked_fill_(w > 8, a[0, 0]),
}


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("write", PARTS)
def test_operands_that_share_a_part(write, alias):
    """However the operand came to the memory."""

    def both(t):
        w = t.arange(1.0, 13.0).reshape(4, 3)
        before = w.tolist()
        refused = error_of(lambda: PARTS[write](t, w, ALIASES[alias](t, w)) is None)
        assert refused == "nothing" or w.tolist() == before
        return [refused, w]

    same(both)


SHARED_INDICES = {
    "scatter_": lambda d: d.scatter_(0, d, d.clone()),
    "index_add_": lambda d: d.index_add_(0, d, d.clone()),
    "index_put_": lambda d: d.index_put_((d,), d.clone()),
    "index_fill_": lambda d: d.index_fill_(0, d, 1),
    "index_copy_": lambda d: d.index_copy_(0, d, d.clone()),
    "item": lambda d: d.__setitem__(d[:1], 5),
    "put_": lambda d: d.put_(d, d.clone()),
}


@pytest.mark.parametrize("write", SHARED_INDICES)
def test_indices_that_share_memory(write):
    same(lambda t: [error_of(SHARED_INDICES[write], t.tensor([0, 1, 2]))])


# ----- Jacobians that are written to -----


@program
def jacobians_written_in_place(t):
    a, out = t.autograd.functional, []
    x = t.tensor([1.0, 2.0], requires_grad=True)
    for create_graph in (False, True):
        for make in (
            lambda c: a.jacobian(lambda u: u * u, x, create_graph=c),
            lambda c: a.jacobian(lambda u: (u * u).sum(), x, create_graph=c),
            lambda c: a.jacobian(lambda u, v: (u * v).sum(), (x, x), create_graph=c)[0],
            lambda c: a.jacobian(lambda u: (u * u, u.sin()), x, create_graph=c)[1],
            lambda c: a.hessian(lambda u: (u * u * u).sum(), x, create_graph=c),
        ):
            whole, row = make(create_graph), make(create_graph)[0]
            out += [error_of(lambda w=whole: w.mul_(2)), error_of(lambda r=row: r.mul_(2)), whole.detach()]
    return out


# ----- views whose base was written to, in a checkpoint -----

PIECES = {
    "unbind": lambda y: y.unbind()[0],
    "view of unbind": lambda y: y.unbind()[0].view(2, 1),
    "chunk": lambda y: y.chunk(2)[0],
    "view": lambda y: y.view(4),
    "row": lambda y: y[0],
    "itself": lambda y: y,
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_checkpointed_view_whose_base_was_written_to(piece, use_reentrant):
    def both(t):
        from importlib import import_module

        checkpoint = import_module(f"{t.__name__}.utils.checkpoint").checkpoint
        out = []
        for write in (
            lambda y: y.mul_(2),
            lambda y: y.detach().mul_(2),
            lambda y: y[0].mul_(2),
            lambda y: y.data.mul_(2),
        ):
            y = four(t) * 1
            z = checkpoint(lambda a: a.sin(), PIECES[piece](y), use_reentrant=use_reentrant)
            write(y)
            out.append(error_of(lambda z=z: z.sum().backward()))
        return out

    same(both)


# ----- hooks -----


@program
def a_multi_hook_on_what_has_no_history(t):
    graph, out = t.autograd.graph, []
    x = t.ones(2, requires_grad=True)
    y = x * 1
    with t.no_grad():
        views = [x.view(2), y.view(2), x, x.detach(), x.detach().requires_grad_()]
    for v in views:
        for mode in ("all", "any"):
            out.append(error_of(lambda v=v, mode=mode: graph.register_multi_grad_hook([v], print, mode=mode) and None))
    return out


@program
def gradients_of_a_base_that_wants_none(t):
    out = []
    for base in (t.zeros(2, 2), t.zeros(2, 2, requires_grad=True) * 1, t.zeros(4, 2).t().detach()):
        for create_graph in (False, True):
            x = t.ones(base.shape[1], requires_grad=True)
            b = base * 1
            b[0] = x
            b.grad_fn.register_hook(lambda found, _: out.append([None if g is None else g.tolist() for g in found]))
            out.append(t.autograd.grad(b.sum(), x, create_graph=create_graph)[0].detach())
    return out


@program
def gradients_of_a_list_that_nobody_wants(t):
    out = []
    for join in (t.stack, t.cat):
        a, b = (x * 1 for x in pair(t))
        y = join([a, b])
        y.grad_fn.register_hook(lambda found, _: out.append([None if g is None else g.tolist() for g in found]))
        for wanted in (y, a, b):
            y.sum().backward(inputs=[wanted], retain_graph=True)
    return out


@pytest.mark.parametrize("made_program", program)
def test_program(made_program):
    same(made_program)
