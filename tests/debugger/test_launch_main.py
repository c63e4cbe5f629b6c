"""``agdbg run`` gives a program the ``__main__``, ``sys.argv`` and ``sys.path`` that ``python`` gives it."""

import io
import py_compile
import sys
import zipfile

import pytest

SHOW = """\
import sys
names = list(globals())
print(names, __name__, __file__, __package__, __spec__, __cached__, __doc__, __annotations__)
print(type(__loader__).__name__, getattr(__loader__, "path", None), type(__builtins__).__name__)
print(sys.argv, sys.path, sys.modules["__main__"].__dict__ is globals())
print(sys.flags, sys.meta_path[-1], sys.exc_info())
"""
# name: (files, words)
MAIN = {
    "script": ({"show.py": SHOW}, ["show.py", "a", "-m", "--trace", "--", "b c"]),
    "script-that-looks-like-a-command": ({"run": SHOW}, ["run", "run"]),
    "in-a-folder": ({"sub/show.py": SHOW}, ["sub/show.py"]),
    "through-dots": ({"show.py": SHOW, "sub/x": ""}, ["./sub/../show.py"]),
    "name-with-space-and-umlaut": ({"s/ä b.py": SHOW}, ["s/ä b.py"]),
    "without-suffix": ({"show": SHOW}, ["show"]),
    "folder": ({"pkg/__main__.py": SHOW}, ["pkg", "x"]),
    "folder-with-slash": ({"pkg/__main__.py": SHOW}, ["./pkg/"]),
    "module": ({"show.py": SHOW}, ["-m", "show", "--help", "-x"]),
    "package": (
        {"p/__init__.py": "", "p/__main__.py": "from . import q\n" + SHOW, "p/q.py": ""},
        ["-m", "p"],
    ),
    "submodule": ({"p/__init__.py": "print('init')", "p/q.py": SHOW}, ["-m", "p.q", "1"]),
    "module-docstring": ({"show.py": '"""Doc."""\n' + SHOW}, ["show.py"]),
    "annotations": ({"show.py": "x: int = 1\n" + SHOW}, ["show.py"]),
    "future": ({"f.py": "from __future__ import annotations\nx: nope = 1\nprint(__annotations__)"}, ["f.py"]),
    "latin-1": ({"l.py": "# coding: latin-1\nprint('ä')\n".encode("latin-1")}, ["l.py"]),
    "bom": ({"b.py": b"\xef\xbb\xbfprint('\xc3\xa4')\n"}, ["b.py"]),
    "crlf": ({"c.py": b"print('a')\r\nprint('''x\r\ny''')\r\n"}, ["c.py"]),
    "empty": ({"e.py": ""}, ["e.py"]),
    "getsource": ({"g.py": "import inspect\ndef f(): return 1\nprint(inspect.getsource(f))"}, ["g.py"]),
    "getfile": ({"g.py": "import inspect\nclass C: pass\nprint(inspect.getsourcefile(C))"}, ["g.py"]),
    "import-main": ({"i.py": "import __main__ as m\nx = 3\nprint(m.x, m.__file__)"}, ["i.py"]),
    "pickle": (
        {"p.py": "import pickle\nclass C: pass\ndef f(): pass\nprint(pickle.dumps((C, f, C())))"},
        ["p.py"],
    ),
    "unpickle": (
        {"p.py": "import pickle\nclass C: x = 1\nprint(pickle.loads(pickle.dumps(C())).x)"},
        ["p.py"],
    ),
    "dataclass": (
        {"d.py": "from dataclasses import dataclass\n@dataclass\nclass P:\n  x: 'int' = 1\nprint(P())"},
        ["d.py"],
    ),
    "type-hints": (
        {"t.py": "import typing as t\nclass A: pass\ndef f(a: 'A'): pass\nprint(t.get_type_hints(f))"},
        ["t.py"],
    ),
    "doctest": ({"d.py": '"""\n>>> 1 + 1\n3\n"""\nimport doctest\nprint(doctest.testmod())'}, ["d.py"]),
    "unittest": ({"u.py": "import unittest, sys\nprint(unittest.main(exit=False).module)"}, ["u.py"]),
    "import-beside": ({"i.py": "import other; print(other.__file__)", "other.py": ""}, ["i.py"]),
    "shadowed-by-sibling": (
        {
            "s.py": "import json, argparse as a; print(json.__file__, a.x)",
            "json.py": "",
            "argparse.py": "x=1",
        },
        ["s.py"],
    ),
    "folder-without-init": ({"s.py": "import tempfile.sub as t; print(t)", "tempfile/sub.py": ""}, ["s.py"]),
    "shadowed-package": (
        {"s.py": "import json.sub as t; print(t)", "json/__init__.py": "", "json/sub.py": ""},
        ["s.py"],
    ),
    "imports-itself": ({"me.py": "import me, sys; print(__name__)"}, ["me.py"]),
    "standard-name": ({"queue.py": "import queue; print(queue.__name__, __name__)"}, ["queue.py"]),
    "recursion": (
        {"r.py": "def f(n):\n  try: return f(n + 1)\n  except RecursionError: return n\nprint(f(0))"},
        ["r.py"],
    ),
    "recursion-module": (
        {"r.py": "def f(n):\n  try: return f(n + 1)\n  except RecursionError: return n\nprint(f(0))"},
        ["-m", "r"],
    ),
    "symbol-table": ({"v.py": "exec('y = 1'); print(sorted(vars()), y, locals() is globals())"}, ["v.py"]),
    "thread": ({"m.py": "import threading as t; print(t.current_thread().name, t.active_count())"}, ["m.py"]),
}


