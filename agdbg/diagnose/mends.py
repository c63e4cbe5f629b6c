"""What a cut in the graph is, and what to do about it, by its kind."""

from agdbg.diagnose.source import goes_to_numpy
from agdbg.record.facts import CutFact

CUT_WORDS = {
    "detach": "detach() ended the path",
    "no_grad": "computed with gradients switched off",
    "data": ".data has no history",
    "integer": "an integer or bool result has no gradient",
    "numpy": "went out to NumPy",
    "item": "became a Python number",
    "rewrap": "a new tensor of the values has no history",
}
OTHERWISE = "compute what goes into the loss there in a way that has a gradient"
MENDS = {
    "detach": "leave out the detach(), so that the loss keeps its way back to the parameters",
    "no_grad": "move it out of the part where gradients are switched off{by}, so that its graph is recorded",
    "data": "use the tensor itself and not its .data",
    "integer": (
        "an integer or bool result has no gradient (a comparison, argmax(), a conversion to int), so compute the loss from "
        "the floating-point values before it"
    ),
    "numpy": "compute with tensor operations instead of NumPy, and use NumPy only for what is printed or plotted",
    "item": "compute with the tensor itself, and use item(), float() or int() only for what is printed",
    "rewrap": "use the tensor itself, with to() for another dtype and stack() for a list of tensors, instead of making a new one",
}


def mend_of(cut: CutFact, by: str = "") -> str:
    """What to do about a cut; empty for one of an unknown kind. ``by`` says where gradients were switched off."""
    leaves = cut.op.name == "detach" and goes_to_numpy(cut.site)
    return MENDS.get("numpy" if leaves else cut.op.name, "").format(by=by)
