"""What a program asks of agdbg itself: `agdbg.lint`, `graph` and `explain` of what is in memory, and `record`."""

import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import agdbg
import agdbg_engine as torch
from agdbg.record import Trace, TraceError
from agdbg_engine import nn


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


@pytest.fixture
def batch():
    return torch.randn(5, 3)


def kinds(findings):
    return [each.kind for each in findings]


# ----- the names -----


def test_importing_agdbg_costs_nothing_and_its_names_are_there():
    code = "import agdbg, sys; print('numpy' in sys.modules, sorted({'record', 'graph', 'lint'} - set(dir(agdbg))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "[]"]
    with pytest.raises(AttributeError, match="nonsense"):
        agdbg.nonsense


@pytest.mark.parametrize(
    "first", ["import agdbg.record", "from agdbg.record import Facts", "import agdbg.graph.model", "pass"]
)
def test_names_that_are_packages_too_can_be_called_whoever_imports_first(first, tmp_path):
    code = f"{first}\nimport agdbg, agdbg_engine as t\nwith agdbg.record({str(tmp_path / 'x')!r}) as r: t.ones(1)\n"
    code += "print(type(r).__name__, len(agdbg.graph(t.ones(1, requires_grad=True) * 2)), agdbg.record.Facts.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.split() == ["Recorded", "1", "Facts"], done.stderr


# ----- graph -----


def test_the_graph_of_a_tensor_without_a_recording(model, batch):
    drawn = agdbg.graph(model(batch).sum())
    ops = [node.op for node in drawn.graph.nodes]
    assert ops == ["TBackward0", "AddmmBackward0", "ReluBackward0", "TBackward0", "AddmmBackward0", "SumBackward0"]
    badges = {badge.text for node in drawn.graph.nodes for badge in node.badges}
    assert badges == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert drawn.graph.nodes[-1].site == f"test_in_code.py:{sys._getframe().f_lineno - 5}"
    assert {(edge.src, edge.dst) for edge in drawn.graph.edges} == {(6, 5), (5, 4), (5, 3), (3, 2), (2, 1)} or len(
        drawn.graph.edges
    ) == 5
    xml.etree.ElementTree.fromstring(drawn.to_svg())
    assert "digraph" in drawn.to_dot() and "ReluBackward0" in drawn.to_text()
    assert json.loads(drawn.to_json())["format"] == "agdbg-graph"
    assert set(drawn._repr_mimebundle_()) == {"image/svg+xml", "text/plain"}
    assert set(drawn._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert drawn._repr_svg_().startswith("<svg")


def test_a_graph_is_saved_by_its_suffix(tmp_path):
    drawn = agdbg.graph(torch.ones(2, requires_grad=True).sum())
    drawn.save(tmp_path / "graph.dot")
    assert "SumBackward0" in (tmp_path / "graph.dot").read_text()
    with pytest.raises(ValueError, match="docx"):
        drawn.save(tmp_path / "graph.docx")


def test_a_long_graph_is_read_without_recursion_and_folded():
    x = y = torch.ones(1, requires_grad=True)
    for _ in range(5000):
        y = y * 1.0
    drawn = agdbg.graph(y)
    assert len(drawn) == 5000
    assert len(drawn.to_text().splitlines()) < 300
    assert x.grad is None


def test_what_is_no_tensor_is_refused():
    for function in (agdbg.graph, agdbg.lint):
        with pytest.raises(TypeError, match="agdbg_engine"):
            function([1, 2])


def test_leaves_and_tensors_without_a_graph_are_drawn():
    assert len(agdbg.graph(torch.ones(2))) == 0
    assert "without a graph" in agdbg.graph(torch.ones(2, requires_grad=True)).to_text()


# ----- lint -----


def test_a_good_graph_is_not_complained_of_and_not_changed(model, batch):
    loss = model(batch).sum()
    found = agdbg.lint(loss)
    assert list(found) == [] and "nothing was found in a graph of 10 nodes" in str(found)
    loss.backward()
    assert all(each.grad is not None for each in model.parameters())


def test_a_graph_that_was_freed(model, batch):
    loss = model(batch).sum()
    loss.backward()
    (found,) = agdbg.lint(loss)
    assert (found.kind, found.certainty) == ("backward-twice", "certain")
    assert [each.role for each in found.evidence] == ["created", "first call"]
    assert [each.site.text.strip() for each in found.evidence] == ["loss = model(batch).sum()", "loss.backward()"]
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_a_saved_tensor_that_was_written():
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).exp()
    y *= 3
    (found,) = agdbg.lint(y.sum())
    assert (found.kind, found.certainty) == ("inplace-modified", "certain")
    assert [each.site.text.strip() for each in found.evidence] == ["y = (x * 2).exp()", "y *= 3"]
    assert "version 0" in found.cause and "version 1" in found.cause


