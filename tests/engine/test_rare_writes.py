"""Transforms in inference mode, writes into integers, keys that are lists, freed indices and the like: as PyTorch."""

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from agdbg_tests_differential import Programs, error_of, facts, leaf, logged_warnings, same

import agdbg_engine as ag
from agdbg_engine.saved import first_refusal

pytest.importorskip("torch")
programs = Programs()


# ----- transforms and inference mode -----


def square_sum(x):
    return (x * x * x).sum()


def inference_of(*tensors):
    """What is seen of tensors that may be inference tensors."""
    return [[x.tolist(), x.is_inference(), x.requires_grad] for x in tensors]


@programs
def transforms_in_inference_mode(t):
    f, out = t.func, []
    with t.inference_mode():
        x = t.tensor([1.0, 2.0])
        out += inference_of(f.grad(square_sum)(x), f.grad(lambda q: f.grad(square_sum)(q).sum())(x))
        out += inference_of(*f.grad_and_value(square_sum)(x), *f.jvp(square_sum, (x,), (t.ones(2),)))
        value, pull = f.vjp(lambda q: q * q, x)
        out += inference_of(value, *pull(t.ones(2)))
        out += inference_of(*(g(lambda q: q * q)(x) for g in (f.jacrev, f.jacfwd, f.hessian)))
    return [*out, *inference_of(*pull(t.ones(2)))]


@programs
def what_a_transformed_function_sees_in_inference_mode(t):
    seen = []

    def look(q):
        seen.append([t.is_grad_enabled(), t.is_inference_mode_enabled(), t.ones(1).is_inference(), q.is_inference()])
        return (q * q).sum()

    with t.inference_mode():
        t.func.grad(look)(t.ones(2))
        t.func.jvp(look, (t.ones(2),), (t.ones(2),))
        t.func.vjp(look, t.ones(2))
        seen.append([t.is_grad_enabled(), t.is_inference_mode_enabled(), t.ones(1).is_inference()])
    return seen


@programs
def nothing_is_recorded_for_a_caller_in_inference_mode(t):
    a = leaf(t, 1.0, 2.0)
    with t.inference_mode():
        g = t.func.grad(lambda q: (q * a).sum())(t.ones(2, dtype=t.float64))
        h = t.func.jacrev(lambda q: q * a)(t.ones(2, dtype=t.float64))
    return inference_of(g, h)


@programs
def modes_inside_a_transformed_function(t):
    def f(q):
        with t.inference_mode():
            cut = q * q
        with t.inference_mode(False):
            kept = q * 3
        return (cut * 1.0 + kept).sum() if not cut.requires_grad else cut.sum()

    with t.inference_mode():
        return inference_of(t.func.grad(f)(t.ones(2)))


@programs
def transforms_of_inference_tensors(t):
    f = t.func
    with t.inference_mode():
        a = t.tensor([1.0, 2.0])
    value, pull = f.vjp(lambda q: q * a, t.ones(2))
    results = inference_of(f.grad(square_sum)(a), f.grad(lambda q: (q * a).sum())(t.ones(2)), value, *pull(t.ones(2)))
    results += inference_of(*(g(lambda q: q * q)(a) for g in (f.jacrev, f.jacfwd, f.hessian)))
    return [*results, *inference_of(*f.jvp(lambda q: q * a, (a,), (a,)))]


@programs
def an_inference_tensor_is_still_not_saved_elsewhere(t):
    with t.inference_mode():
        a = t.ones(2)
    t.func.grad(lambda q: (q * a).sum())(t.ones(2))
    return [error_of(lambda: t.ones(2, requires_grad=True) * a), error_of(lambda: a.requires_grad_())]


@programs
def randomness_of_jacfwd(t):
    x = t.ones(3)
    noisy = lambda q: q * t.rand(3)
    texts = [error_of(t.func.jacfwd(noisy), x), error_of(t.func.jacfwd(noisy, randomness="sometimes"), x)]
    texts += [error_of(t.func.hessian(lambda q: (q * q * t.randn(3)).sum()), x)]
    again = t.rand(1).shape  # they are allowed again
    same_rows = t.func.jacfwd(lambda q: q.sum() * t.rand(1), randomness="same")(x)
    other_rows = t.func.jacfwd(lambda q: q.sum() * t.rand(1), randomness="different")(x)
    spread = [len(set(m.reshape(-1).tolist())) for m in (same_rows, other_rows)]
    return [*texts, list(again), spread, list(t.func.jacrev(noisy)(x).shape)]


