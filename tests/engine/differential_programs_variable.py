"""What a tensor says of itself, and what may be assigned to it."""

import copy
import operator
import pickle

import numpy as np
from agdbg_tests_differential import error_of, versions
from agdbg_tests_differential_programs import family, grads, m23, plain, section, x2

add = section("variable")

MAKERS = {
    "leaf": lambda t: x2(t),
    "constant": lambda t: t.ones(2),
    "result": lambda t: x2(t) * 2,
    "view_of_leaf": lambda t: x2(t)[:1],
    "view_of_result": lambda t: (x2(t) * 2).view(2, 1),
    "detached": lambda t: (x2(t) * 2).detach(),
    "data": lambda t: x2(t).data,
    "integers": lambda t: t.arange(3),
    "multi_output": lambda t: (m23(t) * 2).unbind(0)[1],
    "written": lambda t: (x2(t) * 2).mul_(3),
    "view_of_written": lambda t: (x2(t) * 2).mul_(3)[1:],
    "no_grad_result": lambda t: t.no_grad()(lambda: x2(t) * 2)(),
    "no_grad_view": lambda t: t.no_grad()(lambda: (x2(t))[1:])(),
    "inference": lambda t: t.inference_mode()(lambda: t.ones(2) * 2)(),
    "inference_view": lambda t: t.inference_mode()(lambda: t.ones(2)[1:])(),
    "complex": lambda t: t.tensor([1 + 2j], requires_grad=True) * 1j,
    "real_part": lambda t: t.tensor([1 + 2j], requires_grad=True).real,
    "parameter": lambda t: t.nn.Parameter(t.ones(2)),
    "frozen_parameter": lambda t: t.nn.Parameter(t.ones(2), requires_grad=False),
    "from_numpy": lambda t: t.from_numpy(np.arange(3.0)),
    "bool": lambda t: x2(t) > 1,
}


def describe(make):
    def program(t):
        x = make(t)
        base = x._base
        seen = [x, base is None or tuple(base.shape), error_of(lambda: x.grad), error_of(lambda: x._version)]
        return [*seen, x.requires_grad, x.is_leaf, x._backward_hooks is None, x.is_inference()]

    return program


def change(make):
    def program(t):
        seen = []
        for act in (
            lambda x: x.requires_grad_(True),
            lambda x: x.requires_grad_(False) is x if x._base is None else None,
            lambda x: x.retain_grad(),
            lambda x: x.detach_(),
            lambda x: setattr(x, "grad", t.ones(2)),
            lambda x: None if x.is_inference() else setattr(x, "data", t.zeros(3)),
            lambda x: x.register_hook(lambda g: g) is None,
            lambda x: x.register_post_accumulate_grad_hook(lambda p: None) is None,
            lambda x: x.backward(),
            lambda x: x.numpy() is None,
        ):
            x = make(t)
            seen.append([error_of(act, x), x])
        return seen

    return program


def copied(make):
    def program(t):
        x = make(t)

        def fresh(how):
            y = how(x)
            return [y.tolist(), y.requires_grad, y.is_leaf, type(y).__name__]

        def attempt(how):
            try:
                return fresh(how)
            except Exception as error:
                return [type(error).__name__, str(error).partition("\n")[0]]

        return [attempt(copy.deepcopy), attempt(lambda y: pickle.loads(pickle.dumps(y)))]

    return program


family(add, MAKERS, "state_of", describe)
family(add, MAKERS, "changes_of", change)
family(add, {k: v for k, v in MAKERS.items() if k not in ("inference", "inference_view")}, "copies_of", copied)


@add
def grad_assignment_rules(t):
    x = x2(t)
    wrong = [t.ones(3), t.ones(2, dtype=t.float32), 1, "no", t.ones(2, dtype=t.complex128), x]
    return [[error_of(setattr, x, "grad", w) for w in wrong], x.grad]


@add
def grad_assigned_is_added_to(t):
    x, g = x2(t), t.ones(2, dtype=t.float64)
    x.grad = g
    (x * 3).sum().backward()
    return [x.grad, x.grad is g, g]


