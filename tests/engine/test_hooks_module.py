"""Hooks of modules, forward and backward, on one and on all: PyTorch and the engine do the same."""

import contextlib

import pytest
from agdbg_tests_differential import Programs, error_of, graph_of, leaf, logged_warnings, same, unnamed

import agdbg_engine as ag
from agdbg_engine import events

torch = pytest.importorskip("torch")
programs = Programs()


def plain(value):
    """Gradients, arguments or results as lists of numbers."""
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.detach().tolist() if hasattr(value, "grad_fn") else value


def note(log, name):
    """A hook that logs its name and what comes after the module."""
    return lambda module, *rest: log.append([name, plain(rest)])


def double(t, forward=lambda x: x * 2):
    """A module without parameters."""

    class Double(t.nn.Module):
        def forward(self, *args, **kwargs):
            return forward(*args, **kwargs)

    return Double()


def linear(t, n=2):
    layer = t.nn.Linear(n, n)
    with t.no_grad():
        layer.weight.copy_(t.arange(n * n).view(n, n) + 1.0)
        layer.bias.copy_(t.arange(n) + 0.0)
    return layer


def single(t, *values):
    return leaf(t, *values, dtype=t.float32)


def all_kinds(module, log, name):
    module.register_full_backward_hook(note(log, name + " backward"))
    module.register_full_backward_pre_hook(note(log, name + " backward pre"))
    module.register_forward_hook(note(log, name + " forward"))
    module.register_forward_pre_hook(note(log, name + " forward pre"))


# ----- forward -----


@programs
def order_of_forward_hooks(t):
    m, log, x = double(t), [], leaf(t, 3.0)
    m.register_forward_hook(note(log, "after 1"))
    m.register_forward_pre_hook(note(log, "before 1"))
    m.register_forward_hook(note(log, "after 0"), prepend=True)
    m.register_forward_pre_hook(note(log, "before 0"), prepend=True)
    m.register_forward_hook(note(log, "after 2"))
    return [m(x), log]


@programs
def forward_hooks_replace(t):
    m, x = double(t), leaf(t, 3.0)
    m.register_forward_pre_hook(lambda m, args: args[0] + 1)
    m.register_forward_pre_hook(lambda m, args: (args[0] * 10,))
    m.register_forward_hook(lambda m, args, out: out + args[0])
    m.register_forward_hook(lambda m, args, out: [out])
    return m(x)


@programs
def with_keywords(t):
    m, log, x = double(t, lambda x, scale=1: x * scale), [], leaf(t, 3.0)
    m.register_forward_pre_hook(lambda m, args, kwargs: (args, {"scale": kwargs["scale"] + 1}), with_kwargs=True)
    m.register_forward_pre_hook(note(log, "before"), with_kwargs=True)
    m.register_forward_hook(note(log, "after"), with_kwargs=True)
    m.register_forward_hook(note(log, "after without"))
    return [m(x, scale=4), log]


@programs
def with_keywords_and_a_wrong_answer(t):
    seen = []
    for answer in (3, (1, 2, 3), [(), {}]):
        m = double(t)
        m.register_forward_pre_hook(lambda m, args, kwargs, answer=answer: answer, with_kwargs=True)
        seen.append(error_of(m, leaf(t, 1.0)))
    return seen


@programs
def called_in_any_case(t):
    seen = []
    for where in ("before", "forward", "hook"):

        def fail(*args, **kwargs):
            raise KeyError("mine")

        m, log = double(t, fail if where == "forward" else lambda x: x), []
        m.register_forward_hook(note(log, "always 1"), always_call=True)
        m.register_forward_hook(note(log, "sometimes"))
        if where != "forward":
            m.register_forward_hook(fail) if where == "hook" else m.register_forward_pre_hook(fail)
        m.register_forward_hook(note(log, "always 2"), always_call=True, with_kwargs=True)
        m.register_forward_hook(lambda m, args, out: 1 / 0, always_call=True)
        with logged_warnings() as said:
            error = error_of(m, leaf(t, 2.0))
        seen.append([error, log, said])
    return seen