# ----- writes -----


@programs
def copies_into_what_takes_no_gradient(t):
    a, out = leaf(t, 1.5, 2.5), []
    for dtype in (t.int64, t.bool, t.uint8):
        x = t.zeros(2, dtype=dtype)
        out.append(x.copy_(a))
        x[:] = a
        x[0] = a[1]
        y = t.zeros(2, 2, dtype=dtype)
        y[0].copy_(a)
        out += [x, y, y[0], x._version]
    return out


@programs
def a_copy_into_integers_cuts_the_gradient_of_a_transform(t):
    x = t.zeros(2, dtype=t.int64)
    return t.func.grad(lambda q: (x.clone().copy_(q) * q).sum())(t.tensor([1.5, 2.5]))


@programs
def one_element_for_a_mask_of_another_dtype(t):
    mask, out = t.tensor([True, False]), []
    for value in (lambda a: a[0], lambda a: a[:1], lambda a: a[:1].reshape(1, 1)):
        a = leaf(t, 1.5, 2.5, dtype=t.float32)
        x = t.zeros(2, 2, dtype=t.float64)
        x[mask] = value(a)
        x[:, 1].index_put_((mask,), a[:1])
        (x * 3).sum().backward()
        out += [x.detach(), a.grad]
    return out


@programs
def other_dtypes_that_are_put(t):
    mask, at = t.tensor([True, True]), t.tensor([0])
    x, whole, a = t.zeros(2, dtype=t.float64), t.zeros(2, dtype=t.int64), t.tensor([1.5, 2.5])
    whole[mask] = a[0]
    refused = [
        lambda: x.index_put_((at,), a[0]),
        lambda: x.index_put_((mask,), a),
        lambda: x.index_put_((mask,), a[0], accumulate=True),
        lambda: t.zeros(2).index_put_((mask,), t.tensor(1j)),
        lambda: whole.index_put_((mask,), t.tensor(float("inf"))),
    ]
    return [whole, *map(error_of, refused), x]


@programs
def complex_numbers_that_are_written(t):
    out = []
    for dtype in (t.complex64, t.complex128, t.float32, t.float64, t.int64, t.bool):
        for key in (0, slice(None), t.tensor([0]), t.tensor([True, False])):
            for number in (1j, 2 + 0j):
                x = t.zeros(2, dtype=dtype)
                out += [error_of(x.__setitem__, key, number), error_of(x.fill_, number), x]
    return out


@programs
def a_complex_tensor_written_into_a_real_one(t):
    x, c = t.zeros(2), t.tensor([1 + 2j, 3j]).requires_grad_()
    y = x * 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # once in a process in PyTorch, every time here
        y.copy_(c)
        y[0] = c[1]
        (y * t.tensor([1.0, 2.0])).sum().backward()
        return [y, c.grad, x.to(t.int64).copy_(c.detach())]


# ----- keys -----


KEYS = {
    "two lists": [[0, 1], [1, 0]],
    "columns": [[0], [1]],
    "tuples": [(0, 1), (1, 0)],
    "slice": [slice(None), 0],
    "none": [None, 0],
    "ellipsis": [..., 0],
    "mixed": [[0, 1], 0],
    "masks": [[True, False], [False, True]],
    "numbers": [0, 1],
    "bools": [True, False],
    "floats": [0.0, 1.5],
    "empty": [],
    "empty list": [[]],
    "in a tuple": ([[0, 1], [1, 0]],),
    "range": range(2),
    "ranges": (range(2), range(1, -1, -1)),
    "string": "ab",
    "list of strings": ["a"],
    "bytes": (b"a",),
    "ragged": ([0, [1]],),
    "ragged too": ([[0], [1, 1]],),
    "complex": ([1j],),
    "nothing to index with": ([None],),
    "float": 1.5,
    "dict": {0: 1},
    "numpy bool": np.True_,
    "arrays": [np.array([0, 1]), np.array([1, 0])],
    "array": np.array([[0, 1], [1, 0]]),
    "many": [[0]] * 33,
    "not so many": [[0]] * 31,
}


