"""Every behaviour tells an instrument: the complete list of events of one small program per concept."""

import pytest
from agdbg_tests_differential import leaf
from agdbg_tests_told_events import told

import agdbg_engine as ag
from agdbg_engine import events, nn, optim
from agdbg_engine.autograd import graph
from agdbg_engine.utils import checkpoint

BY_A_DEBUGGER = {"node_undone", "gradient_replaced", "node_skipped", "saved_replaced", "graph_retained", "write_coming"}
"""Told when a person steps back, replaces something, skips a node, keeps a graph or watches memory: no program can do that by itself."""


# ----- what the programs use -----


def failing(call, *args):
    with pytest.raises((RuntimeError, ZeroDivisionError)):
        call(*args)


def packed(function):
    with graph.saved_tensors_hooks(lambda s: s.clone(), lambda s: s):
        y = function(leaf(ag, 1.0))
    y.backward()


def mutating(x):
    with graph.allow_mutation_on_saved_tensors():
        y = x.exp()
        y.mul_(2)
        y.backward()


def strict(x):
    with graph.strict_saved_tensors():
        y = x.exp()
        failing(y.mul_, 2)
    y.backward()


def anomalous(x):
    with ag.autograd.set_detect_anomaly(True):
        y = x.sqrt().mul(0)
        with pytest.warns(UserWarning, match="Error detected in SqrtBackward0"):
            failing(y.backward)


def dual(function):
    with ag.autograd.forward_ad.dual_level():
        function(ag.autograd.forward_ad.make_dual(ag.ones(1), ag.ones(1)))


def checkpointed(use_reentrant):
    x = leaf(ag, 1.0)
    checkpoint.checkpoint(lambda a: a.sin().exp(), x, use_reentrant=use_reentrant).backward()


@ag.enable_grad()
def nested():
    leaf(ag, 1.0).exp().backward()


