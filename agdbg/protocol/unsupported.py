"""The requests of the Debug Adapter Protocol that agdbg does not have, each with the reason and what to do instead.

A client learns from the capabilities that it need not ask; one that asks all the same gets this as the error. A test
goes through the published schema: every request of it is answered, here or by a handler.
"""

_HERE = "a place in autograd is a node, not an instruction or an address"

#: By command: why it is refused.
UNSUPPORTED: dict[str, str] = {
    "breakpointLocations": "which lines build a node is known only when they run; set it, and see whether it is hit",
    "completions": "names are not completed; agdbg/find looks for ops and parameters",
    "disassemble": f"{_HERE}; stackTrace and agdbg/node tell of it",
    "goto": "Python cannot jump to another line in the middle of a backward pass; stepBack and reverseContinue go back",
    "gotoTargets": "there is nowhere to jump to; stepBack and reverseContinue go back",
    "loadedSources": "sources are named by the frames and rows that come from them; ask for one by its path",
    "locations": "no reference to a location is ever given; frames and rows have a file and a line",
    "modules": "modules of Python are not listed; evaluate sys.modules where the program stands",
    "readMemory": f"{_HERE}; variables pages through the elements of a tensor",
    "restartFrame": "a backward pass cannot be run from its start again; stepBack goes back node by node",
    "runInTerminal": "this is a request to a client; the hub has a terminal of its own for the program",
    "setInstructionBreakpoints": f"{_HERE}; set a breakpoint on a line or a name",
    "startDebugging": "this is a request to a client",
    "stepInTargets": "stepIn goes through the phases of a node in their order; there is no other target",
    "terminateThreads": "Python cannot end a thread from outside; terminate ends the program",
    "writeMemory": "setVariable replaces a gradient as a whole, and evaluate can write to a tensor",
}


def refusal(command: str) -> str:
    """Why a command of the protocol is refused; empty when it is none of those."""
    reason = UNSUPPORTED.get(command)
    return f"{command}: agdbg does not have this request: {reason}" if reason else ""
