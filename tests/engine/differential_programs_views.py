"""Views, version counters and writes: the history is rewritten, refused or found out, and the data is as it should be."""

from agdbg_tests_differential import error_of, graph_of, versions
from agdbg_tests_differential_programs import family, grads, m23, plain, section, x2

add = section("views")

VIEWS = {
    "row": lambda y: y[0],
    "column": lambda y: y[:, 1],
    "step": lambda y: y[:, ::2],
    "transposed": lambda y: y.t(),
    "flat": lambda y: y.view(-1),
    "permuted": lambda y: y.permute(1, 0)[1:],
    "narrow": lambda y: y.narrow(1, 1, 2),
    "squeezed": lambda y: y[:1].squeeze(0),
    "unsqueezed": lambda y: y.unsqueeze(1),
    "expanded": lambda y: y[:, :1].expand(2, 3),
    "unbind": lambda y: y.unbind(0)[1],
    "chunk": lambda y: y.chunk(2)[1],
    "split": lambda y: y.split([1, 2], 1)[1],
    "detached": lambda y: y.detach()[0],
    "chained": lambda y: y.t()[1:].view(2, 2)[0],
    "alias": lambda y: y[...],
}
WRITES = {
    "mul": lambda t, v, z: v.mul_(2),
    "add_tensor": lambda t, v, z: v.add_(z),
    "copy": lambda t, v, z: v.copy_(z),
    "zero": lambda t, v, z: v.zero_(),
    "fill": lambda t, v, z: v.fill_(z),
    "exp": lambda t, v, z: v.exp_(),
    "masked_fill": lambda t, v, z: v.masked_fill_(v.detach() > 0, z),
    "setitem": lambda t, v, z: v.__setitem__(..., z),
    "sin": lambda t, v, z: v.sin_(),
    "pow": lambda t, v, z: v.pow_(3),
}


def written(view, write):
    """Write through ``view`` of a result that was used before, then look at everything."""

    def program(t):
        x, z = m23(t), t.tensor(1.5, dtype=t.float64, requires_grad=True)
        y = x * 2
        before = y.sin()
        v, other = view(y), y[1]
        said = error_of(write, t, v, z)
        looked = [error_of(lambda: v.grad_fn is None), y, before]
        return [said, looked, versions(v, other), plain(grads(t, y * y, x, z)), error_of(lambda: grads(t, before, x))]

    return program


def all_writes(view):
    def program(t):
        left_out = ("masked_fill", "zero") if view is VIEWS["expanded"] else ()  # a program of its own
        return [written(view, write)(t) for name, write in WRITES.items() if name not in left_out]

    return program


def on_a_leaf(view):
    def program(t):
        x = m23(t)
        seen = [error_of(lambda: view(x).mul_(2)), x]
        with t.no_grad():
            v = view(x)
            seen += [error_of(v.mul_, 2), v]
        return [*seen, x, error_of(lambda: v.mul_(2)), x]

    return program


def made_without_grad(view):
    def program(t):
        x = m23(t)
        y = x * 2
        with t.no_grad():
            v = view(y)
        seen = [v, error_of(v.mul_, 2), y]
        with t.no_grad():
            seen.append(error_of(v.mul_, 2))
        return [*seen, y, plain(grads(t, y, x)), versions(y, v)]

    return program


def graph_after(view):
    def program(t):
        x = m23(t)
        y = x * 2
        error_of(lambda: view(y).sin_())
        return [graph_of(y.sum()), graph_of(view(y).sum()) if view(y).requires_grad else None]

    return program


family(add, VIEWS, "written_through", all_writes)
family(add, VIEWS, "on_a_leaf", on_a_leaf)
family(add, VIEWS, "made_without_grad", made_without_grad)
family(add, VIEWS, "graph_after", graph_after)


@add
def two_views_written_in_turn(t):
    x = m23(t)
    y = x * 2
    a, b = y[0], y[:, 0]
    a.mul_(3)
    b.neg_()
    a.add_(b[1])
    return [a, b, y, plain(grads(t, y, x)), plain(grads(t, a, x)), graph_of(y)]


@add
def a_view_of_a_view_is_written_then_its_parent_used(t):
    x = m23(t)
    y = x * 2
    v = y[0]
    w = v[1:]
    w.mul_(5)
    return [v, w, plain(grads(t, v * v, x)), v.grad_fn, w.grad_fn, y.grad_fn]


@add
def a_constant_buffer_becomes_part_of_the_graph(t):
    x, buffer = x2(t), t.zeros(3, dtype=t.float64)
    v = buffer[1:]
    buffer[0] = x[0]
    seen = [v, buffer]
    v[0] = x[1] ** 2
    return [*seen, v, buffer, plain(grads(t, buffer * buffer, x))]


