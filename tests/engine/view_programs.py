"""Random programs of every kind of view, of writes, modes and dual tensors, on tensors of any shape, real or complex.

As in ``random_programs`` an instruction names its operands by any number, and every op does something for every tensor: what
an operand is not fit for becomes a simpler op. So every program is valid, and shrinks well.
"""

import contextlib
import re
from dataclasses import dataclass, field, replace

from agdbg_tests_differential import error_of
from agdbg_tests_functions_with_jvp import CALLS, call, joined
from hypothesis import strategies as st

LARGEST = 24
"""No view has more elements."""


# ----- views -----


def _along(x, n):
    return n % x.ndim


def alias(x):
    return x.view_as(x)


def _select(x, n):
    return x.select(_along(x, n), n % x.shape[_along(x, n)]) if x.numel() and x.ndim else alias(x)


def _narrow(x, n):
    d = _along(x, n) if x.ndim else 0
    return x.narrow(d, x.shape[d] - 1, 1) if x.ndim and x.shape[d] else x[...]


def _expand(x, n):
    return x.unsqueeze(n % (x.ndim + 1)).expand(*_with(x.shape, n % (x.ndim + 1), 2)) if _is_small(x) else alias(x)


def _with(shape, at, size):
    return (*shape[:at], size, *shape[at:])


def _is_small(x):
    return x.ndim < 3 and x.numel() * 2 <= LARGEST


def _unfold(x, n):
    d = _along(x, n) if x.ndim else 0
    fits = x.ndim and x.shape[d] >= 2 and _is_small(x)
    return x.unfold(d, 2, 1 + n % 2) if fits else x.unsqueeze(0)


def _as_strided(x, n):
    """Every other element of the first dimension, or a row of a matrix that is not seen as such."""
    if not x.ndim or not x.numel():
        return alias(x)
    size, stride = list(x.shape), list(x.stride())
    size[0] = (size[0] + 1) // 2
    stride[0] *= 2
    if n % 3 == 0 and x.ndim == 2:
        size, stride = size[::-1], stride[::-1]
    if n % 3 == 1:
        return x.as_strided(size, stride)
    return x.as_strided(size, stride, x.storage_offset())


def _diagonal(x, n):
    return (
        x.diagonal(n % 3 - 1 if min(x.shape[-2:]) > 1 else 0, -2, -1) if x.ndim >= 2 and x.numel() else x.unsqueeze(-1)
    )


def _viewed(x):
    return x.view(-1) if x.is_contiguous() else x.reshape(-1).view(-1)


def _pairs(t, x):
    """The pairs in the last dimension as complex numbers."""
    fits = x.ndim and x.shape[-1] == 2 and x.stride(-1) == 1 and not x.storage_offset() % 2
    fits = fits and all(s % 2 == 0 for s in x.stride()[:-1])
    return t.view_as_complex(x) if fits and not x.is_complex() else alias(x)


VIEWS = {
    "select": lambda t, x, n: _select(x, n),
    "narrow": lambda t, x, n: _narrow(x, n),
    "step": lambda t, x, n: x[n % 2 :: 2] if x.ndim and x.shape[0] > n % 2 else x[...],
    "last": lambda t, x, n: x[..., -1:] if x.ndim else x[None],
    "transpose": lambda t, x, n: x.transpose(0, -1) if x.ndim else x.unsqueeze(0),
    "movedim": lambda t, x, n: x.movedim(0, -1) if x.ndim else alias(x),
    "mT": lambda t, x, n: x.mT if x.ndim >= 2 else alias(x),
    "expand": lambda t, x, n: _expand(x, n),
    "unfold": lambda t, x, n: _unfold(x, n),
    "as_strided": lambda t, x, n: _as_strided(x, n),
    "real": lambda t, x, n: x.real,
    "imag": lambda t, x, n: x.imag if x.is_complex() else alias(x),
    "view_as_real": lambda t, x, n: t.view_as_real(x) if x.is_complex() and x.ndim < 3 else alias(x),
    "view_as_complex": lambda t, x, n: _pairs(t, x),
    "diagonal": lambda t, x, n: _diagonal(x, n),
    "view": lambda t, x, n: _viewed(x),
    "squeeze": lambda t, x, n: x.squeeze(),
    "alias": lambda t, x, n: alias(x),
    "detach": lambda t, x, n: x.detach(),
}
SEVERAL = {
    "unbind": lambda x, n: x.unbind(_along(x, n)) if x.ndim else [alias(x)],
    "split": lambda x, n: x.split(1 + n % 2, _along(x, n)) if x.ndim else [alias(x)],
    "chunk": lambda x, n: x.chunk(2, _along(x, n)) if x.ndim else [alias(x)],
}

