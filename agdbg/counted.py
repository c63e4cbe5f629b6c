"""Numbers of things in words, everywhere in the same way."""


def counted(number: int, noun: str, plural: str = "s") -> str:
    """``1 node``, ``2 nodes``, ``1,000 nodes``."""
    return f"{number:,} {noun}{'' if number == 1 else plural}"
