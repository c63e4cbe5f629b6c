"""A second engine for tests: it writes a trace the way an adapter for PyTorch can.

What such an adapter sees differs from the native engine in every way that the format allows, and all of it is
here: a node is born without edges and saves; both are told at backward, as inferred; a leaf's node turns up
only then, after edges have named it; node ids are the adapter's own, large and with gaps; sequence numbers
are per thread and repeat; no record says that a node was freed; slots are called `_saved_mat1`. conftest.py
loads this file and makes fixtures of it.
"""

from dataclasses import dataclass, field
from pathlib import Path

from agdbg.events import (
    ACCUMULATE_SEQUENCE,
    RETAIN_GRAPH,
    Kind,
    Outcome,
    Provenance,
    head,
    pack_edge,
    pack_pair,
    pack_site_op,
)
from agdbg.record import Recorder

SEES = {"edges": "inferred", "saves": "inferred", "unpack": False, "bumps": "observed"}
SLOTS = {
    "AddmmBackward0": ("_saved_mat1", "_saved_mat2"),
    "MulBackward0": ("_saved_self", "_saved_other"),
    "ReluBackward0": ("_saved_result",),
    "TanhBackward0": ("_saved_result",),
}
TWICE = (
    "Trying to backward through the graph a second time "
    "(or directly access saved tensors after they have already been freed)."
)
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [3, 1]], which is output 0 of AsStridedBackward0, is at version 1; "
    "expected version 0 instead."
)


@dataclass
class FakeRun:
    """A trace that was written, and what things in it are called."""

    path: Path
    nodes: dict[str, int]
    storages: dict[str, int]
    script: list[str]


@dataclass
class _Node:
    number: int
    op: str
    edges: list[tuple[str, int]]
    saves: list[tuple[int, str, int]]


