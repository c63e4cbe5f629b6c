"""Parameters of subclasses, the names of operators, reflected operators. As in PyTorch."""

import copy
import operator

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, same

torch = pytest.importorskip("torch")
programs = Programs()


def asked(t, log, name="Log"):
    """A subclass that notes the full names of the functions that are called with its objects."""

    class Log(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append([func.__name__, [type(a).__name__ for a in args]])
            return super().__torch_function__(func, types, args, kwargs or {})

    return Log


OPERATORS = {
    "getitem": lambda s: s[0],
    "getitem_of_a_slice": lambda s: s[0:1],
    "setitem": lambda s: s.__setitem__(0, 1.0),
    "rtruediv": lambda s: 2 / s,
    "rpow": lambda s: 2**s,
    "bool": lambda s: bool(s[0]),
    "int": lambda s: int(s[1]),
    "len": len,
    "contains": lambda s: 2.0 in s,
    "neg": operator.neg,
    "abs": operator.abs,
    "mul": lambda s: s * 2,
    "rmul": lambda s: 2 * s,
    "imul": lambda s: s.__imul__(2),
}


def operated(operation):
    def program(t):
        log = []
        s = t.tensor([1.0, 2.0]).as_subclass(asked(t, log))
        result = operation(s)
        return [log, type(result).__name__]

    return program


for name, operation in OPERATORS.items():
    program = operated(operation)
    program.__name__ = f"name_of_{name}"
    programs(program)


@programs
def a_plain_tensor_stands_left_of_one_of_a_subclass(t):
    class S(t.Tensor):
        pass

    a, s = t.tensor([7, 8]), t.tensor([2, 3]).as_subclass(S)
    names = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor")
    pairs = [(a, s), (s, a), (5, s), (s, 5)]
    found = [getattr(operator, n)(x, y) for n in names for x, y in pairs]
    m = t.tensor([[1.0, 2.0], [3.0, 4.0]])
    found += [m @ m.T.as_subclass(S), m.T.as_subclass(S) @ m]
    return [[type(f).__name__, f] for f in found]


@programs
def integers_that_are_a_view(t):
    v = t.tensor([1, 2, 3])[:2]
    return [
        v + 1.5,
        1.5 - v,
        v * 0.5,
        v / 2,
        v / v,
        2 / v,
        v**0.5,
        0.5**v,
        t.where(v > 1, v, 0.5),
        t.where(v > 1, 0.5, v),
    ]


# ----- parameters -----


def kinds(t, p, kind):
    return [type(p).__name__, isinstance(p, kind), isinstance(p, t.nn.Parameter), p.requires_grad, p.is_leaf, repr(p)]


@programs
def a_parameter_of_a_subclass_is_of_it(t):
    class S(t.Tensor):
        pass

    s = (leaf(t, 1.0, 2.0, dtype=t.float32) * 2).as_subclass(S)
    found = []
    for wanted in (True, False):
        p = t.nn.Parameter(s, requires_grad=wanted)
        found += [kinds(t, p, S), type(t.nn.Parameter(p)).__name__, kinds(t, p * 2, S)]
        m = t.nn.Linear(2, 2)
        m.bias = p
        found += [[n for n, _ in m.named_parameters()], type(m.bias).__name__]
    p.zero_()
    return [found, s]


@programs
def a_parameter_of_a_subclass_that_overrides(t):
    log = []
    s = t.ones(2).as_subclass(asked(t, log))
    p = t.nn.Parameter(s)
    return [log[:2], kinds(t, p, type(s))[:5]]


@programs
def a_parameter_of_a_class_with_its_own_detach(t):
    class S(t.Tensor):
        def detach(self):
            return t.zeros(3).as_subclass(S)

    return kinds(t, t.nn.Parameter(t.ones(2).as_subclass(S)), S)


@programs
def a_parameter_whose_detach_gives_another_class(t):
    class S(t.Tensor):
        def detach(self):
            return t.zeros(3)

    return error_of(t.nn.Parameter, t.ones(2).as_subclass(S))


@programs
def a_parameter_of_integers_of_a_subclass(t):
    class S(t.Tensor):
        pass

    s = t.tensor([1]).as_subclass(S)
    return [error_of(t.nn.Parameter, s), repr(t.nn.Parameter(s, requires_grad=False))]


@programs
def subclasses_of_parameter(t):
    class P(t.nn.Parameter):
        pass

    class S(t.Tensor):
        pass

    p, q = P(t.ones(2)), P(t.ones(2).as_subclass(S))
    return [
        kinds(t, p, P),
        type(q).__name__,
        isinstance(q, P),
        isinstance(q, t.nn.Parameter),
        issubclass(S, t.nn.Parameter),
    ]


@programs
def anything_may_be_marked_as_a_parameter(t):
    x = t.ones(2)
    before = isinstance(x, t.nn.Parameter)
    x._is_param = True
    marked = type("Marked", (), {"_is_param": True})()
    return [before, isinstance(x, t.nn.Parameter), isinstance(marked, t.nn.Parameter), repr(x)]


BINARY = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor",
    "lshift", "rshift", "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor",
    "ilshift", "irshift",
]  # fmt: skip