@add
def a_buffer_written_by_rows_in_a_loop(t):
    x, out = x2(t), t.zeros(4, 2, dtype=t.float64)
    h = x
    for i in range(4):
        h = h.tanh()
        out[i] = h
    return [out, plain(grads(t, out * out, x))]


@add
def index_put_with_a_tensor_that_is_saved(t):
    x, y = m23(t), x2(t)
    z = x * 1
    i = t.tensor([0, 1]), t.tensor([2, 0])
    z[i] = y
    return [z, plain(grads(t, z * z, x, y))]


@add
def index_put_accumulates(t):
    x, y = m23(t), x2(t)
    z = x.exp()
    said = error_of(z.index_put_, (t.tensor([0, 0]), t.tensor([1, 1])), y, accumulate=True)
    return [said, z, error_of(lambda: plain(grads(t, z, x, y)))]


@add
def a_mask_is_changed_after_the_write(t):
    x = x2(t)
    y, mask = x * 2, t.tensor([True, False])
    y.masked_fill_(mask, 0.0)
    mask.fill_(False)
    return [error_of(lambda: grads(t, y, x))]


@add
def the_index_is_changed_after_the_write(t):
    x = x2(t)
    y, i = x * 2, t.tensor([1])
    z = y[i]
    i.zero_()
    return [error_of(lambda: grads(t, z, x))]


@add
def a_saved_result_is_written_through_the_same_view(t):
    x = x2(t)
    v = (x * 2)[:1]
    v.relu_().pow_(2)
    return error_of(lambda: grads(t, v, x))


@add
def expanded_memory_is_zeroed(t):
    y = m23(t) * 2
    return [error_of(y[:, :1].expand(2, 3).zero_), y]


@add
def expanded_memory_is_filled_by_mask(t):
    y = t.ones(2, dtype=t.float64)
    v = y[:1].expand(3)
    return [error_of(v.masked_fill_, v > 0, 5.0), y]


@add
def out_argument(t):
    x, out = x2(t), t.zeros(2, dtype=t.float64)
    return [error_of(t.exp, x, out=out), error_of(t.exp, t.ones(2, dtype=t.float64), out=x2(t)), out]


@add
def out_argument_without_grad(t):
    x, out = x2(t), t.zeros(2, dtype=t.float64)
    with t.no_grad():
        t.mul(x, 3, out=out)
    return [out]


@add
def refused_writes_change_nothing(t):
    x = m23(t)
    y = x * 2
    e = y[:, :1].expand(2, 3)
    a, b = y.unbind(0)
    tries = [
        lambda: x.mul_(2),
        lambda: x[0].zero_(),
        lambda: e.add_(1),
        lambda: a.mul_(2),
        lambda: y.add_(t.ones(3, 2)),
        lambda: b.copy_(t.ones(5)),
    ]
    return [[error_of(f) for f in tries], x, y, a, versions(x, y)]


@add
def a_write_into_itself(t):
    x = x2(t)
    y = x * 2
    y.add_(y)
    y.mul_(y)
    y[:1].copy_(y[1:])
    return [y, error_of(lambda: plain(grads(t, y, x)))]


@add
def a_write_of_a_view_of_itself(t):
    x = m23(t)
    y = x * 1
    y[0] *= y[1]
    y[:, 0] = y[:, 1]
    return [y, error_of(lambda: plain(grads(t, y * y, x)))]


@add
def a_dead_base(t):
    x = m23(t)
    v = (x * 2)[0]
    v.mul_(2)
    w = v[1:]
    w.exp_()
    return [v, w, v._base, error_of(lambda: plain(grads(t, v, x)))]


@add
def detach_shares_the_counter(t):
    x = x2(t)
    y = x.exp()
    y.detach().mul_(2)
    return [versions(y), error_of(lambda: grads(t, y, x))]


@add
def a_view_dtype_does_not_matter(t):
    x = x2(t)
    y = (x * 2).float()
    y[0] = 5
    z = y.double()
    return [y, z, plain(grads(t, z, x))]


@add
def a_complex_part_is_written(t):
    x = t.tensor([1 + 2j, 3j], dtype=t.complex128, requires_grad=True)
    y = x * 2
    y.real.mul_(3)
    y.imag[0] = 5.0
    return [y, plain(grads(t, y.real * y.imag, x))]


@add
def a_conjugate_view_is_written(t):
    x = t.tensor([1 + 2j, 3j], dtype=t.complex128, requires_grad=True)
    y = x * 2
    y.conj().mul_(1j)
    return [y, plain(grads(t, y.real, x))]


@add
def unsafe_split_may_be_written(t):
    x = m23(t)
    y = x * 2
    a, b = y.unsafe_split(1)
    seen = [a, b, error_of(a.mul_, 3)]
    return [*seen, a, y, error_of(lambda: plain(grads(t, a, x)))]


