"""scripts/ops_report.py: the loop of those who write ops, and the table."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch):
    torch = pytest.importorskip("torch", reason="PyTorch is the reference here")
    monkeypatch.setattr(torch, "set_num_threads", lambda n: None)
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    for name in ("ops_report", "ops_table"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("ops_report")


def test_the_table_has_the_ops_and_columns_of_today(script, capsys):
    assert script.main(["--check"]) == 0, capsys.readouterr().out


def test_one_op(script, capsys):
    assert script.main(["--op", "sin"]) == 0
    said = capsys.readouterr().out
    assert "ok   sin gradient" in said and "ok   sin errors" not in said


def test_a_failure_is_shown_with_its_sample(script, capsys, monkeypatch):
    import agdbg_engine

    monkeypatch.setattr(agdbg_engine, "sin", lambda x: 1 // 0, raising=False)
    assert script.main(["--op", "sin", "--check", "value", "-v"]) == 1
    said = capsys.readouterr().out
    assert "FAIL sin value" in said and "ZeroDivisionError" in said and "float64[20, 20]" in said


@pytest.mark.parametrize(("options", "said"), [
    (["--op", "sine"], "not in op_db"),
    (["--op", "_chunk_cat"], "the engine does not have it"),
    (["--op", "sin", "--check", "taste"], "no check taste"),
])  # fmt: skip
def test_wrong_names(script, capsys, options, said):
    assert script.main(options) == 1
    assert said in capsys.readouterr().out


def test_what_is_missing_is_counted(script, capsys):
    assert script.main(["--missing"]) == 0
    said = capsys.readouterr().out
    assert "_chunk_cat" in said and "names that have a gradient in torch" in said


def test_every_name_of_the_list_that_is_not_there_has_a_reason(script, monkeypatch):
    script.helpers()
    table = importlib.import_module("ops_table")
    db = script.helper("op_db")
    told = [name for names in table.not_had(db).values() for name in names]
    counts = table.counts(db)
    assert len(told) == counts["names"] - counts["have"] and counts["have derived"] >= 400
    monkeypatch.delitem(table.NOT_HAD, "hash_tensor")
    with pytest.raises(ValueError, match="why the engine lacks hash_tensor"):
        table.not_had(db)


def test_a_table_of_other_ops_is_stale(script, tmp_path, capsys):
    script.helpers()
    table = importlib.import_module("ops_table")
    assert table.stale(tmp_path, script.helper) == ["docs/ops.md: not written yet"]
    (tmp_path / "docs").mkdir()
    for name in ("ops.md", "ops.json"):
        (tmp_path / "docs" / name).write_text(
            (ROOT / "docs" / name).read_text("utf-8").replace("`sin`", "`sine`"), "utf-8"
        )
    assert "docs/ops.md is not what docs/ops.json gives" in table.stale(tmp_path, script.helper)
    facts = tmp_path / "docs" / "ops.json"
    facts.write_text(facts.read_text("utf-8").replace('"sin":', '"sine":'), "utf-8")
    found = table.stale(tmp_path, script.helper)
    assert "docs/ops.json lacks sin" in found and "docs/ops.json has sine, which the engine has not" in found


@pytest.mark.parametrize(("entry", "expected"), [
    ("sin", "✓"), ("nonzero", "≠ GPU: read back, the size of the result depends on values"),
    ("special.airy_ai", "\N{EN DASH} GPU: CuPy has no Airy functions"),
])  # fmt: skip
def test_the_column_of_the_gpu_comes_from_the_strict_device(script, entry, expected):
    script.helpers()
    assert marked(script, entry, "device") == expected


def marked(script, entry, check):
    """The mark of a check and its remarks."""
    checks, remarks = script.helper("op_checks"), []
    found = checks.report(entry, check)
    mark = importlib.import_module("ops_table").mark(found, remarks, script.helper("known"), checks.WITHOUT)
    return " ".join([mark, *remarks])


def test_a_wrong_value_on_the_device_is_seen_in_the_column(script, monkeypatch):
    script.helpers()
    monkeypatch.setattr(script.helper("op_device"), "_compared", lambda *args: ["other numbers"])
    assert re.fullmatch(r"\N{EN DASH} device of sin: \d+ of \d+ samples differ", marked(script, "sin", "device"))
