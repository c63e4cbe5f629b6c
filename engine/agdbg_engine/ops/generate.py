"""Turns the op table into code: ``python scripts/generate_ops.py`` (``--check`` fails when it is stale).

One Python frame per op, forward and backward, is what the speed of the engine rests on; written by hand that would be
the same sixty lines for every row. The result, ``_generated.py``, is ordinary code that a debugger can step
through. ``--bare`` leaves out the test for an event sink (what the benchmark of the cost of instrumentation compares with).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from . import formulas
from .row import Row, names_in
from .table import TABLE

HEADER = '''"""Generated from the op table by ``python scripts/generate_ops.py``. Do not edit."""
# ruff: noqa
# mypy: ignore-errors

from typing import Any

from numpy import ndarray

from .. import events
from ..backward import add as b_add
from ..backward import route_run as b_route_run
from ..device import array_module
from ..grad_mode import mode
from ..node import Node1, Node2, NodeN, edge, next_seq, no_instances, nowhere
from ..saved import late_storage, unpacked
from ..sites import INTERNAL, _getframe, user_frame
from ..tensor import Tensor
from ..view import as_view
from . import formulas as f_
from . import graph as o_
from . import kernels as k_
from . import prepare as p_
{imports}

new = object.__new__
NUMBERS = frozenset((float, int, bool))
BUT_BOOLS = frozenset((float, int))
'''


class Variant:
    """One row with some arguments given as numbers: one node class and one branch of the function."""

    def __init__(self, row: Row, numbers: tuple[str, ...]) -> None:
        self.row = row
        self.numbers = numbers
        self.node = row.scalars[numbers[0]] if numbers else row.node
        first = next(r for r in TABLE if self.node in (r.node, *r.scalars.values()))
        self.cls = self.node + "".join(f"_{n}" for n in (*((row.name,) if first is not row else ()), *numbers))
        self.tensors = tuple(t for t in row.tensors if t not in numbers)
        self.edges = tuple(d for d in row.differentiable if d not in numbers)
        self.fits = row.elementwise and len(self.tensors) > 1
        named: dict[str, set[str]] = {e: names_in(row.grads[e] or "") for e in self.edges}
        everything = set().union(*named.values()) if named else set()
        self.users = {n: tuple(e for e in self.edges if n in named[e]) for n in everything}
        self.saved = tuple(t for t in self.tensors if t in everything)
        self.saves_result = "result" in everything
        self.wrapped = bool(numbers) and self.node == row.node
        """PyTorch makes a tensor of the number: the node has an edge to nothing for it, and frees it with what it saved."""
        self.consts = tuple(sorted(n for n in everything if n not in self.tensors and n not in ("g", "result")))

    @property
    def spent(self) -> tuple[str, ...]:
        """Slots of numbers and indices that a backward call frees, since they are saved tensors in PyTorch."""
        names = (*(self.numbers if self.wrapped else ()), "indices")
        return tuple(f"c_{n}" for n in names if n in self.consts)

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the saved tensors."""
        return (*self.saved, "result") if self.saves_result else self.saved

    def const_value(self, name: str) -> str:
        """Source of a saved shape, dtype, number or argument."""
        for suffix in ("_shape", "_dtype"):
            if name.endswith(suffix) and name.removesuffix(suffix) in self.tensors:
                return f"a_{name.removesuffix(suffix)}.{suffix[1:]}"
        if name.endswith("_swapped"):
            arg = name.removesuffix("_swapped")
            return f"{arg}._meta is not None and p_.swapped(a_{arg})"
        return "p_.own(indices)" if name == "indices" else name


def variants(row: Row) -> list[Variant]:
    """The forms of a row: all tensors, then each allowed number."""
    return [Variant(row, ()), *(Variant(row, (s,)) for s in row.scalars)]


