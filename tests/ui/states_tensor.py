"""States of the page of a tensor, for the table of all states."""

import numpy as np
from agdbg_tests_states import STATES, State, state, stopped

from agdbg_ui.screens.tensor import TensorScreen, TensorView


@state(shows=(TensorScreen, TensorView))
async def tensor(screen):
    await stopped(screen)
    await screen.press("up", "1")
    await screen.until(lambda: (screen.app.panes.inspector.body or {}).get("node") == 6)
    await screen.press("down", "down", "down", "down", "enter")
    await screen.until(lambda: isinstance(screen.app.screen, TensorScreen) and screen.app.screen.view.body)


@state
async def tensor_in_shades(screen):
    await tensor(screen)
    await screen.press("tab")
    await screen.until(lambda: screen.app.screen.view.mode == "shades")


@state
async def tensor_in_numbers(screen):
    await tensor(screen)
    await screen.press("tab", "tab")
    await screen.until(lambda: screen.app.screen.view.mode == "numbers" and "0.42" in screen.text)


@state
async def tensor_with_nan(screen):
    await stopped(screen)
    screen.hub.tensor = screen.hub.tensor.copy()
    screen.hub.tensor[20, 3:6] = np.nan, np.inf, -np.inf
    await screen.press("up", "1")
    await screen.until(lambda: (screen.app.panes.inspector.body or {}).get("node") == 6)
    await screen.press("down", "down", "down", "down", "enter")
    await screen.until(lambda: isinstance(screen.app.screen, TensorScreen) and screen.app.screen.view.body)
    await screen.press("b")


@state
async def tensor_change(screen):
    await tensor(screen)
    await screen.press("d")
    await screen.until(lambda: screen.app.screen.view.body["compared"])
    screen.hub.pass_id, screen.hub.tensor = 3, screen.hub.tensor * np.linspace(0.5, 1.5, 10)
    await screen.press("d", "d")
    await screen.until(lambda: "pass 3 - pass 2" in screen.text)


STATES["no_color_tensor"] = State(tensor, environment={"NO_COLOR": "1"})
