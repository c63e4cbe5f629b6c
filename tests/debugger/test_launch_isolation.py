"""Whose modules are whose when a program is run in agdbg's process."""

import json
import sys

from agdbg.launch.isolation import Isolation


def test_the_modules_of_the_standard_library_are_nobodys_in_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Isolation("", sys.path).lifted():
        assert sys.modules["json"] is json


def test_a_program_s_module_that_is_called_like_one_of_the_library_is_put_aside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "colorsys.py").write_text("mine = True\n")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    import colorsys

    with Isolation("", sys.path).lifted():
        assert "colorsys" not in sys.modules
    assert sys.modules.pop("colorsys") is colorsys


def test_a_current_directory_that_was_removed(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with Isolation("", sys.path).lifted():
        assert sys.modules["json"] is json
