"""Other sides of a recording: the runs of a pass in time, the boxes around a node; and of a program that stands: its tensors."""

from typing import Any

from agdbg.hub.call import LATER, Body, Call, Refused, handles
from agdbg.hub.diagnosis import unrecorded
from agdbg.hub.empty import no_pass, no_profile
from agdbg.hub.neighbourhood import MOST, laid_out
from agdbg.hub.references import Elements


@handles("agdbg/timeline")
def timeline(call: Call) -> Body:
    """A page of the runs of a pass."""
    arguments = call.arguments
    start, count, thread = arguments["start"], arguments["count"], arguments.get("threadId")
    stops, asked, of_node = call.session.stops, arguments.get("pass"), arguments.get("node")
    if asked is not None and of_node is not None:
        raise Refused("agdbg/timeline: both pass and node are given; name one of them")
    (counter, _), passes, moment = stops.counter(thread), stops.passes(thread), stops.moment(thread)

    def page(history: Any) -> Body:
        if of_node is not None:
            wanted = history.pass_that_ran(of_node, tuple(passes), moment)
        else:
            wanted = asked if asked is not None else next(iter(passes), None)
        if asked is None and wanted is not None and not history.has_pass(wanted):
            return dict(no_pass(start))
        near = counter if wanted is None else passes.get(wanted, 0)  # in no pass: behind all that the last one ran
        try:
            return history.timeline(start, count, wanted, near)
        except ValueError as error:
            raise Refused(f"agdbg/timeline: {error}") from None

    if asked is not None:
        return call.session.recorded().ask(call, page)
    return call.session.recorded().ask_or(call, dict(no_pass(start)), page)


@handles("agdbg/profile")
def profile(call: Call) -> Body:
    """A pass as a whole: memory, hooks, gradients by layer."""
    asked = call.arguments.get("pass")
    stands = next(iter(call.session.stops.passes(call.arguments.get("threadId"))), None)
    start, count, points = (call.arguments[name] for name in ("start", "count", "points"))

    def look(history: Any) -> Body:
        if asked is None and stands is not None and not history.has_pass(stands):
            return dict(no_profile(start))
        try:
            return history.profile(start, count, points, stands if asked is None else asked)
        except ValueError as error:
            raise Refused(f"agdbg/profile: {error}") from None

    return call.session.recorded().ask_heavy(call, look)


@handles("agdbg/neighbourhood")
def neighbourhood(call: Call) -> Body:
    """The boxes around a node."""
    node, hops, depth = call.arguments["node"], call.arguments["hops"], call.arguments.get("depth", 0)
    following, moment = call.session.stops.next_node(None), call.session.stops.moment(None)
    at_leaf: set[int] = set()

    def look(history: Any) -> Body:
        def shape_of(each: int) -> str:
            found = history.live.shape(each)
            return found.text if found is not None else ""

        try:
            if depth:
                from agdbg.hub.collapsed import collapsed

                return collapsed(history, node, depth, moment, following)
            middle = history.drawn_at(node, moment)
            body = laid_out(
                lambda within, start: history.graph(start, MOST, node=middle, hops=within),
                shape_of,
                middle,
                hops,
                following,
            )
        except ValueError as error:
            raise Refused(f"agdbg/neighbourhood: {error}") from None
        boxes = body["boxes"]
        for box, fate in zip(boxes, history.fates([each["node"] for each in boxes], moment), strict=True):
            box["state"] = fate.state
        if following:
            at_leaf.add(history.drawn_at(following, moment))
        return body

    def marked(body: Body) -> Body:
        for box in body["boxes"]:
            if not body["depth"]:
                for each in {following, *at_leaf}:
                    call.session.stops.mark_next(box, each)
        return body

    return call.session.recorded().ask_heavy(call, look, marked)


@handles("agdbg/tensor")
def tensor(call: Call) -> Body:
    """A page of a tensor of the node at which a thread stands."""
    wanted = dict(call.arguments)
    referent = call.session.stops.references.get(wanted.pop("variablesReference"))
    if not isinstance(referent, Elements):
        raise Refused("agdbg/tensor: that reference is none of a tensor; those of gradients and saved tensors are")
    _, link, _ = call.session.stops.threads.standing(referent.thread)
    which = {"node": referent.node, "what": referent.what, "which": referent.which}
    link.ask("tensor", call.then(lambda body: body), **which, **wanted)
    return LATER


@handles("agdbg/tree")
def tree(call: Call) -> Body:
    """A page of the tree of modules and parameters."""
    start, count = call.arguments["start"], call.arguments["count"]

    def page(history: Any) -> Body:
        branches = history.branches()
        return {"total": len(branches), "start": start, "branches": branches[start : start + count]}

    return call.session.recorded().ask_heavy_or(call, {"total": 0, "start": start, "branches": []}, page)


@handles("agdbg/paths")
def paths(call: Call) -> Body:
    """The nodes between two nodes."""
    one, other = call.arguments["from"], call.arguments["to"]

    def look(history: Any) -> Body:
        from agdbg.hub.paths import paths_between

        try:
            return paths_between(history.live, one, other)
        except ValueError as error:
            raise Refused(f"agdbg/paths: {error}") from None

    return call.session.recorded().ask_heavy(call, look)


@handles("agdbg/firstBad")
def first_bad(call: Call) -> Body:
    """The first node with a NaN or an Inf, recorded or else one for which the program stopped, or the first that failed."""
    stops = dict(call.session.stops.bad)

    def look(history: Any) -> Body:
        bad = next((each for each in history.live.bad_summaries if each.node), None)
        if bad is not None:
            what = f"{bad.nans:,} NaN, {bad.infs:,} Inf in its {bad.what}"
            return {"node": bad.node, "row": history.row_of(bad.node), "why": what}
        stopped = next(iter((stops or history.stopped().bad).items()), None)
        if stopped is not None:
            return {"node": stopped[0], "row": history.row_of(stopped[0]), "why": stopped[1]}
        for each in history.live.failed_passes:
            for node in history.live.failed(each.id).tolist():
                return {"node": node, "row": history.row_of(node), "why": f"it failed in pass {each.id}"}
        unseen = unrecorded(history)
        return {
            "node": None,
            "row": None,
            "why": f"no node has failed; {unseen}" if unseen else "no NaN, no Inf and no failed node was recorded",
        }

    return call.session.recorded().ask(call, look)
