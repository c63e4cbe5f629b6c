"""``agdbg run`` ends as ``python`` ends: exit statuses, uncaught errors, scripts that cannot be run."""

import signal

import pytest

EXITS = {
    "none": "sys.exit()",
    "zero": "sys.exit(0)",
    "seven": "sys.exit(7)",
    "minus-one": "sys.exit(-1)",
    "bigger-than-a-byte": "sys.exit(259)",
    "bigger-than-a-word": "sys.exit(2 ** 70)",
    "true": "sys.exit(True)",
    "text": "sys.exit('gone: ä')",
    "empty-text": "sys.exit('')",
    "float": "sys.exit(3.0)",
    "list": "sys.exit([1, None])",
    "tuple": "raise SystemExit(1, 2)",
    "object": "sys.exit(type('C', (), {'__str__': lambda self: 'as text'})())",
    "object-that-raises": "sys.exit(type('C', (), {'__str__': lambda self: 1 / 0})())",
    "subclass": "raise type('E', (SystemExit,), {})(4)",
    "from-an-error": "try: 1 / 0\nexcept ZeroDivisionError as e: raise SystemExit(5) from e",
    "quit": "quit(6)",
    "in-a-thread": "import threading; t = threading.Thread(target=sys.exit, args=(3,)); t.start(); t.join()",
    "at-once": "print('unflushed', end=''); sys.stdout.flush(); os._exit(9)",
    "without-flush": "print('lost when stdout is a pipe', end=''); os._exit(9)",
    "from-exit-handler": "import atexit; atexit.register(sys.exit, 3)",
    "by-signal": "os.kill(os.getpid(), 15)",
    "by-kill": "os.kill(os.getpid(), 9)",
    "end-of-file": "print('done')",
}
ERRORS = {
    "plain": "def f():\n    raise ValueError('ä')\nf()",
    "in-an-expression": "x = {}\nprint(1 + x['a']['b'])",
    "without-message": "raise KeyError",
    "own-class": "class E(Exception): pass\nraise E(1, 2)",
    "that-cannot-be-shown": "class E(Exception):\n    def __str__(self): return 1 / 0\nraise E",
    "cause": "try: 1 / 0\nexcept Exception as e: raise ValueError('b') from e",
    "context": "try: 1 / 0\nexcept Exception: raise ValueError('b')",
    "suppressed": "try: 1 / 0\nexcept Exception: raise ValueError('b') from None",
    "notes": "e = ValueError('a'); e.add_note('first'); e.add_note('second\\nline'); raise e",
    "group": "raise ExceptionGroup('g', [ValueError(1), ExceptionGroup('h', [KeyError('k')])])",
    "base": "raise BaseException('b')",
    "generator-exit": "raise GeneratorExit",
    "recursion": "def f(n): return f(n + 1)\nf(0)",
    "assert": "assert 1 == 2, 'no'",
    "name-error-with-hint": "foobar = 1\nprint(foobat)",
    "in-another-file": "import beside; beside.f()",
    "while-importing": "import broken",
    "importing-nothing": "import no_such_module",
    "bad-syntax-elsewhere": "import no_syntax",
    "bad-syntax-compiled": "compile('x = (', 'made', 'exec')",
    "bad-syntax-evaluated": "eval('1 +')",
    "multi-line": "print(\n  1,\n  1 /\n  0,\n)",
    "own-hook": "sys.excepthook = lambda *a: print(a[:2], a[2].tb_lineno, a[2].tb_next)\n1 / 0",
    "hook-handles-no-error": "import traceback\nsys.excepthook = lambda *a: traceback.print_exc()\n1 / 0",
    "hook-fails": "def hook(*a): [][1]\nsys.excepthook = hook\n1 / 0",
    "hook-fails-from-c": "sys.excepthook = len\n1 / 0",
    "hook-exits": "sys.excepthook = lambda *a: sys.exit(8)\n1 / 0",
    "hook-is-gone": "del sys.excepthook\n1 / 0",
    "hook-is-none": "sys.excepthook = None\n1 / 0",
    "both-hooks-replaced": "sys.excepthook = sys.__excepthook__ = lambda *a: print('mine')\n1 / 0",
    "stderr-replaced": "import io; sys.stderr = io.StringIO()\n1 / 0",
    "stderr-is-none": "sys.stderr = None\n1 / 0",
    "last": "import atexit; atexit.register(lambda: print(sys.last_type, sys.last_traceback.tb_next))\n1 / 0",
    "traceback-limit": "sys.tracebacklimit = 1\ndef f(): 1 / 0\nf()",
    "in-a-thread": "import threading as h\nt = h.Thread(target=lambda: 1 / 0, name='t'); t.start(); t.join()",
    "unraisable": "class C:\n    def __del__(self): 1 / 0\nC(); print('on')",
    "in-an-exit-handler": "import atexit; atexit.register(lambda: 1 / 0)",
    "interrupt": "raise KeyboardInterrupt('x')",
    "interrupt-subclass": "raise type('K', (KeyboardInterrupt,), {})",
    "interrupt-with-hook": "sys.excepthook = lambda *a: print('hook', a[0])\nraise KeyboardInterrupt",
    "interrupt-handlers": (
        "import atexit\n"
        "atexit.register(lambda: print(sys.excepthook is sys.__excepthook__, sys.last_traceback.tb_next))\n"
        "raise KeyboardInterrupt"
    ),
    "interrupt-in-asyncio": "import asyncio\nasync def f(): raise KeyboardInterrupt\nasyncio.run(f())",
    "interrupt-by-signal": "import signal; signal.raise_signal(signal.SIGINT)",
}
BESIDE = {
    "beside.py": "def f():\n    raise OSError(2, 'not there', 'file')",
    "broken.py": "import beside\nbeside.f()",
    "no_syntax.py": "def (:\n",
}
CANNOT_RUN = {
    "missing": ["missing.py", "a"],
    "missing-in-a-folder": ["no/such/place.py"],
    "missing-module": ["-m", "no_such_module"],
    "missing-submodule": ["-m", "json.no_such"],
    "module-with-suffix": ["-m", "fine.py"],
    "relative-module": ["-m", ".fine"],
    "package-without-main": ["-m", "package"],
    "folder-without-main": ["package"],
    "syntax-error": ["syntax.py"],
    "syntax-error-in-module": ["-m", "syntax"],
    "syntax-error-at-end": ["unfinished.py"],
    "indentation": ["indent.py"],
    "tab": ["tab.py"],
    "found-by-the-compiler": ["compiler.py"],
    "not-utf-8": ["latin.py"],
    "null-byte": ["null.py"],
    "unknown-encoding": ["encoding.py"],
    "encoding-against-bom": ["bom.py"],
    "bad-pyc": ["bad.pyc"],
    "not-a-zip": ["bad.zip"],
    "under-a-file": ["fine.py/x.py"],
    "nothing": [""],
}
FILES = {
    "fine.py": "print(1)",
    "package/__init__.py": "",
    "syntax.py": "print('not reached')\ndef f(:\n",
    "unfinished.py": "x = (1,\n'''ä",
    "indent.py": "if 1:\nprint(1)",
    "tab.py": "if 1:\n        a\n\tb",
    "compiler.py": "def f():\n    nonlocal x\n",
    "latin.py": b"x = '\xe9'\n",
    "null.py": b"x = 1\nx\x00y\n",
    "encoding.py": "# coding: no-such\n",
    "bom.py": b"\xef\xbb\xbf# coding: latin-1\nprint(1)\n",
    "bad.pyc": b"0123456789abcdef",
    "bad.zip": b"PK\x03\x04 no zip",
}


