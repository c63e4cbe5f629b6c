"""`agdbg trace query` and `agdbg trace export`: what they tell is what the trace tells, and nothing is overwritten."""

import csv
import json
import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import agdbg
import agdbg_engine as torch
from agdbg.cli import main
from agdbg.commands import guard
from agdbg.events import Kind, head, pack_edge, pack_pair, pack_save, pack_site_op
from agdbg.queries import QUERIES
from agdbg.record import Facts, Recorder, Trace
from agdbg.tables import TABLES
from agdbg_engine import nn

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """A recording of two steps of training, a cut, a hook and an error, with all extras."""
    path = tmp_path_factory.mktemp("tables") / "trace"
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with agdbg.record(path, also="all"):
        for _ in range(2):
            optimizer.zero_grad()
            hidden = model(torch.ones(5, 3))
            hidden.register_hook(lambda g: None)
            loss = hidden.pow(2).mean()
            loss.backward()
            optimizer.step()
            loss.detach()
        with pytest.raises(RuntimeError):
            loss.backward()
    return path


@pytest.fixture(scope="module")
def facts(trace):
    return Facts(Trace.open(trace))


def ask(capsys, trace, name, *options):
    assert main(["trace", "query", name, str(trace), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)["rows"]


# ----- query -----


def test_times_add_up(capsys, trace, facts):
    whole = sum(run.duration_ns for each in facts.passes for run in facts.runs(each.id)) / 1e6
    for name in ("slowest", "by-op", "by-line"):
        rows = ask(capsys, trace, name)
        assert sum(row["ms"] for row in rows) == pytest.approx(whole, abs=1e-3)
        assert sum(row["runs"] for row in rows) == len(facts.run_rows)
        assert [row["ms"] for row in rows] == sorted((row["ms"] for row in rows), reverse=True)
    ops = {row["op"]: row for row in ask(capsys, trace, "by-op")}
    assert (ops["AddmmBackward0"]["nodes"], ops["AddmmBackward0"]["runs"]) == (4, 4)
    assert "hidden = model(torch.ones(5, 3))" in [row["source"] for row in ask(capsys, trace, "by-line")]


def test_what_lines_saved(capsys, trace, facts):
    rows = {row["source"]: row for row in ask(capsys, trace, "saved-by-line")}
    saves = [save for number in facts.node_ids.tolist() for save in facts.node(number).saves]
    assert sum(row["saves"] for row in rows.values()) == len(saves)
    assert rows["loss = hidden.pow(2).mean()"]["bytes"] == 2 * 5 * 4


def test_writes_to_one_storage_and_to_all(capsys, trace, facts):
    every = ask(capsys, trace, "writes")
    assert len(every) == len(facts.rows(Kind.BUMP))
    one = ask(capsys, trace, "writes", "--storage", "2.bias")
    assert one and {row["names"] for row in one} == {"2.bias"}
    assert one == ask(capsys, trace, "writes", "--storage", str(one[0]["storage"]))
    assert [(row["old"], row["new"]) for row in one] == [(1, 2), (2, 3)]  # a new parameter is at version 1


def test_passes_errors_cuts_hooks_parameters_modules(capsys, trace):
    assert [row["outcome"] for row in ask(capsys, trace, "passes")] == ["ok", "ok", "error"]
    assert [row["kind"] for row in ask(capsys, trace, "errors")] == ["backward-twice"]
    assert {row["op"]: row["times"] for row in ask(capsys, trace, "cuts")}["detach"] == 2
    (hook,) = [row for row in ask(capsys, trace, "hooks") if "register_hook" in row["source"]]
    assert hook["registered"] == 2
    parameters = {row["name"]: row for row in ask(capsys, trace, "parameters") if row["kind"] == "parameter"}
    assert set(parameters) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert {row["used"] for row in parameters.values()} == {2} and {
        row["gradients"] for row in parameters.values()
    } == {2}
    modules = {row["path"]: row["nodes"] for row in ask(capsys, trace, "modules")}
    assert modules["1"] == 2 and set(modules) == {"", "0", "1", "2"}


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_has_text_csv_and_a_limit(capsys, trace, name):
    assert main(["trace", "query", name, str(trace)]) == 0
    text = capsys.readouterr().out.splitlines()
    assert main(["trace", "query", name, str(trace), "--csv"]) == 0
    table = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert text[0].split() == table[0]
    rows = ask(capsys, trace, name)
    assert len(rows) == len(table) - 1
    assert ask(capsys, trace, name, "--limit", "1") == rows[:1]


def test_the_list_names_all(capsys):
    assert main(["trace", "query", "--list", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["rows"]] == list(QUERIES)


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense", "TRACE"],
        ["passes"],
        [],
        ["passes", "missing"],
        ["passes", "TRACE", "--storage", "1"],
        ["writes", "TRACE", "--storage", "nobody"],
        ["passes", "TRACE", "--limit", "0"],
        ["--list", "passes"],
        ["TRACE", "passes"],
    ],
)
def test_bad_questions(trace, words):
    try:
        status = main(["trace", "query", *(str(trace) if word == "TRACE" else word for word in words)])
    except SystemExit as ended:
        status = ended.code
    assert status == 2


