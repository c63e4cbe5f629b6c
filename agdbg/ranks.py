"""Which process of a parallel program this is, as its launcher (``torchrun``, or a script) says in the environment."""

from collections.abc import Mapping
from typing import Any, NamedTuple

#: Where the launcher says it: the number, how many there are, and by what the processes of one run know one another.
RANK, WORLD = "RANK", "WORLD_SIZE"
_JOBS = (("TORCHELASTIC_RUN_ID",), ("MASTER_ADDR", "MASTER_PORT"))


class Rank(NamedTuple):
    """One of several processes.

    Attributes:
        number: counted from 0.
        world: how many there are; 0: not known.
        job: what all of one run have in common; empty: not known.
    """

    number: int
    world: int = 0
    job: str = ""

    @property
    def told(self) -> str:
        """``rank 1 of 4``."""
        return f"rank {self.number}" + (f" of {self.world}" if self.world else "")

    def table(self) -> dict[str, object]:
        """The same for a JSON file, as :func:`rank_in` reads it."""
        return {"rank": self.number, "world": self.world, "job": self.job}


def rank_of(environment: Mapping[str, str]) -> Rank | None:
    """The rank that an environment tells of; None: it tells of none."""
    number = _count(environment.get(RANK))
    if number is None:
        return None
    jobs = (":".join(environment.get(name, "") for name in names) for names in _JOBS)
    return Rank(number, _count(environment.get(WORLD)) or 0, next((job for job in jobs if job.strip(":")), ""))


def rank_in(table: Mapping[str, Any]) -> Rank | None:
    """The rank in a table of a JSON file, which may hold anything; None: there is none."""
    number, world, job = table.get("rank"), table.get("world"), table.get("job")
    if type(number) is not int or number < 0:
        return None
    return Rank(number, world if type(world) is int and world > 0 else 0, job if isinstance(job, str) else "")


def with_rank(name: str, environment: Mapping[str, str]) -> str:
    """The name of a program for files of its own: ``train-rank1``, so that those of several ranks are told apart."""
    rank = rank_of(environment)
    return name if rank is None else f"{name}-rank{rank.number}"


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
