"""The graph as a thing to look at: its model, where it comes from, how it is folded and laid out."""

from agdbg.callable_module import make_callable

make_callable(__name__, "agdbg.incode.drawn:graph")
