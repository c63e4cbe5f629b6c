"""The explanation of a trace: what was found, as data, as text, as JSON."""

from agdbg.callable_module import make_callable

make_callable(__name__, "agdbg.incode.explaining:explain")
