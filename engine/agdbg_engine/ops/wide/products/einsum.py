"""Einstein's summation, made of sums and batched products as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....tensor import Tensor
from ... import _generated as g
from ... import matrix
from ...explain import shape_error
from ...shape import reshape
from ..declare import public

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DOTS = "..."


@public("torch")
def einsum(*args: Tensor | str | Sequence[Any]) -> Tensor:
    """``einsum(equation, *operands)``, or operands each followed by the list of its subscripts, and that of the result.

    More than two operands are multiplied from left to right.
    """
    equation, operands = _arguments(args)
    left, arrow, right = equation.partition("->")
    labels = _operand_labels(left, len(operands))
    dims = _Dims(labels, operands, right if arrow else None)
    terms = [dims.aligned(i, x) for i, x in enumerate(operands)]
    if len(terms) == 1:
        rest = tuple(range(dims.out, dims.total))
        return g.sum_dim(terms[0], rest, False) if rest else terms[0]
    x = terms[0]
    for y in terms[1:]:
        x = dims.contract(x, y)
    return g.view(x, x.shape[: dims.out]) if dims.total > dims.out else x


def _arguments(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        sides = [_subscripts(s) for s in args[1::2]]
        operands = list(args[0 : len(args) - len(args) % 2 : 2])
        text = ",".join(sides)
        return (text + "->" + _subscripts(args[-1]) if len(args) % 2 else text), operands
    equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], tuple | list):
        operands = list(operands[0])
    if not isinstance(equation, str):
        kind = type(equation).__name__
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {kind}")
    for i, x in enumerate(operands):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(x).__name__}")
    if not operands:
        raise shape_error("einsum(): must provide at least one operand")
    return equation, operands


def _subscripts(numbers: Sequence[Any]) -> str:
    text = ""
    for n in numbers:
        if n is Ellipsis:
            text += DOTS
        elif 0 <= n < len(LETTERS):
            text += LETTERS[n]
        else:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return text


def _labels(text: str, start: int, what: str) -> list[str]:
    """The letters and at most one ellipsis of one operand or of the result."""
    found: list[str] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == ".":
            if DOTS in found or text[i : i + 3] != DOTS:
                more = (
                    "for which an ellipsis was already found" if DOTS in found else "that is not part of any ellipsis"
                )
                raise shape_error(f"einsum(): found '.' for {what} {more}")
            found.append(DOTS)
            i += 2
        elif c.isascii() and c.isalpha():
            found.append(c)
        elif c != " ":
            raise shape_error(
                f"einsum(): invalid subscript given at index {start + i} in the equation string, subscripts must be in [a-zA-Z]"
            )
        i += 1
    return found


def _operand_labels(left: str, n: int) -> list[list[str]]:
    parts = left.split(",")
    if len(parts) > n:
        raise shape_error("einsum(): fewer operands were provided than specified in the equation")
    if len(parts) < n:
        raise shape_error("einsum(): more operands were provided than specified in the equation")
    start, found = 0, []
    for i, part in enumerate(parts):
        found.append(_labels(part, start, f"operand {i}"))
        start += len(part) + 1
    return found


class _Dims:
    """Where every subscript lies once the operands are aligned: those of the result first, then those that are summed."""

    def __init__(self, labels: list[list[str]], operands: list[Tensor], right: str | None) -> None:
        self.labels = labels
        self.covered = 0
        """How many dimensions an ellipsis stands for at most."""
        for i, (names, x) in enumerate(zip(labels, operands, strict=True)):
            self._fits(i, names, x)
        present = [c for names in labels for c in names if c != DOTS]
        if right is None:
            result = [DOTS, *(c for c in LETTERS if present.count(c) == 1)]
        else:
            result = _labels(right, 0, "the output")
            self._result_fits(result, present)
        rest = [] if DOTS in result else [DOTS]
        rest += [c for c in LETTERS if c in present and c not in result]
        self.place: dict[str, int] = {}
        at = 0
        for k, c in enumerate((*result, *rest)):
            if k == len(result):
                self.out = at
            self.place[c] = at
            at += self.covered if c == DOTS else 1
        self.total = at
        if not rest:
            self.out = at
        self.sizes = [1] * at
        self.counts = [0] * at
        """In how many operands that are still to be multiplied a dimension is more than 1."""

    def _fits(self, i: int, names: list[str], x: Tensor) -> None:
        n = len(names) - (DOTS in names)
        if DOTS in names and x.ndim >= n:
            self.covered = max(self.covered, x.ndim - n)
        elif n != x.ndim:
            how = "is more than" if DOTS in names else "does not match"
            tail = "" if DOTS in names else " and no ellipsis was given"
            raise shape_error(
                f"einsum(): the number of subscripts in the equation ({n}) {how} the number of dimensions ({x.ndim}) for "
                f"operand {i}{tail}"
            )

    def _result_fits(self, result: list[str], present: list[str]) -> None:
        for c in result:
            if c != DOTS and result.count(c) > 1:
                raise shape_error(f"einsum(): output subscript {c} appears more than once in the output")
            if c != DOTS and c not in present:
                raise shape_error(
                    f"einsum(): output subscript {c} does not appear in the equation for any input operand"
                )

    def aligned(self, i: int, x: Tensor) -> Tensor:
        """Operand ``i`` with its dimensions in order and those that it lacks of size 1; diagonals where one comes twice."""
        order = [-1] * self.total
        dim = 0
        for c in self.labels[i]:
            if c == DOTS:
                n = x.ndim - dim - sum(1 for later in self._after(i) if later != DOTS)
                for j in range(self.covered - n, self.covered):
                    self._grow(self.place[c] + j, x.shape[dim], i, "")
                    order[self.place[c] + j] = dim
                    dim += 1
            elif order[self.place[c]] < 0:
                self._grow(self.place[c], x.shape[dim], i, c)
                order[self.place[c]] = dim
                dim += 1
            else:
                x = self._diagonal(x, order[self.place[c]], dim, i, c)
        for k, d in enumerate(order):
            if d < 0:
                x = g.unsqueeze(x, dim)
                order[k], dim = dim, dim + 1
        return g.permute_to(x, tuple(order))

    def _after(self, i: int) -> list[str]:
        return self.labels[i][self.labels[i].index(DOTS) + 1 :]

    def _grow(self, place: int, size: int, i: int, label: str) -> None:
        have = self.sizes[place]
        if size == 1:
            return
        if have not in (1, size):
            what = f"subscript {label} has size {size} for operand {i}" if label else (
                f"dimension {place} covered by ellipsis in operand {i} has size {size}"
            )  # fmt: skip
            seen = "size" if label else "ellipsis with size"
            raise shape_error(f"einsum(): {what} which does not broadcast with previously seen {seen} {have}")
        self.sizes[place] = size
        self.counts[place] += 1

    @staticmethod
    def _diagonal(x: Tensor, first: int, second: int, i: int, label: str) -> Tensor:
        a, b = x.shape[first], x.shape[second]
        if a != b:
            raise shape_error(
                f"einsum(): subscript {label} is repeated for operand {i} but the sizes don't match, {b} != {a}"
            )
        x = x.diagonal(0, first, second)
        order = list(range(x.ndim - 1))
        order.insert(first, x.ndim - 1)
        return g.permute_to(x, tuple(order))

    def contract(self, x: Tensor, y: Tensor) -> Tensor:
        """The product of two operands, summed over what no later one has."""
        both: list[int] = []
        alone: tuple[list[int], list[int]] = [], []
        for d in range(self.out, self.total):
            a, b = x.shape[d] != 1, y.shape[d] != 1
            if a and b:
                self.counts[d] -= 1
                if self.counts[d] == 1:
                    both.append(d)
                    self.counts[d] = 0
            elif self.counts[d] == 1 and (a or b):
                alone[0 if a else 1].append(d)
                self.counts[d] = 0
        x, y = (g.sum_dim(t, tuple(dims), True) if dims else t for t, dims in zip((x, y), alone, strict=True))
        return _summed_product(x, y, both) if both else g.mul(x, y)


def _summed_product(x: Tensor, y: Tensor, summed: list[int]) -> Tensor:
    """``(x * y).sum(summed, keepdim=True)`` as one ``bmm``; the summed dimensions are of equal size."""
    both: list[int] = []
    left: list[int] = []
    right: list[int] = []
    for d in range(x.ndim):
        if d not in summed:
            alone = left if x.shape[d] != 1 else right
            (both if x.shape[d] != 1 != y.shape[d] else alone).append(d)
    batch, inner = math.prod(x.shape[d] for d in both), math.prod(x.shape[d] for d in summed)
    rows, columns = math.prod(x.shape[d] for d in left), math.prod(y.shape[d] for d in right)
    a = reshape(g.permute_to(x, (*both, *left, *summed, *right)), (batch, rows, inner))
    b = reshape(g.permute_to(y, (*both, *summed, *right, *left)), (batch, inner, columns))
    sizes = [*(x.shape[d] for d in (*both, *left)), *(1 for _ in summed), *(y.shape[d] for d in right)]
    order = [*both, *left, *summed, *right]
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return g.permute_to(g.view(matrix.bmm(a, b), tuple(sizes)), back)