@programs
def removal_of_forward_hooks(t):
    m, log, x = double(t), [], leaf(t, 3.0)
    a = m.register_forward_hook(note(log, "a"), with_kwargs=True, always_call=True)
    with m.register_forward_pre_hook(note(log, "b")):
        m(x)
    a.remove()
    a.remove()
    m(x)
    return [log, len(m._forward_hooks), len(m._forward_pre_hooks)]


@programs
def a_hook_that_registers_and_removes(t):
    m, log, handles = double(t), [], []

    def hook(m, args):
        log.append("first")
        handles[0].remove()
        m.register_forward_pre_hook(note(log, "late"))
        m.register_forward_hook(note(log, "after"))

    handles.append(m.register_forward_pre_hook(hook))
    handles.append(m.register_forward_pre_hook(note(log, "second")))
    m(leaf(t, 1.0))
    m(leaf(t, 2.0))
    return log


# ----- backward -----


@programs
def the_order_of_everything(t):
    a, b, log = linear(t), linear(t), []
    model = t.nn.Sequential(a, t.nn.ReLU(), b)
    for name, m in (("model", model), ("a", a), ("relu", model[1]), ("b", b)):
        all_kinds(m, log, name)
    for name, p in model.named_parameters():
        p.register_hook(lambda g, name=name: log.append([name, plain(g)]))
        p.register_post_accumulate_grad_hook(lambda p, name=name: log.append([name + " grad", plain(p.grad)]))
    x = single(t, 1.0, -2.0)
    x.register_hook(lambda g: log.append(["x", plain(g)]))
    y = model(x)
    y.register_hook(lambda g: log.append(["y", plain(g)]))
    y.sum().backward()
    return [log, x.grad, [p.grad for p in model.parameters()]]


@programs
def backward_hooks_replace(t):
    m, log, x = linear(t), [], single(t, 1.0, 2.0)
    m.register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
    m.register_full_backward_pre_hook(note(log, "pre"))
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 100,))
    m.register_full_backward_hook(note(log, "post"))
    m(x).sum().backward()
    return [log, x.grad, m.weight.grad]


@programs
def prepended_backward_hooks(t):
    m, log, x = linear(t), [], single(t, 1.0, 2.0)
    for i in range(2):
        m.register_full_backward_pre_hook(note(log, f"pre {i}"), prepend=bool(i))
        m.register_full_backward_hook(note(log, f"post {i}"), prepend=bool(i))
    m(x).sum().backward()
    return log


@programs
def the_nodes_around_a_module(t):
    m, x = double(t, lambda x: x.exp()), leaf(t, 1.0, 2.0)
    m.register_full_backward_hook(lambda *_: None)
    y = m(x * 1)
    return [y, graph_of(y)]


@programs
def in_place_on_what_a_hooked_module_returns(t):
    m, x = double(t, lambda x: x * 2), leaf(t, 1.0, 2.0)
    m.register_full_backward_hook(lambda *_: None)
    return [error_of(m(x).mul_, 2), m(x)._is_view()]


@programs
def in_place_inside_a_hooked_module(t):
    m, x = double(t, lambda x: x.relu_()), leaf(t, 1.0, 2.0)
    m.register_full_backward_hook(lambda *_: None)
    return error_of(m, x * 2)


@programs
def several_inputs_and_outputs(t):
    m, log = double(t, lambda a, n, b, c: (a * b, n, b + c)), []
    x, y, c = leaf(t, 2.0), leaf(t, 3.0), t.ones(1, dtype=t.float64)
    all_kinds(m, log, "m")
    p, n, q = m(x, 7, y, c)
    (p * q).backward(retain_graph=True)
    log.append("--")
    q.backward()
    return [log, [p, n, q], x.grad, y.grad]


