"""A question over the main screen, with a few answers."""

from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from agdbg_ui.screens.modal import Modal
from agdbg_ui.screens.wrapping import beside
from agdbg_ui.text import safe

STAY = "stay"


class Answer(NamedTuple):
    """An answer: the key that gives it, its words, and what the screen returns for it."""

    key: str
    words: str
    value: str


class Question(Modal[str | None]):
    """Asks; an answer is given by its key, or by the arrows and Enter. Escape and q give None.

    Args:
        heading: the question.
        text: what has to be known for it.
        answers: what changes nothing is selected at the beginning, so that a key too many does no harm.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "No answer", show=False)]

    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical {
        width: 72; max-width: 100%; height: auto; max-height: 100%; background: $surface; border: round $warning;
        padding: 0 1;
    }
    Question .heading { width: 100%; text-style: bold; }
    Question Static { height: auto; max-height: 12; color: $foreground; }
    Question OptionList { height: auto; border: none; padding: 0; margin-top: 1; background: $surface; }
    """

    def __init__(self, heading: str, text: str, answers: list[Answer]) -> None:
        super().__init__()
        self._heading, self._text, self._answers = safe(heading), text, answers

    def compose(self) -> ComposeResult:
        """The question above its answers."""
        with Vertical():
            yield Label(self._heading, classes="heading", markup=False)
            if self._text:
                yield Static(Text("\n".join(map(safe, self._text.split("\n")))), markup=False)
            options = [Option(beside(f" {each.key}", each.words), id=each.value) for each in self._answers]
            yield OptionList(*options, markup=False, compact=True)

    def on_mount(self) -> None:
        """Arrows choose."""
        options = self.query_one(OptionList)
        options.highlighted = next((at for at, each in enumerate(self._answers) if each.value == STAY), 0)
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter."""
        self.dismiss(event.option.id)

    def on_key(self, event: events.Key) -> None:
        """The key of an answer."""
        for answer in self._answers:
            if event.key == answer.key:
                event.stop()
                self.dismiss(answer.value)


def quit_question(script: str) -> Question:
    """What becomes of a program that is alive."""
    return Question(
        f"{script or 'The program'} has not ended. What becomes of it?",
        "",
        [
            Answer("k", "kill it; its recording stays", "kill"),
            Answer("l", "leave it running; agdbg can attach again", "leave"),
            Answer("s", "stay here (q, Esc)", STAY),
        ],
    )


def barrier_question(text: str) -> Question:
    """Whether to step back where not everything can be taken back."""
    question = Question(
        "Step back all the same?",
        text,
        [Answer("s", "stay here (q, Esc)", STAY), Answer("b", "step back; what was named is not restored", "force")],
    )
    question.is_of_run = True
    return question
