"""The IPython extension, in a shell of IPython's own; without IPython these tests are skipped."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("IPython", reason="IPython is not installed: pip install ipython")

SESSION = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.displaypub import CapturingDisplayPublisher
shell = InteractiveShell.instance()
shell.display_pub = CapturingDisplayPublisher()
shell.run_line_magic("load_ext", "agdbg")
for cell in json.loads(sys.argv[1]):
    shell.run_cell(cell)
print("shown", json.dumps([sorted(each["data"]) for each in shell.display_pub.outputs]))
"""


@pytest.fixture
def notebook(tmp_path):
    """A function that runs cells in a fresh shell: what they printed, and the kinds of what was displayed."""
    (tmp_path / "temporary").mkdir()

    def run(*cells):
        env = {"TMPDIR": str(tmp_path / "temporary"), "IPYTHONDIR": str(tmp_path / "ipython"), "NO_COLOR": "1"}
        done = subprocess.run(
            [sys.executable, "-c", SESSION, json.dumps(cells)],
            capture_output=True, text=True, check=True, timeout=120, cwd=tmp_path, env=env,
        )  # fmt: skip
        out, _, shown = done.stdout.rpartition("shown ")
        assert not list((tmp_path / "temporary").glob("agdbg*"))
        return out, json.loads(shown)

    return run


SETUP = "import agdbg_engine as torch\nx = torch.ones(2, requires_grad=True)\nloss = x.exp().sum()"


def test_a_cell_is_recorded_and_its_graph_shown(notebook):
    out, shown = notebook(SETUP, "%%agdbg\nloss.backward()\nfinished = 1", "print('finished', finished)")
    assert "nothing was found in 3 nodes, 1 backward pass" in out and "finished 1" in out
    assert shown == [["image/svg+xml", "text/plain"]]


def test_an_error_in_a_cell_is_explained_with_the_lines_of_cells(notebook):
    out, shown = notebook(SETUP, "loss.backward()", "%%agdbg\nloss.backward()")
    assert "RuntimeError" in out and "backward-twice" in out and "loss = x.exp().sum()" in out
    assert len(shown) == 1


def test_options(notebook, tmp_path):
    out, shown = notebook(
        SETUP, f"%%agdbg --no-graph --lint --also values --also shapes --trace {tmp_path / 'kept'}\nloss.backward()"
    )
    sees = json.loads((tmp_path / "kept" / "meta.json").read_text())["sees"]
    assert (sees["values"], sees["shapes"], sees["checksums"]) == (True, True, False)
    assert shown == [] and f"trace: {tmp_path / 'kept'}" in out
    assert (tmp_path / "kept" / "meta.json").exists()
    out, shown = notebook("%%agdbg --colours\n1/0")
    assert "usage: %%agdbg" in out and "ZeroDivisionError" not in out


def test_a_cell_without_an_engine(notebook):
    out, shown = notebook("%%agdbg\nprint(6 * 7)")
    assert "42" in out and "nothing was recorded" in out and shown == []


def test_graphs_show_themselves(notebook):
    _, shown = notebook(SETUP, "import agdbg\nfrom IPython.display import display\ndisplay(agdbg.graph(loss))")
    assert shown == [["image/svg+xml", "text/plain"]]
