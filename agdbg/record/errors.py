"""The one exception of the recorder and the reader."""


class TraceError(Exception):
    """A trace cannot be written or read; the message names the path, what is wrong and the way out."""
