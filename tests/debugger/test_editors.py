"""The VS Code extension and docs/editors.md name what the hub accepts, no more and no less."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from agdbg.protocol.messages import REQUESTS
from agdbg.protocol.requests import AttachArguments, LaunchArguments

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors" / "vscode"
PACKAGE = json.loads((EXTENSION / "package.json").read_text("utf-8"))
(DEBUGGER,) = PACKAGE["contributes"]["debuggers"]
PAGE = (ROOT / "docs" / "editors.md").read_text("utf-8")
#: The editor itself sets this one.
SET_BY_EDITOR = {"noDebug"}
#: What the extension needs to know in order to reach a hub, and what is not for the hub.
TO_REACH = {"host", "port", "hub"}
OF_ALL_EDITORS = {"type", "request", "name"}


def attributes(request):
    return DEBUGGER["configurationAttributes"][request]["properties"]


def accepted(request):
    kinds = {"launch": LaunchArguments, "attach": AttachArguments}
    assert REQUESTS[request].arguments is kinds[request]
    return get_type_hints(kinds[request])


def test_the_attributes_of_launch_are_the_arguments_of_launch():
    assert set(attributes("launch")) == set(accepted("launch")) - SET_BY_EDITOR


def test_the_attributes_of_attach_are_the_arguments_of_attach_and_where():
    assert set(attributes("attach")) == set(accepted("attach")) | TO_REACH


@pytest.mark.parametrize("request_name", ["launch", "attach"])
def test_types_and_choices_are_the_same(request_name):
    named = {str: "string", bool: "boolean", int: "integer"}
    for name, kind in accepted(request_name).items():
        if name in SET_BY_EDITOR:
            continue
        told = attributes(request_name)[name]
        assert told["description"].endswith("."), name
        if kind in named:
            assert told["type"] == named[kind], name
        elif set(get_args(kind)) == {str, type(None)}:
            assert told["type"] == ["string", "null"], name
        elif told["type"] == "array":
            (item,) = get_args(kind)
            assert told["items"].get("enum", item) in (list(get_args(item)), str), name
        elif told["type"] == "string":
            assert told["enum"] == list(get_args(kind)), name
        else:
            assert told["type"] == "object", name


@pytest.mark.parametrize("configuration", DEBUGGER["initialConfigurations"])
def test_configurations_use_attributes_that_there_are(configuration):
    assert configuration["type"] == DEBUGGER["type"] == "agdbg"
    assert set(configuration) - OF_ALL_EDITORS <= set(attributes(configuration["request"]))


@pytest.mark.parametrize("snippet", DEBUGGER["configurationSnippets"], ids=lambda snippet: snippet["label"])
def test_snippets_use_attributes_that_there_are(snippet):
    body = snippet["body"]
    assert set(body) - OF_ALL_EDITORS <= set(attributes(body["request"]))


def test_the_configurations_of_the_page_use_attributes_that_there_are():
    (block,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for configuration in json.loads(block):
        assert configuration["type"] == "agdbg"
        assert set(configuration) - OF_ALL_EDITORS <= set(attributes(configuration["request"]))
    known = OF_ALL_EDITORS | set(attributes("launch")) | set(attributes("attach"))
    lua = re.search(r"configurations\.python = \{(.*?)^\}", PAGE, re.MULTILINE | re.DOTALL)[1]
    assert set(re.findall(r"(\w+) = ", lua)) <= known
    dape = re.search(r"dape-configs(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    assert set(re.findall(r" :(\w+)", dape)) <= known


def test_the_extension_has_the_files_that_it_names():
    assert (EXTENSION / PACKAGE["main"]).is_file()
    assert (EXTENSION / "README.md").is_file()


CASES = [
    ({"type": "agdbg", "request": "launch", "program": "a.py"}, {}, ["agdbg", "dap"]),
    ({"type": "agdbg", "request": "launch"}, {"command": ["python", "-m", "agdbg"]}, ["python", "-m", "agdbg", "dap"]),
    ({"type": "agdbg", "request": "attach", "trace": "t"}, {}, ["agdbg", "dap"]),
    ({"type": "agdbg", "request": "attach", "hub": "12"}, {}, ["agdbg", "dap", "--hub", "12"]),
    ({"type": "agdbg", "request": "attach", "host": "h", "port": 5, "token": "t"}, {}, ("h", 5, "t")),
    ({"type": "agdbg", "request": "attach", "port": 5}, {"typed": "asked"}, (None, 5, "asked")),
    ({"type": "agdbg", "request": "attach", "port": 5}, {}, None),
    ({}, {}, ["agdbg", "dap"]),
]


@pytest.fixture(scope="module")
def told():
    """What the extension does in each of the cases."""
    if not shutil.which("node"):
        pytest.skip("node is not installed: the VS Code extension was NOT run")
    cases = [{"configuration": configuration, "command": ["agdbg"], **more} for configuration, more, _ in CASES]
    harness = Path(__file__).parent / "dap_client" / "extension.js"
    words = ["node", str(harness), str(EXTENSION / "extension.js"), json.dumps(cases)]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60, env={"PATH": str(Path(shutil.which("node")).parent)}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_extension_registers_its_type_and_its_command(told):
    assert told["type"] == "agdbg"
    assert {each["command"] for each in PACKAGE["contributes"]["commands"]} <= set(told["commands"])
    assert told["requested"] == ["agdbg/control", {"take": True}]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_extension_reaches_the_debugger(told, number):
    expected, found = CASES[number][2], told["found"][number]
    if expected is None:  # no token was typed: the session is given up
        assert "configuration" not in found
    elif isinstance(expected, list):
        assert found["adapter"] == {"kind": "executable", "words": expected}
    else:
        host, port, token = expected
        assert (found["adapter"]["kind"], found["adapter"].get("host"), found["adapter"]["port"]) == (
            "server",
            host,
            port,
        )
        assert found["configuration"]["token"] == token
