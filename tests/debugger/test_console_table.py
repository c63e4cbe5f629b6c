"""The table of commands: names, aliases, prefixes, words of refusal, and docs/console.md, which lists it."""

import re
from pathlib import Path

import pytest
from agdbg_tests_console_stage import SMALL

import agdbg.console.commands  # noqa: F401  # fills the table
from agdbg.console import COMMANDS, CommandError
from agdbg.console.table import GROUPS, find, in_order, number

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "console.md").read_text("utf-8")


def test_every_command_is_found_by_its_names_and_has_help():
    for each in COMMANDS.values():
        assert [find(word) for word in (each.name, *each.aliases)] == [each] * (1 + len(each.aliases))
        assert each.summary and not each.summary.endswith(".")
        assert each.group in GROUPS


def test_no_two_commands_share_a_name():
    names = [name for each in COMMANDS.values() for name in (each.name, *each.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("n", "next"), ("s", "step"), ("c", "continue"), ("b", "break"), ("bt", "where"), ("p", "print"), ("l", "list"),
        ("q", "quit"), ("r", "run"), ("u", "until"), ("d", "delete"), ("i", "info"), ("h", "help"), ("tb", "tbreak"),
        ("cond", "condition"), ("fini", "finish"), ("expo", "export"), ("sav", "saved"), ("w", "watch"), ("ret", "retain"),
    ],
)  # fmt: skip
def test_short_names(word, name):
    assert find(word).name == name


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("exp", "'exp' may be explain or export; write more of it"),
        ("re", "'re' may be restart or retain or reverse; write more of it"),
        ("nxt", "there is no command 'nxt', did you mean next?; help lists them"),
        ("brek", "there is no command 'brek', did you mean break?; help lists them"),
        ("xyzzy", "there is no command 'xyzzy'; help lists them"),
        ("Next", "there is no command 'Next', did you mean next?; help lists them"),
    ],
)
def test_a_word_that_is_no_command_is_named_with_the_nearest(word, words):
    with pytest.raises(CommandError) as refused:
        find(word)
    assert str(refused.value) == words


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "\u0661"])
def test_what_is_no_number(text):
    with pytest.raises(CommandError, match="is no count; write a whole number"):
        number(text, "count")


def test_a_number_that_is_too_large_is_told_with_the_limit():
    assert number("9" * 15, "count") == 10**15 - 1
    with pytest.raises(
        CommandError, match=r"^9{20} is too large a count: 999,999,999,999,999 is the largest that there is$"
    ):
        number("9" * 20, "count")
    with pytest.raises(CommandError, match=r"^1{40}\.\.\. is too large a number of a node: "):
        number("1" * 4000, "number of a node, and no FILE:LINE")


def test_the_page_lists_the_table():
    rows = re.findall(r"^\| `(\S.*?)` \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
    described = [(usage.replace("\\|", "|"), aliases, summary) for usage, aliases, summary in rows]
    assert described == [
        (each.usage, ", ".join(f"`{alias}`" for alias in each.aliases), each.summary) for each in in_order()
    ]


def test_help_and_quit(console_stage):
    console = console_stage.console(SMALL)
    text = console.do("help")
    assert all(re.search(rf"^  {re.escape(name)} ", text, re.MULTILINE) for name in COMMANDS)
    assert console.do("help n").splitlines()[0] == "next [COUNT]"
    assert console.value("help break")["aliases"] == ["b"]
    assert console.do("", "  # a comment") == ""
    with pytest.raises(CommandError, match="next"):
        console.do("help nxt")
    with pytest.raises(CommandError, match="run takes nothing behind it, and not 'now'"):
        console.do("run now")
    with pytest.raises(CommandError, match="a count of 0 moves nothing"):
        console.do("start", "next 0")
    console.do("quit")
    assert console.wants_to_quit
