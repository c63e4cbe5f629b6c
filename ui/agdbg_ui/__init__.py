"""The terminal user interface of agdbg: a client of the debugger, nothing more."""
