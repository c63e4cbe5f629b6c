"""A variational autoencoder learns to draw digits: the gradient goes through a sample of a normal distribution.

Run it by `python examples/train_vae.py [STEPS]`. The names are PyTorch's: with `torch` in the place of `agdbg_engine`
in the imports it is a PyTorch script.
"""

import sys

import numpy as np
from digits_data import load_digits

import agdbg_engine as torch
from agdbg_engine import nn, optim
from agdbg_engine.nn import functional as F

STEPS = 400
BATCH = 64
LATENT = 6
GOAL = 26.0  # nats an image: what the drawing misses, and what its code says


class VAE(nn.Module):
    """Images (n, 64) and standard normal noise (n, LATENT) to the drawing's logits and the code's mean and log variance."""

    def __init__(self, hidden=96):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.SiLU(), nn.Linear(hidden, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, hidden), nn.SiLU(), nn.Linear(hidden, 64))

    def forward(self, images, noise):
        mean, log_variance = self.encoder(images).chunk(2, dim=1)
        code = mean + noise * torch.exp(0.5 * log_variance)  # a sample, and yet a function of mean and variance
        return self.decoder(code), mean, log_variance


Model = VAE


def negative_elbo(logits, mean, log_variance, images):
    """What the drawing misses, and how far the codes are from a standard normal distribution; the mean of the images."""
    missed = F.binary_cross_entropy_with_logits(logits, images, reduction="sum")
    distance = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum()
    return (missed + distance) / len(images)


def normal(rng, shape):
    return torch.tensor(rng.standard_normal(shape), dtype=torch.get_default_dtype())


def train(model, steps, seed=0):
    """Return the loss of every step."""
    images = torch.tensor(load_digits()[0].images, dtype=torch.get_default_dtype())
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(steps):
        batch = images[torch.from_numpy(rng.integers(len(images), size=BATCH))]
        loss = negative_elbo(*model(batch, normal(rng, (BATCH, LATENT))), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_loss(model, seed=0):
    """The loss on the images that the model has not seen."""
    images = torch.tensor(load_digits()[1].images, dtype=torch.get_default_dtype())
    noise = normal(np.random.default_rng(seed), (len(images), LATENT))
    with torch.no_grad():
        return negative_elbo(*model(images, noise), images).item()


def draw(model, count, seed=1):
    """Lines of text that show `count` images of the model's own, side by side."""
    with torch.no_grad():
        ink = torch.sigmoid(model.decoder(normal(np.random.default_rng(seed), (count, LATENT))))
    shades = np.array(list(" .:*#"))[(ink.numpy() * 4.99).astype(int)].reshape(count, 8, 8)
    return ["   ".join("".join(shades[n, row]) for n in range(count)) for row in range(8)]


def main(steps):
    torch.manual_seed(0)
    model = Model()
    losses = train(model, steps)
    for step in range(0, steps, 50):
        print(f"step {step + 1:3d}  loss {losses[step]:.3f}")
    print(*draw(model, 6), sep="\n")
    print(f"Shows: an autoencoder needs {test_loss(model):.2f} nats a test image (goal {GOAL}), and draws digits.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else STEPS)
