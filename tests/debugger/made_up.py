"""Writes a trace by hand, in the terms of a script: what its lines built, saved, wrote, ran and freed.

The script is a real file, and a site is found by the expression that stands on the line, so that columns are as
those of a program that ran. conftest.py makes a fixture of it.
"""

from contextlib import contextmanager

from agdbg.events import (
    ACCUMULATE_SEQUENCE,
    CREATE_GRAPH,
    RETAIN_GRAPH,
    HookAction,
    Kind,
    ModuleEvent,
    NeedsGrad,
    OptimizerEvent,
    Outcome,
    Probed,
    head,
    pack_edge,
    pack_float,
    pack_pair,
    pack_save,
    pack_site_op,
)
from agdbg.record import Facts, Recorder, Trace

SLOTS = {
    "AddmmBackward0": ("mat1", "mat2"),
    "ExpBackward0": ("result",),
    "MulBackward0": ("self", "other"),
    "PowBackward1": ("self", "exponent", "result"),
    "ReluBackward0": ("result",),
    "TanhBackward0": ("result",),
}


class MadeUp:
    """One trace; nodes, storages and leaves go by labels, lines by their number in the script."""

    def __init__(self, directory, source):
        self.file = directory / "train.py"
        self.lines = source.strip("\n").split("\n")
        self.file.write_text("\n".join(self.lines) + "\n")
        self.recorder = Recorder(directory / "trace", program={}, engine={"name": "made up"}, sees={})
        self.codes = _codes(compile("\n".join(self.lines), str(self.file), "exec"))
        self.nodes, self.storages, self.sequence = {}, {}, 0
        self.modules = {}

    # ----- the graph -----

    def leaf(self, label, name="", kind="parameter", requires_grad=None):
        """A leaf whose AccumulateGrad node has this label; named if it has a name."""
        number = self.nodes[label] = self.recorder.new_node()
        self.emit(Kind.BORN, number, ACCUMULATE_SEQUENCE, self.where(0, "AccumulateGrad"))
        if name:
            self.tensor(label, name, kind, requires_grad, number)
        return number

    def tensor(self, label, name, kind="parameter", requires_grad=None, producer=0):
        """A tensor on the storage of this label has a name; it need not be used by any node."""
        names = pack_pair(self.recorder.text(name), self.recorder.text(kind))
        needs = {None: NeedsGrad.UNKNOWN, True: NeedsGrad.YES, False: NeedsGrad.NO}[requires_grad]
        edge = pack_edge(producer) if producer else 0
        self.emit(Kind.TENSOR, self.recorder.new_tensor(), self.storage(label), edge, names, a=needs)

    def node(self, label, op, line, expression, edges, /, **saves):
        """A node; ``edges`` are labels, "" for no gradient; ``saves`` are slots with (storage, version)."""
        number = self.nodes[label] = self.recorder.new_node()
        self.sequence += 1
        slots = SLOTS.get(op, ())
        words = [pack_edge(self.nodes[each]) if each else 0 for each in edges]
        kept = [pack_save(self.storage(s), v, slots.index(slot)) for slot, (s, v) in saves.items()]
        born = [*[*words, 0, 0][:2], *[*kept, 0, 0][:2]]
        self.emit(Kind.BORN, number, self.sequence, self.where(line, op, expression), *born, a=len(edges), b=len(kept))
        for index, word in enumerate(words[2:], 2):
            self.emit(Kind.EDGE, number, index, word)
        return number

    def storage(self, label):
        """The id of a storage."""
        if label not in self.storages:
            self.storages[label] = self.recorder.new_storage()
        return self.storages[label]

    # ----- passes -----

    def start(self, line, root, expression="", call="backward", retain=False, create=False, parent=0, thread=1):
        """A call starts."""
        number = self.recorder.new_pass()
        flags = RETAIN_GRAPH * (retain or create) | CREATE_GRAPH * create
        where = self.where(line, call, expression)
        edge = pack_edge(self.nodes[root]) if root else 0
        self.emit(Kind.PASS_STARTED, number, where, edge, parent, a=1, flags=flags, thread=thread)
        return number

    def ran(self, number, *labels, outcome=Outcome.OK):
        """Nodes ran."""
        for order, label in enumerate(labels):
            self.emit(Kind.RAN, self.nodes[label], number, order, 0, 0, outcome)

    def finish(self, number, outcome=Outcome.OK):
        """A call ends."""
        self.emit(Kind.PASS_FINISHED, number, outcome)

    def backward(self, line, root, *ran, **how):
        """A call that goes well."""
        number = self.start(line, root, **how)
        self.ran(number, root, *ran)
        self.finish(number)
        return number

    def fail(self, number, label, kind, line, storage="", versions=(0, 0), slot=0):
        """A node fails, and its pass with it."""
        self.error(kind, line, node=label, number=number, storage=storage, versions=versions, slot=slot + 1)
        self.ran(number, label, outcome=Outcome.ERROR)
        self.finish(number, Outcome.ERROR)

    def twice(self, line, root, label, *ran, **how):
        """A call that finds the saved tensors of ``label`` freed."""
        number = self.start(line, root, **how)
        self.ran(number, *ran)
        self.fail(number, label, "backward-twice", line)
        return number

    # ----- other facts -----

    def error(self, kind, line, text="", node="", number=0, storage="", versions=(0, 0), slot=0, expression=""):
        """An error."""
        saved = self.storage(storage) if storage else 0
        words = (number, self.where(line, kind, expression), saved, pack_pair(*versions), self.recorder.text(text))
        self.emit(Kind.ERROR, self.nodes[node] if node else 0, *words, slot)

    def bump(self, storage, op, line, expression="", old=0, new=1, flags=0):
        """A write."""
        where = self.where(line, op, expression)
        self.emit(Kind.BUMP, self.storage(storage), old, new, where, flags=flags)

    def view(self, storage, op, line, expression=""):
        """A view is made."""
        self.emit(Kind.VIEW, self.storage(storage), 0, 0, self.where(line, op, expression))

    def cut(self, op, line, count=1, storage=""):
        """A gradient path ends."""
        self.emit(Kind.CUT, self.storage(storage) if storage else 0, self.where(line, op), 0, count)

    def grad_mode(self, op, line):
        """Gradients are ``enabled`` or ``disabled``."""
        self.emit(Kind.GRAD_MODE, 0, self.where(line, op))

    def hook(self, label, line):
        """A hook fired at a node."""
        self.emit(Kind.HOOK, self.nodes[label], 0, self.where(line, "tensor"), a=HookAction.FIRED)

    # ----- deep facts -----

    def module(self, label, path, class_name="Module", parent=""):
        """A module is named; ``parent`` is the label of one that was named."""
        number = self.modules.setdefault(label, len(self.modules) + 1)
        names = pack_pair(self.recorder.text(path), self.recorder.text(class_name))
        self.emit(Kind.MODULE, number, names, self.modules.get(parent, 0), a=ModuleEvent.NAMED)
        return number

    def enter(self, label, thread=1):
        """A module is entered."""
        self.emit(Kind.MODULE, self.modules[label], a=ModuleEvent.ENTERED, thread=thread)

    def leave(self, label, thread=1):
        """A module is left."""
        self.emit(Kind.MODULE, self.modules[label], a=ModuleEvent.LEFT, thread=thread)

    @contextmanager
    def inside(self, label, thread=1):
        """``with`` this, everything is told between the two."""
        self.enter(label, thread)
        yield
        self.leave(label, thread)

    def shape(self, label, text, output=0, device="cpu", nbytes=0, storage="", storage_nbytes=0):
        """An output of a node is ``float32[3, 4]``; with ``label`` empty a storage that no node made."""
        texts = pack_pair(self.recorder.text(text), self.recorder.text(device))
        words = texts, nbytes, self.storage(storage) if storage else 0, storage_nbytes or nbytes, output
        self.emit(Kind.SHAPE, self.nodes[label] if label else 0, *words, a=output)

    def summary(
        self, label, what="output", index=0, number=0, norm=1.0, largest=1.0, nans=0, infs=0, first_bad=None, elements=1
    ):
        """What elements were: of an ``output``, of a ``gradient in`` or ``gradient out`` in pass ``number``."""
        a = ("output", "gradient in", "gradient out").index(what)
        first = 0 if first_bad is None else first_bad + 1
        words = number, pack_float(norm), pack_float(largest), pack_pair(nans, infs), first, elements
        self.emit(Kind.SUMMARY, self.nodes[label], *words, a=a, b=index)

    def probe(self, label, storage, checksum, version=0, slot=0, when="saved"):
        """A checksum of what a node saved in a slot: when it was ``saved``, or ``checked`` before a pass."""
        a = Probed.CHECKED if when == "checked" else Probed.SAVED
        self.emit(Kind.PROBE, self.storage(storage), version, checksum, 0, self.nodes[label], slot, a=a)

    def optimizer(self, line, *storages, op="SGD", number=1, when="built", expression=""):
        """An optimizer is ``built`` with parameters, or ``stepped`` for the first time."""
        a = OptimizerEvent.STEPPED if when == "stepped" else OptimizerEvent.BUILT
        where = self.where(line, op, expression)
        for label in storages:
            self.emit(Kind.OPTIMIZER, self.storage(label), where, number, a=a)

    # ----- words -----

    def where(self, line, op, expression=""):
        """SITE_OP; without an expression the site has no columns, and line 0 is no site."""
        number = self.recorder.op(op, SLOTS.get(op, ()))
        if not line:
            return pack_site_op(0, number)
        if not expression:
            site = self.recorder.site_at(str(self.file), line, "<module>", self.lines[line - 1])
            return pack_site_op(site, number)
        start = self.lines[line - 1].index(expression)
        wanted = (line, line, start, start + len(expression))
        for code in self.codes:
            for index, position in enumerate(code.co_positions()):
                if position == wanted:
                    return pack_site_op(self.recorder.site(code, 2 * index), number)
        raise AssertionError(f"nothing on line {line} runs exactly `{expression}`")

    def emit(self, kind, number, *words, flags=0, a=0, b=0, thread=1):
        """One record, its words filled up with zeros."""
        self.recorder.emit(head(kind, thread, flags, a, b), number, *words, *(0,) * (6 - len(words)))

    def facts(self):
        """What was written so far."""
        self.recorder.flush()
        return Facts(Trace.open(self.recorder.path))


def _codes(code):
    found, todo = [], [code]
    while todo:
        found.append(todo.pop())
        todo += [each for each in found[-1].co_consts if hasattr(each, "co_code")]
    return found
