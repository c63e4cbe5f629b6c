"""Hooks that never fire, that were left behind, that edit a gradient others share; gradients that are read too early."""

import pytest

from agdbg.record.hooked import hooks

# ----- gradients edited under a sibling's feet (case 38) -----

SHARED = """
b = x * 2; c = x * 3
def tenfold(g):
    WRITE
REGISTER
(b + c).backward(ag.ones(2))
assert x.grad.tolist() == [RESULT, RESULT]
"""


def shared(write, register="c.register_hook(tenfold)", result=50.0):
    return SHARED.replace("WRITE", write).replace("REGISTER", register).replace("RESULT", str(result))


def test_a_hook_that_edits_a_shared_gradient(lint_script, roles):
    found = lint_script(shared("g.mul_(10)")).only("gradient-edited")
    assert (
        found.certainty == "certain"
        and "the gradient of `b` (`x * 2` at line 5) lies in the same memory" in found.cause
    )
    assert (
        "tensor hook `tenfold` on `c` at line 8" in found.cause and "Return a new gradient from `tenfold`" in found.fix
    )
    assert roles(found) == [("sibling", 5), ("registered", 8), ("hook", 6), ("wrote", 7), ("call", 9)]


@pytest.mark.parametrize(
    "write", ["g *= 10", "g[0] = 10 * g[0]; g[1] = 10 * g[1]", "g.view(2).mul_(10)", "with ag.no_grad(): g.mul_(10)"]
)
def test_however_it_is_written(lint_script, write):
    assert lint_script(shared(write)).kinds() == ["gradient-edited"]


@pytest.mark.parametrize("write", ["g.data.mul_(10)", "g.detach().numpy()[:] *= 10"])
def test_even_without_a_version(lint_script, write):
    run = lint_script(shared(write))
    assert "gradient-edited" in run.kinds()
    assert "gradient-edited" not in lint_script(shared(write), also=()).kinds(), "that takes checksums"


BACKWARD = """
class Careless(Function):
    @staticmethod
    def forward(ctx, t): return t * 3
    @staticmethod
    def backward(ctx, g):
        g *= 3
        return g
b = x * 2; c = Careless.apply(x)
(b + c).backward(ag.ones(2))
"""


def test_a_backward_that_edits_what_it_is_given(lint_script, roles):
    found = lint_script(BACKWARD).only("gradient-edited")
    assert "backward() of `Careless` at line 9 writes to its gradient in place, and the gradient of `b`" in found.cause
    assert roles(found) == [("sibling", 12), ("hook", 9), ("wrote", 10), ("call", 13)]


@pytest.mark.parametrize("write", ["return g * 10", "return g.clone().mul_(10)"])
def test_a_hook_that_returns_a_new_gradient_is_right(lint_script, write):
    assert lint_script(shared(write, result=32.0)).kinds() == []


def test_what_nobody_shares_may_be_edited(lint_script):
    assert (
        lint_script("y = x * 2\ny.register_hook(lambda g: (g.mul_(10), None)[1])\n(y * y).sum().backward()").kinds()
        == []
    )


def test_the_hook_of_a_node_may_edit_what_goes_to_two_inputs(lint_script):
    source = "y = x * 2 + x * 3\ndef edit(gi, go):\n    gi[0].mul_(10)\ny.grad_fn.register_hook(edit)\ny.backward(ag.ones(2))"
    found = lint_script(source).only("gradient-edited")
    assert "post hook `edit` on `y.grad_fn`" in found.cause


# ----- in-place ops leave hooks behind (case 35) -----


def test_a_hook_stays_with_the_old_node(lint_script, roles):
    found = lint_script(
        "a = x.clone()\na.register_hook(lambda g: None)\na.retain_grad()\na.mul_(2)\na.sum().backward()"
    ).only("hook-left-behind")
    assert "stays with the node before the in-place op at line 8 (mul_)" in found.cause
    assert "`a.grad` (retain_grad) is that after it" in found.cause
    assert roles(found) == [("registered", 6), ("retained", 7), ("wrote", 8)]


def test_a_hook_behind_the_in_place_op_is_right(lint_script):
    assert lint_script("a = x.clone()\na.mul_(2)\na.register_hook(lambda g: None)\na.sum().backward()").kinds() == []


# ----- hooks that never fire (case 36 and others) -----


