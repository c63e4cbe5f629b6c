"""Modules and optimizers as records: who is named what, who is called, who steps which parameters."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import count
from types import CodeType

from agdbg.error_text import class_name
from agdbg.events import Kind, ModuleEvent, NeedsGrad, OptimizerEvent, head, pack_pair
from agdbg.record import Recorder
from agdbg_engine import events as engine_events
from agdbg_engine.nn.module import Module
from agdbg_engine.optim.optimizer import Optimizer
from agdbg_engine.tensor import Tensor

_ENTERED, _LEFT = head(Kind.MODULE, a=ModuleEvent.ENTERED), head(Kind.MODULE, a=ModuleEvent.LEFT)
_THREAD = 32
"""Where the number of the thread begins in the head of a record."""


class ModuleSink(engine_events.Sink):
    """The part of the adapter that tells of modules and optimizers, which it knows by numbers of its own."""

    recorder: Recorder
    emit: Callable[[int, int, int, int, int, int, int, int], None]

    def __init__(self) -> None:
        super().__init__()
        self._modules: weakref.WeakKeyDictionary[Module, int] = weakref.WeakKeyDictionary()
        self._optimizers: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()
        self._stepped: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self.modules_told = 0
        """How often a module was named: whoever knows all modules looks again when it has changed."""
        self._new_module, self._new_optimizer = count(1).__next__, count(1).__next__

    # ----- modules -----

    def module_named(self, module: Module, path: str, parent: Module | None) -> None:
        number = self._modules.get(module) or self._modules.setdefault(module, self._new_module())
        self.modules_told += 1
        names = pack_pair(self.recorder.text(path), self.recorder.text(class_name(module)))
        holder = 0 if parent is None else self._modules.get(parent, 0)
        self.emit(head(Kind.MODULE, self.recorder.thread()), number, names, holder, 0, 0, 0, 0)

    def module_entered(self, module: Module) -> None:
        number = self._modules.get(module)
        if number is None:  # put into a model that runs: where, is told when the model is called next
            self.module_named(module, "", None)
            number = self._modules[module]
        self.emit(_ENTERED | self.recorder.ordinal.number << _THREAD, number, 0, 0, 0, 0, 0, 0)

    def module_left(self, module: Module) -> None:
        number = self._modules.get(module)
        if number is not None:
            self.emit(_LEFT | self.recorder.ordinal.number << _THREAD, number, 0, 0, 0, 0, 0, 0)

    # ----- optimizers -----

    def optimizer_built(self, optimizer: Optimizer, parameters: Sequence[Tensor], code: CodeType, lasti: int) -> None:
        self._tell_parameters(optimizer, parameters, OptimizerEvent.BUILT, code, lasti)

    def optimizer_stepped(self, optimizer: Optimizer, code: CodeType, lasti: int) -> None:
        if optimizer in self._stepped:
            return
        self._stepped.add(optimizer)
        every = [p for group in optimizer.param_groups for p in group["params"]]
        if optimizer not in self._optimizers:  # older than the recording, or unpickled
            self._tell_parameters(optimizer, every, OptimizerEvent.BUILT, code, lasti)
        self._tell_parameters(optimizer, every, OptimizerEvent.STEPPED, code, lasti)

    def _tell_parameters(
        self, optimizer: Optimizer, parameters: Sequence[Tensor], event: OptimizerEvent, code: CodeType, lasti: int
    ) -> None:
        number = self._optimizers.get(optimizer) or self._optimizers.setdefault(optimizer, self._new_optimizer())
        first = head(Kind.OPTIMIZER, self.recorder.thread(), a=event)
        where = self._site_op(code, lasti, class_name(optimizer))
        for parameter in parameters:
            needs = NeedsGrad.YES if parameter.requires_grad else NeedsGrad.NO
            self.emit(first, self.storage_of(parameter), where, number, needs, 0, 0, 0)

    # ----- the rest of the adapter, see agdbg.engines.native -----

    def storage_of(self, t: Tensor) -> int:
        """The id of the memory of ``t``."""
        raise NotImplementedError

    def _site_op(self, code: CodeType, lasti: int, op: str) -> int:
        raise NotImplementedError
