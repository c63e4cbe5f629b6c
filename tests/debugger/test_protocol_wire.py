"""Framing: any split of a stream gives the same messages, and junk never raises anything but ProtocolError."""

import json
from itertools import pairwise
from time import process_time
from timeit import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agdbg.protocol.wire import MAX_BODY, MAX_HEADER, Decoder, ProtocolError, encode

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.dictionaries(st.text(max_size=9), VALUES, max_size=4)
STEP = {"seq": 7, "type": "request", "command": "next", "arguments": {"threadId": 1}}


def frame(body, header=b"Content-Length: %d"):
    return header % len(body) + b"\r\n\r\n" + body


def decoded(stream, cuts=()):
    decoder = Decoder()
    places = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    found = [message for start, end in pairwise(places) for message in decoder.feed(stream[start:end])]
    assert decoder.pending == 0
    return found


@given(st.lists(MESSAGES, max_size=5), st.lists(st.integers(0), max_size=8))
def test_any_split_gives_the_same_messages(messages, cuts):
    assert decoded(b"".join(map(encode, messages)), cuts) == messages


@given(st.lists(MESSAGES, min_size=1, max_size=3))
def test_byte_by_byte(messages):
    stream = b"".join(map(encode, messages))
    assert decoded(stream, range(len(stream))) == messages


def test_a_message_is_there_as_soon_as_its_last_byte():
    decoder, stream = Decoder(), encode(STEP)
    assert decoder.feed(stream[:-1]) == []
    assert decoder.pending > 0
    assert decoder.feed(stream[-1:]) == [STEP]


@given(st.lists(MESSAGES, max_size=4), st.lists(st.integers(0), max_size=8))
def test_what_is_unfinished_lies_behind_the_whole_messages(messages, cuts):
    decoder, frames = Decoder(), [encode(each) for each in messages]
    stream, whole = b"".join(frames), 0
    places = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    for start, end in pairwise(places):
        whole += len(decoder.feed(stream[start:end]))
        assert decoder.unfinished == end - len(b"".join(frames[:whole]))


def test_what_is_written():
    assert encode({"a": "é"}) == b'Content-Length: 14\r\n\r\n{"a":"\\u00e9"}'


def test_a_file_name_that_is_no_utf8_comes_through():
    assert decoded(encode({"path": "caf\udce9.py"})) == [{"path": "caf\udce9.py"}]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_a_value_without_a_json_form_is_refused(value):
    with pytest.raises((ValueError, TypeError)):
        encode({"value": value})


@pytest.mark.parametrize(
    "header",
    [
        b"content-length:%d",
        b"CONTENT-LENGTH :  %d ",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d",
        b"Content-Length: %d\r\nX-Other: 1",
    ],
)
def test_headers_of_other_clients(header):
    body = '{"text":"é"}'.encode()
    assert decoded(frame(body, header)) == [{"text": "é"}]


MALFORMED = {
    "no length": (b"Content-Type: x\r\n\r\n{}", "has no Content-Length: 'Content-Type: x'"),
    "another protocol": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "has no Content-Length: 'GET / HTTP/1.1"),
    "not a number": (b"Content-Length: ten\r\n\r\n{}", "to be a number of bytes, and is 'ten'"),
    "negative": (b"Content-Length: -2\r\n\r\n{}", "and is '-2'"),
    "a number of another script": ("Content-Length: ٢\r\n\r\n{}".encode(), "to be a number of bytes"),
    "two lengths": (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "more than one Content-Length"),
    "too long": (b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1), f"at most {MAX_BODY} bytes, and is '{MAX_BODY + 1}'"),
    "long header": (b"X: " + b"y" * MAX_HEADER, f"longer than {MAX_HEADER} bytes and begins with 'X: yyy"),
    "not JSON": (frame(b"{'a': 1}"), "is not JSON: Expecting property name"),
    "empty": (frame(b""), "is not JSON: Expecting value"),
    "NaN": (frame(b'{"a": NaN}'), "is not JSON: NaN"),
    "a huge number": (frame(b'{"a": %b}' % (b"1" * 5000)), "is not JSON"),
    "a list": (frame(b"[1, 2]"), "to be a JSON object, and is '[1, 2]'"),
    "not UTF-8": (frame(b'{"a": "\xe9"}'), "is not UTF-8: invalid continuation byte at byte 7"),
    "too deep": (frame(b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"), "nested too deeply"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_stream_is_refused_in_words(name):
    stream, words = MALFORMED[name]
    decoder = Decoder()
    with pytest.raises(ProtocolError) as refused:
        decoder.feed(encode(STEP) + stream)
    assert words in str(refused.value)
    assert refused.value.messages == [STEP]
    with pytest.raises(ProtocolError) as again:
        decoder.feed(encode(STEP))
    assert (str(again.value), again.value.messages) == (str(refused.value), [])


def test_a_header_of_the_greatest_length_is_accepted():
    body, end = b"{}", b"\r\nContent-Length: 2\r\n\r\n"
    header = b"X: ".ljust(MAX_HEADER - len(end), b"y") + end
    assert decoded(header + body) == [{}]
    with pytest.raises(ProtocolError, match="longer than"):
        decoded(b"y" + header + body)


@given(st.lists(st.binary() | st.sampled_from([b"Content-Length: ", b"2", b"\r\n\r\n", b"{}", b"\r\n"]), max_size=12))
def test_junk_raises_nothing_but_protocol_errors(pieces):
    def outcome(stream):
        decoder, found = Decoder(), []
        try:
            for piece in stream:
                found += decoder.feed(piece)
        except ProtocolError as error:
            return found + error.messages, str(error)
        return found, ""

    whole = b"".join(pieces)
    together, error = outcome([whole])
    apart, late_error = outcome([whole[i : i + 1] for i in range(len(whole))])
    assert (apart, bool(late_error)) == (together, bool(error))


@given(st.binary(max_size=50))
def test_a_framed_body_is_what_json_says_or_an_error(body):
    try:
        expected = json.loads(body.decode("utf-8"))
    except ValueError:
        expected = None
    try:
        found = decoded(frame(body))
    except ProtocolError:
        found = None
    assert found == ([expected] if isinstance(expected, dict) else None)


def test_a_small_message_is_cheap():
    stream, decoder = encode(STEP), Decoder()
    best = min(repeat(lambda: (encode(STEP), decoder.feed(stream)), number=1000, repeat=10, timer=process_time))
    assert best / 1000 < 40e-6, "encoding and decoding a small message is to stay below 20 us each"
