"""Custom Functions that are wrong: what they write, what they keep on ctx, what their backward returns, what they have not."""

import textwrap

import pytest


def function(forward, backward="return g", arguments="x", name="F"):
    """The source of a Function whose forward begins behind two lines, from the line where it stands on."""
    body = textwrap.indent(textwrap.dedent(forward).strip("\n"), " " * 8)
    back = textwrap.indent(textwrap.dedent(backward).strip("\n"), " " * 8)
    return (
        f"class {name}(Function):\n    @staticmethod\n    def forward(ctx, {arguments}):\n{body}\n"
        f"    @staticmethod\n    def backward(ctx, g):\n{back}\n"
    )


# ----- arguments that are written (case 40) -----


def test_an_argument_that_is_written_without_mark_dirty(lint_script, roles):
    found = lint_script(function("x.mul_(2)\nreturn x", "return 2 * g") + "F.apply(x * 1).sum().backward()").only(
        "unmarked-write"
    )
    assert found.certainty == "certain" and "ctx.mark_dirty(x)" in found.fix
    assert "forward() of `F`, applied at line 13, changes its argument `x` in place at line 8" in found.cause
    assert roles(found) == [("applied", 13), ("forward", 7), ("wrote", 8)]


@pytest.mark.parametrize(
    ("forward", "call"),
    [
        ("x.mul_(2)\nctx.mark_dirty(x)\nreturn x", "F.apply(x * 1)"),
        ("y = x.clone()\ny.mul_(2)\nreturn y", "F.apply(x * 1)"),
        ("x.mul_(2)\nreturn x * 1", "F.apply((x * 1).detach())"),
    ],
    ids=["marked", "a copy", "needs no gradient"],
)
def test_writing_that_is_right(lint_script, forward, call):
    assert lint_script(function(forward, "return 2 * g") + call).kinds() == []


# ----- tensors on the context (case 39) -----

TWICE = "g, = grad(F.apply(x).sum(), x, create_graph=True)\ng.sum().backward()"
INTERMEDIATE = function(
    "t = 2 * x\nKEEP\nctx.save_for_backward(x)\nreturn x * t", "return g * (t_of(ctx) + 2 * ctx.saved_tensors[0])"
)


@pytest.mark.parametrize("keep", ["ctx.t = t", "ctx.some = [1, t]", "ctx.named = {'t': t}"])
def test_an_intermediate_that_a_second_derivative_misses(lint_script, keep):
    of = {"ctx.t = t": "ctx.t", "ctx.some = [1, t]": "ctx.some[1]", "ctx.named = {'t': t}": "ctx.named['t']"}[keep]
    found = lint_script(INTERMEDIATE.replace("KEEP", keep).replace("t_of(ctx)", of) + TWICE).only("intermediate-kept")
    assert f"`{of}` of `F`" in found.cause and found.certainty == "likely" and "once_differentiable" in found.fix
    assert [each.role for each in found.evidence] == ["applied", "forward", "backward", "first call", "second call"]


def test_an_intermediate_that_is_saved_is_no_better(lint_script):
    source = INTERMEDIATE.replace("KEEP\n        ctx.save_for_backward(x)", "ctx.save_for_backward(x, t)")
    found = lint_script(source.replace("t_of(ctx)", "ctx.saved_tensors[1]") + TWICE).only("intermediate-kept")
    assert "`ctx.saved_tensors[1]`" in found.cause


@pytest.mark.parametrize(
    "source",
    [
        INTERMEDIATE.replace("KEEP", "ctx.t = t").replace("t_of(ctx)", "ctx.t") + "F.apply(x).sum().backward()",
        function("ctx.mask = x > 1\nreturn x * ctx.mask", "return g * ctx.mask")
        + TWICE.replace("F.apply(x)", "(F.apply(x) * x)"),
        function("y = x.exp()\nctx.save_for_backward(y)\nreturn y", "return g * ctx.saved_tensors[0]") + TWICE,
        function("ctx.save_for_backward(x)\nreturn x * x", "return 2 * g * ctx.saved_tensors[0]") + TWICE,
        function("ctx.x, ctx.n = x, 3\nreturn x * x", "return 2 * g * ctx.x") + TWICE,
    ],
    ids=["no second derivative", "a mask", "an output", "an argument", "an argument on ctx"],
)
def test_what_may_be_kept(lint_script, source):
    assert lint_script(source).kinds() == []


