"""The node that each line of a finding is about: the very one, not another that the same line has built."""

import json
import re
from contextlib import suppress

import pytest

from agdbg.diagnose import bad_values, diagnose, lint
from agdbg.diagnose.finding import Evidence, Finding
from agdbg.engines import native
from agdbg.explain.explanation import finding_as_json
from agdbg.record import Facts, Recorder, Trace
from agdbg.record.lookup import Site

HEAD = "import agdbg_engine as ag; from agdbg_engine import nn, optim; ag.manual_seed(0)\n"  # line 1
#: A note that begins with the node's op, or says what the node did.
NAMES = re.compile(r"(?:built )?`?(\w+Backward\d*)`?(?:$|:| saved| used| stands| uses|\n)")

SHARED = """enc = nn.Linear(3, 4); dec = nn.Linear(4, 2); cls = nn.Linear(4, 2)
h = enc(ag.randn(5, 3)).relu()
cls(h).sum().backward()
b = dec(h).sum()
b.backward()
"""
LOOP = """w = ag.randn(3, requires_grad=True)
h = w.exp()
for i in range(3):
    loss = (h * 2).sin().sum()
    loss.backward()
"""
CELL = """cell = nn.GRUCell(3, 5); out = nn.Linear(5, 1)
x = ag.randn(6, 2, 3)
h = ag.zeros(2, 5)
for epoch in range(3):
    for t in range(6):
        h = cell(x[t], h)
    loss = out(h).pow(2).mean()
    loss.backward()
"""
STALE = """lin = nn.Linear(3, 4); lin2 = nn.Linear(4, 2)
x = ag.randn(5, 3)
for i in range(3):
    h = lin(x).tanh(); o = (lin2(h).sigmoid() * 2).sum() + h.sum()
    if i == 2:
        with ag.no_grad(): h += 1
    o.backward()
"""
WRITTEN = """x = ag.ones(3, requires_grad=True)
for i in range(2):
    y = x.exp()
    if i: y.mul_(2)
    y.sum().backward()
"""
NAN = """x = ag.tensor([0., 1.], requires_grad=True)
for i in range(2):
    y = (x * i).sqrt()
    (y * 0).sum().backward()
"""
NO_GRAPH = """w = ag.ones(3, requires_grad=True)
(w * 2).sum()
loss = (w * 2).sum().detach()
loss.backward()
"""
HOOK = """x = ag.ones(3, requires_grad=True)
y = x * 2
y.register_hook(lambda g: g[:2])
y.sum().backward()
"""
CASES = {
    "shared": (SHARED, "backward-twice"),
    "loop": (LOOP, "backward-twice"),
    "cell": (CELL, "backward-twice"),
    "stale": (STALE, "inplace-modified"),
    "written": (WRITTEN, "inplace-modified"),
    "nan": (NAN, "nan"),
    "no graph": (NO_GRAPH, "no-grad-fn"),
    "hook": (HOOK, "hook-error"),
}


@pytest.fixture
def run(tmp_path):
    """Run a script on the engine, in this process; its facts."""

    def run(source):
        script = tmp_path / "script.py"
        script.write_text(HEAD + source)
        recorder = Recorder(
            tmp_path / "trace", program={}, engine={"name": "agdbg_engine"}, sees=native.sees(("values",))
        )
        native.attach(recorder, None, ("values",))
        try:
            with suppress(RuntimeError):
                exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
        finally:
            native.detach()
            recorder.close()
        return Facts(Trace.open(recorder.path))

    return run


def finding_of(facts, kind):
    found = [each for look in (diagnose, lint, bad_values) for each in look(facts)]
    kinds = [each.kind for each in found]
    assert kind in kinds
    return found[kinds.index(kind)]


@pytest.mark.parametrize("name", CASES)
def test_a_line_that_names_an_op_is_about_a_node_of_it_on_that_line(run, name):
    source, kind = CASES[name]
    facts = run(source)
    found = finding_of(facts, kind)
    named = [(each, NAMES.match(each.note)) for each in found.evidence]
    for each, op in named:
        node = facts.node(each.node) if each.node else None
        assert (node is None) == (each.node == 0)
        if op is not None:
            assert node is not None and node.op.name == op[1] and node.site == each.site
    assert any(each.node for each in found.evidence)


def test_the_way_in_is_that_of_the_pass_that_fails(run):
    facts = run(LOOP)
    found = finding_of(facts, "backward-twice")
    [entry] = [each for each in found.evidence if each.role == "entry"]
    [used] = [each for each in found.evidence if each.role == "used"]
    freed, failed = facts.passes
    assert facts.node(used.node).row > freed.row and facts.node(used.node).row < failed.row
    assert facts.node(used.node).edges[0].node == entry.node


def test_another_that_is_stale_is_another_node(run):
    facts = run(STALE)
    found = finding_of(facts, "inplace-modified")
    by_role = {each.role: each.node for each in found.evidence}
    assert by_role["stale"] != by_role["saved"] and by_role["stale"] in found.nodes
    assert facts.node(by_role["stale"]).op.name == "TanhBackward0"


def test_a_write_that_has_built_a_node_is_about_it(run):
    facts = run(WRITTEN)
    wrote = next(each for each in finding_of(facts, "inplace-modified").evidence if each.role == "wrote")
    assert facts.node(wrote.node).op.name == "MulBackward0"


def test_where_a_path_was_cut_its_last_node_is_meant(run):
    facts = run(NO_GRAPH)
    cut = next(each for each in finding_of(facts, "no-grad-fn").evidence if each.role == "cut")
    node = facts.node(cut.node)
    assert node.op.name == "SumBackward0" and node.site.line == cut.site.line


def test_a_hook_is_about_the_node_that_it_is_on(run):
    facts = run(HOOK)
    lines = {each.role: each.node for each in finding_of(facts, "hook-error").evidence}
    assert facts.node(lines["registered"]).op.name == "MulBackward0" and not lines["needed"]


def test_the_explanation_has_it(run):
    told = json.loads(json.dumps(finding_as_json(finding_of(run(SHARED), "backward-twice"))))
    assert [bool(each["node"]) for each in told["evidence"]] == [True, False, True, False]


def test_lines_that_say_the_same_of_different_nodes_are_equal():
    """A loop makes one mistake in each turn, and it is told once."""
    line = Site("/a.py", 3)
    one, other = (Finding("nan", "c", (Evidence("made", line, "", node),), (), "certain", "") for node in (1, 2))
    assert one == other and hash(one) == hash(other)
