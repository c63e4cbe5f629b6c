"""The error of a command that was given something it cannot use."""


class InputError(Exception):
    """A bad argument; the message names the thing, its value and the way out. The exit status is 2."""
