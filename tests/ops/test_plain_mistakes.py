"""What people write wrong, one call after the other: refused by the error of PyTorch, or computed as it does."""

import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

CALLS = [
    "t.tensordot(t.ones(2, 2), t.ones(2, 2, dtype=t.float64), dims=1)",
    "t.tensordot(t.ones(2, 2, dtype=t.int64), t.ones(2, 2), dims=1)",
    "t.tensordot(t.ones(2, 3), t.ones(2, 2), dims=1)", "t.tensordot(t.ones(2, 3), t.ones(2, 2), dims=([0], [0, 1]))",
    "t.tensordot(t.ones(2, 3), t.ones(2, 2), dims=-1)", "t.tensordot(t.ones(2, 3), t.ones(2, 2), dims=3)",
    "t.ones(2, 3).expand(4, 3)", "t.ones(2, 3).expand(3)", "t.ones(2, 3).expand(-1, 2, 3)",
    "t.ones(2, 3).expand(2, -2)", "t.ones(2, 3).expand()", "t.broadcast_to(t.ones(2, 3), (4, 3))",
    "t.einsum('ij, jk->ik', t.ones(2, 3), t.ones(2, 3))", "t.einsum('ij, jk->iz', t.ones(2, 3), t.ones(3, 3))",
    "t.einsum('ij->i', t.ones(2, 3), t.ones(3, 3))", "t.einsum('ijk->i', t.ones(2, 3))",
    "t.einsum('i1->i', t.ones(2, 3))", "t.einsum('ij->ii', t.ones(2, 3))", "t.einsum('ij, jk', t.ones(2, 3))",
    "t.einsum('', t.ones(2, 3))", "t.einsum('i.j->i', t.ones(2, 3))",
    "t.einsum('ij, jk->ik', t.ones(2, 3), t.ones(3, 3, dtype=t.float64))", "t.einsum('...->...', t.ones(2, 3)).sum()",
    "t.einsum('i...->i', t.ones(2, 3)).sum()", "t.einsum('ii->i', t.ones(2, 3))", "t.einsum('ij')",
    "t.einsum(t.ones(2, 3))", "t.einsum(t.ones(2, 3), [0, 60])", "t.einsum('ij->', 3)", "t.meshgrid()",
    "t.meshgrid(t.ones(2), t.ones(3), indexing='zz')",
    "t.meshgrid(t.ones(2), t.ones(3, dtype=t.float64), indexing='ij')", "t.meshgrid([t.ones(2), 3], indexing='ij')",
    "t.ones(3, dtype=t.bool).cumsum_(0)", "t.ones(3, dtype=t.bool).cumprod_(0)", "t.ones(3, dtype=t.int8).cumsum_(0)",
    "t.ones(3).cumsum_(0, dtype=t.float64)", "t.ones(3).cumsum(3)", "t.ones(3, requires_grad=True).view(2).add_(1)",
    "t.ones(3, requires_grad=True).add_(t.ones(4))",
    "t.ones(3, requires_grad=True, dtype=t.float32).add_(t.ones(3, dtype=t.complex64))",
    "t.ones(3, dtype=t.int64).mul_(1.5)", "t.ones(3).mul_(t.ones(2, 3))", "t.ones(1).expand(3).mul_(t.ones(2, 3))",
    "t.mm(t.ones(2, 3), t.ones(2, 2, dtype=t.float64))", "t.mm(t.ones(2, 3, 1), t.ones(2, 2))",
    "t.mm(t.ones(2, 3), t.ones(2, 2))", "t.bmm(t.ones(2, 3, 3), t.ones(3, 3, 3))",
    "t.bmm(t.ones(2, 3, 3), t.ones(2, 2, 3))", "t.bmm(t.ones(2, 3, 3), t.ones(2, 3, 3, dtype=t.float64))",
    "t.addmm(t.ones(4), t.ones(2, 3), t.ones(3, 3))",
    "t.addmm(t.ones(3), t.ones(2, 3), t.ones(3, 3, dtype=t.float64))", "t.mv(t.ones(2, 3), t.ones(2))",
    "t.dot(t.ones(3), t.ones(2))", "t.dot(t.ones(3), t.ones(3, dtype=t.float64))", "t.dot(t.ones(3, 1), t.ones(3))",
    "t.ones(2, 3)@t.ones(2)", "t.ones(2, 2, 3)@t.ones(3, 3, 2)", "t.ones(())@t.ones(3)",
    "t.cat([t.ones(2, 3), t.ones(3, 2)])", "t.cat([])", "t.cat([t.ones(2), t.ones(2)], 2)",
    "t.stack([t.ones(2), t.ones(3)])", "t.stack([])", "t.ones(6).view(4)", "t.ones(6).view(-1, -1)",
    "t.ones(2, 3).t().view(6)", "t.ones(6).reshape(4, -1)", "t.ones(6).squeeze(3)", "t.ones(6, 2).transpose(0, 3)",
    "t.ones(6, 2).permute(0, 0)", "t.ones(6, 2).permute(0)", "t.ones(2, 2).gather(0, t.tensor([[0, 5]]))",
    "t.ones(2, 2).gather(0, t.tensor([[0., 1.]]))", "t.ones(2, 2).scatter(0, t.tensor([[0, 5]]), 1.)",
    "t.ones(2, 2).index_select(0, t.tensor([5]))", "t.ones(2, 2)[5]", "t.ones(2, 2)[0, 0, 0]",
    "t.ones(2, 2)[t.tensor([5])]", "t.ones(2, 2)[t.tensor([True])]",
    "t.ones(2, 2)[t.tensor([0, 1, 1]), t.tensor([0, 1])]", "t.ones(2, 2)['a']",
    "t.ones(2, 2).__setitem__(0, t.ones(3))", "t.ones(5).narrow(0, 3, 4)", "t.ones(5).split([2, 2])",
    "t.ones(5).chunk(0)", "t.ones(5).unbind(1)", "t.ones(5).sum(1)", "t.ones(5, 2).sum((0, 0))",
    "t.ones(5, dtype=t.int64).mean()", "t.ones(0).max()", "t.ones(0, 2).max(0)", "t.ones(3, 2).std(2)",
    "t.softmax(t.ones(3, dtype=t.int64), 0)", "t.where(t.ones(3), t.ones(3), t.ones(3))",
    "t.where(t.ones(3, dtype=t.bool), t.ones(2), t.ones(3))", "t.ones(3)+t.ones(2)",
    "t.ones(3, dtype=t.bool)-t.ones(3, dtype=t.bool)", "-t.ones(3, dtype=t.bool)", "t.ones(3).clamp()",
    "t.lerp(t.ones(3), t.ones(3, dtype=t.float64), 0.5)", "t.ones(3).item()", "bool(t.ones(3))", "len(t.ones(()))",
    "list(t.ones(()))", "t.kron(t.ones(2), 3)", "t.ones(3).tril()", "t.ones(3, 3, 3).diag()", "t.ones(3).trace()",
    "t.linalg.inv(t.ones(3, 2))", "t.linalg.solve(t.eye(2), t.ones(3))", "t.linalg.det(t.ones(2, 3))",
    "F.conv2d(t.ones(1, 3, 4, 4), t.ones(2, 2, 3, 3))", "F.conv2d(t.ones(1, 2, 2, 2), t.ones(2, 2, 3, 3))",
    "F.conv2d(t.ones(1, 2, 4, 4), t.ones(2, 2, 3, 3, dtype=t.float64))", "F.linear(t.ones(2, 3), t.ones(4, 2))",
    "F.linear(t.ones(2, 3), t.ones(4, 3), t.ones(3))", "F.linear(t.ones(2, 3), t.ones(4, 3, dtype=t.float64))",
    "F.embedding(t.tensor([5]), t.ones(2, 3))", "F.embedding(t.tensor([.5]), t.ones(2, 3))",
    "F.cross_entropy(t.ones(2, 3), t.tensor([0, 5]))", "F.cross_entropy(t.ones(2, 3), t.tensor([0., 1.]))",
    "F.mse_loss(t.ones(2, 3), t.ones(4))", "F.binary_cross_entropy(t.ones(2)*2, t.ones(2))",
    "F.layer_norm(t.ones(2, 3), (4, ))", "F.batch_norm(t.ones(1, 3), None, None, training=True)",
    "F.dropout(t.ones(3), 2.)", "F.pad(t.ones(3), (1, ))", "F.max_pool2d(t.ones(1, 1, 2, 2), 3)",
    "t.normal(t.ones(2), -t.ones(2))", "t.multinomial(t.ones(2), 3)", "t.arange(3, 0)", "t.linspace(0, 1, -1)",
    "t.ones(-1)", "t.tensor([[1], [1, 2]])", "t.tensor('a')", "t.tensor(None)", "F.one_hot(t.tensor([1.5]))",
    "t.ones(2).topk(3)", "t.ones(2).kthvalue(3)", "t.ones(2, 2).roll((1, ), (0, 1))", "t.ones(2, 2).flip((0, 0))",
    "t.fft.fft(t.ones(2), n=0)", "t.linalg.cross(t.ones(2), t.ones(2))", "t.ones(2).unfold(0, 3, 1)",
    "t.ones(2).as_strided((3, ), (1, ))", "t.ones(2).index_add(0, t.tensor([0]), t.ones(2))",
    "t.ones(2).masked_fill(t.ones(2), 0.)", "t.ones(2).masked_select(t.ones(3, dtype=t.bool))",
    "t.ones(2, 2).repeat(2)", "t.ones(2, 2).tile(-2)", "t.ones(2, 2).take(t.tensor([7]))",
    "t.ones(2, 2).put(t.tensor([7]), t.tensor([1.]))", "t.bincount(t.tensor([-1]))",
    "F.binary_cross_entropy(t.tensor([2]), t.tensor([1]))", "F.binary_cross_entropy(t.tensor([2.]), t.tensor([1]))",
    "F.binary_cross_entropy(t.tensor([2j]), t.tensor([2j]))", "F.binary_cross_entropy(t.tensor([2.]), t.tensor([1.]))",
    "t.addr(t.tensor([[True]]), t.tensor([True]), t.tensor([True]), beta=.6)",
    "t.addr(t.tensor([[True]]), t.tensor([True]), t.tensor([True]), alpha=0.)",
    "t.searchsorted(t.ones(2, 3), t.ones(3, 2))", "t.cdist(t.ones(2, 3), t.ones(2, 2))",
    "t.ones(2, 3).sum_to_size(4)", "t.ones(2, 3).flatten(1, 0)", "t.ones(2, 3).unflatten(1, (2, 2))",
    "t.ones(2, 3).movedim((0, 1), (0, ))", "t.vstack([t.ones(2), t.ones(3)])", "t.block_diag(t.ones(2, 2, 2))",
    "t.cartesian_prod(t.ones(2, 2))", "t.ones(3).quantile(2.)", "t.ones(3).histc(0)", "t.ones(3).renorm(2, 0, 1.)",
    "t.ones(3, 3).rot90(1, (0, 0))", "t.ones(3, 3).diff(n=-1)", "t.ones(3, dtype=t.bool).logsumexp(0)",
    "t.ones(3).prod(3)", "t.ones(3, dtype=t.bool).median()", "t.ones(3, dtype=t.complex64).sort()",
    "t.ones(0).argmax()", "t.linalg.lu(t.ones(3))", "t.ones(3, dtype=t.int64).pow(-1)",
    "t.ones(3, dtype=t.int64).remainder(0)", "t.ones(3, dtype=t.int64)//0", "t.ones(3)&t.ones(3)",
    "t.ones(3)<<t.ones(3)", "t.baddbmm(t.ones(2), t.ones(1, 2, 3), t.ones(1, 3, 4))",
    "t.outer(t.ones(2, 2), t.ones(2))", "t.linalg.multi_dot([t.ones(2, 2)])",
    "t.linalg.multi_dot([t.ones(2, 2), t.ones(3, 2)])",
    "F.scaled_dot_product_attention(t.ones(2, 3), t.ones(2, 4), t.ones(2, 4))", "t.nn.GRU(3, 4)(t.ones(2, 5))",
    "t.nn.LSTM(3, 4)(t.ones(2, 3), (t.ones(1, 3), t.ones(1, 4)))", "F.pixel_shuffle(t.ones(1, 3, 2, 2), 2)",
    "F.interpolate(t.ones(1, 3, 2, 2))", "F.interpolate(t.ones(1, 3, 2, 2), size=4, scale_factor=2)",
    "F.interpolate(t.ones(1, 3, 2, 2), size=4, mode='linear')",
    "F.grid_sample(t.ones(1, 3, 2, 2), t.ones(1, 2, 2, 3))",
    "F.ctc_loss(t.ones(3, 1, 4), t.tensor([[1, 2]]), [3], [5])", "F.nll_loss(t.ones(2, 3), t.tensor([0]))",
    "F.kl_div(t.ones(2, 3), t.ones(4))", "F.cosine_similarity(t.ones(2, 3), t.ones(4))",
    "F.triplet_margin_loss(t.ones(2, 3), t.ones(4), t.ones(3))",
    "F.cosine_embedding_loss(t.ones(2, 3), t.ones(2, 3), t.ones(3))", "F.group_norm(t.ones(2, 3), 2)",
    "F.instance_norm(t.ones(2, 3, 1))", "F.glu(t.ones(3))", "F.prelu(t.ones(2, 3), t.ones(4))",
    "F.gumbel_softmax(t.ones(2, 3, dtype=t.int64))", "F.fold(t.ones(1, 3, 4), (2, 2), (2, 2))",
    "F.unfold(t.ones(3, 4), 2)",
    "F.adaptive_avg_pool2d(t.ones(1, 1, 4, 4), (2.5, 2.5))", "F.adaptive_max_pool3d(t.ones(1, 1, 4, 4, 4), (2.5, 2, 2))",
    "F.adaptive_max_pool2d(t.ones(1, 1, 4, 4), True)",
    "F.adaptive_avg_pool2d(t.ones(1, 1, 4, 4), (None, 2))", "F.adaptive_avg_pool2d(t.ones(1, 1, 4, 4), (1, 1, 1))",
    "F.nll_loss(t.ones(3), t.tensor([0, 1]))", "F.nll_loss(t.ones(3), t.tensor([1]))", "F.nll_loss(t.ones(3), t.tensor([3]))",
    "F.nll_loss(t.ones(3), t.tensor([1., 2.]))", "F.nll_loss(t.ones(3), t.tensor([[1]]))", "F.nll_loss(t.ones(2, 3), t.tensor(1))",
    "F.cross_entropy(t.ones(3), t.tensor([1, 2]))", "F.cross_entropy(t.ones(3), t.tensor([1]), reduction='none')",
    "F.nll_loss(t.ones(3), t.tensor([], dtype=t.int64))",
    "t.baddbmm(t.ones(1, 2, 2), t.ones(1, 2, 2), t.ones(1, 3, 2))",
    "t.baddbmm(t.ones(1, 2, 2), t.ones(2, 2), t.ones(1, 2, 2))",
    "t.nn.utils.clip_grad_norm_([t.ones(2)], 'a')",
]  # fmt: skip

