"""Random programs for both engines: a list of instructions drawn by hypothesis, and what runs it on a namespace.

All values live in one pool and have shapes that broadcast together, (2, 3) at most; an instruction names its
operands by any number, taken modulo the size of the pool. So every program is valid, and shrinks well.
"""

import contextlib
from dataclasses import dataclass, field

from hypothesis import strategies as st

SHAPES = ((2, 3), (3,), (2, 1), ())

UNARY = {
    "sin": lambda x: x.sin(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "exp": lambda x: x.tanh().exp(),
    "square": lambda x: x.tanh() ** 2,
    "neg": lambda x: -x,
    "times": lambda x: x * 0.5,
    "plus": lambda x: x + 1,
    "clone": lambda x: x.clone(),
    "sum": lambda x: x.sum() * 0.1,
    "rows": lambda x: x.sum(-1, keepdim=True) if x.ndim else x,
    "mean": lambda x: x.mean(),
}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x.tanh() * y,
    "twice": lambda x, y: (x + y) * (x - y) * 0.1,
}
VIEWS = {
    "first": lambda x: x[0] if x.ndim == 2 else x.view(x.shape),
    "last": lambda x: x[-1:] if x.ndim == 2 else x.unsqueeze(0).squeeze(0),
    "column": lambda x: x[:, 1:2] if tuple(x.shape) == (2, 3) else x.view(x.shape),
    "turned": lambda x: x.t().t(),
    "flat": lambda x: (x.reshape(-1) if repeats(x) else x.view(-1)).view(x.shape),
    "every other": lambda x: x[:, ::2].narrow(1, 0, 1) if tuple(x.shape) == (2, 3) else x.unsqueeze(-1).squeeze(-1),
    "expanded": lambda x: x.expand(2, 3),
    "permuted": lambda x: x.permute(1, 0).transpose(0, 1) if x.ndim == 2 else x.unsqueeze(-1).squeeze(),
    "half": lambda x: x.chunk(2)[0] if x.ndim == 2 else x[...],
    "piece": lambda x: x.split([1, x.shape[0] - 1])[1] if x.ndim == 2 and x.shape[0] > 1 else x.view_as(x),
    "all but": lambda x: x[:, :-1][:, :1] if x.ndim == 2 and x.shape[1] > 1 else x[..., None].squeeze(-1),
    "corner": lambda x: x[0, :1] if x.ndim == 2 else x[...],
}
WRITES = {
    "add_": lambda t, x, y: x.add_(fitting(y, x)),
    "mul_": lambda t, x, y: x.mul_(fitting(y, x)),
    "mul_ number": lambda t, x, y: x.mul_(0.5),
    "sub_ number": lambda t, x, y: x.sub_(1),
    "copy_": lambda t, x, y: x.copy_(fitting(y, x)),
    "tanh_": lambda t, x, y: x.tanh_(),
    "exp_": lambda t, x, y: x.sin_().exp_(),
    "masked_fill_": lambda t, x, y: x.sin_() if repeats(x) else x.masked_fill_(x > 0, 0.25),
    "set mask": lambda t, x, y: x.sin_() if repeats(x) else x.__setitem__(x > 0, 0.5),
    "set first": lambda t, x, y: x.__setitem__(0, y.detach().sum() * 0.1) if x.ndim == 2 else x.neg_(),
    "index_put_": lambda t, x, y: put(t, x, y, False),
    "accumulate": lambda t, x, y: put(t, x, y, True),
    "zero_": lambda t, x, y: x.zero_(),
    "set row": lambda t, x, y: x.__setitem__(slice(-1, None), y.sum() * 0.1) if x.ndim else x.sqrt_(),
    "set last": lambda t, x, y: x.__setitem__(-1, y.sum() * 0.1) if x.ndim == 2 else x.sigmoid_(),
}


def repeats(x):
    """Whether ``x`` is expanded. PyTorch fills such memory by mask, with a warning; the engine refuses, as for all writes."""
    return any(n > 1 and s == 0 for n, s in zip(x.shape, x.stride(), strict=True))


def put(t, x, y, accumulate):
    """Write rows by number, one of them twice if they are added."""
    if repeats(x) or x.ndim != 2:
        return x.mul_(0.5)
    rows = [0, 0] if accumulate else [0]
    return x.index_put_((t.tensor(rows),), y.sum() * 0.1, accumulate)


