"""The documentation tells the truth about this checkout: its links, its commands, the files that it names."""

from __future__ import annotations

import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest

from agdbg import cli

ROOT = Path(__file__).resolve().parents[2]
SIZES = runpy.run_path(str(ROOT / "scripts" / "sizes.py"))
FILES: list[Path] = SIZES["project_files"](ROOT)
PAGES = [path for path in FILES if path.suffix == ".md"]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
INLINE_CODE = re.compile(r"`([^`\n]+)`")
SCRIPTS, TRANSCRIPTS = (
    {"sh", "bash"},
    {"", "console"},
)  # fences whose lines are commands; where "$ " starts one
SHELL_JOINTS = set("();<>|&")

TOP_FOLDERS = r"(?:agdbg|engine|ui|tests|examples|docs|benchmarks|scripts|\.ci)"
REPOSITORY_PATH = re.compile(rf"{TOP_FOLDERS}/[\w./-]*\.(?:py|md|csv|toml|tcss)")

# What only one author's machine has. Written in pieces, so that this file does not contain what it looks for.
MACHINE_PATHS = re.compile(
    "|".join(["/wo" + "rk/", "/ro" + "ot/", "/Us" + r"ers/\w", r"/home/(?!user\b|me\b|you\b)\w"])
)
REGISTRY = re.compile(
    "|".join(["py" + r"pi\.org", "python" + "hosted", "download" + r"\.pytorch", "--(?:extra-)?index" + "-url"])
)
BINARY = {".png", ".gif", ".npy", ".bin"}


def text_of(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def heading_anchors(page: str) -> set[str]:
    """The anchors that a forge makes of a page's headings."""
    headings = re.findall(r"^#+ +(.+)$", FENCE.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken_links(path: Path) -> Iterator[str]:
    """The relative links of a page that lead nowhere."""
    for target in LINK.findall(FENCE.sub("", text_of(path))):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (ROOT / path.parent / name).resolve() if name else ROOT / path
        if not file.exists() or (anchor and anchor not in heading_anchors(file.read_text(encoding="utf-8"))):
            yield target


def commands(page: str) -> Iterator[list[str]]:
    """The arguments of every `agdbg ...` in a page's shell blocks and inline code."""
    lines: list[str] = []
    for language, body in FENCE.findall(page):
        found = body.replace("\\\n", " ").splitlines()
        lines += found if language in SCRIPTS else []
        lines += [line[2:] for line in found if line.startswith("$ ")] if language in TRANSCRIPTS else []
    spans = [code for code in INLINE_CODE.findall(FENCE.sub("", page)) if code.startswith("agdbg ")]
    for line in lines + spans:
        if re.search(r"\bagdbg\s", line):
            yield from agdbg_calls(line)


def agdbg_calls(line: str) -> Iterator[list[str]]:
    """The arguments of every call of agdbg in a line of shell, without a synopsis's brackets and dots."""
    lexer = shlex.shlex(re.sub(r"[\[\]]|\.\.\.", " ", line), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    call: list[str] = []
    for token in [*lexer, ";"]:
        if set(token) <= SHELL_JOINTS:
            if call and PurePath(call[0]).name == "agdbg":
                yield call[1:]
            call = []
        else:
            call.append(token)


def test_calls_are_found_in_shell_lines() -> None:
    line = "cd x && .venv/bin/agdbg run [--out DIR] a.py > log; agdbg explain 'my trace' | less"
    assert list(agdbg_calls(line)) == [["run", "--out", "DIR", "a.py"], ["explain", "my trace"]]


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_relative_links_resolve(path: Path) -> None:
    assert list(broken_links(path)) == []


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_named_files_exist(path: Path) -> None:
    named = {name for code in INLINE_CODE.findall(text_of(path)) for name in REPOSITORY_PATH.findall(code)}
    assert {name for name in named if not (ROOT / name).exists()} == set()


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_the_command_line_accepts_every_documented_command(path: Path) -> None:
    for arguments in commands(text_of(path)):
        words, _ = cli.split_arguments(arguments)
        try:
            cli._parser().parse_args(words)
        except SystemExit as done:
            assert done.code == 0, f"{path} shows `agdbg {shlex.join(arguments)}`, which the parser refuses"


def test_pages_named_in_the_code_exist() -> None:
    code = [path for path in FILES if path.suffix == ".py" and path.parts[0] != "tests"]
    named = {page for path in code for page in re.findall(r"\bdocs/[\w-]+\.md\b", text_of(path))}
    assert {page for page in named if not (ROOT / page).exists()} == set()


def test_the_readme_shows_what_its_example_prints() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "readme_output.py"))
    assert script["shown_output"]() == script["fresh_output"](), "run scripts/readme_output.py"


def test_the_readme_shows_commands() -> None:
    assert [arguments[0] for arguments in commands(text_of(Path("README.md")))].count("run") >= 1


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, REGISTRY], ids=["machine-paths", "registry"])
def test_no_file_names_a_machine(pattern: re.Pattern[str]) -> None:
    named = {
        str(path): found.group()
        for path in FILES
        if path.suffix not in BINARY
        if (found := pattern.search(text_of(path)))
    }
    assert named == {}


def test_no_file_is_too_long() -> None:
    assert SIZES["too_long"](ROOT) == {}
