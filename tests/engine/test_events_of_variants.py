"""Where a concept tells something in several ways, the complete list of events of each (the concepts: test_events_of_concepts)."""

import pytest
from agdbg_tests_differential import leaf
from agdbg_tests_told_events import told

import agdbg_engine as ag
from agdbg_engine import nn, optim
from agdbg_engine.autograd import graph

VARIANTS = []


def variant(program):
    VARIANTS.append(pytest.param(program, id=program.__name__))
    return program


class Double(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Edits(Double):
    @staticmethod
    def backward(ctx, g):
        return g.mul_(2)


class Fails(Double):
    @staticmethod
    def backward(ctx, g):
        return 1 / 0


class MarksDirty(Double):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)


class Pair(Double):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        return a * 2 + b * 3


class Once(Double):
    @staticmethod
    @ag.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2


# ----- where a path ends -----


@variant
def numbers_as_a_list():
    """
    graph_cut item
    """
    leaf(ag, 1.0, 2.0).tolist()


@variant
def a_tensor_of_tensors():
    """
    graph_cut rewrap
    """
    ag.tensor([leaf(ag, 1.0)])


@variant
def a_parameter_of_a_result():
    """
    node_born AccumulateGrad; node_born NegBackward0; graph_cut rewrap; storage_made NegBackward0
    """
    nn.Parameter(leaf(ag, 1.0).neg())


@variant
def to_numpy_by_force():
    """
    graph_cut numpy
    """
    leaf(ag, 1.0).numpy(force=True)


@variant
def to_integers():
    """
    graph_cut integer
    """
    leaf(ag, 1.0).long()


@variant
def the_gradient_of_a_result_that_keeps_none():
    """
    node_born AccumulateGrad; node_born NegBackward0; grad_missed
    """
    y = leaf(ag, 1.0).neg()
    with pytest.warns(UserWarning, match="not a leaf"):
        y.grad  # reading it is what is told


# ----- writes -----


@variant
def the_mode_set_for_a_block():
    """
    grad_mode; grad_mode
    """
    with ag.set_grad_enabled(False):
        pass


@variant
def the_mode_set_when_called():
    """
    grad_mode; grad_mode; grad_mode; grad_mode
    """

    @ag.set_grad_enabled(False)
    def f():
        pass

    f()


@variant
def data_that_had_a_history():
    """
    node_born AccumulateGrad; node_born NegBackward0; graph_cut data; storage_made NegBackward0
    """
    leaf(ag, 1.0).data = leaf(ag, 1.0).neg()


@variant
def sizes_of_one_left_out():
    """
    node_born AccumulateGrad; node_born NegBackward0; node_born SqueezeBackward1; storage_made NegBackward0; view_created squeeze;
    node_born PermuteBackward0; view_created permute
    """
    leaf(ag, 1.0).neg().squeeze(0).permute(())


@variant
def a_shape_changed_in_place():
    """
    node_born AccumulateGrad; node_born NegBackward0; storage_made NegBackward0; view_created unsqueeze_;
    node_born UnsqueezeBackward1; version_bumped unsqueeze_ UnsqueezeBackward1; history_rebased NegBackward0
    UnsqueezeBackward1 unsqueeze_
    """
    y = leaf(ag, 1.0).neg()
    y.unsqueeze_(0)


@variant
def an_item_assigned():
    """
    node_born AccumulateGrad; node_born NegBackward0; node_born SelectBackward0; storage_made NegBackward0;
    view_created select; node_born FillBackward3; version_bumped fill_ FillBackward3; node_born CopySlices;
    node_born AsStridedBackward0; history_rebased NegBackward0 CopySlices fill_
    """
    y = leaf(ag, 1.0, 2.0).neg()
    y[0] = 3.0


@variant
def an_out_argument():
    """
    version_bumped neg.out
    """
    ag.neg(ag.ones(1), out=ag.ones(1))


@variant
def a_write_through_a_view_of_a_dual():
    """
    dual_level; view_created view; view_created select; view_created select; version_bumped mul_; version_bumped
    copy_; dual_level
    """
    with ag.autograd.forward_ad.dual_level():
        d = ag.autograd.forward_ad.make_dual(ag.ones(2), ag.ones(2))
        d[0].mul_(2)


@variant
def a_step_with_gradients():
    """
    optimizer_built; optimizer_stepped; version_bumped SGD.step
    """
    p = nn.Parameter(ag.ones(1))
    p.grad = ag.ones(1)
    optim.SGD([p]).step()


# ----- hooks -----


@variant
def hooks_that_are_removed():
    """
    node_born AccumulateGrad; node_born NegBackward0; hook registered post-accumulate AccumulateGrad; hook removed
    post-accumulate AccumulateGrad; hook registered pre NegBackward0; hook removed pre NegBackward0; hook registered
    post NegBackward0; hook removed post NegBackward0
    """
    x = leaf(ag, 1.0)
    y = x.neg()
    x.register_post_accumulate_grad_hook(lambda p: None).remove()
    y.grad_fn.register_prehook(lambda gs: None).remove()
    y.grad_fn.register_hook(lambda gi, go: None).remove()


