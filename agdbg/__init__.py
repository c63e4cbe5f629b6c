"""agdbg: a debugger for automatic differentiation."""

__version__ = "0.1.0"
