"""Losses: errors in PyTorch's words, what samples do not reach."""

import numpy as np
import pytest
import torch

import agdbg_engine as engine

X = np.random.default_rng(0).standard_normal((4, 6))
CLASSES = np.array([1, 2, 0, 5])
F = "nn.functional"


def refused(call):
    """Type and first line of what both raise."""
    found = []
    for library in (torch, engine):
        with pytest.raises(Exception) as raised:
            call(library, library.nn.functional, library.tensor(X), library.tensor(CLASSES))
        found.append((raised.type.__name__, str(raised.value).partition("\n")[0]))
    return found


WRONG = {
    "float classes": lambda t, f, x, y: f.cross_entropy(x, y.to(t.float64)),
    "batch sizes": lambda t, f, x, y: f.cross_entropy(x, y[:3]),
    "no such class": lambda t, f, x, y: f.cross_entropy(x, y + 3),
    "smoothing": lambda t, f, x, y: f.cross_entropy(x, y, label_smoothing=1.5),
    "weights": lambda t, f, x, y: f.cross_entropy(x, y, weight=t.ones(3)),
    "smoothed classes in bytes": lambda t, f, x, y: f.cross_entropy(
        x, y.to(t.uint8), weight=x[0].abs(), label_smoothing=0.1
    ),
    "weights of probabilities": lambda t, f, x, y: f.cross_entropy(x, x, weight=t.ones(3)),
    "ignored probabilities": lambda t, f, x, y: f.cross_entropy(x, x, ignore_index=2),
    "reduction": lambda t, f, x, y: f.nll_loss(x, y, reduction="men"),
    "spatial sizes": lambda t, f, x, y: f.cross_entropy(x[None], t.zeros(1, 5, dtype=t.int64)),
    "spatial dimensions": lambda t, f, x, y: f.nll_loss(x[None, None], t.zeros(1, 5, dtype=t.int64)),
    "several classes": lambda t, f, x, y: f.nll_loss(x, y[:, None]),
    "weight dtype": lambda t, f, x, y: f.nll_loss(x, y, weight=t.ones(6, dtype=t.float32)),
    "no probabilities": lambda t, f, x, y: f.binary_cross_entropy(x * 5, x),
    "other size": lambda t, f, x, y: f.binary_cross_entropy(t.sigmoid(x), t.sigmoid(x[0])),
    "other size of scores": lambda t, f, x, y: f.binary_cross_entropy_with_logits(x, x[0]),
    "more weights": lambda t, f, x, y: f.binary_cross_entropy_with_logits(x[:1], x[:1].sigmoid(), x),
    "more weights of yes": lambda t, f, x, y: f.binary_cross_entropy_with_logits(x[:1], x[:1].sigmoid(), pos_weight=x),
    "weights of another size": lambda t, f, x, y: f.binary_cross_entropy_with_logits(x, x.sigmoid(), x[:, :2]),
    "weights of yes of another size": lambda t, f, x, y: f.binary_cross_entropy_with_logits(
        x, x.sigmoid(), pos_weight=x[:, :2]
    ),
    "a weight that learns": lambda t, f, x, y: f.nll_loss(x, y, x[0].clone().requires_grad_()),
    "a weight of images that learns": lambda t, f, x, y: f.nll_loss(
        x[:, :, None], y[:, None], x[0].clone().requires_grad_()
    ),
    "a weight of logits that learns": lambda t, f, x, y: f.binary_cross_entropy_with_logits(
        x, x.sigmoid(), x.clone().requires_grad_()
    ),
    "integer targets": lambda t, f, x, y: f.binary_cross_entropy_with_logits(x, (x > 0).to(t.int64)),
    "beta": lambda t, f, x, y: f.smooth_l1_loss(x, x, beta=-1.0),
    "delta": lambda t, f, x, y: f.huber_loss(x, x, delta=0.0),
    "negative variance": lambda t, f, x, y: f.gaussian_nll_loss(x, x, x),
    "variances": lambda t, f, x, y: f.gaussian_nll_loss(x, x, x[:2] ** 2),
    "dimensions": lambda t, f, x, y: f.margin_ranking_loss(x, x, x[0, 0]),
    "p": lambda t, f, x, y: f.multi_margin_loss(x, y, p=3),
    "targets": lambda t, f, x, y: f.multi_margin_loss(x, y[:2]),
    "class": lambda t, f, x, y: f.multi_margin_loss(x, y + 4),
    "labels": lambda t, f, x, y: f.multilabel_margin_loss(x, y),
    "labels that are floats": lambda t, f, x, y: f.multilabel_margin_loss(x, x * 0),
    "far labels that are floats": lambda t, f, x, y: f.multilabel_margin_loss(x, x - 9),
    "short labels": lambda t, f, x, y: f.multilabel_margin_loss(x, t.zeros(4, 3).to(t.int32)),
    "labels that are bools": lambda t, f, x, y: f.multilabel_margin_loss(x[0], x[0] > 0),
    "cosine": lambda t, f, x, y: f.cosine_embedding_loss(x, x, t.ones(4, 1)),
    "triplet": lambda t, f, x, y: f.triplet_margin_loss(x, x, x, margin=-1),
    "triplet dimensions": lambda t, f, x, y: f.triplet_margin_loss(x, x, x[0]),
    "constant target": lambda t, f, x, y: f.soft_margin_loss(x, x.clone().requires_grad_()),
    "bag": lambda t, f, x, y: f.embedding_bag(y, x),
    "table": lambda t, f, x, y: f.embedding(y + 4, x),
    "attention": lambda t, f, x, y: f.scaled_dot_product_attention(x, x.to(t.float32), x),
    "more targets": lambda t, f, x, y: f.soft_margin_loss(x[0], x),
    "groups": lambda t, f, x, y: f.group_norm(x, 4),
    "layer": lambda t, f, x, y: f.layer_norm(x, (4,)),
    "single values": lambda t, f, x, y: f.batch_norm(x[:1], None, None, training=True),
    "statistics": lambda t, f, x, y: f.batch_norm(x, None, None),
    "halves": lambda t, f, x, y: f.glu(x[:, :5]),
    "prelu": lambda t, f, x, y: f.prelu(x, t.ones(4, dtype=t.float64)),
    "cdist": lambda t, f, x, y: t.cdist(x, x[:, :3]),
    "bilinear": lambda t, f, x, y: f.bilinear(x, x, t.ones(2, 6, 5, dtype=t.float64)),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused_in_torchs_words(name):
    theirs, ours = refused(WRONG[name])
    assert ours == theirs


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("rows", [1, 4])
def test_weights_of_logits_have_derivatives_in_transforms(rows, reduction):
    def program(t):
        x = t.tensor(X)
        weight, pos_weight = x[:rows].exp(), x[0].cos() + 2

        def loss(w, p):
            return t.nn.functional.binary_cross_entropy_with_logits(
                x, x.sigmoid(), w, pos_weight=p, reduction=reduction
            ).sum()

        given = [
            *t.func.grad(loss, argnums=(0, 1))(weight, pos_weight),
            *t.func.hessian(loss, argnums=(0, 1))(weight, pos_weight)[0],
        ]
        captured = pos_weight.clone().requires_grad_()
        outside = t.func.jvp(lambda w: loss(w, captured), (weight,), (weight,))[1]
        return [
            *given,
            *t.autograd.grad(outside, captured),
            t.func.jvp(lambda w: loss(w, w[0]), (weight,), (weight.sin(),))[1],
        ]

    for ours, theirs in zip(program(engine), program(torch), strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-12, atol=1e-14)


def test_more_weights_of_logits_than_scores_in_a_transform():
    def program(t):
        x = t.tensor(X)
        return t.func.grad(lambda w: t.nn.functional.binary_cross_entropy_with_logits(x[:1], x[:1].sigmoid(), w))(
            x.exp()
        )

    np.testing.assert_allclose(program(engine).numpy(), program(torch).numpy(), rtol=1e-12)


AT_THE_TOP = {
    "kl_div": lambda t, x, **how: t.kl_div(x, x.exp(), **how),
    "binary_cross_entropy_with_logits": lambda t, x, **how: t.binary_cross_entropy_with_logits(x, x.sigmoid(), **how),
    "cosine_embedding_loss": lambda t, x, **how: t.cosine_embedding_loss(x, x.exp(), t.ones(4), **how),
    "hinge_embedding_loss": lambda t, x, **how: t.hinge_embedding_loss(x, x.sign(), **how),
    "margin_ranking_loss": lambda t, x, **how: t.margin_ranking_loss(x, x.exp(), x.sign(), **how),
    "triplet_margin_loss": lambda t, x, **how: t.triplet_margin_loss(x, x.exp(), x.sin(), **how),
    "ctc_loss": lambda t, x, **how: t.ctc_loss(
        x.reshape(4, 2, 3).log_softmax(2), t.tensor([[1, 2], [2, 1]]), t.tensor([4, 3]), t.tensor([2, 2]), **how
    ),
}


@pytest.mark.parametrize("how", [{}, *({"reduction": n} for n in range(3))], ids=str)
@pytest.mark.parametrize("name", AT_THE_TOP)
def test_the_top_level_reduces_only_when_told(name, how):
    theirs, ours = (AT_THE_TOP[name](library, library.tensor(X), **how) for library in (torch, engine))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


def gradient(library, function, value):
    x = library.tensor(value).requires_grad_()
    function(library, library.nn.functional, x).sum().backward()
    return x.grad.numpy()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    ("shape", "ignored"), [((6,), -100), ((6,), 1), ((4, 6), 2), ((4, 6), 7), ((2, 6, 2), -100), ((4, 6), None)]
)
def test_smoothed_classes_of_weights(shape, ignored, reduction):
    wanted = (*shape[:-1], *shape[2:]) if len(shape) < 3 else (2, 2)
    classes = np.full(4, -100) if ignored is None else np.where(CLASSES == 2, ignored, CLASSES)
    classes = classes[: int(np.prod(wanted, dtype=int))].reshape(wanted)
    weights = np.array([0.5, 2.0, 1.5, 1.0, 3.0, 0.25])

    def loss(t, f, x):
        return f.cross_entropy(
            x, t.tensor(classes), weight=t.tensor(weights), label_smoothing=0.1, reduction=reduction,
            ignore_index=-100 if ignored is None else ignored,
        )  # fmt: skip

    scores = np.sin(np.arange(float(np.prod(shape)))).reshape(shape)
    for found in (gradient, lambda *given: loss(given[0], given[0].nn.functional, given[0].tensor(given[2])).numpy()):
        np.testing.assert_allclose(
            *(found(library, loss, scores) for library in (engine, torch)), rtol=1e-13, atol=1e-15
        )


