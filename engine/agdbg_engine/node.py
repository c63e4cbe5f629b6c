"""Nodes of the graph that backward walks, and the edges between them.

A node keeps its edges in flat slots (``n0``, ``n1``, or a tuple ``next`` from three on) and its saved tensors in
slots of their own: at hundreds of bytes a node, one object per edge would double the graph. :attr:`Node.next_functions`
and :func:`agdbg_engine.saved.saved_slots` make the readable views on demand.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from sys import _getframe
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import ref

from . import events
from .hooks import NodeHooks, RemovableHandle, follow_leaf, node_hooks
from .meta import SAME, AutogradMeta
from .node_attributes import REFUSED, show_saved, stored
from .sites import INTERNAL
from .storage import counting

if TYPE_CHECKING:
    from .saved import Freed
    from .tensor import Tensor
    from .validate import InputMetadata

new = object.__new__
next_seq = itertools.count().__next__
"""Sequence numbers: one global count, so that every consumer has a higher number than its producers."""

LEAF_SEQ = 2**64 - 1
"""PyTorch's sequence number of an AccumulateGrad: it runs as soon as it is ready."""

_HAND_WRITTEN = frozenset(("AccumulateGrad", "CopyBackwards", "CopySlices", "Identity", "NotImplemented"))

Buffers = dict[Any, Any]
"""Gradients on their way, by node for output 0 and by ``(node, output number)`` for the others."""


class Edge(NamedTuple):
    """An input of a node: the ``output_nr``-th output of ``node``, or nothing."""

    node: Node | None
    output_nr: int