class Double(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 2


class Keeps(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.between = x * 2
        return ctx.between * x


class Writes(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        return x * 3


class Whole(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g.to(ag.int64)


# ----- one program for each concept; what it tells is its docstring -----

CONCEPTS = []


def concept(program):
    CONCEPTS.append(pytest.param(program, id=program.__name__))
    return program


@concept
def backward():
    """
    node_born AccumulateGrad; node_born SinBackward0; pass_started; node_ran SinBackward0; node_ran AccumulateGrad;
    pass_finished
    """
    leaf(ag, 1.0).sin().backward()


@concept
def grad_with_create_graph():
    """
    node_born AccumulateGrad; node_born SinBackward0; pass_started; node_born CosBackward0; node_born MulBackward0;
    node_ran SinBackward0; node_ran AccumulateGrad; pass_finished
    """
    x = leaf(ag, 1.0)
    ag.autograd.grad(x.sin(), x, create_graph=True)


@concept
def accumulation():
    """
    node_born AccumulateGrad; node_born NegBackward0; pass_started; node_ran NegBackward0; node_ran AccumulateGrad;
    pass_finished; node_born AccumulateGrad; node_born NegBackward0; pass_started; node_ran NegBackward0;
    version_bumped AccumulateGrad; node_ran AccumulateGrad; pass_finished
    """
    x = leaf(ag, 1.0)
    x.neg().backward()
    x.neg().backward()


@concept
def a_view_and_a_write():
    """
    node_born AccumulateGrad; node_born NegBackward0; node_born SelectBackward0; storage_made NegBackward0;
    view_created select; node_born MulBackward0; version_bumped mul_ MulBackward0; node_born CopySlices; node_born
    AsStridedBackward0; history_rebased NegBackward0 CopySlices mul_
    """
    y = leaf(ag, 1.0, 2.0).neg()
    y[0].mul_(2)


@concept
def a_write_in_place():
    """
    node_born AccumulateGrad; node_born NegBackward0; node_born ExpBackward0; storage_made NegBackward0;
    version_bumped exp_ ExpBackward0; slot_saved ExpBackward0; history_rebased NegBackward0 ExpBackward0 exp_
    """
    y = leaf(ag, 1.0).neg()
    y.exp_()


@concept
def detach_in_place():
    """
    node_born AccumulateGrad; node_born NegBackward0; graph_cut detach; storage_made NegBackward0
    """
    y = leaf(ag, 1.0).neg()
    y.detach_()


@concept
def data_and_detach():
    """
    graph_cut data; graph_cut detach
    """
    x = leaf(ag, 1.0)
    x.data
    x.detach()


@concept
def an_integer_result():
    """
    graph_cut integer
    """
    leaf(ag, 1.0).gt(0)


@concept
def an_item():
    """
    graph_cut item
    """
    leaf(ag, 1.0).item()


@concept
def to_numpy():
    """
    graph_cut detach
    """
    leaf(ag, 1.0).detach().numpy()


@concept
def no_grad():
    """
    grad_mode; graph_cut no_grad; grad_mode
    """
    ag.no_grad()(lambda: leaf(ag, 1.0).neg())()


@concept
def inference_mode():
    """
    grad_mode; grad_mode
    """
    ag.inference_mode()(lambda: ag.ones(1).neg())()


@concept
def a_tensor_hook():
    """
    node_born AccumulateGrad; node_born NegBackward0; hook registered tensor NegBackward0; pass_started; hook fired
    tensor NegBackward0; node_ran NegBackward0; node_ran AccumulateGrad; pass_finished; hook removed tensor
    NegBackward0
    """
    y = leaf(ag, 1.0).neg()
    h = y.register_hook(lambda g: g * 2)
    y.backward()
    h.remove()


@concept
def retain_grad():
    """
    node_born AccumulateGrad; node_born NegBackward0; hook registered retain-grad NegBackward0; pass_started;
    node_ran NegBackward0; node_ran AccumulateGrad; pass_finished
    """
    y = leaf(ag, 1.0).neg()
    y.retain_grad()
    y.backward()


@concept
def node_hooks():
    """
    node_born AccumulateGrad; node_born NegBackward0; hook registered pre NegBackward0; hook registered post
    NegBackward0; pass_started; hook fired pre NegBackward0; hook fired post NegBackward0; node_ran NegBackward0;
    node_ran AccumulateGrad; pass_finished
    """
    y = leaf(ag, 1.0).neg()
    y.grad_fn.register_prehook(lambda gs: None)
    y.grad_fn.register_hook(lambda gi, go: None)
    y.backward()


@concept
def a_post_accumulate_hook():
    """
    hook registered post-accumulate; node_born AccumulateGrad; node_born NegBackward0; pass_started; node_ran
    NegBackward0; hook fired post-accumulate AccumulateGrad; node_ran AccumulateGrad; pass_finished
    """
    x = leaf(ag, 1.0)
    x.register_post_accumulate_grad_hook(lambda p: None)
    x.neg().backward()


@concept
def a_multi_grad_hook():
    """
    hook registered multi; node_born AccumulateGrad; node_born NegBackward0; pass_started; node_ran NegBackward0;
    hook fired multi AccumulateGrad; node_ran AccumulateGrad; pass_finished
    """
    x = leaf(ag, 1.0)
    graph.register_multi_grad_hook((x,), lambda gs: None)
    x.neg().backward()


@concept
def a_hook_that_raises():
    """
    node_born AccumulateGrad; node_born NegBackward0; hook registered tensor NegBackward0; pass_started; error
    ZeroDivisionError; node_ran NegBackward0 ZeroDivisionError; pass_finished ZeroDivisionError
    """
    y = leaf(ag, 1.0).neg()
    y.register_hook(lambda g: 1 / 0)
    failing(y.backward)


@concept
def backward_twice():
    """
    node_born AccumulateGrad; node_born SinBackward0; pass_started; node_ran SinBackward0; node_ran AccumulateGrad;
    pass_finished; pass_started; error RuntimeError; node_ran SinBackward0 RuntimeError; pass_finished RuntimeError
    """
    y = leaf(ag, 1.0).sin()
    y.backward()
    failing(y.backward)


@concept
def a_write_to_what_was_saved():
    """
    node_born AccumulateGrad; node_born NegBackward0; node_born ExpBackward0; node_born MulBackward0; storage_made
    ExpBackward0; version_bumped mul_ MulBackward0; history_rebased ExpBackward0 MulBackward0 mul_; pass_started;
    node_ran MulBackward0; error RuntimeError; node_ran ExpBackward0 RuntimeError; pass_finished RuntimeError
    """
    y = leaf(ag, 1.0).neg().exp()
    y.mul_(2)
    failing(y.backward)


@concept
def a_write_to_a_leaf():
    """
    error RuntimeError
    """
    failing(leaf(ag, 1.0).add_, 1)


@concept
def saved_tensors_hooks():
    """
    node_born AccumulateGrad; node_born SinBackward0; graph_cut no_grad; saved_packed SinBackward0; pass_started;
    saved_unpacked SinBackward0; node_ran SinBackward0; node_ran AccumulateGrad; pass_finished
    """
    packed(lambda x: x.sin())


@concept
def mutation_allowed():
    """
    node_born AccumulateGrad; node_born ExpBackward0; storage_made ExpBackward0; saved_packed ExpBackward0;
    node_born MulBackward0; saved_cloned; version_bumped mul_ MulBackward0; history_rebased ExpBackward0
    MulBackward0 mul_; pass_started; node_ran MulBackward0; saved_unpacked ExpBackward0; node_ran ExpBackward0;
    node_ran AccumulateGrad; pass_finished
    """
    mutating(leaf(ag, 1.0))


@concept
def raw_saved_hooks():
    """
    node_born AccumulateGrad; node_born SinBackward0; saved_packed SinBackward0; pass_started; saved_unpacked
    SinBackward0; node_ran SinBackward0; node_ran AccumulateGrad; pass_finished
    """
    y = leaf(ag, 1.0).sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda s: s.clone(), lambda s: s)
    y.backward()


@concept
def a_custom_function():
    """
    node_born AccumulateGrad; function_began DoubleBackward forward; node_born DoubleBackward; pass_started;
    function_began DoubleBackward backward; node_ran DoubleBackward; node_ran AccumulateGrad; pass_finished
    """
    Double.apply(leaf(ag, 1.0)).backward()


@concept
def a_custom_function_that_keeps():
    """
    node_born AccumulateGrad; function_began KeepsBackward forward; function_kept KeepsBackward between
    intermediate; node_born KeepsBackward
    """
    Keeps.apply(leaf(ag, 1.0))


@concept
def a_custom_function_that_writes():
    """
    node_born AccumulateGrad; node_born NegBackward0; function_began WritesBackward forward; storage_made
    NegBackward0; version_bumped mul_; function_wrote WritesBackward x; node_born WritesBackward
    """
    Writes.apply(leaf(ag, 1.0).neg())


@concept
def a_custom_function_whose_gradient_is_cast():
    """
    node_born AccumulateGrad; function_began WholeBackward forward; node_born WholeBackward; pass_started;
    function_began WholeBackward backward; function_cast WholeBackward x; node_ran WholeBackward; node_ran
    AccumulateGrad; pass_finished
    """
    Whole.apply(leaf(ag, 1.0)).backward()


@concept
def a_custom_function_in_forward_mode():
    """
    dual_level; view_created view; function_began DoubleBackward forward; function_began DoubleBackward jvp;
    dual_level
    """
    dual(Double.apply)


@concept
def forward_mode():
    """
    dual_level; view_created view; dual_level
    """
    dual(lambda x: x.sin())


@concept
def checkpoint_without_reentry():
    """
    grad_mode; grad_mode; node_born AccumulateGrad; node_born SinBackward0; saved_packed SinBackward0; node_born
    ExpBackward0; storage_made ExpBackward0; saved_packed ExpBackward0; pass_started; grad_mode; node_born
    SinBackward0; graph_cut detach; saved_packed SinBackward0; node_born ExpBackward0; storage_made
    ExpBackward0; graph_cut detach; grad_mode; recomputed; saved_unpacked ExpBackward0; node_ran ExpBackward0;
    saved_unpacked SinBackward0; node_ran SinBackward0; node_ran AccumulateGrad; grad_mode; pass_finished
    """
    checkpointed(False)


@concept
def checkpoint_with_reentry():
    """
    node_born AccumulateGrad; function_began CheckpointFunctionBackward forward; grad_mode; grad_mode;
    grad_mode; function_kept CheckpointFunctionBackward state['cpu'] array; node_born CheckpointFunctionBackward;
    pass_started; function_began CheckpointFunctionBackward backward; graph_cut detach; grad_mode; node_born AccumulateGrad; node_born SinBackward0; node_born
    ExpBackward0; grad_mode; recomputed; pass_started; node_ran ExpBackward0; node_ran SinBackward0; node_ran
    AccumulateGrad; pass_finished; node_ran CheckpointFunctionBackward; node_ran AccumulateGrad; grad_mode;
    pass_finished
    """
    checkpointed(True)


@concept
def a_transform():
    """
    grad_mode; node_born AccumulateGrad; node_born SinBackward0; pass_started; node_ran SinBackward0; node_ran
    AccumulateGrad; pass_finished; storage_made SinBackward0; grad_mode
    """
    ag.func.grad(lambda x: x.sin())(ag.tensor(1.0))


@concept
def a_functional():
    """
    grad_mode; node_born AccumulateGrad; node_born SinBackward0; pass_started; node_ran SinBackward0;
    node_ran AccumulateGrad; pass_finished; grad_mode; storage_made SinBackward0; graph_cut detach
    """
    ag.autograd.functional.vjp(lambda x: x.sin(), ag.tensor(1.0))


@concept
def anomaly_mode():
    """
    node_born AccumulateGrad; node_born SqrtBackward0; node_born MulBackward0; pass_started; node_ran MulBackward0;
    error RuntimeError; node_ran SqrtBackward0 RuntimeError; pass_finished RuntimeError
    """
    anomalous(leaf(ag, 0.0))


@concept
def a_nested_pass():
    """
    node_born AccumulateGrad; node_born NegBackward0; hook registered tensor NegBackward0; pass_started;
    grad_mode; node_born AccumulateGrad; node_born ExpBackward0; pass_started; node_ran ExpBackward0; node_ran
    AccumulateGrad; pass_finished; grad_mode; hook fired tensor NegBackward0; node_ran NegBackward0; node_ran
    AccumulateGrad; grad_mode; pass_finished
    """
    y = leaf(ag, 1.0).neg()
    y.register_hook(lambda g: nested())
    y.backward()


@concept
def a_module():
    """
    module_named; tensor_named weight parameter; tensor_named bias parameter; module_entered; node_born AccumulateGrad;
    node_born TBackward0; view_created t; node_born AccumulateGrad; node_born AddmmBackward0; module_left
    """
    nn.Linear(1, 1)(ag.ones(1, 1))


@concept
def an_optimizer():
    """
    optimizer_built; optimizer_stepped
    """
    optim.SGD([ag.nn.Parameter(ag.ones(1))]).step()


@concept
def an_op_with_several_outputs():
    """
    node_born AccumulateGrad; storage_made LinalgEighBackward0; node_born LinalgEighBackward0; outputs_made LinalgEighBackward0
    """
    ag.linalg.eigh(ag.ones(1, 1, requires_grad=True))


@concept
def a_gradient_edge():
    """
    node_born AccumulateGrad; node_born NegBackward0; node_born SinBackward0; pass_started; node_ran SinBackward0;
    node_ran NegBackward0; pass_finished
    """
    y = leaf(ag, 1.0).neg()
    ag.autograd.grad(y.sin(), [graph.get_gradient_edge(y)])


@concept
def increment_version():
    """
    node_born AccumulateGrad; node_born NegBackward0; storage_made NegBackward0; version_bumped increment_version
    """
    y = leaf(ag, 1.0).neg()
    graph.increment_version(y)


@concept
def a_gradient_read_too_early():
    """
    node_born AccumulateGrad; node_born NegBackward0; hook registered tensor NegBackward0; pass_started;
    grad_missed; hook fired tensor NegBackward0; node_ran NegBackward0; node_ran AccumulateGrad; pass_finished
    """
    x = leaf(ag, 1.0)
    y = x.neg()
    y.register_hook(lambda g: (x.grad, None)[1])
    y.backward()


@concept
def a_checkpoint_that_draws_other_numbers():
    """
    grad_mode; grad_mode; node_born AccumulateGrad; node_born MulBackward0; saved_packed MulBackward0;
    pass_started; grad_mode; node_born MulBackward0; grad_mode; redrawn; recomputed; saved_unpacked
    MulBackward0; node_ran MulBackward0; node_ran AccumulateGrad; grad_mode; pass_finished
    """
    x = leaf(ag, 1.0)
    again = ag.utils.checkpoint.checkpoint
    again(lambda a: a * ag.rand(1), x, use_reentrant=False, preserve_rng_state=False).backward()


@concept
def an_op_that_is_refused():
    """
    op_failed TypeError
    """
    with pytest.raises(TypeError):
        ag.cat([ag.ones(2, 2)], "rows")


@concept
def several_outputs():
    """
    node_born AccumulateGrad; node_born UnbindBackward0; view_created unbind; view_created unbind; pass_started;
    node_ran UnbindBackward0; node_ran AccumulateGrad; pass_finished
    """
    leaf(ag, 1.0, 2.0).unbind(0)[0].backward()


@concept
def strict_mode():
    """
    node_born AccumulateGrad; node_born ExpBackward0; storage_made ExpBackward0; error RuntimeError; pass_started;
    node_ran ExpBackward0; node_ran AccumulateGrad; pass_finished
    """
    strict(leaf(ag, 1.0))


@pytest.mark.parametrize("program", CONCEPTS)
def test_its_events(program):
    assert told(program) == " ".join(program.__doc__.split()).split("; ")


def test_every_event_is_told_by_some_concept():
    heard = {event.partition(" ")[0] for p in CONCEPTS for event in told(p.values[0])}
    assert heard == set(events.METHODS) - BY_A_DEBUGGER
