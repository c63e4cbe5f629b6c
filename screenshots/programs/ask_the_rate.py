"""Trains on the handwritten digits, one step at a time, and asks for each learning rate; an empty line ends it."""

from digits_data import load_digits

import agdbg_engine as ag
from agdbg_engine import nn, optim


def main():
    ag.manual_seed(0)
    train, _ = load_digits()
    images, labels = ag.tensor(train.images), ag.tensor(train.labels)
    print(f"{len(labels):,} handwritten digits; an empty line ends")
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    while True:
        scores = model(images)
        loss = nn.functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        print(f"loss {loss.item():.4f}, {(scores.argmax(dim=1) == labels).float().mean().item():.1%} right")
        if not (rate := input("learning rate of the next step? ")):
            break
        for group in optimizer.param_groups:
            group["lr"] = float(rate)
        optimizer.step()


if __name__ == "__main__":
    main()