@add
def requires_grad_set_after_a_view(t):
    x = t.zeros(3, dtype=t.float64)
    v = x[1:]
    x.requires_grad_()
    seen = [v, error_of(v.add_, 1), error_of(x.add_, 1)]
    return [*seen, error_of(v.requires_grad_), v, x]


@add
def a_leaf_view_that_requires_grad_is_written(t):
    base = t.zeros(3, dtype=t.float64)
    v = base[1:]
    v.requires_grad_()
    return [error_of(v.mul_, 2), error_of(base.mul_, 2), v, base, error_of(base.add_, x2(t)[:1])]


@add
def write_under_no_grad_into_a_saved_result(t):
    x = x2(t)
    y = x.exp()
    with t.no_grad():
        y.mul_(2)
    return [y, error_of(lambda: grads(t, y, x))]


@add
def write_to_a_leaf_under_no_grad_then_old_graph(t):
    x = x2(t)
    y, z = x * x, x * 3
    with t.no_grad():
        x.add_(1)
    return [error_of(lambda: grads(t, y, x)), grads(t, z, x), versions(x)]


@add
def iteration_gives_views(t):
    x = m23(t)
    y = x * 2
    rows = list(y)
    return [rows, error_of(rows[0].add_, 1), [r.grad_fn for r in rows], error_of(list, x2(t)[0])]


@add
def versions_of_everything(t):
    x = t.zeros(4)
    v = x[:2]
    x.add_(1), v.mul_(2), x.detach().zero_(), x.__setitem__(0, 3)
    y = x.clone()
    y.add_(1)
    return versions(x, v, y, x.detach(), x.data, v[0])


@add
def swap_by_slices(t):
    x = x2(t)
    y = x * 1
    a, b = y[0].clone(), y[1].clone()
    y[0], y[1] = b, a
    return [y, plain(grads(t, y, x, weight=t.tensor([3.0, 5.0], dtype=t.float64)))]


@add
def reshape_is_a_view_when_it_can_be(t):
    y = m23(t) * 2
    a, b = y.reshape(6), y.t().reshape(6)
    a.mul_(2), b.mul_(3)
    return [a, b, y]


@add
def contiguous_is_the_same_when_it_can_be(t):
    y = m23(t) * 2
    return [y.contiguous() is y, y.t().contiguous(), y.to(t.float64) is y, y.expand(2, 3), y.view(2, 3)]


def onto_itself(t):
    """Pieces of memory by name: what is written, its index, what is put there."""
    b, two, c = t.arange(16.0).reshape(4, 4), t.tensor([0, 1]), t.arange(24.0).reshape(2, 3, 4)
    part, turned, repeated = b[:2, :2], c.permute(0, 2, 1), t.arange(2.0).expand(2, 2)
    numbers, marks = t.arange(4).reshape(2, 2) % 2, t.tensor([True, False])
    return {
        "itself_with_gaps": (part, two, part),
        "its_twin_with_gaps": (part, two, b[:2, :2]),
        "apart": (part, two, b[2:, :2]),
        "turned": (turned, two, turned),
        "turned_twin": (turned, two, c.permute(0, 2, 1)),
        "its_first": (turned[0], two, turned[0]),
        "nothing": (b[:0], two[:0], b[:0]),
        "repeated": (repeated, two, t.ones(2, 2)),
        "repeated_and_itself": (repeated, two, repeated),
        "a_repeated_value": (part, two, t.ones(2).expand(2, 2)),
        "its_own_index": (numbers[0], numbers[0], t.ones(2, dtype=t.int64)),
        "the_index_as_value": (t.zeros(2, dtype=t.int64), two, two),
        "a_row_and_its_element": (b[0], two[:1], b[0, :1]),
        "its_own_mask": (marks, marks, marks),
        "its_mask_and_another": (marks, marks, marks.clone()),
        "bytes": (marks.byte(), t.ones(2, dtype=t.uint8), t.ones(2, dtype=t.uint8)),
    }


PUTS = {
    "index_put": lambda x, i, v: x.index_put_((i,), v),
    "index_put_adding": lambda x, i, v: x.index_put_((i,), v, accumulate=True),
    "index_put_twice": lambda x, i, v: x.index_put_((i, i), v, accumulate=True),
    "index_put_of_a_mask": lambda x, i, v: x.index_put_((x > 1,), v.reshape(-1)[:1], accumulate=True),
    "index_put_elsewhere": lambda x, i, v: x.index_put((i,), v, accumulate=True),
    "setitem": lambda x, i, v: x.__setitem__(i, v),
    "setitem_after_a_slice": lambda x, i, v: x.__setitem__((slice(None), i), v),
    "copy": lambda x, i, v: x.copy_(v),
    "setitem_of_all": lambda x, i, v: x.__setitem__(slice(None), v),
    "add": lambda x, i, v: x.add_(v),
    "masked_fill": lambda x, i, v: x.masked_fill_(x.bool(), v.reshape(-1)[:1].sum()),
}


