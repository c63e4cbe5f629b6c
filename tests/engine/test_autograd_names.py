"""Names that PyTorch has in ``autograd`` and on nodes. As in PyTorch."""

from collections import OrderedDict

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

pytest.importorskip("torch")
programs = Programs()


@programs
def modules_of_autograd(t):
    a = t.autograd
    return [
        a.grad_mode.no_grad is a.no_grad is t.no_grad,
        a.grad_mode.set_multithreading_enabled is a.set_multithreading_enabled,
        a.anomaly_mode.detect_anomaly is a.detect_anomaly,
        a.anomaly_mode.set_detect_anomaly is a.set_detect_anomaly,
        a.variable.Variable is a.Variable,
        error_of(a.variable, [1.0]),
    ]


@programs
def hooks_put_on_a_node_by_hand(t):
    log, x = [], leaf(t, 1.0, 2.0)
    y = x * 2
    z = (y * y).sum()
    y._backward_hooks = OrderedDict(mine=lambda g: log.append(g.tolist()))
    z.backward(retain_graph=True)
    found = [list(log)]
    y.grad_fn._register_hook_dict(y)
    y.register_hook(lambda g: g * 10)
    z.backward()
    return [found, log, x.grad]


@programs
def hooks_put_on_a_node_by_hand_for_its_second_output(t):
    x = leaf(t, 1.0, 2.0)
    a, b = (x * 2).unbind()
    b._backward_hooks = OrderedDict(mine=lambda g: g * 10)
    b.grad_fn._register_hook_dict(b)
    return t.autograd.grad(a + b, x)


@programs
def hooks_of_no_tensor(t):
    return error_of((leaf(t, 1.0) * 2).grad_fn._register_hook_dict, 1)


@pytest.mark.parametrize("program", programs)
def test_program(program):
    same(program)
