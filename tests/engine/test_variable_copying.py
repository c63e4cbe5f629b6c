"""Copies by ``copy`` and ``pickle``: data, requires_grad and attributes; no history, no hooks."""

import copy
import io
import pickle
import pickletools

import numpy as np
import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, same

import agdbg_engine as ag

torch = pytest.importorskip("torch")
programs = Programs()


def pickled(x):
    return pickle.loads(pickle.dumps(x))


@programs
def deepcopy(t):
    x = leaf(t, 1.0, 2.0)
    x.sum().backward()
    z = copy.deepcopy(x)
    z.grad.add_(1)
    z.data.add_(5)
    return [z, z.grad, x, x.grad, z.is_leaf]


@programs
def versions_of_copies(t):
    def loaded(y):
        file = io.BytesIO()
        t.save(y, file)
        file.seek(0)
        return t.load(file)

    given = []
    for how in (copy.copy, copy.deepcopy, pickled, loaded):
        x, written = leaf(t, 1.0), t.ones(2, 2).t()
        x.grad = t.ones_like(x)
        written.add_(1)
        written.add_(1)
        y = how(written)
        given += [z._version for z in (how(x), how(t.nn.Parameter(t.ones(2))), y)]
        y.add_(1)
        given += [y._version, written._version]
    return [*given, copy.deepcopy(x).grad._version]


@programs
def deepcopy_of_non_leaves(t):
    y = leaf(t, 1.0, 2.0) * 2
    return [
        error_of(copy.deepcopy, y),
        error_of(copy.deepcopy, y[:1]),
        error_of(copy.deepcopy, {"a": [y]}),
        copy.deepcopy(y.detach()),
    ]


@programs
def deepcopy_keeps_what_is_shared(t):
    x = t.arange(6.0).reshape(2, 3)
    a, b, c, again = copy.deepcopy([x, x[:, 1], x.T, x])
    a[0, 1] = 9.0
    return [a, b, c, a is again, b._is_view(), c.stride(), x]


@programs
def deepcopy_of_odd_layouts(t):
    x = t.arange(6.0).reshape(2, 3)
    return [copy.deepcopy(v).stride() for v in (x.T, x[:, ::2], t.ones(1).expand(3), t.tensor(1.0))]


@programs
def deepcopy_of_parameters(t):
    p = t.nn.Parameter(t.ones(2))
    p.note = [1]
    p.sum().backward()
    z, again = copy.deepcopy([p, p])
    return [z, z is again, z.grad, hasattr(z, "note"), type(z) is t.nn.Parameter]


@programs
def deepcopy_of_modules(t):
    m = t.nn.Linear(2, 1)
    z = copy.deepcopy(m)
    z(t.ones(1, 2)).sum().backward()
    return [m.weight.grad, z.weight.grad, len(list(z.parameters())), z.weight is m.weight]


@programs
def shallow_copy(t):
    x = leaf(t, 1.0, 2.0)
    x.sum().backward()
    z, y = copy.copy(x), copy.copy(x * 2)
    z.data.add_(1)
    return [z, z.grad, x, y, y.is_leaf, z.data_ptr() == x.data_ptr(), z._is_view(), copy.copy(x.detach())]


@programs
def shallow_copy_of_parameters(t):
    p = t.nn.Parameter(t.ones(2))
    p.note = [1]
    z = copy.copy(p)
    return [z, z.note is p.note, type(z) is t.nn.Parameter]


@programs
def pickling(t):
    x = leaf(t, 1.0, 2.0)
    x.sum().backward()
    return [pickled(v) for v in (x, x * 2, x.detach(), t.arange(6).reshape(2, 3).T, t.tensor([1j]), t.tensor(True))] + [
        pickled(x).grad
    ]


@programs
def pickling_parameters(t):
    p = t.nn.Parameter(t.ones(2))
    p.note = "hello"
    z = pickled(p)
    return [z, z.note, type(z) is t.nn.Parameter, pickled(t.nn.Parameter(t.ones(1), requires_grad=False))]


@programs
def hooks_are_left_behind(t):
    x, p = leaf(t, 1.0), t.nn.Parameter(t.ones(1))
    x.register_hook(print)
    p.register_hook(print)
    with logged_warnings() as said:
        copies = [pickled(x), copy.copy(x), copy.deepcopy(x), pickled(p)]
    return [said, [len(c._backward_hooks or {}) for c in copies]]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_a_pickle_holds_data_only():
    text = pickle.dumps(ag.nn.Parameter(ag.ones(2)))
    strings = [arg for _, arg, _ in pickletools.genops(text) if isinstance(arg, str)]
    modules = {s.split(".")[0] for s in strings if s.split(".")[0] in ("numpy", "agdbg_engine", "builtins", "os")}
    assert modules == {"numpy", "agdbg_engine"}


@pytest.mark.parametrize(
    "array", [np.ones((2, 3))[:, 1:], np.asfortranarray(np.ones((2, 3))), np.frombuffer(bytearray(b"abcdefgh"), "u1")]
)
def test_memory_from_elsewhere_is_copied(array):
    x = ag.from_numpy(array)
    y = copy.deepcopy(x)
    y.add_(1)
    assert (x._a == array).all() and (y._a == array + 1).all()


@pytest.mark.parametrize("dtype", ["float64", None])
def test_a_gradient_that_only_the_original_may_have_is_refused(dtype):
    def program(t):
        x = leaf(t, 1.0, dtype=t.float32)
        x.grad_dtype = dtype and getattr(t, dtype)
        x.grad = t.ones(1, dtype=t.float64)
        return copy.deepcopy(x)

    same(program)
