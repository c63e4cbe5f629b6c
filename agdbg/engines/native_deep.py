"""What is recorded only on request: shapes, what values were, checksums of saved tensors.

It is a second layer over :class:`~agdbg.engines.native.NativeSink`, so that a recording without it pays nothing. What
fails here is left out and told once; the recording goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import Any

from agdbg.engines.native import NativeSink
from agdbg.engines.native_checksum import Checksums, checksum, saved_arrays, with_inner
from agdbg.engines.native_context import Contexts
from agdbg.engines.native_rare import running, user_function
from agdbg.engines.native_shapes import Shapes
from agdbg.engines.native_summary import asked, summarised
from agdbg.engines.native_summary_later import Later, words_of
from agdbg.events import Kind, NeedsGrad, Probed, Summarized, head
from agdbg.record import Recorder
from agdbg.tell import tell
from agdbg_engine.backward import BackwardPass
from agdbg_engine.node import Node
from agdbg_engine.storage import Storage
from agdbg_engine.tensor import Tensor
from agdbg_engine.view import CopySlices
from agdbg_engine.watching import Watch


class DeepSink(NativeSink):
    """Records what the plain adapter does, and the extras that are asked for.

    Args:
        recorder: writes the trace.
        also: of ``shapes``, ``values`` and ``checksums``.
    """

    def __init__(self, recorder: Recorder, also: Iterable[str]) -> None:
        self._also = frozenset(also)
        self._failed = False
        self._contexts = Contexts()
        self._births: dict[type[Node], Callable[[Node, Tensor], None]] = {}
        super().__init__(recorder)
        self._shapes = Shapes(self)
        self._later = Later(recorder, self._fail)

    # ----- when something is built -----

    def birth_of(self, cls: type[Node]) -> Callable[[Node, Tensor], None]:
        told = self._births.get(cls)
        if told is None:
            try:
                told = self._births[cls] = self._new_birth(cls)
            except Exception as error:
                self._fail(error)
                return super().birth_of(cls)
        return told

    def _new_birth(self, cls: type[Node]) -> Callable[[Node, Tensor], None]:
        parts = [super().birth_of(cls)]
        if "shapes" in self._also:
            parts.append(self._careful(self._shapes.writer(cls)))
        if self._also - {"shapes"}:
            parts.append(self._careful(self._values_of_birth))
        first, *others = parts

        def born(node: Node, out: Tensor) -> None:
            first(node, out)
            for other in others:
                other(node, out)

        return born

    def _values_of_birth(self, node: Node, out: Tensor) -> None:
        if "values" in self._also:
            number = out._nr if out._fn is node else 0
            self._summarise(self.number(node), Summarized.OUTPUT, number, running(), out._a)
        if "checksums" in self._also:
            for slot, array, _ in saved_arrays(node):
                self._probe(node, slot, 0, checksum(array), Probed.SAVED)

    def outputs_made(self, node: Node, outs: Sequence[Tensor]) -> None:
        super().outputs_made(node, outs)
        self._try(self._others_made, node, outs)

    def _others_made(self, node: Node, outs: Sequence[Tensor]) -> None:
        """All outputs but the first of these, which was told at birth."""
        for out in outs[1:]:
            if "shapes" in self._also:
                self._shapes.output(node, out._nr, out)
            if "values" in self._also:
                self._summarise(self.number(node), Summarized.OUTPUT, out._nr, running(), out._a)

    def slot_saved(self, node: Node, slot: int, storage: Storage, version: int) -> None:
        super().slot_saved(node, slot, storage, version)
        if "checksums" in self._also:
            self._try(self._probe_again, node, slot)

    def _probe_again(self, node: Node, slot: int) -> None:
        """``slot`` holds something else than at birth: the result of an in-place op."""
        for at, array, _ in saved_arrays(node):
            if at == slot:
                self._probe(node, slot, 0, checksum(array), Probed.SAVED)

    # ----- shapes -----

    def view_created(self, view: Tensor, base: Tensor, op: str, code: CodeType, lasti: int) -> None:
        super().view_created(view, base, op, code, lasti)
        if "shapes" in self._also and view._fn is not None:
            self._try(self._shapes.again, view, view._fn)

    def history_rebased(self, tensor: Tensor, old: Node | None, new: Node, op: str, code: CodeType, lasti: int) -> None:
        super().history_rebased(tensor, old, new, op, code, lasti)
        if "shapes" in self._also and not isinstance(new, CopySlices):  # which was born with the tensor itself
            self._try(self._shapes.again, tensor, new)

    # ----- values -----

    def watch_of(self, bp: BackwardPass) -> Watch | None:
        if "values" not in self._also:
            return None
        try:
            return _Gradients(self, bp)
        except Exception as error:
            self._fail(error)
            return None

    def gradient(self, what: Summarized, node: Node, number: int, bp: BackwardPass, g: Any) -> None:
        """A gradient of a pass was seen. It does not raise."""
        try:
            self.catch_up()
            self._summarise(self.number(node), what, number, bp.tag, g._a if isinstance(g, Tensor) else g)
        except Exception as error:
            self._fail(error)

    def _summarise(self, tag: int, what: Summarized, number: int, pass_id: int, array: Any) -> None:
        first = head(Kind.SUMMARY, self.ordinal.number, a=what, b=number)
        words = asked(array)
        if words is not None:
            self._later.summarise((first, tag, pass_id), words, int(array.size))
            return
        found = summarised(array)
        if found is not None:
            self.emit(first, tag, pass_id, *words_of(found))

    # ----- checksums -----

    def pass_started(self, bp: BackwardPass) -> None:
        super().pass_started(bp)
        if "checksums" in self._also:
            self._try(self._check, bp)

    def function_kept(self, node: Node, held: Any, name: str, role: str, code: CodeType, lasti: int) -> None:
        super().function_kept(node, held, name, role, code, lasti)
        if "checksums" in self._also and not name.startswith("saved_tensors["):
            self._try(self._contexts.kept, node, name, held)

    def function_began(self, node: Node, what: str, code: CodeType, lasti: int) -> None:
        super().function_began(node, what, code, lasti)
        if what == "backward" and "checksums" in self._also:
            self._try(self._tell_changed, node)

    def _tell_changed(self, node: Node) -> None:
        """Tell what the context held and holds no more, now that ``backward`` is about to read it."""
        for name, value, is_read in self._contexts.changed(node, user_function(node, "backward")):
            tensor = value if isinstance(value, Tensor) else None
            read = NeedsGrad.YES if is_read else NeedsGrad.UNKNOWN
            self._kept(node, tensor, name, "changed", read, node.code, node.lasti)

    def _check(self, bp: BackwardPass) -> None:
        """Read once more what the nodes of a pass have saved."""
        sums = Checksums()
        for node in with_inner(bp.running()):
            for slot, array, version in saved_arrays(node):
                self._probe(node, slot, version, sums.of(array), Probed.CHECKED)

    def _probe(self, node: Node, slot: int, now: int, found: int, when: Probed) -> None:
        """Tell a checksum, with the version at which the slot was saved or, when it is checked, with that of ``now``."""
        tag = self.number(node)
        save = self._save(node, slot, tag)
        if save is not None:
            storage, then, _ = save
            version = now if when == Probed.CHECKED else then
            self.emit(head(Kind.PROBE, self.ordinal.number, a=when), storage, version, found, 0, tag, slot, 0)

    # ----- what fails -----

    def _careful(self, function: Callable[[Node, Tensor], None]) -> Callable[[Node, Tensor], None]:
        """``function``, called behind what nodes ran in the meantime, and without raising."""
        logs, catch_up = self.logs, self.catch_up

        def careful(node: Node, out: Tensor) -> None:
            if not hasattr(node, "tag"):  # its birth could not be told
                return
            try:
                if logs:
                    catch_up()
                function(node, out)
            except Exception as error:
                self._fail(error)

        return careful

    def _try(self, function: Callable[..., None], *args: Any) -> None:
        try:
            function(*args)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """This one is left out; it is told the first time. The program may be at its limit of recursion: that is no fault."""
        if not self._failed and not isinstance(error, RecursionError):
            self._failed = True
            tell(f"some of {', '.join(sorted(self._also))} is not recorded: {type(error).__name__}: {error}")


class _Gradients(Watch):
    """Looks at the gradients of one pass."""

    def __init__(self, sink: DeepSink, bp: BackwardPass) -> None:
        self._sink, self._pass = sink, bp

    def arrived(self, node: Node, nr: int, g: Any) -> None:
        self._sink.gradient(Summarized.GRADIENT_IN, node, nr, self._pass, g)

    def sent(self, node: Node, index: int, g: Any) -> None:
        self._sink.gradient(Summarized.GRADIENT_OUT, node, index, self._pass, g)
