"""What is said where the recomputation of a checkpointed function differs from its first run."""

import warnings

import pytest
from agdbg_tests_differential import leaf

import agdbg_engine as ag
from agdbg_engine.utils.checkpoint import CheckpointError

BOTH = pytest.mark.parametrize("reentrant", [False, True])


class Changing:
    """A function that is another one from its second call on."""

    def __init__(self, *functions):
        self.functions = list(functions)
        self.calls = 0

    def __call__(self, *args):
        self.calls += 1
        return self.functions[min(self.calls, len(self.functions)) - 1](*args)


def failure(first, second, **options):
    """The message of a checkpoint whose function becomes another one."""
    x = leaf(ag, 0.5, -0.2, 1.7)
    y = ag.utils.checkpoint.checkpoint(Changing(first, second), x, use_reentrant=False, **options)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    return str(caught.value)


def test_the_first_op_that_differs_is_named_with_its_line():
    def first(a):
        return (a.sin() * 2).cos()

    def second(a):
        return (a.sin() + 2).tanh().cos()

    text = failure(first, second, early_stop=False)
    assert "the first op that differs is number 2 of the function:" in text
    assert "first run:     mul with 2 -> float64 [3] at" in text
    assert "in test_the_first_op_that_differs_is_named_with_its_line.<locals>.first: return (a.sin() * 2).cos()" in text
    assert "recomputation: add with 2 -> float64 [3] at" in text


def test_a_run_that_ends_sooner():
    text = failure(lambda a: a.sin().cos(), lambda a: a.sin())
    assert "number 2 of the function" in text
    assert "first run:     cos -> float64 [3]" in text
    assert "recomputation: nothing more" in text


def test_another_shape():
    text = failure(lambda a: a.sin(), lambda a: a[:2].sin())
    assert "saved metadata: {'shape': torch.Size([3]), 'dtype': torch.float64, 'device': device(type='cpu')}" in text
    assert "recomputed metadata: {'shape': torch.Size([2])" in text
    assert "first run:     sin -> float64 [3]" in text
    assert "recomputation: slice" in text


def test_ops_on_lists_are_seen_too():
    text = failure(lambda a: ag.cat([a, a]).sin(), lambda a: ag.stack([a, a]).sin())
    assert "first run:     CatBackward0 -> float64 [6]" in text
    assert "recomputation: StackBackward0 -> float64 [2, 3]" in text


def test_debug_lists_all_ops():
    text = failure(lambda a: a.sin().cos(), lambda a: a.sin(), debug=True)
    assert "ops of the first run:" in text
    assert "ops of the recomputation:" in text


DIFFERS = "the recomputation ran other ops than the first run: gradients may be wrong"


@BOTH
def test_case_44_a_function_that_reads_mutable_state(reentrant):
    state = {"scale": 2.0}
    x = leaf(ag, 0.5)
    y = ag.utils.checkpoint.checkpoint(lambda a: (a * state["scale"]).sin(), x, use_reentrant=reentrant)
    state["scale"] = 5.0
    with pytest.warns(UserWarning, match=DIFFERS) as caught:
        y.sum().backward()
    text = str(caught[0].message)
    assert "number 1 of the function" in text
    assert "first run:     mul with 2.0" in text
    assert "recomputation: mul with 5.0" in text
    assert caught[0].filename == __file__


@BOTH
def test_another_op_that_saves_the_same_is_told(reentrant):
    x = leaf(ag, 0.5)
    function = Changing(lambda a: a.sin(), lambda a: a.cos())
    y = ag.utils.checkpoint.checkpoint(function, x, use_reentrant=reentrant)
    with pytest.warns(UserWarning, match=DIFFERS):
        y.sum().backward()


def test_it_is_not_told_without_the_check():
    x = leaf(ag, 0.5)
    function = Changing(lambda a: a.sin(), lambda a: a.cos())
    y = ag.utils.checkpoint.checkpoint(function, x, use_reentrant=False, determinism_check="none")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y.sum().backward()


@BOTH
def test_a_real_network_is_not_suspected(reentrant):
    ag.manual_seed(0)
    layers = ag.nn.Sequential(ag.nn.Linear(3, 4), ag.nn.ReLU(), ag.nn.Dropout(0.5), ag.nn.Linear(4, 2))
    x = ag.rand(5, 3, requires_grad=True)

    def function(a):
        first, second = layers(a).chunk(2, 1)
        return ag.cat([first, second.softmax(0)], 1)[1:].clone().mul_(float("nan"))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ag.utils.checkpoint.checkpoint(function, x, use_reentrant=reentrant).sum().backward()
    assert x.grad is not None


def test_a_write_after_saving_is_found_in_the_recomputation():
    def function(a):
        y = a.exp()
        y.mul_(2)
        return y.sin()

    y = ag.utils.checkpoint.checkpoint(function, leaf(ag, 0.5), use_reentrant=False)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        y.sum().backward()
    assert "was written by mul_ at" in str(caught.value)


def test_unpacking_twice_in_one_pass():
    class Twice(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            return g * ctx.saved_tensors[0]

    y = ag.utils.checkpoint.checkpoint(lambda a: Twice.apply(a * 2), leaf(ag, 0.5), use_reentrant=False)
    with pytest.raises(CheckpointError, match="already unpacked once"):
        y.sum().backward()
