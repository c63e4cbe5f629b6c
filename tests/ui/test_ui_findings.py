"""The findings: every line that shows one is a door, and they can be walked through from anywhere."""

import pytest
from agdbg_tests_driving import PaneHost, drive, drive_pane, seen
from agdbg_tests_fake_hub import SCRIPT

from agdbg_ui.text import cells
from agdbg_ui.widgets.findings import FindingsPane


def evidence(role, line, text, note="", file=SCRIPT):
    return {
        "role": role,
        "note": note,
        "file": file,
        "line": line,
        "end_line": line,
        "col": 0,
        "end_col": 0,
        "func": "f",
        "text": text,
    }


def finding(cause="`mul_` at train.py:10 changed what was saved at train.py:9.", **more):
    facts = {
        "kind": "inplace-modified",
        "cause": cause,
        "certainty": "certain",
        "fix": "Write `error = error * 2` instead.",
        "caught": False,
        "ended": None,
        "predicted": False,
        "lint": False,
        "remark": False,
        "nodes": [6],
        "evidence": [
            evidence("saved", 9, "error = scores - y"),
            evidence("wrote", 10, "error.mul_(2)", "version 0 to 1\nonce"),
        ],
    }
    return facts | more


LINT = finding("The gradient of `2.bias` is never used.", kind="unused-gradient", lint=True, nodes=[5], evidence=[])


class Host(PaneHost):
    def on_findings_pane_chosen(self, message):
        self.got.append((message.finding["kind"], message.evidence and message.evidence["line"]))


@pytest.mark.parametrize("width", [24, 60, 200])
def test_each_line_fits_and_says_what_it_is(width):
    async def script(app, pilot):
        app.pane.show([finding(), LINT])
        text = "\n".join(seen(app.pane))
        for part in ("saved", "wrote", "certain", "?"):
            assert part in text
        assert all(cells(line) <= width for line in seen(app.pane))
        if width >= 60:
            assert "train.py:10" in text and "nothing was raised" in text
        if width == 200:
            assert "version 0 to 1; once" in text

    drive_pane(Host(FindingsPane()), script, (width, 24))


def test_the_doors_are_walked_through_round_the_end():
    async def script(app, pilot):
        assert not app.pane.walk(1)
        app.pane.show([finding(), finding(nodes=[3])])
        for by in (1, 1, 1, 1, 1, -1):
            assert app.pane.walk(by)
        await pilot.pause()
        assert [line for _, line in app.got] == [9, 10, 9, 10, 9, 10]
        await pilot.press("home", "enter")
        assert app.got[-1] == ("inplace-modified", None)

    drive_pane(Host(FindingsPane()), script, (100, 24))


def test_a_stop_at_an_error_shows_the_findings_first(shown):
    def prepare(hub):
        hub.findings = [finding("another one"), finding()]
        hub.exception = {"exceptionId": "x", "description": finding()["cause"], "details": {"message": "m"}}

    async def script(screen):
        await screen.stop(6)
        assert "▸1" in screen.text and not screen.app.panes.findings.findings
        await screen.stop(5, reason="exception", text="RuntimeError: modified")
        await screen.until(lambda: screen.app.panes.findings.cursor > 0)
        assert "▸5" in screen.text
        assert screen.app.focused is screen.app.lanes
        head = screen.app.panes.findings.row(screen.app.panes.findings.cursor, 200)
        assert "mul_" in head[1][0]

    drive(shown, script, prepare=prepare)


def test_walking_goes_to_the_node_and_its_line(shown):
    def prepare(hub):
        hub.findings = [finding()]

    async def script(screen):
        await screen.press("5")
        await screen.until(lambda: screen.app.panes.findings.findings)
        await screen.press("0", "f")
        await screen.until(lambda: screen.app.lanes.cursor == 5)
        assert "▸2" in screen.text
        assert (screen.app.panes.source.path, screen.app.panes.source.line) == (SCRIPT, 9)
        await screen.press("f")
        await screen.until(lambda: screen.app.panes.source.line == 10)
        await screen.press("F")
        await screen.until(lambda: screen.app.panes.source.line == 9)

    drive(shown, script, prepare=prepare, state="trace", command="attach", arguments={"trace": "/t"})


