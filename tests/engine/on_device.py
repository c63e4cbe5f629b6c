"""The strict device as the place of every tensor: tests that know nothing of devices run on it when ``AGDBG_TEST_DEFAULT=strict`` is set.

Factories make tensors there, ``from_numpy`` copies to it, and what a test itself asks for is read: ``item``, ``tolist``, ``numpy``,
conversions, texts, arrays that it takes out of tensors. What the engine reads by itself, or mixes, is refused and fails the test,
also where the exception was caught. ``test_semantics_on_device.py`` says which tests run so, and why others do not.
"""

import functools
import os
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
    "ops/indexing.py _picked": "masks beside other index arrays: the size depends on values",
    "ops/indexing.py _room": "a mask as an index: the error says how much it picks",
    "ops/indexing.py _basic": "a 0-d tensor as an index",
    "ops/indexing.py _sliced": "a slice between 0-d tensors",
    "signatures/kinds.py _number": "a 0-d tensor given for a number, as a size or a fill value: read once, as in PyTorch",
    "lists_of_tensors.py _number": "tensors in a list that a tensor is made of, as in PyTorch",
    "saved/hooks.py _to_cpu": "`save_on_cpu` copies, that is what it is for",
    "ops/wide/linalg/checks.py failures": "a singular matrix is an error, as in PyTorch",
    "ops/wide/linalg/lapack.py attempted": "whether there is an inverse, a factor, a decomposition: if not it is an error, as in PyTorch",
    "ops/wide/reductions/multiples.py prod_grad": "the gradient of a product depends on how many zeros there are, as in PyTorch",
    "ops/wide/reductions/multiples.py others_of_all": "the gradient of a product depends on whether there are zeros, as in PyTorch",
    "gradcheck/places.py fetched": "matrices of derivatives are compared on the host",
    "optim/lbfgs.py run": "it goes by the loss and by products of gradients, as in PyTorch",
    "optim/adafactor.py _size": "it goes by the sizes of a parameter and of its step, as in PyTorch",
    "optim/elementwise.py at_least_zero": "a rate that is a tensor is checked when the optimizer is made, as in PyTorch",
    "optim/elementwise.py not_negative": "as above",
    "optim/vocabulary.py number": "a rate that is a tensor is a number of every step, as in PyTorch",
    "optim/vocabulary.py rate": "as above, in its own precision",
    "optim/asgd.py prepare": "numbers of a state that was loaded lie beside their parameter, as in PyTorch",
    "optim/nadam.py prepare": "numbers of a state that was loaded lie beside their parameter, as in PyTorch",
    "optim/lr_scheduler/plateau.py step": "it goes by a number that it is given, as in PyTorch",
    "nn/moves.py cpu": "a module goes to the CPU, that is what it is for",
    "nn/moves.py to": "a module goes where it is told",
    "nn/utils/clip_grad.py get_total_norm": "`error_if_nonfinite` asks, as in PyTorch",
    "nn/transformer.py _same": "whether a mask is the causal one, unless it is said, as in PyTorch",
    "nn/normalization.py _read": "`momentum=None`: the mean of all batches, by their number, as in PyTorch",
    "ops/wide/layers/embedding.py embedding_renorm_": "`max_norm`: each row that is used once, as in PyTorch",
    "nn/utils/orthogonal.py _is_orthogonal": "a weight that is assigned is asked whether it is orthogonal, as in PyTorch",
    "nn/utils/rnn.py pad_packed_sequence": "lengths are on the CPU, and put into the order there, as in PyTorch",
    "ops/wide/sorting/uniques.py unique2_raw": "the size depends on values",
    "ops/wide/sorting/uniques.py unique_dim_raw": "the size depends on values",
    "ops/wide/sorting/uniques.py unique_consecutive_raw": "the size depends on values",
    "ops/wide/sorting/histograms.py bincount": "the size depends on values",
    "ops/wide/sorting/histograms.py histc": "a range that nobody says",
    "ops/wide/sorting/histograms.py _range": "a histogram whose range nobody says",
    "ops/elementwise.py _scale": "a factor that is a tensor of no dimensions, as in PyTorch",
    "conversions.py __contains__": "it is asked whether a value is there",
    "ops/wide/losses/ctc.py _lengths": "lengths are counted on the host, as in PyTorch",
}
"""Where the engine reads from a device, by file and function: see "Reads" in docs/gpu.md."""
ASKED = (
    "item", "tolist", "__float__", "__int__", "__complex__", "__index__", "__bool__", "__contains__", "__repr__", "__str__",
    "__format__", "__reduce_ex__", "to", "cpu", "equal", "allclose", "is_nonzero",
)  # fmt: skip
"""Methods of tensors by which a person has a value."""

SHOWING = (
    "conversions.py", "printing.py", "overrides.py", "arguments.py", "subclass.py", "nn/parameter.py", "ops/names_in_errors.py",
)  # fmt: skip
"""Files whose functions a person calls to have a value; what they read is asked for where nothing else of the engine calls them."""