class Stranger:
    """Neither a tensor nor a number."""


def asked_in_full(t, log):
    """A subclass that notes everything that it is asked about."""

    class S(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append([t.overrides.resolve_name(func), func.__name__, [type(a).__name__ for a in args]])
            return super().__torch_function__(func, types, args, kwargs or {})

    return S


def binary(name):
    """The operator with all sorts of operands on either side: who is asked, about which function, and what comes of it."""

    def program(t):
        log = []
        for dtype in (t.float32, t.int64):
            a, b = t.ones(2, 2, dtype=dtype).as_subclass(asked_in_full(t, log)), t.ones(2, 2, dtype=dtype)
            others = [2, 2j, True, "x", None, [1, 2], Stranger()]
            pairs = [(a, b), (b, a), (a, a), (b, "x"), ("x", b), *((a, o) for o in others), *((o, a) for o in others)]
            for left, right in pairs:
                operand = left.clone() if isinstance(left, t.Tensor) and name[0] == "i" else left
                log.append(kind_or_error(lambda x=operand, y=right: getattr(operator, name)(x, y)))
        return log

    return program


def kind_or_error(call):
    try:
        return type(call()).__name__
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]


UNARY = {
    "list": list,
    "reversed": reversed,
    "dir": lambda x: "grad" in dir(x),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy_of_two": lambda x: copy.deepcopy([x, x]),
    "long": lambda x: x.__long__(),
    "nonzero": lambda x: x.__nonzero__(),
    "delitem": lambda x: operator.delitem(x, 0),
    "contains": lambda x: 1 in x,
    "unpacked": lambda x: [*x],
    "formatted": lambda x: f"{x}",
    "pow_as_a_method": lambda x: x.pow(2),
    "pow_with_it": lambda x: x.new_ones(2, 2).as_subclass(type(x).__base__).pow(x),
}


def unary(function):
    def program(t):
        log = []
        for x in (t.ones(2, 2), t.tensor(1.0)):
            log.append(kind_or_error(lambda x=x: function(x.as_subclass(asked_in_full(t, log)))))
        return log

    return program