@programs
def keys_that_are_no_tuples(t):
    out = {}
    for name, key in KEYS.items():
        y = leaf(t, *range(8)).reshape(2, 2, 2) * 1
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", UserWarning)
            try:
                got = y[key]
                (got * 2).sum().backward()
                y.detach()[key] = 9.0
            except Exception as error:
                got = error_of(lambda error=error: (_ for _ in ()).throw(error))
        out[name] = [got, y.detach(), sorted({str(w.message).partition(" (Triggered")[0] for w in said})]
    return out


@programs
def keys_with_tensors_in_lists(t):
    y, one = t.arange(4.0).reshape(2, 2), t.tensor(1)
    return [
        y[[t.tensor(0), 1]],
        y[[one, one]],
        y[[t.tensor([0, 1])]],
        y[[one, 0], 0],
        y[[t.tensor([0]), t.tensor([1])], 0],
    ]


class Index:
    """An integer of somebody's own."""

    def __index__(self):
        return 1


class Pair:
    """A sequence of somebody's own."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


@programs
def keys_of_ones_own(t):
    y = t.arange(4.0).reshape(2, 2)
    return [y[Index()], y[0, Index()], y[Pair(0, 1)], y[Pair([0, 1], [1, 0])], y[Pair(1, 0), Pair(0, 0)]]


# ----- comparisons with complex numbers -----


@programs
def comparisons_with_complex_numbers(t):
    out = []
    for x in (t.tensor([1, 1j]), t.tensor([1.0, 2.0]), t.tensor([1, 2]), t.tensor([True]), t.tensor(2.0)):
        for number in (1j, 1 + 0j, np.complex128(2)):
            out += [x == number, x != number, number == x, x.eq(number), t.ne(x, number)]
            out += [error_of(lambda x=x, number=number: x < number), error_of(x.ge, number)]
    return [*out, error_of(t.eq, 1j, t.tensor(1))]


# ----- freed nodes -----


READERS = {
    "index": lambda t, b: b[t.tensor([0])],
    "mask": lambda t, b: b[b.detach() > 0],
    "columns": lambda t, b: b.reshape(1, 2)[:, [1]],
    "put a number": lambda t, b: b.clone().index_put_((t.tensor([0]),), t.tensor(2.0)),
    "added": lambda t, b: b.clone().index_put_((t.tensor([0]),), t.tensor(2.0), accumulate=True),
    "put there": lambda t, b: t.zeros(2).index_put((t.tensor([0]),), b[:1]),
    "assigned": lambda t, b: assigned(t, b),
    "mul": lambda t, b: b * b,
    "number": lambda t, b: b * 3,
    "quotient": lambda t, b: b / 2,
    "exp": lambda t, b: b.exp(),
    "power": lambda t, b: b**2,
    "matmul": lambda t, b: b.reshape(1, 2) @ b.reshape(2, 1),
    "in place": lambda t, b: (b * 1).exp_(),
    "view written": lambda t, b: view_written(b),
    "max": lambda t, b: b.max(0)[0],
    "add": lambda t, b: b + b,
    "neg": lambda t, b: -b,
    "sum": lambda t, b: b.sum(0),
    "clone": lambda t, b: b.clone(),
    "cat": lambda t, b: t.cat([b, b]),
    "select": lambda t, b: b[0],
}


def assigned(t, b):
    x = b.clone()
    x[t.tensor([0])] = 1.0
    return x


def view_written(b):
    x = b.clone()
    x[0].mul_(3)
    return x


def no_gradient(t):
    class Nothing(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return None

    return Nothing.apply


def twice(run):
    """What running the graph again after it was freed says."""
    run()
    return error_of(run)


@programs
def the_graph_run_twice(t):
    out = {}
    for name, read in READERS.items():
        b = t.ones(2, requires_grad=True) + 1
        loss = read(t, b).sum()
        out[name] = [twice(loss.backward), twice(lambda b=b, read=read: t.autograd.grad(read(t, b).sum(), b))]
    return out


@programs
def the_graph_run_twice_where_no_gradient_comes(t):
    out, nothing = {}, no_gradient(t)
    for name, read in READERS.items():
        b = t.ones(2, requires_grad=True) + 1
        out[name] = twice(nothing(read(t, b)).sum().backward)
    for create_graph in (False, True):
        b = t.ones(2, requires_grad=True) + 1
        y = nothing(b * b).sum()
        run = lambda y=y, b=b, c=create_graph: t.autograd.grad(
            y, b, retain_graph=False, create_graph=c, allow_unused=True
        )
        out[create_graph] = twice(run)
    return out


@programs
def what_was_saved_is_looked_at_though_no_gradient_comes(t):
    b, calls = t.ones(2, requires_grad=True) + 1, []
    with t.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: calls.append("unpacked") or x):
        hooked = no_gradient(t)(b * b).sum()
    hooked.backward()
    loss = no_gradient(t)(b * b).sum()
    b.add_(1)
    return [calls, error_of(loss.backward)]


@programs
def attributes_of_a_freed_index(t):
    y = t.ones(3, requires_grad=True)[t.tensor([0])]
    node = y.grad_fn
    before = [node._saved_indices[0], node._saved_self_sym_sizes]
    y.sum().backward()
    return [before, error_of(lambda: node._saved_indices), node._saved_self_sym_sizes]


@programs
def an_index_is_kept_as_long_as_it_is_needed(t):
    b = t.ones(3, requires_grad=True)
    y = (b[t.tensor([0, 0])] ** 2).sum()
    (g,) = t.autograd.grad(y, b, create_graph=True)
    g.sum().backward()
    return [g.detach(), b.grad]


def test_a_freed_index_is_foretold():
    b = ag.ones(3, requires_grad=True)
    y = b[ag.tensor([0])].sum()
    order = [y.grad_fn, y.grad_fn.next_functions[0][0]]
    assert first_refusal(order) is None
    y.backward()
    refusal = first_refusal(order)
    assert refusal is not None and refusal.node is order[1]
    with pytest.raises(RuntimeError) as raised:
        y.backward()
    assert str(raised.value) == str(refusal.error())


def test_the_indices_shown_are_not_those_that_are_used():
    b = ag.ones(3, requires_grad=True)
    y = b[ag.tensor([0])].sum()
    y.grad_fn.next_functions[0][0]._saved_indices[0].add_(1)
    y.backward()
    assert b.grad.tolist() == [1.0, 0.0, 0.0]


def test_saved_tensors_of_transforms_in_inference_tensors_are_never_refused():
    with ag.inference_mode():
        a = ag.ones(2)
    found = []
    ag.func.grad(lambda q: found.append(first_refusal([(q * a).grad_fn])) or (q * a).sum())(ag.ones(2))
    assert found == [None]


# ----- products -----


@programs
def products_of_several_dtypes(t):
    out, linear = [], t.nn.functional.linear
    dtypes = (t.float32, t.float64, t.int64, t.complex64)
    for a in dtypes:
        for b in dtypes:
            x, w = t.ones(2, 2, dtype=a), t.ones(2, 2, dtype=b)
            for bias in (t.ones(2, dtype=a), t.ones(2, dtype=b), None):
                out += [tried(linear, x, w, bias), tried(linear, x[0], w, bias), tried(linear, x[None], w, bias)]
            out += [tried(t.addmm, x, w, w), tried(t.addmm, x, x, w), tried(t.addmm, x, w, x), tried(t.mm, x, w)]
    return out


def tried(function, *args):
    try:
        return function(*args)
    except RuntimeError as error:
        return [type(error).__name__, str(error).partition("\n")[0]]


@programs
def a_linear_layer_of_another_dtype(t):
    return [error_of(t.nn.Linear(2, 1), t.ones(3, 2, dtype=d)) for d in (t.float64, t.int64)]


# ----- nodes -----


@programs
def nodes_are_not_copied(t):
    a = leaf(t, 1.0, 2.0)
    written = a.clone()
    written[0] = 1.0
    node = (a * a).grad_fn
    nodes = [node, node.next_functions[0][0], written.grad_fn, no_gradient(t)(a).grad_fn]
    ways = (copy.copy, copy.deepcopy, pickle.dumps)
    return [[error_of(way, n) for n in nodes] for way in ways] + [error_of(type(node)), error_of(type(node), 1)]


# ----- conversions -----


@programs
def what_is_in_a_tensor(t):
    y = t.arange(4.0).reshape(2, 2)
    wrong = ["a", None, [1], (1.0,), {}, b"a", np.ones(2), t.ones(3)]
    right = [1, 7, 1.0, True, 1j, np.float64(3), t.tensor(2.0), t.tensor([0.0, 9.0])]
    return [[error_of(y.__contains__, x) for x in wrong], [x in y for x in right]]


@programs
def conversions_of_several_elements(t):
    out = []
    for x in (t.ones(2), t.ones(0), t.ones(2, 2), t.tensor([[3]])):
        out += [error_of(f, x) for f in (int, float, complex, bool, lambda x: x.item(), lambda x: "%d" % x)]  # noqa: UP031
    return out


@programs
def formats(t):
    specs = ("", ".2f", ">12", "d", "s")
    tensors = (
        t.tensor(1.5),
        t.tensor(1.5, requires_grad=True),
        t.tensor(3),
        t.tensor([1.5]),
        t.ones(2, 2),
        t.tensor(1 + 2j),
    )
    return [[said(lambda x=x, spec=spec: format(x, spec)) for spec in specs] for x in tensors]


def said(call):
    try:
        return call()
    except Exception as error:
        return [type(error).__name__, str(error)]


def test_a_number_of_a_tensor_that_requires_grad_is_warned_of_once_in_a_process():
    program = """
