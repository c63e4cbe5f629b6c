"""Every function with an ``out=``: what it refuses there, by dtype, container, number and size, is what PyTorch refuses."""

import warnings

import pytest
from agdbg_tests_differential import Programs, error_of, same

import agdbg_engine as ag
from agdbg_engine.ops.out import NAMES
from agdbg_engine.ops.out_args import words
from agdbg_engine.ops.wide.declare import PUBLIC

torch = pytest.importorskip("torch")  # the yardstick
programs = Programs()

SAMPLES = (
    lambda t, a: (a,), lambda t, a: (a, a), lambda t, a: (a, 0), lambda t, a: (a, 1), lambda t, a: (a[0], a[1]),
    lambda t, a: ([a, a],), lambda t, a: (a > 1, a, a), lambda t, a: (a, 0, (a > 1).long()), lambda t, a: (a[None], a[None]),
    lambda t, a: (a[None], a[None], a[None]), lambda t, a: (a, a[0]), lambda t, a: (a, a, a), lambda t, a: (a > 1, a > 1),
    lambda t, a: (a, 0.5, 2.0), lambda t, a: ((a * 4).long(), (a * 2).long()), lambda t, a: ((a * 4).long(),),
    lambda t, a: (a, 0, t.tensor([1, 0])), lambda t, a: (a, t.tensor([1, 0])), lambda t, a: (a[0], a, a[0]),
    lambda t, a: (a, a[0], a[0]), lambda t, a: ((2, 3),), lambda t, a: ((2, 3), 1.5), lambda t, a: (3,), lambda t, a: (0, 1, 3),
    lambda t, a: (a, 0, (a > 1).long(), a), lambda t, a: (a, 0, (a > 1).long(), a, "sum"), lambda t, a: (a, 0, t.tensor([1, 0]), a),
    lambda t, a: (a @ a.t() + t.eye(2),), lambda t, a: (a @ a.t() + t.eye(2), a), lambda t, a: (a[0, 0], a[0, 1]),
    lambda t, a: (t.tensor([1.0, 2, 3]), t.tensor([3.0, 2, 1])), lambda t, a: (a, t.tensor([0.0, 1, 2])), lambda t, a: (a, 0.5, 0),
    lambda t, a: (a, 2, 0, 1.0), lambda t, a: (t.complex(a, a),), lambda t, a: (a, a, 0.5), lambda t, a: (a[None, None], (1, 1)),
)  # fmt: skip
DTYPES = ("float32", "float64", "int64", "bool", "complex64")

UNLIKE = {
    "nn.functional.normalize": "made of several functions, the last of which speaks",
    "torch.lu": "PyTorch's is written in Python and lets wrong containers pass to its parts",
    "torch.normal": "PyTorch resizes and draws before it looks at the dtype",
    "torch.diff": "PyTorch's rule depends on n",
    "torch.nansum": "PyTorch has no kernel for complex numbers", "torch.nanmean": "as nansum",
    "torch.chain_matmul": "PyTorch ignores the out of one matrix", "fft.ihfftn": "PyTorch names an inner function",
    "torch.mvlgamma": "PyTorch names the two dtypes the wrong way round", "special.multigammaln": "as mvlgamma",
    "torch.unbind_copy": "PyTorch counts its outs late", "torch.heaviside": "PyTorch names complex numbers as the reason",
    "torch.split_copy": "PyTorch casts to integers without a word, as no other function does",
}  # fmt: skip
"""Functions that are not compared, and why."""
NUMBERS = words("add div divide floor_divide mul multiply sub subtract true_divide")
"""Functions that PyTorch lets have a number for their ``out``: docs/differences.md."""
SPOKEN_FOR = words("fftn ihfft2 inner kron matrix_power ndtr pinv rfft2 rfftn vecdot")
"""Functions for which another one refuses a gradient, by shape or value."""


def _functions():
    found = {("torch", n) for n in (*NAMES, "arange", "eye", "full", "linspace", "ones", "rand", "zeros")}
    found |= {(place, n) for place, them in PUBLIC.items() for n, p in them.items() if p.out and place != "Tensor"}
    return sorted(f"{place}.{n}" for place, n in found if f"{place}.{n}" not in UNLIKE)


def _of(t, path):
    found = t
    for name in path.removeprefix("torch.").split("."):
        found = getattr(found, name, None)
    return found