def test_an_output_on_the_context_is_a_cycle(lint_script, roles):
    source = function("y = x.exp()\nctx.y = y\nreturn y", "return g * ctx.y") + "F.apply(x).sum().backward()"
    found = lint_script(source).only("context-cycle")
    assert "`ctx.y` of `F`, applied at line 14" in found.cause and "save_for_backward" in found.fix
    assert roles(found) == [("applied", 14), ("forward", 7)]


def test_a_write_to_what_the_context_holds_goes_unnoticed(lint_script, roles):
    source = function("ctx.x = x\nreturn x * x", "return 2 * g * ctx.x")
    found = lint_script(
        source + "h = x * 1\ny = F.apply(h)\nwith ag.no_grad():\n    h.add_(1)\ny.sum().backward()"
    ).only("context-written")
    assert "`ctx.x` of `F`, applied at line 14, was changed in place at line 16 (add_)" in found.cause
    assert roles(found) == [("applied", 14), ("wrote", 16), ("needed", 17)]


def test_a_write_after_backward_is_harmless(lint_script):
    source = function("ctx.x = x\nreturn x * x", "return 2 * g * ctx.x")
    assert (
        lint_script(
            source + "for turn in range(3):\n    F.apply(x).sum().backward()\n    with ag.no_grad(): x.sub_(0.1)"
        ).kinds()
        == []
    )


# ----- what nothing has counted -----

ARRAYS = "import numpy as np\nw = np.array([2.0, 3.0], np.float32)\n"
READS = "return g * ag.as_tensor(ctx.{})"
CHANGED = {
    "an array": ("ctx.w = w\nreturn x * ag.as_tensor(w)", READS.format("w"), "w[:] = 0", "w"),
    "an array in a list": ("ctx.b = [w]\nreturn x * ag.as_tensor(w)", READS.format("b[0]"), "w += 1", "b[0]"),
    "an array of two": (
        "ctx.b = [w, w + 1]\nreturn x * ag.as_tensor(w)", READS.format("b[0]"), "w += 1", "b[0]",
    ),
    "in a dict": ("ctx.d = {'k': [w]}\nreturn x * ag.as_tensor(w)", READS.format("d['k'][0]"), "w += 1", "d['k'][0]"),
    "unpacked": (
        "ctx.b = (w, w.copy())\nreturn x * ag.as_tensor(w)", "a, b = ctx.b\nreturn g * ag.as_tensor(a)", "w += 1", "b[0]",
    ),
    "a place in a list": (
        "ctx.b = shared\nshared[0] = x.detach()\nreturn x * 1", "return g * ctx.b[0]", "shared[0] = ag.zeros(2)", "b[0]",
    ),
    "a tensor by .data": ("ctx.t = t\nreturn x * t", "return g * ctx.t", "t.data.fill_(0)", "t"),
    "a tensor by NumPy": ("ctx.t = t\nreturn x * t", "return g * ctx.t", "t.numpy()[:] = 0", "t"),
}  # fmt: skip
RIGHT = {
    "nobody changes it": ("ctx.w = w\nreturn x * ag.as_tensor(w)", READS.format("w"), "pass"),
    "a copy": ("ctx.w = w.copy()\nreturn x * ag.as_tensor(w)", READS.format("w"), "w[:] = 0"),
    "backward does not read it": ("ctx.calls = w\nreturn x * 1", "return g * 1", "w += 1"),
    "another place of a pool": (
        "ctx.b, ctx.i = shared, 0\nreturn x * shared[0]", "return g * ctx.b[ctx.i]", "shared[1] = ag.zeros(2)",
    ),
    "another key": ("ctx.b = {'a': w.copy(), 'b': w}\nreturn x * 1", "return g * ag.as_tensor(ctx.b['a'])", "w += 1"),
    "backward writes itself": (
        "ctx.w = w.copy()\nreturn x * 1", "ctx.w += 1\nreturn g * ag.as_tensor(ctx.w)", "pass",
    ),
}  # fmt: skip


def kept(forward, backward, between):
    return (
        ARRAYS
        + "shared = [ag.ones(2), ag.ones(2)]\nt = ag.ones(2)\n"
        + function(forward, backward)
        + "z = ag.ones(2, requires_grad=True)\n"
        f"y = F.apply(z).sum()\n{between}\ny.backward(retain_graph=True)\ny.backward()"
    )


@pytest.mark.parametrize("case", CHANGED)
def test_what_the_context_holds_is_changed_uncounted(lint_script, case):
    forward, backward, between, name = CHANGED[case]
    found = lint_script(kept(forward, backward, between)).only("context-written")
    assert f"`ctx.{name}` of `F`, applied at line " in found.cause and "holds other numbers" in found.cause
    assert ("copy()" in found.fix or "clone()" in found.fix) == ("[" not in name)
    assert [each.role for each in found.evidence] == ["applied", "forward", "backward", "needed"]


