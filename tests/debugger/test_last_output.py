"""What the end of a program's output tells."""

import pytest

from agdbg.last_output import end_of, error_line, own_line, plain_lines

UNCAUGHT = [
    "before",
    "Traceback (most recent call last):",
    '  File "a.py", line 2, in <module>',
    "    f()",
    "KeyError: 'a'",
]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (UNCAUGHT, "KeyError: 'a'"),
        ([*UNCAUGHT, "", " "], "KeyError: 'a'"),
        ([*UNCAUGHT, "more of its message", "a note"], "KeyError: 'a'"),
        ([*UNCAUGHT, "", "During handling of the above exception:", "", *UNCAUGHT[1:4], "ValueError: b"], "ValueError: b"),
        ([*UNCAUGHT, *map(str, range(20))], ""),  # the program has printed it, and has gone on
        (['  File "a.py", line 1', "    x = (", "        ^", "SyntaxError: '(' was never closed"], "SyntaxError: '(' was never closed"),
        ([*UNCAUGHT[:-1], "numpy.linalg.LinAlgError: Singular matrix"], "numpy.linalg.LinAlgError: Singular matrix"),
        (["Traceback (most recent call last):"], ""),
        (["the loss is nan"], ""),
        (["Errors were made: 3"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_the_error_that_ended_it(lines, error):
    assert error_line(lines) == error


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (UNCAUGHT, "a.py:2  f()"),
        (
            [
                *UNCAUGHT[1:2],
                '  File "/w/train.py", line 9, in <module>',
                "    y = net(x)",
                "        ^^^^^^",
                '  File "/usr/lib/python3.12/site-packages/agdbg_engine/nn/module.py", line 61, in __call__',
                "    return self.forward(*args, **kwargs)",
                '  File "/w/engine/agdbg_engine/ops/prepare.py", line 163, in failed',
                "RuntimeError: shapes cannot be multiplied",
            ],
            "train.py:9  y = net(x)",
        ),
        ([*UNCAUGHT[1:2], '  File "<string>", line 1, in <module>', "ValueError: b"], ""),
        (["no traceback"], ""),
    ],
)
def test_the_line_of_the_program_in_a_traceback(lines, line):
    assert own_line(lines) == line


def test_the_end_is_the_traceback_or_else_the_last_lines():
    assert end_of(UNCAUGHT) == UNCAUGHT[1:]
    assert end_of([*map(str, range(100)), ""], 3) == ["97", "98", "99"]
    assert end_of(UNCAUGHT, 3) == [UNCAUGHT[1], "  ... 2 lines", UNCAUGHT[-1]]
    assert end_of([]) == []


def test_what_a_terminal_would_show_of_it():
    assert plain_lines("\x1b[31mred\x1b[0m\r\n 10%\r 20%\r\nlink \x1b]8;;x\x1b\\a\x1b]8;;\x07\r\n") == [
        "red",
        " 20%",
        "link a",
        "",
    ]