class Rewrite(ast.NodeTransformer):
    """Points the names of a formula at the locals, constants and functions of generated code."""

    def __init__(self, variant: Variant | None, on_tensors: bool) -> None:
        self.variant = variant
        self.space = "o_" if on_tensors else "k_"

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        tangents = [a for a in node.args if self.variant is None and _has_tangent(a)]
        if len(tangents) > 1:  # operators know what a missing tangent is, functions do not
            node.args = [ast.Call(_dotted("o_", "filled"), [a], []) if a in tangents else a for a in node.args]
        if self.space == "k_" and name in INLINE:
            return _inlined(name, node.args)
        if hasattr(formulas, name):
            node.func = _dotted("f_", name)
            node.args.insert(0, ast.Name(self.space))
        else:
            node.func = ast.Name(f"k_{name}") if self.space == "k_" else _dotted("o_", name)
        if len(tangents) == 1:
            position = ast.Constant(node.args.index(tangents[0]))
            return ast.Call(_dotted("o_", "linear"), [node.func, position, *node.args], [])
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if self.variant is not None and node.id in self.variant.consts:
            return _dotted("self", "c_" + node.id)
        if node.id == "self":
            return ast.Name("self_")
        return node


INLINE = {"mm": "a.dot(b)", "t": "a.T"}
"""Kernels so short that a call would cost as much as they do: what stands in their place on buffers."""


def _inlined(name: str, args: list[ast.expr]) -> ast.expr:
    given = dict(zip("ab", args, strict=False))

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return given[node.id]

    expression: ast.expr = Fill().visit(ast.parse(INLINE[name], mode="eval").body)
    return expression


def _has_tangent(expression: ast.expr) -> bool:
    return any(n.endswith("_t") for n in names_in(ast.unparse(expression)))


def _dotted(a: str, b: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(a), b)


def rewrite(formula: str, variant: Variant | None, on_tensors: bool = False) -> str:
    """Source of a formula inside a node's method."""
    tree = Rewrite(variant, on_tensors).visit(ast.parse(formula, mode="eval"))
    return ast.unparse(tree)


def _local(name: str) -> str:
    return "self_" if name == "self" else name


# ----- the node class -----


def node_class(v: Variant) -> Iterator[str]:
    """Source lines of the node class of a variant."""
    arity = len(v.edges)
    own = [f"s_{s}" for s in v.slots] + [f"v_{s}" for s in v.slots] + [f"c_{c}" for c in v.consts]
    own += ["fit"] * v.fits + ["o_storage"] * v.saves_result
    yield f"class {v.cls}({('Node1', 'Node2')[arity - 1] if arity < 3 else 'NodeN'}):"
    yield f"    __slots__ = {tuple(own)!r}"
    yield "    __new__ = no_instances"
    yield f"    op_name = {v.node!r}"
    yield f"    slots = {v.slots!r}"
    yield f"    outputs_saved = {tuple(s == 'result' for s in v.slots)!r}"
    yield f"    consts = {v.consts!r}"
    if v.row.view:
        yield "    keeps = True"
    if v.wrapped:
        yield f"    blanks = {tuple(v.row.differentiable.index(n) for n in v.numbers)!r}"
    if v.spent:
        yield f"    spent = {v.spent!r}"
    yield ""
    yield from _run(v)
    yield from _grads(v, "grads", on_tensors=False)
    yield from _grads(v, "grads_graph", on_tensors=True)
    if v.slots or v.spent:
        yield "    def release(self, freed):"
        yield from _release(v, "        ")
        yield ""
    if v.saves_result:
        yield "    def output_storage(self, storage):"
        yield "        if self.o_storage is None:"
        yield "            self.o_storage = storage"
        yield "            return storage"
        yield "        return late_storage(self.o_storage, storage)"
        yield ""
    yield ""


def _release(v: Variant, pad: str) -> Iterator[str]:
    held = [*(f"self.s_{s}" for s in v.slots), *["self.o_storage"] * v.saves_result, *(f"self.{c}" for c in v.spent)]
    yield pad + " = ".join([*held, "freed"])


