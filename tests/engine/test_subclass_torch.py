"""Tensor subclasses: what overrides what, in which order, and what stays of the type. PyTorch and the engine do the same."""

import operator
import re
from pathlib import Path

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, name_of, same

import agdbg_engine as T
from agdbg_engine import overrides

torch = pytest.importorskip("torch")
programs = Programs()


def subclass(t, name="Sub", *bases, **attributes):
    """A new subclass of Tensor."""
    return type(name, bases or (t.Tensor,), attributes)


def logging(t, log, name="Log", *bases):
    """A subclass that notes the functions that are called with its objects, and by which types they are overridden."""

    def note(cls, func, types, args=(), kwargs=None):
        log.append([short(func), [k.__name__ for k in types], [type(a).__name__ for a in args], sorted(kwargs or {})])
        return super(made, cls).__torch_function__(func, types, args, kwargs or {})

    made = subclass(t, name, *bases, __torch_function__=classmethod(note))
    return made


def short(func):
    """A function's name without underscores: operators go by either name."""
    return func.__name__.strip("_")


def disable(t):
    return (t._C if t is torch else t.overrides).DisableTorchFunctionSubclass()


def kinds(value):
    if isinstance(value, list | tuple):
        return [kinds(v) for v in value]
    return type(value).__name__


# ----- types -----


@programs
def results_keep_the_type(t):
    x = t.ones(2, 2, requires_grad=True)
    s = x.as_subclass(subclass(t))
    made = [
        s + 1, 1 + s, s - x, x - s, 1 - s, s * 2, s / 2, 2 / s, x / s, s**2, 2**s, x**s, -s, abs(s), s @ x, x @ s, s.exp(),
        t.exp(s), s.sum(), t.sum(s), t.sum(s, dim=0), s.mean(0), s[0], s[s > 0], s.T, s.mT, s.t(), s.view(4), s.reshape(-1),
        s.detach(), s.clone(), s.data, s.to(t.float64), s.double(), s.float(), s == 1, x < s, s > x, t.cat([s, x]),
        t.stack((x, s)), x.where(x > 0, s), t.where(x > 0, x, s), s.requires_grad_(), s.softmax(0), t.zeros_like(s),
        s.new_zeros(2), x.add(s), x.matmul(s), t.add(x, s), t.matmul(x, s), s.unbind(), s.split(1), list(s), s.max(0), s.max(),
        t.autograd.grad(s.sum(), x), (s > 0) & (s > 0), s.masked_fill(x > 0, 2.0), s.bool(), ~s.bool(),
    ]  # fmt: skip
    return [kinds(made), made[0], made[5].requires_grad]


@programs
def results_that_are_no_tensors(t):
    s = t.ones(2, 3).as_subclass(subclass(t))
    return [tuple(s.shape), s.ndim, s.numel(), s.sum().item(), len(s), s.is_leaf, s.requires_grad, s.tolist(), 1 in s]


@programs
def functions_of_nn_keep_the_type(t):
    x = t.ones(2, 2, requires_grad=True)
    s = x.as_subclass(subclass(t))
    f = t.nn.functional
    target = t.tensor([0, 1])
    made = [
        f.linear(s, x), f.linear(x, s), f.relu(s), f.softplus(s), f.softmax(s, 0), f.log_softmax(s, dim=-1), f.mse_loss(s, x),
        f.mse_loss(x, s), f.cross_entropy(s, target), f.nll_loss(s, target), f.embedding(target, s), f.dropout(s, 0.0),
    ]  # fmt: skip
    return [kinds(made), t.nn.Linear(2, 2)(x.as_subclass(subclass(t))).shape[0]]


@programs
def a_parameter_does_not_pass_its_type_on(t):
    p = t.nn.Parameter(t.ones(2))
    mine = subclass(t, "Mine", t.nn.Parameter)(t.ones(2))
    s = t.ones(2).as_subclass(subclass(t))
    return kinds([p, p + 1, p[0], mine, mine * 2, s + p, p + s, p.as_subclass(type(s))])


@programs
def a_subclass_may_be_plain(t):
    off = t._C._disabled_torch_function_impl if t is torch else t.overrides.disabled
    plain = subclass(t, "Plain", __torch_function__=off)
    s = t.ones(2).as_subclass(plain)
    turned_off = subclass(t, "Off", subclass(t), __torch_function__=off)
    o = t.ones(2).as_subclass(turned_off)
    return kinds([s, s + 1, s.sum(), s.T, o, o + 1, o.sum(), o.T])