# ----- ops -----

UNARY = {
    "sin": lambda t, x: x.sin() if not x.is_complex() else x * 0.5,
    "tanh": lambda t, x: x.tanh() if not x.is_complex() else x * x * 0.1,
    "exp": lambda t, x: x.sin().exp() if not x.is_complex() else (x * 0.1).exp(),
    "sigmoid": lambda t, x: x.sigmoid() if not x.is_complex() else x * 1j,
    "square": lambda t, x: x * x * 0.3,
    "abs": lambda t, x: (x * x.conj_physical()).real if x.is_complex() else x.abs(),
    "clone": lambda t, x: x.clone(),
    "contiguous": lambda t, x: x.contiguous(),
    "sum": lambda t, x: x.sum() * 0.1,
    "rows": lambda t, x: x.sum(-1, keepdim=True) if x.ndim else x + 1,
    "complex": lambda t, x: t.view_as_complex(t.stack([x, x * 0.5], -1)) if not x.is_complex() else x.conj_physical(),
    "flatten": lambda t, x: x.reshape(-1),
}
BINARY = {
    "add": lambda t, x, y: x + y,
    "mul": lambda t, x, y: x * y * 0.5,
    "sub": lambda t, x, y: y - x,
    "where": lambda t, x, y: t.where(_mask(x), x, y.to(x.dtype)) if not y.is_complex() or x.is_complex() else x - y,
    "stack": lambda t, x, y: t.stack([x, y.to(x.dtype).expand(x.shape)]).sum(0) if not y.is_complex() else x * y,
    "cat": lambda t, x, y: t.cat([x.reshape(-1)[:3], y.reshape(-1)[:3].to(x.dtype)]) if not y.is_complex() else x + y,
}


def _mask(x):
    return x.detach().abs() > 0.7


# ----- writes -----


def fitting(x, y, n=0):
    """``y`` in a form that ``x`` may be written with."""
    y = joined(x, y)
    y = y.real if y.is_complex() and not x.is_complex() else y
    return y if n % 2 and y is not x and y._base is x._base is None else y * 1


def repeats(x):
    """Whether some elements of ``x`` share memory: writes into that are refused here, for the most part."""
    places = {0}
    for n, s in zip(x.shape, x.stride(), strict=True):
        places = [p + i * s for p in places for i in range(n)]
    return len(set(places)) < len(places)


def _put(t, x, y, n):
    if not x.ndim or not x.shape[0]:
        return x.mul_(0.5)
    rows = [0, 0] if n % 2 else [x.shape[0] - 1]
    return x.index_put_((t.tensor(rows),), fitting(x, y.sum() * 0.1), bool(n % 2))


def _index_add(t, x, y, n):
    if not x.ndim or not x.shape[0]:
        return x.add_(fitting(x, y))
    return x.index_add_(0, t.tensor([0]), (fitting(x, y) + t.zeros_like(x))[:1])


def _scatter(t, x, y, n):
    if x.ndim != 1 or not x.numel():
        return x.sub_(fitting(x, y))
    return x.scatter_(0, t.tensor([0]), fitting(x, y.sum()).reshape(1).to(x.dtype))