def _unpack(v: Variant, edges: tuple[str, ...], pad: str, on_tensors: bool, general: bool) -> Iterator[str]:
    """Check and fetch what the formulas of ``edges`` read; in the general way, complex ones conjugated."""
    for s in v.saved:
        if not set(v.users[s]) & set(edges):
            continue
        yield f"{pad}{_local(s)} = self.s_{s}"
        yield f"{pad}st = {_local(s)}._storage"
        yield f"{pad}if st is not None and st.version != self.v_{s}:"
        yield f"{pad}    {_local(s)} = unpacked(self, {s!r}, st)"
        if on_tensors and s in v.edges:
            producer = _edge(v, v.edges.index(s))
            yield f"{pad}elif {_local(s)}._fn is None and {producer} is not None and not {producer}.leaf:"
            yield f"{pad}    raise o_.detached(self)"
        if not on_tensors:
            yield f"{pad}{_local(s)} = {_local(s)}._a"
        if general and v.row.holomorphic:
            yield from _conjugate(_local(s), pad, on_tensors)
    if v.saves_result and set(v.users["result"]) & set(edges):
        yield f"{pad}st = self.o_storage"
        yield f"{pad}if st is not None and st.version != self.v_result:"
        yield f"{pad}    result = unpacked(self, 'result', st){'' if on_tensors else '._a'}"
        yield f"{pad}else:"
        yield f"{pad}    result = {'o_.output_of(self)' if on_tensors else 'self.s_result'}"
        if general and v.row.holomorphic:
            yield from _conjugate("result", pad, on_tensors)


def _conjugate(name: str, pad: str, on_tensors: bool) -> Iterator[str]:
    """A derivative at z is conjugated for the gradient (Wirtinger); with real coefficients that is the one at conj(z)."""
    yield f"{pad}if {name}{'._a' if on_tensors else ''}.dtype.kind == 'c':"
    yield f"{pad}    {name} = {'o_.conj_raw' if on_tensors else 'k_conj_raw'}({name})"


def _gradient(v: Variant, i: int, pad: str, target: str, on_tensors: bool, general: bool) -> Iterator[str]:
    e = v.edges[i]
    yield from _unpack(v, (e,), pad, on_tensors, general)
    yield f"{pad}{target} = {rewrite(v.row.grads[e] or '', v, on_tensors)}"
    if v.fits:
        yield f"{pad}if self.fit is not None:"
        yield f"{pad}    {target} = {'o_.sum_to' if on_tensors else 'k_sum_to'}({target}, self.fit[{i}])"


def _edge(v: Variant, i: int) -> str:
    return f"self.n{i}" if len(v.edges) < 3 else f"self.next[{i}]"


def _run(v: Variant) -> Iterator[str]:
    yield "    def run(self, g, buffers, shared, summed, freed):"
    yield "        if self.nrs is not None:"
    yield "            return b_route_run(self, g, buffers, shared, summed, freed)"
    for i, e in enumerate(v.edges):
        pad = " " * 8
        yield f"{pad}n = {_edge(v, i)}"
        if len(v.edges) > 1:
            yield f"{pad}if n is not None:"
            pad += "    "
        yield from _gradient(v, i, pad, "gi", on_tensors=False, general=False)
        yield f"{pad}if n in buffers:"
        yield f"{pad}    b_add(buffers, n, gi, shared, summed)"
        yield f"{pad}else:"
        yield f"{pad}    buffers[n] = gi"
        if e in v.row.alias:
            yield f"{pad}    if n.keeps{_others_hold(v, e)}:"
            yield f"{pad}        shared.add(n)"
    if v.slots or v.spent:
        yield "        if freed is not None:"
        yield from _release(v, " " * 12)
    yield ""


