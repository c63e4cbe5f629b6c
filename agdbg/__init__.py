"""agdbg: a debugger for automatic differentiation.

In a program's own code: :func:`record` records a block, :func:`lint` checks the graph of a tensor before its backward,
:func:`graph` draws it, :func:`explain` explains an exception, :func:`breakpoint` stops under the debugger, :func:`listen` lets one
join. ``docs/in-code.md`` shows them. Importing agdbg costs nothing: what a function needs is imported when it is first used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Where a name comes from that is imported when it is first asked for; without a colon it is a package that can be called.
_LATE = {
    "breakpoint": "agdbg.incode.stopping:breakpoint",
    "explain": "agdbg.explain",
    "graph": "agdbg.graph",
    "lint": "agdbg.incode.linting:lint",
    "listen": "agdbg.launch.listening:listen",
    "load_ipython_extension": "agdbg.incode.notebook:load_ipython_extension",
    "record": "agdbg.record",
}


def __getattr__(name: str) -> Any:
    place = _LATE.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, inside = place.partition(":")
    found = import_module(module)
    return getattr(found, inside) if inside else found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
