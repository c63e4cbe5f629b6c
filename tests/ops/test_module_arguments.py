"""Modules and losses made or called with what they cannot take: the same result, or the same error, as in PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

import agdbg_engine as engine  # noqa: E402 - after the skip

LINES = """
N.Hardtanh(2, -2)
N.Hardtanh(1, 1)
N.ReLU6().max_val
N.MultiMarginLoss(3)
N.MultiMarginLoss(weight=T.ones(2, 2))
N.Bilinear(0, 1, 1)
N.RNN(3, 4).mode
N.RNN(3, 4, nonlinearity='relu').mode
N.LSTM(3, 4).mode
N.GRU(3, 4).mode
N.RNN(3, 4)(T.ones(1, 1, 1, 3))
N.LSTM(3, 4)(T.ones(1, 1, 1, 3))
N.Unflatten(1, 2)
N.Unflatten(1, (2, 2.5))
N.Unflatten(1, (2, 2))(T.ones(2, 6))
N.Unflatten(1, (2, 2))(T.ones(2, 3, 0))
N.CircularPad1d(1)(T.ones(3))
N.CircularPad2d(1)(T.ones(3, 4))
N.CircularPad3d(1)(T.ones(3, 4))
N.AdaptiveAvgPool2d(2)(T.ones(3, 4))
N.AdaptiveAvgPool3d(2)(T.ones(2, 3, 4))
N.AdaptiveMaxPool2d(2)(T.ones(3))
N.AdaptiveMaxPool2d((2, None))(T.ones(3))
N.MultiheadAttention(4, 2, kdim=3, vdim=5)(T.ones(5, 2, 4), T.ones(5, 2, 4), T.ones(5, 2, 4))
N.MultiheadAttention(4, 2, kdim=3, vdim=5)(T.ones(5, 4), T.ones(5, 3), T.ones(5, 4))
F.interpolate(T.ones(1, 1, 0), 3)
F.lp_pool2d(T.ones(1, 4, 4), 2, 0)
N.init.trunc_normal_(T.empty(3), 0., 1., 2., -2.)
N.init.trunc_normal_(T.empty(0), 0., 1., 2.5, -2.)
T.arange(3, dtype=T.complex64)
T.fft.fftfreq(0)
T.fft.fftfreq(-1)
T.fft.fftfreq(4, 0)
T.fft.fftfreq(5, d=0.)
T.fft.rfftfreq(0)
T.fft.rfftfreq(-1)
T.fft.rfftfreq(-3)
T.fft.rfftfreq(-4)
T.fft.rfftfreq(5, 0)
T.arange(0, 1, 1e-20)
T.arange(0, 1, 5e-324)
T.arange(0, -1, -1e-20)
T.arange(0, 1, float('nan'))
T.linalg.lstsq(T.ones(2, 3, 2), T.ones(3, 1))
T.linalg.lstsq(T.ones(2, 3, 2), T.ones(3, 3))
T.linalg.lstsq(T.ones(2, 2, 3, 2), T.ones(2, 3, 1))
tuple(T.linalg.lstsq(T.eye(3, 2)[None], T.arange(3.)[:, None]).solution.shape)
T.linalg.lstsq(T.eye(3, 2).expand(3, 3, 2), T.arange(3.)[:, None]).solution.round().abs()
T.addmv_(T.ones(2), T.ones(2, 2), T.ones(2), beta=2, alpha=3)
T.as_strided_(T.arange(4.), (2,), (2,))
F.alpha_dropout([1.])
F.alpha_dropout('x')
F.alpha_dropout(None, 0.5, True)
F.feature_alpha_dropout([1.], 0.)
F.dropout([1.], 0., False)
F.dropout1d(NP.ones((2, 3)), training=False)
F.dropout2d(NP.ones((2, 3, 4, 5)), training=False)
F.softsign(1)
F.softsign(NP.ones(2))
F.tanhshrink('x')
F.normalize(NP.ones((2, 2)))
N.Dropout().eval()(NP.ones(2))
N.AlphaDropout().eval()([1.])
N.Flatten()([1.])
N.Unflatten(0, (1, 1))([1.])
N.Parameter(1)
N.Parameter(NP.ones(2))
N.Buffer(NP.ones(2))
N.EmbeddingBag.from_pretrained(T.ones(3))
N.EmbeddingBag.from_pretrained(T.ones(3, 2))
N.EmbeddingBag.from_pretrained(T.ones(3, 2), freeze=False, mode='sum', padding_idx=1).weight
N.EmbeddingBag.from_pretrained(T.ones(3, 2), mode='sum')(T.tensor([0, 2]), T.tensor([0]))
T.cartesian_prod(NP.ones(2))
T.cartesian_prod(T.ones(2), NP.ones(2))
T.cartesian_prod(1)
T.zeros(1).copy_(0, 3)
T.zeros(1).copy_(T.ones(1), None)
T.zeros(1).copy_(T.ones(1), non_blocking=1)
T.zeros(1).copy_(src=T.ones(1))
T.zeros(1).copy_(other=T.ones(1))
T.zeros(1).copy_(True)
T.zeros(1).copy_(NP.bool_(True))
T.zeros(1).copy_(NP.float32(3), True)
T.zeros(1).copy_('x')
T.ones(1).is_contiguous(3)
T.ones(1).is_contiguous(T.contiguous_format)
T.ones(1).is_contiguous(memory_format=3)
T.ones(1).is_contiguous(memory_format=None)
T.ones(2, 3).t().is_contiguous(memory_format=T.contiguous_format)
T.ones(2, 3).t().is_contiguous(memory_format=T.preserve_format)
T.randperm(3, dtype=T.bool)
(lambda o: (T.split_copy(T.arange(5.), 2, out=o), o))([T.empty(2), T.empty(2), T.empty(1)])
T.split_copy(T.arange(5.), 2, out=[T.empty(2), T.empty(2)])
T.unique(T.ones(2, 2), dim=2)
T.unique(T.tensor(1), dim=0)
F.ctc_loss(p, L[:, :2], (5, 5), (3, 2))
F.ctc_loss(p, L[:1], (5, 5), (2, 2))
F.ctc_loss(p, L[None], (5, 5), (2, 2))
F.ctc_loss(p, L[0], (5, 5), (2, 2))
F.ctc_loss(p, L, T.tensor([5., 5]), T.tensor([2, 2]))
F.ctc_loss(p, L, T.tensor([5, 5]), T.tensor([True, True]))
F.ctc_loss(p, L, (-1, 5), (2, 2))
F.ctc_loss(p, L, (6, 5), (2, 2))
F.ctc_loss(p, L, (5, 5), (-2, 2))
F.ctc_loss(p, L, (5, 5), (2, 2.5))
F.ctc_loss(p, L, (5,), (2, 2))
F.ctc_loss(p, L, 5, 2)
F.ctc_loss(p, L, T.tensor([5, 5]), (2, 2))
F.ctc_loss(p.half(), L, (5, 5), (2, 2))
F.ctc_loss(p.long(), L, (5, 5), (2, 2))
F.ctc_loss(p[None], L, (5, 5), (2, 2))
F.ctc_loss(p[0, 0], L, (5, 5), (2, 2))
"""


def said(library, text):
    """The repr of the result, or type and first line of the error."""
    names = {
        "NP": np,
        "T": library,
        "N": library.nn,
        "F": library.nn.functional,
        "p": library.zeros(5, 2, 4).log_softmax(2),
    }
    try:
        return repr(eval(text, names | {"L": library.tensor([[1, 2, 3], [1, 3, 1]])}))  # a line of this file
    except Exception as error:  # whatever it is, it is what is compared
        return type(error).__name__, str(error).partition("\n")[0]


@pytest.mark.parametrize("text", LINES.strip().splitlines())
def test_said(text):
    assert said(engine, text) == said(torch, text)
