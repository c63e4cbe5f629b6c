"""The made functions that record births tell of a node what the general way tells of it."""

import pytest

import agdbg_engine as ag
from agdbg.engines import native
from agdbg.record import Facts, Recorder, Trace
from agdbg_engine import nn

F = nn.functional


def leaf(*shape):
    return ag.rand(*shape).requires_grad_()


def later_output():
    a, b, c = leaf(3, 2).unbind(0)
    return ag.cat([a, b, c * 2]).sum()


def big_version():
    x = ag.ones(2)
    x._shared_storage().version = (1 << 20) + 7
    return F.linear(x * leaf(2), leaf(3, 2), leaf(3)).sum()


def shared_memory():
    x = leaf(4, 4) * 1
    x.view(16).mul_(2)
    return F.layer_norm(x, (4,), leaf(4), leaf(4)).sum()


PROGRAMS = {
    "addmm": lambda: ag.addmm(leaf(3), leaf(2, 4), leaf(4, 3)).sum(),
    "an input without a graph": lambda: ag.addmm(leaf(3), ag.ones(2, 4), leaf(4, 3)).sum(),
    "three saved": lambda: F.layer_norm(leaf(2, 4), (4,), leaf(4), leaf(4)).sum(),
    "none of them": lambda: F.layer_norm(leaf(2, 4), (4,)).sum(),
    "batch norm": lambda: F.batch_norm(leaf(5, 3), None, None, leaf(3), leaf(3), training=True).sum(),
    "convolution": lambda: F.conv2d(leaf(1, 2, 5, 5), leaf(3, 2, 2, 2), leaf(3)).sum(),
    "loss": lambda: F.cross_entropy(leaf(4, 3), ag.tensor([0, 1, 2, 0]), weight=ag.ones(3)),
    "attention": lambda: F.scaled_dot_product_attention(leaf(1, 2, 3, 4), leaf(1, 2, 3, 4), leaf(1, 2, 3, 4)).sum(),
    "embedding": lambda: F.embedding(ag.tensor([0, 2]), leaf(3, 4)).sum(),
    "one edge": lambda: ag.stack([leaf(2)]).sum(),
    "many edges": lambda: ag.stack([leaf(2) for _ in range(7)]).sum(),
    "300 edges": lambda: ag.stack([leaf(2)] * 300).sum(),
    "several outputs": lambda: sum(o.sum() for o in ag.linalg.svd(leaf(3, 3), full_matrices=False)),
    "products": lambda: ag.einsum("ij,jk,kl->il", leaf(2, 3), leaf(3, 4), leaf(4, 5)).sum(),
    "lerp": lambda: ag.lerp(leaf(2), leaf(2), leaf(2)).sum(),
    "power of a tensor": lambda: (leaf(3) ** leaf(3)).sum(),
    "a result that is saved": lambda: ag.cummax(leaf(3, 3).exp(), 0)[0].sum(),
    "a later output": later_output,
    "a big version": big_version,
    "memory that is shared": shared_memory,
}


class GeneralSink(native.NativeSink):
    """Records every birth in the general way."""

    def birth_of(self, cls):
        return self.born_unusual


def nodes_of(path, sink, program, monkeypatch):
    monkeypatch.setattr(native, "NativeSink", sink)
    recorder = Recorder(path, program={}, engine={}, sees=native.sees())
    native.attach(recorder)
    try:
        ag.manual_seed(1)
        program().backward()
    finally:
        native.detach()
        recorder.close()
    facts = Facts(Trace.open(path))
    return [facts.node(n) for n in facts.node_ids]


def canonical(nodes):
    """What is told of ``nodes``, with numbers of nodes and memory by the order in which they are first met."""
    numbers = {n.id: i for i, n in enumerate(nodes)}
    memory: dict[int, int] = {}

    def place(storage):
        made = storage ^ (1 << 35)
        return ("made by", numbers[made]) if made in numbers else memory.setdefault(storage, len(memory))

    return [
        (
            n.op,
            n.site,
            n.thread,
            [(numbers.get(e.node), e.nr) for e in n.edges],
            [(s.slot, place(s.storage), s.version) for s in n.saves],
        )
        for n in nodes
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_tell_the_same(name, tmp_path, monkeypatch):
    general = nodes_of(tmp_path / "general", GeneralSink, PROGRAMS[name], monkeypatch)
    made = nodes_of(tmp_path / "made", native.NativeSink, PROGRAMS[name], monkeypatch)
    assert canonical(made) == canonical(general)
    assert any(n.saves or n.edges for n in made)


COMMON = ["addmm", "three saved", "convolution", "loss", "attention", "many edges", "products", "lerp"]


@pytest.mark.parametrize("name", COMMON)
def test_common_nodes_need_the_general_way_only_once_a_line(name, tmp_path, monkeypatch):
    unusual: list[str] = []

    class Counting(native.NativeSink):
        def _born(self, node):
            unusual.append(node.op_name)
            return super()._born(node)

    def twice():
        PROGRAMS[name]()
        del unusual[:]  # now the lines have their numbers
        return PROGRAMS[name]()

    nodes_of(tmp_path / "made", Counting, twice, monkeypatch)
    assert unusual == []
