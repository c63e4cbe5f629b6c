"""The filters of errors: the id, the label, what it does, and whether it is on from the start."""

FILTERS: tuple[tuple[str, str, str, bool], ...] = (
    ("backward-twice", "Backward through a freed graph", "Predicted: stop before the pass that would fail.", True),
    ("inplace-modified", "Saved tensor modified in place", "Predicted: stop before the pass that would fail.", True),
    ("leaf-inplace", "In-place write to a leaf that requires grad", "Stop where the write is refused.", False),
    ("view-inplace", "In-place write to a view that allows none", "Stop where the write is refused.", False),
    ("nan", "NaN", "Stop at the first node that makes NaN of what has none, before anything else runs.", False),
    (
        "inf",
        "Inf",
        "Stop at the first node that makes an infinity of finite numbers, before anything else runs.",
        False,
    ),
    (
        "none-grad",
        "Parameter without a gradient",
        "Stop at the end of a backward that gave a part of a model none.",
        False,
    ),
    ("no-grad-fn", "backward of what requires no gradient", "Stop where the call is refused.", False),
    ("shape", "Shapes that do not fit", "Post-mortem: stop where the error is raised.", False),
    ("dtype", "Types that do not fit", "Post-mortem: stop where the error is raised.", False),
    ("device", "Tensors on several devices", "Post-mortem: stop where the error is raised.", False),
    ("hook-error", "Error in a hook", "Post-mortem: stop when a hook of a backward pass has raised.", False),
    ("not-implemented", "Something is not implemented", "Post-mortem: stop where the error is raised.", False),
    ("any", "Any error of autograd", "Stop where any autograd error is raised, and before the predicted ones.", False),
)
VALUES = frozenset({"nan", "inf"})
"""Those that look at what nodes make."""
LATE = (
    "what was built before now was not looked at; where forward has made such values already, a pass stops at the first node "
    "that saved one and passes it on; restart looks at everything"
)
KNOWN = tuple(each[0] for each in FILTERS)
CONDITION = "a Python expression over event.text, event.error, node, grads_in, step, rank and the program's variables"
