"""Rows of docs/differences.md about views and memory that is shared: by anchor a program, what PyTorch gives, what the engine gives."""

import re

import pytest


def overlapping_base(T):
    x = T.ones(2, requires_grad=True)
    e = T.zeros(3).unfold(0, 2, 1).detach()
    e[0] = x
    e.sum().backward()
    return x.grad.tolist()  # the truth is [1, 2]


def _overlapping(T):
    x = T.ones(3, requires_grad=True)
    y = x * 1
    return x, y, y.unfold(0, 2, 1)


def self_overlap(T):
    given = []
    for write in (lambda v: v.mul_(2), lambda v: v.copy_(v.detach() + 1), lambda v: v.masked_fill_(v.detach() > 0, 3)):
        x, y, v = _overlapping(T)
        try:
            write(v)
            y.sum().backward()
            given.append(x.grad.tolist())
        except RuntimeError as error:
            given.append("refused" if "written-to tensor" in str(error) else "another error")
    fw = T.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(T.ones(3), T.ones(3))
        try:
            d.unfold(0, 2, 1).exp_()
            given.append([round(v, 1) for v in fw.unpack_dual(d).tangent.tolist()])
        except RuntimeError as error:
            given.append("refused" if "written-to tensor" in str(error) else "another error")
    return given  # the truth: [2, 4, 2], [0, 0, 0], [0, 0, 0], [2.7, 41.2, 2.7]


def self_overlap_loops(T):
    first, ones, whole = T.tensor([0, 1]), T.ones(2, 2), T.zeros(2, 2, dtype=T.int64)
    writes = (
        lambda v: v.index_add_(0, first, ones), lambda v: v.index_copy_(0, first, ones),
        lambda v: v.index_reduce_(0, first, ones, "prod"), lambda v: v.scatter_(0, whole, ones),
        lambda v: v.scatter_add_(0, whole, ones), lambda v: v.scatter_reduce_(0, whole, ones, "sum"),
        lambda v: v.put_(first, T.ones(2)), lambda v: v.masked_scatter_(ones > 0, ones), lambda v: v.cumsum_(0),
        lambda v: v.cumprod_(0), lambda v: v.renorm_(2, 0, 1.0), lambda v: v.addmm_(ones, ones), lambda v: v.addr_(ones[0], ones[0]),
        lambda v: T.sum(T.ones(3, 2, 2), 0, out=v), lambda v: T.mm(ones, ones, out=v),
    )  # fmt: skip
    given = []
    for memory in [lambda: T.arange(1.0, 4.0).unfold(0, 2, 1)] * len(writes) + [lambda: T.ones(1, 2).expand(2, 2)]:
        write = writes[len(given)] if len(given) < len(writes) else writes[-2]
        try:
            write(memory())
            given.append("done")
        except RuntimeError as error:
            given.append("refused" if "written-to tensor" in str(error) else "another error")
    return given


def dirty_view(T):
    class Tripled(T.autograd.Function):
        @staticmethod
        def forward(ctx, w, v):
            v.mul_(3)
            ctx.mark_dirty(v)
            return v

        @staticmethod
        def backward(ctx, g):
            return T.ones(3) * 2, g * 3

    x, w = T.ones(2, 3, requires_grad=True), T.ones(3, requires_grad=True)
    y = x * 1
    Tripled.apply(w, y[0])
    given = T.autograd.grad(y.sum(), [x, w], allow_unused=True)

    class Dropped(Tripled):
        @staticmethod
        def forward(ctx, v):
            v.mul_(3)
            ctx.mark_dirty(v)
            return v

        @staticmethod
        def backward(ctx, g):
            return None

    y = x * 1
    Dropped.apply(y[0])
    given += T.autograd.grad(y.sum(), x, allow_unused=True)
    c = T.ones(2, 3)
    w = T.ones(3, requires_grad=True)
    Tripled.apply(w * 1, c[0])
    given += T.autograd.grad(c.sum(), w, allow_unused=True)
    return [None if v is None else v.tolist() for v in given]