def test_a_write_among_several_statements_of_a_line_is_quoted_alone():
    w = torch.ones(3, requires_grad=True)
    y = w.exp(); y.mul_(2); loss = y.sum()  # fmt: skip # noqa: E702 - statements of one line are what is tested
    (finding,) = agdbg.lint(loss)
    assert "which `y.mul_(2)` at test_in_code.py:" in finding.cause


def test_a_write_through_a_view_that_spoils_what_the_view_saved():
    x = torch.ones(3, requires_grad=True)
    base = x * 2
    base[0].exp_()
    base[0] = 1.0
    assert kinds(agdbg.lint(base.sum())) == ["inplace-modified"]
    with pytest.raises(RuntimeError, match="inplace"):
        base.sum().backward()


def test_parameters_that_the_graph_does_not_reach(model, batch):
    (found,) = agdbg.lint(model[0](batch).sum())
    assert found.kind == "no-gradient" and "`2.weight` and `2.bias`" in found.cause
    model[2].requires_grad_(False)
    assert not agdbg.lint(model[0](batch).sum())
    (found,) = agdbg.lint(batch.requires_grad_().sum(), model[0])
    assert (
        found.kind == "no-gradient" and "no part in this graph: no gradient" in found.cause
    )  # and no word of 0 others


def test_no_graph_no_scalar_and_nan():
    assert kinds(agdbg.lint(torch.ones(1))) == ["no-grad-fn"]
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    assert kinds(agdbg.lint(x * 2)) == ["non-scalar"]
    (found,) = agdbg.lint((x.sqrt() * 2).sum())
    assert found.kind == "nan" and "SqrtBackward0" in found.cause
    assert kinds(agdbg.lint((x.exp() * 1e38 * 1e38).sum())) == ["inf"]


# ----- explain -----


def test_an_exception_without_a_recording(model, batch):
    loss = model(batch).sum()
    loss.backward()
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    (found,) = agdbg.explain(caught.value)
    assert found.kind == "backward-twice" and found.certainty == "certain"
    assert "loss.backward()" in str(agdbg.explain(caught.value))


def test_an_exception_that_hides_behind_another():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(KeyError) as caught:
        try:
            x += 1
        except RuntimeError as error:
            raise KeyError("x") from error
    (found,) = agdbg.explain(caught.value)
    assert found.kind == "leaf-inplace"
    assert "a leaf Variable that requires grad" in found.cause


def test_an_exception_of_something_else():
    found = agdbg.explain(KeyError("x"))
    assert not found and "knows nothing about this KeyError" in str(found)
    with pytest.raises(TypeError, match="exception"):
        agdbg.explain("trace")


def test_with_a_recording_the_trace_tells(tmp_path):
    x = torch.ones(3, requires_grad=True)
    with agdbg.record(tmp_path / "trace"):
        y = (x * 2).exp()
        y *= 3
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
        (found,) = agdbg.explain(caught.value)
        first, linted = agdbg.lint(y.sum())
    assert (first.kind, linted.kind) == ("backward-twice", "inplace-modified")
    assert "Write it out of place, `y = y * 3`" in found.fix and "`y = y * 3`" in linted.fix
    assert "needed" in [each.role for each in found.evidence]


# ----- record -----


