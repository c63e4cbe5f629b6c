"""What a layer of ``nn`` returns, in which form: a tensor, or a tuple of them, such as the state of an LSTM.

Needs the source alone: the file gives the layer its name, or a loop takes it out of what has one.
"""

import ast
from collections.abc import Iterator

from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of, pairs

#: What the layers return, as somebody would write it; ``zeros()`` stands for a tensor.
_RESULTS = {
    **dict.fromkeys(("GRUCell", "RNNCell", "Linear", "Conv1d", "Conv2d", "Conv3d", "Embedding"), "zeros()"),
    "LSTMCell": "(zeros(), zeros())",
    "LSTM": "(zeros(), (zeros(), zeros()))",
    **dict.fromkeys(("GRU", "RNN", "MultiheadAttention"), "(zeros(), zeros())"),
}
_MANY = (ast.Tuple, ast.List)
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)
#: How many names are followed from one to the next.
_STEPS = 2


def result_of(tree: ast.Module, call: ast.Call) -> ast.expr | None:
    """What a call returns, written out, where it calls a layer whose class the file names; None for any other."""
    found = set(_made(tree, call.func, _STEPS)) if name_of(call.func) else set()
    text = found.pop() if len(found) == 1 else ""
    return ast.parse(text, mode="eval").body if text else None


def _made(tree: ast.Module, layer: ast.expr, steps: int) -> Iterator[str]:
    """What an expression for a layer, or for several, returns when it is called; empty for a layer of another class."""
    if isinstance(layer, ast.Call):
        of = layer.args[:1] if called(layer) in ("ModuleList", "enumerate", "zip", "reversed") else []
        if called(layer) == "zip":
            of = layer.args
        yield from (text for each in of for text in _made(tree, each, steps)) if of else (_of_class(tree, layer),)
    elif isinstance(layer, _MANY):
        yield from (text for each in layer.elts for text in _made(tree, each, steps))
    elif isinstance(layer, _COMPREHENSIONS):
        yield from _made(tree, layer.elt, steps)
    elif isinstance(layer, ast.Subscript):
        yield from _made(tree, layer.value, steps)
    elif steps and name_of(layer):
        yield from (text for each in _given(tree, layer) for text in _made(tree, each, steps - 1))


def _of_class(tree: ast.Module, made: ast.Call) -> str:
    """What an object of a class returns that inherits from a layer and has no ``forward`` of its own, or is one."""
    name = called(made)
    own = next((each for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == name), None)
    if own is None:
        return _RESULTS.get(name, "")
    if any(isinstance(each, ast.FunctionDef) and each.name in ("forward", "__call__") for each in own.body):
        return ""
    return next(filter(None, (_RESULTS.get(name_of(each).rpartition(".")[2], "") for each in own.bases)), "")


def _given(tree: ast.Module, layer: ast.expr) -> Iterator[ast.expr]:
    """What the file gives a name or an attribute; a loop's variable what the loop goes through."""
    name = name_of(layer)
    tail = name.rpartition(".")[2]
    for each in ast.walk(tree):
        if isinstance(each, ast.Assign):
            for target in each.targets:
                for at, value in pairs(target, each.value):
                    same = isinstance(at, ast.Attribute) and isinstance(layer, ast.Attribute) and at.attr == tail
                    if same or name_of(at) == name:
                        yield value
        elif isinstance(each, ast.For | ast.comprehension):
            names = {part.id for part in ast.walk(each.target) if isinstance(part, ast.Name)}
            yield from [each.iter] if name in names else []