@pytest.mark.parametrize("module", [False, True], ids=["script", "module"])
@pytest.mark.parametrize("name", EXITS)
def test_exit_status(programs, name, module):
    programs.write({"e.py": "import os, sys\n" + EXITS[name]})
    python, agdbg = programs.both(["-m", "e"] if module else ["e.py"])
    assert agdbg == python


@pytest.mark.parametrize("module", [False, True], ids=["script", "module"])
@pytest.mark.parametrize("name", ERRORS)
def test_uncaught_error(programs, name, module):
    programs.write(BESIDE | {"e.py": "import sys\n" + ERRORS[name]})
    python, agdbg = programs.both(["-m", "e"] if module else ["e.py"])
    assert agdbg == python
    assert agdbg.said == ["agdbg: no autograd activity recorded: the program did not import agdbg_engine"]


@pytest.mark.parametrize("name", CANNOT_RUN)
def test_what_cannot_be_run_is_refused_as_python_refuses_it(programs, name):
    programs.write(FILES)
    python, agdbg = programs.both(CANNOT_RUN[name])
    assert python.status != 0 or name == "null-byte"  # a Python of 2022 and before runs what comes before it
    assert agdbg == python
    assert not (programs.directory / ".agdbg").exists()


def test_what_cannot_be_run_leaves_no_trace_directory(programs):
    programs.write(FILES)
    agdbg = programs.run(programs.agdbg_command(["syntax.py"], options=["--trace", "t"]))
    assert agdbg.status == 1
    assert not (programs.directory / "t").exists()


def test_a_syntax_error_in_a_pipe_is_not_lost(programs):
    """It cannot be read twice, so Python cannot be asked to report it."""
    agdbg = programs.run(["sh", "-c", 'cat <<END | "$@" /dev/fd/0\nx = (\nEND\n', "sh", *programs.agdbg_command([])])
    assert agdbg.status == 1
    assert "SyntaxError: '(' was never closed" in agdbg.stderr
    assert "agdbg/" not in agdbg.stderr


def test_ctrl_c_ends_by_the_signal(programs):
    programs.write({"e.py": "raise KeyboardInterrupt"})
    assert [ended.status for ended in programs.both(["e.py"])] == [-signal.SIGINT] * 2


WARNINGS = {
    "w.py": "import warnings, lib\nwarnings.warn('old', DeprecationWarning)\nlib.f()\n1 is 2\nx = '\\d'",
    "lib.py": "import warnings\ndef f(): warnings.warn('called', DeprecationWarning, stacklevel=2)",
}


@pytest.mark.parametrize("flags", [[], ["-Wdefault"], ["-Werror"], ["-Wignore"]])
def test_warnings_are_those_of_python(programs, flags):
    programs.write(WARNINGS)
    python, agdbg = programs.both(["w.py"], flags)
    assert bool(python.stderr) == (flags != ["-Wignore"])
    assert agdbg == python
