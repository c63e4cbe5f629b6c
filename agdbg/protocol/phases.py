"""The parts of a node that call functions of the program, in the order in which they run, by the names of the phases of a stop."""

#: The ``kind`` of the hooks that each calls, as in :class:`~agdbg.protocol.vendor.HookCode`.
HOOKS = {
    "tensor-hooks": "tensor",
    "pre-hooks": "pre",
    "apply": "backward",
    "post-accumulate-hooks": "post-accumulate",
    "post-hooks": "post",
}
