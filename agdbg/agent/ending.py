"""Expressions that end by themselves: nobody needs to watch the clock while they are evaluated, which takes many times as long.

Such an expression calls nothing but methods of the tensors that a stop gives, and a few functions of Python on what those give. It
has no functions of its own, and hands none to others.
"""

import ast

TENSORS = frozenset({"grad", "grads", "grads_in", "grads_out", "saved"})
"""Names by which a stop gives tensors, or lists of them."""
BUILTINS = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "round"})
"""Functions of Python that may be called, unless the program has others of that name."""

_ALLOWED = (
    ast.Expression, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.Compare, ast.cmpop, ast.IfExp,
    ast.Constant, ast.Tuple, ast.List, ast.Slice, ast.Load, ast.Attribute, ast.Subscript, ast.Name, ast.Call, ast.keyword,
)  # fmt: skip


def ends(tree: ast.AST) -> bool:
    """Whether an expression ends by itself, where :data:`TENSORS` are those of a stop and :data:`BUILTINS` those of Python."""
    return all(
        isinstance(each, _ALLOWED) and (not isinstance(each, ast.Call) or _ends(each)) for each in ast.walk(tree)
    )


def _ends(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in BUILTINS
    return isinstance(call.func, ast.Attribute) and _is_of_tensors(call.func.value)


def _is_of_tensors(tree: ast.AST) -> bool:
    """Whether a value comes of a tensor of the stop by what is read off it, or called."""
    while isinstance(tree, ast.Attribute | ast.Subscript | ast.Call):
        if not isinstance(tree, ast.Call):
            tree = tree.value
        elif isinstance(tree.func, ast.Name) and tree.func.id == "abs" and tree.args:
            tree = tree.args[0]
        else:
            tree = tree.func
    return isinstance(tree, ast.Name) and tree.id in TENSORS
