"""How to do without a write in place: the sentence for each form of writing, and for whose variable it is."""

import ast

from agdbg.diagnose.case import Case
from agdbg.diagnose.owner import declared, owner, rebuilt
from agdbg.diagnose.shared_base import Base, shared_base
from agdbg.diagnose.stain import Stain
from agdbg.diagnose.syntax import read
from agdbg.diagnose.words import listed
from agdbg.diagnose.writers import Writer
from agdbg.record.lookup import NO_SITE

#: Writers that the fix names one by one.
NAMED = 4


def out_of_place(case: Case, stain: Stain, found: list[Writer]) -> str:
    """What to do about these writers, all of them."""
    found = _by_statement(found)
    bases = {id(each): _base(case, stain, each) for each in found}
    cloned = {each.write.target for each in found if bases[id(each)] is None and _is_cloned(stain, each)}
    hidden = [(each, base) for each in found if (base := bases[id(each)]) is not None and base.name not in cloned]
    through = [_through(stain, each, base) for each, base in hidden]
    rest = _without_base(stain, [each for each in found if all(each is not other for other, _ in hidden)])
    return " ".join(filter(None, dict.fromkeys([*through, rest])))


def _base(case: Case, stain: Stain, writer: Writer) -> Base | None:
    """What is written through the name that the line has, where a new tensor under that name would not do."""
    return shared_base(case, writer.first, writer.write.target) if _owner(stain, writer) == "rebind" else None


def _through(stain: Stain, writer: Writer, base: Base) -> str:
    """The advice for a write to a view: a clone of the base is what is to be written."""
    write, name = writer.write, base.name
    how = "a part of it" if base.is_part else "another name for it"
    begin, line = f"`{name} = {name}.clone()`", f"line {base.line}"
    if base.whose == "own":
        what = "a part of" if base.is_part else "another name for"
        return f"Clone before you write: {begin} before {line}, since `{write.target}` is {what} `{name}`, which is used later."
    function = _function(writer, capital=True)
    if base.whose == "outer":
        return (
            f"{function} changes `{name}`, which is not its own, at {stain.lines(writer.site)} through `{write.target}`, "
            f"{how}: clone that before the call, {begin}."
        )
    saved = stain.name.strip("`")
    outside = _is_in_another_function(stain, writer) and saved.isidentifier()
    clone = f"clone it before the call: `{saved} = {saved}.clone()`" if outside else "clone() it before the call"
    return (
        f"{function} changes its caller's tensor at {stain.lines(writer.site)} through `{write.target}`, {how}: {clone}; "
        f"or put {begin} before {line}, let it return `{name}`, and use that at the call."
    )


def _without_base(stain: Stain, found: list[Writer]) -> str:
    """The same for writers of what is used under the written name alone."""
    plain = [each for each in found if _is_rebound(stain, each)]
    cloned = next((each for each in found if _is_cloned(stain, each)), None)
    if cloned is not None and len(found) > 1:
        where = listed((stain.lines(each.site) for each in found), NAMED)
        return f"{_clone(stain, cloned)}, and make views of it after that: the writes at {where} then spare what was saved."
    sentences = [_advice(stain, each) for each in found if each not in plain]
    if len(plain) == 1:
        sentences.insert(0, _advice(stain, plain[0]))
    elif plain:
        each = (f"`{w.write.instead}` instead of `{w.write.text}` at {stain.lines(w.site)}" for w in plain)
        sentences.insert(0, f"Write all of it out of place: {listed(each, NAMED)}.")
    return " ".join(dict.fromkeys(sentences))


def _by_statement(found: list[Writer]) -> list[Writer]:
    """The writers, those of a statement that goes over several lines once."""
    kept: list[Writer] = []
    for each in found:
        again = kept and read(each.site) is None and each.write.instead == kept[-1].write.instead != ""
        if not again:
            kept.append(each)
    return kept


def _is_rebound(stain: Stain, writer: Writer) -> bool:
    return bool(writer.write.instead) and _owner(stain, writer) == "rebind"


def _is_cloned(stain: Stain, writer: Writer) -> bool:
    return writer.write.form == "index" and _owner(stain, writer) == "rebind"


def _owner(stain: Stain, writer: Writer) -> str:
    made = stain.node.site if stain.node is not None else NO_SITE
    return owner(writer.site, writer.write.target, made)


