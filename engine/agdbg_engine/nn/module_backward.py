"""Backward hooks of modules: identity nodes around a module catch the gradients of its inputs and outputs."""

from __future__ import annotations

import warnings
import weakref
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from .. import events
from ..current import current
from ..function import Function
from ..grad_mode import mode
from ..hooks import Hook, Quiet, add_quietly, node_hooks
from ..hooks.watch import Watch, facts
from ..inside import is_dual
from ..node import Node
from ..sites import user_stacklevel
from ..tensor import Tensor

if TYPE_CHECKING:
    from .module import Module

Gradients = tuple[Any, ...]
Numbered = tuple[int, Hook]
"""A hook and the number of its handle."""


class BackwardHookFunction(Function):
    """Hands its tensors on, as views, so that there is a node where the hooks can be."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        """All that came in."""
        ctx.mark_non_differentiable(*[x for x in args if not x.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """All that came in."""
        return args


class BackwardHook:
    """The backward hooks of one call of a module.

    Its outputs' node notes the gradients that come in, and its inputs' node, which runs when the module is through, calls the
    hooks with both. Where no input requires grad the outputs' node does that at once.
    """

    def __init__(self, module: Module, hooks: list[Numbered], pre_hooks: list[Numbered]) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: Gradients | None = None
        self.inputs = Places(())
        self.outputs = Places(())

    def on_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments for ``forward``."""
        self.inputs = Places(args)
        return self.inputs.hooked(ModuleBackward(self))

    def on_outputs(self, result: Any) -> Any:
        """The result for the caller."""
        self.outputs = Places(result if isinstance(result, tuple) else (result,))
        hooked = self.outputs.hooked(ModuleBackwardPre(self))
        return hooked if isinstance(result, tuple) else hooked[0]

    def gradients_in(self, grad_inputs: Gradients) -> Gradients | None:
        """The module is through: what its hooks make of the gradients of its inputs."""
        if self.grad_outputs is None:  # they got here by another way than through the outputs: in double backward, say
            return None
        found = self.inputs.all(grad_inputs)
        for number, hook in self.hooks:
            answer = _fire(number, hook, "module-backward", self.module, found, self.grad_outputs)
            if answer is not None:
                found = _same_number(answer, found, "Backward hook", "grad_input")
        self.grad_outputs = None
        return self.inputs.tensors(found)

    def gradients_out(self, grad_outputs: Gradients) -> Gradients:
        """The gradients of the outputs are there: what the hooks before the module make of them."""
        found = self.outputs.all(grad_outputs)
        for number, hook in self.pre_hooks:
            answer = _fire(number, hook, "module-backward-pre", self.module, found)
            if answer is not None:
                found = _same_number(answer, found, "Backward pre hook", "grad_output")
        self.grad_outputs = found
        if not self.inputs.recorded:
            self._without_inputs(found)
        return self.outputs.tensors(found)

    def _without_inputs(self, grad_outputs: Gradients) -> None:
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
            "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
            "register_full_backward_hook for more details.",
            stacklevel=user_stacklevel(),
        )
        nothing = (None,) * self.inputs.count
        for number, hook in self.hooks:
            answer = _fire(number, hook, "module-backward", self.module, nothing, grad_outputs)
            if answer is not None and not (isinstance(answer, tuple) and all(g is None for g in answer)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for all "
                    "gradients."
                )
        self.grad_outputs = None


class Places:
    """Where the tensors are among the arguments or results of a module."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self._values: tuple[Any, ...] = values
        self.count = len(values)
        self._indices = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
        self.recorded = False
        """Whether there is a node here."""

    def hooked(self, hook: Quiet) -> Any:
        """The values, their tensors through a node that has ``hook``, if a gradient of one of them can be wanted."""
        values, self._values = self._values, ()  # nothing is kept alive from here
        tensors = self.tensors(values)
        if not (mode.grad and any(x.requires_grad and not is_dual(x) for x in tensors)):
            return values
        self.recorded = True
        through = BackwardHookFunction.apply(*tensors)
        node = next(x.grad_fn for x in through if x.grad_fn is not None)
        add_quietly(node_hooks(node).post, hook, node)
        replaced = list(values)
        for i, x in zip(self._indices, through, strict=True):
            replaced[i] = x
        return tuple(replaced) if type(values) is tuple else type(values)(*replaced)

    def all(self, gradients: Gradients) -> Gradients:
        """By argument, ``None`` for what is no tensor, the ``gradients`` of the tensors."""
        found: list[Any] = [None] * self.count
        for i, g in zip(self._indices, gradients, strict=True):
            found[i] = g
        return tuple(found)

    def tensors(self, values: Any) -> Gradients:
        """What stands at the places of the tensors."""
        return tuple(values[i] for i in self._indices)


class ModuleBackward(Quiet):
    """At the node of a module's inputs."""

    __name__ = "hook"  # as PyTorch's, which its messages name

    def __init__(self, owner: BackwardHook) -> None:
        self._owner = owner

    def __call__(self, grad_inputs: Gradients, grad_outputs: Gradients) -> Gradients | None:
        return self._owner.gradients_in(grad_inputs)


