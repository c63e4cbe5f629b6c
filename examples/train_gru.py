"""A GRU reads Python's licence and learns what comes next: state carried from batch to batch, gradient clipping.

Run it by `python examples/train_gru.py [STEPS]`. The names are PyTorch's: with `torch` in the place of `agdbg_engine`
in the imports it is a PyTorch script.
"""

import sys

import numpy as np
from python_text import load_text

import agdbg_engine as torch
from agdbg_engine import nn, optim
from agdbg_engine.nn import functional as F

STEPS = 100
BATCH = 16
LENGTH = 24
LONGEST_GRADIENT = 0.5
TEXT = load_text(12_000)
ALPHABET = len(TEXT.alphabet)
GOAL = 2.4  # nats a character; without a look at the characters before, one needs about 3.1


class Reader(nn.Module):
    """Characters (n, length) and a state to the logits of the next ones (n, length, alphabet) and the state after them."""

    def __init__(self, alphabet=ALPHABET, width=32, hidden=64):
        super().__init__()
        self.characters = nn.Embedding(alphabet, width)
        self.gru = nn.GRU(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, alphabet)

    def forward(self, codes, state=None):
        y, state = self.gru(self.characters(codes), state)
        return self.head(y), state


Model = Reader


def batches(count, rng):
    """The text in BATCH streams that go on from batch to batch, around its end, each from a random place."""
    places = rng.integers(len(TEXT.codes), size=(BATCH, 1)) + np.arange(LENGTH + 1)
    for _ in range(count):
        codes = TEXT.codes[places % len(TEXT.codes)]
        yield torch.from_numpy(codes[:, :-1]), torch.from_numpy(codes[:, 1:])
        places = places + LENGTH


def train(model, steps, seed=0):
    """Return the loss of every step."""
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    state = None
    losses = []
    for codes, following in batches(steps, np.random.default_rng(seed)):
        logits, state = model(codes, state)
        state = state.detach()  # the next step starts from these numbers, not from this step's graph
        loss = F.cross_entropy(logits.flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), LONGEST_GRADIENT)
        optimizer.step()
        losses.append(loss.item())
    return losses


def sample(model, length, seed=0):
    """A text of the model's own, drawn one character after the other."""
    rng = np.random.default_rng(seed)
    codes, state = [int(TEXT.codes[0])], None
    with torch.no_grad():
        for _ in range(length):
            logits, state = model(torch.tensor([codes[-1:]]), state)
            codes.append(int(np.argmax(logits[0, -1].numpy() + rng.gumbel(size=logits.shape[-1]))))
    return TEXT.decode(codes)


def main(steps):
    torch.manual_seed(0)
    model = Model()
    losses = train(model, steps)
    for step in range(0, steps, 20):
        print(f"step {step + 1:3d}  loss {losses[step]:.4f}")
    print("sample:", repr(sample(model, 100)))
    print(f"Shows: a GRU needs {np.mean(losses[-10:]):.3f} nats a character of Python's licence (goal {GOAL}).")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else STEPS)
