"""The functions of the program that a node calls when it runs: its hooks, as a trace tells of them."""

from agdbg.events import Kind
from agdbg.protocol.phases import HOOKS
from agdbg.protocol.vendor import HookCode
from agdbg.record.hooked import HookFact, hook_at
from agdbg.record.query import Facts

_ORDER = list(HOOKS.values())


def hook_code(facts: Facts, node: int, before: int) -> list[HookCode]:
    """The hooks that a node has at a record, in the order in which they fire; without those that are not written in Python."""
    there: dict[tuple[str, int], HookFact] = {}
    for row in facts.rows_about(Kind.HOOK, node):
        if row >= before:
            break
        hook = hook_at(facts, int(row))
        if hook.what == "removed":
            there.pop((hook.kind, hook.number), None)
        elif hook.defined.line and hook.kind in _ORDER:
            there.setdefault((hook.kind, hook.number), hook)
    found = sorted(there.values(), key=lambda hook: _ORDER.index(hook.kind))
    return [
        {"kind": hook.kind, "name": hook.defined.func, "file": hook.defined.file, "line": hook.defined.line}
        for hook in found
    ]
