"""A line search for the strong Wolfe conditions: a bracket is found, then zoomed into by cubic interpolation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DECREASE = 1e-4
CURVATURE = 0.9
SMALLEST = 1e-9


@dataclass(eq=False)
class Point:
    """A place on the line: how far it is, loss and gradient there, and the slope of the line."""

    t: Any
    loss: float
    gradient: Any
    slope: Any


def strong_wolfe(
    evaluate: Callable[[Any], tuple[float, Any]], t: Any, direction: Any, loss: float, gradient: Any, slope: Any, limit: int
) -> tuple[float, Any, Any, int]:  # fmt: skip
    """Loss, gradient and distance of the place that was found, and how often ``evaluate`` was called.

    The search is PyTorch's step for step, with its rules for steps that make no progress.
    """
    search = _Search(evaluate, direction, Point(0, loss, gradient, slope), limit)
    bracket = search.bracket(t)
    best = search.zoom(bracket)
    return best.loss, best.gradient, best.t, search.evaluations


class _Search:
    def __init__(self, evaluate: Callable[[Any], Any], direction: Any, start: Point, limit: int) -> None:
        self.evaluate, self.direction, self.start, self.limit = evaluate, direction, start, limit
        self.size = direction.abs().max()
        self.evaluations = 0
        self.iterations = 0

    def at(self, t: Any) -> Point:
        """The place at distance ``t``."""
        loss, gradient = self.evaluate(t)
        self.evaluations += 1
        return Point(t, loss, gradient, gradient.dot(self.direction))

    def too_high(self, point: Point) -> bool:
        """Whether the loss does not decrease enough."""
        return bool(point.loss > self.start.loss + DECREASE * point.t * self.start.slope)

    def flat(self, point: Point) -> bool:
        """Whether the slope is small enough."""
        return bool(abs(point.slope) <= -CURVATURE * self.start.slope)

    def bracket(self, t: Any) -> list[Point]:
        """Two places with what is searched between them, or that itself."""
        before, here = self.start, self.at(t)
        while self.iterations < self.limit:
            if self.too_high(here) or (self.iterations > 1 and here.loss >= before.loss):
                return [before, here]
            if self.flat(here):
                return [here]
            if here.slope >= 0:
                return [before, here]
            bounds = here.t + 0.01 * (here.t - before.t), here.t * 10
            t = interpolate(before, here, bounds)
            before, here = here, self.at(t)
            self.iterations += 1
        return [self.start, here]

    def zoom(self, bracket: list[Point]) -> Point:
        """The best place in the bracket."""
        low, high = bracket[0], bracket[-1]
        if low.loss > high.loss:
            low, high = high, low
        ends = list(bracket)  # in their order along the search, which decides between equal losses
        stuck = False
        while len(bracket) > 1 and self.iterations < self.limit:
            if abs(ends[1].t - ends[0].t) * self.size < SMALLEST:
                break
            t, stuck = self._between(ends, stuck)
            here = self.at(t)
            self.iterations += 1
            if self.too_high(here) or here.loss >= low.loss:
                ends[_place(ends, high)] = here
                low, high = ends if ends[0].loss <= ends[1].loss else ends[::-1]
                continue
            done = self.flat(here)
            if not done and here.slope * (high.t - low.t) >= 0:
                ends[_place(ends, high)] = low_copy = Point(low.t, low.loss, low.gradient, low.slope)
                high = low_copy
            ends[_place(ends, low)] = here
            low = here
            if done:
                break
        return low

    def _between(self, ends: list[Point], stuck: bool) -> tuple[Any, bool]:
        """Where to look next; not too near to an end twice in a row."""
        t = interpolate(ends[0], ends[1], None)
        nearest, farthest = min(ends[0].t, ends[1].t), max(ends[0].t, ends[1].t)
        margin = 0.1 * (farthest - nearest)
        if min(farthest - t, t - nearest) >= margin:
            return t, False
        if not (stuck or t >= farthest or t <= nearest):
            return t, True
        return (farthest - margin if abs(t - farthest) < abs(t - nearest) else nearest + margin), False


def _place(ends: list[Point], point: Point) -> int:
    return next(i for i, end in enumerate(ends) if end is point)


def interpolate(a: Point, b: Point, bounds: tuple[Any, Any] | None) -> Any:
    """Where the cubic through two places has its minimum, within the bounds (the two places unless given)."""
    least, most = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if square < 0:
        return (least + most) / 2.0
    d2 = square**0.5
    if a.t <= b.t:
        t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        t = a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(t, least), most)