@add
def grad_is_deleted(t):
    x = x2(t)
    x.sum().backward()
    del x.grad
    return [x.grad]


@add
def non_leaf_grad_warns(t):
    y = x2(t) * 2
    seen = y.grad
    y.retain_grad()
    y.sum().backward()
    return [seen, y.grad, y.retains_grad]


@add
def only_floats_require_grad(t):
    seen = [error_of(t.tensor, [1], requires_grad=True), error_of(t.arange(3).requires_grad_)]
    return [*seen, error_of(setattr, t.ones(2) > 0, "requires_grad", True), t.tensor([1j], requires_grad=True)]


@add
def requires_grad_of_a_result_is_fixed(t):
    y = x2(t) * 2
    return [error_of(setattr, y, "requires_grad", False), error_of(y.requires_grad_, False), y.requires_grad_(True)]


@add
def volatile_warns(t):
    x = x2(t)
    return [x.volatile, error_of(setattr, x, "volatile", True)]


@add
def data_shares_memory_not_the_counter(t):
    x = x2(t)
    x.data.mul_(2)
    x.detach().mul_(2)
    return [x, versions(x, x.data, x.detach())]


@add
def data_assigned(t):
    x, y = x2(t), t.zeros(3, dtype=t.float64)
    x.data = y
    x.sum().backward()
    return [x, plain(x.grad), x.data_ptr() == y.data_ptr()]


@add
def data_of_another_dtype_after_a_gradient(t):
    x = x2(t)
    x.sum().backward()
    x.data = t.ones(2, dtype=t.float32)
    return [x, plain(x.grad), error_of((x * 2).sum().backward)]


@add
def detach_in_the_middle(t):
    x = x2(t)
    y = x * 2
    z = y * 3
    y.detach_()
    return [y, z, error_of((y * 1).sum().backward), grads(t, z, x)]


@add
def detach_of_a_view_in_place(t):
    y = x2(t) * 2
    return [error_of(y[:1].detach_), y.detach_(), error_of(y[:1].detach_)]


@add
def transposes_and_parts(t):
    m, c = m23(t), t.tensor([[1 + 2j, 3j]], requires_grad=True)
    return [
        m.T,
        m.mT,
        error_of(lambda: m.mH.sum()),
        plain([c.H, c.mH]),
        c.real,
        c.imag,
        m.real is m,
        error_of(lambda: m.imag),
    ]


@add
def a_conjugate(t):
    return t.tensor([1 + 2j], requires_grad=True).conj()


@add
def the_version_of_a_copied_gradient(t):
    x = x2(t)
    x.sum().backward()
    return versions(x.grad)


@add
def requires_grad_taken_from_a_view_of_a_leaf(t):
    x = x2(t)
    with t.no_grad():
        v = x[1:]
    return v.requires_grad_(False)


@add
def data_of_an_inference_tensor_assigned(t):
    with t.inference_mode():
        x = t.ones(2)
    x.data = t.zeros(3)
    return [x.is_inference(), error_of(lambda: x._version)]


@add
def output_numbers(t):
    a, b = m23(t).unbind(0)
    c, d = m23(t).max(1)
    return [a, b, c, d]


@add
def parameters_from_tensors(t):
    y = x2(t) * 2
    return [
        t.nn.Parameter(y),
        t.nn.Parameter(y).grad_fn,
        error_of(t.nn.Parameter, t.arange(2)),
        isinstance(y, t.nn.Parameter),
    ]


@add
def numpy_of_tensors(t):
    y = x2(t) * 2
    seen = [error_of(y.numpy), error_of(np.asarray, y), y.detach().numpy().tolist()]
    shared = np.zeros(2)
    z = t.from_numpy(shared)
    z += 1
    return [*seen, shared.tolist(), z]


@add
def a_view_is_regenerated(t):
    x = x2(t)
    y = x * 2
    v, w = y[:1], y[1:]
    first = v.grad_fn.name()
    y.mul_(3)
    w.add_(1)
    return [first, v, w, y, plain(grads(t, v + w, x))]