def never(found):
    return found.only("hook-never-fired")


def test_an_accumulator_that_nobody_holds(lint_script, roles):
    source = "x.view_as(x).grad_fn.next_functions[0][0].register_hook(lambda *g: None)\n(x * 2).sum().backward()"
    found = never(lint_script(source))
    assert "an AccumulateGrad node that nothing held" in found.cause and found.certainty == "certain"
    assert "register_post_accumulate_grad_hook" in found.fix and roles(found)[0] == ("registered", 5)
    assert never(lint_script(source, also=())).certainty == "likely", (
        "without shapes no other node of the leaf is known"
    )


def test_an_accumulator_that_is_held_fires(lint_script):
    source = "node = x.view_as(x).grad_fn.next_functions[0][0]\nnode.register_hook(lambda *g: None)\n(x * 2).sum().backward()"
    assert lint_script(source).kinds() == []


def test_a_lambda_is_defined_where_it_stands(lint_script, roles):
    found = never(lint_script("h = x * 2\nh.sum().backward()\nh.register_hook(lambda g: None)\ndef other(): pass"))
    assert ("hook", 7) in roles(found)


def test_after_the_pass(lint_script, roles):
    found = never(lint_script("h = x * 2\nh.sum().backward()\nh.register_hook(print)\n(x * 3).sum().backward()"))
    assert "the pass that ran its node was over" in found.cause and ("call", 6) in roles(found)


def test_a_view_whose_base_was_written(lint_script, roles):
    found = never(lint_script("q = x * 2\nv = q[0]\nv.register_hook(print)\nq.mul_(3)\n(q.sum() + v).backward()"))
    assert "got a new grad_fn" in found.cause and ("wrote", 8) in roles(found)


def test_a_module_hook_after_the_call(lint_script):
    found = never(
        lint_script("m = nn.Linear(2, 2)\ny = m(x)\nm.register_full_backward_hook(print)\ny.sum().backward()")
    )
    assert "takes hold when the module is called" in found.cause


def test_grad_accumulates_nothing(lint_script):
    found = never(lint_script("x.register_post_accumulate_grad_hook(print)\ngrad((x * x).sum(), x)"))
    assert "autograd.grad() accumulates nothing" in found.cause and "register_hook" in found.fix


def test_what_the_loss_does_not_depend_on(lint_script):
    found = never(lint_script("h = x * 5\nh.register_hook(print)\n(x * 3).sum().backward()"))
    assert found.certainty == "likely" and "no backward pass reached it" in found.cause


HARMLESS = {
    "no pass": "h = x * 2\nh.register_hook(print)",
    "removed": "h = x * 2\nh.register_hook(print).remove()\nh.sum().backward()",
    "another turn of the loop fired": "for turn in range(3):\n    h = x * 2\n    h.register_hook(lambda g: None)\n    if turn: h.sum().backward()",
    "frozen parameters": "m = nn.Linear(2, 2)\nfor p in m.parameters(): p.register_hook(lambda g: None)\n(x * m.bias).sum().backward()",
    "forward hooks": "m = nn.Linear(2, 2)\nm.register_forward_hook(lambda *a: None)\n(x * x).sum().backward()",
    "retain_grad": "h = x * 2\nh.retain_grad()\n(h * h).sum().backward()",
    "the pass failed": "h = x * 2\nh.register_hook(print)\ny = h.exp()\ny.mul_(2)\ntry: y.sum().backward()\nexcept RuntimeError: pass",
}


@pytest.mark.parametrize("source", HARMLESS.values(), ids=HARMLESS)
def test_nothing_is_said(lint_script, source):
    assert lint_script(source).kinds() == []


# ----- gradients that are read before they are there (case 37) -----

MODULE = """
m = nn.Linear(2, 2)
def look(module, grad_inputs, grad_outputs):
    seen = module.weight.grad
    seen = module.bias.grad
m.register_full_backward_hook(look)
m(ag.ones(2)).sum().backward()
"""


def test_a_parameters_gradient_in_a_module_hook(lint_script, roles):
    found = lint_script(MODULE).lints
    assert [each.kind for each in found] == ["grad-read-early"] * 2
    assert (
        "The `.grad` of `weight` is None where line 7 reads it, in the module-backward hook `look` on `m`"
        in found[0].cause
    )
    assert roles(found[0]) == [("registered", 9), ("read", 7), ("call", 10)]


