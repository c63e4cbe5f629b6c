"""The title line and the banner in words: how the program is, and where backward stands."""

import re

from agdbg.counted import counted
from agdbg_ui.text import Piece, Pieces, cells, safe, shorten, shorten_start, width_of
from agdbg_ui.themes import ALERT, ASIDE, NOTICE, TITLE
from agdbg_ui.view import IN_THE_RECORDING, Stop, View
from agdbg_ui.work import Work

#: Seconds without a record of autograd until that is said.
QUIET_S = 2
_GAP = "  "
_LEAST_TRACE = 16
#: What the banner says of a program that is over; how it ended stands in the title.
WALK = "n and p walk through what was recorded"
#: Where a thread stands, as the title says it; what follows a semicolon is something else.
_PLACE = re.compile(
    rf"{IN_THE_RECORDING}: [^;]+|(?:before|in) [^;]+, node [\d,]+ of [\d,]+[^;]*|forward, line \d+ built [^;]+"
    r"|[^;]+ has run its [\d,]+ nodes and is about to return"
)
_AT_NODE = re.compile(r", node [\d,]+ of ")
#: The first line of a piece of evidence, or of what to do: a label at the left, and more behind it.
_LABELLED = re.compile(r" {0,3}[\w-]+(?: [\w-]+)* {2,}\S")