def _others_hold(v: Variant, edge: str) -> str:
    """What else must hold for ``gi`` to be a buffer that somebody else may hold, if anything."""
    if len(v.edges) == 1 and v.row.view:
        return " and self in shared"  # a view's gradient is as fresh as what came in
    formula = v.row.grads[edge] or ""  # a sum, by itself or to fit, is new where it is not g
    return " and gi is g" if formula.startswith("sum_to(g,") or (v.fits and formula == "g") else ""


def _grads(v: Variant, name: str, on_tensors: bool) -> Iterator[str]:
    yield f"    def {name}(self, g):"
    if len(v.edges) == 1:
        yield from _gradient(v, 0, " " * 8, "g0", on_tensors, general=True)
    else:
        yield "        " + " = ".join(f"g{i}" for i in range(len(v.edges))) + " = None"
        for i in range(len(v.edges)):
            yield f"        if {_edge(v, i)} is not None:"
            yield from _gradient(v, i, " " * 12, f"g{i}", on_tensors, general=True)
    yield f"        return ({', '.join(f'g{i}' for i in range(len(v.edges)))},)"
    yield ""


# ----- the function -----


def function(row: Row) -> Iterator[str]:
    """Source lines of the op: checks, value, node."""
    typed = [f"{a}: {'Tensor' if a in row.tensors and a not in row.scalars else 'Any'}" for a in row.args]
    head = ", ".join(
        f"{t} = {row.defaults[a]}" if a in row.defaults else t for a, t in zip(row.args, typed, strict=True)
    )
    yield f"def {row.name}({head}) -> Tensor:"
    yield "    try:"
    if row.scalars:
        numberable = tuple(row.scalars)
        yield f"        if {' and '.join(f'isinstance({s}, Tensor)' for s in numberable)}:"
        for v in variants(row):
            if v.numbers:
                known = "BUT_BOOLS" if row.name in ("sub", "rsub") else "NUMBERS"  # refused where it is slow already
                yield f"        if type({v.numbers[0]}) in {known}:"
            yield from _branch(v, " " * 12)
        given = ", ".join(f"{a!r}: {a}" for a in row.args)
        yield f"        return p_.converted({row.name}, {tuple(row.scalars)!r}, {{{given}}})"
    else:
        yield from _branch(Variant(row, ()), " " * 8)
    yield "    except Exception as error:"
    tensors, rest = (", ".join(f"{a!r}: {a}" for a in names) for names in (row.tensors, row.plain))
    yield f"        return p_.failed({row.name}, error, {{{tensors}}}, {{{rest}}})"
    yield ""
    yield ""


