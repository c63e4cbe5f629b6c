"""Signals while agdbg itself is being loaded: the process ends by them, says nothing and leaves nothing behind."""

import os
import pty
import select
import signal
import subprocess
import sys

import pytest

from agdbg.hub.starting import start_hub

#: A command during whose work the module ``sys.argv[1]`` is imported, at which the signal ``sys.argv[2]`` comes.
STRUCK = """\
import os, sys
module, number = sys.argv[1], int(sys.argv[2])

class Strikes:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Strikes())
sys.argv[:] = ["agdbg", *sys.argv[3:]]
from agdbg.cli import main
sys.exit(main())
"""
PROGRAM = "import agdbg_engine as torch\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\n"
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "p.py").write_text(PROGRAM)
    run = [sys.executable, "-m", "agdbg", "run", "--headless", "--trace", "t", "p.py"]
    subprocess.run(run, cwd=folder, check=True, capture_output=True)
    return folder / "t"


@pytest.fixture
def place(tmp_path, trace):
    (tmp_path / "run").mkdir(mode=0o700)
    (tmp_path / "temporary").mkdir()
    (tmp_path / "p.py").write_text(PROGRAM)
    (tmp_path / "t").symlink_to(trace)
    return tmp_path


def struck(place, module, number, *words):
    """Run a command on a terminal; return its status, as `subprocess` has it, and what it said there."""
    master, slave = pty.openpty()
    environment = {
        **os.environ,
        "TERM": "xterm",
        "XDG_RUNTIME_DIR": str(place / "run"),
        "TMPDIR": str(place / "temporary"),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", STRUCK, module, str(int(number)), *words],
        stdin=slave, stdout=slave, stderr=slave, cwd=place, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    said = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        said += piece
    os.close(master)
    return process.wait(60), said.decode()


def wait_until_empty(folder):
    """Wait until no hub has a directory there."""
    for _ in range(600):
        if not folder.is_dir() or not any(folder.iterdir()):
            return
        select.select([], [], [], 0.05)
    raise AssertionError(f"hubs are left: {list(folder.iterdir())}")


@pytest.mark.parametrize(
    ("number", "module", "words"),
    [
        *((number, "agdbg_ui.app", ["run", "--no-trace", "p.py"]) for number in ENDING),
        *((number, "numpy", ["export", "t", "-o", "g.svg"]) for number in ENDING),
        (signal.SIGINT, "argparse", ["run", "p.py"]),
        (signal.SIGINT, "textual.app", ["open", "t"]),
        (signal.SIGTERM, "agdbg.protocol.client", ["run", "--batch", "--no-trace", "-x", "continue", "p.py"]),
        (signal.SIGINT, "numpy", ["explain", "t"]),
        (signal.SIGHUP, "agdbg.launch.subrun", ["lint", "p.py"]),
        (signal.SIGINT, "agdbg.launch.subrun", ["export", "p.py", "-o", "g.svg"]),
        (signal.SIGINT, "agdbg.launch.program", ["run", "--headless", "--trace", "other", "p.py"]),
    ],
)
def test_a_signal_while_a_command_is_loaded_ends_it_quietly(place, number, module, words):
    status, said = struck(place, module, number, *words)
    assert status == -number
    assert said == ""
    wait_until_empty(place / "run" / "agdbg")
    assert not [
        each
        for each in (place / "temporary").iterdir()
        if each.name.startswith("agdbg-") and each.name != f"agdbg-{os.getuid()}"
    ]


def test_an_error_that_a_module_makes_of_the_interrupt_is_the_interrupt(place):
    broken = STRUCK.replace("os.kill(os.getpid(), number)", "exec(BREAK)").replace(
        "import os, sys",
        "import os, sys\nBREAK = 'try: os.kill(os.getpid(), number); time.sleep(9)\\nexcept BaseException: raise ImportError'",
    )
    assert "exec(BREAK)" in broken
    done = subprocess.run(
        [sys.executable, "-c", "import time\n" + broken, "numpy", str(int(signal.SIGINT)), "explain", "t"],
        cwd=place, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_an_ignored_interrupt_stays_ignored(place):
    done = subprocess.run(
        [sys.executable, "-c", STRUCK, "agdbg.explain.text", str(int(signal.SIGINT)), "explain", "t"],
        cwd=place, capture_output=True, text=True, timeout=60, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert done.returncode == 0
    assert "no error" in done.stdout or done.stdout


def test_the_programs_own_interrupts_are_pythons(place):
    (place / "q.py").write_text("import signal\nprint(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n")
    done = subprocess.run(
        [sys.executable, "-m", "agdbg", "run", "q.py"], cwd=place, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "True\n"


def test_a_hub_that_serves_nothing_ends_with_its_starter():
    start = "from agdbg.hub.starting import start_hub\nprint(start_hub().pid, flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        hub = os.pidfd_open(int(starter.stdout.readline()))
        assert not select.select([hub], [], [], 0.2)[0]
        starter.kill()
        assert select.select([hub], [], [], 30)[0]
    os.close(hub)


def test_starting_hubs_leaves_no_descriptor_of_those_that_are_gone():
    from agdbg.hub import starting
    from agdbg.protocol.client import Client

    address = start_hub()
    hub = os.pidfd_open(address.pid)
    client = Client.connect(address.client_socket)
    client.request("initialize", adapterID="test")
    client.close()
    assert select.select([hub], [], [], 30)[0]
    os.close(hub)
    before = len(starting._lifelines)
    other = start_hub()
    assert len(starting._lifelines) <= before
    os.kill(other.pid, signal.SIGTERM)


def test_a_command_file_that_cannot_be_read_starts_no_hub(place):
    done = subprocess.run(
        [sys.executable, "-m", "agdbg", "run", "--batch", "-X", "none", "p.py"],
        cwd=place, capture_output=True, text=True, timeout=60, env={**os.environ, "XDG_RUNTIME_DIR": str(place / "run")},
    )  # fmt: skip
    assert done.returncode == 2
    assert "-X none: cannot be read (No such file or directory)" in done.stderr
    assert not (place / "run" / "agdbg").exists()


def test_of_a_module_that_is_not_there_python_alone_speaks(place):
    words = [sys.executable, "-m", "agdbg", "run", "--headless", "-m", "no_such_module"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [f"{sys.executable}: No module named no_such_module"]
