"""Where ``load`` cannot put tensors: PyTorch's first line, then what this engine knows of the reason."""

import io
import os

import agdbg_tests_strict_device as strict
import pytest
import torch

import agdbg_engine as ag

NO_GPU = pytest.mark.skipif(
    bool(os.environ.get("AGDBG_TEST_DEVICE")) or torch.cuda.is_available(), reason="what is said where there is no GPU"
)


def mine(*_):
    raise ValueError("of the caller")


def first_line(library, map_location):
    file = io.BytesIO()
    library.save({"x": library.ones(2)}, file)
    file.seek(0)
    with pytest.raises(Exception) as found:  # any: its type is compared
        library.load(file, map_location=map_location)
    return type(found.value), str(found.value).split("\n")[0]


@NO_GPU
@pytest.mark.parametrize(
    "map_location",
    ["cuda", "cuda:9", {"cpu": "cuda:1"}, "foo", {"cpu": "foo"}, 5, pytest.param(mine, id="function")],
    ids=str,
)
def test_as_pytorch(map_location):
    assert first_line(ag, map_location) == first_line(torch, map_location)


@NO_GPU
def test_a_device():
    assert first_line(ag, ag.device("cuda", 9)) == first_line(torch, torch.device("cuda", 9))


@NO_GPU
def test_what_is_missing_is_said_too():
    file = io.BytesIO()
    ag.save(ag.ones(2), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"\n  .*Give load\(\) a map_location where the tensors should go"):
        ag.load(file, "cuda")


def saved_on(place):
    file = io.BytesIO()
    with strict.allowed_host_reads():
        ag.save(ag.ones(2, device=place), file)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("usable", "count", "text"),
    [
        (False, 2, "Attempting to deserialize object on a STRICT device but torch.strict.is_available() is False. If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."),
        (True, 1, "Attempting to deserialize object on STRICT device 1 but torch.strict.device_count() is 1. Please use torch.load with map_location to map your storages to an existing device."),
    ],
)  # fmt: skip
@pytest.mark.skipif(strict.BACKEND.count() < 2, reason="there is one GPU")
def test_a_file_from_a_machine_with_more_devices(usable, count, text, monkeypatch):
    file = saved_on("strict:1")
    monkeypatch.setattr(strict.BACKEND, "is_usable", lambda: usable)
    monkeypatch.setattr(strict.BACKEND, "count", lambda: count if usable else 0)
    with pytest.raises(RuntimeError) as found:
        ag.load(file)
    first, rest = str(found.value).split("\n")
    assert first == text
    assert "Give load() a map_location where the tensors should go, such as 'cpu'" in rest
    file.seek(0)
    assert ag.load(file, "cpu").tolist() == [1.0, 1.0]
