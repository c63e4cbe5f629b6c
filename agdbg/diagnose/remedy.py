"""What to do about a saved tensor that was written, by the kind of writer."""

from agdbg.diagnose.case import Case
from agdbg.diagnose.naming import detach
from agdbg.diagnose.source import call_text
from agdbg.diagnose.stain import Stain
from agdbg.diagnose.words import capital
from agdbg.diagnose.writers import Writer


def remedy(case: Case, stain: Stain, *, in_parts: bool) -> str:
    """One or two sentences; ``in_parts``: a part of the memory was saved and a part of it was written."""
    if stain.entries and stain.writers and stain.writers[0].manner in ("step", "no_grad"):
        return f"{capital(detach(case, stain.entries, stain.lines))}; retain_graph=True is not needed then."
    if not stain.writers:
        return (
            "Look for a write to it after that line: an op whose name ends in _, out=, .data, an optimiser step. "
            "Write out of place there, or work on a clone()."
        )
    writer = stain.writers[0]
    if writer.manner == "step":
        return _step(stain, writer)
    if writer.manner in ("gradient", "zeroed"):
        return "Work on a clone() of the gradient, or clear it with zero_grad(set_to_none=True)."
    if writer.manner == "no_grad":
        where = stain.lines(writer.site)
        last = f"after the last backward() that uses this graph{_needed(stain)}"
        return f"Do the update at {where} {last}, {_RERUN}"
    if in_parts:
        used = stain.lines.at(stain.node.site) if stain.node is not None else ""
        return (
            f"clone() the part where it is used{used}, or keep the parts in a list and join them with stack() or cat()."
        )
    return _out_of_place(stain, writer)


_RERUN = "or run the forward again after it."


def _step(stain: Stain, writer: Writer) -> str:
    called = f"`{call_text(writer.site, 'step')}`" if writer.site.line else "the optimiser step"
    where = stain.lines.at(writer.site)
    return f"Move {called}{where} behind the last backward() that uses this graph{_needed(stain)}, {_RERUN}"


def _needed(stain: Stain) -> str:
    return f" ({stain.lines(stain.needed)})" if stain.needed.line else ""


def _out_of_place(stain: Stain, writer: Writer) -> str:
    write, where = writer.write, stain.lines(writer.site)
    if write.form == "inplace":
        return f"Drop inplace=True at {where}."
    if write.form == "out":
        return f"Drop out= at {where} and use what the op returns."
    if write.instead:
        return f"Write it out of place, `{write.instead}`, instead of `{write.text}` at {where}."
    clone = _clone(stain, writer)
    if write.form == "index":
        return f"{clone}, or build the new value with where() or index_put() and leave the old one alone."
    op = writer.op
    if write.form == "unknown" and op.endswith("_"):
        return f"Use `{op[:-1]}` instead of `{op}` at {where} (of a layer: inplace=False). {clone} also helps."
    return f"{clone}, or use an op that is not in place."


def _clone(stain: Stain, writer: Writer) -> str:
    target = writer.write.target or stain.name.strip("`")
    where = stain.lines(writer.site)
    if target.isidentifier():
        return f"Clone before you write: `{target} = {target}.clone()` before {where}"
    return f"Write to a clone() at {where}"
