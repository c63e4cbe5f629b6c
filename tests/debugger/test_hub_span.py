"""Columns of an expression: bytes in a trace, code units of UTF-16 in the protocol."""

from types import SimpleNamespace

import pytest

from agdbg.hub.frames import Frame, Place, as_body
from agdbg.hub.inspector import place_of
from agdbg.hub.span import NOWHERE, span_of
from agdbg.record.lookup import Site

LINE = "\tz = '\U0001d6fc漢' * h.exp()"


def site(part, **more):
    start = len(LINE[: LINE.index(part)].encode())
    return Site("/m.py", 7, "", start, start + len(part.encode()), LINE, 7, **more)


def test_columns_count_units_of_utf_16_from_1():
    assert span_of(site("h.exp()")) == (14, 7, 21)
    assert span_of(site("漢")) == (9, 7, 10)


@pytest.mark.parametrize(
    "lost",
    [
        Site("/m.py", 0, "", 0, 3, LINE, 0),
        Site("/m.py", 7, "", -1, -1, LINE, 7),
        Site("/m.py", 7, "", 500, 510, LINE, 7),
        Site("/m.py", 7, "", 7, 10, LINE, 7),
        Site("/m.py", 7, "", 3, 3, LINE, 7),
    ],
)
def test_what_is_not_known_is_not_told(lost):
    assert span_of(lost) == NOWHERE


def test_the_end_on_a_later_line_is_looked_up(tmp_path):
    file = tmp_path / "m.py"
    file.write_text("y = f(\n  '漢', x)\n", encoding="utf-8")
    assert span_of(Site(str(file), 1, "", 4, 11, "y = f(", 2)) == (5, 2, 10)
    assert span_of(Site("/gone.py", 1, "", 4, 11, "y = f(", 2)) == (5, 2, 0)


def test_a_frame_has_the_columns_of_its_node():
    known = Place("ExpBackward0", "/m.py", 7, "", span_of(site("h.exp()")))
    body = as_body(1, 0, Frame("node", 3), lambda node, phase: known)
    assert (body["column"], body["endLine"], body["endColumn"]) == (14, 7, 21)
    body = as_body(1, 0, Frame("node", 3), lambda node, phase: Place("ExpBackward0", "/m.py", 7))
    assert (body["column"], "endLine" in body) == (1, False)


def test_before_hooks_the_place_of_a_node_is_that_of_the_first():
    born = SimpleNamespace(op=SimpleNamespace(name="ExpBackward0"), site=site("h.exp()"))
    hooks = {"tensor-hooks": [{"kind": "tensor", "name": "clip", "file": "/hooks.py", "line": 3}]}
    history = SimpleNamespace(
        live=SimpleNamespace(node={5: born}.get), hooks_in=lambda node, phase: hooks.get(phase, [])
    )
    assert place_of(history, 5, "tensor-hooks") == Place("ExpBackward0", "/hooks.py", 3, "clip")
    assert place_of(history, 5, "apply") == place_of(history, 5) == Place("ExpBackward0", "/m.py", 7, "", (14, 7, 21))