@variant
def a_multi_grad_hook_for_any():
    """
    hook registered multi; node_born AccumulateGrad; node_born NegBackward0; pass_started; node_ran NegBackward0;
    hook fired multi AccumulateGrad; node_ran AccumulateGrad; pass_finished; hook removed multi
    """
    x = leaf(ag, 1.0)
    handle = graph.register_multi_grad_hook((x,), lambda g: None, mode="any")
    x.neg().backward()
    handle.remove()


@variant
def a_callback_at_the_end_of_a_pass():
    """
    node_born AccumulateGrad; node_born NegBackward0; hook registered tensor NegBackward0; pass_started; hook
    registered final-callback NegBackward0; hook fired tensor NegBackward0; node_ran NegBackward0; node_ran
    AccumulateGrad; hook fired final-callback; pass_finished
    """
    y = leaf(ag, 1.0).neg()
    engine = ag.autograd.Variable._execution_engine
    y.register_hook(lambda g: engine.queue_callback(lambda: None))
    y.backward()


@variant
def hooks_of_a_module():
    """
    hook registered module-forward-pre; hook registered module-forward; hook registered module-backward-pre; hook
    registered module-backward; module_named; module_entered; hook fired module-forward-pre; node_born
    AccumulateGrad; function_began BackwardHookFunctionBackward forward; view_created view_as; node_born
    BackwardHookFunctionBackward; hook fired module-forward; function_began BackwardHookFunctionBackward forward;
    view_created view_as; node_born BackwardHookFunctionBackward; module_left; pass_started; function_began
    BackwardHookFunctionBackward backward; hook fired module-backward-pre BackwardHookFunctionBackward; node_ran
    BackwardHookFunctionBackward; function_began BackwardHookFunctionBackward backward; hook fired module-backward
    BackwardHookFunctionBackward; node_ran BackwardHookFunctionBackward; node_ran AccumulateGrad; pass_finished
    """
    layer = nn.Identity()
    layer.register_forward_pre_hook(lambda module, args: None)
    layer.register_forward_hook(lambda module, args, result: None)
    layer.register_full_backward_pre_hook(lambda module, outputs: None)
    layer.register_full_backward_hook(lambda module, inputs, outputs: None)
    layer(leaf(ag, 1.0)).backward()


# ----- custom Functions -----


@variant
def a_function_of_two_results():
    """
    node_born AccumulateGrad; function_began PairBackward forward; node_born PairBackward; outputs_made
    PairBackward; pass_started; function_began PairBackward backward; node_ran PairBackward; node_ran
    AccumulateGrad; pass_finished
    """
    Pair.apply(leaf(ag, 1.0))[0].backward()


@variant
def a_function_that_marks_what_it_writes():
    """
    node_born AccumulateGrad; node_born NegBackward0; function_began MarksDirtyBackward forward; storage_made
    NegBackward0; version_bumped mul_; node_born MarksDirtyBackward; version_bumped MarksDirtyBackward
    MarksDirtyBackward; history_rebased NegBackward0 MarksDirtyBackward MarksDirtyBackward
    """
    MarksDirty.apply(leaf(ag, 1.0).neg())


@variant
def a_function_that_edits_its_gradient():
    """
    node_born AccumulateGrad; function_began EditsBackward forward; node_born EditsBackward; pass_started;
    function_began EditsBackward backward; version_bumped mul_; hook fired backward EditsBackward; node_ran
    EditsBackward; node_ran AccumulateGrad; pass_finished
    """
    Edits.apply(leaf(ag, 1.0)).backward()


@variant
def a_function_that_fails_in_backward():
    """
    node_born AccumulateGrad; function_began FailsBackward forward; node_born FailsBackward; pass_started;
    function_began FailsBackward backward; error ZeroDivisionError; node_ran FailsBackward ZeroDivisionError;
    pass_finished ZeroDivisionError
    """
    with pytest.raises(ZeroDivisionError):
        Fails.apply(leaf(ag, 1.0)).backward()


@variant
def a_function_that_is_differentiable_once():
    """
    node_born AccumulateGrad; function_began OnceBackward forward; node_born OnceBackward; pass_started;
    function_began OnceBackward backward; graph_cut no_grad; node_born Error; outputs_made Error; node_ran
    OnceBackward; node_ran AccumulateGrad; pass_finished
    """
    x = leaf(ag, 1.0)
    ag.autograd.grad(Once.apply(x), x, leaf(ag, 1.0), create_graph=True)


@pytest.mark.parametrize("program", VARIANTS)
def test_its_events(program):
    assert told(program) == " ".join(program.__doc__.split()).split("; ")


def silent():
    x = leaf(ag, 1.0)
    x.requires_grad_(False)
    x.requires_grad_()
    x.grad = ag.ones_like(x)
    x.data = ag.ones_like(x)
    x.grad_dtype = None
    with graph.set_multithreading_enabled(False):
        pass
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t), graph.save_on_cpu():
        pass
    with graph.disable_saved_tensors_hooks("no"), ag.autograd.detect_anomaly(check_nan=False):
        pass


def test_what_tells_nothing():
    """The list in docs/events.md."""
    with pytest.warns(UserWarning, match="Anomaly"):
        assert told(silent) == []