@dataclass
class FakeTorch:
    """Writes one trace; nodes and storages go by labels, sites by line numbers of `script`."""

    path: Path
    script: list[str]
    nodes: dict[str, _Node] = field(default_factory=dict)
    storages: dict[str, int] = field(default_factory=dict)
    sequences: dict[int, int] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)

    def __post_init__(self):
        program = {"argv": ["train.py"], "cwd": "/project", "python": "3.11.7"}
        engine = {"name": "torch", "version": "2.13.0"}
        self.recorder = Recorder(self.path, program=program, engine=engine, sees=SEES)
        self.next_node = 10_000

    # ----- what the adapter sees while the graph is built -----

    def node(self, label, op, line, edges, saves=(), thread=1):
        """A node is born; `edges` [(label, nr)] and `saves` [(slot, storage, version)] are kept for later."""
        self.nodes[label] = _Node(self._new_id(), op, list(edges), list(saves))
        sequence = self.sequences.get(thread, 0)
        self.sequences[thread] = sequence + 1
        self._born(self.nodes[label].number, op, sequence, line, thread)

    def leaf(self, label):
        """A leaf's node exists for the adapter only once an edge leads to it: nothing is recorded."""
        self.nodes[label] = _Node(self._new_id(), "AccumulateGrad", [], [])

    def named(self, name, leaf=""):
        """A parameter is named; its leaf node is `leaf`, or is not known yet."""
        names = pack_pair(self.recorder.text(name), self.recorder.text("parameter"))
        producer = pack_edge(self.nodes[leaf].number) if leaf else 0
        self._emit(Kind.TENSOR, self.recorder.new_tensor(), self.storage(name), producer, names)

    def storage(self, label):
        """The id of a storage."""
        if label not in self.storages:
            self.storages[label] = self.recorder.new_storage()
        return self.storages[label]

    def bump(self, storage, op, line, old, new):
        """A write in place."""
        self._emit(Kind.BUMP, self.storage(storage), old, new, self._site_op(line, op))

    # ----- what it learns at backward -----

    def start(self, root, line, retain_graph=False):
        """A pass starts: edges and saves of all it can reach are read, and told unless they were before."""
        self._tell(root)
        number = self.recorder.new_pass()
        site_op, edge = self._site_op(line, "backward"), pack_edge(self.nodes[root].number)
        words = (site_op, edge, 0, self.recorder.now())
        self._emit(Kind.PASS_STARTED, number, *words, flags=RETAIN_GRAPH if retain_graph else 0, a=1)
        return number

    def ran(self, number, *labels):
        """Nodes ran well, in this order."""
        for order, label in enumerate(labels):
            self._ran(number, label, order, Outcome.OK)

    def finish(self, number, nodes):
        """A pass ends well after so many nodes."""
        self._emit(Kind.PASS_FINISHED, number, Outcome.OK, nodes, self.recorder.now())

    def fail(self, number, order, label, kind, text, line, storage="", versions=(0, 0), slot=0):
        """A node raises, and its pass with it."""
        self._ran(number, label, order, Outcome.ERROR)
        texts, saved = self.recorder.text(text), self.storages.get(storage, 0)
        site_op, pair = self._site_op(line, kind), pack_pair(*versions)
        self._emit(Kind.ERROR, self.nodes[label].number, number, site_op, saved, pair, texts, slot + 1)
        self._emit(Kind.PASS_FINISHED, number, Outcome.ERROR, order, self.recorder.now())

    def done(self):
        """Close the trace."""
        self.recorder.close({"status": 1})
        numbers = {label: node.number for label, node in self.nodes.items()}
        return FakeRun(self.path, numbers, dict(self.storages), self.script)

    def _tell(self, label):
        if label in self.told:
            return
        self.told.add(label)
        node = self.nodes[label]
        for index, (producer, nr) in enumerate(node.edges):
            word = pack_edge(self.nodes[producer].number, nr) if producer else 0
            self._emit(Kind.EDGE, node.number, index, word, flags=Provenance.INFERRED)
        for slot, storage, version in node.saves:
            self._emit(Kind.SAVED, node.number, slot, self.storage(storage), version, flags=Provenance.INFERRED)
        for producer, _ in node.edges:
            if producer:
                self._tell(producer)
        if node.op == "AccumulateGrad":
            self._born(node.number, node.op, ACCUMULATE_SEQUENCE, 0, 1)

    # ----- words -----

    def _new_id(self):
        self.next_node += 7
        return self.next_node

    def _born(self, number, op, sequence, line, thread):
        self._emit(Kind.BORN, number, sequence, self._site_op(line, op), thread=thread)

    def _ran(self, number, label, order, outcome):
        start = self.recorder.now()
        self._emit(Kind.RAN, self.nodes[label].number, number, order, start, 1_000, outcome)

    def _site_op(self, line, op):
        text = self.script[line - 1]
        site = self.recorder.site_at("/project/train.py", line, "main", text) if line else 0
        return pack_site_op(site, self.recorder.op(op, SLOTS.get(op, ())))

    def _emit(self, kind, number, *words, flags=0, a=0, thread=1):
        padding = (0,) * (6 - len(words))
        self.recorder.emit(head(kind, thread, flags, a), number, *words, *padding)


def two_losses(path):
    """Two losses share an encoder and go backward one after the other: backward-twice at the encoder."""
    fake = FakeTorch(
        path,
        [
            "h = encoder(x).relu()",
            "loss_a = head_a(h).sum()",
            "loss_b = head_b(h).sum()",
            "loss_a.backward()",
            "loss_b.backward()",
        ],
    )
    _linear(fake, "encoder", 1, "", "x")
    fake.node("relu", "ReluBackward0", 1, [("encoder", 0)], [(0, "h", 0)])
    for branch, line, thread in (("head_a", 2, 1), ("head_b", 3, 2)):
        _linear(fake, branch, line, "relu", "h", thread)
        fake.node(f"sum_{branch}", "SumBackward0", line, [(branch, 0)], thread=thread)
    first = fake.start("sum_head_a", 4)
    ran = ["sum_head_a", "head_a", "head_a.bias", "head_a.t", "head_a.weight", "relu", "encoder"]
    ran += ["encoder.bias", "encoder.t", "encoder.weight"]
    fake.ran(first, *ran)
    fake.finish(first, len(ran))
    second = fake.start("sum_head_b", 5)
    fake.ran(second, "sum_head_b", "head_b", "head_b.bias", "head_b.t", "head_b.weight")
    fake.fail(second, 5, "relu", "backward-twice", TWICE, 5, "h")
    return fake.done()


