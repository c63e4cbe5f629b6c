"""Arguments of wrong types: each line is run with the engine and with PyTorch, and gives the same result, or an error of the same
type and words.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
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
T.topk(x, True)
T.topk(x, 1.5)
T.topk(x, T.tensor(1.))
T.topk(x, 1, T.tensor(True))
T.topk(x, 1, 0, 1)
T.topk(x, 1, foo=3)
T.topk(x, 1, k=2)
T.topk(x)
T.topk(x, 1, 1, True, True, 4, 5)
x.topk('x')
x.topk(1, largest=None)
T.sum(x, True)
T.sum(x, ['a'])
T.sum(x, 0, keepdim=1)
T.mean(x, keepdim=3)
T.mean(x, dtype=2, keepdim=3, dim=1)
T.flip(x, 0)
T.flip(x, [True])
T.roll(x, [1, 1.5], [0, 1])
T.roll(x, T.tensor([1]))
T.cat([x, 1])
T.cat(x)
T.cat([x], True)
T.cat([x], dim='a')
T.stack([x, None])
T.cumsum(x, 0, dtype=3)
T.cumsum(x, 0, 1)
T.zeros_like(x, requires_grad=1)
T.zeros_like(x, requires_grad=True)
T.nan_to_num(x, True)
T.nan_to_num(x, x[0])
T.renorm(x, T.ones((), requires_grad=True), 0, 1)
T.clamp(x, 'x')
T.quantile(x, 'x')
T.bernoulli(x, 'x')
T.add(x, 'x', alpha='y')
T.add(x, x, x, x)
T.add('x')
T.add(x, x, alpha='y')
T.mm(x, x, x)
T.unsqueeze(x, True)
T.as_strided(x, 2, (1,))
T.where(x, x)
T.linalg.norm(x, ord=[])
T.fft.fft(x, norm=3)
T.fft.fftn(x, s=['a'])
T.tensor_split(x, 'a')
T.tensor_split(x, True)
T.gradient(x, spacing='a')
T.index_put(x, [None], x)
T.index_put(x, x, x)
F.gelu(x, approximate=3)
F.one_hot(x, 'a')
F.linear(x, x, bias=2)
F.conv2d(x, x, stride='a')
F.dropout(x, .5, 1)
F.pad(x, 'x')
F.pad(x, (1, 'a'))
F.pad(x, (1, 1))
F.pad(x, (1, 1.5))
F.max_pool1d(x, True)
F.layer_norm(x, (2,), 3)
F.unfold(x[None, None], 1.5)
F.kl_div(x, x, reduction='sum', log_target=1)
F.instance_norm(x[None], running_mean=1)
F.batch_norm(x, None, None, True)
F.elu(x, 'a')
F.rrelu(x, training=None)
F.poisson_nll_loss(x, x, full=1)
T.roll(x, [1, 1], [0, 1])
T.roll(x, [1, 1.5], [0, 1])
F.avg_pool2d(x, True)
x.permute(0, 1.5)
x.permute('a', 0)
x.permute(0, True)
x.acos(1)
x.add_('a')
x.clamp_(min='a')
x.tril_(True)
x.fill_('a')
x.masked_fill_('x', 1)
x.masked_scatter_(None, x)
x.put_('x', x)
x.index_fill_(0, 'a', 1)
x.scatter_(True, x, x)
x.index_reduce_(0, x, x, 'amax', include_self=1)
T.add(x, 2, x)
T.sub(x, 2, x)
T.addmm(.5, x, x, x)
T.addmm(.5, x, 2, x, x)
T.addcmul(x, 2, x, x)
T.addcdiv(x, 2, x, x)
T.addr(.5, x, 2, x[0], x[0])
x.add(2, x)
x.sub(2, x)
x.clone().add_(2, x)
x.addmm(.5, x, x)
x.addmm(.5, 2, x, x)
T.addmv(.5, x[0], x, x[0])
T.baddbmm(.5, T.ones(1, 2, 2), T.ones(1, 2, 2), T.ones(1, 2, 2))
x.sum(np.int64(1))
x.max(dim=np.int64(1))[0]
T.mean(x, np.int64(0), True)
T.logsumexp(x, np.int64(1), True)
x.norm(np.float32(2))
x.norm(np.float64(2), np.int64(1))
x.flip(np.int64(0))
x.roll(np.int64(1), np.int64(0))
x.chunk(np.int64(2), np.int64(1))
x.clamp(np.float32(0), np.float64(1))
x.clamp_min(np.float32(1))
x.scatter(1, T.tensor([[0], [1]]), np.float32(3))
T.where(x > 2, np.float64(1), np.float64(0))
T.addmm(x, x, x, beta=np.float32(1), alpha=np.float64(2))
T.logit(x, np.float64(.1))
T.linalg.matrix_power(x, np.int64(2))
F.leaky_relu(-x, np.float64(.1))
F.cosine_similarity(x, x, dim=np.int64(1))
F.normalize(x, 2.0, np.int64(1), np.float64(1e-12))
tuple(T.nn.LayerNorm(np.int64(2))(x).shape)
F.avg_pool1d(x, 2, None)
F.avg_pool2d(T.ones(1, 1, 2, 2), 2, stride=None)
F.avg_pool3d(T.ones(1, 1, 2, 2, 2), 2, None)
x.amax(None)
x.roll(1, None)
T.add(x1=x, x2=x)
T.maximum(x1=x, x2=x)
T.sum(a=x, axis=0)
T.exp(x=x)
T.exp(x1=x)
T.exp(x2=x)
x.clone().copy_(x, True)
x.clone().copy_(x, non_blocking=True)
x.new_zeros(size=(2,))
T.searchsorted(sorted_sequence=x[0], input=x, side='right')
T.searchsorted(x[0], np.float32(2))
x.new_ones(size=[2], dtype=T.int64)
T.zeros(2, requires_grad=None)
T.zeros(2, dtype=str)
T.zeros(2, 2, dtype='a')
T.zeros(2, layout=3)
T.zeros()
T.zeros((2,), 3)
T.zeros((True, 2))
T.zeros((2, True))
T.ones(2, device=1.5)
T.empty(2, memory_format=1)
T.full((2,), 'a')
T.full((2, index(1)), 1.)
T.eye(2, requires_grad=None)
T.rand(2, 'a')
T.rand(2, generator=3)
T.randn(2, dtype=3)
T.arange(1, 3, 'a')
T.arange()
T.randint(0, 3, 2)
T.randint('a', (2,))
T.randint_like(x, 'a')
T.scalar_tensor(None)
T.scalar_tensor(x)
T.tensor([1.], device=1.5)
T.hann_window(4, requires_grad=None)
x.new_zeros(2, dtype='a')
x.new_zeros(2, True)
x.new_zeros()
x.new_full((2,), None)
x.new_tensor([1], dtype='a')
x.flip()
x.float(3)
x.float(memory_format=3)
x.bool(memory_format=None)
x.to(7.5).dtype == T.float64
x.to(True)
x.to(7, True)
x.to(str)
x.to(T.float64, memory_format=3)
x.to(foo=1)
T.nn.Linear(2, 2).to(3.5)
T.nn.Linear(2, 2).to(T.float64, memory_format=3)
x.permute(1, index(0))
x.permute(1, True)
x.permute((0, 1), 2)
x.roll((1, index(1)), (0, 1))
x.repeat(2, index(2))
x.amax((0, True))
x.select(0, index(1))
T.linalg.matrix_norm(x, dim=(0, True))
F.pad(x, (1, index(1)))
F.unfold(x[None, None], (2, True))
T.add(1, 2)
T.sub(1, 2.5)
T.mul(np.float64(1), 2)
T.div(1, 2)
T.add(1, 2, alpha=3)
T.remainder(7, 2)
T.fmod(7, 2)
T.add(1, 'a')
x.__rdiv__('a')
x.__matmul__(2)
x @ 2
x.__iadd__('a')
x.__ipow__(None)
x.__imod__('a')
x.bool().__iand__('a')
exec("x += 'a'", {'x': x})
x.sum(1.5)
x.sum('a')
x.sum(0, keepdim=1)
x.sum([0, 'a'])
x.mean('a')
x.mean(0, keepdim=1)
x.split('a')
x.split(1.5)
x.split([1, 'a'])
T.split(x, 'a')
x.transpose('a', 0)
x.transpose(0, index(1))
x.reshape('a')
x.reshape(4, 'a')
x.view(4, 'a')
x.add('a')
x.sub(None)
x.div('a')
x.pow('a')
x.matmul(2)
x.mm('a')
T.mm(x, 'a')
T.mm('a', x)
x.bmm('a')
T.addmm(x, 'a', x)
x.contiguous(3)
x.contiguous(memory_format=3)
x.nonzero(as_tuple=3)
T.nonzero(x, as_tuple=3)
F.cross_entropy(x, 'a')
F.cross_entropy(x, x, weight='a')
F.cross_entropy(x, x, label_smoothing='a')
F.nll_loss(x, x, ignore_index=1.5)
F.hinge_embedding_loss(x, x, margin='a')
F.cosine_embedding_loss(x, x, 'a')
F.pairwise_distance(x, 'a')
F.pairwise_distance(x, x, keepdim=1)
F.grid_sample(x, 'a', align_corners=False)
F.grid_sample(T.ones(1, 1, 2, 2), T.ones(1, 2, 2, 2), align_corners='a')
"""