def _branch(v: Variant, pad: str) -> Iterator[str]:
    row = v.row
    for t in v.tensors:
        yield f"{pad}a_{t} = {t}._in"
    mixed = [t for t in v.tensors if row.elementwise and row.grads[t] is not None]
    for a, b in pairwise(mixed):
        yield f"{pad}if a_{a}.dtype is not a_{b}.dtype and a_{a}.dtype != a_{b}.dtype:"
        floats = ", True" if row.floats else ""
        yield f"{pad}    return p_.mixed({row.name}, {mixed!r}, {{{', '.join(f'{x!r}: {x}' for x in row.args)}}}{floats})"
    if row.unless[0]:
        yield f"{pad}if {row.unless[0]}:"
        yield f"{pad}    return p_.{row.unless[1]}({', '.join(row.args)})"
    if row.kinds:
        yield f"{pad}if a_self.dtype.kind not in {row.kinds!r}:"
        yield f"{pad}    p_.refuse_kind({row.name!r}, a_self.dtype)"
    if row.floats and not row.scalars:
        yield f"{pad}if a_self.dtype.kind in 'biu':"
        yield f"{pad}    return {row.name}(p_.floated(self){''.join(f', {a}' for a in row.args[1:])})"
    if _numbered(v):
        yield from _with_numbers(v, pad)
    else:
        yield f"{pad}r = {_value(v)}"
    yield f"{pad}if type(r) is not ndarray:"
    others = "".join(f", a_{t}" for t in v.tensors) if len(v.tensors) > 1 and not row.elementwise else ""
    yield f"{pad}    r = p_.as_array(r{others})"
    yield f"{pad}out = new(Tensor)"
    yield f"{pad}out._a = r"
    yield f"{pad}out._storage = out._gradient = out._meta = None"
    yield f"{pad}out._nr = 0"
    rg = " or ".join(f"{e}._rg" for e in v.edges)
    yield f"{pad}if ({rg}) and mode.grad:"
    yield from _record(v, pad + "    ")
    yield f"{pad}else:"
    yield from _no_bools(row, pad + "    ")
    yield f"{pad}    out._fn = None"
    yield f"{pad}    out._rg = False"
    yield from _weak(v, pad + "    ")
    yield f"{pad}    if events.on:"
    yield f"{pad}        if events.sink is not None and ({rg}):"
    yield f"{pad}            p_.cut(({', '.join(v.edges)},))"
    if row.view:
        rest = "".join(f", {a}" for a in row.args[1:])
        yield f"{pad}out = as_view(out, self, {row.name!r}, lambda b: k_{row.name}(b{rest}))"
        yield from _after(row, pad)
    else:
        yield from _after(row, pad + "        ")
    yield f"{pad}return out"


def _no_bools(row: Row, pad: str) -> Iterator[str]:
    """The refusal of bools, where nothing is recorded: else there are none."""
    if not row.bools:
        operands = "".join(f", a_{t}" for t in row.grads) if len(row.grads) > 1 else ""
        yield f"{pad}if a_self.dtype.kind == 'b':"
        yield f"{pad}    p_.refuse_bools({row.name!r}{operands})"


def _numbered(v: Variant) -> bool:
    return bool(v.edges and v.numbers)


def _with_numbers(v: Variant, pad: str) -> Iterator[str]:
    """The value with a number, and the class of the node: integers and half precision have their own ways."""
    names = [*("a_" + t for t in v.tensors), *(_local(a) for a in v.row.args if a not in v.tensors)]
    inner = ", ".join(names)
    given = ", ".join(
        "a_" + a if a in v.tensors else a for a in (*v.tensors, *(a for a in v.row.args if a not in v.tensors))
    )
    yield f"{pad}cls = {v.cls}"
    yield f"{pad}if a_{v.edges[0]}.dtype.char in 'fdFD':"
    yield f"{pad}    r = {_value(v)}"
    yield f"{pad}else:"
    value = re.sub(r"\bself\b", "self_", _value(v))
    yield f"{pad}    r, cls = p_.beside_number({v.row.name!r}, lambda {inner}: {value}, ({given},), a_{v.edges[0]}, cls)"


def _weak(v: Variant, pad: str) -> Iterator[str]:
    """The result of dividing integers in the default dtype; of no use where one is recorded."""
    if v.edges and not v.numbers and v.row.floats and v.row.scalars:
        first = v.edges[0]
        yield f"{pad}if r.dtype is not a_{first}.dtype:"
        yield f"{pad}    out._a = p_.weak({v.row.name!r}, r, a_{first})"


def _after(row: Row, pad: str) -> Iterator[str]:
    """What rare modes want done; for a view once it is one."""
    yield f"{pad}if events.special:"
    yield f"{pad}    p_.after({row.name!r}, out, ({', '.join(row.args)},))"


