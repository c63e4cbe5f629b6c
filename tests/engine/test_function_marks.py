"""``ctx.mark_dirty`` of what is no input or a view, and what a written output is called. As in PyTorch."""

import itertools

import pytest
from agdbg_tests_differential import Programs, error_of, leaf, logged_warnings, same, tensor_facts

pytest.importorskip("torch")
programs = Programs()

MARKED = {
    "a_fresh_tensor": lambda t, x, base: t.ones(2),
    "a_recorded_tensor": lambda t, x, base: base,
    "a_view_of_a_fresh_tensor": lambda t, x, base: t.ones(4)[0:2],
    "a_view_of_a_recorded_tensor": lambda t, x, base: base[0:2],
    "a_view_of_the_input": lambda t, x, base: x[0:2],
}


def marking(make, recording, outputs):
    """A program in which ``forward`` marks as dirty what it made itself, and returns it as the first of ``outputs``."""

    def program(t):
        base = leaf(t, 1.0, 2.0, 3.0) * 1

        class F(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                with t.set_grad_enabled(recording):
                    made = make(t, x, base)
                ctx.mark_dirty(made)
                return (made, *(x * 2 for _ in range(outputs - 1)))

            @staticmethod
            def backward(ctx, *gs):
                return t.ones(3, dtype=t.float64)

        found = []
        with logged_warnings() as said:
            try:
                made = F.apply(leaf(t, 1.0, 2.0, 3.0))
                found += [tensor_facts(y) for y in made]
            except RuntimeError as error:
                found.append(str(error).partition("\n")[0])
        return [found, [w[:60] for w in said]]

    return program


for (name, make), recording, outputs in itertools.product(MARKED.items(), (False, True), (1, 2)):
    program = marking(make, recording, outputs)
    program.__name__ = f"marks_{name}_{'recording' if recording else 'not_recording'}_{outputs}"
    programs(program)


def unrecorded_view(t):
    base = leaf(t, 1.0, 2.0, 3.0) * 1
    with t.no_grad():
        return base[0:2]


def late_view(t):
    base = t.ones(3)
    view = base[0:2]
    base.requires_grad_()
    return view


VIEWS = {
    "of_a_leaf": lambda t: leaf(t, 1.0, 2.0)[0:1],
    "of_a_result": lambda t: (leaf(t, 1.0, 2.0) * 1)[0:1],
    "of_many": lambda t: (leaf(t, 1.0, 2.0) * 1).unbind()[0],
    "unrecorded": unrecorded_view,
    "older_than_the_requirement": late_view,
    "that_is_a_leaf": lambda t: t.ones(3)[0:2].requires_grad_(),
}


def written(make):
    """A program in which ``forward`` writes an input that is a view."""

    def program(t):
        class F(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)

            @staticmethod
            def backward(ctx, g):
                return g * 2

        return error_of(F.apply, make(t))

    return program


for name, make in VIEWS.items():
    program = written(make)
    program.__name__ = f"writes_a_view_{name}"
    programs(program)


def twice(t):
    """A Function with two outputs."""

    class Fn(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 3

    return Fn.apply


@programs
def the_second_output_is_written_and_was_saved_by_an_op(t):
    x = leaf(t, 1.0, 2.0)
    p, q = twice(t)(x)
    z = p * q
    with t.no_grad():
        q.mul_(1.5)
    return error_of(z.sum().backward)


@programs
def the_second_piece_is_written_and_was_saved_by_an_op(t):
    x = leaf(t, 1.0, 2.0)
    _, q = t.unsafe_split(x * 1, 1)
    z = q * x
    with t.no_grad():
        q.mul_(1.5)
    return error_of(z.sum().backward)


@programs
def the_second_output_is_written_and_was_saved_by_its_own_function(t):
    class Fn(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            p, q = x * 2, x * 3
            ctx.save_for_backward(p, q)
            return p, q

        @staticmethod
        def backward(ctx, g, h):
            return ctx.saved_tensors[0]

    p, q = Fn.apply(leaf(t, 1.0, 2.0))
    with t.no_grad():
        q.mul_(1.5)
    return error_of((p + q).sum().backward)


@pytest.mark.parametrize("program", programs)
def test_program(program):
    same(program)