import sys, warnings
import {} as t
warnings.simplefilter("always")
x = t.ones(1, requires_grad=True)
unrecorded = t.no_grad()(lambda: float(x))
for call in (x.item, x.tolist, lambda: int(x), lambda: bool(x), lambda: float(x.detach()), unrecorded, lambda: float(x), lambda: complex(x)):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        call()
    print([str(w.message).partition(" (Triggered")[0] for w in said])
"""
    outputs = [
        subprocess.run([sys.executable, "-c", program.format(name)], capture_output=True, text=True, check=True).stdout
        for name in ("torch", "agdbg_engine")
    ]
    assert outputs[0] == outputs[1] and outputs[1].count("Converting") == 1


@programs
def plus(t):
    x = leaf(t, 1.0)
    return [+x is x, +t.tensor([1]), error_of(lambda: +t.tensor([True]))]


@programs
def bools_that_are_subtracted(t):
    tensors = (t.ones(1), t.tensor([True]), t.tensor([1]), t.tensor([1j]))
    calls = (
        lambda x: x - True,
        lambda x: True - x,
        lambda x: x.sub(True),
        lambda x: t.sub(x, True),
        lambda x: x.sub_(True),
    )
    return [[error_of(call, x) for call in calls] for x in tensors]


@programs
def too_few_degrees_of_freedom(t):
    with logged_warnings() as said_:
        found = [t.ones(1).var(), t.ones(1).std(), t.ones(2, 1).var(1), t.ones(0).var(), t.ones(2).var(correction=3)]
        found += [t.ones(1).var(unbiased=False), t.ones(2).std(), t.tensor([1.0, 2.0]).var(correction=2)]
    return [found, [text.partition(" (Triggered")[0] for text in said_ if text.startswith("UserWarning")]]


@programs
def hooks_that_could_not_be_set_count_as_set(t):
    out = []
    for slot, make in (("self", lambda a: a * a), ("result", lambda a: a.exp())):
        a = leaf(t, 1.0, 2.0)
        y = make(a)

        def raising(x):
            raise ValueError("no")

        def register(pack, y=y, slot=slot):
            getattr(y.grad_fn, "_raw_saved_" + slot).register_hooks(pack, unpack)

        out += [error_of(register, raising), error_of(register, unpack), error_of(y.sum().backward)]
    return out


def unpack(x):
    return x


@pytest.mark.parametrize("program", programs)
def test_programs(program):
    same(program)


def test_facts_tell_the_dtype():
    assert facts(ag.ones(1)) != facts(ag.ones(1, dtype=ag.float64))