def test_a_block_is_recorded_and_nothing_else(tmp_path, model, batch):
    with agdbg.record(tmp_path / "trace") as recorded:
        loss = model(batch).sum()
        assert len(recorded.facts().node_ids) == 10
        loss.backward()
    model(batch).sum().backward()
    assert recorded.path == tmp_path / "trace"
    assert Trace.open(recorded.path).closed
    assert [each.outcome for each in recorded.facts().passes] == ["ok"]
    assert list(recorded.findings()) == [] and "nothing was found in 10 nodes" in str(recorded.findings())
    assert [node.state for node in recorded.graph().graph.nodes] == ["ran"] * 6


def test_an_error_leaves_the_block_and_is_found(tmp_path):
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="second time"), agdbg.record(tmp_path / "trace") as recorded:
        loss = (x * 2).exp().sum()
        loss.backward()
        loss.backward()
    assert kinds(recorded.findings()) == ["backward-twice"]
    assert "failed" in [node.state for node in recorded.graph().graph.nodes]


def test_a_second_recording_knows_the_nodes_of_the_first(tmp_path, model, batch):
    with agdbg.record(tmp_path / "one"):
        loss = model(batch).sum()
    with agdbg.record(tmp_path / "two") as second:
        loss.backward()
    assert len(second.facts().node_ids) == 10
    badges = {badge.text for node in second.graph().graph.nodes for badge in node.badges}
    assert badges == {"0.weight", "0.bias", "2.weight", "2.bias"}


def test_a_nested_recording_is_a_part_of_the_outer_one(tmp_path, model, batch):
    with agdbg.record(tmp_path / "outer") as outer:
        x = torch.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError):
            x += 1
        unused = (x * 3).exp()
        loss = model(batch).sum()
        with agdbg.record(tmp_path / "inner") as inner:
            loss.backward()
            with pytest.raises(RuntimeError):
                loss.backward()
            assert not (tmp_path / "inner").exists()
        unused.sum().backward()
    assert kinds(outer.findings()) == ["leaf-inplace", "backward-twice"]
    assert kinds(inner.findings()) == ["backward-twice"]
    assert [each.outcome for each in inner.facts().passes] == ["ok", "error"]
    assert len(inner.facts().node_ids) == 10 and len(outer.facts().node_ids) == 14
    badges = {badge.text for node in inner.graph().graph.nodes for badge in node.badges if badge.kind == "parameter"}
    assert badges == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert not Trace.open(inner.path).problems and Trace.open(inner.path).closed


def test_a_directory_with_a_trace_is_refused_and_nothing_is_lost(tmp_path):
    with agdbg.record(tmp_path / "trace"):
        torch.ones(2, requires_grad=True).sum().backward()
    before = (tmp_path / "trace" / "records.bin").read_bytes()
    with pytest.raises(TraceError, match="holds a trace"), agdbg.record(tmp_path / "trace"):
        pytest.fail("the block ran")
    assert (tmp_path / "trace" / "records.bin").read_bytes() == before
    with pytest.raises(ValueError, match="nothing called 'colours'"):
        agdbg.record(tmp_path / "other", also="colours")


def test_without_a_path_the_trace_goes_below_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with agdbg.record() as first, agdbg.record() as second:
        torch.ones(2, requires_grad=True).sum().backward()
    assert first.path.parent == second.path.parent == tmp_path / ".agdbg"
    assert len(first.facts().passes) == len(second.facts().passes) == 1


def test_a_place_that_cannot_be_written_is_refused_before_the_block(tmp_path):
    (tmp_path / "file").write_text("mine")
    for name in ("file", "file/below"):
        with pytest.raises(TraceError), agdbg.record(tmp_path / name):
            pytest.fail("the block ran")
    with agdbg.record(tmp_path / "good") as recorded:
        torch.ones(1, requires_grad=True).exp().backward()
    assert len(recorded.facts().passes) == 1


