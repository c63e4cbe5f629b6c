"""Packed sequences and recurrent networks on them: values, gradients, nodes and refusals are those of PyTorch."""

import itertools

import numpy as np
import pytest
from agdbg_tests_differential import essence, same

import agdbg_engine
import agdbg_engine.nn

torch = pytest.importorskip("torch")
LENGTHS = {"sorted": [4, 2, 2], "unsorted": [2, 4, 3], "one": [1, 1, 1]}


def padded(t, shape=(4, 3, 2)):
    return t.tensor(np.random.default_rng(0).standard_normal(shape), requires_grad=True)


def recurrent(t, kind, **options):
    module = getattr(t.nn, kind)(2, 3, **options).to(t.float64)
    rng = np.random.default_rng(1)
    with t.no_grad():
        for p in module.parameters():
            p.copy_(t.tensor(rng.standard_normal(tuple(p.shape))))
    return module


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("batch_first", [False, True])
def test_there_and_back(lengths, batch_first):
    def program(t):
        rnn = t.nn.utils.rnn
        x = padded(t)
        given = x.transpose(0, 1) if batch_first else x
        packed = rnn.pack_padded_sequence(given, lengths, batch_first, enforce_sorted=lengths == [4, 2, 2])
        back, found = rnn.pad_packed_sequence(packed, batch_first, -1.0, total_length=5)
        (g,) = t.autograd.grad((back * back).sum() + packed.data.exp().sum(), x)
        return [packed.data.grad_fn, back.grad_fn, *essence([*packed, back, found, g])]

    same(program)


def test_lists():
    def program(t):
        rnn = t.nn.utils.rnn
        parts = [padded(t, (n, 2)) for n in (2, 3, 1)]
        packed = rnn.pack_sequence(parts, enforce_sorted=False)
        again = rnn.unpack_sequence(packed)
        return essence([*packed, *again, rnn.invert_permutation(packed.sorted_indices)])

    same(program)


OPTIONS = [{}, {"num_layers": 2, "bidirectional": True}, {"bidirectional": True, "bias": False}]


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize(
    ("kind", "options"),
    [*itertools.product(("RNN", "GRU", "LSTM"), OPTIONS), ("LSTM", {"proj_size": 2, "bidirectional": True})],
)
@pytest.mark.parametrize("given", [False, True])
def test_recurrent_networks(kind, options, lengths, given):
    def program(t):
        module, x = recurrent(t, kind, **options), padded(t)
        packed = t.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=lengths != [2, 4, 3])
        n = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
        states = [padded(t, (n, 3, size)) for size in (options.get("proj_size", 3), 3)]
        hx = (tuple(states) if kind == "LSTM" else states[0]) if given else None
        out, end = module(packed, hx)
        ends = list(end) if kind == "LSTM" else [end]
        loss = (out.data**2).sum() + sum((e**3).sum() for e in ends)
        used = [x, *module.parameters(), *(states[: len(ends)] if given else [])]
        grads = t.autograd.grad(loss, used)
        return essence([out.data, out.batch_sizes, *ends, *grads])

    same(program)


REFUSED = """
r.pack_padded_sequence(x,[2,4,3])
r.pack_padded_sequence(x,[4,2])
r.pack_padded_sequence(x,[4,2,0])
r.pack_padded_sequence(x[:0],[4,2,1])
r.pad_packed_sequence(r.pack_padded_sequence(x,[4,2,2]),total_length=3)
t.nn.GRU(3,4).double()(r.pack_padded_sequence(x,[4,2,2]))
t.nn.GRU(2,4).double()(r.pack_padded_sequence(x,[4,2,2]),t.zeros(1,2,4).double())
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_refused(line):
    same(lambda t: eval(line, {"t": t, "r": t.nn.utils.rnn, "x": padded(t)}))


def test_more_steps_than_there_are():
    """PyTorch tells it of a slice inside."""
    rnn = agdbg_engine.nn.utils.rnn
    with pytest.raises(RuntimeError, match="at most 4, the steps of the input, but got 5"):
        rnn.pack_padded_sequence(padded(agdbg_engine), [5, 2, 1])


def test_other_dtypes():
    packed = agdbg_engine.nn.utils.rnn.pack_sequence([agdbg_engine.ones(2)])
    assert packed.float() is packed and packed.to("cpu") is packed
    assert packed.double().data.dtype == agdbg_engine.float64 and packed.long().data.dtype == agdbg_engine.int64
    assert packed.half().cpu().data.dtype == agdbg_engine.float16 and not packed.is_cuda


def test_second_gradient_and_tangent():
    def program(t):
        x = padded(t)
        data = t.nn.utils.rnn.pack_padded_sequence(x, [4, 2, 2]).data
        (g,) = t.autograd.grad((data**3).sum(), x, create_graph=True)
        return essence(t.autograd.grad((g**2).sum(), x))

    same(program)
    with agdbg_engine.autograd.forward_ad.dual_level():
        x = agdbg_engine.ones(2, 1)
        dual = agdbg_engine.autograd.forward_ad.make_dual(x, agdbg_engine.tensor([[3.0], [4.0]]))
        data = agdbg_engine.nn.utils.rnn.pack_padded_sequence(dual, [2]).data
        assert agdbg_engine.autograd.forward_ad.unpack_dual(data).tangent.tolist() == [3, 4]
