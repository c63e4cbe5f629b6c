"""L-BFGS fits two peaks on a sloping ground to noisy measurements: an optimizer that calls a closure.

Run it by `python examples/train_lbfgs.py [STEPS]`. The names are PyTorch's: with `torch` in the place of `agdbg_engine`
in the imports it is a PyTorch script.
"""

import sys

import numpy as np

import agdbg_engine as torch
from agdbg_engine import nn, optim

STEPS = 20
NOISE = 0.05
MEASURED = 200
TRUTH = {"height": (2.0, 1.0), "center": (-1.0, 1.2), "width": (0.6, 0.9), "ground": (0.5, 0.1)}
GOAL = 0.05  # how far a fitted number may be from the truth


class Peaks(nn.Module):
    """Numbers (n,) to the sum of two bells and a line, with a first guess."""

    def __init__(self):
        super().__init__()
        self.height = nn.Parameter(torch.tensor([1.0, 1.0]))
        self.center = nn.Parameter(torch.tensor([-1.5, 2.0]))
        self.width = nn.Parameter(torch.tensor([1.0, 1.0]))
        self.ground = nn.Parameter(torch.tensor([0.0, 0.0]))

    def forward(self, x):
        distance = (x.unsqueeze(1) - self.center) / self.width
        bells = self.height * torch.exp(-0.5 * distance.square())
        return bells.sum(dim=1) + self.ground[0] + self.ground[1] * x


Model = Peaks


def measure(seed):
    """Places and noisy values of the true curve, each (MEASURED,)."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-4.0, 4.0, MEASURED)
    distance = (x[:, None] - TRUTH["center"]) / TRUTH["width"]
    bells = TRUTH["height"] * np.exp(-0.5 * distance**2)
    y = bells.sum(axis=1) + TRUTH["ground"][0] + TRUTH["ground"][1] * x + NOISE * rng.standard_normal(MEASURED)
    return (torch.tensor(array, dtype=torch.get_default_dtype()) for array in (x, y))


def train(model, steps, seed=0):
    """Return the loss at the start of every step; a step takes four directions, and searches along each."""
    x, y = measure(seed)
    optimizer = optim.LBFGS(model.parameters(), max_iter=4, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        return loss

    return [optimizer.step(closure).item() for _ in range(steps)]


def largest_error(model):
    """How far the fitted numbers are from the truth at most; a width counts without its sign."""
    fitted = {name: value.detach().numpy() for name, value in model.named_parameters()}
    fitted["width"] = np.abs(fitted["width"])
    return max(float(np.abs(fitted[name] - TRUTH[name]).max()) for name in TRUTH)


def main(steps):
    model = Model()
    losses = train(model, steps)
    for step in range(0, steps, 5):
        print(f"step {step + 1:2d}  loss {losses[step]:.6f}")
    for name, value in model.named_parameters():
        print(f"{name:6s}  fitted {value.detach().numpy().round(3)}  true {TRUTH[name]}")
    print(f"Shows: L-BFGS finds two peaks in noise, every number to {largest_error(model):.3f} (goal {GOAL}).")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else STEPS)
