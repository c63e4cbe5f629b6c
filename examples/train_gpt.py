"""A small GPT learns to write Python's licence, character by character: attention, layer norm, GELU, AdamW.

Run it by `python examples/train_gpt.py [STEPS]`. The names are PyTorch's: with `torch` in the place of `agdbg_engine`
in the imports it is a PyTorch script.
"""

import sys

import numpy as np
from python_text import load_text

import agdbg_engine as torch
from agdbg_engine import nn, optim
from agdbg_engine.nn import functional as F

STEPS = 150
BATCH = 16
CONTEXT = 32
TEXT = load_text(12_000)
ALPHABET = len(TEXT.alphabet)
GOAL = 2.4  # nats a character; without a look at the characters before, one needs about 3.1


class Attention(nn.Module):
    """Every position looks at those before it, in several heads at once."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.project_in(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.project_out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention and a two-layer net, each on the normalised stream and added to it."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.net = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.net(self.norm2(x))


class GPT(nn.Module):
    """Characters (n, length) to the logits of the next one at each place (n, length, alphabet)."""

    def __init__(self, alphabet=ALPHABET, width=48, heads=4, layers=2):
        super().__init__()
        self.characters = nn.Embedding(alphabet, width)
        self.positions = nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, alphabet, bias=False)

    def forward(self, codes):
        x = self.characters(codes) + self.positions(torch.arange(codes.shape[1]))
        return self.head(self.norm(self.blocks(x)))


Model = GPT


def batches(count, rng):
    """Stretches of the text from random places, and each one's next characters."""
    for _ in range(count):
        places = rng.integers(len(TEXT.codes) - CONTEXT, size=(BATCH, 1)) + np.arange(CONTEXT)
        yield torch.from_numpy(TEXT.codes[places]), torch.from_numpy(TEXT.codes[places + 1])


def train(model, steps, seed=0):
    """Return the loss of every step."""
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = optim.AdamW(groups, lr=6e-3, betas=(0.9, 0.95))
    losses = []
    for codes, following in batches(steps, np.random.default_rng(seed)):
        logits = model(codes)
        loss = F.cross_entropy(logits.flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def sample(model, length, seed=0):
    """A text of the model's own, drawn one character after the other."""
    rng = np.random.default_rng(seed)
    codes = [int(TEXT.codes[0])]
    with torch.no_grad():
        for _ in range(length):
            logits = model(torch.tensor([codes[-CONTEXT:]]))[0, -1]
            codes.append(int(np.argmax(logits.numpy() + rng.gumbel(size=len(logits)))))
    return TEXT.decode(codes)


def main(steps):
    torch.manual_seed(0)
    model = Model()
    losses = train(model, steps)
    for step in range(0, steps, 25):
        print(f"step {step + 1:3d}  loss {losses[step]:.4f}")
    print("sample:", repr(sample(model, 100)))
    print(f"Shows: a GPT needs {np.mean(losses[-10:]):.3f} nats a character of Python's licence (goal {GOAL}).")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else STEPS)