BYTES = "t.ones(3, dtype=t.uint8)"
NUMBERS = [
    f"(-1)**{BYTES}", f"300**{BYTES}", f"t.pow(-1, {BYTES})", f"{BYTES}**-1", "t.ones(3, dtype=t.int8)**-300", f"2.5**{BYTES}",
    "t.ones(3, dtype=t.bool)**True", "t.tensor([True, False])**False", "True**t.ones(3, dtype=t.bool)",
    "t.pow(False, t.tensor([True, False]))", "1**t.tensor([True, False])", "True**t.ones(3, dtype=t.int32)",
    *(
        call.format(x=f"t.ones(3, dtype=t.{dtype})", v=value)
        for call in ("F.pad({x}, (1, 1), value={v})", "t.constant_pad_nd({x}, (1, 1), {v})", "{x}.fill_({v})",
                     "F.threshold({x}, 1, {v})", "{x}.masked_fill(t.tensor([True, False, True]), {v})", "t.full_like({x}, {v})")
        for dtype in ("uint8", "int8", "int64", "float32", "float16")
        for value in ("-1", "-1.", "300", "255.9", "-300", "True", "float('inf')", "float('nan')", "1e30", "2**63")
        if (dtype, value) != ("int64", "2**63")  # of which a double in PyTorch is the next number
    ),
    "t.tensor([-1.], dtype=t.uint8)", "t.tensor([255.9], dtype=t.uint8)", "F.pad(t.ones(2), (1, 1), value=t.tensor(1j))",
    "F.pad(t.ones(2), (1, 1), value=2**70)", "t.constant_pad_nd(t.ones(2), (1, 1), 1j)",
]  # fmt: skip
"""Numbers that a dtype cannot hold: as the base of a power they wrap around, elsewhere they are refused."""