WRITES = {
    "add_": lambda t, x, y, n: x.add_(fitting(x, y, n)),
    "mul_": lambda t, x, y, n: x.mul_(fitting(x, y, n)),
    "mul_ number": lambda t, x, y, n: x.mul_(0.5),
    "sub_": lambda t, x, y, n: x.sub_(fitting(x, y), alpha=2),
    "addcmul_": lambda t, x, y, n: x.addcmul_(fitting(x, y), fitting(x, y).to(x.dtype), value=0.3),
    "copy_": lambda t, x, y, n: x.copy_(fitting(x, y, n)),
    "sin_": lambda t, x, y, n: x.sin_() if not x.is_complex() else x.mul_(0.5j),
    "exp_": lambda t, x, y, n: x.sin_().exp_() if not x.is_complex() else x.neg_(),
    "tanh_": lambda t, x, y, n: x.tanh_() if not x.is_complex() else x.conj_physical_(),
    "zero_": lambda t, x, y, n: x.zero_(),
    "fill_": lambda t, x, y, n: x.fill_(fitting(x, y).sum() * 0.1) if n % 2 else x.fill_(0.75),
    "masked_fill_": lambda t, x, y, n: x.masked_fill_(_mask(x), fitting(x, y).sum() * 0.1 if n % 2 else 0.25),
    "set mask": lambda t, x, y, n: x.__setitem__(_mask(x), 0.5),
    "set first": lambda t, x, y, n: x.__setitem__(0, fitting(x, y.sum())) if x.ndim and x.shape[0] else x.neg_(),
    "set last": lambda t, x, y, n: x.__setitem__((..., slice(-1, None)), fitting(x, y.sum())) if x.ndim else x.neg_(),
    "set all": lambda t, x, y, n: x.__setitem__(slice(None), fitting(x, y, n)) if x.ndim else x.neg_(),
    "index_put_": _put,
    "index_add_": _index_add,
    "scatter_": _scatter,
    "out=": lambda t, x, y, n: t.mul(fitting(x, y), t.ones_like(x) * 0.5, out=x),
    "out= of itself": lambda t, x, y, n: t.neg(x.clone(), out=x),
    "transpose_": lambda t, x, y, n: x.transpose_(0, -1) if x.ndim else x.neg_(),
    "unsqueeze_": lambda t, x, y, n: x.unsqueeze_(0) if x.ndim < 3 else x.neg_(),
    "squeeze_": lambda t, x, y, n: x.squeeze_(),
    "real =": lambda t, x, y, n: setattr(x, "real", fitting(x.real, y)),
    "imag =": lambda t, x, y, n: setattr(x, "imag", fitting(x.real, y)) if x.is_complex() else x.add_(1),
    "data =": lambda t, x, y, n: setattr(x, "data", (fitting(x, y) + t.zeros_like(x)).detach()) if n == 0 else x.neg_(),
    "view data": lambda t, x, y, n: x.data.mul_(0.5) if n == 0 else x.neg_(),
}


# ----- programs -----

_operand = st.integers(0, 30)
_small = st.integers(0, 5)


def _named(kind, table, *more):
    return st.tuples(st.just(kind), st.sampled_from(sorted(table)), *more)


OPS = st.one_of(
    _named("unary", UNARY, _operand),
    _named("binary", BINARY, _operand, _operand),
)
VIEWING = st.one_of(_named("view", VIEWS, _operand, _small), _named("several", SEVERAL, _operand, _small))
WRITING = _named("write", WRITES, _operand, _operand, _small)
FUNCTIONS = _named("function", CALLS, _operand, _operand)
DUALS = st.one_of(st.tuples(st.just("dual"), _operand, _operand), st.tuples(st.just("parts"), _operand))
CUTS = st.one_of(
    st.tuples(st.sampled_from(["detach_", "retain", "hook", "buffer", "complex buffer"]), _operand),
    st.tuples(st.just("requires"), _operand, st.booleans()),
)
MODES = ("no_grad", "enable_grad", "inference", "hooks", "cpu")


def inside(instruction):
    """Some instructions in a mode."""
    return st.tuples(st.just("in"), st.sampled_from(MODES), st.lists(instruction, min_size=1, max_size=4))


def checkpointed(instruction):
    return st.tuples(st.just("checkpoint"), st.booleans(), _operand, st.lists(instruction, min_size=1, max_size=4))


@dataclass
class State:
    """What a running program has made."""

    t: object
    leaves: list
    pool: list
    refused: list = field(default_factory=list)
    log: list = field(default_factory=list)

    def pick(self, i):
        return self.pool[i % len(self.pool)]