@pytest.mark.parametrize("case", RIGHT)
def test_what_the_context_may_hold(lint_script, case):
    assert lint_script(kept(*RIGHT[case])).kinds() == []


# ----- backward that leaves the graph -----

SAVING = "ctx.save_for_backward(x)\nreturn x * x * x"


@pytest.mark.parametrize("cut", ["ctx.saved_tensors[0].detach()", "ctx.saved_tensors[0].data"])
def test_a_cut_in_backward(lint_script, cut):
    found = lint_script(function(SAVING, f"x, = ctx.saved_tensors\nt = {cut}\nreturn 3 * g * t * x") + TWICE).only(
        "backward-cut"
    )
    assert "backward() of `F` leaves the graph at line 13" in found.cause and "second derivative" in found.cause


def test_one_that_says_so_is_right(lint_script):
    source = function(SAVING, "return 3 * g * ctx.saved_tensors[0].detach() ** 2")
    source = source.replace("    @staticmethod\n    def backward", "    @staticmethod\n    @once\n    def backward")
    run = lint_script(
        "from agdbg_engine.function import once_differentiable as once\n"
        + source
        + TWICE.replace("F.apply(x)", "(F.apply(x) * x)"),
        error=RuntimeError,
    )
    assert run.kinds() == [] and [each.kind for each in run.findings] == ["once-differentiable"]


# ----- what backward returns (case 41) -----

SIX = function("return a + b + c + d + e + f", "return RETURNED", "a, b, c, d, e, f")


@pytest.mark.parametrize(
    ("returned", "cause"),
    [
        ("g, g, g, g, g, g[:1].expand(3)", "a gradient of shape [3] for its argument `f`, which has shape [2]"),
        ("g, g, g", "3 gradients where 6 are expected"),
        ("g, g, g, g, 1.0, g", "a float as the gradient for its argument `e`, which is no tensor"),
        ("g, g * 1j, g, g, g, g", "a complex gradient for its argument `b`, which is float32"),
    ],
)
def test_a_wrong_gradient_names_the_argument(lint_script, roles, returned, cause):
    run = lint_script(
        SIX.replace("RETURNED", returned) + "F.apply(*[x * i for i in range(6)]).sum().backward()", error=RuntimeError
    )
    (found,) = [each for each in run.findings if each.kind == "invalid-gradient"]
    assert found.cause == f"The backward() of FBackward at line 12 returned {cause}."
    assert roles(found) == [("applied", 12), ("backward", 10), ("needed", 12)]


def test_a_gradient_of_integers_for_a_complex_argument(lint_script):
    source = function("return x * 2", "return ag.ones(2, dtype=ag.int64)")
    run = lint_script(
        source + "F.apply(ag.ones(2, dtype=ag.complex64, requires_grad=True)).real.sum().backward()", error=RuntimeError
    )
    (found,) = run.findings
    assert (
        found.kind == "invalid-gradient"
        and "a gradient of integers for its argument `x`, which is complex64" in found.cause
    )


def test_a_gradient_for_what_is_no_tensor(lint_script):
    source = function("return a * n", "return g, g", "a, n") + "F.apply(x, 3).sum().backward()"
    (found,) = lint_script(source, error=RuntimeError).findings
    assert "a gradient for its argument `n`, which is no tensor" in found.cause and "None at position 2" in found.fix


# ----- functions that are missing -----


def test_no_jvp(lint_script, roles):
    source = function("return x * 2", "return g * 2")
    run = lint_script(
        "import agdbg_engine.forward_ad as fw\n"
        + source
        + "with fw.dual_level():\n    F.apply(fw.make_dual(x, ag.ones(2)))",
        error=NotImplementedError,
    )
    (found,) = run.findings
    assert (
        found.kind == "not-implemented"
        and "The custom Function `F` has no jvp(), and forward mode at line 14" in found.cause
    )
    assert roles(found) == [("forward", 8), ("needed", 14)]


def test_no_backward(lint_script):
    source = "class F(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\nF.apply(x).sum().backward()"
    (found,) = lint_script(source, error=NotImplementedError).findings
    assert "The custom Function `F` has no backward(), and a backward pass at line 9 needs it" in found.cause


# ----- gradcheck, explained -----

CHECK = """
a = ag.tensor([1., 2.], requires_grad=True, dtype=ag.float64)
gradcheck(CALL, (a,))
"""


