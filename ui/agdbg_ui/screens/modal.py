"""What lies over the main screen, and is left once, however often the key for that is pressed."""

from typing import Generic, TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen

T = TypeVar("T")


class Modal(ModalScreen[T], Generic[T]):
    """A modal screen that can be left only while it is the uppermost one.

    Keys wait in the queue of the widget that had the focus when they were pressed, so a screen may still be handed
    some after it has been left; Textual would take the screen below away for them.

    Attributes:
        is_of_run: whether it tells of one run of the program, and goes when another one begins.
    """

    is_of_run = False

    @property
    def is_on_top(self) -> bool:
        """Whether the keys are for this screen."""
        return self.app.screen_stack[-1:] == [self]

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Leave the screen with a result; when it was left already, or another lies above, nothing happens."""
        return super().dismiss(result) if self.is_on_top else AwaitComplete()