def _advice(stain: Stain, writer: Writer) -> str:
    write, where = writer.write, stain.lines(writer.site)
    if write.form == "inplace":
        given = f" and assign what it gives, `{write.target} = ...`" if _is_dropped(writer) and write.target else ""
        return f"Drop inplace=True at {where}{given}."
    if write.form == "out":
        return f"Drop out= at {where} and use what the op returns."
    whose = _owner(stain, writer)
    if (whose == "helper" and write.form != "unknown") or _is_elsewhere(stain, writer):
        return _helper(stain, writer)
    if write.instead:
        return _by_owner(stain, writer, whose)
    clone = _clone(stain, writer)
    if write.form == "index":
        return f"{clone}, or build the new value with where() or index_put() and leave the old one alone."
    op = writer.op
    if write.form == "unknown" and op.endswith("_"):
        return f"Use `{op[:-1]}` instead of `{op}` at {where} (of a layer: inplace=False). {clone} also helps."
    return f"{clone}, or use an op that is not in place."


def _by_owner(stain: Stain, writer: Writer, whose: str) -> str:
    write, where = writer.write, stain.lines(writer.site)
    if whose == "value":
        whole = rebuilt(writer.site, write.value)
        use = f": `{whole}`" if whole else f", and use what it gives wherever `{write.target}` is used after it"
        return f"Use the out-of-place `{write.value}` as the value, instead of `{write.text}` at {where}{use}."
    if whose == "element":
        return (
            f"Collect new tensors in a new list and use that from there on: append `{write.value}` to it instead of "
            f"`{write.text}` at {where}, which changes what the loop goes over."
        )
    if whose == "outer":
        word = declared(writer.site, write.target)
        return (
            f"Give the new tensor a name of its own, `new = {write.value}`, instead of `{write.text}` at {where}, and "
            f"use that; or say `{word} {write.target}` at the beginning of {_function(writer)}, whose variable "
            f"`{write.target}` is not, and then `{write.instead}`."
        )
    return (
        f"Write it out of place, `{write.instead}`, instead of `{write.text}` at {where}.{_other_name(stain, writer)}"
    )


def _other_name(stain: Stain, writer: Writer) -> str:
    """What to add when the write goes by another name than what was saved."""
    name, target = stain.name.strip("`"), writer.write.target
    made = stain.node.site if stain.node is not None else NO_SITE
    together = (made.file, made.func) == (writer.site.file, writer.site.func)
    if not together or name == target or not (name.isidentifier() and target.isidentifier()):
        return ""
    return f" Use the new `{target}` from there on: `{name}` stays as it was."


def _helper(stain: Stain, writer: Writer) -> str:
    write, name = writer.write, stain.name.strip("`")
    what = f"the new tensor (`return {write.value}`)" if write.value else "a new tensor, say a changed clone(),"
    same = (stain.node.site.file, stain.node.site.func) if stain.node is not None else ("", "")
    outside = same != (writer.site.file, writer.site.func) and name.isidentifier()
    clone = f"clone it before the call: `{name} = {name}.clone()`" if outside else "clone() it before the call"
    return (
        f"{_function(writer, capital=True)} changes its caller's tensor at {stain.lines(writer.site)}, by {writer.words}: "
        f"let it return {what} and use that at the call, or {clone}."
    )


def _is_dropped(writer: Writer) -> bool:
    """Whether nothing takes what the call on a line gives."""
    reading = read(writer.site)
    statement = reading.statement if reading is not None else None
    return isinstance(statement, ast.Expr) and statement.value is (reading and reading.found)


def _is_elsewhere(stain: Stain, writer: Writer) -> bool:
    """Whether a line without a text, as of a notebook, is in another function than what was saved."""
    made = stain.node.site if stain.node is not None else NO_SITE
    named = writer.site.func not in ("", "<module>") and not writer.site.text
    return named and (made.file, made.func) != (writer.site.file, writer.site.func)


def _function(writer: Writer, *, capital: bool = False) -> str:
    name = writer.site.func.replace(".<locals>", "")
    return f"`{name}`" if name else "The function" if capital else "the function"


def _is_in_another_function(stain: Stain, writer: Writer) -> bool:
    """Whether the name that was saved is none where the write is."""
    made = stain.node.site if stain.node is not None else NO_SITE
    return (made.file, made.func) != (writer.site.file, writer.site.func)


def _clone(stain: Stain, writer: Writer) -> str:
    target = writer.write.target or stain.name.strip("`")
    where = stain.lines(writer.site)
    if not writer.write.target and target.isidentifier() and _is_in_another_function(stain, writer):
        return f"Clone it before {_function(writer)} is called, which writes to it at {where}: `{target} = {target}.clone()`"
    if target.isidentifier():
        return f"Clone before you write: `{target} = {target}.clone()` before {where}"
    return f"Write to a clone() at {where}"