@pytest.mark.parametrize(
    ("backward", "fix"),
    [
        ("return g * ctx.saved_tensors[0]", "Look for the factor"),
        ("return -2 * g * ctx.saved_tensors[0]", "Change the sign"),
        ("return 2 * ctx.saved_tensors[0] + 0 * g", "incoming gradient"),
    ],
)
def test_gradcheck_names_the_function(lint_script, roles, backward, fix):
    source = function("ctx.save_for_backward(x)\nreturn x * x", backward) + CHECK.replace(
        "CALL", "lambda t: F.apply(t) * 3"
    )
    (found,) = lint_script(source, error=RuntimeError).findings
    assert found.kind == "gradcheck" and "look at backward() of `F` at line 11" in found.cause and fix in found.fix
    assert "the derivative is" in found.cause and roles(found)[-2:] == [("backward", 11), ("refused", 15)]


def test_gradcheck_without_a_function(lint_script):
    (found,) = lint_script(CHECK.replace("CALL", "lambda t: (t * t.detach()).sum()"), error=RuntimeError).findings
    assert "no custom Function took part" in found.cause


def test_gradcheck_at_a_kink(lint_script):
    source = CHECK.replace("[1., 2.]", "[0., 1.]").replace("CALL", "lambda t: ag.nn.functional.relu(t) * 2")
    (found,) = lint_script(source, error=RuntimeError).findings
    assert "not differentiable here" in found.cause and "another point" in found.fix


def test_a_second_derivative_that_gradgradcheck_refuses(lint_script):
    source = INTERMEDIATE.replace("KEEP", "ctx.t = t").replace("t_of(ctx)", "ctx.t")
    check = CHECK.replace("gradcheck(CALL", "gradgradcheck(F.apply").strip("\n")
    run = lint_script("from agdbg_engine.autograd import gradgradcheck\n" + source + check, error=RuntimeError)
    (found,) = run.findings
    assert found.kind == "gradcheck" and "which uses `ctx.t`, through which no second derivative flows" in found.cause


# ----- an intermediate that leaves the gradient without a graph (case 39) -----

CUBE = function("ctx.d = 3 * x * x\nreturn x ** 3", "return g * ctx.d")


@pytest.mark.parametrize("again", ["g.sum().backward()", "grad(g.sum(), x, allow_unused=True)"])
def test_a_gradient_without_a_graph_is_the_functions_fault(lint_script, roles, again):
    done = lint_script(CUBE + f"y = F.apply(x)\ng, = grad(y.sum(), x, create_graph=True)\n{again}", error=RuntimeError)
    assert done.lints == [], "the error tells it already"
    (found,) = done.findings
    assert (found.kind, found.certainty) == ("intermediate-kept", "likely")
    assert "backward() of `F`, which takes `ctx.d`, neither argument nor output" in found.cause
    assert "constant" not in found.cause and "zero" not in found.fix and "gradgradcheck" in found.fix
    assert [each.role for each in found.evidence] == ["applied", "forward", "backward", "gradient", "refused"]


def test_it_is_what_ended_the_program(programs):
    text = "import agdbg_engine as ag\nfrom agdbg_engine.autograd import grad\nx = ag.ones(3, requires_grad=True)\n"
    text = text + CUBE.replace("(Function)", "(ag.autograd.Function)")
    programs.write({"train.py": text + "g, = grad(F.apply(x).sum(), x, create_graph=True)\ng.sum().backward()\n"})
    done = programs.run(programs.command("lint", "train.py"))
    assert done.status == 3 and "intermediate-kept, likely, uncaught: this error ended the program" in done.stdout
    assert "no diagnosis" not in done.stdout and "2. " not in done.stdout


def test_a_function_without_an_intermediate_is_not_called_constant(lint_script):
    source = function("ctx.k = float(x.sum())\nreturn x * ctx.k", "return g * ctx.k")
    (found,) = lint_script(
        source + "g, = grad(F.apply(x).sum(), x, create_graph=True)\ng.sum().backward()", error=RuntimeError
    ).findings
    assert found.kind == "no-grad-fn" and "constant" not in found.cause and "leave this term out" not in found.fix


def test_a_linear_function_of_the_engine_is_constant(lint_script):
    (found,) = lint_script(
        "g, = grad((2 * x).sum(), x, create_graph=True)\ng.sum().backward()", error=RuntimeError
    ).findings
    assert found.kind == "no-grad-fn" and "is constant" in found.cause and "take its derivative as zero" in found.fix


