"""Reports on hooks, views and memory: what they say, as text and as JSON."""

import json
from dataclasses import asdict

import pytest

from agdbg import cli
from agdbg.report import hooks, memory, views
from agdbg.report.table import size_if_known, table

# ----- hooks -----

HOOKS = """
m = nn.Linear(2, 2)
def look(*told): pass
m.register_full_backward_hook(look)
m.register_forward_hook(lambda *a: None)
x.register_post_accumulate_grad_hook(look)
h = m(x)
def scale(g):
    g.mul_(2)
first = h.register_hook(scale)
h.grad_fn.register_hook(look)
h.retain_grad()
h.register_hook(look).remove()
(h * h).sum().backward(retain_graph=True)
(h * 3).sum().backward()
unused = x * 3
unused.register_hook(look)
"""


def test_the_hooks_and_their_order(lint_script):
    report = hooks.hook_report(lint_script(HOOKS).facts)
    told = [(each.kind, each.on, each.function, each.registered, each.fired, each.removed) for each in report.hooks]
    assert told == [
        ("module-backward", "m", "look", 1, 2, 0),
        ("module-forward", "m", "", 1, 1, 0),
        ("post-accumulate", "x", "look", 1, 2, 0),
        ("tensor", "h", "scale", 1, 2, 0),
        ("post", "h.grad_fn", "look", 1, 2, 0),
        ("retain-grad", "h", "", 1, 0, 0),
        ("tensor", "h", "look", 1, 0, 1),
        ("tensor", "unused", "look", 1, 0, 0),
    ]
    assert [each.site.line for each in report.hooks] == [7, 8, 9, 13, 14, 15, 16, 20]
    assert report.hooks[3].defined.line == 11 and report.hooks[3].edited == 2
    assert report.hooks[-1].never == "no backward pass ran after it was registered"
    assert [each.kind for each in report.order] == ["tensor", "post", "module-backward", "post-accumulate"]
    text = hooks.as_text(report)
    assert "script.py:13" in text and "edits its gradient in place" in text and "never: no backward pass ran" in text


def test_a_loop_is_one_line(lint_script):
    run = lint_script(
        "for turn in range(4):\n    h = x * 2\n    h.register_hook(lambda g: g * 2)\n    h.sum().backward()"
    )
    (line,) = hooks.hook_report(run.facts).hooks
    assert (line.registered, line.fired, line.never) == (4, 4, "")


def test_no_hooks(lint_script):
    assert (
        hooks.as_text(hooks.hook_report(lint_script("(x * x).sum().backward()").facts))
        == "no hook was registered or fired\n"
    )


# ----- views -----

VIEWS = """
buffer = ag.ones(4, 4).requires_grad_() * 1
row, block, column = buffer[0], buffer[1:3], buffer[:, 1]
inner = block[0]
with ag.no_grad():
    hidden = buffer[3]
block += 1
for each in buffer: pass
"""


def test_the_tree_of_views(lint_script):
    run = lint_script(VIEWS)
    (report,) = views.view_reports(run.facts)
    told = [(each.number, each.parent, each.op, each.creation) for each in report.views]
    assert told[:5] == [
        (1, 0, "select", ""), (2, 0, "slice", ""), (3, 0, "select", ""), (4, 2, "select", ""), (5, 0, "select", "made under no_grad"),
    ]  # fmt: skip
    assert {creation for _, _, op, creation in told[5:] if op == "unbind"} == {"one of several outputs"}
    regions = [each.region for each in report.views[:5]]
    assert [(each.offset, each.shape, each.strides) for each in regions] == [
        (0, (4,), (1,)), (4, (2, 4), (4, 1)), (1, (4,), (4,)), (4, (4,), (1,)), (12, (4,), (1,)),
    ]  # fmt: skip
    assert {(1, 3), (2, 3), (2, 4), (3, 4), (3, 5)} <= set(report.overlapping)
    assert (1, 2) not in report.overlapping and (1, 5) not in report.overlapping
    (wrote,) = report.writes
    assert (wrote.old, wrote.new, wrote.op) == (0, 1, "add_") and wrote.history.startswith("MulBackward0")
    assert "-> CopySlices" in wrote.history and report.nbytes == 64
    text = views.as_text([report])
    assert "overlap: 1 and 3" in text and "made under no_grad" in text and "script.py:10" in text


def test_memories_that_look_alike_are_told_once(lint_script):
    reports = views.view_reports(
        lint_script("for turn in range(5):\n    y = x * 2\n    (y[0] + y[1]).backward()").facts
    )
    assert [(each.alike, len(each.views)) for each in reports] == [
        (4, 2)
    ] and "and 4 more memories like this one" in views.as_text(reports)


