"""What things in the program are called: nodes by the leaf or the module that they belong to, memory by its tensors."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from agdbg.engines.native_variables import called
from agdbg_engine.nn import naming
from agdbg_engine.nn.module import Module
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink
    from agdbg.record import Facts

_CALL = Module.__call__.__code__


class Names:
    """Names of nodes, modules and memory; of what is older than the breakpoints the recording is asked."""

    def __init__(self, sink: NativeSink) -> None:
        self._sink = sink
        self._module_of: weakref.WeakKeyDictionary[Node, str] = weakref.WeakKeyDictionary()
        self._paths: weakref.WeakKeyDictionary[Module, str] = weakref.WeakKeyDictionary()
        self._facts: Facts | None = None
        self._known_paths: tuple[int, frozenset[str]] = 0, frozenset()
        self._given: dict[int, str] = {}
        self._variables: weakref.WeakKeyDictionary[AccumulateGrad, list[str]] = weakref.WeakKeyDictionary()

    # ----- nodes -----

    def born(self, node: Node) -> None:
        """Note in which module the running thread builds ``node``."""
        if not self._sink.modules_told:
            return
        module = running_module()
        self._module_of[node] = "" if module is None else self.path_of(module)

    def of_node(self, node: Node) -> list[str]:
        """The names of the leaf whose gradient the node accumulates; of any other node the path of its module, if it has one.

        A leaf that is in no module goes by the variables that :meth:`look_at_variables` has found.
        """
        if isinstance(node, AccumulateGrad):
            return self._sink.names_of_leaf(node) or self._variables.get(node, [])
        if not self._sink.modules_told:
            return []
        path = self._module_of.get(node)
        if path is None:
            path = self._module_of[node] = self._recorded(node)
        return [path] if path else []

    def look_at_variables(self, leaves: Iterable[Node], order: Sequence[Node]) -> None:
        """Find what the program calls the leaves of a pass that have no names, in the thread that begins it."""
        unnamed = [each for each in leaves if isinstance(each, AccumulateGrad) and not self._sink.names_of_leaf(each)]
        if unnamed:
            self._variables.update(called(unnamed, order))

    def _recorded(self, node: Node) -> str:
        """The module of a node that was built before anybody asked: the recording has it."""
        from agdbg.record import Facts, Trace, TraceError

        number = self._sink.number(node)
        try:
            if self._facts is None or self._facts.node(number) is None:
                self._sink.recorder.flush()
                self._facts = Facts(Trace.open(self._sink.recorder.path))
            return self._facts.module_path(number)
        except (OSError, TraceError):  # the program may have removed it
            return ""

    def forget_recorded(self) -> None:
        """Let go of what was read of the recording."""
        self._facts = None

    # ----- modules -----

    def path_of(self, module: Module) -> str:
        """Where a module stands in the model, as ``encoder.0``; empty for the root."""
        path = self._paths.get(module)
        if path is None:
            path = self._paths[module] = ".".join(reversed(list(_steps(module))))
        return path

    def paths(self) -> frozenset[str]:
        """The paths of all modules that the recording has been told of."""
        told = self._sink.modules_told
        if self._known_paths[0] != told:
            self._known_paths = told, frozenset(self.path_of(each) for each in list(self._sink._modules))
        return self._known_paths[1]

    # ----- memory -----

    def of_storage(self, number: int) -> list[str]:
        """The names of the tensors in a storage."""
        return self._sink._texts.get(number, [])

    def called(self, number: int) -> str:
        """The names of a storage in words, or else by what somebody has asked for it; empty for none."""
        return " or ".join(self.of_storage(number)) or self._given.get(number, "")

    def give(self, number: int, label: str) -> None:
        """Call a storage so as long as it has no name."""
        self._given.setdefault(number, label)

    def number_of(self, t: Tensor) -> int:
        """The number of the storage of a tensor."""
        return self._sink.storage_of(t)

    def of_tensor(self, t: Tensor) -> str:
        """What to call a tensor."""
        return self.called(self._sink.storage_of(t)) or f"a tensor {list(t.shape)}"

    def count(self) -> int:
        """How many storages have names: whoever remembers names looks again when it changes."""
        return len(self._sink._texts)

    def storage_of_slot(self, node: Node, slot: str) -> int:
        """The number of the storage of what a node saved; 0 when it is not there."""
        found = self._sink._save(node, node.slots.index(slot), self._sink.number(node))
        return 0 if found is None else found[0]


def running_module() -> Module | None:
    """The innermost module whose forward runs in this thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _CALL:
            found: Any = frame.f_locals.get("self")
            return found if isinstance(found, Module) else None
        frame = frame.f_back
    return None


def models() -> list[Module]:
    """The models that have been called, or of which a parameter was used."""
    return list(naming._announced)


def tensors_of(model: Module) -> Iterator[tuple[str, Tensor]]:
    """The parameters and buffers of a model by their names."""
    yield from model.named_parameters()
    yield from model.named_buffers()


def _steps(module: Module) -> Iterator[str]:
    """The names on the way up to the root."""
    while (parent := naming.parent_of(module)) is not None:
        name = next((name for name, child in parent._modules.items() if child is module), None)
        if name is None:  # it was taken out
            return
        yield name
        module = parent