GRAD = "t.tensor(1., requires_grad=True)"
FOR_NUMBERS = [
    call.format(x="t.ones(2, 2)", v=value)
    for call in (
        "F.softplus({x}, {v})", "F.softplus({x}, beta={v})", "F.softplus({x}, 1, {v})", "F.huber_loss({x}, {x}, delta={v})",
        "F.smooth_l1_loss({x}, {x}, beta={v})", "F.smooth_l1_loss({x}, {x}, None, None, 'sum', {v})", "t.cdist({x}, {x}, {v})",
        "t.cdist({x}, {x}, p={v})", "F.margin_ranking_loss({x}, {x}, {x}, {v})", "F.triplet_margin_loss({x}, {x}, {x}, {v})",
        "F.multi_margin_loss({x}, t.tensor([0, 1]), 1, {v})", "F.multi_margin_loss({x}, t.tensor([0, 1]), {v})",
        "F.hardtanh({x}, -2, {v})", "F.hardtanh({x}, {v}, 5)", "F.dropout({x}, {v})", "F.dropout({x}, p={v}, training=False)",
        "F.alpha_dropout({x}, {v})", "F.dropout2d(t.ones(1, 2, 2, 2), {v})", "t.nn.Softplus({v})({x})",
        "t.nn.Dropout({v})({x})", "t.nn.SmoothL1Loss(beta={v})({x}, {x})", "t.nn.Hardtanh(-2, {v})({x})",
    )
    for value in (GRAD, "t.tensor(1.)", "t.tensor([1.])", "t.tensor([1., 1.])", "'a'", "None")
]  # fmt: skip
"""Tensors for numbers: those that require grad are none."""

