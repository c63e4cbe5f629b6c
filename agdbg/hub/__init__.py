"""The hub: the process that stands between a running program and those who look at it.

It starts the program on a terminal of its own, reads its trace, serves the protocol, and outlives its clients. It
runs in a session of its own, and the program in yet another, so that neither falls with the terminal that started
them.
"""