@pytest.mark.parametrize(
    ("line", "note", "node"),
    [(8, "AddmmBackward0 saved its argument `mat2`", 5), (8, "", 5), (8, "TBackward0 made it", 4), (10, "", 7)],
)
def test_of_the_nodes_of_a_line_the_one_that_the_finding_names_is_shown_else_the_last_before_it(
    shown, line, note, node
):
    """A call of a layer builds the transpose of its weight as well."""

    def prepare(hub):
        evidence = [{"role": "saved", "file": SCRIPT, "line": line, "text": "scores = model[2](hidden)", "note": note}]
        hub.findings = [finding("something is wrong", nodes=[6], evidence=evidence)]

    async def script(screen):
        await screen.press("5")
        await screen.until(lambda: screen.app.panes.findings.findings)
        await screen.press("f")
        await screen.until(lambda: screen.app.panes.source.line == line)
        assert screen.app.lanes.selected_node == node

    drive(shown, script, prepare=prepare, state="trace", command="attach", arguments={"trace": "/t"})


@pytest.mark.parametrize(
    ("line", "note", "node", "selected"),
    [
        (8, "AddmmBackward0 saved its argument `mat2`", 4, 4),
        (8, "TBackward0 made it", 5, 5),
        (9, "", 2, 2),
        (8, "", 0, 1),
    ],
)
def test_a_line_leads_to_the_node_that_it_names_whatever_its_words_say(shown, line, note, node, selected):
    """One that names none, a call say, leads to none where the line has built several."""

    def prepare(hub):
        hub.findings = [finding("AddmmBackward0", evidence=[evidence("saved", line, "x", note) | {"node": node}])]

    async def script(screen):
        await screen.press("5")
        await screen.until(lambda: screen.app.panes.findings.findings)
        await screen.app.go_to_node(1)
        await screen.press("f")
        await screen.until(lambda: screen.app.panes.source.line == line)
        assert screen.app.lanes.selected_node == selected

    drive(shown, script, prepare=prepare, state="trace", command="attach", arguments={"trace": "/t"})


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=str)
@pytest.mark.parametrize("findings", [[], [finding()]], ids=["none", "one"])
def test_findings_of_a_damaged_recording_are_said_to_be_of_a_part(shown, size, findings):
    """Else it would read as a clean bill, or as all that there is."""
    what = [
        f"the trace is damaged: {each}" for each in ("records.bin holds 9 of the 40 records", "strings.jsonl is cut")
    ]

    def prepare(hub):
        hub.findings = findings

    async def script(screen):
        screen.hub.send("agdbg/troubled", troubles=[{"kind": "damaged", "text": each} for each in what])
        await screen.press("5")
        await screen.until(
            lambda: list(screen.app.panes.findings.findings) == findings and "damaged, and" in screen.text
        )
        pane = screen.app.panes.findings
        rows = ["".join(text for text, _ in pane.row(at, 200)) for at in range(pane.row_count)] or [pane.empty_text]
        said = " ".join(" ".join(rows).split())
        assert "the recording is damaged, and findings are of what could be read: records.bin holds 9 of" in said
        assert "and 1 more; x tells all" in said
        assert "no problem was found in that part" in said if not findings else "mul_" in said
        await screen.press("0", "f")
        assert screen.app.is_running
        if findings:
            await screen.until(lambda: (screen.app.panes.source.path, screen.app.panes.source.line) == (SCRIPT, 9))
        screen.app.panes.findings.cursor = 0
        await screen.press("5", "enter")
        assert screen.app.is_running

    drive(shown, script, size=size, prepare=prepare, state="trace", command="attach", arguments={"trace": "/t"})


def test_suspicious_things_are_looked_for_on_request(shown):
    def prepare(hub):
        hub.lints, hub.unseen = [LINT], "NaN was not looked for"

    async def script(screen):
        await screen.press("5")
        await screen.until(lambda: "no problem was found; NaN was not looked for; a: look" in screen.text)
        await screen.press("a")
        await screen.until(lambda: "never used" in screen.text)
        assert screen.hub.asked("agdbg/findings")[-1] == {"lints": True}
        await screen.press("enter")
        await screen.until(lambda: screen.app.lanes.cursor == 4)
        await screen.press("a")
        await screen.until(lambda: "never used" not in screen.text)

    drive(shown, script, prepare=prepare)


