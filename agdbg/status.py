"""The exit codes of agdbg's own commands, as ``docs/exit-codes.md`` promises them."""

OK = 0
#: What the user gave cannot be used: a bad option, an unreadable trace, an unwritable output.
BAD_INPUT = 2
#: ``agdbg diff``: the two traces part.
DIFFERENT = 1
#: ``agdbg lint``: something was found.
FOUND = 3
#: ``agdbg lint``: nothing was found, but the program failed, or was not recorded to its end.
UNFINISHED = 4
#: ``--batch``: a command was refused.
REFUSED = 5
#: A mistake in agdbg itself.
INTERNAL = 70
#: Ended by a signal: this and its number, as a shell shows it.
BY_SIGNAL = 128
#: Stopped by Ctrl-C; what a shell shows for a process that SIGINT ended.
INTERRUPTED = 130
#: The reader of standard output went away; what a shell shows for SIGPIPE.
BROKEN_PIPE = 141
