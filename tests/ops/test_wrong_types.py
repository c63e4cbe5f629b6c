"""Arguments of wrong types: each line is run with the engine and with PyTorch, and gives an error of the same type and words."""

import pytest

torch = pytest.importorskip("torch")  # the reference

import agdbg_engine as engine  # noqa: E402 - after the skip

LINES = """
T.acos_(None)
T.is_complex(None)
T.numel(2)
T.detach('x')
T.atan2(x, None)
T.hypot(x, None)
T.amax(x, 5, 2)
T.median(x, 5, 2)
T.index_select(x, x, x)
T.select(T.tensor(1.), x, x)
T.chain_matmul(x, 2)
T.slice_scatter(x, 2, 5)
T.topk(x, x)
T.max_pool1d(x, 'x')
T.roll(x, 'x')
F.avg_pool2d(x, x)
F.max_pool2d(x, 'x')
F.hardtanh(None)
F.pdist(2)
F.relu6(None)
F.dropout(2)
F.cosine_similarity(x, 'x')
F.multi_margin_loss(x, 2)
F.scaled_dot_product_attention(x, x, None)
F.linear(x, x, 2)
F.l1_loss(x, None)
F.huber_loss(x, 'x')
F.glu(2)
F.softsign(None)
"""


def said(library, text):
    names = {"T": library, "F": library.nn.functional, "x": library.ones(2, 2)}
    try:
        return repr(eval(text, names))  # a line of this file
    except Exception as error:  # whatever it is, it is what is compared
        return type(error).__name__, str(error).partition("\n")[0]


@pytest.mark.parametrize("text", LINES.strip().splitlines())
def test_said(text):
    assert said(engine, text) == said(torch, text)
