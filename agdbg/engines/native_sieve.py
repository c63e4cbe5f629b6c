"""Which nodes are worth a look when they are built: decided once for a class of nodes, so that all others cost next to nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agdbg.engines.native_quick import makes_bad
from agdbg_engine.node import Node
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native_stops import Stops

Wanted = Callable[[Node, Tensor], bool]


def sieve(stops: Stops, node: Node) -> Wanted | None:
    """What tells, under the present settings, whether a node like ``node``, which made a tensor, may be one to stop at;
    ``None`` for no such node.
    """
    if node.leaf:
        return None
    others = [*_of_lines(stops), *_of_values(stops, node), *_of_memory(stops)]
    tests = [*_of_names(stops, node, alone=not others), *others]
    if not tests or stops.sees_all_births:
        return _always if stops.sees_all_births else None
    if len(tests) == 1:
        return tests[0]

    def any_of_them(node: Node, out: Tensor) -> bool:
        told = [test(node, out) for test in tests]  # all are asked: some take notes
        return True in told

    return any_of_them


def _always(node: Node, out: Tensor) -> bool:
    return True


def _of_names(stops: Stops, node: Node, *, alone: bool) -> list[Wanted]:
    """The test of the breakpoints on names; where it is ``alone``, their conditions are asked at once."""
    matcher, names, early = stops.matcher, stops.names, stops.early
    if not matcher.has_names:
        return []
    tests: list[Wanted] = []
    if stops.asks_for_modules:

        def by_module(node: Node, out: Tensor) -> bool:
            names.born(node)
            return bool(matcher.functions(node, "forward"))

        tests.append(by_module)
    elif not matcher.is_of_class_only("forward"):
        tests.append(lambda node, out: bool(matcher.functions(node, "forward")))
    else:
        numbers = matcher.of_class(node, "forward")
        if numbers and alone:
            tests.append(lambda node, out: bool(left := early.left(numbers, node, "born")) and stops.hits(node, left))
        elif numbers:
            tests.append(lambda node, out: bool(early.left(numbers, node, "born")))
    return tests


def _of_lines(stops: Stops) -> list[Wanted]:
    return [stops.comes_to_line] if stops.matcher.has_lines else []


def _of_values(stops: Stops, node: Node) -> list[Wanted]:
    if not stops.looks_at_values:
        return []
    if node.multi or node.user_code:
        return [_always]
    return [makes_bad]


def _of_memory(stops: Stops) -> list[Wanted]:
    is_quiet = stops.watches.is_quiet
    return [lambda node, out: not is_quiet(node, False)] if stops.watches else []