LAMBDAS = """
a, b, log = nn.Linear(2, 1), nn.Linear(2, 1), []
a.register_full_backward_hook(lambda m, gi, go: log.append(go[0].norm()))
b.register_full_backward_hook(lambda m, gi, go: log.append(m.weight.grad))
(a(ag.ones(2)) + b(ag.ones(2))).sum().backward()
"""


def test_of_two_lambdas_the_one_that_read(lint_script, roles):
    found = lint_script(LAMBDAS).only("grad-read-early")
    assert "line 7 reads it, in the module-backward hook on `b`" in found.cause
    assert roles(found) == [("registered", 7), ("read", 7), ("call", 8)]


def test_of_one_function_on_two_modules_the_call_that_read(lint_script):
    script = LAMBDAS.replace("go[0].norm()", "m.weight.grad if m is b else 0").splitlines()
    script[2:4] = [f"for each in (a, b): {script[2].strip().replace('a.register', 'each.register')}", "keep = b"]
    found = lint_script("\n".join(script)).lints
    assert [each.kind for each in found] == ["grad-read-early"]
    assert found[0].cause.count("hook on") == 1


def test_a_gradient_in_a_tensor_hook(lint_script):
    found = lint_script("y = x * 2\ny.register_hook(lambda g: (x.grad, None)[1])\ny.sum().backward()").only(
        "grad-read-early"
    )
    assert found.certainty == "certain" and "after backward()" in found.fix


@pytest.mark.parametrize(
    "source",
    [
        "x.register_post_accumulate_grad_hook(lambda p: (p.grad.add_(1), None)[1])\n(x * 2).sum().backward()",
        "y = x * 2\ndef f(g):\n    if x.grad is None: return\n    x.grad.zero_()\ny.register_hook(f)\ny.sum().backward()",
        "w = ag.ones(2, requires_grad=True)\ny = x * 2\ny.register_hook(lambda g: (w.grad, None)[1])\ny.sum().backward()",
        "(x * 2).sum().backward()\nx.grad = None\nx.grad",
    ],
    ids=["when it is there", "asked for", "of another leaf", "outside of a pass"],
)
def test_reading_that_is_right(lint_script, source):
    assert lint_script(source).kinds() == []


# ----- whatever a user gives as a hook -----

ODD = {
    "a partial": "import functools\nx.register_hook(functools.partial(lambda a, g: None, 1))",
    "a method": "class H:\n    def see(self, g): pass\nkeep = H()\nx.register_hook(keep.see)",
    "an object": "class H:\n    def __call__(self, g): pass\nx.register_hook(H())",
    "an object that refuses": "class H:\n    def __call__(self, g): pass\n    def __getattr__(self, name): raise LookupError(name)\nx.register_hook(H())",
    "one of C": "seen = []\nx.register_hook(seen.append)",
}


@pytest.mark.parametrize("source", ODD.values(), ids=ODD)
def test_odd_hooks_are_recorded(lint_script, source):
    run = lint_script(source + "\n(x * 2).sum().backward()")
    assert run.kinds() == []
    fired = [each for each in hooks(run.facts) if each.what == "fired"]
    assert len(fired) == 1 and fired[0].number and fired[0].kind == "tensor"


def test_all_writes_of_a_backward_are_named_since_any_may_have_changed_a_value(lint_script, roles):
    source = BACKWARD.replace("        g *= 3\n", "        g[g > 0] = 0\n        g[g < 0] = 0\n")
    found = lint_script(source).only("gradient-edited")
    assert [line for role, line in roles(found) if role == "wrote"] == [10, 11]
    assert found.fix.endswith("now it has `g[g > 0] = 0` and `g[g < 0] = 0`.")


@pytest.mark.parametrize(
    "hook",
    ["b.register_hook(lambda g: g.mul_(10))", "def ten(g):\n    return g.mul_(10)\nb.register_hook(ten)"],
)
def test_a_hook_that_writes_to_an_expanded_gradient(linted, lines_of, hook):
    (found,) = linted(f"x = ag.ones(3, requires_grad=True)\nb = x * 3\n{hook}\nb.sum().backward()\n").diagnosed
    assert "the gradient that the hook, registered at line" in found.cause
    assert "`return g.mul(10)`" in found.fix and len(lines_of(found, "registered")) == 1
