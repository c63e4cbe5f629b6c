"""A child that is forked while other threads run backward has the engine to itself."""

import os
import signal
import sys
import threading
import time
from importlib import import_module

import pytest

import agdbg_engine as ag

tensor = import_module("agdbg_engine.tensor")  # the package has a function of that name
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


def gradient():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    return x.grad.tolist()


def status_of_child(work):
    """How a child ends that runs `work`: with 0 where it answers true; it does not wait for ever."""
    pid = os.fork()
    if not pid:
        signal.alarm(20)
        done = False
        try:
            done = work()
        finally:
            os._exit(0 if done else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_gradient_that_another_thread_was_adding_up_when_the_child_was_forked():
    held, done = threading.Event(), threading.Event()

    def hold():
        with tensor._accumulating:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(60)
        assert status_of_child(lambda: gradient() == [2.0, 4.0]) == 0
    finally:
        done.set()
        thread.join()
    assert gradient() == [2.0, 4.0], "the lock of the parent is what it was"


def test_a_thread_that_forks_while_it_adds_up_a_gradient_still_holds_the_lock_in_the_child():
    with tensor._accumulating:
        lock = tensor._accumulating
        assert status_of_child(lambda: tensor._accumulating is lock and gradient() == [2.0, 4.0]) == 0


def test_a_module_that_another_thread_was_importing_when_the_child_was_forked(tmp_path, monkeypatch):
    (tmp_path / "slowly.py").write_text("import time\nbegan = True\ntime.sleep(0.3)\nended = True\n")
    monkeypatch.setattr(ag, "__path__", [*ag.__path__, str(tmp_path)])
    name = "agdbg_engine.slowly"
    thread = threading.Thread(target=import_module, args=(name,))
    thread.start()
    try:
        while not hasattr(sys.modules.get(name), "began"):
            time.sleep(0.001)
        assert status_of_child(lambda: import_module(name).ended) == 0
    finally:
        thread.join()
        del sys.modules[name], ag.slowly


def test_a_module_that_forks_while_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "forking.py").write_text("import os\npid = os.fork()\nif not pid: os._exit(0)\n")
    monkeypatch.setattr(ag, "__path__", [*ag.__path__, str(tmp_path)])
    try:
        module = import_module("agdbg_engine.forking")
        assert os.waitpid(module.pid, 0)[1] == 0
    finally:
        del sys.modules["agdbg_engine.forking"], ag.forking
