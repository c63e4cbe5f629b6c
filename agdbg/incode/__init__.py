"""agdbg in a program's own code: ``agdbg.record``, ``lint``, ``graph``, ``explain`` and ``breakpoint``."""