def carried_state(path):
    """A hidden state is carried over iterations: the second backward reaches the first one's graph."""
    fake = FakeTorch(
        path,
        [
            "h = torch.zeros(3)",
            "for step in range(2):",
            "    h = torch.tanh(h * w + 1)",
            "    loss = h.sum()",
            "    loss.backward()",
        ],
    )
    fake.leaf("w")
    fake.named("w", "w")
    for turn, before in ((1, ""), (2, "tanh1")):
        saves = [(0, f"h{turn - 1}", 0)] + ([(1, "w", 0)] if before else [])
        fake.node(f"mul{turn}", "MulBackward0", 3, [(before, 0), ("w", 0)], saves)
        fake.node(f"add{turn}", "AddBackward0", 3, [(f"mul{turn}", 0)])
        fake.node(f"tanh{turn}", "TanhBackward0", 3, [(f"add{turn}", 0)], [(0, f"h{turn}", 0)])
        fake.node(f"sum{turn}", "SumBackward0", 4, [(f"tanh{turn}", 0)])
        number = fake.start(f"sum{turn}", 5)
        fake.ran(number, f"sum{turn}", f"tanh{turn}", f"add{turn}", f"mul{turn}", "w")
        if turn == 1:
            fake.finish(number, 5)
    fake.fail(number, 5, "tanh1", "backward-twice", TWICE, 5, "h1")
    return fake.done()


def optimizer_step(path):
    """An optimizer steps between two backward passes over one graph: the second needs 1.weight as it was."""
    fake = FakeTorch(
        path,
        [
            "loss = net(x).sum()",
            "loss.backward(retain_graph=True)",
            "optimizer.step()",
            "loss.backward()",
        ],
    )
    _linear(fake, "0", 1, "", "x")
    _linear(fake, "1", 1, "0", "hidden")
    fake.node("sum", "SumBackward0", 1, [("1", 0)])
    first = fake.start("sum", 2, retain_graph=True)
    ran = ["sum", "1", "1.bias", "1.t", "1.weight", "0", "0.bias", "0.t", "0.weight"]
    fake.ran(first, *ran)
    fake.finish(first, len(ran))
    for name in ("0.weight", "0.bias", "1.weight", "1.bias"):
        fake.bump(name, "aten::add_", 3, 0, 1)
    second = fake.start("sum", 4)
    fake.ran(second, "sum")
    fake.fail(second, 1, "1", "inplace-modified", MODIFIED, 4, "1.weight", (0, 1), 1)
    return fake.done()


def _linear(fake, name, line, source, saved, thread=1):
    """`F.linear`: Addmm over bias, input, transposed weight, which is saved if the input takes a gradient."""
    for parameter in (f"{name}.weight", f"{name}.bias"):
        fake.leaf(parameter)
        fake.named(parameter, parameter)
    fake.node(f"{name}.t", "TBackward0", line, [(f"{name}.weight", 0)], thread=thread)
    saves = [(0, saved, 0)] + ([(1, f"{name}.weight", 0)] if source else [])
    edges = [(f"{name}.bias", 0), (source, 0), (f"{name}.t", 0)]
    fake.node(name, "AddmmBackward0", line, edges, saves, thread)