class index:
    """Stands for an integer."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def said(library, text):
    names = {"T": library, "F": library.nn.functional, "x": library.ones(2, 2), "np": np, "index": index}
    try:
        return repr(eval(text, names))  # a line of this file
    except Exception as error:  # whatever it is, it is what is compared
        return type(error).__name__, str(error).partition("\n")[0]


@pytest.mark.filterwarnings("ignore:This overload of")  # the old orders of arguments
@pytest.mark.parametrize("text", LINES.strip().splitlines())
def test_said(text):
    assert said(engine, text) == said(torch, text)


REMEMBERED = {
    "T.cat([x, x], 0)": "T.cat([x, 1], 0)",
    "x.to(float).tolist()": "x.to(str).tolist()",
    "T.cat(tensors=[x, x])": "T.cat(tensors=[x, 1])",
    "T.stack((x, x), 0)": "T.stack((x, [1]), 0)",
    "T.roll(x, (1, 1), (0, 1))": "T.roll(x, (1, 1), (0, 1.5))",
    "x.amax(dim=[0, 1])": "x.amax(dim=[0, 'a'])",
    "x.select(0, 1)": "x.select(0, 1.5)",
    "x.clone().clamp_(0, max=1)": "x.clone().clamp_(0, max='a')",
}
"""Right calls, and wrong ones that have as many arguments."""


@pytest.mark.parametrize("right", REMEMBERED)
def test_a_call_that_was_right_hides_no_wrong_one(right):
    for _ in range(2):
        assert said(engine, right) == said(torch, right)
        assert said(engine, REMEMBERED[right]) == said(torch, REMEMBERED[right])


def test_old_orders_are_warned_of_once():
    seen = [
        subprocess.run(
            [sys.executable, "-c", f"import {name} as T; x = T.ones(2); T.add(x, 2, x); T.sub(x, 2, x)"],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for name in ("torch", "agdbg_engine")
    ]
    assert [text.count("This overload of") for text in seen] == [1, 1]
    ours, theirs = (text[text.index("This overload") :].splitlines()[:4] for text in reversed(seen))
    assert ours[:3] == theirs[:3]


def test_misspelt_methods_are_told_with_the_nearest_when_printed():
    program = "import agdbg_engine; agdbg_engine.ones(2).softmx"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.endswith("'Tensor' object has no attribute 'softmx'. Did you mean: 'softmax'?\n")


def test_the_table_of_forms_is_that_of_the_installed_version():
    from agdbg_engine.signatures import _generated

    if f"PyTorch {torch.__version__.partition('+')[0]} " not in _generated.__doc__:
        pytest.skip("the table is of another version of PyTorch")
    path = Path(__file__).parents[2] / "scripts" / "generate_signatures.py"
    spec = importlib.util.spec_from_file_location("generate_signatures", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.FILE.read_text() == script.text()
