"""The committed screenshots say what the app says now; and what counts as saying something else."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "screenshots"


@pytest.fixture(scope="module")
def picture():
    spec = importlib.util.spec_from_file_location("agdbg_tests_picture", SCREENSHOTS / "picture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(*names):
    command = [sys.executable, str(SCREENSHOTS / "make.py"), "--check", *names]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200)


def drawn(*pieces, number=17):
    """A picture in Rich's way, of pieces with a colour and a text, one a line."""
    styles = "".join(f"\n    .terminal-{number}-r{n} {{ fill: {colour} }}" for n, (colour, _) in enumerate(pieces))
    texts = "".join(
        f'<text class="terminal-{number}-r{n}" x="24.4" y="{n}" textLength="61" clip-path="url(#terminal-{number}-line-{n})">{text}</text>'
        for n, (_, text) in enumerate(pieces)
    )
    return f"<svg><style>{styles}\n</style>{texts}</svg>"


def test_the_pictures_are_fresh():
    done = check()
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_picture_is_told_of():
    page = (SCREENSHOTS / "README.md").read_text()
    pictures = sorted(path.name for path in SCREENSHOTS.glob("*.svg"))
    assert pictures
    assert [name for name in pictures if f"({name})" not in page] == []


def test_every_picture_is_on_a_page():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"screenshots/([\w-]+\.svg)\)", page.read_text("utf-8"))}
    assert {path.name for path in SCREENSHOTS.glob("*.svg")} - shown == set()


def test_what_the_readme_says_to_a_picture_is_short():
    page = re.sub(r"^```.*?^```$", "", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    told = [part for part in re.split(r"^(?=#)", page, flags=re.MULTILINE) if "](screenshots/" in part]
    assert len(told) > 5
    assert [part.splitlines()[0] for part in told if len(part.split()) >= 200] == []


def test_an_unknown_picture_is_refused():
    done = check("no-such")
    assert done.returncode == 2
    assert "no-such" in done.stderr
    assert "fit-80x24" in done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MulBackward0&#160;#12", "MulBackward0&#160;#13"),
        ("train.py:7", "train.py:8"),
        ("float32&#160;[3,&#160;4]", "float32&#160;[3,&#160;5]"),
        ("stopped", "halted"),
        ("max&#160;0.5&#160;✓", "max&#160;0.5&#160;✗"),
        ("a", ""),
    ],
)
def test_other_words_make_a_picture_stale(picture, old, new):
    before, after = (picture.stable(drawn(("red", text), ("blue", "end"))) for text in (old, new))
    assert picture.differences(before, after)


def test_another_colour_makes_a_picture_stale(picture):
    before, after = (picture.stable(drawn((colour, "stopped"))) for colour in ("red", "blue"))
    assert picture.differences(before, after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max&#160;0.1339&#160;&#160;norm&#160;2.5", "max&#160;0.134&#160;norm&#160;2.4999"),
        ("mean&#160;-1.2e-08", "mean&#160;3.25e-09"),
        ("mean&#160;1e-08", "mean&#160;-0.00001"),
    ],
)
def test_the_last_digits_do_not(picture, old, new):
    before, after = (picture.stable(drawn(("red", text))) for text in (old, new))
    assert picture.differences(before, after) == []


def test_the_number_that_rich_draws_is_gone(picture):
    one, other = (picture.stable(drawn(("red", "stopped"), number=number)) for number in (17, 23))
    assert one == other
    assert "terminal" not in one


def test_the_lines_are_as_on_the_terminal(picture):
    svg = picture.stable(drawn(("red", "a&#160;&lt;b"), ("red", "c&#160;")))
    assert picture.lines(svg) == ["  a <b", "  c"]
