"""Pieces of text in the styles of the theme, as a line of a widget."""

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.strip import Strip
from textual.widget import Widget

from agdbg_ui.text import Pieces, fit
from agdbg_ui.themes import UNCOLOURED, lifted


def paint(widget: Widget, pieces: Pieces, width: int, under: str = "") -> Strip:
    """A line of exactly `width` cells; the style `under` lies under all of it."""
    if widget.app.no_color:
        under = UNCOLOURED.get(under, under)
    styled = [(text, lifted(style) if under else style) for text, style in fit(pieces, width) if text]
    segments = [Segment(text, colour(widget, under, style)) for text, style in styled]
    return Strip(segments).adjust_cell_length(width, colour(widget, under))


def colour(widget: Widget, *styles: str) -> RichStyle:
    """Styles of the theme laid on each other, the widget's own at the bottom."""
    whole = widget.visual_style
    for style in styles:
        if style:
            whole += widget.app.stylesheet.parse_style(style)
    return whole.rich_style