@programs
def no_input_requires_grad(t):
    m, log, x = linear(t), [], t.ones(2)
    all_kinds(m, log, "m")
    with logged_warnings() as said:
        m(x).sum().backward()
    return [log, said, m.weight.grad]


@programs
def no_input_requires_grad_and_a_wrong_answer(t):
    seen = []
    for answer in (lambda m, gi, go: gi, lambda m, gi, go: go, lambda m, gi, go: 3):
        m = linear(t)
        m.register_full_backward_hook(answer)
        seen.append(error_of(m(t.ones(2)).sum().backward))
    return seen


@programs
def wrong_answers(t):
    seen = []
    for kind in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        for answer in (
            lambda m, *g: (g[0][0], g[0][0]),
            lambda m, *g: (),
            lambda m, *g: (g[0][0][:1],),
            lambda m, *g: [g[0][0]],
            lambda m, *g: (g[0][0].double(),),
            lambda m, *g: (3,),
            lambda m, *g: g[0][0],
            lambda m, *g: (None,),
        ):
            m, x = linear(t), single(t, 1.0, 2.0)
            getattr(m, kind)(answer)
            seen.append([kind, error_of(m(x).sum().backward), x.grad])
    return seen


@programs
def a_backward_hook_that_raises(t):
    m, x = linear(t), single(t, 1.0, 2.0)

    def fail(*_):
        raise KeyError("mine")

    handle = m.register_full_backward_hook(fail)
    first = error_of(m(x).sum().backward)
    handle.remove()
    m(x).sum().backward()
    return [first, x.grad]


@programs
def results_that_are_no_tensors(t):
    m, log, x = double(t, lambda x: {"y": x * 2}), [], leaf(t, 1.0)
    m.register_full_backward_hook(note(log, "post"))
    with logged_warnings() as said:
        y = m(x)
    y["y"].backward()
    return [[w.replace(str(dict), "") for w in said], log, x.grad]


@programs
def case_37_the_gradient_of_a_parameter_is_not_there_yet(t):
    m, seen, x = linear(t), [], single(t, 1.0, 2.0)
    m.register_full_backward_hook(lambda m, gi, go: seen.append([m.weight.grad is None, m.bias.grad is None]))
    m(x).sum().backward()
    return seen


@programs
def without_gradient_mode(t):
    m, log, x = double(t), [], leaf(t, 1.0, 2.0)
    all_kinds(m, log, "m")
    with t.no_grad():
        y = m(x)
    return [log, y]


@programs
def a_module_twice_in_one_graph(t):
    m, log, x = double(t, lambda x: x * 3), [], leaf(t, 1.0)
    m.register_full_backward_hook(note(log, "post"))
    m.register_full_backward_pre_hook(note(log, "pre"))
    m(m(x)).backward()
    return [log, x.grad]


@programs
def hooks_under_inputs_and_twice(t):
    m, log, x = linear(t), [], single(t, 1.0, 2.0)
    m.register_full_backward_hook(note(log, "post"))
    m.register_full_backward_pre_hook(note(log, "pre"))
    y = m(x).sum()
    y.backward(retain_graph=True, inputs=[m.weight])
    log.append("--")
    t.autograd.grad(y, [x], retain_graph=True)
    log.append("--")
    y.backward()
    return [log, x.grad, m.weight.grad]


@programs
def second_order(t):
    m, log, x = double(t, lambda x: x * x * x), [], leaf(t, 2.0)
    m.register_full_backward_hook(note(log, "post"))
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    (g,) = t.autograd.grad(m(x), x, create_graph=True)
    log.append("--")
    (h,) = t.autograd.grad(g, x)
    return [log, unnamed(g), h]


@programs
def removed_backward_hooks(t):
    m, log, x = linear(t), [], single(t, 1.0, 2.0)
    handles = [m.register_full_backward_hook(note(log, "post")), m.register_full_backward_pre_hook(note(log, "pre"))]
    y = m(x).sum()
    for handle in handles:
        handle.remove()
    y.backward()
    log.append("--")
    m(x).sum().backward()
    return [log, len(m._backward_hooks), len(m._backward_pre_hooks)]


