"""The graph: rows of the lane view, search, one node, events, drawings, findings."""

from pathlib import Path
from typing import Any

from agdbg.hub.call import Body, Call, Refused, handles
from agdbg.hub.diagnosis import findings_body
from agdbg.hub.exporting import written
from agdbg.hub.inspector import look_at


@handles("agdbg/rows")
def rows(call: Call) -> Body:
    """A page of rows, and where the program counter is."""
    stops, arguments = call.session.stops, call.arguments
    start, count = arguments["start"], arguments["count"]
    node, _ = stops.counter(arguments.get("threadId"))
    following, moment = stops.next_node(arguments.get("threadId")), stops.moment(arguments.get("threadId"))
    bad = list(stops.bad)

    def page(history: Any) -> Body:
        from agdbg.hub.folded_rows import folding_of

        folding = folding_of(arguments.get("folds"))
        body: dict[str, Any] = history.rows(start, count, folding, moment)
        at = [row for each in bad or history.stopped().bad if (row := history.row_of(each)) is not None]
        for row in body["rows"]:
            row["bad"] |= any(row["row"] <= each < row["row"] + row["count"] for each in at)
        return {**body, "pc": history.place_of(node, folding, moment) if node else None, "pcNode": node or None}

    def marked(body: dict[str, Any]) -> Body:
        for row in body["rows"]:
            _mark(call, row)
            stops.mark_next(row, following)
        return body

    nothing: dict[str, Any] = {"total": 0, "start": start, "rows": [], "pc": None, "pcNode": None}
    return call.session.recorded().ask_or(call, nothing, page, marked)


def _mark(call: Call, row: dict[str, Any]) -> None:
    """Say of a row whether there is a breakpoint."""
    names = [row["op"], *(badge["text"] for badge in row["badges"])]
    matches = call.session.breakpoints.matches
    row["breakpoint"] = matches(row["file"], row["line"], names, row["node"], row["module"])


@handles("agdbg/fold")
def fold(call: Call) -> Body:
    """What is folded after a move."""
    row, how, folds = call.arguments["row"], call.arguments["how"], call.arguments["folds"]

    def look(history: Any) -> Body:
        from agdbg.hub.folded_rows import folding_of, told_of

        folding = history.folded.moved(folding_of(folds), row, how)
        view = history.folded.folds.view(folding)
        at = max(min(view.at(row), len(view) - 1), 0)
        return {"folds": told_of(folding), "at": at, "total": len(view), "deepest": history.folded.deepest}

    nothing: Body = {"folds": folds, "at": 0, "total": 0, "deepest": 1}
    return call.session.recorded().ask_or(call, nothing, look)


@handles("agdbg/find")
def find(call: Call) -> Body:
    """The next row with a text."""
    text, start, backwards = call.arguments["text"], call.arguments["start"], call.arguments["backwards"]
    nothing: Body = {"row": None, "node": None}
    return call.session.recorded().ask_or(call, nothing, lambda history: history.find(text, start, backwards))


@handles("agdbg/locate")
def locate(call: Call) -> Body:
    """The row of a node."""
    node = call.arguments["node"]
    nothing: Body = {"row": None}
    return call.session.recorded().ask_or(call, nothing, lambda history: {"row": history.row_of(node)})


@handles("agdbg/node")
def node_body(call: Call) -> Body:
    """All about a node."""
    return look_at(call, call.arguments.get("threadId"), call.arguments["node"], lambda body: body)


@handles("agdbg/events")
def events(call: Call) -> Body:
    """A page of rare events."""
    start, count = call.arguments["start"], call.arguments["count"]
    nothing: Body = {"total": 0, "start": 0, "events": []}
    return call.session.recorded().ask_or(call, nothing, lambda history: history.events(start, count))


@handles("agdbg/graph")
def graph(call: Call) -> Body:
    """A page of a drawing."""
    wanted = dict(call.arguments)
    if "pass" in wanted and "node" in wanted:
        raise Refused("agdbg/graph: both pass and node are given; name one of them")
    if "pass" in wanted:
        wanted["pass_id"] = wanted.pop("pass")

    def drawn(history: Any) -> Body:
        try:
            return history.graph(**wanted)
        except ValueError as error:
            raise Refused(f"agdbg/graph: {error}") from None

    following = call.session.stops.next_node(None)

    def marked(body: dict[str, Any]) -> Body:
        for each in body["nodes"]:
            call.session.stops.mark_next(each, following, "id")
        return body

    return call.session.recorded().ask_heavy(call, drawn, marked)


@handles("agdbg/findings")
def findings(call: Call) -> Body:
    """What the trace explains."""
    cwd, wanted = call.session.cwd, dict(call.arguments)
    stops = call.session.stops
    thread = stops.threads.current() if stops.cursor is None else None
    stop = (thread.stop if thread is not None else None) or {}
    return call.session.recorded().ask_heavy(call, lambda history: findings_body(history, cwd, stop, **wanted))


@handles("agdbg/export")
def export(call: Call) -> Body:
    """Write a drawing, or tables, to a file; a path that is not absolute is one below the program's directory."""
    arguments = call.arguments
    if not arguments["path"] or "\0" in arguments["path"]:
        raise Refused("agdbg/export: the path is empty or has a NUL; name a file, whose suffix says the format")
    path = Path(call.session.cwd or ".").absolute() / arguments["path"]
    if path.exists() and not arguments.get("overwrite"):
        raise Refused(f"agdbg/export: {path} exists; name another file, or let it be overwritten")
    pass_id, is_full = arguments.get("pass"), bool(arguments.get("full"))
    return call.session.recorded().ask_heavy(call, lambda history: written(history, path, pass_id, is_full))