def test_that_nothing_more_was_found_is_said(shown):
    def prepare(hub):
        hub.findings = [finding()]

    async def script(screen):
        await screen.press("5")
        await screen.until(lambda: "mul_" in screen.text)
        await screen.press("a")
        await screen.until(lambda: "nothing more was found" in screen.text)
        await screen.press("a")
        await screen.until(lambda: "without suspicious things" in screen.text)

    drive(shown, script, prepare=prepare)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_walking_looks_for_findings_where_nobody_has(shown, size):
    def prepare(hub):
        hub.findings = [finding()]

    async def script(screen):
        assert not screen.app.panes.findings.findings
        await screen.press("f")
        await screen.until(lambda: screen.app.panes.source.line == 9)
        assert screen.app.panes.findings.display == (size == (120, 40)) and screen.app.panes.source.display
        assert len(screen.hub.asked("agdbg/findings")) == 1

    drive(shown, script, prepare=prepare, size=size)


def test_walking_without_findings_says_so(shown):
    async def script(screen):
        await screen.press("f")
        assert "there are no findings" in screen.text

    drive(shown, script)


NOTE = "pass 4: ran the node without retain_graph, which freed what it had saved for the next one"


@pytest.mark.parametrize("width", [30, 78, 100])
def test_a_note_that_has_no_room_behind_the_line_stands_below(width):
    async def script(app, pilot):
        app.pane.show(
            [finding(evidence=[evidence("first call", 9, "a.backward()", NOTE), evidence("saved", 9, "", NOTE)])]
        )
        text = " ".join(" ".join(seen(app.pane)).split()).replace(" →", "")
        assert f"({NOTE})" in text and text.count(NOTE) == 2
        app.pane.walk(1)
        app.pane.walk(1)
        await pilot.pause()
        assert app.pane.row_text(app.pane.cursor).startswith("saved")
        app.pane.walk(-1)
        assert app.pane.row_text(app.pane.cursor).endswith(f"a.backward()  ({NOTE})")

    drive_pane(Host(FindingsPane()), script, size=(width, 24))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_that_did_the_same_are_told_apart_by_what_is_said_of_them(width):
    code = "hidden = torch.sigmoid(self.intermediate_feed_forward_projection(hidden)) * scale + offset"
    layers = [
        evidence("layer", 11, code, f"`transformer_encoder_stack.{at}.intermediate_projection.weight`: 1e-{at}")
        for at in (3, 12, 24)
    ]

    async def script(app, pilot):
        app.pane.show([finding(evidence=[*layers, evidence("needed", 30, "loss.backward()")])])
        doors = [line for line in seen(app.pane) if line.endswith(" →")]
        assert len({*doors}) == len(doors) == 4
        for at, door in zip((3, 12, 24), doors, strict=False):
            assert f".{at}." in door and f": 1e-{at} →" in door
        below = [line.strip() for line in seen(app.pane) if line.strip().startswith("hidden = ")]
        assert len(below) == (width < 110)
        app.pane.walk(1)
        assert code in app.pane.row_text(app.pane.cursor)
        assert all(cells(line) <= width for line in seen(app.pane))

    drive_pane(Host(FindingsPane()), script, (width, 24))


def test_a_long_word_of_a_note_leaves_no_empty_line():
    async def script(app, pilot):
        note = "`transformer_encoder_stack.3.intermediate_feed_forward_projection.weight`: 1e-3"
        app.pane.show([finding(evidence=[evidence("layer", 11, "hidden = self.layers(hidden)", note)])])
        lines = seen(app.pane)
        last = next(at for at, line in enumerate(lines) if "fix: " in line)
        assert all(line.strip() for line in lines[:last])

    drive_pane(Host(FindingsPane()), script, (60, 24))


def test_in_a_wide_pane_each_line_of_code_is_one_line():
    async def script(app, pilot):
        app.pane.show([finding(evidence=[evidence("first call", 9, "a.backward()", NOTE)] * 4)])
        assert [row.begins for row in app.pane._rows if row.evidence >= 0] == [True] * 4

    drive_pane(Host(FindingsPane()), script, size=(120, 24))


