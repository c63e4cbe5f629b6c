"""What the screen remembers, its shares and themes, the editor, and the clipboard."""

import json
import stat

import pytest
from agdbg_tests_driving import drive

from agdbg_ui import editor, kept_folds, palettes
from agdbg_ui.app import AgdbgApp
from agdbg_ui.memory import Memory
from agdbg_ui.view import View


def notes(screen):
    return [note.message for note in screen.app._notifications]


def test_what_is_kept_is_read_again(tmp_path):
    memory = Memory(tmp_path / "deep" / "ui.json")
    assert memory.load() == {}
    memory.save({"theme": "textual-light", "dividers": {"wide.columns.graph": 70}})
    assert memory.load() == {"theme": "textual-light", "dividers": {"wide.columns.graph": 70}}
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700


@pytest.mark.parametrize("text", ["", "[]", "{", '{"dividers": "wide", "theme": 3, "other": 1}', "\x00"])
def test_a_file_that_makes_no_sense_is_ignored(tmp_path, text):
    (tmp_path / "ui.json").write_text(text)
    assert Memory(tmp_path / "ui.json").load() == {}


def test_a_place_that_cannot_be_written_to_is_no_trouble(tmp_path):
    (tmp_path / "file").write_text("")
    Memory(tmp_path / "file" / "ui.json").save({"pane": "source"})


def test_the_screen_looks_as_the_last_time(shown, tmp_path):
    memory = Memory(tmp_path / "ui.json")

    async def first(screen):
        await screen.press("T", "plus", "plus", "5", "v")
        assert screen.app.theme == "textual-light"

    async def second(screen):
        assert screen.app.theme == "textual-light"
        assert "▸5" in screen.text
        assert (
            screen.app.lanes.display and not screen.app.panes.boxes.display
        )  # another program may have nothing to draw
        assert screen.app.panes.workspace.dividers.remembered() == {"narrow.rows.graph": 65}

    drive(shown, first, memory=memory)
    kept = json.loads((tmp_path / "ui.json").read_text())
    assert kept.pop("dividers") == {"narrow.rows.graph": 65}
    assert kept == {"theme": "textual-light", "pane": "findings", "bottom": "findings"}
    drive(shown, second, memory=memory)


SIZES = {(80, 24): {"-narrow", "-tall"}, (120, 40): {"-wide", "-tall"}, (30, 8): {"-tiny", "-flat"}}


@pytest.mark.parametrize("size", SIZES)
def test_the_first_frame_fits_the_screen_and_looks_as_the_last_time(shown, tmp_path, monkeypatch, size):
    memory, first = Memory(tmp_path / "ui.json"), []
    memory.save({"theme": "textual-light", "pane": "source"})
    mounted = AgdbgApp.on_mount

    def on_mount(app):
        first.append((set(app.screen.classes), app.theme, app.panes.remembered()["pane"]))
        mounted(app)

    async def nothing(screen):
        pass

    monkeypatch.setattr(AgdbgApp, "on_mount", on_mount)
    drive(shown, nothing, memory=memory, size=size)
    assert first == [(SIZES[size], "textual-light", "source")]


@pytest.mark.parametrize("happens", ["error", "ended"])
def test_a_pane_that_came_to_the_front_by_itself_does_not_do_so_the_next_time(shown, tmp_path, happens):
    memory = Memory(tmp_path / "ui.json")

    async def first(screen):
        if happens == "error":
            await screen.stop(5, reason="exception", text="RuntimeError: modified")
        else:
            screen.hub.end(exit=1)
        await screen.until(lambda: "▸5" in screen.text or "▸3" in screen.text)

    async def second(screen):
        assert "▸1" in screen.text

    drive(shown, first, memory=memory)
    drive(shown, second, memory=memory)


