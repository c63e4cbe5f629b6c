"""What is done in each picture: keys, and what the screen must say before the next one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from stage import Screen, Stage

WIDE, SMALL = (120, 36), (80, 24)


async def step_through_backward(stage: Stage) -> str:
    """In the middle of a pass: lanes, incoming gradients, saved tensors, source."""
    async with stage.screen(WIDE, stage.launch("rnn_carried_state.py")) as screen:
        await _step(screen, to=8)
        return await screen.picture()


async def stop_before_backward_twice(stage: Stage) -> str:
    """The second backward() has not begun; the banner says what it would run into."""
    async with stage.screen(WIDE, stage.launch("digits_backward_twice.py")) as screen:
        await _go_on(screen, "will fail: `class_loss.backward()`")
        await screen.sees("second call")
        return await screen.picture()


async def explain_backward_twice(stage: Stage) -> str:
    """The whole explanation of that stop."""
    async with stage.screen(WIDE, stage.launch("digits_backward_twice.py")) as screen:
        await _go_on(screen, "will fail: `class_loss.backward()`")
        await screen.press("x")
        await screen.sees("Explanation", "retain_graph=True")
        return await screen.picture()


async def find_inplace_write(stage: Stage) -> str:
    """A saved tensor that was written to: version saved, and now."""
    async with stage.screen(WIDE, stage.launch("inplace_saved.py")) as screen:
        await screen.sees("stopped before SumBackward0", "will fail: `y`")
        await screen.press("up", "up", "1")
        await screen.sees("ExpBackward0  #", "modified: written by")
        return await screen.picture()


async def step_back_from_nan(stage: Stage) -> str:
    """A node has made a NaN and was taken back: what came in is a zero, and so is what it had saved."""
    async with _at_nan(stage) as screen:
        await screen.press("p")
        await screen.sees("stopped before SqrtBackward0")
        return await screen.picture()


async def look_into_tensor(stage: Stage) -> str:
    """The gradient with the NaN on a page of its own, as numbers."""
    async with _at_nan(stage) as screen:
        await screen.press("1", "down", "space")
        await screen.sees("gradient in 0 of SumBackward1")
        await screen.press("tab", "tab")
        await screen.sees("numbers:")
        return await screen.picture()


async def fold_the_loop(stage: Stage) -> str:
    """The iterations of the training loop before the pass that will fail, as one row."""
    async with stage.screen(WIDE, stage.launch("digits_backward_twice.py")) as screen:
        await _go_on(screen, "will fail: `class_loss.backward()`")
        await screen.sees("second call")
        await screen.press("left_curly_bracket")
        await screen.sees("encoder (Sequential), …  450 nodes")
        return await screen.picture()


async def fit_80x24(stage: Stage) -> str:
    """The smallest common terminal."""
    async with stage.screen(SMALL, stage.launch("rnn_carried_state.py")) as screen:
        await _step(screen, to=8)
        return await screen.picture()


async def look_at_boxes(stage: Stage) -> str:
    """What is around a node, drawn as boxes."""
    async with stage.screen(WIDE, stage.launch("digits_backward_twice.py")) as screen:
        await _step(screen, to=6)
        await screen.press("v")
        await screen.sees("┌", "LogSoftmaxBackward0 #")
        return await screen.picture()


async def answer_the_program(stage: Stage) -> str:
    """The program waits in input(), and a line is being typed."""
    async with stage.screen(WIDE, stage.launch("ask_the_rate.py")) as screen:
        await _step(screen, to=3)
        await screen.press("o")
        await screen.sees("is about to return")  # all that it did is in the recording now
        await screen.press("c")
        await screen.sees("running", "learning rate of the next step?", "the program waits for input")
        await screen.press("i")
        await screen.sees("input to the program")
        await screen.type("0.3")
        return await screen.picture()


async def open_a_recording(stage: Stage) -> str:
    """A program that has ended with an error, and the node that failed."""
    async with stage.screen(WIDE, stage.launch("rnn_carried_state.py", stopOnEntry=False)) as screen:
        await _go_on(screen, "ended with status 1")
    async with stage.screen(WIDE, stage.open("rnn_carried_state.py")) as screen:
        await screen.sees("recording", "Recurrent.forward", "TanhBackward0  #", "failed")
        await screen.press("down")
        await screen.sees(".py:30  loss")
        await screen.press("up")
        await screen.sees("TanhBackward0  #", ".py:18  return")
        return await screen.picture()


@asynccontextmanager
async def _at_nan(stage: Stage) -> AsyncIterator[Screen]:
    """The training script of the tour, without its first mistakes, where a NaN was made."""
    program = "tutorial/train.py"
    calls = "class_loss.backward()\n        optimizer.step()\n        pair_loss.backward()"
    stage.edit(program, calls, "(class_loss + pair_loss).backward()")
    async with stage.screen(WIDE, stage.launch(program)) as screen:
        await screen.sees("stopped before AddBackward0")
        await screen.press("colon")
        await screen.type("catch nan")
        await screen.press("enter")
        await screen.sees("errors: nan")
        await screen.press("escape")
        await screen.press("c")
        await screen.sees("stopped before SumBackward1", "made NaN")
        yield screen


async def _step(screen: Screen, to: int) -> None:
    """Step node by node until the program stands before one of the first pass."""
    await screen.sees(" 1 of ")
    for position in range(2, to + 1):
        await screen.press("n")
        await screen.sees(f" {position} of ")


async def _go_on(screen: Screen, cause: str) -> None:
    """Continue from the first node to the stop for an error."""
    await screen.sees("stopped")
    await screen.press("c")
    await screen.sees(cause)


SCENES: dict[str, Callable[[Stage], Awaitable[str]]] = {
    "step-through-backward": step_through_backward,
    "stop-before-backward-twice": stop_before_backward_twice,
    "explain-backward-twice": explain_backward_twice,
    "find-inplace-write": find_inplace_write,
    "step-back-from-nan": step_back_from_nan,
    "look-into-tensor": look_into_tensor,
    "fold-the-loop": fold_the_loop,
    "fit-80x24": fit_80x24,
    "look-at-boxes": look_at_boxes,
    "answer-the-program": answer_the_program,
    "open-a-recording": open_a_recording,
}