def one_row(T):
    x = T.ones(1, 2)
    return x[::2].add_(x).tolist()


def _viewing(T, tangents):
    """Tangents of a view of ``a``, which has none, and of ``b * 2``; the message if there is an error."""

    class Viewed(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a.view_as(a), b * 2

        jvp = staticmethod(tangents)

    fw = T.autograd.forward_ad
    with fw.dual_level():
        try:
            made = Viewed.apply(T.ones(1), fw.make_dual(T.ones(1), T.ones(1)))
        except RuntimeError as error:
            return str(error)
        return [None if fw.unpack_dual(x).tangent is None else fw.unpack_dual(x).tangent.tolist() for x in made]


def after_a_view(T):
    return _viewing(T, lambda ctx, a, b: (a.view_as(a), b * 2))


def dirty_without_recording(T):
    class Scaled(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, x_t):
            return x_t.mul_(2)

    fw = T.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(T.ones(1, requires_grad=True), T.ones(1)) * 1
        with T.no_grad():
            result = Scaled.apply(x)
        tangents = [fw.unpack_dual(y).tangent for y in (x, result)]
        return [None if v is None else v.tolist() for v in tangents]


def no_jvp_of_a_view(T):
    said = _viewing(T, lambda ctx, a, b: (None, b * 2))
    return "INTERNAL ASSERT" in said


def dirty_view_saved(T):
    class Fn(T.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            v.mul_(2)
            ctx.mark_dirty(v)
            ctx.save_for_backward(v)
            return v

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    y = T.ones(2, 3, requires_grad=True) * 1
    Fn.apply(y[0])
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as refused:
        y.sum().backward()
    x = T.ones(2, 3, requires_grad=True)
    y = x * 1
    Fn.apply(y[0])
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (again,) = T.autograd.grad(g.sum(), y, allow_unused=True)
    return [*re.findall(r"is output 0 of (\w+)", str(refused.value)), None if again is None else again.tolist()]


def numpy_overlap(T):
    x = T.arange(1.0, 4.0)
    return x.add_(T.from_numpy(x.numpy())[0]).tolist()


def view_written_second(T):
    given = []
    for write in ("exp_", "sigmoid_"):
        x = T.ones(1, dtype=T.float64, requires_grad=True)
        y = x * 1
        getattr(y[:], write)()
        (g,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
        given.append(round(T.autograd.grad((g * g).sum(), y)[0].item(), 3))
    return given


VIEWS = {
    "overlapping-base": (overlapping_base, [1.0, 1.0], RuntimeError),
    "self-overlap": (self_overlap, [[2.0] * 3, [0.0] * 3, [0.0] * 3, [2.7, 15.2, 2.7]], ["refused"] * 4),
    "self-overlap-loops": (self_overlap_loops, ["done"] * 16, ["refused"] * 16),
    "one-row": (one_row, RuntimeError, [[2.0, 2.0]]),
    "after-a-view": (after_a_view, [[0.0], None], [[0.0], [2.0]]),
    "dirty-without-recording": (dirty_without_recording, [[2.0], None], [[2.0], [2.0]]),
    "no-jvp-of-a-view": (no_jvp_of_a_view, True, False),
    "view-written-second": (view_written_second, [160.684, 0.226], [321.369, -0.162]),
    "dirty-view-saved": (dirty_view_saved, ["Fn", None], ["AsStrided", [[1.0] * 3, [0.0] * 3]]),
    "numpy-overlap": (numpy_overlap, [2.0, 4.0, 5.0], RuntimeError),
    "dirty-view": (
        dirty_view,
        [[[5.0] * 3, [1.0] * 3], None, None, None],
        [[[3.0] * 3, [1.0] * 3], [2.0] * 3, [[0.0] * 3, [1.0] * 3], [2.0] * 3],
    ),
}
