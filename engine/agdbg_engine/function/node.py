"""The node of a custom Function, which is also the context that its functions get."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from .. import errors, events
from ..attributes import make_read_only
from ..current import current
from ..hooks.watch import Watch, facts
from ..missing import missing_attribute
from ..node import Node, NodeN, next_seq
from ..saved import Freed, unpacked
from ..saved.names import saved_attribute
from ..saved.raw import SavedTensor, raw_attribute
from ..sites import caller
from ..tensor import wrap
from ..validate import InputMetadata
from .ctx import FunctionCtx, no_backward, put
from .grads import Like, fitted, zeros_like
from .names import UNKNOWN, delete, dict_of, know, set_dict, tag_of, write
from .saved import PerNode, Slots, names

if TYPE_CHECKING:
    from ..backward import BackwardPass


_READ_ONCE = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. Either "
    "access saved_tensors only once, or set clear_saved_tensors_on_access=False."
)


class BackwardCFunction(NodeN, FunctionCtx, Slots):
    """A call of a custom Function. Subclasses are made, one for each Function; their instances take any attribute."""

    __slots__ = (
        "_cleared", "_fills", "_freed", "_kept", "_likes", "_once", "_own", "_pure_view", "_raised", "_versions", "_wants",
        "dirty_tensors", "materialize_grads", "n_outputs", "needs_input_grad", "non_differentiable", "saved_for_forward", "to_save",
        "unfilled",
    )  # fmt: skip
    multi = True
    user_code = complete = True
    _forward_cls: ClassVar[Any]
    slots = PerNode(lambda node: names(len(node._kept)))  # of each node, not of the class
    outputs_saved = PerNode(lambda node: node._own)

    needs_input_grad: tuple[bool, ...]
    """For every argument of ``forward`` whether its gradient is wanted."""
    to_save: Any
    saved_for_forward: Any
    dirty_tensors: Any
    non_differentiable: Any
    materialize_grads: bool
    _wants: tuple[Like | None, ...]
    """For every argument of ``forward`` what its gradient must be like; ``None`` for what is no tensor."""
    _likes: tuple[Like | None, ...]
    """For every output what its gradient is like; ``None`` for what is no tensor."""
    n_outputs: int
    unfilled: tuple[int, ...]
    """Outputs whose missing gradients come as ``None`` though those of others come as zeros."""
    _kept: list[Any]
    """What was saved, in order: tensors, ``None``, :class:`~.saved.Packed` (outputs always are), :class:`~.saved.Freed`."""
    _versions: list[int]
    _own: tuple[bool, ...]
    """For everything saved whether it is an output."""
    _freed: Freed | None
    _once: bool
    """Whether what was saved is dropped as soon as it was read."""
    _cleared: bool
    """Whether that has happened."""
    _fills: bool
    """Whether missing gradients of outputs that are not differentiable come as zeros, too, where those of others do."""
    _pure_view: bool
    """Whether a view that is returned may be written in place: its base then gets the view's history, without ``backward``."""
    _raised: AttributeError | None
    """The error on its way out of :attr:`saved_tensors`."""

    __setattr__ = write
    __delattr__ = delete
    __dict__ = property(dict_of, set_dict)  # of whoever asks

    def set_up(self) -> None:
        """Fill the slots of a new node."""
        self.hooks = self.nrs = self._freed = self._raised = None
        self._once = self._cleared = self._pure_view = False
        self._fills = True
        self.to_save = self.saved_for_forward = self.dirty_tensors = self.non_differentiable = None
        self.next = self.needs_input_grad = self._wants = self._likes = self._own = self.unfilled = ()
        self.materialize_grads = True
        self._kept, self._versions = [], []
        self.n_outputs = UNKNOWN
        self.seq = next_seq()
        self.code, self.lasti = caller()

    tag = property(tag_of, Node.__dict__["tag"].__set__)  # a slot of other nodes
    """The number given by an instrument, which alone sees it: it may number a node at any time."""

    # ----- what it is told besides -----

    @property
    def _materialize_non_diff_grads(self) -> bool:
        """Whether missing gradients of outputs that are not differentiable come as zeros, too, where those of others do."""
        return self._fills

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value: bool) -> None:
        self._fills = _bool("set_materialize_non_diff_grads", value)

    @property
    def _is_pure_view(self) -> bool:
        """Whether a view that is returned may be written in place: its base then gets the view's history, without ``backward``."""
        raise AttributeError  # the words are those of any attribute that is not there

    @_is_pure_view.setter
    def _is_pure_view(self, value: bool) -> None:
        self._pure_view = _bool("set_pure_view", value)

    # ----- what is saved -----

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, in ``jvp`` for that: raises PyTorch's errors for what was freed or modified since."""
        try:
            if self.saved_for_forward is not None:
                return tuple(self.saved_for_forward)
            if self._cleared:
                raise errors.make(RuntimeError, errors.Details("other", self), _READ_ONCE)
            if self._freed is not None:
                raise errors.backward_twice(self, self._freed)
            found = tuple([None if value is None else self._unpacked(i, value) for i, value in enumerate(self._kept)])
            if self._once:
                self._cleared = True
                self.maybe_clear_saved_tensors()
            return found
        except AttributeError as error:  # of a hook: Python asks __getattr__ instead of telling it
            self._raised = error
            raise

    def read_once(self, wanted: Any) -> None:
        """Let what is saved be dropped as soon as it was read, if ``wanted``: :class:`RuntimeError` unless that is a bool."""
        if not isinstance(wanted, bool):
            raise RuntimeError(f"clear_saved_tensors_on_access must be a bool, got {errors.class_name(wanted)}")
        self._once = wanted

    def maybe_clear_saved_tensors(self) -> None:
        """Drop what was saved if it may be read only once and was: reading it does so by itself."""
        if self._cleared:
            self._kept = [None] * len(self._kept)

    def _unpacked(self, i: int, value: Any) -> Any:
        storage = value._storage
        if storage is not None and storage.version != self._versions[i]:
            return unpacked(self, self.slots[i], storage, as_it_is=True)
        return value

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of :attr:`saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        try:
            return self.saved_tensors
        except AttributeError as error:  # as above
            self._raised = error
            raise

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """What was saved, as objects on which hooks can be set."""
        if self._freed is not None:
            raise errors.backward_twice(self, self._freed)
        return () if self._cleared else tuple(SavedTensor.of(self, slot) for slot in self.slots)

    def release(self, freed: Freed) -> None:
        put(self, "_freed", freed)
        put(self, "_kept", [None if value is None else freed for value in self._kept])

    # ----- what it is -----

    @property
    def requires_grad(self) -> bool:
        """Whether there is something to differentiate."""
        return any(n is not None for n in self.next)

    @property
    def _input_metadata(self) -> tuple[InputMetadata | None, ...]:
        return tuple(None if like is None else InputMetadata(*like) for like in self._likes)

    def __call__(self, *gradients: Any, **keywords: Any) -> Any:
        """Refused, as in PyTorch: nobody but a backward pass runs the ``backward`` of a Function."""
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def __getattr__(self, name: str) -> Any:
        if name in ("saved_tensors", "saved_variables") and self._raised is not None:
            error, self._raised = self._raised, None
            try:
                raise error
            finally:
                del error  # else it would hold this frame, which holds it
        if name.startswith("_saved_"):
            return saved_attribute(self, name.removeprefix("_saved_"))
        if name.startswith("_raw_saved_"):
            return raw_attribute(self, name.removeprefix("_raw_saved_"))
        raise missing_attribute(f"'{self.op_name}' object", name)

    def __dir__(self) -> list[str]:
        return list(object.__dir__(self))

    # ----- running it -----

    def grads(self, g: Any) -> tuple[Any, ...]:
        found = self._run([None if x is None else wrap(x) for x in g])
        return tuple([None if t is None else t._a for t in found])

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        return self._run(g)

    def _run(self, gs: list[Any]) -> tuple[Any, ...]:
        if self.materialize_grads:
            gs = [
                zeros_like(like) if g is None and like is not None and i not in self.unfilled else g
                for i, (g, like) in enumerate(zip(gs, self._likes, strict=True))
            ]
        if events.sink is not None:
            events.sink.function_began(self, "backward", *caller())
        watch = None if events.sink is None else Watch("backward", self, (tuple(gs),))
        returned = self.apply(*gs)
        bp = current.bp
        if watch is not None and bp is not None and watch.written():
            self._tell_edited(watch, bp)
        return fitted(self, returned, gs)

    def _tell_edited(self, watch: Watch, bp: BackwardPass) -> None:
        """Tell that the user's ``backward`` wrote to a gradient that it was given: as of a hook that did."""
        if events.sink is not None:
            events.sink.hook("fired", "backward", self, bp.code, bp.lasti, facts(watch, bp, -1, self._get_user_fn()))

    def _get_user_fn(self) -> Any:
        """The function that the user wrote; :class:`RuntimeError` when there are two."""
        backward, vjp = self._forward_cls.backward, self._forward_cls.vjp
        if vjp is no_backward:
            return backward
        if backward is not no_backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one "
                "of them."
            )
        return vjp

    def apply(self, *gs: Any) -> Any:
        """Call the user's ``backward`` (or ``vjp``) with the gradients of the outputs."""
        return self.apply_boxed(list(gs)) if self._forward_cls.boxed_grads_call else self.apply_boxed(*gs)

    def apply_boxed(self, *gs: Any) -> Any:
        """Call it with ``gs`` as they stand: one list of gradients where the Function wants that."""
        return self._get_user_fn()(self, *gs)

    def apply_jvp(self, *tangents: Any) -> Any:
        """Call the user's ``jvp`` with the tangents of the arguments."""
        return self._forward_cls.jvp(self, *tangents)


make_read_only(
    BackwardCFunction,
    "torch._C._FunctionBase",
    (
        "_input_metadata",
        "_raw_saved_tensors",
        "metadata",
        "next_functions",
        "requires_grad",
        "saved_tensors",
        "saved_variables",
    ),
)
know(BackwardCFunction)


class Unborn(BackwardCFunction):
    """A node that no user has yet: its slots are filled the fast way, then it gets its class."""

    __slots__ = ()
    __setattr__ = object.__setattr__  # type: ignore[assignment]  # of object


def _bool(function: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{function} received an invalid combination of arguments - got (), but expected (bool)")
    return value


class DelayedError(NodeN):
    """Raises when it runs: the history of what cannot be differentiated any more."""

    __slots__ = ("details", "n_outputs", "text")
    multi = True
    op_name = "Error"
    n_outputs: int

    def __init__(self, details: errors.Details, text: str, n_outputs: int) -> None:
        self.hooks = self.nrs = None
        self.next = ()
        self.seq = next_seq()
        self.code, self.lasti = caller()
        self.details, self.text, self.n_outputs = details, text, n_outputs

    def name(self) -> str:
        return "torch::autograd::Error"

    def grads(self, g: Any) -> NoReturn:
        node: Node | None = self.details.node
        of = (
            []
            if node is None
            else [f"it is the backward of {node.op_name}: write it with ops of tensors, without the mark"]
        )
        raise errors.make(RuntimeError, self.details, self.text, *of)

    grads_graph = grads