@pytest.mark.parametrize("size", [(80, 24), (100, 30)])
def test_a_walk_says_with_the_source_what_each_line_is(shown, size):
    there = [finding(evidence=[evidence("first call", 11, "loss.backward()", NOTE), evidence("saved", 9, "")]), LINT]

    async def script(screen):
        screen.hub.findings = there
        await screen.stop(6)
        await screen.press("f")
        await screen.until(lambda: "train.py:11  first call, 1 of 2 of finding 1" in screen.text)
        assert NOTE in " ".join("".join(screen.lines()).split())
        await screen.settle()
        await screen.press("f")
        await screen.until(lambda: "train.py:9  saved, 2 of 2 of finding 1" in screen.text)
        assert NOTE not in " ".join("".join(screen.lines()).split())
        await screen.press("0", "down")
        await screen.until(lambda: "2 of 2" not in screen.text)

    drive(shown, script, size=size)


def test_what_was_foreseen_and_did_not_come_is_said_when_the_program_is_over():
    async def script(app, pilot):
        app.pane.show([finding(predicted=True)])
        assert "has not happened yet" in "\n".join(seen(app.pane))
        app.pane.show([finding(predicted=True)], is_over=True)
        assert "had not happened when the program ended" in "\n".join(seen(app.pane))

    drive_pane(Host(FindingsPane()), script, size=(100, 12))


SHAPE = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x4)"


def undiagnosed(text=SHAPE, **more):
    return {"kind": "shape", "text": text, "count": 1, "caught": None, "ended": None, "file": SCRIPT, "line": 8} | more


def with_more(hub, **more):
    """The hub also says this of its findings."""
    told = hub.do_findings
    hub.do_findings = lambda lints=False: told(lints) | more


def test_an_error_without_a_diagnosis_stands_before_those_that_were_caught(shown):
    def prepare(hub):
        hub.findings = [finding(caught=True)]
        hub.exception = {"exceptionId": "shape", "description": SHAPE, "details": {"message": SHAPE}}
        with_more(hub, stands_at=undiagnosed())

    async def script(screen):
        await screen.stop(5, reason="exception", text=SHAPE)
        pane = screen.app.panes.findings
        await screen.until(lambda: len(pane.findings) == 2)
        rows = ["".join(text for text, _ in pane.row(at, 200)) for at in range(pane.row_count)]
        assert "mat1 and mat2" in rows[0] and "caught" not in rows[1]
        assert any("caught by the program" in row for row in rows[2:])
        await screen.press("f")
        await screen.until(lambda: (screen.app.panes.source.path, screen.app.panes.source.line) == (SCRIPT, 8))
        await screen.press("f")
        await screen.until(lambda: screen.app.panes.source.line == 9)

    drive(shown, script, prepare=prepare, size=(120, 40))


def test_the_page_tells_the_error_of_the_stop_once_in_whatever_words_the_hub_says_it(shown):
    def prepare(hub):
        hub.findings = [finding(caught=True)]
        hub.exception = {"exceptionId": "shape", "description": SHAPE, "details": {"message": SHAPE}}
        with_more(hub, stands_at=undiagnosed(), standing="here it is", rendered="here it is\n\n1. what was caught")

    async def script(screen):
        await screen.stop(5, reason="exception", text=SHAPE)
        await screen.until(lambda: "mat1 and mat2" in screen.text)
        await screen.press("x")
        await screen.until(lambda: "1. what was caught" in screen.text)
        assert "here it is" not in screen.text

    drive(shown, script, prepare=prepare, size=(120, 40))


def test_what_comes_in_after_the_look_at_an_error_is_looked_at_too(shown):
    async def script(screen):
        await screen.stop(5, reason="exception", text=SHAPE)
        await screen.until(lambda: screen.hub.asked("agdbg/findings"))
        await screen.settle()
        screen.hub.findings = [finding()]
        screen.hub.send("agdbg/grew", nodes=30, records=99)
        await screen.until(lambda: screen.app.panes.findings.findings)

    drive(shown, script)


def test_at_a_stop_on_the_same_finding_its_headline_is_in_sight_again():
    async def script(app, pilot):
        there = [finding(evidence=[evidence("saved", at, "y") for at in range(40)])]
        app.pane.show(there)
        app.pane.select(there[0]["cause"])
        await pilot.press("end")
        await pilot.pause()
        app.pane.set_reactive(FindingsPane.cursor, 0)  # as when it was made anew
        app.pane.show([*there])
        app.pane.select(there[0]["cause"])
        await pilot.pause()
        assert app.pane.top_row == 0

    drive_pane(Host(FindingsPane()), script, (100, 12))