_SHARED = "memory that NumPy's arrays share with tensors, which no device does"
_DTYPE = "a value on a device is not read, and so must have the dtype of what it is put to, as in PyTorch"
_LENGTHS = "lengths of sequences that are made in a `with device(...)` must be on the CPU, as in PyTorch"
_NAMES = "what is told of are methods that stand for those of tensors here, for them to read"
_VALUES = "checks of values are left out on a device"
_TEXT = "the text names the device"
_CHAIN = "how a graph is built, run and freed is the same wherever its values lie, and 20,000 steps take long there"
_LAYOUT = "results of elementwise ops lie row by row on a device, whatever the order of the operands is"
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
    "kept_of_a_result_is_a_tensor[solve]": "`solve` keeps no factors of its own on a device",
    "in_single_precision_parameters_move_to_the_last_digit_like_torchs": _DIGITS,
    "large_parameters_go_as_in_pytorch": _DIGITS,
    "test_bad_input_names_the_thing": _VALUES,
    "test_autograd_events.py::test_cuts": "the line that asked is that of a test's own `item`",
    "a_stale_view_prints": _TEXT,
    "what_is_known_of_outputs": _TEXT,
    "test_variable_data.py::test_same_as_torch[parameters]": _TEXT,
    "test_variable_state.py::test_same_as_torch[kinds]": "`get_device` and `is_cpu` tell the device",
    "hooks_are_between_what_arrives_and_what_is_sent": "the test compares by NumPy's own functions what lies on the device",
    "one integer-mask": _DTYPE,
    "one_element_for_a_mask_of_another_dtype": _DTYPE,
    "other_dtypes_that_are_put": _DTYPE,
    "test_complex_views.py::test_printing": _TEXT,
    "subclasses_of_parameter": _TEXT,
    "anything_may_be_marked_as_a_parameter": _TEXT,
    "T.linalg.ldl_": "CuPy has no LDL factors",
    "test_packed_input_of_another_dtype": _LENGTHS,
    "test_packed_sequences.py::test_lists": _LENGTHS,
    "test_packed_sequences.py::test_other_dtypes": _LENGTHS,
    **dict.fromkeys(
        (
            "[t.zeros(2,3).scatter(0,t.tensor([[5]]),1.)]",
            "[t.zeros(2,3).index_select(0,t.tensor([5]))]",
            "[t.multinomial(t.tensor([-1.,1.]),1)]",
            "[t.multinomial(t.tensor([0.,0.]),1)]",
            "[t.bernoulli(t.tensor([2.]))]",
            "[F.embedding(t.tensor([5]),t.zeros(3,4))]",
            "[F.embedding(t.tensor([-1]),t.zeros(3,4))]",
            "[F.cross_entropy(t.zeros(2,3),t.tensor([0,5]))]",
            "[F.nll_loss(t.zeros(2,3),t.tensor([0,5]))]",
            "[F.binary_cross_entropy(t.tensor([2.]),t.tensor([1.]))]",
            "[F.one_hot(t.tensor([-1]))]",
            "[F.one_hot(t.tensor([5]),3)]",
            "[nn.Embedding(3,4)(t.tensor([3]))]",
            "[t.tensor([1,2])//0]",
            "[t.tensor([1,2])%0]",
            "[t.take(t.zeros(2),t.tensor([5]))]",
            "[t.index_add(t.zeros(2),0,t.tensor([5]),t.zeros(1))]",
        ),
        _VALUES,
    ),
    "a_parameter_of_a_subclass_is_of_it": _TEXT,
    "a_parameter_of_a_class_with_its_own_detach": _TEXT,
    "a_parameter_of_integers_of_a_subclass": _TEXT,
    "printed_by_the_name_of_the_class": _TEXT,
    "asked_in_long": _NAMES,
    "asked_in_nonzero": _NAMES,
    "given_to_methods_of_comparing": _NAMES,
    "given_to_methods_of_shapes": _NAMES,
    "test_function_memory.py::test_long_chain": _CHAIN,
    "complex_numbers_lie_as_their_parts_do": _LAYOUT,
    "resized_in_its_memory": _LAYOUT,
    "strided_results_saved": _LAYOUT,
    "layouts_of_results": _LAYOUT,
}
"""Tests that make no sense there, by a part of their names, and why."""

if os.environ.get("AGDBG_TEST_DEVICE"):
    LEFT_OUT["cuda"] = "what is said where there is no GPU"


def _may_read(frame):
    """Whether the code of ``frame`` is a test's, or the engine's on behalf of one of the :data:`READS`."""
    file = frame.f_code.co_filename
    if not file.startswith(ENGINE):
        return True
    asked = True
    while file.startswith(ENGINE) or file == __file__:
        within = file.removeprefix(ENGINE)
        asked = asked and (within in SHOWING or file == __file__)
        if f"{within} {frame.f_code.co_name}" in READS:
            return True
        frame = frame.f_back
        file = frame.f_code.co_filename
    return asked


MAKERS = (
    "creation.py", "factories.py", "random.py", "ranges.py", "asarray.py", "device.py", "default_device.py", "pinned_memory.py", "signatures/",
    "ops/wide/shapes/factories.py", "ops/wide/shapes/triangles.py", "ops/wide/signal/windows.py", "ops/wide/signal/functions.py",
    "ops/wide/sampling/drawn.py",
)  # fmt: skip
"""Files of what makes tensors where nobody says where: on behalf of whoever calls it."""


def _stack(self):
    """The default device: the strict one, but none for an op that makes a tensor in between: that is to say where."""
    given = getattr(self, "_given", (ag.device("strict"),))
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(ENGINE):
        within = frame.f_code.co_filename.removeprefix(ENGINE)
        if not within.startswith(MAKERS):
            return given[1:] if within.startswith("ops/") else given
        frame = frame.f_back
    return given


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
    type(_defaults).stack = property(_stack, lambda self, stack: setattr(self, "_given", stack))
    ag.Tensor.numpy = _numpy(ag.Tensor.numpy)
    for name in ASKED:
        setattr(ag.Tensor, name, _reading(getattr(ag.Tensor, name)))
    # After the methods: to look for a name may import modules with classes of tensors, which take those over.
    for name in ASKED:
        if hasattr(ag, name):
            setattr(ag, name, _reading(getattr(ag, name)))
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
