"""The graph by modules and parameters, with totals."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from agdbg.sizes import size
from agdbg_ui.amounts import bar, duration
from agdbg_ui.text import Pieces, cells, pad, shorten, shorten_name
from agdbg_ui.themes import ASIDE, FAINT, LABEL, TITLE
from agdbg_ui.widgets.rows import Rows

Branch = Mapping[str, Any]
_NODES_CELLS, _TIME_CELLS, _LEAST_BAR = 14, 9, 6


class TreeView(Rows):
    """Modules in one another; the owner answers `TreeView.Wanted` with `put`.

    | Key | Does |
    | --- | --- |
    | left, right | fold and unfold a module |
    | enter | unfolds a module that is folded; goes to the first node of the module, or to one that uses the parameter |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "fold", "Fold", show=False),
        Binding("right,l", "unfold", "Unfold", show=False),
    ]

    class Wanted(Message):
        """It is seen, and may be out of date."""

    class Selected(Message):
        """A node is to be seen."""

        def __init__(self, node: int) -> None:
            super().__init__()
            self.node = node

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, header=1)
        self._folded: set[str] = set()
        self._depth = 0  # at which all were folded last; 0: none were
        self._begin()

    def _begin(self) -> None:
        self._all: Sequence[Branch] = ()
        self._shown: list[Branch] = []
        self._total = 0
        self._is_known = False
        self._around: set[str] = set()

    def forget(self) -> None:
        """No module is known; those of the same names will be folded as they were."""
        self._begin()
        super().forget()

    def put(self, branches: Sequence[Branch], total: int) -> None:
        """Show these, of `total`."""
        self._is_known = True
        if branches != self._all or total != self._total:
            self._all, self._total = branches, total
            self._around = {str(each["path"]).rpartition(".")[0] for each in branches if each["path"]}
            self._rebuild()
        else:
            self.refresh()

    def outdate(self) -> None:
        """There may be more."""
        if self.display and self.size.height:
            self.post_message(self.Wanted())

    def on_show(self) -> None:
        """It is seen: ask."""
        self.post_message(self.Wanted())

    # ----- rows -----

    @property
    def row_count(self) -> int:
        """Those that are in no folded module."""
        return len(self._shown)

    @property
    def empty_text(self) -> str:
        """That the program has no modules."""
        return "no modules were recorded" if self._is_known else self.lost or "…"

    def header_row(self, index: int, width: int) -> Pieces:
        """What the columns are."""
        if not self._shown:
            return []
        more = f"  (the first {len(self._all):,} of {self._total:,})" if self._total > len(self._all) else ""
        return [(f"nodes and time in all passes, with what is inside{more}", ASIDE)]

    def row(self, index: int, width: int) -> Pieces:
        """A module or a parameter."""
        branch = self._shown[index]
        is_module = branch["kind"] == "module"
        fold = ("▸ " if branch["path"] in self._folded else "▾ ") if is_module and self._has_inside(branch) else "  "
        indent = "  " * min(branch["depth"], max(width // 8, 1))
        name = str(branch["path"]).rsplit(".", 1)[-1] or "model"
        words = f"[{name}]" if not is_module else name
        tail = _module_tail(branch) if is_module else (size(branch["nbytes"]) if branch["nbytes"] else "")
        room = width - cells(indent + fold) - 2 - cells(tail)
        words = shorten_name(words, max(room, 8))
        head: Pieces = [(indent + fold, FAINT), (words, TITLE if is_module else LABEL), ("  ", "")]
        room -= cells(words)
        extra = max(min(room - 2, width // 3), 0)
        kind = shorten(str(branch["className"]), extra)
        head.append((kind, ASIDE))
        room -= cells(kind)
        bars = min(max(width // 5, _LEAST_BAR), room - 2)
        whole = int(self._all[0]["ns"]) if self._all and self._all[0]["path"] == "" else 0
        if not is_module or bars < _LEAST_BAR or not whole:
            return [*head, (" " * max(room, 0), ""), (tail, "" if is_module else ASIDE)]
        drawn = pad(bar(branch["ns"] / whole, bars), bars)
        return [*head, (" " * (room - bars), ""), (drawn, LABEL), (tail, "")]

    def on_row_chosen(self, index: int) -> None:
        """Unfold a module that is folded, else go to the node."""
        if self._shown[index]["path"] in self._folded:
            self.action_unfold()
        elif node := self._shown[index]["node"]:
            self.post_message(self.Selected(int(node)))

    def action_fold(self) -> None:
        """Fold the module of the cursor, or that around it."""
        if not self._shown:
            return
        branch = self._shown[self.cursor]
        path = str(branch["path"])
        if branch["kind"] != "module" or path in self._folded or not self._has_inside(branch):
            path = path.rpartition(".")[0]
        self._folded.add(path)
        self._rebuild(path)

    def action_unfold(self) -> None:
        """Unfold the module of the cursor."""
        if self._shown:
            path = str(self._shown[self.cursor]["path"])
            self._folded.discard(path)
            self._rebuild(path)

    def fold(self, how: str) -> str:
        """What a key of folds does (`agdbg_ui.folding`), to modules: what is to be said of it, or ""."""
        depths = {str(each["path"]): int(each["depth"]) for each in self._all if self._has_inside(each)}
        if not depths:
            return "there is nothing to fold yet"
        if how in ("fold", "unfold"):
            before = set(self._folded)
            self.action_fold() if how == "fold" else self.action_unfold()
            return "" if self._folded != before else f"there is nothing to {how} here"
        deepest = max(*depths.values(), 1)
        wanted = {"all": 1, "none": 0, "wider": self._depth - 1, "deeper": self._depth + 1}[how]
        self._depth = min(max(wanted, 0), deepest)
        self._folded = {path for path, depth in depths.items() if 0 < self._depth <= depth}
        self._rebuild()
        return f"modules folded at depth {self._depth} of {deepest}" if self._depth else "all modules are unfolded"

    def _has_inside(self, branch: Branch) -> bool:
        return branch["path"] in self._around

    def _rebuild(self, here: str | None = None) -> None:
        here = here if here is not None else str(self._shown[self.cursor]["path"]) if self._shown else ""
        while any(_is_inside(here, path) for path in self._folded):
            here = here.rpartition(".")[0]
        self._shown = [
            each for each in self._all if not any(_is_inside(str(each["path"]), path) for path in self._folded)
        ]
        found = (at for at, each in enumerate(self._shown) if each["path"] == here)
        self.set_reactive(Rows.cursor, next(found, 0))
        self.rows_changed()
        self.show_row(self.cursor)


def _is_inside(path: str, module: str) -> bool:
    return path != module and (not module or path.startswith(f"{module}."))


def _module_tail(branch: Branch) -> str:
    nodes = f"{branch['nodes']:,} {'node' if branch['nodes'] == 1 else 'nodes'}"
    took = duration(branch["ns"]) if branch["ns"] else ""  # none of them has run yet
    return f" {took:>{_TIME_CELLS}}{nodes:>{_NODES_CELLS}}"