def _value(v: Variant) -> str:
    row = v.row
    if row.name in INLINE:
        return ast.unparse(_inlined(row.name, [ast.Name("a_" + a) for a in row.args]))
    if not row.forward:
        return f"k_{row.name}({', '.join('a_' + a if a in v.tensors else a for a in row.args)})"
    tree = ast.parse(row.forward, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            node.func.id = "k_" + node.func.id
        elif isinstance(node, ast.Name) and node.id in v.tensors:
            node.id = "a_" + node.id
    return ast.unparse(tree)


def _record(v: Variant, pad: str) -> Iterator[str]:
    """The node, where an operand has a history; what there is to say of the result either way."""
    for i, e in enumerate(v.edges):
        fetch = f"{e}._fn if {e}._meta is None else edge({e})"
        yield f"{pad}n{i} = {fetch}" if len(v.edges) == 1 else f"{pad}n{i} = ({fetch}) if {e}._rg else None"
    known = " or ".join(f"n{i} is not None" for i in range(len(v.edges)))
    orphans = f"nowhere({', '.join(v.edges)})"  # asked only where there is nothing to record otherwise
    yield f"{pad}if {known} or {orphans if len(v.edges) > 1 else f'(n0 := {orphans})'} is not None:"
    inner = pad + "    "
    yield from _node(v, inner)
    yield f"{inner}out._fn = n"
    yield f"{inner}out._rg = True"
    yield from _announced(v, inner)
    yield f"{pad}else:"
    yield from _no_bools(v.row, pad + "    ")
    yield f"{pad}    out._fn = None"
    yield f"{pad}    out._rg = False"
    yield from _weak(v, pad + "    ")
    if not v.row.view:
        yield from _after(v.row, pad + "    ")


def _node(v: Variant, pad: str) -> Iterator[str]:
    """The node: its edges, the user's line, and what it saves."""
    yield f"{pad}n = new({'cls' if _numbered(v) else v.cls})"
    if len(v.edges) < 3:
        for i in range(len(v.edges)):
            yield f"{pad}n.n{i} = n{i}"
    else:
        yield f"{pad}n.next = ({', '.join(f'n{i}' for i in range(len(v.edges)))})"
    numbers = ", ".join(f"{e}._nr" for e in v.edges)
    yield f"{pad}n.nrs = ({numbers},) if {' or '.join(f'{e}._nr' for e in v.edges)} else None"
    yield f"{pad}n.seq = next_seq()"
    yield f"{pad}frame = _getframe(1)"
    yield f"{pad}code = frame.f_code"
    yield f"{pad}if code.co_filename in INTERNAL:"
    yield f"{pad}    frame = user_frame(frame)"
    yield f"{pad}    code = frame.f_code"
    yield f"{pad}n.code = code"
    yield f"{pad}n.lasti = frame.f_lasti"
    yield f"{pad}n.hooks = None"
    for s in v.saved:
        yield from _save(v, s, pad)
    if v.saves_result:
        yield f"{pad}n.s_result = r"
        yield f"{pad}n.v_result = 0"
        yield f"{pad}n.o_storage = None"
    for c in v.consts:
        yield f"{pad}n.c_{c} = {v.const_value(c)}"
    if v.fits:
        yield from _fit(v, pad)


def _announced(v: Variant, pad: str) -> Iterator[str]:
    """Whoever listens is told of the node."""
    yield f"{pad}if events.on:"
    yield f"{pad}    if events.sink is not None:"
    yield f"{pad}        try:"
    yield f"{pad}            events.births[{v.cls}](n, out)"
    yield f"{pad}        except RecursionError:"  # the program is at its limit: the node is told when it is next met
    yield f"{pad}            pass"
    if not v.row.view:
        yield from _after(v.row, pad + "    ")


def _save(v: Variant, s: str, pad: str) -> Iterator[str]:
    users = [i for i, e in enumerate(v.edges) if e in v.users[s]]
    inner = pad
    if len(users) < len(v.edges):
        yield f"{pad}if {' or '.join(f'n{i} is not None' for i in users)}:"
        inner += "    "
    yield f"{inner}n.s_{s} = {s}"
    yield f"{inner}st = {s}._storage"
    yield f"{inner}n.v_{s} = 0 if st is None else st.version"
    if len(users) < len(v.edges):
        yield f"{pad}else:"
        yield f"{inner}n.s_{s} = None"
        yield f"{inner}n.v_{s} = 0"


def _fit(v: Variant, pad: str) -> Iterator[str]:
    shapes = ", ".join(f"a_{e}.shape" for e in v.edges)
    if len(v.tensors) == 2 and v.tensors == v.edges:
        same = f"a_{v.tensors[0]}.shape == a_{v.tensors[1]}.shape"
    else:
        same = " == ".join([*(f"a_{e}.shape" for e in v.edges), "r.shape"])
    yield f"{pad}n.fit = None if {same} else ({shapes},)"


# ----- tangents and the module -----


def jvp(row: Row) -> Iterator[str]:
    """Source of ``jvp_<name>(args, result, tangents)`` on tensors; a tangent may be a ``zero_tangent.Zero``."""
    tangents = [f"{t}_t" for t in row.differentiable]
    args = ["self_" if a == "self" else a for a in row.args]
    yield f"def jvp_{row.name}({', '.join(f'{a}: Any' for a in [*args, 'result', *tangents])}) -> Any:"
    if row.jvp == "linear":
        call = ", ".join(f"{a}_t" if a in row.differentiable else a for a in row.args)
        formula = rewrite(f"{row.name}({call})", None, on_tensors=True)
    else:
        formula = rewrite(row.jvp, None, on_tensors=True)
    for t in row.tensors:
        for suffix in ("_shape", "_dtype"):
            if t + suffix in names_in(row.jvp):
                yield f"    {t}{suffix} = {_local(t)}.{suffix[1:]}"
    yield f"    return {formula}"
    yield ""
    yield ""


def module(bare: bool = False) -> str:
    """Source of ``_generated.py``."""
    lines: list[str] = []
    for row in TABLE:
        for v in variants(row):
            lines.extend(node_class(v))
        lines.extend(function(row))
        lines.extend(jvp(row))
    lines += ["for _cls in (", *(f"    {v.cls}," for row in TABLE for v in variants(row) if v.cls != v.node), "):"]
    lines += ["    _cls.__name__ = _cls.__qualname__ = _cls.op_name  # as PyTorch's node is called", ""]
    lines.append("JVPS = {")
    for row in TABLE:
        places = tuple(row.args.index(d) for d in row.differentiable)
        lines.append(f"    {row.name!r}: (jvp_{row.name}, {places!r}),")
    lines += ["}", '"""For every op its tangent formula and the positions of its differentiable arguments."""']
    if bare:
        lines = list(_without_sink(lines))
    text = "\n".join(lines)
    kernels = sorted({w for w in _words(text) if w.startswith("k_") and len(w) > 2})
    imports = "\n".join(f"from .kernels import {w[2:]} as {w}" for w in kernels)
    return HEADER.format(imports=imports) + "\n\n" + text.rstrip() + "\n"


def _without_sink(lines: list[str]) -> Iterator[str]:
    """The lines without the tests for a sink and what stands below them."""
    below: int | None = None
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if below is not None and depth > below:
            continue
        below = depth if re.search(r"if events\.(on|sink is not None|special)", line) else None
        if below is None:
            yield line


def _words(text: str) -> Iterator[str]:
    return (m.group() for m in re.finditer(r"\b[a-zA-Z_]\w*", text))


HERE = Path(__file__).parent


def main(argv: list[str]) -> int:
    """Write the generated files, or with ``--check`` report whether they are up to date."""
    if "--bare" in argv:
        print(module(bare=True), end="")
        return 0
    outputs = {HERE / "_generated.py": module()}
    if "--check" in argv:
        stale = [p.name for p, text in outputs.items() if p.read_text() != text]
        print("\n".join(f"{name} is stale: run python scripts/generate_ops.py" for name in stale))
        return 1 if stale else 0
    for path, text in outputs.items():
        path.write_text(text)
    return 0