SIZES = ("()", "(2,)", "(2, 2)", "(2, 3)", "(2, 2, 2)", "(3, 2, 2)", "(2, 2, 3)")
PRODUCTS = [
    *(f"t.{name}(t.ones{c}, t.ones{a}, t.ones{b})" for name in ("baddbmm", "addbmm", "addmv") for a in SIZES for b in SIZES
      for c in ("()", "(2, 3)", "(2, 2, 2)")),
    *(f"F.linear(t.ones{a}, t.ones{b})" for a in SIZES for b in SIZES),
    *(f"F.linear(t.ones{a}, t.ones{b}, t.ones{c})" for a in SIZES for b in SIZES for c in SIZES[:5]),
    *(f"F.bilinear(t.ones{a}, t.ones{a}, t.ones{b}, t.ones{c})" for a in SIZES[:3] for b in SIZES for c in SIZES[:2]),
]  # fmt: skip
SOURCES = ("()", "(1,)", "(2,)", "(3,)", "(1, 1)", "(3, 2)", "(3, 2, 1)", "(3, 1, 1)")
WRITTEN = [
    *(f"t.ones{c}.{name}(t.ones{a}, t.ones{b})" for name in ("addmm_", "addmv_", "addr_", "baddbmm_")
      for c in ("()", "(2,)", "(1, 2)", *SIZES[2:]) for a in SIZES for b in SIZES),
    *(f"t.ones(3, 2).{call}" for size in ("(3, 2)", "(3, 3)", "(1, 1)") for source in SOURCES for call in (
        f"scatter_(0, t.zeros({size}, dtype=t.int64), t.ones{source})",
        f"scatter_add(0, t.zeros({size}, dtype=t.int64), t.ones{source})",
    )),
    *(f"t.rsub(t.ones(2), {given})" for given in ("2, 3.0", "2, 3", "2, 'a'", "t.ones(2), 2", "2, 3, 4", "2, alpha=3", "2, t.tensor(3)")),
]  # fmt: skip
SUMS = [
    f"t.nansum(t.tensor({values}, dtype=t.{given}), {dim}, dtype=t.{asked})"
    for values in ("[[1.5, t.nan, 2.5]]", "[[0.0, t.nan]]", "[[2.0, 3.0]]", "[[]]")
    for given in ("float16", "float32", "float64")
    for dim in ("None", "0")
    for asked in ("int64", "int32", "uint8", "bool", "float16", "float64", "complex64")
]
SUMS += [
    f"t.{name}(t.zeros({size}, dtype=t.{dtype}), {dim}, correction={correction}){part}"
    for name, parts in (("var", ("",)), ("std", ("",)), ("var_mean", ("[0]", "[1]")), ("std_mean", ("[0]", "[1]")))
    for part in parts
    for size, dim in (("0", "0"), ("0", "None"), ("(2, 0)", "1"), ("(0, 2)", "0"), ("(2, 0)", "0"))
    for dtype in ("float16", "float32", "float64", "complex64")
    for correction in (0, 1, -1, -0.5)
    if not (dtype == "complex64" and "mean" in name)
]
NORMS = [
    f"F.{name}(t.ones{size}, {mean}, {mean}, {weight}, {weight}, {training})"
    for name in ("batch_norm", "instance_norm")
    for size in ("()", "(2,)", "(1,)", "(0,)", "(1, 3)", "(2, 3)", "(2, 3, 1)")
    for mean in ("None", "t.ones(3)", "t.ones(2)")
    for weight in ("None", "t.ones(3)")
    for training in (True, False)
]
MASKS = [
    call.format(x=f"t.ones{x}", m=f"t.ones({m}, dtype=t.{dtype})", v=value)
    for call in ("{x}.masked_fill({m}, {v})", "{x}.masked_fill_({m}, {v})", "{x}.masked_scatter({m}, {v})")
    for x in ("()", "(2, 3)", "(2, 2)")
    for m in ("()", "(2,)", "(2, 2, 2)")
    for dtype in ("bool", "uint8", "int64", "float16", "complex64")
    for value in ("t.ones(2)", "t.tensor(1)", *([] if "scatter" in call else ["1.5", "1j"]))
]
FLAGS = [
    *(f"t.func.vjp(lambda x: x * 2, t.ones(2))[1]({given})" for given in (
        "", "t.ones(2), t.ones(2)", "t.ones(2), foo=3", "t.ones(2), 'a'", "t.ones(2), t.ones(())", "t.ones(3)", "[t.ones(2)]",
    )),
    *(f"(t.ones(2, requires_grad=True) * 2).sum().backward(retain_graph={flag})" for flag in (
        "t.ones(2)", "t.ones(())", "t.ones(1, dtype=t.int64)", "t.ones((), dtype=t.bool)", "2.5",
    )),
]  # fmt: skip


