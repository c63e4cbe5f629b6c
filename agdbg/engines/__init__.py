"""Adapters from an autograd engine to the neutral event model of :mod:`agdbg.events`."""
