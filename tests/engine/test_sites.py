"""Which frame is the user's: the innermost one of a file that is not the engine's."""

import ast
from pathlib import Path

import agdbg_engine


def test_no_context_of_contextlib_decorates_a_function():
    """Its frame, which is no file of the engine, would be taken for the user's: ``within`` decorates instead."""
    trees = {path: ast.parse(path.read_text()) for path in Path(agdbg_engine.__file__).parent.rglob("*.py")}
    functions = [
        (path, each)
        for path, tree in trees.items()
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    contexts = {
        function.name
        for _, function in functions
        if any(ast.unparse(each).endswith("contextmanager") for each in function.decorator_list)
    }
    assert "suspended" in contexts
    found = [
        f"{path.name}:{function.lineno} @{ast.unparse(each)}"
        for path, function in functions
        for each in function.decorator_list
        if isinstance(each, ast.Call) and ast.unparse(each.func).rpartition(".")[2] in contexts
    ]
    assert not found