def title(view: View, now: float, width: int) -> Pieces:
    """Program, state, position and trace, in this order of importance."""
    name = view.script or "agdbg"
    pieces = _beside_name(view, now, whole=True)
    if width_of(pieces) + cells(name) + 2 > width:
        pieces = _beside_name(view, now, whole=False)
    if view.rank:
        pieces = [(f" {safe(view.rank)}", NOTICE), *pieces]
    name = shorten(name, max(width - width_of(pieces) - 2, width // 4, 8))
    pieces = [(" ", ""), (name, TITLE), *pieces]
    room = width - width_of(pieces) - len(_GAP) - 1
    if view.trace and room >= _LEAST_TRACE:
        trace = shorten_start(view.trace, room)
        pieces += [(" " * (room - cells(trace)) + _GAP, ""), (trace, ASIDE)]
    return pieces


def _beside_name(view: View, now: float, *, whole: bool) -> Pieces:
    """All but the program and the trace; `whole`: where it stands is said in full, else by the node and its number."""
    pieces: Pieces = [(_GAP, ""), *state(view, now, whole=whole)]
    stop = view.stop
    if stop is not None and stop.node and not (whole and place(stop)) and (position := _position(stop)):
        pieces += [(_GAP, ""), (position, TITLE)]
    if view.trouble:
        pieces += [(_GAP, ""), (f"! {view.trouble}", ALERT)]
    if len(view.stopped) > 1 and view.stop is not None:
        pieces += [(_GAP, ""), (f"thread {view.stop.thread}, one of {len(view.stopped)} stopped (t)", ASIDE)]
    elif view.stopped and view.stop is None:
        pieces += [(_GAP, ""), (f"{counted(len(view.stopped), 'other thread')} stopped (t)", ASIDE)]
    if view.evaluating:
        pieces += [(_GAP, ""), ("evaluating …", NOTICE)]
    if view.hands:
        is_watching = view.hands == "watching"
        pieces += [(_GAP, ""), ("watching (C)", NOTICE) if is_watching else (view.hands, "bold $text-success")]
    return pieces


def state(view: View, now: float, *, whole: bool = False) -> Pieces:
    """How the program is; a mark says so without colour."""
    if view.life == "lost":
        return [("✗ the connection to the hub is gone", ALERT)]
    if view.stop is not None:
        return [*_process(view), _standing(view.stop, whole)]
    if view.life in ("starting", "waiting"):
        return [("… starting", ASIDE)]
    if view.life == "running":
        doing = [(f" {shorten(view.doing, 60)}", "bold $text-success")] if view.doing else []
        return [("» running", "bold $text-success"), *doing, *_busy(view, now)]
    if view.life == "ended":
        return [_ended(view)]
    if view.life == "trace":
        return [("□ recording", "bold $text-primary")]
    return [("■ stopped", NOTICE)]


def quiet_for(view: View, now: float) -> int:
    """Whole seconds without a record, while the program runs and the hub looks for some."""
    return max(0, int(now - view.idle_from)) if view.life == "running" and not view.hub_works else 0


def banner(view: View) -> tuple[str, str, str] | None:
    """Kind, headline and detail of the banner, before an explanation is known; None: nothing to say."""
    if view.life == "lost":
        return ("error", view.why, "") if view.why else None
    if view.stop is not None:
        return _stop_banner(view.stop)
    if view.life == "ended":
        return "ended", WALK, ""
    if view.life == "running":
        return _running_banner(view)
    return None


def ended_banner(view: View, error: str, last_line: str, nothing: str) -> tuple[str, str, str]:
    """The banner of a program that has ended badly without a finding: only an error and a signal are called an error, for a
    status is what the program itself has chosen.

    Args:
        view: how it ended.
        error: the line of the error that ended it, or "".
        last_line: what it printed last, or "".
        nothing: why nothing was recorded, or "".
    """
    if error:
        return "error", error, nothing
    if view.was_killed:
        return ("error", nothing, "") if nothing else ("ended", WALK, "")
    last = f"; its last words: {last_line}" if last_line else "; it printed nothing" if view.output_kept else ""
    ending = f"ended by {view.signal}" if view.signal else f"with exit status {view.exit}"
    return "error" if view.signal else "ended", f"{ending}{last}", nothing


def no_output(view: View) -> str:
    """What the output pane says while there is none."""
    if not view.output_kept:
        prints, goes = ("prints is", "goes") if view.alive else ("printed was", "went")
        return f"what the program {prints} not recorded: it {goes} to its own terminal (run --headless, listen)"
    return "the program has written nothing" + (" yet" if view.alive or view.life == "starting" else "")


def stop_kind(stop: Stop) -> str:
    """The banner's kind for a stop."""
    if stop.is_silent:
        return "found"
    if stop.is_predicted:
        return "predicted"
    return "error" if stop.reason == "exception" else "recorded" if stop.is_recorded else "stop"


def no_value(stop: Stop | None, value: str) -> str:
    """Why a value, which the inspector shows as `value`, can be neither looked at nor changed."""
    if stop is None or stop.is_recorded:
        return "not captured: a recording has no elements to show or change; a program that stands in the pass has"
    if value.startswith("not there yet"):
        return "not there yet: what sends this gradient has still to run"
    if value.startswith("not saved"):
        return "not saved: there is nothing to show"
    return "not captured: a value is there while the program stands in the pass"


def spaced(explanation: str) -> str:
    """An explanation with a blank line before each piece of evidence, and before what to do."""
    lines: list[str] = []
    for line in explanation.split("\n"):
        if lines and lines[-1] and _LABELLED.match(line):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


#: What is said when somebody has broken that off.
UNREAD = "the recording was not read: that was cancelled; . reads it"


def reading(work: Work | None) -> str:
    """What is said while the hub reads the recording, of which nothing is known yet."""
    part = "" if work is None or work.percentage is None else f" {work.percentage:.0f} %"
    return f"reading the recording …{part}"


def emptiness(view: View, now: float) -> str:
    """What the graph says when it is known that there are no nodes."""
    if view.life == "running":
        quiet = 0 if view.awaits_input else quiet_for(view, now)
        return "running; no autograd recorded yet" + (f", no event for {quiet} s" if quiet >= QUIET_S else "")
    return {
        "starting": "starting the program …",
        "waiting": "starting the program …",
        "stopped": "no node was built yet",
        "ended": f"the program {view.ending()}; no autograd graph was recorded",
        "trace": "this recording has no autograd graph",
        "lost": "the connection to the hub is gone",
    }[view.life]


def _process(view: View) -> Pieces:
    return [_ended(view), (_GAP, "")] if view.life in ("ended", "lost") else []


def place(stop: Stop) -> str:
    """Where it stands in full, without what happened there; "" when that is told otherwise than by a node of a pass."""
    found = _PLACE.match(stop.place)
    return safe(found[0].strip()) if found else ""


def has_nodes(view: View) -> bool:
    """Whether there is a graph, whatever is known of it: a thread stands at a node, or one was just built."""
    where = place(view.stop) if view.stop is not None else ""
    return bool(_AT_NODE.search(where)) or where.startswith("forward, ")


def detail_of(stop: Stop) -> str:
    """Where it stands, for the banner: "" when the title tells it."""
    return "" if place(stop) else stop.place


def _standing(stop: Stop, whole: bool) -> Piece:
    where = _where(stop)
    if not where and stop.position:
        where = f" at the {safe(stop.position)}"  # "end of pass 2"
    if whole and (told := place(stop)):
        where = told.removeprefix(f"{IN_THE_RECORDING}: ")
        where = f" before {where}" if stop.is_recorded and _AT_NODE.search(where) else f" {where}"
        where = where if where.startswith((" before ", " in ")) or stop.is_recorded else f":{where}"
    if stop.is_recorded:
        return f"◂ recording:{where}" if where else "◂ recording", "bold $text-accent"
    return f"■ stopped{where}", NOTICE


def _where(stop: Stop) -> str:
    """At which node: it runs next, a part of it does, it was built, or something has happened with it; else in which function."""
    if not stop.node:
        return _in_function(stop)
    node = shorten(stop.node, 40)
    if stop.is_built:
        return f" after {node} was built"
    return f" {'in' if stop.phase else 'before' if stop.runs_next else 'at'} {node}"


def _in_function(stop: Stop) -> str:
    """`` in step, train.py:12``; the code of a module itself is named by its line alone."""
    function = stop.function
    if function is None:
        return ""
    line = f"{function.file.rsplit('/', 1)[-1]}:{function.line}" if function.file and function.line else ""
    if function.name == "<module>":
        return f" at {safe(line)}" if line else ""
    return f" in {shorten(', '.join(filter(None, (function.name, line))), 60)}"


def _position(stop: Stop) -> str:
    position = "" if stop.is_built else stop.position
    return ", ".join(safe(part) for part in (position, stop.pass_number) if part)


def _ended(view: View) -> Piece:
    bad = view.signal or view.exit
    return f"{'✗' if bad else '□'} {view.ending()}", ALERT if bad else "bold $text-primary"


def _busy(view: View, now: float) -> Pieces:
    if view.awaits_input:
        return [(", waits for input (i)", NOTICE)]
    if view.pausing:
        return [(", to stop at its next node", NOTICE), *_quiet(view, now)]
    return _quiet(view, now)


def _quiet(view: View, now: float) -> Pieces:
    quiet = quiet_for(view, now)
    return [(f", no event for {quiet} s", ASIDE)] if quiet >= QUIET_S else []


def _running_banner(view: View) -> tuple[str, str, str] | None:
    pause = "z has asked for a stop at the next node of autograd" if view.pausing else ""
    if view.awaits_input:
        return "info", "the program waits for input: i types into it", pause
    if pause:
        runs = f"it runs {view.runs}" if view.runs else "the program has come to none since"
        return "info", pause, f"{runs}; it goes on until then"
    if view.runs and not view.stepping:
        return "info", f"the program runs {view.runs}", "z stops it at the next node"
    return ("info", f"the program runs {view.doing}", "") if view.stepping and view.stepping.phase else None


def _stop_banner(stop: Stop) -> tuple[str, str, str] | None:
    """The breakpoint that it stopped for, and what else there is to say."""
    said = _happened(stop)
    if not stop.hit or stop.reason == "exception":
        return said
    kind, headline, detail = said or (stop_kind(stop), "", "")
    return kind, f"{headline} ({stop.hit})" if headline else stop.hit, detail


def _happened(stop: Stop) -> tuple[str, str, str] | None:
    """What there is to say besides where it stands, which the title tells."""
    kind = stop_kind(stop)
    headline, _, rest = (stop.text or stop.description or stop.reason).strip().partition("\n")
    if not stop.text and (told := place(stop)):
        headline = headline[len(told) :].lstrip("; ") if headline.startswith(told) else headline
        if not headline:
            return None
    if kind == "recorded":  # the banner begins with these words
        headline = headline.removeprefix(f"{IN_THE_RECORDING}: ")
    if stop.text and stop.description and stop.description != headline:
        return kind, headline, detail_of(stop)
    return kind, headline, rest.strip().partition("\n")[0]