@pytest.mark.parametrize(
    "function", ["lambda x: x * ag.randn(3, dtype=ag.float64)", "lambda x: nn.functional.dropout(x, 0.5)"]
)
def test_a_function_that_draws_random_numbers_is_no_kink(linted, function):
    x = "ag.ones(3, dtype=ag.float64, requires_grad=True)"
    (found,) = linted(f"ag.manual_seed(0)\nag.autograd.gradcheck({function}, ({x},))").diagnosed
    assert "the function is not deterministic" in found.cause and "Take out what draws random numbers" in found.fix


ONCE = """
from agdbg_engine.autograd.function import once_differentiable
class Sin(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()
    @staticmethod
    MARK
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x.cos()
x = ag.ones(3, requires_grad=True)
g, = ag.autograd.grad(Sin.apply(x).sum(), x, create_graph=True)
(g ** 2).sum().backward()
"""


def test_a_mark_for_once_is_why_a_gradient_has_no_graph(linted, lines_of):
    (found,) = linted(ONCE.replace("MARK", "@once_differentiable")).diagnosed
    assert "backward() of `Sin`" in found.cause and "@once_differentiable" in found.cause
    assert lines_of(found, "first call") == [14] and lines_of(found, "refused") == [15]
    assert "take the mark off" in found.fix


def test_without_the_mark_the_gradient_has_a_graph(linted):
    assert linted(ONCE.replace("    MARK\n", "")).error is None


def test_a_checked_function_that_leaves_the_graph(linted, lines_of):
    found = linted("""
def f(x):
    x = x.clone()
    x.data.mul_(2)
    return x * x
ag.autograd.gradcheck(f, (ag.ones(2, dtype=ag.float64, requires_grad=True),))
""").diagnosed[0]
    assert found.kind == "gradcheck" and lines_of(found, "cut") == [4]
    assert "at line 4 is out of the graph" in found.fix and "factor" not in found.fix


# ----- gradients of another dtype -----


def cast(dtype, back, scale="0.3"):
    """A program that gives a Function of this argument gradients of ``scale``; a test replaces no more than its backward."""
    return (
        function("return x * 2", back)
        + f"v = ag.ones(3, dtype=ag.{dtype}, requires_grad=True)\n(F.apply(v) * {scale}).sum().backward()"
    )


@pytest.mark.parametrize(
    ("dtype", "back", "scale", "got", "certainty", "words"),
    [
        (
            "float32",
            "return (2 * g).to(ag.int64)",
            "0.3",
            "an int64",
            "likely",
            "have fractions, of which int64 holds none",
        ),
        ("float32", "return (2 * g).to(ag.int64)", "3", "an int64", "possible", "int64 holds no fractions"),
        ("float64", "return g > 0", "0.3", "a bool", "likely", "have fractions, of which bool holds none"),
        ("float32", "return (2 * g).to(ag.float16)", "0.3", "a float16", "likely", "float16 keeps 11 of its 24 bits"),
        ("float64", "return (2 * g).to(ag.float32)", "0.3", "a float32", "likely", "float32 keeps 24 of its 53 bits"),
    ],
)
def test_a_gradient_in_a_dtype_that_holds_less(lint_script, roles, dtype, back, scale, got, certainty, words):
    found = lint_script(cast(dtype, back, scale)).only("gradient-cast")
    assert f"backward() of `F`, applied at line 13, returned {got} gradient for its argument `x`" in found.cause
    assert words in found.cause and f"which is {dtype}" in found.cause and found.certainty == certainty
    assert roles(found) == [("applied", 13), ("backward", 10), ("call", 13)]


@pytest.mark.parametrize(
    "source",
    [
        cast("float32", "return (2 * g).to(ag.float64)"),
        cast("float16", "return (2 * g).to(ag.float32)"),
        cast("complex64", "return (2 * g).real").replace(".sum()", ".real.sum()"),
        function("return x.to(ag.float16) * 2", "return 2 * g") + "(F.apply(x).float() * 0.3).sum().backward()",
        function("return x.to(ag.float16) * 2", "return (2 * g).float()")
        + "(F.apply(x).float() * 0.3).sum().backward()",
    ],
    ids=["wider", "wider than half", "real", "mixed precision", "mixed precision, cast by hand"],
)
def test_a_gradient_that_is_cast_and_loses_nothing(lint_script, source):
    assert lint_script(source).kinds() == []


def test_of_several_passes_the_one_that_loses_fractions_is_told(lint_script):
    source = cast("float32", "return (2 * g).to(ag.int64)", "3") + "\n(F.apply(v) * 0.3).sum().backward()"
    found = lint_script(source).only("gradient-cast")
    assert found.certainty == "likely" and "applied at line 14" in found.cause
