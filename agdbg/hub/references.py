"""References: numbers by which clients ask for the children of a variable, valid until its thread goes on."""

from dataclasses import dataclass
from math import prod
from typing import Any

from agdbg.hub.call import Refused

#: So many are kept; of more, the oldest are forgotten.
LIMIT = 20_000


#: The sections of the inspector whose entries can be replaced.
GRADIENTS_IN = "Gradients in"
REPLACEABLE = (GRADIENTS_IN, "Saved tensors")


@dataclass
class Entries:
    """Variables that are known already: a section of the inspector.

    Attributes:
        entries: they, as the inspector has them.
        thread, node, section: where they are from.
        is_stale: something was replaced since, so they must be read again.
    """

    entries: list[dict[str, Any]]
    thread: int
    node: int
    section: str
    is_stale: bool = False

    def renew(self, body: dict[str, Any]) -> None:
        """Take the entries out of a newer body of ``agdbg/node``."""
        self.entries = next((each["entries"] for each in body["sections"] if each["name"] == self.section), [])
        self.is_stale = False


@dataclass(frozen=True)
class Elements:
    """The elements of a tensor; ``what`` and ``which`` say which one of the node it is."""

    thread: int
    node: int
    what: str
    which: int | str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements there are."""
        return prod(self.shape)


@dataclass(frozen=True)
class Locals:
    """The local variables of a frame of the user's code, counted from the innermost."""

    thread: int
    frame: int


@dataclass(frozen=True)
class Children:
    """What a reference of the agent stands for."""

    thread: int
    reference: int


Referent = Entries | Elements | Locals | Children


class References:
    """Gives numbers, and what they stand for. A number is never used again."""

    def __init__(self) -> None:
        self._referents: dict[int, Referent] = {}
        self._of_thread: dict[int, list[int]] = {}
        self._last = 0

    def new(self, thread: int, referent: Referent) -> int:
        """A number for something that holds until ``thread`` goes on."""
        self._last += 1
        self._referents[self._last] = referent
        self._of_thread.setdefault(thread, []).append(self._last)
        if len(self._referents) > LIMIT:
            del self._referents[next(iter(self._referents))]
        return self._last

    def get(self, number: int) -> Referent:
        """What a number stands for.

        Raises:
            Refused: nothing, or no longer.
        """
        found = self._referents.get(number)
        if found is None:
            what = "is out of date" if 0 < number <= self._last else "was never given"
            raise Refused(f"variablesReference {number} {what}: ask for the scopes of a frame again")
        return found

    def spoil(self, thread: int) -> None:
        """What is known of variables of a thread may have changed, though it did not go on."""
        for number in self._of_thread.get(thread, ()):
            found = self._referents.get(number)
            if isinstance(found, Entries):
                found.is_stale = True

    def forget(self, thread: int) -> None:
        """The thread goes on."""
        for number in self._of_thread.pop(thread, ()):
            self._referents.pop(number, None)