def put_onto_itself(put):
    def program(t):
        seen = {}
        for name in onto_itself(t):
            x, i, v = onto_itself(t)[name]
            seen[name] = [error_of(put, x, i, v), x.tolist(), x._version]
        return seen

    return program


family(add, PUTS, "onto_itself_by", put_onto_itself)


@add
def along_an_index_onto_itself(t):
    seen = {}
    for name in ("itself_with_gaps", "its_twin_with_gaps", "turned", "turned_twin", "nothing"):
        for op in ("index_add_", "index_copy_", "scatter_", "scatter_add_"):
            x, i, v = onto_itself(t)[name]
            if op.startswith("scatter"):
                i = i.reshape(-1, *[1] * (x.dim() - 1)).expand(len(i), *x.shape[1:])
            seen[f"{op} {name}"] = [error_of(getattr(x, op), 0, i, v), x.tolist()]
    return seen


NOTHING = {
    "rows_without_elements": (2, 0),
    "no_rows": (0, 3),
    "neither": (0, 0),
}


def indexed_beyond(shape):
    """Where there is nothing to read or write nobody looks at the indices, but for a dimension of size 0."""

    def program(t):
        keys = [
            [5],
            [0],
            [-3],
            ([0], [0]),
            ([5], [0]),
            (slice(None), [0]),
            (slice(None), [5]),
            t.tensor([5]),
            ([[5]],),
            [],
            ([5], []),
        ]
        seen = []
        for key in keys:
            x = t.ones(shape, requires_grad=True)
            y, z = x * 1, x * 1
            said = [error_of(y.__setitem__, key, 1.0), error_of(z.__setitem__, key, t.ones(1)), y._version, y.grad_fn]
            seen.append([error_of(lambda x=x, k=key: x[k]), *said])
            if seen[-1][0] == "nothing":
                seen.append([list(x[key].shape), list(t.autograd.grad(x[key].sum(), x)[0].shape)])
        i, x = t.tensor([5]), t.ones(shape)
        put = [error_of(x.index_put, (i,), t.ones(1), accumulate=True), error_of(x.index_put_, (i,), t.ones(1))]
        along = (
            [error_of(x.index_fill, 0, i, 1.0), error_of(x.index_copy, 0, i, t.ones(1, *shape[1:]))] if shape[0] else []
        )
        return [seen, put, along, x._version]

    return program


family(add, NOTHING, "indexed_beyond_what_has", indexed_beyond)


WRONG_READS = {
    "mul": lambda v, t: v * t.ones(7),
    "mm": lambda v, t: v @ t.ones(7, 7),
    "view": lambda v, t: v.view(7),
    "reshape": lambda v, t: v.reshape(7, -1),
    "expand": lambda v, t: v.expand(9, 9),
    "sum": lambda v, t: v.sum(9),
    "transpose": lambda v, t: v.transpose(0, 9),
    "index": lambda v, t: v[[99]],
    "index_of_one": lambda v, t: v[99],
    "cat": lambda v, t: t.cat([v, t.ones(7)]),
    "where": lambda v, t: t.where(t.ones(7) > 0, v, v),
    "linear": lambda v, t: t.nn.functional.linear(v, t.ones(7, 7)),
    "mse_loss": lambda v, t: t.nn.functional.mse_loss(v, t.ones(7)),
    "narrow": lambda v, t: v.narrow(0, 0, 99),
    "sort": lambda v, t: v.sort(9),
    "add_": lambda v, t: v.add_(t.ones(7)),
    "setitem": lambda v, t: v.__setitem__(slice(None), t.ones(7)),
    "right": lambda v, t: v * 2,
    "detached": lambda v, t: v.detach() * t.ones(7),
}


def read_without_history(read):
    """An op that fails by itself, on views that have lost their history: that is said first. Not where nothing is recorded."""

    def program(t):
        def stale(make):
            x = m23(t) * 1
            v = make(x)
            x.mul_(2)
            return v

        def quiet(x):
            with t.no_grad():
                return x[:1]

        views = [stale(quiet), stale(lambda x: x.unbind(0)[0].unsqueeze(0)), stale(lambda x: x[:1])]
        said = [error_of(read, v, t) for v in views]
        with t.no_grad():
            return [said, error_of(read, views[0], t)]

    return program


family(add, WRONG_READS, "wrongly_read_without_history", read_without_history)