def test_words_in_the_wrong_order_are_told_in_the_right_one(trace, monkeypatch):
    said = []
    monkeypatch.setattr(guard, "tell", said.append)
    assert main(["trace", "query", str(trace), "passes"]) == 2
    assert said == [f"error: the query comes first: agdbg trace query passes {trace}"]


# ----- export -----


def export(trace, *words):
    return main(["trace", "export", str(trace), *map(str, words)])


def test_the_tables_hold_what_the_facts_tell(facts):
    found = {table.name: list(table.rows(facts)) for table in TABLES}
    names = {table.name: [column.name for column in table.columns] for table in TABLES}
    rows = {name: [dict(zip(names[name], row, strict=True)) for row in found[name]] for name in found}
    nodes = [facts.node(number) for number in facts.node_ids.tolist()]
    assert [(row["id"], row["op"], row["row"]) for row in rows["nodes"]] == [(n.id, n.op.name, n.row) for n in nodes]
    assert [(row["node"], row["input"], row["to_node"], row["output"]) for row in rows["edges"]] == [
        (n.id, at, edge.node, edge.nr) for n in nodes for at, edge in enumerate(n.edges) if edge.node
    ]
    assert [(row["node"], row["name"], row["storage"] or 0, row["version"]) for row in rows["saves"]] == [
        (n.id, save.slot, save.storage, save.version) for n in nodes for save in n.saves
    ]
    sites = {row["id"]: (row["file"], row["line"]) for row in rows["sites"]}
    assert [sites[row["site"]] for row in rows["nodes"] if row["site"]] == [
        (n.site.file, n.site.line) for n in nodes if n.site.line
    ]
    assert [row["outcome"] for row in rows["passes"]] == [each.outcome for each in facts.passes]
    assert len(rows["runs"]) == len(facts.run_rows) and len(rows["writes"]) == len(facts.rows(Kind.BUMP))
    for name in ("shapes", "summaries", "probes", "modules", "tensors", "cuts", "errors", "hooks", "optimizers"):
        assert rows[name], name


def test_sqlite(trace, facts, tmp_path, capfd):
    assert export(trace, "--sqlite", tmp_path / "x.db") == 0
    with sqlite3.connect(tmp_path / "x.db") as database:
        for table in TABLES:
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table.name}")')]
            assert columns == [column.name for column in table.columns]
            assert database.execute(f'SELECT * FROM "{table.name}"').fetchall() == [
                tuple(int(cell) if isinstance(cell, bool) else cell for cell in row) for row in table.rows(facts)
            ]
    database.close()
    assert "wrote" in capfd.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.db"]


def test_json_and_csv_tell_the_same(trace, facts, tmp_path):
    assert export(trace, "--json", tmp_path / "x.json") == 0
    assert export(trace, "--csv", tmp_path / "folder") == 0
    found = json.loads((tmp_path / "x.json").read_text("ascii"))
    assert (found["format"], found["version"]) == ("agdbg-tables", 1)
    for table in TABLES:
        told = found["tables"][table.name]
        assert told["columns"] == [column.name for column in table.columns]
        assert [tuple(row) for row in told["rows"]] == list(table.rows(facts))
        with open(tmp_path / "folder" / f"{table.name}.csv", newline="") as file:
            lines = list(csv.reader(file))
        assert lines[0] == told["columns"] and len(lines) - 1 == len(told["rows"])