def _outs(t, kinds):
    """By name a maker of an ``out`` for results of ``kinds``: ``(shape, dtype)`` each."""

    def make(shape, dtype):
        return t.zeros(shape, dtype=getattr(t, dtype))

    def right():
        return [make(*kind) for kind in kinds]

    made = {"number": lambda: 3.5, "str": lambda: "x", "none": tuple, "too many": lambda: (*right(), *right())}
    if len(kinds) == 1:
        (shape, dtype) = kinds[0]
        made |= {d: lambda d=d: make(shape, d) for d in DTYPES}
        return made | {
            "list": right, "tuple": lambda: tuple(right()), "None in": lambda: (None,),
            "size": lambda: make((3, *shape), dtype), "empty": lambda: make((0,), dtype),
            "grad": lambda: right()[0].requires_grad_(dtype[0] in "fc"),
        }  # fmt: skip
    made |= {
        f"{d} at {i}": lambda d=d, i=i: tuple(make(s, d if i == j else own) for j, (s, own) in enumerate(kinds))
        for d in DTYPES for i in range(len(kinds))
    }  # fmt: skip
    return made | {
        "list": right, "tuple": lambda: tuple(right()), "one tensor": lambda: right()[0], "one": lambda: right()[:1],
        "None in": lambda: (*right()[:-1], None), "number in": lambda: (*right()[:-1], 3),
    }  # fmt: skip


def _outcome(t, function, arguments, out):
    try:
        made = function(*arguments, out=out)
    except Exception as error:
        return type(error).__name__, str(error).partition("\n")[0]
    made = made if isinstance(made, tuple | list) else (made,)
    return [made is None or (tuple(m.shape), str(m.dtype).removeprefix("torch.")) for m in made if m is not None]


@pytest.mark.filterwarnings("ignore")  # of sizes, of NumPy's divisions: not the question
@pytest.mark.parametrize("path", _functions())
def test_wrong_outs_are_refused_alike(path):
    theirs, ours = _of(torch, path), _of(ag, path)
    done, unlike = 0, []
    for sample in SAMPLES:
        try:
            expected = theirs(*sample(torch, torch.tensor([[0.5, 1.5], [2.5, 0.75]])))
            ours(*sample(ag, ag.tensor([[0.5, 1.5], [2.5, 0.75]])))
        except Exception:
            continue  # no call of this function
        results = expected if isinstance(expected, tuple | list) else (expected,)
        kinds = [(tuple(x.shape), str(x.dtype).removeprefix("torch.")) for x in results]
        makers = [_outs(t, kinds) for t in (torch, ag)]
        for name in makers[0]:
            seen = [
                _outcome(t, f, sample(t, t.tensor([[0.5, 1.5], [2.5, 0.75]])), made[name]())
                for t, f, made in ((torch, theirs, makers[0]), (ag, ours, makers[1]))
            ]
            last = path.rpartition(".")[2]
            if name == "number" and last in NUMBERS:
                continue
            if name == "grad" and last in SPOKEN_FOR:
                seen = [found[0] for found in seen]
            if seen[0] != seen[1]:
                unlike.append((name, kinds, *seen))
        done += 1
        if done == 2:
            break
    assert not unlike


@programs
def what_is_no_call(t):
    a, o = t.tensor([[0.5, 1.5], [2.5, 0.75]]), t.zeros(2)
    return [
        error_of(lambda: t.add(a, a, out=[a])), error_of(lambda: t.sum(a, out=o)), error_of(lambda: t.prod(a, out=o)),
        error_of(lambda: t.max(a, 0, out=o)), error_of(lambda: t.max(a, out=(o,))), error_of(lambda: t.max(a, a, out=(o, o))),
        error_of(lambda: t.median(a, out=o)), error_of(lambda: t.median(a, 0, out=(o, o))),
        error_of(lambda: t.median(a, 0, out=(o.double(), o.long()))), error_of(lambda: t.sort(a, out=o)),
        error_of(lambda: t.sort(a, 0, out=(o, o))), error_of(lambda: t.topk(a, 1, out=(o, o, o))),
        error_of(lambda: t.std(a, 0, out=[o])), error_of(lambda: t.poisson(a, out=a.clone())),
        error_of(lambda: t.zeros(2, out=(o,))), error_of(lambda: t.eye(2, out=[o])),
    ]  # fmt: skip


@programs
def numbers_and_sizes(t):
    seen = []
    for f in (t.max, t.min, t.maximum, t.add):
        for shape in ((3,), (0,), (1,), (2, 2)):
            o = t.zeros(shape)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                seen.append([f(t.tensor(1.0), t.tensor(2.0), out=o) is o, o.clone(), len(said)])
    return seen


