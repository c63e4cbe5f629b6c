"""JSON as messages have it: what the standard library writes and reads, and raises."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agdbg.json_text import reader, writer

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
WRITE, READ = writer(), reader()


def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return type(error), str(error)


@given(VALUES)
def test_it_is_written_as_the_standard_library_does(value):
    assert WRITE(value) == json.dumps(value, separators=(",", ":"))


@given(VALUES, st.sampled_from(["", " ", "\n"]), st.sampled_from(["", " \n", "x", "{}"]))
def test_it_is_read_as_the_standard_library_does(value, before, behind):
    text = before + json.dumps(value) + behind
    assert outcome(READ, text) == outcome(json.loads, text)


@given(st.text(alphabet='{}[]":,1e-.ntfruals \\', max_size=12))
def test_junk_is_refused_as_the_standard_library_does(text):
    assert outcome(READ, text) == outcome(json.loads, text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_is_no_json_is_refused_where_asked(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        writer(allow_nan=False)(value)
    with pytest.raises(KeyError, match="NaN"):
        reader(parse_constant={}.__getitem__)("NaN")


def test_what_has_no_form_in_json():
    assert writer(default=str)({"at": date(2026, 1, 2)}) == '{"at":"2026-01-02"}'
    with pytest.raises(TypeError, match="date is not JSON serializable"):
        WRITE(date(2026, 1, 2))


def test_without_the_encoder_of_cpython(monkeypatch):
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    assert writer()({"a": [1, "é"]}) == '{"a":[1,"\\u00e9"]}'
