"""What keys do in one pane, for the help screen; `docs/tui.md` has the same."""

#: By pane or page: keys, and what they do there.
IN_PANES: dict[str, tuple[tuple[str, str], ...]] = {
    "inspector": (
        ("← →", "fold and unfold a section, or a value that is too long for its line"),
        (
            "Enter",
            "folds a section; replaces a gradient with ✎; goes to the node of an edge with →; shows another value",
        ),
        ("Space", "shows a value, a gradient with ✎ too: elements, statistics, slices, what has changed"),
    ),
    "a value": (
        ("Tab", "as a heat map, in shades, as numbers"),
        ("↑ ↓ ← → PgUp PgDn Home, h j k l", "move through the numbers"),
        ("[ ], { }", "the slice before and the next one; which dimension they are along"),
        ("b", "to the first NaN or Inf"),
        ("d", "keeps the value, and shows what it has changed by since an earlier pass; again the value"),
        ("Esc, q, Enter", "closes it"),
    ),
    "findings": (
        ("Enter", "goes to the node and the line"),
        ("a", "also what is suspicious although nothing was raised, as agdbg lint tells it; again no longer"),
    ),
    "timeline": (
        ("↑ ↓", "select the node"),
        ("Enter", "looks at the recording as it was then"),
        ("← →", "the pass before, the pass after"),
        ("l", "the norm of the gradient by layer; again the runs"),
    ),
    "stops": (
        ("Enter", "goes to the line or the name; turns to the thread; switches the error on or off"),
        ("Space", "switches the breakpoint, the watch or the error off, and on again"),
        ("d, Delete", "removes the breakpoint or the watch"),
        ("=", "gives the breakpoint a condition"),
    ),
    "graph": (
        ("← →, h l", "fold what is around the row; unfold it"),
        ("Enter", "unfolds the row"),
    ),
    "boxes": (
        ("← →, h l", "to the next box of the layer"),
        ("↑ ↓, k j", "to the producer, to the consumer"),
        ("Shift+← Shift+→ Shift+↑ Shift+↓", "move the sheet"),
        ("+ =, -", "further around, less far; by modules: deeper, less deep"),
        ("Space", "by modules; node by node again"),
        ("Enter", "puts the selected node into the middle; by modules: to its rows"),
    ),
    "modules": (
        ("← →, h l", "fold and unfold a module"),
        ("Enter", "unfolds a module; goes to the first row of one that is open, or to one that uses the parameter"),
    ),
    "a list": (("j k", "as ↓ ↑"),),
    "source": (
        ("b, click on the number", "breakpoint on the line of the cursor"),
        ("Space", "the next place of the node: its forward line, its hooks, the call of the pass"),
        ("← →", "see more of long lines"),
    ),
    "output": (
        ("i, Enter", "input mode"),
        ("Ctrl+E", "$EDITOR with all of the output, also that of which the lines are no longer here"),
    ),
    "events": (("Enter", "goes to the node of the event, or shows its line"),),
    "a line to type into": (
        ("↑ ↓", "earlier and later lines; in a search the match before and after"),
        ("Tab", "completes a command"),
        ("PgUp PgDn", "scroll an answer that is too long to be shown at once"),
        ("Esc", "closes it; a command that waits for the program is no longer waited for"),
    ),
    "the errors to stop at": (
        ("Space, Enter", "switches one on or off"),
        ("Esc, q, E", "closes the list"),
    ),
    "a page of text": (
        ("Space, PgUp PgDn", "scrolls"),
        ("Esc, q, Enter", "closes it"),
    ),
}