def test_views_of_views_in_a_loop_are_one_line(lint_script):
    (report,) = views.view_reports(lint_script("y = x * 2\nfor turn in range(6): y[0].sin()").facts)
    assert [each.times for each in report.views] == [6]


# ----- memory -----

MEMORY = """
a = ag.ones(100, 10).requires_grad_()
w = nn.Linear(10, 10, bias=False)
def net():
    h = w(a)
    g = h.relu()
    return (g * g).sum()
net().backward()
"""


def test_what_is_held_at_the_peak(lint_script):
    report = memory.memory_report(lint_script(MEMORY).facts)
    assert (report.nbytes, report.peak_bytes, report.unknown) == (4000, 4000, 0), (
        "relu's result, which mul saves too, counts once"
    )
    assert report.parameters == 400 + 4000, "the weight and the other leaf"
    assert [(each.site.line, each.nbytes, each.what) for each in report.lines] == [(9, 4000, "ReluBackward0")]
    assert [each.site.line for each in report.recompute] == [9]
    assert report.peak_pass and "script.py:9" in memory.as_text(report) and "3.9 KiB" in memory.as_text(report)


def test_without_shapes_sizes_are_unknown(lint_script):
    report = memory.memory_report(lint_script(MEMORY, also=()).facts)
    assert report.unknown == report.storages > 0 and report.peak_bytes == 0
    text = memory.as_text(report)
    assert "0 B" not in text and f"\n{memory.HOW_TO_KNOW}\n\nat the peak" in text  # above the tables that lack them
    assert "parameters and buffers, which are there anyway: 1 storage, of unknown size" in text


def test_a_turn_of_a_loop_frees_what_it_held(lint_script):
    report = memory.memory_report(
        lint_script(MEMORY.replace("net().backward()", "for turn in range(5): net().backward()")).facts
    )
    assert (report.nbytes, report.peak_bytes) == (5 * 4000, 4000)
    kept = memory.memory_report(
        lint_script(
            MEMORY.replace("net().backward()", "ls = [net() for turn in range(5)]\nfor l in ls: l.backward()")
        ).facts
    )
    assert kept.peak_bytes == 5 * 4000


def test_modules_are_named(lint_script):
    source = "m = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))\nm(x).sum().backward()"
    report = memory.memory_report(lint_script(source).facts)
    assert {each.module: each.nbytes for each in report.modules} == {"1": 32}


def test_a_checkpoint_holds_nothing(lint_script):
    source = "from agdbg_engine.utils.checkpoint import checkpoint\ny = checkpoint(lambda t: t.exp(), ag.ones(9, requires_grad=True), use_reentrant=False)"
    assert memory.memory_report(lint_script(source).facts).storages == 0


def test_passes_and_what_is_still_held(lint_script):
    report = memory.memory_report(
        lint_script("ls = []\nfor turn in range(4):\n    l = (x * x).sum()\n    l.backward()\n    ls.append(l)").facts
    )
    assert [each.held_graphs for each in report.passes] == [0, 1, 2, 3]


# ----- the command -----


@pytest.mark.parametrize("what", ["hooks", "views", "memory"])
def test_the_command(lint_script, capsys, what):
    path = str(lint_script(HOOKS + VIEWS).facts.trace.path)
    assert cli.main(["trace", "report", what, path]) == 0
    text = capsys.readouterr().out
    assert cli.main(["trace", "report", what, path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["format"], told["report"]) == ("agdbg-report", what) and told[what] and text.strip()


def test_views_of_one_name(lint_script, capsys):
    run = lint_script("m = nn.Linear(2, 2)\nm(x).sum().backward()\ny = x * 2\ny[0]")
    assert cli.main(["trace", "report", "views", str(run.facts.trace.path), "--of", "weight", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["views"]
    assert report["names"] == ["weight"]


def test_everything_is_json(lint_script):
    facts = lint_script(HOOKS + VIEWS).facts
    for made in (hooks.hook_report(facts), memory.memory_report(facts), views.view_reports(facts)[0]):
        assert json.loads(json.dumps(asdict(made)))


# ----- small things -----


@pytest.mark.parametrize(
    ("number", "words"), [(None, "unknown"), (0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 40, "3.0 TiB")]
)
def test_sizes(number, words):
    assert size_if_known(number) == words


def test_a_table():
    assert table(("a", "n"), [("x", 1_000), ("long", 2)], "  ") == ["  a         n", "  x     1,000", "  long      2"]


def test_a_memory_without_a_name_has_no_number_of_its_maker(lint_script):
    run = lint_script("y = (x * 2)[0]\ny.mul_(3)\ny.backward()")
    text = views.as_text(views.view_reports(run.facts))
    assert text.startswith("a memory without a name: ") and "made by MulBackward0" in text
