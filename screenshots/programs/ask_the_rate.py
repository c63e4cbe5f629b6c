"""Trains on the handwritten digits, and asks for a learning rate before each epoch; an empty line ends it."""

from digits_data import load_digits

import agdbg_engine as ag
from agdbg_engine import nn, optim

BATCH = 64


def main():
    ag.manual_seed(0)
    train, _ = load_digits()
    images, labels = ag.tensor(train.images), ag.tensor(train.labels)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = optim.SGD(model.parameters(), lr=0.0)
    epoch = 0
    while rate := input(f"epoch {epoch + 1}: learning rate? "):
        for group in optimizer.param_groups:
            group["lr"] = float(rate)
        total = 0.0
        for start in range(0, len(images), BATCH):
            loss = nn.functional.cross_entropy(model(images[start : start + BATCH]), labels[start : start + BATCH])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(images[start : start + BATCH])
        epoch += 1
        print(f"epoch {epoch}: loss {total / len(images):.4f}")


if __name__ == "__main__":
    main()