def test_a_nested_trace_that_cannot_be_written_loses_nothing_of_the_outer_one(tmp_path, capfd):
    with agdbg.record(tmp_path / "outer") as outer:
        with agdbg.record(tmp_path / "inner") as inner:
            torch.ones(1, requires_grad=True).exp().backward()
            (tmp_path / "inner").write_text("in the way")
        torch.ones(1, requires_grad=True).exp().backward()
    assert len(outer.facts().passes) == 2 and (tmp_path / "inner").read_text() == "in the way"
    assert "cannot finish the trace" in capfd.readouterr().err
    assert "nothing was recorded" in str(inner.findings())


def test_findings_show_themselves(model, batch):
    loss = model(batch).sum()
    loss.backward()
    found = agdbg.lint(loss)
    assert repr(found) == "<Findings: backward-twice (certain)>" and repr(agdbg.lint(model(batch).sum())).startswith(
        "<Findings: nothing"
    )
    (told,) = found.as_json()
    assert told["kind"] == "backward-twice" and told["evidence"][1]["text"].strip() == "loss.backward()"
    assert found._repr_html_().startswith("<pre>1. `backward()`")


def test_a_recording_is_used_once(tmp_path):
    recorded = agdbg.record(tmp_path / "trace")
    with recorded:
        assert "goes on" in repr(recorded)
    with pytest.raises(RuntimeError, match="used already"), recorded:
        pass


def test_extras_are_recorded(tmp_path):
    with agdbg.record(tmp_path / "trace", also="all") as recorded:
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        x.sqrt().sum().backward()
    facts = recorded.facts()
    assert facts.bad_summaries and facts.probes
    assert facts.shape(facts.bad_summaries[0].node).text == "float32[2]"


def test_a_forked_child_that_leaves_the_block_writes_nothing(tmp_path):
    code = f"""
import os, agdbg, agdbg_engine as t
x = t.ones(2, requires_grad=True)
with agdbg.record({str(tmp_path / "outer")!r}) as outer, agdbg.record({str(tmp_path / "inner")!r}) as inner:
    x.exp().sum().backward()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        there = os.path.exists({str(tmp_path / "inner")!r})
        x.exp().sum().backward()
if not child:
    os._exit(0)
print(there, len(outer.facts().passes), len(inner.facts().passes))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.split() == ["False", "2", "2"], done.stderr


def test_a_program_without_an_engine_loses_nothing_by_it(tmp_path):
    code = f"import agdbg\nwith agdbg.record({str(tmp_path / 'x')!r}) as r: pass\nprint(r.findings())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "nothing was recorded" in done.stdout and not (tmp_path / "x").exists()


def test_an_engine_that_is_imported_inside_is_recorded(tmp_path):
    code = f"import agdbg\nwith agdbg.record({str(tmp_path / 'x')!r}) as r:\n    import agdbg_engine as t\n"
    code += "    t.ones(2, requires_grad=True).sum().backward()\nprint(len(r.facts().passes))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["1"]


def test_a_block_inside_of_agdbg_run_is_recorded_in_both(programs):
    script = "import agdbg\nimport agdbg_engine as t\nx = t.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n"
    script += (
        "with agdbg.record('inner') as r:\n    (x * 3).sum().backward()\nprint(len(r.facts().passes), r.findings())\n"
    )
    programs.write({"train.py": script})
    done = programs.run(programs.agdbg_command(["train.py"], options=["--headless", "--trace", "outer"]))
    assert done.status == 0 and done.stdout.startswith("1 nothing was found"), done
    passes = [len(agdbg.record.Facts(Trace.open(programs.directory / name)).passes) for name in ("outer", "inner")]
    assert passes == [2, 1]


def test_a_recording_whose_directory_is_removed_is_still_at_hand(tmp_path, monkeypatch, capfd):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("agdbg.record.elsewhere.tempfile.tempdir", str(tmp_path / "temporary"))
    with agdbg.record(tmp_path / "t") as recorded:
        torch.ones(2, requires_grad=True).sum().backward()
        shutil.rmtree(tmp_path / "t")
    assert recorded.path.parent == tmp_path / "temporary"
    assert len(recorded.facts().passes) == 1 and Trace.open(recorded.path).closed
    assert f"it goes on, whole, in {recorded.path}" in capfd.readouterr().err
