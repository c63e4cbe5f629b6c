"""inference_mode: PyTorch and the engine do the same."""

import copy
import pickle
import threading
import warnings

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, same

import agdbg_engine as ag
from agdbg_engine import events

torch = pytest.importorskip("torch")
programs = Programs()


def made(t, function=lambda x: x * 2, x=None):
    """The result of ``function`` in inference mode."""
    x = leaf(t, 1.0, 2.0) if x is None else x
    with t.inference_mode():
        return function(x)


def about(x):
    return [x.detach().clone(), x.is_inference(), x.requires_grad, x.is_leaf, x._is_view()]


@programs
def results_are_inference_tensors(t):
    return about(made(t))


@programs
def the_mode_can_be_asked_for(t):
    def seen(x):
        return [t.is_grad_enabled(), t.is_inference_mode_enabled()]

    return [seen(None), made(t, seen), seen(None)]


@programs
def there_is_no_version_counter(t):
    x = made(t)
    return [error_of(lambda: x._version), error_of(made, t, lambda x: (x * 2)._version)]


@programs
def they_cannot_be_saved(t):
    x, y = made(t), leaf(t, 3.0, 4.0)
    where = error_of(lambda: t.where(made(t, lambda x: x > 1), y, y))
    index = error_of(lambda: y[made(t, lambda x: t.tensor([0]))])
    inplace = error_of(lambda: (y * 1).mul_(x))
    return [error_of(lambda: x * y), where, index, inplace, x + y, x * 2]


@programs
def they_are_not_written_outside(t):
    y = leaf(t, 3.0, 4.0)
    return [
        error_of(lambda: made(t).add_(1)),
        error_of(lambda: made(t).add_(y)),
        error_of(lambda: t.no_grad()(lambda: made(t).add_(1))()),
        error_of(lambda: made(t).__setitem__(0, 1.0)),
        error_of(lambda: made(t).copy_(y)),
        error_of(lambda: made(t)[:1].add_(1)),
    ]


@programs
def they_are_written_inside(t):
    x = made(t, lambda x: (x * 2).add_(1))
    y = made(t, lambda v: v.add_(1), x[:1])
    return [about(x), about(y)]


@programs
def ordinary_tensors_are_written_inside(t):
    x, y = t.ones(2), leaf(t, 1.0)
    made(t, lambda x: x.add_(1), x)
    made(t, lambda y: y.add_(1), y)
    return [x, y, x._version, y._version, t.ones(2).add_(made(t)), t.ones(2).copy_(made(t))]


@programs
def requires_grad(t):
    def set_it(x):
        x.requires_grad = True
        return x

    return [
        error_of(lambda: made(t).requires_grad_()),
        error_of(lambda: set_it(made(t))),
        error_of(lambda: t.nn.Parameter(made(t))),
        made(t).requires_grad_(False).requires_grad,
        about(made(t, lambda x: (x * 2).requires_grad_())),
        about(made(t, lambda x: set_it(x * 2))),
        about(made(t, lambda x: t.ones(2, requires_grad=True))),
    ]


@programs
def views_of_inference_tensors(t):
    x = made(t)
    return [about(x[:1]), about(made(t, lambda x: (x * 2)[:1])), about(x.detach()), about(x.data)]


@programs
def views_of_ordinary_tensors(t):
    non_leaf, constant = leaf(t, 1.0, 2.0) * 2, t.ones(2)
    seen = [about(made(t, lambda x: x[:1])), about(made(t, lambda x: x[:1], non_leaf))]
    return [*seen, about(made(t, lambda x: x[:1], constant)), made(t, lambda x: x[:1], non_leaf) * 2]


@programs
def writes_through_views_made_inside(t):
    non_leaf = leaf(t, 1.0, 2.0) * 2
    view = made(t, lambda x: x[:1], non_leaf)
    several = made(t, lambda x: x.unbind()[0], non_leaf)
    constant = made(t, lambda x: x[:1], t.ones(2)).add_(1)
    return [
        error_of(lambda: view.add_(1)),
        error_of(lambda: several.add_(1)),
        error_of(lambda: made(t, lambda x: x[:1], t.ones(1)).mul_(leaf(t, 2.0))),
        constant,
    ]


@programs
def the_base_of_a_view_made_inside_is_written(t):
    base = leaf(t, 1.0, 2.0) * 2
    view = made(t, lambda x: x[:1], base)
    base.add_(1)
    return error_of(lambda: view.grad_fn)


@programs
def copies_made_outside_are_ordinary(t):
    x = made(t)
    copies = [x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x * 1]
    return [[c.is_inference() for c in copies], (copies[0] * leaf(t, 1.0, 1.0))]


@programs
def data_may_be_exchanged(t):
    x, y, z = made(t), t.ones(2), leaf(t, 1.0)
    x.data, y.data, z.data = t.zeros(2), made(t), made(t)
    return [x.is_inference(), y.is_inference(), z.is_inference(), y, z]


@programs
def everything_made_inside(t):
    def kinds(x):
        new = [
            t.zeros(2),
            t.tensor(1.0),
            t.rand(2),
            t.arange(2),
            t.zeros_like(x),
            x.clone(),
            x > 1,
            x.argmax(),
            x.to(t.int64),
        ]
        new += [t.nn.Parameter(t.ones(2)), t.as_tensor([1.0]), t.cat([x, x]), copy.deepcopy(x), x.new_zeros(2)]
        old = [x, x.detach(), x.data, x.contiguous(), *x.unbind(), t.nn.Parameter(x)]
        return [[y.is_inference() for y in new], [y.is_inference() for y in old]]

    return made(t, kinds)