@pytest.mark.parametrize("name", MAIN)
def test_a_program_sees_what_it_sees_under_python(programs, name):
    files, words = MAIN[name]
    programs.write(files)
    python, agdbg = programs.both(words)
    assert agdbg == python
    assert agdbg.said == ["agdbg: no autograd activity recorded: the program did not import agdbg_engine"]


@pytest.mark.parametrize("flag", ["-P", "-I", "-O", "-OO", "-B", "-Xdev", "-Werror", "-u", "-bb"])
def test_interpreter_options_mean_what_they_mean(programs, flag):
    programs.write({"d/show.py": SHOW + "assert 0, 'assertions are on'\n"})
    python, agdbg = programs.both(["d/show.py"], [flag])
    assert agdbg == python


def test_safe_path_in_the_environment(programs):
    programs.write({"d/show.py": SHOW})
    python, agdbg = programs.both(["d/show.py"], env={"PYTHONSAFEPATH": "1"})
    assert agdbg == python
    assert f"'{programs.directory / 'd'}'" not in agdbg.stdout


def test_a_script_behind_a_link_has_the_folder_of_the_real_one_in_its_path(programs):
    programs.write({"real/show.py": SHOW + "import beside", "real/beside.py": "print('beside')"})
    (programs.directory / "link.py").symlink_to("real/show.py")
    python, agdbg = programs.both(["link.py"])
    assert agdbg == python
    assert "beside\n" in agdbg.stdout


def test_an_absolute_path(programs):
    programs.write({"d/show.py": SHOW, "e/x": ""})
    python, agdbg = programs.both([str(programs.directory / "d" / "show.py")], cwd=programs.directory / "e")
    assert agdbg == python


def test_a_zip_file(programs):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("__main__.py", "import inside\n" + SHOW)
        archive.writestr("inside.py", "print(__file__)")
    programs.write({"app.zip": memory.getvalue()})
    python, agdbg = programs.both(["app.zip", "a"])
    assert agdbg == python
    assert "app.zip/inside.py" in agdbg.stdout


@pytest.mark.parametrize("name", ["show.pyc", "compiled"])
def test_compiled_code(programs, name):
    programs.write({"show.py": SHOW})
    py_compile.compile(str(programs.directory / "show.py"), str(programs.directory / name), doraise=True)
    python, agdbg = programs.both([name])
    assert agdbg == python
    assert "SourcelessFileLoader" in agdbg.stdout


def test_a_script_on_standard_input(programs):
    python, agdbg = programs.both(["-", "a"], stdin=SHOW + "print(repr(sys.stdin.read()))")
    assert agdbg == python
    assert " <stdin> " in agdbg.stdout


def test_a_script_in_a_pipe(programs):
    shell = "exec \"$@\" /dev/fd/3 a 3<<'END'\n" + "import sys\nprint(__name__, sys.argv)\n" + "END\n"
    python = programs.run(["sh", "-c", shell, "sh", sys.executable])
    agdbg = programs.run(["sh", "-c", shell, "sh", *programs.agdbg_command([])])
    assert agdbg == python
    assert agdbg.stdout == "__main__ ['/dev/fd/3', 'a']\n"


def test_agdbg_and_python_dash_m_agdbg_are_the_same(programs):
    programs.write({"show.py": SHOW})
    python = programs.run(programs.python_command(["show.py"]))
    assert programs.run([sys.executable, "-m", "agdbg", "run", "show.py"]) == python


def test_files_beside_the_script_do_not_take_the_place_of_what_agdbg_needs(programs):
    """The modules that agdbg imports once the script has ended."""
    trap = "raise RuntimeError('this file of the user was imported')"
    names = ("linecache", "json", "datetime", "numpy", "mmap", "unicodedata")
    programs.write({f"{name}.py": trap for name in names})
    programs.write({"s.py": "import agdbg_engine", "agdbg_engine.py": ""})
    agdbg = programs.run(programs.agdbg_command(["s.py"]))
    assert agdbg.status == 0
    assert "this file of the user" not in "".join(agdbg.said)
