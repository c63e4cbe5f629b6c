"""The names on a source line: what it assigns, what its operands are, where its backward call starts."""

import ast
import re
from collections.abc import Iterator

from agdbg.diagnose.syntax import is_at, name_of, read, unparse
from agdbg.record.facts import NodeFact
from agdbg.record.lookup import Site
from agdbg.render.clean import shorten

#: Characters of an expression that are quoted.
QUOTE_LIMIT = 48
_ASSIGNED = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=(?!=)")
#: Functions of Python whose argument holds many tensors.
_COLLECTING = {"sum", "max", "min"}
#: Ops that an operator builds with its operands the other way round.
_EXCHANGED = ("Rsub", "Reciprocal")
#: Ops whose operands no engine exchanges.
_ORDERED = ("Div", "Pow", "SubBackward")
#: Methods and attributes that give the same memory with its dimensions in another order.
_TURNING, _TURNED = {"t", "transpose", "permute", "swapaxes", "swapdims"}, {"T", "mT"}
#: What people call the modules that hold functions of tensors: `torch.exp(x)` works on x, and `y.exp()` on y.
_MODULES = {"torch", "F", "nn", "functional", "np", "numpy", "ag", "agdbg_engine", "autograd", "math"}


def quoted(text: str) -> str:
    """A piece of source as it is quoted in a sentence: on one line, not too long."""
    return shorten(text, QUOTE_LIMIT)


def expression(site: Site) -> str:
    """The source of the expression that ran; empty when it is not known, or goes on to another line."""
    line = site.text.encode("utf-8", "surrogatepass")
    if not 0 <= site.col < site.end_col or site.end_line not in (0, site.line):
        return ""
    return quoted(line[site.col : site.end_col].decode("utf-8", "replace"))


# ----- assignments -----


def assigned(site: Site) -> str:
    """What the line assigns the site's expression to, such as ``h`` or ``self.h``; empty when it does not.

    Without columns the expression is taken to be the whole right side.
    """
    reading = read(site)
    if reading is None:
        return _assigned_on_cut_line(site)
    for targets, value in _assignments(reading.statement):
        name = _single(targets) if site.col < 0 else _of_value(targets, value, site, reading.shift)
        if name:
            return name
    augmented = reading.found
    return quoted(unparse(augmented.target)) if isinstance(augmented, ast.AugAssign) else ""


