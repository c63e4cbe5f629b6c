"""`autograd.graph`: nodes, the running node, version counts from outside, the multithreading flag; as in PyTorch."""

import threading

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

import agdbg_engine as ag
from agdbg_engine.validate import InputMetadata, output_metadata

pytest.importorskip("torch")
programs = Programs()


def running(t):
    return t._C._current_autograd_node() if hasattr(t, "_C") else ag.autograd.graph._current_autograd_node()


def multithreading(t):
    from agdbg_engine.grad_mode import is_multithreading_enabled

    return t._C._is_multithreading_enabled() if hasattr(t, "_C") else is_multithreading_enabled()


@programs
def every_grad_fn_is_a_node(t):
    x = leaf(t, 1.0, 2.0)
    nodes = [(x * 2).grad_fn, (x * 2).sum().grad_fn.next_functions[0][0], (x * 2).grad_fn.next_functions[0][0]]
    return [isinstance(n, t.autograd.graph.Node) for n in [*nodes, None, x]]


@programs
def the_node_that_runs(t):
    x, log = leaf(t, 1.0, 2.0), []

    def note(*_):
        log.append(running(t))

    y = x * 2
    y.register_hook(note)
    y.grad_fn.register_prehook(note)
    y.grad_fn.register_hook(note)
    x.register_hook(note)
    y.exp().sum().backward()
    return [log, running(t)]


@programs
def the_node_that_unpacks(t):
    x, log = leaf(t, 1.0, 2.0), []

    def unpack(saved):
        log.append(running(t))
        return saved

    with t.autograd.graph.saved_tensors_hooks(lambda saved: saved, unpack):
        y = x.exp().sin()
    y.register_hook(lambda g: None)
    y.sum().backward()
    return [log, running(t)]


@programs
def the_node_that_runs_after_a_nested_pass(t):
    x, log = leaf(t, 1.0), []

    def nested(g):
        other = leaf(t, 2.0)
        with t.enable_grad():
            z = other.exp()
        z.register_hook(lambda g: log.append(running(t)))
        z.backward()
        log.append(running(t))

    y = x.sin()
    y.register_hook(nested)
    y.backward()
    return log


@programs
def no_node_runs_after_an_error(t):
    y = leaf(t, 1.0) * 2
    y.register_hook(lambda g: 1 // 0)
    return [error_of(y.backward), running(t), t.is_grad_enabled()]


@programs
def versions_are_counted_from_outside(t):
    x, y = t.ones(2), t.ones(3)
    t.autograd.graph.increment_version(x)
    seen = [x._version, y._version]
    t.autograd.graph.increment_version([x, y])
    t.autograd.graph.increment_version(iter([y]))
    return [seen, x._version, y._version]


@programs
def a_counted_write_is_noticed(t):
    x = leaf(t, 1.0, 2.0)
    y = x.exp()
    t.autograd.graph.increment_version(y)
    return error_of(y.sum().backward)


@programs
def what_has_no_version(t):
    return [error_of(t.autograd.graph.increment_version, 3), error_of(t.autograd.graph.increment_version, [3])]


@programs
def multithreading_is_a_flag_of_the_thread(t):
    seen = [multithreading(t)]
    with t.autograd.set_multithreading_enabled(False):
        seen.append(multithreading(t))
        x = leaf(t, 2.0)
        (x * x).backward()
    seen += [multithreading(t), x.grad]
    t.autograd.set_multithreading_enabled(False)
    seen.append(multithreading(t))
    thread = threading.Thread(target=lambda: seen.append(multithreading(t)))
    thread.start()
    thread.join()
    t.autograd.set_multithreading_enabled(True)
    return seen


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_what_is_known_of_outputs():
    x = ag.ones(2, 3, requires_grad=True)
    whole = InputMetadata((2, 3), ag.float32, ag.device("cpu"))
    y = x * 2
    assert output_metadata(y.exp().grad_fn) == (whole,)
    assert output_metadata(y.grad_fn.next_functions[0][0]) == (whole,)
    assert y.grad_fn._input_metadata == (None,)
    assert len(output_metadata(x.unbind(0)[0].grad_fn)) == 2


def test_an_edge_remembers_what_its_tensor_was_like():
    x = ag.ones(2, 3, requires_grad=True)
    assert ag.autograd.graph.get_gradient_edge(x * 2).metadata.shape == (2, 3)
