"""The programs of differential_programs*.py do the same on PyTorch and on the engine, but for the differences listed here."""

import pytest
from agdbg_tests_differential import differences
from agdbg_tests_differential_programs import PROGRAMS, observed
from agdbg_tests_forward_tools import pytorch

import agdbg_engine

NO_LAZY = "conj() computes its result at once instead of a view with a mark; a write, which would not reach the original, is refused"
ONCE_A_READER = "an unpack hook runs once for every gradient that reads the saved tensor, in PyTorch once for the node"
CHECKED = "identity hooks do not switch the check for writes off"
DIFFERENT = {
    "variable/a_conjugate": NO_LAZY,
    "views/a_conjugate_view_is_written": NO_LAZY,
    "variable/the_version_of_a_copied_gradient": "PyTorch copies a gradient into fresh memory by a write, which counts",
    "variable/data_of_an_inference_tensor_assigned": "with normal data it is a normal tensor in every respect",
    "views/the_index_is_changed_after_the_write": "the node keeps a copy of the index: the gradient is right, and no error is needed",
    "saved/identity_hooks_and_a_write_to_an_input": CHECKED,
    "saved/identity_hooks_and_a_tripled_result": CHECKED,
    "function/an_inference_tensor_of_another_dtype_is_used": "what is saved is the converted copy, a normal tensor",
    "modes/inside_inference": "a refused write changes nothing, and an inference tensor that requires grad is recorded by every op",
    "modes/a_refused_write_to_an_inference_tensor": "PyTorch refuses after it has written; here the data is unchanged",
    "forward/tangent_of_softmax": "PyTorch overwrites what it saved itself when a tangent of log_softmax is differentiated",
    "forward/a_jvp_that_returns_nothing": "the message has no place in PyTorch's sources in it",
    "backward/nodes_of_another_thread": "PyTorch counts nodes per thread; the engine counts them all, which orders a graph whoever made it",
    "higher/checkpoint_of_a_function_with_state": "the engine warns that the recomputation ran other ops",
    "mixed/a_gradient_is_a_view_of_another": "PyTorch steals a part of the gradient that the user gave; here gradients never share memory with it",
}
"""Programs that differ, and why they may."""


@pytest.fixture(scope="module")
def torch():
    return pytorch()


def found(program, torch):
    return list(differences(observed(program, torch), observed(program, agdbg_engine)))


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in DIFFERENT])
def test_same_as_torch(name, torch):
    assert not found(PROGRAMS[name], torch)


@pytest.mark.parametrize("name", DIFFERENT)
def test_still_different_from_torch(name, torch):
    assert found(PROGRAMS[name], torch), DIFFERENT[name]


def test_there_are_a_few_hundred():
    assert len(PROGRAMS) >= 300
    assert {name.partition("/")[0] for name in PROGRAMS} == {
        "variable", "views", "saved", "function", "hooks", "backward", "modes", "forward", "higher", "mixed",
    }  # fmt: skip
