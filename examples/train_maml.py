"""A network learns to learn: after training, one step of gradient descent fits it to a sine curve of which it sees ten points.

The loss is that *after* the step, so its gradient goes through the step (create_graph), as in model-agnostic
meta-learning. Run it by `python examples/train_maml.py [STEPS]`. The names are PyTorch's: with `torch` in the place of
`agdbg_engine` in the imports it is a PyTorch script.
"""

import sys

import numpy as np

import agdbg_engine as torch
from agdbg_engine import nn, optim

STEPS = 400
TASKS = 16
SHOTS = 10
INNER_RATE = 0.1
GOAL = 0.25  # the loss after the step, as a share of that before it


class Net(nn.Module):
    """Numbers (tasks, n, 1) to numbers, with weights of its own or with those of each task."""

    def __init__(self, hidden=40):
        super().__init__()
        layers = nn.Linear(1, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
        self.layers = nn.ModuleList(layers)

    def weights_for(self, tasks):
        """Every weight once a task: weights (tasks, outputs, inputs) and biases (tasks, 1, outputs) in turn."""
        weights = []
        for layer in self.layers:
            weights.append(layer.weight.expand(tasks, -1, -1))
            weights.append(layer.bias.expand(tasks, 1, -1))
        return weights

    def forward(self, x, weights):
        for n in range(0, len(weights), 2):
            x = torch.baddbmm(weights[n + 1], x, weights[n].transpose(1, 2))
            if n + 2 < len(weights):
                x = torch.tanh(x)
        return x


Model = Net


def draw_tasks(rng):
    """Sine curves of random height and phase: points to learn from, and others to be measured at, each (tasks, n, 1)."""
    height = rng.uniform(0.5, 2.0, (TASKS, 1, 1))
    phase = rng.uniform(0.0, np.pi, (TASKS, 1, 1))
    x = rng.uniform(-3.0, 3.0, (TASKS, 2 * SHOTS, 1))
    x, y = (torch.tensor(array, dtype=torch.get_default_dtype()) for array in (x, height * np.sin(x + phase)))
    return x[:, :SHOTS], y[:, :SHOTS], x[:, SHOTS:], y[:, SHOTS:]


def loss_of_each(model, weights, x, y):
    return (model(x, weights) - y).square().mean(dim=(1, 2))


def adapted(model, weights, x, y, create_graph=False):
    """The weights of each task after one step of gradient descent on its points."""
    loss = loss_of_each(model, weights, x, y).sum()
    gradients = torch.autograd.grad(loss, weights, create_graph=create_graph)
    return [weight - INNER_RATE * gradient for weight, gradient in zip(weights, gradients, strict=True)]


def train(model, steps, seed=0):
    """Return the loss after adaptation of every step."""
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(steps):
        x, y, x_new, y_new = draw_tasks(rng)
        weights = adapted(model, model.weights_for(TASKS), x, y, create_graph=True)
        loss = loss_of_each(model, weights, x_new, y_new).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def before_and_after(model, seed=1):
    """The mean loss on new tasks, without and with one step on their points."""
    x, y, x_new, y_new = draw_tasks(np.random.default_rng(seed))
    weights = model.weights_for(TASKS)
    before = loss_of_each(model, weights, x_new, y_new).mean().item()
    after = loss_of_each(model, adapted(model, weights, x, y), x_new, y_new).mean().item()
    return before, after


def main(steps):
    torch.manual_seed(0)
    model = Model()
    losses = train(model, steps)
    for step in range(0, steps, 50):
        print(f"step {step + 1:3d}  loss after one step on a task {losses[step]:.4f}")
    before, after = before_and_after(model)
    print(f"new tasks: loss {before:.4f} before the step, {after:.4f} after it")
    print(f"Shows: one learnt step leaves {after / before:.1%} of the loss of a new task (goal {GOAL:.0%}).")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else STEPS)
