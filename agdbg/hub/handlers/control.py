"""Control over the program, which one of several clients has."""

from agdbg.hub.call import Body, Call, Refused, handles


@handles("agdbg/control")
def control(call: Call) -> Body:
    """Take control, give it up, or ask who has it."""
    take, release = call.arguments.get("take", False), call.arguments.get("release", False)
    if take and release:
        raise Refused("agdbg/control: take and release are both true; ask for one")
    in_control = call.session.in_control
    if take:
        if not call.client.joined:
            raise Refused("agdbg/control: launch a program or attach first")
        in_control.take(call.client)
    elif release:
        in_control.release(call.client)
    return in_control.body(call.client)


@handles("cancel")
def cancel(call: Call) -> Body:
    """A request of this client is not wanted any more, by its number or by that of its progress."""
    request, progress = call.arguments.get("requestId"), call.arguments.get("progressId")
    if request is None and progress is None:
        raise Refused("cancel: neither requestId nor progressId is given; name one of them")
    call.session.tasks.cancel(call.client, request, progress)
    return None
