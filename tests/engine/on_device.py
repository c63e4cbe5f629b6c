"""The strict device as the place of every tensor: tests that know nothing of devices run on it when ``AGDBG_TEST_DEFAULT=strict`` is set.

Factories make tensors there, ``from_numpy`` copies to it, and what a test itself asks for is read: ``item``, ``tolist``, ``numpy``,
conversions, texts, arrays that it takes out of tensors. What the engine reads by itself, or mixes, is refused and fails the test,
also where the exception was caught. ``test_semantics_on_device.py`` says which tests run so, and why others do not.
"""

import functools
import sys
from pathlib import Path

import agdbg_tests_strict_device as strict
import agdbg_tests_strict_refusals as refusing
import pytest

import agdbg_engine as ag
from agdbg_engine import errors
from agdbg_engine.device import _defaults
from agdbg_engine.hooks import firing

ENGINE = f"{Path(ag.__file__).parent}/"
READS = {
    "anomaly.py check": "anomaly mode asks of every gradient whether there is NaN in it, as in PyTorch",
    "ops/kernels_shape.py index": "a mask as an index: the size depends on values",
    "ops/kernels_shape.py index_put": "several values put by a mask",
    "ops/inplace.py _write_repeating": "several values put by a mask",
    "ops/indexing.py _room": "a mask as an index: the error says how much it picks",
    "ops/indexing.py _basic": "a 0-d tensor as an index",
    "ops/indexing.py _sliced": "a slice between 0-d tensors",
    "signatures/kinds.py _number": "a 0-d tensor given for a number, as a size or a fill value: read once, as in PyTorch",
    "lists_of_tensors.py _number": "tensors in a list that a tensor is made of, as in PyTorch",
    "saved/hooks.py _to_cpu": "`save_on_cpu` copies, that is what it is for",
    "ops/wide/linalg/checks.py failures": "a singular matrix is an error, as in PyTorch",
    "ops/wide/reductions/multiples.py prod_grad": "the gradient of a product depends on how many zeros there are, as in PyTorch",
    "ops/wide/reductions/multiples.py others_of_all": "the gradient of a product depends on whether there are zeros, as in PyTorch",
    "gradcheck/places.py fetched": "matrices of derivatives are compared on the host",
    "optim/lbfgs.py run": "it goes by the loss and by products of gradients, as in PyTorch",
    "optim/elementwise.py at_least_zero": "a rate that is a tensor is checked when the optimizer is made, as in PyTorch",
    "optim/vocabulary.py number": "a rate that is a tensor is a number of every step, as in PyTorch",
    "optim/asgd.py prepare": "numbers of a state that was loaded lie beside their parameter, as in PyTorch",
    "optim/nadam.py prepare": "numbers of a state that was loaded lie beside their parameter, as in PyTorch",
    "optim/lr_scheduler/plateau.py step": "it goes by a number that it is given, as in PyTorch",
    "nn/moves.py cpu": "a module goes to the CPU, that is what it is for",
    "nn/moves.py to": "a module goes where it is told",
    "nn/utils/clip_grad.py get_total_norm": "`error_if_nonfinite` asks, as in PyTorch",
    "nn/normalization.py _read": "`momentum=None`: the mean of all batches, by their number, as in PyTorch",
    "ops/wide/layers/embedding.py embedding_renorm_": "`max_norm`: each row that is used once, as in PyTorch",
    "ops/wide/losses/ctc.py _lengths": "lengths are counted on the host, as in PyTorch",
}
"""Where the engine reads from a device, by file and function: see "Reads" in docs/gpu.md."""
ASKED = (
    "item", "tolist", "__float__", "__int__", "__complex__", "__index__", "__bool__", "__contains__", "__repr__", "__str__",
    "__format__", "__reduce_ex__", "to", "cpu", "equal", "allclose", "is_nonzero",
)  # fmt: skip
"""Methods of tensors by which a person has a value."""