class Node:
    """One recorded op. Subclasses are generated from the op table; ``run`` and ``grads`` hold its derivative.

    It has no ``__getattr__``, with which Python 3.11 would read every slot of every node the slow way: whatever nodes show
    is a descriptor on their class.
    """

    __slots__ = ("__weakref__", "code", "hooks", "lasti", "nrs", "seq", "tag")

    arity: ClassVar[int] = 0
    slots: ClassVar[tuple[str, ...]] = ()
    """Names of the saved tensors, in slot order."""
    outputs_saved: ClassVar[tuple[bool, ...]] = ()
    """For every slot whether it holds a result of the op (kept as a bare buffer: no reference cycle)."""
    consts: ClassVar[tuple[str, ...]] = ()
    """Names of the saved numbers, shapes and dtypes."""
    leaf: ClassVar[bool] = False
    keeps: ClassVar[bool] = False
    """Whether somebody may keep this node's incoming gradient, so that it matters who else holds it."""
    multi: ClassVar[bool] = False
    """Whether the op has several differentiable outputs."""
    user_code: ClassVar[bool] = False
    """Whether running it calls a function of the user (a custom Function), which wants to be called with no gradients, too."""
    complete: ClassVar[bool] = False
    """Whether it gives a gradient for every input if any is wanted, as hooks see: not even PyTorch can ask for fewer."""
    op_name: ClassVar[str] = "Node"
    blanks: ClassVar[tuple[int, ...]] = ()
    """Where among the inputs a number stands that PyTorch makes a tensor of: an edge to nothing."""
    spent: ClassVar[tuple[str, ...]] = ()
    """Slots of such numbers, and of index tensors, that a backward call frees like saved tensors."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        show_saved(cls)

    def __init__(self) -> None:
        if type(self) is Node:
            raise TypeError(
                "Can't instantiate abstract class Node with abstract methods _input_metadata, _register_hook_dict, _sequence_nr, "
                "metadata, name, next_functions, register_hook, register_prehook"
            )

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What a kind of node keeps."""

    seq: int
    code: CodeType
    lasti: int
    hooks: NodeHooks | None
    nrs: tuple[int, ...] | None
    """Output numbers of the edges; ``None`` when all are 0, which is nearly always."""
    tag: int
    """Number given by an instrument (unset until then)."""

    def name(self) -> str:
        """PyTorch's name of the node: ``MulBackward0``, with its C++ namespace for nodes that PyTorch wrote by hand."""
        return "torch::autograd::" + self.op_name if self.op_name in _HAND_WRITTEN else self.op_name

    def _sequence_nr(self) -> int:
        """Creation order; the executor runs the highest first."""
        return self.seq

    def next_nodes(self) -> tuple[Node | None, ...]:
        """The producers, one per differentiable input; ``None`` where no gradient is needed."""
        raise NotImplementedError

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """``(node, output_nr)`` per input."""
        edges = self.edges()
        for i in self.blanks:
            edges.insert(i, Edge(None, 0))
        return tuple(edges)

    def edges(self) -> list[Edge]:
        """:attr:`next_functions` without those of numbers."""
        nodes = self.next_nodes()
        return [Edge(n, nr) for n, nr in zip(nodes, self.nrs or (0,) * len(nodes), strict=True)]

    def run(self, g: Any, buffers: Buffers, shared: set[Any], summed: set[Any], freed: Freed | None) -> None:
        """Fast path: compute the gradients of ``g`` (a buffer), add them into ``buffers``, release if ``freed``."""
        raise NotImplementedError

    def grads(self, g: Any) -> tuple[Any, ...]:
        """The gradients of ``g`` (a buffer; a list of them for several outputs) by input, saved tensors checked."""
        raise NotImplementedError

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        """As :meth:`grads` on tensors, recording: for ``create_graph``."""
        raise NotImplementedError

    def grads_for(self, g: Any, needed: list[bool], tensors: bool) -> tuple[Any, ...]:
        """As :meth:`grads`, or :meth:`grads_graph` if ``tensors``; those that are not ``needed``, by edge, may be left out."""
        return self.grads_graph(g) if tensors else self.grads(g)

    def release(self, freed: Freed) -> None:
        """Drop the saved tensors, leaving ``freed`` in their slots to tell who did it."""

    def output_storage(self, storage: Any) -> Any:
        """The storage object for the result, offered a new one: where the op saved the result, one for all who read it."""
        return storage

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node ran; a tuple it returns replaces the former."""
        return RemovableHandle(node_hooks(self).post, fn, self, "post")

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs; a tuple it returns replaces them."""
        return RemovableHandle(node_hooks(self).pre, fn, self, "pre")

    def _register_hook_dict(self, tensor: Tensor) -> None:
        """Let the hooks that ``tensor`` has, or gets, fire on the gradient of the output that it is.

        :class:`TypeError` for what is no tensor.
        """
        from .tensor import Tensor

        if not isinstance(tensor, Tensor):
            raise TypeError("_register_hook_dict expected a variable")
        if tensor._backward_hooks is None:
            tensor._backward_hooks = OrderedDict()
        node_hooks(self).tensor.append((tensor._nr, tensor._backward_hooks))

    @property
    def metadata(self) -> dict[str, Any]:
        """Anything that is to be remembered about this node; anomaly mode puts ``traceback_`` and ``parent_`` here."""
        return node_hooks(self).metadata

    @property
    def _input_metadata(self) -> tuple[InputMetadata | None, ...]:
        """Shape, dtype and device of every output; ``None`` for one that nothing is known of (plain nodes keep no record)."""
        from .validate import output_metadata

        return output_metadata(self)

    def __call__(self, *gradients: Any, **keywords: Any) -> Any:
        """The gradients of the inputs for those of the outputs, tensors all of them: hooks do not fire, nothing is freed."""
        from .node_call import call

        if keywords:
            raise TypeError("keyword arguments are not supported")
        return call(self, gradients)

    @property
    def requires_grad(self) -> bool:
        """Always true: what needs no gradient has no node."""
        return True

    def __dir__(self) -> list[str]:
        from .saved.names import attribute_names

        others = [n for n in super().__dir__() if not n.startswith(("_saved_", "_raw_saved_")) and n not in REFUSED]
        return [*others, *attribute_names(self)]

    def twin(self) -> Node:
        """Another node that is like this one now."""
        made = object.__new__(type(self))
        for kind in type(self).__mro__:
            for name in vars(kind).get("__slots__", ()):
                if name != "__weakref__" and hasattr(self, name):
                    setattr(made, name, getattr(self, name))
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def __repr__(self) -> str:
        return f"<{self.op_name} object at {id(self):#x}>"


def no_instances(cls: type[Node], *args: Any, **kwargs: Any) -> Node:
    """``__new__`` of the nodes that only ops make (which they do without asking it)."""
    raise TypeError(f"cannot create '{cls.__name__}' instances")


class Node1(Node):
    """A node with one differentiable input."""

    __slots__ = ("n0",)
    arity = 1
    n0: Node | None

    def next_nodes(self) -> tuple[Node | None, ...]:
        return (None if type(self.n0) is Nowhere else self.n0,)


