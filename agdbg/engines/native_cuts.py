"""What was seen of the gradient paths that end on one line, so that not every one of them is told."""

#: How many different tensors of one line are told, beside every doubling of the count.
DIFFERENT = 64


class Cuts:
    """The paths that one line ended in one way.

    Attributes:
        count: how many.
        told: how many when that was last told.
        storage, producer: the memory and the EDGE word of the last one that was different from all before.
    """

    __slots__ = ("_seen", "count", "producer", "storage", "told")

    def __init__(self) -> None:
        self.count = self.told = 0
        self.storage = self.producer = 0
        self._seen: set[tuple[int, int, int]] = set()

    def add(self, place: tuple[int, int, int]) -> bool:
        """Count one more; whether it came from another place than all before, and is to be told for that.

        What another line made comes from another place, and so does another leaf: a helper that detaches whatever it
        is given ends the paths of all its callers. So does what runs in another block that switched gradients off: a model may be
        run in one for a target, and in another by mistake.
        """
        self.count += 1
        if len(self._seen) >= DIFFERENT:
            return False
        if place in self._seen:
            return False
        self._seen.add(place)
        return True
