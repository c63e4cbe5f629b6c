"""Other sides of a recording: the runs of a pass in time, the boxes around a node."""

from typing import Any

from agdbg.hub.call import Body, Call, Refused, handles
from agdbg.hub.neighbourhood import MOST, laid_out


@handles("agdbg/timeline")
def timeline(call: Call) -> Body:
    """A page of the runs of a pass."""
    arguments = call.arguments
    node, _ = call.session.stops.counter(arguments.get("threadId"))
    cursor = call.session.stops.cursor_of(arguments.get("threadId"))
    looked_at = cursor.position.pass_id if cursor is not None and cursor.position is not None else None
    wanted = arguments.get("pass", looked_at or None)

    def page(history: Any) -> Body:
        try:
            return history.timeline(arguments["start"], arguments["count"], wanted, node)
        except ValueError as error:
            raise Refused(f"agdbg/timeline: {error}") from None

    return call.session.recorded().ask(call, page)


@handles("agdbg/neighbourhood")
def neighbourhood(call: Call) -> Body:
    """The boxes around a node."""
    node, hops = call.arguments["node"], call.arguments["hops"]
    following = call.session.stops.next_node(None)

    def look(history: Any) -> Body:
        def shape_of(each: int) -> str:
            found = history.live.shape(each)
            return found.text if found is not None else ""

        try:
            return laid_out(lambda within: history.graph(0, MOST, node=node, hops=within), shape_of, node, hops)
        except ValueError as error:
            raise Refused(f"agdbg/neighbourhood: {error}") from None

    def marked(body: Body) -> Body:
        for box in body["boxes"]:
            call.session.stops.mark_next(box, following)
        return body

    return call.session.recorded().ask_heavy(call, look, marked)