@programs
def computed_in_the_dtype_of_the_out(t):
    a, o = t.tensor([[0.5, 1.5], [2.5, 0.75]]), t.zeros(2, dtype=t.int64)
    return [
        t.sum(a, 0, out=o).clone(), t.prod(a, 0, out=o).clone(), t.cumsum(a, 0, out=t.zeros(2, 2, dtype=t.int64)),
        t.sum(a, 0, dtype=t.float64, out=t.zeros(2, dtype=t.float64)),
        error_of(lambda: t.sum(a, 0, dtype=t.float64, out=o)), error_of(lambda: t.cumsum(a, 0, dtype=t.float64, out=a.clone())),
    ]  # fmt: skip


@programs
def what_is_not_differentiable_takes_what_requires_grad(t):
    x, o = t.ones(2, requires_grad=True), t.zeros(2)
    made = t.special.airy_ai(x, out=o)
    return [
        made is o,
        made,
        made.requires_grad,
        error_of(lambda: t.quantile(t.ones(2), 0.5, out=t.zeros((), requires_grad=True))),
    ]


@programs
def frequencies_and_pieces(t):
    x, o, outs = t.arange(4.0).reshape(2, 2), t.zeros(5), [t.zeros(1, 2), t.zeros(1, 2)]
    made = (
        t.fft.fftfreq(5, out=o),
        t.fft.rfftfreq(4, 2.0, out=t.zeros(3, dtype=t.float64)),
        t.fft.fftfreq(4, out=t.zeros(0)),
    )
    return [
        t.split_with_sizes_copy(x, [1, 1], out=outs), outs, error_of(lambda: t.split_with_sizes_copy(x, [1, 1], out=outs[:1])),
        error_of(lambda: t.split_with_sizes_copy(x, [1, 1], out=o)), error_of(lambda: t.unbind_copy(x, 0, out=[o])),
        *made, made[0] is o, error_of(lambda: t.fft.fftfreq(4, out=t.zeros(4, dtype=t.int64))),
        error_of(lambda: t.fft.fftfreq(4, dtype=t.int64)), error_of(lambda: t.fft.fftfreq(4, out=3)),
        error_of(lambda: t.fft.rfftfreq(4, out=t.zeros(3, requires_grad=True))),
    ]  # fmt: skip


@programs
def an_operand_of_another_size(t):
    """Is resized by functions that are made of others, and refused by what is computed element by element."""

    def called(function, *shape, first=True):
        a, b = t.full((2, 2), 2.0), t.ones(*shape)
        refused = error_of(lambda: function(*((a, b) if first else (b, a)), out=a))
        return [refused, a]

    both = [t.add, t.mul, t.maximum, t.atan2, t.pow, t.hypot, t.fmax, t.copysign, t.xlogy]
    more = [
        lambda a, b, out: t.where(b > 0, a, b, out=out), lambda a, b, out: t.addcmul(a, b, b, out=out),
        lambda a, b, out: t.lerp(a, b, 0.5, out=out), lambda a, b, out: t.clamp(a, b, out=out),
    ]  # fmt: skip
    found = [
        called(f, *shape, first=first) for f in both for shape in ((1, 2, 2), (3, 2, 2)) for first in (True, False)
    ]
    return [*found, *(called(f, 1, 2, 2) for f in more), called(t.linalg.vecdot, 3, 2, 2)]


@programs
def operands_that_require_grad(t):
    """Where nothing is differentiable there is nothing to refuse; an ``out`` that requires grad is written all the same."""
    a = t.tensor([[1.0, 2.0], [3.0, 1.0]])
    one = words("all any argmax argmin isneginf isposinf logical_not nonzero signbit")
    two = words(
        "eq ge greater greater_equal gt isin le less less_equal logical_and logical_or logical_xor lt ne not_equal add maximum"
    )
    calls = {
        **{name: (a.clone().requires_grad_(),) for name in sorted(one)},
        **{name: (a.clone().requires_grad_(), a) for name in sorted(two)},
        "bucketize": (a.clone().requires_grad_(), t.tensor([1.0, 2.0])), "searchsorted": (a.sort().values, a.clone().requires_grad_()),
    }  # fmt: skip
    found = {}
    for name, args in calls.items():
        for dtype in (t.bool, t.int64, t.float32):
            outs = [t.empty(0, dtype=dtype), *([t.zeros(2, 2).requires_grad_() * 1] if dtype == t.float32 else [])]
            for out in outs:
                said = error_of(lambda name=name, args=args, out=out: getattr(t, name)(*args, out=out))
                found[name, str(dtype), out.requires_grad] = [said, out.detach()]
    return [found[key] for key in sorted(found, key=lambda key: (key[0], key[1][-5:], key[2]))]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)
