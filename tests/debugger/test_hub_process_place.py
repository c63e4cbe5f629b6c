"""The directory of a hub's sockets: only its user's, short enough, and gone with the hub."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agdbg.errors import InputError
from agdbg.hub import place
from agdbg.hub.place import SOCKET_PATH_LIMIT, Runtime, running

HUB = """\
import sys
from agdbg.hub.place import Runtime
runtime = Runtime.create()
if sys.argv[1:]:
    runtime.describe(argv=["train.py", "-x"], cwd="/srv")
    runtime.describe(trace="/srv/t", started=12.5)
print(runtime.directory, flush=True)
sys.stdin.read()
runtime.remove()
"""


@pytest.fixture
def session(monkeypatch):
    """A directory with a short name, as XDG_RUNTIME_DIR."""
    with tempfile.TemporaryDirectory() as directory:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        yield Path(directory)


@pytest.fixture
def shared(monkeypatch):
    """A directory for temporary files, and no XDG_RUNTIME_DIR."""
    with tempfile.TemporaryDirectory() as directory:
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
        monkeypatch.setattr(tempfile, "tempdir", directory)
        yield Path(directory)


@pytest.fixture
def create():
    """Makes runtime directories that are removed after the test."""
    made = []

    def create():
        made.append(Runtime.create())
        return made[-1]

    yield create
    for runtime in made:
        runtime.remove()


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_only_its_user_can_enter_it(session, create):
    before = os.umask(0)
    try:
        runtime = create()
    finally:
        os.umask(before)
    assert runtime.directory == session / "agdbg" / str(os.getpid())
    assert mode(session / "agdbg") == mode(runtime.directory) == 0o700
    names = (runtime.client_socket, runtime.agent_socket, runtime.control)
    assert [path.relative_to(runtime.directory).name for path in names] == ["client.sock", "agent.sock", "control"]


def test_without_a_runtime_directory_it_lies_with_the_temporary_files(shared, create):
    runtime = create()
    assert runtime.directory.parent == shared / f"agdbg-{os.geteuid()}"
    assert mode(runtime.directory.parent) == 0o700


@pytest.mark.parametrize("value", ["", "relative", "/no/where"])
def test_a_runtime_directory_that_is_none_does_not_count(shared, create, monkeypatch, value):
    monkeypatch.setenv("XDG_RUNTIME_DIR", value)
    assert shared in create().directory.parents


def test_a_runtime_directory_of_another_user_does_not_count(session, shared, create, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(session))
    real = os.stat
    monkeypatch.setattr(place, "_is_own", lambda path: real(path).st_uid != os.geteuid())
    assert shared in create().directory.parents


def test_what_is_left_of_it_is_nothing(session):
    runtime = Runtime.create()
    runtime.describe()
    runtime.remove()
    runtime.remove()
    assert list((session / "agdbg").iterdir()) == []


def test_a_forked_child_leaves_it_alone(session, create):
    runtime = create()
    child = os.fork()
    if not child:
        runtime.remove()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert runtime.directory.is_dir()


# who would make the directory first


def only_place(monkeypatch, shared):
    """The system's own /tmp is not to be a way out."""
    base = shared / f"agdbg-{os.geteuid()}"
    monkeypatch.setattr(place, "_bases", lambda: [base])
    return base


def a_link(base):
    target = base.parent / "theirs"
    target.mkdir(0o700)
    base.symlink_to(target)


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (a_link, "it is a symbolic link; remove it"),
        (lambda base: base.write_text(""), "it is not a directory; remove it"),
        (lambda base: (base.mkdir(), base.chmod(0o770)), r"others have access to it \(mode 0770\); chmod 0700"),
        (lambda base: (base.mkdir(), base.chmod(0o701)), r"others have access to it \(mode 0701\)"),
    ],
)
def test_a_directory_that_is_not_safe_is_refused(shared, monkeypatch, prepare, message):
    base = only_place(monkeypatch, shared)
    prepare(base)
    with pytest.raises(InputError, match=message) as refused:
        Runtime.create()
    assert str(base) in str(refused.value)
    assert "set XDG_RUNTIME_DIR" in str(refused.value)
    assert running() == []


def test_a_directory_of_another_user_is_refused(shared, monkeypatch):
    base = only_place(monkeypatch, shared)
    base.mkdir(0o700)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(InputError, match=rf"it belongs to another user \(uid {owner}\)"):
        Runtime.create()
    assert running() == []


def test_a_directory_that_cannot_be_made_is_said(shared, monkeypatch):
    monkeypatch.setattr(place, "_bases", lambda: [shared / "gone" / "agdbg"])
    with pytest.raises(InputError, match="gone/agdbg: cannot be made"):
        Runtime.create()


# the length of a socket's path


def base_of_length(shared, length):
    directory = shared / ("d" * (length - len(str(shared)) - 1 - len("/agdbg")))
    directory.mkdir()
    return directory