KINKS = np.array([-7.0, -3, -1, -0.5, -0.0, 0, 0.5, 1, 3, 6, 7, np.nan])
AT_KINKS = {
    **{n: lambda t, f, x, n=n: getattr(f, n)(x) for n in (
        "relu", "relu6", "leaky_relu", "elu", "celu", "selu", "hardtanh", "hardswish", "hardshrink", "softshrink", "rrelu",
    )},
    "hardsigmoid": lambda t, f, x: f.hardsigmoid(x),
    "threshold": lambda t, f, x: f.threshold(x, 1.0, 2.0),
    "prelu": lambda t, f, x: f.prelu(x, t.tensor(np.array(0.25))),
    "smooth_l1": lambda t, f, x: f.smooth_l1_loss(x, t.zeros_like(x), reduction="none"),
    "huber": lambda t, f, x: f.huber_loss(x, t.zeros_like(x), reduction="none", delta=3.0),
    "l1": lambda t, f, x: f.l1_loss(x, t.zeros_like(x), reduction="none"),
    "hinge": lambda t, f, x: f.hinge_embedding_loss(x, -t.ones_like(x), reduction="none"),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_KINKS)
def test_slopes_at_kinks(name):
    np.testing.assert_allclose(
        *(gradient(library, AT_KINKS[name], KINKS) for library in (engine, torch)), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_slopes_of_distances_at_zero_and_ties(p):
    points = np.array([[0.0, 0], [0, 0], [1, 0], [3, -3]])
    for function in (
        lambda t, f, x: t.cdist(x, x.detach(), p),
        lambda t, f, x: f.pdist(x, p),
        lambda t, f, x: f.pairwise_distance(x, t.zeros_like(x), p, 0.0) + x[:, 0],
        lambda t, f, x: t.dist(x, t.zeros_like(x), p) + x[0, 0],
    ):
        np.testing.assert_allclose(*(gradient(library, function, points) for library in (engine, torch)), atol=1e-12)


def test_the_gradient_of_ctc_has_no_gradient():
    x = engine.tensor(np.zeros((3, 1, 4))).requires_grad_()
    loss = engine.nn.functional.ctc_loss(x.log_softmax(2), engine.tensor([[1, 2]]), (3,), (2,))
    (grad,) = engine.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(RuntimeError, match="derivative for aten::_ctc_loss_backward is not implemented") as error:
        grad.sum().backward()
    assert error.type is RuntimeError  # not NotImplementedError, which is one too


def test_attention_of_masked_rows():
    look = np.array([[True, False, True], [False, False, False]])
    found = []
    for library in (engine, torch):
        q, k = library.tensor(X[:2, :4]).requires_grad_(), library.tensor(X[:3, :4])
        for shape in ((), (1, 1)):
            wide = [t.reshape(*shape, *t.shape) for t in (q, k, k)]
            out = library.nn.functional.scaled_dot_product_attention(*wide, attn_mask=library.tensor(look))
            out.sum().backward()
            found.append((out.detach().numpy().reshape(2, 4), q.grad.numpy().copy()))
    for ours, theirs in zip(found[:2], found[2:], strict=True):
        np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-12)


