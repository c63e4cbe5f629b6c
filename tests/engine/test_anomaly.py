"""Anomaly mode: PyTorch's errors and warnings, and the forward trace inside of the exception."""

import re

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, same

import agdbg_engine as ag
from agdbg_engine import events
from agdbg_engine.anomaly import Trace
from agdbg_engine.errors import details_of

pytest.importorskip("torch")
programs = Programs()
pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled", "ignore:Error detected in")


@pytest.fixture(autouse=True)
def _mode_is_put_back():
    yield
    assert not ag.is_anomaly_enabled()
    assert not events.special & events.ANOMALY


def anomaly(t, **options):
    return t.autograd.detect_anomaly(**options)


def root_of_zero(t):
    """The gradient of the square root at 0 is infinite, times 0 it is NaN."""
    return (leaf(t, 0.0, 0.0).sqrt() * 0).sum()


def state(t):
    return [t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()]


# ----- switching -----


@programs
def contexts_put_the_mode_back(t):
    seen = [state(t)]
    with anomaly(t):
        seen.append(state(t))
        with t.autograd.set_detect_anomaly(True, check_nan=False):
            seen.append(state(t))
            with t.autograd.set_detect_anomaly(False):
                seen.append(state(t))
        seen.append(state(t))
    seen.append(state(t))
    t.autograd.set_detect_anomaly(True, False)
    seen.append(state(t))
    t.autograd.set_detect_anomaly(False)
    return [*seen, state(t)]


@programs
def the_mode_is_put_back_after_an_error(t):
    with anomaly(t):
        loss = root_of_zero(t)
    seen = []
    try:
        with anomaly(t):
            loss.backward()
    except RuntimeError:
        seen = state(t)
    return seen


@programs
def a_context_warns_when_it_is_made(t):
    with logged_warnings() as said:
        anomaly(t)
        t.autograd.set_detect_anomaly(False)
    return said


# ----- NaN -----


@programs
def nan_is_an_error(t):
    with anomaly(t), logged_warnings() as said:
        error = error_of(root_of_zero(t).backward)
    return [error, said]


@programs
def nan_is_none_unless_asked_for(t):
    with anomaly(t, check_nan=False):
        root_of_zero(t).backward()
    root_of_zero(t).backward()
    return "nothing"


@programs
def nan_of_a_graph_made_before(t):
    loss = root_of_zero(t)
    with anomaly(t), logged_warnings() as said:
        error = error_of(loss.backward)
    return [error, [re.sub(" .Triggered.*", "", s) for s in said]]


@programs
def nan_that_comes_in_is_blamed_on_the_first_node(t):
    x = leaf(t, 1.0, 2.0)
    with anomaly(t):
        return error_of((x * 2).backward, t.tensor([float("nan"), 1.0], dtype=t.float64))


@programs
def nan_of_hooks(t):
    x = leaf(t, 1.0, 2.0)
    with anomaly(t):
        y = x * 2
        y.register_hook(lambda g: g * float("nan"))
        z = x * 3
        z.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g * float("nan") for g in gi))
        w = leaf(t, 1.0)
        w.register_hook(lambda g: g * float("nan"))
        (w * 1).backward()
        return [error_of(y.sum().backward), error_of(z.sum().backward), w.grad]


@programs
def nan_under_create_graph(t):
    x = leaf(t, 0.0)
    with anomaly(t):
        y = x.sqrt() * 0
        return error_of(t.autograd.grad, y, x, create_graph=True)


@programs
def nan_that_nobody_asked_for(t):
    x, y = leaf(t, 1.0), leaf(t, float("inf"))
    zero = t.zeros(1, dtype=t.float64)
    with anomaly(t):
        z = x * y
        return [t.autograd.grad(z, y, zero, retain_graph=True), error_of(t.autograd.grad, z, x, zero)]


@programs
def the_number_of_the_output(t):
    x, y = leaf(t, 1.0), leaf(t, float("inf"))
    with anomaly(t):
        z = x * y
        return error_of(z.backward, t.zeros(1, dtype=t.float64))


@programs
def nan_of_hand_written_nodes(t):
    x = leaf(t, 1.0, 2.0)
    nan = t.tensor([float("nan"), 1.0, 1.0, 1.0], dtype=t.float64)
    with anomaly(t):
        joined, base = t.cat([x, x]), x * 1
        base[:1].mul_(2)
        pieces = x.unbind(0)
        return [error_of(joined.backward, nan), error_of(base.backward, nan[:2]), error_of(pieces[0].backward, nan[0])]


# ----- other errors -----


@programs
def errors_of_saved_tensors(t):
    x = leaf(t, 1.0, 2.0)
    with anomaly(t):
        y = x.exp()
        z = y * y
        y.add_(1)
        twice = (x * x).sum()
        twice.backward()
        with logged_warnings() as said:
            return [error_of(z.sum().backward), error_of(twice.backward), said]


@programs
def errors_of_hooks(t):
    x = leaf(t, 1.0, 2.0)

    def fail(*_):
        raise KeyError("mine")

    with anomaly(t), logged_warnings() as said:
        y = x * 2
        y.register_hook(fail)
        z = x.exp()
        z.grad_fn.register_hook(fail)
        found = [error_of(y.sum().backward), error_of(z.sum().backward)]
    return [found, said]


