"""docs/protocol.md has every request and event, and the fields of agdbg's own are those of the types."""

import re
from pathlib import Path

import pytest

from agdbg.protocol import looks, vendor
from agdbg.protocol.check import check_arguments
from agdbg.protocol.errors import ProtocolError
from agdbg.protocol.limits import CELLS, OUTPUT_PAGE, PAGE
from agdbg.protocol.messages import EVENTS, REQUESTS, STANDARD_REQUESTS, VENDOR_EVENTS, VENDOR_REQUESTS

PAGE_TEXT = (Path(__file__).resolve().parents[2] / "docs" / "protocol.md").read_text("utf-8")
SHAPES = "\n".join(re.findall(r"^```text\n(.*?)^```", PAGE_TEXT, re.MULTILINE | re.DOTALL))
TYPES = {name: found for name, found in {**vars(vendor), **vars(looks)}.items() if hasattr(found, "__required_keys__")}


def fields(shape):
    """The fields of ``{a, b?: int | null}``, in order, with their question marks."""
    return re.findall(r"(\w+\??)(?:: [^,]+)?(?:, |$)", shape)


def fields_of(kind):
    return [name if name in kind.__required_keys__ else f"{name}?" for name in kind.__annotations__]


@pytest.mark.parametrize("command", VENDOR_REQUESTS)
def test_a_custom_request_is_described_with_its_fields(command):
    [(arguments, body)] = re.findall(rf"^{command} \{{(.*)\}} -> \{{(.*)\}}$", SHAPES, re.MULTILINE)
    assert fields(arguments) == fields_of(VENDOR_REQUESTS[command].arguments)
    assert fields(body) == fields_of(VENDOR_REQUESTS[command].body)


@pytest.mark.parametrize("name", VENDOR_EVENTS)
def test_a_custom_event_is_described_with_its_fields(name):
    [body] = re.findall(rf"^{name} \{{(.*)\}}$", SHAPES, re.MULTILINE)
    assert fields(body) == fields_of(VENDOR_EVENTS[name])


def test_what_they_are_made_of_is_described():
    described = dict(re.findall(r"^(\w+) = \{(.*)\}$", SHAPES, re.MULTILINE))
    used = set(re.findall(r"(?:\[|: )([A-Z]\w+)", SHAPES))
    assert used == described.keys()
    assert {name: fields(shape) for name, shape in described.items()} == {
        name: fields_of(TYPES[name]) for name in described
    }


@pytest.mark.parametrize("name", [*REQUESTS, *EVENTS])
def test_every_message_is_named(name):
    assert re.search(rf"`{name}`|^{name} ", PAGE_TEXT, re.MULTILINE)


@pytest.mark.parametrize("command", ["launch", "attach"])
def test_the_arguments_of_launch_and_attach_are_named(command):
    start = PAGE_TEXT.index(f"The arguments of `{command}`")
    section = PAGE_TEXT[start : PAGE_TEXT.index("**The token.**")]
    assert [name for name in STANDARD_REQUESTS[command].arguments.__annotations__ if f"`{name}`" not in section] == []


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("setBreakpoints", {"source": {}, "breakpoints": [{"line": "x"}]}),
        ("agdbg/rows", {"start": 0, "count": 5000}),
        ("nxt", {}),
    ],
)
def test_the_errors_shown_are_those_that_come(command, arguments):
    with pytest.raises(ProtocolError) as refused:
        check_arguments(command, arguments)
    assert str(refused.value) in SHAPES


def test_limits_are_as_they_are():
    assert {str(PAGE), str(OUTPUT_PAGE), str(CELLS)} <= set(re.findall(r"\d+", PAGE_TEXT))