@programs
def modes_inside(t):
    def on(x):
        with t.enable_grad():
            y = x * 2
            seen = [y.requires_grad, y.is_inference(), t.is_grad_enabled(), t.is_inference_mode_enabled()]
        t.set_grad_enabled(True)
        return [seen, t.is_grad_enabled()]

    def left(x):
        with t.inference_mode(False):
            return [x * 2, t.is_grad_enabled(), t.is_inference_mode_enabled()]

    return [made(t, on), made(t, left), t.is_grad_enabled()]


@programs
def leaving_it_records_even_in_no_grad(t):
    with t.no_grad():
        with t.inference_mode(mode=False):
            inside = [t.is_grad_enabled(), t.is_inference_mode_enabled()]
        return [inside, t.is_grad_enabled()]


@programs
def as_decorator(t):
    seen = []

    @t.inference_mode()
    def double(x):
        seen.append(t.is_inference_mode_enabled())
        return x * 2

    @t.inference_mode
    def bare(x):
        return x * 2

    @t.inference_mode(False)
    def off(x):
        return x * 2

    @t.inference_mode()
    def rows(x):
        for i in range(2):
            yield [t.is_inference_mode_enabled(), x * i]

    x = leaf(t, 1.0)
    for inside, y in rows(x):
        seen += [inside, y, t.is_inference_mode_enabled()]
    return [about(double(x)), about(bare(x)), off(x), seen, double.__name__, made(t, off)]


@programs
def an_exception_leaves_it(t):
    error = error_of(made, t, lambda x: 1 / 0)
    return [error, t.is_inference_mode_enabled(), t.is_grad_enabled()]


@programs
def it_nests_and_is_entered_again(t):
    mode, seen = t.inference_mode(), []
    for _ in range(2):
        with mode:
            with t.inference_mode():
                pass
            seen.append(t.is_inference_mode_enabled())
        seen.append(t.is_inference_mode_enabled())
    return seen


@programs
def it_is_per_thread(t):
    seen = []

    def look():
        seen.extend([t.is_inference_mode_enabled(), (leaf(t, 1.0) * 2).is_inference(), t.is_grad_enabled()])

    with t.inference_mode():
        other = threading.Thread(target=look)
        other.start()
        other.join()
    return seen


@programs
def backward_inside(t):
    x = leaf(t, 2.0)
    loss, again = (x * x).sum(), (x * x).sum()
    with t.inference_mode():
        nothing = error_of(lambda: (x * x).sum().backward())
        loss.backward()
        (g,) = t.autograd.grad(again, x)
    return [nothing, x.grad, x.grad.is_inference(), g.is_inference()]


@programs
def accumulating_inside_and_outside(t):
    x, y = leaf(t, 2.0), leaf(t, 2.0)
    (x * x).backward()
    loss = x * x
    made(t, lambda _: loss.backward())
    y.grad = made(t, lambda _: t.ones(1, dtype=t.float64))
    return [x.grad, x.grad.is_inference(), error_of(lambda: y.sum().backward())]


@programs
def hooks_and_values(t):
    x = made(t)
    seen = [error_of(x.register_hook, print), error_of(x.retain_grad), x.sum().item(), x.tolist(), x.grad]
    return [*seen, about(x.detach_())]


@programs
def classes_as_decorated(t):
    class Thing:
        def __init__(self):
            self.mode = t.is_grad_enabled()

    with logged_warnings() as said:
        made_things = [t.no_grad()(Thing)(), t.no_grad(Thing)(), t.set_grad_enabled(False)(Thing)()]
    return [said, [m.mode for m in made_things], t.is_grad_enabled()]


@programs
def wrong_and_odd_arguments(t):
    errors = [error_of(t.set_grad_enabled, 1), error_of(t.set_grad_enabled, "yes"), error_of(t.set_grad_enabled)]
    clone = t.set_grad_enabled(True).clone()
    return [errors, clone.mode, repr(clone), t.inference_mode().clone().mode, t.inference_mode(False).mode]


@pytest.mark.parametrize("program", programs)
def test_same_as_torch(program):
    same(program)


def test_a_view_made_inside_requires_grad_outside_and_gets_none():
    """As in PyTorch: its gradient leads nowhere."""
    pytest.importorskip("torch")

    def program(t):
        x = leaf(t, 1.0, 2.0)
        view = made(t, lambda x: x[:1], x * 2)
        (view * 3).sum().backward()
        return [view.is_leaf, view.requires_grad, view.grad, x.grad]

    same(program)


def test_the_process_leaves_the_mode_when_nobody_is_in_it():
    def users():  # one for good since an inference tensor required grad
        return events._users[events.INFERENCE.bit_length() - 1]

    before = users()
    with pytest.raises(ZeroDivisionError), ag.inference_mode():
        assert events.special & events.INFERENCE
        assert users() == before + 1
        1 / 0
    assert users() == before


def test_the_sink_hears_of_the_mode_and_of_no_version():
    heard = []

    class Ears(events.Sink):
        def grad_mode(self, enabled, code, lasti):
            heard.append(enabled)

        def version_bumped(self, tensor, storage, op, node, code, lasti):
            heard.append(op)

    events.install(Ears())
    try:
        with ag.inference_mode():
            (ag.ones(1) * 2).add_(1)
    finally:
        events.remove()
    assert heard == [False, True]


def test_a_pass_that_records_adds_to_a_gradient_made_in_inference_mode():
    with ag.inference_mode():
        g = ag.ones(2)
    x = ag.ones(2, requires_grad=True)
    x.grad = g
    (x**2).sum().backward(create_graph=True)
    assert x.grad.tolist() == [3.0, 3.0]
    assert x.grad.grad_fn.name() == "AddBackward0"


def test_no_warning_is_left_over():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(ag).is_inference()