def test_the_longest_path_that_is_used_can_be_bound(shared, create, monkeypatch):
    longest = SOCKET_PATH_LIMIT - len("/4194304-99/client.sock")
    directory = base_of_length(shared, longest)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    runtime = create()
    assert directory in runtime.directory.parents
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(runtime.client_socket))


def test_a_path_that_is_too_long_makes_way_for_a_shorter_one(shared, create, monkeypatch):
    longest = SOCKET_PATH_LIMIT - len("/4194304-99/client.sock")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(base_of_length(shared, longest + 1)))
    assert create().directory.parent == shared / f"agdbg-{os.geteuid()}"


def test_that_every_path_is_too_long_is_said(shared, monkeypatch):
    directory = base_of_length(shared, 150)
    monkeypatch.setattr(place, "_bases", lambda: [directory / "agdbg"])
    with pytest.raises(InputError, match="its path is too long for a Unix socket, which may have 107 bytes"):
        Runtime.create()
    assert list(directory.iterdir()) == []


def test_the_length_counts_in_bytes(shared, create, monkeypatch):
    directory = shared / ("ü" * 40)
    directory.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    assert directory not in create().directory.parents


# the living and the dead


@pytest.fixture
def hub():
    """Starts processes that have a runtime directory; the second item is the directory."""
    started = []

    def start(*args):
        words = [sys.executable, "-c", HUB, *args]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, Path(process.stdout.readline().strip())

    yield start
    for process in started:
        with process:
            process.kill()


def ours(session):
    return [info for info in running() if session in info.directory.parents]


def test_a_living_hub_is_listed_until_it_ends(session, hub):
    process, directory = hub("described")
    (info,) = ours(session)
    assert (info.directory, info.pid) == (directory, process.pid)
    assert (info.argv, info.cwd, info.trace, info.started) == (["train.py", "-x"], "/srv", "/srv/t", 12.5)
    assert info.client_socket == directory / "client.sock"
    process.communicate("")
    assert process.returncode == 0
    assert ours(session) == []
    assert not directory.exists()


def test_what_a_killed_hub_has_left_is_swept_away(session, hub, create):
    dead = []
    for _ in range(2):
        process, directory = hub("described")
        dead.append(directory)
        process.kill()
        process.wait()
    living, directory = hub("described")
    assert [info.pid for info in ours(session)] == [living.pid]
    assert not any(path.exists() for path in dead)
    dead[0].mkdir()
    create()
    assert not dead[0].exists()
    assert directory.exists()


def test_a_hub_that_has_not_told_of_itself_is_neither_listed_nor_swept(session, hub):
    _, directory = hub()
    assert ours(session) == []
    assert directory.is_dir()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pid": "x"}', "\udcff"])
def test_facts_that_cannot_be_read_are_no_error(session, create, text):
    (create().directory / "hub.json").write_bytes(text.encode(errors="surrogateescape"))
    assert ours(session) == []


def test_the_number_of_a_dead_process_can_be_ours(session, create):
    stale = session / "agdbg" / str(os.getpid())
    stale.mkdir(parents=True)
    (session / "agdbg").chmod(0o700)
    (stale / "hub.json").write_text(json.dumps({"pid": os.getpid(), "argv": ["old"]}))
    assert create().directory == stale
    assert not (stale / "hub.json").exists()


def test_the_number_of_a_living_hub_in_another_container_can_be_ours(session, create):
    first, second = create(), create()
    assert first.directory.is_dir()
    assert second.directory.name == f"{os.getpid()}-1"


def test_foreign_things_beside_are_let_be(session, create):
    create()
    (session / "agdbg" / "note").write_text("x")
    (session / "agdbg" / "link").symlink_to("/etc")
    create()
    assert (session / "agdbg" / "note").read_text() == "x"
    assert os.path.isdir("/etc")
    shutil.rmtree(session / "agdbg")


def _with_room(bytes_free, flags=0):
    real = os.statvfs("/")
    return lambda path: os.statvfs_result((1, 1, *real[2:4], bytes_free, *real[5:8], flags, real[9]))


@pytest.mark.parametrize(
    ("looked", "message"),
    [
        (_with_room(4096), "no room there: 4,096 bytes are free"),
        (_with_room(1 << 30, os.ST_RDONLY), "can only be read"),
    ],
)
def test_a_place_without_room_is_refused_with_the_way_out(shared, monkeypatch, looked, message):
    monkeypatch.setattr(place.os, "statvfs", looked)
    with pytest.raises(InputError, match=message) as refused:
        Runtime.create()
    assert "set XDG_RUNTIME_DIR" in str(refused.value) and "--headless" in str(refused.value)


def test_a_full_place_makes_way_for_the_next(session, shared, create, monkeypatch):
    real, full = os.statvfs, _with_room(0)
    monkeypatch.setattr(
        place.os, "statvfs", lambda path: full(path) if str(path).startswith(str(session)) else real(path)
    )
    assert not str(create().directory).startswith(str(session))


def test_without_any_directory_for_temporary_files_there_is_still_one(session, create, monkeypatch):
    def none():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(place.tempfile, "gettempdir", none)
    assert str(create().directory).startswith(str(session))
