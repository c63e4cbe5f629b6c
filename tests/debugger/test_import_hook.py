"""``agdbg.engines.hook``: a callback once a module has been imported, and nothing else changed."""

import importlib
import importlib.util
import linecache
import sys
import threading
import traceback
import warnings

import pytest

from agdbg.engines.hook import on_import


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on the path with modules of which nothing stays imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before, path = set(sys.modules), list(sys.meta_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]
    assert sys.meta_path == path, "a hook was left behind"


@pytest.fixture
def seen(folder):
    """What the callback for the module ``fake_engine`` was called with."""
    called = []
    remove = on_import("fake_engine", called.append)
    yield called
    remove()


def test_called_once_when_the_module_is_complete(folder, seen):
    (folder / "fake_engine.py").write_text("x = 1")
    import fake_engine

    assert seen == [fake_engine]
    assert seen[0].x == 1
    importlib.reload(fake_engine)
    assert len(seen) == 1


def test_a_package_is_complete_with_its_submodules(folder, seen):
    package = folder / "fake_engine"
    package.mkdir()
    (package / "__init__.py").write_text("from . import inner\ndone = True")
    (package / "inner.py").write_text("")
    import fake_engine.inner

    assert [module.done for module in seen] == [True]
    assert fake_engine.inner.__name__ == "fake_engine.inner"


def test_other_modules_do_not_count(folder, seen):
    (folder / "fake_engine_two.py").write_text("")
    importlib.import_module("fake_engine_two")
    assert seen == []


def test_a_module_that_is_already_there_counts_at_once(folder):
    (folder / "fake_engine.py").write_text("")
    import fake_engine

    called = []
    on_import("fake_engine", called.append)
    assert called == [fake_engine]


def test_the_module_has_its_real_loader(folder, seen):
    (folder / "fake_engine.py").write_text("loader, spec_loader = __loader__, __spec__.loader")
    import fake_engine

    kind = importlib.machinery.SourceFileLoader
    loaders = (
        fake_engine.loader,
        fake_engine.spec_loader,
        fake_engine.__loader__,
        fake_engine.__spec__.loader,
    )
    assert [type(loader) for loader in loaders] == [kind] * 4


def test_looking_for_the_module_is_no_import(folder, seen):
    (folder / "fake_engine.py").write_text("x = 1")
    spec = importlib.util.find_spec("fake_engine")
    assert spec.loader.get_source("fake_engine") == "x = 1"
    assert seen == []


def test_a_missing_module_is_missing(folder, seen):
    with pytest.raises(ModuleNotFoundError, match="No module named 'fake_engine'"):
        importlib.import_module("fake_engine")


def test_a_failed_import_does_not_count_and_the_next_one_does(folder, seen):
    module = folder / "fake_engine.py"
    module.write_text("raise ValueError('not yet')")
    with pytest.raises(ValueError, match="not yet"):
        importlib.import_module("fake_engine")
    assert seen == []
    module.write_text("x = 'another length'")
    importlib.invalidate_caches()
    assert seen == [importlib.import_module("fake_engine")]


def test_a_traceback_through_the_import_does_not_show_the_hook(folder, seen):
    (folder / "fake_engine.py").write_text("1 / 0")
    with pytest.raises(ZeroDivisionError) as caught:
        import fake_engine  # noqa: F401
    linecache.checkcache()
    files = [frame.filename for frame in traceback.extract_tb(caught.tb)]
    assert files == [__file__, str(folder / "fake_engine.py")]


def test_a_warning_about_the_importer_names_the_importer(folder, seen):
    (folder / "fake_engine.py").write_text("import warnings\nwarnings.warn('old', stacklevel=2)")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import fake_engine  # noqa: F401
    assert [warning.filename for warning in caught] == [__file__]


def test_a_namespace_package_is_left_alone(folder, seen):
    (folder / "fake_engine").mkdir()
    import fake_engine

    assert list(fake_engine.__path__) == [str(folder / "fake_engine")]


def test_two_threads_import_and_one_call_is_made(folder, seen):
    (folder / "fake_engine.py").write_text("")
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        importlib.import_module("fake_engine")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 1


def test_what_was_removed_is_not_called(folder):
    (folder / "fake_engine.py").write_text("")
    called = []
    remove = on_import("fake_engine", called.append)
    remove()
    remove()
    importlib.import_module("fake_engine")
    assert called == []


def test_a_program_may_clear_the_meta_path(folder, monkeypatch):
    (folder / "fake_engine.py").write_text("")
    called = []
    remove = on_import("fake_engine", called.append)
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[1:])
    importlib.import_module("fake_engine")
    remove()
    assert called == []
    monkeypatch.undo()
    remove()