@add
def identity_of_saved_inputs(t):
    x = x2(t)
    y = x * x
    z = y.exp()
    return [y.grad_fn._saved_self is x, z.grad_fn._saved_result is z, z.grad_fn._saved_result]


@add
def retain_grad_everywhere(t):
    x = x2(t)
    y = x * 2
    v = y[:1]
    for _ in range(2):
        x.retain_grad(), y.retain_grad(), v.retain_grad()
    (v.sum() + y.sum()).backward()
    return [x.grad, y.grad, v.grad, x, y, v]


@add
def leaf_loses_and_regains_grad(t):
    x = x2(t)
    y = x * 3
    x.requires_grad_(False)
    z = y + x
    z.sum().backward()
    return [x.grad, x]


@add
def leaf_that_requires_grad_later(t):
    x = t.ones(2)
    y = x * 3
    x.requires_grad_()
    z = (y * x).sum()
    z.backward()
    return [x.grad, y]


@add
def truth_and_items(t):
    return [
        error_of(bool, x2(t)),
        bool(x2(t, 1.0)),
        error_of(x2(t).item),
        float(x2(t, 1.5)),
        int(x2(t, 1.5)),
        len(m23(t)),
    ]


INTEGERS = {
    "broadcast_to": [(2, 2), (-1, 2), (1, 2, 2), ((2, 2),), (0, 1)],
    "count_nonzero": [(0, 1), (1, 0), (0,), ((0, 1),), (0, 2)],
    "squeeze": [(0, 1), (0,), ((0, 1),), (0, 1, 2)],
    "squeeze_": [(0, 1), (0,), ((0, 1),), (0, 1, 2)],
    "hsplit": [(1, 2), (2,), ((1, 2),)],
    "vsplit": [(1, 2), (2,), ((1, 2),)],
    "std": [(0, 1), (0,), ((0, 1),)],
    "var": [(0, 1), (0,), ((0, 1),)],
    "flip": [(0, 1), ((0, 1),)],
    "tile": [(2, 1), ((2, 1),)],
    "sum_to_size": [(1, 2), ((1, 2),)],
    "expand_copy": [(2, 2), ((2, 2),)],
    "rot90": [(1, 0), ((2, 2),)],
}


def one_by_one(row):
    """A method given several integers one by one, where that stands for a list of them, and where it does not."""
    name, sizes = row

    def program(t):
        def called(size):
            found = getattr(t.arange(4.0).reshape(2, 2), name)(*size)
            return [x.tolist() for x in found] if isinstance(found, tuple) else found.tolist()

        return [error_or_value(lambda s=s: called(s)) for s in sizes]

    return program


def error_or_value(call):
    said = []
    error = error_of(lambda: said.append(call()))
    return said[0] if said else error


family(add, {name: (name, sizes) for name, sizes in INTEGERS.items()}, "integers_one_by_one", one_by_one)


@add
def turned_round(t):
    x = m23(t)
    y = reversed(x * 1)
    s = t.tensor(2.0)
    return [y, grads(t, y[0], x), reversed(s) is s, t.ones(2, 0).__reversed__(), x.__reversed__()]


@add
def items_and_attributes_deleted(t):
    x = t.ones(2)
    names = ["foo", "grad", "shape", "grad_fn", "requires_grad"]
    return [[error_of(operator.delitem, x, k) for k in (0, slice(1), "a")], [error_of(delattr, x, n) for n in names]]


@add
def names_of_its_attributes(t):
    x = t.ones(2)
    x.foo = 1
    found = dir(x)
    return [found == sorted(found), [n in found for n in ("foo", "volatile", "grad", "__cuda_array_interface__")]]


@add
def sizes_that_stay_are_no_write(t):
    x, v = t.ones(2), t.ones(4)[1:3]
    x.resize_(2)
    v.resize_(2)
    before = [x._version, v._version]
    x.resize_(3)
    x.resize_as_(t.ones(3))
    return [before, x._version]
