"""What a client asks of a breakpoint beside its place, and what is wrong with that."""

from dataclasses import dataclass
from typing import Any

from agdbg.agent.conditions import log_problem, problem
from agdbg.breakpoints import hit_problem


@dataclass(frozen=True)
class Rule:
    """Condition, hit condition, hits to ignore, log message, and whether the first stop is the last."""

    condition: str = ""
    hits: str = ""
    ignore: int = 0
    log: str = ""
    temporary: bool = False

    @classmethod
    def of(cls, wanted: dict[str, Any]) -> "Rule":
        """As the protocol has it; blanks are none."""
        texts = [str(wanted.get(name) or "") for name in ("condition", "hitCondition", "logMessage")]
        condition, hits, log = (text if text.strip() else "" for text in texts)
        return cls(condition, hits, int(wanted.get("ignore") or 0), log, bool(wanted.get("temporary")))

    @property
    def is_counted(self) -> bool:
        """Whether it matters how many have come by."""
        return bool(self.hits or self.ignore)

    def problem(self) -> str:
        """Why such a breakpoint cannot be; empty when it can."""
        if self.ignore < 0:
            return f"ignore is {self.ignore}: the hits to pass over are counted from 0"
        found = problem("condition", self.condition) if self.condition else ""
        return found or hit_problem(self.hits) or (log_problem(self.log) if self.log else "")

    def as_fields(self) -> dict[str, Any]:
        """As the program is told of it."""
        return vars(self)

    def as_body(self) -> dict[str, Any]:
        """As the protocol has it, without what it has not; all of it is agdbg's own in a breakpoint."""
        fields = {
            "condition": self.condition,
            "hitCondition": self.hits,
            "ignore": self.ignore,
            "logMessage": self.log,
            "temporary": self.temporary,
        }
        return {name: value for name, value in fields.items() if value}