def fitting(y, x):
    """``y`` in a form that ``x`` may be written with: no bigger than it, and not overlapping it partly."""
    fits = y.ndim <= x.ndim and all(a in (1, b) for a, b in zip(y.shape[::-1], x.shape[::-1], strict=False))
    return y * 1 if fits else y.sum() * 0.1


@dataclass
class Run:
    """What a program left behind."""

    leaves: list
    pool: list
    refused: list = field(default_factory=list)
    """Instructions that raised, with their error."""


def leaf_values():
    """One array per shape, values of moderate size."""
    number = st.integers(-8, 8).map(lambda n: n / 4)

    def nested(shape):
        if not shape:
            return number
        return st.lists(nested(shape[1:]), min_size=shape[0], max_size=shape[0])

    return st.tuples(*(nested(s) for s in SHAPES))


_operand = st.integers(0, 30)


def pure(min_size=1, max_size=12):
    """Programs that write nothing."""
    one = st.tuples(st.just("unary"), st.sampled_from(sorted(UNARY)), _operand)
    two = st.tuples(st.just("binary"), st.sampled_from(sorted(BINARY)), _operand, _operand)
    view = st.tuples(st.just("view"), st.sampled_from(sorted(VIEWS)), _operand)
    joined = st.tuples(st.sampled_from(["cat", "stack"]), st.lists(_operand, min_size=1, max_size=5))
    rows = st.tuples(st.just("unbind"), _operand)
    return st.lists(st.one_of(one, two, view, joined, rows), min_size=min_size, max_size=max_size)


def writing(max_size=14):
    """Programs that also write in place, detach, retain gradients and switch gradients off."""
    one = st.tuples(st.just("unary"), st.sampled_from(sorted(UNARY)), _operand)
    two = st.tuples(st.just("binary"), st.sampled_from(sorted(BINARY)), _operand, _operand)
    view = st.tuples(st.just("view"), st.sampled_from(sorted(VIEWS)), _operand)
    rows = st.tuples(st.just("unbind"), _operand)
    write = st.tuples(st.just("write"), st.sampled_from(sorted(WRITES)), _operand, _operand, st.booleans())
    cut = st.tuples(st.sampled_from(["detach", "retain", "buffer"]), _operand)
    return st.lists(st.one_of(one, two, view, view, rows, write, write, write, cut), min_size=2, max_size=max_size)


def run(t, values, program, error_of=None, before=lambda number, done: None):
    """Run ``program`` on fresh leaves; with ``error_of`` a refused instruction is noted and skipped.

    ``before(number, done)`` is called before every instruction.
    """
    leaves = [t.tensor(v, dtype=t.float64, requires_grad=True) for v in values]
    done = Run(leaves, [x * 1 for x in leaves])
    for number, instruction in enumerate(program):
        before(number, done)
        if error_of is None:
            perform(t, done.pool, *instruction)
        else:
            refused = error_of(perform, t, done.pool, *instruction)
            if refused != "nothing":
                done.refused.append((number, instruction, refused))
    return done


def total(done):
    """The sum of everything that needs a gradient."""
    result = done.leaves[0].sum()
    for x in done.pool:
        result = result + x.sum()
    return result


def perform(t, pool, kind, *args):
    pick = lambda i: pool[i % len(pool)]
    if kind == "unary":
        pool.append(UNARY[args[0]](pick(args[1])))
    elif kind == "binary":
        pool.append(BINARY[args[0]](pick(args[1]), pick(args[2])))
    elif kind == "view":
        pool.append(VIEWS[args[0]](pick(args[1])))
    elif kind == "cat":
        pool.append(t.cat([pick(i).reshape(-1) for i in args[0]]).sum() * 0.1)
    elif kind == "stack":
        pool.append(t.stack([pick(i).expand(2, 3) for i in args[0]], 1).tanh().sum(1))
    elif kind == "unbind":
        pool.extend(pick(args[0]).unbind(0) if pick(args[0]).ndim == 2 else ())
    elif kind == "write":
        name, target, source, without_grad = args
        with t.no_grad() if without_grad else contextlib.nullcontext():
            WRITES[name](t, pick(target), pick(source))
    elif kind == "detach":
        pool.append(pick(args[0]).detach())
    elif kind == "buffer":
        pool.append(t.zeros(SHAPES[args[0] % len(SHAPES)], dtype=t.float64))
    elif kind == "retain" and pick(args[0]).requires_grad:
        pick(args[0]).retain_grad()