class Nowhere(Node):
    """Stands in ``n0`` of a node whose only input has no history: nothing reads the gradient that ``run`` sends here.

    So neither the ops nor ``run`` of nodes with one input need to ask whether there is a producer. Every node has its own, since
    gradients for the same producer are added. It is in no plan, and :meth:`Node.next_nodes` does not show it.
    """

    __slots__ = ()
    leaf = True

    def next_nodes(self) -> tuple[Node | None, ...]:
        return ()


def nowhere(*inputs: Tensor) -> Node | None:
    """For an op none of whose ``inputs`` has a node: a :class:`Nowhere` if one requires grad all the same, so that it is recorded.

    Such is a view that was made without recording, or before its base required grad: PyTorch says that it requires grad, and
    the gradients of what is computed from it lead nowhere.
    """
    return Nowhere() if any(t._rg and t.requires_grad for t in inputs) else None


class Node2(Node):
    """A node with two differentiable inputs."""

    __slots__ = ("n0", "n1")
    arity = 2
    n0: Node | None
    n1: Node | None

    def next_nodes(self) -> tuple[Node | None, ...]:
        return (self.n0, self.n1)


class NodeN(Node):
    """A node with any number of differentiable inputs."""

    __slots__ = ("next",)
    arity = 3
    next: tuple[Node | None, ...]

    def next_nodes(self) -> tuple[Node | None, ...]:
        return self.next


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the gradient to ``variable.grad``."""

    __slots__ = ("_variable",)
    leaf = True
    keeps = True
    op_name = "AccumulateGrad"
    variable: Tensor = stored("variable", "_variable")
    _variable: Tensor

    def tell(self) -> None:
        """It is the one of its leaf: tell the sink, and do what the rare modes want."""
        if events.sink is not None:
            events.sink.node_born(self, self.variable)
        if events.special & events.ANOMALY:
            from .anomaly import remember

            remember(self)
        if events.special & events.STREAMS:
            from .streams import remember as remember_stream

            remember_stream(self, self.variable)

    def next_nodes(self) -> tuple[Node | None, ...]:
        return ()

    def run(self, g: Any, buffers: Buffers, shared: set[Any], summed: set[Any], freed: Freed | None) -> None:
        self._variable._accumulate(g, self not in shared)


def edge(t: Tensor) -> Node | None:
    """The node that a consumer of ``t`` connects to: the slow way, for leaves and views.

    A leaf's AccumulateGrad is made at its first use and lives as long as a graph holds it.
    """
    meta = t._meta
    if meta is None:
        if t._fn is not None or not t._rg:
            return t._fn
        with counting():
            if t._meta is None:  # else another thread was faster
                t._meta = AutogradMeta()
            meta = t._meta
    elif meta.view is not None:
        return meta.view.grad_fn(t)
    if t._fn is not None:
        return t._fn
    if not t._rg:
        return None
    held = meta.accumulator  # as accumulator(), a call less
    node = held() if held is not None else None
    return _new_accumulator(t, meta, _getframe(1)) if node is None else node


def accumulator(t: Tensor, meta: AutogradMeta) -> AccumulateGrad:
    """The AccumulateGrad of leaf ``t``: the one that a graph still holds, else a new one."""
    node = meta.accumulator() if meta.accumulator is not None else None
    return _new_accumulator(t, meta, _getframe(1)) if node is None else node


def _new_accumulator(t: Tensor, meta: AutogradMeta, frame: FrameType) -> AccumulateGrad:
    """A new one, made in ``frame`` or for the user's frame above it."""
    code = frame.f_code
    while code.co_filename in INTERNAL and frame.f_back is not None:  # as user_frame(), a call less
        frame = frame.f_back
        code = frame.f_code
    with counting():  # one node whichever threads want it: a pass asked for this leaf knows it by that
        node = meta.accumulator() if meta.accumulator is not None else None
        if node is not None:
            return node
        node = new(AccumulateGrad)  # without a call of __init__: many are made for one pass each
        node._variable = t
        node.seq = LEAF_SEQ
        node.code = code
        node.lasti = frame.f_lasti
        node.nrs = node.hooks = None
        if meta.backward_hooks is not None or meta.post_accumulate is not None:
            follow_leaf(node, t)
        if meta.grad_dtype is not SAME:
            node_hooks(node)  # so that it is run in the general way, which casts
        meta.accumulator = ref(node)
    if events.on:
        node.tell()
    return node