def context(t, mode):
    return {
        "no_grad": t.no_grad,
        "enable_grad": t.enable_grad,
        "inference": t.inference_mode,
        "hooks": lambda: t.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x),
        "cpu": t.autograd.graph.save_on_cpu,
        "no": contextlib.nullcontext,
    }[mode]()


def perform(state, kind, *args):
    """Run one instruction."""
    t, pick, pool = state.t, state.pick, state.pool
    if kind == "unary":
        pool.append(UNARY[args[0]](t, pick(args[1])))
    elif kind == "binary":
        x = pick(args[1])
        pool.append(BINARY[args[0]](t, x, joined(x, pick(args[2]))))
    elif kind == "view":
        pool.append(VIEWS[args[0]](t, pick(args[1]), args[2]))
    elif kind == "several":
        pool.extend(SEVERAL[args[0]](pick(args[1]), args[2]))
    elif kind == "write":
        x = pick(args[1])
        if repeats(x):
            pool.append(x * 0.5)
        else:
            WRITES[args[0]](t, x, pick(args[2]), args[3])
    elif kind == "function":
        x = pick(args[1])
        if not (repeats(x) and args[0] == "scaled"):
            pool.extend(call(t, args[0], x, pick(args[2])))
    elif kind == "dual":
        x = pick(args[0])
        y = pick(args[1])
        pool.append(t.autograd.forward_ad.make_dual(x, fitting(x, y) + t.zeros_like(x)))
    elif kind == "parts":
        primal, tangent = t.autograd.forward_ad.unpack_dual(pick(args[0]))
        pool.append(primal)
        if tangent is not None:
            pool.append(tangent * 1)
    elif kind == "in":
        with context(t, args[0]):
            for instruction in args[1]:
                attempt(state, instruction)
    elif kind == "checkpoint":
        pool.append(_checkpoint(state, *args))
    elif kind == "detach":
        pool.append(pick(args[0]).detach())
    elif kind == "detach_":
        pick(args[0]).detach_()
    elif kind == "retain" and pick(args[0]).requires_grad:
        pick(args[0]).retain_grad()
    elif kind == "hook" and pick(args[0]).requires_grad:
        x, label = pick(args[0]), len(state.log)
        _ = x.grad_fn
        x.register_hook(lambda g: state.log.append([label, g.detach().clone()]))
    elif kind == "requires":
        pick(args[0]).requires_grad_(args[1])
    elif kind == "buffer":
        pool.append(t.zeros([(2, 3), (4,), (), (2, 2)][args[0] % 4], dtype=t.float64))
    elif kind == "complex buffer":
        pool.append(t.zeros([(2, 3), (4,), (), (2, 2)][args[0] % 4], dtype=t.complex128))


def _checkpoint(state, reentrant, operand, instructions):
    t = state.t

    def part(x):
        inner = State(t, [], [x * 1])
        for instruction in instructions:
            perform(inner, *instruction)
        return sum((value(t, y) for y in inner.pool), t.tensor(0.0, dtype=t.float64))

    return t.utils.checkpoint.checkpoint(part, state.pick(operand), use_reentrant=reentrant)


def attempt(state, instruction):
    """Run one instruction; a refusal is noted, and ends the program where PyTorch may have written all the same."""
    found = error_of(perform, state, *instruction)
    if found == "nothing":
        return
    first_line = re.sub(
        r",? which is output .*?[,;]", "", found.first_line
    )  # what is saved through a view has another name
    state.refused.append((instruction, replace(found, first_line=first_line)))
    if instruction[0] in ("write", "function", "dual"):
        raise Stop


class Stop(BaseException):
    """A write was refused: in forward mode PyTorch may have changed the data all the same."""


def value(t, x):
    """A number that depends on every element of ``x`` in another way."""
    x = x.reshape(-1)
    if not (x.is_floating_point() or x.is_complex()):
        return t.tensor(0.0, dtype=t.float64)
    weights = t.cos(t.arange(float(x.numel()), dtype=t.float64) * 0.9 + 0.3)
    if x.is_complex():
        return (x.real * weights).sum() + (x.imag * weights).sum() * 0.7
    return (x * weights).sum()


SHAPES = ((2, 3), (4,), (), (2, 2))
