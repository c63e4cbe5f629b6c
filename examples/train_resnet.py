"""A small residual network learns the handwritten digits: convolutions, batch normalisation, shortcuts.

Run it by `python examples/train_resnet.py [STEPS]`. The names are PyTorch's: with `torch` in the place of `agdbg_engine`
in the imports it is a PyTorch script.
"""

import sys

import numpy as np
from digits_data import load_digits

import agdbg_engine as torch
from agdbg_engine import nn, optim
from agdbg_engine.nn import functional as F

STEPS = 100
BATCH = 64
HIGHEST_RATE = 0.05
GOAL = 0.95


class Block(nn.Module):
    """Two convolutions, added to what goes in; the first one may halve the image."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return F.relu(y + self.shortcut(x))


class ResNet(nn.Module):
    """Images (n, 1, 8, 8) to the logits of ten classes (n, 10)."""

    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.blocks = nn.Sequential(Block(width, width), Block(width, 2 * width, 2), Block(2 * width, 4 * width, 2))
        self.head = nn.Linear(4 * width, 10)

    def forward(self, x):
        features = self.blocks(self.stem(x))
        return self.head(F.adaptive_avg_pool2d(features, 1).flatten(1))


Model = ResNet


def tensors(digits):
    """The images as a batch with one channel, and the labels."""
    images = torch.tensor(digits.images, dtype=torch.get_default_dtype())
    return images.reshape(-1, 1, 8, 8), torch.tensor(digits.labels)


def train(model, steps, seed=0):
    """Return the loss of every step."""
    images, labels = tensors(load_digits()[0])
    optimizer = optim.SGD(model.parameters(), lr=HIGHEST_RATE, momentum=0.9, weight_decay=1e-4)
    rng = np.random.default_rng(seed)
    losses = []
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = HIGHEST_RATE * (1 - step / steps)
        batch = torch.from_numpy(rng.integers(len(images), size=BATCH))
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def accuracy(model):
    """The share of the test images that the model tells right."""
    images, labels = tensors(load_digits()[1])
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(dim=1) == labels).sum().item() / len(labels)


def main(steps):
    torch.manual_seed(0)
    model = Model()
    losses = train(model, steps)
    for step in range(0, steps, 20):
        print(f"step {step + 1:3d}  loss {losses[step]:.4f}")
    print(f"Shows: a residual network tells {accuracy(model):.1%} of the test digits right (goal {GOAL:.0%}).")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else STEPS)