def test_parquet(trace, facts, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: pip install pyarrow")
    assert export(trace, "--parquet", tmp_path / "folder") == 0
    for table in TABLES:
        found = parquet.read_table(tmp_path / "folder" / f"{table.name}.parquet")
        assert found.column_names == [column.name for column in table.columns]
        rows = [tuple(row.values()) for row in found.to_pylist()]
        assert rows == list(table.rows(facts))
    assert export(trace, "--parquet", tmp_path / "one.parquet", "--table", "runs") == 0
    assert parquet.read_table(tmp_path / "one.parquet").num_rows == len(facts.run_rows)
    assert export(trace, "--parquet", tmp_path / "two.parquet") == 2


def test_without_pyarrow_the_extra_is_named(trace, tmp_path, monkeypatch, capfd):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert export(trace, "--parquet", tmp_path / "folder") == 2
    assert "pip install 'agdbg[parquet]'" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unless_it_is_asked_for(trace, tmp_path):
    (tmp_path / "x.db").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    assert export(trace, "--sqlite", tmp_path / "x.db") == 2
    assert export(trace, "--csv", tmp_path / "folder") == 2
    assert (tmp_path / "x.db").read_text() == "mine"
    (tmp_path / "x.db").write_text("")
    for _ in range(2):
        assert export(trace, "--sqlite", tmp_path / "x.db", "--force") == 0
        assert export(trace, "--csv", tmp_path / "folder", "--force", "--table", "nodes") == 0
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["nodes.csv", "notes.txt"]
    assert (tmp_path / "x.db").read_bytes().startswith(b"SQLite")


@pytest.mark.parametrize("kind", ["sqlite", "json", "parquet", "csv"])
def test_what_is_no_earlier_export_is_never_replaced(trace, tmp_path, capfd, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow", reason="the only writer of Parquet")
    mine = tmp_path / {"csv": "nodes.csv", "parquet": "nodes.parquet"}.get(kind, "results.db")
    option = [f"--{kind}", tmp_path if kind in ("csv", "parquet") else mine, "--force"]
    database = sqlite3.connect(tmp_path / "other.db")
    database.execute("CREATE TABLE mine (x)")
    database.close()
    for content in (b"epoch,loss\n1,2\n", b'{"loss": 1}', b"PAR1", (tmp_path / "other.db").read_bytes()):
        mine.write_bytes(content)
        assert export(trace, *option) == 2
        assert "no earlier export" in capfd.readouterr().err
        assert mine.read_bytes() == content
    mine.write_bytes(b"")
    assert export(trace, *option) == export(trace, *option) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["--sqlite", "missing/x.db"],
        ["--sqlite", "."],
        ["--csv", "file"],
        ["--json", "x.json", "--table", "nonsense"],
        ["--json", "x.json", "--csv", "y"],
        [],
    ],
)
def test_bad_exports(trace, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    try:
        status = main(["trace", "export", str(trace), *words])
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("words", [["--sqlite", "x.db"], ["--json", "x.json"], ["--csv", "folder"]])
def test_an_export_that_fails_leaves_nothing(trace, tmp_path, monkeypatch, words):
    from agdbg.tables import write

    def fail(facts, tables, path):
        raise OSError(28, "No space left on device")

    for name in ("to_sqlite", "to_json", "to_csv"):
        monkeypatch.setattr(write, name, fail)
    monkeypatch.chdir(tmp_path)
    assert main(["trace", "export", str(trace), *words]) == 2
    assert list(tmp_path.iterdir()) == []


def hostile(path):
    """Names with controls, a lone surrogate and a formula; numbers that nothing has; a cut record."""
    recorder = Recorder(path, program={}, engine={}, sees={})
    for number, name in enumerate(["=cmd()", "a\x1b[2J\n", "\ud800", '"; DROP TABLE nodes'], 1):
        where = pack_site_op(recorder.site_at("t.py", 1, name, name), recorder.op(name, (name,)))
        recorder.emit(head(Kind.BORN, 1, a=1, b=1), number, 2**64 - 2, where, pack_edge(9), 0, pack_save(3, 1, 0), 0)
        names = pack_pair(recorder.text(name), recorder.text("parameter"))
        recorder.emit(head(Kind.TENSOR, 1), number, 3, pack_edge(number), names, 0, 0, 0)
    recorder.emit(head(Kind.RAN, 1), 2**64 - 1, 2**63, 0, 2**64 - 1, 2**64 - 1, 9, 0)
    recorder.close()
    with open(path / "records.bin", "ab") as file:
        file.write(b"cut")
    return path


def test_hostile_traces_are_exported_and_shown(tmp_path, capsys):
    path = hostile(tmp_path / "trace")
    for words in (["--sqlite", "x.db"], ["--json", "x.json"], ["--csv", "folder"]):
        assert export(path, words[0], tmp_path / words[1]) == 0
    with sqlite3.connect(tmp_path / "x.db") as database:
        assert database.execute("SELECT count(*) FROM nodes").fetchone() == (4,)
        assert database.execute("SELECT name FROM tensors WHERE id = 3").fetchone() == ("\\ud800",)
    database.close()
    found = json.loads((tmp_path / "x.json").read_text())
    assert [row[4] for row in found["tables"]["tensors"]["rows"]] == [
        "=cmd()",
        "a\x1b[2J\n",
        "\ud800",
        '"; DROP TABLE nodes',
    ]
    for name in QUERIES:
        assert main(["trace", "query", name, str(path)]) == 0
        out = capsys.readouterr().out
        assert "\x1b" not in out and "\ud800" not in out


def test_the_page_has_every_table_and_column():
    page = (ROOT / "docs" / "trace-export.md").read_text()
    for table in TABLES:
        section = re.search(rf"^### {table.name}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
        assert section, table.name
        told = re.findall(r"^\| `(\w+)` \| (\w+) \|", section[1], re.MULTILINE)
        assert told == [(column.name, column.type) for column in table.columns], table.name
        assert table.says.partition(";")[0] in section[1].replace("\n", " ").lower(), table.name


def test_numbers_that_are_too_big_are_empty_cells():
    from agdbg.tables.model import rows_of, table

    made = table("t", "a row", "n integer a number", lambda facts: rows_of(np.array([1, 2**63, 2**64 - 1], np.uint64)))
    assert list(made.rows(None)) == [(1,), (None,), (None,)]