def test_a_pane_is_zoomed_and_another_one_can_be_gone_to(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("1", "Z")
        assert screen.app.panes.inspector.size.height >= 18 and not screen.app.lanes.display
        await screen.press("4")
        assert screen.app.panes.events.size.height >= 18 and not screen.app.panes.inspector.display
        await screen.press("Z", "0")
        assert screen.app.lanes.display and screen.app.focused is screen.app.lanes

    drive(shown, script)


def test_all_panes_are_seen_on_a_huge_screen_and_fewer_when_it_shrinks(shown):
    async def script(screen):
        await screen.stop(6)
        panes = screen.app.panes
        assert [pane for pane in panes.ALL if not panes._widget(pane).size.height] == []
        await screen.pilot.resize_terminal(120, 40)
        await screen.settle()
        assert [pane for pane in panes.ALL if panes._widget(pane).display] == ["inspector", "source", "output"]
        await screen.pilot.resize_terminal(220, 60)
        await screen.settle()
        assert all(panes._widget(pane).display for pane in panes.ALL)

    drive(shown, script, size=(220, 60))


def test_all_themes_are_gone_through(shown):
    async def script(screen):
        seen = [screen.app.theme]
        for _ in palettes.ORDER:
            await screen.press("T")
            seen.append(screen.app.theme)
        assert seen == [*palettes.ORDER, palettes.ORDER[0]]

    drive(shown, script)


def test_what_the_cursor_is_on_is_copied(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("y")
        assert screen.app.clipboard == "/srv/train.py:10"
        await screen.press("2", "y")
        assert screen.app.clipboard == "loss = (error * error).mean() + 0.01 * (hidden * hidden).mean()"
        await screen.press("1", "y")
        assert screen.app.clipboard == "Gradients in  1"
        await screen.press("down", "y")
        assert screen.app.clipboard == "input 0  float64 [32, 10]  min -1.2  max 3.4  mean 0.1  norm 5.6"
        await screen.press("6", "y")
        assert screen.app.clipboard.startswith("1  AddBackward0  1")
        assert "█" not in screen.app.clipboard

    drive(shown, script)


def test_where_tmux_cannot_be_started_the_way_out_is_told(shown, monkeypatch, tmp_path):
    monkeypatch.setenv("TMUX", f"{tmp_path}/default,1,0")
    monkeypatch.setenv("PATH", str(tmp_path))

    async def script(screen):
        await screen.stop(6)
        await screen.press("y")
        await screen.until(lambda: "set -s set-clipboard on" in screen.text)
        assert screen.app.clipboard == "/srv/train.py:10"

    drive(shown, script)


def test_the_editor_is_started_at_the_line(monkeypatch, tmp_path):
    file = str(tmp_path / "a b.py")
    with open(file, "w"):
        pass
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "vi -R")
    assert editor.command(file, 3) == ["vi", "-R", "+3", file]
    monkeypatch.setenv("VISUAL", "/usr/bin/code")
    assert editor.command(file, 0) == ["/usr/bin/code", "--goto", f"{file}:1"]
    monkeypatch.setenv("VISUAL", "/no/such/editor")
    assert "No such file" in editor.run(file, 1)
    monkeypatch.setenv("VISUAL", "false")
    assert editor.run(file, 1) == "false ended with status 1"
    monkeypatch.setenv("VISUAL", "vi '")
    with pytest.raises(editor.NoEditor, match="VISUAL is"):
        editor.run(file, 1)
    monkeypatch.setenv("VISUAL", "false")
    with pytest.raises(editor.NoEditor, match="is gone"):
        editor.run(f"{file}.gone", 1)


def test_without_an_editor_it_says_what_to_do(shown, monkeypatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)

    async def script(screen):
        await screen.press("ctrl+e")
        assert notes(screen) == ["no source file is shown"]
        screen.hub.size = 12
        await screen.stop(6)
        await screen.until(lambda: screen.app.panes.source.path)
        await screen.press("ctrl+e")
        assert notes(screen)[-1] == "no editor is named: set EDITOR, such as EDITOR=vi"

    drive(shown, script, prepare=lambda hub: setattr(hub, "size", 0))


def test_what_was_folded_is_folded_the_next_time(shown, tmp_path):
    memory = Memory(tmp_path / "ui.json")

    async def fold(screen):
        await screen.until(lambda: screen.app.lanes.row_count)
        await screen.press("{")
        await screen.until(lambda: screen.app.lanes.is_folded)

    async def look(screen):
        await screen.until(lambda: screen.app.lanes.row_count)
        assert screen.app.lanes.is_folded
        await screen.press("}")
        await screen.until(lambda: not screen.app.lanes.is_folded)

    async def plain(screen):
        await screen.until(lambda: screen.app.lanes.row_count)
        assert not screen.app.lanes.is_folded

    for script in (fold, look, plain):
        drive(shown, script, memory=memory)


FOLDED = {"depth": 2, "opened": [3], "closed": [{"row": 1, "depth": 2}]}


def test_of_a_recording_all_is_kept_and_of_a_program_the_depth():
    trace, program = View("trace", trace="/t/one"), View("stopped", argv=("/srv/train.py", "-x"))
    kept = kept_folds.with_folds(kept_folds.with_folds({}, trace, FOLDED), program, FOLDED)
    assert kept_folds.found(kept, trace) == FOLDED
    assert kept_folds.found(kept, program) == {"depth": 2, "opened": [], "closed": []}
    assert kept_folds.found(kept, View("trace", trace="/t/two")) is kept_folds.found(kept, View()) is None
    unfolded = kept_folds.with_folds(kept, trace, {"depth": 0, "opened": [], "closed": []})
    assert list(unfolded) == ["/srv/train.py"]


def test_only_the_newest_are_kept_and_what_makes_no_sense_is_left():
    kept = {}
    for number in range(kept_folds.MOST + 5):
        kept = kept_folds.with_folds(kept, View("trace", trace=f"/t/{number}"), FOLDED)
    assert len(kept) == kept_folds.MOST and "/t/4" not in kept and "/t/5" in kept
    for bad in (3, {}, {"depth": -1, "opened": [], "closed": []}, {"depth": 1, "opened": ["x"], "closed": []}):
        assert kept_folds.found({"/t/1": bad}, View("trace", trace="/t/1")) is None