def _assignments(statement: ast.stmt) -> Iterator[tuple[list[ast.expr], ast.expr]]:
    """The (targets, value) of the statement and of the walruses in it."""
    for each in ast.walk(statement):
        if isinstance(each, ast.Assign):
            yield each.targets, each.value
        elif isinstance(each, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and each.value is not None:
            yield [each.target], each.value


def _single(targets: list[ast.expr]) -> str:
    """The first target that is no list of targets."""
    return next((quoted(unparse(t)) for t in targets if not isinstance(t, ast.Tuple | ast.List)), "")


def _of_value(targets: list[ast.expr], value: ast.expr, site: Site, shift: int) -> str:
    """The target of what stands at the site: the value itself, or a part of it."""
    return _single(targets) if is_at(value, site, shift) else _picked(targets, value, site, shift)


def _picked(targets: list[ast.expr], value: ast.expr, site: Site, shift: int) -> str:
    """Of ``a, b = x, y`` the target that stands for the site's expression, and of ``a = x if c else y`` the one."""
    if isinstance(value, ast.IfExp):
        branches = (value.body, value.orelse)
        return next(filter(None, (_of_value(targets, each, site, shift) for each in branches)), "")
    if not isinstance(value, ast.Tuple):
        return ""
    for target in targets:
        if isinstance(target, ast.Tuple) and len(target.elts) == len(value.elts):
            for name, each in zip(target.elts, value.elts, strict=True):
                if is_at(each, site, shift):
                    return quoted(unparse(name))
    return ""


def _assigned_on_cut_line(site: Site) -> str:
    """The name in ``h = torch.tanh(`` with the rest on the next lines."""
    match = _ASSIGNED.match(site.text)
    if match is None or site.end_line <= site.line:
        return ""
    before = site.text.encode("utf-8", "surrogatepass")[: max(site.col, 0)].decode("utf-8", "replace")
    return match[1] if before.strip() == match[0].strip() else ""


def is_returned(site: Site) -> bool:
    """Whether the line returns the value of the site's expression."""
    reading = read(site)
    if reading is None or not isinstance(reading.statement, ast.Return) or reading.statement.value is None:
        return False
    return site.col < 0 or is_at(reading.statement.value, site, reading.shift)


def dropped(site: Site, method: str) -> str:
    """The name that a statement calls a method on without using what it returns; empty for any other statement."""
    reading = read(site)
    made = reading.statement.value if reading is not None and isinstance(reading.statement, ast.Expr) else None
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.func.attr != method:
        return ""
    return quoted(name_of(made.func.value))


def goes_to_numpy(site: Site) -> bool:
    """Whether what the site's expression makes goes to NumPy on the same line: ``x.detach().numpy()``, ``np.asarray(...)``."""
    reading = read(site)
    if reading is None or site.col < 0:
        return False
    made = [each for each in ast.walk(reading.statement) if isinstance(each, ast.Call)]
    return any(_exports(each) and any(is_at(part, site, reading.shift) for part in _chain(each)) for each in made)


def _exports(made: ast.Call) -> bool:
    if isinstance(made.func, ast.Attribute) and made.func.attr in ("numpy", "tolist"):
        return True
    return isinstance(made.func, ast.Attribute) and unparse(made.func.value) in ("np", "numpy")


def _chain(made: ast.Call) -> Iterator[ast.expr]:
    """What a call works on, and what that was made from by calls of methods: ``x.detach().cpu()``, ``x.detach()``, ``x``."""
    for each in receivers(made):
        below: ast.expr = each
        while True:
            yield below
            if isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute):
                below = below.func.value
            else:
                break


def is_call_of(site: Site, method: str) -> bool:
    """Whether the call at the site is one of a method of this name; without columns whether the statement is."""
    if f".{method}(" not in site.text:
        return False
    reading = read(site)
    if reading is None:  # a line that cannot be read for itself
        return True
    statement = reading.statement
    whole = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    made = reading.found if site.col >= 0 else whole
    return isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == method


# ----- operands -----


def operand(site: Site, node: NodeFact, index: int, *, of_tensors: bool = False) -> str:
    """The name of what the expression at ``site`` gave ``node`` as input ``index``; empty when not known.

    With ``of_tensors`` both operands are known to be tensors: an engine only exchanges numbers.
    """
    found = operand_of(site, node, index, of_tensors=of_tensors)
    return quoted(name_of(found)) if found is not None else ""


def viewed_operand(site: Site, node: NodeFact, index: int, *, of_tensors: bool = False) -> str:
    """The same, and of a transposed tensor the tensor itself: ``w`` of ``x @ w.t()`` and of ``x @ w.T``."""
    found = operand_of(site, node, index, of_tensors=of_tensors)
    while isinstance(found, ast.Call | ast.Attribute):
        function = found.func if isinstance(found, ast.Call) else found
        names = _TURNING if isinstance(found, ast.Call) else _TURNED
        if not isinstance(function, ast.Attribute) or function.attr not in names or _is_module(function.value):
            break
        found = function.value
    return quoted(name_of(found)) if found is not None else ""


def operand_of(site: Site, node: NodeFact, index: int, *, of_tensors: bool = False) -> ast.expr | None:
    """What the expression at ``site`` gave ``node`` as input ``index``, as a tree; None when not known."""
    reading = read(site)
    if reading is None or reading.found is None:
        return None
    return _operand(reading.found, node, index, of_tensors)