def test_running_statistics_may_change_before_the_backward_pass():
    mean, var = engine.zeros(6, dtype=engine.float64), engine.ones(6, dtype=engine.float64)
    x = engine.tensor(X).requires_grad_()
    first = engine.nn.functional.batch_norm(x, mean, var, training=True)
    engine.nn.functional.batch_norm(x, mean, var, training=True)
    first.sum().backward()
    assert mean.abs().sum() > 0


@pytest.mark.parametrize("values", [[], [np.nan], [np.inf], [-np.inf], [np.nan, np.inf, -np.inf]])
def test_what_is_no_pair_of_classes_counts_for_nothing(values):
    x = X.copy()
    x.reshape(-1)[: len(values)] = values
    x[3, : len(values)] = values
    classes = np.array([[0, 1, -1, 2, 3, 4], [-1, 1, 2, 3, 4, 5], [3, -1, 0, 0, 0, 0], [0, 5, 2, -1, -1, -1]])
    found = []
    for library in (torch, engine):
        t = library.tensor(x, requires_grad=True)
        loss = library.nn.functional.multilabel_margin_loss(t, library.tensor(classes), reduction="none")
        loss.sum().backward()
        found.append((loss.detach().numpy(), t.grad.numpy()))
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize(
    "starts", [[0, 2, 2, 7], [0, 3, 6, 9], [0, 1, 2, 12]], ids=["uneven", "even", "an empty last bag"]
)
@pytest.mark.parametrize("padding", [None, 1])
def test_the_largest_of_bags(starts, padding):
    index = np.array([1, 3, 1, 2, 0, 0, 1, 1, 2, 3, 1, 0])
    found = []
    for library in (torch, engine):
        w = library.tensor(X, requires_grad=True)
        out = library.nn.functional.embedding_bag(
            library.tensor(index), w, library.tensor(starts), mode="max", padding_idx=padding
        )
        (out * library.arange(out.numel()).reshape(out.shape)).sum().backward()
        found.append((out.detach().numpy(), w.grad.numpy()))
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_second_derivatives_of_binary_cross_entropy_at_the_ends(dtype, reduction):
    """PyTorch adds 1e-12 to both factors there, and limits the product of them in the first derivative."""
    of = np.dtype(dtype).type
    ends = np.array([0, 1e-30, 1e-12, 1e-9, 1e-5, 0.3, 1 - 1e-5, 1 - np.finfo(of).eps, 1], of)
    p, t = (a.ravel() for a in np.meshgrid(ends, np.array([0, 0.3, 1], of)))
    turn = np.linspace(0.5, 2, p.size).astype(of)

    def found(library, weighted):
        x, y = (library.from_numpy(a.copy()).requires_grad_() for a in (p, t))
        scale = library.from_numpy(turn)
        loss = library.nn.functional.binary_cross_entropy(x, y, scale if weighted else None, reduction=reduction)
        start = library.full_like(loss, 2).requires_grad_()
        first = library.autograd.grad(loss, x, start, create_graph=True)[0]
        return [first, *library.autograd.grad(first, [x, y, start], scale)]

    for weighted in (False, True):
        for theirs, mine in zip(found(torch, weighted), found(engine, weighted), strict=True):
            assert mine.shape == tuple(theirs.shape)
            np.testing.assert_allclose(mine.detach(), theirs.detach(), rtol=1e-5 if dtype == "float32" else 1e-12)