def told(t, call):
    """The value, or of the error what counts: the name of its type and its first line."""
    try:
        result = eval(call, {"t": t, "F": t.nn.functional})
    except Exception as error:
        return type(error).__name__.removeprefix("_"), str(error).split("\n")[
            0
        ]  # torch.linalg.LinAlgError is called _LinAlgError
    if not hasattr(result, "tolist"):
        return type(result).__name__
    return (
        tuple(result.shape),
        str(result.dtype).removeprefix("torch."),
        repr(result.tolist()),
    )  # so that NaN equals itself


@pytest.mark.filterwarnings("ignore")  # some of them warn before they fail, in words of their own
@pytest.mark.parametrize("call", CALLS)
def test_same_as_torch(call):
    assert told(ag, call) == told(torch, call)


TABLES = {
    "numbers": NUMBERS, "tensors for numbers": FOR_NUMBERS, "products": PRODUCTS, "written": WRITTEN,
    "norms": NORMS, "masks": MASKS, "flags": FLAGS, "sums": SUMS,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", TABLES)
def test_tables_of_mistakes(table):
    different = [
        f"{call}\n  torch: {theirs}\n  here:  {mine}"
        for call in TABLES[table]
        if (mine := told_as(ag, call, table)) != (theirs := told_as(torch, call, table))
    ]
    assert not different, "\n".join(different)


def told_as(t, call, table):
    """As :func:`told`, without the values where they are rounded or drawn at random."""
    found = told(t, call)
    return found[:2] if table in ("tensors for numbers", "norms") else found