def _operand(found: ast.AST, node: NodeFact, index: int, of_tensors: bool) -> ast.expr | None:
    if isinstance(found, ast.BinOp):
        return _of_two(found.left, found.right, node, index, of_tensors)
    if isinstance(found, ast.AugAssign):
        return _of_two(found.target, found.value, node, index, of_tensors)
    if isinstance(found, ast.UnaryOp):
        return found.operand
    if isinstance(found, ast.Subscript):
        return found.value
    if isinstance(found, ast.Call) and _applies(found, node):
        tensors = [each for each in found.args if not isinstance(each, ast.Constant)]  # nothing else has an edge
        return tensors[index] if index < len(tensors) == len(node.edges) else None
    if isinstance(found, ast.Call):
        given = receivers(found) if _builds(called(found), node.op.name) else []
        if given:
            return given[index] if index < len(given) else None
        layer = len(found.args) == 1 and called(found) not in _COLLECTING
        return found.args[0] if layer else None  # what goes into a layer is its argument
    return None


def _of_two(left: ast.expr, right: ast.expr, node: NodeFact, index: int, of_tensors: bool) -> ast.expr | None:
    """Of ``left * right``. Beside a number it is the other one: an engine may have exchanged the two."""
    variables = [each for each in (left, right) if not isinstance(each, ast.Constant)]
    if len(variables) == 1:
        return variables[0]
    alone = [bool(edge.node) for edge in node.edges] in ([True], [True, False])
    if (alone and not of_tensors and not node.op.name.startswith(_ORDERED)) or node.op.name.startswith(_EXCHANGED):
        return None
    return (left, right)[index] if index < 2 else None


def _applies(made: ast.Call, node: NodeFact) -> bool:
    """Whether a call is ``Function.apply(...)`` of the custom Function whose node it is."""
    function = made.func
    if not isinstance(function, ast.Attribute) or function.attr != "apply":
        return False
    return node.op.name == f"{name_of(function.value).rpartition('.')[2]}Backward"


def _builds(function: str, op: str) -> bool:
    """Whether a function of this name builds a node called ``op``."""
    stem = function.rstrip("_").lower().replace("_", "")
    return bool(stem) and op.lower().startswith(stem)


def receivers(made: ast.Call) -> list[ast.expr]:
    """What a call works on: ``[x, y]`` of ``torch.add(x, y)`` and of ``x.add(y)``."""
    if isinstance(made.func, ast.Attribute) and not _is_module(made.func.value):
        return [made.func.value, *made.args]
    return list(made.args)


def _is_module(tree: ast.expr) -> bool:
    return unparse(tree).rpartition(".")[2] in _MODULES


def called(made: ast.Call) -> str:
    """The last part of what is called."""
    function = made.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def calls(site: Site) -> list[ast.Call]:
    """The call that stands at the site; all calls of the statement when no expression is known."""
    reading = read(site)
    if reading is None:
        return []
    if isinstance(reading.found, ast.Call):
        return [reading.found]
    return [] if reading.found else [each for each in ast.walk(reading.statement) if isinstance(each, ast.Call)]


# ----- calls of backward -----


def call_text(site: Site, *names: str) -> str:
    """The call of a function of one of these names as it stands there, without long arguments; else ``name()``."""
    found = _call_of(site, names)
    for text in (unparse(found), f"{unparse(found.func)}(...)") if found is not None else ():
        if 0 < len(text) <= QUOTE_LIMIT:
            return text
    return f"{names[0] or 'backward'}()"


def differentiated(site: Site) -> str:
    """The name of what a call of ``backward`` or ``grad`` starts from, such as ``loss``; else empty."""
    found = _call_of(site, ("backward", "grad"))
    if found is None:
        return ""
    function = found.func
    if isinstance(function, ast.Attribute) and not _is_module(function.value):
        return "" if found.args or function.attr != "backward" else name_of(function.value)
    return name_of(found.args[0]) if found.args and called(found) in ("backward", "grad") else ""


def gives_more(site: Site) -> bool:
    """Whether a call of ``backward`` is given a gradient, or the inputs to differentiate for: a sum is no replacement for it."""
    found = _call_of(site, ("backward",))
    if found is None:
        return False
    own = not isinstance(found.func, ast.Attribute) or _is_module(found.func.value)
    return len(found.args) > own or any(each.arg in ("gradient", "inputs", "grad_tensors") for each in found.keywords)


def _call_of(site: Site, names: tuple[str, ...]) -> ast.Call | None:
    return next((each for each in calls(site) if called(each) in names), None)
