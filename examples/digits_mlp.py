"""Trains a small MLP on the handwritten digits: nothing goes wrong here."""

from digits_data import load_digits

import agdbg_engine as ag
from agdbg_engine import nn, optim

EPOCHS = 20
BATCH = 32


def accuracy(model, images, labels):
    with ag.no_grad():
        return (model(images).argmax(dim=1) == labels).float().mean().item()


def main():
    ag.manual_seed(0)
    train, test = load_digits()
    images, labels = ag.tensor(train.images), ag.tensor(train.labels)
    test_images, test_labels = ag.tensor(test.images), ag.tensor(test.labels)

    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        total = 0.0
        order = ag.randperm(len(images))
        for start in range(0, len(images), BATCH):
            batch = order[start : start + BATCH]
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        print(
            f"epoch {epoch + 1:2d}  loss {total / len(images):.4f}  test accuracy {accuracy(model, test_images, test_labels):.3f}"
        )
    print(f"Shows: an error-free run, {accuracy(model, test_images, test_labels):.1%} of the test digits right.")


if __name__ == "__main__":
    main()