class ModuleBackwardPre(ModuleBackward):
    """At the node of a module's outputs."""

    def __call__(self, grad_inputs: Gradients, grad_outputs: Gradients) -> Gradients | None:
        return self._owner.gradients_out(grad_outputs)


class LastNode(Quiet):
    """A deprecated backward hook at the node that made a module's result."""

    def __init__(self, module: Module, number: int, hook: Hook) -> None:
        self.__name__ = getattr(hook, "__name__", "<unknown>")
        self._module = weakref.ref(module)
        self._number = number
        self._hook = hook

    def __call__(self, grad_inputs: Gradients, grad_outputs: Gradients) -> Any:
        module = self._module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return _fire(self._number, self._hook, "module-backward", module, grad_inputs, grad_outputs)


def hook_last_node(module: Module, hooks: list[Numbered], args: tuple[Any, ...], result: Any) -> None:
    """Let the deprecated ``hooks`` fire at the node that made (the first tensor of) ``result``."""
    first = result
    while not isinstance(first, Tensor):
        first = next(x for x in first.values() if isinstance(x, Tensor)) if isinstance(first, dict) else first[0]
    node = first.grad_fn
    if node is None:
        return
    for number, hook in hooks:
        add_quietly(node_hooks(node).post, LastNode(module, number, hook), node)
    missing = _what_is_missed(args, result, node)
    if missing:
        warnings.warn(missing, FutureWarning, stacklevel=5)


def _what_is_missed(args: tuple[Any, ...], result: Any, node: Node) -> str:
    """PyTorch's warning of what a deprecated hook at ``node`` does not see of a module; empty if it sees all."""
    results = (result,) if isinstance(result, Tensor) else result
    soon = "is deprecated and will be removed in future versions. This hook will be missing"
    full = "Please use register_full_backward_hook to get the documented behavior."
    if not _all_tensors(results):
        return (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
            f"{soon} some of the grad_output. {full}"
        )
    if not _all_tensors(args):
        return (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors "
            f"{soon} some of the grad_input. {full}"
        )
    made_by = {x.grad_fn for x in results if x.grad_fn is not None}
    if len(made_by) == 1 and node not in made_by:
        return (
            f"Using a non-full backward hook when outputs are nested in python data structure {soon} some grad_output."
        )
    when = what = ""
    if len(made_by) > 1:
        when, what = "outputs are generated by different autograd Nodes", "some grad_output."
    elif {x.grad_fn for x in args if x.grad_fn is not None} != set(node.next_nodes()):
        when, what = "the forward contains multiple autograd Nodes", "some grad_input."
    return f"Using a non-full backward hook when {when} {soon} {what} {full}" if when else ""


def _all_tensors(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(x, Tensor) for x in values)


def _same_number(answer: Any, before: Gradients, who: str, what: str) -> Any:
    if len(answer) != len(before):
        raise RuntimeError(f"{who} returned an invalid number of {what}, got {len(answer)}, but expected {len(before)}")
    return answer


def _fire(number: int, hook: Hook, kind: str, *args: Any) -> Any:
    watch = None if events.sink is None else Watch(kind, current.node, args[1:])
    started = perf_counter_ns()
    answer = hook(*args)
    bp = current.bp
    if events.sink is not None and bp is not None:
        took = perf_counter_ns() - started
        events.sink.hook("fired", kind, current.node, bp.code, bp.lasti, facts(watch, bp, number, hook, took))
    return answer