def raised_once(t):
    """A handler that fails is not asked again."""
    log = []

    class S(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append(func.__name__)
            raise ValueError("no")

    s = t.ones(2).as_subclass(S)
    said = [error_of(lambda o=o: s * o) for o in (2, 2j, True, t.ones(2))]
    return [log, said, error_of(lambda: 1 - s), error_of(lambda: 2**s)]


programs(raised_once)
for table, build in (({n: n for n in BINARY}, binary), (UNARY, unary)):
    for name, value in table.items():
        program = build(value)
        program.__name__ = f"asked_in_{name}"
        programs(program)


OTHERS = {
    "comparing": ["eq", "greater", "less_equal", "not_equal", "isclose", "allclose", "equal", "is_same_size", "is_set_to", "__contains__"],
    "arithmetic": [
        "add", "subtract", "multiply", "true_divide", "floor_divide", "remainder", "fmod", "pow", "atan2", "hypot", "xlogy", "copysign",
        "clamp", "clamp_min", "maximum", "max", "dist", "float_power", "logaddexp",
    ],
    "products": ["mm", "matmul", "inner", "kron", "dot"],
    "shapes": ["view_as", "expand_as", "reshape_as", "to", "type_as", "resize_as_", "slice_scatter", "new_tensor"],
    "in_place": ["add_", "copy_", "pow_", "fmod_"],
}  # fmt: skip


def given_to_methods(names):
    """Methods of plain tensors that are given one of a class that overrides: the class is asked, about the method, once."""

    def program(t):
        log = []
        s = t.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(asked_in_full(t, log))
        for name in names:
            log.append([name, kind_or_error(lambda n=name: getattr(t.ones(2, 2), n)(s)).partition(":")[0]])
        return log

    return program


for name, value in OTHERS.items():
    program = given_to_methods(value)
    program.__name__ = f"given_to_methods_of_{name}"
    programs(program)


@programs
def given_with_other_arguments(t):
    log = []
    x, i = t.ones(2, 2), t.tensor([[0, 1], [1, 0]])
    s = t.ones(2, 2).as_subclass(asked_in_full(t, log))
    results = [
        x.scatter(0, i, s), x.scatter_add(0, i, s), x.addcmul(x, s), x.addmm(x, s), x.lerp(x, s), x.index_add(0, i[0], s), x.where(x > 0, s),
        x.add(s, alpha=2), x.clamp(min=s), x.diff(append=s), x.masked_fill(x > 0, s.sum()), x.put(i, s), x.gather(0, i.as_subclass(type(s))),
    ]  # fmt: skip
    return [log, [type(r).__name__ for r in results]]


@programs
def named_by_other_names(t):
    log = []
    s = t.ones(2, 2).as_subclass(asked_in_full(t, log))
    calls = ("absolute", "arccos", "arctan", "negative", "fix", "multiply", "subtract", "divide", "polygamma", "where")
    said = [
        kind_or_error(lambda n=n, a=a: getattr(s, n)(*a)).partition(":")[0]
        for n, a in zip(calls, [()] * 5 + [(s,)] * 3 + [(1,), (s > 0, s)], strict=True)
    ]
    return [log, said]


@programs
def functions_by_their_own_names(t):
    log = []
    s = t.ones(2, 2).as_subclass(asked_in_full(t, log))
    names = ("absolute", "arccos", "fix", "negative", "abs_", "exp_", "arctan_", "floor_")
    said = [kind_or_error(lambda n=n: getattr(t, n)(s)) for n in names]
    said += [kind_or_error(lambda n=n: getattr(t, n)(s, s)) for n in ("multiply", "subtract", "divide", "arctan2")]
    return [log, said, kind_or_error(lambda: t.abs_(1))]


@programs
def nobody_compares_them(t):
    """The methods by which Python compares, tests and walks through objects are the person's."""
    log = []

    def told(name):
        def method(self, *args):
            log.append(name)
            raise ValueError(name)

        return method

    names = ("__eq__", "__ne__", "__bool__", "__len__", "__iter__", "__contains__")
    kind = type("S", (t.Tensor,), {**{n: told(n) for n in names}, "__hash__": t.Tensor.__hash__})
    s, x, square = t.zeros(2).as_subclass(kind), t.ones(2), t.ones(2, 2)
    calls = [
        lambda: t.add(x, x, out=s), lambda: t.cat([x[:1], x[1:]], out=s), lambda: t.sum(square, 0, out=s), lambda: t.zeros(2, out=s),
        lambda: t.exp(x, out=s), lambda: t.matmul(square, x, out=s), lambda: t.cumsum(x, 0, out=s), lambda: t.clamp(x, s, None),
        lambda: t.where(x > 0, s, x), lambda: t.stack([s, s]),
        lambda: x.add(x, alpha=s[0]), lambda: x.sub(x, alpha=s[0]), lambda: t.nn.Parameter(s), lambda: t.full((2,), s[0]),
        lambda: t.as_tensor(s), lambda: t.nn.functional.linear(square, square, s), lambda: x.copy_(s), lambda: t.allclose(s, s),
        lambda: s.requires_grad_().sum().backward(inputs=[s]), lambda: t.nn.utils.clip_grad_norm_([s], 1.0),
    ]  # fmt: skip
    return [[kind_or_error(call), list(log)] for call in calls]


@programs
def tensors_for_the_factor_of_a_sum(t):
    x, seen = t.ones(2), []
    factors = [t.tensor(2.0), t.tensor([2.0]), t.tensor([2.0, 3.0]), t.tensor(2.0, requires_grad=True), t.tensor(1)]
    for a in factors:
        calls = (lambda a=a: x.add(x, alpha=a), lambda a=a: x.sub(x, alpha=a), lambda a=a: x.clone().add_(x, alpha=a))
        seen += [
            [error_of(call) for call in calls],
            [c().tolist() for c in calls] if not a.ndim and not a.requires_grad else None,
        ]
    return seen


@programs
def deepcopy_by_new_empty(t):
    class S(t.Tensor):
        pass

    class Slotted(t.Tensor):
        __slots__ = ("note",)

        def new_empty(self, *args, **kwargs):
            return super().new_empty(*args, **kwargs).as_subclass(Slotted)

    class Whole(Slotted):
        def new_empty(self, *args, **kwargs):
            return super().new_empty(*args, **kwargs).as_subclass(Whole)

        def clone(self, *args, **kwargs):
            return super().clone(*args, **kwargs).as_subclass(Whole)

    x = t.arange(4.0).as_subclass(Slotted)
    x.note, x.list = 5, [1]
    x.requires_grad_()
    x.grad = t.ones(4)
    y = copy.deepcopy(x)
    s, w = t.ones(2).as_subclass(S), t.ones(3).as_subclass(Whole)
    first, second = copy.deepcopy([w, w])
    p = copy.deepcopy(t.nn.Parameter(w))
    return [
        y.tolist(), y._version, y.requires_grad, type(y).__name__, y.note, y.list, y.list is x.list, y.grad, y.data_ptr() == x.data_ptr(),
        error_of(copy.deepcopy, s), error_of(copy.deepcopy, s[:0]), error_of(copy.deepcopy, x[:0]), error_of(copy.deepcopy, t.nn.Parameter(s)),
        type(copy.deepcopy(w[:0])).__name__, first is second, type(p).__name__, isinstance(p, t.nn.Parameter),
    ]  # fmt: skip


@programs
def copy_by_reduce(t):
    def reduced(self, protocol):
        return list, ((1, 2),)

    kinds = [type("R", (base,), {"__reduce_ex__": reduced}) for base in (t.Tensor, t.nn.Parameter)]
    return [hasattr(t.Tensor, "__copy__"), copy.copy(t.ones(2).as_subclass(kinds[0])), copy.copy(kinds[1](t.ones(2)))]


@pytest.mark.parametrize("program", programs)
def test_program(program):
    same(program)
