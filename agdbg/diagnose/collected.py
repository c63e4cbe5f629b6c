"""A list or dict that hands tensors on to the next iteration with their graphs: what is in it is to be detached."""

import ast

from agdbg.diagnose.enclosing import place
from agdbg.diagnose.holders import collected_in
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.record.lookup import Site


def detach_in_collection(call: Site, entry: Entry, name: str) -> str:
    """The advice, where a collection near a call keeps what is called ``name`` and gave it to the next iteration; else empty."""
    holder = collected_in(call, name) if name else None
    if holder is None or entry.consumer is None:
        return ""
    found = next((pair for each in ast.walk(_tree(holder.text)) if (pair := _bank(each, name))), None)
    if found is None or not _came_from(entry.consumer.site, found[0], name):
        return ""
    bank, is_item = found
    how = (
        f"{{key: each.detach() for key, each in {bank}.items()}}" if is_item else f"[each.detach() for each in {bank}]"
    )
    return f"detach what `{bank}` keeps, `{holder.text}`, before the next iteration uses it: `{bank} = {how}`"


def _tree(text: str) -> ast.AST:
    """A statement as a tree; an empty one of a statement that was too long to quote."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def _bank(tree: ast.AST, name: str) -> tuple[str, bool] | None:
    """The collection that a statement puts the bare name into, and whether it does as an item."""
    if (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Attribute)
        and tree.func.attr in ("append", "appendleft")
    ):
        bank, given, is_item = tree.func.value, tree.args[:1], False
    elif isinstance(tree, ast.Assign) and isinstance(tree.targets[0], ast.Subscript):
        bank, given, is_item = tree.targets[0].value, [tree.value], True
    else:
        return None
    mine = bool(given) and name_of(given[0]) == name and bool(name_of(bank))
    return (name_of(bank), is_item) if mine else None


def _came_from(consumer: Site, bank: str, name: str) -> bool:
    """Whether the line that used it, or a loop around that, has the collection and not the name."""
    reading = read(consumer)
    if reading is None:
        return False
    loops = [each.iter for each in place(consumer).around if isinstance(each, ast.For)]
    words = {unparse(each) for each in ast.walk(reading.statement) if isinstance(each, ast.Name | ast.Attribute)}
    words |= {unparse(part) for each in loops for part in ast.walk(each) if isinstance(part, ast.Name | ast.Attribute)}
    return bank in words and name not in words
