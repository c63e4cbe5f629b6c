"""Parameters and buffers of new modules count as written as often as in PyTorch: errors of versions name the same numbers."""

import pytest
import torch

import agdbg_engine as ag

MODULES = """
Linear(2, 2)
Bilinear(1, 2, 3)
LayerNorm(2)
RMSNorm(2)
GroupNorm(1, 2)
BatchNorm1d(2)
BatchNorm2d(2)
InstanceNorm1d(2, affine=True, track_running_stats=True)
Embedding(3, 2)
Embedding(3, 2, padding_idx=1)
EmbeddingBag(3, 2)
PReLU()
Conv1d(1, 1, 1)
ConvTranspose2d(1, 1, 1)
RNN(2, 2)
LSTM(2, 2, 2)
GRUCell(2, 2)
MultiheadAttention(2, 1)
MultiheadAttention(2, 1, kdim=3, vdim=4, add_bias_kv=True)
TransformerEncoderLayer(2, 1, 4)
""".strip().splitlines()


def versions(lib, module):
    made = eval(module, vars(lib.nn).copy())
    return {name: each._version for name, each in [*made.named_parameters(), *made.named_buffers()]}


@pytest.mark.parametrize("module", MODULES)
def test_a_new_module(module):
    assert versions(ag, module) == versions(torch, module)


def test_a_module_that_is_made_in_inference_mode_has_no_versions():
    with ag.inference_mode():
        made = ag.nn.Linear(2, 2)
    assert made.weight.is_inference()


def test_an_optimizer_step_between_forward_and_backward_names_the_versions():
    said = []
    for lib in (ag, torch):
        model = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Linear(2, 1))
        optimizer = lib.optim.SGD(model.parameters(), 0.1)
        loss = model(lib.ones(1, 2)).sum()
        loss.backward(retain_graph=True)
        optimizer.step()
        with pytest.raises(RuntimeError) as raised:
            loss.backward()
        said.append(str(raised.value).splitlines()[0].partition(" Hint")[0].partition("; expected")[2])
    assert said[0] == said[1]