# ----- the deprecated one -----


@programs
def deprecated_backward_hooks(t):
    log = []
    with logged_warnings() as said:
        for forward in (
            lambda x, y: x.exp(),
            lambda x, y: (x.exp(), y.exp()),
            lambda x, y: x.exp().sin(),
            lambda x, y: [x.exp()],
            lambda x, y: {"a": 1, "b": x.exp()},
            lambda x, y: t.ones(1),
        ):
            m, x, y = double(t, forward), leaf(t, 0.5), leaf(t, 2.0)
            m.register_backward_hook(note(log, "old"))
            out = m(x, y)
            while not hasattr(out, "grad_fn"):
                out = out["b"] if isinstance(out, dict) else out[0]
            out.backward() if out.requires_grad else None
        m(x, 3)
    return [log, said]


@programs
def deprecated_and_full_ones_do_not_mix(t):
    a, b = double(t), double(t)
    a.register_backward_hook(print)
    b.register_full_backward_hook(print)
    return [error_of(a.register_full_backward_hook, print), error_of(b.register_backward_hook, print)]


# ----- on all modules -----


@programs
def hooks_on_all_modules_come_first(t):
    every, m, log, x = t.nn.modules.module, linear(t), [], single(t, 1.0, 2.0)
    all_kinds(m, log, "own")
    with contextlib.ExitStack() as stack:
        for register, name in (
            (every.register_module_forward_pre_hook, "all forward pre"),
            (every.register_module_forward_hook, "all forward"),
            (every.register_module_full_backward_pre_hook, "all backward pre"),
            (every.register_module_full_backward_hook, "all backward"),
        ):
            stack.enter_context(register(note(log, name)))
        t.nn.Sequential(m, double(t))(x).sum().backward()
    m(x).sum().backward()
    return log


@programs
def forward_hooks_on_all_modules_with_options(t):
    every, log = t.nn.modules.module, []

    def fail(*args, **kwargs):
        raise KeyError("mine")

    with (
        every.register_module_forward_hook(note(log, "keywords"), with_kwargs=True),
        every.register_module_forward_hook(note(log, "always"), always_call=True),
        every.register_module_forward_hook(note(log, "both"), with_kwargs=True, always_call=True),
        every.register_module_forward_pre_hook(lambda m, args: (args[0] * 2,)),
    ):
        out = double(t, lambda x, k=1: x * k)(leaf(t, 1.0), k=3)
        error = error_of(double(t, fail), leaf(t, 1.0), k=4)
    return [out, error, log]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


class Hooked(events.Sink):
    """Notes what is told of hooks."""

    def __init__(self):
        self.facts = []

    def hook(self, what, kind, node, code, lasti, facts):
        self.facts.append((what, kind, node and node.op_name))


def test_every_kind_is_told():
    m, x, log, sink = linear(ag), single(ag, 1.0, 2.0), [], Hooked()
    events.install(sink)
    try:
        all_kinds(m, log, "m")
        kinds = ["module-backward", "module-backward-pre", "module-forward", "module-forward-pre"]
        assert sink.facts == [("registered", kind, None) for kind in kinds]
        del sink.facts[:]
        m(x).sum().backward()
        assert sink.facts == [
            ("fired", "module-forward-pre", None),
            ("fired", "module-forward", None),
            ("fired", "module-backward-pre", "BackwardHookFunctionBackward"),
            ("fired", "module-backward", "BackwardHookFunctionBackward"),
        ]
    finally:
        events.remove()


def test_a_hook_that_no_input_leads_to_warns_at_the_line_of_the_program():
    net = ag.nn.Linear(2, 1)
    net.register_full_backward_hook(lambda module, grads_in, grads_out: None)
    with pytest.warns(UserWarning, match="Full backward hook is firing") as told:
        net(ag.ones(1, 2)).sum().backward()
    assert [each.filename for each in told] == [__file__]
