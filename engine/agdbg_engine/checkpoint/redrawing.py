"""Whether a checkpointed function that runs again draws other random numbers than before: for instruments only."""

from __future__ import annotations

from typing import Any

from .. import events
from ..random import default_generator
from ..sites import caller


def drawn_from() -> Any:
    """Where the generator is; ``None`` while nobody listens."""
    return None if events.sink is None else default_generator.numbers.bit_generator.state


def drawn_since(begun: Any) -> Any:
    """Where the generator is now, if numbers were drawn since it was where :func:`drawn_from` said."""
    now = drawn_from()
    return None if begun is None or now == begun else now


def tell_redrawn(drawn_to: Any) -> None:
    """Tell that other numbers were drawn than in the run that left the generator at ``drawn_to``, if so."""
    if drawn_to is not None and events.sink is not None and drawn_from() != drawn_to:
        events.sink.redrawn(*caller())