_SHARED = "memory that NumPy's arrays share with tensors, which no device does"
_DTYPE = "a value on a device is not read, and so must have the dtype of what it is put to, as in PyTorch"
_TEXT = "the text names the device"
_DIGITS = "the last digits are those of the CPU's one pass over a parameter"
LEFT_OUT = {
    "a_result_is_zeroed_through_numpy": _SHARED,
    "numpy_memory_does_not_count": _SHARED,
    "numpy_of_tensors": _SHARED,
    "an_earlier_view_that_is_saved_is_read_only_for_numpy": _SHARED,
    "a_numpy_view_made_while_locked_stays_read_only": _SHARED,
    "an_expanded_view_made_while_locked_is_as_any_afterwards": _SHARED,
    "the array": _SHARED,
    "saved_tensor[save_on_cpu]": "a copy on the host does not follow what is written on the device: so it is with PyTorch",
    "a_gradient_on_another_device": _TEXT,
    "inside_of_a_level[printed]": _TEXT,
    "test_programs[formats]": _TEXT,
    "factors_of_a_determinant": "`solve` keeps no factors of its own on a device",
    "in_single_precision_parameters_move_to_the_last_digit_like_torchs": _DIGITS,
    "large_parameters_go_as_in_pytorch": _DIGITS,
    "test_bad_input_names_the_thing": "checks of values are left out on a device",
    "test_autograd_events.py::test_cuts": "the line that asked is that of a test's own `item`",
    "a_stale_view_prints": _TEXT,
    "what_is_known_of_outputs": _TEXT,
    "test_variable_data.py::test_same_as_torch[parameters]": _TEXT,
    "test_variable_state.py::test_same_as_torch[kinds]": "`get_device` and `is_cpu` tell the device",
    "hooks_are_between_what_arrives_and_what_is_sent": "the test compares by NumPy's own functions what lies on the device",
    "one integer-mask": _DTYPE,
    "one_element_for_a_mask_of_another_dtype": _DTYPE,
    "other_dtypes_that_are_put": _DTYPE,
    "keys_that_are_no_tuples": "an index of several masks, which CuPy refuses",
}
"""Tests that make no sense there, by a part of their names, and why."""


def _may_read(frame):
    """Whether the code of ``frame`` is a test's, or the engine's on behalf of one of the :data:`READS`."""
    file = frame.f_code.co_filename
    if not file.startswith(ENGINE):
        return True
    while file.startswith(ENGINE) or file == __file__:
        within = file.removeprefix(ENGINE)
        if f"{within} {frame.f_code.co_name}" in READS:
            return True
        frame = frame.f_back
        file = frame.f_code.co_filename
    return False


def _reading(function):
    """``function``, which may read where it is not the engine that calls it."""

    @functools.wraps(function)
    def reads(*args, **kwargs):
        if sys._getframe(1).f_code.co_filename.startswith(ENGINE):
            return function(*args, **kwargs)
        with strict.allowed_host_reads():
            return function(*args, **kwargs)

    return reads


def _numpy(function):
    """``Tensor.numpy`` that copies what lies on the device; where it would refuse on the CPU it does so here."""

    @functools.wraps(function)
    def numpy(self, *, force=False):
        if not isinstance(self._a, strict.ndarray) or (self.requires_grad and not force and ag.is_grad_enabled()):
            return function(self, force=force)
        with strict.allowed_host_reads():
            return self._a.get()

    return numpy


def _type_text(dtype, kind, called=errors.type_text):
    """The names that the types of tensors have on the CPU, whose errors are compared."""
    return called(dtype, "cpu")


def install():
    """Make it so, for all threads of this process."""
    refusing.asks = _may_read
    type(_defaults).stack = (ag.device("strict"),)
    for name in ASKED:
        setattr(ag.Tensor, name, _reading(getattr(ag.Tensor, name)))
        if name in vars(ag):
            setattr(ag, name, _reading(getattr(ag, name)))
    ag.Tensor.numpy = _numpy(ag.Tensor.numpy)
    from_numpy = ag.from_numpy
    ag.from_numpy = lambda array: from_numpy(array).to("strict")
    errors.type_text = firing.type_text = _type_text


# ----- for pytest -----


@pytest.fixture(autouse=True)
def nothing_refused():
    """Nothing may be refused but a number of the CPU among device arrays, which the engine moves then, by a recorded op."""
    strict.refusals.clear()
    yield
    found = [text for text in strict.refusals if not text.startswith("Mixed: a NumPy array of shape () ")]
    assert not found, found


def pytest_collection_modifyitems(items):
    """Skip what makes no sense on a device."""
    for item in items:
        for name, why in LEFT_OUT.items():
            if name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=f"on a device: {why}"))
