"""A network learns to solve the heat equation u_t = u_xx / 10 without data: second derivatives by create_graph.

On 0 <= x <= 1 with u(0, x) = sin(pi x) and u = 0 at both ends; the solution is exp(-pi^2 t / 10) sin(pi x), and training
does not see it. Run it by `python examples/train_pinn.py [STEPS]`. The names are PyTorch's: with `torch` in the place of
`agdbg_engine` in the imports it is a PyTorch script.
"""

import math
import sys

import numpy as np

import agdbg_engine as torch
from agdbg_engine import nn, optim

STEPS = 500
POINTS = 128
HIGHEST_RATE = 1e-2
DIFFUSION = 0.1
GOAL = 0.01


class Net(nn.Module):
    """Times and places, each (n, 1), to u (n, 1), which meets the start and both ends whatever the weights are."""

    def __init__(self, hidden=32):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )

    def forward(self, t, x):
        free = self.inner(torch.cat([t, x], dim=1))
        return torch.sin(math.pi * x) + t * x * (1 - x) * free


Model = Net


def residual(model, t, x):
    """u_t - DIFFUSION * u_xx at each point: zero for a solution."""
    u = model(t, x)
    u_t, u_x = torch.autograd.grad(u.sum(), (t, x), create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
    return u_t - DIFFUSION * u_xx


def points(rng):
    """Random times and places that require grad."""
    return (
        torch.tensor(rng.random((POINTS, 1)), dtype=torch.get_default_dtype(), requires_grad=True) for _ in range(2)
    )


def train(model, steps, seed=0):
    """Return the loss of every step."""
    optimizer = optim.Adam(model.parameters(), lr=HIGHEST_RATE)
    rng = np.random.default_rng(seed)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = HIGHEST_RATE * (1 - step / steps)
        t, x = points(rng)
        loss = residual(model, t, x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def largest_error(model):
    """How far the model is from the solution, at the worst of 21 x 21 points."""
    t, x = (grid.reshape(-1, 1) for grid in np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 21)))
    solution = np.exp(-(math.pi**2) * DIFFUSION * t) * np.sin(math.pi * x)
    with torch.no_grad():
        u = model(*(torch.tensor(array, dtype=torch.get_default_dtype()) for array in (t, x)))
    return float(np.abs(u.numpy() - solution).max())


def main(steps):
    torch.manual_seed(0)
    model = Model()
    losses = train(model, steps)
    for step in range(0, steps, 100):
        print(f"step {step + 1:3d}  loss {losses[step]:.2e}")
    print(f"Shows: a network solves the heat equation, at most {largest_error(model):.5f} off (goal {GOAL}).")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else STEPS)