# ----- metadata -----


@programs
def metadata_is_a_dict_of_the_node(t):
    node = (leaf(t, 1.0) * 2).grad_fn
    before = dict(node.metadata)
    node.metadata["mine"] = 3
    return [before, node.metadata["mine"], sorted(node.metadata), node.metadata is node.metadata]


@programs
def parents_of_the_nodes_of_a_double_backward(t):
    x = leaf(t, 2.0)
    with anomaly(t):
        y = x**3
        (g,) = t.autograd.grad(y, x, create_graph=True)
    return [sorted(g.grad_fn.metadata), g.grad_fn.metadata["parent_"] is y.grad_fn, sorted(y.grad_fn.metadata)]


@programs
def the_trace_is_a_sequence_of_lines(t):
    with anomaly(t):
        node = (leaf(t, 1.0) * 2).grad_fn
    lines = node.metadata["traceback_"]
    return [lines[-1].splitlines()[-1].strip(), lines[-1].startswith('  File "'), len(lines) > 1]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_the_first_lines_of_the_warnings_are_those_of_torch():
    def said(t):
        x = leaf(t, 0.0)
        with anomaly(t):
            (g,) = t.autograd.grad(x**1.5, x, create_graph=True)
            with logged_warnings() as log:
                error = error_of(t.autograd.grad, g * 0, x)
        return [error, log]

    import torch

    theirs, ours = said(torch), said(ag)
    assert theirs == ours
    assert len(ours[1]) == 2  # the node, and the one whose gradient it is


def built_here(x):
    return x.sqrt() * 0


def test_the_trace_is_in_the_exception():
    with anomaly(ag):
        x = leaf(ag, 0.0, 0.0)
        y = built_here(x).sum()
        with pytest.raises(RuntimeError) as caught:
            y.backward()
    first, *more = str(caught.value).splitlines()
    assert first == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert more[0] == "Error detected in SqrtBackward0. Traceback of forward call that caused the error:"
    assert more[-1].strip() == "return x.sqrt() * 0"
    assert more[-3].strip() == "y = built_here(x).sum()"
    assert not any("agdbg_engine" in line for line in more)
    assert details_of(caught.value).kind == "nan"


def test_the_trace_is_a_note_on_an_error_of_the_user():
    def fail(g):
        raise KeyError("mine")

    with anomaly(ag):
        y = built_here(leaf(ag, 1.0))
        y.register_hook(fail)
        with pytest.raises(KeyError) as caught:
            y.backward()
    assert caught.value.args == ("mine",)
    assert "return x.sqrt() * 0" in caught.value.__notes__[0]


def test_the_trace_of_every_parent_is_in_the_exception():
    x = leaf(ag, 0.0)
    with anomaly(ag):
        y = x**1.5
        (g,) = ag.autograd.grad(y, x, create_graph=True)
        with pytest.raises(RuntimeError, match="nan") as caught:
            ag.autograd.grad(g * 0, x)
    text = str(caught.value)
    assert "Previous calculation was induced by PowBackward0." in text
    assert text.index("(g,) = ag.autograd.grad") < text.index("Previous calculation") < text.index("y = x**1.5")


def test_the_warning_points_at_the_call_and_an_error_filter_hides_nothing(recwarn):
    import warnings

    with anomaly(ag):
        y = built_here(leaf(ag, 0.0))
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError, match="nan"):
                y.backward(retain_graph=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeError, match="nan"):
                y.backward()
    assert log[0].filename == __file__


def test_an_interrupt_is_left_alone():
    def stop(g):
        raise KeyboardInterrupt

    with anomaly(ag), logged_warnings() as said:
        y = built_here(leaf(ag, 1.0))
        y.register_hook(stop)
        with pytest.raises(KeyboardInterrupt) as caught:
            y.backward()
    assert not hasattr(caught.value, "__notes__")
    assert [s for s in said if "Error detected" in s] == []


def test_every_node_has_its_trace_also_those_written_by_hand():
    with anomaly(ag):
        x = leaf(ag, 1.0, 2.0)
        base = x * 1
        view = base[:1]
        view.mul_(2)
        rows = ag.stack(ag.cat([base, x]).split(2)).unbind(0)
        nodes, stack = {}, [rows[0].grad_fn, view.grad_fn]
        while stack:
            node = stack.pop()
            if node is not None:
                nodes[node] = node.metadata.get("traceback_")
                stack += [n for n, _ in node.next_functions]
    names = {n.name() for n in nodes}
    assert {"CatBackward0", "SplitBackward0", "UnbindBackward0", "torch::autograd::CopySlices"} <= names
    assert {"AsStridedBackward0", "torch::autograd::AccumulateGrad"} <= names
    assert all(isinstance(trace, Trace) for trace in nodes.values())


def test_outside_of_the_mode_nodes_have_no_trace():
    node = (leaf(ag, 1.0) * 2).grad_fn
    assert node.hooks is None
    assert node.metadata == {}
