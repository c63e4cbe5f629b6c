"""Drawings and exports of a graph: one renderer per format, found by file suffix.

Renderers are imported when first asked for, so that naming the formats costs nothing at start-up.
"""

from importlib import import_module
from os import PathLike, fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from agdbg.graph.model import Graph


class Renderer(Protocol):
    """Turns a graph into the text of a file, whole as it is: fold big ones first (`agdbg.graph.collapse`)."""

    def render(self, graph: "Graph") -> str:
        """Return the whole file, lines ended by LF, encodable as UTF-8."""
        ...


class UnknownSuffix(ValueError):
    """No renderer writes files with this suffix; the message names those that there are."""


_RENDERERS: dict[str, str | Renderer] = {
    ".dot": "agdbg.render.dot:DotRenderer",
    ".gv": "agdbg.render.dot:DotRenderer",
    ".json": "agdbg.render.json:JsonRenderer",
    ".svg": "agdbg.render.svg:SvgRenderer",
    ".txt": "agdbg.render.text:TextRenderer",
}


def suffixes() -> list[str]:
    """The file suffixes that can be written, sorted."""
    return sorted(_RENDERERS)


def register(suffix: str, renderer: Renderer) -> None:
    """Let `renderer` write the files that end in `suffix` (".html", say), in place of any before it."""
    if not suffix.startswith(".") or len(suffix) < 2:
        raise ValueError(f"a file suffix starts with a dot, as '.svg' does: {suffix!r}")
    _RENDERERS[suffix.lower()] = renderer


def renderer_for(path: str | PathLike[str]) -> Renderer:
    """Return the renderer for a file name, by its last suffix in any case.

    Raises:
        UnknownSuffix: there is none for that suffix.
    """
    name = fspath(path)
    suffix = PurePath(name).suffix.lower()
    found = _RENDERERS.get(suffix)
    if found is None:
        what = f"files that end in '{suffix}'" if suffix else "files without a suffix"
        raise UnknownSuffix(f"cannot write {name!r}: no renderer for {what}; known are {', '.join(suffixes())}")
    if isinstance(found, str):
        found = _RENDERERS[suffix] = _load(found)
    return found


def _load(spec: str) -> Renderer:
    module, _, name = spec.partition(":")
    return cast(Renderer, getattr(import_module(module), name)())