@programs
def the_most_derived_type_wins(t):
    a = subclass(t, "A")
    b = subclass(t, "B", a)
    x, y = t.ones(2).as_subclass(a), t.ones(2).as_subclass(b)
    return kinds([x + y, y + x, t.cat([x, y]), x.add(y), x == y, x.where(x > 0, y)])


@programs
def unrelated_subclasses_do_not_mix(t):
    x, y = t.ones(2).as_subclass(subclass(t, "A")), t.ones(2).as_subclass(subclass(t, "B"))
    return [type(error) is str or error.kind for error in (error_of(lambda: x + y), error_of(t.cat, [x, y]))]


# ----- how they are made -----


@programs
def as_subclass_is_an_alias(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    s = y.as_subclass(subclass(t))
    (s * 3).sum().backward()
    return [s, s._base is y, name_of(s.grad_fn), x.grad, type(x.grad).__name__]


@programs
def as_subclass_wants_a_subclass(t):
    return [error_of(t.ones(2).as_subclass, int), error_of(t.Tensor._make_subclass, int, t.ones(2))]


@programs
def make_subclass_makes_a_leaf(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    s = t.Tensor._make_subclass(subclass(t), y)
    w = t.Tensor._make_subclass(subclass(t), y, True)
    s += 1
    return [s, w, y, kinds([s, w]), y._version]


@programs
def called_like_a_type(t):
    s = subclass(t)
    x = leaf(t, 1.0, 2.0)
    return [
        s([1.0, 2.0]),
        s(),
        tuple(s(2, 3).shape),
        s((2, 3)),
        t.Tensor([1, 2]),
        s(x),
        s(x)._base is x,
        kinds([s(x), s([1])]),
    ]


@programs
def called_wrongly(t):
    return [error_of(subclass(t), "a"), error_of(subclass(t), 1.5), error_of(t.Tensor, 1.5)]


@programs
def attributes_stay_on_the_object(t):
    kind = subclass(t)
    s = kind([1.0, 2.0])
    s.note = "seen"
    return [s.note, hasattr(s + 1, "note")]


@programs
def a_method_of_the_subclass_calls_its_base(t):
    kind = subclass(t, "Sub", add=lambda self, other: super(kind, self).add(other) * 10, twice=lambda self: self + self)
    s = t.ones(2).as_subclass(kind)
    return [s.add(1), s.twice(), s + 1, kinds([s.add(1), s.twice(), s + 1])]


@programs
def printed_by_the_name_of_the_class(t):
    x = leaf(t, 1.0, 2.0, dtype=t.float32)
    kind = subclass(t, "Named")
    return [repr(t.ones(2).as_subclass(kind)), repr(x.as_subclass(kind)), f"{t.ones(1).as_subclass(kind)}"]


# ----- what __torch_function__ sees -----


@programs
def calls_are_seen(t):
    log = []
    x = t.ones(2, 2, requires_grad=True)
    s = x.as_subclass(logging(t, log))
    s + 1
    1 + s
    x + s
    s - x
    s.add(1)
    s.add(other=1)
    t.add(s, 1)
    t.add(x, s)
    x.add(s)
    s * x
    x / s
    s**2
    -s
    s @ s
    s.sum()
    t.sum(s, dim=0)
    s.mean(dim=0, keepdim=True)
    s[0]
    s.exp()
    t.exp(s)
    t.cat([s, x])
    s.clone()
    s.detach()
    s.unbind()
    x.where(x > 0, s)
    t.zeros_like(s)
    x.lt(s)
    s.eq(x)
    return log


@programs
def attributes_are_seen(t):
    log = []
    s = t.ones(2).as_subclass(logging(t, log))
    s.shape, s.requires_grad, s.is_leaf, s.grad_fn, s.T, s._version, s.data
    s.requires_grad = True
    s.grad = t.ones(2)
    names = ["get", "get", "get", "get", "get", "get", "get", "set", "set"]
    return [[entry[0] for entry in log] == names, log[-1][1:], kinds(s.grad)]


@programs
def writes_are_seen(t):
    log = []
    s = t.ones(2).as_subclass(logging(t, log))
    plain = t.ones(2)
    s += 1
    s.mul_(2)
    s[0] = 5.0
    s.requires_grad_()
    plain.add_(s.detach())
    plain += s.detach()
    plain[0] = s.detach()[1]
    plain.index_put_((t.tensor([1]),), s.detach()[:1])
    plain.masked_fill_(s.detach() > 100, 0.0)
    return [log, s, plain, kinds([s, plain])]


@programs
def a_plain_tensor_is_written_from_one_that_needs_a_gradient(t):
    x = leaf(t, 1.0, 2.0)
    s = x.as_subclass(subclass(t))
    y = x * 1
    y[:1] = s[1:]
    y.index_put_((t.tensor([1]),), s[:1] * 3)
    with disable(t):
        y[:1].mul_(s[:1])
        y[:1].exp_()
    (y * y).sum().backward()
    return [y, kinds(y), x.grad]


@programs
def a_plain_tensor_is_indexed_by_one(t):
    s = t.tensor([1, 0]).as_subclass(subclass(t))
    return [t.arange(4.0)[s], kinds([t.arange(4.0)[s], t.arange(4.0).view(2, 2)[0, s], t.arange(2) < s])]


@programs
def getters_and_setters_can_be_compared(t):
    seen = []

    def note(cls, func, types, args=(), kwargs=None):
        seen.append([func == t.Tensor.shape.__get__, func == t.Tensor.requires_grad.__set__, func is t.Tensor.add])
        return super(kind, cls).__torch_function__(func, types, args, kwargs or {})

    kind = subclass(t, "Sub", __torch_function__=classmethod(note))
    s = t.ones(2).as_subclass(kind)
    s.shape, s.add(1)
    s.requires_grad = True
    return seen


@programs
def nothing_is_seen_while_disabled(t):
    log = []
    s = t.ones(2, requires_grad=True).as_subclass(logging(t, log))
    with disable(t):
        made = [s + 1, s.sum(), s[0], t.cat([s, s]), s.T]
    return [kinds(made), log, kinds(s + 1)]


# ----- precedence -----


class Answers:
    """A class that is no tensor and answers every function with its name, or declines."""

    declines = False
    log: list

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append([cls.__name__, short(func), [k.__name__ for k in types]])
        return NotImplemented if cls.declines else cls.__name__


def answering(name, log, *bases, declines=False):
    return type(name, bases or (Answers,), {"log": log, "declines": declines})()


@programs
def other_classes_are_asked(t):
    log = []
    d, x = answering("Duck", log), t.ones(2)
    got = [
        t.mean(d), x + d, x.add(d), x - d, x * d, t.cat([d, x]), t.stack((x, d)), t.where(d, x, x), x.matmul(d), x == d,
        x.add_(d), t.exp(d), t.nn.functional.relu(d), t.nn.functional.linear(d, x), t.nn.functional.softmax(d, 0), t.sum(d, dim=0),
    ]  # fmt: skip
    return [got, log]


@programs
def autograd_grad_asks(t):
    log = []
    d, x = answering("Duck", log), t.ones(2, requires_grad=True)
    return [t.autograd.grad(d, x), t.autograd.grad(x, d), [entry[:2] for entry in log]]


@programs
def asked_from_left_to_right(t):
    log = []
    a, b, c = (answering(n, log, declines=n != "C") for n in "ABC")
    return [error_of(t.add, a, b).kind, t.cat([a, b, c]), log]


@programs
def a_subclass_is_asked_before_its_base(t):
    log = []
    base = answering("Base", log, declines=True)
    derived = answering("Derived", log, type(base), declines=True)
    other = answering("Other", log)
    return [t.cat([other, base, derived]), t.cat([base, other, derived]), t.cat([base, base, derived, other]), log]


@programs
def all_decline(t):
    no = subclass(t, "No", __torch_function__=classmethod(lambda *args, **kwargs: NotImplemented))
    s, x = t.ones(2).as_subclass(no), t.ones(2)
    f = t.nn.functional
    return [
        [error_of(call) for call in (lambda: s + 1, lambda: 1 - s, lambda: x + s, lambda: s @ s, lambda: s * x)],
        [error_of(t.add, s, 1), error_of(s.add, 1), error_of(t.sum, s), error_of(s.sum), error_of(t.cat, [s, x])],
        [error_of(lambda: s.shape), error_of(lambda: s.T), error_of(lambda: s[0]), error_of(s.exp)],
        [
            error_of(f.softmax, s, 0).kind,
            error_of(f.linear, s, s),
            error_of(t.autograd.grad, s, s).kind,
            s == s,
            s != s,
        ],
    ]


@programs
def an_error_of_the_override_is_the_users(t):
    def fail(cls, func, types, args=(), kwargs=None):
        raise KeyError("mine")

    s = t.ones(2).as_subclass(subclass(t, "Fails", __torch_function__=classmethod(fail)))
    contexts = []
    for call in (lambda: s + 1, lambda: s.sum(), lambda: t.sum(s), lambda: s.shape):
        try:
            call()
        except KeyError as error:
            contexts.append([str(error), error.__context__ is None])
    return contexts


# ----- the engine itself does not ask -----


@programs
def backward_asks_nobody(t):
    log = []
    x = leaf(t, 1.0, 2.0)
    s = x.as_subclass(logging(t, log))
    loss = (s.exp() * s + s[0]).sum()
    del log[:]
    t.autograd.backward(loss, create_graph=True)
    return [
        [entry[0] for entry in log if entry[0] not in ("get", "backward", "numel", "is_same_size")],
        x.grad.detach(),
        kinds(x.grad),
    ]


@programs
def hooks_of_a_plain_pass_ask(t):
    log = []
    w = t.ones(2, dtype=t.float64).as_subclass(logging(t, log))
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: (g * w).as_subclass(t.Tensor))
    loss = y.sum()
    del log[:]
    loss.backward()
    return [log, x.grad]


@programs
def hooks_of_a_pass_begun_by_the_default_do_not(t):
    log = []
    x = leaf(t, 1.0, 2.0)
    s = x.as_subclass(logging(t, log))
    y = s * 2
    y.register_hook(lambda g: [log.append("hook"), g * s][1].as_subclass(t.Tensor))
    loss = y.sum()
    del log[:]
    loss.backward()
    return [[entry if entry == "hook" else entry[0] for entry in log], x.grad]


@programs
def saved_tensors_keep_their_type(t):
    x = leaf(t, 1.0, 2.0)
    kind = subclass(t)
    s = x.as_subclass(kind)
    with disable(t):
        y = s * s
    return kinds([y, y.grad_fn._saved_self, y.grad_fn._saved_self is s])


@programs
def a_loop_of_updates(t):
    w = t.ones(2, dtype=t.float64).as_subclass(subclass(t)).requires_grad_()
    for _ in range(3):
        loss = ((w - 3) ** 2).sum()
        loss.backward()
        with t.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    return [w, kinds([w, loss]), w.is_leaf]


# ----- helpers of torch.overrides -----


@programs
def helpers(t):
    o = __import__("torch.overrides", fromlist=["x"]) if t is torch else t.overrides
    s, d = t.ones(2).as_subclass(subclass(t)), answering("Duck", [])
    return [
        o.has_torch_function((s,)), o.has_torch_function((t.ones(2),)), o.has_torch_function((1, d)),
        o.is_tensor_method_or_property(t.Tensor.sum), o.is_tensor_method_or_property(t.Tensor.shape.__get__),
        o.is_tensor_like(d), o.is_tensor_like(3), o.is_tensor_like(s), o.resolve_name(t.Tensor.exp), o.resolve_name(t.sum),
    ]  # fmt: skip


@programs
def a_function_of_the_user_is_overridable(t):
    o = __import__("torch.overrides", fromlist=["x"]) if t is torch else t.overrides

    def scaled(x, by=2):
        if o.has_torch_function((x,)):
            return o.handle_torch_function(scaled, (x,), x, by=by)
        return x * by

    log = []
    no = answering("No", [], declines=True)
    return [scaled(t.ones(2)), scaled(answering("Duck", log)), log, error_of(scaled, no).kind]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_what_modules_hold_overrides_nothing():
    """Else every function would look for overriding arguments as soon as ``nn`` is used."""
    for kind in (T.nn.Parameter, T.nn.Buffer):
        assert kind.__torch_function__ is overrides.disabled
        assert not overrides.overrides(kind)


def test_the_examples_of_the_docs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "subclasses.md").read_text()
    names = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(example, names)
    assert capsys.readouterr().out.split() == ["Metres"] * 3 + ["add", "exp"]


@pytest.mark.parametrize("name", ("eq", "ne", "lt", "le", "gt", "ge"))
@pytest.mark.parametrize("turned", (False, True), ids=("left", "right"))
def test_what_an_object_sees_of_a_comparison(name, turned):
    """The method, where it is no tensor; a subclass sees ``==`` as ``__eq__``, whichever side it is on."""
    seen = []

    def handler(kind, func, types, args=(), kwargs=None):
        seen.append(func)
        return "answer"

    kept = []
    for library in (torch, T):
        own = {"__torch_function__": classmethod(handler)}
        tensor, other = library.ones(1), type("Other", (), own)()
        inherited = library.ones(1).as_subclass(type("Sub", (library.Tensor,), own))
        for there in (other, inherited):
            assert getattr(operator, name)(*((there, tensor) if turned else (tensor, there))) == "answer"
        kept.append([f.__name__ for f in seen])
        assert [getattr(library.Tensor, f.__name__) for f in seen] == seen
        seen.clear()
    assert kept[0] == kept[1]
